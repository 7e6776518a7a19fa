"""What the tests share: the checkout's module, and index folders made from plain data."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import sys
import tempfile
import unittest
from typing import Any, Callable

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

import doctrove  # noqa: E402  # the checkout's, whatever is installed

__all__ = ["ROOT", "check_blocks", "doctrove", "load_cases", "make_folder", "open_catalog", "put", "read_beside", "whole", "write_index"]


def load_cases(name: str) -> Any:
    """The content of tests/cases/`name`.json."""
    with open(os.path.join(ROOT, "tests", "cases", f"{name}.json"), encoding="utf-8") as file:
        return json.load(file)


def make_folder(test: unittest.TestCase) -> str:
    """A new folder that is removed when `test` ends."""
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    return os.path.realpath(folder.name)


def read_beside(folder: str, name: str) -> bytes | None:
    """The bytes of a file in `folder`, None where there is none: what an importer sees of the files beside a page."""
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return file.read()
    except OSError:
        return None


def check_blocks(test: unittest.TestCase, folder: str, ending: str, fewest: int, read: Callable[[str, str], doctrove.Document]) -> None:
    """Each fixture NAME + `ending` in `folder` is read as the document of NAME.json: its title, and its blocks as arrays."""
    names = sorted(name for name in os.listdir(folder) if name.endswith(ending))
    test.assertGreaterEqual(len(names), fewest)
    for name in names:
        with test.subTest(fixture=name), open(os.path.join(folder, name[:-len(ending)] + ".json"), encoding="utf-8") as file:
            expected = json.load(file)
            document = read(folder, name)
            test.assertEqual(document.title, expected["title"])
            test.assertEqual([[block.kind, block.level, block.id, block.name, block.text] for block in document.blocks], expected["blocks"])


def whole(volume: dict[str, Any]) -> dict[str, Any]:
    """A volume that an import made, with its sections as a plain list."""
    return {**volume, "sections": list(volume["sections"])}


def put(folder: str, files: dict[str, str | bytes]) -> str:
    """Writes files (path -> text or bytes) below `folder`, which is returned."""
    for path, content in files.items():
        where = os.path.join(folder, *path.split("/"))
        os.makedirs(os.path.dirname(where), exist_ok=True)
        with open(where, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8"))
    return folder


def write_index(folder: str, index: dict[str, Any], by_reference: bool = False, gzipped: bool = False) -> str:
    """Writes `index` (format doctrove-index@1; `format` is added where it is missing) as index.json into `folder`, which is returned.

    by_reference: every volume with sections goes into a file of its own in volumes/, with the right hash in the index.
    gzipped: all files are written as NAME.gz.
    """
    index = {"format": "doctrove-index@1", **index}
    if by_reference:
        index["entries"] = [
            {**entry, "volumes": {version: split_volume(folder, f"{entry['id']}-{version}", volume, gzipped) for version, volume in entry["volumes"].items()}}
            for entry in index["entries"]
        ]
    write_file(os.path.join(folder, "index.json"), encode(index), gzipped)
    return folder


def split_volume(folder: str, stem: str, volume: dict[str, Any], gzipped: bool) -> dict[str, Any]:
    """The reference to `volume` after it was written into the folder's volumes/."""
    if "sections" not in volume or "href" in volume:
        return volume
    href, data = f"volumes/{stem}.json", encode(volume)
    write_file(os.path.join(folder, *href.split("/")), data, gzipped)
    reference = {"href": href, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data), "sections": len(volume["sections"])}
    return {**({"summary": volume["summary"]} if "summary" in volume else {}), **reference}


def encode(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")  # half a surrogate pair becomes its JSON escape


def write_file(path: str, data: bytes, gzipped: bool) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".gz" if gzipped else path, "wb") as file:
        file.write(gzip.compress(data, mtime=0) if gzipped else data)


def open_catalog(local_index: str | None = None, **options: str) -> Any:
    """A doctrove.Catalog of the index at `local_index` (default: the bundled one), with further options of the command line."""
    given = {name.replace("_", "-"): [value] for name, value in options.items()}
    if local_index is not None:
        given["local-index"] = [local_index]
    return doctrove.Catalog(doctrove.load_settings(given, {}))
