"""README.md and --help against the tables in the program; the README's examples, run."""
from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from processes import ROOT, Host, clean_env, command, exchange, initialize, program, reference, request, section, write_index

import doctrove

PROMPT = "$ "
ANYTHING = "…"


def read_readme():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        return file.read()


def fenced(text, language):
    """The fenced blocks of a language, each as its lines."""
    return [block.splitlines() for block in re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)]


def sessions(block):
    """(command line, lines shown) for each command of a console block; a line that no prompt precedes is a fault."""
    found = []
    for line in block:
        if line.startswith(PROMPT):
            found.append((line[len(PROMPT):], []))
        else:
            found[-1][1].append(line)
    return found


def first_missing(shown, output):
    """The first shown line that the output does not have where it must be, or None.

    A line '…' stands for any lines; '…' at a line's end stands for any rest of it. Without '…' between them, lines must follow one another.
    """
    lines = output.splitlines()
    at, anywhere = 0, False
    for wanted in shown:
        if wanted == ANYTHING:
            anywhere = True
            continue
        fits = (lambda line, start=wanted[:-1]: line.startswith(start)) if wanted.endswith(ANYTHING) else (lambda line, whole=wanted: line == whole)
        places = range(at, len(lines)) if anywhere else range(at, min(at + 1, len(lines)))
        place = next((place for place in places if fits(lines[place])), None)
        if place is None:
            return wanted
        at, anywhere = place + 1, False
    return None


def text_of(result):
    """What the result of resources/read, prompts/get or completion/complete says: texts, before an embedded one its URI; values, one a line."""
    contents = [message["content"].get("resource", message["content"]) for message in result.get("messages", ())] + result.get("contents", [])
    texts = [part["text"] if "contents" in result or "uri" not in part else f"{part['uri']}\n{part['text']}" for part in contents]
    return "\n".join(texts + result.get("completion", {}).get("values", []))


def mentions(text, word):
    """Whether the word stands in the text by itself."""
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


