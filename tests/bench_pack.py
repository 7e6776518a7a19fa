#!/usr/bin/env python3
"""What a project's documentation in one file costs and holds: time, size, sections, the share of public names that have one, its start beside the
bundled file's, first and next answers.

    python3 tests/bench_pack.py [--folder DIR] [--list N] [--json FILE]
    python3 tests/bench_pack.py --quick | --pack PATH [--json FILE]

By default the project is that of tests/fixtures/sixty: 30 packages of PyPI and 30 of npm, in exactly the versions that its lock files pin (they want Python
3.11 or newer). They are installed into --folder with pip and `npm ci`, unless they are there (default: a temporary folder), `pack --project` makes one file
of them, and what that file holds is compared with what the packages offer (see public_names.py): of Python's names 98 % must have a section, of
npm's 97 %. --list names at most N names of each package that have none, or that stand elsewhere.
--pack PATH  packs an index or library instead. --quick: 60 synthetic packages, and few runs.

The start (spawn -> initialize -> tools/list -> one doc_extract on a bundled entry) is measured in turns against the bundled file, and in instructions where
valgrind's callgrind can count them: at most 1.3 times. First answer: from the request to the answer of a running server that has not read the volume yet,
next answer: the same with other words; for the packed version of median size and the largest. Packed twice the bytes must be the same.

Standard library only; the packages are imported in processes of their own, nowhere else.
"""
from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = [ROOT, HERE]

import bench_start  # noqa: E402
import public_names  # noqa: E402
from support import doctrove  # noqa: E402

MOST_START = 1.3
LEAST = {"pypi": 0.98, "npm": 0.97}
PROJECT = os.path.join(HERE, "fixtures", "sixty")
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


