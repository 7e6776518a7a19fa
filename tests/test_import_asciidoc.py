"""AsciiDoc as an import format: the blocks of the fixtures, what bad input gets, and the sources of git's manual where they are on the machine."""
from __future__ import annotations

import os
import time
import unittest

from support import ROOT, check_blocks, doctrove, read_beside

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "asciidoc")
GIT_DOCS = os.environ.get("DOCTROVE_GIT_DOCS", "/usr/share/doc/git-doc")


def read_file(folder: str, name: str) -> doctrove.Document:
    """The document of one file, with its neighbours beside it."""
    data = read_beside(folder, name)
    assert data is not None
    return doctrove.read_asciidoc(data, doctrove.Page(name, beside=lambda other: read_beside(folder, other)))


def read_text(text: str, **page: object) -> doctrove.Document:
    return doctrove.read_asciidoc(text.encode(), doctrove.Page("page.adoc", **page))


def bodies(text: str, **page: object) -> list[str]:
    return [block.text for block in read_text(text, **page).blocks if block.kind == "body"]


class FixturesTest(unittest.TestCase):
    maxDiff = None

    def test_each_fixture_gives_the_blocks_beside_it(self) -> None:
        check_blocks(self, FIXTURES, ".adoc", 7, read_file)

    def test_entries_are_closed_and_bodies_have_no_blank_ends(self) -> None:
        for name in sorted(os.listdir(FIXTURES)):
            if not name.endswith(".adoc"):
                continue
            depth = 0
            for block in read_file(FIXTURES, name).blocks:
                depth += {"entry": 1, "end": -1}.get(block.kind, 0)
                with self.subTest(fixture=name, block=block.text):
                    self.assertGreaterEqual(depth, 0)
                    if block.kind == "heading":
                        self.assertTrue(depth == 0 and 1 <= block.level <= 6)
                    if block.kind == "body":
                        self.assertTrue(block.text and block.text == block.text.strip("\n"))
            self.assertEqual(depth, 0)


class StructureTest(unittest.TestCase):
    def test_anchors_are_those_that_asciidoctor_makes(self) -> None:
        for title, anchor in (("Don't stop", "_dont_stop"), ("a.b-c d", "_a_b_c_d"), ("`code` (x/y)", "_code_xy"), ("Größe", "_größe"), ("x...", "_x")):
            with self.subTest(title=title):
                self.assertEqual(read_text(f"== {title}\n").blocks[0].id, anchor)

    def test_prefix_and_separator_of_anchors_are_attributes(self) -> None:
        self.assertEqual(read_text("= T\n:idprefix:\n:idseparator: -\n\n== One two\n").blocks[1].id, "one-two")

    def test_a_heading_that_repeats_gets_a_number(self) -> None:
        self.assertEqual([block.id for block in read_text("== Same\n\n== Same\n\n== Same\n").blocks], ["_same", "_same_2", "_same_3"])

    def test_a_block_that_does_not_end_keeps_its_text(self) -> None:
        self.assertEqual(bodies("----\na\n\n== b\n"), ["```\na\n\n== b\n```"])

    def test_an_offset_shifts_included_headings(self) -> None:
        document = read_text("include::x[leveloffset=+2]\n\n== After\n", beside={"x": b"= In\n"}.get)
        self.assertEqual([(block.text, block.level) for block in document.blocks], [("In", 3), ("After", 2)])

    def test_links_are_absolute_where_the_page_has_an_address(self) -> None:
        self.assertEqual(bodies("link:b.html[a] <<x,y>>\n", url="https://example.org/docs/page.html"),
                         ["[a](https://example.org/docs/b.html) [y](https://example.org/docs/page.html#x)"])


class IncludesTest(unittest.TestCase):
    def test_a_file_that_includes_itself_is_read_once(self) -> None:
        self.assertEqual(bodies("include::x.adoc[]\n", beside=lambda name: b"Once.\n\ninclude::x.adoc[]\n"), ["Once.", "`include::x.adoc[]`"])

    def test_many_includes_stop_at_the_pages_allowance(self) -> None:
        document = read_text("include::x.adoc[]\n\n" * 2000, beside=lambda name: b"y" * 100_000)
        self.assertLess(sum(len(block.text) for block in document.blocks), 6_000_000)

    def test_antoras_families_stand_beside_the_pages(self) -> None:
        files = {"../partials/a.adoc": b"One.\n", "../../other/partials/b.adoc": b"Two.\n"}
        page = doctrove.Page("modules/ROOT/pages/x.adoc", beside=files.get)
        document = doctrove.read_asciidoc(b"include::partial$a.adoc[]\n\ninclude::other:partial$b.adoc[]\n", page)
        self.assertEqual([block.text for block in document.blocks], ["One.", "Two."])


