#!/usr/bin/env python3
"""How fast questions are answered from large indexes, as ratios in one run against `json.loads` of the same bytes.

    python3 tests/bench_query.py [--quick] [--json FILE]

volume    a volume of 20,000 sections, about 10 MB: the first doc_extract (which reads, checks and prepares it), later ones with new words,
          later ones with known words in new combinations
catalog   100,000 entries, about 40 MB: lookup once warm, over exact names, prefixes, common and rare words, typos and misses;
          resident memory that opening and searching it added at its peak, against the JSON's size (in a process of its own)
volumes   500 volumes by reference: which files one doc_extract opens
The texts are generated from a fixed seed, with word frequencies like those of prose (Zipf). Standard library only.
"""
from __future__ import annotations

import argparse
import gc
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import doctrove  # noqa: E402

SYLLABLES = [a + b for a in "b c d f g h k l m n p r s t v w br cl st tr".split() for b in ("a", "e", "i", "o", "u", "ar", "en", "il", "on", "ut")]
# What people ask: words of the vocabulary by rank in frequency, from everyday ones (rank 40 stands in every second section) to rare ones.
RANKS = (40, 90, 200, 450, 900, 1800, 3500, 7000)


def vocabulary(size: int) -> list[str]:
    rng = random.Random(7)
    made: dict[str, None] = {}
    while len(made) < size:
        made.setdefault("".join(rng.choice(SYLLABLES) for _ in range(rng.choice((1, 2, 2, 3, 3, 4)))))
    return list(made)


def prose(rng: random.Random, words: list[str], weights: list[float], count: int) -> str:
    picked = rng.choices(words, cum_weights=weights, k=count)
    return ". ".join(" ".join(picked[at:at + 12]).capitalize() for at in range(0, count, 12))


def zipf(size: int) -> list[float]:
    total, weights = 0.0, []
    for rank in range(1, size + 1):
        total += 1 / rank
        weights.append(total)
    return weights


def make_volume(sections: int) -> dict[str, object]:
    rng, words = random.Random(11), vocabulary(20000)
    weights = zipf(len(words))
    return {"sections": [{"id": f"s{at}", "level": 1 + at % 3, "heading": prose(rng, words, weights, 5), "path": f"page{at // 20}.html#s{at}",
                          "body": prose(rng, words, weights, 75)} for at in range(sections)]}