def install(folder: str) -> str:
    """The project in `folder`, with its packages installed."""
    os.makedirs(folder, exist_ok=True)
    shutil.copytree(PROJECT, folder, dirs_exist_ok=True)
    if not os.path.exists(python_in(folder)):
        subprocess.run([sys.executable, "-m", "venv", os.path.join(folder, ".venv")], check=True)
        subprocess.run([python_in(folder), "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", "requirements.txt"], cwd=folder, check=True)
    if not os.path.isdir(os.path.join(folder, "node_modules")):
        subprocess.run([shutil.which("npm") or "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
    return folder


def python_in(folder: str) -> str:
    return os.path.join(folder, ".venv", *(("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")))


def pack(program: str, what: list[str], target: str) -> tuple[float, dict[str, Any]]:
    """(seconds, the report) of `pack`."""
    start = time.perf_counter()
    command = [bench_start.interpreter(), "-I", "-S", program, "pack", *what, "-o", target, "--json"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    return time.perf_counter() - start, json.loads(done.stdout)


def shares(packed: str, folder: str, most: int) -> dict[str, dict[str, Any]]:
    """What of the project's 60 packages has a section, per ecosystem; a line is printed for each package."""
    totals: dict[str, dict[str, Any]] = {ecosystem: {} for ecosystem in LEAST}
    with zipfile.ZipFile(packed) as archive:
        for entry in json.loads(archive.read("data/index.json"))["entries"]:
            ecosystem, _, name = entry.get("package", "").partition(":")
            if ecosystem not in totals or name.startswith("@types/"):  # what is said of other packages of the project
                continue
            volume = json.loads(archive.read("data/" + entry["volumes"][entry["versions"][0]]["href"]))
            is_python = ecosystem == "pypi"
            found = public_names.python_shares(volume, python_in(folder)) if is_python else public_names.npm_shares(volume, name, folder)
            print(f"{entry['package']:<28}{entry['versions'][0]:<10}{len(volume['sections']):>7} sections" + "".join(
                f"{share.found:>8} of {share.count:>5} {kind} ({share.found / max(share.count, 1):.2%})" for kind, share in found.items()), flush=True)
            total = totals[ecosystem]
            total["packages"] = total.get("packages", 0) + 1
            for kind, share in found.items():
                total[kind] = total.get(kind, 0) + share.count
                total[f"{kind} found"] = total.get(f"{kind} found", 0) + share.found
                print("".join(f"    {kind}: {text}\n" for text in share.missing[:most]), end="")
    for total in totals.values():
        total.update({f"{kind} share": total[f"{kind} found"] / total[kind] for kind in [kind for kind in ("names", "members", "placed") if total.get(kind)]})
    return totals


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


def measure_start(packed: str, bundled: str, runs: int) -> dict[str, Any]:
    command, base = ([bench_start.interpreter(), "-I", "-S", file] for file in (packed, bundled))
    start: dict[str, Any] = bench_start.compare(command, base, runs)
    counted, counted_base = bench_start.instructions(command), bench_start.instructions(base)
    if counted and counted_base:
        return {**start, "instructions": counted, "base instructions": counted_base, "instruction ratio": counted / counted_base}
    return {**start, "instructions": "not counted: valgrind is not installed"}


def bench_pack(options: argparse.Namespace, folder: str) -> bool:
    """Prints the figures; returns whether they are as they should be."""
    runs = 5 if options.quick else 21
    is_real = not options.quick and not options.pack
    project = install(os.path.abspath(options.folder or os.path.join(folder, "project"))) if is_real else ""
    what = ["--project", project] if is_real else ["--index", options.pack or make_library(os.path.join(folder, "library"), (60, 300))]
    bundled, packed = os.path.join(folder, "doctrove.pyz"), os.path.join(folder, "docs.pyz")
    subprocess.run([bench_start.interpreter(), os.path.join(ROOT, "build_zipapp.py"), "-o", bundled], check=True, stdout=subprocess.DEVNULL)
    seconds, report = pack(bundled, what, packed)
    rows = sorted((row for row in report["holds"] if row["from"] != "bundled"), key=lambda row: int(row["bytes"]))
    results: dict[str, Any] = {"pack": {
        "packed versions": len(rows), "sections": sum(row["sections"] for row in rows), "MB of volumes": sum(row["bytes"] for row in rows) / 1e6,
        "MB of the file": report["bytes"] / 1e6, "seconds": seconds,
        "the same bytes again": pack(bundled, what, packed)[1]["sha256"] == report["sha256"]}}
    start = results["start, against the bundled file"] = measure_start(packed, bundled, runs)
    for name, row in (("median", rows[len(rows) // 2]), ("largest", rows[-1])):
        results[f"{name}: {row['id']} {row['version']}, {row['sections']} sections, {row['bytes'] / 1e6:.1f} MB"] = answers(packed, row, max(runs // 4, 1))
    totals = shares(packed, project, options.list) if is_real else {}
    results.update(totals)
    for name, figures in results.items():
        print(name)
        for figure, value in figures.items():
            print(f"  {figure:<24}{value:>14,.4f}" if isinstance(value, float) else f"  {figure:<24}{value!s:>14}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    ratio = start.get("instruction ratio", start["wall ratio"])  # where instructions can be counted they do not depend on what else runs
    complete = all(total["packages"] == PACKAGES / 2 and total["names share"] >= LEAST[ecosystem] for ecosystem, total in totals.items())
    return bool(ratio <= MOST_START and results["pack"]["the same bytes again"] and complete)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--folder", metavar="DIR", help="where the project's packages are, or are to be installed")
    parser.add_argument("--list", type=int, default=0, metavar="N", help="name at most N names of each package that have no section")
    parser.add_argument("--pack", metavar="PATH", help="an index or library to pack instead of the project")
    parser.add_argument("--quick", action="store_true", help="few runs, synthetic packages")
    parser.add_argument("--json", metavar="FILE", help="write the figures here too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return 0 if bench_pack(options, folder) else 1


if __name__ == "__main__":
    sys.exit(main())
