"""The format doctrove-index@1 and where it is read from: design section 2. The cases are data that any implementation could use."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import random
import time
import tracemalloc
import unittest
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from support import doctrove, load_cases, make_folder, open_catalog, write_index

CASES = load_cases("index_faults")
NO_HASH = "0" * 64


def case_bytes(case: dict[str, Any]) -> bytes:
    """The file that a case describes: as hex, as text, as index, as entries, or as the volume 1.0 of one entry."""
    if "hex" in case:
        return bytes.fromhex(case["hex"])
    if "text" in case:
        return str(case["text"]).encode()
    entries = case.get("entries", [{"id": "a", "name": "A", "versions": ["1.0"], "volumes": {"1.0": case.get("volume")}}])
    return json.dumps(case.get("index", {"format": "doctrove-index@1", "entries": entries}), ensure_ascii=False).encode()


def one_entry(*volumes: tuple[str, Any]) -> dict[str, Any]:
    return {"entries": [{"id": "a", "name": "A", "versions": [version for version, _ in volumes], "volumes": dict(volumes)}]}


@contextlib.contextmanager
def size_limit(size: int) -> Iterator[None]:
    """A smaller MAX_INDEX_BYTES: unpacking 256 MB of zeros shows nothing that unpacking 4 MB does not, but takes seconds."""
    old, doctrove.MAX_INDEX_BYTES = doctrove.MAX_INDEX_BYTES, size
    try:
        yield
    finally:
        doctrove.MAX_INDEX_BYTES = old


class IndexCase(unittest.TestCase):
    def assert_fault(self, error: Any, path: str = "", under: str = "") -> None:
        """The error names the JSON path: exactly `path`, or `under` or something in it."""
        self.assertEqual(error.key, "index-fault", str(error))
        if path:
            self.assertEqual(error.values["path"], path)
        else:
            self.assertTrue(error.values["path"].startswith(under), error.values["path"])
        for lang in ("en", "zh"):
            self.assertIn(error.values["path"], error.message(lang))

    def read(self, data: bytes) -> Any:
        """The catalog of an index.json with these bytes, its index read."""
        folder = make_folder(self)
        with open(os.path.join(folder, "index.json"), "wb") as file:
            file.write(data)
        catalog = open_catalog(folder)
        catalog.view()
        return catalog

    def refused_bytes(self, data: bytes) -> Any:
        """The DocError of whoever reads an index.json with these bytes."""
        with self.assertRaises(doctrove.DocError) as caught:
            self.read(data)
        return caught.exception

    def refused(self, path: str, id: str = "a", version: str | None = None) -> Any:
        """The DocError of whoever reads the index at `path`, or else its volume."""
        with self.assertRaises(doctrove.DocError) as caught:
            open_catalog(path).extract(id, version)
        return caught.exception


class Validating(IndexCase):
    def test_each_fault_is_refused_with_its_path(self) -> None:
        for case in CASES["faults"]:
            with self.subTest(case["name"]):
                error = self.refused_bytes(case_bytes(case))
                self.assert_fault(error, case.get("path", ""), case.get("under", ""))
                self.assertIn("index.json", str(error))

    def test_each_valid_file_is_accepted(self) -> None:
        for case in CASES["valid"]:
            with self.subTest(case["name"]):
                data = case_bytes(case)
                count = len(json.loads(data.decode("utf-8-sig"))["entries"])
                self.assertEqual(self.read(data).lookup("a")["sources"][0]["entries"], count)

    def test_references_that_escape_are_refused(self) -> None:
        for href in CASES["hrefsRefused"]:
            with self.subTest(href=href):
                error = self.refused_bytes(case_bytes({"volume": {"href": href, "sha256": NO_HASH}}))
                self.assert_fault(error, '$.entries[0].volumes["1.0"].href')
                self.assertEqual(error.values["fault"][0], "fault-href")

    def test_references_inside_the_folder_are_accepted(self) -> None:
        for href in CASES["hrefsAccepted"]:
            with self.subTest(href=href):
                folder, data = make_folder(self), b'{"sections": [{"body": "B"}]}'
                path = os.path.join(folder, *href.split("/"))
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(data)
                write_index(folder, one_entry(("1.0", {"href": href, "sha256": hashlib.sha256(data).hexdigest()})))
                self.assertEqual(open_catalog(folder).extract("a")["sections"][0]["body"], "B")

    def test_deep_nesting_is_refused_wherever_it_stands(self) -> None:
        deep = "[" * 100000 + "]" * 100000
        objects = '{"a":' * 100000 + "1" + "}" * 100000
        for name, text, under in (
            ("in an unknown key", '{"format": "doctrove-index@1", "x": %s, "entries": []}', "$"),
            ("in an entry", '{"format": "doctrove-index@1", "entries": [{"id": "a", "name": "A", "versions": [], "volumes": {}, "x": %s}]}', "$.entries[0]"),
            ("instead of an entry", '{"format": "doctrove-index@1", "entries": [%s]}', "$.entries[0]"),
            ("instead of the entries", '{"format": "doctrove-index@1", "entries": %s}', "$.entries"),
            ("alone", "%s", "$"),
        ):
            for value in (deep, objects, deep[:100000]):
                with self.subTest(name, value=value[:5]):
                    start = time.process_time()
                    self.assert_fault(self.refused_bytes((text % value).encode()), under=under)
                    self.assertLess(time.process_time() - start, 1.0)

    def test_damaged_files_are_faults_and_nothing_else(self) -> None:
        """A byte changed, dropped or added anywhere gives an index or a fault with a path, never another exception."""
        good = json.dumps({"format": "doctrove-index@1", **one_entry(("1.0", {"sections": [{"id": "x", "heading": "日", "level": 2, "body": "b"}]}))}).encode()
        chance = random.Random(1)
        for turn in range(800):
            at = chance.randrange(len(good))
            data = (
                good[:at] + chance.choice([b"", b"\x00", b"\xff", b'"', b"[", b"{", b"}", b"9", b"\\", b",", b"null"]) + good[at + chance.choice([0, 1, 9]) :]
            )
            with self.subTest(turn=turn, data=data):
                try:
                    self.read(data)
                except doctrove.DocError as error:
                    self.assert_fault(error, under="$")


class Reading(IndexCase):
    INDEX = one_entry(
        ("2.0", {"summary": "two", "sections": [{"heading": "Second", "body": "of 2.0 日期"}]}), ("1.0", {"sections": [{"heading": "First", "body": "of 1.0"}]})
    )

    def assert_readable(self, path: str) -> None:
        catalog = open_catalog(path)
        self.assertEqual(catalog.lookup("a")["results"][0]["versions"], ["2.0", "1.0"])
        self.assertEqual([(row["version"], row["sections"], row["summary"]) for row in catalog.releases("a")["releases"]], [("2.0", 1, "two"), ("1.0", 1, "")])
        for version, body in (("2.0", "of 2.0 日期"), ("1.0", "of 1.0")):
            answer = catalog.extract("a", version)
            self.assertEqual((answer["version"], answer["sections"][0]["body"], answer["source"]["kind"]), (version, body, "local"))

    def test_a_folder_and_its_file_are_read_in_every_form(self) -> None:
        for by_reference in (False, True):
            for gzipped in (False, True):
                folder = write_index(make_folder(self), self.INDEX, by_reference, gzipped)
                for path in (folder, folder + os.sep, os.path.join(folder, "index.json.gz" if gzipped else "index.json")):
                    with self.subTest(by_reference=by_reference, gzipped=gzipped, path=path):
                        self.assert_readable(path)

    def test_an_index_file_of_any_name_is_read(self) -> None:
        folder = write_index(make_folder(self), self.INDEX, by_reference=True)
        for name in ("other.json", "日期 index.json", "noending"):
            with self.subTest(name):
                os.rename(os.path.join(folder, "index.json"), os.path.join(folder, name))
                self.assert_readable(os.path.join(folder, name))
                os.rename(os.path.join(folder, name), os.path.join(folder, "index.json"))

    def test_archives_are_read_with_the_index_at_the_top_or_in_data(self) -> None:
        for by_reference in (False, True):
            for gzipped in (False, True):
                folder = write_index(make_folder(self), self.INDEX, by_reference, gzipped)
                for name, below in (("a.zip", ""), ("a.pyz", "data/"), ("b.zip", "data/"), ("archive", "")):
                    with self.subTest(by_reference=by_reference, gzipped=gzipped, name=name):
                        self.assert_readable(pack_folder(folder, os.path.join(make_folder(self), name), below))

    def test_a_pyz_with_a_shebang_is_read(self) -> None:
        packed = pack_folder(write_index(make_folder(self), self.INDEX, by_reference=True), os.path.join(make_folder(self), "a.pyz"), "data/")
        with open(packed, "rb") as file:
            data = file.read()
        with open(packed, "wb") as file:
            file.write(b"#!/usr/bin/env python3\n" + data)
        self.assert_readable(packed)

    def test_a_reference_is_read_only_when_it_is_asked_for(self) -> None:
        folder = write_index(make_folder(self), self.INDEX, by_reference=True)
        catalog = open_catalog(folder)
        catalog.lookup("a")
        with open(os.path.join(folder, "volumes", "a-1.0.json"), "w", encoding="utf-8") as file:
            file.write("damaged after the index was read")
        self.assertEqual(catalog.extract("a", "2.0")["version"], "2.0")
        with self.assertRaises(doctrove.DocError):
            catalog.extract("a", "1.0")

    def test_a_wrong_hash_is_refused(self) -> None:
        for gzipped in (False, True):
            with self.subTest(gzipped=gzipped):
                folder = write_index(make_folder(self), self.INDEX, by_reference=True, gzipped=gzipped)
                data = b'{"sections": []}'
                path = os.path.join(folder, "volumes", "a-2.0.json")
                with open(path + ".gz" if gzipped else path, "wb") as file:
                    file.write(gzip.compress(data) if gzipped else data)
                error = self.refused(folder, version="2.0")
                self.assert_fault(error, under='$.entries[0].volumes["2.0"]')
                self.assertIn(hashlib.sha256(data).hexdigest(), str(error))
                self.assertEqual(open_catalog(folder).extract("a", "1.0")["version"], "1.0")

    def test_a_large_volume_with_a_wrong_hash_is_refused_for_its_hash_whether_it_can_be_read_or_not(self) -> None:
        for data in (b'{"sections": []}' + b" " * (1 << 20), b"[" * (1 << 20)):
            with self.subTest(data=data[:20]):
                folder = write_index(make_folder(self), self.INDEX, by_reference=True)
                with open(os.path.join(folder, "volumes", "a-2.0.json"), "wb") as file:
                    file.write(data)
                self.assertIn(hashlib.sha256(data).hexdigest(), str(self.refused(folder, version="2.0")))

    def test_a_missing_file_is_refused_with_its_path(self) -> None:
        folder = write_index(make_folder(self), self.INDEX, by_reference=True)
        os.remove(os.path.join(folder, "volumes", "a-1.0.json"))
        self.assert_fault(self.refused(folder, version="2.0"), '$.entries[0].volumes["1.0"].href')
        packed = pack_folder(folder, os.path.join(make_folder(self), "a.zip"), "")
        self.assert_fault(self.refused(packed, version="2.0"), '$.entries[0].volumes["1.0"].href')

    def test_a_faulty_volume_file_is_refused_with_its_path(self) -> None:
        for text, path in (
            ("[]", ""),
            ("{}", ".sections"),
            ('{"sections": [1]}', ".sections[0]"),
            ('{"sections": [{"id": "x"}, {"id": "x"}]}', ".sections[1].id"),
            ("x", ""),
            ('{"sections": []} x', ""),
            (f'{{"href": "b.json", "sha256": "{NO_HASH}"}}', ".href"),
            ("[" * 100000, ""),
            ('{"sections": [{"level": NaN}]}', ""),
            ("", ""),
        ):
            with self.subTest(text=text[:40]):
                folder = make_folder(self)
                data = text.encode()
                with open(os.path.join(folder, "v.json"), "wb") as file:
                    file.write(data)
                write_index(folder, one_entry(("1.0", {"href": "v.json", "sha256": hashlib.sha256(data).hexdigest()})))
                self.assert_fault(self.refused(folder), f'$.entries[0].volumes["1.0"]{path}')

    def test_a_volume_file_may_begin_with_a_byte_order_mark(self) -> None:
        folder = make_folder(self)
        data = b'\xef\xbb\xbf {"sections": [{"heading": "H", "body": "B"}]}\n'
        with open(os.path.join(folder, "v.json"), "wb") as file:
            file.write(data)
        write_index(folder, one_entry(("1.0", {"href": "v.json", "sha256": hashlib.sha256(data).hexdigest().upper()})))
        self.assertEqual(open_catalog(folder).extract("a")["sections"][0]["body"], "B")

    def test_links_that_leave_the_folder_are_refused(self) -> None:
        outside = make_folder(self)
        data = b'{"sections": []}'
        with open(os.path.join(outside, "secret.json"), "wb") as file:
            file.write(data)
        for name, target, href in (("volumes", outside, "volumes/secret.json"), ("v.json", os.path.join(outside, "secret.json"), "v.json")):
            with self.subTest(href=href):
                folder = make_folder(self)
                try:
                    os.symlink(target, os.path.join(folder, name))
                except (OSError, NotImplementedError) as error:
                    self.skipTest(f"this system makes no symbolic links here: {error}")
                write_index(folder, one_entry(("1.0", {"href": href, "sha256": hashlib.sha256(data).hexdigest()})))
                self.assert_fault(self.refused(folder), '$.entries[0].volumes["1.0"].href')

    def test_a_link_inside_the_folder_is_followed(self) -> None:
        folder = write_index(make_folder(self), self.INDEX, by_reference=True)
        path = os.path.join(folder, "volumes", "a-1.0.json")
        os.rename(path, path + ".real")
        try:
            os.symlink(path + ".real", path)
        except (OSError, NotImplementedError) as error:
            self.skipTest(f"this system makes no symbolic links here: {error}")
        self.assert_readable(folder)

    def test_what_is_no_index_is_refused(self) -> None:
        folder = make_folder(self)
        empty_zip = os.path.join(folder, "empty.zip")
        zipfile.ZipFile(empty_zip, "w").close()
        with open(os.path.join(folder, "broken.zip"), "wb") as file:
            file.write(b"PK\x03\x04 and nothing more")
        with open(os.path.join(folder, "broken.json.gz"), "wb") as file:
            file.write(b"\x1f\x8b and nothing more")
        with open(os.path.join(folder, "cut.json.gz"), "wb") as file:
            file.write(gzip.compress(b'{"format": "doctrove-index@1", "entries": []}')[:-9])
        for name in ("", "absent.json", "absent/", "empty.zip", "broken.zip", "broken.json.gz", "cut.json.gz", "a\0b"):
            with self.subTest(name), self.assertRaises(doctrove.DocError):
                doctrove.local_source(os.path.join(folder, name)).index()


class Limits(IndexCase):
    def test_an_index_or_volume_of_300_MB_is_refused_unread(self) -> None:
        for name in ("index.json", "v.json"):
            with self.subTest(name):
                folder = write_index(make_folder(self), one_entry(("1.0", {"href": "v.json", "sha256": NO_HASH})))
                with open(os.path.join(folder, name), "ab") as file:
                    file.truncate(300 * 1024 * 1024)
                tracemalloc.start()
                try:
                    error = self.refused(folder)
                    self.assertLess(tracemalloc.get_traced_memory()[1], 10_000_000)
                finally:
                    tracemalloc.stop()
                self.assertEqual(error.key, "index-large")
                self.assertIn(name, str(error))

    def test_what_unpacks_to_more_than_the_limit_is_refused(self) -> None:
        block = zlib.compressobj(wbits=31)
        member = block.compress(bytes(1 << 20)) + block.flush()
        whole = gzip.compress(bytes(6 << 20))
        for name, data in (("many members", member * 6), ("one member", whole)):
            with self.subTest(name), size_limit(4 << 20):
                folder = make_folder(self)
                with open(os.path.join(folder, "index.json.gz"), "wb") as file:
                    file.write(data)
                tracemalloc.start()
                try:
                    self.assertEqual(self.refused(folder).key, "index-large")
                    self.assertLess(tracemalloc.get_traced_memory()[1], 16 << 20)
                finally:
                    tracemalloc.stop()

    def test_an_archive_member_beyond_the_limit_is_refused(self) -> None:
        for gzipped in (False, True):
            with self.subTest(gzipped=gzipped), size_limit(4 << 20):
                path = os.path.join(make_folder(self), "a.zip")
                with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                    archive.writestr("index.json.gz" if gzipped else "index.json", gzip.compress(bytes(6 << 20)) if gzipped else bytes(6 << 20))
                self.assertEqual(self.refused(path).key, "index-large")

    def test_a_file_of_exactly_the_limit_is_read(self) -> None:
        text = b'{"format": "doctrove-index@1", "entries": []}'
        with size_limit(len(text)):
            for name, data in (("index.json", text), ("index.json.gz", gzip.compress(text))):
                with self.subTest(name):
                    folder = make_folder(self)
                    with open(os.path.join(folder, name), "wb") as file:
                        file.write(data if len(data) <= len(text) else text)
                    self.assertEqual(open_catalog(folder).lookup("a")["sources"][0]["entries"], 0)


class Deriving(unittest.TestCase):
    """What a section does not carry is derived: id, level, parent, doc."""

    def sections(self, *records: dict[str, Any]) -> list[Any]:
        sections: list[Any] = doctrove.Volume({"sections": list(records)}).sections
        return sections

    def test_derived_ids_are_unique_stable_slugs(self) -> None:
        records = [
            {"heading": "Route handlers"},
            {"heading": "Route  Handlers!"},
            {"heading": "通配符 路由"},
            {"heading": ""},
            {},
            {"heading": "app.use(path, fn)"},
            {"heading": "…"},
        ]
        ids = [section.id for section in self.sections(*records)]
        self.assertEqual(ids[0], "route-handlers")
        self.assertIn("通配符", ids[2])
        self.assertEqual(len(set(ids)), len(ids))
        self.assertEqual(ids, [section.id for section in self.sections(*records)])
        for id in ids:
            self.assertRegex(id, r"^[\w-]+$")
            self.assertFalse(id.startswith("-") or id.endswith("-"), id)

    def test_given_ids_stay_and_derived_ones_avoid_them(self) -> None:
        ids = [
            section.id
            for section in self.sections(
                {"heading": "Start"}, {"heading": "Start"}, {"id": "start", "heading": "X"}, {"id": "start-2", "heading": "Y"}, {"heading": "Start"}
            )
        ]
        self.assertEqual((ids[2], ids[3]), ("start", "start-2"))
        self.assertEqual(len(set(ids)), 5)

    def test_ten_thousand_equal_headings_get_ids_at_once(self) -> None:
        start = time.process_time()
        ids = {section.id for section in self.sections(*[{"heading": "Same"}] * 10000)}
        self.assertEqual(len(ids), 10000)
        self.assertLess(time.process_time() - start, 2.0)

    def test_the_headings_above_follow_from_levels_or_parents(self) -> None:
        levels = [1, 2, 3, 2, 1, 3]
        sections = self.sections(*[{"id": f"s{at}", "heading": f"H{at}", "level": level} for at, level in enumerate(levels)])
        self.assertEqual([section.context.split() for section in sections], [[], ["H0"], ["H1", "H0"], ["H0"], [], ["H4"]])
        self.assertEqual([section.level for section in sections], levels)
        named = self.sections(
            {"id": "a", "heading": "A"}, {"id": "b", "heading": "B", "parent": "a"}, {"id": "c", "heading": "C", "parent": "b"}, {"id": "d", "heading": "D"}
        )
        self.assertEqual([section.context.split() for section in named], [[], ["A"], ["B", "A"], []])
        self.assertEqual([section.level for section in named], [1, 2, 3, 1])

    def test_levels_stay_between_1_and_6(self) -> None:
        sections = self.sections({"id": "s0"}, *[{"id": f"s{at}", "parent": f"s{at - 1}"} for at in range(1, 12)])
        self.assertTrue(all(1 <= section.level <= 6 for section in sections), [section.level for section in sections])

    def test_a_parent_that_is_missing_or_itself_does_no_harm(self) -> None:
        sections = self.sections(
            {"id": "a", "parent": "nowhere"}, {"id": "b", "parent": "b"}, {"id": "c", "parent": ""}, {"id": "d", "parent": "e"}, {"id": "e", "parent": "d"}
        )
        self.assertEqual([section.id for section in sections], ["a", "b", "c", "d", "e"])
        self.assertTrue(all(1 <= section.level <= 6 for section in sections))


def pack_folder(folder: str, path: str, below: str) -> str:
    """Writes all files of `folder` into a new zip at `path`, in the archive's folder `below`."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for directory, _, names in os.walk(folder):
            for name in names:
                full = os.path.join(directory, name)
                archive.write(full, below + os.path.relpath(full, folder).replace(os.sep, "/"))
    return path


if __name__ == "__main__":
    unittest.main()
