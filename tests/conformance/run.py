#!/usr/bin/env python3
"""Holds a built doctrove, over HTTP, to the official conformance suite.

    python3 tests/conformance/run.py doctrove.pyz [--cache DIR] [--list]

Installs two releases of npm `@modelcontextprotocol/conformance`, and Node.js 22, which they need, where `node` is older; starts the file on a free
loopback port and runs every scenario of each protocol version that the suite knows. Scenarios that ask for the tools, resources and prompts of a server
made for the suite do not apply to one of documentation: the file of each run lists them, each with its reason, and any other one that fails, warns or
says nothing where it should, or that is listed and passes, is a failure. So is a run of fewer scenarios than were counted when it was pinned.
--list prints each scenario's result. Exit status: 0 all as expected, 1 not so, 2 no npm.
"""
from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from official import RUN_SECONDS, HttpServer, install_npm, run  # noqa: E402

PACKAGE = "@modelcontextprotocol/conformance"
NODE = 22  # an older one cannot load the suite
OWN_CHECK = "wire-schema-valid"  # the suite's own beside each scenario's: that messages fit the protocol's schema


class Run(NamedTuple):
    title: str
    release: str
    options: tuple[str, ...]
    listed: str  # the file of what does not apply
    scenarios: int  # how many there are
    passed: int  # how many of them pass


RUNS = (
    Run("2026-07-28", "0.2.0-alpha.12", ("--requirements", "2026-07-28"), "2026-07-28.yml", 50, 12),
    Run("2025-11-25", "0.2.0-alpha.12", ("--requirements", "2025-11-25"), "2025-11-25.yml", 33, 10),
    Run("2025-06-18", "0.2.0-alpha.12", ("--suite", "active", "--spec-version", "2025-06-18"), "2025-11-25.yml", 27, 8),
    Run("2025-03-26", "0.2.0-alpha.12", ("--suite", "all", "--spec-version", "2025-03-26"), "2025-11-25.yml", 1, 1),
    Run("2025-11-25, release 0.1.16", "0.1.16", (), "2025-11-25.yml", 30, 9),
)

Results = dict[str, dict[str, str]]  # scenario -> check -> its worst status
SEVERITY = ("SKIPPED", "INFO", "SUCCESS", "WARNING", "FAILURE")
BAD = ("WARNING", "FAILURE")


def find_node(root: Path) -> str:
    """A Node.js that runs the suite. Raises RuntimeError."""
    node = shutil.which("node")
    if node and int(re.sub(r"\D*(\d+).*", r"\1", run([node, "--version"], RUN_SECONDS).stdout.strip()) or 0) >= NODE:
        return node
    return str(install_npm(root / f"node-{NODE}", f"node@{NODE}") / "node_modules" / "node" / "bin" / "node")


def read_listed(path: Path) -> set[str]:
    """The entries `scenario` or `scenario:check` of a file of expected failures. Raises ValueError for one without a reason."""
    entries = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#") and line != "server:":
            match = re.fullmatch(r"  - ([\w.:-]+) +# (.+)", line)
            if not match:
                raise ValueError(f"{path.name}: not an entry with its reason: {line}")
            entries.add(match.group(1))
    return entries


def read_results(folder: Path) -> Results:
    """What the suite wrote down: a folder server-SCENARIO-TIME with checks.json for each scenario."""
    results: Results = {}
    for path in sorted(folder.glob("server-*/checks.json")):
        name = re.sub(r"^server-|-\d{4}-\d\d-\d\dT[\d-]+Z$", "", path.parent.name)
        checks = results.setdefault(name, {})
        for check in json.loads(path.read_text(encoding="utf-8")):
            checks[check["id"]] = max(checks.get(check["id"], SEVERITY[0]), check["status"], key=SEVERITY.index)
    return results


