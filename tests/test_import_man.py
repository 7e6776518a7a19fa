"""Manual pages in roff as an import format: the blocks of the fixtures, what bad input gets, and the real pages of the machine."""
from __future__ import annotations

import gzip
import json
import os
import re
import time
import unittest

from support import ROOT, doctrove

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "man")
PAGES = os.environ.get("DOCTROVE_MAN_PAGES", "/usr/share/man")


def read_text(text: str, **page: object) -> doctrove.Document:
    return doctrove.read_man(text.encode(), doctrove.Page("page.1", **page))


def bodies(text: str) -> list[str]:
    return [block.text for block in read_text(text).blocks if block.kind == "body"]


def real_pages(section: str) -> list[str]:
    folder = os.path.join(PAGES, "man" + section)
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))] if os.path.isdir(folder) else []


class ManCase(unittest.TestCase):
    maxDiff = None

    def check_shape(self, document: doctrove.Document) -> None:
        depth = 0
        for block in document.blocks:
            depth += {"entry": 1, "end": -1}.get(block.kind, 0)
            self.assertGreaterEqual(depth, 0)
            self.assertIsNone(re.search("[\1-\10]", block.text + block.id + block.name))
            if block.kind in ("entry", "heading"):
                self.assertTrue(block.id)
                self.assertNotIn("\n", block.text)
            if block.kind == "heading":
                self.assertEqual(depth, 0)
            if block.kind == "body":
                self.assertTrue(block.text.strip("\n"))
        self.assertEqual(depth, 0)


class FixturesTest(ManCase):
    def test_each_fixture_gives_the_blocks_beside_it(self) -> None:
        names = sorted(name for name in os.listdir(FIXTURES) if not name.endswith(".json"))
        self.assertGreaterEqual(len(names), 7)
        for name in names:
            with self.subTest(fixture=name), open(os.path.join(FIXTURES, name), "rb") as page, open(
                    os.path.join(FIXTURES, name + ".json"), encoding="utf-8") as file:
                expected = json.load(file)
                document = doctrove.read_man(page.read(), doctrove.Page(name))
                self.assertEqual(document.title, expected["title"])
                self.assertEqual([[block.kind, block.level, block.id, block.name, block.text] for block in document.blocks], expected["blocks"])
                self.check_shape(document)


class TextTest(unittest.TestCase):
    def test_escapes(self) -> None:
        for source, shown in (
                (r"a\-b\(emc\[en]d", "a-b—c–d"), (r"\[u00E9]\['e]\(:u\['a]", "ééüá"), (r"a\&b\%c\|d\^e\:f", "abcdef"), (r"x\ y\~z\0w", "x y z w"),
                (r"\s+2big\s0 \s-1SMALL\s0 \s'12'x", "big SMALL x"), (r"\fBb\fR \fIi\fP \f(CWc\fR \f[BI]x\fR", "**b** *i* `c` ***x***"),
                (r"\m[red]c\m[] \h'1n'\v'-1'd", "c d"), (r"\o'e\(aa' \z_x", "é _x"), (r"\*(lqq\*(rq \*R", "“q” ®"),
                (r"\N'65'\[no-such]", "Ano-such"), ("before\\c\nafter", "beforeafter"), ('kept \\" dropped', "kept"), (r"\w'abc'", "72"),
                (".ds - \\-\n\\*-x", "-x")):
            with self.subTest(source=source):
                self.assertEqual(bodies(source), [shown])

    def test_conditions_hold_as_on_a_terminal(self) -> None:
        for condition, holds in (("n", True), ("t", False), ("!t", True), ("'a'a'", True), ("'a'b'", False), ("1", True), ("0", False), ("2>1", True),
                                 ("(1+1)*2=4", True), (r"\n(.g", True), ("d no-such", False), ("r no-such", False), (r"!\w'|'", False)):
            with self.subTest(condition=condition):
                self.assertEqual(bodies(f".ie {condition} yes\n.el no\n"), ["yes" if holds else "no"])

    def test_character_sets(self) -> None:
        for data in ("Größe".encode(), "Größe".encode("latin-1"), '.\\" -*- coding: cp437 -*-\nGröße'.encode("cp437")):
            with self.subTest(data=data):
                self.assertEqual(doctrove.read_man(data, doctrove.Page("a.1")).blocks[-1].text, "Größe")

    def test_an_unknown_macro_and_a_line_that_starts_like_one_lose_no_text(self) -> None:
        self.assertEqual(bodies(".Strange some \"words here\"\n'quoted' text\n"), ["some words here 'quoted' text"])

    def test_the_name_of_a_page_is_spelled_as_its_file(self) -> None:
        document = doctrove.read_man(b".TH GIT\\-ADD 1\n.SH NAME\ngit-add \\- adds\n", doctrove.Page("man1/git-add.1"))
        self.assertEqual(document.title, "git-add(1)")

    def test_another_page_is_read_in_the_place_of_a_link(self) -> None:
        document = doctrove.read_man(b".so man3/real.3\n", doctrove.Page("man3/link.3", beside={"../man3/real.3": b".TH real 3\n.SH NAME\nreal \\- x\n"}.get))
        self.assertEqual((document.title, document.blocks[1].text), ("real(3)", "real - x"))

    def test_a_link_to_a_page_that_is_not_there_names_it(self) -> None:
        self.assertEqual(bodies(".so man3/none.3\n"), ["`man3/none.3`"])


