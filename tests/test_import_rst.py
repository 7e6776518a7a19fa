"""reStructuredText as an import format: the blocks of the fixtures, what bad input gets, and the real sources of pytest where they are on the machine."""
from __future__ import annotations

import os
import re
import time
import unittest

from support import ROOT, check_blocks, doctrove, read_beside

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "rst")
PYTEST_DOCS = os.environ.get("DOCTROVE_PYTEST_DOCS", "/tmp/corpora/pytest-8.3")


def read_file(folder: str, path: str, url: str = "") -> doctrove.Document:
    """The document of one file, with its neighbours beside it."""
    own = os.path.dirname(os.path.join(folder, path))
    data = read_beside(folder, path)
    assert data is not None
    return doctrove.read_rst(data, doctrove.Page(path, url=url, beside=lambda name: read_beside(own, name)))


def read_text(text: str, **page: object) -> doctrove.Document:
    return doctrove.read_rst(text.encode(), doctrove.Page("page.rst", **page))


def bodies(text: str) -> list[str]:
    return [block.text for block in read_text(text).blocks if block.kind == "body"]


class FixturesTest(unittest.TestCase):
    maxDiff = None

    def test_each_fixture_gives_the_blocks_beside_it(self) -> None:
        check_blocks(self, FIXTURES, ".rst", 6, read_file)

    def test_entries_are_closed_and_bodies_have_no_blank_ends(self) -> None:
        for name in sorted(os.listdir(FIXTURES)):
            if not name.endswith(".rst"):
                continue
            with self.subTest(fixture=name):
                self.check_shape(read_file(FIXTURES, name))

    def check_shape(self, document: doctrove.Document) -> None:
        depth = 0
        for block in document.blocks:
            depth += {"entry": 1, "end": -1}.get(block.kind, 0)
            self.assertGreaterEqual(depth, 0)
            if block.kind == "entry":
                self.assertTrue(block.id)
                self.assertNotIn("\n", block.text)
            if block.kind == "heading":
                self.assertEqual(depth, 0)
                self.assertTrue(block.id and 1 <= block.level <= 6)
            if block.kind == "body":
                self.assertTrue(block.text)
                self.assertEqual(block.text, block.text.strip("\n"))
        self.assertEqual(depth, 0)


class StructureTest(unittest.TestCase):
    def test_levels_follow_the_order_of_adornments_and_stop_at_six(self) -> None:
        styles = "=-~^\"'+#"
        text = "".join(f"T{number}\n{style * 4}\n\n" for number, style in enumerate(styles))
        self.assertEqual([block.level for block in read_text(text).blocks], [1, 2, 3, 4, 5, 6, 6, 6])

    def test_overlined_and_underlined_are_different_styles(self) -> None:
        blocks = read_text("====\nOver\n====\n\nUnder\n=====\n\n====\nThird\n====\n").blocks
        self.assertEqual([(block.text, block.level) for block in blocks], [("Over", 1), ("Under", 2), ("Third", 1)])

    def test_a_short_underline_is_text_and_a_long_enough_one_is_a_title(self) -> None:
        self.assertEqual([block.kind for block in read_text("Title\n--\n").blocks], ["body"])
        self.assertEqual([block.kind for block in read_text("A longer title\n----\n").blocks], ["heading"])

    def test_a_heading_that_repeats_gets_an_anchor_of_its_own(self) -> None:
        ids = [block.id for block in read_text("Same\n====\n\nSame\n====\n\n.. _own:\n\nSame\n====\n").blocks]
        self.assertEqual(ids, ["same", "id1", "own"])

    def test_a_label_belongs_to_one_heading_only(self) -> None:
        blocks = read_text(".. _label:\n\nOne\n===\n\nTwo\n===\n\n.. _other:\n\nText.\n\nThree\n=====\n").blocks
        self.assertEqual([block.name for block in blocks if block.kind == "heading"], ["label", "", ""])

    def test_literal_blocks_keep_every_sign(self) -> None:
        code = "x = `a`\n\n    |y| *z* \\n  ``w``\n.. not a comment"
        self.assertEqual(bodies("Look::\n\n" + "".join(f"   {line}".rstrip() + "\n" for line in code.split("\n"))), ["Look:", f"```\n{code}\n```"])

    def test_a_fence_is_longer_than_the_ticks_inside(self) -> None:
        self.assertEqual(bodies("::\n\n   ````\n"), ["`````\n````\n`````"])

    def test_invisible_signs_are_removed(self) -> None:
        self.assertEqual(bodies("a\u200bb\u202ec\x07d\ufeff\u00ade\x9b"), ["abcde"])

    def test_character_sets(self) -> None:
        for data, charset in (("Größe".encode("utf-16"), ""), ("Größe".encode("latin-1"), ""), ("Größe".encode("latin-1"), "latin-1"),
                              ("Größe".encode("utf-8-sig"), ""), ("Größe".encode(), "no-such-charset")):
            with self.subTest(charset=charset, data=data):
                blocks = doctrove.read_rst(data, doctrove.Page("a.rst", charset=charset)).blocks
                self.assertEqual(blocks[0].text, "Größe")

    def test_no_line_of_an_unknown_directive_is_lost(self) -> None:
        self.assertEqual(bodies(".. strange:: Title\n   :opt: x\n\n   One.\n\n   Two.\n\n.. other:: only argument\n"),
                         ["**Title**", "One.", "Two.", "only argument"])

    def test_comments_and_navigation_do_not_come_in(self) -> None:
        text = ".. comment\n   more\n\n..\n   and this\n\n.. toctree::\n   :maxdepth: 2\n\n   Title <page>\n\n.. contents:: Here\n\nText.\n"
        self.assertEqual(bodies(text), ["Text."])


