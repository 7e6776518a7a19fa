"""Documentation from URLs: what a URL may be and lead to, what an answer becomes, and crawls: where they go, what they obey, and how they are taken up."""
from __future__ import annotations

import gzip
import json
import os
import random
import socket
import subprocess
import sys
import time
import unittest
import zlib
from unittest import mock

from processes import RawRemote, Remote, clean_env, free_port, read_request, stay_silent, without_proxies
from support import ROOT, doctrove, make_folder
from test_library import tarred, zipped
from test_remote import HTTP, Trap, drips, redirects_to, replies, whole

LOOSE = {"allowPrivate": True, "pause": 0.0, "seconds": 2.0}
METADATA = (
    "http://169.254.169.254/latest/meta-data/", "http://169.254.169.254./", "http://2852039166/", "http://0xa9fea9fe/", "http://0251.0376.0251.0376/",
    "http://[::ffff:169.254.169.254]/", "http://[fd00:ec2::254]/", "http://100.100.100.200/", "http://metadata.google.internal/",
    "http://METADATA.google.internal./", "http://metadata/", "http://１６９.254.169.254/", "http://169。254。169。254/")

def setUpModule():
    without_proxies()


def page(*links, title="Page", head="", **headers):
    """The route of an HTML page with links."""
    text = f"<!doctype html><html><head><title>{title}</title>{head}</head><body><h1>{title}</h1><p>About {title}.</p>"
    text += "".join(link if link.startswith("<") else f'<a href="{link}">there</a>' for link in links)
    return 200, {"Content-Type": "text/html; charset=utf-8", **{name.replace("_", "-"): value for name, value in headers.items()}}, text.encode()


def typed(media, body, **headers):
    return 200, {"Content-Type": media, **headers}, body if isinstance(body, bytes) else body.encode()


class Case(unittest.TestCase):
    maxDiff = None

    def site(self, routes):
        remote = Remote(routes)
        self.addCleanup(remote.__exit__)
        return remote

    def raw(self, behave):
        remote = RawRemote(behave)
        self.addCleanup(remote.__exit__)
        return remote

    def refused(self, code, says, work, *given, **named):
        """The DocError that work(…) ends with."""
        with self.assertRaises(doctrove.DocError) as raised:
            work(*given, **named)
        self.assertEqual(raised.exception.code, code, str(raised.exception))
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, str(raised.exception))
        raised.exception.message("zh")
        return raised.exception

    def one(self, url, **limits):
        """The only item behind a URL."""
        collection = doctrove.open_url(url, {**LOOSE, **limits})
        self.assertEqual((len(collection.items), collection.skipped, collection.origin), (1, [], {"url": url}))
        return collection.items[0]


class Addresses(Case):
    def test_what_is_no_http_url_is_refused_before_anything_is_fetched(self):
        for url in ("", "x", "file:///etc/passwd", "ftp://127.0.0.1/", "http://", "http:///x", "javascript:1", "http://user:secret@127.0.0.1/", "http://user@h/",
                    "http://127.0.0 .1/", "http://h:99999/", "http://h:x/", "http://a..b/", "http://%31%32/", "http://h/\x7f", "//h/x", "http://[::1/",
                    "http://" + "a" * 70 + "/"):
            with self.subTest(url):
                error = self.refused("validation", "http", doctrove.open_url, url, LOOSE)
                self.assertNotIn("\x7f", str(error))
                self.refused("validation", "http", doctrove.crawl_url, url, LOOSE, state_folder=os.path.join(make_folder(self), "state"))

    def test_metadata_services_are_refused_in_every_spelling(self):
        for url in METADATA:
            with self.subTest(url), Trap("169.254.169.254") as trap:
                self.refused("network", "refused", doctrove.open_url, url, LOOSE)
                self.assertEqual((trap.connections, trap.received), (0, b""))

    def test_a_redirect_to_a_metadata_service_is_refused_in_every_spelling(self):
        for url in METADATA[:-2]:
            with self.subTest(url), RawRemote(redirects_to(url.encode())) as remote, Trap("169.254.169.254") as trap:
                self.refused("network", "refused", doctrove.open_url, remote.url, LOOSE)
                self.assertEqual((trap.connections, trap.received), (0, b""))

    def test_a_name_that_resolves_to_a_metadata_service_is_refused(self):
        for address in ("169.254.169.254", "fd00:ec2::254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "fe80::1"):
            with self.subTest(address), Trap(address) as trap:
                self.refused("network", "which is refused", doctrove.open_url, "http://innocent.example/", LOOSE)
                self.assertEqual((trap.connections, trap.received), (0, b""))

    def test_private_addresses_need_to_be_allowed(self):
        for address in ("127.0.0.2", "10.0.0.1", "192.168.1.1", "::1", "fd00::1", "::ffff:10.0.0.1"):
            with self.subTest(address), Trap(address) as trap:
                self.refused("network", "--allow-private", doctrove.open_url, "http://inside.example/", {"pause": 0.0})
                self.assertEqual((trap.connections, trap.received), (0, b""))
                self.assertEqual(len(doctrove.open_url("http://inside.example/", LOOSE).items), 1)

    def test_literal_private_addresses_are_refused_without_a_look_up(self):
        site = self.site({"/": page()})
        port = site.url.rpartition(":")[2]
        for host in ("127.0.0.1", "localhost", "127.1", "2130706433", "[::ffff:127.0.0.1]", "0x7f.1", "x.localhost"):
            with self.subTest(host):
                self.refused("network", "--allow-private", doctrove.open_url, f"http://{host}:{port}/", {"pause": 0.0})
        self.assertEqual(site.log, [])

    def test_one_private_address_among_several_is_enough_to_refuse(self):
        with Trap("93.184.216.34") as trap:
            real = socket.getaddrinfo
            socket.getaddrinfo = lambda *given, **named: [*real(*given, **named), (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", 80))]
            self.refused("network", ["--allow-private", "10.0.0.1"], doctrove.open_url, "http://both.example/", {})
            self.assertEqual((trap.connections, trap.received), (0, b""))

    def test_a_name_that_changes_between_look_up_and_connection_is_refused_before_a_byte_is_sent(self):
        for scheme in ("http", "https"):
            for address, allow in (("10.0.0.1", False), ("169.254.169.254", True)):
                with self.subTest(address, scheme=scheme), Trap(address) as trap:
                    socket.getaddrinfo = lambda *given, **named: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 80))]
                    self.refused("network", "refused", doctrove.open_url, f"{scheme}://rebound.example/", {**LOOSE, "allowPrivate": allow})
                    self.assertEqual((trap.connections, trap.received), (1, b""))

    def test_a_redirect_from_a_public_address_to_a_private_one_is_refused_also_where_private_ones_are_allowed(self):
        for limits in ({"pause": 0.0}, LOOSE):
            with Trap("93.184.216.34") as trap:
                def listen(connection, closing, trap=trap):
                    trap.received += read_request(connection)
                    trap.address = "10.0.0.1"
                    connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://inside.example/\r\nContent-Length: 0\r\n\r\n")

                trap.listener.behave = listen
                self.refused("network", "refused", doctrove.open_url, "http://public.example/", limits)
                self.assertEqual(trap.received.count(b"GET "), 1)

    def test_a_proxy_hides_no_target(self):
        proxy = self.site({})
        with mock.patch.dict(os.environ, {"http_proxy": proxy.url, "https_proxy": proxy.url}):
            for url in METADATA:
                for each in (url, url.replace("http:", "https:")):
                    with self.subTest(each):
                        self.refused("network", "refused", doctrove.open_url, each, LOOSE)
            for url in ("http://10.0.0.1/", "http://localhost/", "https://127.1/"):
                with self.subTest(url):
                    self.refused("network", "--allow-private", doctrove.open_url, url, {})
            self.assertEqual(proxy.log, [])

    def test_a_proxy_is_used_wherever_it_stands(self):
        proxy = self.site({"http://docs.example/a": page(title="Far")})
        with mock.patch.dict(os.environ, {"http_proxy": proxy.url}):
            collection = doctrove.open_url("http://docs.example/a", {})
        self.assertEqual((collection.items[0].path, collection.items[0].url), ("a.html", "http://docs.example/a"))

    def test_a_redirect_behind_a_proxy_is_judged_too(self):
        for target in (METADATA[3], "http://10.0.0.1/"):
            proxy = self.site({"http://docs.example/a": (302, {"Location": target}, b"")})
            with self.subTest(target), mock.patch.dict(os.environ, {"http_proxy": proxy.url}):
                self.refused("network", "refused", doctrove.open_url, "http://docs.example/a", {"pause": 0.0})
                self.assertEqual(len(proxy.log), 1)

    def test_redirects_are_followed_five_times(self):
        site = self.site({"/0": page()})
        for number in range(1, 8):
            site.routes[f"/{number}"] = (302, {"Location": f"/{number - 1}"}, b"")
        self.assertEqual(doctrove.open_url(site.url + "/5", LOOSE).items[0].url, site.url + "/0")
        self.refused("network", "redirects", doctrove.open_url, site.url + "/6", LOOSE)

    def test_redirects_in_circles_and_to_other_schemes(self):
        site = self.site({"/": (302, {"Location": "/"}, b""), "/file": (302, {"Location": "file:///etc/passwd"}, b""), "/none": (302, {}, b"")})
        self.refused("network", "circles", doctrove.open_url, site.url, LOOSE)
        self.refused("network", "not http", doctrove.open_url, site.url + "/file", LOOSE)
        self.refused("network", site.url, doctrove.open_url, site.url + "/none", LOOSE)


