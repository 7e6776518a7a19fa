"""setup: the clients' configurations, written into existing files and taken out again; and the command with the built file."""
from __future__ import annotations

import json
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import unittest

from processes import clean_env, command, encode, initialize, program, request
from support import doctrove, load_cases, make_folder

try:
    import tomllib
except ImportError:  # before 3.11
    tomllib = None

CASES = [{"syntax": syntax, **case} for syntax in ("json", "toml", "yaml") for case in load_cases(f"setup_{syntax}")]
GOOD = [case for case in CASES if "line" not in case]
BROKEN = [case for case in CASES if "line" in case]
WITH_MARK = ("an empty file", "another server", "CRLF", "comments alone", "a fresh patch")  # are tried with a byte order mark too
SIGNS = ("", "", "{", "}", "[", "]", '"', "'", ",", ":", "#", "//", "\n", "\t", "- ", "  ", "=", "\\", "é")
PIECES = ("{", "[", '{"a":', '"', "'", "/*", "// ", "/* */ ", " ", "\t", "\n", "\r\n", "- ", "-", "a: ", "a ", "#", " #", "a = ", "\\", '"\\', ",", ":", "'''",
          '"""', "{}", "|", "é", "a:\n", " a:\n", "- a\n", "[a]\n", "a=1\n", "a = '''\n")
NAMES = [client.name for client in doctrove.CLIENTS]
needs_links = unittest.skipIf(os.name == "nt", "making links needs a right on Windows")


def client_of(case):
    return doctrove.find_client(case["client"])


def entry_for(client, *options):
    return doctrove.make_entry(client, "doctrove", list(options), {})


def servers(client, text):
    """name -> what is read of each server."""
    return doctrove.SYNTAXES[client.syntax](text, client).names()


def is_within(old, new):
    """Whether the new text is the old one with pieces put in."""
    rest = iter(new)
    return all(sign in rest for sign in old)


class Place(unittest.TestCase):
    """A configuration file in a folder of its own."""

    def setUp(self):
        self.folder = make_folder(self)
        self.path = os.path.join(self.folder, "config")

    def fill(self, data):
        with open(self.path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())

    def content(self):
        with open(self.path, "rb") as file:
            return file.read()

    def write(self, client, *options, name="doctrove"):
        return [key for key, _ in doctrove.write_entry(client, self.path, name, doctrove.make_entry(client, name, list(options), {}))]

    def remove(self, client, name="doctrove"):
        return [key for key, _ in doctrove.remove_entry(client, self.path, name)]

    def round_trip(self, client, data):
        """Writes, writes again, changes and removes; returns what the file held with the entry. The file is as it was at the end, and alone."""
        self.fill(data)
        self.assertEqual(self.write(client), ["setup-written", "setup-backup"])
        written = self.content()
        self.assertEqual(self.write(client), ["setup-unchanged"])
        self.assertEqual(self.content(), written)
        self.assertEqual(self.write(client, "--lang", "zh"), ["setup-replaced"])
        self.assertIn(b"zh", self.content())
        self.assertEqual(self.write(client), ["setup-replaced"])
        self.assertEqual(self.content(), written)
        self.assertEqual(self.remove(client), ["setup-restored"])
        self.assertEqual(self.content(), data)
        self.assertEqual(os.listdir(self.folder), ["config"])
        return written


