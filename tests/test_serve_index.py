"""The static host as a real process on a real port."""
from __future__ import annotations

import gzip
import hashlib
import json
import os
import signal
import socket
import tempfile
import time
import unittest

from processes import PATIENCE, ROOT, Host, Reply, Server, as_bytes, command, entry, free_port, index, reference, section, write_index

VOLUME = {"summary": "by reference", "sections": [section("Install", "Install it first. " * 40)]}
INDEX = index({**entry("alpha"), "volumes": {"1.0.0": reference("volumes/alpha.json", VOLUME)}}, entry("beta", "2.0.0", summary="Grüße, 世界"))

PLAIN = index(entry("alpha"), entry("beta"))


class Static(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.outer = os.path.realpath(cls.holder.name)
        cls.folder = write_index(os.path.join(cls.outer, "served ü"), INDEX, **{
            "volumes/alpha.json": VOLUME, "notes.md": b"# Notes\n" * 100, "page.html": b"<p>hello</p>" * 100, "plain.txt": b"text\n" * 100,
            "blob.bin": bytes(1000), "empty.json": b"",
            "with space.json": b"{}", "größe.json": b'{"a":1}', ".hidden.json": b"{}", ".git/config": b"secret",
            "packed.json.gz": gzip.compress(b'{"packed": true}' * 50), "docs.zip": b"PK"})
        write_index(cls.outer, {"secret": "outside"}, **{"outside.json": b'{"secret":"outside"}'})
        cls.host = Host("serve-index", cls.folder, "0")

    @classmethod
    def tearDownClass(cls):
        cls.host.close()
        cls.holder.cleanup()

    def refused(self, reply, *statuses):
        self.assertIn(reply.status, statuses, reply.status_line)
        self.assertNotIn(b"secret", reply.body)
        self.assertNotIn(b"Traceback", reply.body)

    def test_it_listens_on_loopback_and_says_where(self):
        self.assertEqual(self.host.host, "127.0.0.1")
        self.assertGreater(self.host.port, 0)

    def test_the_index(self):
        reply = self.host.ask()
        self.assertEqual((reply.status, json.loads(reply.body)), (200, INDEX))
        self.assertEqual(reply.headers["content-type"].split(";")[0], "application/json")
        self.assertEqual(int(reply.headers["content-length"]), len(as_bytes(INDEX)))
        self.assertNotIn("content-encoding", reply.headers)

    def test_a_volume_below_and_names_that_need_encoding(self):
        self.assertEqual(json.loads(self.host.ask("/volumes/alpha.json").body), VOLUME)
        self.assertEqual(self.host.ask("/with%20space.json").body, b"{}")
        self.assertEqual(self.host.ask("/gr%C3%B6%C3%9Fe.json").body, b'{"a":1}')
        self.assertEqual(self.host.ask("/index.json?version=1").status, 200)
        self.assertEqual(self.host.ask("/empty.json").body, b"")

    def test_types(self):
        for target, wanted in (("/index.json", "application/json"), ("/notes.md", "text/markdown"), ("/page.html", "text/html"), ("/plain.txt", "text/plain"),
                               ("/blob.bin", "application/octet-stream"),
                               ("/packed.json.gz", "application/gzip"), ("/docs.zip", "application/zip")):
            with self.subTest(target):
                reply = self.host.ask(target)
                self.assertEqual((reply.status, reply.headers["content-type"].split(";")[0]), (200, wanted))
                self.assertEqual(reply.headers.get("x-content-type-options"), "nosniff")

    def test_etags_are_strong_and_follow_the_content(self):
        first, again, other = self.host.ask(), self.host.ask(), self.host.ask("/volumes/alpha.json")
        self.assertRegex(first.headers["etag"], r'^"[^"]+"$')
        self.assertEqual(first.headers["etag"], again.headers["etag"])
        self.assertNotEqual(first.headers["etag"], other.headers["etag"])
        path = os.path.join(self.folder, "changing.json")
        tags = []
        for content in (b'{"n":1}', b'{"n":2}', b'{"n":1}'):
            with open(path, "wb") as file:
                file.write(content)
            os.utime(path, (1000000 + len(tags), 1000000 + len(tags)))
            reply = self.host.ask("/changing.json")
            self.assertEqual(reply.body, content)
            tags.append(reply.headers["etag"])
        self.assertEqual(tags[0], tags[2], "the same content has the same tag, whatever its time")
        self.assertNotEqual(tags[0], tags[1])

    def test_the_packed_form_has_a_tag_of_its_own(self):
        self.assertNotEqual(self.host.ask().headers["etag"], self.host.ask(Accept_Encoding="gzip").headers["etag"])

    def test_304(self):
        tag = self.host.ask().headers["etag"]
        for given in (tag, "*", f'"other", {tag}', f'W/{tag}', f'{tag},"x"'):
            with self.subTest(given):
                reply = self.host.ask(If_None_Match=given)
                self.assertEqual((reply.status, reply.more), (304, b""))
                self.assertEqual(reply.headers["etag"], tag)
        for given in ('"other"', tag.strip('"'), ""):
            with self.subTest(given):
                self.assertEqual(self.host.ask(If_None_Match=given).status, 200)
        packed = self.host.ask(Accept_Encoding="gzip").headers["etag"]
        self.assertEqual(self.host.ask(Accept_Encoding="gzip", If_None_Match=packed).status, 304)
        self.assertEqual(self.host.ask(method="HEAD", If_None_Match=tag).status, 304)

    def test_gzip_only_when_it_is_asked_for(self):
        for given, wanted in (("gzip", True), ("gzip, deflate, br", True), ("br, GZIP", True), ("gzip;q=0.5", True), ("gzip;q=1.0", True),
                              ("gzip; q=0.001", True), ("*", True), ("identity", False),
                              ("gzip;q=0", False), ("gzip; q=0.000", False), ("gzip;q=0, *", False), ("br", False), ("", False), (None, False),
                              ("x-notgzip", False), ("*;q=0", False), ("*;q=0, gzip", True)):
            with self.subTest(given):
                reply = self.host.ask(Accept_Encoding=given)
                self.assertEqual(reply.headers.get("content-encoding"), "gzip" if wanted else None)
                self.assertEqual(json.loads(gzip.decompress(reply.body) if wanted else reply.body), INDEX)
                self.assertIn("accept-encoding", reply.headers["vary"].lower())

    def test_gzip_is_the_same_bytes_each_time(self):
        first, second = (self.host.ask("/volumes/alpha.json", Accept_Encoding="gzip") for _ in range(2))
        self.assertEqual((first.body, first.headers["etag"]), (second.body, second.headers["etag"]))
        self.assertLess(len(first.body), len(as_bytes(VOLUME)))

    def test_a_file_that_is_there_only_packed(self):
        self.assertEqual(self.host.ask("/packed.json").body, b'{"packed": true}' * 50)
        packed = self.host.ask("/packed.json", Accept_Encoding="gzip")
        self.assertEqual((packed.headers["content-encoding"], packed.headers["content-type"].split(";")[0]), ("gzip", "application/json"))
        self.assertEqual(gzip.decompress(packed.body), b'{"packed": true}' * 50)
        whole = self.host.ask("/packed.json.gz", Accept_Encoding="gzip")
        self.assertEqual((whole.headers.get("content-encoding"), gzip.decompress(whole.body)), (None, b'{"packed": true}' * 50))

    def test_head_is_get_without_the_body(self):
        for headers in ({}, {"Accept_Encoding": "gzip"}):
            get, head = self.host.ask(**headers), self.host.ask(method="HEAD", **headers)
            self.assertEqual((head.status, head.more), (200, b""))
            for name in ("content-length", "content-type", "etag", "content-encoding"):
                self.assertEqual(head.headers.get(name), get.headers.get(name), name)
        missing = self.host.ask("/nowhere.json", method="HEAD")
        self.assertEqual((missing.status, missing.more), (404, b""))

    def test_404(self):
        for target in ("/nowhere.json", "/volumes", "/volumes/", "/volumes/nowhere.json", "/index.json/", "/index.json/x", "//index.json/x"):
            with self.subTest(target):
                self.refused(self.host.ask(target), 404)

    def test_other_methods_are_405_and_say_what_is_allowed(self):
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "NONSENSE"):
            with self.subTest(method):
                reply = self.host.ask(method=method)
                self.assertEqual(reply.status, 405)
                self.assertEqual({name.strip() for name in reply.headers["allow"].split(",")}, {"GET", "HEAD"})
                self.assertNotIn(b"alpha", reply.body)

    def test_traversal_in_any_spelling(self):
        for target in ("/../outside.json", "/volumes/../../outside.json", "/%2e%2e/outside.json", "/%2E%2E%2Foutside.json", "/..%2foutside.json",
                       "/volumes/..%2f..%2foutside.json", "/..%5coutside.json",
                       "/..\\outside.json", "/%2e%2e%5coutside.json", "/....//outside.json", "/%252e%252e/outside.json", "/.%2e/outside.json",
                       "/%c0%ae%c0%ae/outside.json", "/%c0%ae./outside.json",
                       "/..;/outside.json", "/volumes/%00/../../outside.json", "/%uff0e%uff0e/outside.json", "/" + self.outer.lstrip("/") + "/outside.json",
                       "//" + self.outer.lstrip("/") + "/outside.json",
                       "/%2f" + self.outer.lstrip("/") + "/outside.json", "/file:" + self.outer + "/outside.json", "/C:/outside.json", "/./../outside.json",
                       "/volumes/.../outside.json", "../outside.json",
                       "/../served%20%C3%BC/index.json", "/volumes/./alpha.json", "outside.json", "*", "http://127.0.0.1/../outside.json"):
            with self.subTest(target):
                self.refused(self.host.ask(target), 400, 403, 404)

    def test_hidden_files(self):
        for target in ("/.hidden.json", "/.git/config", "/%2egit/config", "/.git%2fconfig", "/volumes/..", "/.", "/volumes/.x"):
            with self.subTest(target):
                self.refused(self.host.ask(target), 400, 403, 404)

    def test_malformed_percent_encoding_and_characters(self):
        for target in ("/%", "/%2", "/%zz", "/index.json%", "/index%2ejson%0", "/%ff%fe.json", "/%00index.json", "/index.json%00", "/index.json%00.md",
                       "/index%0d%0aX:1.json", "/%E4%B8", "/index.json%7f",
                       "/\xff.json"):
            with self.subTest(target):
                self.refused(self.host.ask(target), 400, 404)

    def test_links_that_lead_out(self):
        links = {"out.json": os.path.join(self.outer, "outside.json"), "outdir": self.outer, "absolute.json": os.path.abspath(os.path.join(ROOT, "LICENSE")),
                 "up.json": os.path.join("..", "outside.json")}
        try:
            for name, target in links.items():
                os.symlink(target, os.path.join(self.folder, name))
            os.symlink("loop.json", os.path.join(self.folder, "loop.json"))
            os.symlink("index.json", os.path.join(self.folder, "inside.json"))
        except OSError as error:
            self.skipTest(f"links cannot be made here: {error}")
        for target in ("/out.json", "/outdir/outside.json", "/absolute.json", "/up.json", "/loop.json"):
            with self.subTest(target):
                self.refused(self.host.ask(target), 403, 404)
        self.assertEqual(self.host.ask("/inside.json").status, 200)

    def test_what_is_no_file(self):
        if not hasattr(os, "mkfifo"):
            self.skipTest("this system has no named pipes")
        os.mkfifo(os.path.join(self.folder, "pipe.json"))
        self.refused(self.host.ask("/pipe.json"), 403, 404)

    def test_foreign_origins(self):
        for origin in ("http://evil.example", "https://evil.example:8730", "null", "http://127.0.0.1.evil.example", "http://localhost.evil.example",
                       "http://evil.example@127.0.0.1", "file://", "nonsense", "",
                       "http://evil.example/127.0.0.1"):
            with self.subTest(origin):
                self.refused(self.host.ask(Origin=origin), 403)
        for origin in ("http://localhost:3000", "http://127.0.0.1", "http://[::1]:8000", "https://LOCALHOST"):
            with self.subTest(origin):
                self.assertEqual(self.host.ask(Origin=origin).status, 200)

    def test_foreign_hosts(self):
        for host in ("evil.example", "evil.example:8730", "127.0.0.1.evil.example", "127.0.0.1@evil.example", "", "localhost.evil.example", "127.0.0.2",
                     "127.0.0.1:80:80", "127.0.0.1, evil.example"):
            with self.subTest(host):
                reply = self.host.ask(Host=host)
                self.assertTrue(400 <= reply.status < 500, reply.status_line)
        for host in (f"localhost:{self.host.port}", "LOCALHOST", "127.0.0.1", "[::1]:1"):
            with self.subTest(host):
                self.assertEqual(self.host.ask(Host=host).status, 200)

    def test_oversized_requests(self):
        self.assertIn(self.host.ask("/" + "x" * 70000).status, (400, 414))
        self.assertIn(self.host.ask(X_Long="x" * 70000).status, (400, 431))
        many = {f"X_{at}": "x" for at in range(200)}
        self.assertIn(self.host.ask(**many).status, (400, 431))
        self.assertEqual(self.host.ask().status, 200)

    def test_requests_that_are_none(self):
        for data in (b"\r\n\r\n", b"nonsense\r\n\r\n", b"GET\r\n\r\n", b"GET /index.json HTTP/9.9\r\n\r\n", b"GET /index.json HTTP/x\r\n\r\n",
                     b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"GET  /index.json\r\n\r\n",
                     b"GET /index.json HTTP/1.1\r\nHost\r\n\r\n", b"GET /index.json HTTP/1.1\r\n: x\r\n\r\n"):
            with self.subTest(data):
                with self.host.connect() as connection:
                    connection.sendall(data)
                    connection.shutdown(socket.SHUT_WR)
                    answer = b"".join(iter(lambda connection=connection: connection.recv(65536), b""))
                self.assertNotIn(b" 200 ", answer.split(b"\r\n")[0])
                self.assertNotIn(b"Traceback", answer)
        self.assertEqual(self.host.ask().status, 200)

    def test_keep_alive(self):
        with self.host.connect() as connection:
            stream = connection.makefile("rb")
            for _ in range(3):
                connection.sendall(f"GET /index.json HTTP/1.1\r\nHost: 127.0.0.1:{self.host.port}\r\n\r\n".encode())
                status = stream.readline()
                self.assertIn(b" 200 ", status)
                length = 0
                for line in iter(stream.readline, b"\r\n"):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                self.assertEqual(json.loads(stream.read(length)), INDEX)
            stream.close()

    def test_a_body_that_is_sent_along_is_not_read_as_the_next_request(self):
        smuggled = b"GET /volumes/alpha.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        for method in (b"GET", b"POST"):
            with self.subTest(method), self.host.connect() as connection:
                connection.sendall(method + b" /index.json HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n" % len(smuggled) + smuggled)
                try:
                    answer = b"".join(iter(lambda connection=connection: connection.recv(65536), b""))
                except ConnectionResetError:
                    continue  # it hung up on the unread body: that is no second answer either
                self.assertEqual(answer.count(b"HTTP/1.1 "), 1)

    def test_half_open_connections_do_not_stop_the_others(self):
        waiting = [self.host.connect() for _ in range(30)]
        try:
            for at, connection in enumerate(waiting):
                connection.sendall((b"", b"G", b"GET /index.json HTTP/1.1\r\n", b"GET /index.json HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")[at % 4])
            start = time.monotonic()
            for _ in range(5):
                self.assertEqual(self.host.ask().status, 200)
            self.assertLess(time.monotonic() - start, 5)
        finally:
            for connection in waiting:
                connection.close()

    def test_clients_that_hang_up_leave_no_trace(self):
        for _ in range(10):
            connection = self.host.connect()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            connection.sendall(b"GET /index.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            connection.close()
        self.assertEqual(self.host.ask().status, 200)
        self.assertEqual(self.host.stderr(), "")

    def test_the_reply_names_no_interpreter(self):
        self.assertNotIn("Python", self.host.ask().headers.get("server", ""))

    def test_a_server_reads_from_it_end_to_end(self):
        with Server("--index-url", self.host.url) as server:
            server.open()
            answer = server.call("doc_extract", id="alpha", focus="install")["structuredContent"]
            self.assertEqual((answer["sections"][0]["body"], answer["source"]["kind"]), (VOLUME["sections"][0]["body"], "remote"))
            self.assertEqual(server.call("doc_extract", id="beta")["structuredContent"]["version"], "2.0.0")
            self.assertEqual(server.call("doc_extract", id="zod")["structuredContent"]["source"]["kind"], "bundled")
            self.assertEqual(server.end().code, 0)

    def test_what_it_serves_is_what_the_index_promises(self):
        wanted = INDEX["entries"][0]["volumes"]["1.0.0"]["sha256"]
        for headers in ({}, {"Accept_Encoding": "gzip"}):
            body = self.host.ask("/volumes/alpha.json", **headers).body
            self.assertEqual(hashlib.sha256(gzip.decompress(body) if headers else body).hexdigest(), wanted)


class Life(unittest.TestCase):

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = os.path.realpath(holder.name)

    def host(self, *arguments, **options):
        host = Host("serve-index", *arguments, **options)
        self.addCleanup(host.close)
        return host

    @unittest.skipIf(os.name == "nt", "Windows sends these signals to a console's whole group, this test among it")
    def test_clean_stop(self):
        write_index(self.folder, PLAIN)
        for number in (signal.SIGINT, signal.SIGTERM):
            for busy in (False, True):
                with self.subTest(number, busy=busy):
                    host = self.host(self.folder, "0")
                    self.assertEqual(host.ask().status, 200)
                    waiting = host.connect()
                    if busy:
                        waiting.sendall(b"GET /index.json HTTP/1.1\r\n")
                    start = time.monotonic()
                    host.process.send_signal(number)
                    self.assertEqual(host.process.wait(PATIENCE), 0)
                    self.assertLess(time.monotonic() - start, 2)
                    self.assertEqual(host.stderr(), "")
                    waiting.close()

    def test_port_in_use(self):
        write_index(self.folder, PLAIN)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = str(listener.getsockname()[1])
            done = command("serve-index", self.folder, port)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn(port, done.stderr.decode())

    def test_no_index_to_serve(self):
        for path in (self.folder, os.path.join(self.folder, "nowhere")):
            done = command("serve-index", path, "0")
            self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, b"", 1))
            self.assertIn(b"index.json", done.stderr)

    def test_a_bad_index_is_not_served(self):
        write_index(self.folder, index(entry("alpha"), entry("alpha")))
        done = command("serve-index", self.folder, "0")
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, b"", 1))
        self.assertIn(b"$.entries[1].id", done.stderr)

    def test_bad_ports(self):
        write_index(self.folder, PLAIN)
        for port in ("x", "-1", "65536", "8730.0", "", "1e3", "999999999999"):
            with self.subTest(port):
                done = command("serve-index", "--", self.folder, port)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, b"", 1))

    def test_bad_host(self):
        write_index(self.folder, PLAIN)
        done = command("serve-index", "--host", "203.0.113.7", self.folder, "0")  # an address that no machine has
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, b"", 1))

    def test_a_port_of_ones_own_choice(self):
        write_index(self.folder, PLAIN)
        port = free_port()
        host = self.host(self.folder, str(port))
        self.assertEqual((host.port, host.ask().status), (port, 200))

    def test_the_defaults_are_data_below_the_working_directory_and_port_8730(self):
        missing = command("serve-index", cwd=self.folder)
        self.assertEqual(missing.returncode, 2)
        self.assertIn(b"data", missing.stderr)
        write_index(os.path.join(self.folder, "data"), PLAIN)
        try:
            socket.create_server(("127.0.0.1", 8730)).close()
        except OSError as error:
            self.skipTest(f"port 8730 is taken here: {error}")
        host = self.host(cwd=self.folder)
        self.assertEqual((host.host, host.port, host.ask().status), ("127.0.0.1", 8730, 200))

    def test_another_address(self):
        write_index(self.folder, PLAIN)
        host = self.host("--host", "localhost", self.folder, "0")
        self.assertEqual(host.ask().status, 200)

    def test_ipv6(self):
        write_index(self.folder, PLAIN)
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError as error:
            self.skipTest(f"no IPv6 here: {error}")
        host = self.host("--host", "::1", self.folder, "0")
        with socket.create_connection(("::1", host.port), PATIENCE) as connection:
            connection.sendall(f"GET /index.json HTTP/1.1\r\nHost: [::1]:{host.port}\r\nConnection: close\r\n\r\n".encode())
            self.assertEqual(Reply(connection.makefile("rb")).status, 200)

    def test_a_changed_file_is_served_changed(self):
        write_index(self.folder, PLAIN)
        host = self.host(self.folder, "0")
        self.assertEqual(len(json.loads(host.ask().body)["entries"]), 2)
        write_index(self.folder, index(entry("alpha"), entry("beta"), entry("gamma")))
        self.assertEqual(len(json.loads(host.ask().body)["entries"]), 3)

    def test_debug_logs_requests_and_nothing_else_does(self):
        write_index(self.folder, PLAIN)
        host = self.host("--debug", self.folder, "0")
        host.ask("/nowhere.json")
        self.assertIn("/nowhere.json", host.stderr())


if __name__ == "__main__":
    unittest.main()
