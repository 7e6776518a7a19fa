#!/usr/bin/env python3
"""How often the right passage comes first: real questions, asked through doc_extract, over what doctrove itself imported.

From a clean checkout, with EVAL the folder of the questions, two commands:

    bash EVAL/get_corpora.sh CORPORA                                                            fetches the documentation, once
    python3 tests/bench_quality.py --corpora CORPORA --queries EVAL/queries-dev.jsonl           imports it (kept between runs) and asks

    python3 tests/bench_quality.py --quick                                                      a small made-up corpus, nothing fetched

recall@1, recall@5 and MRR@10 of what the default answer names (its passages, then its headings), per corpus and per kind of question, beside
baselines over the same imported sections in the same run: plain word overlap, SQLite FTS5 BM25, and the same with porter stems, the headings
above and pairs of Chinese characters. Then how many questions have a relevant section after the import at all, have one among the passages
of the default answer, and have its heading anywhere in it; and whether search_sections, asked the same, gives the same order. Last the speed: new
questions on the corpus that --speed names, against the same on an FTS5 table in memory, and the first question of a fresh process against
json.loads of the volume.

A hit is a section whose page and anchor (the nearest one at or above it), or whose heading where that is unique on its page, is the relevant
one's; where the judgement names a text that must be in it, it is. Standard library only.
"""
from __future__ import annotations

import argparse
import collections
import gc
import hashlib
import json
import os
import random
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, Callable

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import doctrove  # noqa: E402

NAMED = 26  # passages and headings that the default answer names at most
TARGETS = (("recall@1", 0.52), ("recall@5", 0.77), ("MRR@10", 0.62), ("heading in the default answer", 0.88),
           ("search_sections in this order", 1.0))
LARGE = 8  # questions from which on a corpus is compared with the best baseline by itself
CHINESE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+")
Hit = dict[str, Any]


# The corpora, as imported.

def open_library(corpora: str, names: Sequence[str], cache: str) -> str:
    """The library folder with the named corpora, imported by this doctrove.py; what an earlier run of the same one imported is there."""
    with open(doctrove.__file__, "rb") as file:
        root = os.path.join(cache, hashlib.sha256(file.read()).hexdigest()[:12])
    for name in names:
        if doctrove.Library(root).find(name) is None:
            start = time.perf_counter()
            report = doctrove.import_source(os.path.join(corpora, name), name, "1", root)
            print(f"imported {name}: {report['documents']} documents, {report['sections']} sections, {time.perf_counter() - start:.1f} s",
                  file=sys.stderr, flush=True)
    return root


def open_catalog(root: str) -> doctrove.Catalog:
    settings = doctrove.Settings()
    settings.put(doctrove.SETTING_BY_KEY["root"], root, "bench")
    settings.put(doctrove.SETTING_BY_KEY["cacheTtl"], 0, "bench")
    return doctrove.Catalog(settings)


# The judgements.

def plain_heading(text: str) -> str:
    """A heading as two cuts of one page agree on it: without case, pilcrows, zero-width spaces and a section number in front."""
    text = re.sub(r"[¶§⬆↑🔗]+\s*$", "", re.sub(r"\s+", " ", text.replace("\u200b", "")).strip()).strip()
    text = text if text.endswith(("C#", "F#")) else re.sub(r"(?<=\w)\s*#$", "", text)
    text = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"\s+", " ", re.sub(r"^(?:[a-z]\.)?(?:\d+\.)+\d*\.?\s+", "", text)).strip()


def is_hit(section: Hit, relevant: Iterable[Hit]) -> bool:
    """section: heading, path and body of an imported section."""
    page, _, anchor = section["path"].partition("#")
    heading = plain_heading(re.sub(r" \(\d+/\d+\)$", "", section["heading"]))
    for one in relevant:
        same_anchor = bool(anchor) and anchor in (one.get("anchor"), *one.get("aliases", ()))
        same_heading = bool(one.get("heading")) and one.get("heading_unique", True) and plain_heading(one["heading"]) == heading
        must = one.get("must", "").lower()
        if page == one["file"] and (same_anchor or same_heading) and must in f"{section['heading']}\n{section['body']}".lower():
            return True
    return False


def first_rank(hits: Sequence[Hit], question: Hit) -> int:
    """The place, from 1, of the first relevant one; 0 for none."""
    return next((at for at, hit in enumerate(hits, 1) if is_hit(hit, question["relevant"])), 0)


# The baselines. Both take (sections, queries) and give the best sections of each query, best first.

