"""HTML pages become blocks: one fixture per generator, the rules one by one, and real sites where they are on the machine."""

from __future__ import annotations

import json
import os
import time
import unittest

from support import ROOT, doctrove

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "html")
URL = "https://docs.example/en/page.html"
# Real sites and what in their source names an API unit: (folder of Debian's package, folder of eval/get_corpora.sh, page, ids that must be
# entries or headings, text that must not come in).
CORPORA = os.environ.get("DOCTROVE_CORPORA", "/tmp/corpora")
SITES = (
    ("python3.11/html", "python-3.11", "library/functools.html", ("functools.lru_cache", "functools.partial.func"), "Previous topic"),
    ("nodejs/api", "node-18", "path.html", ("pathbasenamepath-suffix",), "Table of contents"),
    ("rust-doc/html/std", "rust-std-1.63", "vec/struct.Vec.html", ("method.with_capacity", "examples-1", "main-content"), "Expand description"),
    ("postgresql-doc-15/html", "postgresql-15", "runtime-config-resource.html", ("GUC-WORK-MEM",), "Prev"),
    ("git/html", "git-2.39", "git-add.html", ("_options",), "Last updated"),
    ("openjdk-17-jre-headless/api/java.base", "openjdk-17", "java/util/Optional.html", ("orElse(T)",), "Skip navigation links"),
)


def read(html: str | bytes, url: str = "", charset: str = "") -> doctrove.Document:
    data = html.encode() if isinstance(html, str) else html
    return doctrove.read_html(data, doctrove.Page("page.html", charset, url))


def rows(document: doctrove.Document) -> list[list[object]]:
    """The blocks as JSON holds them: [kind, text] of a body, [kind, level, id, text] of a heading, [kind, level, id, name, text] of an entry."""
    out: list[list[object]] = []
    for block in document.blocks:
        if block.kind == "body":
            out.append(["body", block.text])
        elif block.kind == "heading":
            out.append(["heading", block.level, block.id, block.text])
        elif block.kind == "entry":
            out.append(["entry", block.level, block.id, block.name, block.text])
        else:
            out.append(["end"])
    return out


def bodies(html: str, url: str = "") -> list[str]:
    return [block.text for block in read(html, url).blocks if block.kind == "body"]


class Generators(unittest.TestCase):
    maxDiff = None

    def test_each_generators_page_becomes_the_expected_blocks(self) -> None:
        names = sorted(name[:-5] for name in os.listdir(FIXTURES) if name.endswith(".html"))
        self.assertGreaterEqual(len(names), 22)
        for name in names:
            with self.subTest(name):
                with open(os.path.join(FIXTURES, f"{name}.html"), "rb") as file:
                    document = doctrove.read_html(file.read(), doctrove.Page(f"{name}.html", "", URL))
                with open(os.path.join(FIXTURES, f"{name}.json"), encoding="utf-8") as file:
                    expected = json.load(file)
                self.assertEqual(document.title, expected["title"])
                self.assertEqual(rows(document), expected["blocks"])


class Charsets(unittest.TestCase):
    def test_the_charset_is_that_of_mark_header_meta_or_bytes(self) -> None:
        cases = (
            ("\ufeffé".encode(), "", "utf-8-sig"), ("é".encode("utf-16"), "", "utf-16"), (b"\xe9", "ISO-8859-2", "iso8859-2"),
            (b"<meta charset=gb2312>", "", "gb18030"), (b'<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">', "", "cp1252"),
            (b"<?xml version='1.0' encoding='shift_jis'?>", "", "cp932"), (b"<meta charset=utf-16>", "", "utf-8"),
            ("é".encode(), "", "utf-8"), (b"caf\xe9", "", "cp1252"), (b"caf\xe9", "no-such-charset", "cp1252"), (b"x", "hex", "utf-8"))
        for data, header, codec in cases:
            with self.subTest(data=data, header=header):
                self.assertEqual(doctrove.html_charset(data, header), codec)

    def test_the_header_wins_over_meta(self) -> None:
        self.assertEqual(read("<meta charset=utf-8><p>щ".encode("koi8-r"), charset="koi8-r").blocks[0].text, "щ")

    def test_bytes_that_are_not_the_utf_8_they_claim_are_read_as_windows_1252(self) -> None:
        self.assertEqual(read(b"<meta charset=utf-8><p>caf\xe9 \xc3\xa9\x93x\x94").blocks[0].text, "café é“x”")


