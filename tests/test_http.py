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

    def test_arguments_nested_almost_too_deeply_are_a_fault_of_the_arguments(self):
        for depth in (500, 900, 950, 960, 970, 980, 990, 2000, 20000):
            with self.subTest(depth=depth):
                reply = self.peer().ask(wire.raw_call(b'{"id":"zod","maxChars":' + wire.nested(depth) + b"}"))
                if reply.status == 400:
                    self.error(reply, 400, -32700)
                else:
                    self.assertEqual(reply.message()["result"]["structuredContent"]["error"]["code"], "validation")

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
        return {
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
            "9,000 chunks": (chunked + end + b"1\r\n \r\n" * 9000 + whole + b"0\r\n\r\n", {200}),
            "too many chunks": (chunked + end + b"1\r\n \r\n" * 300_000 + whole + b"0\r\n\r\n", {413}),
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
            whole = name in ("body too short", "an empty body", "no chunk")  # or made whole by what follows
            if statuses & {400, 411, 413, 417, 431, 501, 505} and data.endswith((b"0\r\n\r\n", self.BODY)) and not whole:
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
            get, head = (self.peer().ask(None, method=method, target=target, Connection="close") for method in ("GET", "HEAD"))
            self.assertEqual((get.status, head.status, head.headers["content-length"]), (status, status, str(len(get.body))))
            self.assertEqual(head.more, b"")

    def test_every_answer_says_how_it_may_be_read(self):
        for target in ("/", "/mcp", "/healthz", "/nowhere"):
            reply = self.peer().ask(None, method="GET", target=target)
            self.assertEqual(reply.headers["x-content-type-options"], "nosniff")
            self.assertRegex(reply.headers["date"], r"^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$")
            self.assertNotIn("Python", reply.headers["server"])


# ── sessions and streams ──

class LibraryCase(OverHttp):
    """A server with a library, which tests change from another process."""

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.above = os.path.realpath(cls.holder.name)
        cls.root = os.path.join(cls.above, "library")
        cls.options = ("--root", cls.root, "--allow", cls.above, *cls.more_options)
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.holder.cleanup()

    def pages(self, name, count=1, words="Some words."):
        return put(os.path.join(self.above, name), {f"{at}.md": f"# Page {at}\n\n{words}\n" for at in range(count)})

    def change(self, name):
        """Another process adds an entry to the library."""
        done = command("index", self.pages(name), "--root", self.root)
        self.assertEqual(done.returncode, 0, done.stderr)


class Sessions(LibraryCase):

    more_options = ()

    def test_initialize_gives_a_session_that_nobody_can_guess(self):
        found = set()
        for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"):
            session = self.peer().open(version).session
            self.assertRegex(session, r"^[!-~]{40,}$")
            found.add(session[-32:])
        self.assertEqual(len(found), 4)

    def test_only_a_handshake_gives_one(self):
        peer = self.peer()
        for message in (request("tools/list", {"_meta": ENVELOPE}), request("server/discover", {"_meta": ENVELOPE}), PING,
                        request("initialize", {"protocolVersion": 7}), request("initialize", {"_meta": ENVELOPE})):
            self.assertNotIn("mcp-session-id", peer.ask(message).headers)

    def test_the_session_says_the_version(self):
        batch = [request("ping", id=1)]
        for version, status in (("2025-03-26", 200), ("2025-06-18", 400), ("2025-11-25", 400), ("2024-11-05", 400)):
            peer = self.peer().open(version)
            self.assertEqual(peer.ask(batch, MCP_Protocol_Version=None).status, status, version)
            self.assertEqual(peer.ask(PING, MCP_Protocol_Version=None).status, 200)

    def test_a_session_ends_for_good(self):
        peer = self.peer().open()
        self.assertEqual(peer.ask(None, method="DELETE", MCP_Protocol_Version="2025-11-25").status, 204)
        for method, message in (("POST", PING), ("POST", [PING]), ("POST", {"jsonrpc": "2.0", "method": "notifications/initialized"}), ("DELETE", None),
                                ("GET", None)):
            with self.subTest(method, message=message), Peer(self.host) as other:
                other.session = peer.session
                self.error(other.ask(message, method=method, Accept="text/event-stream"), 404, -32600)
        self.assertEqual(self.peer().open().ask(PING).status, 200)

    def test_a_session_that_is_none_of_ours(self):
        good = self.peer().open().session
        for session in ("x", "", good[:-1], good + "0", good.upper(), good.replace("2025-11-25", "2026-07-28"), good.replace("2025-11-25", "2025-11-26"),
                        "../" + good, "\xff" * 40, "x" * 5000):
            with self.subTest(session[:60]):
                peer = self.peer()
                self.error(peer.ask(PING, Mcp_Session_Id=session), 404, -32600)

    def test_two_sessions_in_one_request(self):
        peer = self.peer().open()
        self.error(peer.ask(PING, mcp_session_id=peer.session), 400, -32600)

    def test_a_session_outlives_a_restart(self):
        with contextlib.closing(Host("--http", "127.0.0.1:0")) as first:
            session = self.peer(first).open("2025-06-18").session
        peer = self.peer()
        peer.session = session
        self.assertEqual(peer.ask(request("tools/list"), "2025-06-18").status, 200)
        self.assertEqual(peer.ask(None, method="DELETE").status, 204)

    def test_a_stream_of_a_session_tells_changes_and_ends_with_it(self):
        peer, stream = self.peer().open(), self.peer()
        stream.session = peer.session
        reply = stream.ask(None, "2025-11-25", method="GET", Accept="text/event-stream")
        self.assertEqual((reply.status, reply.headers["content-type"]), (200, "text/event-stream"))
        self.change("told-1")
        self.assertEqual(stream.event(), {"jsonrpc": "2.0", "method": "notifications/resources/list_changed"})
        self.assertEqual(peer.ask(None, method="DELETE").status, 204)
        self.assertIsNone(stream.event())

    def test_subscriptions_are_acknowledged_first_and_told_of_changes(self):
        streams = []
        for at, (id, filter, honoured) in enumerate((
                ("one", {"resourcesListChanged": True}, True), (0, {"resourcesListChanged": True, "toolsListChanged": True}, True),
                ("", {"toolsListChanged": True}, False), ("one", {"resourcesListChanged": True}, True), (7, {"resourcesListChanged": False}, False))):
            peer = self.peer()
            reply = peer.ask(request("subscriptions/listen", {"_meta": ENVELOPE, "notifications": filter}, id))
            self.assertEqual((reply.status, reply.headers["content-type"]), (200, "text/event-stream"))
            acknowledged = {"_meta": {META + "subscriptionId": id}, "notifications": {"resourcesListChanged": True} if honoured else {}}
            self.assertTrue(wire.same(peer.event(), {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": acknowledged}))
            streams.append((at, id, honoured, peer))
        self.change("heard-1")  # at once: what changes after the acknowledgement counts
        for at, id, honoured, peer in streams:
            with self.subTest(at):
                if honoured:
                    self.assertTrue(wire.same(peer.event(), {"jsonrpc": "2.0", "method": "notifications/resources/list_changed",
                                                             "params": {"_meta": {META + "subscriptionId": id}}}))
                self.assertEqual(select.select([peer.connection], [], [], 0)[0], [], "nothing else is said")
        self.alive()

    def test_their_number_is_bounded(self):
        with contextlib.closing(Host("--http", "127.0.0.1:0", before="doctrove.MAX_SUBSCRIPTIONS = 3")) as host:
            listen = request("subscriptions/listen", {"_meta": ENVELOPE, "notifications": {}})
            peers = [self.peer(host) for _ in range(4)]
            self.assertEqual([peer.ask(listen).headers["content-type"] for peer in peers], ["text/event-stream"] * 3 + ["application/json"])
            peers[0].__exit__()
            while (reply := peers[3].ask(listen)).body is not None:  # until the server has seen that it has gone
                self.error(reply, 200, -32603)
            self.assertEqual(peers[3].event()["method"], "notifications/subscriptions/acknowledged")

    def test_a_call_without_write_cannot_write(self):
        names = {tool["name"] for tool in self.peer().ask(request("tools/list")).message()["result"]["tools"]}
        self.assertIn("list_repos", names)
        self.assertFalse({"index_local", "index_url", "index_package", "delete_index"} & names)
        self.error(self.peer().ask(tool_call("delete_index", {"repo": "told"})), 200, -32602)
        self.assertIn("read only", self.host.line)


class Writing(LibraryCase):

    more_options = ("--http-write",)

    def test_the_tools_that_write_are_there(self):
        names = {tool["name"] for tool in self.peer().ask(request("tools/list")).message()["result"]["tools"]}
        self.assertLessEqual({"index_local", "index_url", "delete_index"}, names)
        self.assertIn("can be written", self.host.line)

    def imports(self, path, id, token, **meta):
        return tool_call("index_local", {"path": path}, id, _meta={**meta, **({} if token is None else {"progressToken": token})})

    def test_progress_comes_on_the_event_stream_of_the_request(self):
        big = self.pages("big-1", 150, "Words of a page.\n\n" * 200)
        for version, envelope in (("2025-11-25", {}), (STATELESS, ENVELOPE)):
            for token in (0, "", "a token"):
                with self.subTest(version, token=token):
                    peer = self.peer()
                    if not envelope:
                        peer.open(version)
                    reply = peer.ask(self.imports(big, "slow", token, **envelope), version)
                    self.assertEqual((reply.status, reply.headers["content-type"]), (200, "text/event-stream"))
                    notes = []
                    while "id" not in (message := peer.event()):
                        notes.append(message)
                    self.assertEqual((message["id"], message["result"]["isError"]), ("slow", False))
                    self.assertTrue(notes)
                    for note in notes:
                        self.assertEqual(note["method"], "notifications/progress")
                        self.assertTrue(wire.same((note["params"]["progressToken"]), token))
                    done = [note["params"]["progress"] for note in notes]
                    self.assertEqual(done, sorted(set(done)))
                    self.assertIsNone(peer.event())

    def test_who_takes_no_event_stream_gets_the_answer_alone(self):
        small = self.pages("small-1")
        for options in ({"token": None}, {"token": 1, "Accept": "application/json"}):
            reply = self.peer().ask(self.imports(small, 1, options.pop("token")), **options)
            self.assertEqual((reply.headers["content-type"], reply.message()["result"]["isError"]), ("application/json", False))

    def test_a_session_cancels_its_own_request_and_nobody_elses(self):
        big = self.pages("cancelled-1", 150, "Words of a page.\n\n" * 200)
        peer, other, stranger = self.peer().open(), self.peer(), self.peer().open()
        other.session = peer.session
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}}
        for canceller, is_cancelled in ((other, True), (stranger, False)):
            with self.subTest(is_cancelled=is_cancelled), Peer(self.host) as asking:
                asking.session = peer.session
                asking.ask(self.imports(big, "slow", 1), "2025-11-25")
                self.assertEqual(asking.event()["method"], "notifications/progress")
                self.assertEqual(canceller.ask(cancel).status, 202)
                last = None
                while (message := asking.event()) is not None:
                    last = message
                self.assertEqual("result" in (last or {}), not is_cancelled, last)
        self.assertEqual(self.peer().ask(cancel).status, 202)

    def test_a_cancelled_request_without_an_event_stream_has_no_answer(self):
        big = self.pages("silent-1", 150, "Words of a page.\n\n" * 200)
        peer, other = self.peer().open(), self.peer()
        other.session = peer.session
        peer.send(self.imports(big, 5, None), "2025-11-25")
        while not select.select([peer.connection], [], [], 0)[0]:  # it may not be there yet when it is cancelled first
            other.ask({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}})
        reply = peer.read()
        self.assertEqual((reply.status, reply.body), (202, b""))
        self.assertEqual(peer.ask(PING).status, 200)

    def test_a_stateless_request_is_cancelled_by_hanging_up(self):
        big = self.pages("hung-1", 150, "Words of a page.\n\n" * 200)
        with Peer(self.host) as peer:
            peer.ask(self.imports(big, 1, 1, **ENVELOPE))
            self.assertEqual(peer.event()["method"], "notifications/progress")
        self.assertIs(self.peer().ask(self.imports(self.pages("next-1"), 1, None)).message()["result"]["isError"], False)
        repos = self.peer().ask(tool_call("list_repos", {})).message()["result"]["structuredContent"]["repos"]
        self.assertNotIn("hung", [row["repo"] for row in repos])
        self.alive()


# ── who may ask ──

class Security(OverHttp):

    def test_origins(self):
        for origin in ("http://evil.example", "https://evil.example:8731", "null", "http://127.0.0.1.evil.example", "http://localhost.evil.example",
                       "http://evil.example@127.0.0.1", "http://127.0.0.1@evil.example", "file://", "nonsense", "", "http://", "http://evil.example/127.0.0.1",
                       "localhost", "127.0.0.1", "ftp://localhost", "chrome-extension://localhost", "http://localhost http://evil.example", "http://0.0.0.0",
                       "http://localhost.", "http://[::1", "http://2130706433"):
            for target in ("/mcp", "/", "/healthz"):
                with self.subTest(origin, target=target):
                    self.assertEqual(self.peer().ask(PING if target == "/mcp" else None, method="POST" if target == "/mcp" else "GET", target=target,
                                                     Origin=origin).status, 403)
        for origin in ("http://localhost:3000", "http://127.0.0.1", "http://[::1]:8000", "https://LOCALHOST", "HTTP://localhost"):
            with self.subTest(origin):
                self.assertEqual(self.peer().ask(PING, Origin=origin).status, 200)
        peer = self.peer()
        peer.connection.sendall(http("GET", "/healthz", [("Host", "localhost"), ("Origin", "http://localhost"), ("Origin", "http://evil.example")]))
        self.assertEqual(peer.read().status, 400)

    def test_hosts(self):
        for host in ("evil.example", f"evil.example:{self.host.port}", "127.0.0.1.evil.example", "127.0.0.1@evil.example", "", "localhost.evil.example",
                     "localhost.", "127.0.0.1.", "127.0.0.2", "127.0.0.1:80:80", "127.0.0.1, evil.example", "[::2]", "[::1", "::1", "0.0.0.0", "2130706433",
                     "localhost/x", "localhost:x", "127.1", "\xe9", "localhost evil.example"):
            with self.subTest(host):
                self.assertEqual(self.peer().ask(None, method="GET", target="/", Host=host).status, 403)
        for host in (f"localhost:{self.host.port}", "LOCALHOST", "LocalHost:1", "127.0.0.1", "[::1]", "[::1]:1", "[0:0:0:0:0:0:0:1]"[:0] + "127.0.0.1:"):
            with self.subTest(host):
                self.assertEqual(self.peer().ask(PING, Host=host).status, 200)

    def test_names_of_ones_own(self):
        with contextlib.closing(Host("--http", "127.0.0.1:0", "--http-names", "Docs.Example,docs")) as host:
            for name, status in (("docs.example", 200), ("DOCS.example:443", 200), ("docs", 200), ("localhost", 200), ("x.docs.example", 403)):
                self.assertEqual(self.peer(host).ask(PING, Host=name).status, status, name)
            for origin, status in (("https://docs.example", 200), ("https://docs.example.evil", 403), ("https://evil.example", 403)):
                self.assertEqual(self.peer(host).ask(PING, Origin=origin).status, status, origin)

    def test_traversal_in_any_spelling(self):
        for target in ("/../mcp", "/..%2f..%2fetc/passwd", "/%2e%2e/etc/passwd", "/%2E%2E%2Fetc%2Fpasswd", "/..%5c..%5cetc", "/..\\..\\etc", "/....//x",
                       "/%252e%252e/etc/passwd", "/%c0%ae%c0%ae/etc/passwd", "/..;/etc/passwd", "/%00", "/index.html", "/doctrove.pyz", "//etc/passwd",
                       "/etc/passwd", "/file:/etc/passwd", "/C:/", "/./", "/.", "/..", "//", "/%2f", "/%", "/healthz/", "/healthz/../mcp", "/%68ealthz",
                       "/mcp%00", "/mcp/..", "../etc/passwd", "etc/passwd", "http://localhost/../etc/passwd", "/healthz%20", "/healthz;x", "?", "/#"):
            for method in ("GET", "HEAD", "POST"):
                with self.subTest(target, method=method):
                    reply = self.peer().ask(None, method=method, target=target, Connection="close")
                    self.assertEqual(reply.status, 404)
                    self.assertNotIn(b"root:", reply.body)
        self.alive()

    def test_a_server_without_tokens_asks_for_none(self):
        self.assertEqual(self.peer().ask(PING, Authorization="Bearer whatever").status, 200)


class Tokens(OverHttp):

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.folder = cls.holder.name
        put(cls.folder, {"tokens": f"\ufeff# the team's\r\n\r\n  {TOKEN}  \n{OTHER_TOKEN}\n"})
        cls.host = Host("--http", "127.0.0.1:0", "--http-token-file", os.path.join(cls.folder, "tokens"), "--debug",
                        env=clean_env(DOCTROVE_HTTP_TOKEN="a-third-one-from-the-environment"))

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.holder.cleanup()

    def test_each_token_opens(self):
        for token in (TOKEN, OTHER_TOKEN, "a-third-one-from-the-environment"):
            for scheme in ("Bearer", "bearer", "BEARER"):
                self.assertEqual(self.peer().ask(PING, Authorization=f"{scheme} {token}").status, 200)

    def test_anything_else_does_not(self):
        for given in (None, "", "Bearer", "Bearer ", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN.upper()}",
                      f"Bearer {TOKEN} {OTHER_TOKEN}", f"Bearer {TOKEN},{OTHER_TOKEN}", "Bearer # the team's", f"Bearer\t{TOKEN}", f"Bearer {TOKEN}\xff",
                      "Bearer " + "x" * 50000, f'Bearer "{TOKEN}"'):
            for method, message in (("POST", PING), ("GET", None), ("DELETE", None), ("PUT", None)):
                with self.subTest(repr(given)[:60], method=method):
                    reply = self.peer().ask(message, method=method, Authorization=given)
                    self.error(reply, 401, -32600)
                    self.assertRegex(reply.headers["www-authenticate"], r'^Bearer realm="doctrove"')

    def test_two_headers_of_which_one_is_right(self):
        peer = self.peer()
        peer.connection.sendall(http("GET", "/mcp", [("Host", "localhost"), ("Authorization", "Bearer x"), ("Authorization", f"Bearer {TOKEN}")]))
        self.assertEqual(peer.read().status, 400)

    def test_health_and_the_page_need_none(self):
        for target in ("/healthz", "/"):
            self.assertEqual(self.peer().ask(None, method="GET", target=target).status, 200)

    def test_a_foreign_page_is_refused_whatever_it_knows(self):
        self.error(self.peer().ask(PING, Authorization=f"Bearer {TOKEN}", Origin="http://evil.example"), 403, -32600)

    def test_no_token_is_ever_shown(self):
        self.peer().ask(PING, Authorization=f"Bearer {TOKEN}")
        self.peer().ask(PING, Authorization="Bearer wrong-token-that-is-long")
        for word in (TOKEN, OTHER_TOKEN, "a-third-one", "wrong-token"):
            self.assertNotIn(word, self.host.line + self.host.stderr())
        self.assertIn(" 401 ", self.host.stderr())