def rank_plain(sections: Sequence[Hit], queries: Sequence[str]) -> list[list[int]]:
    """The share of the query's words in the heading (twice) and the body."""
    wanted = {word for query in queries for word in re.findall(r"\w+", query.lower())}
    places: dict[str, collections.Counter[int]] = {word: collections.Counter() for word in wanted}
    for at, section in enumerate(sections):
        for weight, name in ((2, "heading"), (1, "body")):
            for word in wanted.intersection(re.findall(r"\w+", section[name].lower())):
                places[word][at] += weight
    ranked = []
    for query in queries:
        points: collections.Counter[int] = collections.Counter()
        for word in set(re.findall(r"\w+", query.lower())):
            points.update(places[word])
        ranked.append(sorted(points, key=lambda at: (-points[at], at))[:10])
    return ranked


def in_pairs(text: str) -> str:
    """Runs of Chinese characters cut into overlapping pairs."""
    return CHINESE.sub(lambda match: " " + " ".join(match.group()[at:at + 2] for at in range(max(1, len(match.group()) - 1))) + " ", text)


def full_text_table(sections: Sequence[Hit], prepare: Callable[[str], str], tokenizer: str, contexts: Sequence[str]) -> sqlite3.Connection:
    table = sqlite3.connect(":memory:")
    table.execute(f"create virtual table t using fts5(heading, body, context, tokenize='{tokenizer}')")
    table.executemany("insert into t(rowid, heading, body, context) values(?, ?, ?, ?)",
                      ((at, prepare(section["heading"]), prepare(section["body"]), prepare(contexts[at])) for at, section in enumerate(sections)))
    return table


def ask_table(table: sqlite3.Connection, query: str, prepare: Callable[[str], str], most: int = 10) -> list[int]:
    words = dict.fromkeys(re.findall(r"\w+", prepare(query).lower()))
    match = " OR ".join(f'"{word}"' for word in words)
    rows = table.execute("select rowid from t where t match ? order by bm25(t, 5.0, 1.0, 2.0) limit ?", (match, most))
    return [row[0] for row in rows]


def rank_fts5(sections: Sequence[Hit], queries: Sequence[str]) -> list[list[int]]:
    table = full_text_table(sections, str, "unicode61", [""] * len(sections))
    return [ask_table(table, query, str) for query in queries]


def rank_fts5_full(sections: Sequence[Hit], queries: Sequence[str]) -> list[list[int]]:
    """With porter stems, path, title and the headings above, and Chinese pairs."""
    table = full_text_table(sections, in_pairs, "porter unicode61", list(map(context_of(sections), sections)))
    return [ask_table(table, query, in_pairs) for query in queries]


def context_of(sections: Sequence[Hit]) -> Callable[[Hit], str]:
    by_id = {section["id"]: section for section in sections}

    def context(section: Hit) -> str:
        above, parent = [], by_id.get(section.get("parent", ""))
        while parent is not None:
            above.append(parent["heading"])
            parent = by_id.get(parent.get("parent", ""))
        return " ".join([re.sub(r"\W+", " ", section.get("doc", "")), *above])
    return context


BASELINES: dict[str, Callable[[Sequence[Hit], Sequence[str]], list[list[int]]]] = {
    "plain": rank_plain, "fts5": rank_fts5, "fts5+stem+path+pairs": rank_fts5_full}


# Asking.

def ask(catalog: doctrove.Catalog, corpus: str, question: Hit, by_id: dict[str, Hit]) -> Hit:
    """The place of the first relevant section among all that the default answer names, and whether one is among its passages."""
    answer = catalog.extract(corpus, None, question["query"])
    named = [by_id[row["id"]] for row in (*answer["sections"], *answer["more"])]
    shown = [{**by_id[row["id"]], "body": row["body"]} for row in answer["sections"]]
    hits = doctrove.search_sections(catalog, {"repo": corpus, "version": None, "query": question["query"], "limit": 10}, doctrove.do_nothing)["hits"]
    return {"rank": first_rank(named, question), "shown": first_rank(shown, question), "chars": len(doctrove.to_json(answer)),
            "searched": bool(hits) and all(hit["id"] == section["id"] for hit, section in zip(hits, named))}  # as far as the answer has room to name


