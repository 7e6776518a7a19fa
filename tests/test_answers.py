"""What the three catalog tools answer: shape, size, honesty about the version and about what is left out (design section 5)."""

from __future__ import annotations

import json
import random
import re
import unittest
from collections.abc import Iterator
from typing import Any

from support import doctrove, load_cases, make_folder, open_catalog, write_index

BUDGET = 7000
FOCUSES = (
    "wildcard",
    "通配符",
    "error handling",
    "how do I validate an email address",
    "时区",
    "app.use",
    "the",
    "zzzz",
    "migrate from 4 to 5",
    "z.object",
    "#nothing-like-it",
    "a b c d e f g",
    "req.query parser nested objects",
    "中间件 错误处理",
    "cookie",
    "?!",
    "format date",
)
JSON_TYPES: dict[str, Any] = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int, "boolean": bool}


def complaints(value: Any, schema: dict[str, Any], path: str = "$") -> Iterator[str]:
    """Where `value` breaks `schema`; enough of JSON Schema for the tools' schemas, and members that the schema does not list."""
    wanted = schema["type"]
    if not isinstance(value, JSON_TYPES[wanted]) or (isinstance(value, bool) and wanted != "boolean"):
        yield f"{path} is no {wanted}: {value!r}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"{path} is none of {schema['enum']}: {value!r}"
    elif wanted == "object":
        choices = [schema.get("required", []), *(choice["required"] for choice in schema.get("anyOf", []))]
        if not all(name in value for name in choices[0]) or (choices[1:] and not any(all(name in value for name in choice) for choice in choices[1:])):
            yield f"{path} has not all of {choices}"
        for name, member in value.items():
            if name in schema["properties"]:
                yield from complaints(member, schema["properties"][name], f"{path}.{name}")
            else:
                yield f"{path}.{name} is not in the schema"
    elif wanted == "array":
        for at, item in enumerate(value):
            yield from complaints(item, schema["items"], f"{path}[{at}]")


def open_fence(text: str) -> str:
    """The code fence that is open at the end of the Markdown `text` (CommonMark 4.5), '' for none."""
    fence = ""
    for line in text.split("\n"):
        mark = re.match(r" {0,3}(`{3,}|~{3,})(.*)$", line)
        if mark and not fence:
            fence = mark.group(1)
        elif mark and mark.group(1).startswith(fence) and not mark.group(2).strip():
            fence = ""
    return fence


def paragraphs(count: int, word: str = "amber") -> str:
    return "\n\n".join(f"Paragraph {number} tells something about {word} and other things, in a sentence of some length." for number in range(count))


def code_block(lines: int, fence: str = "```", number: int = 0) -> str:
    return "\n".join([fence + "js", *(f"const v{number}_{at} = call({at});{'' if at % 3 else chr(10)}" for at in range(lines)), fence])


def pieces(body: str) -> list[str]:
    """What a cut body holds between the marks of what is left out."""
    return [piece for piece in re.split(r"(?:^|\n+)(?:\[…\]|…)(?=\n|$)\n*", body) if piece]


def squeeze(text: str) -> str:
    return " ".join(text.split())


class AnswerCase(unittest.TestCase):
    def catalog(self, sections: list[dict[str, Any]], **entry: Any) -> Any:
        """A catalog with the entry 'x' in the version 1.0.0."""
        record = {"id": "x", "name": "X", "versions": ["1.0.0"], "volumes": {"1.0.0": {"sections": sections}}, **entry}
        return open_catalog(write_index(make_folder(self), {"entries": [record]}))

    def assert_answer(self, name: str, answer: dict[str, Any], most: int | None = BUDGET, lang: str = "en") -> None:
        """The answer follows the published schema, and both of its forms fit."""
        tool = doctrove.TOOL_BY_NAME[name]
        self.assertEqual(list(complaints(answer, tool.schema(True)["outputSchema"])), [])
        compact, text = json.dumps(answer, ensure_ascii=False, separators=(",", ":")), tool.render(answer, lang)
        self.assertNotIn("error", answer)
        if most is not None:
            self.assertLessEqual(len(compact), most, f"JSON of {name}")
            self.assertLessEqual(len(text), most, f"text of {name}")

    def assert_passages(self, answer: dict[str, Any], bodies: dict[str, str]) -> None:
        """Each body is whole or a part of it with the right count of what is left out; nothing is lost from the total."""
        self.assertEqual(answer["omitted"], answer["total"] - len(answer["sections"]))
        shown = [section["id"] for section in answer["sections"]]
        listed = [more["id"] for more in answer["more"]]
        self.assertEqual(len(set(shown + listed)), len(shown + listed))
        for section in answer["sections"]:
            whole = bodies[section["id"]]
            if "omittedChars" not in section:
                self.assertTrue(section["body"] == whole, section["id"])
                continue
            self.assertGreater(section["omittedChars"], 0)
            for kept in pieces(section["body"]):
                kept = kept if squeeze(kept) in squeeze(whole) else kept.rpartition("\n")[0]  # the fence that closes a cut block
                self.assertTrue(squeeze(kept) in squeeze(whole), f"#{section['id']} has what is not in its section: {kept[:80]!r}")
        if answer["omitted"] or any("omittedChars" in section for section in answer["sections"]):
            self.assertTrue("next" in answer or any("next" in section for section in answer["sections"]))

    def follow(self, catalog: Any, section: dict[str, Any]) -> dict[str, Any]:
        """The answer to the call that a cut section names."""
        named = re.search(r'focus "(#.*)", maxChars ([0-9]+)$', section["next"])
        self.assertIsNotNone(named, section["next"])
        assert named is not None
        given = doctrove.read_arguments(doctrove.TOOL_BY_NAME["doc_extract"].parameters, {"id": "x", "focus": named.group(1), "maxChars": int(named.group(2))})
        answer: dict[str, Any] = catalog.extract("x", None, given["focus"], given["maxSections"], given["maxChars"])
        self.assert_answer("doc_extract", answer, given["maxChars"])
        return answer


