#!/usr/bin/env python3
"""Runs every JavaScript example of the bundled documentation against the exact package version that it documents.

    python3 tests/check_examples.py [--only ID[@VERSION]] [--volumes DIR]

Each ```js fence of a section's body is a program of its own: it has to exit with 0, and what it prints has to equal
its `// → text` comments, line by line and in order. Needs node and npm. Prints one line per example that differs and
closes with `N passed, M failed`. Exit status: 0 all passed, 1 something failed or there was nothing to run, 2 no node.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(__file__).resolve().parent.parent / "data"
PACKAGES: dict[str, str] = {}  # entry id -> npm name, where they differ
WORKERS = 2
RUN_SECONDS = 20
INSTALL_SECONDS = 180

FENCE = re.compile(r"^( *)(`{3,})\s*([^\s`]*)[^`]*$")
LANGUAGES = {"js", "javascript", "mjs"}
PROMISED = re.compile(r"//\s*→(.*)$")
VOLUME_FILE = re.compile(r"^(.+?)-(v?\d.*)$")  # zod-4.0.0-beta.1: the id ends where the first number part begins


class Volume(NamedTuple):
    """One version of one entry. `error` says why `sections` could not be read."""

    name: str
    version: str
    file: str
    sections: list[dict[str, Any]]
    error: str = ""


class Example(NamedTuple):
    """One fence. `where` is what a failure line begins with; code None stands for a fence that never ends."""

    where: str
    code: str | None


def read_volume(name: str, version: str, path: Path) -> Volume:
    file = os.path.relpath(path)
    try:
        sections = json.loads(path.read_text(encoding="utf-8"))["sections"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        return Volume(name, version, file, [], f"cannot be read: {type(error).__name__}: {error}")
    return Volume(name, version, file, sections)


def volumes_of_index(index: Path) -> list[Volume]:
    """The volumes of an index.json, inline ones and those that it refers to."""
    volumes = []
    for entry in json.loads(index.read_text(encoding="utf-8"))["entries"]:
        for version, volume in entry["volumes"].items():
            if "href" in volume:
                volumes.append(read_volume(entry["id"], version, index.parent / volume["href"]))
            else:
                volumes.append(Volume(entry["id"], version, f"{os.path.relpath(index)} {version}", volume["sections"]))
    return volumes


def volumes_of_folder(folder: Path) -> list[Volume]:
    """The loose volume files `<id>-<version>.json` of a folder that no index names yet."""
    volumes = []
    for path in sorted(folder.glob("*.json")):
        match = VOLUME_FILE.match(path.stem)
        if match:
            volumes.append(read_volume(match[1], match[2], path))
    return volumes


def fences(body: str) -> list[str | None]:
    """The code of each JavaScript fence; None for one that is not closed."""
    found: list[str | None] = []
    lines = iter(body.splitlines())
    for line in lines:
        opening = FENCE.match(line)
        if not opening:
            continue
        indent, ticks, language = len(opening[1]), opening[2], opening[3].lower()
        code: list[str] = []
        for inner in lines:
            # CommonMark: a fence closes with at least as many ticks, and with nothing behind them.
            if inner.strip().startswith(ticks) and not inner.strip().strip("`"):
                found += ["\n".join(code) + "\n"] if language in LANGUAGES else []
                break
            code.append(inner[min(indent, len(inner) - len(inner.lstrip(" "))):])
        else:
            found.append(None)
    return found


def examples(volume: Volume) -> list[Example]:
    found = []
    for section in volume.sections:
        name = section.get("id") or section.get("heading")
        for number, code in enumerate(fences(section.get("body", "")), 1):
            found.append(Example(f"{volume.file}  {name}  block {number}", code))
    return found


def tail(text: str, count: int = 6) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return "".join(f"\n    {line}" for line in lines[-count:])


def install(npm: str, volume: Volume, folder: Path) -> str:
    """Puts the package into `folder`. Returns what went wrong, or nothing."""
    package = PACKAGES.get(volume.name, volume.name)
    folder.mkdir()
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", f"{package}@{volume.version}"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", errors="replace", timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        return f"npm install took longer than {INSTALL_SECONDS} s"
    if done.returncode:
        return f"npm install failed{tail(done.stderr)}"
    manifest = json.loads((folder / "node_modules" / package / "package.json").read_text(encoding="utf-8"))
    # A volume for `1.11` documents the newest 1.11.x; a tag or anything else that npm would resolve is no version.
    if not (manifest["version"] + ".").startswith(volume.version.lstrip("v") + "."):
        return f"npm installed {manifest['version']}"
    return ""


def difference(code: str, stdout: str) -> str:
    promised = [match[1].strip() for match in map(PROMISED.search, code.splitlines()) if match]
    printed = [line.strip() for line in stdout.splitlines()]
    for number, (want, got) in enumerate(zip_longest(promised, printed), 1):
        if want != got:
            return (
                f"prints {len(printed)} lines, promises {len(promised)}; line {number}"
                f"\n    promised: {'(nothing)' if want is None else want}\n    printed:  {'(nothing)' if got is None else got}"
            )
    return ""


def run(node: str, code: str | None, folder: Path) -> str:
    """Runs one example in a folder of its own. Returns what is wrong with it, or nothing."""
    if code is None:
        return "the fence is not closed"
    folder.mkdir(parents=True)
    (folder / "example.mjs").write_text(code, encoding="utf-8")
    # A fixed zone and no settings of the machine: dates and error pages must not depend on who runs this.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NODE_")}
    environment.update(TZ="UTC", NO_COLOR="1")
    try:
        done = subprocess.run(
            [node, "example.mjs"], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, encoding="utf-8", errors="replace", timeout=RUN_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        stderr = error.stderr or b""
        return f"still running after {RUN_SECONDS} s{tail(stderr.decode('utf-8', 'replace') if isinstance(stderr, bytes) else stderr)}"
    problem = f"exit code {done.returncode}" if done.returncode else difference(code, done.stdout)
    return problem and problem + tail(done.stderr)


def check(volumes: list[Volume], node: str, npm: str, root: Path) -> tuple[int, int]:
    """Installs, runs and reports. Returns how many examples passed and how many failed."""
    failures = 0
    jobs: list[tuple[Example, Path]] = []
    with ThreadPoolExecutor(WORKERS) as pool:
        folders = [root / str(number) for number in range(len(volumes))]
        problems = list(pool.map(lambda volume, folder: volume.error or install(npm, volume, folder), volumes, folders))
        for volume, folder, problem in zip(volumes, folders, problems):
            found = [] if problem else examples(volume)
            if problem:
                failures += 1
                print(f"FAIL {volume.file}: {problem}")
            else:
                print(f"{volume.name}@{volume.version}: {len(volume.sections)} sections, {len(found)} examples")
            jobs += [(example, folder / "run" / str(number)) for number, example in enumerate(found)]
        passed = 0
        for (example, _), problem in zip(jobs, pool.map(lambda job: run(node, job[0].code, job[1]), jobs)):
            if problem:
                failures += 1
                print(f"FAIL {example.where}: {problem}", flush=True)
            else:
                passed += 1
    return passed, failures


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the JavaScript examples of the bundled documentation.")
    parser.add_argument("--only", metavar="ID[@VERSION]", help="only this entry, or this version of it")
    parser.add_argument("--volumes", metavar="DIR", type=Path, help="check the loose files <id>-<version>.json of DIR instead of data/index.json")
    options = parser.parse_args()
    if hasattr(sys.stdout, "reconfigure"):  # examples print Chinese; a console or pipe may not be able to
        sys.stdout.reconfigure(errors="backslashreplace")

    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        print("check_examples: needs node and npm on PATH; nothing was checked", file=sys.stderr)
        return 2
    index = DATA / "index.json"
    if not options.volumes and not index.is_file():
        print(f"check_examples: there is no {index}; --volumes DIR checks loose volume files", file=sys.stderr)
        return 1
    volumes = volumes_of_folder(options.volumes) if options.volumes else volumes_of_index(index)
    if options.only:
        name, _, version = options.only.rpartition("@") if "@" in options.only[1:] else (options.only, "", "")
        volumes = [volume for volume in volumes if volume.name == name and version in ("", volume.version)]
    with tempfile.TemporaryDirectory(prefix="doctrove-examples-") as root:
        passed, failed = check(volumes, node, npm, Path(root))
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
