#!/usr/bin/env python3
"""How fast the HTTP server answers, side by side in one run with a bare ThreadingHTTPServer that returns the same bytes.

    python3 tests/bench_http.py [--quick] [--only PART] [--pyz FILE] [--json FILE]

answers   doc_extract over 1, 8 and 64 connections, in turn from both servers: requests per second, p99 of the time that an answer takes, and the ratio of
          the rates (asked: at least 0.6). `repeated`: 40 questions in rotation, as when a team asks; `new`: no question comes twice
memory    100,000 requests: resident memory at the end of each tenth (asked: the last within 5 % of the second), file descriptors, threads
outage    64 clients at once while the remote index takes connections and says nothing: the longest wait against the time limit
The load comes from a process of its own. Where wrk is installed, it is asked too. Standard library only.
"""
from __future__ import annotations

import argparse
import http.client
import json
import os
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
META = "io.modelcontextprotocol/"
FOCUS = """wildcard|route handlers|error middleware|parse object|static files|query string|template engine|router params|cookie|json body|string validation|
optional fields|union types|transform values|refine|error messages|default value|infer type|date format|add days|time zone|relative time|locale|diff in months|
start of week|parse string|is before|duration|utc|plugin|async handlers|res send|app listen|view|proxy|regex route|enum|array length|nested object|record"""
QUESTIONS = [(("express", "zod", "dayjs")[at % 3], focus.strip()) for at, focus in enumerate(FOCUS.split("|"))]
# Reads a mapping of bodies from a file and answers with them: what the standard library's server needs for the same bytes, and nothing else.
BARE = """
import http.server, json, sys
answers = {question.encode(): answer.encode() for question, answer in json.load(open(sys.argv[1], encoding="utf-8"))}
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet
    disable_nagle_algorithm = True
    def do_POST(self):
        body = answers[self.rfile.read(int(self.headers["Content-Length"])).partition(b'"id":')[2].partition(b',')[2]]
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *given):
        pass
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 512
    def handle_error(self, *given):
        pass  # the load closes its connections when it has what it wanted
server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


def question_tail(id: str, focus: str) -> str:
    """What follows the number in the request for one question."""
    message = {"method": "tools/call", "params": {"name": "doc_extract", "arguments": {"id": id, "focus": focus},
                                                  "_meta": {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}}}
    return json.dumps(message)[1:]


def encode_request(tail: str, number: int) -> bytes:
    body = f'{{"jsonrpc":"2.0","id":{number},{tail}'.encode()
    return (f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: bench\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
            f"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: doc_extract\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body


def load(port: int, connections: int, requests: int, tails: list[str], first: int) -> list[float]:
    """Asks from so many connections until `requests` are answered. Returns the seconds that each took. Raises AssertionError for a wrong answer."""
    poll, taken, sent = selectors.DefaultSelector(), [], 0

    def ask(sock: socket.socket) -> None:
        nonlocal sent
        sock.sendall(encode_request(tails[(first + sent) % len(tails)], first + sent))
        sent += 1
        poll.modify(sock, selectors.EVENT_READ, [time.perf_counter(), b""])

    for _ in range(connections):
        sock = socket.create_connection(("127.0.0.1", port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        poll.register(sock, selectors.EVENT_READ)
        ask(sock)
    while len(taken) < requests:
        for key, _ in poll.select(60):
            part = key.fileobj.recv(1 << 18)
            assert part, "the server closed the connection"
            key.data[1] += part
            head, end, body = key.data[1].partition(b"\r\n\r\n")
            if end and len(body) >= int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]):
                taken.append(time.perf_counter() - key.data[0])
                assert b" 200 " in head[:20] and b'"structuredContent"' in body, body[:300]
                if sent < requests:
                    ask(key.fileobj)
    for key in list(poll.get_map().values()):
        key.fileobj.close()
    return taken


def run_load(port: int, connections: int, requests: int, tails: list[str], first: int = 0) -> dict[str, float]:
    """`load` in a process of its own: requests per second, p99 in milliseconds."""
    given = json.dumps([port, connections, requests, tails, first])
    done = subprocess.run([sys.executable, os.path.abspath(__file__), "--load"], input=given, capture_output=True, text=True, encoding="utf-8", check=True)
    return json.loads(done.stdout)


def serve_load() -> None:
    port, connections, requests, tails, first = json.loads(sys.stdin.read())
    started = time.perf_counter()
    taken = sorted(load(port, connections, requests, tails, first))
    print(json.dumps({"rate": requests / (time.perf_counter() - started), "p99": taken[int(len(taken) * .99)] * 1000}))


def start(command: list[str], **options: object) -> tuple[subprocess.Popen[str], int]:
    """(the server, its port), once it says which."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", **options)
    line = child.stdout.readline()
    return child, int(line.rpartition("/mcp")[0].rpartition(":")[2] if "/mcp" in line else line)


