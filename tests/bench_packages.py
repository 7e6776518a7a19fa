#!/usr/bin/env python3
"""How much of installed packages a library of them holds: time, size, sections, and the share of public names that have a section.

    python3 tests/bench_packages.py --pypi [--venv DIR] [--python PATH] [--list] [--json FILE] [NAME …]
    python3 tests/bench_packages.py --npm [--folder DIR] [--list N] [NAME …]

--pypi  30 packages of PyPI, installed with pip into the virtual environment --venv (made where it is not there; default: a temporary one).
        A public name is one that `dir()` of the imported package, or of a public submodule of it, has without a leading underscore and whose
        object's module belongs to the package, or one that `__all__` lists; loggers and type variables are none. It has a section where one has
        that name as its id or among its further names, or has another name of the same object: a module that merely imports what another
        defines offers it under a second name. Members: the same for what public classes define.
        Beside it (readable) the share without the names of compiled modules that have no stub, of which nothing is known unless they are run, and
        (exact) the share that is found under the very name asked for. --list names what is missing.

--npm   30 packages of npm, installed into --folder (used as it is where it has node_modules; default: a temporary one). What the TypeScript compiler says
        that each of their entry points exports (checker.getExportsOfModule) is held against the sections: found by its name, and placed where the
        compiler sees its declaration, give or take two lines. --list names what is missing or stands elsewhere, such as a module's export that
        stands at the statement which exports it.

Standard library only; the packages are imported in processes of their own, here and nowhere else.
"""
from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

import doctrove  # noqa: E402  # the checkout's

PACKAGES = (
    "requests", "flask", "django", "fastapi", "pydantic", "numpy", "pandas", "sqlalchemy", "click", "rich", "httpx", "attrs", "pytest", "jinja2", "werkzeug",
    "aiohttp", "boto3", "celery", "redis", "pillow", "lxml", "cryptography", "pyyaml", "typer", "starlette", "uvicorn", "anyio", "marshmallow", "networkx",
    "scipy")
LEAST = 0.98
# Prints [[module, name, where the object was defined, its qualified name], …] and the same for the members of classes.
NAMES = r'''
import importlib, inspect, json, os, pkgutil, sys, types, warnings
warnings.simplefilter("ignore")
real, sys.stdout = sys.stdout, sys.stderr
tops = json.loads(sys.argv[1])
modules = {}
def take(name):
    try:
        module = modules[name] = importlib.import_module(name)
    except BaseException:
        return
    for info in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if info.name.isidentifier() and not info.name.startswith("_") and info.name not in ("tests", "test", "conftest", "idlelib", "turtledemo"):
            take(name + "." + info.name)
for top in tops:
    take(top)
def belongs(name):
    return isinstance(name, str) and name.partition(".")[0].lstrip("_") in {top.lstrip("_") for top in tops}
names, members, seen, kept, compiled = [], [], set(), [], []
for module_name, module in sorted(modules.items()):
    listed = getattr(module, "__all__", None) or ()
    for name in sorted({*(each for each in dir(module) if not each.startswith("_")), *(each for each in listed if isinstance(each, str))}):
        try:
            thing = getattr(module, name)
        except BaseException:
            continue
        try:
            home, called = getattr(thing, "__module__", None), getattr(thing, "__qualname__", name)
        except BaseException:  # a proxy that cannot be asked here
            continue
        if type(thing).__name__ in ("TypeVar", "ParamSpec", "TypeVarTuple", "Logger"):
            continue
        if issubclass(type(thing), types.ModuleType) or not (name in listed or belongs(home)):
            continue
        kept.append(thing)
        file = getattr(sys.modules.get(home), "__file__", None) or ""
        compiled += file.endswith((".so", ".pyd")) and not os.path.exists(file.partition(".")[0] + ".pyi") and [len(names)] or []
        names.append([module_name, name, home if isinstance(home, str) else "", called if isinstance(called, str) else name, id(thing) if belongs(home) else 0])
        if issubclass(type(thing), type) and belongs(home) and id(thing) not in seen:
            seen.add(id(thing))
            for member in vars(thing):
                value = vars(thing)[member]
                kind = type(value).__name__
                value = value.__func__ if kind in ("staticmethod", "classmethod") else value.fget if kind == "property" else value
                if not member.startswith("_") and inspect.isfunction(value) and belongs(value.__module__):
                    members.append([module_name, name + "." + member, value.__module__, value.__qualname__, id(value)])
                    kept.append(value)
print(json.dumps([names, members, compiled]), file=real)
'''