class Starting(unittest.TestCase):
    """What it refuses to start with: exit code 2, one line that says why, nothing on standard output."""

    def refused(self, *options, says=(), env=None, **more):
        done = command("--http", *options, env=clean_env(**(env or {})), **more)
        error = done.stderr.decode("utf-8")
        self.assertEqual((done.returncode, done.stdout, len(error.splitlines())), (2, b"", 1), error)
        for part in says:
            self.assertIn(part, error)
        return error

    def test_addresses(self):
        for address in ("", "x", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", ":8731", "127.0.0.1:65536", "127.0.0.1:999999", "::1:8731", "http://127.0.0.1:8731",
                        "127.0.0.1:8731/mcp", "user@127.0.0.1:1", "unix:", "127.0.0.1:-1", "a b:1", "127.0.0.1:٣"):
            with self.subTest(address):
                self.refused(address)

    def test_names_that_can_never_match(self):
        for name in ("docs.example:80", "*", "*.example", "https://docs.example", "\u00e4.example"):
            with self.subTest(name):
                self.refused("127.0.0.1:0", "--http-names", f"docs.example,{name}", says=("--http-names",))

    def test_an_address_that_is_not_here(self):
        self.refused("203.0.113.7:0", says=("203.0.113.7",), env={"DOCTROVE_HTTP_TOKEN": TOKEN})

    def test_a_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = str(listener.getsockname()[1])
            self.refused(f"127.0.0.1:{port}", says=(port, "in use"))

    def test_other_machines_need_a_token(self):
        for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0", "docs.example:0"):
            with self.subTest(address):
                self.refused(address, says=("token", "--http-token-file", "DOCTROVE_HTTP_TOKEN"))

    def test_with_a_token_it_serves_other_machines_by_address_alone(self):
        host = Host("--http", "0.0.0.0:0", env=clean_env(DOCTROVE_HTTP_TOKEN=TOKEN))
        with contextlib.closing(host):
            for name, status in (("192.0.2.7:8731", 200), ("127.0.0.1", 200), ("[2001:db8::1]", 200), ("evil.example", 403), ("", 403), ("2130706433", 403)):
                with Peer(host) as peer:
                    self.assertEqual(peer.ask(PING, Host=name, Authorization=f"Bearer {TOKEN}").status, status, name)
            with Peer(host) as peer:
                self.assertEqual(peer.ask(PING).status, 401)

    def test_token_files(self):
        folder = make_folder(self)
        short, spaced = "short-secret-15", "a secret that has spaces"
        put(folder, {"empty": "", "blank": "\n \n# a comment\n", "short": f"{TOKEN}\n{short}\n", "spaced": spaced, "latin": TOKEN.encode() + b"\xe9",
                     "outside": TOKEN + "é", "long": "x" * 5000, "control": TOKEN + "\x1b[2J"})
        for name in ("empty", "blank", "short", "spaced", "latin", "outside", "long", "control", "missing", ""):
            with self.subTest(name):
                error = self.refused("127.0.0.1:0", "--http-token-file", os.path.join(folder, name), says=(name,))
                for secret in (short, TOKEN, spaced, "\x1b"):
                    self.assertNotIn(secret, error)
        error = self.refused("127.0.0.1:0", env={"DOCTROVE_HTTP_TOKEN": short}, says=("DOCTROVE_HTTP_TOKEN", "16"))
        self.assertNotIn(short, error)

    def test_an_address_without_a_host_is_loopback(self):
        with contextlib.closing(Host("--http", str(free_port()))) as host, Peer(host) as peer:
            self.assertEqual((host.host, peer.ask(PING).status), ("127.0.0.1", 200))

    def test_ipv6(self):
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError as error:
            self.skipTest(f"no IPv6 here: {error}")
        with contextlib.closing(Host("--http", "[::1]:0")) as host, socket.create_connection(("::1", host.port), PATIENCE) as connection:
            self.assertIn("http://[::1]:", host.line)
            with Peer(host, connection) as peer:
                self.assertEqual(peer.ask(PING, Host=f"[::1]:{host.port}").status, 200)


