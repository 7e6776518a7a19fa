"""Markdown, notebooks and plain text as sources: fixtures and the blocks that must come of them, rules in small, hostile input, real READMEs."""
from __future__ import annotations

import glob
import json
import os
import re
import time
import unittest
from typing import Any

from support import doctrove

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixtures", "markdown")
READERS = {".ipynb": "read_notebook", ".txt": "read_text"}
CORPORA = os.environ.get("DOCTROVE_CORPORA", "/tmp/corpora")


def read(text: str, path: str = "page.md", url: str = "", **files: bytes) -> Any:
    return doctrove.read_markdown(text.encode(), doctrove.Page(path, url=url, beside=lambda name: files.get(name.strip("./").partition(".")[0])))


def rows(document: Any) -> list[list[Any]]:
    """Headings as [level, id, text], bodies as [text]."""
    return [[block.level, block.id, block.text] if block.kind == "heading" else [block.text] for block in document.blocks]


def headings(text: str, path: str = "page.md") -> list[tuple[str, str]]:
    return [(block.id, block.text) for block in read(text, path).blocks if block.kind == "heading"]


def bodies(text: str, path: str = "page.md", url: str = "") -> list[str]:
    return [block.text for block in read(text, path, url).blocks if block.kind == "body"]


class FixtureTest(unittest.TestCase):
    """Every fixture NAME has NAME.json: {"title": …, "url": the page's, "blocks": see rows()}."""

    maxDiff = None

    def test_tags_in_a_tables_cell_stay_pairs(self) -> None:
        text = b"| a | b |\n| --- | --- |\n| <code>x</code> | <b>y</b> |\n"
        self.assertIn("| <code>x</code> | <b>y</b> |", doctrove.read_markdown(text, doctrove.Page("a.md")).blocks[-1].text)

    def test_fixtures_give_the_blocks_beside_them(self) -> None:
        names = sorted(name[:-5] for name in os.listdir(FIXTURES) if name.endswith(".json"))
        self.assertGreaterEqual(len(names), 6)
        for name in names:
            path = os.path.join(FIXTURES, name)
            with self.subTest(name), open(path, "rb") as file, open(f"{path}.json", encoding="utf-8") as wanted:
                expected = json.load(wanted)
                page = doctrove.Page(name, url=expected["url"], beside=self.beside)
                document = getattr(doctrove, READERS.get(os.path.splitext(name)[1], "read_markdown"))(file.read(), page)
                self.assertEqual([document.title, *rows(document)], [expected["title"], *expected["blocks"]])

    def beside(self, name: str) -> bytes | None:
        if name != "./part.md":
            return None
        with open(os.path.join(FIXTURES, "part.inc"), "rb") as file:
            return file.read()


