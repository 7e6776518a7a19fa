#!/usr/bin/env python3
"""How long a start takes: spawn, initialize, tools/list and one doc_extract on the bundled index, answered and ended.

    python3 tests/bench_start.py [--quick] [--pyz FILE] [--json FILE]

Ratios in one run, pairwise interleaved: the packed file against `python3 -I -S -c "import json, re"` of the same interpreter, and the same
pair without -I -S; wall time (medians of the pairs' ratios), and instructions where valgrind's callgrind can count them. Beside that peak
memory, the forbidden modules imported on that path, and for scale an interpreter that does nothing and a file that answers everything
with {}, which no documentation server can undercut. Standard library only.

    --peer 'NAME=COMMAND …'   another server, already installed: spawn -> initialize -> tools/list answered, in turn with doctrove.pyz
"""
from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
REQUESTS = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize",
     "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "doc_extract", "arguments": {"id": "express", "focus": "wildcard"}}}]
LINES = "".join(json.dumps(request) + "\n" for request in REQUESTS).encode()
FORBIDDEN = ("urllib", "ssl", "http", "html", "ast", "argparse", "dataclasses", "typing", "inspect", "logging", "asyncio", "zipfile")
FLOOR = """\
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}), flush=True)
"""

PEAK = """\
import resource, subprocess, sys
subprocess.run(sys.argv[1:], input=sys.stdin.buffer.read(), stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def run(command: list[str], prefix: tuple[str, ...] = ()) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*prefix, *command], input=LINES, capture_output=True, check=True)


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    run(command)
    return time.perf_counter() - start


def compare(command: list[str], base: list[str], runs: int) -> dict[str, float]:
    """Wall times of both in turn; the ratio is the median of the pairs' ratios."""
    run(command), run(base)
    pairs = [(seconds(command), seconds(base)) for _ in range(runs)]
    return {"wall ms": statistics.median(pair[0] for pair in pairs) * 1000, "base ms": statistics.median(pair[1] for pair in pairs) * 1000,
            "wall ratio": statistics.median(pair[0] / pair[1] for pair in pairs)}


def seconds_to_tools(command: list[str]) -> float:
    """From the spawn to the answer to tools/list. The process is ended then, since not every server ends with its input."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin and process.stdout
        process.stdin.write(b"".join(json.dumps(request).encode() + b"\n" for request in REQUESTS[:3]))
        process.stdin.flush()
        for line in process.stdout:
            if line.startswith(b"{") and json.loads(line).get("id") == 2:
                break
        else:
            raise SystemExit(f"{command[0]} ended without answering tools/list")
        taken = time.perf_counter() - start
        process.kill()
    return taken


def compare_peer(command: list[str], own: list[str], runs: int) -> dict[str, float]:
    seconds_to_tools(command), seconds_to_tools(own)
    pairs = [(seconds_to_tools(command), seconds_to_tools(own)) for _ in range(runs)]
    return {"to tools/list ms": statistics.median(pair[0] for pair in pairs) * 1000, "doctrove ms": statistics.median(pair[1] for pair in pairs) * 1000,
            "times doctrove": statistics.median(pair[0] / pair[1] for pair in pairs)}


def instructions(command: list[str]) -> int | None:
    """Instructions that the process executes, by callgrind; None where it is not installed."""
    if not shutil.which("valgrind"):
        return None
    done = run(command, ("valgrind", "--tool=callgrind", "--callgrind-out-file=" + os.devnull))
    found = re.search(rb"Collected\s*:\s*([0-9]+)", done.stderr)
    return int(found.group(1)) if found else None


def interpreter() -> str:
    """The real interpreter: a shim or launcher in front of it would be measured too."""
    return os.path.realpath(sys.executable)


def peak_bytes(command: list[str]) -> int | None:
    """Peak resident memory of the process, as the kernel accounts it."""
    try:
        import resource
    except ImportError:
        return None
    done = subprocess.run([interpreter(), "-I", "-S", "-c", PEAK, *command], input=LINES, capture_output=True, check=True)
    return int(done.stdout) * (1 if sys.platform == "darwin" else 1024) if resource else None


def forbidden_imports(command: list[str]) -> list[str]:
    done = run([command[0], "-X", "importtime", *command[1:]])
    names = {line.rpartition(b"|")[2].strip().decode().partition(".")[0] for line in done.stderr.splitlines() if line.startswith(b"import time:")}
    return sorted(names.intersection(FORBIDDEN))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few runs")
    parser.add_argument("--pyz", metavar="FILE", help="the packed file (default: built anew)")
    parser.add_argument("--peer", metavar="NAME=COMMAND", action="append", default=[], help="another server to measure beside; may be repeated")
    parser.add_argument("--json", metavar="FILE", help="write the figures here too")
    options = parser.parse_args()
    runs = 5 if options.quick else 41
    results: dict[str, dict[str, object]] = {}
    with tempfile.TemporaryDirectory() as folder:
        pyz = options.pyz or os.path.join(folder, "doctrove.pyz")
        if not options.pyz:
            subprocess.run([interpreter(), os.path.join(ROOT, "build_zipapp.py"), "-o", pyz], check=True, stdout=subprocess.DEVNULL)
        floor = os.path.join(folder, "floor.py")
        with open(floor, "w", encoding="utf-8") as file:
            file.write(FLOOR)
        python = interpreter()
        for name, flags in (("-I -S", ["-I", "-S"]), ("plain", [])):
            command, base = [python, *flags, pyz], [python, *flags, "-c", "import json, re"]
            row: dict[str, object] = dict(compare(command, base, runs))
            if name == "-I -S" or not options.quick:
                counted, counted_base = instructions(command), instructions(base)
                if counted and counted_base:
                    row.update({"instructions": counted, "base instructions": counted_base, "instruction ratio": counted / counted_base})
                else:
                    row["instructions"] = "not counted: valgrind is not installed"
            row["peak MB"] = (peak_bytes(command) or 0) / 1e6
            results["doctrove.pyz, python " + name] = row
        command = [python, "-I", "-S", pyz]
        results["doctrove.pyz, python -I -S"]["forbidden imports"] = ", ".join(forbidden_imports(command)) or "none"
        base = [python, "-I", "-S", "-c", "import json, re"]
        results["floor: -c pass"] = dict(compare([python, "-I", "-S", "-c", "pass"], base, runs))
        results["floor: a file that answers {}"] = dict(compare([python, "-I", "-S", floor], base, runs))
        for peer in options.peer:
            name, _, command_text = peer.partition("=")
            results["peer: " + name] = dict(compare_peer(shlex.split(command_text), [python, "-I", "-S", pyz], runs // 4 + 1))
    for name, row in results.items():
        print(name)
        for figure, value in row.items():
            print(f"  {figure:<24}{value:>14,.3f}" if isinstance(value, float) else f"  {figure:<24}{value!s:>14}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
