"""What the tests of real processes, pipes and sockets share: the built program, a server to talk to, commands, and remotes that misbehave."""
from __future__ import annotations

import atexit
import functools
import glob
import hashlib
import http.server
import json
import os
import queue
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from typing import IO

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)
CASES = os.path.join(ROOT, "tests", "cases")
FLAGS = ("-I", "-S")  # as client configurations have it
PATIENCE = 20  # seconds after which a test gives up on an answer; none of them waits that long when all is well

META = "io.modelcontextprotocol/"
ENVELOPE = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS = "2026-07-28"


# ── the program ──

@functools.cache
def scratch() -> str:
    """A folder that lives as long as the tests."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="doctrove-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def build(target: str, *options: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, os.path.join(ROOT, "build_zipapp.py"), "-o", target, *options], stdin=subprocess.DEVNULL,
                          capture_output=True, env=clean_env(**env), timeout=120)


@functools.cache
def built() -> tuple[str, str]:
    """(the packed file, what its build said); built once for all tests."""
    target = os.path.join(scratch(), "doctrove.pyz")
    done = build(target)
    if done.returncode or done.stderr:
        raise AssertionError(f"the build failed: {done.stderr.decode()}")
    return target, done.stdout.decode("utf-8")


def program() -> str:
    """The packed file."""
    return built()[0]


def clean_env(**extra: str) -> dict[str, str]:
    """The environment without what would change the program's behaviour, plus `extra`."""
    mine = {name: value for name, value in os.environ.items()
            if not name.upper().startswith(("DOCTROVE_", "PYTHON", "LC_", "LANG")) and not name.lower().endswith("_proxy")
            and name not in ("NO_COLOR", "SOURCE_DATE_EPOCH")}
    home = os.path.join(scratch(), "home")  # whose configurations of clients doctor would read
    return {**mine, "HOME": home, "USERPROFILE": home, **extra}


