"""doctrove.py reads from top to bottom: its docstring names its rooms in order, and each uses only what stands in it or above it."""
from __future__ import annotations

import ast
import os
import re
import unittest
from collections.abc import Iterator

from support import ROOT

with open(os.path.join(ROOT, "doctrove.py"), encoding="utf-8") as file:
    SOURCE = file.read()
TREE = ast.parse(SOURCE)
BANNERS = [(number, line.strip("#─ ")) for number, line in enumerate(SOURCE.splitlines(), 1) if line.startswith("# ── ")]

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def room_of(node: ast.stmt) -> int:
    """The number of the room in which a statement stands; -1 above the first."""
    return sum(line <= node.lineno for line, _ in BANNERS) - 1


def names_made(node: ast.AST) -> Iterator[str]:
    """The names that something defines or assigns, at whatever depth."""
    for part in ast.walk(node):
        if isinstance(part, DEFINITIONS):
            yield part.name
        elif isinstance(part, ast.arg):
            yield part.arg
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id


def names_at_top(node: ast.stmt) -> Iterator[str]:
    """The names of the module that a statement makes."""
    return iter([node.name]) if isinstance(node, DEFINITIONS) else names_made(node)


class Rooms(unittest.TestCase):
    def test_each_room_uses_only_the_rooms_above_it(self) -> None:
        homes: dict[str, int] = {}
        for node in TREE.body:
            for name in names_at_top(node):
                homes.setdefault(name, room_of(node))
        self.assertGreater(len(homes), 300)
        for node in TREE.body:
            own = set(names_made(node))
            used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)} - own
            below = {name: BANNERS[homes[name]][1] for name in used if homes.get(name, -1) > room_of(node) >= 0}
            with self.subTest(line=node.lineno, room=BANNERS[max(room_of(node), 0)][1]):
                self.assertEqual(below, {})

    def test_no_two_rooms_make_the_same_name(self) -> None:
        """In the packed file they share one namespace, whichever of them is loaded first."""
        places: dict[str, list[int]] = {}
        for node in TREE.body:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
            made = [node.name] if isinstance(node, DEFINITIONS) else [name for target in targets for name in names_made(target)]
            for name in made:
                places.setdefault(name, []).append(node.lineno)
        self.assertEqual({name: lines for name, lines in places.items() if len(lines) > 1}, {})

    def test_the_docstring_names_the_rooms_in_order(self) -> None:
        text = ast.get_docstring(TREE) or ""
        places = []
        for _, room in BANNERS:
            found = re.search(rf"^    {re.escape(room)}\b", text, re.MULTILINE) or re.search(rf"[;,] {re.escape(room)}\b", text)
            self.assertIsNotNone(found, f"{room} is not in the docstring")
            assert found is not None
            places.append(found.start())
        self.assertEqual(places, sorted(places))


if __name__ == "__main__":
    unittest.main()