def judge(results: Results, listed: set[str]) -> tuple[dict[str, str], list[str]]:
    """(scenario -> passes | partly | does not apply | says nothing | fails, what is not as it should be)."""
    verdicts, faults = {}, []
    for scenario, checks in results.items():
        failing = {check for check, status in checks.items() if status in BAD}
        entries = {entry for entry in listed if entry.partition(":")[0] == scenario}
        excused = failing if scenario in entries else {check for check in failing if f"{scenario}:{check}" in entries}
        faults += [f"{scenario}: {check} {checks[check]}" for check in sorted(failing - excused)]
        faults += [f"{entry} is listed and passes" for entry in sorted(entries) if not (failing if entry == scenario else {entry.partition(":")[2]} & failing)]
        succeeds = any(status == "SUCCESS" and check != OWN_CHECK for check, status in checks.items())
        verdicts[scenario] = "fails" if failing - excused else "does not apply" if scenario in entries else \
            "says nothing" if not succeeds else "partly" if excused else "passes"
    return verdicts, faults


def drive(one: Run, node: str, folder: Path, url: str, results: Path) -> tuple[dict[str, str], list[str]]:
    """Lets one run happen. (scenario -> verdict, what is not as it should be)."""
    listed = HERE / one.listed
    command = [node, str(folder / "node_modules" / PACKAGE / "dist" / "index.js"), "server", "--url", url, *one.options]
    done = run([*command, "--expected-failures", str(listed), "--output-dir", str(results)], RUN_SECONDS, cwd=folder)
    verdicts, faults = judge(read_results(results), read_listed(listed))
    passed = sum(verdict in ("passes", "partly") for verdict in verdicts.values())
    if done.returncode:
        faults.append(f"the suite ended with {done.returncode}: {(done.stdout + done.stderr).strip().rpartition(chr(10))[2]}")
    if (len(verdicts), passed) != (one.scenarios, one.passed):
        faults.append(f"{passed} of {len(verdicts)} scenarios passed, not {one.passed} of {one.scenarios}")
    return verdicts, faults


def check(server: Path, root: Path, scratch: Path, lists: bool) -> int:
    """Installs, runs and reports. Returns how many runs were not as they should be."""
    releases = sorted({one.release for one in RUNS})
    with ThreadPoolExecutor() as pool:
        getting_node = pool.submit(find_node, root)
        installing = {release: pool.submit(install_npm, root / f"conformance-{release}", f"{PACKAGE}@{release}", "--ignore-scripts") for release in releases}
    node, folders = getting_node.result(), {release: future.result() for release, future in installing.items()}
    failed = 0
    seen: dict[str, set[str]] = {}  # the file of what does not apply -> scenarios that its runs have had
    for number, one in enumerate(RUNS):
        with HttpServer(server, "--root", str(scratch / "library"), "--http-write") as served:  # so it has all its tools
            verdicts, faults = drive(one, node, folders[one.release], served.url, scratch / str(number))
        faults += served.problems
        seen.setdefault(one.listed, set()).update(verdicts)
        if one.listed not in {later.listed for later in RUNS[number + 1:]}:
            unknown = {entry for entry in read_listed(HERE / one.listed) if entry.partition(":")[0] not in seen[one.listed]}
            faults += [f"{entry} is listed in {one.listed} and never run" for entry in sorted(unknown)]
        failed += bool(faults)
        tally = {verdict: sum(other == verdict for other in verdicts.values()) for verdict in dict.fromkeys(verdicts.values())}
        print("\n    ".join([f"{'FAIL' if faults else 'PASS'} {one.title}: {', '.join(f'{count} {verdict}' for verdict, count in tally.items())}", *faults]),
              flush=True)
        for scenario, verdict in verdicts.items() if lists else ():
            print(f"    {verdict:<16}{scenario}")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description="Hold a built doctrove to the official conformance suite.")
    parser.add_argument("server", type=Path, metavar="FILE", help="the built doctrove.pyz")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep what is installed in DIR for the next run")
    parser.add_argument("--list", action="store_true", help="print each scenario's result")
    options = parser.parse_args()
    if not shutil.which("npm"):
        print("run: needs npm on PATH; nothing was checked", file=sys.stderr)
        return 2
    if not options.server.is_file():
        parser.error(f"{options.server} is not a file; python3 build_zipapp.py makes it")
    with tempfile.TemporaryDirectory(prefix="doctrove-conformance-") as scratch:
        root = (options.cache or Path(scratch) / "installed").resolve()
        failed = check(options.server.resolve(), root, Path(scratch).resolve() / "results", options.list)
    print(f"{len(RUNS) - failed} runs passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