class Normal(unittest.TestCase):
    def test_spellings_of_a_url_become_one(self):
        for given, wanted in {
                "HTTP://Docs.Example:80": "http://docs.example/", "https://docs.example:443/a/./b/../c#x": "https://docs.example/a/c",
                "http://docs.example./a": "http://docs.example/a", "http://docs.example/%7euser/%2f/%e4": "http://docs.example/~user/%2F/%E4",
                "http://docs.example/é": "http://docs.example/%C3%A9", "http://bücher.example/": "http://xn--bcher-kva.example/",
                "http://docs.example/a b?q=1 2": "http://docs.example/a%20b?q=1%202", "http://docs.example/a;jsessionid=1F?x": "http://docs.example/a?x",
                "http://docs.example:8080/": "http://docs.example:8080/", "http://[2001:DB8::1]/": "http://[2001:db8::1]/", "http://x.y/a?": "http://x.y/a",
                "http://x.y//a": "http://x.y//a"}.items():
            with self.subTest(given):
                self.assertEqual(doctrove.web_url(given), wanted)
                self.assertEqual(doctrove.web_url(wanted), wanted)

    def test_links_are_seen_from_their_page(self):
        for given, wanted in {"c": "http://x.y/a/c", "../c#d": "http://x.y/c", "//z.y/c": "http://z.y/c", "?q=1": "http://x.y/a/b?q=1", "#d": "http://x.y/a/b",
                              "mailto:a@b": "", "javascript:void(0)": "", "http://u:p@x.y/": "", "http://[bad/": "", " /c\n": "http://x.y/c"}.items():
            with self.subTest(given):
                self.assertEqual(doctrove.web_url(given, "http://x.y/a/b"), wanted)

    def test_paths_are_readable(self):
        for url, media, wanted in (
                ("http://x.y/", "text/html", "index.html"), ("http://x.y/en/5x/", "text/html", "en/5x/index.html"),
                ("http://x.y/en/5x/api", "text/html", "en/5x/api.html"),
                ("http://x.y/en/5x/api.html", "text/html", "en/5x/api.html"), ("http://x.y/v5.1", "text/html", "v5.1.html"),
                ("http://x.y/spec.md", "text/html", "spec.md.html"), ("http://x.y/spec.md", "text/plain", "spec.md"),
                ("http://x.y/README", "text/plain", "README.txt"),
                ("http://x.y/api", "application/json", "api.json"), ("http://x.y/a.php?id=Foo+Bar", "text/html", "a.php-id-foo-bar.html"),
                ("http://x.y/a.html?id=1", "text/html", "a-id-1.html"), ("http://x.y/%E6%96%87", "text/html", "文.html"),
                ("http://x.y/a/%2e%2e/b%00%5cc", "", "a/b--c"),
                ("http://x.y//a//b", "", "a/b"), ("http://x.y/notebook", "application/x-ipynb+json", "notebook.ipynb"),
                ("http://x.y/o", "application/vnd.oai.openapi+json", "o.json")):
            with self.subTest(url, media=media):
                self.assertEqual(doctrove.url_path(url, media), wanted)
        self.assertLess(len(doctrove.url_path("http://x.y/" + "a" * 5000, "text/html")), 320)

    def test_names_and_versions_are_guessed_from_the_place(self):
        for url, wanted in (("https://www.docs.example/en/", ("docs-example", "unversioned")), ("https://docs.example/en/5.0/", ("docs-example", "5.0")),
                            ("http://127.0.0.1:80/v1.2.3/x", ("127-0-0-1", "1.2.3")), ("http://my-3.x.y/", ("my-3-x-y", "unversioned"))):
            with self.subTest(url):
                self.assertEqual(doctrove.guess_name(doctrove.start_collection(doctrove.site_name(url), {})), wanted)