class HeadingTest(unittest.TestCase):
    def test_anchors_follow_githubs_rule(self) -> None:
        cases = {
            "# Foo Bar!": "foo-bar", "# `a.b(c, [d])`": "abc-d", "# Größe & 中文": "größe--中文", "# \U0001f680 Go": "-go",
            "# snake_case": "snake_case", "# _em_ x": "em-x", "# **b** *i*": "b-i", "# [link](x)": "link", "# ⚠\ufe0f Mind": "\ufe0f-mind",
            "# :rocket: Go": "-go", "# a &amp; b": "a--b", "# x ##": "x", "# C#": "c", "# fn<T>(x)": "fntx", "# <b>x</b> y": "x-y",
        }
        for text, anchor in cases.items():
            self.assertEqual([id for id, _ in headings(text)], [anchor], text)

    def test_repeated_headings_are_numbered_and_stay_unique(self) -> None:
        self.assertEqual([id for id, _ in headings("# a\n# a\n# a-1\n# a\n# b {#a}")], ["a", "a-1", "a-1-1", "a-2", "a"])

    def test_explicit_ids_come_before_the_slug(self) -> None:
        cases = ("# T {#x}", "# T {#x .cls k=v}", "# T {/* #x */}", "<a id='x'></a>\n# T", '<a name="x"></a>\n\n# T', '# <a name="x"></a>T', '# T <a id="x"/>',
                 '<h1 id="x">T</h1>', '<h1><a id=x></a>T</h1>', "# T\n{: #x}")
        for text in cases:
            self.assertEqual(headings(text), [("x", "T")], text)

    def test_an_anchor_below_a_heading_does_not_name_the_next_one(self) -> None:
        self.assertEqual([id for id, _ in headings('# One\n<a id="uno"></a>\n\n# Two')], ["one", "two"])
        self.assertEqual([id for id, _ in headings('# One\n<a id="dos"></a>\n# Two')], ["one", "dos"])

    def test_what_is_no_heading(self) -> None:
        for text in (
                "```\n# x\n```", "```\na\n```js\n# x\n```", "~~~~\n# x\n~~~\n# x\n~~~~", "    # x", "<!--\n# x\n-->", "#x", "\\# x",
                     "> # x", "- # x", "####### x",
                     "a\n\n---", "| a |\n|---|\n"):
            self.assertEqual(headings(text), [], text)

    def test_signs_at_the_end_of_a_heading(self) -> None:
        self.assertEqual(headings("# C#\n# x ##\n# y \\#"), [("c", "C#"), ("x", "x"), ("y-", "y #")])

    def test_headings_in_a_table_of_html_stay_headings(self) -> None:
        self.assertEqual(headings("<table>\n<tr><td>a\n\n# H\n\n</td></tr></table>"), [("h", "H")])

    def test_headings_in_quotes_and_items_are_bold(self) -> None:
        self.assertEqual(bodies("> # x"), ["> **x**"])
        self.assertEqual(bodies("- # x\n- y"), ["- **x**\n- y"])

    def test_the_title_is_front_matters_else_the_first_top_heading(self) -> None:
        cases = {
            "---\ntitle: A\n---\n# B": "A",
                "---\ntitle: 'It''s'\n---\n": "It's", '---\ntitle: "A \\"q\\"" # c\n---\n': 'A "q"', "+++\ntitle = 'T'\n+++\nx": "T",
            "---\ntitle: >-\n  Two\n  lines\n---\n": "Two lines", "---\ntitle: undefined\n---\n# B": "B", "---\nid: x\n---\n# B": "B", "## A\n# B": "B",
            "## A\n### B": "A", "### A\n## B": "", "text": "", "---\ntitle:\n---\n": "",
        }
        for text, title in cases.items():
            self.assertEqual(read(text).title, title, text)
            self.assertNotIn("undefined", json.dumps(rows(read(text))))

    def test_a_rule_at_the_start_is_not_front_matter(self) -> None:
        self.assertEqual(headings("---\nFoo\n---\nbar"), [("foo", "Foo")])
        self.assertEqual(bodies("---\nkept: yes\n\nbar"), ["kept: yes", "bar"])


