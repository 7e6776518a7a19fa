#!/usr/bin/env python3
"""Drives the official MCP clients against a built doctrove over stdio.

    python3 tests/sdk/run.py doctrove.pyz [--cache DIR] [--newest]

Installs each client (PyPI `mcp`, npm TypeScript client; both generations) into a folder of its own, lets it connect in
each of its modes, list the tools and call them, list and read the resources, get a prompt and complete, and judges what it saw. The negotiated
protocol version is judged too: a client falls back to an older one without a word when the newer side of a server is broken. Needs Python 3.10
(`mcp` does), node and npm. Then each client asks a file packed from documentation that is made here, alone in a folder that cannot be written, without a home
and, where that is permitted, without any network. Prints one line per client and mode, closes with `N passed, M failed`. Exit status: 0 all passed,
1 something failed, 2 no node.
"""
from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
WORKERS = 2
RUN_SECONDS = 60
INSTALL_SECONDS = 300
# Both SDKs wait two seconds for a server to end by itself once its input is closed, and kill it then.
CLOSE_SECONDS = 2


class Client(NamedTuple):
    registry: str
    package: str
    version: str  # what is installed by default
    newest: str  # what --newest asks the registry for
    modes: dict[str, str]  # mode of the driver -> protocol version that has to come out of it


CLIENTS = {
    "py2": Client("pypi", "mcp", "==2.3.0", ">=2,<3", {"auto": "2026-07-28", "legacy": "2025-11-25", "2026-07-28": "2026-07-28"}),
    "py1": Client("pypi", "mcp", "==1.30.0", ">=1,<2", {"default": "2025-11-25"}),
    "ts2": Client("npm", "@modelcontextprotocol/client", "@2.4.0", "@^2", {"default": "2025-11-25", "auto": "2026-07-28", "pin": "2026-07-28"}),
    "ts1": Client("npm", "@modelcontextprotocol/sdk", "@1.32.2", "@^1", {"default": "2025-11-25"}),
}

TOOLS = {"catalog_lookup", "catalog_releases", "doc_extract"}


class Context(NamedTuple):
    """An entry whose resources are read and that a prompt is about: a version of it, a question, and what stands in the passage that answers it."""

    id: str
    version: str
    question: str
    passage: str


class Call(NamedTuple):
    """A good call: what its text has to contain, and what has to hold for its structured answer."""

    tool: str
    arguments: dict[str, Any]
    text: str
    holds: dict[str, Callable[[Any], bool]]


GOOD = [
    Call("catalog_lookup", {"query": "express"}, "5.1.0", {
        "results[0].id == express": lambda answer: answer["results"][0]["id"] == "express",
    }),
    Call("catalog_releases", {"id": "express"}, "4.21.2", {
        "versions has 5.1.0 and 4.21.2": lambda answer: {"5.1.0", "4.21.2"} <= set(answer["versions"]),
    }),
    Call("doc_extract", {"id": "express", "version": "4", "focus": "wildcard"}, "4.21.2", {
        "version == 4.21.2": lambda answer: answer["version"] == "4.21.2",
        "releaseKind == prefix": lambda answer: answer["releaseKind"] == "prefix",
        "sections is not empty": lambda answer: len(answer["sections"]) > 0,
    }),
]
BUNDLED = Context("express", "4.21.2", "wildcard routes", "req.params[0]")
# What a packed file is asked: a word of each function's section, with the version that was packed and without.
WORDS = ("open", "close", "read", "write", "seek")
PACKED = [
    Call("doc_extract", {"id": "valve", "focus": f"{word} a valve", **given}, f"valve.{word}", {
        "version == 7.2": lambda answer: answer["version"] == "7.2",
        f"the first section is valve.{word}": lambda answer, word=word: answer["sections"][0]["heading"] == f"valve.{word}(name)",
    })
    for word in WORDS for given in ({}, {"version": "7"})
]
VALVE = Context("valve", "7.2", "open a valve", "valve.open('main')")


def asked(good: list[Call], context: Context) -> str:
    """What the drivers ask: the good calls, then bad arguments, then a tool that does not exist; a resource that does not exist (those that are listed
    are all read); a prompt; the values of a template's argument."""
    calls = [[call.tool, call.arguments] for call in good] + [["doc_extract", {"version": "4"}], ["no_such_tool", {}]]
    return json.dumps({"calls": calls, "missing": f"doctrove://{context.id}/0.0.1",
                       "prompt": ["docs", {"id": context.id, "version": context.version, "question": context.question}],
                       "complete": ["doctrove://{id}/{version}", {"name": "version", "value": context.version[:1]}, {"id": context.id}]})