class Bundled(AnswerCase):
    def test_a_need_in_words_finds_its_library(self) -> None:
        for need, id in load_cases("needs")["bundled"]:
            with self.subTest(need=need):
                self.assertEqual([result["id"] for result in open_catalog().lookup(need)["results"]][:1], [id])

    def test_a_need_in_words_finds_its_library_among_packages(self) -> None:
        cases = load_cases("needs")
        entries = [{"id": id, "name": id, "summary": summary, "versions": [], "volumes": {}} for id, summary in cases["summaries"].items()]
        for order in (1, -1):  # so that no place in the index wins
            root = make_folder(self)
            write_index(root, {"entries": entries[::order]})
            catalog = open_catalog(root)
            for need, id in cases["summarised"]:
                with self.subTest(need=need, order=order):
                    self.assertEqual([result["id"] for result in catalog.lookup(need)["results"]][:1], [id])

    def test_the_wildcard_section_is_found_in_both_languages(self) -> None:
        catalog = open_catalog()
        for version in ("5.1.0", "4.21.2"):
            for focus in ("wildcard", "通配符", "Wildcards", "通配符路由", "wildcard routes"):
                with self.subTest(version=version, focus=focus):
                    answer = catalog.extract("express", version, focus)
                    self.assertEqual(answer["sections"][0]["id"], "wildcard-routes")
                    self.assertEqual(answer["version"], version)

    def test_default_answers_fit_and_follow_their_schema(self) -> None:
        for lang in ("en", "zh"):
            catalog = open_catalog(lang=lang)
            ids = [result["id"] for result in catalog.lookup("express zod dayjs date", 50)["results"]]
            self.assertGreaterEqual(len(ids), 3)
            for query in FOCUSES:
                with self.subTest(lang=lang, query=query):
                    self.assert_answer("catalog_lookup", catalog.lookup(query), lang=lang)
            for id in ids:
                releases = catalog.releases(id)
                self.assert_answer("catalog_releases", releases, lang=lang)
                for version in releases["versions"]:
                    whole = catalog.extract(id, version, None, 50, 200000)
                    for focus in (None, *FOCUSES, *(section["heading"] for section in whole["sections"][::9])):
                        with self.subTest(lang=lang, id=id, version=version, focus=focus):
                            try:
                                answer = catalog.extract(id, version, focus)
                            except doctrove.DocError as error:
                                self.assertEqual((error.code, focus), ("not-found", "#nothing-like-it"))
                                continue
                            self.assert_answer("doc_extract", answer, lang=lang)
                            self.assertEqual(answer["version"], version)

    def test_every_section_is_served_by_its_id(self) -> None:
        catalog = open_catalog()
        for id in ("express", "zod", "dayjs"):
            for version in catalog.releases(id)["versions"]:
                listed = catalog.extract(id, version, None, 50, 200000)
                for section in [*listed["sections"][::7], *listed["more"][::7]]:
                    with self.subTest(id=id, version=version, section=section["id"]):
                        answer = catalog.extract(id, version, "#" + section["id"], 6, 200000)
                        self.assertEqual([found["id"] for found in answer["sections"]], [section["id"]])
                        self.assertEqual((answer["total"], answer["omitted"]), (1, 0))
                        self.assertNotIn("omittedChars", answer["sections"][0])

    def test_there_is_enough_of_everything(self) -> None:
        catalog = open_catalog()
        for id, least, versions in (("express", 20, ["5.1.0", "4.21.2"]), ("zod", 20, ["3.24", "3.23", "4"]), ("dayjs", 12, ["1.11"])):
            for version in versions:
                with self.subTest(id=id, version=version):
                    self.assertGreaterEqual(catalog.extract(id, version)["total"], least)


