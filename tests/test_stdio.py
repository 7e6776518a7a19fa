"""The server over real pipes: hostile input, arguments, fuzz, how it ends, what it says in which language."""
from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import unittest

import wire
from processes import (
    FLAGS,
    RawRemote,
    Server,
    check_message,
    clean_env,
    encode,
    exchange,
    initialize,
    parse_line,
    program,
    request,
    stay_silent,
    tool_call,
)

import doctrove

PROMPT_END = 2  # seconds: clients send SIGTERM then


class HostileLines(unittest.TestCase):
    """Each line gets the error that is named for it, and the server lives on."""

    def test_each_gets_its_error(self):
        lines = list(wire.HOSTILE_LINES.items())
        sent = [initialize("2025-11-25", "open")]
        for at, (_, (line, _, _)) in enumerate(lines):
            sent += [line, request("ping", id=f"after-{at}")]
        done = exchange(sent)
        self.assertEqual((done.code, done.stderr), (0, ""))
        self.assertEqual(len(done.messages), 1 + 2 * len(lines))
        for at, (name, (_, id, codes)) in enumerate(lines):
            with self.subTest(name):
                answer, after = done.messages[1 + 2 * at], done.messages[2 + 2 * at]
                self.assertEqual(after, {"jsonrpc": "2.0", "id": f"after-{at}", "result": {}})
                self.assertEqual((type(answer["id"]), answer["id"]), (type(id), id))
                if codes is None:
                    self.assertIn("result", answer)
                else:
                    self.assertIn(answer["error"]["code"], codes)

    def test_a_huge_string_as_id_is_echoed_or_refused(self):
        id = "x" * 1000000
        done = exchange([request("ping", id=id), request("ping", id="after")])
        self.assertEqual(len(done.messages), 2)
        first = done.messages[0]
        self.assertTrue(("result" in first and first["id"] == id) or (first["id"] is None and first["error"]["code"] == -32600))
        self.assertEqual(done.messages[1]["id"], "after")

    def test_arguments_nested_almost_too_deeply_are_a_fault_of_the_arguments(self):
        # What the parser still takes, the checks and messages after it must take too.
        for depth in (500, 900, 950, 970, 980, 990):
            with self.subTest(depth=depth):
                call = wire.raw_call(b'{"id":"zod","maxChars":' + wire.nested(depth) + b"}")
                done = exchange([initialize("2025-11-25", "open"), call, request("ping", id="after")])
                answer = done.messages[1]
                self.assertEqual(done.messages[2]["id"], "after")
                if "error" in answer:
                    self.assertEqual((answer["id"], answer["error"]["code"]), (None, -32700))
                else:
                    self.assertEqual(answer["result"]["structuredContent"]["error"]["code"], "validation")

    def test_a_byte_order_mark_is_no_reason_to_end(self):
        done = exchange([b"\xef\xbb\xbf" + encode(request("ping", id="bom")).strip(), request("ping", id="after")])
        self.assertEqual(len(done.messages), 2)
        self.assertIn((done.messages[0]["id"], done.messages[0].get("error", {}).get("code")), [("bom", None), (None, -32700)])
        self.assertEqual(done.messages[1]["id"], "after")

    def test_blank_lines_are_ignored(self):
        self.assertEqual([message["id"] for message in exchange([b"", b"   ", b"\t", b"\r", request("ping", id=1), b"", request("ping", id=2), b""]).messages],
                         [1, 2])

    def test_carriage_returns_before_line_feeds_are_accepted(self):
        lines = [encode(request("ping", id=at)).strip() + b"\r" for at in (1, 2)]
        self.assertEqual([message["id"] for message in exchange([lines[0], b"\r", lines[1]]).messages], [1, 2])

    def test_space_around_a_message_is_accepted(self):
        self.assertEqual([message["id"] for message in exchange([b" \t" + encode(request("ping", id=1)).strip() + b" \t "]).messages], [1])

    def test_a_last_line_without_its_end_is_answered(self):
        self.assertEqual([message["id"] for message in exchange([request("ping", id=1)], end=encode(request("ping", id=2)).strip()).messages], [1, 2])

    def test_no_input_at_all_is_a_clean_end(self):
        done = exchange([])
        self.assertEqual((done.messages, done.code, done.stderr), ([], 0, ""))

    def test_a_line_of_10_mb_is_answered(self):
        padding = "x" * 10_000_000
        done = exchange([initialize("2025-11-25", 0), request("ping", {"padding": padding}, 1), tool_call("catalog_lookup", {"query": padding}, 2),
                         b"{" + padding.encode(),
                         request("ping", id=3)])
        self.assertEqual(done.by_id(1)["result"], {})
        self.assertEqual(done.by_id(2)["result"]["structuredContent"]["error"]["code"], "validation")
        self.assertEqual(done.messages[3]["error"]["code"], -32700)
        self.assertEqual(done.messages[4]["id"], 3)

    def test_a_line_over_the_limit_is_refused_and_the_next_one_is_answered(self):
        for ends in (b"", b"\n"):
            with self.subTest(whole_line=bool(ends)):
                long = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"x" * (doctrove.MAX_LINE + 100000) + b'"}}'
                done = exchange([request("ping", id="before"), long, request("ping", id="after")] if ends else [request("ping", id="before")],
                                end=b"" if ends else long)
                self.assertEqual(done.messages[0]["id"], "before")
                self.assertIsNone(done.messages[1]["id"])
                self.assertIn(done.messages[1]["error"]["code"], {-32600, -32700})
                self.assertEqual([message["id"] for message in done.messages[2:]], ["after"] if ends else [])
                self.assertEqual((done.code, done.stderr), (0, ""))

    def test_no_line_of_output_comes_near_the_limit_of_clients(self):
        done = exchange([initialize("2025-11-25"), tool_call("doc_extract", {"id": "express", "maxChars": 200000, "maxSections": 50}, 1)])
        self.assertLess(len(json.dumps(done.by_id(1), ensure_ascii=False).encode()), 8 * 1024 * 1024)


