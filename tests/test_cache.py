"""The cache and the cool-down after a failed fetch: design section 6."""

from __future__ import annotations

import collections
import random
import socket
import unittest
from typing import Any

from support import doctrove, open_catalog


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Eviction(unittest.TestCase):
    def test_the_oldest_goes_first(self) -> None:
        cache = doctrove.Cache(2, None)
        for key in "abc":
            cache.put(key, key.upper())
        self.assertEqual([cache.get(key) for key in "abc"], [None, "B", "C"])

    def test_reading_an_item_keeps_it(self) -> None:
        cache = doctrove.Cache(2, None)
        cache.put("a", 1)
        cache.put("b", 2)
        cache.get("a")
        cache.put("c", 3)
        self.assertEqual([cache.get(key) for key in "abc"], [1, None, 3])

    def test_peeking_does_not_keep_an_item(self) -> None:
        cache = doctrove.Cache(2, None)
        cache.put("a", 1)
        cache.put("b", 2)
        self.assertEqual(cache.peek("a"), 1)
        cache.put("c", 3)
        self.assertIsNone(cache.get("a"))

    def test_replacing_an_item_keeps_it_and_evicts_nothing(self) -> None:
        cache = doctrove.Cache(2, None)
        cache.put("a", 1)
        cache.put("b", 2)
        cache.put("a", 3)
        self.assertEqual(cache.evictions, 0)
        cache.put("c", 4)
        self.assertEqual([cache.get(key) for key in "abc"], [3, None, 4])

    def test_random_use_is_that_of_a_plain_model(self) -> None:
        chance = random.Random(3)
        for most in (1, 2, 5):
            cache = doctrove.Cache(most, None)
            model: collections.OrderedDict[int, int] = collections.OrderedDict()
            evictions = 0
            for turn in range(2000):
                key = chance.randrange(8)
                if chance.random() < 0.5:
                    cache.put(key, turn)
                    model[key] = turn
                    model.move_to_end(key)
                    if len(model) > most:
                        model.popitem(last=False)
                        evictions += 1
                else:
                    self.assertEqual(cache.get(key), model.get(key))
                    if key in model:
                        model.move_to_end(key)
            self.assertEqual(cache.evictions, evictions)

    def test_a_catalog_remembers_256_items(self) -> None:
        self.assertEqual(open_catalog().cache.most, 256)


class Expiry(unittest.TestCase):
    def setUp(self) -> None:
        self.clock = Clock()

    def test_an_item_is_fresh_for_the_time_to_live(self) -> None:
        cache = doctrove.Cache(9, 600, self.clock)
        cache.put("a", 1)
        for after, found in ((0, 1), (599.9, 1), (600, None), (601, None)):
            self.clock.now = 1000 + after
            with self.subTest(after=after):
                self.assertEqual(cache.get("a"), found)

    def test_reading_does_not_make_an_item_younger(self) -> None:
        cache = doctrove.Cache(9, 10, self.clock)
        cache.put("a", 1)
        self.clock.now += 9
        self.assertEqual(cache.get("a"), 1)
        self.clock.now += 2
        self.assertIsNone(cache.get("a"))

    def test_an_expired_item_can_be_peeked_at_until_it_is_evicted(self) -> None:
        cache = doctrove.Cache(2, 10, self.clock)
        cache.put("a", 1)
        self.clock.now += 100
        self.assertIsNone(cache.get("a"))
        self.assertEqual(cache.peek("a"), 1)
        cache.put("b", 2)
        cache.put("c", 3)
        self.assertIsNone(cache.peek("a"))

    def test_putting_an_item_again_makes_it_fresh(self) -> None:
        cache = doctrove.Cache(9, 10, self.clock)
        cache.put("a", 1)
        self.clock.now += 100
        cache.put("a", 1)
        self.assertEqual(cache.get("a"), 1)

    def test_a_time_of_0_keeps_nothing_and_none_keeps_for_ever(self) -> None:
        for ttl, found in ((0, None), (None, 1)):
            with self.subTest(ttl=ttl):
                cache = doctrove.Cache(9, ttl, self.clock)
                cache.put("a", 1)
                self.clock.now += 10**9
                self.assertEqual((cache.get("a"), cache.peek("a")), (found, found))


