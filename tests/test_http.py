"""MCP over Streamable HTTP: a real process, real sockets. Framing, both eras, sessions, streams, who may ask, how it ends, and many at once."""
from __future__ import annotations

import base64
import contextlib
import json
import os
import random
import re
import select
import shutil
import signal
import socket
import ssl
import stat
import statistics
import subprocess
import tempfile
import threading
import time
import unittest

import wire
from processes import (
    CASES,
    ENVELOPE,
    META,
    PATIENCE,
    STATELESS,
    Host,
    RawRemote,
    Reply,
    clean_env,
    command,
    encode,
    free_port,
    initialize,
    parse_line,
    program,
    request,
    tool_call,
)
from support import make_folder, put

import doctrove

BOTH = "application/json, text/event-stream"
TOKEN, OTHER_TOKEN = "first-token-of-the-test", "other/token+of.the=test~"
PING = request("ping", id="after")
CALL = {"name": "doc_extract", "arguments": {"id": "express", "focus": "wildcard"}}
SERVER_SECONDS = 1  # what an answer may take beside a thousand connections that ask nothing


def routing(message, version=None):
    """The headers of a message that a client derives from its body: the version it claims, or `version`, and for the stateless era method and name."""
    params = message.get("params") if isinstance(message, dict) else None
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    claimed = meta.get(META + "protocolVersion") if isinstance(meta, dict) else None
    version = claimed if isinstance(claimed, str) and claimed.isascii() else version
    found = {} if version in (None, "2024-11-05", "2025-03-26") else {"MCP-Protocol-Version": version}
    if isinstance(claimed, str) and isinstance(message.get("method"), str) and message["method"].isascii():
        found["Mcp-Method"] = message["method"]
        name = params.get("uri" if message["method"] == "resources/read" else "name")
        if isinstance(name, str):
            plain = re.fullmatch("[!-~]+", name) and not name.startswith("=?")
            found["Mcp-Name"] = name if plain else f"=?base64?{base64.b64encode(name.encode('utf-8', 'surrogatepass')).decode()}?="
    return found