class Arguments(unittest.TestCase):
    """Bad arguments are tool results: code `validation`, the argument named, and what is accepted."""

    def test_bad_arguments_are_named_with_what_is_accepted(self):
        done = exchange([initialize("2025-11-25"), *(tool_call(tool, arguments, at) for at, (tool, arguments, _, _) in enumerate(wire.BAD_ARGUMENTS, 1))])
        self.assertEqual((done.code, done.stderr), (0, ""))
        for at, (tool, arguments, argument, says) in enumerate(wire.BAD_ARGUMENTS, 1):
            with self.subTest(tool, arguments=repr(arguments)[:80]):
                result = done.by_id(at)["result"]
                self.assertIs(result["isError"], True)
                error = result["structuredContent"]["error"]
                self.assertEqual(error["code"], "validation")
                if argument is not None:
                    self.assertEqual(error["argument"], argument)
                for part in says:
                    self.assertIn(part, error["message"])
                self.assertLess(len(error["message"]), 500)
                self.assertIn(error["message"], result["content"][0]["text"])

    def test_other_ways_to_say_the_same(self):
        pairs = [tool_call(tool, each, f"{at}-{way}") for at, (tool, *ways) in enumerate(wire.SAME_ARGUMENTS) for way, each in enumerate(ways)]
        done = exchange([initialize("2025-11-25"), *pairs])
        for at, (tool, first, _) in enumerate(wire.SAME_ARGUMENTS):
            with self.subTest(tool, arguments=first):
                one, other = done.by_id(f"{at}-0")["result"], done.by_id(f"{at}-1")["result"]
                self.assertIs(other["isError"], False)
                for answer in (one, other):
                    answer["structuredContent"].pop("releaseNote", None)
                self.assertEqual(one["structuredContent"], other["structuredContent"])

    def test_an_unknown_id_is_not_found_with_the_nearest(self):
        done = exchange([initialize("2025-11-25"), tool_call("doc_extract", {"id": "expres"}, 1), tool_call("catalog_releases", {"id": "qqqqqqqqqq"}, 2)])
        near, far = (done.by_id(id)["result"]["structuredContent"]["error"] for id in (1, 2))
        self.assertEqual((near["code"], far["code"]), ("not-found", "not-found"))
        self.assertIn("express", near["message"])
        self.assertIn("catalog_lookup", far["message"])

    def test_a_version_that_is_not_there_is_an_error_with_the_candidates(self):
        done = exchange([initialize("2025-11-25"), *(tool_call("doc_extract", {"id": "express", "version": version}, version)
                                                     for version in ("99", "6", "nonsense", ">=9", "4.99.0"))])
        for version in ("99", "6", "nonsense", ">=9", "4.99.0"):
            with self.subTest(version):
                error = done.by_id(version)["result"]["structuredContent"]["error"]
                self.assertEqual(error["code"], "version")
                for listed in ("5.1.0", "4.21.2"):
                    self.assertIn(listed, error["message"])

    def test_the_version_asked_for_is_the_version_served(self):
        wanted = {"5.1.0": ("5.1.0", "exact"), "v4.21.2": ("4.21.2", "exact"), "4": ("4.21.2", "prefix"), "4.x": ("4.21.2", "prefix"),
                  "^4.18": ("4.21.2", "range"), "latest": ("5.1.0", "latest")}
        done = exchange([initialize("2025-11-25"), *(tool_call("doc_extract", {"id": "express", "version": version}, version) for version in wanted)])
        for version, (served, kind) in wanted.items():
            with self.subTest(version):
                answer = done.by_id(version)["result"]["structuredContent"]
                self.assertEqual((answer["version"], answer["releaseKind"]), (served, kind))
                self.assertTrue(answer["releaseNote"])

    def test_nothing_found_is_an_empty_list_and_no_error(self):
        done = exchange([initialize("2025-11-25"), tool_call("catalog_lookup", {"query": "qqqqqqqqqq"}, 1),
                         tool_call("doc_extract", {"id": "express", "focus": "qqqqqqqqqq"}, 2)])
        lookup, extract = (done.by_id(id)["result"] for id in (1, 2))
        self.assertEqual((lookup["isError"], lookup["structuredContent"]["results"], lookup["structuredContent"]["total"]), (False, [], 0))
        self.assertEqual((extract["isError"], extract["structuredContent"]["sections"], extract["structuredContent"]["total"]), (False, [], 0))