def measure(root: str, questions: Sequence[Hit]) -> dict[str, Hit]:
    """question id -> rank, shown, exists, and a rank per baseline."""
    catalog, results = open_catalog(root), {}
    library = doctrove.Library(root)
    for corpus in dict.fromkeys(question["corpus"] for question in questions):
        asked = [question for question in questions if question["corpus"] == corpus]
        entry = library.find(corpus)
        assert entry is not None
        sections = library.volume(entry, "1")["sections"]
        by_id = {section["id"]: section for section in sections}
        ranked = {name: rank(sections, [question["query"] for question in asked]) for name, rank in BASELINES.items()}
        for number, question in enumerate(asked):
            result = ask(catalog, corpus, question, by_id)
            result["exists"] = any(is_hit(section, question["relevant"]) for section in sections)
            for name, lists in ranked.items():
                result[name] = first_rank([sections[at] for at in lists[number]], question)
            results[question["id"]] = result
        del sections, by_id, ranked
    return results


def summary(ranks: Sequence[int]) -> tuple[float, float, float]:
    """recall@1, recall@5, MRR@10."""
    count = len(ranks) or 1
    return (sum(rank == 1 for rank in ranks) / count, sum(0 < rank <= 5 for rank in ranks) / count,
            sum(1 / rank for rank in ranks if 0 < rank <= 10) / count)


def print_table(questions: Sequence[Hit], results: dict[str, Hit]) -> None:
    columns = ("rank", *BASELINES)
    print(f"{'':<28}{'n':>4}  " + "".join(f"{name:<24}" for name in ("doctrove", *BASELINES)))
    groups: dict[str, list[Hit]] = collections.defaultdict(list)
    for key in ("corpus", "kind"):
        for question in questions:
            groups[f"{question[key]}"].append(results[question["id"]])
    for name, rows in [*groups.items(), ("all", list(results.values()))]:
        cells = [" / ".join(f"{value:.2f}" if name != "all" else f"{value:.3f}" for value in summary([row[column] for row in rows])) for column in columns]
        print(f"{name:<28}{len(rows):>4}  " + "".join(f"{cell:<24}" for cell in cells))


def judge(questions: Sequence[Hit], results: dict[str, Hit]) -> bool:
    """Prints the shares and whether each target is reached."""
    rows = list(results.values())
    at_1, at_5, mrr = summary([row["rank"] for row in rows])
    shares = {"recall@1": at_1, "recall@5": at_5, "MRR@10": mrr, "exists after the import": sum(row["exists"] for row in rows) / len(rows),
              "passage in the default answer": sum(bool(row["shown"]) for row in rows) / len(rows),
              "heading in the default answer": sum(bool(row["rank"]) for row in rows) / len(rows),
              "search_sections in this order": sum(row["searched"] for row in rows) / len(rows)}
    good = True
    for name, share in shares.items():
        target = dict(TARGETS).get(name)
        good &= target is None or share >= target
        print(f"{name:<32}{share:.3f}" + (f"   target {target:.2f}{'' if share >= target else ': missed'}" if target else ""))
    for corpus, count in collections.Counter(question["corpus"] for question in questions).items():
        own = [results[question["id"]] for question in questions if question["corpus"] == corpus]
        best = max(summary([row[name] for row in own])[2] for name in BASELINES)
        if count >= LARGE and summary([row["rank"] for row in own])[2] < best:
            print(f"{corpus}: below the best baseline ({best:.3f} MRR@10)")
            good = False
    names = [results[question["id"]]["rank"] for question in questions if question["kind"] == "api-name"]
    if names:
        print(f"{'api-name questions first':<32}{sum(rank == 1 for rank in names)} of {len(names)}")
        good &= sum(rank == 1 for rank in names) >= 0.9 * len(names) - 1e-9
    return good


# Speed.

FRESH = """\
import json, sys, time
sys.path.insert(0, sys.argv[1])
import doctrove, gc
gc.set_threshold(50000)
settings = doctrove.Settings()
settings.put(doctrove.SETTING_BY_KEY["root"], sys.argv[2], "bench")
catalog = doctrove.Catalog(settings)
start = time.perf_counter()
catalog.extract(sys.argv[3], None, sys.argv[4])
print(time.perf_counter() - start)
"""


def seconds(work: Callable[..., object], *arguments: object) -> float:
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


