#!/usr/bin/env python3
"""What tests/clients.sh needs besides the clients: a tap on the server's pipes, a model on loopback, and what is read from their logs.

    clients_kit.py mock PORT LOG -- COMMAND…   run COMMAND while a model answers on 127.0.0.1:PORT
    clients_kit.py codex                       ask `codex app-server` which tools the server has
    clients_kit.py report TAPLOG [MOCKLOG]     protocol, first request, number of tools, outcome of the call; with MOCKLOG what reached the model

`tap(real, log)` makes the text of a script that stands where the archive stood: it starts the real one and writes down every line that passes.
The model is asked in one of four ways (chat completions, responses, Anthropic messages, Gemini). It calls doc_extract once and then ends its turn.
"""
from __future__ import annotations

import http.server
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from typing import Any

SERVER, TOOL = "doctrove", "doc_extract"
ARGUMENTS = {"id": "express", "version": "4", "focus": "wildcard"}
IN_ANSWER = ("4.21.2", "wildcard")  # what the passage holds that the model must be shown
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
TAP = """\
import json, os, signal, subprocess, sys, threading
real, log = {real!r}, open({log!r}, "a", buffering=1)
child = subprocess.Popen([sys.executable, "-I", "-S", real, *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def pump(source, target, way):
    for line in iter(source.readline, b""):
        log.write(json.dumps([os.getpid(), way, line.decode("utf-8", "replace")]) + "\\n")
        try:
            target.write(line)
            target.flush()
        except OSError:
            break
    if way == "in":
        child.stdin.close()
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda number, frame: child.send_signal(number))
threading.Thread(target=pump, args=(sys.stdin.buffer, child.stdin, "in"), daemon=True).start()
out = threading.Thread(target=pump, args=(child.stdout, sys.stdout.buffer, "out"), daemon=True)
out.start()
code = child.wait()
out.join(1)
os._exit(max(code, 0))
"""


def tap(real: str, log: str) -> str:
    return TAP.format(real=real, log=log)


# ── the model ──

def offered(request: dict[str, Any]) -> list[tuple[str, str]]:
    """(namespace, name) of each tool in a request, whatever the API."""
    found: list[tuple[str, str]] = []
    for tool in request.get("tools") or []:
        declared = tool.get("functionDeclarations") or tool.get("function_declarations")
        if declared:
            found += [("", each["name"]) for each in declared]
        elif tool.get("type") == "namespace":
            found += [(tool["name"], (each.get("function") or each)["name"]) for each in tool.get("tools", ())]
        else:
            found.append(("", (tool.get("function") or tool).get("name") or ""))
    return found


def results_in(request: dict[str, Any]) -> list[Any]:
    """The tool results that the model is shown."""
    results: list[Any] = []
    for message in request.get("messages") or request.get("input") or request.get("contents") or []:
        if not isinstance(message, dict):
            continue
        parts = message.get("parts") or []
        results += [part["functionResponse"].get("response") for part in parts if "functionResponse" in part]
        content = message.get("content")
        if message.get("role") == "tool":
            results.append(content)
        elif message.get("type") == "function_call_output":
            results.append(message.get("output"))
        elif isinstance(content, list):
            results += [part.get("content") for part in content if isinstance(part, dict) and part.get("type") == "tool_result"]
    return results


def choose(tools: list[tuple[str, str]], results: list[Any]) -> tuple[tuple[str, str], dict[str, Any]] | None:
    """The call that the model makes: ((namespace, name), arguments), or None to end the turn."""
    def plain(*words: str) -> str:
        return re.sub("[^a-z]", "", "".join(words).lower())

    names = [name for _, name in tools]
    wanted = next((tool for tool in tools if plain(*tool).endswith(plain(TOOL)) and (plain(SERVER) in plain(*tool) or tool[1] == TOOL)), None)
    if wanted and not results:
        return wanted, ARGUMENTS
    if wanted is None and "tool_search" in names and len(results) < 2:  # tools that are found first and called through another one
        full = f"mcp__{SERVER}__{TOOL}"
        return (("", "tool_call"), {"name": full, "arguments": ARGUMENTS}) if results else (("", "tool_search"), {"query": f"select:{full}"})
    return None


