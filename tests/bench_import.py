#!/usr/bin/env python3
"""How fast documentation is imported, beside floors measured in the same run over the same files.

    python3 tests/bench_import.py [--quick] [--corpora DIR] [--only NAME[,NAME…]] [--rounds N] [--json FILE]

The import is the whole one that `index` makes: open the collection, read each file, tell its format, parse, split into sections, encode the
volume as JSON and write it. One process; processor time, so that other work on the machine does not count. Each round measures the import and
its floor in turn; a ratio is the median of the rounds' ratios.

floor of HTML          html.parser alone: each page decoded and fed to an HTMLParser that collects its text
floor of all others    each file decoded and cut before lines that begin with 1–6 '#', the pieces inserted into an SQLite FTS5 table on disk
memory                 what an import adds at its peak, in a process of its own that has imported one small page before (which loads the
                       modules), against 6 × the largest file + the volume

--corpora: a folder of folders of real documentation, one corpus each (eval/get_corpora.sh fetches some). Without it, or where it is not there,
pages are generated from a fixed seed. Exits with 1 where a limit does not hold. Standard library only.
"""
from __future__ import annotations

import argparse
import collections
import gc
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from html.parser import HTMLParser
from typing import Callable

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
from bench_query import prose, vocabulary, zipf  # noqa: E402

import doctrove  # noqa: E402

doctrove.MOST_WORKERS = 1   # what is measured is what one core does
LIMITS = {"html": 2.0, "markdown": 4.0}     # of the ratio to the floor
MEMORY_MB = 2   # what the interpreter takes however little is imported weighs more in a smaller corpus, where the limit is not held
ROUND_SECONDS = 0.3     # a small corpus is imported several times in a round, since the clock is coarse


def import_whole(folder: str, target: str) -> doctrove.Import:
    done = doctrove.import_collection(doctrove.open_collection(folder))
    with open(target, "wb") as file:
        file.writelines(doctrove.encode_volume(done.volume))
    return done


# — floors —

class Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def read_text(path: str) -> str:
    with open(path, "rb") as file:
        return file.read().decode("utf-8", "replace")


def parse_only(paths: list[str], target: str) -> None:
    for path in paths:
        parser = Text()
        parser.feed(read_text(path))
        parser.close()
        "".join(parser.parts)


def split_and_insert(paths: list[str], target: str) -> None:
    import sqlite3
    rows = []
    for path in paths:
        for part in re.split(r"(?m)^(?=#{1,6} )", read_text(path)):
            if part.strip():
                heading, _, body = part.partition("\n")
                rows.append((path, heading.lstrip("# "), body))
    if os.path.exists(target):
        os.remove(target)
    database = sqlite3.connect(target)
    database.execute("CREATE VIRTUAL TABLE pages USING fts5(page UNINDEXED, heading, body, tokenize='unicode61')")
    database.executemany("INSERT INTO pages VALUES (?, ?, ?)", rows)
    database.commit()
    database.close()


# — one corpus —