def without_proxies() -> None:
    """Takes the proxy variables out of this process until the module's tests have ended: called by setUpModule."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        unittest.addModuleCleanup(os.environ.__setitem__, name, os.environ.pop(name))


def command(*arguments: str, flags: tuple[str, ...] = FLAGS, path: str | None = None, env: dict[str, str] | None = None,
            **options: object) -> subprocess.CompletedProcess[bytes]:
    """Runs the program with a command line; its output as bytes."""
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 60, **options}
    return subprocess.run([sys.executable, *flags, path or program(), *arguments], env=clean_env() if env is None else env, **given)


@functools.cache
def other_interpreters() -> tuple[str, ...]:
    """Real paths of two other Pythons on this machine, the oldest from 3.9 on and the newest (or one, or none)."""
    probe = "import sys; print(sys.executable, sys.implementation.cache_tag, sys.version_info >= (3, 9), sep='\\n')"
    pyenv = os.environ.get("PYENV_ROOT") or os.path.join(os.path.expanduser("~"), ".pyenv")
    found: dict[str, str] = {}
    for minor in range(9, 20):
        for name in [shutil.which(f"python3.{minor}"), *sorted(glob.glob(os.path.join(glob.escape(pyenv), "versions", f"3.{minor}.*", "bin",
                                                                                      f"python3.{minor}")))]:
            try:
                done = subprocess.run([name, "-I", "-c", probe], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=30) if name else None
            except (OSError, subprocess.TimeoutExpired):
                continue
            lines = done.stdout.splitlines() if done else []
            if len(lines) == 3 and lines[1] != sys.implementation.cache_tag and lines[2] == "True":
                found.setdefault(lines[1], lines[0])
    paths = list(found.values())
    return (*paths[:1], *paths[1:][-1:])


# ── messages ──

def refuse(name: str) -> None:
    raise AssertionError(f"{name} in a message")


def holds_null(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(holds_null, value.values()))
    return any(map(holds_null, value)) if isinstance(value, list) else value is None


def check_message(message: object) -> None:
    """Raises AssertionError for what is no JSON-RPC message of a server: a response or a notification, without nulls and surplus members."""
    assert isinstance(message, dict), f"not an object: {message!r:.200}"
    assert message.get("jsonrpc") == "2.0", f"jsonrpc: {message!r:.200}"
    if "method" in message:
        assert set(message) <= {"jsonrpc", "method", "params"}, f"not a notification: {message!r:.200}"
    elif "error" in message:
        assert set(message) == {"jsonrpc", "id", "error"} and set(message["error"]) <= {"code", "message", "data"}, f"not an error: {message!r:.200}"
        assert type(message["error"]["code"]) is int and type(message["error"]["message"]) is str, f"not an error: {message!r:.200}"
        assert message["error"]["message"] and "\n" not in message["error"]["message"], f"no short sentence: {message!r:.200}"
    else:
        assert set(message) == {"jsonrpc", "id", "result"} and isinstance(message["result"], dict), f"not a result: {message!r:.200}"
    unreadable = message.get("error", {}).get("code") in (-32700, -32600) and message["id"] is None
    assert unreadable or "id" not in message or type(message["id"]) in (int, str), f"id: {message!r:.200}"
    assert not holds_null({name: value for name, value in message.items() if not (unreadable and name == "id")}), f"null in {message!r:.300}"


def parse_line(line: bytes) -> object:
    """The message (or the array of messages of a batch) in one line of output."""
    assert line.endswith(b"\n") and b"\r" not in line, f"not a line: {line!r:.200}"
    message = json.loads(line.decode("utf-8"), parse_constant=refuse)
    for each in message if isinstance(message, list) and message else [message]:
        check_message(each)
    return message


def encode(message: object) -> bytes:
    """One line for the server: bytes as they are, a text as UTF-8, anything else as JSON."""
    data = message if isinstance(message, bytes) else message.encode("utf-8") if isinstance(message, str) else json.dumps(message).encode()
    return data + b"\n"


def request(method: str, params: object = None, id: object = 1) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})}


def initialize(version: str, id: object = 0) -> dict[str, object]:
    return request("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}, id)


def tool_call(name: str, arguments: object, id: object = 1, **params: object) -> dict[str, object]:
    return request("tools/call", {"name": name, "arguments": arguments, **params}, id)


class Exchange:
    """What a server wrote and how it ended: `messages`, `code`, `stderr`."""

    def __init__(self, lines: list[bytes], code: int, stderr: str) -> None:
        self.messages = [parse_line(line) for line in lines]
        self.code, self.stderr = code, stderr

    def by_id(self, id: object) -> dict[str, object]:
        found = [message for message in self.messages if isinstance(message, dict) and "id" in message
                 and type(message["id"]) is type(id) and message["id"] == id]
        assert len(found) == 1, f"{len(found)} answers to {id!r}: {found!r:.300}"
        return found[0]


def exchange(messages: list[object], *options: str, env: dict[str, str] | None = None, end: bytes = b"") -> Exchange:
    """A server's whole life: all `messages` are written, the input is closed, everything it says is read."""
    done = command(*options, env=env, stdin=None, input=b"".join(map(encode, messages)) + end)
    return Exchange(done.stdout.splitlines(keepends=True), done.returncode, done.stderr.decode("utf-8"))


