"""Messages in two languages: every one is there, is used, and says the same in both."""

from __future__ import annotations

import ast
import os
import re
import string
import unittest
from collections.abc import Iterator

from support import ROOT, doctrove

HAN = re.compile("[\u4e00-\u9fff]")


def read_program() -> ast.Module:
    with open(os.path.join(ROOT, "doctrove.py"), encoding="utf-8") as file:
        return ast.parse(file.read())


def fields(text: str) -> list[tuple[str, str, str]]:
    """The placeholders of a message, sorted: name, format, conversion."""
    return sorted((name, form or "", conversion or "") for _, name, form, conversion in string.Formatter().parse(text) if name is not None)


def key_pattern(node: ast.expr) -> str | None:
    """A regular expression for the keys that a text or an f-string stands for."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.escape(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else "[a-z0-9-]+" for part in node.values)
    return None


def is_table(node: ast.stmt) -> bool:
    return isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "MESSAGES"


def texts(node: ast.AST) -> Iterator[str]:
    """Patterns of all texts and f-strings below `node`."""
    for child in ast.walk(node):
        pattern = key_pattern(child) if isinstance(child, ast.expr) else None
        if pattern:
            yield pattern


def named_keys(program: ast.Module) -> Iterator[str]:
    """Patterns of what stands where a message key is expected: say(lang, KEY), DocError(code, KEY), index_fault(where, path, KEY), notice(code, KEY)."""
    place = {"say": 1, "DocError": 1, "index_fault": 2, "notice": 1}
    for node in ast.walk(program):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if name in place and len(node.args) > place[name]:
                argument = node.args[place[name]]
                for choice in (argument.body, argument.orelse) if isinstance(argument, ast.IfExp) else (argument,):
                    pattern = key_pattern(choice)
                    if pattern:
                        yield pattern


class Messages(unittest.TestCase):
    def test_both_languages_have_the_same_placeholders(self) -> None:
        for key, (english, chinese) in doctrove.MESSAGES.items():
            with self.subTest(key):
                self.assertEqual(fields(english), fields(chinese))

    def test_every_placeholder_has_a_name(self) -> None:
        for key, forms in doctrove.MESSAGES.items():
            for name, _, _ in fields(forms[0]):
                with self.subTest(key):
                    self.assertRegex(name, r"^[a-z_]+$")

    def test_no_message_is_empty_and_each_is_in_its_language(self) -> None:
        for key, (english, chinese) in doctrove.MESSAGES.items():
            with self.subTest(key):
                self.assertTrue(english.strip())
                self.assertNotRegex(english, HAN)
                self.assertTrue(chinese.strip())
                if re.search("[A-Za-z]", re.sub(r"\{.*?\}", "", english)):  # some are placeholders and punctuation alone
                    self.assertRegex(re.sub(r"\{.*?\}", "", chinese), HAN)

    def test_messages_are_said_with_their_values(self) -> None:
        for key, forms in doctrove.MESSAGES.items():
            values = {name: f"<{name}>" for name, _, _ in fields(forms[0])}
            for lang in ("en", "zh"):
                with self.subTest(key=key, lang=lang):
                    text = doctrove.say(lang, key, **values)
                    for value in values.values():
                        self.assertIn(value, text)

    def test_a_value_that_is_a_message_is_said_in_the_same_language(self) -> None:
        error = doctrove.DocError("validation", "argument-missing", argument="id", accepted=("accept-text", {"most": 9}))
        self.assertNotRegex(error.report("en")["message"], HAN)
        self.assertIn("9 个字符", error.report("zh")["message"])
        self.assertNotIn("characters", error.report("zh")["message"])

    def test_values_with_braces_are_left_as_they_are(self) -> None:
        for value in ("{id}", "{", "}}", "{0.__class__}", "%s"):
            with self.subTest(value):
                self.assertIn(value, doctrove.say("en", "unknown-id-none", id=value, some="-"))

    def test_every_key_that_the_program_names_exists(self) -> None:
        patterns = set(named_keys(read_program()))
        self.assertGreater(len(patterns), 40)
        for pattern in sorted(patterns):
            with self.subTest(pattern):
                self.assertTrue(any(re.fullmatch(pattern, key) for key in doctrove.MESSAGES))

    def test_every_message_is_used(self) -> None:
        program = read_program()
        patterns = {pattern for node in program.body if not is_table(node) for pattern in texts(node) if re.match(r"[a-z]+(\\-|$)", pattern)}
        for key in doctrove.MESSAGES:
            with self.subTest(key):
                self.assertTrue(any(re.fullmatch(pattern, key) for pattern in patterns))


if __name__ == "__main__":
    unittest.main()