class Inline(unittest.TestCase):
    def test_inline_markup(self) -> None:
        cases = (
            ("a<b> b </b>c", "a **b** c"), ("<code>x  y</code>", "`x y`"), ("<code>a`b</code>", "`` a`b ``"), ("<tt>&lt;T&gt;</tt>", "`<T>`"),
            ("<code>a <b>b</b> <a href=x>c</a></code>", "`a b c`"), ("<b><b>x</b></b>", "**x**"), ("<i></i>x", "x"), ("a<br>b", "a\nb"),
            ("# no heading", "\\# no heading"), ("1. no list", "1\\. no list"), ("<img alt='A cat' src=c.png>", "A cat"), ("<img alt='_images/c.png'>x", "x"),
            ("<a href=javascript:x()>t</a>", "t"), ("x<sup>2</sup> 1<sup>st</sup>", "x^2 1st"), ("<q>q</q>", "“q”"))
        for html, expected in cases:
            with self.subTest(html):
                self.assertEqual(bodies(f"<main><p>{html}</p></main>"), [expected])

    def test_links_are_absolute_where_the_page_has_a_url(self) -> None:
        cases = (("../a b.html", "https://docs.example/a%20b.html"), ("#x", f"{URL}#x"), ("f(int)", "https://docs.example/en/f%28int%29"),
                 ("//cdn.example/y", "https://cdn.example/y"), ("mailto:a@b.example", "mailto:a@b.example"))
        for href, target in cases:
            with self.subTest(href):
                self.assertEqual(bodies(f"<p><a href='{href}'>t</a>", URL), [f"[t]({target})"])
        self.assertEqual(bodies("<p><a href='../a.html'>t</a>"), ["[t](../a.html)"])
        self.assertEqual(bodies("<base href='/b/'><p><a href='c'>t</a>", URL), ["[t](https://docs.example/b/c)"])

    def test_invisible_and_control_characters_are_removed(self) -> None:
        page = read("<title>t\u202ei</title><h1 id=a>He\u200bad&#8203;</h1><p>a\u202eb\x07c&#x2066;d\U000e0041</p><pre>x\u200b\ty\x1b[0m</pre>"
                    "<dl><dt id=q>s\u200big<dd>x")
        self.assertEqual(page.title, "ti")
        self.assertEqual([block.text for block in page.blocks], ["Head", "abcd", "```\nx\ty[0m\n```", "sig", "x", ""])