class Versions(AnswerCase):
    VERSIONS = ("1.0.0", "1.1.0", "1.10.0", "2.0.0-rc.1", "2.0.0", "3.0.0-beta.2", "main")

    def test_what_is_served_is_always_the_version_that_is_named(self) -> None:
        entry = {
            "id": "x",
            "name": "X",
            "versions": list(self.VERSIONS),
            "volumes": {version: {"sections": [{"id": "only", "heading": "Install", "body": f"This is version <{version}>."}]} for version in self.VERSIONS},
        }
        for by_reference in (False, True):
            catalog = open_catalog(write_index(make_folder(self), {"entries": [entry]}, by_reference))
            for wanted, version, kind in (
                (None, "2.0.0", "latest"),
                ("latest", "2.0.0", "latest"),
                ("1", "1.10.0", "prefix"),
                ("1.1", "1.1.0", "prefix"),
                ("1.0.0", "1.0.0", "exact"),
                ("^1.0.0", "1.10.0", "range"),
                ("3", "3.0.0-beta.2", "prefix"),
                ("main", "main", "exact"),
                ("v2.0.0-rc.1", "2.0.0-rc.1", "exact"),
            ):
                for focus in (None, "install", "#only", "nothing of that"):
                    with self.subTest(by_reference=by_reference, wanted=wanted, focus=focus):
                        answer = catalog.extract("x", wanted, focus)
                        self.assert_answer("doc_extract", answer)
                        self.assertEqual((answer["version"], answer["releaseKind"]), (version, kind))
                        self.assertTrue(answer["releaseNote"])
                        for section in answer["sections"]:
                            self.assertEqual(section["body"], f"This is version <{version}>.")
                        self.assertIn(f" {version}", doctrove.TOOL_BY_NAME["doc_extract"].render(answer, "en"))

    def test_a_version_that_is_not_there_is_an_error_with_the_candidates(self) -> None:
        catalog = open_catalog()
        for wanted in ("3", "5.0.0", "6", "^3", "nope"):
            with self.subTest(wanted=wanted), self.assertRaises(doctrove.DocError) as caught:
                catalog.extract("express", wanted, "wildcard")
            report = caught.exception.report("en")
            self.assertEqual((report["code"], report["candidates"]), ("version", ["5.1.0", "4.21.2"]))

    def test_releases_are_listed_newest_first_with_the_latest_named(self) -> None:
        entry = {
            "id": "x",
            "name": "X",
            "versions": list(self.VERSIONS),
            "volumes": {version: {"summary": f"of {version}", "sections": [{}] * 3} for version in self.VERSIONS},
        }
        answer = open_catalog(write_index(make_folder(self), {"entries": [entry]})).releases("x")
        self.assertEqual(answer["versions"], ["3.0.0-beta.2", "2.0.0", "2.0.0-rc.1", "1.10.0", "1.1.0", "1.0.0", "main"])
        self.assertEqual(answer["latest"], "2.0.0")
        self.assertEqual(
            [(row["version"], row["sections"], row["summary"]) for row in answer["releases"]], [(version, 3, f"of {version}") for version in answer["versions"]]
        )


class Names(AnswerCase):
    def setUp(self) -> None:
        rows = (("foo", "Foo", ["bar"]), ("other", "Other", ["FOO", "third", "Qux"]), ("third", "Third", []), ("qux", "Lux", []))
        self.entries = [{"id": id, "name": name, "aliases": aliases, "versions": ["1"], "volumes": {"1": {"sections": []}}} for id, name, aliases in rows]
        self.names = open_catalog(write_index(make_folder(self), {"entries": self.entries}))

    def test_an_id_is_found_exactly_then_by_alias_then_ignoring_case(self) -> None:
        for asked, id in (
            ("foo", "foo"),
            ("third", "third"),
            ("qux", "qux"),
            ("FOO", "other"),
            ("Qux", "other"),
            ("bar", "foo"),
            ("BAR", "foo"),
            ("OTHER", "other"),
            ("Other", "other"),
        ):
            with self.subTest(asked=asked):
                self.assertEqual(self.names.releases(asked)["id"], id)
                self.assertEqual(self.names.extract(asked)["id"], id)

    def test_an_unknown_id_is_not_found_with_the_nearest_ids(self) -> None:
        catalog = open_catalog()
        for asked, near in (
            ("expres", "express"),
            ("exprss", "express"),
            ("express.jss", "express"),
            ("zodd", "zod"),
            ("dayj", "dayjs"),
            ("date library", "dayjs"),
        ):
            for call in (catalog.releases, catalog.extract):
                with self.subTest(asked=asked, call=call.__name__), self.assertRaises(doctrove.DocError) as caught:
                    call(asked)
                report = caught.exception.report("en")
                self.assertEqual(report["code"], "not-found")
                self.assertIn(near, report["nearest"])
                self.assertIn(near, report["message"])

    def test_an_unknown_id_with_nothing_near_it_says_so(self) -> None:
        for asked in ("qqqqqqqq", "???", "龘龘", "x" * 200):
            with self.subTest(asked=asked), self.assertRaises(doctrove.DocError) as caught:
                open_catalog().extract(asked)
            self.assertEqual((caught.exception.code, caught.exception.data["nearest"]), ("not-found", []))

    def test_aliases_of_the_bundled_index_lead_to_their_entry(self) -> None:
        catalog = open_catalog()
        for alias, id in (("expressjs", "express"), ("Express.js", "express"), ("EXPRESS", "express"), ("day.js", "dayjs"), ("Zod", "zod")):
            with self.subTest(alias=alias):
                self.assertEqual(catalog.releases(alias)["id"], id)