class BodyTest(unittest.TestCase):
    def test_code_is_kept_to_the_letter(self) -> None:
        codes = ("a\n\n\n  b\t\n# c\n[x]: y", "<!-- x -->\n<a id=q>\n![i](j)", "~~~\n``", ":::\n::: tip\n", "import x from 'y'\n{/* c */}")
        for code in codes:
            for path in ("a.md", "a.mdx"):
                self.assertEqual(bodies(f"[x]: /u\n\n```js\n{code}\n```\n", path, "https://e.org/"), [f"```js\n{code}\n```"])
                self.assertIn(f"```js\n{code}\n```", bodies(f"- i\n\n```js\n{code}\n```", path)[-1])

    def test_code_spans_are_kept_to_the_letter(self) -> None:
        for span in ("`[r]`", "``a ` <b>x</b> ![i](j)``", "`<Tabs>`", "`<!-- x -->`"):
            self.assertEqual(bodies(f"a {span} b <b>c</b>\n\n[r]: /u", url="https://e.org/"), [f"a {span} b **c**"])

    def test_reference_links_become_inline_links(self) -> None:
        text = "[Foo  bar]: <u v> 'T'\n[foo bar]: second\n[two]:\n  /u2\n\n[a][foo BAR] [two][] [two] [no] [x]( /y )"
        self.assertEqual(bodies(text), ["[a](<u v> 'T') [two](/u2) [two](/u2) [no] [x](/y)"])

    def test_a_link_in_a_links_text_is_the_link(self) -> None:
        self.assertEqual(bodies("[a [b]( c ) d]( e )"), ["[a [b]( c ) d]( e )"])
        self.assertEqual(bodies("[a [b]( c ) d]( e )", url="https://e.org/"), ["[a [b](https://e.org/c) d]( e )"])

    def test_comments_go(self) -> None:
        self.assertEqual(bodies("a <!-- b\nc --> d\n\n<!-- e --><!-- f --> g"), ["a  d", "g"])
        self.assertEqual(bodies("a {/* b */} c", "a.mdx"), ["a  c"])
        self.assertEqual(bodies("a <i>{/* b */}</i> c"), ["a *{/* b */}* c"])

    def test_links_are_absolute_where_the_page_has_a_url(self) -> None:
        self.assertEqual(bodies("[a](../b.md) <a href='c'>d</a> [e](#f) [g](mailto:x@y.z)", url="https://e.org/x/y/z.md"),
                         ["[a](https://e.org/x/b.md) [d](https://e.org/x/y/c) [e](https://e.org/x/y/z.md#f) [g](mailto:x@y.z)"])
        self.assertEqual(bodies("[a](../b.md)"), ["[a](../b.md)"])

    def test_badges_go_and_images_become_their_text(self) -> None:
        self.assertEqual(bodies("[![a](b.svg)](c) [![d][e]][f]\n\n[e]: x.svg\n[f]: y"), [])
        self.assertEqual(bodies("![Diagram of it](x.png)"), ["Diagram of it"])
        self.assertEqual(bodies("See [![the film](x.png)](y) now"), ["See [the film](y) now"])
        self.assertEqual(headings("# Name [![npm](https://img.shields.io/x.svg)](y)"), [("name", "Name")])

    def test_tables_stay_as_they_are(self) -> None:
        table = "| a | b |\n|:--|---|\n| `x \\| y` | <b>k</b><br>l |"
        self.assertEqual(bodies(f"{table}\n\nend"), [table, "end"])

    def test_lists_stay_whole(self) -> None:
        text = "1. a\n\n   b\n   - c\n\n     ```\n     # d\n     ```\n2. e\nlazy"
        self.assertEqual(bodies(f"{text}\n\nend"), [text, "end"])

    def test_placeholders_and_type_parameters_are_text(self) -> None:
        for text in ("Use <name> and Array<string>, List<Foo>, a < b > c", "x <T> y", "<not-a-tag>"):
            self.assertEqual(bodies(text), [text])

    def test_containers_and_alerts_are_quotes(self) -> None:
        for text in ("::: tip Mind\nx\n:::", ":::tip[Mind]\nx\n:::", "!!! tip \"Mind\"\n    x", "> [!TIP] Mind\n> x", ":::: tip Mind\nx\n::::"):
            self.assertEqual(bodies(text), ["> **Tip** Mind\n>\n> x"], text)
        self.assertEqual(bodies("::: warning\nnever closed"), ["**Warning**", "never closed"])

    def test_unclosed_things_lose_no_text(self) -> None:
        for opening in (
                "```\n", "<!-- ", "<div>\n", "<table><tr><td>", "<pre>\n", "<script>\n", "::: tip\n", "{/* ",
                "<Tabs\n", "[a](", "<h2>", "> ```\n", "<table>\n\n"):
            for path in ("a.md", "a.mdx"):
                self.assertIn("the text", json.dumps(rows(read(f"{opening}the text\n\nmore text", path))), opening)
                self.assertIn("more text", json.dumps(rows(read(f"{opening}the text\n\nmore text", path))), opening)

    def test_a_contents_list_goes_and_other_lists_stay(self) -> None:
        self.assertEqual(bodies("- [a](#a)\n- [b](#b)\n  - [c](#c)"), [])
        self.assertEqual(len(bodies("- [a](#a)\n- [b](#b) does x\n- [c](#c)")), 1)

    def test_invisible_characters_go(self) -> None:
        self.assertEqual(headings("# a\u200bb\u202e\x07c\U000e0041"), [("abc", "abc")])
        self.assertEqual(headings("\ufeff# x\r\n"), [("x", "x")])

    def test_character_sets(self) -> None:
        for data, charset in (
                ("# é".encode("utf-16"), ""), ("# é".encode("latin-1"), ""), ("# é".encode("latin-1"), "iso-8859-1"), ("# é".encode(), "no-such")):
            self.assertEqual(doctrove.read_markdown(data, doctrove.Page("a.md", charset)).title, "é")