class Blocks(unittest.TestCase):
    def test_code_is_exact_and_its_fence_longer_than_any_inside(self) -> None:
        code = "\tif a &lt; b:\n\n    ```x```  \n&amp;amp;"
        self.assertEqual(bodies(f'<pre><code class="lang-py">{code}</code></pre>'), ["````py\n\tif a < b:\n\n    ```x```  \n&amp;\n````"])

    def test_a_div_in_code_is_a_line_and_adds_no_empty_ones(self) -> None:
        cases = (("<div>a</div><div>b</div>c", "a\nb\nc"), ("  <div>def f():</div>\n\n  g", "  def f():\n\n  g"), ("a<div>b</div>\nc", "a\nb\nc"),
                 ("<div>a<div>b</div></div>c", "a\nb\nc"))
        for code, expected in cases:
            with self.subTest(code):
                self.assertEqual(bodies(f"<pre>{code}</pre>"), [f"```\n{expected}\n```"])

    def test_the_language_is_what_the_source_says(self) -> None:
        cases = (('<pre class="brush: js">', "js"), ('<div class="highlight-none"><pre>', ""), ('<div class="highlight-default"><pre>', ""),
                 ('<pre data-lang="C++">', "c++"), ('<pre class="sourceCode haskell">', "haskell"), ('<pre><code class="hljs go">', "go"),
                 ('<div class="highlight-source-shell"><pre>', "shell"), ('<pre class="language-x y">', "x"), ('<pre class="language-`a">', ""))
        for start, language in cases:
            with self.subTest(start):
                self.assertEqual(bodies(f"{start}x</pre></div>"), [f"```{language}\nx\n```"])

    def test_lists_nest_by_indentation(self) -> None:
        html = "<ol start=9><li>a<ul><li>b<li><p>c</p><pre>d\n e</pre></ul><li value=20>f</ol>"
        self.assertEqual(bodies(html), ["9. a\n   - b\n\n   - c\n\n     ```\n     d\n      e\n     ```\n\n20. f"])

    def test_tables_keep_every_cell(self) -> None:
        cases = (
            ("<tr><th>a<th>b<tr><td rowspan=2>1<td>2<tr><td>3", "| a | b |\n| --- | --- |\n| 1 | 2 |\n|  | 3 |"),
            ("<tr><td colspan=2>1<td>2<tr><td>3<td>4<td>5", "|  |  |  |\n| --- | --- | --- |\n| 1 |  | 2 |\n| 3 | 4 | 5 |"),
            ("<tr><th>a<tr><td><p>x|y</p><ul><li>z</ul><pre>a\n  b</pre>", "| a |\n| --- |\n| x\\|y<br>- z<br>`a`<br>`  b` |"),
            ("<caption>C</caption>stray<tr><th>a<th><h2 id=i>b</h2>", "**C**\n\nstray\n\n| a | **b** |\n| --- | --- |"),
            ("<tr><th>a<tr><td>x<table><tr><td>1<td>2<tr><td>3</table>", "| a |\n| --- |\n| x<br>1 / 2<br>3 |"),
            ("<tr><th>a<th>b<tr><td>1<tr><td>2<td>3", "| a | b |\n| --- | --- |\n| 1 |  |\n| 2 | 3 |"))
        for html, expected in cases:
            with self.subTest(html):
                self.assertEqual("\n\n".join(bodies(f"<table>{html}</table>")), expected)

    def test_definition_lists_are_terms_in_bold(self) -> None:
        self.assertEqual(bodies("<dl><dt>a<dt><code>b</code><dd>one<p>two<dd>three<dt>c</dl>x"), ["**a**\n**`b`**\none", "two", "three", "**c**", "x"])

    def test_a_heading_in_a_list_or_quote_comes_out_of_it_with_nothing_lost(self) -> None:
        page = read("<ul><li>a<li>b<h2 id=h>H</h2>c<li>d</ul><blockquote>q<h3 id=i>I</h3>r</blockquote>")
        self.assertEqual([block.text for block in page.blocks], ["- a\n- b", "H", "c", "- d", "> q", "I", "> r"])

    def test_headings_have_the_anchor_a_reader_would_link_to(self) -> None:
        cases = (
            ("<h2 id=a>H</h2>", "a"), ("<a name=a></a><h2>H</h2>", "a"), ("<section id=a><div><h2>H</h2></div></section>", "a"),
            ("<h2><a id=a></a>H</h2>", "a"), ("<section id=b><span id=c></span><h2>H<a class=headerlink href='#a'>¶</a></h2></section>", "a"),
            ("<div id=b><p>text</p><h2>H</h2></div>", ""), ("<h2><a class='header' href='#a' id=a>H</a></h2>", "a"))
        for html, anchor in cases:
            with self.subTest(html):
                found = [block for block in read(f"<main>{html}</main>").blocks if block.kind == "heading"]
                self.assertEqual([(block.text, block.id) for block in found], [("H", anchor)])