class DetectTest(unittest.TestCase):
    CASES = (
        ("a.adoc", b"anything", "asciidoc"), ("a.asciidoc", b"anything", "asciidoc"),
        ("a.asc", b"= Title\n\n[source]\n----\nx\n----\n", "asciidoc"), ("a.asc", b"-----BEGIN PGP SIGNATURE-----\n\nabc\n", None),
        ("git-x.txt", b"git-x(1)\n========\n\nNAME\n----\ngit-x - x\n\n[verse]\n'git x'\n", "asciidoc"),
        ("a.txt", b"= Title\n:toc:\n\n[NOTE]\n====\nx\n====\n", "asciidoc"),
        ("a.txt", b"Title\n=====\n\nOne\n---\n\nPlain text.\n", "text"), ("a.txt", b"Notes\n\n* one\n* two\n\nfoo::bar\n", "text"),
        ("a.txt", b"= not a title =\n\nplain\n", "text"), ("a.txt", b"Changes\n=======\n\nUsage::\n\n    code\n", "text"), ("a.txt", b"", "text"),
    )

    def test_the_content_decides_what_a_text_file_is(self) -> None:
        for path, data, expected in self.CASES:
            with self.subTest(path=path, data=data):
                self.assertEqual(doctrove.detect_format(data, path), expected)


class HostileTest(unittest.TestCase):
    SIGNS = ("[", "*", "::", "=", "_", "`", "*a ", "`a ", "**a ", "\\*a ", "+a ", "^a", "<<a,", "((a", "link:a[", "http://a[", "footnote:[", "[[", "{a}", "a:",
             "* a\n", "a:: b\n", "a::\n", "----\n", "====\n", "|===\n", "|a\n", "[a]\n", ".a\n", "= a\n", "a\n-\n", "+\n", "* a\n+\n", "a::: b\nc:: d\n",
             "//\n", "ifdef::a[]\n", "include::x[]\n", "NOTE: a\n\n", " a\n\n", "'a ", "T\n=\n\n`a ")
    CASES = {
        "nested blocks": "".join(("====" if number % 2 else "****") + "\n" for number in range(10_000)),
        "longer blocks": "".join("=" * (4 + number) + "\n" for number in range(300)) + "x\n",
        "nested lists": "".join("*" * (1 + number % 60) + " a\n" for number in range(10_000)),
        "escapes that close": "\\*a " * 10_000 + "*", "links that close": "link:x[" * 15_000 + "]", "footnotes that close": "footnote:[" * 9_000 + "]" * 9_000,
        "spaces": "= a" + " " * 100_000 + "b", "spans": "[cols=3*]\n|===\n" + ".1000+|a\n" * 3_000, "brackets": "http://a[b\\]" * 10_000,
    }

    def test_hostile_input_takes_linear_time(self) -> None:
        for name, text in (*self.CASES.items(), *((sign, sign * (30_000 // len(sign))) for sign in self.SIGNS)):
            with self.subTest(case=name):
                start = time.process_time()
                read_text(text, beside=lambda name: b"include::x[]\n" * 50)
                self.assertLess(time.process_time() - start, 6)

    def test_attributes_that_double_each_other_stay_small(self) -> None:
        text = ":a0: xxxxxxxxxx\n" + "".join(f":a{n}: {{a{n - 1}}}{{a{n - 1}}}\n" for n in range(1, 60)) + "\n" + "{a59} " * 10_000
        self.assertLess(sum(len(body) for body in bodies(text)), 2_000_000)

    def test_deep_nesting_keeps_the_text(self) -> None:
        text = "".join("*" * (depth + 1) + f" item{depth}\n" for depth in range(200))
        shown = "\n".join(bodies(text))
        for depth in (0, 20, 100, 199):
            self.assertIn(f"item{depth}", shown)

    def test_no_bytes_make_it_fail(self) -> None:
        sample = b"".join(read_beside(FIXTURES, name) or b"" for name in sorted(os.listdir(FIXTURES)) if name.endswith(".adoc"))
        lines = sample.split(b"\n")
        for step in range(1, 40):
            mixed = b"\n".join(lines[step * number % len(lines)] + b" " * (number % 4) for number in range(len(lines)))
            doctrove.read_asciidoc(mixed[step:], doctrove.Page("a.adoc"))
            doctrove.read_asciidoc(bytes(byte ^ (step if byte % 7 == 0 else 0) for byte in sample), doctrove.Page("a.adoc"))


@unittest.skipUnless(os.path.isfile(os.path.join(GIT_DOCS, "git-diff.txt")), f"the sources of git's manual (Debian: git-doc) are not at {GIT_DOCS}")
class GitDocsTest(unittest.TestCase):
    def test_sources_give_the_sections_of_the_pages_made_from_them(self) -> None:
        pages = same = 0
        for name in sorted(os.listdir(GIT_DOCS)):
            made = read_beside(GIT_DOCS, name[:-4] + ".html") if name.endswith(".txt") else None
            if made is None:
                continue
            source, page = (
                [block.text.replace("’", "'") for block in document.blocks if block.kind == "heading"][1:]
                for document in (read_file(GIT_DOCS, name), doctrove.read_html(made, doctrove.Page(name[:-4] + ".html"))))
            pages += 1
            same += source == page
        self.assertGreater(pages, 150)
        self.assertGreater(same / pages, 0.95)

    def test_all_sources_are_detected_by_their_content(self) -> None:
        for name in ("git-add.txt", "git-diff.txt", "gitglossary.txt", "user-manual.txt", "git-config.txt"):
            self.assertEqual(doctrove.detect_format(read_beside(GIT_DOCS, name) or b"", name), "asciidoc", name)


if __name__ == "__main__":
    unittest.main()