def start_doctrove(pyz: str, *options: str) -> tuple[subprocess.Popen[str], int]:
    return start([sys.executable, "-I", "-S", pyz, "--http", "127.0.0.1:0", *options])


def ask(port: int, tail: str, number: int = 0) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    head, _, body = encode_request(tail, number).partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    connection.request("POST", "/mcp", body, headers)
    return connection.getresponse().read().decode("utf-8")


def bench_answers(pyz: str, rounds: int, requests: int, report: dict[str, object]) -> None:
    tails = [question_tail(id, focus) for id, focus in QUESTIONS]
    fresh = [question_tail(id, f"{focus} {more} {most}") for _, most in QUESTIONS for _, more in QUESTIONS[:20] for id, focus in QUESTIONS]
    ours, port = start_doctrove(pyz)
    with tempfile.TemporaryDirectory() as folder:
        answers = [(tail, ask(port, tail)) for tail in tails]
        answers += [(tail, answers[at % len(tails)][1]) for at, tail in enumerate(fresh)]
        path = os.path.join(folder, "answers.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(answers, file)
        bare, bare_port = start([sys.executable, "-I", "-S", "-c", BARE, path])
        used = 0
        try:
            for kind, asked in (("repeated", tails), ("new", fresh)):
                for connections in (1, 8, 64):
                    pairs = []
                    for _ in range(rounds):
                        pairs.append((run_load(port, connections, requests, asked, used), run_load(bare_port, connections, requests, asked, used)))
                        used += requests if kind == "new" else 0
                    ratio = statistics.median(mine["rate"] / theirs["rate"] for mine, theirs in pairs)
                    row = [statistics.median(pair[side][name] for pair in pairs) for side in (0, 1) for name in ("rate", "p99")]
                    report[f"{kind} {connections}"] = {"ratio": ratio, "rate": row[0], "p99": row[1], "bareRate": row[2], "bareP99": row[3]}
                    print(f"{kind:<9}{connections:>3} connections: {row[0]:7.0f}/s, p99 {row[1]:6.1f} ms; bare {row[2]:7.0f}/s, p99 {row[3]:6.1f} ms; "
                          f"ratio {ratio:.2f}", flush=True)
            run_wrk({"doctrove": port, "bare": bare_port}, tails[0], report)
        finally:
            for child in (ours, bare):
                child.terminate()
                child.wait()


def run_wrk(ports: dict[str, int], tail: str, report: dict[str, object]) -> None:
    """One question by wrk, 8 connections."""
    import shutil
    if not shutil.which("wrk"):
        print("wrk is not installed: not asked")
        return
    with tempfile.TemporaryDirectory() as folder:
        head, _, body = encode_request(tail, 1).partition(b"\r\n\r\n")
        headers = [line.split(": ", 1) for line in head.decode().split("\r\n")[1:] if not line.startswith("Content-Length")]
        script = os.path.join(folder, "ask.lua")
        with open(script, "w", encoding="utf-8") as file:
            file.write('wrk.method = "POST"\nwrk.body = [==[' + body.decode() + "]==]\n")
            file.writelines(f'wrk.headers["{name}"] = "{value}"\n' for name, value in headers)
        for name, port in ports.items():
            done = subprocess.run(["wrk", "-t1", "-c8", "-d3s", "--latency", "-s", script, f"http://127.0.0.1:{port}/mcp"], capture_output=True, text=True,
                                  encoding="utf-8", check=True)
            found = {line.split()[0]: line.split()[-1] for line in done.stdout.splitlines() if line.strip().startswith(("99%", "Requests/sec", "Non-2xx"))}
            report[f"wrk {name}"] = found
            print(f"wrk, 8 connections, {name}: {found}")


def resident(pid: int) -> tuple[int, int, int]:
    """(kilobytes of memory, file descriptors, threads) of a process."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        values = dict(line.split(":", 1) for line in file if ":" in line)
    return int(values["VmRSS"].split()[0]), len(os.listdir(f"/proc/{pid}/fd")), int(values["Threads"])


def bench_memory(pyz: str, requests: int, report: dict[str, object]) -> None:
    if not os.path.isdir("/proc/self/fd"):
        print("memory: not measured, there is no /proc here")
        return
    tails = [question_tail(id, focus) for id, focus in QUESTIONS] + [question_tail(id, f"{focus} {at}") for at in range(25) for id, focus in QUESTIONS]
    child, port = start_doctrove(pyz)
    try:
        rows = []
        for tenth in range(10):
            run_load(port, 8, requests // 10, tails, tenth * requests // 10)
            rows.append(resident(child.pid))
        drift = rows[-1][0] / rows[1][0] - 1
        report["memory"] = {"requests": requests, "kilobytes": [row[0] for row in rows], "drift": drift, "descriptors": rows[-1][1], "threads": rows[-1][2]}
        print(f"memory   {requests} requests: {', '.join(str(row[0]) for row in rows)} KB; last tenth against the second {drift:+.1%}; "
              f"descriptors {rows[0][1]} -> {rows[-1][1]}, threads {rows[0][2]} -> {rows[-1][2]}")
    finally:
        child.terminate()
        child.wait()


def bench_outage(pyz: str, report: dict[str, object]) -> None:
    """A remote index that takes connections and says nothing."""
    limit = 2.0
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(256)
        child, port = start_doctrove(pyz, "--index-url", f"http://127.0.0.1:{silent.getsockname()[1]}/", "--timeout-ms", str(int(limit * 1000)), "--no-cache")
        waits: list[float] = []

        def client(number: int) -> None:
            started = time.perf_counter()
            assert "structuredContent" in ask(port, question_tail("express", f"wildcard {number}"), number)
            waits.append(time.perf_counter() - started)

        try:
            ask(port, question_tail("express", "wildcard"))  # a team's server is no fresh process
            threads = [threading.Thread(target=client, args=(number,)) for number in range(64)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            report["outage"] = {"clients": len(waits), "longest": max(waits), "limit": limit}
            print(f"outage   64 clients, {len(waits)} answered: the longest waited {max(waits):.2f} s, the time limit of a fetch is {limit:.0f} s")
        finally:
            child.terminate()
            child.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few requests: whether it runs, not figures")
    parser.add_argument("--pyz", default="", help="the packed file (default: built for this run)")
    parser.add_argument("--only", choices=("answers", "memory", "outage"), help="this part alone")
    parser.add_argument("--json", help="write the figures there, too")
    parser.add_argument("--load", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.load:
        serve_load()
        return 0
    report: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        pyz = options.pyz or os.path.join(folder, "doctrove.pyz")
        if not options.pyz:
            subprocess.run([sys.executable, os.path.join(ROOT, "build_zipapp.py"), "-o", pyz], check=True, stdout=subprocess.DEVNULL)
        parts = {"answers": lambda: bench_answers(pyz, 1 if options.quick else 5, 300 if options.quick else 1500, report),
                 "memory": lambda: bench_memory(pyz, 2000 if options.quick else 100000, report),
                 "outage": lambda: bench_outage(pyz, report)}
        for name in [options.only] if options.only else parts:
            parts[name]()
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