class Tables(unittest.TestCase):
    """Everything that can be set or called is in README.md and in --help."""

    @classmethod
    def setUpClass(cls):
        cls.readme = read_readme()
        cls.help = command("--help").stdout.decode("utf-8")
        cls.tools = exchange([initialize("2025-11-25"), request("tools/list", id=1)], "--root", "no-such-folder").by_id(1)["result"]["tools"]

    def everywhere(self, word):
        for name, text in (("README.md", self.readme), ("--help", self.help)):
            with self.subTest(word, where=name):
                self.assertTrue(mentions(text, word), f"{word} is not in {name}")

    def test_settings(self):
        self.assertGreaterEqual(len(doctrove.SETTINGS), 8)
        for setting in doctrove.SETTINGS:
            for word in (f"--{setting.option}", setting.env, setting.key):
                self.everywhere(word)

    def test_defaults_of_settings(self):
        for setting in doctrove.SETTINGS:
            row = next((line for line in self.readme.splitlines() if line.startswith("|") and f"`--{setting.option}" in line), "")
            with self.subTest(setting.key):
                self.assertIn(setting.env, row)
                if setting.default not in ((), None, False):
                    self.assertEqual(row.split("|")[-2].strip(), str(setting.default))
                if setting.span != (0, 0):
                    self.assertIn(f"{setting.span[0]}–{setting.span[1]}", row.replace(",", ""))

    def test_the_config_file_and_the_options_without_a_setting(self):
        for word in (f"--{doctrove.CONFIG_OPTION[0]}", doctrove.CONFIG_OPTION[2], "--no-cache", "--help", "--version"):
            self.everywhere(word)

    def test_commands_and_their_options(self):
        self.assertGreaterEqual(set(doctrove.COMMANDS), {"lookup", "releases", "extract", "serve-index", "doctor"})
        for name, (operands, _, _, options, _) in doctrove.COMMANDS.items():
            row = next((line for line in self.readme.splitlines() if re.match(rf"\| `{name}[ `]", line)), "")
            with self.subTest(name):
                self.assertIn(f"`{name} {operands}`" if operands else f"`{name}`", row)
                self.assertIn(f"  {name} {operands}".rstrip(), self.help)
                for option in options:
                    self.assertTrue(mentions(row, f"--{option}"), f"--{option} is not in README's row of {name}")
                    self.assertTrue(mentions(self.help, f"--{option}"), f"--{option} is not in --help")

    def test_clients(self):
        rows = [line for line in self.readme.splitlines() if "doctrove.pyz setup " in line and line.startswith("|")]
        self.assertEqual([re.search(r"setup (\S+) --(?:write|bundle)", row)[1] for row in rows], [client.name for client in doctrove.CLIENTS])
        for row, client in zip(rows, doctrove.CLIENTS):
            self.assertEqual(row.split("|")[1].strip(), client.title.partition(" (")[0])

    def test_the_versions_of_clients_are_those_that_are_tried(self):
        with open(os.path.join(ROOT, "tests", "clients.sh"), encoding="utf-8") as file:
            pins = dict(re.findall(r"\[(\w+)\]=\S*?@(\d[^\s)]+)", file.read()))
        tried = dict(re.findall(r"(?m)^\| .*setup (\S+) --.*\| (\d\S+) \|$", self.readme))
        self.assertEqual(tried, {name: pin for name, pin in pins.items() if name in tried and "-07-" not in pin})
        self.assertGreaterEqual(len(tried), 11)

    def test_tools_and_their_parameters(self):
        for tool in self.tools:
            row = next((line for line in self.readme.splitlines() if line.startswith(f"| `{tool['name']}`")), "")
            with self.subTest(tool["name"]):
                self.assertTrue(row, "no row in README.md")
                for name, property in tool["inputSchema"]["properties"].items():
                    self.assertIn(f"`{name}`", row)
                    if property["type"] == "integer":
                        for figure in (property["minimum"], property["maximum"], property["default"]):
                            self.assertTrue(mentions(row.replace(",", ""), str(figure)) or str(figure) in re.findall(r"\d+", row.replace(",", "")),
                                            f"{figure} of {name}")
                for name in tool["inputSchema"]["required"]:
                    self.assertIn(f"`{name}`\\*", row)

    def test_resources_and_prompts_and_their_arguments(self):
        done = exchange([initialize("2025-11-25"), request("resources/templates/list", id=1), request("prompts/list", id=2)])
        for template in done.by_id(1)["result"]["resourceTemplates"]:
            self.assertIn(f"| `{template['uriTemplate']}` |", self.readme)
        for prompt in done.by_id(2)["result"]["prompts"]:
            row = next((line for line in self.readme.splitlines() if line.startswith(f"| `{prompt['name']}` |")), "")
            self.assertEqual(re.findall(r"`(\w+)`(\\\*)?", row.split("|")[2] if row else ""),
                             [(argument["name"], "\\*" if argument["required"] else "") for argument in prompt["arguments"]])

    def test_error_codes_and_exit_codes(self):
        for code in ("validation", "not-found", "version", "network", "timeout", "internal"):
            self.assertRegex(self.readme, rf"(?m)^\|.*`{code}`")
        for text in (self.readme, self.help):
            self.assertRegex(text.lower(), r"exit codes: 0 found, 1 nothing found.*, 2 ")

    def test_protocol_versions(self):
        for version in doctrove.SUPPORTED_VERSIONS:
            self.assertIn(version, self.readme)

    def test_limits(self):
        self.assertIn(f"{doctrove.MAX_INDEX_BYTES >> 20} MiB", self.readme)
        self.assertIn(f"{doctrove.MAX_LINE >> 20} MiB for a line", self.readme)
        self.assertIn(f"{doctrove.MAX_IN_FLIGHT} calls in flight", self.readme)
        self.assertIn(f"(up to {doctrove.MAX_TEXT_BYTES >> 20} MiB)", self.readme)
        self.assertIn(f"{doctrove.PAGE_RESOURCES} to a page", self.readme)
        self.assertIn(f"{doctrove.MAX_REDIRECTS} redirects", self.readme)
        self.assertIn(f"{doctrove.COOL_DOWN_SECONDS} seconds", self.readme)

    def test_no_option_in_the_readme_that_does_not_exist(self):
        known = {setting.option for setting in doctrove.SETTINGS} | set(doctrove.COMMAND_OPTIONS) | {doctrove.CONFIG_OPTION[0], "no-cache", "help", "version"}
        done = subprocess.run([sys.executable, os.path.join(ROOT, "build_zipapp.py"), "--help"], stdin=subprocess.DEVNULL, capture_output=True, env=clean_env(),
                              timeout=60)
        known |= set(re.findall(r"--([a-z-]+)", done.stdout.decode("utf-8")))
        known |= {"flag", "profile", "dump-config", "transport"}  # an example of an identifier, and options of dsh and claude
        self.assertEqual(sorted(set(re.findall(r"(?<![\w-])--([a-z][a-z-]*)", self.readme)) - known), [])

    def test_options_of_the_build(self):
        done = subprocess.run([sys.executable, os.path.join(ROOT, "build_zipapp.py"), "--help"], stdin=subprocess.DEVNULL, capture_output=True, env=clean_env(),
                              timeout=60)
        for option in set(re.findall(r"--([a-z-]+)", done.stdout.decode("utf-8"))) - {"help", "output"}:
            self.assertIn(f"--{option}", self.readme)

    def test_what_is_inside(self):
        with open(os.path.join(ROOT, "data", "index.json"), encoding="utf-8") as file:
            entries = json.load(file)["entries"]
        for each in entries:
            row = next((line for line in self.readme.splitlines() if line.startswith(f"| {each['name']} |")), "")
            with self.subTest(each["id"]):
                self.assertIn(", ".join(each["versions"]), row)
                for volume in each["volumes"].values():
                    self.assertIn(str(volume["sections"]), re.findall(r"\d+", row.rsplit("|", 2)[1]))