def http(method, target, headers=(), body=None, version="1.1"):
    """The bytes of a request; `headers` are pairs."""
    lines = [f"{method} {target} HTTP/{version}", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1") + (body or b"")


def next_event(stream):
    """The message of the next event; None where the stream ends. Comments are passed over."""
    data = None
    for line in iter(stream.readline, b""):
        if line == b"\n":
            if data is not None:
                return parse_line(data)
        elif line.startswith(b"data: "):
            data = line[6:]
        elif not line.startswith(b":") and line != b"event: message\n":
            raise AssertionError(f"not an event: {line!r:.200}")
    return None


class Peer:
    """A client's connection, which is kept. A context manager."""

    def __init__(self, host, connection=None):
        self.connection = connection or host.connect()
        self.stream = self.connection.makefile("rb")
        self.session = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()
        self.connection.close()

    def send(self, message, version=None, method="POST", target="/mcp", **headers):
        """Sends a message, or with message None a request without a body. A header given as None is left out."""
        body = None if message is None else encode(message)[:-1]
        given = {"Host": "localhost", **({} if body is None else {"Content-Type": "application/json", "Accept": BOTH, "Content-Length": len(body)}),
                 **({"Mcp-Session-Id": self.session} if self.session else {}), **routing(message, version),
                 **{name.replace("_", "-"): value for name, value in headers.items()}}
        self.connection.sendall(http(method, target, [(name, value) for name, value in given.items() if value is not None], body))

    def read(self, method="GET"):
        return Reply(self.stream, method)

    def ask(self, message, version=None, method="POST", **rest):
        self.send(message, version, method, **rest)
        return self.read(method)

    def open(self, version="2025-11-25"):
        """The handshake; the session is kept."""
        reply = self.ask(initialize(version))
        assert reply.message()["result"]["protocolVersion"] == version, reply.body
        self.session = reply.headers["mcp-session-id"]
        assert self.ask({"jsonrpc": "2.0", "method": "notifications/initialized"}, version).status == 202
        return self

    def event(self):
        return next_event(self.stream)

    def ended(self):
        """Whether the server has closed the connection."""
        try:
            return self.stream.read(1) == b""
        except ConnectionResetError:
            return True


class OverHttp(wire.Checks):
    """Tests that share one server."""

    options = ()

    @classmethod
    def setUpClass(cls):
        cls.host = Host("--http", "127.0.0.1:0", *cls.options)

    @classmethod
    def tearDownClass(cls):
        cls.host.close()

    def peer(self, host=None):
        peer = Peer(host or self.host)
        self.addCleanup(peer.__exit__)
        return peer

    def alive(self, host=None):
        """The server answers, and has not complained."""
        with Peer(host or self.host) as peer:
            self.assertEqual(peer.ask(PING).message(), {"jsonrpc": "2.0", "id": "after", "result": {}})
        self.assertEqual((host or self.host).stderr(), "")

    def error(self, reply, status, code):
        self.assertEqual((reply.status, (reply.message() or {}).get("error", {}).get("code")), (status, code), reply.body)


# ── messages ──

class Messages(OverHttp):
    """What stdio is held against, over HTTP."""

    def test_every_case_for_every_version(self):
        peer = self.peer()
        for case, version, opened, sent, expected in wire.cases("http"):
            with self.subTest(case=case["name"], version=version):
                peer.session = None
                if opened:
                    peer.open(version)
                messages = []
                for each in sent:
                    reply = peer.ask(each, version)
                    self.assertIn(reply.status, (200, 202, 400, 404))
                    if isinstance(each, dict) and ("id" not in each or "method" not in each) and {"result", "error", "method"} & set(each):
                        self.assertIn(reply.status, (202, 400) if version == STATELESS or "params" in each else (202,))  # nothing is asked
                    elif reply.status == 202:
                        self.assertEqual(reply.body, b"")
                    else:
                        messages.append(reply.message())
                    peer.session = reply.headers.get("mcp-session-id", peer.session)
                    if version != STATELESS and "mcp-session-id" in reply.headers:
                        version = reply.message()["result"]["protocolVersion"]
                self.check_all(messages, expected)
        self.alive()

    def test_hostile_messages_in_both_eras(self):
        peer = self.peer()
        for version in ("2025-11-25", STATELESS):
            for name, (line, id, codes) in wire.HOSTILE_LINES.items():
                with self.subTest(name, version=version):
                    reply = peer.ask(line, version)
                    answer = reply.message()
                    self.assertTrue(wire.same(answer["id"], id), answer)
                    if reply.status == 200:
                        self.assertTrue("result" in answer if codes is None else answer["error"]["code"] in codes, answer)
                    elif id is None:
                        self.assertEqual((reply.status, answer["error"]["code"] in codes), (400, True))
                    else:  # without the envelope, or with one that says something else than the header
                        self.assertEqual((reply.status, version == STATELESS or "as version" in name), (400, True))
                        self.assertIn(answer["error"]["code"], (-32602, -32020))
        self.alive()

    def test_bad_arguments_are_named_in_both_eras(self):
        peer = self.peer()
        for meta in ({}, {"_meta": ENVELOPE}):
            for tool, arguments, argument, says in wire.BAD_ARGUMENTS:
                with self.subTest(tool, arguments=repr(arguments)[:80], stateless=bool(meta)):
                    reply = peer.ask(tool_call(tool, arguments, **meta))
                    result = reply.message()["result"]
                    error = result["structuredContent"]["error"]
                    self.assertEqual((reply.status, result["isError"], error["code"]), (200, True, "validation"))
                    self.assertEqual(error["argument"] if argument is not None else None, argument)
                    for part in says:
                        self.assertIn(part, error["message"])
        self.alive()

    def test_other_ways_to_say_the_same_in_both_eras(self):
        peer = self.peer()
        for meta in ({}, {"_meta": ENVELOPE}):
            for tool, *ways in wire.SAME_ARGUMENTS:
                with self.subTest(tool, arguments=ways[0], stateless=bool(meta)):
                    answers = [peer.ask(tool_call(tool, arguments, **meta)).message()["result"]["structuredContent"] for arguments in ways]
                    for answer in answers:
                        answer.pop("releaseNote", None)
                    self.assertEqual(answers[0], answers[1])

    def test_mutated_messages_leave_it_answering(self):
        chance = random.Random(20260728)
        peer = self.peer()
        for _ in range(1500):
            body = wire.mutate(chance)
            reply = peer.ask(body, "2025-11-25", MCP_Protocol_Version=chance.choice((None, "2025-11-25", STATELESS)))
            self.assertIn(reply.status, (200, 202, 400, 404), body)
            wanted = wire.wanted_answer(body)
            answer = reply.message()
            if answer is not None and not isinstance(answer, list):
                self.assertTrue(wanted is None or wire.same(answer["id"], wanted[1]), (body, answer))
            self.assertTrue(answer is not None or wanted is None, (body, reply.status))
        self.alive()

    def test_each_probe_gets_its_status_and_code(self):
        with open(os.path.join(CASES, "http.json"), encoding="utf-8") as file:
            probes = json.load(file)["probes"]
        for name, probe in ((probe["name"], wire.fill(probe, STATELESS)) for probe in probes):
            with self.subTest(name):
                peer = self.peer()
                sent = probe.get("send")
                body = None if sent is None else sent.encode() if isinstance(sent, str) else json.dumps(
                    {"jsonrpc": "2.0", **sent} if isinstance(sent, dict) else sent).encode()
                headers = [("Host", "localhost"), *([] if body is None else [("Content-Length", len(body))])]
                given = [each for each in ({"Content-Type": "application/json", "Accept": BOTH} if body is not None else {}).items()
                         if each[0] not in probe.get("without", ())]
                headers = [each for each in headers + given if each[0] not in {name for name, _ in probe.get("headers", ())}]
                peer.connection.sendall(http(probe.get("method", "POST" if body is not None else "GET"), probe.get("target", "/mcp"),
                                             headers + probe.get("headers", []), body))
                reply = peer.read(probe.get("method", "GET"))
                if reply.body is None:
                    answer = peer.event()
                else:
                    answer = json.loads(reply.body) if reply.body and "json" in reply.headers.get("content-type", "") else None
                code = answer.get("error", {}).get("code") if isinstance(answer, dict) else None
                self.assertEqual((reply.status, code), (probe["status"], probe.get("code")), (answer, probe))
                for header, value in probe.get("reply", {}).items():
                    self.assertEqual(reply.headers.get(header), value)
                if "id" in probe:
                    self.assertTrue(wire.same(answer["id"], probe["id"]), answer)
        self.alive()


# ── framing ──

class Framing(OverHttp):

    BODY = json.dumps(PING).encode()
    HOST = b"Host: localhost\r\n"
    HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n"
    HALVES = BODY[:9], BODY[9:]

    @staticmethod
    def sized(body):
        return b"Content-Length: %d\r\n" % len(body)

    @classmethod
    def frames(cls):
        """name -> (what is sent before the client closes its side, the statuses that will do)."""
        body, head, host, chunked, sized = cls.BODY, cls.HEAD, cls.HOST, cls.CHUNKED, cls.sized(cls.BODY)
        first, second = cls.HALVES
        whole = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in cls.HALVES)
        get, end, most = b"GET /healthz HTTP/1.1\r\n", b"\r\n", doctrove.MAX_BODY_BYTES
        frames = {
            "a request": (head + sized + end + body, {200}),
            # length
            "no length": (head + end, {411}),
            "an empty body": (head + b"Content-Length: 0\r\n\r\n" + b"", {400}),
            "length too large": (head + b"Content-Length: %d\r\n\r\n" % (most + 1), {413}),
            "length huge": (head + b"Content-Length: 999999999999999\r\n\r\n" + body, {413}),
            "length beyond every integer": (head + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n" + body, {400, 413}),
            "body too short": (head + b"Content-Length: %d\r\n\r\n" % (len(body) + 9) + body, {400}),
            "no body at all": (head + sized + end, {400}),
            "two lengths that differ": (head + sized + b"Content-Length: 1\r\n\r\n" + body, {400}),
            "two lengths that are the same": (head + sized + sized + end + body, {400}),
            "length and chunked": (chunked + sized + end + whole + b"0\r\n\r\n", {400}),
            **{f"length {value!r}": (head + b"Content-Length: " + value + b"\r\n\r\n" + body, {400})
               for value in (b"-1", b"+42", b"0x2a", b"42, 42", b"4 2", b"", b"42.0", b"1e1", b"\xb2", b"_1")},
            # chunks
            "chunks": (chunked + end + whole + b"0\r\n\r\n", {200}),
            "chunks with extensions": (chunked + end + b"9;a=b\r\n" + first + b'\r\n%X ;q="x;y"\r\n' % len(second) + second + b"\r\n0;last\r\n\r\n", {200}),
            "chunks with trailers": (chunked + end + whole + b"0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n", {200}),
            "chunks with leading zeros": (chunked + end + b"%08x\r\n" % len(body) + body + b"\r\n000\r\n\r\n", {200}),
            "coding in upper case": (head + b"Transfer-Encoding: CHUNKED\r\n\r\n" + whole + b"0\r\n\r\n", {200}),
            "a chunk of one byte each": (chunked + end + b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n", {200}),
            "no chunk": (chunked + end + b"0\r\n\r\n", {400}),
            "chunk size no number": (chunked + end + b"zz\r\n" + body + b"\r\n0\r\n\r\n", {400}),
            "chunk size empty": (chunked + end + b"\r\n" + body + b"\r\n0\r\n\r\n", {400}),
            "chunk size negative": (chunked + end + b"-2\r\n" + body + b"\r\n0\r\n\r\n", {400}),
            "chunk size 0x": (chunked + end + b"0x2a\r\n" + body + b"\r\n0\r\n\r\n", {400}),
            "chunk size with space before it": (chunked + end + b" 2a\r\n" + body + b"\r\n0\r\n\r\n", {400}),
            "chunk size of 9 digits": (chunked + end + b"fffffffff\r\n" + body, {400}),
            "chunk too large": (chunked + end + b"ffffffff\r\n" + body, {413}),
            "chunks too large together": (chunked + end + b"%x\r\n" % most + bytes(most) + b"\r\n1\r\nx\r\n0\r\n\r\n", {413}),
            "chunk longer than it says": (chunked + end + b"5\r\n" + body + b"\r\n0\r\n\r\n", {400}),
            "chunk shorter than it says": (chunked + end + b"%x\r\n" % (len(body) + 5) + body + b"\r\n0\r\n\r\n", {400}),
            "chunk lines end with LF alone": (chunked + end + (whole + b"0\r\n\r\n").replace(b"\r\n", b"\n"), {400}),
            "chunk line of 100,000 bytes": (chunked + end + b"1;" + b"x" * 100000 + b"\r\nx\r\n0\r\n\r\n", {400}),
            "200 trailers": (chunked + end + whole + b"0\r\n" + b"X: y\r\n" * 200 + end, {431}),
            "chunks without their end": (chunked + end + whole, {400}),
            "trailers without their end": (chunked + end + whole + b"0\r\nX: y\r\n", {400}),
            "two codings": (head + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + whole + b"0\r\n\r\n", {501}),
            "chunked twice": (head + b"Transfer-Encoding: chunked, chunked\r\n\r\n" + whole + b"0\r\n\r\n", {400, 501}),
            "chunked in two headers": (chunked + b"Transfer-Encoding: chunked\r\n\r\n" + whole + b"0\r\n\r\n", {400}),
            "coding identity": (head + b"Transfer-Encoding: identity\r\n" + sized + end + body, {400, 501}),
            "coding with a vertical tab": (head + b"Transfer-Encoding: \x0bchunked\r\n\r\n" + whole + b"0\r\n\r\n", {400}),
            "chunked in HTTP/1.0": (chunked.replace(b"1.1", b"1.0") + end + whole + b"0\r\n\r\n", {400}),
            # header lines
            "one header of 1 MB": (get + host + b"X: " + b"x" * 1_000_000 + b"\r\n\r\n", {431}),
            "headers of 1 MB": (get + host + b"X: 3456789\r\n" * 80_000 + end, {431}),
            "101 headers": (get + host + b"X: y\r\n" * 100 + end, {431}),
            "100 headers": (get + host + b"X: y\r\n" * 99 + end, {200}),
            "a header of 60,000 bytes": (get + host + b"X: " + b"x" * 60_000 + b"\r\n\r\n", {200}),
            "a target of 100,000 bytes": (b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n" + host + end, {431}),
            "a folded header": (get + host + b"X: a\r\n b\r\n\r\n", {400}),
            "a folded header before all others": (get + b" X: a\r\n" + host + end, {400}),
            "space before the colon": (head + b"Content-Length : %d\r\n\r\n" % len(body) + body, {400}),
            "tab before the colon": (get + host + b"X\t: a\r\n\r\n", {400}),
            "no colon": (get + host + b"nonsense\r\n\r\n", {400}),
            "no name": (get + host + b": x\r\n\r\n", {400}),
            "a name that is none": (get + host + b"X(y): x\r\n\r\n", {400}),
            "a name outside ASCII": (get + host + b"X\xe9: x\r\n\r\n", {400}),
            "a value outside ASCII": (get + host + b"X: \xe9\xff\r\n\r\n", {200}),
            "an empty value": (get + host + b"X:\r\n\r\n", {200}),
            "values with tabs around": (get + b"Host:\t localhost \t\r\n\r\n", {200}),
            **{f"{byte!r} in a value": (get + host + b"X: a" + byte + b"b\r\n\r\n", {400}) for byte in (b"\0", b"\r", b"\n", b"\x0b", b"\x1b", b"\x7f")},
            "CR before the end": (get + host + b"X: a\r\r\n\r\n", {400}),
            "NUL in a name": (get + host + b"X\0: a\r\n\r\n", {400}),
            "LF alone": (get.replace(b"\r\n", b"\n") + b"Host: localhost\n\n", {400}),
            "LF alone at one line": (get + host + b"X: a\nY: b\r\n\r\n", {400}),
            # request lines
            "empty lines before it": (b"\r\n" + get + host + end, {200}),
            "nothing but empty lines": (b"\r\n\r\n\r\n", {400}),
            "a lower-case method": (get.lower().replace(b"http/", b"HTTP/") + host + end, {405}),
            "a method of 100 letters": (b"G" * 100 + b" /healthz HTTP/1.1\r\n" + host + end, {400}),
            "HTTP/0.9": (b"GET /healthz\r\n\r\n", {400}),
            "HTTP/0.9 by name": (b"GET /healthz HTTP/0.9\r\n" + host + end, {505}),
            "HTTP/1.2": (b"GET /healthz HTTP/1.2\r\n" + host + end, {200}),
            "HTTP/2 preface": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {505}),
            "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), {400}),
            "SSH": (b"SSH-2.0-OpenSSH_9.9\r\n", {400}),
            "a NUL": (b"\0", {400}),
            "half a line": (b"GET /heal", {400}),
            "half a head": (get + b"Host: loc", {400}),
            **{f"line {line!r}": (line + b"\r\n" + host + end, {400}) for line in (
                b"GET", b"GET /", b"GET  /healthz HTTP/1.1", b"GET /healthz  HTTP/1.1", b" GET /healthz HTTP/1.1", b"GET /healthz HTTP/1.1 ",
                b"GET /healthz x HTTP/1.1", b"GET\t/healthz\tHTTP/1.1", b"GET /healthz HTTP/1", b"GET /healthz HTTP/11.1", b"GET /healthz HTTP/1.10",
                b"GET /healthz http/1.1", b"GET /healthz HTTP 1.1", b"GET /healthz FTP/1.1", b"G\xc9T /healthz HTTP/1.1", b"GET /h\xe9 HTTP/1.1",
                b"GET /healthz\0 HTTP/1.1", b"GET /healthz\xa0200\xa05 HTTP/1.1", b"GET /\x1b[2J HTTP/1.1", b"GET /\x85 HTTP/1.1")},
            # targets
            "absolute form": (b"GET http://localhost/healthz HTTP/1.1\r\n" + host + end, {200}),
            "absolute form without a path": (b"GET http://localhost HTTP/1.1\r\n" + host + end, {200}),
            "absolute form with a port": (b"GET HTTPS://LocalHost:1/healthz?x HTTP/1.1\r\n" + host + end, {200}),
            "absolute form of a foreign host": (b"GET http://evil.example/healthz HTTP/1.1\r\n" + host + end, {403}),
            "absolute form with a user": (b"GET http://localhost@evil.example/healthz HTTP/1.1\r\n" + host + end, {403}),
            "absolute form, foreign in the header alone": (b"GET http://localhost/healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", {200}),
            "absolute form without the header": (b"GET http://localhost/healthz HTTP/1.1\r\n\r\n", {400}),
            "absolute form of another scheme": (b"GET ftp://localhost/healthz HTTP/1.1\r\n" + host + end, {404}),
            "asterisk form": (b"OPTIONS * HTTP/1.1\r\n" + host + end, {404, 405}),
            "authority form": (b"CONNECT localhost:80 HTTP/1.1\r\n" + host + end, {404, 405}),
            "a query": (b"GET /healthz?a=/../b HTTP/1.1\r\n" + host + end, {200}),
            # hosts
            "no host": (get + end, {400}),
            "two hosts": (get + host + host + end, {400}),
            "an empty host": (get + b"Host:\r\n\r\n", {403}),
            "no host in HTTP/1.0": (get.replace(b"1.1", b"1.0") + end, {200}),
            # bodies where there is none
            "GET with a body": (get + host + sized + end + body, {400}),
            "GET with chunks": (get + host + b"Transfer-Encoding: chunked\r\n\r\n" + whole + b"0\r\n\r\n", {400}),
            "GET with an empty body": (get + host + b"Content-Length: 0\r\n\r\n", {200}),
            "DELETE with a body": (b"DELETE /mcp HTTP/1.1\r\n" + host + sized + end + body, {400}),
            "an expectation that is unknown": (head + sized + b"Expect: 200-ok\r\n\r\n" + body, {417}),
        }
        return frames

    def all_that_comes(self, data):
        """What the server says until it closes, to a client that sends `data` and then no more."""
        with self.host.connect() as connection:
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
            except (BrokenPipeError, ConnectionResetError):
                pass  # it was refused before it was sent whole
            found = []
            with contextlib.suppress(ConnectionResetError):
                found.extend(iter(lambda: connection.recv(1 << 16), b""))
            return b"".join(found)

    def test_each_frame_gets_one_answer_of_its_status(self):
        for name, (data, statuses) in self.frames().items():
            with self.subTest(name):
                said = self.all_that_comes(data)
                found = re.findall(rb"HTTP/1\.1 ([0-9]{3}) ", said)
                self.assertEqual(len(found), 1, said[:300])
                self.assertIn(int(found[0]), statuses, said[:300])
        self.alive()

    def test_a_refused_request_is_the_last_of_its_connection_where_its_end_is_unknown(self):
        smuggled = http("GET", "/healthz", [("Host", "localhost")])
        for name, (data, statuses) in self.frames().items():
            if statuses & {400, 411, 413, 417, 431, 501, 505} and data.endswith((b"0\r\n\r\n", self.BODY)) and name != "body too short":
                with self.subTest(name):
                    self.assertEqual(len(re.findall(rb"HTTP/1\.1 [0-9]{3} ", self.all_that_comes(data + smuggled))), 1)

    def test_a_thousand_requests_on_one_connection(self):
        peer = self.peer()
        for at in range(1000):
            reply = peer.ask(request("ping", id=at))
            self.assertEqual((reply.status, reply.message()["id"]), (200, at))

    def test_a_refusal_of_a_whole_request_keeps_the_connection(self):
        peer = self.peer()
        for body, status in ((b"{", 400), (b"[]", 400), (request("tools/list", {"_meta": {META + "protocolVersion": 1}}), 400), (PING, 200)):
            self.assertEqual(peer.ask(body).status, status)

    def test_pipelined_requests_are_answered_in_order(self):
        peer = self.peer()
        for at in range(60):
            peer.send(tool_call("doc_extract", {"id": "express"}, at) if at % 3 == 0 else request("ping", id=at))
            if at % 3 == 2:
                peer.send(None, method="GET", target="/healthz")
        found = []
        for at in range(60):
            found.append(peer.read().message()["id"])
            if at % 3 == 2:
                self.assertIn(b"ok", peer.read().body)
        self.assertEqual(found, list(range(60)))

    def test_100_continue(self):
        body = encode(PING)
        head = self.HEAD + self.sized(body) + b"Expect: 100-Continue\r\n\r\n"
        peer = self.peer()
        for _ in range(2):
            peer.connection.sendall(head)
            self.assertEqual((peer.stream.readline(), peer.stream.readline()), (b"HTTP/1.1 100 Continue\r\n", b"\r\n"))
            peer.connection.sendall(body)
            self.assertEqual(peer.read().message()["id"], "after")

    def test_who_expects_100_continue_is_refused_without_sending_the_body(self):
        for change, status in ((b"Content-Length: 99999999\r\n", 413), (b"Content-Length: x\r\n", 400), (b"Origin: http://evil.example\r\n", 403)):
            with self.subTest(change):
                peer = self.peer()
                peer.connection.sendall(self.HEAD + change + b"Expect: 100-continue\r\n\r\n")
                self.assertEqual(peer.read().status, status)

    def test_http_1_0_is_answered_and_ended(self):
        for more in ((), (("Connection", "keep-alive"),)):
            peer = self.peer()
            peer.connection.sendall(http("POST", "/mcp", [("Content-Type", "application/json"), ("Content-Length", len(self.BODY)), *more], self.BODY, "1.0"))
            reply = peer.read()
            self.assertEqual((reply.status, reply.headers["connection"]), (200, "close"))
            self.assertTrue(peer.ended())

    def test_who_asks_for_the_end_gets_it(self):
        for value in ("close", "Close", "keep-alive, close", "x,CLOSE"):
            peer = self.peer()
            reply = peer.ask(PING, Connection=value)
            self.assertEqual((reply.status, reply.headers["connection"]), (200, "close"))
            self.assertTrue(peer.ended())

    def test_a_body_that_comes_byte_by_byte(self):
        peer = self.peer()
        data = self.HEAD + self.sized(self.BODY) + b"\r\n" + self.BODY
        for at in range(len(data)):
            peer.connection.sendall(data[at:at + 1])
        self.assertEqual(peer.read().message()["id"], "after")

    def test_the_largest_body_is_taken(self):
        peer = self.peer()
        body = json.dumps({**PING, "params": {"x": "y" * (doctrove.MAX_BODY_BYTES - 200)}}).encode()
        self.assertEqual(peer.ask(body).message()["id"], "after")
        self.assertEqual(peer.ask(body + b" " * (doctrove.MAX_BODY_BYTES - len(body))).message()["id"], "after")

    def test_head_is_get_without_the_body(self):
        for target, status in (("/healthz", 200), ("/", 200), ("/nowhere", 404)):
            peer = self.peer()
            get, head = (self.peer().ask(None, method=method, target=target, Connection="close") for method in ("GET", "HEAD"))
            self.assertEqual((get.status, head.status, head.headers["content-length"]), (status, status, str(len(get.body))))
            self.assertEqual(head.more, b"")

    def test_every_answer_says_how_it_may_be_read(self):
        for target in ("/", "/mcp", "/healthz", "/nowhere"):
            reply = self.peer().ask(None, method="GET", target=target)
            self.assertEqual(reply.headers["x-content-type-options"], "nosniff")
            self.assertRegex(reply.headers["date"], r"^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$")
            self.assertNotIn("Python", reply.headers["server"])


if __name__ == "__main__":
    unittest.main()
