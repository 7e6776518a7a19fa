#!/usr/bin/env python3
"""Packs doctrove.py and an index into one runnable file, doctrove.pyz.

The archive holds the source, its byte code for the building interpreter and for each one named with --compile-with (each in a folder named
after the interpreter's cache tag, which __main__ puts on sys.path; any other interpreter takes the source), and the index under data/.
The same input gives the same bytes. The index is validated first, every volume included; a bad one is refused.
"""
from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile

import doctrove

HERE = os.path.dirname(os.path.abspath(__file__))
# What is loaded at start stays till the end: while it loads, and ever after, the garbage collector need not look at it (11 % of a start).
MAIN = """\
import gc
import os
import sys

gc.disable()
sys.path.insert(0, os.path.join(__loader__.archive, sys.implementation.cache_tag or ""))
import doctrove

gc.freeze()
gc.enable()
doctrove.leave(doctrove.main())
"""
# Byte code that is never held against the source (the archive holds both from one build), without docstrings and annotations: nothing
# reads them at run time, and unpacking them would cost every start.
COMPILE = """\
import ast, importlib._bootstrap_external, sys

class Strip(ast.NodeTransformer):
    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.returns = None
        return node
    def visit_arg(self, node):
        node.annotation = None
        return node
    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        return ast.copy_location(ast.Assign([node.target], node.value) if node.value else ast.Pass(), node)
    def visit_ImportFrom(self, node):
        return ast.copy_location(ast.Pass(), node) if node.module == "__future__" else node

with open(sys.argv[1], "rb") as file:
    tree = ast.fix_missing_locations(Strip().visit(ast.parse(file.read())))
code = compile(tree, "doctrove.py", "exec", dont_inherit=True, optimize=2)
with open(sys.argv[2], "wb") as file:
    file.write(importlib._bootstrap_external._code_to_hash_pyc(code, bytes(8), False))
print(sys.implementation.cache_tag, *sys.version_info[:2])
"""


class BuildError(Exception):
    """What stops the build, in words for the person who runs it."""


def compile_with(python: str, source: str) -> tuple[str, bytes]:
    """(cache tag, byte code) of `source` by the interpreter `python`.

    A process of its own with fixed string hashes: only so are the bytes the same each time.
    """
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "doctrove.pyc")
        try:
            done = subprocess.run([python, "-s", "-S", "-X", "no_debug_ranges", "-c", COMPILE, source, target],
                                  stdin=subprocess.DEVNULL, capture_output=True, check=True,
                                  env={**os.environ, "PYTHONHASHSEED": "0"}, encoding="utf-8")
            tag, major, minor = done.stdout.split()
            if (int(major), int(minor)) < (3, 9):
                raise BuildError(f"{python} is Python {major}.{minor}; doctrove needs 3.9 or newer")
            with open(target, "rb") as file:
                return tag, file.read()
        except (OSError, ValueError) as error:
            raise BuildError(f"cannot compile with {python}: {error}") from None
        except subprocess.CalledProcessError as error:
            raise BuildError(f"cannot compile with {python}: {error.stderr.strip().splitlines()[-1:]}") from None


def read_index(path: str) -> tuple[list[tuple[str, bytes]], int]:
    """(members of data/, number of entries) of the validated index at `path`: a folder, an index file, or an archive that holds one."""
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
        raise BuildError(f"SOURCE_DATE_EPOCH must be a number of seconds, not {epoch!r}") from None
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
    with open(source, "rb") as file:
        members = [("__main__.py", MAIN.encode()), ("doctrove.py", file.read())]
    compiled = dict(compile_with(python, source) for python in [sys.executable, *interpreters])
    members += [(f"{tag}/doctrove.pyc", code) for tag, code in sorted(compiled.items())]
    members += [(f"data/{name}", content) for name, content in data]
    write_archive(target, members)
    with open(target, "rb") as file:
        content = file.read()
    return (f"{target}\nsize     {len(content)} bytes\nsha256   {hashlib.sha256(content).hexdigest()}\n"
            f"entries  {entries}\nbytecode {', '.join(sorted(compiled))}")


def main() -> int:
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
