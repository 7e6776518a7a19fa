"""Where settings come from: design section 6. The cases are data that any implementation could use."""

from __future__ import annotations

import json
import os
import unittest
from typing import Any

from support import doctrove, load_cases, make_folder, open_catalog, write_index

CASES = load_cases("config")


class ConfigCase(unittest.TestCase):
    def load(self, command: list[str], environment: dict[str, str], file: Any = None, file_text: str | None = None, by_environment: bool = False) -> Any:
        """The settings of a start with these options, variables and config file; `self.path` is the file's."""
        self.path = os.path.join(make_folder(self), "config.json")
        if file is not None or file_text is not None:
            with open(self.path, "w", encoding="utf-8") as target:
                target.write(json.dumps(file) if file_text is None else file_text)
            if by_environment:
                environment = {**environment, "DOCTROVE_CONFIG": self.path}
            else:
                command = ["--config", self.path, *command]
        return doctrove.load_settings(doctrove.parse_command_line(command)[2], environment)

    def value(self, settings: Any, key: str) -> Any:
        value = getattr(settings, key)
        return list(value) if isinstance(value, tuple) else value

    def refused(self, **start: Any) -> Any:
        with self.assertRaises(doctrove.DocError) as caught:
            self.load(**{"command": [], "environment": {}, **start})
        self.assertEqual(caught.exception.code, "config")
        return caught.exception


class Precedence(ConfigCase):
    def test_each_setting_comes_from_the_command_line_else_the_environment_else_the_file_else_its_default(self) -> None:
        for row in CASES["layers"]:
            key = row["key"]
            command = [row["option"]] if row["command"] is None else [row["option"], row["command"]]
            environment, file = {row["env"]: row["environment"]}, {key: row["file"]}
            for layer, settings in (
                ("default", self.load([], {})),
                ("fileIs", self.load([], {}, file)),
                ("environmentIs", self.load([], environment)),
                ("environmentIs", self.load([], environment, file)),
                ("commandIs", self.load(command, {})),
                ("commandIs", self.load(command, {}, file)),
                ("commandIs", self.load(command, environment)),
                ("commandIs", self.load(command, environment, file)),
            ):
                with self.subTest(key=key, layer=layer):
                    self.assertEqual(self.value(settings, key), row[layer])
                    self.assertIn(
                        {"default": "default", "fileIs": "config.json", "environmentIs": row["env"], "commandIs": row["option"]}[layer], settings.origin[key]
                    )

    def test_every_setting_has_a_row(self) -> None:
        self.assertEqual(
            [(row["key"], row["option"], row["env"]) for row in CASES["layers"]],
            [(setting.key, "--" + setting.option, setting.env) for setting in doctrove.SETTINGS],
        )

    def test_settings_do_not_touch_each_other(self) -> None:
        for row in CASES["layers"]:
            settings = self.load([], {row["env"]: row["environment"]})
            for other in CASES["layers"]:
                if other is not row:
                    with self.subTest(set=row["key"], read=other["key"]):
                        self.assertEqual(self.value(settings, other["key"]), other["default"])

    def test_the_config_option_wins_over_its_variable(self) -> None:
        folder = make_folder(self)
        for lang in ("en", "zh"):
            with open(os.path.join(folder, lang + ".json"), "w", encoding="utf-8") as file:
                json.dump({"lang": lang}, file)
        options = {"config": [os.path.join(folder, "zh.json")]}
        self.assertEqual(doctrove.load_settings(options, {"DOCTROVE_CONFIG": os.path.join(folder, "en.json")}).lang, "zh")


class Values(ConfigCase):
    def test_each_good_start_has_its_settings(self) -> None:
        for case in CASES["accepted"]:
            with self.subTest(case["name"]):
                settings = self.load(case.get("command", []), case.get("environment", {}), case.get("file"), by_environment=case.get("fileBy") == "environment")
                self.assertEqual({key: self.value(settings, key) for key in case["is"]}, case["is"])

    def test_each_bad_start_is_a_config_error_that_names_source_and_key(self) -> None:
        for case in CASES["refused"]:
            with self.subTest(case["name"]):
                error = self.refused(
                    command=case.get("command", []), environment=case.get("environment", {}), file=case.get("file"), file_text=case.get("fileText")
                )
                for lang in ("en", "zh"):
                    message = error.message(lang)
                    for name in [*case["names"], *([self.path] if "file" in case or "fileText" in case else [])]:
                        self.assertIn(name, message)
                    self.assertNotIn("\n", message)

    def test_a_config_file_that_cannot_be_read_is_named(self) -> None:
        folder = make_folder(self)
        with open(os.path.join(folder, "latin.json"), "wb") as file:
            file.write(b'{"lang": "\xe9"}')
        with open(os.path.join(folder, "deep.json"), "w", encoding="utf-8") as text:
            text.write("[" * 100000)
        for name in ("absent.json", "", "latin.json", "deep.json", "a\0b"):
            path = os.path.join(folder, name)
            for options, environment in (({"config": [path]}, {}), ({}, {"DOCTROVE_CONFIG": path})):
                with self.subTest(name=name, options=bool(options)), self.assertRaises(doctrove.DocError) as caught:
                    doctrove.load_settings(options, environment)
                self.assertEqual(caught.exception.code, "config")
                self.assertIn(path, str(caught.exception))

    def test_a_config_file_may_begin_with_a_byte_order_mark(self) -> None:
        self.assertEqual(self.load([], {}, file_text='\ufeff{"lang": "zh"}').lang, "zh")


class Effects(ConfigCase):
    def test_only_hides_every_other_entry(self) -> None:
        entries = [
            {"id": id, "name": id.title(), "aliases": [id + "js"], "summary": "tool", "versions": ["1.0"], "volumes": {"1.0": {"sections": []}}}
            for id in ("one", "two", "three")
        ]
        folder = write_index(make_folder(self), {"entries": entries})
        for only, visible in (("one", ["one"]), ("one,three", ["one", "three"]), ("ONE", ["one"]), ("nothing", [])):
            catalog = open_catalog(folder, only=only)
            with self.subTest(only=only):
                answer = catalog.lookup("tool")
                self.assertEqual(([result["id"] for result in answer["results"]], answer["total"]), (visible, len(visible)))
                for id in ("one", "two", "three"):
                    for name in (id, id + "js", id.upper()):
                        if id in visible:
                            self.assertEqual(catalog.releases(name)["id"], id)
                        else:
                            with self.assertRaises(doctrove.DocError) as caught:
                                catalog.releases(name)
                            self.assertEqual(caught.exception.code, "not-found")
                            self.assertNotIn(id, caught.exception.data["nearest"])


if __name__ == "__main__":
    unittest.main()
