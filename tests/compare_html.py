"""Compares the HTML importer with markdownify and html2text on real pages; development only, not part of the unit tests.

Truth is an independent reading of each page by BeautifulSoup over html.parser: its main element (one selector per corpus, below), without
navigation and without the furniture of code blocks.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
from collections import Counter

from support import doctrove

# Corpus → the CSS selectors of its pages' main content, the first that is there.
MAIN = {
    "debian-reference-zh": ("body",), "django-3.2": ("div#yui-main", "main", "div[role=main]"), "flask-2.2": ("div[role=main]",),
    "git-2.39": ("body",), "node-18": ("#apicontent",), "openjdk-17": ("main",), "postgresql-15": ("body",), "python-3.11": ("div[role=main]",),
    "rust-book-1.63": ("main",), "rust-std-1.63": ("#main-content",),
}
# What is navigation wherever it stands.
NAVIGATION = ", ".join("""
    nav header:not(main_header) footer [role=navigation] [role=search] .sphinxsidebar .related .navheader .navfooter .toc #toc #footer .nav-wrapper
    .nav-wide-wrapper .sidebar .breadcrumbs form.search .search-form .sub-nav .top-nav #column2 .browse-horizontal #global-nav .mobile-nav-chapters
    .skip-nav .contents.topic div.nav ul.sub-nav-list .alt-docs .picker-header #gtoc #nav-elem""".split()).replace("_", " ")
# What belongs to the page's machinery, in a code block too.
FURNITURE = ", ".join("""
    script style template button .headerlink .linenos .lineno .src-line-numbers .line-numbers .copybtn a.srclink a.src a.test-arrow .mark .notable-traits
    .tooltip .out-of-band .rightside .viewcode-link .viewcode-back span.lang .version-picker summary.hideme input label .code-links-warning
    rustdoc-toolbar .js-flavor-selector""".split())
LINK = re.compile(r"!?\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\((?=[^()\s]*[/#.:])(?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)")
INVISIBLE = re.compile("[\u200b-\u200f\ufeff\xad]")    # doctrove drops them on purpose, so no tool is judged by them
BLOCKS = "p div li dt dd td th tr h1 h2 h3 h4 h5 h6 section article table ul ol dl blockquote figcaption caption summary details".split()
SIGNS = re.compile(r"^[ >]*\d+\\?\. ", re.MULTILINE)     # a list's numbers are the tools' own
TOOLS = ("doctrove", "markdownify", "html2text")


def chosen(folder: str, count: int) -> list[tuple[str, str]]:
    """(corpus, page) of `count` pages spread evenly over the corpora, by the hash of their paths: the same ones in every run."""
    pages = {}
    for corpus in sorted(MAIN):
        found = [os.path.relpath(os.path.join(base, name), os.path.join(folder, corpus))
                 for base, _, names in os.walk(os.path.join(folder, corpus)) for name in names if name.endswith(".html")]
        pages[corpus] = sorted(found, key=lambda path: hashlib.sha256(path.encode()).digest())
    out: list[tuple[str, str]] = []
    depth = 0
    while len(out) < count and any(len(found) > depth for found in pages.values()):
        out += [(corpus, found[depth]) for corpus, found in pages.items() if len(found) > depth]
        depth += 1
    return sorted(out[:count])


class Truth:
    """What a page holds: code blocks, cells and words of the main content, words of what is navigation."""

    def __init__(self, html: str, corpus: str) -> None:
        from bs4 import BeautifulSoup, Comment
        soup = BeautifulSoup(html, "html.parser")
        for element in [*soup.select(FURNITURE), *soup.find_all(string=lambda text: isinstance(text, Comment))]:
            element.extract()
        for element in soup.find_all("br"):
            element.replace_with("\n")
        for element in [element for element in soup.find_all(BLOCKS) if element.find_parent("pre") is None]:
            element.insert_before(" ")
            element.insert_after(" ")
        gone = [element.extract() for element in soup.select(NAVIGATION)]
        main = next((element for element in map(soup.select_one, (*MAIN[corpus], "body")) if element is not None), soup)
        self.codes = [(pre.get_text(), pre.find_parent(("td", "th")) is not None) for pre in main.find_all("pre") if pre.find_parent("pre") is None]
        self.cells = [text for text in (cell.get_text() for cell in main.find_all(("td", "th"))) if text.strip()]
        self.words = words(SIGNS.sub("", main.get_text()))
        main.extract()
        if soup.title:
            soup.title.extract()
        self.navigation = words(" ".join([soup.get_text(), *(element.get_text() for element in gone)]))


def words(text: str) -> Counter[str]:
    """How often each word stands in a text; marks of Markdown inside a word do not part it."""
    return Counter(re.findall(r"[^\W_]+", re.sub(r"[*`\\]", "", text)))


def visible(markdown: str) -> str:
    """Markdown without the targets of its links and the numbers of its lists."""
    for _ in range(3):
        markdown = LINK.sub(r"\1", markdown)
    markdown = re.sub(r"^[ >]*`{3,}\S*$", "", markdown, flags=re.MULTILINE)
    return SIGNS.sub("", re.sub(r"^[ >]*\|.*", lambda found: found[0].replace("<br>", " "), markdown, flags=re.MULTILINE))