class TablesTest(unittest.TestCase):
    def test_a_span_has_its_text_in_the_first_cell(self) -> None:
        table = bodies("+---+---+\n| a | b |\n+   +---+\n|   | c |\n+---+---+\n| d     |\n+---+---+\n")[0]
        self.assertEqual(table.split("\n")[2:], ["| a | b |", "|  | c |", "| d |  |"])

    def test_a_broken_table_comes_out_as_it_stands(self) -> None:
        for drawing in ("+---+\n| a |\n+---", "===  ===\na    b\nc    d"):
            with self.subTest(drawing=drawing):
                self.assertIn(drawing, "\n".join(bodies(drawing + "\n")))

    def test_text_outside_of_a_simple_tables_columns_is_kept(self) -> None:
        table = bodies("===  ===\na    b and more\nx yz w\n===  ===\n")[0]
        for word in ("b and more", "yz", "w"):
            self.assertIn(word, table)

    def test_a_csv_table_that_cannot_be_read_is_kept(self) -> None:
        cell = "x" * 140_000  # more than the csv module takes
        self.assertEqual(bodies(f".. csv-table::\n\n   a,{cell}\n"), [f"```\na,{cell}\n```"])


class LinksTest(unittest.TestCase):
    def test_links_are_absolute_where_the_page_has_an_address(self) -> None:
        page = read_text("`a <b.html>`_ and `c <#d>`_ and :doc:`e`", url="https://example.org/docs/page.html")
        self.assertEqual(page.blocks[0].text, "[a](https://example.org/docs/b.html) and [c](https://example.org/docs/page.html#d) and "
                         "[e](https://example.org/docs/e.rst)")

    def test_anonymous_references_take_their_targets_in_order(self) -> None:
        self.assertEqual(bodies("`a`__ `b`__\n\n__ http://one\n__ http://two\n")[0], "[a](http://one) [b](http://two)")

    def test_a_label_links_to_the_heading_that_it_stands_before(self) -> None:
        text = "See :ref:`there` and there_.\n\n.. _there:\n\nThe Place\n---------\n"
        self.assertEqual(bodies(text)[0], "See [The Place](#the-place) and [there](#the-place).")

    def test_targets_in_a_circle_end(self) -> None:
        self.assertEqual(bodies("a_\n\n.. _a: b_\n.. _b: a_\n"), ["a"])


class IncludesTest(unittest.TestCase):
    def test_a_file_that_includes_itself_is_read_once(self) -> None:
        text = [block.text for block in read_text(".. include:: x\n", beside=lambda name: b"Once.\n\n.. include:: x\n").blocks]
        self.assertEqual(text, ["Once.", "`x`"])

    def test_many_includes_stop_at_the_pages_allowance(self) -> None:
        document = read_text(".. include:: x\n\n" * 1000, beside=lambda name: b"y" * 100_000)
        self.assertLess(sum(len(block.text) for block in document.blocks), 6_000_000)

    def test_an_include_is_relative_to_its_own_file(self) -> None:
        files = {"sub/one.txt": b".. include:: two.txt\n", "sub/two.txt": b"Deep.\n"}
        self.assertEqual([block.text for block in read_text(".. include:: sub/one.txt\n", beside=files.get).blocks], ["Deep."])