class FormatTest(unittest.TestCase):
    def test_the_content_decides_what_is_a_manual_page(self) -> None:
        page = b'.\\" comment\n.de x\n..\n.TH A 1\n'
        for name, data, found in (
                ("git-add.1", page, "man"), ("printf.3p", page, "man"), ("a.man", b".Dd today\n.Dt A 1\n", "man"), ("b.mdoc", b"'\\\" t\n.TH B 1\n", "man"),
                ("link.1", b".so man1/other.1\n", "man"), ("foo-1.2.3", b"Changes\n.TH is a macro\n", None), ("libfoo.so.1", b"\x7fELF\0\0", None),
                ("data.1", b"1 2 3\n", None), ("dots.1", b".hidden\n.git\n", None), ("page.man", b"no roff", None)):
            with self.subTest(name=name):
                self.assertEqual(doctrove.detect_format(data, name), found)

    def test_a_collection_takes_pages_in_by_their_names(self) -> None:
        collection = doctrove.Collection("man")
        for name in ("git-add.1", "printf.3p.gz", "openssl.1ssl", "lsearch.n", "a.man", "b.mdoc"):
            self.assertTrue(collection.offer(name, 1, bytes), name)
        self.assertFalse(collection.offer("a.123", 1, bytes))


class HostileTest(ManCase):
    def test_bounds_hold_and_the_page_goes_on(self) -> None:
        doubling = ".de a0\ntext\n..\n" + "".join(f".de a{number + 1}\n.a{number}\n.a{number}\n..\n" for number in range(40)) + ".a40\n"
        strings = ".ds a0 xxxxxxxxxx\n" + "".join(f".ds a{number + 1} \\*[a{number}]\\*[a{number}]\n" for number in range(60)) + "\\*[a60]\n"
        for name, text in (("macros that double", doubling), ("strings that double", strings), ("a macro that calls itself", ".de a\n.a\n.a\n..\n.a\n"),
                           ("a string that names itself", ".ds a \\\\*a\\\\*a\n\\*a\n"), ("a loop without end", ".while 1 \\{\ntext\n.\\}\n"),
                           ("loops in a loop", ".while 1 \\{\n.while 1 \\{\ntext\n.\\}\n.\\}\n"), ("levels", ".RS\ntext\n" * 10000 + ".RE\n" * 10000),
                           ("arguments that double", ".de M\n.M \\$* \\$*\n..\n.M aaaa bbbb\n")):
            with self.subTest(name):
                document = read_text(".TH X 1\n" + text + "\nend of page\n")
                self.check_shape(document)
                self.assertIn("end of page", document.blocks[-1].text)
                self.assertLess(sum(len(block.text) for block in document.blocks), 6_000_000)

    def test_pages_that_include_each_other_end(self) -> None:
        data = b"text\n.so other.1\n.so other.1\n"
        self.assertLess(len(doctrove.read_man(data, doctrove.Page("a.1", beside=lambda name: data)).blocks), 50)

    def test_time_grows_with_the_length(self) -> None:
        for unit in ("\\", "\\h'", "\\[", "\\*[", "\\n[", "\\w'", "\\fB", "\\\n", '"', ".T&\n", ".RS\n", "T{\n", ".Op ", "(", ".if t \\{\n", "a_", "\\(bu"):
            for prefix in (".TH X 1\n", ".TH X 1\n.TS\nl.\n", ".Dd x\n.Sh A\n.Op ", ".TH X 1\n.IP "):
                with self.subTest(unit=unit, prefix=prefix):
                    small, large = (self.seconds(prefix + unit * (size // len(unit))) for size in (20_000, 160_000))
                    self.assertLess(large, max(24 * small, 1.0))     # 64 times as long would be quadratic

    def seconds(self, text: str) -> float:
        start = time.process_time()
        read_text(text)
        return time.process_time() - start


class RealPagesTest(ManCase):
    def setUp(self) -> None:
        self.pages = [path for section in "12345678" for path in real_pages(section)[::40]]
        if len(self.pages) < 20:
            self.skipTest(f"there are no manual pages in {PAGES}")

    def test_every_page_is_read_and_has_a_title(self) -> None:
        for path in self.pages:
            with self.subTest(page=path):
                try:
                    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
                        data = file.read()
                except OSError:     # a dangling link
                    continue
                name = os.path.relpath(path, PAGES).removesuffix(".gz").replace(os.sep, "/")
                self.assertEqual(doctrove.detect_format(data, name), "man")
                document = doctrove.read_man(data, doctrove.Page(name))
                self.check_shape(document)
                self.assertTrue(document.title or data.startswith(b".so"))
                self.assertFalse([block.text for block in document.blocks if block.kind == "heading" and not block.text])


if __name__ == "__main__":
    unittest.main()