def chat(request: dict[str, Any], call: Any, text: str) -> list[dict[str, Any]]:
    """The events of a chat completion."""
    delta: dict[str, Any] = {"role": "assistant", "content": text}
    if call:
        function = {"name": call[0][1], "arguments": json.dumps(call[1])}
        delta = {"role": "assistant", "content": None, "tool_calls": [{"index": 0, "id": "call-1", "type": "function", "function": function}]}
    head = {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": request.get("model", "mock")}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}], "usage": usage}]


def responses(request: dict[str, Any], call: Any, text: str) -> list[dict[str, Any]]:
    """The events of the responses API."""
    item: dict[str, Any] = {"type": "message", "id": "m-1", "role": "assistant", "status": "completed",
                            "content": [{"type": "output_text", "text": text, "annotations": []}]}
    if call:
        item = {"type": "function_call", "id": "f-1", "call_id": "call-1", "name": call[0][1], "arguments": json.dumps(call[1]),
                **({"namespace": call[0][0]} if call[0][0] else {})}
    usage = {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0},
             "total_tokens": 2}
    return [{"type": "response.created", "response": {"id": "r-1"}}, {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "r-1", "status": "completed", "output": [item], "usage": usage}}]


def messages(request: dict[str, Any], call: Any, text: str) -> list[dict[str, Any]]:
    """The events of the Anthropic messages API."""
    stop = "tool_use" if call else "end_turn"
    block = {"type": "tool_use", "id": "toolu-1", "name": call[0][1], "input": {}} if call else {"type": "text", "text": ""}
    delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])} if call else {"type": "text_delta", "text": text}
    head = {"id": "m-1", "type": "message", "role": "assistant", "model": request.get("model"), "content": [], "stop_reason": None, "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1}}
    return [{"type": "message_start", "message": head}, {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta}, {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 1}}, {"type": "message_stop"}]