class One(Case):
    """open_url."""

    def test_a_page_tells_where_it_came_from(self):
        site = self.site({"/old": (301, {"Location": "/en/new?id=7#x"}, b""),
                          "/en/new?id=7": page(title="New", ETag='"abc"', Content_Type="text/html; charset=KOI8-R")})
        collection = doctrove.open_url(site.url + "/old#y", LOOSE)
        item = collection.items[0]
        self.assertEqual((item.path, item.url, item.charset, item.stamp, collection.origin),
                         ("en/new-id-7.html", site.url + "/en/new?id=7", "koi8-r", '"abc"', {"url": site.url + "/old"}))
        self.assertIn(b"About New", item.read())
        self.assertEqual(item.size, len(item.read()))
        report = doctrove.import_collection(collection)
        self.assertEqual(report.volume["documents"][0]["url"], site.url + "/en/new?id=7")
        self.assertEqual(site.log[0][2]["user-agent"], f"doctrove/{doctrove.__version__}")

    def test_the_stamp_is_the_etag_else_the_date(self):
        date = "Wed, 21 Oct 2015 07:28:00 GMT"
        for headers, wanted in (({"ETag": 'W/"1"', "Last_Modified": date}, 'W/"1"'), ({"Last_Modified": date}, date), ({}, "")):
            with self.subTest(headers):
                self.assertEqual(self.one(self.site({"/": page(**headers)}).url + "/").stamp, wanted)

    def test_what_the_server_says_is_the_same_is_not_sent_again(self):
        for stamp, header in (('"1"', "if-none-match"), ("Wed, 21 Oct 2015 07:28:00 GMT", "if-modified-since")):
            def answer(handler, stamp=stamp, header=header):
                return (304, {}, b"") if handler.headers.get(header) == stamp else page(**({"ETag": stamp} if '"' in stamp else {"Last_Modified": stamp}))

            with self.subTest(stamp):
                site = self.site({"/old": (302, {"Location": "/new"}, b""), "/new": answer})
                first = doctrove.open_url(site.url + "/old", LOOSE)
                done = doctrove.import_collection(first)
                known = {document["path"]: (document, [section for section in done.volume["sections"] if section["doc"] == document["path"]])
                         for document in done.volume["documents"]}
                again = doctrove.open_url(site.url + "/old", LOOSE, {first.items[0].path: stamp})
                self.assertEqual([(item.path, item.stamp) for item in again.items], [(first.items[0].path, stamp)])
                self.assertEqual(doctrove.import_collection(again, known=known).changes, {"added": [], "changed": [], "removed": [], "unchanged": 1})

    def test_an_unrequested_304_is_no_page(self):
        site = self.site({"/": (304, {}, b"")})
        for stamps in ({}, {"index.html": "123-abc"}):
            self.refused("network", "304", doctrove.open_url, site.url, LOOSE, stamps)

    def test_kinds_of_documents(self):
        notebook = json.dumps({"cells": [], "nbformat": 4, "metadata": {}})
        for route, media, body, wanted in (
                ("/a", "text/markdown", "# A", ("a.md", "markdown")), ("/llms.txt", "text/plain", "# A\n\n> b", ("llms.txt", None)),
                ("/openapi.json", "application/json", '{"openapi": "3.0.0", "info": {"title": "T"}, "paths": {}}', ("openapi.json", "json")),
                ("/n.ipynb", "text/plain", notebook, ("n.ipynb", "notebook")), ("/a.rst", "text/plain", "A\n=\n", ("a.rst", "rst")),
                ("/b.md", "application/octet-stream", "# B", ("b.md", "markdown")), ("/c", "application/xhtml+xml", "<html><p>x", ("c.html", "html")),
                ("/d", "text/html", "<p>without any frame", ("d.html", "html"))):
            with self.subTest(route):
                item = self.one(self.site({route: typed(media, body)}).url + route)
                self.assertEqual((item.path, item.read()), (wanted[0], body.encode()))
                if wanted[1]:
                    self.assertEqual(doctrove.detect_format(item.read(), item.path), wanted[1])

    def test_a_file_of_many_pages_becomes_its_pages(self):
        text = "# One\nSource: https://docs.example/one\n\nFirst.\n\n\n# Two\nSource: https://docs.example/two\n\nSecond.\n"
        site = self.site({"/llms-full.txt": typed("text/plain", text, ETag='"f"')})
        collection = doctrove.open_url(site.url + "/llms-full.txt", LOOSE)
        self.assertEqual([(item.path, item.url, item.stamp) for item in collection.items],
                         [("one", "https://docs.example/one", '"f"'), ("two", "https://docs.example/two", '"f"')])

    def test_a_page_without_a_media_type_is_judged_by_its_content(self):
        remote = self.raw(replies(b"HTTP/1.0 200 OK\r\n\r\n<!doctype html><p>x"))
        self.assertEqual(self.one(remote.url + "/a").path, "a")

    def test_what_is_no_documentation_is_left_out_with_its_type_and_not_read(self):
        for media in ("image/png", "application/pdf", "video/mp4", "text/css", "application/javascript", "font/woff2", "application/xml"):
            with self.subTest(media):
                remote = self.raw(replies(b"HTTP/1.1 200 OK\r\nContent-Type: " + media.encode() + b"\r\nContent-Length: 99999999\r\n\r\n", then_wait=True))
                collection = doctrove.open_url(remote.url + "/x", LOOSE)
                self.assertEqual((collection.items, collection.skipped), ([], [(remote.url + "/x", f"not documentation ({media})")]))

    def test_archives_are_read_in_place(self):
        files = {"doc/a.md": "# A\n\nText.\n", "doc/b.html": "<!doctype html><h1>B</h1>"}
        packed = zipped(files)
        for route, media, headers, body, name in (
                ("/x-1.2.zip", "application/zip", {}, packed, "x-1.2"), ("/x-1.2.tar.gz", "application/gzip", {}, tarred(files), "x-1.2"),
                ("/x-1.2.whl", "application/octet-stream", {}, packed, "x-1.2"), ("/x-1.2.tgz", "application/octet-stream", {}, tarred(files), "x-1.2"),
                ("/x-1.2.tar", "application/x-tar", {}, tarred(files, "w"), "x-1.2"), ("/x/download", "application/zip", {}, packed, "download"),
                ("/main", "application/zip", {"Content-Disposition": 'attachment; filename="../y-main.zip"'}, packed, "y-main"),
                ("/x/tarball", "application/x-gzip", {}, tarred(files), "tarball"), ("/", "application/zip", {}, packed, "archive"),
                ("/x-1.2.tar.gz", "application/x-tar", {"Content-Encoding": "gzip"}, tarred(files), "x-1.2")):
            with self.subTest(route, media=media):
                site = self.site({route: typed(media, body, **headers)})
                collection = doctrove.open_url(site.url + route, LOOSE)
                self.assertEqual((collection.name, collection.origin), (name, {"url": site.url + route}))
                done = doctrove.import_collection(collection)
                self.assertEqual(sorted(document["path"] for document in done.volume["documents"]), sorted(files))

    def test_the_copy_of_an_archive_goes_when_the_collection_does(self):
        site = self.site({"/x.zip": typed("application/zip", zipped({"a.md": "# A"})), "/bad.zip": typed("application/zip", b"PK\x03\x04nonsense")})
        folder = make_folder(self)
        with mock.patch("tempfile.tempdir", folder):
            collection = doctrove.open_url(site.url + "/x.zip", LOOSE)
            self.assertEqual(len(os.listdir(folder)), 1)
            del collection
            self.assertEqual(os.listdir(folder), [])
            error = self.refused("validation", site.url + "/bad.zip", doctrove.open_url, site.url + "/bad.zip", LOOSE)
            self.assertNotIn(folder, str(error))
            self.assertEqual(os.listdir(folder), [])

    def test_a_packed_page_is_unpacked(self):
        body = b"# A\n\ntext"
        self.assertEqual(self.one(self.site({"/a.md.gz": typed("application/gzip", gzip.compress(body))}).url + "/a.md.gz").read(), body)
        self.assertEqual(self.one(self.site({"/a.md": typed("text/markdown", gzip.compress(body), **{"Content-Encoding": "gzip"})}).url + "/a.md").read(), body)

    def test_statuses_are_said_with_advice(self):
        for status, says in ((404, "browser"), (403, "browser"), (410, "browser"), (500, "later"), (204, "browser")):
            with self.subTest(status):
                site = self.site({"/": (status, {}, b"")})
                self.refused("network", [str(status), says], doctrove.open_url, site.url, LOOSE)
                self.assertEqual(len(site.log), 1)

    def test_a_busy_server_is_asked_three_times(self):
        for status in (429, 503):
            answers = [(status, {"Retry-After": "0"}, b""), (status, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, b""), page()]
            site = self.site({"/": lambda handler, answers=answers: answers.pop(0)})
            self.one(site.url + "/")
            site.routes["/"] = (status, {"Retry-After": "0"}, b"")
            self.refused("network", [str(status), "later"], doctrove.open_url, site.url, LOOSE)
            self.assertEqual(len(site.log), 6)

    def test_retry_after_is_waited_for_and_not_longer_than_the_limits(self):
        answers = [(429, {"Retry-After": "1"}, b""), page()]
        site = self.site({"/": lambda handler: answers.pop(0)})
        started = time.monotonic()
        self.one(site.url + "/")
        self.assertGreaterEqual(time.monotonic() - started, 1)
        for seconds, limits in (("3600", {}), ("9999999999", {}), ("30", {"totalSeconds": 5})):
            site.routes["/"] = (429, {"Retry-After": seconds}, b"")
            started = time.monotonic()
            self.refused("network", "429", doctrove.open_url, site.url, {**LOOSE, **limits})
            self.assertLess(time.monotonic() - started, 4)

    def test_what_cannot_be_reached(self):
        self.refused("network", "cannot be reached", doctrove.open_url, f"http://127.0.0.1:{free_port()}/", LOOSE)


