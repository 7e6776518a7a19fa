#!/usr/bin/env python3
"""Drives the official MCP clients against a built doctrove, over stdio and over HTTP.

    python3 tests/sdk/run.py doctrove.pyz [--cache DIR] [--newest]

Installs each client (PyPI `mcp`, npm TypeScript client; both generations) into a folder of its own, lets it connect in
each of its modes, list the tools and call them, list and read the resources, get a prompt and complete, and judges what it saw. The negotiated
protocol version is judged too: a client falls back to an older one without a word when the newer side of a server is broken. Needs Python 3.10
(`mcp` does), node and npm. Then those very installations are a project with pinned packages: its documentation is packed into one file, and each
client asks that file ten questions about their interfaces, alone in a folder, without a home and, where that is permitted, on a file system that cannot be
written and without any network. Over HTTP each one is refused without a token, then does the same with it, and has to be told when another process
imports something into the library that is served. Prints one line per client and mode, closes with `N passed, M failed`. Exit status: 0 all passed,
1 something failed, 2 no node.
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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from official import FLAGS, RUN_SECONDS, HttpServer, install_npm, install_once, run  # noqa: E402

WORKERS = 2
PACK_SECONDS = 300
TOKEN = "a-token-of-these-tests-alone"
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
# The project whose documentation is packed is what these two installed; what it is asked, and the section that answers best.
PROJECT = ("py2", "ts1")
QUESTIONS = [
    ("anyio", "create_task_group", "anyio.create_task_group"), ("anyio", "to_thread.run_sync", "anyio.to_thread.run_sync"),
    ("pydantic", "BaseModel.model_validate", "pydantic.BaseModel.model_validate"), ("click", "option", "click.option"),
    ("jsonschema", "validate", "jsonschema.validate"), ("pyjwt", "encode", "jwt.encode"), ("jose", "jwtVerify", "jwtVerify"),
    ("zod", "prettifyError", "z.prettifyError"), ("hono", "Context.json", "Context.json"),
    ("@modelcontextprotocol/sdk", "Client.callTool", "Client.callTool")]


def packed_calls(pins: dict[str, str]) -> list[Call]:
    """What a packed file is asked, every other time with the version that is pinned, and what has to come of it."""
    calls = []
    for at, (name, focus, section) in enumerate(QUESTIONS):
        calls.append(Call("doc_extract", {"id": name, "focus": focus, **({"version": pins[name]} if at % 2 else {})}, section, {
            f"version == {pins[name]}, which is pinned": lambda answer, name=name: answer["version"] == pins[name],
            f"the first section is {section}": lambda answer, section=section: answer["sections"][0]["id"] == section}))
    return calls


def asked(good: list[Call], context: Context, **more: Any) -> str:
    """What the drivers ask: the good calls, then bad arguments, then a tool that does not exist; a resource that does not exist (those that are listed
    are all read); a prompt; the values of a template's argument. more: over HTTP, the token without which a client is to be refused first, and the change,
    a command that the driver runs once it listens."""
    calls = [[call.tool, call.arguments] for call in good] + [["doc_extract", {"version": "4"}], ["no_such_tool", {}]]
    return json.dumps({"calls": calls, "missing": f"doctrove://{context.id}/0.0.1",
                       "prompt": ["docs", {"id": context.id, "version": context.version, "question": context.question}],
                       "complete": ["doctrove://{id}/{version}", {"name": "version", "value": context.version[:1]}, {"id": context.id}], **more})


def install(name: str, root: Path, newest: bool) -> Path:
    """The folder that holds this client, filled unless an earlier run with the same cache did. Raises RuntimeError."""
    client = CLIENTS[name]
    wanted = client.package + (client.newest if newest else client.version)
    folder = root / f"{name}-newest" if newest else root / f"{name}-{client.version.lstrip('=@')}"
    if client.registry == "npm":
        return install_npm(folder, wanted, "--ignore-scripts", again=newest)
    return install_once(folder, [
        [sys.executable, "-m", "venv", str(folder)],
        [str(python_of(folder)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", wanted],
    ], wanted, again=newest)


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


def see(command: list[str], **options: Any) -> tuple[dict[str, Any] | None, list[str]]:
    """(what a driver saw, what is wrong whatever it saw)."""
    try:
        done = run(command, RUN_SECONDS, **{"env": {**os.environ, "NODE_NO_WARNINGS": "1"}, **options})
    except subprocess.TimeoutExpired:
        return None, [f"no end after {RUN_SECONDS} s"]
    # A server over stdio writes to the driver's stderr: one that has nothing to report leaves it empty.
    noise = [f"stderr: {done.stderr.strip()[-1500:]}"] if done.stderr.strip() else []
    if done.returncode or not done.stdout.strip():
        return None, [f"exit code {done.returncode}, {len(done.stdout)} characters on stdout", *noise]
    return json.loads(done.stdout), noise


def drive(driving: list[str], mode: str, protocol: str, answers: str, server: Path, good: list[Call], context: Context, **options: Any) -> list[str]:
    """Lets one client in one mode use the server over stdio. Returns the faults found."""
    seen, found = see([*driving, mode, asked(good, context), "--", sys.executable, *FLAGS, str(server), "--answers", answers], **options)
    return found if seen is None else faults(seen, protocol, answers, good, context) + found


def drive_http(driving: list[str], mode: str, protocol: str, server: Path) -> list[str]:
    """The same over HTTP, with a token, a library and another process that adds to it. Returns the faults found."""
    with tempfile.TemporaryDirectory(prefix="doctrove-http-") as scratch:
        library, tokens, pages = Path(scratch) / "library", Path(scratch) / "tokens", Path(scratch) / "pump-1.0"
        tokens.write_text(f"{TOKEN}\n", encoding="utf-8")
        pages.mkdir()
        (pages / "api.md").write_text("# Pump API\n\n## pump.start()\n\nStarts a pump.\n", encoding="utf-8")
        adding = [sys.executable, *FLAGS, str(server), "--root", str(library), "index", str(pages)]
        with HttpServer(server, "--root", str(library), "--http-token-file", str(tokens)) as served:
            seen, found = see([*driving, mode, asked(GOOD, BUNDLED, token=TOKEN, change=adding), "--", served.url])
    found += served.problems
    if seen is None:
        return found
    if not re.search("401|Unauthorized", seen["refused"] or ""):  # one client shows the status, another the answer's text
        found.append(f"without a token the client was not refused with 401: {seen['refused']}")
    if seen["told"] is not True:
        found.append("the client was not told that the resources had changed")
    return faults(seen, protocol, "both", GOOD, BUNDLED) + found


def pack(server: Path, folders: dict[str, Path], folder: Path) -> tuple[Path, dict[str, str]]:
    """(the documentation of everything that the clients of PROJECT had to install, as the only file in a folder; package -> version). Raises RuntimeError."""
    python, node = (folders[name] for name in PROJECT)
    project, alone = folder / "project", folder / "alone"
    project.mkdir()
    alone.mkdir()
    frozen = run([str(python_of(python)), "-m", "pip", "freeze", "--disable-pip-version-check"], RUN_SECONDS).stdout
    (project / "requirements.txt").write_text(frozen, encoding="utf-8")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(node / name, project)
    (project / "node_modules").symlink_to(node / "node_modules", target_is_directory=True)
    packed = alone / "docs.pyz"
    done = run([sys.executable, str(server), "pack", "--project", str(project), "--venv", str(python), "--all", "-o", str(packed)], PACK_SECONDS)
    if done.returncode:
        raise RuntimeError(f"{server} cannot pack: {done.stderr.strip()[-1500:]}")
    alone.chmod(0o500)
    pins = {name.lower(): version for name, _, version in (line.partition("==") for line in frozen.splitlines())}
    lock = json.loads((node / "package-lock.json").read_text(encoding="utf-8"))
    return packed, {**pins, **{place[13:]: about["version"] for place, about in lock["packages"].items() if place.count("node_modules/") == 1}}


def isolation(folder: Path) -> tuple[list[str], str]:
    """(what to put before a command, in words what that takes from it): the strongest that is permitted here. folder: what then cannot be written."""
    read_only = ["unshare", "-n", "-m", "sh", "-c", 'mount -o remount,bind,ro / && exec "$@"', "sh"]
    for prefix, words, proof in ((read_only, "no network, read-only", ["test", "!", "-w", str(folder)]), (["unshare", "-n"], "no network", ["true"])):
        if shutil.which("unshare") and not run([*prefix, *proof], RUN_SECONDS).returncode:
            return prefix, words
    return [], "with the network, which cannot be taken away here"


def drive_alone(driving: list[str], mode: str, protocol: str, packed: Path, pins: dict[str, str], prefix: list[str]) -> list[str]:
    """One client with the packed file and with nothing else, not even a home."""
    calls, context = packed_calls(pins), Context("anyio", pins["anyio"], "anyio.create_task_group", "anyio.create_task_group()")
    env = {name: value for name, value in os.environ.items() if name.upper() not in ("HOME", "USERPROFILE", "HOMEPATH", "HOMEDRIVE")}
    return drive([*prefix, *driving], mode, protocol, "both", packed, calls, context, cwd=packed.parent, env={**env, "NODE_NO_WARNINGS": "1"})


def check(server: Path, root: Path, newest: bool, scratch: Path) -> tuple[int, int]:
    """Installs, drives and reports. Returns how many client-and-mode pairs passed and how many failed."""
    passed = failed = 0
    prefix, words = isolation(scratch)
    folders: dict[str, Path] = {}
    with ThreadPoolExecutor(WORKERS) as pool:
        installing = {name: pool.submit(install, name, root, newest) for name in CLIENTS}
        for name in CLIENTS:
            try:
                folders[name] = installing[name].result()
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"FAIL {name}: {error}", flush=True)
        packed, pins = pack(server, folders, scratch) if folders.keys() >= set(PROJECT) else (None, {})
        for name, folder in folders.items():
            client = CLIENTS[name]
            version, driving = installed_version(name, folder), driver(name, folder)
            runs = [(mode, protocol, answers) for mode, protocol in client.modes.items() for answers in ("both", "text")]
            driven = [pool.submit(drive, driving, *arguments, server, GOOD, BUNDLED) for arguments in runs]
            for mode, protocol in client.modes.items():
                if packed:
                    runs.append((mode, protocol, f"both, from a packed file alone: {words}"))
                    driven.append(pool.submit(drive_alone, driving, mode, protocol, packed, pins, prefix))
                runs.append((mode, protocol, "both, over HTTP"))
                driven.append(pool.submit(drive_http, driving, mode, protocol, server))
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