class Fuzz(unittest.TestCase):

    def test_ten_thousand_mutated_lines_leave_it_answering(self):
        chance = random.Random(20260728)
        data = b"\n".join(wire.mutate(chance) for _ in range(10000)) + b"\n"
        wanted = [each for each in map(wire.wanted_answer, data.split(b"\n")) if each]
        done = exchange([initialize("2025-11-25", "open"), data.rstrip(b"\n"), request("ping", id="still here")])
        self.assertEqual((done.code, done.stderr), (0, ""))
        for message in done.messages:
            check_message(message)
        answers = []
        for message in done.messages[1:]:
            if message.get("method") == "notifications/subscriptions/acknowledged":
                answers.append(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"])
            elif "notifications" in message.get("method", "") or set(message.get("result", {})) == {"resultType", "_meta"}:
                continue  # the end of a subscription
            else:
                answers.append(message["id"])
        self.assertEqual(answers[-1], "still here")
        self.assertEqual(len(wanted), len(answers) - 1)
        for (_, id), answer in zip(wanted, answers):
            self.assertEqual((type(id), id), (type(answer), answer))


class Ends(unittest.TestCase):
    """However it ends: within two seconds, with nothing on standard error."""

    def ended(self, server, action):
        start = time.monotonic()
        action()
        done = server.wait()
        self.assertLess(time.monotonic() - start, PROMPT_END)
        self.assertEqual(done.stderr, "")
        return done

    def busy(self, stack_of_servers, remote):
        """A server with a request in flight that no answer comes to."""
        server = Server("--index-url", remote.url, "--timeout-ms", "30000")
        self.addCleanup(server.__exit__)
        server.open()
        server.send(tool_call("catalog_lookup", {"query": "express"}, "slow"))
        self.assertTrue(remote.arrived.acquire(timeout=20))
        return server

    def test_end_of_input(self):
        with Server() as server:
            server.open()
            server.send(request("tools/list", id="last"))
            done = self.ended(server, server.process.stdin.close)
            self.assertEqual(([message["id"] for message in done.messages], done.code), (["last"], 0))

    def test_end_of_input_with_a_request_in_flight(self):
        with RawRemote(stay_silent) as remote:
            server = self.busy(None, remote)
            done = self.ended(server, server.process.stdin.close)
            self.assertEqual(done.code, 0)
            for message in done.messages:
                self.assertEqual((message["id"], "error" in message), ("slow", True))

    def test_answers_in_hand_are_given_before_the_end(self):
        release = threading.Event()

        def behave(connection, closing):
            release.wait(20)

        with RawRemote(behave) as remote:
            server = self.busy(None, remote)
            server.process.stdin.close()
            release.set()  # the remote hangs up now: the local index answers
            done = server.wait()
            self.assertEqual((done.code, done.stderr), (0, ""))
            self.assertEqual(done.by_id("slow")["result"]["structuredContent"]["results"][0]["id"], "express")

    @unittest.skipIf(os.name == "nt", "Windows has no SIGTERM that a process could tell from its end")
    def test_sigterm(self):
        with Server() as server:
            server.open()
            done = self.ended(server, server.process.terminate)
            self.assertIn(done.code, (0, -signal.SIGTERM, 128 + signal.SIGTERM))

    @unittest.skipIf(os.name == "nt", "Windows has no SIGTERM that a process could tell from its end")
    def test_sigterm_with_a_request_in_flight(self):
        with RawRemote(stay_silent) as remote:
            server = self.busy(None, remote)
            done = self.ended(server, server.process.terminate)
            self.assertIn(done.code, (0, -signal.SIGTERM, 128 + signal.SIGTERM))

    @unittest.skipIf(os.name == "nt", "on Windows SIGINT goes to a console's whole group, this test among it")
    def test_sigint(self):
        with Server() as server:
            server.open()
            done = self.ended(server, lambda: server.process.send_signal(signal.SIGINT))
            self.assertIn(done.code, (0, 130, -signal.SIGINT))

    @unittest.skipIf(os.name == "nt", "on Windows SIGINT goes to a console's whole group, this test among it")
    def test_sigint_with_a_request_in_flight(self):
        with RawRemote(stay_silent) as remote:
            server = self.busy(None, remote)
            done = self.ended(server, lambda: server.process.send_signal(signal.SIGINT))
            self.assertIn(done.code, (0, 130, -signal.SIGINT))

    def reader_gone(self, *options):
        """A server whose output nobody reads any more, and the streams to it."""
        receiving, writing = os.pipe()
        process = subprocess.Popen([sys.executable, *FLAGS, program(), *options], stdin=subprocess.PIPE, stdout=writing, stderr=subprocess.PIPE,
                                   env=clean_env(), bufsize=0)
        os.close(writing)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdin.write(encode(initialize("2025-11-25")))
        with os.fdopen(receiving, "rb") as stream:
            parse_line(stream.readline())
        return process

    def test_closed_output(self):
        process = self.reader_gone()
        start = time.monotonic()
        process.stdin.write(encode(request("tools/list")))
        code = process.wait(20)  # the input stays open: what ends it is that it cannot write
        self.assertLess(time.monotonic() - start, PROMPT_END)
        self.assertEqual((code, process.stderr.read()), (0, b""))
        process.stdin.close()

    def test_closed_output_with_a_request_in_flight(self):
        release = threading.Event()

        def behave(connection, closing):
            release.wait(20)

        with RawRemote(behave) as remote:
            process = self.reader_gone("--index-url", remote.url, "--timeout-ms", "30000")
            process.stdin.write(encode(tool_call("catalog_lookup", {"query": "express"}, "slow")))
            self.assertTrue(remote.arrived.acquire(timeout=20))
            release.set()  # now the answer is written, to nobody
            start = time.monotonic()
            process.stdin.close()
            code = process.wait(20)
            self.assertLess(time.monotonic() - start, PROMPT_END)
            self.assertEqual((code, process.stderr.read()), (0, b""))

    def test_an_answer_that_nobody_reads_ends_the_server_even_while_the_input_is_open(self):
        release = threading.Event()

        def behave(connection, closing):
            release.wait(20)

        with RawRemote(behave) as remote:
            process = self.reader_gone("--index-url", remote.url, "--timeout-ms", "30000")
            process.stdin.write(encode(tool_call("catalog_lookup", {"query": "express"}, "slow")))
            self.assertTrue(remote.arrived.acquire(timeout=20))
            release.set()
            try:
                for at in range(20):  # each of these cannot be answered; the first that is noticed ends it
                    process.stdin.write(encode(request("ping", id=at)))
            except BrokenPipeError:
                pass
            self.assertEqual((process.wait(20), process.stderr.read()), (0, b""))
            try:
                process.stdin.close()
            except BrokenPipeError:
                pass

    @unittest.skipIf(os.name == "nt", "Windows starts no process without standard output")
    def test_no_output_from_the_start(self):
        done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, *FLAGS, program()], input=encode(request("ping")), stderr=subprocess.PIPE,
                              env=clean_env(), timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    @unittest.skipIf(os.name == "nt", "Windows starts no process without standard error")
    def test_no_standard_error(self):
        for options in ((), ("--debug",)):
            done = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, *FLAGS, program(), *options], input=encode(request("ping")),
                                  stdout=subprocess.PIPE, env=clean_env(),
                                  timeout=60)
            self.assertEqual((done.returncode, parse_line(done.stdout)["id"]), (0, 1))

    @unittest.skipIf(os.name == "nt", "Windows starts no process without standard input")
    def test_no_standard_input(self):
        done = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", sys.executable, *FLAGS, program()], capture_output=True, env=clean_env(), timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))