class Server:
    """A running server over pipes. A context manager; every line it writes is checked to be a message."""

    def __init__(self, *options: str, env: dict[str, str] | None = None) -> None:
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the server
        self.process = subprocess.Popen([sys.executable, *FLAGS, program(), *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, env=clean_env() if env is None else env, bufsize=0)
        self.lines: queue.Queue[bytes] = queue.Queue()
        self.early: list[object] = []
        self.ignored: set[str] = set()  # notifications that the test does not want to see
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        with os.fdopen(os.dup(self.process.stdout.fileno()), "rb") as stream:
            for line in stream:
                self.lines.put(line)
        self.lines.put(b"")

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            try:
                stream.close()
            except OSError:
                pass  # the pipe is broken: it is closed all the same

    def send(self, *messages: object) -> None:
        self.process.stdin.write(b"".join(map(encode, messages)))

    def next(self, patience: float = PATIENCE) -> object:
        """The next message. Raises AssertionError when the output ends or nothing comes."""
        if self.early:
            return self.early.pop(0)
        try:
            line = self.lines.get(timeout=patience)
        except queue.Empty:
            raise AssertionError(f"no message within {patience} s") from None
        assert line, f"the output has ended; standard error: {self.stderr()!r}"
        message = parse_line(line)
        return self.next(patience) if isinstance(message, dict) and message.get("method") in self.ignored else message

    def answer(self, id: object, patience: float = PATIENCE) -> dict[str, object]:
        """The response with this id; what comes before it is kept for `next`."""
        before = []
        while True:
            message = self.next(patience)
            if isinstance(message, dict) and "id" in message and type(message["id"]) is type(id) and message["id"] == id:
                self.early = before + self.early
                return message
            before.append(message)

    def ask(self, method: str, params: object = None, id: object = 1) -> dict[str, object]:
        self.send(request(method, params, id))
        return self.answer(id)

    def open(self, version: str = "2025-11-25") -> Server:
        """The handshake, with the negotiated version asserted."""
        response = self.ask("initialize", initialize(version)["params"], "open")
        assert response["result"]["protocolVersion"] == version, response
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def call(self, tool: str, **arguments: object) -> dict[str, object]:
        """The result of a tool call."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]

    def end(self, patience: float = PATIENCE) -> Exchange:
        """Closes the input and waits; what has not been read yet, the exit code and standard error."""
        self.process.stdin.close()
        return self.wait(patience)

    def wait(self, patience: float = PATIENCE) -> Exchange:
        code = self.process.wait(patience)
        self.reader.join(patience)
        lines = list(iter(self.lines.get, b""))
        rest = Exchange(lines, code, self.stderr())
        rest.messages = self.early + rest.messages
        return rest

    def stderr(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode("utf-8")


# ── indexes ──

def section(heading: str, body: str, **members: object) -> dict[str, object]:
    return {"heading": heading, "path": "https://example.org/" + heading.replace(" ", "-"), "body": body, **members}


def entry(id: str, *versions: str, **members: object) -> dict[str, object]:
    """An entry whose every volume holds one section that names the entry and the version."""
    versions = versions or ("1.0.0",)
    volumes = {version: {"summary": f"{id} {version}", "sections": [section("Install", f"Install {id} {version} first.")]} for version in versions}
    return {"id": id, "name": id.title(), "summary": f"The {id} library", "versions": list(versions), "volumes": volumes, **members}


def index(*entries: dict[str, object]) -> dict[str, object]:
    return {"format": "doctrove-index@1", "updatedAt": "2026-08-16T00:00:00.000Z", "entries": list(entries)}


def as_bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def reference(href: str, volume: object, **members: object) -> dict[str, object]:
    """A volume by reference to `href`, which holds `volume`."""
    data = as_bytes(volume)
    return {"href": href, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data), "sections": len(volume["sections"]), **members}


def write_index(folder: str, value: object, **files: object) -> str:
    """Writes index.json and further files (path -> bytes or JSON value) into `folder`; returns the folder."""
    os.makedirs(folder, exist_ok=True)
    for name, content in {"index.json": value, **files}.items():
        path = os.path.join(folder, *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else as_bytes(content))
    return folder


# ── servers on sockets ──

class Host:
    """The program as a server on a port of its own choice: `line` is what it says where it listens, `url` where that is.

    `before` is code that the interpreter runs before the program, of the checkout's module then, which it finds as `doctrove`."""

    def __init__(self, *arguments: str, env: dict[str, str] | None = None, before: str = "", **options: object) -> None:
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        code = f"import sys; sys.path.insert(0, {ROOT!r}); import doctrove; {before}; doctrove.leave(doctrove.main(sys.argv[1:]))"
        what = ("-I", "-S", "-c", code) if before else (*FLAGS, program())
        self.process = subprocess.Popen([sys.executable, *what, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors,
                                        env=clean_env() if env is None else env, **options)
        first: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=lambda: first.put(self.process.stdout.readline()), daemon=True).start()
        self.line = first.get(timeout=PATIENCE).decode("utf-8")
        match = re.search(r"(https?)://([^/\s]+):([0-9]+)", self.line)
        if not match and "unix:" not in self.line:
            self.process.wait(PATIENCE)
            said = self.stderr()
            self.close()
            raise AssertionError(f"it does not say where it listens: {self.line!r} {said!r}")
        self.scheme, self.host, self.port = (match.group(1), match.group(2), int(match.group(3))) if match else ("unix", "", 0)
        self.url = f"{self.scheme}://127.0.0.1:{self.port}"

    def stderr(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode("utf-8")

    def connect(self) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def ask(self, target: str = "/index.json", method: str = "GET", **headers: str | None) -> Reply:
        """The reply to one request: status, headers, body. A header given as None is left out."""
        given = {"Host": f"127.0.0.1:{self.port}", "Connection": "close", **{name.replace("_", "-"): value for name, value in headers.items()}}
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items() if value is not None), "", ""]
        return self.raw("\r\n".join(lines).encode("latin-1"), method)

    def raw(self, data: bytes, method: str = "GET") -> Reply:
        with self.connect() as connection:
            connection.sendall(data)
            with connection.makefile("rb") as stream:
                return Reply(stream, method)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()