def write_index(folder: str, entries: list[dict[str, object]]) -> str:
    path = os.path.join(folder, "index.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"format": doctrove.FORMAT, "entries": entries}, file, ensure_ascii=False)
    return path


def open_catalog(path: str) -> doctrove.Catalog:
    """A catalog over the index, with the cache of whole answers off: what is measured is the work."""
    settings = doctrove.Settings()
    settings.put(doctrove.SETTING_BY_KEY["localIndex"], path, "bench")
    settings.put(doctrove.SETTING_BY_KEY["cacheTtl"], 0, "bench")
    return doctrove.Catalog(settings)


def seconds(work: object, *arguments: object) -> float:
    start = time.perf_counter()
    work(*arguments)  # type: ignore[operator]
    return time.perf_counter() - start


def bench_volume(sections: int, runs: int) -> dict[str, float]:
    words = vocabulary(20000)
    with tempfile.TemporaryDirectory() as folder:
        text = json.dumps(make_volume(sections), ensure_ascii=False)
        data = text.encode()
        with open(os.path.join(folder, "volume.json"), "wb") as file:
            file.write(data)
        reference = {"href": "volume.json", "sha256": doctrove.sha256_hex(data)}
        path = write_index(folder, [{"id": "big", "name": "Big", "versions": ["1.0"], "volumes": {"1.0": reference}}])
        parse, first, new, known, all_new = [], [], [], [], []
        for run in range(runs):
            parse.append(min(seconds(json.loads, text) for _ in range(3)))
            catalog = open_catalog(path)
            first.append(seconds(catalog.extract, "big", None, f"{words[300]} {words[1200]} {words[5000]}"))
            for at in range(len(RANKS) - 2):  # three words each, from frequent to rare, never asked before
                focus = " ".join(words[RANKS[at + step] + 3 * run + step] for step in range(3))
                new.append(seconds(catalog.extract, "big", None, focus))
                all_new.append(focus)
            asked = [word for focus in all_new[-6:] for word in focus.split()]
            for at in range(len(asked) - 2):  # the same words in combinations that were not asked
                known.append(seconds(catalog.extract, "big", None, f"{asked[at]} {asked[at + 2]} {asked[(at + 7) % len(asked)]}"))
    base = statistics.median(parse)
    return {"bytes": len(data), "sections": sections, "json.loads s": base, "first / json.loads": statistics.median(first) / base,
            "new words / json.loads": statistics.median(new) / base, "new words, worst / json.loads": max(new) / base,
            "known words ms": statistics.median(known) * 1000, "known words, worst ms": max(known) * 1000}


def make_entries(count: int) -> list[dict[str, object]]:
    rng, words = random.Random(13), vocabulary(20000)
    weights = zipf(len(words))
    names: dict[str, None] = {}
    while len(names) < count:
        names.setdefault("-".join(rng.choice(words) for _ in range(rng.choice((1, 2, 2, 3)))))
    made = []
    for name in names:
        version = f"{rng.randrange(9)}.{rng.randrange(30)}.{rng.randrange(9)}"
        made.append({"id": name, "name": name.replace("-", " ").title(), "summary": prose(rng, words, weights, 14), "aliases": [name.replace("-", "") + "js"],
                     "homepage": f"https://example.org/{name}", "popularity": rng.randrange(1, 100000), "versions": [version],
                     "volumes": {version: {"href": f"volumes/{name}-{version}.json", "sha256": "0" * 64, "bytes": 48213, "sections": 31}}})
    return made


def lookup_queries(entries: list[dict[str, object]], run: int) -> list[str]:
    words = vocabulary(20000)
    name = str(entries[1000 + 17 * run]["id"])
    return [name, str(entries[2000 + run]["name"]), name[:5], name[1:], f"{words[5 + run]} {words[60 + run]} {words[700 + run]}",
            f"{words[1 + run]} {words[2 + run]}", f"{words[9000 + run]}", "zzzzqqq xxyyzz"]


# The peak is read from the kernel's own account of this process: what getrusage says is passed on from the process that started it.
MEMORY = """\
import os, sys
sys.path.insert(0, sys.argv[1])
import doctrove

def peak():
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))

settings = doctrove.Settings()
settings.put(doctrove.SETTING_BY_KEY["localIndex"], sys.argv[2], "bench")
before = peak()
catalog = doctrove.Catalog(settings)
catalog.local.store.fault = lambda name: None  # the catalog's volumes do not exist
for query in sys.argv[3:]:
    catalog.lookup(query)
print(peak() - before)
"""


def bench_catalog(count: int, runs: int) -> dict[str, float]:
    entries = make_entries(count)
    with tempfile.TemporaryDirectory() as folder:
        path = write_index(folder, entries)
        size = os.path.getsize(path)
        catalog = open_catalog(path)
        store = catalog.local.store  # type: ignore[attr-defined]
        store.fault = lambda name: None  # the catalog's volumes do not exist
        warm = seconds(catalog.lookup, "warm up")
        times = [seconds(catalog.lookup, query) for run in range(runs) for query in lookup_queries(entries, run)]
        result = {"bytes": size, "entries": count, "first lookup s": warm, "lookup ms": statistics.median(times) * 1000, "lookup, worst ms": max(times) * 1000}
        try:
            done = subprocess.run([sys.executable, "-c", MEMORY, os.path.dirname(HERE), path, *lookup_queries(entries, 0)], capture_output=True, check=True)
            result["memory / JSON"] = int(done.stdout) / size
        except subprocess.CalledProcessError as error:
            print("memory was not measured:", error.stderr.decode().strip().splitlines()[-1], file=sys.stderr)
    return result


def bench_references(count: int) -> dict[str, float]:
    """Which of many volumes by reference one question reads: counted by what the store is asked for."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "volumes"))
        entries: list[dict[str, object]] = []
        for at in range(count):
            data = json.dumps({"sections": [{"heading": f"Heading {at}", "body": "text"}]}).encode()
            with open(os.path.join(folder, "volumes", f"v{at}.json"), "wb") as file:
                file.write(data)
            entries.append({"id": f"e{at}", "name": f"E{at}", "versions": ["1"],
                            "volumes": {"1": {"href": f"volumes/v{at}.json", "sha256": doctrove.sha256_hex(data)}}})
        catalog = open_catalog(write_index(folder, entries))
        store, read = catalog.local.store, []  # type: ignore[attr-defined]
        original = store.read
        store.read = lambda name: (read.append(name), original(name))[1]
        catalog.extract(f"e{count // 2}", None, "heading")
    return {"volumes": count, "volumes read": len([name for name in read if name != "index.json"])}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one run of everything")
    parser.add_argument("--json", metavar="FILE", help="write the figures here too")
    options = parser.parse_args()
    gc.set_threshold(50000)  # as the packed file does when it starts
    runs = 1 if options.quick else 5
    results = {"volume": bench_volume(20000, runs), "catalog": bench_catalog(100000, runs), "references": bench_references(500)}
    for part, figures in results.items():
        print(part)
        for name, value in figures.items():
            print(f"  {name:<32}{value:>14,.3f}" if isinstance(value, float) else f"  {name:<32}{value:>14,}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