def bare(text: str) -> str:
    """Text without space and without the signs of markup, to find a cell whatever stands around and between its words."""
    return re.sub(r"[\s*`_|\\#>\-.:\[\]()$^\u200b-\u200f\ufeff\xad]+", "", text)


def has_code(lines: list[str], code: str) -> bool:
    """Whether the lines of a code block stand in the output one after the other, all behind the same indentation or quote marks, and nothing
    but a fence or an empty line before and behind them."""
    wanted = [line.replace("\xa0", " ") for line in code.strip("\n").split("\n")]
    while wanted and not wanted[-1].strip():
        wanted.pop()
    while wanted and not wanted[0].strip():
        wanted.pop(0)
    if not wanted:
        return True
    at = -1
    for at, line in enumerate(lines):
        if not line.endswith(wanted[0]):
            continue
        prefix = line[:len(line) - len(wanted[0])]
        if prefix.strip(" >\t"):
            continue
        found = lines[at:at + len(wanted)]
        if all(line == prefix + want or (not want.strip() and not line.strip(" >")) for line, want in zip(found, wanted)) and len(found) == len(wanted):
            around = [lines[at - 1] if at else "", lines[at + len(wanted)] if at + len(wanted) < len(lines) else ""]
            if all(edge.strip(" >-1234567890.`~") == "" or "```" in edge or "~~~" in edge for edge in around):
                return True
    return False


def has_inline_code(text: str, code: str) -> bool:
    """Whether every line of a code block in a cell stands in the output; a table's cell has no room for a block."""
    flat = text.replace("\\|", "|").replace("\\", "")
    return all(line.strip().replace("\xa0", " ").replace("\\", "") in flat for line in code.split("\n"))


def convert(tool: str, html: str, data: bytes, page: str) -> tuple[str, str, str]:
    """The page as the tool's Markdown, what of it are headings and signatures (those may hold what was a code block), and the names
    that are stored with entries (they stand for a heading that the signature repeats)."""
    if tool == "doctrove":
        blocks = doctrove.read_html(data, doctrove.Page(page)).blocks
        return ("\n\n".join([block.text for block in blocks]), "\n\n".join([block.text for block in blocks if block.kind != "body"]),
                "\n".join([block.name.rpartition(".")[2] for block in blocks]))
    if tool == "markdownify":
        import markdownify
        return markdownify.markdownify(html), "", ""
    import html2text
    maker = html2text.HTML2Text()
    maker.body_width = 0
    return maker.handle(html), "", ""


def judge(truth: Truth, markdown: str, signatures: str, names: str) -> tuple[Counter[str], list[str], list[str]]:
    """The figures of one page and tool, and the code blocks and cells that are not there."""
    text = visible(markdown)
    lines, flat, held = markdown.split("\n"), bare(text), " ".join(signatures.split())
    codes = [code for code, in_cell in truth.codes if not has_code(lines, code) and not (in_cell and has_inline_code(markdown, code))
             and " ".join(code.split()) not in held]
    cells = [cell for cell in truth.cells if bare(cell) not in flat and bare(cell) not in bare(markdown) and words(cell) - words(text)]
    found = words(text)
    extra = found - truth.words
    figures = Counter({"codes lost or altered": len(codes), "cells lost": len(cells), "words kept": sum(((found + words(names)) & truth.words).values()),
                       "navigation words": sum((extra & truth.navigation).values())})
    return figures, codes, cells


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "") + "\nNeeds the packages markdownify and html2text (pip install) and the corpora that "
                                     "eval/get_corpora.sh fetches. One page takes about 0.2 s.", formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", default=os.environ.get("DOCTROVE_CORPORA", "/tmp/corpora"), help="folder of the corpora (default: %(default)s)")
    parser.add_argument("--pages", type=int, default=200, help="how many pages (default: %(default)s)")
    parser.add_argument("--show", choices=TOOLS, help="print what this tool lost, page by page")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    sums: dict[str, Counter[str]] = {tool: Counter() for tool in TOOLS}
    for corpus, page in chosen(options.corpora, options.pages):
        with open(os.path.join(options.corpora, corpus, page), "rb") as file:
            data = file.read()
        html = INVISIBLE.sub("", data.decode("utf-8", "replace").replace("\r\n", "\n"))     # as a browser reads it
        truth = Truth(html, corpus)
        total += Counter({"pages": 1, "codes": len(truth.codes), "cells": len(truth.cells), "words": sum(truth.words.values()),
                          "navigation": sum(truth.navigation.values())})
        for tool in TOOLS:
            figures, codes, cells = judge(truth, *convert(tool, html, data, page))
            sums[tool] += figures
            if options.show == tool and (codes or cells or options.pages < 12):
                kept = figures["words kept"] / max(1, sum(truth.words.values()))
                print(f"{corpus}/{page}: {kept:.3f} {figures['navigation words']}", *(f"  {text[:300]!r}" for text in codes + cells), sep="\n")
    print(f"{total['pages']} pages: {total['codes']} code blocks, {total['cells']} cells, {total['words']} words, {total['navigation']} words of navigation")
    print(f"{'':12}{'code lost/altered':>20}{'cells lost':>14}{'words kept':>14}{'navigation in':>16}")
    for tool, figures in sums.items():
        print(f"{tool:12}{figures['codes lost or altered']:>20}{figures['cells lost']:>14}{figures['words kept'] / max(1, total['words']):>14.4%}"
              f"{figures['navigation words']:>16}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
