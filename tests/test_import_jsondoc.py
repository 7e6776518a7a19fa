"""OpenAPI, Swagger and JSON Schema as import formats: the blocks of the fixtures, and what bad input gets."""
from __future__ import annotations

import json
import os
import time
import unittest
from typing import Any

from support import ROOT, doctrove

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "jsondoc")


def read(value: Any, path: str = "api.json") -> doctrove.Document:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return doctrove.read_json_doc(data, doctrove.Page(path))


class JsonDocTest(unittest.TestCase):
    maxDiff = None

    def test_each_fixture_gives_the_blocks_beside_it(self) -> None:
        names = sorted(name[:-5] for name in os.listdir(FIXTURES) if name.endswith(".json") and not name.endswith(".expected.json"))
        self.assertGreaterEqual(len(names), 3)
        for name in names:
            with self.subTest(fixture=name):
                with open(os.path.join(FIXTURES, name + ".json"), "rb") as file:
                    document = read(file.read(), name + ".json")
                with open(os.path.join(FIXTURES, name + ".expected.json"), encoding="utf-8") as expected_file:
                    expected = json.load(expected_file)
                self.assertEqual(document.title, expected["title"])
                self.assertEqual([[block.kind, block.level, block.id, block.name, block.text] for block in document.blocks], expected["blocks"])

    def test_other_json_and_broken_json_come_out_as_they_stand(self) -> None:
        for data in (b'{"a": 1}', b"[1, 2]", b'{"openapi": "3.0", ', b"[" * 100_000):
            with self.subTest(data=data[:20]):
                blocks = read(data).blocks
                self.assertEqual([block.kind for block in blocks], ["body"])
                self.assertIn(data.decode(), blocks[0].text)

    def test_members_of_the_wrong_kind_do_not_make_it_fail(self) -> None:
        wrong: list[Any] = [None, 1, "x", [], {}, [[]], {"x": 1}, [None], {"x": None}, True]
        members = ("info", "paths", "components", "tags", "servers", "definitions", "security", "webhooks")
        for member in members:
            for value in wrong:
                for inner in ({member: value}, {"paths": {"/a": {"get": {member: value, "parameters": value, "responses": value, "requestBody": value}}}},
                              {"components": {"schemas": {"A": {"properties": value, "enum": value, "type": value, "items": value, "oneOf": value}}}}):
                    read({"openapi": "3.0", **inner})
                read({"$schema": "x", "properties": value, "$defs": value, "required": value, "type": value, "anyOf": value, member: value})

    def test_references_in_a_circle_end(self) -> None:
        api = {"openapi": "3.0", "paths": {"/a": {"$ref": "#/paths/~1b"}, "/b": {"$ref": "#/paths/~1a"}},
               "components": {"schemas": {"A": {"properties": {"a": {"$ref": "#/components/schemas/A"}}}}}}
        self.assertIn("`A`", "".join(block.text for block in read(api).blocks))

    def test_two_operations_never_share_an_anchor(self) -> None:
        operation = {"operationId": "same", "responses": {}}
        ids = [block.id for block in read({"openapi": "3.0", "paths": {"/a": {"get": operation}, "/b": {"get": operation}}}).blocks if block.kind == "entry"]
        self.assertEqual(ids, ["same", "same-2"])

    def test_deep_schemas_are_cut_in_time(self) -> None:
        schema: dict[str, Any] = {"type": "string"}
        for _ in range(150):
            schema = {"anyOf": [schema, {"type": "object", "properties": {"x": schema if len(str(schema)) < 5000 else {}}}]}
        start = time.process_time()
        read({"$schema": "x", "properties": {"a": schema}})
        self.assertLess(time.process_time() - start, 3)

    def test_what_is_too_deep_for_a_table_is_kept_as_json(self) -> None:
        schema: dict[str, Any] = {"type": "string", "description": "the innermost"}
        for _ in range(40):
            schema = {"properties": {"a": schema}}
        text = "".join(block.text for block in read({"$schema": "x", **schema}).blocks)
        self.assertIn("the innermost", text)
        self.assertNotIn(".a" * 16, text)

    def test_headings_inside_descriptions_are_bold_lines(self) -> None:
        blocks = read({"openapi": "3.0", "info": {"title": "T", "description": "## Use\ntext\n\nTitle\n---\n\n```\n## code\n```"}}).blocks
        self.assertEqual(blocks[1].text, "**Use**\ntext\n\n**Title**\n\n\n```\n## code\n```")


if __name__ == "__main__":
    unittest.main()