def run(command: list[str], seconds: int, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace", stdin=subprocess.DEVNULL, timeout=seconds, **options)


def install(name: str, root: Path, newest: bool) -> Path:
    """The folder that holds this client, filled unless an earlier run with the same cache did. Raises RuntimeError."""
    client = CLIENTS[name]
    wanted = client.package + (client.newest if newest else client.version)
    folder = root / f"{name}-newest" if newest else root / f"{name}-{client.version.lstrip('=@')}"
    complete = folder / "complete"
    if complete.is_file() and not newest:
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    if client.registry == "pypi":
        steps = [
            [sys.executable, "-m", "venv", str(folder)],
            [str(python_of(folder)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", wanted],
        ]
    else:
        (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        steps = [[str(shutil.which("npm")), "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", wanted]]
    for step in steps:
        done = run(step, INSTALL_SECONDS, cwd=folder)
        if done.returncode:
            raise RuntimeError(f"{wanted} cannot be installed: {(done.stderr or done.stdout).strip()[-1500:]}")
    complete.touch()
    return folder


def python_of(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def driver(name: str, folder: Path) -> list[str]:
    """The command of this client's driver. Called once per client: a copy must not be rewritten while node reads it."""
    if CLIENTS[name].registry == "pypi":
        return [str(python_of(folder)), "-B", str(HERE / f"drive_{name}.py")]
    # node looks for packages beside the module that imports them, not beside the working directory
    return [str(shutil.which("node")), str(shutil.copy(HERE / f"drive_{name}.mjs", folder))]


def installed_version(name: str, folder: Path) -> str:
    client = CLIENTS[name]
    if client.registry == "pypi":
        code = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
        return run([str(python_of(folder)), "-c", code, client.package], RUN_SECONDS).stdout.strip()
    return str(json.loads((folder / "node_modules" / client.package / "package.json").read_text(encoding="utf-8"))["version"])


def faults(seen: dict[str, Any], protocol: str, answers: str, good: list[Call], context: Context) -> list[str]:
    """What is wrong with what a client saw; empty when all is well."""
    found = []
    if seen["protocol"] != protocol:
        found.append(f"protocol is {seen['protocol']}, not {protocol}")
    missing = TOOLS - {tool["name"] for tool in seen["tools"]}
    if missing:
        found.append(f"tools/list lacks {', '.join(sorted(missing))}")
    for tool in seen["tools"]:
        if bool(tool["outputSchema"]) != (answers == "both"):
            found.append(f"{tool['name']} has {'an' if tool['outputSchema'] else 'no'} outputSchema with --answers {answers}")
    for call, result in zip(good, seen["calls"]):
        found += [f"{call.tool}: {fault}" for fault in faults_of_answer(call, result, answers)]
    bad, unknown = seen["calls"][-2:]
    if bad.get("isError") is not True or "'id'" not in bad["text"] or "validation" not in bad["text"]:
        found.append(f"a missing id is not answered by an isError result that says so: {bad}")
    elif bad["structured"] is not None and bad["structured"].get("error", {}).get("code") != "validation":
        found.append(f"a missing id is not a structured error of code validation: {bad}")
    if unknown.get("code") != -32602:
        found.append(f"an unknown tool is not error -32602: {unknown}")
    found += faults_of_context(seen, protocol, context)
    if seen["closeSeconds"] >= CLOSE_SECONDS:
        found.append(f"the server did not end when its input was closed ({seen['closeSeconds']:.1f} s)")
    return found


def faults_of_context(seen: dict[str, Any], protocol: str, context: Context) -> list[str]:
    """What is wrong with the resources, the prompt and the completion that a client saw."""
    volume = f"doctrove://{context.id}/{context.version}"
    resources, prompt = dict(seen["resources"]), seen["prompt"]
    rules = {
        f"{volume} is listed and reads": context.version in resources.get(volume, ""),
        "every resource has a text": all(resources.values()),
        # the TypeScript client 2.x turns the handshake era's code into the stateless one
        "a resource that is not there is an error": seen["missing"].get("code") in ((-32602,) if protocol.startswith("2026") else (-32002, -32602)),
        "there are two templates": len(seen["templates"]) == 2 and all(each.startswith("doctrove://{id}/{version}") for each in seen["templates"]),
        "there are two prompts": seen["prompts"] == ["docs", "upgrade"],
        "the prompt states the question": context.question in prompt[0][1] and prompt[0][0] is None,
        "the prompt embeds the passage": any(str(uri).startswith(volume + "/") and context.passage in text for uri, text in prompt[1:]),
        "the version completes": seen["completed"] == [context.version],
    }
    return [f"{rule}: does not hold; seen {json.dumps({name: seen[name] for name in seen if name not in ('tools', 'calls')})[:1000]}"
            for rule, holds in rules.items() if not holds]


def faults_of_answer(call: Call, result: dict[str, Any], answers: str) -> list[str]:
    if result.get("isError") is not False:
        return [f"failed: {json.dumps(result)[:500]}"]
    found = [] if call.text in result["text"] else [f"text lacks {call.text}: {result['text'][:200]!r}"]
    answer = result["structured"]
    if answers == "text":
        return found + ([] if answer is None else ["has structuredContent with --answers text"])
    if answer is None:
        return [*found, "has no structuredContent"]
    for rule, holds in call.holds.items():
        try:
            held = holds(answer)
        except (KeyError, IndexError, TypeError):
            held = False
        if not held:
            found.append(f"{rule} does not hold: {json.dumps(answer)[:500]}")
    return found


def drive(driving: list[str], mode: str, protocol: str, answers: str, server: Path, good: list[Call], context: Context, **options: Any) -> list[str]:
    """Lets one client in one mode use the server. Returns the faults found."""
    command = [*driving, mode, asked(good, context), "--", sys.executable, "-I", "-S", str(server), "--answers", answers]
    try:
        done = run(command, RUN_SECONDS, **{"env": {**os.environ, "NODE_NO_WARNINGS": "1"}, **options})
    except subprocess.TimeoutExpired:
        return [f"no end after {RUN_SECONDS} s"]
    # The server writes to the driver's stderr: a server that has nothing to report leaves it empty.
    noise = [f"stderr: {done.stderr.strip()[-1500:]}"] if done.stderr.strip() else []
    if done.returncode or not done.stdout.strip():
        return [f"exit code {done.returncode}, {len(done.stdout)} characters on stdout", *noise]
    return faults(json.loads(done.stdout), protocol, answers, good, context) + noise


def pack(server: Path, folder: Path) -> Path:
    """The only file in a folder that cannot be written: the server with documentation made here. Raises RuntimeError."""
    source, alone = folder / "valve-7.2", folder / "alone"
    source.mkdir()
    alone.mkdir()
    text = "".join(f"## valve.{word}(name)\n\nCall this to {word} a valve by its name.\n\n```python\nvalve.{word}('main')\n```\n\n" for word in WORDS)
    (source / "api.md").write_text(f"# Valve API\n\n{text}", encoding="utf-8")
    packed = alone / "docs.pyz"
    done = run([sys.executable, str(server), "pack", str(source), "-o", str(packed)], RUN_SECONDS)
    if done.returncode:
        raise RuntimeError(f"{server} cannot pack: {done.stderr.strip()[-1500:]}")
    alone.chmod(0o500)
    return packed


def drive_alone(driving: list[str], mode: str, protocol: str, packed: Path) -> list[str]:
    """One client with the packed file and with nothing else: no home, and no network where it may be taken away."""
    prefix = ["unshare", "-n"] if shutil.which("unshare") and not run(["unshare", "-n", "true"], RUN_SECONDS).returncode else []
    env = {name: value for name, value in os.environ.items() if name.upper() not in ("HOME", "USERPROFILE", "HOMEPATH", "HOMEDRIVE")}
    return drive([*prefix, *driving], mode, protocol, "both", packed, PACKED, VALVE, cwd=packed.parent, env={**env, "NODE_NO_WARNINGS": "1"})


def check(server: Path, root: Path, newest: bool, scratch: Path) -> tuple[int, int]:
    """Installs, drives and reports. Returns how many client-and-mode pairs passed and how many failed."""
    passed = failed = 0
    packed = pack(server, scratch)
    with ThreadPoolExecutor(WORKERS) as pool:
        installing = {name: pool.submit(install, name, root, newest) for name in CLIENTS}
        for name, client in CLIENTS.items():
            try:
                folder = installing[name].result()
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"FAIL {name}: {error}", flush=True)
                continue
            version, driving = installed_version(name, folder), driver(name, folder)
            runs = [(mode, protocol, answers) for mode, protocol in client.modes.items() for answers in ("both", "text")]
            driven = [pool.submit(drive, driving, *arguments, server, GOOD, BUNDLED) for arguments in runs]
            for mode, protocol in client.modes.items():
                runs.append((mode, protocol, "both, from a packed file alone"))
                driven.append(pool.submit(drive_alone, driving, mode, protocol, packed))
            for (mode, protocol, answers), future in zip(runs, driven):
                found = future.result()
                if found:
                    failed += 1
                else:
                    passed += 1
                title = f"{name} {client.package} {version}  mode {mode}  answers {answers}  protocol {protocol}"
                print("\n    ".join([f"{'FAIL' if found else 'PASS'} {title}", *found]), flush=True)
    return passed, failed


def main() -> int:
    parser = argparse.ArgumentParser(description="Drive the official MCP clients against a built doctrove.")
    parser.add_argument("server", type=Path, metavar="FILE", help="the built doctrove.pyz")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the installed clients in DIR for the next run")
    parser.add_argument("--newest", action="store_true", help="the newest version of each client instead of the pinned one")
    options = parser.parse_args()
    if not shutil.which("node") or not shutil.which("npm"):
        print("run: needs node and npm on PATH; nothing was checked", file=sys.stderr)
        return 2
    if not options.server.is_file():
        parser.error(f"{options.server} is not a file; python3 build_zipapp.py makes it")
    with tempfile.TemporaryDirectory(prefix="doctrove-sdk-") as root, tempfile.TemporaryDirectory(prefix="doctrove-alone-") as scratch:
        passed, failed = check(options.server.resolve(), (options.cache or Path(root)).resolve(), options.newest, Path(scratch).resolve())
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
