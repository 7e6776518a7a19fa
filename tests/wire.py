"""What is held against a server whatever carries its messages: the cases of cases/wire.json, hostile and mutated messages, bad arguments."""
from __future__ import annotations

import json
import os
import unittest

from processes import CASES, ENVELOPE, HANDSHAKE, META, STATELESS, encode, initialize, request, tool_call

SUPPORTED = [STATELESS, *reversed(HANDSHAKE)]
GROUPS = {"handshake": list(HANDSHAKE), "stateless": [STATELESS], "all": [*HANDSHAKE, STATELESS]}


# ── cases/wire.json ──

def fill(value, version):
    """The case with its placeholders filled."""
    if isinstance(value, dict):
        return {name: fill(each, version) for name, each in value.items()}
    if isinstance(value, list):
        return [fill(each, version) for each in value]
    return {"$VERSION": version, "$ENVELOPE": ENVELOPE, "$SUPPORTED": SUPPORTED}.get(value, value) if isinstance(value, str) else value


def same(first, second):
    """Equal, and of the same JSON type all through: 1 is not True and not 1.0."""
    if isinstance(first, dict) and isinstance(second, dict):
        return set(first) == set(second) and all(same(each, second[name]) for name, each in first.items())
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    return type(first) is type(second) and first == second


def includes(value, part):
    """Whether `value` has all that `part` has; arrays and plain values are compared whole."""
    if isinstance(part, dict) and isinstance(value, dict):
        return all(name in value and includes(value[name], each) for name, each in part.items())
    return same(value, part)


def cases(transport="stdio"):
    """(case, version, whether a handshake precedes it, what is sent, what is expected) of each case that `transport` can carry."""
    with open(os.path.join(CASES, "wire.json"), encoding="utf-8") as file:
        listed = json.load(file)["cases"]
    for case in listed:
        if case.get("over", transport) != transport:
            continue
        versions = case["versions"]
        for version in GROUPS[versions] if isinstance(versions, str) else versions:
            sent = [{"jsonrpc": "2.0", **each} if isinstance(each, dict) else each for each in fill(case["send"], version)]
            yield case, version, version != STATELESS and case.get("open", True), sent, fill(case["expect"], version)


class Checks(unittest.TestCase):
    maxDiff = None

    def check(self, message, wanted):
        if "batch" in wanted:
            self.assertIsInstance(message, list)
            self.assertEqual(len(message), len(wanted["batch"]), message)
            for each, want in zip(message, wanted["batch"]):
                self.check(each, want)
            return
        self.assertIsInstance(message, dict)
        if "id" in wanted:
            self.assertTrue(same(message.get("id", "absent"), wanted["id"]), f"id of {message!r:.300}, wanted {wanted['id']!r}")
        if "method" in wanted:
            self.assertTrue(same(message, {"jsonrpc": "2.0", "method": wanted["method"], "params": wanted["params"]}), message)
        elif "error" in wanted:
            self.assertIn("error", message)
            codes = wanted["error"] if isinstance(wanted["error"], list) else [wanted["error"]]
            self.assertIn(message["error"]["code"], codes, message)
            for name in wanted.get("names", ()):
                self.assertIn(name, message["error"]["message"])
            if "data" in wanted:
                self.assertTrue(same(message["error"].get("data"), wanted["data"]), message)
        else:
            self.assertIn("result", message)
            self.assertTrue(includes(message["result"], wanted.get("result", {})),
                            f"{message!r:.600} lacks some of {wanted.get('result')}")
            if "members" in wanted:
                must = {name for name in wanted["members"] if not name.endswith("?")}
                may = {name.rstrip("?") for name in wanted["members"]}
                self.assertTrue(must <= set(message["result"]) <= may, f"members {sorted(message['result'])}, wanted {wanted['members']}")

    def check_all(self, messages, expected):
        self.assertEqual(len(messages), len(expected), messages)
        for message, wanted in zip(messages, expected):
            self.check(message, wanted)


# ── hostile messages ──

def nested(depth, inside=b"1"):
    return b"[" * depth + inside + b"]" * depth


