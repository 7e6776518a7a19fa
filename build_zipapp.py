#!/usr/bin/env python3
"""Packs doctrove.py and an index into one runnable file, doctrove.pyz.

The archive holds the source, its byte code for the building interpreter and for each one named with --compile-with (each in a folder named
after the interpreter's cache tag, which __main__ puts on sys.path; any other interpreter takes the source), and the index under data/.
The same input gives the same bytes. The index is validated first, every volume included; a bad one is refused.
"""
from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# What is loaded at start stays till the end: while it loads, and ever after, the garbage collector need not look at it (11 % of a start).
# What comes later is mostly freed without it: it looks seldom.
MAIN = """\
import gc
import os
import sys

if sys.version_info < (3, 9):
    sys.exit("doctrove needs Python 3.9 or newer; this is " + sys.version.split()[0])
gc.disable()
sys.path.insert(0, os.path.join(__loader__.archive, sys.implementation.cache_tag or ""))
try:
    import doctrove

    gc.freeze()
    gc.set_threshold(50000)
    gc.enable()
    code = doctrove.main()
except KeyboardInterrupt:
    os._exit(130)
doctrove.leave(code)
"""
# Rooms of doctrove.py that a plain start does not need. They become modules of their own, as source and as byte code, each of which is run
# in the first one's place when a function of theirs is first called: so what they grow by costs no start.
LATER = {
    "doctrove_search": ("prepared", "search"),
    "doctrove_remote": ("remote",),
    "doctrove_import": (
        "importers", "html", "markdown", "restructuredtext", "asciidoc", "man pages", "json documents", "collections", "python packages",
        "npm packages", "crates and go modules", "sections"),
    "doctrove_web": ("web",),
    "doctrove_library": ("projects", "library", "packages", "library tools"),
    "doctrove_resources": ("resources and prompts",),
    "doctrove_http": ("static host", "page", "http"),
    "doctrove_more": ("doctor", "pack", "setup", "commands")}
LATER_STUB = """\
def {name}(*given, **named):
    exec(load_later("{module}"), globals())
    return globals()["{name}"](*given, **named)
"""


class BuildError(Exception):
    """What stops the build, in words for the person who runs it."""


def split_rooms(source: str) -> dict[str, str]:
    """Module -> source: what a plain start needs, with a stub for each function of the other rooms; and those rooms. A module may call
    functions of the others and use nothing else of them."""
    parts: dict[str, list[str]] = {"doctrove": [], **{name: ["from __future__ import annotations\n"] for name in LATER}}
    module = "doctrove"
    for line in source.splitlines(keepends=True):
        if line.startswith("# ── "):
            room = line.strip("#─ \n")
            module = next((name for name, rooms in LATER.items() if room in rooms), "doctrove")
        parts[module].append(line)
    texts = {name: "".join(lines) for name, lines in parts.items()}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    used = {name: names_used(tree) for name, tree in trees.items()}
    # What processes that it starts call is called from everywhere: their programs are texts.
    used[""] = set(re.findall(r"\bdoctrove\.(\w+)\(", source))
    stubs = ""
    for name in LATER:
        functions, others = top_names(trees[name])
        elsewhere = set().union(*(used[other] for other in used if other != name))
        if elsewhere.intersection(others):
            raise BuildError(f"{sorted(elsewhere.intersection(others))} of {name}, which is loaded later, are no functions and used elsewhere")
        stubs += "".join(LATER_STUB.format(name=function, module=name) for function in functions if function in elsewhere)
    start, main, end = texts["doctrove"].rpartition("\nif __name__ == ")
    return {**texts, "doctrove": f"{start}\n{stubs}{main}{end}"}


def names_used(tree: ast.Module) -> set[str]:
    """The names in a module, but for those in annotations, which nothing reads at run time."""
    found: set[str] = set()
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name):
            found.add(node.id)
            continue
        for field in node._fields:
            value = getattr(node, field, None) if field not in ("annotation", "returns") else None
            todo += [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, ast.AST)]
    return found


def top_names(tree: ast.Module) -> tuple[list[str], set[str]]:
    """(functions, classes and variables) at the top of a module."""
    functions, others = [], set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions.append(node.name)
        elif isinstance(node, ast.ClassDef):
            others.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            others |= {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return functions, others


def rehash(folder: str) -> None:
    """Brings the references of the index.json in `folder` (sha256, bytes, sections, summary) up to date with the volumes that they name."""
    path = os.path.join(folder, "index.json")
    try:
        with open(path, encoding="utf-8") as file:
            index = json.load(file)
        for entry in index["entries"]:
            for volume in entry["volumes"].values():
                if "href" in volume:
                    with open(os.path.join(folder, *volume["href"].split("/")), "rb") as file:
                        data = file.read()
                    content = json.loads(data)
                    volume.update(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data), sections=len(content["sections"]),
                                  summary=content.get("summary", ""))
        text = json.dumps(index, ensure_ascii=False, indent=1) + "\n"
        with open(path + ".tmp", "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(path + ".tmp", path)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BuildError(f"cannot bring {path} up to date: {error!r}") from None


def build(target: str, index_path: str, interpreters: list[str]) -> str:
    """Builds `target`; returns what to tell: path, size, sha256, entries."""
    import doctrove
    source = doctrove.local_source(index_path)
    data = doctrove.members_of(source)
    with open(os.path.join(HERE, "doctrove.py"), encoding="utf-8") as file:
        program = {"__main__.py": MAIN.encode(), **{name + ".py": text.encode() for name, text in split_rooms(file.read()).items()}}
    members = doctrove.add_code(program, interpreters)
    doctrove.write_archive(target, [*members.items(), *data])
    with open(target, "rb") as packed:
        content = packed.read()
    return (f"{target}\nsize     {len(content)} bytes\nsha256   {hashlib.sha256(content).hexdigest()}\n"
            f"entries  {len(source.index().numbers)}\nbytecode {', '.join(sorted({name.partition('/')[0] for name in members if name.endswith('.pyc')}))}")


def main() -> int:
    if sys.version_info < (3, 9):  # noqa: UP036  # --compile-with may name any interpreter
        print(f"this is Python {sys.version.split()[0]}; doctrove needs 3.9 or newer", file=sys.stderr)
        return 2
    import doctrove
    parser = argparse.ArgumentParser(description="Pack doctrove.py and an index into one runnable file.")
    parser.add_argument("-o", "--output", default=os.path.join(HERE, "doctrove.pyz"), metavar="FILE",
                        help="file to write (default: doctrove.pyz beside this script)")
    parser.add_argument("--index", default=os.path.join(HERE, "data"), metavar="PATH",
                        help="index to pack: a folder, an index.json, a .zip or .pyz (default: data)")
    parser.add_argument("--compile-with", action="append", default=[], metavar="PYTHON",
                        help="carry byte code for this interpreter too; may be repeated")
    parser.add_argument("--rehash", action="store_true",
                        help="first bring sha256, bytes, sections and summary of the references in PATH/index.json up to date")
    options = parser.parse_args()
    try:
        if options.rehash:
            rehash(options.index)
        print(build(options.output, options.index, options.compile_with))
    except (BuildError, doctrove.DocError) as error:
        print(f"build_zipapp: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