class Sizes(AnswerCase):
    LONG = "An amber thing that is much longer than any title should be, " * 60

    def shapes(self) -> dict[str, list[dict[str, Any]]]:
        """Sections of many kinds, by a name."""
        chance = random.Random(2)
        words = ["amber", "basil", "日期", "\n", "\n\n", '"', "\\", "`x`", "<tag>", "😀", "\t", "ember."]
        return {
            "one short": [{"heading": "Amber", "body": "amber"}],
            "no text": [{}] * 30,
            "very long": [{"id": f"s{at}", "heading": f"Amber {at}", "path": f"https://example.com/{at}", "body": paragraphs(300)} for at in range(9)],
            "one line": [{"id": f"s{at}", "heading": "Amber", "body": "amber " * 9000} for at in range(3)],
            "one word": [{"id": f"s{at}", "heading": "Amber", "body": "amber" * 9000} for at in range(3)],
            "many": [{"id": f"section-number-{at}", "heading": f"Amber heading number {at}", "body": "amber basil"} for at in range(2000)],
            "long headings": [{"id": f"s{at}", "heading": self.LONG, "body": paragraphs(20)} for at in range(30)],
            "long ids": [{"id": f"{at}-" + "amber-" * 30, "heading": "Amber", "body": paragraphs(20)} for at in range(30)],
            "long paths": [{"id": f"s{at}", "heading": "Amber", "path": "https://example.com/" + "amber/" * 300, "body": paragraphs(20)} for at in range(30)],
            "quotes": [{"id": f"s{at}", "heading": 'Amber "quoted"', "body": 'amber "\\" ' * 900} for at in range(9)],
            "line feeds": [{"id": f"s{at}", "heading": "Amber", "body": "amber\n" * 3000} for at in range(9)],
            "controls": [{"id": f"s{at}", "heading": "Amber", "body": "amber \u0001\u0002" * 900} for at in range(9)],
            "code": [
                {"id": f"s{at}", "heading": "Amber", "body": "amber\n\n" + "\n\n".join(code_block(9, number=number) for number in range(40))} for at in range(9)
            ],
            "Chinese": [{"id": f"s{at}", "heading": "amber 日期", "body": "日期处理与格式化。\n\n" * 900} for at in range(9)],
            "mixed": [
                {
                    "id": f"s{at}",
                    "heading": "amber " + "".join(chance.choices(words[:3], k=4)),
                    "body": " ".join(chance.choices(words, k=chance.randint(0, 3000))),
                }
                for at in range(60)
            ],
        }

    def bodies(self, catalog: Any, sections: list[dict[str, Any]]) -> dict[str, str]:
        """The whole body of each section by id, given or derived."""
        derived = doctrove.Volume({"sections": sections}).sections
        return {made.id: record.get("body", "") for made, record in zip(derived, sections)}

    def test_extract_fits_whatever_the_sections_are(self) -> None:
        for name, sections in self.shapes().items():
            catalog = self.catalog(sections)
            bodies = self.bodies(catalog, sections)
            for focus in (None, "amber", "amber basil ember 日期", "absent", "#" + next(iter(bodies))):
                for most, chars in ((6, BUDGET), (50, BUDGET), (6, 1000), (1, 1000), (50, 2500), (50, 20000), (50, 200000)):
                    with self.subTest(sections=name, focus=focus, maxSections=most, maxChars=chars):
                        answer = catalog.extract("x", None, focus, most, chars)
                        self.assert_answer("doc_extract", answer, chars)
                        self.assertLessEqual(len(answer["sections"]), most)
                        self.assert_passages(answer, bodies)

    def test_a_budget_is_used_and_not_only_kept(self) -> None:
        catalog = self.catalog(self.shapes()["very long"])
        for chars in (1000, 2000, BUDGET, 20000, 100000):
            with self.subTest(maxChars=chars):
                answer = catalog.extract("x", None, "amber", 6, chars)
                self.assertGreater(len(json.dumps(answer, ensure_ascii=False)), chars * 0.6)
                self.assertTrue(answer["sections"][0]["body"])

    def test_long_passages_leave_room_for_the_next_ones(self) -> None:
        sections = [{"id": f"s{at}", "heading": f"Amber {at}", "body": paragraphs(30)} for at in range(9)]
        answer = self.catalog(sections).extract("x", None, "amber")
        sizes = [len(section["body"]) for section in answer["sections"]]
        self.assertGreaterEqual(len(sizes), 2)
        self.assertGreater(sizes[0], 2 * max(sizes[1:]))
        self.assertGreater(min(sizes), 100)
        short = [{"id": "first", "heading": "Amber", "body": "amber " * 300},
                 *({"id": f"s{at}", "heading": "Cedar", "body": paragraphs(30)} for at in range(9))]
        answer = self.catalog(short).extract("x", None, "amber")
        self.assertNotIn("omittedChars", answer["sections"][0])
        self.assertGreaterEqual(len(answer["sections"]), 4)

    def test_a_whole_volume_fits_when_there_is_room(self) -> None:
        sections = [{"id": f"s{at}", "heading": f"Amber {at}", "body": paragraphs(3)} for at in range(50)]
        answer = self.catalog(sections).extract("x", None, None, 50, 200000)
        self.assertEqual([section["id"] for section in answer["sections"]], [section["id"] for section in sections])
        self.assertEqual((answer["omitted"], answer["more"]), (0, []))
        self.assertNotIn("next", answer)

    def test_what_is_left_out_is_listed_while_there_is_room(self) -> None:
        sections = [{"id": f"s{at}", "heading": f"Amber {at}", "body": "amber " * 20} for at in range(30)]
        answer = self.catalog(sections).extract("x", None, "amber")
        self.assertEqual((len(answer["sections"]), answer["total"], answer["omitted"]), (6, 30, 24))
        self.assertGreaterEqual(len(answer["more"]), 10)
        self.assertIn("24", answer["next"])

    def test_the_call_that_a_cut_section_names_returns_all_of_it(self) -> None:
        for name, body in (
            ("paragraphs", paragraphs(200)),
            ("one line", "amber " * 4000),
            ("code", "\n\n".join(code_block(20, number=number) for number in range(30))),
            ("line feeds", "amber\n" * 4000),
            ("empty lines", "a\n\n\n\n" * 4000),
            ("quotes", 'amber "' * 4000),
            ("backslashes", "\\" * 20000),
            ("tabs", "\t\t\tx\n" * 5000),
            ("controls", "amber \u0001" * 3000),
            ("Chinese", "日期" * 9000),
            ("150,000 characters", paragraphs(1600)),
            ("surrogates", "amber \ud800 " * 3000),
        ):
            for id in ("long", "long-" * 30 + "id"):
                with self.subTest(name, id=id[:9]):
                    catalog = self.catalog(
                        [{"id": "other", "heading": "Other", "body": "amber"}, {"id": id, "heading": "Amber", "path": "https://example.com/a#b", "body": body}]
                    )
                    cut = next(section for section in catalog.extract("x", None, "amber")["sections"] if section["id"] == id)
                    self.assertGreater(cut["omittedChars"], 0)
                    whole = self.follow(catalog, cut)["sections"][0]
                    self.assertTrue(whole["body"] == body, f"{len(whole['body'])} of {len(body)} characters arrived")  # assertEqual would compare for minutes
                    self.assertNotIn("omittedChars", whole)

    def test_a_section_that_no_answer_can_hold_names_a_call_that_is_allowed(self) -> None:
        catalog = self.catalog([{"id": "huge", "heading": "Amber", "body": paragraphs(5000)}])
        cut = catalog.extract("x", None, "amber")["sections"][0]
        whole = self.follow(catalog, cut)["sections"][0]
        self.assertGreater(len(whole["body"]), 150000)
        self.assertGreater(whole["omittedChars"], 0)

    def test_omittedChars_counts_exactly_what_is_not_there(self) -> None:
        body = paragraphs(300)
        for focus in ("amber", "Paragraph 150", "299"):
            for chars in (1000, 3000, BUDGET, 15000):
                with self.subTest(focus=focus, maxChars=chars):
                    section = self.catalog([{"id": "a", "heading": "Amber", "body": body}]).extract("x", None, focus, 6, chars)["sections"][0]
                    kept = pieces(section["body"])
                    self.assertTrue(all(piece in body for piece in kept))
                    self.assertEqual(section["omittedChars"], len(body) - sum(map(len, kept)))

    def test_an_excerpt_shows_the_passage_with_the_words(self) -> None:
        body = "\n\n".join([paragraphs(100, "grove"), "Here stands the fjord.", paragraphs(100, "grove")])
        section = self.catalog([{"id": "a", "heading": "Grove", "body": body}]).extract("x", None, "fjord")["sections"][0]
        self.assertIn("Here stands the fjord.", section["body"])

    def test_a_code_block_larger_than_the_room_is_cut_around_the_words(self) -> None:
        lines = [f"  option{at}: true,  // about the grove" for at in range(400)]
        lines[299:301] = ["  // how long the fjord may take", "  fjordTime: 1000,"]
        for fence in ("```", "~~~~"):
            body = "\n".join(["Grove options.", "", f"{fence}js", *lines, fence])
            for chars in (1500, 2500, BUDGET):
                with self.subTest(fence=fence, maxChars=chars):
                    section = self.catalog([{"id": "a", "heading": "Grove", "body": body}]).extract("x", None, "grove fjord", 6, chars)["sections"][0]
                    self.assertIn("\n".join(lines[297:302]), section["body"])
                    self.assertEqual(section["body"].count(f"{fence}js\n…\n"), 1)
                    self.assertTrue(section["body"].endswith(f"\n…\n{fence}"), section["body"][-40:])
                    self.assertLess(len(body) - len(section["body"].replace("…\n", "")) - section["omittedChars"], 9)

    def test_a_table_larger_than_the_room_keeps_its_header_and_the_rows_with_the_words(self) -> None:
        rows = [f"| name{at} | about the grove |" for at in range(400)]
        rows[300] = "| name300 | about the fjord |"
        body = "\n".join(["| name | meaning |", "| --- | --- |", *rows])
        section = self.catalog([{"id": "a", "heading": "Grove", "body": body}]).extract("x", None, "fjord", 6, 2000)["sections"][0]
        self.assertTrue(section["body"].startswith("| name | meaning |\n| --- | --- |\n…\n"), section["body"][:80])
        self.assertIn("\n".join(rows[298:303]), section["body"])

    def test_lines_too_long_for_the_room_are_cut_and_not_lost(self) -> None:
        body = "\n".join(["```js", *("amber(" + "x, " * 3000 + ");" for _ in range(20)), "```"])
        section = self.catalog([{"id": "a", "heading": "Grove", "body": body}]).extract("x", None, "amber", 6, 2000)["sections"][0]
        self.assertIn("amber(x, x, x", section["body"])

    def test_no_label_is_left_without_what_it_leads_to(self) -> None:
        for label in ("**Parameters:**", "**Parameters**", "These are the options:", "选项：", "#### Options"):
            for number in (3, 14, 40):
                items = "\n".join(f"- option{at} says something of some length about the grove" for at in range(number))
                body = f"About amber and what it does.\n\n{label}\n\n{items}\n\n**Returns:**\n\n" + code_block(60)
                for chars in range(1000, 3600, 200):
                    with self.subTest(label=label, items=number, maxChars=chars):
                        section = self.catalog([{"id": "a", "heading": "Amber", "body": body}]).extract("x", None, "amber", 6, chars)["sections"][0]
                        for lead, following in ((label, "- option"), ("**Returns:**", "```js")):
                            _, found, after = section["body"].partition(lead + "\n\n")
                            self.assertTrue(not found or after.startswith((following, "…\n")), section["body"][-200:])
                            self.assertFalse(section["body"].endswith(lead))

    def test_a_list_that_does_not_fit_fills_the_room_with_its_first_items(self) -> None:
        items = "\n".join(f"- option{at} says something of some length about the grove" for at in range(20))
        sections = [{"id": "a", "heading": "Amber", "body": f"About amber.\n\n**Parameters:**\n\n{items}"},
                    {"id": "b", "heading": "Grove", "body": paragraphs(40, "grove") + " amber"}]
        section = self.catalog(sections).extract("x", None, "amber", 6, 1500)["sections"][0]
        self.assertIn("**Parameters:**\n\n- option0", section["body"])
        self.assertIn("- option5", section["body"])

    def test_the_first_passage_whole_comes_before_headings(self) -> None:
        sections = [{"id": "first", "heading": "Amber", "body": paragraphs(7)},
                    *({"id": f"s{at}", "heading": f"Cedar {at}", "body": paragraphs(40, "grove") + " amber"} for at in range(20))]
        answer = self.catalog(sections).extract("x", None, "amber", 6, 2000)
        self.assertNotIn("omittedChars", answer["sections"][0])
        self.assertGreaterEqual(len(answer["more"]), 2)

    def test_a_hit_that_is_weak_beside_the_best_is_listed_and_not_shown(self) -> None:
        sections = [{"id": "real", "heading": "KeyTooLong", "body": "KeyTooLong is raised for a key of more than 512 bytes."},
                    *({"id": f"s{at}", "heading": f"Cedar {at}", "body": "The key is here. " + "Cedar and grove, told at length. " * 40} for at in range(9))]
        answer = self.catalog(sections).extract("x", None, "KeyTooLong")
        self.assertEqual([section["id"] for section in answer["sections"]], ["real"])
        self.assertEqual(len(answer["more"]), 9)

    def test_the_headings_listed_are_counted_in_both_languages(self) -> None:
        sections = [{"id": f"s{at}", "heading": f"Amber {at}", "body": paragraphs(20)} for at in range(90)]
        for lang, said in (("en", "{} more, {} of them listed"), ("zh", "另有 {} 节（已列出 {} 节）")):
            index = {"entries": [{"id": "x", "name": "X", "versions": ["1"], "volumes": {"1": {"sections": sections}}}]}
            catalog = open_catalog(write_index(make_folder(self), index), lang=lang)
            for chars in range(1000, 9000, 250):
                with self.subTest(lang=lang, maxChars=chars):
                    answer = catalog.extract("x", None, "amber", 6, chars)
                    self.assertIn(said.format(answer["omitted"], len(answer["more"])), answer["next"])

    def test_that_an_answer_is_weak_stands_before_its_passages(self) -> None:
        catalog = self.catalog([{"id": f"s{at}", "heading": f"Amber {at}", "body": paragraphs(20)} for at in range(30)])
        for focus, key in (("amber fjord glacier", "next-weak"), ("fjord glacier", "next-none")):
            with self.subTest(focus=focus):
                text = doctrove.TOOL_BY_NAME["doc_extract"].render(catalog.extract("x", None, focus), "en")
                said = doctrove.say("en", key)
                self.assertEqual(text.count(said), 1)
                self.assertLess(text.index(said), text.index("#s0"))

    def test_a_focus_of_any_length_leaves_the_budget(self) -> None:
        catalog = self.catalog([{"heading": "Amber", "body": paragraphs(50)}])
        for focus in ("amber " * 166, "amber" * 200, '"' * 1000, "\\" * 999, "日" * 1000, "\u0001" * 999 + "a"):
            for chars in (1000, BUDGET):
                with self.subTest(focus=focus[:9], maxChars=chars):
                    self.assert_answer("doc_extract", catalog.extract("x", None, focus.strip(), 6, chars), chars)

    def test_long_names_leave_the_budget(self) -> None:
        catalog = self.catalog(
            [{"heading": "Amber", "body": paragraphs(50)}],
            name="Name " * 400,
            summary="Amber summary " * 900,
            aliases=["alias " * 30],
            homepage="https://example.com/" + "a" * 3000,
        )
        self.assert_answer("catalog_lookup", catalog.lookup("amber"))
        self.assert_answer("catalog_releases", catalog.releases("x"))
        self.assert_answer("doc_extract", catalog.extract("x", None, "amber"))

    def test_lookup_fits_whatever_the_entries_are(self) -> None:
        shapes = {
            "long summaries": {"summary": "amber thing " * 500},
            "500 versions": {"summary": "amber", "versions": [f"1.{at}.0-beta.{at}" for at in range(500)]},
            "quotes": {"summary": 'amber "\\"' * 300},
            "Chinese": {"summary": "amber " + "日期处理" * 500},
            "long names": {"name": "amber name " * 90},
        }
        for name, shape in shapes.items():
            entries = [{"id": f"entry-number-{at}", "name": f"Amber {at}", "versions": ["1.0.0"], **shape} for at in range(60)]
            for entry in entries:
                entry["volumes"] = {key: {"sections": []} for key in entry["versions"]}
            catalog = open_catalog(write_index(make_folder(self), {"entries": entries}))
            for limit in (1, 8, 50):
                with self.subTest(name, limit=limit):
                    answer = catalog.lookup("amber", limit)
                    self.assert_answer("catalog_lookup", answer, BUDGET if limit <= 8 else None)
                    self.assertEqual(answer["total"], 60)
                    self.assertGreaterEqual(len(answer["results"]), 1)
                    self.assertIn(str(60 - len(answer["results"])), answer["next"])

    def test_releases_fit_with_500_versions(self) -> None:
        versions = [f"{major}.{minor}.{patch}" for major in range(5) for minor in range(10) for patch in range(10)]
        for summary in ("", "amber summary " * 90, '"\\' * 500, "日期" * 500):
            with self.subTest(summary=summary[:9]):
                volumes = {version: {"summary": summary, "sections": [{}]} for version in versions}
                answer = self.catalog([], versions=versions, volumes=volumes, summary=summary, homepage="https://example.com").releases("x")
                self.assert_answer("catalog_releases", answer)
                self.assertEqual(len(answer["versions"]), 500)
                self.assertTrue(answer["releases"])
                self.assertIn(str(500 - len(answer["releases"])), answer["next"])

    def test_releases_with_500_long_version_names_fit_too(self) -> None:
        versions = [f"{number}.0.0-nightly.20260816.commit.{number:08x}" for number in range(500)]
        answer = self.catalog([], versions=versions, volumes={key: {"sections": []} for key in versions}).releases("x")
        self.assert_answer("catalog_releases", answer)