def raw_call(arguments, id=b"1", tool=b"doc_extract"):
    """A tools/call whose arguments are the given bytes."""
    return b'{"jsonrpc":"2.0","id":' + id + b',"method":"tools/call","params":{"name":"' + tool + b'","arguments":' + arguments + b"}}"


# name -> (line, id of the answer, codes that will do; None: a result)
HOSTILE_LINES = {
    "malformed": (b"{]", None, {-32700}),
    "NUL alone": (b"\0", None, {-32700}),
    "NUL in a message": (b'{"jsonrpc":"2.0","id":1,\0"method":"ping"}', None, {-32700}),
    "NUL in a string": (b'{"jsonrpc":"2.0","id":1,"method":"pi\0ng"}', None, {-32700}),
    "escaped NUL in a method": (b'{"jsonrpc":"2.0","id":1,"method":"ping\\u0000"}', 1, {-32601}),
    "invalid UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}', None, {-32700}),
    "overlong UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xc0\xaf"}', None, {-32700}),
    "surrogate in UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}', None, {-32700}),
    "cut UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xe4\xb8', None, {-32700}),
    "Latin-1": ('{"jsonrpc":"2.0","id":1,"method":"é"}'.encode("latin-1"), None, {-32700}),
    "UTF-16": ('{"jsonrpc":"2.0","id":1}'.encode("utf-16-le"), None, {-32700}),
    "NaN": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', None, {-32700}),
    "Infinity": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-Infinity}}', None, {-32700}),
    "NaN as id": (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', None, {-32700}),
    "1e999 as id": (b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}', None, {-32600}),
    "1.0 as id": (b'{"jsonrpc":"2.0","id":1.0,"method":"ping"}', None, {-32600}),
    "bool as id": (b'{"jsonrpc":"2.0","id":false,"method":"ping"}', None, {-32600}),
    "null as id": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None, {-32600}),
    "list as id": (b'{"jsonrpc":"2.0","id":[],"method":"ping"}', None, {-32600}),
    "object as id": (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', None, {-32600}),
    "huge int as id": (b'{"jsonrpc":"2.0","id":' + b"9" * 10000 + b',"method":"ping"}', None, {-32700, -32600}),
    "huge int elsewhere": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + b"9" * 100000 + b"}}", None, {-32700, -32600}),
    "200 nested arrays": (nested(200), None, {-32600}),
    "100,000 nested arrays": (nested(100000), None, {-32700}),
    "100,000 open arrays": (b"[" * 100000, None, {-32700}),
    "100,000 nested objects": (b'{"a":' * 100000 + b"1" + b"}" * 100000, None, {-32700}),
    "100,000 nested arrays as params": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + nested(100000) + b"}", None, {-32700}),
    "200 nested arrays as id": (b'{"jsonrpc":"2.0","id":' + nested(200) + b',"method":"ping"}', None, {-32600}),
    "200 nested arrays as arguments": (raw_call(nested(200)), 1, {-32602}),
    "200 nested arrays as an argument": (raw_call(b'{"id":' + nested(200) + b"}"), 1, None),
    "200 nested arrays as _meta": (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":' + nested(200) + b"}}", 1, None),
    "lone surrogate as method": (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', 1, {-32601}),
    "lone surrogate as tool": (raw_call(b"{}", tool=b"\\udfff"), 1, {-32602}),
    "lone surrogate as an argument": (raw_call(b'{"id":"\\ud800"}'), 1, None),
    "lone surrogate as an argument's name": (raw_call(b'{"\\ud800":1}'), 1, None),
    "lone surrogate as id": (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', "\ud800", None),
    "lone surrogate as version": (encode(request("tools/list", {"_meta": {**ENVELOPE, META + "protocolVersion": "\ud800"}})).strip(), 1, {-32022}),
    "lone surrogate as a member": (b'{"jsonrpc":"2.0","id":1,"method":"ping","\\ud800":"\\udc00"}', 1, None),
    "the same id twice in one object": (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 2, None),
}


# ── arguments ──

# tool, arguments, the argument named, what the message must say
BAD_ARGUMENTS = [
    ("catalog_lookup", {}, "query", ["query", "required"]),
    ("catalog_lookup", {"query": None}, "query", ["query"]),
    ("catalog_lookup", {"query": 7}, "query", ["query", "text"]),
    ("catalog_lookup", {"query": ["express"]}, "query", ["query", "text"]),
    ("catalog_lookup", {"query": {"a": 1}}, "query", ["query", "text"]),
    ("catalog_lookup", {"query": True}, "query", ["query", "text"]),
    ("catalog_lookup", {"query": ""}, "query", ["query", "non-empty"]),
    ("catalog_lookup", {"query": " \t\n "}, "query", ["query", "non-empty"]),
    ("catalog_lookup", {"query": "x" * 10240}, "query", ["query", "10240"]),
    ("catalog_lookup", {"query": "\ud800"}, "query", ["query", "surrogate"]),
    ("catalog_lookup", {"query": "express", "limit": 0}, "limit", ["limit", "1", "50"]),
    ("catalog_lookup", {"query": "express", "limit": 51}, "limit", ["limit", "1", "50"]),
    ("catalog_lookup", {"query": "express", "limit": -1}, "limit", ["limit", "1", "50"]),
    ("catalog_lookup", {"query": "express", "limit": 8.5}, "limit", ["limit", "whole", "8.5"]),
    ("catalog_lookup", {"query": "express", "limit": "8"}, "limit", ["limit", "1", "50"]),
    ("catalog_lookup", {"query": "express", "limit": True}, "limit", ["limit", "1", "50"]),
    ("catalog_lookup", {"query": "express", "limit": []}, "limit", ["limit", "1", "50"]),
    ("catalog_lookup", {"query": "express", "limit": 10 ** 30}, "limit", ["limit", "1", "50"]),
    ("catalog_lookup", {"query": "express", "nonsense": 1}, "nonsense", ["nonsense", "query", "limit"]),
    ("catalog_releases", {}, "id", ["id", "required"]),
    ("catalog_releases", {"id": ""}, "id", ["id", "non-empty"]),
    ("catalog_releases", {"id": 1}, "id", ["id"]),
    ("catalog_releases", {"id": "zod", "version": "3"}, "version", ["version", "id"]),
    ("doc_extract", {}, "id", ["id", "required"]),
    ("doc_extract", {"id": "express", "version": 5}, "version", ["version", "text"]),
    ("doc_extract", {"id": "express", "focus": ["a"]}, "focus", ["focus", "text"]),
    ("doc_extract", {"id": "express", "focus": "x" * 10240}, "focus", ["focus", "10240"]),
    ("doc_extract", {"id": "express", "focus": "a\udc00b"}, "focus", ["focus", "surrogate"]),
    ("doc_extract", {"id": "\udfff"}, "id", ["id", "surrogate"]),
    ("doc_extract", {"id": "x" * 10240}, "id", ["id", "10240"]),
    ("doc_extract", {"id": "express", "maxSections": 0}, "maxSections", ["maxSections", "1", "50"]),
    ("doc_extract", {"id": "express", "maxSections": 51}, "maxSections", ["maxSections", "1", "50"]),
    ("doc_extract", {"id": "express", "maxChars": 0}, "maxChars", ["maxChars"]),
    ("doc_extract", {"id": "express", "maxChars": 1e300}, "maxChars", ["maxChars"]),
    ("doc_extract", {"id": "express", "\ud800\x00": 1}, None, ["id, version, focus, maxSections, maxChars"]),
    ("doc_extract", {"id": "express", "x" * 10000: 1}, None, ["id, version, focus, maxSections, maxChars"]),
    ("doc_extract", {"id": "express", "": 1}, "", ["id, version, focus, maxSections, maxChars"]),
    ("doc_extract", {"id": "express", "focus": "a", "topic": "b"}, "focus", ["focus", "topic"]),
]
# tool, arguments, arguments that must give the same answer
SAME_ARGUMENTS = [
    ("catalog_lookup", {"query": "express", "limit": 2.0}, {"query": "express", "limit": 2}),
    ("catalog_lookup", {"query": "express", "limit": None}, {"query": "express"}),
    ("catalog_lookup", {"query": "  express \n"}, {"query": "express"}),
    ("catalog_lookup", {"q": "express"}, {"query": "express"}),
    ("doc_extract", {"id": "express", "version": None, "focus": None, "maxSections": None, "maxChars": None}, {"id": "express"}),
    ("doc_extract", {"id": "express", "focus": ""}, {"id": "express"}),
    ("doc_extract", {"id": "express", "focus": "   "}, {"id": "express"}),
    ("doc_extract", {"id": "express", "version": ""}, {"id": "express"}),
    ("doc_extract", {"id": "express", "maxSections": 3.0, "maxChars": 4000.0}, {"id": "express", "maxSections": 3, "maxChars": 4000}),
    ("doc_extract", {"library": "express", "topic": "wildcard"}, {"id": "express", "focus": "wildcard"}),
    ("doc_extract", {"libraryId": "express", "question": "wildcard"}, {"id": "express", "focus": "wildcard"}),
    ("doc_extract", {"id": "express", "q": "wildcard"}, {"id": "express", "focus": "wildcard"}),
    ("doc_extract", {"id": "Express"}, {"id": "express"}),
    ("doc_extract", {"id": "expressjs"}, {"id": "express"}),
    ("doc_extract", {"id": "express", "version": "LATEST"}, {"id": "express", "version": "latest"}),
    ("catalog_releases", {"library": "zod"}, {"id": "zod"}),
    ("catalog_releases", {"libraryId": "zod"}, {"id": "zod"}),
]


# ── mutated messages ──

SEEDS = [
    initialize("2025-11-25", 1), request("ping", id="p"), request("tools/list", {}, 2), request("tools/list", {"_meta": ENVELOPE}, "t"),
    request("server/discover", {"_meta": ENVELOPE}, 3),
    tool_call("catalog_lookup", {"query": "express", "limit": 3}, 4), tool_call("catalog_releases", {"id": "zod"}, 5),
    tool_call("catalog_lookup", {"query": "日期"}, "六", _meta=ENVELOPE),
    tool_call("doc_extract", {"id": "express", "version": "4", "focus": "wildcard", "maxSections": 1, "maxChars": 1000}, 7),
    {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}},
    request("subscriptions/listen", {"_meta": ENVELOPE, "notifications": {"toolsListChanged": True}}, "L"), {"jsonrpc": "2.0", "id": 9, "result": {}},
]
SPICE = [b"{", b"}", b"[", b"]", b'"', b",", b":", b"null", b"true", b"1e999", b"-0", b"\\ud800", b"\\u0000", b"\xff", b"\xe4\xb8\xad", b"\0", b"\n",
         b"\r\n", b" ", b'"id":null', b'"id":[]', b"NaN",
         b"99999999999999999999", b"\\", b"//", b"\xef\xbb\xbf", b"0.5", b"{}", b"[[[[]]]]"]