class Units(unittest.TestCase):
    def test_an_entry_ends_with_its_list_and_what_follows_is_outside(self) -> None:
        page = read("<main><dl><dt id=a>a()</dt><dd>x<dl><dt id=a.b>b()</dt><dd>y</dd></dl>z</dd></dl><p>w</main>")
        self.assertEqual(rows(page), [["entry", 1, "a", "a", "a()"], ["body", "x"], ["entry", 2, "a.b", "b", "b()"], ["body", "y"], ["end"],
                                      ["body", "z"], ["end"], ["body", "w"]])

    def test_terms_that_share_a_description_each_become_findable(self) -> None:
        page = read("<dl><dt id=a>a</dt><dt id=b>b</dt><dt>c</dt><dd>x</dd></dl>")
        self.assertEqual(rows(page), [["entry", 1, "a", "a", "a"], ["end"], ["entry", 1, "b", "b", "b, c"], ["body", "x"], ["end"]])

    def test_the_name_of_a_sphinx_object_is_qualified(self) -> None:
        cases = (("py", "m.C.f", "f(x)", "m.C.f"), ("c", "c.PyLong_FromLong", "PyObject *PyLong_FromLong(long v)", "PyLong_FromLong"),
                 ("std", "cmdoption-x-v", "-v", "-v"), ("std", "envvar-HOME", "HOME", "HOME"))
        for domain, ident, signature, name in cases:
            with self.subTest(ident):
                page = read(f'<dl><dt class="sig sig-object {domain}" id="{ident}">{signature}<a class="headerlink" href="#{ident}">¶</a></dt><dd>x</dl>')
                self.assertEqual((page.blocks[0].name, page.blocks[0].text), (name, signature))


class MainContent(unittest.TestCase):
    def test_what_is_not_the_main_content_stays_out(self) -> None:
        outside = ("<nav>NAV</nav><div class='cookie-banner'>NAV</div><script>'NAV'</script><style>NAV</style><div role=search>NAV</div>"
                   "<button>NAV</button><div id=cookie-consent>NAV</div><!-- NAV --><template>NAV</template>")
        for page in (f"<body>{outside}<main><h1>H</h1>{outside}<p>text</p></main><p>NAV</p></body>", f"<body>{outside}<h1>H</h1><p>text</p>{outside}</body>"):
            with self.subTest(page):
                self.assertEqual([block.text for block in read(page).blocks], ["H", "text"])

    def test_links_to_long_addresses_are_no_navigation(self) -> None:
        link = "<a href='https://packages.example/a/very/long/address/of/a/package.html'>vim</a>"
        table = f"<table><tr><th>package<th>what it is<tr><td>{link}<td>a text editor with modes</table>"
        page = f"<body><div><p>{'text ' * 90}</p></div><div><h2>H</h2>{table}</div></body>"
        self.assertEqual([block.kind for block in read(page).blocks], ["body", "heading", "body"])

    def test_what_a_known_writer_of_plain_pages_writes_is_all_content(self) -> None:
        for generator in ("DocBook XSL Stylesheets V1.79.1", "AsciiDoc 10.2.0", "makeinfo", "pandoc"):
            with self.subTest(generator):
                page = (f"<head><meta name='generator' content='{generator}'></head><body><div class=navheader>NAV</div><div><p>{'text ' * 90}</p></div>"
                        "<div><h2>See also</h2><p><a href=x>one</a>, <a href=y>two</a></p></div><div class=navfooter>NAV</div></body>")
                self.assertEqual([block.text for block in read(page).blocks][1:], ["See also", "[one](x), [two](y)"])

    def test_a_section_about_footers_and_cookies_is_content(self) -> None:
        page = "<main><section id=cookie-objects><h2>Cookie Objects</h2><p>a</section><div class=section id=footer><h2>Footer</h2><p>b</div>"
        self.assertEqual([block.text for block in read(page).blocks], ["Cookie Objects", "a", "Footer", "b"])

    def test_the_main_element_in_a_comment_script_or_text_is_none(self) -> None:
        page = "<!-- <main> --><script>s='<div role=\"main\">'</script><p>Write &lt;main or role=\"main\" here.</p><p>x</p>"
        self.assertEqual(bodies(page), ['Write <main or role="main" here.', "x"])

    def test_an_empty_main_element_does_not_empty_the_page(self) -> None:
        self.assertEqual(bodies("<main></main><p>text</p>"), ["text"])