class HostileTest(unittest.TestCase):
    CASES = {
        "emphasis": "*a " * 30_000, "strong": "**a " * 30_000, "literals": "``a " * 30_000, "roles": ":a:`b " * 20_000, "references": "a_ " * 30_000,
        "colons": ":a" * 30_000, "borders": "== ==\nfoo\n\n" * 10_000, "grids": "+--+\n" * 20_000, "signatures": ".. function:: " + "f(\n   " * 20_000,
        "nested lists": "".join(" " * depth + "- a\n" for depth in range(600)), "nested quotes": "".join(" " * depth + "a\n" for depth in range(600)),
        "scripts": ".. raw:: html\n\n   " + "<script" * 20_000, "hyphens": "a-" * 40_000 + "a_", "footnotes": "[a" * 40_000,
    }

    def test_hostile_input_takes_linear_time(self) -> None:
        for name, text in self.CASES.items():
            with self.subTest(case=name):
                start = time.process_time()
                read_text(text)
                self.assertLess(time.process_time() - start, 3)

    def test_substitutions_that_double_each_other_stay_small(self) -> None:
        text = ".. |a0| replace:: x x\n" + "".join(f".. |a{n}| replace:: {f'|a{n - 1}| ' * 12}\n" for n in range(1, 9)) + "\n" + "|a5| |a8|" * 100
        self.assertLess(sum(len(block.text) for block in read_text(text).blocks), 1_000_000)

    def test_deep_nesting_keeps_the_text(self) -> None:
        text = "".join(" " * (2 * depth) + f"- item{depth}\n\n" for depth in range(200))
        shown = "\n".join(bodies(text))
        for depth in (0, 20, 100, 199):
            self.assertIn(f"item{depth}", shown)

    def test_no_bytes_make_it_fail(self) -> None:
        sample = b"".join(read_beside(FIXTURES, name) or b"" for name in sorted(os.listdir(FIXTURES)) if name.endswith(".rst"))
        lines = sample.split(b"\n")
        for step in range(1, 40):
            mixed = b"\n".join(lines[step * number % len(lines)] + b" " * (number % 4) for number in range(len(lines)))
            doctrove.read_rst(mixed[step:], doctrove.Page("a.rst"))
            doctrove.read_rst(bytes(byte ^ (step if byte % 7 == 0 else 0) for byte in sample), doctrove.Page("a.rst"))


@unittest.skipUnless(os.path.isdir(PYTEST_DOCS), f"the sources of pytest's documentation are not at {PYTEST_DOCS}")
class PytestDocsTest(unittest.TestCase):
    def test_headings_entries_and_code_of_real_pages_come_in(self) -> None:
        headings = entries = 0
        for folder, _, names in os.walk(PYTEST_DOCS):
            for name in names:
                if not name.endswith(".rst"):
                    continue
                path = os.path.relpath(os.path.join(folder, name), PYTEST_DOCS)
                document = read_file(PYTEST_DOCS, path)
                headings += sum(block.kind == "heading" for block in document.blocks)
                entries += sum(block.kind == "entry" for block in document.blocks)
                text = re.sub(r"(?ms)^[> ]*(`{3,}).*?^[> ]*\1$", "", "\n".join(block.text for block in document.blocks))
                self.assertIsNone(re.search(r"^ *\.\. (?:code-block|note|versionadded|autofunction)::", text, re.M), path)
                self.assertIsNone(re.search(r"(?:^|\s):(?:ref|func|doc):`\w", text), path)
        self.assertGreater(headings, 1000)
        self.assertGreater(entries, 250)

    def test_anchors_that_people_look_for_exist(self) -> None:
        for path, anchors in (("reference/reference.rst", ("pytest.approx", "pytest-approx", "capsys", "addopts", "pytest_addoption", "PYTEST_ADDOPTS")),
                              ("how-to/skipping.rst", ("skipif", "skip-all-test-functions-of-a-class-or-module", "summary")),
                              ("how-to/mark.rst", ("registering-marks", "raising-errors-on-unknown-marks"))):
            ids = {block.id for block in read_file(PYTEST_DOCS, path).blocks}
            for anchor in anchors:
                self.assertIn(anchor, ids)


if __name__ == "__main__":
    unittest.main()
