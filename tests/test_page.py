"""The page at the HTTP server's '/': its parts fit together. What it does is tested in a browser: tests/browser/run.py."""
from __future__ import annotations

import base64
import hashlib
import json
import re
import unittest
from html.parser import HTMLParser
from typing import Any

from support import doctrove

BODY, HEADERS = doctrove.page()
TEXT = BODY.decode()
VOID = {"meta", "link", "input", "br", "img", "hr", "path", "rect"}


class Outline(HTMLParser):
    """Every element with its attributes; raises where an end tag does not fit."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), list(self.open)))
        if len(dict(attrs)) != len(attrs):
            raise AssertionError(f"an attribute twice: {attrs}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), list(self.open)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            raise AssertionError(f"</{tag}> at {self.getpos()} ends what is not open")


OUTLINE = Outline()
OUTLINE.feed(TEXT)
OUTLINE.close()


def inner(tag: str) -> str:
    found = re.findall(rf"<{tag}>(.*?)</{tag}>", TEXT, re.DOTALL)
    assert len(found) == 1
    return str(found[0])


class Page(unittest.TestCase):
    def test_the_policy_allows_the_style_and_the_script_that_stand_in_it_and_nothing_else(self) -> None:
        policy = dict(part.split(" ", 1) for part in HEADERS["Content-Security-Policy"].split("; "))
        for tag in ("script", "style"):
            digest = base64.b64encode(hashlib.sha256(inner(tag).encode()).digest()).decode()
            self.assertEqual(policy[f"{tag}-src"], f"'sha256-{digest}'")
        self.assertEqual({name: value for name, value in policy.items() if name not in ("script-src", "style-src")}, {
            "default-src": "'none'", "img-src": "data:", "connect-src": "'self'", "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
            "require-trusted-types-for": "'script'", "trusted-types": "'none'"})

    def test_the_headers_are_on_one_line_each(self) -> None:
        self.assertEqual(HEADERS["Content-Type"], "text/html; charset=utf-8")
        self.assertEqual(HEADERS["Referrer-Policy"], "no-referrer")
        for name, value in HEADERS.items():
            with self.subTest(name=name):
                self.assertRegex(value, r"\A[ -~]+\Z")

    def test_every_element_is_closed_where_it_was_opened(self) -> None:
        self.assertEqual(OUTLINE.open, [])
        self.assertGreater(len(OUTLINE.elements), 80)

    def test_nothing_is_fetched(self) -> None:
        for tag, attributes, _ in OUTLINE.elements:
            for name in ("src", "srcset", "href", "action", "data", "poster", "background", "formaction"):
                with self.subTest(tag=tag, attribute=name):
                    self.assertRegex(attributes.get(name) or "#", r"\A(?:#|data:image/svg\+xml,)")
        self.assertNotRegex(inner("style"), r"url\(|@import|@font-face")
        self.assertEqual(len(re.findall(r"\bfetch\(", inner("script"))), 1)
        self.assertNotRegex(inner("script"), r"\b(?:import|XMLHttpRequest|WebSocket|EventSource|sendBeacon|Worker)\b\s*[(]")

    def test_no_text_becomes_html_or_code(self) -> None:
        self.assertNotRegex(inner("script"), r"innerHTML|outerHTML|insertAdjacentHTML|setHTML|document\.write|DOMParser|createContextualFragment")
        self.assertNotRegex(inner("script"), r"\beval\b|new Function")
        for tag, attributes, _ in OUTLINE.elements:
            with self.subTest(tag=tag):
                self.assertEqual([name for name in attributes if name.startswith("on") or name == "style"], [])

    def test_ids_are_there_once_and_what_refers_to_one_finds_it(self) -> None:
        ids = [attributes["id"] for _, attributes, _ in OUTLINE.elements if attributes.get("id")]
        self.assertEqual(len(ids), len(set(ids)))
        referred = [id for _, attributes, _ in OUTLINE.elements for name in ("for", "aria-labelledby", "aria-describedby")
                    for id in (attributes.get(name) or "").split()]
        self.assertLessEqual(set(referred), set(ids))
        named = set(re.findall(r"\$\(\"([\w-]+)\"\)", inner("script"))) - {"pages", "passage-1"}  # these two are made by the script
        self.assertLessEqual(named, set(ids))
        self.assertGreater(len(named), 20)

    def test_every_control_has_a_label(self) -> None:
        labelled = {attributes["for"] for tag, attributes, _ in OUTLINE.elements if tag == "label" and attributes.get("for")}
        for tag, attributes, around in OUTLINE.elements:
            if tag in ("input", "select", "textarea"):
                with self.subTest(**attributes):
                    self.assertTrue(attributes.get("id") in labelled or "label" in around)
        self.assertEqual({tag for tag, _, _ in OUTLINE.elements} & {"header", "main", "nav", "footer", "aside"}, {"header", "main", "nav", "footer", "aside"})

    def test_its_clients_are_those_of_setup_in_the_same_files(self) -> None:
        found = re.search(r"^const CLIENTS = (\[.*?^\]);", inner("script"), re.DOTALL | re.MULTILINE)
        assert found is not None
        rows: list[dict[str, Any]] = json.loads(found[1])
        doctrove.find_client("claude")
        self.assertEqual([(row["name"], row["title"], row["syntax"], tuple(row["keys"]), tuple(row["options"]), row["project"]) for row in rows],
                         [(client.name, client.title, client.syntax, client.keys, client.options, (*client.project, "")[0]) for client in doctrove.CLIENTS])
        environs = {"linux": {"HOME": "~"}, "darwin": {"HOME": "~"}, "win32": {"USERPROFILE": "~", "APPDATA": "%APPDATA%"}}
        for at, (platform, environ) in enumerate(environs.items()):
            machine = doctrove.Machine(platform, environ, "/")
            for row, client in zip(rows, doctrove.CLIENTS):
                user = row["user"]
                with self.subTest(client=client.name, platform=platform):
                    shown = user[at] if isinstance(user, list) else user
                    real = machine.expand(client.user[0]) if client.user else ""
                    self.assertEqual(shown.replace("/", "\\") if platform == "win32" else shown, real)


if __name__ == "__main__":
    unittest.main()