def gemini(request: dict[str, Any], call: Any, text: str) -> list[dict[str, Any]]:
    part = {"functionCall": {"name": call[0][1], "args": call[1]}} if call else {"text": text}
    return [{"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
             "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}]


def whole(kind: Any, request: dict[str, Any], call: Any, text: str) -> dict[str, Any]:
    """The same answer for a client that does not stream."""
    if kind is chat:
        first, last = chat(request, call, text)
        choice = {"index": 0, "message": first["choices"][0]["delta"], "finish_reason": last["choices"][0]["finish_reason"]}
        return {**last, "object": "chat.completion", "choices": [choice]}
    if kind is messages:
        block = {"type": "tool_use", "id": "toolu-1", "name": call[0][1], "input": call[1]} if call else {"type": "text", "text": text}
        return {**messages(request, call, text)[0]["message"], "content": [block], "stop_reason": "tool_use" if call else "end_turn"}
    answer: dict[str, Any] = kind(request, call, text)[-1]
    return answer.get("response", answer)


APIS = (("/responses", responses), ("/messages", messages), ("enerateContent", gemini), ("completions", chat))


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    log_path = ""

    def log_message(self, *given: object) -> None:
        pass

    def send(self, body: str, kind: str = "application/json") -> None:
        data = body.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_HEAD(self) -> None:
        self.send("")

    def do_GET(self) -> None:
        self.send('{"object": "list", "data": [], "models": []}')

    def body(self) -> bytes:
        if "chunked" not in (self.headers.get("transfer-encoding") or ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        data = b""
        while True:
            size = int(self.rfile.readline().strip() or b"0", 16)
            data += self.rfile.read(size)
            self.rfile.readline()
            if not size:
                return data

    def do_POST(self) -> None:
        try:
            request = json.loads(self.body())
        except ValueError:
            request = {}
        path = self.path.split("?")[0]
        kind = next((kind for sign, kind in APIS if sign in path), None)
        if kind is None or not isinstance(request, dict):
            return self.send("{}")
        tools, results = offered(request), results_in(request)
        call = choose(tools, results)
        with open(self.log_path, "a", encoding="utf-8") as log:
            log.write(json.dumps({"path": path, "tools": tools, "call": call, "results": results}) + "\n")
        text = "MODEL-DONE" if results else "MODEL-IDLE"
        if request.get("stream") or "stream" in path:
            events = kind(request, call, text)
            lines = "".join((f"event: {event['type']}\n" if "type" in event else "") + f"data: {json.dumps(event)}\n\n" for event in events)
            return self.send(lines + ("data: [DONE]\n\n" if kind is chat else ""), "text/event-stream")
        return self.send(json.dumps(whole(kind, request, call, text)))


def run_with_model(port: int, log: str, command: list[str]) -> int:
    Model.log_path = log
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Model)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return subprocess.run(command, stdin=subprocess.DEVNULL).returncode


# ── what is read ──

def ask_codex() -> int:
    """0 when `codex app-server` names tools of the server: its `mcp list` only reads the file."""
    child = subprocess.Popen(["codex", "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=lambda: [lines.put(line) for line in child.stdout or ()], daemon=True).start()
    assert child.stdin is not None
    for message in ({"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "check", "title": "check", "version": "0"}}}, {"method": "initialized"},
                    {"id": 2, "method": "mcpServerStatus/list", "params": {}}):
        child.stdin.write(json.dumps(message) + "\n")
        child.stdin.flush()
        if message["method"] == "initialize":
            time.sleep(1)
    end, tools = time.time() + 60, {}
    while time.time() < end and child.poll() is None:
        try:
            answer = json.loads(lines.get(timeout=1))
        except (queue.Empty, ValueError):
            continue
        if answer.get("id") == 2:
            tools = next((row.get("tools") for row in (answer.get("result") or {}).get("data", ()) if row.get("name") == SERVER), None) or {}
            print(json.dumps(answer)[:2000])
            break
    child.terminate()
    return 0 if tools else 1


def read_tap(path: str) -> dict[str, Any]:
    """{protocol, first, tools, call} of what went through the tap: the version that the last call, or else the handshake, was made with."""
    found: dict[str, Any] = {"protocol": "-", "first": "-", "tools": 0, "call": "none"}
    asked: dict[tuple[int, str], dict[str, Any]] = {}
    rows = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as log:
            rows = [json.loads(line) for line in log]
    for process, way, line in rows:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        key = (process, json.dumps(message.get("id")))
        params = message.get("params") or {}
        if way == "in" and "method" in message:
            asked[key] = message
            version = (params.get("_meta") or {}).get(VERSION_KEY) or params.get("protocolVersion")
            found["first"] = f"{message['method']}:{version}" if found["first"] == "-" else found["first"]
            if message["method"] in ("tools/list", "tools/call") and (params.get("_meta") or {}).get(VERSION_KEY):
                found["protocol"] = params["_meta"][VERSION_KEY]
        elif way == "out" and key in asked:
            method, result = asked[key]["method"], message.get("result") or {}
            if method == "initialize" and result:
                found["protocol"] = result["protocolVersion"]
            elif method == "tools/list":
                found["tools"] = max(found["tools"], len(result.get("tools", ())))
            elif method == "tools/call":
                found["call"] = "error" if "error" in message else "isError" if result.get("isError") else "ok"
    return found


def model_saw(path: str) -> bool:
    """Whether the passage reached the model."""
    with open(path, encoding="utf-8") as log:
        shown = [json.dumps(json.loads(line)["results"]).lower() for line in log]
    return any(all(word in text for word in IN_ANSWER) for text in shown)


def main() -> int:
    command, *given = sys.argv[1:]
    if command == "mock":
        return run_with_model(int(given[0]), given[1], given[3:])
    if command == "codex":
        return ask_codex()
    if command == "tap":
        print(tap(*given), end="")
        return 0
    found = read_tap(given[0])
    print(" ".join(f"{name}={value}" for name, value in found.items()), end="")
    if given[1:]:
        print(f" model={'saw-it' if os.path.exists(given[1]) and model_saw(given[1]) else 'NOT-SHOWN'}", end="")
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