class Fences(AnswerCase):
    def test_an_excerpt_never_cuts_a_code_block_that_fits(self) -> None:
        for fence in ("```", "~~~", "````"):
            blocks = [code_block(6 + number % 5, fence, number) for number in range(60)]
            inner = f"{fence[0] * 3}\ninside\n{fence[0] * 3}" if len(fence) > 3 else "# no heading\n\n\n## none"
            blocks[30] = f"{fence}md\n{inner}\n{fence}"
            body = "\n\n".join(f"About amber {number}:\n\n{block}" for number, block in enumerate(blocks))
            catalog = self.catalog([{"id": "a", "heading": "Amber", "body": body}])
            for focus in ("amber", "v7_3", "inside" if len(fence) > 3 else "none", "v59_2"):
                for chars in (1200, 2000, 3500, BUDGET, 9000):
                    with self.subTest(fence=fence, focus=focus, maxChars=chars):
                        section = catalog.extract("x", None, focus, 6, chars)["sections"][0]
                        self.assertEqual(open_fence(section["body"]), "")
                        kept = pieces(section["body"])
                        self.assertTrue(all(piece in body for piece in kept))
                        left = "\n\n".join(kept)
                        for block in blocks:
                            left = left.replace(block, "")
                        self.assertFalse(fence in left or "const v" in left, left[:200])

    def test_a_code_block_that_is_too_long_is_closed_where_it_is_cut(self) -> None:
        for fence in ("```", "~~~", "````", "~~~~~"):
            for body in (code_block(2000, fence), "Text before.\n\n" + code_block(2000, fence), code_block(2000, fence) + "\n\n" + code_block(2000, fence)):
                for chars in (1000, BUDGET):
                    with self.subTest(fence=fence, start=body[:5], maxChars=chars):
                        answer = self.catalog([{"id": "a", "heading": "Amber", "body": body}]).extract("x", None, "amber", 6, chars)
                        self.assertEqual(open_fence(answer["sections"][0]["body"]), "")
                        self.assertEqual(open_fence(doctrove.TOOL_BY_NAME["doc_extract"].render(answer, "en")), "")


