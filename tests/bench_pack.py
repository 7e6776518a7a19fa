#!/usr/bin/env python3
"""What packing costs and what a packed file costs: time, size, sections, its start beside the bundled file's, first and next answers.

    python3 tests/bench_pack.py --pack [PATH] [--quick] [--json FILE]

--pack  packs the index or library at PATH (default: 60 synthetic packages of 300 to 3,000 sections, the sizes that real ones have; --quick: of 60 to
        300) beside what is bundled, twice: the bytes must be the same. The start (spawn -> initialize -> tools/list -> one doc_extract on a bundled entry)
        is measured in turns against the bundled file, and in instructions where valgrind's callgrind can count them: at most 1.3 times. First answer: from
        the request to the answer of a running server that has not read the volume yet, next answer: the same with other words; for the
        packed version of median size and the largest.

Standard library only.
"""
from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = [ROOT, HERE]

import bench_start  # noqa: E402

import doctrove  # noqa: E402  # the checkout's

MOST_START = 1.3
PACKAGES = 60
QUESTIONS = ("install module", "configure default value", "raise error type", "return list")


def make_library(root: str, sections: tuple[int, int]) -> str:
    """A library of PACKAGES made-up packages, each with a number of sections within `sections`, most of them small, as real ones are."""
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10))) for _ in range(5000)]
    common = [1 / (rank + 1) for rank in range(len(words))]
    library = doctrove.Library(root)
    for number in range(PACKAGES):
        name = f"package{number}"
        amount = int(sections[0] * (sections[1] / sections[0]) ** chance.random())
        records = []
        for at in range(amount):
            body = " ".join(chance.choices(words, common, k=chance.randint(20, 150)))
            path = f"{name}/module{at // 40}.py"
            heading = f"{name}.module{at // 40}.{words[at % len(words)]}"
            records.append({"id": f"{heading}-{at}", "level": 3, "heading": heading, "path": f"{path}:{at}", "doc": path, "body": body,
                            "sha256": doctrove.sha256_hex(body.encode())})
        documents = [{"path": path, "title": path, "sha256": "0" * 64, "sections": 40} for path in dict.fromkeys(record["doc"] for record in records)]
        volume = {"summary": " ".join(chance.choices(words, k=40))[:300], "documents": documents, "sections": records}
        library.change(name, f"{number % 9}.{number % 7}.0", lambda old, volume=volume: volume)  # type: ignore[misc]
    return root


def pack(program: str, path: str, target: str) -> tuple[float, dict[str, Any]]:
    """(seconds, the report) of `pack`."""
    start = time.perf_counter()
    done = subprocess.run([bench_start.interpreter(), "-I", "-S", program, "pack", "--index", path, "-o", target, "--json"], stdin=subprocess.DEVNULL,
                          capture_output=True)
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    return time.perf_counter() - start, json.loads(done.stdout)


def answers(packed: str, row: dict[str, Any], runs: int) -> dict[str, float]:
    """Milliseconds of the first answer from a version and of the next ones, medians over `runs` servers. The server has been greeted before."""
    first, following = [], []
    for _ in range(runs):
        with subprocess.Popen([bench_start.interpreter(), "-I", "-S", packed], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            assert server.stdin and server.stdout
            taken = []
            calls = [{"name": "doc_extract", "arguments": {"id": row["id"], "version": row["version"], "focus": focus}} for focus in QUESTIONS]
            for request in (bench_start.REQUESTS[0], *({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call} for call in calls)):
                start = time.perf_counter()
                server.stdin.write(json.dumps(request).encode() + b"\n")
                server.stdin.flush()
                json.loads(server.stdout.readline())["result"]
                taken.append((time.perf_counter() - start) * 1000)
            server.stdin.close()
        first.append(taken[1])
        following += taken[2:]
    return {"first answer ms": statistics.median(first), "next answer ms": statistics.median(following)}


def bench_pack(options: argparse.Namespace) -> bool:
    runs = 5 if options.quick else 21
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = options.pack or make_library(os.path.join(folder, "library"), (60, 300) if options.quick else (300, 3000))
        bundled, packed = os.path.join(folder, "doctrove.pyz"), os.path.join(folder, "docs.pyz")
        subprocess.run([bench_start.interpreter(), os.path.join(ROOT, "build_zipapp.py"), "-o", bundled], check=True, stdout=subprocess.DEVNULL)
        seconds, report = pack(bundled, path, packed)
        rows = sorted((row for row in report["holds"] if row["from"] != "bundled"), key=lambda row: int(row["bytes"]))
        results["pack"] = {"packed versions": len(rows), "sections": sum(row["sections"] for row in rows),
                           "MB of volumes": sum(row["bytes"] for row in rows) / 1e6, "MB of the file": report["bytes"] / 1e6, "seconds": seconds,
                           "the same bytes again": pack(bundled, path, packed)[1]["sha256"] == report["sha256"]}
        command, base = ([bench_start.interpreter(), "-I", "-S", file] for file in (packed, bundled))
        start: dict[str, Any] = bench_start.compare(command, base, runs)
        counted, counted_base = bench_start.instructions(command), bench_start.instructions(base)
        if counted and counted_base:
            start.update({"instructions": counted, "base instructions": counted_base, "instruction ratio": counted / counted_base})
        else:
            start["instructions"] = "not counted: valgrind is not installed"
        results["start, against the bundled file"] = start
        for name, row in (("median", rows[len(rows) // 2]), ("largest", rows[-1])):
            results[f"{name}: {row['id']} {row['version']}, {row['sections']} sections, {row['bytes'] / 1e6:.1f} MB"] = answers(packed, row, max(runs // 4, 1))
    for name, figures in results.items():
        print(name)
        for figure, value in figures.items():
            print(f"  {figure:<24}{value:>14,.3f}" if isinstance(value, float) else f"  {figure:<24}{value!s:>14}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    ratio = start.get("instruction ratio", start["wall ratio"])  # where instructions can be counted they do not depend on what else runs
    return bool(ratio <= MOST_START and results["pack"]["the same bytes again"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pack", nargs="?", const="", metavar="PATH", help="an index or library to pack (default: synthetic packages)")
    parser.add_argument("--quick", action="store_true", help="few runs, small packages")
    parser.add_argument("--json", metavar="FILE", help="write the figures here too")
    options = parser.parse_args()
    return 0 if bench_pack(options) else 1


if __name__ == "__main__":
    sys.exit(main())
