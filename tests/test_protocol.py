"""The protocol over real pipes: the cases of cases/wire.json for each version, and what tools/list says about the tools."""
from __future__ import annotations

import json
import os
import re
import unittest

import wire
from processes import ENVELOPE, STATELESS, Server, exchange, initialize, request, tool_call

import doctrove

TOOL_NAMES = ["catalog_lookup", "catalog_releases", "doc_extract"]


def conforms(value, schema, path="$", surplus_allowed=False):
    """The first place where `value` breaks a schema of the few keywords that the tools use, or None.

    A member that the schema does not describe is a fault as well, unless `surplus_allowed`.
    """
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}
    unknown = set(schema) - {"type", "properties", "required", "items", "enum", "description", "anyOf"}
    if unknown:
        return f"{path}: this test does not know {unknown}"
    if "anyOf" in schema:
        faults = [conforms(value, {"type": schema["type"], "properties": schema["properties"], **each}, path, surplus_allowed) for each in schema["anyOf"]]
        return None if None in faults else "; ".join(faults)
    if not isinstance(value, kinds[schema["type"]]) or (isinstance(value, bool) and schema["type"] != "boolean"):
        return f"{path}: {value!r:.50} is not {schema['type']}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{path}: {value!r} is not one of {schema['enum']}"
    if isinstance(value, dict):
        missing = set(schema.get("required", ())) - set(value)
        described = schema.get("properties", {})
        surplus = set() if surplus_allowed else set(value) - set(described)
        if missing or surplus:
            return f"{path}: missing {missing}, not in the schema {surplus}"
        found = (conforms(each, described[name], f"{path}.{name}", surplus_allowed) for name, each in value.items() if name in described)
    else:
        found = (conforms(each, schema["items"], f"{path}[{at}]", surplus_allowed) for at, each in enumerate(value if isinstance(value, list) else ()))
    return next(filter(None, found), None)


class WireCases(wire.Checks):

    def test_every_case_for_every_version(self):
        for case, version, opened, sent, expected in wire.cases():
            with self.subTest(case=case["name"], version=version):
                opening = [initialize(version, "open"), {"jsonrpc": "2.0", "method": "notifications/initialized"}] if opened else []
                done = exchange([*opening, *sent])
                self.assertEqual((done.code, done.stderr), (0, ""))
                if opened:  # clients fall back silently, so the version has to be looked at
                    self.assertEqual(done.messages.pop(0)["result"]["protocolVersion"], version)
                self.check_all(done.messages, expected)


