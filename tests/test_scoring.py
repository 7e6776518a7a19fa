"""Scores of the catalog and of sections: design section 4. The cases are data that any implementation could use; the rules are
written down a second time here, in the plainest way, and held against the program on random data."""

from __future__ import annotations

import math
import random
import re
import time
import unittest
from typing import Any

from support import doctrove, load_cases, make_folder, open_catalog, write_index

VOCABULARY = ["amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "hazel", "日", "期", "库", "路"]
HIDDEN = {"1.0.0": {"sections": []}}


def catalog_of(test: unittest.TestCase, entries: list[dict[str, Any]], **options: str) -> Any:
    """A catalog of `entries`, each with one empty version."""
    filled = [{"versions": ["1.0.0"], "volumes": HIDDEN, **entry} for entry in entries]
    return open_catalog(write_index(make_folder(test), {"entries": filled}), **options)


def sections_catalog(test: unittest.TestCase, sections: list[dict[str, Any]], **options: str) -> Any:
    """A catalog with the entry 'x', whose only version has `sections`."""
    entry = {"id": "x", "name": "X", "versions": ["1.0.0"], "volumes": {"1.0.0": {"sections": sections}}}
    return open_catalog(write_index(make_folder(test), {"entries": [entry]}), **options)


def hits(catalog: Any, query: str | None, most: int = 50) -> list[dict[str, Any]]:
    """All sections that answer `query`, best first."""
    sections: list[dict[str, Any]] = catalog.extract("x", None, query, most, 200000)["sections"]
    return sections


# The tiers once more, as the design's table has them.


def plain_words(text: str) -> list[str]:
    return [piece for word in re.findall(r"\w+", text.casefold()) for piece in (word if word[0] > "\u2e80" else [word])]


def bare(text: str) -> str:
    return "".join(plain_words(text))


def share(query: str, text: str) -> float:
    asked = list(dict.fromkeys(plain_words(query)))
    return sum(word in plain_words(text) for word in asked) / len(asked) if asked else 0.0


def raw_score(query: str, entry: dict[str, Any]) -> float:
    """The best signal but typos."""
    wanted, name, aliases = query.strip().casefold(), entry["name"].casefold(), [alias.casefold() for alias in entry.get("aliases", [])]
    keys = [name, entry["id"].casefold(), *aliases]
    in_name, in_summary = share(query, entry["name"]), share(query, entry.get("summary", ""))
    signals = (
        (wanted in keys[:2], 1.0),
        (wanted in aliases, 0.95),
        (bool(bare(query)) and bare(query) in map(bare, keys), 0.93),
        (name.startswith(wanted), 0.90),
        (any(alias.startswith(wanted) for alias in aliases), 0.85),
        (in_name > 0, 0.60 + 0.23 * in_name),
        (in_summary > 0, 0.30 + 0.20 * in_summary),
    )
    return max(value if holds else 0.0 for holds, value in signals)


def full_score(raw: float, popularity: float) -> float:
    return raw + (1 - raw) * (min(0.1, math.log10(popularity) / 100) if popularity >= 1 else 0)


class CatalogScores(unittest.TestCase):
    def test_each_case_has_exactly_its_scores_in_their_order(self) -> None:
        """results: [id, score to 4 places], all of them, best first. typo: the only entry, with a raw score of 0.10 to 0.25."""
        for group in load_cases("catalog"):
            catalog = catalog_of(self, group["entries"])
            for case in group["cases"]:
                with self.subTest(rule=group["rule"], query=case["query"]):
                    answer = catalog.lookup(case["query"], 50)
                    found = [(result["id"], result["score"]) for result in answer["results"]]
                    if "typo" in case:
                        self.assertEqual([id for id, _ in found], [case["typo"]])
                        self.assertTrue(0.10 <= found[0][1] <= 0.25, found)
                    else:
                        self.assertEqual([id for id, _ in found], [id for id, _ in case["results"]])
                        for (_, score), (_, expected) in zip(found, case["results"]):
                            self.assertAlmostEqual(score, expected, delta=0.00006)
                    self.assertEqual(answer["total"], case.get("total", len(found)))
                    self.assertTrue(all(result["matches"] for result in answer["results"]))

    def test_random_entries_score_as_the_table_says(self) -> None:
        chance = random.Random(4)

        def some(most: int, joint: str) -> str:
            return joint.join(chance.choices(VOCABULARY, k=chance.randint(1, most)))

        for turn in range(25):
            entries = [
                {
                    "id": f"e{number}",
                    "name": some(3, chance.choice(" .-")),
                    "aliases": [some(2, " ") for _ in range(chance.randint(0, 2))],
                    "summary": some(6, " "),
                    "popularity": chance.choice([0, 0.5, 1, 7, 7, 9000, 10**12]),
                }
                for number in range(40)
            ]
            catalog = catalog_of(self, entries)
            for _ in range(12):
                query = some(3, chance.choice(" .-"))
                scored = [
                    (full_score(raw_score(query, entry), entry["popularity"]), entry["popularity"], -number, entry["id"])
                    for number, entry in enumerate(entries)
                    if raw_score(query, entry)
                ]
                if not scored:
                    continue
                with self.subTest(turn=turn, query=query):
                    answer = catalog.lookup(query, 50)
                    self.assertEqual(answer["total"], len(scored))
                    scored = [(round(score, 6), popular, at, id) for score, popular, at, id in scored]
                    expected = sorted(scored, reverse=True)[: len(answer["results"])]
                    for result, (score, _, _, _) in zip(answer["results"], expected):
                        self.assertAlmostEqual(result["score"], score, delta=0.00006)
                    self.assertEqual([result["id"] for result in answer["results"]], [id for *_, id in expected])

    def test_every_single_edit_of_a_name_is_found(self) -> None:
        names = ["zod", "koa1", "react", "express", "fastify-cli", "vue router"]
        catalog = catalog_of(self, [{"id": f"id{number}", "name": name} for number, name in enumerate(names)])
        for number, name in enumerate(names):
            cuts = [(name[:at], name[at:]) for at in range(len(name) + 1)]
            edits = {head + tail[1:] for head, tail in cuts} | {head + "q" + tail for head, tail in cuts} | {head + "q" + tail[1:] for head, tail in cuts}
            edits |= {head + tail[1::-1] + tail[2:] for head, tail in cuts}
            for edit in sorted(edits):
                if len(edit.strip()) >= 3:  # of two letters nearly every third word is one edit away
                    with self.subTest(name=name, edit=edit):
                        self.assertIn(f"id{number}", [result["id"] for result in catalog.lookup(edit, 50)["results"]])

    def test_total_counts_what_the_limit_leaves_out(self) -> None:
        entries = [{"id": f"e{number}", "name": f"Name{number}", "summary": "a tool", "popularity": number} for number in range(300)]
        catalog = catalog_of(self, entries)
        for limit in (1, 3, 8, 50):
            with self.subTest(limit=limit):
                answer = catalog.lookup("tool", limit)
                self.assertEqual(answer["total"], 300)
                self.assertLessEqual(len(answer["results"]), limit)
                self.assertEqual([result["id"] for result in answer["results"]], [f"e{299 - at}" for at in range(len(answer["results"]))])
                self.assertIn(str(300 - len(answer["results"])), answer["next"])

    def test_total_counts_entries_that_match_by_different_signals_once(self) -> None:
        catalog = catalog_of(
            self,
            [
                {"id": "a", "name": "tool kit", "aliases": ["tool"], "summary": "tool"},
                {"id": "b", "name": "other", "summary": "tool tool"},
                {"id": "c", "name": "none", "summary": "no"},
            ],
        )
        self.assertEqual(catalog.lookup("tool", 50)["total"], 2)

    def test_every_word_of_a_long_query_counts(self) -> None:
        """1,000 characters, the most that lookup takes, may hold several hundred words."""
        catalog = catalog_of(self, [{"id": "a", "name": "amber grove"}])
        for words in (100, 240):
            with self.subTest(words=words):
                query = " ".join([*(f"{number:03}" for number in range(words - 1)), "grove"])
                self.assertLessEqual(len(query), 1000)
                results = catalog.lookup(query, 5)["results"]
                self.assertEqual([result["id"] for result in results], ["a"])
                self.assertAlmostEqual(results[0]["score"], 0.60 + 0.23 / words, delta=0.00006)

    def test_an_inflection_in_a_summary_counts_less_than_the_word(self) -> None:
        catalog = catalog_of(self, [{"id": "a", "name": "A", "summary": "signed data"}, {"id": "b", "name": "B", "summary": "a sign"}])
        for query, wanted in (("sign", [("b", 0.5), ("a", 0.46)]), ("signs", [("a", 0.46), ("b", 0.46)]), ("sign data", [("a", 0.48), ("b", 0.4)])):
            with self.subTest(query=query):
                found = catalog.lookup(query)
                self.assertEqual([(result["id"], result["score"]) for result in found["results"]], wanted)
                self.assertEqual(found["total"], 2)
        self.assertIn("2 of 2 words in the summary: sign, data", catalog.lookup("sign data")["results"][0]["matches"][0])

    def test_matches_name_the_signal_in_both_languages(self) -> None:
        entries = [{"id": "ex", "name": "Express", "aliases": ["web"], "summary": "server"}]
        signals = (
            ("express", "name equals", "名称精确匹配"),
            ("ex", "id equals", "id"),
            ("web", "alias", "别名"),
            ("expr", "starts with", "名称前缀"),
            ("server", "summary", "摘要"),
            ("exprss", "typo", "拼写"),
        )
        catalogs = [catalog_of(self, entries, lang=lang) for lang in ("en", "zh")]
        for query, *texts in signals:
            for catalog, text in zip(catalogs, texts):
                with self.subTest(query=query, text=text):
                    self.assertIn(text, catalog.lookup(query)["results"][0]["matches"][0])


class SectionScores(unittest.TestCase):
    def test_the_section_whose_whole_heading_is_a_name_in_the_query_comes_before_what_uses_it(self) -> None:
        use = {"id": "tests", "heading": "Tests with hosts", "body": "Add the host to ALLOWED_HOSTS."}
        own = {"id": "settings/allowed-hosts", "heading": "ALLOWED_HOSTS", "body": "What a server may be called." + " More text." * 20}
        rest = [{"id": f"n{number}", "heading": f"Note {number}", "body": "Nothing."} for number in range(20)]
        for query, first in (("add the host to ALLOWED_HOSTS", own["id"]), ("add the host to allowed hosts", use["id"])):
            with self.subTest(query=query):
                self.assertEqual(sections_catalog(self, [use, own, *rest]).extract("x", None, query)["sections"][0]["id"], first)

    def test_each_case_has_exactly_its_scores(self) -> None:
        """scores: every section of which the design's formula gives more than 0."""
        for group in load_cases("sections"):
            catalog = sections_catalog(self, group["sections"])
            for case in group["cases"]:
                with self.subTest(rule=group["rule"], query=case["query"]):
                    self.assertEqual({hit["id"]: hit["score"] for hit in hits(catalog, case["query"]) if hit["score"]}, case["scores"])

    def test_random_sections_score_as_the_formula_says(self) -> None:
        """The words have no other forms and are told apart by their whole length, so exactly the sections with one of them are found."""
        chance = random.Random(5)
        topics = VOCABULARY[:8]

        def some(least: int, most: int) -> str:
            return " ".join(chance.choices([*topics, "the", "of", "ambergris", "rebasil"], k=chance.randint(least, most)))

        for turn in range(20):
            sections = [{"id": f"s{number}", "heading": some(0, 4).title(), "body": some(0, 30)} for number in range(40)]
            catalog = sections_catalog(self, sections)
            for _ in range(6):
                query = " ".join(chance.choices([*topics, "how", "the"], k=chance.randint(1, 5)))
                asked = {word for word in query.split() if word not in ("how", "the")}
                if not asked:
                    continue
                expected = {}
                for section in sections:
                    heading, body = set(section["heading"].lower().split()), set(section["body"].split())
                    score = (2 * len(asked & heading) + len(asked & (body - heading))) / (2 * len(asked))
                    if score:
                        expected[section["id"]] = math.floor(score * 10000 + 0.5) / 10000
                with self.subTest(turn=turn, query=query):
                    answer = catalog.extract("x", None, query, 50, 200000)
                    found, listed = answer["sections"], {more["id"]: more["relevance"] for more in answer["more"]}  # listed: weak hits, not shown
                    self.assertEqual({hit["id"]: hit["score"] for hit in found}, {id: score for id, score in expected.items() if id not in listed})
                    self.assertLessEqual(set(listed), set(expected))
                    self.assertTrue(all(relevance < found[0]["relevance"] * doctrove.WEAK_SHARE for relevance in listed.values()), listed)
                    order = [hit["relevance"] for hit in found]
                    self.assertEqual(order, sorted(order, reverse=True))
                    self.assertTrue(all(0 < value <= 1 for value in order), order)
                    numbers = {section["id"]: number for number, section in enumerate(sections)}
                    keys = [(-hit["relevance"], -hit["score"], numbers[hit["id"]]) for hit in found]
                    self.assertEqual(keys, sorted(keys))

    def test_figures_have_at_most_four_places(self) -> None:
        catalog = sections_catalog(self, [{"heading": f"amber {number}", "body": "basil " * number} for number in range(20)])
        for hit in hits(catalog, "amber basil cedar"):
            self.assertEqual((hit["score"], hit["relevance"]), (round(hit["score"], 4), round(hit["relevance"], 4)))

    def test_equal_relevance_goes_by_score_and_then_by_index_order(self) -> None:
        twins = [{"id": f"s{number}", "heading": "Amber", "body": "basil cedar"} for number in range(30)]
        catalog = sections_catalog(self, twins)
        self.assertEqual([hit["id"] for hit in hits(catalog, "amber")], [f"s{number}" for number in range(30)])
        forms = sections_catalog(self, [{"id": "other-form", "heading": "Caches", "body": "x"}, {"id": "same-form", "heading": "Cached", "body": "x"}])
        self.assertEqual([hit["id"] for hit in hits(forms, "cached")], ["same-form", "other-form"])

    def test_ties_are_ordered_the_same_whatever_maxSections_is(self) -> None:
        catalog = sections_catalog(self, [{"id": f"s{number}", "heading": "Amber", "body": "x"} for number in range(40)])
        for most in (1, 2, 7, 40):
            with self.subTest(most=most):
                self.assertEqual([hit["id"] for hit in hits(catalog, "amber", most)], [f"s{number}" for number in range(most)])

    def test_without_focus_the_index_order_holds_and_both_figures_are_0(self) -> None:
        sections = [{"id": f"s{number}", "heading": word} for number, word in enumerate(VOCABULARY)]
        catalog = sections_catalog(self, sections)
        for focus in (None, ""):
            with self.subTest(focus=focus):
                found = hits(catalog, focus)
                self.assertEqual([hit["id"] for hit in found], [section["id"] for section in sections])
                self.assertEqual({(hit["score"], hit["relevance"]) for hit in found}, {(0, 0)})

    def test_other_forms_of_a_word_are_found(self) -> None:
        for query, heading in (
            ("route", "Routes"),
            ("routes", "Route"),
            ("routing", "Route"),
            ("routes", "Routing"),
            ("cookie", "Cookies"),
            ("parsing", "Parse"),
            ("validation errors", "Validation error"),
            ("queries", "Query"),
            ("stopped", "Stopping"),
            ("classes", "Class"),
        ):
            with self.subTest(query=query, heading=heading):
                catalog = sections_catalog(self, [{"id": "far", "heading": "Banana", "body": "apple"}, {"id": "near", "heading": heading, "body": "apple"}])
                self.assertEqual([hit["id"] for hit in hits(catalog, query)], ["near"])

    def test_accents_and_full_width_forms_of_a_query_make_no_difference(self) -> None:
        for query, body in (("cafe", "The Café is open."), ("CAFÉ", "the cafe"), ("cafés", "One café."), ("resume", "Le résumé."), ("Muller", "Herr Müller"),
                            ("ＡＢＣ", "The abc."), ("ａｐｐ．ｕｓｅ（）", "Call app.use here."), ("ｃｏｏｋｉｅ 路由", "cookie"),
                            ("Łukasz", "łukasz"), ("ё", "Ёж ё")):
            with self.subTest(query=query, body=body):
                catalog = sections_catalog(self, [{"id": "far", "heading": "Banana", "body": "apple"}, {"id": "near", "heading": "Banana", "body": body}])
                self.assertEqual([(hit["id"], hit["score"] > 0) for hit in hits(catalog, query)], [("near", query != "cafés")])
        self.assertEqual(catalog_of(self, [{"id": "express", "name": "Express"}]).lookup("Ｅｘｐｒｅｓｓ")["results"][0]["score"], 1)

    def test_every_occurrence_counts_however_many_there_are(self) -> None:
        for word in ("alpha", "zebra"):
            column = doctrove.Column([f"{word} beta " * 3, f"{word}s {word}x " * 2000, "[text](#" + word + ")"])
            self.assertEqual(column.count(doctrove.word_term(word, 1.0)), {0: 3, 1: 2000})

    def test_words_that_only_begin_alike_are_not_found(self) -> None:
        for query, heading in (("rout", "Rotation"), ("cat", "Category"), ("use", "Userland"), ("car", "Cars1"), ("port", "Portable"), ("is", "Island")):
            with self.subTest(query=query, heading=heading):
                self.assertEqual(hits(sections_catalog(self, [{"heading": heading}]), query), [])

    def test_identifiers_find_their_parts_and_their_own_spelling_comes_first(self) -> None:
        for query, exact, parts in (
            ("useState", "useState", "use of state"),
            ("status_code", "status_code", "status and code"),
            ("app.use", "app.use", "use an app"),
            ("std::vec", "std::vec", "vec without std"),
            ("res.sendFile", "res.sendFile", "send a file with res"),
        ):
            with self.subTest(query=query):
                sections = [
                    {"id": "none", "heading": "Banana", "body": "apple"},
                    {"id": "parts", "heading": parts, "body": "apple"},
                    {"id": "exact", "heading": exact, "body": "apple"},
                ]
                self.assertEqual([hit["id"] for hit in hits(sections_catalog(self, sections), query)], ["exact", "parts"])

    def test_an_option_is_found_whole_before_its_words(self) -> None:
        sections = [{"id": "words", "heading": "no cache", "body": "x"}, {"id": "option", "heading": "--no-cache", "body": "x"}]
        self.assertEqual(hits(sections_catalog(self, sections), "--no-cache")[0]["id"], "option")

    def test_neighbouring_characters_come_before_scattered_ones(self) -> None:
        sections = [{"id": "scattered", "heading": "由路", "body": "数之参"}, {"id": "together", "heading": "路由", "body": "参数之"}]
        self.assertEqual(hits(sections_catalog(self, sections), "路由参数")[0]["id"], "together")

    def test_a_heading_counts_more_than_a_body_and_a_rare_word_more_than_a_common_one(self) -> None:
        filler = [{"id": f"f{number}", "heading": "Banana", "body": "common words here"} for number in range(20)]
        sections = [
            *filler,
            {"id": "body", "heading": "Banana", "body": "amber words here"},
            {"id": "heading", "heading": "Amber", "body": "banana words here"},
        ]
        self.assertEqual([hit["id"] for hit in hits(sections_catalog(self, sections), "amber")], ["heading", "body"])
        self.assertEqual([hit["id"] for hit in hits(sections_catalog(self, sections), "common amber")[:2]], ["heading", "body"])

    def test_matches_explain_the_score_in_both_languages(self) -> None:
        section = {"heading": "Amber grove", "body": "cedar"}
        for lang, texts in (("en", ("1 in heading", "heading")), ("zh", ("标题命中 1 词", "标题命中"))):
            with self.subTest(lang=lang):
                matches = " ".join(hits(sections_catalog(self, [section], lang=lang), "amber cedar")[0]["matches"])
                self.assertIn(texts[-1], matches)
                self.assertIn("amber", matches)
                self.assertIn("cedar", matches)

    def test_random_texts_never_break_the_ranking(self) -> None:
        chance = random.Random(6)
        signs = [
            "a",
            "B",
            "é",
            "ß",
            "İ",
            "日",
            "本",
            "ก",
            "ñ",
            " ",
            "\n",
            ".",
            "::",
            "--x",
            "_",
            "1",
            "²",
            "😀",
            "\u0301",
            "\u200b",
            "Ⅷ",
            "한",
            "use",
            "State",
            "`",
            "#",
            "(",
            "[",
            "\\",
            "*",
            "+",
            "$",
            "^",
        ]

        def some(most: int) -> str:
            return "".join(chance.choices(signs, k=chance.randint(1, most)))

        for turn in range(150):
            catalog = sections_catalog(self, [{"id": f"s{number}", "heading": some(8), "body": some(40)} for number in range(5)])
            query = some(12).strip()
            with self.subTest(turn=turn, query=query):
                for hit in hits(catalog, query if not query.startswith("#") else query.lstrip("#") or "a"):
                    self.assertTrue(0 <= hit["score"] <= 1 and 0 <= hit["relevance"] <= 1, hit)


class WhatOrders(unittest.TestCase):
    """What the relevance of a section goes by besides the words in it."""

    def test_signs_after_a_word_and_alone_tell_sections_apart(self) -> None:
        sections = [
            {"id": "c", "heading": "Building", "body": "For c use make. C again, c and c."},
            {"id": "cpp", "heading": "Building", "body": "For c++ use another."},
            {"id": "plain", "heading": "Access", "body": "Write a.b, then a and b."},
            {"id": "chain", "heading": "Access", "body": "Write a?.b where a may be missing."},
            {"id": "tilde", "heading": "Names", "body": "HEAD~ is the parent of HEAD."},
            {"id": "head", "heading": "Names", "body": "HEAD and HEAD and HEAD and parent."},
        ]
        catalog = sections_catalog(self, sections)
        for query, id in (("building c++", "cpp"), ("a?.b", "chain"), ("what is HEAD~", "tilde"), ("`HEAD~`", "tilde")):
            with self.subTest(query=query):
                self.assertEqual(hits(catalog, query)[0]["id"], id)

    def test_a_word_that_stands_nowhere_is_read_as_the_nearest_one(self) -> None:
        sections = [{"heading": "Paths", "body": "An absolute path starts at the root."}, {"heading": "Absence", "body": "Something else."}]
        for query in ("absloute", "absolut", "absolutee", "absoulte"):
            with self.subTest(query=query):
                self.assertEqual([hit["heading"] for hit in hits(sections_catalog(self, sections), query)][:1], ["Paths"])
        self.assertEqual(hits(sections_catalog(self, sections), "obsoletely"), [])

    def test_where_a_link_leads_is_not_what_a_section_says(self) -> None:
        sections = [
            {"id": "link", "heading": "One", "body": "See [there](guide/cedar.html#cedar) and [here](cedar.html)."},
            {"id": "text", "heading": "Two", "body": "See [the cedar](guide/tree.html) there, and (cedar)."},
        ]
        self.assertEqual([hit["id"] for hit in hits(sections_catalog(self, sections), "cedar")], ["text"])

    def test_release_notes_come_after_the_pages_they_announce(self) -> None:
        for doc in ("whatsnew/3.1.html", "releases/1.2.html", "CHANGELOG.md", "docs/CHANGELOG_V18.md", "release-15.html", "HISTORY.rst", "genindex.html"):
            with self.subTest(doc=doc):
                said = "The amber option lets the basil grow in every grove."
                sections = [{"id": "news", "heading": "Amber", "body": said + " New", "doc": doc}, {"id": "page", "heading": "Amber", "body": said + " Use",
                                                                                                 "doc": "library/release-process.html"}]
                self.assertEqual([hit["id"] for hit in hits(sections_catalog(self, sections), "amber")], ["page", "news"])

    def test_what_says_the_same_word_for_word_does_not_crowd_out_the_rest(self) -> None:
        body = "The cedar is opened by its name and closed again."
        sections = [{"id": f"copy{number}", "heading": "Open a cedar", "body": body} for number in range(3)]
        sections.append({"id": "other", "heading": "Trees", "body": "Another way to open a cedar, which takes longer to tell."})
        self.assertEqual([hit["id"] for hit in hits(sections_catalog(self, sections), "open cedar")][:2], ["copy0", "other"])

    def test_a_section_without_text_comes_after_one_that_says_something(self) -> None:
        sections = [{"id": "bare", "heading": "work_mem", "body": ""},
                    {"id": "full", "heading": "work_mem", "body": "Sets the memory that one step of a sort may take."}]
        self.assertEqual([hit["id"] for hit in hits(sections_catalog(self, sections), "work_mem")], ["full", "bare"])

    def test_the_first_section_of_a_page_is_above_all_others_of_it_and_none_of_another_page(self) -> None:
        records = [
            {"id": "a", "heading": "Cedar", "level": 1, "body": "x", "doc": "a"},
            {"id": "drop", "heading": "Drop table", "level": 2, "body": "x", "doc": "b"},
            {"id": "also", "heading": "See also", "level": 2, "body": "x", "doc": "b"},
        ]
        self.assertEqual([section.context.strip() for section in doctrove.make_sections(records)], ["", "", "Drop table"])

    def test_a_word_in_the_text_of_the_section_above_decides_between_equals(self) -> None:
        sections = [
            {"id": "trees", "heading": "Trees", "level": 1, "body": "What grows."},
            {"id": "a", "heading": "Growing", "level": 2, "body": "Give it amber light."},
            {"id": "maps", "heading": "Maps", "level": 1, "body": "Each is kept by the librarian."},
            {"id": "b", "heading": "Keeping", "level": 2, "body": "Give it amber paint."},
        ]
        self.assertEqual(hits(sections_catalog(self, sections), "amber librarian")[0]["id"], "maps")
        self.assertEqual([hit["id"] for hit in hits(sections_catalog(self, sections), "amber librarian")[1:]], ["b", "a"])

    def test_what_only_the_section_above_has_is_no_hit(self) -> None:
        sections = [{"id": "above", "heading": "Trees", "level": 1, "body": "The amber cedar."},
                    {"id": "below", "heading": "Oak", "level": 2, "body": "Green."}]
        self.assertEqual([hit["id"] for hit in hits(sections_catalog(self, sections), "amber cedar")], ["above"])

    def test_words_of_one_paragraph_come_before_the_same_words_far_apart(self) -> None:
        filler = "something else entirely is told here " * 20
        sections = [{"id": "far", "heading": "One", "body": f"amber {filler} basil"}, {"id": "near", "heading": "Two", "body": f"{filler} amber basil"}]
        self.assertEqual([hit["id"] for hit in hits(sections_catalog(self, sections), "amber basil")], ["near", "far"])

    def test_a_long_run_of_characters_does_not_outweigh_the_word_beside_it(self) -> None:
        sections = [{"id": "run", "heading": "格式", "body": "自己做"}, {"id": "word", "heading": "格式", "body": "deb 和 包"},
                    *({"id": f"f{number}", "heading": "其它", "body": "文本"} for number in range(9))]
        self.assertEqual([hit["id"] for hit in hits(sections_catalog(self, sections), "自己做 deb 包")], ["word", "run"])

    def test_hostile_texts_are_counted_in_linear_time(self) -> None:
        for text in ("](" * 300000, "amber](" * 100000, "(" * 600000 + "amber", "amb" * 200000, "amber basil cedar " * 30000):
            with self.subTest(text=text[:10]):
                start = time.process_time()
                doctrove.SectionRanker(["x"], [text], [""], ["x"]).rank("amber ambre c++ ?. basil cedar", 5)
                self.assertLess(time.process_time() - start, 3)


class ApiNames(unittest.TestCase):
    """A query that is little else than an API name is answered with the section about it."""

    SECTIONS = [
        ("URL building", "Use url_for and again url_for, url_for for links.", "", "guide/url-building"),
        ("url_for(endpoint, **values)", "Generates a URL.", "Application", "flask.Flask.url_for"),
        ("Signal", "Sent by send_file and by url_for.", "", "flask.signals.Signal"),
        ("send_file(path)", "Sends a file.", "API", "flask.send_file"),
        ("Behind a proxy", "url_for gives http instead of https behind nginx when no proxy is told.", "", "deploying/proxy"),
    ]

    def first(self, query: str) -> str:
        ranker = doctrove.SectionRanker(*zip(*self.SECTIONS))
        return self.SECTIONS[ranker.rank(query, 5)[1][0][0]][3]

    def test_a_name_finds_its_section_whatever_else_mentions_it(self) -> None:
        for query, id in (("url_for", "flask.Flask.url_for"), ("Flask.url_for", "flask.Flask.url_for"), ("flask url_for", "flask.Flask.url_for"),
                          ("Flask::url_for arguments", "flask.Flask.url_for"), ("send_file", "flask.send_file"), ("flask.send_file", "flask.send_file")):
            with self.subTest(query=query):
                self.assertEqual(self.first(query), id)

    def test_in_a_longer_question_the_name_is_where_it_is_asked(self) -> None:
        self.assertEqual(self.first("url_for gives http instead of https behind nginx"), "deploying/proxy")

    def test_relevance_stays_within_one(self) -> None:
        ranked = doctrove.SectionRanker(*zip(*self.SECTIONS)).rank("url_for", 5)[1]
        self.assertTrue(all(0 <= relevance <= 1 for _, relevance in ranked))
        self.assertEqual([relevance for _, relevance in ranked], sorted((relevance for _, relevance in ranked), reverse=True))


if __name__ == "__main__":
    unittest.main()