class RoundTrips(Place):

    def test_there_are_at_least_thirty_files_of_each_syntax(self):
        for syntax in doctrove.SYNTAXES:
            self.assertGreaterEqual(sum(case["syntax"] == syntax for case in GOOD), 30, syntax)

    def test_what_was_there_stays_and_comes_back_to_the_byte(self):
        for case in GOOD:
            for mark in (b"", b"\xef\xbb\xbf")[:1 + (case["about"] in WITH_MARK)]:
                with self.subTest(case["about"], syntax=case["syntax"], client=case["client"], mark=mark):
                    client, text = client_of(case), case["text"]
                    data = mark + text.encode()
                    written = self.round_trip(client, data)
                    self.assertTrue(written.startswith(mark))
                    new = written[len(mark):].decode()
                    kept = re.sub(r"(?m)(?<=mcpServers:) (?:\[\]|null)|^\[\]|(?<=extensions:) \{\}", "", text) if client.syntax == "yaml" else text
                    self.assertTrue(is_within(kept, new), new)
                    before = servers(client, text)
                    after = servers(client, new)
                    self.assertEqual({name: entry for name, entry in after.items() if name != "doctrove"}, before)
                    self.assertTrue(any(map(doctrove.is_doctrove, doctrove.texts_in(after["doctrove"]))))

    def test_line_ends_stay_what_they_are(self):
        for case in GOOD:
            if "\r" in case["text"]:
                with self.subTest(case["about"], syntax=case["syntax"]):
                    new = doctrove.put_entry(client_of(case), case["text"], "doctrove", entry_for(client_of(case)))
                    self.assertEqual(set(re.findall(r"\r\n|\n|\r", new)), {re.search(r"\r\n|\r", case["text"])[0]})

    def test_plain_json_is_read_by_others(self):
        for case in GOOD:
            try:
                old = json.loads(case["text"] or "{}") if case["syntax"] == "json" else None
            except ValueError:
                continue  # comments
            if old is not None:
                with self.subTest(case["about"]):
                    entry = entry_for(client_of(case))
                    new = json.loads(doctrove.put_entry(client_of(case), case["text"], "doctrove", entry))
                    self.assertEqual(new, {**old, "mcpServers": {**old.get("mcpServers", {}), "doctrove": entry}})

    @unittest.skipIf(tomllib is None, "this Python has no tomllib to read it with")
    def test_toml_is_read_by_others(self):
        for case in GOOD:
            if case["syntax"] == "toml":
                with self.subTest(case["about"]):
                    entry, old = entry_for(client_of(case)), tomllib.loads(case["text"])
                    new = tomllib.loads(doctrove.put_entry(client_of(case), case["text"], "doctrove", entry))
                    self.assertEqual(new.pop("mcp_servers"), {**old.pop("mcp_servers", {}), "doctrove": entry})
                    self.assertEqual(repr(new), repr(old))  # nan is not equal to itself

    @unittest.skipIf(tomllib is None, "this Python has no tomllib to compare with")
    def test_toml_is_read_as_others_read_it(self):
        for case in CASES:
            if case["syntax"] == "toml" and not any(word in case["about"] for word in ("number", "date")):
                with self.subTest(case["about"]):
                    try:
                        expected = tomllib.loads(case["text"])
                    except ValueError:
                        expected = None
                    try:
                        found = doctrove.scan_toml(case["text"])
                    except doctrove.ConfigFault:
                        self.assertTrue(expected is None or "deep" in case["about"])
                        continue
                    if "line" in case:
                        continue  # read, and refused for what it holds
                    for statement in found:
                        value = expected
                        for part in statement.path:
                            value = value[-1] if isinstance(value, list) else value
                            value = value[part]
                        if isinstance(statement.value, str) and statement.key and isinstance(value, str):
                            self.assertEqual(re.sub(r"^\r?\n", "", statement.value), value)

    def test_without_the_copy_the_entry_alone_goes(self):
        for case in GOOD:
            with self.subTest(case["about"], syntax=case["syntax"], client=case["client"]):
                client = client_of(case)
                self.fill(case["text"])
                self.write(client)
                os.remove(self.path + ".before-doctrove")
                self.assertIn(self.remove(client), (["setup-taken"], ["setup-deleted"]))
                left = self.content().decode() if os.path.exists(self.path) else ""
                self.assertEqual(servers(client, left), servers(client, case["text"]))

    def test_what_came_after_the_entry_stays(self):
        later = {"json": (b'{\n  "a": 1\n}\n', b'"a": 1', b'"a": 2'), "toml": (b"a = 1\n", b"a = 1", b"a = 2"), "yaml": (b"a: 1\n", b"a: 1", b"a: 2")}
        for client in map(doctrove.find_client, ("gemini", "codex", "cn", "goose")):
            with self.subTest(client.name):
                data, old, new = later[client.syntax]
                self.fill(data)
                self.write(client)
                self.fill(self.content().replace(old, new))
                self.assertEqual(self.remove(client)[0], "setup-taken")
                self.assertEqual(self.content(), data.replace(old, new))

    def test_a_file_that_we_made_goes_with_the_entry(self):
        for client in doctrove.CLIENTS:
            with self.subTest(client.name):
                self.assertEqual(self.write(client), ["setup-written"])
                self.assertEqual(self.write(client, "--debug"), ["setup-replaced"])
                self.assertEqual(self.remove(client), ["setup-deleted"])
                self.assertEqual(os.listdir(self.folder), [])
                self.assertEqual(self.remove(client), ["setup-absent"])

    def test_several_servers_of_ours(self):
        for client in map(doctrove.find_client, ("gemini", "codex", "cn", "dsh")):
            with self.subTest(client.name):
                self.fill("")
                self.write(client, name="one")
                self.write(client, "--lang", "zh", name="two")
                self.assertEqual(list(servers(client, self.content().decode())), ["one", "two"])
                self.assertEqual(self.remove(client, name="two"), ["setup-restored"])
                self.assertEqual(self.remove(client, name="one"), ["setup-restored"])
                self.assertEqual(self.content(), b"")
                os.remove(self.path)

    def test_what_the_client_keeps_in_the_entry_stays(self):
        client = doctrove.find_client("gemini")
        entry = {**entry_for(client), "trust": True, "env": {"OLD": "1"}}
        self.fill(json.dumps({"mcpServers": {"doctrove": entry}}, indent=2))
        self.write(client, "--lang", "zh")
        found = json.loads(self.content())["mcpServers"]["doctrove"]
        self.assertEqual(found, {"trust": True, **entry_for(client, "--lang", "zh")})
        codex = doctrove.find_client("codex")
        self.fill('[mcp_servers.doctrove]\ncommand = "x"\nargs = [\n "doctrove.pyz" ]\nstartup_timeout_sec = 9 # mine\n[mcp_servers.doctrove.tools.x]\na = 1\n')
        self.write(codex)
        text = self.content().decode()
        self.assertIn("\nstartup_timeout_sec = 9 # mine\n[mcp_servers.doctrove.tools.x]\na = 1\n", text)
        self.assertEqual(text.count("args ="), 1)

    def test_an_entry_that_was_laid_out_anew_is_the_same_entry(self):
        client = doctrove.find_client("claude")
        self.fill(json.dumps({"mcpServers": {"doctrove": {**entry_for(client), "env": {}}}}, indent=8))
        self.assertEqual(self.write(client), ["setup-unchanged"])

    def test_mutations(self):
        """Whatever a text holds: it is refused, or the entry goes in and out again without a trace."""
        done = refused = 0
        for number, case in enumerate(GOOD):
            client = client_of(case)
            for seed in range(25):
                chance = random.Random(number * 1000 + seed)
                text = case["text"]
                for _ in range(chance.randint(1, 3)):
                    at, size = chance.randint(0, len(text)), chance.randint(0, 6)
                    text = text[:at] + chance.choice((*SIGNS, text[:at][-size:])) + text[at + chance.choice((0, 0, size)):]
                with self.subTest(text=text, client=client.name):
                    entry = entry_for(client)
                    try:
                        before = servers(client, text)
                        new = doctrove.put_entry(client, text, "doctrove", entry)
                    except doctrove.ConfigFault as fault:
                        refused += 1
                        self.assertLessEqual(fault.at, len(text))
                        continue
                    done += 1
                    self.assertEqual({name: entry for name, entry in servers(client, new).items() if name != "doctrove"}, before)
                    self.assertEqual(doctrove.put_entry(client, new, "doctrove", entry), new)
                    self.assertEqual(doctrove.take_entry(client, new, "doctrove", text), text)
        self.assertGreater(min(done, refused), 200)

    def test_hostile_files_take_no_time(self):
        """A megabyte of a sign is read, or refused, in a time that grows with its length alone."""
        for client in map(doctrove.find_client, ("gemini", "codex", "cn", "dsh")):
            for piece in PIECES:
                with self.subTest(client=client.name, piece=piece):
                    text = piece * (100000 // len(piece))
                    start = os.times()
                    try:
                        servers(client, text)
                    except doctrove.ConfigFault:
                        pass
                    end = os.times()
                    self.assertLess(end.user - start.user, 3)


class Refusals(Place):

    def test_what_cannot_be_read_is_left_alone_with_the_line_of_the_fault(self):
        for case in BROKEN:
            with self.subTest(case["about"], syntax=case["syntax"], client=case["client"]):
                self.fill(case["text"])
                with self.assertRaises(doctrove.ConfigFault) as raised:
                    self.write(client_of(case))
                self.assertEqual(1 - raised.exception.at, case["line"], doctrove.say("en", raised.exception.key, **raised.exception.values))
                self.assertEqual(self.content(), case["text"].encode())
                self.assertEqual(os.listdir(self.folder), ["config"])

    def test_what_is_not_utf_8(self):
        for data, line in ((b'{\n "a": "\xff"\n}\n', 2), ("{}".encode("utf-16"), 1), (b"\x00\xff\n", 1)):
            self.fill(data)
            with self.assertRaises(doctrove.ConfigFault) as raised:
                self.write(doctrove.find_client("gemini"))
            self.assertEqual((raised.exception.key, 1 - raised.exception.at), ("config-encoding", line))
            self.assertEqual(self.content(), data)

    def test_a_server_of_that_name_that_is_not_ours(self):
        for name, text in (("gemini", '{\n"mcpServers": {"doctrove": {"command": "npx", "args": ["other"]}}}'),
                           ("codex", '[mcp_servers.doctrove]\ncommand = "npx"\n'),
                           ("cn", "mcpServers:\n  - name: doctrove\n    command: npx\n"), ("goose", "extensions:\n  doctrove:\n    cmd: npx\n"),
                           ("dsh", "- insert:\n    - id: mcp-doctrove\n      config:\n        command: npx\n")):
            with self.subTest(name):
                client = doctrove.find_client(name)
                self.fill(text)
                for act in (self.write, self.remove):
                    with self.assertRaises(doctrove.ConfigFault) as raised:
                        act(client)
                    self.assertEqual(raised.exception.key, "setup-foreign")
                    self.assertEqual(self.content(), text.encode())
                self.assertEqual(self.write(client, name="doctrove-docs"), ["setup-written", "setup-backup"])
                self.assertEqual(self.remove(client, name="doctrove-docs"), ["setup-restored"])
                self.assertEqual(self.content(), text.encode())

    def test_a_read_only_file(self):
        self.fill("{}")
        os.chmod(self.path, 0o444)
        self.addCleanup(os.chmod, self.path, 0o644)
        with self.assertRaises(doctrove.DocError) as raised:
            self.write(doctrove.find_client("gemini"))
        self.assertIn("read-only", str(raised.exception))
        self.assertEqual(self.content(), b"{}")

    def test_a_folder_in_its_place(self):
        os.mkdir(self.path)
        with self.assertRaises(doctrove.ConfigFault):
            self.write(doctrove.find_client("gemini"))

    @needs_links
    def test_a_link_is_followed_to_its_target(self):
        target = os.path.join(self.folder, "dotfiles", "settings.json")
        os.mkdir(os.path.dirname(target))
        with open(target, "w") as file:
            file.write("{}\n")
        os.symlink(os.path.join("dotfiles", "settings.json"), self.path)
        client = doctrove.find_client("gemini")
        self.write(client)
        self.assertTrue(os.path.islink(self.path))
        self.assertFalse(os.path.islink(target))
        with open(target) as file:
            self.assertIn("doctrove", file.read())
        self.remove(client)
        self.assertTrue(os.path.islink(self.path))
        self.assertEqual(self.content(), b"{}\n")

    @unittest.skipIf(os.name == "nt", "Windows has no such rights")
    def test_rights_stay(self):
        self.fill("{}")
        os.chmod(self.path, 0o600)
        self.write(doctrove.find_client("gemini"))
        for path in (self.path, self.path + ".before-doctrove"):
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)