class HostileTest(unittest.TestCase):
    def test_time_grows_with_the_size_alone(self) -> None:
        pieces = (
                  "[", "![", "[a](", "> ", "<a \"", "<A {", "<!-- ", "<table>\n\n", "<pre>\n\n", "```a\n\n~~~\n", "::: tip\n", "{/*", "# *a ",
                  "<tr><td rowspan=99 colspan=99>",
                  "a\n===\n", "<code>`", "![a](x)](y)", "[a]:\n", "<svg></svg>",
                  "<A/>", "<!---->")
        for piece in pieces:
            for path in ("a.md", "a.mdx"):
                start = time.process_time()
                read(piece * (100_000 // len(piece)), path)
                self.assertLess(time.process_time() - start, 5, piece)

    def test_depth_is_bounded(self) -> None:
        for text in (
                ">" * 5000 + "x", "> " * 5000 + "x", "- " * 5000 + "x", "::: tip\n" * 3000 + "x\n" + ":::\n" * 3000, "[" * 5000 + "x" + "](y)" * 5000):
            self.assertIn("x", json.dumps(rows(read(text))))

    def test_numbers_that_do_not_count_on_are_no_headings(self) -> None:
        for text in ("T\n\n1. Foo\n\nx\n\n7. Bar\n\ny", "T\n\n1. Foo\n\n2. Bar\n\n3. Baz"):
            self.assertEqual({block.kind for block in doctrove.read_text(text.encode(), doctrove.Page("a.txt")).blocks}, {"body"})

    def test_a_notebook_that_is_none_is_text(self) -> None:
        for data in (b"{", b"[]", b"[" * 100_000, b'{"cells": [1, {"cell_type": "code", "source": 5, "outputs": {}}], "metadata": 3}'):
            doctrove.read_notebook(data, doctrove.Page("a.ipynb"))
        self.assertEqual(rows(doctrove.read_notebook(b"words", doctrove.Page("a.ipynb"))), [["words"]])


class RealTest(unittest.TestCase):
    def test_links_to_headings_of_real_pages_resolve(self) -> None:
        """Of the headings that a page links to itself at least 95 % are there (the rest are broken links in the sources)."""
        files = glob.glob(os.path.join(glob.escape(CORPORA), "**", "*.md"), recursive=True)
        if not files:
            self.skipTest(f"no Markdown below {CORPORA}: run eval/get_corpora.sh")
        wanted = there = 0
        for path in files:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            anchors = set(re.findall(r"(?:id|name)=\"([^\"]+)\"", text))
            targets = set(re.findall(r"\]\(#([^\s)%]+)\)", text)) - anchors
            document = read(text, path)
            ids = {block.id for block in document.blocks if block.kind == "heading"}
            wanted += len(targets)
            there += len(targets & ids)
            fences = re.findall(r"^```\w*\n[^`]*?^```$", text, re.MULTILINE)
            found = "\n".join(block.text for block in document.blocks)
            hidden = "".join(re.findall(r"<!--.*?-->", text, re.DOTALL))
            self.assertEqual([fence for fence in fences if fence not in found and fence not in hidden], [], path)
        self.assertGreaterEqual(there, wanted * 0.95)


if __name__ == "__main__":
    unittest.main()