class Texts(AnswerCase):
    def test_the_text_is_the_same_answer(self) -> None:
        body = 'Use amber:\n\n```js\nconst a = "x";\n```\n\n- one\n- two'
        sections = [
            {"id": "use", "heading": "Use amber", "path": "https://example.com/use#a", "body": body},
            {"id": "next", "heading": "Next thing", "body": "amber"},
        ]
        catalog = self.catalog(sections, homepage="https://example.com", summary="About amber.")
        answer = catalog.extract("x", None, "amber", 1)
        text = doctrove.TOOL_BY_NAME["doc_extract"].render(answer, "en")
        for part in (
            body,
            "Use amber",
            "https://example.com/use#a",
            "1.0.0",
            answer["releaseNote"],
            "#use",
            "#next",
            "Next thing",
            answer["next"],
            *answer["sections"][0]["matches"],
        ):
            self.assertIn(part, text)
        releases = catalog.releases("x")
        text = doctrove.TOOL_BY_NAME["catalog_releases"].render(releases, "en")
        for part in ("X", "1.0.0", "https://example.com", "About amber."):
            self.assertIn(part, text)
        lookup = catalog.lookup("amber")
        text = doctrove.TOOL_BY_NAME["catalog_lookup"].render(lookup, "en")
        for part in ("x", "About amber.", "1.0.0", *lookup["results"][0]["matches"]):
            self.assertIn(part, text)

    def test_nothing_found_is_an_empty_list_with_a_way_on(self) -> None:
        catalog = self.catalog([{"id": "only", "heading": "Amber", "body": "amber"}])
        lookup = catalog.lookup("qqqqqq")
        self.assertEqual((lookup["results"], lookup["total"]), ([], 0))
        self.assertTrue(lookup["next"])
        extract = catalog.extract("x", None, "qqqqqq")
        self.assertEqual((extract["sections"], extract["total"], extract["omitted"]), ([], 0, 0))
        self.assertTrue(extract["next"])
        for name, answer in (("catalog_lookup", lookup), ("doc_extract", extract)):
            self.assert_answer(name, answer)

    def test_a_volume_without_sections_is_an_empty_answer(self) -> None:
        for focus in (None, "amber"):
            answer = self.catalog([]).extract("x", None, focus)
            self.assert_answer("doc_extract", answer)
            self.assertEqual((answer["sections"], answer["more"], answer["total"], answer["omitted"]), ([], [], 0, 0))

    def test_the_same_question_gets_the_same_answer(self) -> None:
        for _ in range(2):
            first, second = (open_catalog().extract("express", "5", "error middleware") for _ in range(2))
            self.assertEqual(first, second)