class Discovery(unittest.TestCase):

    def test_a_client_that_probes_negotiates_the_stateless_version(self):
        result = exchange([request("server/discover", {"_meta": ENVELOPE})]).by_id(1)["result"]
        shared = [version for version in result["supportedVersions"] if version == STATELESS]
        self.assertEqual(shared, [STATELESS])
        self.assertIsInstance(result["capabilities"], dict)
        self.assertIs(type(result["ttlMs"]), int)
        self.assertGreaterEqual(result["ttlMs"], 0)

    def test_the_server_names_itself_with_its_version(self):
        done = exchange([initialize("2025-11-25"), request("server/discover", {"_meta": ENVELOPE})])
        for named in (done.by_id(0)["result"]["serverInfo"], done.by_id(1)["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]):
            self.assertEqual((named["name"], named["version"]), ("doctrove", doctrove.__version__))

    def test_instructions_are_text_in_both_eras(self):
        done = exchange([initialize("2025-11-25"), request("server/discover", {"_meta": ENVELOPE})])
        for id in (0, 1):
            self.assertIn("doc_extract", done.by_id(id)["result"]["instructions"])

    def test_the_same_is_advertised_in_both_eras_but_for_logging(self):
        done = exchange([initialize("2025-11-25"), request("server/discover", {"_meta": ENVELOPE}, 1)])
        both = {"tools": {}, "resources": {"listChanged": True}, "prompts": {}, "completions": {}}
        self.assertEqual([done.by_id(id)["result"]["capabilities"] for id in (0, 1)], [{**both, "logging": {}}, both])  # logging is deprecated since

    def test_tools_list_has_a_lifetime(self):
        result = exchange([request("tools/list", {"_meta": ENVELOPE})]).by_id(1)["result"]
        self.assertIs(type(result["ttlMs"]), int)
        self.assertGreaterEqual(result["ttlMs"], 0)


class Tools(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.tools = exchange([request("tools/list", {"_meta": ENVELOPE})]).by_id(1)["result"]["tools"]

    def test_names_in_order(self):
        self.assertEqual([tool["name"] for tool in self.tools], TOOL_NAMES)
        for name in TOOL_NAMES:
            self.assertRegex(name, r"^[A-Za-z0-9_.-]{1,64}$")

    def test_each_has_a_title_and_a_description(self):
        for tool in self.tools:
            with self.subTest(tool["name"]):
                self.assertTrue(tool["title"].strip())
                self.assertTrue(tool["description"].strip())

    def test_each_is_marked_read_only(self):
        for tool in self.tools:
            with self.subTest(tool["name"]):
                self.assertIs(tool["annotations"]["readOnlyHint"], True)
                self.assertIs(tool["annotations"].get("destructiveHint", False), False)

    def test_schemas_are_plain_objects(self):
        for tool in self.tools:
            for name in ("inputSchema", "outputSchema"):
                with self.subTest(tool["name"], schema=name):
                    self.assertEqual(tool[name]["type"], "object")
                    self.assertIsInstance(tool[name]["properties"], dict)
                    self.assertNotIn('"$ref"', json.dumps(tool[name]))
                    # Boolean schemas break the checks of versions before 2026.
                    self.assertEqual([each for each in tool[name]["properties"].values() if not isinstance(each, dict)], [])

    def test_parameters_are_those_of_the_design(self):
        wanted = {"catalog_lookup": (["query", "limit"], ["query"]), "catalog_releases": (["id"], ["id"]),
                  "doc_extract": (["id", "version", "focus", "maxSections", "maxChars"], ["id"])}
        for tool in self.tools:
            with self.subTest(tool["name"]):
                schema = tool["inputSchema"]
                self.assertEqual((list(schema["properties"]), schema["required"]), wanted[tool["name"]])
                self.assertIs(schema["additionalProperties"], False)
                for name, property in schema["properties"].items():
                    self.assertTrue(property["description"], name)

    def test_ranges_and_defaults_are_those_of_the_design(self):
        by_name = {tool["name"]: tool["inputSchema"]["properties"] for tool in self.tools}
        for tool, name, least, most, default in (("catalog_lookup", "limit", 1, 50, 8), ("doc_extract", "maxSections", 1, 50, 6)):
            property = by_name[tool][name]
            self.assertEqual((property["type"], property["minimum"], property["maximum"], property["default"]), ("integer", least, most, default), name)
        self.assertEqual(by_name["doc_extract"]["maxChars"]["default"], 7000)

    def test_descriptions_together_stay_under_12_kb(self):
        self.assertLess(len(json.dumps(self.tools, ensure_ascii=False).encode()), 12 * 1024)

    def test_the_list_is_the_same_from_every_process_in_every_era_and_after_every_request(self):
        lists = []
        for seed in ("1", "2"):
            env = {**os.environ, "PYTHONHASHSEED": seed}
            done = exchange([initialize("2025-06-18"), request("tools/list", id=1), request("tools/list", {"_meta": ENVELOPE}, 2),
                             tool_call("catalog_lookup", {"query": "zod"}, 3),
                             request("tools/list", id=4)], env=env)
            lists += [json.dumps(done.by_id(id)["result"]["tools"]) for id in (1, 2, 4)]
        self.assertEqual(len(set(lists)), 1)

    def test_structured_content_follows_the_output_schema(self):
        calls = [("catalog_lookup", {"query": "express"}), ("catalog_lookup", {"query": "qqqqqqqq"}), ("catalog_releases", {"id": "zod"}),
                 ("doc_extract", {"id": "express", "focus": "wildcard"}), ("doc_extract", {"id": "zod"}),
                 ("doc_extract", {"id": "express", "focus": "qqqqqqqq"}),
                 ("doc_extract", {"id": "express", "maxChars": 1000})]
        done = exchange([initialize("2025-11-25"), *(tool_call(name, arguments, at) for at, (name, arguments) in enumerate(calls, 1))])
        schemas = {tool["name"]: tool["outputSchema"] for tool in self.tools}
        for at, (name, arguments) in enumerate(calls, 1):
            with self.subTest(name, arguments=arguments):
                result = done.by_id(at)["result"]
                self.assertIs(result["isError"], False)
                self.assertIsNone(conforms(result["structuredContent"], schemas[name]))
                self.assertNotIn("error", result["structuredContent"])

    def test_the_structured_content_of_an_error_follows_the_output_schema_too(self):
        calls = [("catalog_lookup", {}), ("catalog_releases", {"id": "no-such"}), ("doc_extract", {"id": "express", "version": "99"}),
                 ("doc_extract", {"id": 7})]
        done = exchange([initialize("2025-11-25"), *(tool_call(name, arguments, at) for at, (name, arguments) in enumerate(calls, 1))])
        schemas = {tool["name"]: tool["outputSchema"] for tool in self.tools}
        for at, (name, arguments) in enumerate(calls, 1):
            with self.subTest(name, arguments=arguments):
                result = done.by_id(at)["result"]
                self.assertIs(result["isError"], True)
                self.assertIsNone(conforms(result["structuredContent"], schemas[name], surplus_allowed=True))

    def test_the_text_is_the_same_answer_as_markdown(self):
        done = exchange([initialize("2025-11-25"), tool_call("doc_extract", {"id": "express", "version": "4", "focus": "wildcard"}, 1)])
        result = done.by_id(1)["result"]
        self.assertEqual([each["type"] for each in result["content"]], ["text"])
        text, answer = result["content"][0]["text"], result["structuredContent"]
        self.assertEqual(answer["version"], "4.21.2")
        self.assertTrue(answer["sections"])
        for passage in answer["sections"]:
            for part in (passage["heading"], passage["body"], passage["path"]):
                self.assertIn(part, text)
        self.assertIn("4.21.2", text)
        self.assertNotIn("\\n", re.sub(r"```.*?```", "", text, flags=re.DOTALL))

    def test_default_answers_fit_7000_characters_in_either_form(self):
        calls = [("doc_extract", {"id": id, "focus": focus}) for id in ("express", "zod", "dayjs") for focus in ("error", "how to parse", "通配符")]
        calls += [("doc_extract", {"id": "zod"}), ("catalog_lookup", {"query": "library"}), ("catalog_releases", {"id": "zod"})]
        done = exchange([initialize("2025-11-25"), *(tool_call(name, arguments, at) for at, (name, arguments) in enumerate(calls, 1))])
        for at, call in enumerate(calls, 1):
            with self.subTest(call=call):
                result = done.by_id(at)["result"]
                self.assertLessEqual(len(result["content"][0]["text"]), 7000)
                self.assertLessEqual(len(json.dumps(result["structuredContent"], ensure_ascii=False, separators=(",", ":"))), 7000)

    def test_answers_text_has_neither_output_schema_nor_structured_content(self):
        done = exchange([initialize("2025-11-25"), request("tools/list", id=1), tool_call("catalog_lookup", {"query": "express"}, 2),
                         tool_call("catalog_lookup", {}, 3),
                         request("tools/list", {"_meta": ENVELOPE}, 4), tool_call("catalog_releases", {"id": "zod"}, 5, _meta=ENVELOPE)], "--answers", "text")
        for id in (1, 4):
            tools = done.by_id(id)["result"]["tools"]
            self.assertEqual([tool["name"] for tool in tools], TOOL_NAMES)
            self.assertEqual([tool for tool in tools if "outputSchema" in tool], [])
        for id in (2, 3, 5):
            self.assertNotIn("structuredContent", done.by_id(id)["result"])
        self.assertIn("express", done.by_id(2)["result"]["content"][0]["text"])
        self.assertIs(done.by_id(3)["result"]["isError"], True)


class Subscriptions(unittest.TestCase):

    def test_the_acknowledgement_comes_at_once_and_other_requests_are_served_meanwhile(self):
        with Server() as server:
            server.send(request("subscriptions/listen", {"_meta": ENVELOPE, "notifications": {"toolsListChanged": True}}, "L"))
            self.assertEqual(server.next()["method"], "notifications/subscriptions/acknowledged")
            self.assertEqual(server.ask("tools/list", {"_meta": ENVELOPE}, 2)["result"]["resultType"], "complete")
            rest = server.end()
            self.assertEqual([message["id"] for message in rest.messages], ["L"])
            self.assertEqual(rest.code, 0)

    def test_their_number_is_bounded(self):
        listen = [request("subscriptions/listen", {"_meta": ENVELOPE, "notifications": {}}, at) for at in range(1100)]
        done = exchange(listen)
        refused = [message for message in done.messages if "error" in message]
        self.assertEqual({message["error"]["code"] for message in refused}, {-32603})
        self.assertEqual(sum("method" in message for message in done.messages) + len(refused), 1100)


if __name__ == "__main__":
    unittest.main()