def bench_speed(root: str, corpus: str, queries: Sequence[str]) -> None:
    library = doctrove.Library(root)
    entry = library.find(corpus)
    assert entry is not None
    sections = library.volume(entry, "1")["sections"]
    table = full_text_table(sections, str, "unicode61", [""] * len(sections))
    for query in queries:
        ask_table(table, query, str)
    theirs = [min(seconds(ask_table, table, query, str) for _ in range(3)) for query in queries]
    ours = []
    catalog = open_catalog(root)
    catalog.extract(corpus, None, "warm up")
    for query in queries:
        ours.append(seconds(catalog.extract, corpus, None, query))
    ratios = [own / other for own, other in zip(ours, theirs)]
    print(f"{corpus}: {len(sections)} sections; a new question {statistics.median(ours) * 1000:.1f} ms, {statistics.median(ratios):.1f} x FTS5 "
          f"(worst {max(ratios):.1f} x, all together {sum(ours) / sum(theirs):.1f} x); limit 10 x")
    with open(os.path.join(root, *entry["volumes"]["1"]["href"].split("/")), encoding="utf-8") as file:
        text = file.read()
    parse = min(seconds(json.loads, text) for _ in range(3))
    first = [float(subprocess.run([sys.executable, "-c", FRESH, os.path.dirname(HERE), root, corpus, query], capture_output=True, check=True).stdout)
             for query in queries[:5]]
    print(f"the first question of a fresh process {statistics.median(first):.2f} s, {statistics.median(first) / parse:.1f} x json.loads of the volume "
          f"({len(text) / 1e6:.1f} MB); limit 6 x")


# A small corpus for a run without downloads: made-up functions on pages, each documented in sentences of its own words.

SUBJECTS = "buffer socket window archive picture ledger tunnel cursor signal bundle parcel ticket canvas folder record mirror".split()
ACTIONS = "open close rotate split merge encode filter inspect rename restore".split()
FILLER = "value result option object content default method argument given current called returned".split()


def make_corpus(folder: str) -> list[Hit]:
    """Writes the pages; returns questions, each about one function, in other forms of its words than the page has."""
    rng = random.Random(5)
    questions: list[Hit] = []
    for subject in SUBJECTS:
        lines = [f"# The {subject} module", ""]
        for action in ACTIONS:
            rare = "".join(rng.choice("bdfgklmnprt") + rng.choice("aeo") for _ in range(3))
            words = " ".join(rng.choice(FILLER) for _ in range(rng.randrange(20, 120)))
            heading = f"{action}_{subject}(source)"
            lines += [f"## {heading}", "", f"This will {action} one {subject} by its {rare}. {words}.", ""]
            anchor = heading.lower().replace("(", "").replace(")", "")
            kind, query = rng.choice((("how-to", f"how do I {action} {subject}s"), ("how-to", f"{subject} by {rare}s"), ("api-name", f"{action}_{subject}")))
            questions.append({"id": anchor, "corpus": "made-up", "kind": kind, "query": query,
                              "relevant": [{"file": f"{subject}.md", "anchor": anchor, "heading": heading}]})
        with open(os.path.join(folder, f"{subject}.md"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
    return questions


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", metavar="DIR", help="the folder that get_corpora.sh filled: a folder per corpus")
    parser.add_argument("--queries", metavar="FILE", help="the questions, JSON lines: id, corpus, kind, query, relevant")
    parser.add_argument("--cache", metavar="DIR", default=os.path.join(tempfile.gettempdir(), "doctrove-quality"), help="where imports are kept")
    parser.add_argument("--only", metavar="CORPUS", action="append", help="only this corpus; may be repeated")
    parser.add_argument("--speed", metavar="CORPUS", default="python-3.11", help="the corpus that speed is measured on ('' for none)")
    parser.add_argument("--misses", action="store_true", help="list the questions whose section is not first, with its rank")
    parser.add_argument("--json", metavar="FILE", help="write the rank of every question here")
    parser.add_argument("--quick", action="store_true", help="a small generated corpus")
    options = parser.parse_args()
    gc.set_threshold(50000)  # as the packed file does when it starts
    if not options.quick and not (options.corpora and options.queries):
        parser.error("--corpora and --queries, or --quick")
    with tempfile.TemporaryDirectory() as folder:
        corpora, cache = options.corpora, options.cache
        if options.quick:
            corpora, cache = folder, os.path.join(folder, "cache")
            os.mkdir(os.path.join(folder, "made-up"))
            questions = make_corpus(os.path.join(folder, "made-up"))
        else:
            with open(options.queries, encoding="utf-8") as file:
                questions = [json.loads(line) for line in file if line.strip()]
        questions = [question for question in questions if not options.only or question["corpus"] in options.only]
        root = open_library(corpora, list(dict.fromkeys(question["corpus"] for question in questions)), cache)
        results = measure(root, questions)
        print_table(questions, results)
        good = judge(questions, results)
        for question in questions if options.misses else ():
            if results[question["id"]]["rank"] != 1:
                print(f"{results[question['id']]['rank']:>3} {question['id']:<16} {question['query']}")
        queries = [question["query"] for question in questions if question["corpus"] == options.speed]
        if queries:
            bench_speed(root, options.speed, queries[:20])
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