class Arguments(unittest.TestCase):
    CASES = load_cases("arguments")

    def test_good_arguments_are_read(self) -> None:
        for case in self.CASES["accepted"]:
            with self.subTest(**case):
                read = doctrove.read_arguments(doctrove.TOOL_BY_NAME[case["tool"]].parameters, case["given"])
                self.assertEqual({name: read[name] for name in case["is"]}, case["is"])
                self.assertEqual([type(read[name]) for name in case["is"]], [type(value) for value in case["is"].values()])

    def test_bad_arguments_are_named_with_what_is_accepted(self) -> None:
        for case in self.CASES["refused"]:
            with self.subTest(**case):
                with self.assertRaises(doctrove.DocError) as caught:
                    doctrove.read_arguments(doctrove.TOOL_BY_NAME[case["tool"]].parameters, case["given"])
                report = caught.exception.report("en")
                self.assertEqual(report["code"], "validation")
                for text in (case["argument"], *case.get("says", [])):
                    self.assertIn(text, report["message"])
                json.dumps(report, ensure_ascii=False).encode()  # half a surrogate pair is not repeated

    def test_texts_that_are_too_long_are_refused(self) -> None:
        for tool, argument in (("catalog_lookup", "query"), ("doc_extract", "id"), ("doc_extract", "version"), ("doc_extract", "focus")):
            with self.subTest(tool=tool, argument=argument), self.assertRaises(doctrove.DocError) as caught:
                given = {**({"id": "x"} if tool == "doc_extract" else {}), argument: "a" * 10240}
                doctrove.read_arguments(doctrove.TOOL_BY_NAME[tool].parameters, given)
            self.assertEqual((caught.exception.code, caught.exception.data["argument"]), ("validation", argument))
            self.assertLess(len(str(caught.exception)), 500)

    def test_the_descriptions_of_all_tools_fit_12_KB(self) -> None:
        """Of the catalog's with the schemas of their answers; of all without them, which no client shows its model."""
        self.assertLess(len(json.dumps([tool.schema(True) for tool in doctrove.TOOLS], ensure_ascii=False).encode()), 12000)
        tools = [*doctrove.TOOLS, *doctrove.LIBRARY_TOOLS]
        self.assertLess(len(json.dumps([tool.schema(False) for tool in tools], ensure_ascii=False, separators=(",", ":")).encode()), 12000)


if __name__ == "__main__":
    unittest.main()