class Counters(unittest.TestCase):
    def test_hits_misses_and_evictions_are_counted(self) -> None:
        clock = Clock()
        cache = doctrove.Cache(2, 10, clock)
        cache.get("a")
        cache.put("a", 1)
        cache.get("a")
        cache.get("a")
        cache.peek("a")
        cache.peek("z")
        clock.now += 10
        cache.get("a")
        cache.put("b", 2)
        cache.put("c", 3)
        self.assertEqual((cache.hits, cache.misses, cache.evictions), (2, 2, 1))

    def test_a_repeated_query_is_a_hit(self) -> None:
        catalog = open_catalog()
        first = catalog.lookup("express")
        hits = catalog.cache.hits
        self.assertEqual(catalog.lookup("express"), first)
        self.assertEqual(catalog.cache.hits, hits + 1)

    def test_with_the_cache_off_no_query_is_a_hit(self) -> None:
        catalog = open_catalog(cache_ttl="0")
        for _ in range(3):
            catalog.lookup("express")
            catalog.extract("express", None, "wildcard")
        self.assertEqual(catalog.cache.hits, 0)


class CoolingDown(unittest.TestCase):
    """A port that is taken but does not listen refuses every connection at once; a new attempt shows in a new error object."""

    def setUp(self) -> None:
        self.port = socket.socket()
        self.addCleanup(self.port.close)
        self.port.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.port.getsockname()[1]}/index.json"
        self.clock = Clock()

    def fetcher(self, ttl: int) -> Any:
        settings = doctrove.load_settings({"cache-ttl": [str(ttl)]}, {})
        fetcher = doctrove.Fetcher(settings, doctrove.Cache(256, ttl, self.clock))
        fetcher.cool_down.clock = self.clock
        return fetcher

    def failure(self, fetcher: Any, url: str = "") -> Any:
        with self.assertRaises(doctrove.DocError) as caught:
            fetcher.get(url or self.url, lambda data, final: data)
        self.assertEqual(caught.exception.code, "network")
        return caught.exception

    def test_a_failure_is_repeated_for_30_seconds_and_then_tried_again(self) -> None:
        for ttl in (600, 1):
            with self.subTest(ttl=ttl):
                fetcher = self.fetcher(ttl)
                first, start = self.failure(fetcher), self.clock.now
                for after in (0, 2, 15, 29.9):
                    self.clock.now = start + after
                    self.assertIs(self.failure(fetcher), first)
                self.clock.now = start + 30
                self.assertIsNot(self.failure(fetcher), first)

    def test_a_second_failure_cools_down_for_30_seconds_of_its_own(self) -> None:
        fetcher = self.fetcher(600)
        self.failure(fetcher)
        self.clock.now += 31
        second = self.failure(fetcher)
        self.clock.now += 29
        self.assertIs(self.failure(fetcher), second)

    def test_there_is_no_cool_down_with_the_cache_off(self) -> None:
        fetcher = self.fetcher(0)
        self.assertIsNot(self.failure(fetcher), self.failure(fetcher))

    def test_a_failure_of_one_URL_does_not_hold_back_another(self) -> None:
        fetcher = self.fetcher(600)
        self.assertIsNot(self.failure(fetcher), self.failure(fetcher, self.url + "?other"))

    def test_a_success_ends_the_cool_down(self) -> None:
        cool_down = doctrove.CoolDown(True, self.clock)
        error = doctrove.DocError("network", "remote-status", url="u", status=500)
        cool_down.failed("u", error)
        self.assertIs(cool_down.failure("u"), error)
        cool_down.succeeded("u")
        self.assertIsNone(cool_down.failure("u"))


if __name__ == "__main__":
    unittest.main()