class Encrypted(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        openssl = shutil.which("openssl")
        if not openssl:
            raise unittest.SkipTest("there is no openssl to make a certificate with")
        cls.holder = tempfile.TemporaryDirectory()
        cls.folder = cls.holder.name
        for name in ("one", "other"):
            subprocess.run([openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", cls.path(f"{name}.key"), "-out", cls.path(f"{name}.pem"),
                            "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
        subprocess.run([openssl, "rsa", "-aes256", "-passout", "pass:secret", "-in", cls.path("one.key"), "-out", cls.path("locked.key")], check=True,
                       capture_output=True)
        put(cls.folder, {"garbage.pem": b"\0garbage", "empty.pem": b""})
        with open(cls.path("one.key"), "rb") as key, open(cls.path("one.pem"), "rb") as cert:
            put(cls.folder, {"both.pem": key.read() + cert.read()})
        cls.host = Host("--http", "127.0.0.1:0", "--tls-cert", cls.path("one.pem"), "--tls-key", cls.path("one.key"))

    @classmethod
    def tearDownClass(cls):
        cls.host.close()
        cls.holder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def secure(self, host=None):
        context = ssl.create_default_context(cafile=self.path("one.pem"))
        return context.wrap_socket((host or self.host).connect(), server_hostname="localhost")

    def test_https(self):
        self.assertIn(f"https://127.0.0.1:{self.host.port}/mcp", self.host.line)
        with Peer(self.host, self.secure()) as peer:
            peer.open()
            for at in range(20):
                self.assertEqual(peer.ask(request("ping", id=at)).message()["id"], at)
            self.assertEqual(peer.ask(tool_call(**CALL)).message()["result"]["isError"], False)
            self.assertEqual(peer.ask(b"x" * (doctrove.MAX_BODY_BYTES + 1)).status, 413)

    def test_a_subscription_over_https(self):
        with Peer(self.host, self.secure()) as peer:
            peer.ask(request("subscriptions/listen", {"_meta": ENVELOPE, "notifications": {}}, "s"))
            self.assertEqual(peer.event()["method"], "notifications/subscriptions/acknowledged")

    def test_a_key_in_the_certificates_file(self):
        with contextlib.closing(Host("--http", "127.0.0.1:0", "--tls-cert", self.path("both.pem"))) as host, Peer(host, self.secure(host)) as peer:
            self.assertEqual(peer.ask(PING).status, 200)

    def test_plain_http_gets_no_answer_and_does_no_harm(self):
        with self.host.connect() as connection:
            connection.sendall(http("GET", "/healthz", [("Host", "localhost")]))
            with contextlib.suppress(ConnectionResetError):
                self.assertNotIn(b"200", b"".join(iter(lambda: connection.recv(4096), b"")))
        self.test_https()
        self.assertEqual(self.host.stderr(), "")

    def test_half_open_connections_hold_nobody_up(self):
        with contextlib.ExitStack() as stack:
            for at in range(60):
                stack.enter_context(self.host.connect()).sendall((b"", b"\x16", b"\x16\x03\x01\x02\x00\x01")[at % 3])
            self.test_https()

    def test_tls_at_the_plain_port_is_told_at_once(self):
        with contextlib.closing(Host("--http", "127.0.0.1:0")) as host:
            with self.assertRaises(ssl.SSLError):
                self.secure(host)
            with Peer(host) as peer:
                self.assertEqual(peer.ask(PING).status, 200)
            self.assertEqual(host.stderr(), "")

    def test_files_that_cannot_be_used(self):
        for cert, key in (("missing.pem", "one.key"), ("one.pem", "missing.key"), ("garbage.pem", "one.key"), ("one.pem", "garbage.pem"),
                          ("empty.pem", "one.key"), ("one.pem", "other.key"), ("one.pem", "locked.key"), ("one.pem", None), (None, "one.key"), ("", "one.key")):
            with self.subTest(cert=cert, key=key):
                options = [text for name, file in (("--tls-cert", cert), ("--tls-key", key)) if file is not None for text in (name, self.path(file))]
                done = command("--http", "127.0.0.1:0", *options)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, b"", 1), done.stderr)
                self.assertIn(b"--tls-cert", done.stderr)


@unittest.skipUnless(hasattr(socket, "AF_UNIX"), "this system has no unix sockets")
class UnixSocket(unittest.TestCase):

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="u")  # the path of a socket is short
        self.addCleanup(holder.cleanup)
        self.path = os.path.join(holder.name, "mcp.sock")

    def start(self):
        host = Host("--http", f"unix:{self.path}")
        self.addCleanup(host.close)
        return host

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(PATIENCE)
        connection.connect(self.path)
        return connection

    def answers(self, host):
        with Peer(host, self.connect()) as peer:
            self.assertEqual(peer.ask(PING).message()["id"], "after")

    def test_it_is_its_owners_alone_and_goes_with_the_server(self):
        host = self.start()
        self.assertEqual(host.line.split(" (")[0], f"Serving MCP at unix:{self.path}")
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o600)
        self.answers(host)
        with Peer(host, self.connect()) as peer:
            self.assertEqual(peer.ask(PING, Host="evil.example").status, 403)
        with Peer(host, self.connect()) as peer:
            self.assertEqual(peer.ask(PING, Origin="null").status, 403)
        host.process.send_signal(signal.SIGTERM)
        self.assertEqual((host.process.wait(PATIENCE), host.stderr()), (0, ""))
        self.assertFalse(os.path.lexists(self.path))

    def test_a_socket_that_was_left_behind_is_replaced(self):
        host = self.start()
        host.process.kill()
        host.process.wait()
        self.assertTrue(os.path.exists(self.path))
        self.answers(self.start())

    def test_a_socket_in_use_is_not_taken(self):
        host = self.start()
        done = command("--http", f"unix:{self.path}")
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, b"", 1))
        self.assertIn(b"another server", done.stderr)
        self.answers(host)

    def test_what_is_no_socket_is_left_alone(self):
        for make in (lambda: put(os.path.dirname(self.path), {"mcp.sock": "precious"}), lambda: os.mkdir(self.path), lambda: os.symlink("nowhere", self.path)):
            make()
            done = command("--http", f"unix:{self.path}")
            self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, b"", 1))
            self.assertTrue(os.path.lexists(self.path))
            shutil.rmtree(self.path) if os.path.isdir(self.path) else os.unlink(self.path)

    def test_paths_that_cannot_be(self):
        for path in (os.path.join(os.path.dirname(self.path), "no", "folder"), "/" + "x" * 300):
            done = command("--http", f"unix:{path}")
            self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, b"", 1))


