"""Remote indexes over real sockets: merging, every way to fail, time limits, the cache and the cool-down, volumes by reference; local index faults."""
from __future__ import annotations

import gzip
import json
import os
import socket
import tempfile
import threading
import time
import unittest
import zipfile

from processes import (
    ENVELOPE,
    RawRemote,
    Remote,
    Server,
    as_bytes,
    command,
    entry,
    exchange,
    free_port,
    index,
    initialize,
    read_request,
    reference,
    request,
    section,
    stay_silent,
    tool_call,
    without_proxies,
    write_index,
)

import doctrove

LIMIT_MS = 700
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

def setUpModule():
    without_proxies()


def replies(data, then_wait=False):
    """A raw server that answers each connection's request with the given bytes."""
    def behave(connection, closing):
        read_request(connection)
        connection.sendall(data)
        if then_wait:
            closing.wait()
    return behave


def redirects_to(target):
    return replies(b"HTTP/1.1 302 Found\r\nLocation: " + target + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def drips(head, drop, every=0.05):
    """Sends `head`, then `drop` again and again, slower than anyone should wait for."""
    def behave(connection, closing):
        read_request(connection)
        connection.sendall(head)
        while not closing.wait(every):
            connection.sendall(drop)
    return behave


def whole(body, *headers):
    return replies(HTTP + b"".join(header + b"\r\n" for header in headers) + b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)


def without(value, *keys):
    return {name: each for name, each in value.items() if name not in keys}


def nested_index(depth):
    return b'{"format":"doctrove-index@1","entries":[' + b"[" * depth + b"]" * depth + b"]}"


ALPHA = entry("alpha")
# The same faults, whether a remote or a local index has them: bytes, and what the report must name.
BAD_INDEXES = {
    "empty": (b"", ["$"]),
    "not JSON": (b"<html>hello</html>", ["$", "JSON"]),
    "cut": (as_bytes(index(ALPHA))[:-20], ["$"]),
    "not UTF-8": (b'{"format":"doctrove-index@1","x":"\xff"}', ["$", "UTF-8"]),
    "an array": (b"[]", ["$"]),
    "wrong format": (as_bytes({**index(ALPHA), "format": "doctrove-index@2"}), ["$.format"]),
    "no format": (as_bytes({"entries": []}), ["$.format"]),
    "no entries": (as_bytes({"format": "doctrove-index@1"}), ["$.entries"]),
    "entries no array": (as_bytes({"format": "doctrove-index@1", "entries": {}}), ["$.entries"]),
    "entry no object": (as_bytes(index(ALPHA, 7)), ["$.entries[1]"]),
    "no id": (as_bytes(index(without(ALPHA, "id"))), ["$.entries[0].id"]),
    "empty name": (as_bytes(index({**ALPHA, "name": " "})), ["$.entries[0].name"]),
    "duplicate id": (as_bytes(index(ALPHA, entry("beta"), ALPHA)), ["$.entries[2].id", "alpha"]),
    "version without volume": (as_bytes(index({**ALPHA, "versions": ["1.0.0", "2.0.0"]})), ["$.entries[0].volumes", "2.0.0"]),
    "volume without sections": (as_bytes(index({**ALPHA, "volumes": {"1.0.0": {"summary": "x"}}})), ["$.entries[0].volumes", "1.0.0", "sections"]),
    "sections no array": (as_bytes(index({**ALPHA, "volumes": {"1.0.0": {"sections": {}}}})), ["$.entries[0].volumes", "sections"]),
    "section no object": (as_bytes(index({**ALPHA, "volumes": {"1.0.0": {"sections": [section("a", "b"), "x"]}}})), ["sections[1]"]),
    "aliases no array": (as_bytes(index({**ALPHA, "aliases": "a"})), ["$.entries[0].aliases"]),
    "reference up and out": (as_bytes(index({**ALPHA, "volumes": {"1.0.0": reference("../x.json", {"sections": []})}})), ["$.entries[0].volumes", "href"]),
    "reference up and out inside": (as_bytes(index({**ALPHA, "volumes": {"1.0.0": reference("a/../../x.json", {"sections": []})}})), ["href"]),
    "absolute reference": (as_bytes(index({**ALPHA, "volumes": {"1.0.0": reference("/etc/passwd", {"sections": []})}})), ["href"]),
    "reference to a host": (as_bytes(index({**ALPHA, "volumes": {"1.0.0": reference("http://example.org/x.json", {"sections": []})}})), ["href"]),
    "reference to a host without scheme": (as_bytes(index({**ALPHA, "volumes": {"1.0.0": reference("//example.org/x.json", {"sections": []})}})), ["href"]),
    "reference with backslashes": (as_bytes(index({**ALPHA, "volumes": {"1.0.0": reference("..\\x.json", {"sections": []})}})), ["href"]),
    "encoded reference": (as_bytes(index({**ALPHA, "volumes": {"1.0.0": reference("%2e%2e/x.json", {"sections": []})}})), ["href"]),
    "reference with a drive": (as_bytes(index({**ALPHA, "volumes": {"1.0.0": reference("c:x.json", {"sections": []})}})), ["href"]),
    "reference without hash": (as_bytes(index({**ALPHA, "volumes": {"1.0.0": {"href": "a.json"}}})), ["sha256"]),
    "deep nesting": (nested_index(100000), ["$.entries[0]"]),
    "NaN": (as_bytes(index(ALPHA)).replace(b'"Alpha"', b"NaN"), ["$.entries[0]"]),
    "damaged gzip": (gzip.compress(as_bytes(index(ALPHA)))[:40] + b"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", ["gzip"]),
}


class Failures(unittest.TestCase):
    """A remote that fails is left out with a notice, within the time limit, and is not asked again."""

    def check(self, url, codes, says, attempts=None):
        with Server("--index-url", url, "--timeout-ms", str(LIMIT_MS)) as server:
            server.open()
            start = time.monotonic()
            result = server.call("catalog_lookup", query="express")
            self.assertLess(time.monotonic() - start, LIMIT_MS / 1000 + 1)
            self.assertIs(result["isError"], False)
            answer = result["structuredContent"]
            self.assertEqual((answer["results"][0]["id"], answer["results"][0]["source"]), ("express", "bundled"))
            self.assertEqual([notice["source"] for notice in answer["notices"]], ["remote"])
            notice = answer["notices"][0]
            self.assertIn(notice["code"], codes)
            for part in says:
                self.assertIn(part, notice["message"])
            self.assertIn(notice["message"], result["content"][0]["text"])
            self.assertNotIn("\n", notice["message"])
            self.assertLess(len(notice["message"]), 1000)
            before = attempts and attempts()
            again = time.monotonic()
            nothing = server.call("catalog_lookup", query="qqqqqqqqqq")
            extract = server.call("doc_extract", id="no-such-entry")
            known = server.call("doc_extract", id="express", focus="wildcard")
            self.assertLess(time.monotonic() - again, LIMIT_MS / 1000, "the cool-down answers at once")
            for outage in (nothing, extract):  # an outage is never an empty list, nor "there is no such entry"
                self.assertIs(outage["isError"], True)
                self.assertIn(outage["structuredContent"]["error"]["code"], codes)
            self.assertIs(known["isError"], False)
            self.assertEqual(len(known["structuredContent"]["notices"]), 1)
            if attempts:
                self.assertGreater(before, 0)
                self.assertEqual(attempts(), before, "one attempt per cool-down")
            done = server.end()
            self.assertEqual((done.messages, done.code, done.stderr), ([], 0, ""))

    def check_raw(self, behave, codes, says=()):
        with RawRemote(behave) as remote:
            self.check(remote.url, codes, says, attempts=lambda: remote.connections)

    def test_connection_refused(self):
        self.check(f"http://127.0.0.1:{free_port()}", {"network"}, [])

    def test_no_such_name(self):
        self.check("http://doctrove-tests.invalid", {"network", "timeout"}, ["doctrove-tests.invalid"])

    def test_404(self):
        self.check_raw(replies(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), {"network"}, ["404"])

    def test_500(self):
        self.check_raw(replies(b"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\nConnection: close\r\n\r\noops"), {"network"}, ["500"])

    def test_unrequested_304(self):
        self.check_raw(replies(b"HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n"), {"network"}, ["304"])

    def test_204(self):
        self.check_raw(replies(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"), {"network"})

    def test_no_http_at_all(self):
        self.check_raw(replies(b"SSH-2.0-OpenSSH_9.9\r\n"), {"network"})

    def test_hangs_up_at_once(self):
        self.check_raw(replies(b""), {"network"})

    def test_endless_header(self):
        self.check_raw(replies(HTTP + b"X: " + b"x" * 200000 + b"\r\n\r\n"), {"network"})

    def test_endless_redirect(self):
        with Remote() as remote:
            remote.routes["/index.json"] = (302, {"Location": "/index.json"}, b"")
            self.check(remote.url, {"network"}, [], attempts=lambda: len(remote.log))
            self.assertLess(len(remote.log), 20)

    def test_redirect_to_ever_new_places(self):
        with Remote() as remote:
            class Routes(dict):
                def get(self, path, default=None):
                    return 302, {"Location": path + "x"}, b""
            remote.routes = Routes()
            self.check(remote.url, {"network"}, [], attempts=lambda: len(remote.log))
            self.assertLess(len(remote.log), 20)

    def test_redirect_to_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "index.json")
            with open(path, "wb") as file:
                file.write(as_bytes(index(entry("express"))))
            self.check_raw(redirects_to(b"file://" + path.replace(os.sep, "/").encode()), {"network"}, ["not http"])

    def test_redirect_to_other_schemes(self):
        for target in (b"ftp://127.0.0.1/index.json", b"gopher://127.0.0.1/", b"data:application/json,{}", b"javascript:1"):
            with self.subTest(target):
                self.check_raw(redirects_to(target), {"network"}, ["not http"])

    def test_silence_after_the_connection(self):
        self.check_raw(stay_silent, {"timeout"}, ["0.7"])

    def test_slow_loris_body(self):
        self.check_raw(drips(HTTP + b"Content-Length: 100000\r\n\r\n{", b" "), {"timeout"})

    def test_slow_loris_body_without_length(self):
        self.check_raw(drips(HTTP + b"\r\n{", b" "), {"timeout"})

    def test_slow_loris_headers(self):
        self.check_raw(drips(HTTP, b"X-Drip: 1\r\n"), {"timeout", "network"})

    def test_slow_loris_status_line(self):
        self.check_raw(drips(b"", b"H"), {"timeout"})

    def test_slow_loris_chunks(self):
        self.check_raw(drips(HTTP + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"), {"timeout"})

    def test_slow_redirects(self):
        def behave(connection, closing):
            read_request(connection)
            closing.wait(0.4)
            connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: /more\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        self.check_raw(behave, {"timeout", "network"})

    def test_truncated_gzip(self):
        body = gzip.compress(as_bytes(index(ALPHA)))[:-30]
        self.check_raw(whole(body, b"Content-Encoding: gzip"), {"network"}, ["gzip"])

    def test_gzip_that_is_none(self):
        self.check_raw(whole(b"\x1f\x8bnonsense", b"Content-Encoding: gzip"), {"network"})

    def test_content_length_too_large(self):
        self.check_raw(replies(HTTP + b"Content-Length: 100000\r\nConnection: close\r\n\r\n" + as_bytes(index(ALPHA))), {"network"})

    def test_content_length_too_small(self):
        self.check_raw(replies(HTTP + b"Content-Length: 20\r\nConnection: close\r\n\r\n" + as_bytes(index(ALPHA))), {"network"})

    def test_content_length_of_300_mb(self):
        self.check_raw(replies(HTTP + b"Content-Length: 314572800\r\n\r\n", then_wait=True), {"network"}, [str(doctrove.MAX_INDEX_BYTES)])

    def test_broken_chunks(self):
        self.check_raw(replies(HTTP + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"), {"network"})

    def test_tls_to_a_plain_port(self):
        def behave(connection, closing):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

        with RawRemote(behave) as remote:
            self.check(remote.url.replace("http:", "https:"), {"network"}, [], attempts=lambda: remote.connections)

    def test_tls_handshake_that_never_goes_on(self):
        with RawRemote(stay_silent) as remote:
            self.check(remote.url.replace("http:", "https:"), {"timeout"}, [], attempts=lambda: remote.connections)

    def test_bad_indexes_are_refused_with_the_json_path(self):
        for name, (data, says) in BAD_INDEXES.items():
            with self.subTest(name), Remote({"/index.json": data}) as remote:
                answer = open_catalog(remote.url, Clock()).lookup("express")
                self.assertEqual(answer["results"][0]["id"], "express")
                self.assertEqual([(notice["code"], notice["source"]) for notice in answer["notices"]], [("network", "remote")])
                for part in says:
                    self.assertIn(part, answer["notices"][0]["message"])

    def test_a_bad_index_leaves_the_server_answering(self):
        self.check_raw(whole(BAD_INDEXES["duplicate id"][0]), {"network"}, BAD_INDEXES["duplicate id"][1])
        self.check_raw(whole(BAD_INDEXES["deep nesting"][0]), {"network"}, BAD_INDEXES["deep nesting"][1])


class Merging(unittest.TestCase):

    def start(self, *options):
        server = Server("--timeout-ms", "5000", *options)
        self.addCleanup(server.__exit__)
        return server.open()

    def remote(self, *entries, **routes):
        remote = Remote({"/index.json": index(*entries), **routes})
        self.addCleanup(remote.__exit__)
        return remote

    def test_the_remote_wins_for_its_ids_and_the_local_index_has_the_rest(self):
        remote = self.remote(entry("express", "9.0.0"), entry("alpha", "1.0.0"))
        server = self.start("--index-url", remote.url)
        ours = server.call("doc_extract", id="express")["structuredContent"]
        self.assertEqual((ours["version"], ours["source"]["kind"]), ("9.0.0", "remote"))
        self.assertTrue(ours["source"]["location"].startswith(remote.url))
        bundled = server.call("doc_extract", id="zod")["structuredContent"]
        self.assertEqual(bundled["source"]["kind"], "bundled")
        self.assertEqual(server.call("catalog_releases", id="express")["structuredContent"]["versions"], ["9.0.0"])
        lookup = server.call("catalog_lookup", query="express")["structuredContent"]
        self.assertEqual([result["source"] for result in lookup["results"] if result["id"] == "express"], ["remote"])
        self.assertEqual([source["kind"] for source in lookup["sources"]], ["remote", "bundled"])
        for answer in (ours, bundled, lookup):
            self.assertNotIn("notices", answer)
        self.assertEqual(server.call("doc_extract", id="alpha")["structuredContent"]["version"], "1.0.0")
        self.assertIs(server.call("doc_extract", id="express", version="5.1.0")["isError"], True)

    def test_of_several_remotes_the_first_one_given_wins(self):
        first, second = self.remote(entry("alpha", "1.0.0")), self.remote(entry("alpha", "2.0.0"), entry("beta", "2.0.0"))
        server = self.start("--index-url", first.url, "--index-url", second.url)
        self.assertEqual(server.call("doc_extract", id="alpha")["structuredContent"]["version"], "1.0.0")
        self.assertEqual(server.call("doc_extract", id="beta")["structuredContent"]["version"], "2.0.0")
        self.assertEqual(server.call("doc_extract", id="zod")["structuredContent"]["source"]["kind"], "bundled")

    def test_the_first_one_wins_also_when_it_answers_last(self):
        gate = threading.Event()
        first, second = self.remote(), self.remote(entry("alpha", "2.0.0"))
        body = index(entry("alpha", "1.0.0"))
        first.routes["/index.json"] = lambda handler: gate.wait(20) and body
        second.routes["/index.json"] = lambda handler: gate.set() or index(entry("alpha", "2.0.0"))
        server = self.start("--index-url", first.url, "--index-url", second.url)
        self.assertEqual(server.call("doc_extract", id="alpha")["structuredContent"]["version"], "1.0.0")

    def test_a_failing_remote_leaves_the_others_in_charge(self):
        first, second = self.remote(), self.remote(entry("alpha", "2.0.0"))
        first.routes.clear()
        server = self.start("--index-url", first.url, "--index-url", second.url)
        answer = server.call("doc_extract", id="alpha")["structuredContent"]
        self.assertEqual((answer["version"], len(answer["notices"])), ("2.0.0", 1))
        self.assertIn(first.url, answer["notices"][0]["message"])

    def test_urls_from_the_environment(self):
        first, second = self.remote(entry("alpha", "1.0.0")), self.remote(entry("beta", "2.0.0"))
        done = command("lookup", "beta", "--json", env={**os.environ, "DOCTROVE_INDEX_URL": f"{first.url} {second.url}"})
        self.assertEqual(json.loads(done.stdout)["results"][0]["id"], "beta")

    def test_a_url_may_name_the_file_and_carry_a_query(self):
        remote = self.remote()
        remote.routes = {"/docs/catalog.json?key=1": index(entry("alpha"))}
        server = self.start("--index-url", remote.url + "/docs/catalog.json?key=1")
        self.assertEqual(server.call("doc_extract", id="alpha")["structuredContent"]["source"]["kind"], "remote")
        self.assertEqual(remote.paths(), ["/docs/catalog.json?key=1"])

    def test_gzip(self):
        body = gzip.compress(as_bytes(index(entry("alpha"))))
        for path, headers in (("/index.json", {"Content-Encoding": "gzip"}), ("/index.json.gz", {})):
            with self.subTest(path):
                remote = self.remote()
                remote.routes = {path: (200, headers, body)}
                server = self.start("--index-url", remote.url + ("" if path == "/index.json" else path))
                self.assertEqual(server.call("doc_extract", id="alpha")["structuredContent"]["source"]["kind"], "remote")
                self.assertIn("gzip", remote.log[0][2]["accept-encoding"])

    def test_chunked_body_without_length(self):
        data = as_bytes(index(entry("alpha")))
        body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (data[:50], data[50:])) + b"0\r\n\r\n"
        with RawRemote(replies(HTTP + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + body)) as remote:
            self.assertEqual(self.start("--index-url", remote.url).call("doc_extract", id="alpha")["structuredContent"]["source"]["kind"], "remote")

    def test_a_redirect_is_followed_and_references_are_relative_to_where_it_led(self):
        volume = {"sections": [section("Install", "from the moved place")]}
        remote = self.remote()
        remote.routes = {"/index.json": (302, {"Location": "/moved/here/index.json"}, b""), "/moved/here/volumes/a.json": volume,
                         "/moved/here/index.json": index({**ALPHA, "volumes": {"1.0.0": reference("volumes/a.json", volume)}})}
        server = self.start("--index-url", remote.url)
        self.assertEqual(server.call("doc_extract", id="alpha")["structuredContent"]["sections"][0]["body"], "from the moved place")

    def test_only_limits_all_sources(self):
        remote = self.remote(entry("alpha"), entry("beta"))
        server = self.start("--index-url", remote.url, "--only", "alpha,zod")
        self.assertIs(server.call("doc_extract", id="alpha")["isError"], False)
        self.assertIs(server.call("doc_extract", id="zod")["isError"], False)
        for id in ("beta", "express"):
            self.assertEqual(server.call("doc_extract", id=id)["structuredContent"]["error"]["code"], "not-found")

    def test_a_remote_alone_with_an_empty_local_index(self):
        remote = self.remote(entry("alpha"))
        with tempfile.TemporaryDirectory() as folder:
            server = self.start("--index-url", remote.url, "--local-index", write_index(folder, index()))
            self.assertEqual(server.call("catalog_lookup", query="alpha")["structuredContent"]["total"], 1)
            server.end()

    def test_half_surrogates_in_an_index_do_not_break_the_output(self):
        remote = self.remote()
        remote.routes = {"/index.json": as_bytes(index(ALPHA)).replace(b"Install alpha", b"Install \\ud83d alpha").replace(b"The alpha", b"The \\udfff alpha")}
        server = self.start("--index-url", remote.url)
        self.assertIs(server.call("doc_extract", id="alpha")["isError"], False)
        self.assertIs(server.call("catalog_lookup", query="alpha")["isError"], False)


class References(unittest.TestCase):

    def setUp(self):
        self.volumes = {f"/volumes/{name}.json": {"summary": name, "sections": [section(f"Install {name}", f"Install the {name} one.")]}
                        for name in ("one", "two", "three")}
        self.alpha = {**ALPHA, "versions": ["3.0.0", "2.0.0", "1.0.0"],
                      "volumes": {version: reference(path[1:], self.volumes[path]) for version, path in zip(("1.0.0", "2.0.0", "3.0.0"), self.volumes)}}
        self.remote = Remote({"/index.json": index(self.alpha), **self.volumes})
        self.addCleanup(self.remote.__exit__)

    def start(self, *options):
        server = Server("--index-url", self.remote.url, "--timeout-ms", "2000", *options)
        self.addCleanup(server.__exit__)
        return server.open()

    def test_only_the_volume_that_is_asked_for_is_fetched(self):
        server = self.start()
        self.assertEqual(server.call("catalog_releases", id="alpha")["structuredContent"]["versions"], ["3.0.0", "2.0.0", "1.0.0"])
        server.call("catalog_lookup", query="alpha")
        self.assertEqual(self.remote.paths(), ["/index.json"])
        answer = server.call("doc_extract", id="alpha", version="2")["structuredContent"]
        self.assertEqual(answer["sections"][0]["body"], "Install the two one.")
        self.assertEqual(self.remote.paths(), ["/index.json", "/volumes/two.json"])
        server.call("doc_extract", id="alpha", version="2", focus="install")
        server.call("doc_extract", id="alpha", version="2.0.0")
        self.assertEqual(self.remote.paths(), ["/index.json", "/volumes/two.json"])

    def test_the_releases_know_counts_and_summaries_without_the_volumes(self):
        self.alpha["volumes"]["1.0.0"]["summary"] = "the first one"
        self.remote.routes["/index.json"] = index(self.alpha)
        rows = self.start().call("catalog_releases", id="alpha")["structuredContent"]["releases"]
        self.assertEqual([(row["version"], row["sections"]) for row in rows], [("3.0.0", 1), ("2.0.0", 1), ("1.0.0", 1)])
        self.assertEqual(rows[2]["summary"], "the first one")

    def test_gzipped_volumes(self):
        for path, volume in self.volumes.items():
            self.remote.routes[path] = (200, {"Content-Encoding": "gzip"}, gzip.compress(as_bytes(volume)))
        self.assertEqual(self.start().call("doc_extract", id="alpha")["structuredContent"]["sections"][0]["body"], "Install the three one.")

    def test_faulty_volumes_are_errors_that_name_the_json_path(self):
        bad = {"changed": (as_bytes(self.volumes["/volumes/three.json"]).replace(b"three", b"other"), ["$.entries[0].volumes", "3.0.0", "sha256"]),
               "cut": (b'{"sections": [', ["sha256"])}
        for name, (data, says) in bad.items():
            with self.subTest(name):
                self.remote.routes["/volumes/three.json"] = data
                result = self.start().call("doc_extract", id="alpha", version="3.0.0")
                self.assertIs(result["isError"], True)
                error = result["structuredContent"]["error"]
                self.assertEqual(error["code"], "network")
                for part in says:
                    self.assertIn(part, error["message"])

    def test_a_volume_with_the_right_hash_and_a_wrong_shape(self):
        for volume in ({"sections": [], "href": "volumes/one.json"}, {"sections": [1]}, {"sections": [{"heading": 7}]}):
            with self.subTest(volume=volume):
                self.remote.routes["/volumes/three.json"] = volume
                self.alpha["volumes"]["3.0.0"] = reference("volumes/three.json", volume)
                self.remote.routes["/index.json"] = index(self.alpha)
                error = self.start().call("doc_extract", id="alpha", version="3.0.0")["structuredContent"]["error"]
                self.assertEqual(error["code"], "network")
                self.assertIn('$.entries[0].volumes["3.0.0"]', error["message"])

    def test_a_missing_volume_is_an_outage_and_other_volumes_are_served(self):
        del self.remote.routes["/volumes/three.json"]
        server = self.start()
        self.assertEqual(server.call("doc_extract", id="alpha")["structuredContent"]["error"]["code"], "network")
        self.assertEqual(server.call("doc_extract", id="alpha", version="1")["structuredContent"]["version"], "1.0.0")
        self.assertEqual(server.call("doc_extract", id="alpha")["structuredContent"]["error"]["code"], "network")
        self.assertEqual(self.remote.paths().count("/volumes/three.json"), 1)

    def test_a_missing_volume_is_taken_from_the_next_source_that_has_the_version(self):
        del self.remote.routes["/volumes/three.json"]
        with tempfile.TemporaryDirectory() as folder:
            server = self.start("--local-index", write_index(folder, index(entry("alpha", "3.0.0"))))
            answer = server.call("doc_extract", id="alpha", version="3.0.0")["structuredContent"]
            self.assertEqual((answer["version"], answer["source"]["kind"], answer["sections"][0]["body"]), ("3.0.0", "local", "Install alpha 3.0.0 first."))
            self.assertEqual(len(answer["notices"]), 1)
            self.assertIs(server.call("doc_extract", id="alpha", version="2.0.0")["isError"], False)
            server.end()

    def test_a_slow_volume_is_a_timeout(self):
        self.remote.routes["/volumes/three.json"] = lambda handler: self.remote.closing.wait() and None
        start = time.monotonic()
        error = self.start("--timeout-ms", "500").call("doc_extract", id="alpha")["structuredContent"]["error"]
        self.assertEqual(error["code"], "timeout")
        self.assertLess(time.monotonic() - start, 3)

    def test_a_changed_volume_belongs_to_the_changed_index(self):
        """A cached volume must not answer for an index that names other bytes."""
        clock = Clock()
        catalog = open_catalog(self.remote.url, clock)
        clock.now = 300
        catalog.lookup("alpha")
        clock.now = 599
        self.assertEqual(catalog.extract("alpha")["sections"][0]["body"], "Install the three one.")
        new = {"sections": [section("Install three", "Rewritten.")]}
        self.alpha["volumes"]["3.0.0"] = reference("volumes/three.json", new)
        self.remote.routes.update({"/index.json": index(self.alpha), "/volumes/three.json": new})
        clock.now = 1000  # the index has expired, the volume has not
        self.assertEqual(catalog.extract("alpha")["sections"][0]["body"], "Rewritten.")

    def test_half_of_an_update_is_never_passed_off_as_the_new_text(self):
        clock = Clock()
        catalog = open_catalog(self.remote.url, clock)
        catalog.extract("alpha")
        new = {"sections": [section("Install three", "Rewritten.")]}
        self.alpha["volumes"]["3.0.0"] = reference("volumes/three.json", new)
        self.remote.routes["/index.json"] = index(self.alpha)  # the index is new, the volume still the old one
        clock.now = 601
        try:
            answer = catalog.extract("alpha")
        except doctrove.DocError as error:
            self.assertEqual(error.code, "network")
            self.assertIn("sha256", str(error))
        else:
            self.assertIs(answer["source"].get("stale"), True)
            self.assertIn("sha256", answer["notices"][0]["message"])


class Clock:
    """A clock that stands until it is set."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def open_catalog(url, clock, **options):
    """A catalog with one remote whose cache and cool-down go by `clock`."""
    given = {"index-url": [url], "timeout-ms": ["5000"], **{name.replace("_", "-"): [value] for name, value in options.items()}}
    catalog = doctrove.Catalog(doctrove.load_settings(given, {}))
    catalog.cache.clock = catalog.remotes[0].fetcher.cool_down.clock = clock
    return catalog


class Caching(unittest.TestCase):

    def setUp(self):
        self.clock = Clock()
        self.remote = Remote({"/index.json": index(entry("alpha", "1.0.0"))})
        self.addCleanup(self.remote.__exit__)

    def open(self, **options):
        return open_catalog(self.remote.url, self.clock, **options)

    def requests(self):
        return len(self.remote.log)

    def at(self, now, catalog, id="alpha"):
        """The answer of `catalog` at a time."""
        self.clock.now = now
        return catalog.extract(id)

    def serve_with(self, header, value, condition):
        def route(handler):
            if handler.headers.get(condition) == value:
                return 304, {header: value}, b""
            return 200, {header: value}, index(entry("alpha", "1.0.0"))
        self.remote.routes["/index.json"] = route

    def test_a_fresh_copy_costs_no_request(self):
        catalog = self.open()
        for now in (0, 1, 300, 599):
            self.at(now, catalog)
            catalog.lookup("alpha")
            catalog.releases("alpha")
        self.assertEqual(self.requests(), 1)

    def test_an_expired_copy_is_revalidated(self):
        for header, value, condition in (("ETag", '"v1"', "If-None-Match"), ("Last-Modified", "Sat, 15 Aug 2026 00:00:00 GMT", "If-Modified-Since")):
            with self.subTest(header):
                self.clock.now = 0
                self.remote.log.clear()
                self.serve_with(header, value, condition)
                catalog = self.open()
                self.at(0, catalog)
                answer = self.at(601, catalog)
                self.assertEqual((answer["version"], "stale" in answer["source"], "notices" in answer), ("1.0.0", False, False))
                self.assertEqual([headers.get(condition.lower()) for _, _, headers in self.remote.log], [None, value])
                self.at(1200, catalog)
                self.assertEqual(self.requests(), 2, "a 304 makes the copy fresh again")
                self.at(1202, catalog)
                self.assertEqual([headers.get(condition.lower()) for _, _, headers in self.remote.log], [None, value, value])

    def test_new_content_replaces_the_expired_copy(self):
        catalog = self.open()
        self.assertEqual(self.at(0, catalog)["version"], "1.0.0")
        self.remote.routes["/index.json"] = index(entry("alpha", "2.0.0"))
        self.assertEqual(self.at(599, catalog)["version"], "1.0.0")
        self.assertEqual(self.at(601, catalog)["version"], "2.0.0")

    def test_the_time_to_live_is_the_setting(self):
        catalog = self.open(cache_ttl="5")
        for now, requests in ((0, 1), (4, 1), (6, 2), (10, 2), (12, 3)):
            self.at(now, catalog)
            self.assertEqual(self.requests(), requests, now)

    def test_with_the_cache_off_every_call_fetches(self):
        catalog = self.open(cache_ttl="0")
        for requests in (1, 2, 3):
            self.at(0, catalog)
            self.assertEqual(self.requests(), requests)
        self.assertEqual([headers for _, _, headers in self.remote.log if "if-none-match" in headers or "if-modified-since" in headers], [])

    def test_an_old_copy_serves_while_the_remote_is_down_marked_stale(self):
        catalog = self.open()
        self.at(0, catalog)
        self.remote.routes["/index.json"] = (500, {}, b"")
        for now in (601, 602, 630):
            answer = self.at(now, catalog)
            self.assertEqual((answer["version"], answer["source"].get("stale")), ("1.0.0", True))
            self.assertEqual([(notice["code"], notice["source"]) for notice in answer["notices"]], [("network", "remote")])
        self.assertEqual(self.requests(), 2, "one attempt in the cool-down")
        self.assertIs(catalog.lookup("alpha")["sources"][0].get("stale"), True)
        self.assertEqual(catalog.lookup("qqqqqqq")["total"], 0)  # the copy was searched: that is an answer
        self.at(632, catalog)
        self.assertEqual(self.requests(), 3)

    def test_a_stale_copy_becomes_fresh_when_the_remote_is_back(self):
        catalog = self.open()
        self.at(0, catalog)
        self.remote.routes["/index.json"] = (500, {}, b"")
        self.at(601, catalog)
        self.remote.routes["/index.json"] = index(entry("alpha", "2.0.0"))
        answer = self.at(632, catalog)
        self.assertEqual((answer["version"], "stale" in answer["source"], "notices" in answer), ("2.0.0", False, False))

    def test_an_old_copy_survives_a_broken_new_one(self):
        catalog = self.open()
        self.at(0, catalog)
        self.remote.routes["/index.json"] = b"<html>maintenance</html>"
        answer = self.at(601, catalog)
        self.assertEqual((answer["version"], answer["source"].get("stale")), ("1.0.0", True))

    def test_one_attempt_per_cool_down_and_it_heals_after_it(self):
        good = self.remote.routes.pop("/index.json")
        catalog = self.open()
        for now in (0, 1, 15, 29):
            self.assertEqual(len(self.at(now, catalog, "zod")["notices"]), 1)
        self.assertEqual(self.requests(), 1)
        self.remote.routes["/index.json"] = good
        self.assertEqual(len(self.at(29.5, catalog, "zod")["notices"]), 1)
        answer = self.at(31, catalog)
        self.assertEqual((answer["version"], "notices" in answer, self.requests()), ("1.0.0", False, 2))

    def test_a_second_failure_starts_a_second_cool_down(self):
        self.remote.routes.clear()
        catalog = self.open()
        for now, requests in ((0, 1), (31, 2), (60, 2), (62, 3)):
            self.at(now, catalog, "zod")
            self.assertEqual(self.requests(), requests, now)

    def test_a_small_time_to_live_does_not_cut_the_cool_down(self):
        self.remote.routes.clear()
        catalog = self.open(cache_ttl="1")
        for now in (0, 2, 10, 29):
            self.at(now, catalog, "zod")
        self.assertEqual(self.requests(), 1)

    def test_without_the_cache_there_is_no_cool_down(self):
        good = self.remote.routes.pop("/index.json")
        catalog = self.open(cache_ttl="0")
        for requests in (1, 2, 3):
            self.at(0, catalog, "zod")
            self.assertEqual(self.requests(), requests)
        self.remote.routes["/index.json"] = good
        self.assertEqual(self.at(0, catalog)["version"], "1.0.0")

    def test_an_answer_with_notices_is_not_kept_beyond_the_outage(self):
        good = self.remote.routes.pop("/index.json")
        catalog = self.open()
        self.at(0, catalog, "zod")
        self.remote.routes["/index.json"] = good
        self.assertNotIn("notices", self.at(31, catalog, "zod"))

    def test_a_cached_answer_does_not_hide_an_outage(self):
        catalog = self.open()
        self.at(0, catalog, "zod")
        self.remote.routes.clear()
        self.assertEqual(len(self.at(601, catalog, "zod")["notices"]), 1)

    def test_the_cool_down_lasts_30_seconds(self):
        self.assertEqual(doctrove.COOL_DOWN_SECONDS, 30)


class Concurrency(unittest.TestCase):
    """A slow remote delays the calls that need it and nothing else."""

    def setUp(self):
        self.gate = threading.Event()
        self.asked = threading.Semaphore(0)
        self.remote = Remote({"/index.json": self.wait_for_gate})
        self.addCleanup(self.remote.__exit__)
        self.addCleanup(self.gate.set)

    def wait_for_gate(self, handler):
        self.asked.release()
        self.gate.wait(30)
        return 200, {}, index(entry("alpha", "1.0.0"))

    def start(self, *options):
        server = Server("--index-url", self.remote.url, "--timeout-ms", "30000", *options)
        self.addCleanup(server.__exit__)
        return server.open()

    def slow_call(self, server, id):
        server.send(tool_call("doc_extract", {"id": "alpha"}, id))
        self.assertTrue(self.asked.acquire(timeout=20))

    def test_it_does_not_delay_anything_else(self):
        server = self.start()
        self.slow_call(server, "slow")
        server.send(request("ping", id=1), request("tools/list", id=2), request("server/discover", {"_meta": ENVELOPE}, 3), initialize("2025-11-25", 4),
            request("tools/call", {"name": "no_such_tool"}, 5), request("no/such", id=6), b"nonsense")
        seen = [server.next() for _ in range(7)]
        self.assertEqual([message["id"] for message in seen if message["id"] != 5], [1, 2, 3, 4, 6, None])
        self.assertEqual(sum(message["id"] == 5 for message in seen), 1)
        self.gate.set()
        self.assertEqual(server.answer("slow")["result"]["structuredContent"]["version"], "1.0.0")

    def test_bad_arguments_are_answered_at_once(self):
        server = self.start()
        self.slow_call(server, "slow")
        server.send(tool_call("doc_extract", {}, "bad"))
        self.assertEqual(server.next()["id"], "bad")
        self.gate.set()
        server.answer("slow")

    def test_calls_at_the_same_time_share_one_attempt(self):
        server = self.start()
        self.slow_call(server, 0)
        server.send(*(tool_call("catalog_lookup", {"query": "alpha"}, at) for at in range(1, 6)), request("ping", id="after"))
        self.assertEqual(server.next()["id"], "after")
        self.gate.set()
        for at in range(6):
            self.assertIs(server.answer(at)["result"]["isError"], False)
        self.assertEqual(self.remote.paths(), ["/index.json"])

    def test_a_slow_volume_does_not_delay_the_others(self):
        fast, slow = ({"sections": [section("Install", name)]} for name in ("fast", "slow"))
        alpha = {**ALPHA, "versions": ["2.0.0", "1.0.0"], "volumes": {"2.0.0": reference("slow.json", slow), "1.0.0": reference("fast.json", fast)}}

        def wait(handler):
            self.asked.release()
            self.gate.wait(30)
            return 200, {}, slow

        self.remote.routes = {"/index.json": index(alpha), "/fast.json": fast, "/slow.json": wait}
        server = self.start()
        self.slow_call(server, "slow")
        self.assertEqual(server.call("catalog_lookup", query="alpha")["structuredContent"]["total"], 1)
        self.assertEqual(server.call("doc_extract", id="alpha", version="1")["structuredContent"]["sections"][0]["body"], "fast")
        self.gate.set()
        self.assertEqual(server.answer("slow")["result"]["structuredContent"]["sections"][0]["body"], "slow")

    def test_a_cancelled_request_is_not_answered(self):
        server = self.start()
        self.slow_call(server, "cancelled")
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "cancelled", "reason": "enough"}},
                    tool_call("doc_extract", {"id": "alpha"}, "wanted"),
                    request("ping", id="after"))
        self.assertEqual(server.next()["id"], "after")
        self.gate.set()
        self.assertIn("result", server.answer("wanted"))
        self.assertIn("result", server.ask("tools/call", {"name": "doc_extract", "arguments": {"id": "alpha"}}, "another"))
        rest = server.end()
        self.assertEqual((rest.messages, rest.code, rest.stderr), ([], 0, ""))

    def test_cancelling_takes_the_type_of_the_id_into_account(self):
        server = self.start()
        self.slow_call(server, 7)
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "7"}}, request("ping", id="after"))
        server.answer("after")
        self.gate.set()
        self.assertIn("result", server.answer(7))

    def test_a_cancelled_id_may_be_used_again(self):
        server = self.start()
        server.send(tool_call("doc_extract", {"id": "alpha"}, 7, _meta=ENVELOPE))
        self.assertTrue(self.asked.acquire(timeout=20))
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}},
                    tool_call("catalog_lookup", {"query": "alpha"}, 7, _meta=ENVELOPE),
                    request("ping", id="after"))
        server.answer("after")
        self.gate.set()
        self.assertIn("results", server.answer(7)["result"]["structuredContent"])
        self.assertEqual(server.end().messages, [])

    def test_a_cancelled_request_in_a_batch_is_not_answered(self):
        server = Server("--index-url", self.remote.url, "--timeout-ms", "30000")
        self.addCleanup(server.__exit__)
        server.open("2025-03-26")
        server.send([tool_call("doc_extract", {"id": "alpha"}, 1), tool_call("catalog_lookup", {"query": "alpha"}, 2)])
        self.assertTrue(self.asked.acquire(timeout=20))
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}, request("ping", id="after"))
        self.assertEqual(server.next()["id"], "after")
        self.gate.set()
        self.assertEqual([message["id"] for message in server.next()], [1])

    def test_a_batch_that_waits_delays_nothing_and_is_answered_as_one(self):
        server = Server("--index-url", self.remote.url, "--timeout-ms", "30000")
        self.addCleanup(server.__exit__)
        server.open("2025-03-26")
        server.send([tool_call("doc_extract", {"id": "alpha"}, 1), request("ping", id=2)])
        self.assertTrue(self.asked.acquire(timeout=20))
        self.assertEqual(server.ask("ping", id="between")["result"], {})
        self.gate.set()
        self.assertEqual([message["id"] for message in server.next()], [1, 2])

    def test_the_same_id_twice_at_once_is_refused(self):
        server = self.start()
        self.slow_call(server, 7)
        server.send(tool_call("catalog_lookup", {"query": "alpha"}, 7))
        refused = server.next()
        self.assertEqual((refused["id"], refused["error"]["code"]), (7, -32600))
        self.gate.set()
        self.assertIn("sections", server.answer(7)["result"]["structuredContent"])

    def test_many_waiting_calls_are_bounded_and_each_is_answered(self):
        server = self.start()
        self.slow_call(server, 0)
        server.send(*(tool_call("catalog_lookup", {"query": "alpha"}, at) for at in range(1, 200)), request("ping", id="after"))
        refused = []
        while True:
            message = server.next()
            if message["id"] == "after":
                break
            self.assertIn("error", message)
            refused.append(message["id"])
        self.assertEqual(len(refused), 200 - doctrove.MAX_IN_FLIGHT)
        self.gate.set()
        for at in range(200):
            if at not in refused:
                self.assertIn("result", server.answer(at))


class LocalFaults(unittest.TestCase):
    """A local index that cannot be used ends the program with 2, one line on standard error, nothing on standard output."""

    def refused(self, path, says=(), *more, ways=((), ("lookup", "alpha"))):
        for arguments in ways:
            done = command("--local-index", path, *more, *arguments, stdin=None, input=b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            lines = done.stderr.decode("utf-8").splitlines()
            self.assertEqual(len(lines), 1, lines)
            for part in says:
                self.assertIn(part, lines[0])

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = os.path.realpath(holder.name)

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def test_faults_are_named_with_the_json_path(self):
        for at, (name, (data, says)) in enumerate(BAD_INDEXES.items()):
            with self.subTest(name):
                self.refused(self.write("index.json", data), says, ways=[("lookup", "alpha") if at % 2 else ()])

    def test_the_folder_and_the_file_are_the_same_index(self):
        self.write("index.json", BAD_INDEXES["duplicate id"][0])
        self.refused(self.folder, ["$.entries[2].id"])

    def test_nothing_there(self):
        self.refused(os.path.join(self.folder, "nowhere"), ["nowhere"])
        self.refused(os.path.join(self.folder, "nowhere.json"), ["nowhere.json"])

    def test_a_folder_without_an_index(self):
        self.refused(self.folder, ["index.json"])

    def test_an_archive_without_an_index(self):
        path = os.path.join(self.folder, "docs.zip")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("readme.txt", "nothing")
        self.refused(path, ["docs.zip"])
        self.refused(self.write("broken.zip", b"PK\3\4nonsense"), ["broken.zip"])
        self.refused(self.write("broken.pyz", b"nonsense"), ["broken.pyz"])

    def test_300_mb(self):
        path = self.write("index.json", b"{")
        os.truncate(path, 300 * 1024 * 1024)
        self.refused(path, [str(doctrove.MAX_INDEX_BYTES)])

    def test_300_mb_packed(self):
        self.write("index.json.gz", gzip.compress(b" " * (1024 * 1024)) * 300)
        self.refused(self.folder, [str(doctrove.MAX_INDEX_BYTES)], ways=[()])

    def test_a_reference_to_a_missing_file(self):
        write_index(self.folder, index({**ALPHA, "volumes": {"1.0.0": reference("volumes/gone.json", {"sections": []})}}))
        self.refused(self.folder, ['$.entries[0].volumes["1.0.0"].href', "gone.json"])

    def test_a_reference_through_a_link_that_leads_out(self):
        with tempfile.TemporaryDirectory() as outside:
            write_index(outside, {}, **{"secret.json": {"sections": []}})
            os.makedirs(os.path.join(self.folder, "volumes"))
            try:
                os.symlink(os.path.join(outside, "secret.json"), os.path.join(self.folder, "volumes", "a.json"))
            except OSError as error:
                self.skipTest(f"links cannot be made here: {error}")
            write_index(self.folder, index({**ALPHA, "volumes": {"1.0.0": reference("volumes/a.json", {"sections": []})}}))
            self.refused(self.folder, ["href"])

    def test_a_changed_volume_is_an_error_where_it_is_read(self):
        volume = {"sections": [section("Install", "as it was")]}
        write_index(self.folder, index({**ALPHA, "volumes": {"1.0.0": reference("volumes/a.json", volume)}}, entry("beta")),
                    **{"volumes/a.json": {"sections": []}})
        done = exchange([initialize("2025-11-25"), tool_call("doc_extract", {"id": "alpha"}, 1), tool_call("doc_extract", {"id": "beta"}, 2)], "--local-index",
                        self.folder)
        error = done.by_id(1)["result"]["structuredContent"]["error"]
        self.assertIn('$.entries[0].volumes["1.0.0"].sha256', error["message"])
        self.assertIs(done.by_id(2)["result"]["isError"], False)
        shell = command("--local-index", self.folder, "extract", "alpha")
        self.assertEqual((shell.returncode != 0, shell.stdout), (True, b""))
        self.assertIn(b"sha256", shell.stderr)

    def test_a_fault_shows_also_when_a_remote_is_configured(self):
        with Remote({"/index.json": index(entry("alpha"))}) as remote:
            self.refused(self.write("index.json", b"{"), ["$"], "--index-url", remote.url)
            self.assertEqual(remote.log, [])

    def test_every_form_of_a_good_index_serves(self):
        volume = {"sections": [section("Install", "by reference")]}
        value = index({**ALPHA, "volumes": {"1.0.0": reference("volumes/a.json", volume)}})
        plain = write_index(os.path.join(self.folder, "plain"), value, **{"volumes/a.json": volume})
        packed = os.path.join(self.folder, "packed")
        os.makedirs(os.path.join(packed, "volumes"))
        for name, content in (("index.json", value), ("volumes/a.json", volume)):
            with gzip.open(os.path.join(packed, *name.split("/")) + ".gz", "wb") as file:
                file.write(as_bytes(content))
        archives = []
        for name, prefix in (("top.zip", ""), ("data.zip", "data/")):
            archives.append(os.path.join(self.folder, name))
            with zipfile.ZipFile(archives[-1], "w") as archive:
                archive.writestr(prefix + "index.json", as_bytes(value))
                archive.writestr(prefix + "volumes/a.json", as_bytes(volume))
        for path in (plain, os.path.join(plain, "index.json"), packed, os.path.join(packed, "index.json.gz"), *archives):
            with self.subTest(path):
                done = command("--local-index", path, "extract", "alpha", "--json")
                answer = json.loads(done.stdout)
                self.assertEqual((done.returncode, answer["sections"][0]["body"], answer["source"]["kind"]), (0, "by reference", "local"))

    def test_only_the_volumes_that_are_asked_for_are_read(self):
        volume = {"sections": [section("Install", "the one")]}
        volumes = {f"1.{at}.0": reference(f"volumes/{at}.json", volume) for at in range(500)}
        files = {f"volumes/{at}.json": b"damaged" for at in range(500)}
        files["volumes/250.json"] = volume
        write_index(self.folder, index({**ALPHA, "versions": list(volumes), "volumes": volumes}), **files)
        done = command("--local-index", self.folder, "extract", "alpha@1.250.0", "--json")
        self.assertEqual(json.loads(done.stdout)["sections"][0]["body"], "the one")


class Trap:
    """While it is set, any host but 127.0.0.1 resolves to `address`, and connections to it end in a listener of its own that looks like it.

    So no test can reach a real metadata service, whatever the program does. `connections` and `received` tell what it did.
    """

    def __init__(self, address):
        self.address, self.connections, self.received = address, 0, b""
        self.listener = RawRemote(self.listen)
        self.real = socket.create_connection, socket.getaddrinfo
        trap = self

        class Disguised(socket.socket):
            def getpeername(self):
                return trap.peer(80)

        def connect(address, timeout=None, *more, **options):
            if address[0] == "127.0.0.1":
                return trap.real[0](address, timeout, *more, **options)
            trap.connections += 1
            connection = Disguised()
            connection.settimeout(5)
            connection.connect(("127.0.0.1", trap.listener.port))
            return connection

        def resolve(host, port, *more, **options):
            if host in ("127.0.0.1", b"127.0.0.1"):
                return trap.real[1](host, port, *more, **options)
            family = socket.AF_INET6 if ":" in trap.address else socket.AF_INET
            return [(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", trap.peer(port))]

        socket.create_connection, socket.getaddrinfo = connect, resolve

    def peer(self, port):
        return (self.address, port, 0, 0) if ":" in self.address else (self.address, port)

    def listen(self, connection, closing):
        self.received += read_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        socket.create_connection, socket.getaddrinfo = self.real
        self.listener.__exit__()


class Addresses(unittest.TestCase):

    # URL -> the address that it stands for
    METADATA = {
        "http://169.254.169.254/latest/meta-data/": "169.254.169.254", "http://169.254.169.254:8080/index.json": "169.254.169.254",
        "http://metadata.google.internal/": "169.254.169.254",
        "http://METADATA.google.internal./": "169.254.169.254", "http://169.254.169.254./": "169.254.169.254", "http://2852039166/": "169.254.169.254",
        "http://0xa9fea9fe/": "169.254.169.254",
        "http://[::ffff:169.254.169.254]/": "::ffff:169.254.169.254", "http://[::ffff:a9fe:a9fe]/": "::ffff:169.254.169.254",
        "http://[fd00:ec2::254]/": "fd00:ec2::254",
        "http://[fd00:ec2:0:0::254]/": "fd00:ec2::254", "http://innocent.example/": "169.254.169.254", "http://100.100.100.200/": "100.100.100.200",
    }

    def refused(self, url, trap):
        catalog = open_catalog(url, Clock())
        with self.assertRaises(doctrove.DocError) as caught:
            catalog.lookup("qqqqqqqq")
        self.assertEqual(caught.exception.code, "network")
        self.assertIn("which is refused", str(caught.exception))
        self.assertEqual(trap.received, b"", "nothing may be said to a metadata service")

    def test_a_redirect_to_a_metadata_service_is_refused_in_every_spelling(self):
        for target, address in self.METADATA.items():
            with self.subTest(target), RawRemote(redirects_to(target.encode())) as remote, Trap(address) as trap:
                self.refused(remote.url, trap)

    def test_a_url_of_a_metadata_service_is_refused_in_every_spelling(self):
        for target, address in self.METADATA.items():
            with self.subTest(target), Trap(address) as trap:
                self.refused(target, trap)

    def test_a_redirect_from_a_public_address_to_a_private_one_is_refused(self):
        for address in ("10.0.0.1", "192.168.1.1", "::ffff:10.0.0.1", "fe80::1", "127.0.0.1"):
            with self.subTest(address), Trap("93.184.216.34") as trap:
                def listen(connection, closing, trap=trap, address=address):
                    trap.received += read_request(connection)
                    trap.address = address
                    connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://inside.example/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

                trap.listener.behave = listen
                with self.assertRaises(doctrove.DocError) as caught:
                    open_catalog("http://public.example/", Clock()).lookup("qqqqqqqq")
                self.assertIn("which is refused", str(caught.exception))
                self.assertEqual(trap.received.count(b"GET "), 1)

    def test_urls_that_are_no_remote_are_refused_before_anything_is_fetched(self):
        for url in ("file:///etc/passwd", "ftp://127.0.0.1/", "127.0.0.1", "http://", "http://user:secret@127.0.0.1/", "http://127.0.0 .1/",
                    "http://127.0.0.1/\x7f", "", "javascript:1"):
            with self.subTest(url):
                done = command("--index-url", url, "lookup", "x")
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertIn(b"index-url", done.stderr)

    def test_ipv6_loopback(self):
        try:
            listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
        except OSError as error:
            self.skipTest(f"no IPv6 here: {error}")
        with listener:
            def serve():
                connection, _ = listener.accept()
                with connection:
                    whole(as_bytes(index(entry("alpha"))))(connection, None)
            thread = threading.Thread(target=serve, daemon=True)
            thread.start()
            done = command("--index-url", f"http://[::1]:{listener.getsockname()[1]}", "extract", "alpha", "--json")
            thread.join(10)
            self.assertEqual(json.loads(done.stdout)["source"]["kind"], "remote")


if __name__ == "__main__":
    unittest.main()
