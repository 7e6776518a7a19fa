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
import importlib._bootstrap_external
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile

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
    "doctrove_remote": ("remote",),
    "doctrove_import": (
        "importers", "html", "markdown", "restructuredtext", "asciidoc", "man pages", "json documents", "collections", "sections"),
    "doctrove_web": ("web",),
    "doctrove_library": ("library", "library tools"),
    "doctrove_more": ("static host", "doctor", "commands")}
LATER_STUB = """\
def {name}(*given, **named):
    exec(__loader__.get_code("{module}"), globals())
    return globals()["{name}"](*given, **named)
"""


class BuildError(Exception):
    """What stops the build, in words for the person who runs it."""


class Strip(ast.NodeTransformer):
    """Takes the annotations out: nothing reads them at run time, and unpacking them would cost every start."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.returns = None
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        self.generic_visit(node)
        return ast.copy_location(ast.Assign([node.target], node.value) if node.value else ast.Pass(), node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:
        return ast.copy_location(ast.Pass(), node) if node.module == "__future__" else node


def split_rooms(source: str) -> dict[str, str]:
    """Module -> source: what a plain start needs, with a stub for each function of the other rooms; and those rooms. A module may call
    functions of the others and use nothing else of them."""
    texts = {"doctrove": "", **dict.fromkeys(LATER, "from __future__ import annotations\n")}
    module = "doctrove"
    for line in source.splitlines(keepends=True):
        if line.startswith("# ── "):
            room = line.strip("#─ \n")
            module = next((name for name, rooms in LATER.items() if room in rooms), "doctrove")
        texts[module] += line
    used = {name: {node.id for node in ast.walk(Strip().visit(ast.parse(text))) if isinstance(node, ast.Name)} for name, text in texts.items()}
    # What processes that it starts call is called from everywhere: their programs are texts.
    used[""] = set(re.findall(r"\bdoctrove\.(\w+)\(", source))
    stubs = ""
    for name in LATER:
        functions, others = top_names(texts[name])
        elsewhere = set().union(*(used[other] for other in used if other != name))
        if elsewhere.intersection(others):
            raise BuildError(f"{sorted(elsewhere.intersection(others))} of {name}, which is loaded later, are no functions and used elsewhere")
        stubs += "".join(LATER_STUB.format(name=function, module=name) for function in functions if function in elsewhere)
    start, main, end = texts["doctrove"].rpartition("\nif __name__ == ")
    return {**texts, "doctrove": f"{start}\n{stubs}{main}{end}"}


def top_names(source: str) -> tuple[list[str], set[str]]:
    """(functions, classes and variables) at the top of a module."""
    functions, others = [], set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            functions.append(node.name)
        elif isinstance(node, ast.ClassDef):
            others.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            others |= {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return functions, others


def emit(source_path: str, folder: str) -> None:
    """Writes the byte code of the interpreter that runs into `folder`: never held against the source, since the archive holds both from
    one build, and without docstrings."""
    with open(source_path, encoding="utf-8") as file:
        source = file.read()
    for name, text in split_rooms(source).items():
        tree = ast.fix_missing_locations(Strip().visit(ast.parse(text)))
        code = compile(tree, name + ".py", "exec", dont_inherit=True, optimize=2)
        with open(os.path.join(folder, name + ".pyc"), "wb") as target:
            target.write(importlib._bootstrap_external._code_to_hash_pyc(code, bytes(8), False))  # type: ignore[attr-defined]
    print(sys.implementation.cache_tag)


def compile_with(python: str, source: str) -> list[tuple[str, bytes]]:
    """The members with the byte code of `source` by the interpreter `python`.

    A process of its own with fixed string hashes: only so are the bytes the same each time.
    """
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run([python, "-s", "-S", "-X", "no_debug_ranges", os.path.abspath(__file__), "--emit", source, folder],
                                  stdin=subprocess.DEVNULL, capture_output=True, check=True,
                                  env={**os.environ, "PYTHONHASHSEED": "0"}, encoding="utf-8")
            tag = done.stdout.strip()
            members = []
            for name in sorted(os.listdir(folder)):
                with open(os.path.join(folder, name), "rb") as file:
                    members.append((f"{tag}/{name}", file.read()))
            return members
        except OSError as error:
            raise BuildError(f"cannot compile with {python}: {error}") from None
        except subprocess.CalledProcessError as error:
            reason = (error.stderr.strip().splitlines() or ["it says nothing"])[-1]
            raise BuildError(f"cannot compile with {python}: {reason}") from None


def read_index(path: str) -> tuple[list[tuple[str, bytes]], int]:
    """(members of data/, number of entries) of the validated index at `path`: a folder, an index file, or an archive that holds one."""
    import doctrove
    try:
        source = doctrove.local_source(path)
        index = source.index()
        for fault in source.read_all(index)[1]:
            raise fault
        hrefs = [volume["href"] for entry in index.entries() for volume in entry.record()["volumes"].values() if "href" in volume]
        members = {name: source.store.read(name) for name in hrefs}
        members["index.json"] = source.store.read(source.index_name)
    except doctrove.DocError as error:
        raise BuildError(str(error)) from None
    return sorted(members.items()), len(index.numbers)


def write_archive(target: str, members: list[tuple[str, bytes]]) -> None:
    """Writes the archive beside `target` and moves it there when it is whole."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        date = max(time.gmtime(int(epoch or 0))[:6], (1980, 1, 1, 0, 0, 0))
    except (ValueError, OverflowError, OSError):
        date = (9999, 1, 1, 0, 0, 0)
    if not (epoch or "0").isdigit() or date[0] > 2107:
        raise BuildError(f"SOURCE_DATE_EPOCH must be seconds since 1970, before the year 2108, not {epoch!r}")
    if os.path.exists(target) and not os.path.isfile(target):
        raise BuildError(f"{target} is there and is no regular file")
    temporary = f"{target}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(b"#!/usr/bin/env python3\n")
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, data in members:
                    info = zipfile.ZipInfo(name, date)
                    info.create_system, info.external_attr = 3, 0o100644 << 16
                    # Byte code is stored: unpacking it would cost every start more than it saves on disk.
                    info.compress_type = zipfile.ZIP_STORED if name.endswith((".pyc", "__main__.py")) else zipfile.ZIP_DEFLATED
                    archive.writestr(info, data, compresslevel=9)
        os.chmod(temporary, 0o755)
        os.replace(temporary, target)
    except OSError as error:
        raise BuildError(f"cannot write {target}: {error.strerror or error}") from None
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


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
    source = os.path.join(HERE, "doctrove.py")
    data, entries = read_index(index_path)
    with open(source, encoding="utf-8") as file:
        members = [("__main__.py", MAIN.encode()), *((name + ".py", text.encode()) for name, text in split_rooms(file.read()).items())]
    compiled = dict(member for python in [sys.executable, *interpreters] for member in compile_with(python, source))
    members += sorted(compiled.items())
    members += [(f"data/{name}", content) for name, content in data]
    write_archive(target, members)
    with open(target, "rb") as file:
        content = file.read()
    return (f"{target}\nsize     {len(content)} bytes\nsha256   {hashlib.sha256(content).hexdigest()}\n"
            f"entries  {entries}\nbytecode {', '.join(sorted({name.partition('/')[0] for name in compiled}))}")


def main() -> int:
    if sys.version_info < (3, 9):  # noqa: UP036  # --compile-with may name any interpreter
        print(f"this is Python {sys.version.split()[0]}; doctrove needs 3.9 or newer", file=sys.stderr)
        return 2
    if sys.argv[1:2] == ["--emit"]:  # how this script calls itself under another interpreter
        emit(*sys.argv[2:])
        return 0
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
    except BuildError as error:
        print(f"build_zipapp: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