class Broken(Case):
    """Answers that are damaged, endless or too slow: an error in words, within the time limit."""

    def check(self, behave, code, says=""):
        remote = self.raw(behave)
        started = time.monotonic()
        self.refused(code, says, doctrove.open_url, remote.url, {**LOOSE, "seconds": 0.7})
        self.assertLess(time.monotonic() - started, 3)

    HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

    def test_too_slow(self):
        for name, behave in {"silent": stay_silent, "body": drips(self.HTML + b"Content-Length: 100000\r\n\r\n<", b" "),
                             "endless": drips(self.HTML + b"\r\n<", b" "),
                             "headers": drips(self.HTML, b"X-Drip: 1\r\n"), "status": drips(b"", b"H"),
                             "chunks": drips(self.HTML + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n")}.items():
            with self.subTest(name):
                self.check(behave, "timeout", "0.7")

    def test_damaged(self):
        for name, (behave, says) in {
                "too short": (replies(self.HTML + b"Content-Length: 1000\r\n\r\n<p>"), "3 of 1000"), "no http": (replies(b"SSH-2.0-x\r\n"), ""),
                "nothing": (replies(b""), ""), "chunk": (replies(self.HTML + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"), ""),
                "cut chunk": (replies(self.HTML + b"Transfer-Encoding: chunked\r\n\r\n64\r\n<p>"), ""),
                "cut gzip": (whole(gzip.compress(b"<p>" * 999)[:-9], b"Content-Type: text/html", b"Content-Encoding: gzip"), "gzip"),
                "unknown encoding": (whole(b"xyz", b"Content-Encoding: br"), "br"),
                "endless header": (replies(HTTP + b"X: " + b"x" * 200000 + b"\r\n\r\n"), "")}.items():
            with self.subTest(name):
                self.check(behave, "network", says)

    def test_too_large(self):
        def endless(connection, closing):
            read_request(connection)
            connection.sendall(self.HTML + b"Transfer-Encoding: chunked\r\n\r\n")
            while True:
                connection.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")

        with mock.patch.object(doctrove, "MAX_FILE_BYTES", 1 << 20):
            self.check(endless, "network", "1048576")
            self.check(replies(self.HTML + b"Content-Length: 1048577\r\n\r\n", then_wait=True), "network", "1048576")
            self.check(whole(gzip.compress(b"x" * (1 << 21)), b"Content-Encoding: gzip"), "network", "1048576")

    def test_an_archive_may_be_larger_than_a_page_and_take_longer(self):
        data = zipped({f"{number}.md": os.urandom(1000).hex() for number in range(50)})

        def slow(connection, closing):
            read_request(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nContent-Length: %d\r\n\r\n" % len(data))
            for at in range(0, len(data), len(data) // 8):
                closing.wait(0.15)
                connection.sendall(data[at:at + len(data) // 8])

        with mock.patch.object(doctrove, "MAX_FILE_BYTES", 10000):
            collection = doctrove.open_url(self.raw(slow).url + "/x.zip", {**LOOSE, "seconds": 0.7})
        self.assertEqual(len(collection.items), 50)

    def test_the_whole_time_is_limited(self):
        site = self.site({"/": (503, {"Retry-After": "1"}, b"")})
        started = time.monotonic()
        self.refused("network", "503", doctrove.open_url, site.url, {**LOOSE, "totalSeconds": 1.5})
        self.assertLess(time.monotonic() - started, 3)

    def test_watching_may_end_it_while_a_server_keeps_silent(self):
        class Cancelled(Exception):
            pass

        remote = self.raw(stay_silent)

        def watch(done, known):
            if remote.connections:
                raise Cancelled

        with self.assertRaises(Cancelled):
            doctrove.open_url(remote.url, {**LOOSE, "seconds": 60}, watch=watch)

    def test_watching_may_end_it_while_a_busy_server_is_waited_for(self):
        class Cancelled(Exception):
            pass

        site = self.site({"/": (503, {"Retry-After": "50"}, b"")})

        def watch(done, known):
            if site.log:
                raise Cancelled

        started = time.monotonic()
        with self.assertRaises(Cancelled):
            doctrove.open_url(site.url, LOOSE, watch=watch)
        self.assertLess(time.monotonic() - started, 5)


class Crawling(Case):
    def setUp(self):
        self.state = os.path.join(make_folder(self), "crawl", "state")

    def crawl(self, url, limits=LOOSE, stamps=None, watch=doctrove.do_nothing, **most):
        collection = doctrove.crawl_url(url, limits, stamps or {}, watch, state_folder=self.state, **most)
        self.assertEqual(len({item.path for item in collection.items}), len(collection.items))
        for item in collection.items:
            if item.size:
                self.assertEqual(len(item.read()), item.size)
        doctrove.forget_crawl(self.state)
        return collection

    def taken(self, site, start="/docs/", **most):
        """(paths of the items, what was skipped: path or URL without its origin -> reason)."""
        collection = self.crawl(site.url + start, **most)
        return [item.path for item in collection.items], {url.replace(site.url, "", 1): reason for url, reason in collection.skipped}


class Reach(Crawling):
    """Where a crawl goes."""

    def test_the_folder_of_the_start_page_and_nothing_else(self):
        site = self.site({"/docs/": page("a", "b/c.html#x", "b/c.html#y", "/blog/", "http://elsewhere.example/docs/", "mailto:x@y", "/docs"),
                          "/docs/a": page("/docs/", "."), "/docs/b/c.html": page("../a", "//127.0.0.1:1/docs/"), "/blog/": page()})
        items, skipped = self.taken(site)
        self.assertEqual(items, ["docs/index.html", "docs/a.html", "docs/b/c.html"])
        self.assertEqual(skipped, {"/docs/": "4 URLs that are linked lie outside of it"})
        self.assertNotIn("/blog/", site.paths())

    def test_a_start_page_without_a_slash_stands_in_its_folder(self):
        site = self.site({"/docs/intro": page("more", "/other/x"), "/docs/more": page()})
        self.assertEqual(self.taken(site, "/docs/intro")[0], ["docs/intro.html", "docs/more.html"])

    def test_the_origin_tells_how_to_do_it_again(self):
        site = self.site({"/docs/": page()})
        collection = self.crawl(site.url + "/docs/#x", max_pages=7, max_depth=2, max_bytes=1000000)
        self.assertEqual(collection.origin, {"url": site.url + "/docs/", "crawl": {"maxPages": 7, "maxDepth": 2, "maxBytes": 1000000}})

    def test_where_the_start_page_redirects_to_is_the_limit(self):
        routes = {"/": (302, {"Location": "/en/5.0/"}, b""), "/en/5.0/": page("a", "/en/4.0/"), "/en/5.0/a": page(title="a"), "/en/4.0/": page(title="4"),
                  "/docs": (301, {"Location": "/docs/"}, b""), "/docs/": (302, {"Location": "/docs/x/intro"}, b""), "/docs/x/intro": page("/docs/y", "z"),
                  "/docs/y": page(title="y"), "/docs/x/z": page(title="z")}
        for start, wanted in (("/", ["en/5.0/index.html", "en/5.0/a.html"]), ("/docs/", ["docs/x/intro.html", "docs/y.html", "docs/x/z.html"]),
                              ("/docs", ["docs/x/intro.html", "docs/x/z.html"])):
            with self.subTest(start):
                self.assertEqual(self.taken(self.site(routes), start)[0], wanted)

    def test_a_start_page_on_another_host_moves_the_crawl_there(self):
        other = self.site({"/docs/": page("a"), "/docs/a": page(title="a"), "/robots.txt": typed("text/plain", "User-agent: *\nDisallow: /docs/b")})
        site = self.site({"/": (302, {"Location": other.url + "/docs/"}, b"")})
        collection = self.crawl(site.url + "/")
        self.assertEqual([item.url for item in collection.items], [other.url + "/docs/", other.url + "/docs/a"])
        self.assertEqual(other.paths().count("/robots.txt"), 1)

    def test_a_page_that_redirects_away_is_left_out(self):
        site = self.site({"/docs/": page("out", "same", "a"), "/docs/out": (302, {"Location": "/login"}, b""), "/login": page(), "/docs/a": page(title="a"),
                          "/docs/same": (302, {"Location": "/docs/a"}, b"")})
        items, skipped = self.taken(site)
        self.assertEqual((items, skipped), (["docs/index.html", "docs/a.html"], {"/docs/out": "redirected out of what is crawled"}))

    def test_base_frames_refresh_and_links_in_the_head_lead_on(self):
        site = self.site({
            "/docs/": page('<iframe src="f"></iframe>', "<area href='g'>", "<a href=h>", "<a\nclass='x > y' HREF = \"i&amp;.html\">",
                           head='<base href="/docs/in/"><link rel="next" href="n"><meta http-equiv="refresh" content="0; url=\'r\'">'
                                '<link rel="stylesheet" href="s">')})
        self.taken(site)
        self.assertEqual(site.paths()[1:], ["/docs/", "/sitemap.xml", "/docs/sitemap.xml",
                                            *(f"/docs/in/{name}" for name in ("n", "r", "f", "g", "h", "i&.html"))])

    def test_comments_and_scripts_have_no_links(self):
        site = self.site({"/docs/": page("<!--<a href=1>-->", "<!--><a href=yes>", "<script>'<a href=2>'</script>",
                                         "<style><a href=3></style>", "<!-- <a href=4>")})
        self.taken(site)
        self.assertEqual([path for path in site.paths() if path.startswith("/docs/")], ["/docs/", "/docs/sitemap.xml", "/docs/yes"])

    def test_hostile_markup_takes_linear_time(self):
        answer = doctrove.Answer("http://x.y/", 200, "text/html")
        for text in ("<a ", "<a href='", '<a "', "<a =", "<!--", "<script>", "<a " + "x" * 1000000, "<a x" + " " * 1000000, "<a x=" + " " * 1000000,
                     "<a " + '"' * 1000000, "<meta http-equiv=refresh content='" + " " * 1000000 + "'>", "<a href=x ", "</", "<a href=&", "<a href=?",
                     "<a href=//:"):
            with self.subTest(text[:40]):
                answer.data = (text * (1000000 // len(text))).encode()
                started = time.process_time()
                doctrove.PageLinks(answer)
                self.assertLess(time.process_time() - started, 3)

    def test_markdown_and_llms_txt_lead_on(self):
        site = self.site({"/llms.txt": typed("text/plain", "# X\n\n- [A](/docs/a.md): about\n- [B](docs/b)\n\n[c]: docs/c.md\n<{}/docs/d>"),
                          "/docs/a.md": typed("text/markdown", "# A\n\n[e](e.md \"title\")"), "/docs/b": page(title="b"),
                          "/docs/c.md": typed("text/plain", "# C"),
                          "/docs/e.md": typed("text/markdown", "# E")})
        self.assertEqual(self.taken(site, "/llms.txt")[0], ["llms.txt", "docs/a.md", "docs/b.html", "docs/c.md", "docs/e.md"])

    def test_assets_are_not_asked_for(self):
        site = self.site({"/docs/": page("a.png", "b.css", "c.PDF", "d.tar.gz", "x.js?v=1", "_static/d.html", "e", "_modules/f.html"),
                          "/docs/e": typed("image/png", b"x")})
        items, skipped = self.taken(site)
        self.assertEqual(items, ["docs/index.html"])
        self.assertEqual(skipped, {
            "/docs/a.png": "not documentation (.png)", "/docs/b.css": "not documentation (.css)", "/docs/c.PDF": "not documentation (.pdf)",
            "/docs/d.tar.gz": "not documentation (.gz)", "/docs/x.js": "not documentation (.js)", "/docs/e": "not documentation (image/png)",
            **dict.fromkeys(("/docs/_static/d.html", "/docs/_modules/f.html"), "in a folder that a generator puts beside its pages")})
        self.assertEqual([path for path in site.paths() if path.startswith("/docs/")], ["/docs/", "/docs/sitemap.xml", "/docs/e"])

    def test_lists_of_pages_are_followed_and_not_taken(self):
        site = self.site({"/docs/": page("genindex.html"), "/docs/genindex.html": page("a.html"), "/docs/a.html": page(title="a")})
        self.assertEqual(self.taken(site), (["docs/index.html", "docs/a.html"], {"/docs/genindex.html": "a list of pages"}))

    def test_the_inventory_of_a_sphinx_site_names_what_is_on_its_pages(self):
        inventory = (b"# Sphinx inventory version 2\n# Project: Thing\n# Version: 4.2\n# The remainder of this file is compressed using zlib.\n"
                     + zlib.compress(b"thing.run py:function 1 api.html#$ -\n"))
        site = self.site({"/docs/": page("api.html", head='<script src="_static/documentation_options.js"></script>'),
                          "/docs/api.html": page('<dl class="py function"><dt class="sig" id="thing.run">run()</dt><dd>Runs.</dd></dl>', title="API"),
                          "/docs/objects.inv": typed("application/octet-stream", inventory)})
        collection = doctrove.crawl_url(site.url + "/docs/", LOOSE, state_folder=self.state)
        self.assertEqual(([item.path for item in collection.items], collection.skipped), (["docs/index.html", "docs/api.html"], []))
        report = doctrove.import_collection(collection).report
        self.assertEqual([(row["names"], row["placed"], row["missing"]) for row in report["names"]], [(1, 1, 0)])
        self.assertEqual(doctrove.guess_name(collection), ("thing", "4.2"))

    def test_queries_are_kept_where_they_name_a_page(self):
        site = self.site({"/docs/": page("v?page=2", "v?theme=dark", "v?id=1&sort=up"), "/docs/v": page(title="v"), "/docs/v?page=2": page(title="v2")})
        self.assertEqual(self.taken(site)[0], ["docs/index.html", "docs/v-page-2.html", "docs/v.html"])
        site = self.site({"/docs/?x=1": page("?x=2"), "/docs/?x=2": page(title="2")})
        self.assertEqual(self.taken(site, "/docs/?x=1")[0], ["docs/index-x-1.html", "docs/index-x-2.html"])

    def test_a_canonical_link_makes_two_spellings_one_page(self):
        def head(href):
            return f'<link rel="canonical" href="{href}">'

        site = self.site({"/docs/": page("a", "a/", "a/index.html", "b", "c?page=1"), "/docs/b": page(title="b", head=head("/docs/")),
                          "/docs/c?page=1": page(title="c", head=head("http://elsewhere.example/docs/c")),
                          **{f"/docs/{name}": page(title=f"a from {name}", head=head("/docs/a/")) for name in ("a", "a/", "a/index.html")}})
        collection = self.crawl(site.url + "/docs/")
        self.assertEqual([item.url.replace(site.url, "") for item in collection.items], ["/docs/", "/docs/a/", "/docs/b", "/docs/c?page=1"],
                         "one that names another page altogether is not believed")

    def test_the_same_content_is_taken_once_and_not_followed(self):
        site = self.site({"/docs/": page(title="start")})

        class Everywhere(dict):
            def get(self, path, default=None):
                return page("deeper/") if path.startswith("/docs/") and "sitemap" not in path else (404, {}, b"")

        site.routes = Everywhere()
        items, skipped = self.taken(site)
        self.assertEqual((items, skipped), (["docs/index.html"], {"/docs/deeper/": "the same content as another page"}))

    def test_paths_are_unique(self):
        site = self.site({"/docs/": page("a", "a.html", "c/", "c/index.html"),
                          **{f"/docs/{name}": page(title=name) for name in ("a", "a.html", "c/", "c/index.html")}})
        items, _ = self.taken(site)
        self.assertEqual(len(set(items)), 5)
        self.assertEqual([path for path in items if len(path) < 20], ["docs/index.html", "docs/a.html", "docs/c/index.html"])


class Sitemaps(Crawling):
    def sitemap(self, *urls, kind="url"):
        outer = {"url": "urlset", "sitemap": "sitemapindex"}[kind]
        return (f'<?xml version="1.0" encoding="UTF-8"?><{outer} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
                + "".join(f"<{kind}><loc> {url} </loc><priority>1</priority></{kind}>" for url in urls) + f"</{outer}>").encode()

    def test_pages_of_sitemaps_are_taken_where_they_are_in_the_folder(self):
        site = self.site({"/docs/": page("z"), **{f"/docs/{name}": page(title=name) for name in "abcdez"}})
        url = site.url
        site.routes.update({
            "/robots.txt": typed("text/plain", f"Sitemap: {url}/maps/index.xml\nsitemap: /maps/list.txt\nSitemap: http://elsewhere.example/s.xml"),
            "/maps/index.xml": typed("application/xml", self.sitemap(f"{url}/maps/1.xml.gz", f"{url}/maps/index.xml", kind="sitemap")),
            "/maps/1.xml.gz": typed("application/gzip", gzip.compress(self.sitemap(f"{url}/docs/a", f"{url}/blog/", "nonsense"))),
            "/maps/list.txt": typed("text/plain", f"{url}/docs/b\n{url}/docs/c\n"),
            "/sitemap.xml": typed("text/xml", self.sitemap(f"{url}/docs/d&amp;x=1")), "/docs/d&x=1": page(title="d"),
            "/docs/sitemap.xml": typed("text/xml", self.sitemap(f"{url}/docs/e"))})
        items, skipped = self.taken(site)
        self.assertEqual(set(items), {"docs/index.html", *(f"docs/{name}.html" for name in ("z", "a", "b", "c", "d&x=1", "e"))})
        self.assertEqual(items[1], "docs/z.html", "links of the start page come first")
        self.assertEqual(skipped, {"http://elsewhere.example/s.xml": "a sitemap on another host", "/docs/": "1 URLs that are linked lie outside of it"})

    def test_a_document_type_is_refused_and_entities_do_not_grow(self):
        bomb = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "' + b"x" * 1000 + b'">' + b"".join(
            b'<!ENTITY %c "%s">' % (98 + at, b"&%c;" % (97 + at) * 100) for at in range(8)) + b"]><urlset><url><loc>&i;</loc></url></urlset>"
        for data in (bomb, bomb.decode().replace("?>", ' encoding="UTF-16"?>', 1).encode("utf-16"), gzip.compress(bomb)):
            with self.subTest(data[:20]), self.assertRaisesRegex(ValueError, "document type"):
                doctrove.read_sitemap(data, "http://x.y/sitemap.xml")

    def test_what_is_no_sitemap_is_named_and_stops_nothing(self):
        for body, says in ((b"<urlset><url>", "no sitemap that can be read"), (b"\x1f\x8bnonsense", "no sitemap that can be read")):
            site = self.site({"/docs/": page(), "/sitemap.xml": typed("text/xml", body)})
            items, skipped = self.taken(site)
            self.assertEqual(items, ["docs/index.html"])
            self.assertIn(says, skipped["/sitemap.xml"])

    def test_a_site_that_answers_everything_with_a_page_has_no_sitemap(self):
        site = self.site({"/docs/": page(), "/sitemap.xml": page(title="not found"), "/docs/sitemap.xml": page(title="not found")})
        self.assertEqual(self.taken(site), (["docs/index.html"], {}))

    def test_sitemaps_without_end_are_limited(self):
        site = self.site({"/docs/": page()})

        class Endless(dict):
            def get(self, path, default=None):
                number = int("0" + "".join(filter(str.isdigit, path)))
                return (typed("text/xml", Sitemaps.sitemap(None, f"{site.url}/s{number + 1}.xml", kind="sitemap")) if path.endswith("xml") else
                        page() if path == "/docs/" else (404, {}, b""))

        site.routes = Endless()
        _, skipped = self.taken(site)
        self.assertEqual(sum(path.endswith("xml") for path in site.paths()), doctrove.SITEMAPS)
        self.assertIn(f"more than {doctrove.SITEMAPS} sitemaps", skipped.values())


class Manners(Crawling):
    """What a crawl obeys."""

    def test_robots_txt_is_kept(self):
        robots = "User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /docs/private\nAllow: /docs/private/open\n"
        site = self.site({"/docs/": page("private", "private/open", "private/x", "moved", "a"), "/robots.txt": typed("text/plain", robots),
                          "/docs/private/open": page(title="o"), "/docs/a": page(title="a"), "/docs/moved": (302, {"Location": "/docs/private/y"}, b""),
                          "/docs/private/y": page(title="y")})
        items, skipped = self.taken(site)
        self.assertEqual(items, ["docs/index.html", "docs/private/open.html", "docs/a.html"])
        self.assertEqual(skipped, {"/docs/private": "disallowed by robots.txt", "/docs/private/x": "disallowed by robots.txt",
                                   "/docs/moved": "redirected to what robots.txt disallows"})
        self.assertEqual(site.paths()[0], "/robots.txt")
        self.assertNotIn("/docs/private/x", site.paths())

    def test_rules_of_robots_txt(self):
        for text, path, allowed in (
                ("", "/a", True), ("User-agent: *\nDisallow:", "/a", True), ("User-agent: *\nDisallow: /", "/a", False),
                ("User-agent: x\nDisallow: /", "/a", True),
                ("User-agent: *\nDisallow: /\nUser-agent: doctrove\nDisallow: /b", "/a", True), ("User-agent: Doctrove/1.0\nDisallow: /", "/a", False),
                ("User-agent: a\nUser-agent: *\n\nDisallow: /a", "/a", False), ("User-agent: *\nDisallow: /\nAllow: /a", "/a/b", True),
                ("User-agent: *\nAllow: /a\nDisallow: /a", "/a", True), ("User-agent: *\nDisallow: /*.php$", "/x/a.php", False),
                ("User-agent: *\nDisallow: /*.php$", "/x/a.php?x", True), ("User-agent: *\nDisallow: /a*c*e", "/abcde", False),
                ("User-agent: *\nDisallow: /a$", "/ab", True), ("User-agent: *\nDisallow: /a$", "/a", False), ("User-agent: *\nDisallow: *x*y$", "/xy", False),
                ("User-agent: *\nDisallow: /%7eu/\u00e9", "/~u/%C3%A9", False), ("user-AGENT : * # all\nDISALLOW : /a # b", "/a", False),
                ("User-agent: *\nDisallow: /?", "/?page=1", False), ("Disallow: /", "/a", True), ("<html>nonsense</html>\n:::\n", "/a", True),
                ("\nUser-agent: doctrove\n\nUser-agent: *\nDisallow: /", "/a", False)):
            with self.subTest(text, path=path):
                self.assertIs(doctrove.Robots(text).allows("http://x.y" + path), allowed)

    def test_hostile_rules_take_no_time(self):
        robots = doctrove.Robots("User-agent: *\n" + f"Disallow: /{'a*' * 500}b\n" * 50)
        started = time.process_time()
        self.assertTrue(robots.allows("http://x.y/" + "a" * 2000))
        self.assertLess(time.process_time() - started, 2)

    def test_a_start_page_that_robots_txt_disallows_is_refused_in_words(self):
        site = self.site({"/docs/": page(), "/robots.txt": typed("text/plain", "User-agent: *\nDisallow: /docs/")})
        self.refused("validation", "robots.txt", self.crawl, site.url + "/docs/")
        self.assertEqual(site.paths(), ["/robots.txt"])

    def test_a_robots_txt_that_is_not_there_allows_and_one_that_fails_does_not(self):
        for status, allowed in ((404, True), (403, True), (401, True), (500, False), (503, False)):
            site = self.site({"/docs/": page(), "/robots.txt": (status, {"Retry-After": "0"}, b"User-agent: *\nDisallow: /")})
            with self.subTest(status):
                if allowed:
                    self.assertEqual(self.taken(site)[0], ["docs/index.html"])
                else:
                    self.refused("network", [str(status), "robots.txt"], self.crawl, site.url + "/docs/")
                    self.assertNotIn("/docs/", site.paths())

    def test_noindex_and_nofollow(self):
        def meta(content, name="robots"):
            return f'<meta name="{name}" content="{content}">'

        site = self.site({"/docs/": page("noindex", "nofollow", "none", "header", "foreign", "ours", '<a rel="ugc NoFollow" href="rel">'),
                          "/docs/noindex": page("by-noindex", title="1", head=meta("NOINDEX, follow")),
                          "/docs/nofollow": page("by-nofollow", title="2", head=meta("index,nofollow")),
                          "/docs/none": page("by-none", title="3", head=meta("none", "doctrove")),
                          "/docs/header": page("by-header", title="4", X_Robots_Tag="noindex, nofollow"),
                          "/docs/foreign": page(title="5", head=meta("noindex", "googlebot"), X_Robots_Tag="googlebot: noindex"),
                          "/docs/ours": page(title="6", X_Robots_Tag="doctrove: noindex"), "/docs/by-noindex": page(title="7")})
        items, skipped = self.taken(site)
        self.assertEqual(items, ["docs/index.html", "docs/nofollow.html", "docs/foreign.html", "docs/by-noindex.html"])
        self.assertEqual(skipped, dict.fromkeys(("/docs/noindex", "/docs/none", "/docs/header", "/docs/ours"), "noindex"))
        self.assertFalse({"/docs/rel", "/docs/by-nofollow", "/docs/by-none", "/docs/by-header"}.intersection(site.paths()))

    def test_requests_keep_their_distance_and_follow_one_another(self):
        busy, most = [0], [0]

        def answer(handler):
            busy[0] += 1
            most[0] = max(most[0], busy[0])
            time.sleep(0.02)
            busy[0] -= 1
            return page("a", "b", "c", title=handler.path)

        site = self.site({f"/docs/{name}": answer for name in ("", "a", "b", "c")})
        started = time.monotonic()
        self.crawl(site.url + "/docs/", {**LOOSE, "pause": 0.15})
        self.assertGreaterEqual(time.monotonic() - started, 6 * 0.15)
        self.assertEqual((len(site.log), most), (7, [1]))

    def test_crawl_delay_is_kept_up_to_a_cap(self):
        for text, wanted in (("0.3", 0.3), ("2", 2), ("86400", doctrove.CRAWL_DELAY), ("-1", 0), ("x", 0), ("9" * 400, 0), ("nan", 0)):
            with self.subTest(text):
                self.assertEqual(doctrove.Robots(f"User-agent: *\nCrawl-delay: {text}").delay, wanted)
        site = self.site({"/docs/": page(), "/robots.txt": typed("text/plain", "User-agent: *\nCrawl-delay: 0.3")})
        started = time.monotonic()
        self.taken(site)
        self.assertGreater(time.monotonic() - started, 0.55, "between one page and two sitemaps")

    def test_pages_that_fail_are_named(self):
        def silent(handler):
            time.sleep(1)

        def hang_up(handler):
            handler.connection.shutdown(socket.SHUT_RDWR)

        site = self.site({"/docs/": page("gone", "slow", "a", "closed", "cut"), "/docs/slow": silent, "/docs/a": page(title="a"), "/docs/closed": hang_up,
                          "/docs/cut": (200, {"Content-Type": "text/html", "Content-Length": "99", "Connection": "close"}, b"<p>")})
        collection = self.crawl(site.url + "/docs/", {**LOOSE, "seconds": 0.5})
        self.assertEqual([item.path for item in collection.items], ["docs/index.html", "docs/a.html"])
        reasons = {url.rpartition("/")[2]: reason for url, reason in collection.skipped}
        self.assertEqual((reasons["gone"], reasons["slow"]), ("HTTP status 404", "no answer within 0.5 s"))
        self.assertIn("cannot be reached", reasons["closed"])
        self.assertRegex(reasons["cut"], "damaged|no answer")

    def test_a_server_that_is_gone_ends_the_crawl_which_goes_on_later(self):
        site = self.site({"/docs/": page(*(f"p{number}" for number in range(12)))})
        for number in range(12):
            site.routes[f"/docs/p{number}"] = page(title=str(number))
        broken = {f"/docs/p{number}": (500, {}, b"") for number in range(3, 12)}
        whole_site = dict(site.routes)
        site.routes.update(broken)
        self.refused("network", ["4 pages", "HTTP status 500", "goes on"], self.crawl, site.url + "/docs/")
        site.routes, site.log = whole_site, []
        self.assertEqual(len(self.taken(site)[0]), 13)
        self.assertEqual([path for path in site.paths() if "p" in path[6:] and "sitemap" not in path], [f"/docs/p{number}" for number in range(3, 12)])

    def test_a_start_page_that_fails_is_an_error(self):
        self.refused("network", "404", self.crawl, self.site({}).url + "/docs/")
        self.refused("network", "cannot be reached", self.crawl, f"http://127.0.0.1:{free_port()}/docs/")


class Limits(Crawling):
    def many(self, count=30):
        site = self.site({"/docs/": page(*(f"p{number}" for number in range(count)))})
        for number in range(count):
            site.routes[f"/docs/p{number}"] = page(title=str(number))
        return site

    def test_pages(self):
        items, skipped = self.taken(self.many(), max_pages=10)
        self.assertEqual(items, ["docs/index.html", *(f"docs/p{number}.html" for number in range(9))])
        self.assertEqual(skipped, {f"/docs/p{number}": "over the limit of 10 pages" for number in range(9, 30)})

    def test_requests_that_bring_no_page(self):
        site = self.site({"/docs/": page(*(f"p{number}" for number in range(100)))})
        items, skipped = self.taken(site, max_pages=10)
        self.assertEqual((len(items), len(site.log), len(skipped)), (1, 40, 100))
        self.assertEqual(set(skipped.values()), {"HTTP status 404", "over the limit of 40 requests"})

    def test_depth(self):
        site = self.site({f"/docs/{number or ''}": page(str(number + 1), title=str(number)) for number in range(10)})
        items, skipped = self.taken(site, max_depth=3)
        self.assertEqual((len(items), skipped), (4, {"/docs/4": "deeper than 3 links"}))

    def test_bytes(self):
        site = self.many()
        size = len(site.routes["/docs/"][2]) + 3 * len(site.routes["/docs/p1"][2]) + 60  # and the sitemaps that are not there
        items, skipped = self.taken(site, max_bytes=size)
        self.assertEqual((len(items), len(skipped)), (4, 27))
        self.assertEqual(set(skipped.values()), {f"over the limit of {size} bytes"})

    def test_time(self):
        def slow(handler):
            time.sleep(0.1)
            return page(title=handler.path)

        site = self.many()
        site.routes.update({path: slow for path in site.routes if path != "/docs/"})
        collection = self.crawl(site.url + "/docs/", {**LOOSE, "totalSeconds": 0.55})
        self.assertEqual(len(collection.items) + sum("sitemap" not in url for url, _ in collection.skipped), 31)
        self.assertIn("over the time limit of 0.55 s", {reason for _, reason in collection.skipped})

    def test_a_calendar_without_end(self):
        site = self.site({})

        class Calendar(dict):
            def get(self, path, default=None):
                number = int("0" + "".join(filter(str.isdigit, path)))
                return page(f"{number + 1}/", f"/docs/m{number + 1}", title=str(number)) if path.startswith("/docs/") and "site" not in path else (404, {}, b"")

        site.routes = Calendar()
        items, skipped = self.taken(site, max_pages=50, max_depth=1000)
        self.assertEqual(len(items), 50)
        self.assertTrue(skipped)

    def test_urls_that_grow_and_links_without_number(self):
        site = self.site({"/docs/": page("x" * 3000, "a"), "/docs/a": page(*(f"b{number}.png" for number in range(300)), title="a")})
        with mock.patch.object(doctrove, "KNOWN_URLS", 100):
            collection = self.crawl(site.url + "/docs/")
        reasons = [reason for _, reason in collection.skipped]
        self.assertIn("longer than 2000 characters", reasons)
        self.assertEqual(reasons[-1], "203 links to more than 100 URLs were not followed")

    def test_every_url_that_was_found_is_counted(self):
        site = self.many()
        site.routes["/docs/"] = page("a.png", "gone", "/other", *(f"p{number}" for number in range(30)))
        for most in ({}, {"max_pages": 5}, {"max_depth": 0}):
            with self.subTest(most):
                items, skipped = self.taken(site, **most)
                outside = skipped.pop("/docs/")
                self.assertEqual((len(items) + len(skipped), outside[:6]), (33, "1 URLs"))


class Again(Crawling):
    """Crawls that end early, and refreshing."""

    def many(self, count=12):
        site = self.site({"/docs/": page(*(f"p{number}" for number in range(count)), "old", "gone"), "/docs/old": (301, {"Location": "/docs/p0"}, b"")})
        for number in range(count):
            site.routes[f"/docs/p{number}"] = page(title=str(number), ETag=f'"{number}"')
        return site

    def described(self, collection):
        return [(item.path, item.url, item.stamp, item.charset, item.read()) for item in collection.items], collection.skipped

    def test_pages_that_several_processes_read_keep_their_address_and_character_set(self):
        text = "Привет. " * 12000
        site = self.site({"/docs/": page(*(f"p{number}" for number in range(30)))})
        for number in range(30):
            site.routes[f"/docs/p{number}"] = typed("text/html; charset=koi8-r", f"<h1>P {number}</h1><p>{text} <a href=p1>one</a>".encode("koi8-r"))
        collection = doctrove.crawl_url(site.url + "/docs/", LOOSE, state_folder=self.state)
        self.assertGreater(sum(item.size for item in collection.items), doctrove.SHARED_BYTES)
        volume = doctrove.import_collection(collection).volume
        self.assertEqual([document["url"] for document in volume["documents"]], [item.url for item in collection.items])
        for section in list(volume["sections"])[1:]:
            self.assertTrue(section["path"].startswith(site.url + "/docs/p"), section["path"])
            self.assertIn("Привет. Привет.", section["body"])
            self.assertIn(f"[one]({site.url}/docs/p1)", section["body"])

    def test_watching_counts_pages_and_may_end_it(self):
        class Cancelled(Exception):
            pass

        site, seen = self.many(), []

        def watch(done, known):
            seen.append((done, known))
            if done == 5:
                raise Cancelled

        with self.assertRaises(Cancelled):
            self.crawl(site.url + "/docs/", watch=watch)
        self.assertEqual(seen[0], (0, 1))
        self.assertIn((4, 15), seen)
        self.assertEqual(sorted(seen), seen)
        site.log = []
        self.assertEqual(len(self.taken(site)[0]), 13)
        self.assertEqual(sum(path.startswith("/docs/p") for path in site.paths()), 12 - 4 + 1, "and one by a redirect")

    def test_a_crawl_that_is_done_is_not_asked_for_twice_until_it_is_forgotten(self):
        site = self.many()
        first = doctrove.crawl_url(site.url + "/docs/", LOOSE, state_folder=self.state)
        before, log = self.described(first), len(site.log)
        self.assertEqual(self.described(doctrove.crawl_url(site.url + "/docs/", LOOSE, state_folder=self.state)), before)
        self.assertEqual(len(site.log), log)
        doctrove.forget_crawl(self.state)
        self.assertEqual(os.listdir(os.path.dirname(os.path.dirname(self.state))), [])
        with self.assertRaises(doctrove.DocError):
            first.items[0].read()
        self.assertEqual(self.described(doctrove.crawl_url(site.url + "/docs/", LOOSE, state_folder=self.state)), before)
        self.assertGreater(len(site.log), log)

    def test_only_what_a_crawl_has_written_is_removed(self):
        site = self.many()
        doctrove.crawl_url(site.url + "/docs/", LOOSE, state_folder=self.state)
        for name in ("notes.txt", "0" * 64 + ".99.tmp"):
            with open(os.path.join(self.state, name), "wb"):
                pass
        doctrove.forget_crawl(self.state)
        doctrove.forget_crawl(self.state)
        self.assertEqual(os.listdir(self.state), ["notes.txt"])

    def test_higher_limits_go_on_from_there(self):
        site = self.many()
        doctrove.crawl_url(site.url + "/docs/", LOOSE, state_folder=self.state, max_pages=5)
        site.log = []
        self.assertEqual(len(self.taken(site)[0]), 13)
        self.assertNotIn("/docs/", site.paths())

    def test_state_that_is_old_of_another_crawl_or_damaged_is_not_used(self):
        site = self.many()

        def again(change):
            doctrove.crawl_url(site.url + "/docs/", LOOSE, state_folder=self.state)
            change()
            site.log = []
            collection = doctrove.crawl_url(site.url + "/docs/", LOOSE, state_folder=self.state)
            self.assertEqual(len(collection.items), 13)
            for item in collection.items:
                item.read()
            return sum(path.startswith("/docs/p") for path in site.paths())

        journal = os.path.join(self.state, "journal.jsonl")

        def rewrite(change):
            with open(journal, "rb") as file:
                data = file.read()
            with open(journal, "wb") as file:
                file.write(change(data))

        def damage(name, data):
            with open(os.path.join(self.state, name), "wb") as file:
                file.write(data)

        bodies = [name for name in os.listdir(self.state) if len(name) == 64] if os.path.isdir(self.state) else []
        self.assertEqual(bodies, [])
        self.assertEqual(again(lambda: None), 0)
        bodies = sorted(name for name in os.listdir(self.state) if len(name) == 64)
        self.assertEqual(again(lambda: rewrite(lambda data: data.replace(b'"started": ', b'"started": 1'))), 13, "from the future")
        self.assertEqual(again(lambda: rewrite(lambda data: data.replace(b'"started": 1', b'"started": '))), 13, "too old")
        self.assertEqual(again(lambda: rewrite(lambda data: data.replace(b'"crawl"', b'"other"'))), 13)
        self.assertEqual(again(lambda: rewrite(lambda data: data[:-30])), 0, "the last line is of /docs/gone")
        self.assertEqual(again(lambda: rewrite(lambda data: b"\0" * len(data))), 13)
        self.assertEqual(again(lambda: rewrite(lambda data: b"")), 13)
        self.assertLessEqual(again(lambda: damage(bodies[0], b"x")), 1)
        self.assertLessEqual(again(lambda: os.remove(os.path.join(self.state, bodies[1]))), 1)

    def test_a_state_folder_that_cannot_be_written_is_said(self):
        site = self.many()
        blocked = os.path.join(make_folder(self), "file")
        with open(blocked, "wb"):
            pass
        self.refused("internal", "cannot be written", doctrove.crawl_url, site.url + "/docs/", LOOSE, state_folder=os.path.join(blocked, "crawl", "x"))
        with mock.patch("os.replace", side_effect=OSError(28, "No space left on device")):
            self.refused("internal", "No space", self.crawl, site.url + "/docs/")

    def test_the_folder_of_a_crawl_stands_in_the_library_and_is_that_of_its_url(self):
        root = make_folder(self)
        one = doctrove.crawl_folder(root, "http://x.y/docs/")
        self.assertEqual(os.path.dirname(one), os.path.join(root, "crawl"))
        self.assertEqual(one, doctrove.crawl_folder(root, "HTTP://x.y:80/docs/#a"))
        self.assertNotEqual(one, doctrove.crawl_folder(root, "http://x.y/docs"))

    def test_only_files_without_links_are_asked_for_on_condition(self):
        def text(handler):
            return (304, {}, b"") if handler.headers.get("if-none-match") == '"t"' else typed("text/plain", "Text.", ETag='"t"')

        site = self.site({"/docs/": page("a.txt", "b", ETag='"i"'), "/docs/a.txt": text, "/docs/b": page(title="b", ETag='"b"')})
        collection = self.crawl(site.url + "/docs/", stamps={"docs/index.html": '"i"', "docs/a.txt": '"t"', "docs/b.html": '"b"'})
        self.assertEqual([(item.path, item.stamp, item.size > 0) for item in collection.items],
                         [("docs/index.html", '"i"', True), ("docs/a.txt", '"t"', False), ("docs/b.html", '"b"', True)])

    def test_what_cannot_be_reached_now_is_not_taken_for_removed(self):
        site = self.many(6)
        first = doctrove.import_collection(doctrove.crawl_url(site.url + "/docs/", LOOSE, state_folder=self.state)).volume
        doctrove.forget_crawl(self.state)
        known = {document["path"]: (document, [section for section in first["sections"] if section["doc"] == document["path"]])
                 for document in first["documents"]}
        site.routes.update({"/docs/p1": (500, {}, b""), "/docs/p2": (404, {}, b""), "/docs/p3": (429, {"Retry-After": "9999"}, b""),
                            "/docs/p4": page(title="another")})
        again = doctrove.import_collection(doctrove.crawl_url(site.url + "/docs/", LOOSE, state_folder=self.state), known=known)
        self.assertEqual(again.changes, {"added": [], "changed": ["docs/p4.html"], "removed": ["docs/p2.html"], "unchanged": 5})
        self.assertEqual(sorted(document["path"] for document in again.volume["documents"]), sorted(known.keys() - {"docs/p2.html"}))
        ids = [section["id"] for section in again.volume["sections"]]
        self.assertEqual((len(ids), len(set(ids))), (6, 6))
        doctrove.forget_crawl(self.state)
        site.routes["/docs/p2"] = page(title="2")
        limited = doctrove.crawl_url(site.url + "/docs/", LOOSE, state_folder=self.state, max_pages=3)
        self.assertEqual(doctrove.import_collection(limited, known=known).changes["removed"], [])

    def test_a_kill_at_any_moment_costs_the_page_in_hand(self):
        count = 40

        def answer(handler):
            time.sleep(0.002)
            return page(*(f"p{number}" for number in range(count)), title=handler.path)

        site = self.site({f"/docs/{name}": answer for name in ("", *(f"p{number}" for number in range(count)))})
        code = ("import sys; sys.path.insert(0, sys.argv[1]); import doctrove\n"
                "doctrove.crawl_url(sys.argv[2], {'allowPrivate': True, 'pause': 0.0}, state_folder=sys.argv[3])")
        arguments = [sys.executable, "-c", code, ROOT, site.url + "/docs/", self.state]
        env = clean_env(PYTHONPYCACHEPREFIX=make_folder(self))
        subprocess.run([sys.executable, "-c", code.partition("\n")[0], ROOT], env=env, check=True)  # compiles it once for all
        moments, killed = random.Random(5), 0
        for turn in range(3):
            doctrove.forget_crawl(self.state)
            site.log = []
            for _ in range(5):
                goal = len(site.log) + moments.randrange(12)
                process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
                deadline = time.monotonic() + 20
                while process.poll() is None and len(site.log) < goal and time.monotonic() < deadline:
                    time.sleep(0.0005)
                time.sleep(moments.random() * 0.01)
                process.kill()
                killed += process.wait() != 0
            collection = doctrove.crawl_url(site.url + "/docs/", LOOSE, state_folder=self.state)
            self.assertEqual((len(collection.items), collection.skipped), (count + 1, []), turn)
            for item in collection.items:
                self.assertIn(f"About {item.url.replace(site.url, '')}.".encode(), item.read())
            self.assertLessEqual(len(site.log), count + 4 + 5, "a page that was there was asked for again")
        self.assertGreater(killed, 8)


if __name__ == "__main__":
    unittest.main()