class Table(unittest.TestCase):

    PLACES = {
        ("linux", "claude"): "/home/u/.claude.json", ("darwin", "claude"): "/home/u/.claude.json", ("win32", "claude"): "C:\\Users\\u\\.claude.json",
        ("win32", "codex"): "C:\\Users\\u\\.codex\\config.toml", ("linux", "opencode"): "/home/u/.config/opencode/opencode.json",
        ("win32", "opencode"): "C:\\Users\\u\\.config\\opencode\\opencode.json", ("linux", "vscode"): "/home/u/.config/Code/User/mcp.json",
        ("darwin", "vscode"): "/home/u/Library/Application Support/Code/User/mcp.json",
        ("win32", "vscode"): "C:\\Users\\u\\AppData\\Roaming\\Code\\User\\mcp.json",
        ("darwin", "zed"): "/home/u/.config/zed/settings.json", ("win32", "zed"): "C:\\Users\\u\\AppData\\Roaming\\Zed\\settings.json",
        ("linux", "claude-desktop"): "/home/u/.config/Claude/claude_desktop_config.json",
        ("darwin", "claude-desktop"): "/home/u/Library/Application Support/Claude/claude_desktop_config.json",
        ("win32", "claude-desktop"): "C:\\Users\\u\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
        ("linux", "goose"): "/home/u/.config/goose/config.yaml", ("win32", "goose"): "C:\\Users\\u\\AppData\\Roaming\\Block\\goose\\config\\config.yaml",
        ("linux", "dsh"): "/home/u/.dsh/cordis.patch.yml", ("linux", "cline"): "/home/u/.cline/data/settings/cline_mcp_settings.json",
        ("linux", "copilot"): "/home/u/.copilot/mcp-config.json", ("linux", "windsurf"): "/home/u/.codeium/windsurf/mcp_config.json",
        ("linux", "kiro"): "/home/u/.kiro/settings/mcp.json", ("linux", "lm-studio"): "/home/u/.lmstudio/mcp.json", ("linux", "air"): None}
    FROM_ENVIRONMENT = {"claude": ("CLAUDE_CONFIG_DIR", ".claude.json"), "codex": ("CODEX_HOME", "config.toml"), "copilot": ("COPILOT_HOME", "mcp-config.json"),
                        "dsh": ("DSH_HOME", "cordis.patch.yml"), "cn": ("CONTINUE_GLOBAL_DIR", "config.yaml"),
                        "opencode": ("XDG_CONFIG_HOME", "opencode/opencode.json"),
                        "kilo": ("XDG_CONFIG_HOME", "kilo/kilo.json"), "goose": ("XDG_CONFIG_HOME", "goose/config.yaml"),
                        "gemini": ("GEMINI_CLI_HOME", ".gemini/settings.json"), "vscode": ("XDG_CONFIG_HOME", "Code/User/mcp.json")}

    def machine(self, platform, **environ):
        home = {"win32": {"USERPROFILE": "C:\\Users\\u", "APPDATA": "C:\\Users\\u\\AppData\\Roaming"}}.get(platform, {"HOME": "/home/u"})
        return doctrove.Machine(platform, {**home, **environ}, "D:\\proj" if platform == "win32" else "/proj")

    def test_where_configurations_are(self):
        for (platform, name), path in self.PLACES.items():
            with self.subTest(platform, client=name):
                self.assertEqual(self.machine(platform).locate(doctrove.find_client(name), "user"), path)
        self.assertEqual(self.machine("win32").locate(doctrove.find_client("cursor"), "project"), "D:\\proj\\.cursor\\mcp.json")
        self.assertEqual(self.machine("linux").locate(doctrove.find_client("air"), "project"), "/proj/.air/mcp.json")

    def test_every_client_has_a_place_on_every_platform(self):
        for platform in ("linux", "darwin", "win32"):
            machine = self.machine(platform)
            for client in doctrove.CLIENTS:
                with self.subTest(platform, client=client.name):
                    places = [place for place in (machine.locate(client, scope) for scope in doctrove.SCOPES) if place]
                    self.assertTrue(places)
                    for place in places:
                        self.assertNotRegex(place, r"[{}|~]|/.*\\" if platform != "win32" else r"[{}|~/]")

    def test_the_environment_moves_them(self):
        for name, (variable, rest) in self.FROM_ENVIRONMENT.items():
            with self.subTest(name):
                machine = self.machine("linux", **{variable: "/elsewhere"})
                self.assertEqual(machine.locate(doctrove.find_client(name), "user"), f"/elsewhere/{rest}")

    def test_the_file_that_is_there_is_taken(self):
        folder = make_folder(self)
        machine = doctrove.Machine(sys.platform, {"HOME": folder, "USERPROFILE": folder}, folder)
        client = doctrove.find_client("opencode")
        self.assertEqual(os.path.basename(machine.locate(client, "user")), "opencode.json")
        self.assertFalse(machine.has(client))
        os.makedirs(os.path.join(folder, ".config", "opencode"))
        self.assertTrue(machine.has(client))
        with open(os.path.join(folder, ".config", "opencode", "opencode.jsonc"), "w"):
            pass
        self.assertEqual(os.path.basename(machine.locate(client, "user")), "opencode.jsonc")

    def read(self, client, text):
        """The entry as another reader has it."""
        if client.syntax == "json":
            value = json.loads(text)
        elif client.syntax == "toml":
            value = tomllib.loads(text) if tomllib else None
        else:
            return None
        for key in (*client.keys, "doctrove") if value is not None else ():
            value = value[key]
        return value

    def test_every_entry_is_read_back(self):
        for client in doctrove.CLIENTS:
            with self.subTest(client.name):
                entry = entry_for(client, "--root", "/a b/\"q\"/é\\x")
                text = doctrove.put_entry(client, "", "doctrove", entry)
                found = self.read(client, text)
                self.assertIn(found, (entry, None))
                texts = list(doctrove.texts_in(servers(client, text)["doctrove"]))
                for part in (os.path.abspath(sys.executable), "-I", "-S", doctrove.program_path(), "--root", "/a b/\"q\"/é\\x"):
                    self.assertIn(part, texts)
                self.assertEqual("--answers" in texts, bool(client.options))

    def test_yaml_has_the_shape_that_the_clients_want(self):
        argv = json.dumps(os.path.abspath(sys.executable))
        args = json.dumps(["-I", "-S", doctrove.program_path()])
        self.assertEqual(doctrove.put_entry(doctrove.find_client("cn"), "name: x\n", "doctrove", entry_for(doctrove.find_client("cn"))),
                         f"name: x\nmcpServers:\n  - name: doctrove\n    type: stdio\n    command: {argv}\n    args: {args}\n")
        self.assertEqual(doctrove.put_entry(doctrove.find_client("dsh"), "[]\n", "doctrove", entry_for(doctrove.find_client("dsh"))),
                         "- insert:\n    - id: mcp-doctrove\n      name: \"@deepseek-ai/dsh-mcp-client\"\n      config:\n        serverName: doctrove\n"
                         f"        transport: stdio\n        command: {argv}\n        args: {args}\n")
        text = doctrove.put_entry(doctrove.find_client("goose"), "extensions:\n    a:\n        b: 1\n", "doctrove", entry_for(doctrove.find_client("goose")))
        self.assertTrue(text.startswith("extensions:\n    a:\n        b: 1\n    doctrove:\n      enabled: true\n      type: stdio\n"), text)

    def test_answers_can_be_chosen(self):
        client = doctrove.find_client("claude")
        self.assertEqual([text for text in doctrove.texts_in(entry_for(client, "--answers", "both")) if text in ("both", "text")], ["both"])

    def test_what_fetches_gets_the_network_of_the_environment_where_the_client_keeps_it_back(self):
        environ = {"HTTPS_PROXY": "http://proxy.test:3128", "HTTP_PROXY": "http://user:secret@proxy.test", "SSL_CERT_FILE": "/ca.pem", "PATH": "/bin"}
        for name, given, expected in (("codex", ["--index-url", "https://x.test"], {"HTTPS_PROXY", "SSL_CERT_FILE"}), ("codex", [], set()),
                                      ("gemini", ["--root", "/x"], set()), ("claude-desktop", ["--root", "/x"], {"HTTPS_PROXY", "SSL_CERT_FILE"})):
            with self.subTest(name, given=given):
                entry = doctrove.make_entry(doctrove.find_client(name), "doctrove", given, environ)
                self.assertEqual(set(entry.get("env", {})), expected)

    def test_unknown_clients_get_the_list_nearest_first(self):
        for given, nearest in (("claud", "claude"), ("vs-code", "vscode"), ("antigravty", "antigravity"), ("continue", "cn"), ("agy", "antigravity"),
                               ("lmstudio", "lm-studio")):
            with self.subTest(given):
                with self.assertRaises(doctrove.DocError) as raised:
                    doctrove.find_client(given)
                listed = raised.exception.values["clients"].split(", ")
                self.assertEqual((listed[0], sorted(listed)), (nearest, sorted(NAMES)))


