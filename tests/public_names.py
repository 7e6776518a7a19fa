"""What packages offer by the tools of their own language, held against the sections that a volume of them has.

Python: `dir()` of the imported package, in a process of its own. A public name is one that the package or a public submodule of it has without a leading
underscore and whose object's module belongs to the package, or one that `__all__` lists; loggers and type variables are none. It has a section where one
has that name as its id or among its further names, or has another name of the same object: a module that merely imports what another defines offers it
under a second name. Members: the same for what public classes define.

npm: what the TypeScript compiler says that each entry point exports (checker.getExportsOfModule). It has a section where one has its name, and is placed
where a section of that name stands at its declaration, give or take the two lines of its modifiers or of a comment.
"""
from __future__ import annotations

import json
import os
import subprocess
import tempfile
from typing import Any, NamedTuple

from support import doctrove

PYTHON_SOURCES = (".py", ".pyi", ".pyx")
# Prints [names, members] of what the packages offer, both [[module, name, where the object was defined, its qualified name, the object's number], …].
PYTHON_NAMES = r'''
import importlib, inspect, json, pkgutil, sys, types, warnings
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
names, members, seen, kept = [], [], set(), []
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
print(json.dumps([names, members]), file=real)
'''
# Prints, for each entry point that it is given as 'name', its exports: {entry: {export: [file:line, …]}}; null where the compiler finds no module.
NPM_EXPORTS = r"""
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


class Share(NamedTuple):
    """How many there are, how many of them were found, and what was not."""

    count: int
    found: int
    missing: list[str]


def python_shares(volume: dict[str, Any], python: str) -> dict[str, Share]:
    """{'names', 'members'}: what a distribution offers when `python` imports its modules, which are those that the volume documents."""
    tops = sorted({record["id"].partition(".")[0] for record in volume["sections"] if record["level"] == 1 and record["doc"].endswith(PYTHON_SOURCES)})
    told = subprocess.run([python, "-I", "-c", PYTHON_NAMES, json.dumps(tops)], capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL, timeout=600,
                          cwd=tempfile.gettempdir(), env={**os.environ, "DJANGO_SETTINGS_MODULE": "django.conf.global_settings"})
    if told.returncode:
        raise SystemExit(f"{', '.join(tops)}: {told.stderr[-2000:]}")
    known = {name for record in volume["sections"] for name in (record["id"], *record.get("names", ()))}
    return {kind: python_share(rows, known) for kind, rows in zip(("names", "members"), json.loads(told.stdout))}


def python_share(rows: list[Any], known: set[str]) -> Share:
    same = {number for module, name, _, _, number in rows if number and f"{module}.{name}" in known}
    missing = [f"{module}.{name}" for module, name, home, called, number in rows
               if f"{module}.{name}" not in known and f"{home}.{called}" not in known and number not in same]
    return Share(len(rows), len(rows) - len(missing), missing)


def npm_shares(volume: dict[str, Any], name: str, folder: str) -> dict[str, Share]:
    """{'names', 'placed'}: what the entry points of a package in `folder`/node_modules export."""
    home = os.path.realpath(os.path.join(folder, "node_modules"))
    package = doctrove.NpmPackage(doctrove.PackageFiles(), os.path.join(home, *name.split("/")))
    entries = [f"{name}/{subpath}" if subpath else name for subpath, _ in package.entries()] or [name]
    told = subprocess.run(["node", "-e", NPM_EXPORTS], cwd=folder, input=json.dumps(entries).encode(), capture_output=True, check=True)
    places: dict[str, set[str]] = {}
    for record in volume["sections"]:
        for label in (record["id"], *record.get("names", ())):
            places.setdefault(label, set()).add(":".join(record["path"].split(":")[:2]))
    missing, misplaced, count = [], [], 0
    for entry, exports in json.loads(told.stdout).items():
        for export, declared in (exports or {}).items():
            if export in ("export=", "module.exports", "__esModule", "prototype"):
                continue
            count += 1
            labels = [f"{entry}.{export}", *([entry] if export == "default" else [export] if entry == name else [])]
            stands = {place for label in labels for place in places.get(label, ())}
            if not stands:
                missing.append(f"{entry}: {export}")
            lines = {place for path in declared for place in (os.path.relpath(path, os.path.join(home, name)), os.path.relpath(path, home),
                                                              path.rpartition("/node_modules/")[2])}
            if stands and declared and not is_near(stands, lines):
                misplaced.append(f"{entry}: {export} {sorted(stands)[:2]} {declared[:1]}")
    return {"names": Share(count, count - len(missing), missing), "placed": Share(count, count - len(missing) - len(misplaced), misplaced)}


def is_near(stands: set[str], declared: set[str]) -> bool:
    """Whether one of the places (path:line) is one of the others, give or take two lines."""
    near = {f"{path}:{int(line) + more}" for path, _, line in (place.rpartition(":") for place in declared) for more in range(-2, 3)}
    return not near.isdisjoint(stands)