# ── many, slow, and gone ──

class Crowds(OverHttp):

    PARTS = (b"", b"P", b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: ", http("POST", "/mcp", [("Host", "localhost"), ("Content-Type", "application/json"),
                                                                                             ("Content-Length", 1000)]) + b"{", b"\r\n")

    def test_a_thousand_half_open_connections_hold_nobody_up(self):
        try:
            import resource
        except ImportError:
            self.skipTest("this system does not say how many files may be open")
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < 1200:
            if hard != resource.RLIM_INFINITY and hard < 1200:
                self.skipTest(f"only {hard} files may be open here")
            resource.setrlimit(resource.RLIMIT_NOFILE, (1200, hard))
            self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        waiting = []
        try:
            for at in range(1000):
                waiting.append(self.host.connect())
                waiting[-1].sendall(self.PARTS[at % len(self.PARTS)])
            took = []
            for at in range(20):
                start = time.monotonic()
                with Peer(self.host) as peer:
                    self.assertIs(peer.ask(tool_call(**CALL, id=at)).message()["result"]["isError"], False)
                took.append(time.monotonic() - start)
            self.assertLess(statistics.median(took), SERVER_SECONDS)
            self.assertEqual([each for each in waiting if select.select([each], [], [], 0)[0]], [], "none of them is given up")
        finally:
            for connection in waiting:
                connection.close()
        self.alive()

    def test_the_server_that_is_full_gives_up_who_asks_nothing(self):
        with contextlib.closing(Host("--http", "127.0.0.1:0", before="doctrove.MAX_CONNECTIONS = 20")) as host:
            busy = self.peer(host).open()
            waiting = []
            for at in range(60):
                waiting.append(self.peer(host))
                waiting[-1].connection.sendall(self.PARTS[at % len(self.PARTS)])
                if at % 5 == 4:
                    self.assertEqual(busy.ask(PING).status, 200)  # who asks is none of them
            self.alive(host)
            open_still = sum(not select.select([peer.connection], [], [], 0)[0] for peer in waiting)
            self.assertLessEqual(open_still, 20)

    def test_who_is_too_slow_is_given_up(self):
        limits = {"REQUEST": 1, "KEPT": 2, "SEND": 1, "LINGER": 1, "COMMENT": 1}
        shorter = "; ".join(f"doctrove.{name}_SECONDS = {value}" for name, value in limits.items())
        with contextlib.closing(Host("--http", "127.0.0.1:0", before=shorter)) as host:
            idle, silent, unread, listener = (self.peer(host) for _ in range(4))
            listener.ask(request("subscriptions/listen", {"_meta": ENVELOPE, "notifications": {}}, "L"))
            listener.event()
            self.assertEqual(idle.ask(PING).status, 200)
            slow = {name: self.peer(host) for name in ("head", "body", "chunks")}
            slow["body"].connection.sendall(Framing.HEAD + b"Content-Length: 1000\r\n\r\n")
            slow["chunks"].connection.sendall(Framing.CHUNKED + b"\r\n")
            unread.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            call = encode(tool_call("doc_extract", {"id": "express", "maxChars": 200000, "maxSections": 50}))
            with contextlib.suppress(OSError):  # until nothing more goes through: it does not read what it asks for
                unread.connection.settimeout(0.5)
                for _ in range(2000):
                    unread.connection.sendall(Framing.HEAD + Framing.sized(call) + b"\r\n" + call)
            pending = dict(slow)
            while pending:
                for name, peer in list(pending.items()):
                    if select.select([peer.connection], [], [], 0.02)[0]:
                        self.assertEqual(peer.read().status, 408, name)
                        self.assertTrue(peer.ended())
                        del pending[name]
                    else:
                        with contextlib.suppress(OSError):
                            peer.connection.sendall({"head": b"x", "body": b" ", "chunks": b"1\r\nx\r\n"}[name])
            for peer in (idle, silent):
                self.assertTrue(peer.ended())
            for _ in range(2):  # a stream is not given up: it shows that it lives
                self.assertEqual((listener.stream.readline(), listener.stream.readline()), (b":\n", b"\n"))
            self.alive(host)
            unread.connection.settimeout(PATIENCE)
            with contextlib.suppress(ConnectionResetError):
                while unread.connection.recv(1 << 20):
                    pass  # what was under way, and then the end

    def test_who_does_not_read_holds_nobody_up(self):
        peers = [self.peer() for _ in range(20)]
        for peer in peers:
            for at in range(30):
                peer.send(tool_call("doc_extract", {"id": "express", "maxChars": 200000, "maxSections": 50}, at))
        start = time.monotonic()
        for _ in range(5):
            self.alive()
        self.assertLess((time.monotonic() - start) / 5, SERVER_SECONDS)
        for at in range(30):  # and whoever wakes up gets everything
            self.assertEqual(peers[0].read().message()["id"], at)

    def test_who_hangs_up_in_the_middle_does_no_harm(self):
        for at in range(40):
            peer = Peer(self.host)
            peer.send(tool_call(**CALL, **({"_meta": ENVELOPE} if at % 2 else {})))
            if at % 4 < 2:
                peer.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0" if os.name != "nt" else b"\1\0\0\0")
            peer.__exit__()
        self.alive()

    def test_too_many_calls_at_once_are_told_to_wait(self):
        release = threading.Event()

        def behave(connection, closing):
            release.wait(PATIENCE)

        with RawRemote(behave) as remote, contextlib.closing(
                Host("--http", "127.0.0.1:0", "--index-url", remote.url, "--timeout-ms", "30000", before="doctrove.MAX_WAITING = 4")) as host:
            peers = [self.peer(host) for _ in range(6)]
            for at, peer in enumerate(peers):
                peer.send(tool_call("catalog_lookup", {"query": "express"}, at, _meta={"progressToken": at}))
            refused = []
            while len(refused) < 2:
                refused += [peer for peer in peers if peer not in refused and select.select([peer.connection], [], [], 0)[0]
                            and b" 503 " in peer.connection.recv(100, socket.MSG_PEEK)]
            for peer in refused:
                reply = peer.read()
                self.assertEqual((reply.status, reply.headers["retry-after"], reply.message()["id"]), (503, "1", peers.index(peer)))
            self.assertEqual(self.peer(host).ask(PING).status, 200)
            release.set()
            for peer in peers:
                if peer not in refused:
                    self.assertEqual(peer.read().status, 200)
                    self.assertIs(peer.event()["result"]["isError"], False)

    def test_all_answers_are_right_while_the_library_is_imported_again(self):
        above = make_folder(self)
        root = os.path.join(above, "library")
        sections = 400
        for name in ("left", "right"):
            put(os.path.join(above, f"{name}-1.0"), {f"{page}.md": "".join(
                f"## Part {at}\n\nThe key of {name} is {name}word{at}.\n\n" + "More words that say nothing. " * 40 + "\n\n"
                for at in range(page * 50, page * 50 + 50)) for page in range(sections // 50)})
            self.assertEqual(command("index", os.path.join(above, f"{name}-1.0"), "--root", root).returncode, 0)
        wrong, done = [], threading.Event()
        with contextlib.closing(Host("--http", "127.0.0.1:0", "--root", root)) as host:

            def says_changed(name):
                answer = self.peer(host).ask(tool_call("doc_extract", {"id": name, "focus": "changed key"})).message()["result"]["structuredContent"]
                return any(f"The key of {name} is changed." in passage["body"] for passage in answer["sections"])

            self.assertEqual([says_changed(name) for name in ("left", "right")], [False, False])

            def ask(number):
                chance = random.Random(number)
                with Peer(host) as peer:
                    asked = 0
                    while asked < 6 or not done.is_set():
                        name, at = chance.choice(("left", "right")), chance.randrange(sections)
                        answer = peer.ask(tool_call("doc_extract", {"id": name, "focus": f"{name}word{at}", "maxSections": 1}, asked)).message()
                        found = answer.get("result", {}).get("structuredContent", {})
                        bodies = "".join(passage["body"] for passage in found.get("sections", ()))
                        if answer.get("id") != asked or found.get("version") != "1.0" or f"{name}word{at}." not in bodies:
                            wrong.append((name, at, repr(answer)[:300]))
                        asked += 1

            threads = [threading.Thread(target=ask, args=[number], daemon=True) for number in range(32)]
            for thread in threads:
                thread.start()
            for name in ("left", "right"):
                put(os.path.join(above, f"{name}-1.0"), {"0.md": f"## Changed\n\nThe key of {name} is changed.\n\n" + "".join(
                    f"## Part {at}\n\nThe key of {name} is {name}word{at}.\n\n" for at in range(50))})
                self.assertEqual(command("index", os.path.join(above, f"{name}-1.0"), "--root", root).returncode, 0)
            done.set()
            for thread in threads:
                thread.join(PATIENCE * 2)
            self.assertEqual((wrong[:3], [thread for thread in threads if thread.is_alive()]), ([], []))
            self.assertEqual([says_changed(name) for name in ("left", "right")], [True, True])
            self.alive(host)


# ── how it ends ──

@unittest.skipIf(os.name == "nt", "Windows has no SIGTERM that a process could tell from its end")
class Ends(OverHttp):

    @classmethod
    def setUpClass(cls):
        pass  # each has a server of its own

    @classmethod
    def tearDownClass(cls):
        pass

    def start(self, *options, **more):
        host = Host("--http", "127.0.0.1:0", *options, **more)
        self.addCleanup(host.close)
        return host

    def closed(self, host, seconds=PATIENCE):
        """Waits until nobody can connect any more."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                host.connect().close()
            except OSError:
                return
        self.fail("it still listens")

    def test_what_runs_is_answered_and_all_else_is_closed(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            release = threading.Event()

            def behave(connection, closing, release=release):
                release.wait(PATIENCE)

            with self.subTest(number), RawRemote(behave) as remote:
                host = self.start("--index-url", remote.url, "--timeout-ms", "30000")
                idle, fresh, half, listener, busy, streaming = (self.peer(host) for _ in range(6))
                self.assertEqual(idle.ask(PING).status, 200)
                half.connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: x")
                listener.ask(request("subscriptions/listen", {"_meta": ENVELOPE, "notifications": {}}, "L"))
                listener.event()
                busy.send(tool_call("catalog_lookup", {"query": "express"}, "busy"))
                streaming.send(tool_call("catalog_lookup", {"query": "express"}, "streaming", _meta={**ENVELOPE, "progressToken": 1}))
                self.assertEqual(streaming.read().headers["content-type"], "text/event-stream")
                self.assertTrue(remote.arrived.acquire(timeout=PATIENCE))
                host.process.send_signal(number)
                self.closed(host)
                for peer in (idle, fresh, half):
                    self.assertTrue(peer.ended())
                self.assertEqual(listener.event(), {"jsonrpc": "2.0", "id": "L", "result": {"resultType": "complete", "_meta": {META + "subscriptionId": "L"}}})
                self.assertIsNone(listener.event())
                self.assertIsNone(host.process.poll(), "it waits for what runs")
                release.set()
                reply = busy.read()
                self.assertEqual((reply.status, reply.headers["connection"], reply.message()["result"]["isError"]), (200, "close", False))
                self.assertEqual(streaming.event()["id"], "streaming")
                self.assertEqual((host.process.wait(PATIENCE), host.stderr()), (0, ""))

    def test_what_runs_too_long_is_not_waited_for(self):
        release = threading.Event()

        def behave(connection, closing):
            release.wait(PATIENCE)

        with RawRemote(behave) as remote:
            host = self.start("--index-url", remote.url, "--timeout-ms", "30000", before="doctrove.STOP_SECONDS = 1")
            busy = self.peer(host)
            busy.send(tool_call("catalog_lookup", {"query": "express"}, "busy"))
            self.assertTrue(remote.arrived.acquire(timeout=PATIENCE))
            start = time.monotonic()
            host.process.terminate()
            self.assertEqual((host.process.wait(PATIENCE), host.stderr()), (0, ""))
            self.assertLess(time.monotonic() - start, 8)
            self.assertTrue(busy.ended())
            release.set()

    def test_the_port_is_free_at_once(self):
        port = str(free_port())
        for _ in range(3):
            host = Host("--http", f"127.0.0.1:{port}")
            peer = self.peer(host)
            self.assertEqual(peer.ask(PING).status, 200)
            host.process.terminate()
            self.assertEqual((host.process.wait(PATIENCE), host.stderr()), (0, ""))
            host.close()

    def test_nothing_is_left_of_connections(self):
        host = self.start()
        folder = f"/proc/{host.process.pid}/fd"
        if not os.path.isdir(folder):
            self.skipTest("this system does not show a process's open files")
        self.peer(host).ask(tool_call(**CALL))
        kept = self.peer(host)
        before = len(os.listdir(folder))
        for at in range(200):
            with Peer(host) as peer:
                peer.connection.sendall((b"", b"GET / HT", b"nonsense\r\n\r\n", http("GET", "/healthz", [("Host", "x")]))[at % 4])
        deadline = time.monotonic() + PATIENCE
        while len(os.listdir(folder)) > before + 2 and time.monotonic() < deadline:
            kept.ask(PING)
        self.assertLessEqual(len(os.listdir(folder)), before + 2)


class Log(OverHttp):

    options = ("--debug",)

    def test_one_line_for_each_request_that_no_client_can_forge(self):
        evil = "x\" 200 5\n127.0.0.1 GET /forged 200 1\r\x1b[2J\u2028\u202e\x85"
        peer = self.peer()
        peer.ask(tool_call("doc_extract", {"id": "zod"}))
        peer.ask(tool_call(evil, {}))
        peer.ask(request(evil, {}))
        peer.ask(request("ping", id=evil))
        peer.ask({"jsonrpc": "2.0", "method": evil})
        self.peer().ask(None, method="GET", target="/forged%0a127.0.0.1%20GET%20/")
        self.peer().ask(None, method="X'\"`|~", target="/a\"b")
        self.peer().ask(None, method="GET", target="/" + "x" * 5000)
        with contextlib.suppress(AssertionError):
            self.peer().connection.sendall(b"GET /forged 200 5\x85 HTTP/1.1\r\n\r\n")
        self.peer().ask(None, method="GET", target="/healthz")
        lines = [line for line in self.host.stderr().split("\n") if "doctrove: 127.0.0.1 " in line]
        self.assertEqual(self.host.stderr().count("\n"), len(self.host.stderr().splitlines()))
        for line in lines:
            self.assertRegex(line, r'^doctrove: 127\.0\.0\.1 (?:[!-~]{1,32} [!-~…]{1,100}|-) "(?:[^"\\]|\\.)*" [0-9]{3} [0-9]+$')
            self.assertLess(len(line), 500)
        self.assertRegex(lines[0], r'^doctrove: 127\.0\.0\.1 POST /mcp "tools/call doc_extract" 200 [0-9]+$')
        self.assertFalse(set("\x1b\u2028\u202e\x85\r") & set(self.host.stderr()))
        self.assertEqual([line for line in lines if line.startswith("doctrove: 127.0.0.1 GET /forged 200")], [])
        self.assertNotIn("Traceback", self.host.stderr())

    def test_without_debug_nothing_is_said(self):
        with contextlib.closing(Host("--http", "127.0.0.1:0")) as host:
            with Peer(host) as peer:
                for body in (PING, b"{", b"x" * (doctrove.MAX_BODY_BYTES + 1)):
                    peer.ask(body)
            self.alive(host)


if __name__ == "__main__":
    unittest.main()