class Command(unittest.TestCase):
    """With the built file and a home of its own."""

    def setUp(self):
        self.home = make_folder(self)
        moved = ("XDG_CONFIG_HOME", "CODEX_HOME", "COPILOT_HOME", "CLAUDE_CONFIG_DIR", "DSH_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "CLINE_DIR",
                 "CONTINUE_GLOBAL_DIR", "APPDATA", "PATH")
        self.env = clean_env(HOME=self.home, USERPROFILE=self.home, **dict.fromkeys(moved, ""))

    def run_setup(self, *arguments, code=0, path=None):
        done = command("setup", *arguments, env=self.env, cwd=self.home, path=path)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done.stdout.decode(), done.stderr.decode()

    def content(self, *parts):
        with open(os.path.join(self.home, *parts), encoding="utf-8") as file:
            return file.read()

    def tree(self):
        return {os.path.join(folder, name): os.stat(os.path.join(folder, name)).st_mtime_ns for folder, _, names in os.walk(self.home) for name in names}

    def test_the_list_marks_what_is_here(self):
        os.mkdir(os.path.join(self.home, ".cursor"))
        text, _ = self.run_setup()
        for name in NAMES:
            self.assertRegex(text, rf"(?m)^[ *] {name} ")
        self.assertEqual(re.findall(r"(?m)^\* (\S+)", text), ["cursor"])

    def test_every_client_shows_its_path_and_snippet_and_changes_nothing(self):
        for name in NAMES:
            with self.subTest(name):
                text, _ = self.run_setup(name)
                self.assertIn(self.home, text.splitlines()[0])
                self.assertIn("doctrove.pyz", text)
                self.assertIn(f"setup {name} --write", text)
        self.assertEqual(self.tree(), {})

    def test_every_client_round_trip(self):
        for name in NAMES:
            with self.subTest(name):
                text, _ = self.run_setup(name, "--write")
                path = text.strip().partition(": ")[2]
                self.assertTrue(os.path.isfile(path), text)
                self.assertIn("unchanged", self.run_setup(name, "--write")[0])
                self.run_setup(name, "--remove")
                self.assertFalse(os.path.exists(path))
                self.run_setup(name, "--remove", code=1)
        self.assertEqual(self.tree(), {})

    def test_the_entry_starts_the_server_wherever_the_archive_lies(self):
        folder = os.path.join(self.home, "a 'b' é \\ c" if os.name != "nt" else "a 'b' é")
        os.mkdir(folder)
        path = shutil.copy(program(), os.path.join(folder, "doctrove.pyz"))
        self.run_setup("gemini", "--write", "--only", "zod", "--lang", "zh", path=path)
        entry = json.loads(self.content(".gemini", "settings.json"))["mcpServers"]["doctrove"]
        self.assertEqual(entry["args"], ["-I", "-S", path, "--only", "zod", "--lang", "zh"])
        done = subprocess.run([entry["command"], *entry["args"]], input=encode(initialize("2025-11-25")) + encode(request("tools/list", id=1)),
                              capture_output=True, env=self.env, timeout=60)
        self.assertEqual(len(done.stdout.splitlines()), 2, done.stderr)

    def test_options_and_the_environment_of_here_become_options_with_absolute_paths(self):
        self.env["DOCTROVE_TIMEOUT_MS"] = "777"
        self.run_setup("gemini", "--write", "--root", "lib", "--allow", "a", "--allow", "b", "--no-cache", "--debug")
        args = json.loads(self.content(".gemini", "settings.json"))["mcpServers"]["doctrove"]["args"][3:]
        absolute = [os.path.join(self.home, name) for name in ("lib", "a", "b")]
        self.assertEqual(args, ["--root", absolute[0], "--allow", absolute[1], "--allow", absolute[2], "--timeout-ms", "777", "--debug", "--no-cache"])

    def test_scopes(self):
        self.run_setup("claude", "--scope", "project", "--write")
        self.assertIn("doctrove", self.content(".mcp.json"))
        self.assertIn("user", self.run_setup("windsurf", "--scope", "project", code=2)[1])
        self.assertIn("project", self.run_setup("air", "--scope", "user", code=2)[1])

    def test_wrong_usage(self):
        for arguments, says in ((("claud",), "claude, claude-desktop"), (("claude", "--name", "a b"), "--name"), (("claude", "--name", "x" * 33), "--name"),
                                (("claude", "--write", "--remove"), "--remove"), (("--write",), "CLIENT"), (("claude", "--bundle", "x"), "dsh"),
                                (("claude", "--scope", "system"), "user"), (("claude", "codex"), "usage"), (("claude", "--cache-ttl", "x"), "--cache-ttl")):
            with self.subTest(arguments):
                _, stderr = self.run_setup(*arguments, code=2)
                self.assertIn(says, stderr)
                self.assertEqual(len(stderr.splitlines()), 1)
        self.assertEqual(self.tree(), {})

    def test_a_broken_file_is_shown_the_snippet_and_the_line(self):
        with open(os.path.join(self.home, ".claude.json"), "w") as file:
            file.write('{\n  "a": 1\n  "b": 2\n}\n')
        before = self.tree()
        for lang, word in (("en", "line 3"), ("zh", "第 3 行")):
            stdout, stderr = self.run_setup("claude", "--write", "--lang", lang, code=2)
            self.assertIn('"mcpServers"', stdout)
            self.assertIn(word, stderr)
        self.assertEqual(self.tree(), before)
        self.assertIn("line 3", self.run_setup("claude", "--remove", code=2)[1])

    def test_a_foreign_server_asks_for_a_name(self):
        with open(os.path.join(self.home, ".claude.json"), "w") as file:
            file.write('{"mcpServers": {"doctrove": {"command": "other"}}}')
        self.assertIn("--name", self.run_setup("claude", "--write", code=2)[1])
        self.run_setup("claude", "--write", "--name", "docs")
        self.assertEqual(list(json.loads(self.content(".claude.json"))["mcpServers"]), ["doctrove", "docs"])

    def test_the_bundle(self):
        text, _ = self.run_setup("dsh", "--bundle", "my bundle", "--only", "zod")
        folder = os.path.join(self.home, "my bundle")
        self.assertIn("dsh plugin --profile web add", text)
        package = json.loads(self.content("my bundle", "package.json"))
        self.assertEqual(sorted(os.listdir(folder)), sorted(["package.json", *package["files"]]))
        with open(os.path.join(folder, "doctrove.pyz"), "rb") as copy, open(program(), "rb") as original:
            self.assertEqual(copy.read(), original.read())
        patch = self.content("my bundle", "cordis.patch.yml")
        self.assertIn(f"node_modules/{package['name']}/doctrove.pyz", patch)
        self.assertTrue(patch.endswith('          - "--only"\n          - "zod"\n'))
        self.assertEqual(list(servers(doctrove.find_client("dsh"), patch)), ["doctrove"])
        self.run_setup("dsh", "--bundle", "my bundle")  # again is fine
        with open(os.path.join(folder, "mine.txt"), "w"):
            pass
        self.run_setup("dsh", "--bundle", "my bundle", code=2)

    def test_the_rules_fit_a_screen_and_name_the_tools(self):
        for lang in ("en", "zh"):
            text, _ = self.run_setup("--rules", "--lang", lang)
            self.assertLessEqual(len(text.splitlines()), 24)
            self.assertLessEqual(max(map(len, text.splitlines())), 160)
            for name in doctrove.TOOL_BY_NAME:
                self.assertIn(f"`{name}`", text)
            for name in re.findall(r"`([a-z]+_[a-z_]+)`", text):
                self.assertIn(name, {**doctrove.TOOL_BY_NAME, **doctrove.library_tools()})

    def test_doctor_finds_configurations_and_what_is_missing(self):
        self.run_setup("claude", "--write")
        self.run_setup("cn", "--write", "--name", "docs")
        before = self.tree()
        done = command("doctor", "--json", env=self.env, cwd=self.home)
        report = json.loads(done.stdout)
        self.assertEqual((done.returncode, report["problems"]), (0, []))
        self.assertEqual([(row["client"], row["servers"][0]["name"]) for row in report["clients"]], [("claude", "doctrove"), ("cn", "docs")])
        self.assertEqual(self.tree(), before)
        path = os.path.join(self.home, ".claude.json")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        gone = os.path.join(self.home, "gone", "doctrove.pyz")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(json.dumps(program()), json.dumps(gone)))
        done = command("doctor", env=self.env, cwd=self.home)
        self.assertEqual(done.returncode, 1)
        self.assertIn(gone, done.stdout.decode().partition("## Problems")[2])
        with open(path, "w", encoding="utf-8") as file:
            file.write(text[:-5])
        done = command("doctor", env=self.env, cwd=self.home)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot be read: line ", done.stdout.decode().partition("## Problems")[2])

    def test_doctor_talks_to_a_server_in_both_eras(self):
        report = json.loads(command("doctor", "--json", env=self.env, cwd=self.home).stdout)
        self.assertEqual([(row["era"], row["protocol"], row["tools"], len(row["milliseconds"])) for row in report["selfTest"]],
                         [("handshake", "2025-11-25", 3, 3), ("stateless", "2026-07-28", 3, 3)])
        self.assertEqual((report["sources"][0]["reachable"], report["sources"][0]["ageDays"] >= 0), (True, True))

    def test_doctor_looks_at_the_library_and_changes_nothing(self):
        root = os.path.join(self.home, "lib")
        report = json.loads(command("--root", root, "doctor", "--json", env=self.env, cwd=self.home).stdout)
        self.assertEqual((report["library"]["entries"], report["library"]["lock"], os.path.exists(root)), (0, "none", False))
        with open(os.path.join(self.home, "guide.md"), "w") as file:
            file.write("# Guide\n\nText.\n")
        self.assertEqual(command("--root", root, "index", "guide.md", env=self.env, cwd=self.home).returncode, 0)
        before = self.tree()
        done = command("--root", root, "doctor", "--json", env=self.env, cwd=self.home)
        library = json.loads(done.stdout)["library"]
        self.assertEqual((done.returncode, library["entries"], library["damaged"], library["lock"], library["documents"]["match"]), (0, 1, 0, "free", 1))
        self.assertEqual(self.tree(), before)
        lock = doctrove.FileLock(os.path.join(root, ".lock"))
        self.assertTrue(lock.take())
        done = command("--root", root, "doctor", "--json", env=self.env, cwd=self.home)
        lock.file.close()
        self.assertEqual((done.returncode, json.loads(done.stdout)["library"]["lock"]), (1, "held"))
        volume = next(path for path in before if os.sep + "volumes" + os.sep in path)
        with open(volume, "r+b") as file:
            file.write(b" " * 20)
        done = command("--root", root, "doctor", "--json", env=self.env, cwd=self.home)
        self.assertEqual((done.returncode, json.loads(done.stdout)["library"]["damaged"]), (1, 1))


if __name__ == "__main__":
    unittest.main()