class Examples(unittest.TestCase):

    def test_every_console_block_shows_what_the_program_prints(self):
        blocks = fenced(read_readme(), "console")
        self.assertGreaterEqual(len(blocks), 3)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copyfile(program(), os.path.join(folder, "doctrove.pyz"))
            shutil.copytree(os.path.join(ROOT, "tests", "fixtures", "example"), folder, dirs_exist_ok=True)
            for block in blocks:
                for line, shown in sessions(block):
                    with self.subTest(line):
                        words = shlex.split(line)
                        self.assertEqual(words[:2], ["python3", "doctrove.pyz"], "this test runs only doctrove.pyz")
                        self.assertTrue(shown, "an example shows its output")
                        done = subprocess.run([sys.executable, *words[1:]], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                              stderr=subprocess.STDOUT, env=clean_env(), timeout=60)
                        self.assertIsNone(first_missing(shown, done.stdout.decode("utf-8")), done.stdout.decode("utf-8")[:3000])

    @unittest.skipUnless(shutil.which("curl"), "curl is not installed, which the examples over HTTP use")
    def test_every_http_block_shows_what_the_server_answers(self):
        examples = [example for block in fenced(read_readme(), "http") for example in sessions(block)]
        self.assertGreaterEqual(len(examples), 3)
        host = Host("--http", "127.0.0.1:0")
        self.addCleanup(host.close)
        for line, shown in examples:
            with self.subTest(line):
                words = shlex.split(line.replace("127.0.0.1:8731", f"127.0.0.1:{host.port}"))
                self.assertEqual(words[0], "curl")
                done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, env=clean_env(), timeout=60)
                self.assertIsNone(first_missing(shown, done.stdout.decode("utf-8")), done.stdout.decode("utf-8")[:3000])

    def test_every_mcp_block_shows_what_the_server_answers(self):
        blocks = fenced(read_readme(), "mcp")
        self.assertGreaterEqual(len(blocks), 3)
        for (line, *shown) in blocks:
            with self.subTest(line):
                self.assertTrue(shown, "an example shows its answer")
                method, _, params = line.partition(" ")
                text = text_of(exchange([initialize("2025-11-25"), request(method, json.loads(params))]).by_id(1)["result"])
                self.assertIsNone(first_missing(shown, text), text[:3000])

    def test_the_two_commands_are_there_word_for_word(self):
        lines = [line for block in fenced(read_readme(), "sh") for line in block]
        self.assertIn("python3 build_zipapp.py && python3 doctrove.pyz extract express wildcard", lines)
        self.assertIn("python3 -m unittest discover -s tests", lines)

    def test_json_examples_are_json(self):
        blocks = fenced(read_readme(), "json")
        self.assertGreaterEqual(len(blocks), 2)
        for block in blocks:
            with self.subTest(block[0]):
                json.loads("\n".join(block))

    def test_the_client_configuration_starts_a_server(self):
        config = next(value for value in (json.loads("\n".join(block)) for block in fenced(read_readme(), "json")) if "mcpServers" in value)
        server = config["mcpServers"]["doctrove"]
        self.assertEqual((server["command"], server["args"][-1].rsplit("/", 1)[-1]), ("python3", "doctrove.pyz"))
        line = json.dumps(request("ping")).encode() + b"\n"
        done = subprocess.run([sys.executable, *server["args"][:-1], program()], input=line, capture_output=True, env=clean_env(), timeout=60)
        self.assertEqual(json.loads(done.stdout), {"jsonrpc": "2.0", "id": 1, "result": {}})

    def test_the_index_of_the_format_is_valid_once_its_hash_is(self):
        example = next(value for value in (json.loads("\n".join(block)) for block in fenced(read_readme(), "json")) if value.get("format"))
        volume = {"sections": [section("Routing", "Markdown")]}
        files = {}
        for each in example["entries"]:
            for part in each["volumes"].values():
                if "href" in part:
                    files[part["href"]] = volume
                    part.update(reference(part["href"], volume))
        self.assertTrue(files, "the example shows a reference")
        with tempfile.TemporaryDirectory() as folder:
            done = command("--local-index", write_index(folder, example, **files), "doctor", "--json")
            self.assertEqual((done.returncode, json.loads(done.stdout)["problems"]), (0, []))


class Matching(unittest.TestCase):
    """The rule by which examples are held against the output can fail."""

    def test_it_sees_what_is_not_there(self):
        output = "one\ntwo and more\nthree\n"
        for shown in (["one", "two and more", "three"], ["one"], ["one", "…"], ["…", "three"], ["one", "two…", "three"], ["…"], ["one", "…", "three"]):
            self.assertIsNone(first_missing(shown, output), shown)
        for shown in (["two…"], ["one", "three"], ["…", "four"], ["…", "three", "one"], ["one", "two"], ["…", "two"], ["two and more"], ["one", "one"]):
            self.assertIsNotNone(first_missing(shown, output), shown)


if __name__ == "__main__":
    unittest.main()