def mutate(chance):
    """A message with up to eight faults."""
    line = bytearray(json.dumps(chance.choice(SEEDS), ensure_ascii=chance.random() < 0.5).encode("utf-8"))
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3, 8))):
        at = chance.randrange(len(line) + 1)
        kind = chance.randrange(6)
        if kind == 0:
            line[at:at] = chance.choice(SPICE)
        elif kind == 1:
            del line[at:at + chance.choice((1, 1, 2, 5, 20))]
        elif kind == 2 and at < len(line):
            line[at] = chance.randrange(256)
        elif kind == 3:
            line[at:at + 6] = line[at:at + 6] * chance.choice((2, 2, 50))
        elif kind == 4:
            other = json.dumps(chance.choice(SEEDS)).encode()
            cut = chance.randrange(len(other))
            line[at:] = other[cut:]
        elif kind == 5:
            line[at:at + 1] = chance.choice(SPICE)
    return bytes(line)


def wanted_answer(line):
    """What an answer to the line must look like: None for no answer, ('id', value), or ('listen', value)."""
    if not line.strip():
        return None
    try:
        message = json.loads(line.decode("utf-8"), parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError, RecursionError):
        return "id", None
    if not isinstance(message, dict):
        return "id", None
    if "id" not in message:
        return None
    id = message["id"]
    if isinstance(id, (bool, float)) or not isinstance(id, (int, str)):
        return "id", None
    if "method" not in message and ("result" in message or "error" in message):
        return None
    return "id", id