class Output(unittest.TestCase):

    def test_debug_writes_to_standard_error_alone(self):
        done = exchange([initialize("2025-11-25"), tool_call("catalog_lookup", {"query": "express"}, 1), tool_call("catalog_lookup", {"query": "express"}, 2),
                         b"nonsense"], "--debug")
        self.assertEqual(len(done.messages), 4)
        self.assertEqual(done.code, 0)
        for word in ("hits", "misses", "evictions"):
            self.assertIn(word, done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_debug_from_the_environment(self):
        self.assertIn("hits", exchange([request("ping")], env=clean_env(DOCTROVE_DEBUG="1")).stderr)

    def test_output_is_utf_8_whatever_the_locale(self):
        for env in (clean_env(), clean_env(LC_ALL="C", PYTHONUTF8="0"), clean_env(LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="latin-1"),
                    {"PATH": os.environ.get("PATH", "")}):
            if os.name == "nt":
                env["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
            done = exchange([initialize("2025-11-25"), tool_call("doc_extract", {"id": "express", "focus": "通配符"}, "问")], env=env)
            answer = done.by_id("问")["result"]["structuredContent"]
            self.assertIn("wildcard", json.dumps(answer["sections"][0], ensure_ascii=False).lower())
            self.assertEqual(answer["focus"], "通配符")

    def test_chinese_messages_and_signals(self):
        done = exchange([initialize("2025-11-25"), tool_call("catalog_lookup", {"query": "express"}, 1), tool_call("catalog_lookup", {}, 2),
                         tool_call("doc_extract", {"id": "express", "focus": "通配符"}, 3)],
                        "--lang", "zh")
        self.assertEqual(done.by_id(1)["result"]["structuredContent"]["results"][0]["matches"], ["名称精确匹配"])
        self.assertIn("缺少参数", done.by_id(2)["result"]["structuredContent"]["error"]["message"])
        self.assertIn("query", done.by_id(2)["result"]["structuredContent"]["error"]["message"])
        self.assertIn("标题命中", done.by_id(3)["result"]["structuredContent"]["sections"][0]["matches"][0])

    def test_english_messages_hold_no_chinese(self):
        done = exchange([initialize("2025-11-25"), tool_call("catalog_lookup", {"query": "express"}, 1), tool_call("catalog_lookup", {}, 2)])
        self.assertEqual(done.by_id(1)["result"]["structuredContent"]["results"][0]["matches"], ["name equals the query"])
        self.assertTrue(done.by_id(2)["result"]["structuredContent"]["error"]["message"].isascii())

    def test_each_answer_comes_at_once_without_waiting_for_more_input(self):
        with Server() as server:
            server.open()
            for at in range(5):
                self.assertEqual(server.ask("ping", id=at)["result"], {})

    def test_two_servers_start_side_by_side(self):
        with Server() as first, Server() as second:
            for server in (first, second):
                server.open()
            for server in (second, first):
                self.assertIs(server.call("catalog_lookup", query="zod")["isError"], False)
                self.assertEqual(server.end().code, 0)

    def test_a_client_that_reads_late_gets_everything(self):
        with Server() as server:
            server.open()
            writer = threading.Thread(target=server.send, args=[tool_call("doc_extract", {"id": "express", "maxChars": 100000, "maxSections": 50}, at)
                                                                for at in range(30)])
            writer.start()
            self.assertEqual([server.next()["id"] for _ in range(30)], list(range(30)))
            writer.join()


if __name__ == "__main__":
    unittest.main()