class Reply:
    """An HTTP response read from `stream`; `body` None where it has no length and lasts as long as the connection."""

    def __init__(self, stream: IO[bytes], method: str = "GET") -> None:
        self.status_line = stream.readline().decode("latin-1")
        self.status = int(self.status_line.split(" ")[1]) if self.status_line.startswith("HTTP/") else 0
        self.headers: dict[str, str] = {}
        for line in iter(stream.readline, b"\r\n"):
            if not line:
                break
            name, _, value = line.decode("latin-1").partition(":")
            self.headers[name.lower()] = value.strip()
        if method == "HEAD" or self.status in (204, 304):
            self.body: bytes | None = b""
            self.more = stream.read() if self.headers.get("connection") == "close" else b""
        elif "event-stream" in self.headers.get("content-type", ""):
            self.body = None
        else:
            self.body = stream.read(int(self.headers.get("content-length", 0)))

    def message(self) -> object:
        """The JSON-RPC message (or the array of a batch's messages) in the body, None where there is no body."""
        return parse_line(self.body) if self.body else None


# ── remotes ──

class Remote:
    """A web server on loopback. `routes`: path -> bytes, a JSON value, (status, headers, body), or a function of the request handler.

    `log` holds (method, path, headers) of every request.
    """

    def __init__(self, routes: dict[str, object] | None = None) -> None:
        self.routes = dict(routes or {})
        self.log: list[tuple[str, str, dict[str, str]]] = []
        self.closing = threading.Event()
        remote = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                remote.log.append((self.command, self.path, {name.lower(): value for name, value in self.headers.items()}))
                route = remote.routes.get(self.path, (404, {}, b"not here"))
                if callable(route):
                    route = route(self)
                if route is None:
                    return
                status, headers, body = route if isinstance(route, tuple) else (200, {}, route)
                body = body if isinstance(body, bytes) else as_bytes(body)
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        class Host(http.server.ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *_: object) -> None:
                pass  # the client has gone

        self.server = Host(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def paths(self) -> list[str]:
        return [path for _, path, _ in self.log]

    def __enter__(self) -> Remote:
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class RawRemote:
    """A TCP server on loopback: `behave(connection, closing)` runs in a thread for each connection. `connections` counts them."""

    def __init__(self, behave: object) -> None:
        self.behave = behave
        self.connections = 0
        self.arrived = threading.Semaphore(0)
        self.closing = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.threads = [threading.Thread(target=self.accept, daemon=True)]
        self.threads[0].start()

    def accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            if self.closing.is_set():
                connection.close()
                return
            self.connections += 1
            self.arrived.release()
            thread = threading.Thread(target=self.serve, args=(connection,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                self.behave(connection, self.closing)
            except OSError:
                pass  # the client has gone

    def __enter__(self) -> RawRemote:
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        try:
            socket.create_connection(("127.0.0.1", self.port), 5).close()  # wakes accept
        except OSError:
            pass
        self.threads[0].join(5)
        self.listener.close()
        for thread in self.threads[1:]:
            thread.join(5)


def read_request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            break
        data += part
    return data


def stay_silent(connection: socket.socket, closing: threading.Event) -> None:
    """Accepts and never says a word."""
    closing.wait()


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]
