"""Collections beyond plain folders: files of many pages, bundles and docsets, and the names that indexes give to sections."""
from __future__ import annotations

import html
import io
import json
import os
import plistlib
import re
import sys
import tarfile
import tempfile
import time
import unittest
import zipfile
import zlib
from unittest import mock

from support import doctrove, load_cases, make_folder, put, whole

try:
    import sqlite3
except ImportError:
    sqlite3 = None  # type: ignore[assignment]

needs_sqlite = unittest.skipIf(sqlite3 is None, "this Python has no sqlite3")
PAGE = ('<!doctype html><html><head><title>os</title></head><body><main><section id="module-os"><span id="os-label"></span><h1>os</h1><p>Text.</p>'
        '<p id="para">A paragraph.</p><dl class="py function"><dt class="sig sig-object py" id="os.getcwd">os.getcwd()</dt><dd><p>The folder.</p>'
        '<p><a name="inside"></a>More.</p></dd></dl></section></main></body></html>')


def inventory(rows, version=2):
    head = f"# Sphinx inventory version {version}\n# Project: Python\n# Version: 3.11\n"
    text = "".join(row + "\n" for row in rows)
    if version == 1:
        return (head + text).encode("utf-8")
    return (head + "# The remainder of this file is compressed using zlib.\n").encode("utf-8") + zlib.compress(text.encode("utf-8"))