def seconds(work: Callable[[str | list[str], str], object], source: str | list[str], target: str, times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        work(source, target)
    return (time.process_time() - start) / times


def bench_corpus(folder: str, rounds: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as scratch:
        volume, database = os.path.join(scratch, "volume.json"), os.path.join(scratch, "floor.db")
        start = time.process_time()
        done = import_whole(folder, volume)
        times = max(1, min(20, int(ROUND_SECONDS / (time.process_time() - start + 0.001))))
        documents = done.volume["documents"]
        formats = collections.Counter()     # type: collections.Counter[str]
        for document in documents:
            formats[document["format"]] += document["bytes"]
        if not formats:
            return {}
        format = formats.most_common(1)[0][0]
        paths = [os.path.join(folder, *document["path"].split("/")) for document in documents if os.path.exists(os.path.join(folder, document["path"]))]
        floor = parse_only if format == "html" else split_and_insert
        taken, size, sections, largest = [], sum(formats.values()), len(done.volume["sections"]), max(document["bytes"] for document in documents)
        del done, documents
        for _ in range(rounds):
            gc.collect()
            ours = seconds(import_whole, folder, volume, times)     # type: ignore[arg-type]
            gc.collect()
            taken.append((ours, seconds(floor, paths, database, times)))    # type: ignore[arg-type]
        import_seconds = statistics.median(ours for ours, _ in taken)
        limit = 6 * largest + os.path.getsize(volume)
        memory = memory_added(folder, volume, format)
    return {"format": format, "MB": size / 1e6, "MB/s": size / 1e6 / import_seconds, "sections/s": sections / import_seconds,
            "ratio": statistics.median(ours / base for ours, base in taken), **({} if memory is None else {"memory": memory / limit})}


# The kernel's own account of the process where there is one: what getrusage says is passed on from the process that started it.
MEMORY = """\
import gc, os, sys
sys.path[:0] = sys.argv[1:3]
import bench_import

def peak():
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
    except OSError:
        import resource
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

gc.set_threshold(50000)
bench_import.import_whole(sys.argv[3], sys.argv[5])
try:
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")  # the peak begins anew
except OSError:
    pass
before = peak()
bench_import.import_whole(sys.argv[4], sys.argv[5])
print(peak() - before)
"""


def memory_added(folder: str, target: str, format: str) -> int | None:
    """Bytes that an import adds at its peak; None where that cannot be measured (Windows)."""
    with tempfile.TemporaryDirectory() as small:
        generate(small, 1, 1)
        page = os.path.join(small, f"made-{format}")
        # From byte code: what compiling leaves would hide what the import takes.
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": os.path.join(small, "cache"), "PYTHONDONTWRITEBYTECODE": ""}
        subprocess.run([sys.executable, "-c", "import doctrove, bench_import"], check=True,
                       env={**environment, "PYTHONPATH": os.pathsep.join((os.path.dirname(HERE), HERE))})
        done = subprocess.run([sys.executable, "-c", MEMORY, os.path.dirname(HERE), HERE, page, folder, target], capture_output=True, text=True, check=False,
                              env=environment)
    if done.returncode:
        print("memory was not measured:", (done.stderr.strip().splitlines() or ["?"])[-1], file=sys.stderr)
        return None
    return int(done.stdout)


# — generated pages —

def make_parts(rng: random.Random) -> Callable[[int], str]:
    words = vocabulary(20000)
    weights = zipf(len(words))
    return lambda count: prose(rng, words, weights, count)


def make_page(format: str, rng: random.Random, text: Callable[[int], str], sections: int) -> str:
    """One page of headings, paragraphs, a list, a table and code in each format's own marks."""
    marks = GENERATED[format]
    parts = [marks["top"].format(title=text(3))]
    for number in range(sections):
        parts.append(marks["section"].format(
            id=f"s{number}", heading=text(3), rule="-" * 60, first=text(60), second=text(40), name=text(1).lower().strip("."), item=text(8), other=text(8),
            cell=text(2), number=rng.randrange(99)))
    return "\n\n".join(parts) + marks["end"]


GENERATED = {
    "html": {
        "suffix": ".html", "end": "</div></body></html>",
        "top": """\
<!DOCTYPE html>
<html><head><title>{title}</title></head><body><div class="nav"><ul><li><a href="a.html">Next</a></li></ul></div><div role="main">
<h1>{title}</h1>""",
        "section": """\
<section id="{id}"><h2>{heading}<a class="headerlink" href="#{id}">¶</a></h2>
<p>{first} <code class="literal"><span>{name}</span></code> and <a class="reference" href="x.html#{name}"><em>{name}</em></a>. {second}</p>
<ul class="simple"><li><p>{item}</p></li><li><p>{other}</p></li></ul>
<table><thead><tr><th>{cell}</th><th>b</th></tr></thead><tbody><tr><td>{cell}</td><td>{name}</td></tr></tbody></table>
<div class="highlight-python"><pre><span class="k">for</span> item in range({number}):
    print(item)</pre></div></section>"""},
    "markdown": {
        "suffix": ".md", "end": "\n", "top": "# {title}",
        "section": """\
## {heading}

{first} `{name}` and [{name}](x.md#{name}). {second}

- {item}
- {other}

| {cell} | b |
| --- | --- |
| {cell} | {name} |

```python
for item in range({number}):
    print(item)
```"""},
    "rst": {
        "suffix": ".rst", "end": "\n", "top": "{title}\n" + "=" * 60,
        "section": """\
{heading}
{rule}

{first} ``{name}`` and :ref:`{name}`. {second}

* {item}
* {other}

.. code-block:: python

   for item in range({number}):
       print(item)

.. note:: {item}"""},
    "text": {"suffix": ".txt", "end": "\n", "top": "{title}\n" + "=" * 30, "section": "{heading}\n{rule}\n\n{first}\n\n* {item}\n* {other}\n\n{second}"},
}


def make_notebook(text: Callable[[int], str], cells: int) -> str:
    made = []
    for number in range(cells):
        made.append({"cell_type": "markdown", "metadata": {}, "source": [f"## {text(3)}\n", "\n", text(60)]})
        made.append({"cell_type": "code", "metadata": {}, "execution_count": number, "source": ["for item in range(9):\n", "    print(item)"],
                     "outputs": [{"output_type": "stream", "name": "stdout", "text": [text(12)]}]})
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"language": "python"}}, "cells": made})