class BadMarkup(unittest.TestCase):
    def test_what_is_never_closed_loses_no_text(self) -> None:
        for start in ("<!--", "<script>", "<style>", "<nav>", "<div class=sidebar>", "<pre>", "<h2>", "<a href='", "<![CDATA[", "<![if x", "<?php",
                      "<table><tr>", "<title>", "<textarea>", "<svg>", "<dl><dt id=a>", "<select>",
                      "<code>", "<math>", "<b>", "<details><summary>", "<li>", "<caption>"):
            with self.subTest(start):
                page = read(f"<p>before</p>{start} after words")
                text = page.title + "".join(block.text for block in page.blocks)
                self.assertIn("before", text)
                self.assertIn("after words", text)

    def test_only_what_is_never_closed_is_mended(self) -> None:
        cases = (("<!-- a --><p>b<!-- <i>c</i>", "<!-- a --><p>b&lt;!-- <i>c</i>"), ("<script>a</script><script>b", "<script>a</script>&lt;script>b"),
                 ("<p>a<b", "<p>a&lt;b"), ("<![CDATA[x]]>", "x"), ("<!--[if IE]>x<![endif]-->", "<!--[if IE]>x-->"), ("a\r\nb\0", "a\nb"))
        for text, mended in cases:
            with self.subTest(text):
                self.assertEqual(doctrove.html_mend(text), mended)

    def test_hostile_markup_takes_linear_time(self) -> None:
        hostile = ("<div>" * 20000 + "</b>" * 20000, "<div>" * 20000 + "<li>" * 20000, "<b>" * 20000 + "x", "<ul><li>" * 10000 + "x", "<a " * 50000,
                   "<!--" * 50000, "<![CDATA[" * 20000, "<a b='" * 30000 + ">", "<blockquote>" * 20000 + "x", "<table><tr><td>" * 6000 + "x",
                   "<table>" + "<tr>" + "<td colspan=1000 rowspan=60000>x" * 9000, "<script>" * 20000, "<dl><dt id=a>x<dd>" * 4000, "<main " * 9000,
                   "<ul><li>a" * 3000, "<table>" + ("<tr>" + "<td colspan=64 rowspan=9999>x" * 20) * 100)
        for page in hostile:
            with self.subTest(page[:30]):
                started = time.process_time()
                document = read(page, URL)
                self.assertLess(time.process_time() - started, 20)
                self.assertLess(sum(len(block.text) for block in document.blocks), 30 * len(page))

    def test_entries_and_ends_are_balanced_whatever_is_cut_off(self) -> None:
        for name in ("rustdoc", "javadoc", "sphinx-classic", "nodejs", "doxygen"):
            with open(os.path.join(FIXTURES, f"{name}.html"), "rb") as file:
                data = file.read()
            for cut in range(0, len(data), 97):
                depth = 0
                for block in read(data[:cut]).blocks:
                    depth += (block.kind == "entry") - (block.kind == "end")
                    self.assertGreaterEqual(depth, 0)
                    self.assertTrue(block.kind == "end" or block.text.strip("\n"))
                    if block.kind == "entry":
                        self.assertEqual(block.level, depth)
                self.assertEqual(depth, 0)


class RealSites(unittest.TestCase):
    def test_real_pages_have_their_units_and_no_navigation(self) -> None:
        for package, corpus, page, ids, outside in SITES:
            with self.subTest(page):
                paths = (os.path.join("/usr/share/doc", package, page), os.path.join(CORPORA, corpus, page))
                path = next((path for path in paths if os.path.isfile(path)), "")
                if not path:
                    self.skipTest(f"{page} is neither in Debian's package ({paths[0]}) nor among the corpora ({paths[1]})")
                with open(path, "rb") as file:
                    document = doctrove.read_html(file.read(), doctrove.Page(page))
                self.assertLessEqual(set(ids), {block.id for block in document.blocks})
                self.assertNotIn(outside, "\n".join(block.text for block in document.blocks))


if __name__ == "__main__":
    unittest.main()