def database(statements):
    """The bytes of a SQLite file; each statement may be followed by its rows of values."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made.db")
        connection = sqlite3.connect(path)
        for statement, rows in statements:
            connection.executemany(statement, rows) if rows else connection.execute(statement)
        connection.commit()
        connection.close()
        with open(path, "rb") as file:
            return file.read()


def search_index(rows):
    return database([("CREATE TABLE searchIndex(id INTEGER PRIMARY KEY, name TEXT, type TEXT, path TEXT)", ()),
                     ("INSERT INTO searchIndex(name, type, path) VALUES (?, ?, ?)", rows)])


def docset(index, pages=None, name="Python", extra=None):
    base = f"{name}.docset/Contents/"
    return {base + "Info.plist": plistlib.dumps({"CFBundleName": name, "isDashDocset": True}), base + "Resources/docSet.dsidx": index,
            **{f"{base}Resources/Documents/{path}": text for path, text in (pages or {"library/os.html": PAGE}).items()}, **(extra or {})}


def devdocs(pages, entries, meta=None):
    return {"db.json": json.dumps(pages), "index.json": json.dumps({"entries": entries, "types": []}),
            **({"meta.json": json.dumps(meta)} if meta else {})}


class Case(unittest.TestCase):
    maxDiff = None

    def imported(self, files):
        return self.imported_from(put(os.path.join(make_folder(self), "html"), files))

    def imported_from(self, path):
        """What came of importing it; the volume must be a valid one whose sections add up."""
        self.collection = doctrove.open_collection(path)
        done = doctrove.import_collection(self.collection)
        done.volume = whole(done.volume)
        doctrove.check_volume(json.loads(json.dumps(done.volume)), "the volume", "$")
        self.assertEqual(len(done.volume["sections"]), sum(document["sections"] for document in done.volume["documents"]))
        return done

    def names(self, done):
        """path -> names of the sections that have some."""
        return {record["path"]: record["names"] for record in done.volume["sections"] if "names" in record}

    def row(self, done):
        self.assertEqual(len(done.report["names"]), 1)
        row = done.report["names"][0]
        self.assertEqual(row["names"], row["placed"] + row["near"] + row["missing"])
        return row

    def reasons(self, done):
        return {row["path"]: row["reason"] for row in done.report["skippedFiles"]}


class LlmsTexts(Case):

    def test_an_overview_is_markdown_as_it_is(self):
        done = self.imported({"llms.txt": "# Zod\n\n> Schema validation.\n\n## Docs\n\n- [Basics](https://zod.dev/basics): the start\n"})
        self.assertEqual([(document["path"], document["format"], document["title"]) for document in done.volume["documents"]],
                         [("llms.txt", "markdown", "Zod")])
        self.assertIn("[Basics](https://zod.dev/basics)", done.volume["sections"][1]["body"])

    def test_a_text_of_this_name_without_a_title_is_plain_text(self):
        done = self.imported({"llms.txt": "Just words.\n"})
        self.assertEqual(done.volume["documents"][0]["format"], "text")

    def test_pages_are_cut_where_each_generator_begins_them(self):
        for case in load_cases("llms_full"):
            with self.subTest(case["name"]):
                pages = doctrove.split_llms("\n".join(case["text"]))
                self.assertEqual([list(page[:2]) for page in pages], [page[:2] for page in case["pages"]])
                for (_, _, text), (_, _, *lines) in zip(pages, case["pages"]):
                    self.assertEqual(text.strip(), "\n".join(lines))

    def test_no_line_of_text_is_lost(self):
        for case in load_cases("llms_full"):
            together = "\n".join(text for _, _, text in doctrove.split_llms("\n".join(case["text"])))
            for word in ("alpha", "beta", "gamma", "delta"):
                with self.subTest(case["name"], word=word):
                    self.assertEqual(together.count(word), "\n".join(case["text"]).count(word))

    def test_each_page_is_a_document_that_traces_to_its_address(self):
        done = self.imported({"llms-full.txt": "# Start\nSource: https://x.dev/docs/start\n\nHello.\n\n## Install\n\nRun it.\n\n"
                                               "# Use\nSource: https://x.dev/docs/use\n\nWords.\n"})
        self.assertEqual([(document["path"], document["title"], document["url"]) for document in done.volume["documents"]],
                         [("docs/start", "Start", "https://x.dev/docs/start"), ("docs/use", "Use", "https://x.dev/docs/use")])
        self.assertEqual([(record["id"], record["path"], record["body"]) for record in done.volume["sections"]],
                         [("docs/start", "https://x.dev/docs/start#start", "Hello."), ("docs/start/install", "https://x.dev/docs/start#install", "Run it."),
                          ("docs/use", "https://x.dev/docs/use#use", "Words.")])

    def test_addresses_are_absolute_against_that_of_the_file(self):
        collection = doctrove.Collection("x")
        data = b"---\nurl: /guide/a.md\n---\n\n# A\n\nText.\n\n---\nurl: /guide/b.md\n---\n\n# B\n\nText.\n"
        collection.items.append(doctrove.Item("llms-full.txt", len(data), lambda: data, url="https://x.dev/llms-full.txt"))
        doctrove.unfold(collection)
        self.assertEqual([(item.path, item.url) for item in collection.items],
                         [("guide/a.md", "https://x.dev/guide/a.md"), ("guide/b.md", "https://x.dev/guide/b.md")])

    def test_unfolding_twice_changes_nothing(self):
        files = {"llms-full.txt": "Lead.\n\n# A\nSource: /a\n\nx\n", **devdocs({"os": "<h1>os</h1>"}, [])}
        collection = doctrove.open_collection(put(make_folder(self), files))
        before = [(item.path, item.format) for item in collection.items], list(collection.indexes), list(collection.skipped)
        doctrove.unfold(collection)
        self.assertEqual(([(item.path, item.format) for item in collection.items], collection.indexes, collection.skipped), before)
        self.assertEqual([path for path, _ in before[0]], ["llms-full", "a", "os"])

    def test_a_file_without_borders_is_one_page(self):
        done = self.imported({"llms-full.txt": "# One\n\nText.\n\n---\n\n# Two\n\nText.\n"})
        self.assertEqual([(document["path"], document["format"]) for document in done.volume["documents"]], [("llms-full.txt", "markdown")])

    def test_the_same_page_twice_is_told_and_another_one_at_the_same_address_is_kept(self):
        page = "# A\nSource: https://x.dev/a\n\n{}\n\n"
        done = self.imported({"llms-full.txt": page.format("one") + page.format("one") + page.format("two"), "b.md": "# B\n\nText.\n"})
        self.assertEqual([document["path"] for document in done.volume["documents"]], ["b.md", "a", "a-2"])
        self.assertEqual(self.reasons(done), {"llms-full.txt: https://x.dev/a": "there twice"})

    def test_a_page_that_is_also_a_file_is_told(self):
        done = self.imported({"llms-full.txt": "---\nurl: /b.md\n---\n# B\n\nText.\n", "b.md": "# B\n\nText.\n"})
        self.assertEqual(([document["path"] for document in done.volume["documents"]], self.reasons(done)),
                         (["b.md"], {"llms-full.txt: /b.md": "there twice: as a file of its own"}))

    def test_addresses_lead_nowhere(self):
        done = self.imported({"llms-full.txt": "# A\nSource: ../../../etc/passwd\n\nx\n\n# B\nSource: /\n\ny\n\n# C\nSource: http://[\n\nz\n"})
        self.assertEqual([document["path"] for document in done.volume["documents"]], ["etc/passwd", "b", "c"])

    def test_hostile_text_takes_no_longer_than_its_length(self):
        for sign in ("# a\nSource: ", "---\n", "---\nurl: x\n", "```\n", "```a\n", "<doc ", "<page>\n", "</a>", "# a (", " ", "`", "-", "<!-- source:",
                     "</doc>", "<source></source>", "---\na: b\n"):
            with self.subTest(sign):
                text, started = sign * (1000000 // len(sign)), time.process_time()
                doctrove.split_llms(text)
                self.assertLess(time.process_time() - started, 10)


class DevDocs(Case):

    PAGES = {"library/os": PAGE.partition("<main>")[2].partition("</main>")[0], "library/os.path": "<h1>os.path</h1><p>Paths.</p>"}
    ENTRIES = [{"name": "os", "path": "library/os", "type": "OS"}, {"name": "os.getcwd()", "path": "library/os#os.getcwd", "type": "OS"},
               {"name": "os.path", "path": "library/os.path", "type": "OS"}, {"name": "gone", "path": "library/gone#gone", "type": "OS"}]
    META = {"name": "Python", "slug": "python~3.11", "version": "3.11", "release": "3.11.9"}

    def test_each_page_is_a_document_and_each_entry_a_name(self):
        done = self.imported(devdocs(self.PAGES, self.ENTRIES, self.META))
        self.assertEqual({document["path"]: document["title"] for document in done.volume["documents"]}, {"library/os": "os", "library/os.path": "os.path"})
        self.assertEqual([record["id"] for record in done.volume["sections"]], ["library/os", "os.getcwd", "library/os.path"])
        self.assertEqual(self.names(done), {"library/os#module-os": ["os"], "library/os#os.getcwd": ["os.getcwd()"], "library/os.path": ["os.path"]})
        row = self.row(done)
        self.assertEqual((row["placed"], row["near"], row["missing"], row["examples"]), (3, 0, 1, ["gone (library/gone#gone)"]))
        self.assertEqual(doctrove.guess_name(self.collection), ("python", "3.11.9"))

    def test_a_bundle_in_an_archive(self):
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            for path, content in devdocs(self.PAGES, self.ENTRIES).items():
                archive.writestr("python/" + path, content)
        done = self.imported_from(os.path.join(put(make_folder(self), {"x.zip": made.getvalue()}), "x.zip"))
        self.assertEqual([document["path"] for document in done.volume["documents"]], ["python/library/os", "python/library/os.path"])
        self.assertEqual(self.row(done)["placed"], 3)

    def test_a_page_without_a_heading_has_the_title_that_the_index_gives(self):
        done = self.imported(devdocs({"a": "<p>Words.</p>"}, [{"name": "Alpha", "path": "a"}]))
        self.assertEqual(done.volume["documents"][0]["title"], "Alpha")

    def test_what_is_broken_costs_what_stands_behind_it_and_is_told(self):
        whole = json.dumps(self.PAGES)
        done = self.imported({**devdocs(self.PAGES, self.ENTRIES), "db.json": whole[:-20]})
        self.assertEqual([document["path"] for document in done.volume["documents"]], ["library/os"])
        self.assertIn("broken after 1 pages", self.reasons(done)["db.json"])

    def test_a_broken_index_costs_the_names_alone(self):
        for text in ('{"entries": [', '{"entries": 5}', "[]", "", '{"entries": [1, {"name": "x"}, {"name": 1, "path": 2}]}', "[" * 100000):
            with self.subTest(text[:40]):
                done = self.imported({**devdocs(self.PAGES, []), "index.json": text})
                self.assertEqual(len(done.volume["documents"]), 2)
                self.assertIn("index.json", self.reasons(done))

    def test_files_of_these_names_that_are_no_bundle(self):
        for content in ('{"users": [{"name": "x"}]}', "[]", "{}", '{"a": 1}', "", "not JSON", '{"a"', '{"a": "b" "c"}', "{" * 100000):
            with self.subTest(content[:20]):
                done = self.imported({"db.json": content, "index.json": '{"entries": []}', "a.md": "# A\n\nText.\n"})
                self.assertIn("a.md", [document["path"] for document in done.volume["documents"]])
                self.assertIn("db.json", self.reasons(done))

    def test_paths_lead_nowhere(self):
        done = self.imported(devdocs({"../../etc/passwd": "<p>x</p>", "a/../../b": "<p>x</p>", "": "<p>x</p>", "/abs": "<p>x</p>", "ok": "<p>y</p>"},
                                     [{"name": "x", "path": "../ok"}, {"name": "y", "path": "/etc/passwd"}, {"name": "z", "path": "https://x.dev/ok"}]))
        self.assertEqual([document["path"] for document in done.volume["documents"]], ["abs", "ok"])
        self.assertEqual(self.row(done)["missing"], 3)
        self.assertEqual(sorted(self.reasons(done)), ["db.json: ", "db.json: ../../etc/passwd", "db.json: a/../../b"])

    def test_a_page_twice_is_told(self):
        done = self.imported({**devdocs({}, []), "db.json": '{"a": "<p>one</p>", "a": "<p>two</p>"}'})
        self.assertEqual((len(done.volume["documents"]), self.reasons(done)), (1, {"db.json: a": "there twice"}))

    def test_too_large_a_bundle_is_told(self):
        folder = put(make_folder(self), devdocs(self.PAGES, []))
        with open(os.path.join(folder, "db.json"), "ab") as file:
            file.truncate(300 * 1024 * 1024)
        self.assertIn("larger than 128 MiB", self.reasons(self.imported_from(folder))["db.json"])

    def test_what_did_not_change_is_not_read_again_and_a_new_index_changes_names(self):
        folder = put(make_folder(self), devdocs(self.PAGES, self.ENTRIES))
        first = self.imported_from(folder)
        known = {document["path"]: (document, [record for record in first.volume["sections"] if record["doc"] == document["path"]])
                 for document in first.volume["documents"]}
        again = doctrove.import_collection(doctrove.open_collection(folder), known=known)
        self.assertEqual(again.changes, {"added": [], "changed": [], "removed": [], "unchanged": 2})
        self.assertEqual(self.names(again), self.names(first))
        put(folder, {"index.json": json.dumps({"entries": [*self.ENTRIES, {"name": "paths", "path": "library/os.path"}], "types": []})})
        third = doctrove.import_collection(doctrove.open_collection(folder), known=known)
        self.assertEqual(third.changes, {"added": [], "changed": ["library/os.path"], "removed": [], "unchanged": 1})
        self.assertEqual(self.names(third)["library/os.path"], ["os.path", "paths"])


@needs_sqlite
class Docsets(Case):

    ROWS = [("os", "Module", "library/os.html"), ("getcwd", "Function", "<dash_entry_name=getcwd><dash_entry_menuDescription=os>library/os.html#os.getcwd"),
            ("para", "Section", "library/os.html#//apple_ref/cpp/Section/para"), ("gone", "Function", "library/gone.html#x")]

    def test_a_folder_that_holds_a_docset(self):
        done = self.imported(docset(search_index(self.ROWS)))
        self.assertEqual([document["path"] for document in done.volume["documents"]], ["library/os.html"])
        self.assertEqual(self.names(done), {"library/os.html#module-os": ["os", "para"], "library/os.html#os.getcwd": ["getcwd"]})
        row = self.row(done)
        self.assertEqual((row["placed"], row["near"], row["missing"]), (2, 1, 1))
        self.assertEqual(doctrove.guess_name(self.collection), ("python", "unversioned"))

    def test_the_docset_itself_and_an_archive_of_it(self):
        files = docset(search_index(self.ROWS), extra={"Python.docset/meta.json": json.dumps({"name": "Python", "version": "3.11.4/2"})})
        folder, made = put(make_folder(self), files), io.BytesIO()
        with tarfile.open(fileobj=made, mode="w:gz") as archive:
            archive.add(os.path.join(folder, "Python.docset"), "Python.docset")
        put(folder, {"Python.tgz": made.getvalue()})
        for name in ("Python.docset", "Python.tgz"):
            with self.subTest(name):
                done = self.imported_from(os.path.join(folder, name))
                self.assertEqual([document["path"] for document in done.volume["documents"]], ["library/os.html"])
                self.assertEqual(self.row(done)["placed"], 2)
                self.assertEqual(doctrove.guess_name(self.collection), ("python", "3.11.4"))

    def test_anchors_are_decoded(self):
        page = '<!doctype html><main><h1>T</h1><a name="//apple_ref/cpp/Method/a%20b" class="dashAnchor"></a><h2 id="ab">a b</h2><p>x</p></main>'
        for place in ("t.html#//apple_ref/cpp/Method/a%20b", "t.html#//apple_ref/cpp/Method/a b", "t.html#ab", "./x/../t.html#ab"):
            with self.subTest(place):
                done = self.imported(docset(search_index([("the name", "Method", place)]), {"t.html": page}))
                self.assertEqual(self.names(done), {"t.html#ab": ["the name"]})
                self.assertEqual(self.row(done)["placed"], 1)

    def test_the_schema_of_core_data(self):
        index = database([
            ("CREATE TABLE ZTOKEN(Z_PK INTEGER, ZTOKENNAME TEXT, ZTOKENTYPE INTEGER, ZMETAINFORMATION INTEGER)", ()),
            ("CREATE TABLE ZTOKENMETAINFORMATION(Z_PK INTEGER, ZANCHOR TEXT, ZFILE INTEGER)", ()), ("CREATE TABLE ZFILEPATH(Z_PK INTEGER, ZPATH TEXT)", ()),
            ("INSERT INTO ZTOKEN VALUES (?, ?, ?, ?)", [(1, "os", 1, 1), (2, "getcwd", 1, 2)]),
            ("INSERT INTO ZTOKENMETAINFORMATION VALUES (?, ?, ?)", [(1, None, 1), (2, "os.getcwd", 1)]),
            ("INSERT INTO ZFILEPATH VALUES (1, 'library/os.html')", ())])
        done = self.imported(docset(index))
        self.assertEqual(self.names(done), {"library/os.html#module-os": ["os"], "library/os.html#os.getcwd": ["getcwd"]})

    def test_two_docsets_keep_their_folders(self):
        done = self.imported({**docset(search_index(self.ROWS), name="A"), **docset(search_index(self.ROWS), name="B")})
        self.assertEqual([document["path"] for document in done.volume["documents"]],
                         [f"{name}.docset/Contents/Resources/Documents/library/os.html" for name in "AB"])
        self.assertEqual([row["placed"] for row in done.report["names"]], [2, 2])

    def test_an_index_that_cannot_be_read_costs_the_names_alone(self):
        endless = [("CREATE VIEW searchIndex AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS name, x AS path FROM n", ())]
        other = [("CREATE TABLE searchIndex(other TEXT)", ())]
        for label, index in (("text", b"not a database"), ("empty", b""), ("cut", search_index(self.ROWS)[:100]),
                             ("noise", b"SQLite format 3\0" + b"\xff" * 5000),
                             ("no table", database([("CREATE TABLE x(y)", ())])), ("a view", database(endless)), ("other columns", database(other))):
            with self.subTest(label):
                done = self.imported(docset(index))
                self.assertEqual((len(done.volume["documents"]), done.report["names"]), (1, []))
                self.assertTrue(self.reasons(done)["Python.docset/Contents/Resources/docSet.dsidx"])

    def test_a_query_without_end_is_stopped(self):
        index = database([("CREATE TABLE searchIndex(name TEXT, path TEXT)", ()),
                          ("INSERT INTO searchIndex VALUES (?, ?)", [("n", "library/os.html")] * 60000)])
        with mock.patch.object(doctrove, "MAX_QUERY_STEPS", 0):
            done = self.imported(docset(index))
        self.assertIn("interrupted", self.reasons(done)["Python.docset/Contents/Resources/docSet.dsidx"])

    def test_values_that_are_no_texts_are_left_out(self):
        index = search_index([(1, "x", 2), (None, None, None), (b"\xff", "x", b"y"), ("os", "Module", "library/os.html")])
        self.assertEqual(self.row(self.imported(docset(index)))["placed"], 1)

    def test_no_file_stays_behind(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(tempfile, "tempdir", folder):
            for data in (search_index(self.ROWS), b"SQLite format 3\0"):
                try:
                    doctrove.read_docset_index(data)
                except ValueError:
                    pass
            self.assertEqual(os.listdir(folder), [])

    def test_what_is_not_read_of_a_docset_is_named(self):
        base = "Python.docset/Contents/Resources/"
        extra = {base + "tarix.tgz": b"x", base + "tarixIndex.db": b"x", base + "optimizedIndex.dsidx": b"x"}
        done = self.imported(docset(search_index(self.ROWS), extra=extra))
        reasons = self.reasons(done)
        self.assertIn("Tarix", reasons[base + "tarix.tgz"])
        self.assertIn("optimised", reasons[base + "optimizedIndex.dsidx"])
        self.assertEqual(self.row(done)["placed"], 2)


class WithoutSqlite(Case):
    def test_pages_are_imported_alone_and_it_is_said(self):
        with mock.patch.dict(sys.modules, {"sqlite3": None}):
            done = self.imported(docset(b"SQLite format 3\0"))
        self.assertEqual(len(done.volume["documents"]), 1)
        self.assertIn("no sqlite3", str(self.reasons(done)))


class Inventories(Case):

    ROWS = ["os py:module 0 library/os.html#module-$ -", "os.getcwd py:function 1 library/os.html#$ -",
            "os-label std:label -1 library/os.html#os-label The os module",
            "library/os std:doc -1 library/os.html os", "a paragraph std:term -1 library/os.html#para -", "inner std:label -1 library/os.html#inside Inner",
            "unknown anchor std:label -1 library/os.html#nowhere -", "gone py:function 1 library/gone.html#$ -",
            "getcwd.path c:functionParam 1 library/os.html#os.getcwd -"]

    def test_each_object_names_the_section_at_its_anchor(self):
        done = self.imported({"objects.inv": inventory(self.ROWS), "library/os.html": PAGE})
        self.assertEqual(self.names(done), {"library/os.html#module-os": ["os", "os-label", "a paragraph", "unknown anchor"],
                                            "library/os.html#os.getcwd": ["inner"]})
        row = self.row(done)
        self.assertEqual({name: row[name] for name in ("path", "format", "names", "placed", "near", "missing", "examples")}, {
            "path": "objects.inv", "format": "objects.inv", "names": 8, "placed": 4, "near": 3, "missing": 1,
            "examples": ["gone (library/gone.html#gone)"]})
        self.assertEqual(self.reasons(done), {})
        self.assertEqual(doctrove.guess_name(self.collection), ("python", "3.11"))

    def test_version_1(self):
        rows = ["os mod library/os.html", "os.getcwd function library/os.html", "x", "a b c d"]
        done = self.imported({"objects.inv": inventory(rows, 1), "library/os.html": PAGE})
        self.assertEqual((self.row(done)["placed"], self.row(done)["missing"]), (2, 1))

    def test_pages_below_the_inventory_and_pages_that_are_folders(self):
        page = "<!doctype html><main><h1 id='t'>T</h1><p>x</p></main>"
        done = self.imported({"docs/objects.inv": inventory(["one std:doc -1 guide/ One", "two std:label -1 guide/#t Two", "three std:doc -1 other.html T"]),
                              "docs/guide/index.html": page, "docs/other.html": page, "other.html": page})
        self.assertEqual(self.names(done), {"docs/guide/index.html#t": ["one", "two"], "docs/other.html#t": ["three"]})

    def test_what_can_be_read_of_a_damaged_one_is_used_and_the_rest_told(self):
        rows = [*self.ROWS, *(f"name{number} py:function 1 library/os.html#os.getcwd {zlib.crc32(b'%d' % number)}" for number in range(3000))]
        whole = inventory(rows)
        damaged = whole[:len(whole) // 2] + b"\xff" * 100 + whole[len(whole) // 2 + 100:]
        for label, data in (("cut", whole[:len(whole) // 2]), ("damaged", damaged)):
            with self.subTest(label):
                done = self.imported({"objects.inv": data, "library/os.html": PAGE})
                self.assertGreater(self.row(done)["placed"], 100)
                self.assertLess(self.row(done)["names"], 3000)
                self.assertIn("names of it are read", self.reasons(done)["objects.inv"])

    def test_what_is_no_inventory_is_told(self):
        for data in (b"", b"words", b"# Sphinx inventory version 2\n", b"# Sphinx inventory version 3\nx\ny\nzlib\nz", b"\0\xff" * 100):
            with self.subTest(data[:40]):
                done = self.imported({"objects.inv": data, "library/os.html": PAGE})
                self.assertEqual((len(done.volume["documents"]), done.report["names"]), (1, []))
                self.assertIn("no Sphinx inventory", self.reasons(done)["objects.inv"])

    def test_a_bomb_is_unpacked_up_to_the_limit(self):
        with mock.patch.object(doctrove, "MAX_INVENTORY_BYTES", 10000):
            done = self.imported({"objects.inv": inventory([*self.ROWS, "x" * 50000000]), "library/os.html": PAGE})
        self.assertIn("unpacked", self.reasons(done)["objects.inv"])
        self.assertEqual(self.row(done)["placed"], 4)

    def test_hostile_names_take_no_longer_than_their_length(self):
        for row in ("a " * 500000, "a:b " * 250000, ": 1 " * 250000, "x py:f 1 " * 100000, "\n" * 1000000, "a b:c 1 $ -\n" * 80000):
            with self.subTest(row[:12]):
                started = time.process_time()
                doctrove.read_inventory(inventory([row]))
                self.assertLess(time.process_time() - started, 10)

    def test_hostile_pages_take_no_longer_than_their_length(self):
        for sign in ("<", "<a ", "<a id=x>", "<a id='", "id=", "<p>", " ", "a", '<a id="k"><a id=u>', "<a name=", "=" , "<>"):
            with self.subTest(sign):
                started = time.process_time()
                doctrove.anchors_around(sign * (1000000 // len(sign)), {"k": 1})
                self.assertLess(time.process_time() - started, 10)

    def test_a_name_is_found_by_a_question_and_by_its_id(self):
        rows = ["asyncio.TaskGroup py:class 1 tasks.html#anchor-1 -"]
        page = ('<!doctype html><main><h1 id="t">Tasks</h1><p>x</p><h2 id="anchor-1">A group</h2><p>Waits.</p><h2 id="anchor-2">Another</h2>'
                '<p>See asyncio.TaskGroup for more.</p></main>')
        volume = doctrove.Volume(self.imported({"objects.inv": inventory(rows), "tasks.html": page}).volume)
        self.assertEqual(volume.sections[volume.ranker().rank("asyncio.TaskGroup", 1)[1][0][0]].id, "tasks/anchor-1")
        self.assertEqual(volume.sections[volume.find("asyncio.TaskGroup")].id, "tasks/anchor-1")
        self.assertIsNone(volume.find("asyncio"))

    def test_a_volume_whose_names_are_no_texts_is_refused(self):
        for names in ("x", [1], {"a": 1}, None, 5):
            with self.subTest(names=names), self.assertRaises(doctrove.DocError):
                doctrove.check_volume({"sections": [{"id": "a", "names": names}]}, "x", "$")

    def test_the_report_is_shown(self):
        row = {"path": "objects.inv", "format": "objects.inv", "names": 8, "placed": 4, "near": 3, "missing": 1, "examples": []}
        report = {"repo": "x", "version": "1", "documents": 1, "sections": 2, "seconds": 1, "root": "/r", "skipped": 0, "addressesModel": 0, "names": [row],
                  "documentsBeside": 0}
        self.assertIn("objects.inv: 8 names, 4 at their section", doctrove.render_import(report, "en"))
        self.assertIn("8 个名称", doctrove.render_import(report, "zh"))


class Libraries(Case):
    """What was unfolded goes into a library, is found there by its names and holds against its source."""

    def test_pages_of_bundles_are_verified_against_the_file_that_holds_them(self):
        bundle = {f"bundle/{path}": text for path, text in devdocs(DevDocs.PAGES, DevDocs.ENTRIES).items()}
        files = {"llms-full.txt": "Lead.\n\n# A\nSource: /a\n\nx\n", **bundle}
        folder, root = put(make_folder(self), files), os.path.join(make_folder(self), "library")
        doctrove.import_source(folder, "python", "3.11", root)
        catalog = doctrove.Catalog(doctrove.load_settings({"root": [root]}, {}))
        answer = catalog.extract("python", "3.11", "#os.getcwd()", 1, 7000)
        self.assertEqual([section["id"] for section in answer["sections"]], ["os.getcwd"])
        library = doctrove.Library(root)
        volume = doctrove.Volume(library.volume(library.find("python"), "3.11"))
        paths = [document["path"] for document in volume.documents]
        self.assertEqual(paths, ["llms-full", "a", "bundle/library/os", "bundle/library/os.path"])
        self.assertEqual(doctrove.source_states(volume, paths), dict.fromkeys(paths, "match"))


def sphinx_folders():
    places = os.environ.get("DOCTROVE_SPHINX_DOCS", "").split(os.pathsep)
    return [place for place in places if os.path.isfile(os.path.join(place, "objects.inv"))]


class RealDocumentation(Case):

    @unittest.skipUnless(sphinx_folders(), "DOCTROVE_SPHINX_DOCS names no folder with an objects.inv")
    def test_what_an_inventory_names_and_a_page_defines_is_a_section_of_that_name(self):
        for folder in sphinx_folders():
            done = self.imported_from(folder)
            known = {(record["path"], name) for record in done.volume["sections"] for name in (record["id"], *record.get("names", ()))}
            defined = {}
            for item in self.collection.items:
                for anchor in re.findall(r'<dt\b[^>]*\bid="([^"]*)"', item.read().decode("utf-8", "replace")):
                    defined[f"{item.path}#{html.unescape(anchor)}"] = True
            with open(os.path.join(folder, "objects.inv"), "rb") as file:
                wanted = [(place, name) for name, place in doctrove.read_inventory(file.read())[0] if place in defined]
            self.assertGreaterEqual(len(known.intersection(wanted)), 0.99 * len(set(wanted)), folder)


class SearchPages(Case):
    def test_a_page_about_searching_is_no_list_of_pages(self):
        done = self.imported({"ref/search.html": "<!doctype html><main><h1>Full text search</h1><p>Words.</p></main>",
                              "search.html": '<!doctype html><script src="searchindex.js"></script><main><h1>Search</h1></main>'})
        self.assertEqual([document["path"] for document in done.volume["documents"]], ["ref/search.html"])
        self.assertEqual(self.reasons(done), {"search.html": "a list of pages"})


if __name__ == "__main__":
    unittest.main()