def make_openapi(text: Callable[[int], str], paths: int) -> str:
    words = [text(1).lower().strip(".") for _ in range(paths)]
    return json.dumps({"openapi": "3.0.0", "info": {"title": text(3), "version": "1", "description": text(40)}, "paths": {
        f"/{word}/{number}": {"get": {"operationId": f"get{number}", "summary": text(5), "description": text(40), "parameters": [
            {"name": word, "in": "query", "description": text(10), "schema": {"type": "string"}}], "responses": {"200": {"description": text(6)}}}}
        for number, word in enumerate(words)}})


def generate(folder: str, pages: int, sections: int = 12) -> None:
    """A corpus of generated pages for each format below `folder`."""
    rng = random.Random(3)
    text = make_parts(rng)
    makers: dict[str, tuple[str, Callable[[], str]]] = {
        format: (marks["suffix"], lambda format=format: make_page(format, rng, text, sections))     # type: ignore[misc]
        for format, marks in GENERATED.items()}
    makers["notebook"] = ".ipynb", lambda: make_notebook(text, 20)
    makers["json"] = ".json", lambda: make_openapi(text, 30)
    for format, (suffix, make) in makers.items():
        os.mkdir(os.path.join(folder, f"made-{format}"))
        for number in range(pages):
            with open(os.path.join(folder, f"made-{format}", f"page{number}{suffix}"), "w", encoding="utf-8") as file:
                file.write(make())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few generated pages, two rounds; figures are shown and no limit is held")
    parser.add_argument("--corpora", metavar="DIR", help="folders of real documentation")
    parser.add_argument("--only", metavar="NAME[,NAME…]", help="these corpora alone")
    parser.add_argument("--rounds", type=int, default=0, metavar="N", help="5, with --quick 2")
    parser.add_argument("--json", metavar="FILE", help="write the figures here too")
    options = parser.parse_args()
    gc.set_threshold(50000)     # as the packed file does when it starts
    results: dict[str, dict[str, object]] = {}
    with tempfile.TemporaryDirectory() as made:
        folder = options.corpora or made
        if options.corpora and not os.path.isdir(folder):
            print(f"{folder}: no such folder; pages are generated", file=sys.stderr)
            folder = made
        if folder == made:
            generate(made, 10 if options.quick else 60)
        names = options.only.split(",") if options.only else sorted(name for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name)))
        print(f"{'corpus':<22}{'format':<10}{'MB':>8}{'MB/s':>8}{'sections/s':>12}{'ratio':>8}{'memory':>8}   (memory: of 6 x the largest file + the volume)")
        for name in names:
            row = bench_corpus(os.path.join(folder, name), options.rounds or (2 if options.quick else 5))
            if row:
                results[name] = row
                print(f"{name:<22}{row['format']:<10}{row['MB']:>8.2f}{row['MB/s']:>8.2f}{row['sections/s']:>12,.0f}{row['ratio']:>8.2f}"
                      f"{row.get('memory', float('nan')):>8.2f}", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    broken = [name for name, row in results.items() if float(row["ratio"]) > LIMITS.get(str(row["format"]), 1e9)  # type: ignore[arg-type]
              or (float(row["MB"]) >= MEMORY_MB and float(row.get("memory", 0)) > 1)]  # type: ignore[arg-type]
    if broken:
        print("above a limit:", ", ".join(broken))
    return 1 if broken and not options.quick else 0


if __name__ == "__main__":
    sys.exit(main())