def known_names(volume: dict[str, Any]) -> set[str]:
    return {name for record in volume["sections"] for name in (record["id"], *record.get("names", ()))}


def share(rows: list[Any], known: set[str]) -> tuple[float, float, list[str]]:
    """(share with a section, share found under the very name, what is missing)."""
    same = {number for module, name, _, _, number in rows if number and f"{module}.{name}" in known}
    missing = [f"{module}.{name}" for module, name, home, called, number in rows
               if f"{module}.{name}" not in known and f"{home}.{called}" not in known and number not in same]
    exact = sum(f"{module}.{name}" in known for module, name, _, _, _ in rows)
    return 1 - len(missing) / max(len(rows), 1), exact / max(len(rows), 1), missing


def measure(package: str, python: str, venv: str) -> dict[str, Any]:
    start = time.perf_counter()
    collection = doctrove.open_python(package, {"venv": venv})
    done = doctrove.import_collection(collection)
    seconds = time.perf_counter() - start
    tops = sorted({record["id"].partition(".")[0] for record in done.volume["sections"]
                   if record["level"] == 1 and record["doc"].endswith((".py", ".pyi"))})
    told = subprocess.run([python, "-I", "-c", NAMES, json.dumps(tops)], capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL, timeout=600,
                          cwd=tempfile.gettempdir(), env={**os.environ, "DJANGO_SETTINGS_MODULE": "django.conf.global_settings"})
    if told.returncode:
        raise SystemExit(f"{package}: {told.stderr[-2000:]}")
    names, members, compiled = json.loads(told.stdout)
    known = known_names(done.volume)
    found, exact, missing = share(names, known)
    readable, _, missing_readable = share([row for number, row in enumerate(names) if number not in set(compiled)], known)
    found_members, _, missing_members = share(members, known)
    size = len(json.dumps(done.volume, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return {"package": package, "version": collection.label[1], "seconds": round(seconds, 2), "sections": len(done.volume["sections"]), "bytes": size,
            "names": len(names), "share": round(found, 4), "exact": round(exact, 4), "compiled": len(compiled), "readableShare": round(readable, 4),
            "missingReadable": missing_readable, "members": len(members), "memberShare": round(found_members, 4),
            "skipped": done.report["skippedReasons"], "missing": missing, "missingMembers": missing_members}


def prepare(venv: str, packages: list[str]) -> str:
    """The interpreter of the environment, with the packages installed."""
    python = os.path.join(venv, "Scripts" if os.name == "nt" else "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages], check=True)
    return python


def bench_pypi(options: argparse.Namespace) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        venv = options.venv or folder
        packages = options.names or list(PACKAGES)
        python = prepare(venv, packages)
        rows = []
        print(f"{'package':<14}{'version':<12}{'s':>7}{'sections':>10}{'per s':>8}{'MB':>7}{'names':>8}{'share':>8}{'readable':>10}"
              f"{'exact':>8}{'members':>9}{'share':>8}")
        for package in packages:
            row = measure(package, python, venv)
            rows.append(row)
            print(f"{package:<14}{row['version']:<12}{row['seconds']:>7}{row['sections']:>10}{row['sections'] / max(row['seconds'], 0.01):>8.0f}"
                  f"{row['bytes'] / 1e6:>7.1f}{row['names']:>8}{row['share']:>8.2%}{row['readableShare']:>10.2%}{row['exact']:>8.2%}"
                  f"{row['members']:>9}{row['memberShare']:>8.2%}", flush=True)
            if options.list:
                for title in ("missing", "missingMembers"):
                    print("\n".join(f"    {name}" for name in row[title][:options.list]))
    names = sum(row["names"] for row in rows)
    total = sum(row["names"] * row["share"] for row in rows) / max(names, 1)
    counts = [row["names"] - row["compiled"] for row in rows]
    readable = sum(count * row["readableShare"] for count, row in zip(counts, rows)) / max(sum(counts), 1)
    print(f"all: {sum(row['seconds'] for row in rows):.1f} s, {sum(row['sections'] for row in rows)} sections, {names} names, {total:.2%} have a section, "
          f"of the {sum(counts)} in readable modules {readable:.2%}; "
          f"mean of the packages {sum(row['share'] for row in rows) / len(rows):.2%}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return bool(readable >= LEAST)


# — npm —

NPM_PACKAGES = (
    "zod express axios commander react vue lodash date-fns dayjs rxjs fastify yargs chalk undici ws uuid drizzle-orm @tanstack/react-query svelte vite vitest "
    "hono koa redux zustand immer jose eslint pino typescript").split()
NPM_LEAST = 0.97
NPM_BESIDE = "typescript@5 @types/node @types/express @types/react @types/lodash @types/yargs @types/ws @types/koa".split()
# Prints, for each entry point that it is given as 'name', its exports: {entry: {export: [file:line, …]}}; null where the compiler finds no module.
NPM_COMPILER = r"""
const ts = require("typescript"), fs = require("fs"), path = require("path");
const names = JSON.parse(fs.readFileSync(0, "utf8"));
const file = path.join(process.cwd(), "entry.ts");
fs.writeFileSync(file, names.map((name, at) => `import * as m${at} from ${JSON.stringify(name)};`).join("\n"));
const found = {};
const options = { moduleResolution: ts.ModuleResolutionKind.Bundler, module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ESNext, skipLibCheck: true,
                  allowJs: false, esModuleInterop: true, types: [], strict: true };
const program = ts.createProgram([file], options), checker = program.getTypeChecker();
for (const statement of program.getSourceFile(file).statements) {
  const specifier = statement.moduleSpecifier, symbol = checker.getSymbolAtLocation(specifier);
  if (!symbol) { found[specifier.text] = null; continue; }
  found[specifier.text] = {};
  for (let item of checker.getExportsOfModule(symbol)) {
    const name = ts.unescapeLeadingUnderscores(item.escapedName);
    if (item.flags & ts.SymbolFlags.Alias) item = checker.getAliasedSymbol(item);
    found[specifier.text][name] = (item.declarations || []).map(node => {
      const source = node.getSourceFile();
      return fs.realpathSync(source.fileName) + ":" + (source.getLineAndCharacterOfPosition(node.getStart()).line + 1); });
  }
}
console.log(JSON.stringify(found));
"""


def bench_npm(names: list[str], folder: str, most: int) -> bool:
    """Prints a row for each package; returns whether each reaches the bar."""
    if not os.path.isdir(os.path.join(folder, "node_modules")):
        with open(os.path.join(folder, "package.json"), "w", encoding="utf-8") as file:
            json.dump({"name": "bench", "private": True}, file)
        subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps", *names, *NPM_BESIDE], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
    print(f"{'package':<24}{'sections':>8}{'seconds':>8}{'exports':>9}{'found %':>9}{'placed %':>9}")
    rows = [bench_npm_package(name, folder, most) for name in names]
    all_exports, all_found, all_placed = (sum(row[key] for row in rows) for key in ("exports", "found", "placed"))
    sections, seconds = sum(row["sections"] for row in rows), sum(row["seconds"] for row in rows)
    print(f"{'all':<24}{sections:>8}{seconds:>8.2f}{all_exports:>9}{100 * all_found / all_exports:>9.2f}{100 * all_placed / all_exports:>9.2f}"
          f"   {sections / seconds:.0f} sections/s")
    return all(row["found"] >= NPM_LEAST * row["exports"] for row in rows)


def bench_npm_package(name: str, folder: str, most: int) -> dict[str, Any]:
    """Indexes one package and holds it against the compiler's list."""
    started = time.perf_counter()
    collection = doctrove.open_npm(name, {"node-modules": os.path.join(folder, "node_modules")})
    done = doctrove.import_collection(collection)
    seconds = time.perf_counter() - started
    home = os.path.realpath(os.path.join(folder, "node_modules"))
    package = doctrove.NpmPackage(doctrove.PackageFiles(), os.path.join(home, name))
    entries = [subpath for subpath, _ in package.entries()] or [""]
    wanted = exports_by_compiler([f"{name}/{subpath}" if subpath else name for subpath in entries], folder)
    places: dict[str, set[str]] = {}
    for record in done.volume["sections"]:
        for label in (record["id"], *record.get("names", ())):
            places.setdefault(label, set()).add(record["path"])
    row: dict[str, Any] = {"sections": len(done.volume["sections"]), "seconds": seconds, "exports": 0, "found": 0, "placed": 0}
    missing, misplaced = [], []
    for entry, exports in wanted.items():
        for export, declared in (exports or {}).items():
            if export in ("export=", "module.exports", "__esModule", "prototype"):
                continue
            row["exports"] += 1
            label = name if export == "default" and entry == name else f"{entry}.{export}" if entry != name else export
            found = places.get(label) or places.get(f"{entry}.default" if export == "default" else label)
            row["found"] += bool(found)
            if not found:
                missing.append(f"{entry}: {export}")
                continue
            lines = {place for path in declared for place in (os.path.relpath(path, os.path.join(home, name)), os.path.relpath(path, home),
                                                              path.rpartition("/node_modules/")[2])}
            stand = {":".join(path.split(":")[:2]) for path in found}
            row["placed"] += bool(not declared or near(stand, lines))
            if declared and not near(stand, lines):
                misplaced.append(f"{entry}: {export} {sorted(stand)[:2]} {declared[:1]}")
    print(f"{name:<24}{row['sections']:>8}{seconds:>8.2f}{row['exports']:>9}{100 * row['found'] / max(row['exports'], 1):>9.2f}"
          f"{100 * row['placed'] / max(row['exports'], 1):>9.2f}   {'; '.join(missing[:4])}", flush=True)
    if most:
        print("\n".join(f"    {text}" for text in [*missing[:most], *misplaced[:most]]))
    return row


def near(stand: set[str], lines: set[str]) -> bool:
    """Whether a section stands where the compiler sees a declaration, give or take the lines of its modifiers or of a comment."""
    by_file: dict[str, list[int]] = {}
    for place in lines:
        path, _, line = place.rpartition(":")
        by_file.setdefault(path, []).append(int(line))
    for place in stand:
        path, _, line = place.rpartition(":")
        if line.isdigit() and any(abs(int(line) - other) <= 2 for other in by_file.get(path, ())):
            return True
    return False


def exports_by_compiler(entries: list[str], folder: str) -> dict[str, Any]:
    done = subprocess.run(["node", "-e", NPM_COMPILER], cwd=folder, input=json.dumps(entries).encode(), capture_output=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure what a library of installed packages holds.")
    parser.add_argument("--pypi", action="store_true", help="packages of PyPI")
    parser.add_argument("--npm", action="store_true", help="packages of npm")
    parser.add_argument("--folder", default="", metavar="DIR", help="where the packages of npm are, or are to be installed")
    parser.add_argument("--venv", default="", metavar="DIR", help="virtual environment with the packages")
    parser.add_argument("--list", type=int, default=0, metavar="N", help="name at most N missing names of each package")
    parser.add_argument("--json", default="", metavar="FILE", help="write all figures there")
    parser.add_argument("names", nargs="*", metavar="NAME", help="packages (default: the 30)")
    options = parser.parse_args()
    if not options.pypi and not options.npm:
        parser.error("say what to measure: --pypi or --npm")
    good = bench_pypi(options) if options.pypi else True
    if options.npm:
        with tempfile.TemporaryDirectory() as folder:
            good = bench_npm(options.names or list(NPM_PACKAGES), os.path.abspath(options.folder or folder), options.list) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
