"""Choosing a version: design section 3. The cases are data that any implementation could use."""

from __future__ import annotations

import random
import time
import unittest

from support import doctrove, load_cases

CASES = load_cases("releases")


class Selecting(unittest.TestCase):
    def test_each_rule_selects_what_the_design_says(self) -> None:
        """A case is [wanted, version, kind, a word of the note]; kind and note where the design fixes them."""
        for group in CASES["select"]:
            for wanted, version, *more in group["cases"]:
                with self.subTest(rule=group["rule"], versions=group["versions"], wanted=wanted):
                    release = doctrove.select_release(group["versions"], wanted, "Thing")
                    self.assertEqual(release.version, version)
                    if more:
                        self.assertEqual(release.kind, more[0])
                    if len(more) > 1:
                        self.assertIn(more[1], doctrove.say("en", release.note[0], **release.note[1]))

    def test_a_note_about_pre_releases_is_not_given_for_stable_versions(self) -> None:
        for group in CASES["select"]:
            for wanted, _, *more in group["cases"]:
                if more and len(more) == 1:
                    with self.subTest(versions=group["versions"], wanted=wanted):
                        key, values = doctrove.select_release(group["versions"], wanted).note
                        self.assertNotIn("pre-release", doctrove.say("en", key, **values))

    def test_the_order_of_the_list_does_not_matter_where_versions_differ(self) -> None:
        for group in CASES["select"]:
            if any("+" in version for version in group["versions"]):
                continue
            for wanted, version, *_ in group["cases"]:
                with self.subTest(versions=group["versions"], wanted=wanted):
                    self.assertEqual(doctrove.select_release(group["versions"][::-1], wanted).version, version)

    def test_what_does_not_fit_is_a_version_error_with_the_candidates(self) -> None:
        for group in CASES["refuse"]:
            for wanted in group["wanted"]:
                with self.subTest(rule=group["rule"], wanted=wanted):
                    with self.assertRaises(doctrove.DocError) as caught:
                        doctrove.select_release(group["versions"], wanted, "Thing")
                    error = caught.exception.report("en")
                    self.assertEqual(error["code"], "version")
                    self.assertEqual(sorted(error["candidates"]), sorted(group["versions"]))
                    for version in group["versions"]:
                        self.assertIn(version, error["message"])
                    self.assertIn("Thing", error["message"])

    def test_an_entry_without_versions_is_a_version_error(self) -> None:
        for wanted in (None, "latest", "1.0"):
            with self.subTest(wanted=wanted), self.assertRaises(doctrove.DocError) as caught:
                doctrove.select_release([], wanted, "Thing")
            self.assertEqual(caught.exception.code, "version")


class Ordering(unittest.TestCase):
    def test_versions_are_ordered_newest_first(self) -> None:
        for case in CASES["newestFirst"]:
            for seed in range(5):
                with self.subTest(rule=case["rule"], seed=seed):
                    shuffled = random.Random(seed).sample(case["versions"], len(case["versions"]))
                    self.assertEqual(doctrove.newest_first(shuffled), case["versions"])

    def test_nothing_is_lost_or_doubled_by_ordering(self) -> None:
        pieces = ["1", "2", "10", "0", "x", "rc", "a", "dev", "post", ".", "-", "+", "!", "v", " ", "main", "²", "日"]
        chance = random.Random(7)
        for _ in range(300):
            versions = list({"".join(chance.choices(pieces, k=chance.randint(1, 6))) for _ in range(6)})
            with self.subTest(versions=versions):
                self.assertEqual(sorted(doctrove.newest_first(versions)), sorted(versions))


class Hostility(unittest.TestCase):
    def test_hostile_requests_are_answered_at_once_with_a_version_error(self) -> None:
        for case in CASES["hostile"]:
            with self.subTest(**case):
                start = time.process_time()
                with self.assertRaises(doctrove.DocError) as caught:
                    doctrove.select_release(["5.1.0", "4.21.2", "main"], case["text"] * case["times"], "Thing")
                self.assertEqual(caught.exception.code, "version")
                self.assertLess(time.process_time() - start, 1.0)

    def test_hostile_versions_in_a_list_do_not_hide_the_others(self) -> None:
        for case in CASES["hostile"]:
            text = case["text"] * case["times"]
            if text.strip(" v-").startswith(("9", "1")):
                continue  # it may be a version after all, and then it is newer
            with self.subTest(**case):
                start = time.process_time()
                versions = ["1.0.0", text, "2.0.0"]
                self.assertEqual(doctrove.select_release(versions, "latest").version, "2.0.0")
                self.assertEqual(doctrove.select_release(versions, "1").version, "1.0.0")
                self.assertLess(time.process_time() - start, 1.0)

    def test_random_requests_select_a_listed_version_or_are_a_version_error(self) -> None:
        pieces = ["1", "2", "0", "5", ".", "x", "*", "^", "~", ">", "<", "=", " ", "||", "-", "rc", "a", ",", "v", "+", "!", "²", "main", "post", "dev"]
        versions = ["1.0.0", "2.0.0rc1", "2.5", "v5.1.0", "main", "1!0.1", "1.2.0-rc.1+x"]
        chance = random.Random(11)
        for _ in range(3000):
            wanted = "".join(chance.choices(pieces, k=chance.randint(1, 9)))
            with self.subTest(wanted=wanted):
                try:
                    self.assertIn(doctrove.select_release(versions, wanted).version, versions)
                except doctrove.DocError as error:
                    self.assertEqual(error.code, "version")


if __name__ == "__main__":
    unittest.main()
