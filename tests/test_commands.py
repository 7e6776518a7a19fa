"""The commands at a shell and at a terminal."""
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from processes import (
    FLAGS,
    PATIENCE,
    Remote,
    as_bytes,
    clean_env,
    command,
    encode,
    entry,
    free_port,
    index,
    parse_line,
    program,
    reference,
    request,
    section,
    write_index,
)

import doctrove

try:
    import pty
    import select
except ImportError:
    pty = None

ESCAPE = b"\x1b["
needs_pty = unittest.skipIf(pty is None, "this system has no pseudo-terminals")
needs_sh = unittest.skipIf(os.name == "nt", "the test is written for a POSIX shell")


def shell(script, *arguments, env=None, **options):
    """Runs a POSIX shell script in which "$@" is the program with its arguments."""
    return subprocess.run(["sh", "-c", script, "sh", sys.executable, *FLAGS, program(), *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          env=clean_env() if env is None else env, timeout=60, **options)


class Commands(unittest.TestCase):

    def found(self, done):
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode("utf-8")

    def refused(self, done, *says):
        """Wrong usage: exit 2, one line on standard error, nothing on standard output."""
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        lines = done.stderr.decode("utf-8").splitlines()
        self.assertEqual(len(lines), 1, lines)
        for part in says:
            self.assertIn(part, lines[0])

    def test_a_damaged_volume_of_the_local_index_is_a_fault_of_what_is_configured(self):
        with tempfile.TemporaryDirectory() as folder:
            alpha = entry("alpha", "1.0.0")
            alpha["volumes"] = {"1.0.0": reference("alpha.json", {"sections": [section("Install", "Run it.")]}, sha256="0" * 64)}
            write_index(folder, index(alpha), **{"alpha.json": {"sections": [section("Install", "Run it.")]}})
            self.refused(command("--local-index", folder, "extract", "alpha", "install"), '$.entries[0].volumes["1.0.0"].sha256')

    def test_lookup(self):
        text = self.found(command("lookup", "express"))
        for part in ("express", "Express", "5.1.0", "4.21.2"):
            self.assertIn(part, text)
        self.assertIn("zod", self.found(command("lookup", "schema", "validation")))
        self.assertIn("dayjs", self.found(command("lookup", "日期")))

    def test_lookup_as_json(self):
        answer = json.loads(self.found(command("lookup", "express", "--json")))
        self.assertEqual((answer["results"][0]["id"], answer["results"][0]["score"]), ("express", 1))
        self.assertEqual(len(json.loads(self.found(command("lookup", "--limit", "1", "--json", "javascript")))["results"]), 1)

    def test_releases(self):
        text = self.found(command("releases", "express"))
        self.assertLess(text.index("5.1.0"), text.index("4.21.2"))
        self.assertEqual(json.loads(self.found(command("releases", "zod", "--json")))["latest"], json.loads(self.found(command("releases", "zod3",
                                                                                                                               "--json")))["latest"])

    def test_extract(self):
        text = self.found(command("extract", "express", "wildcard"))
        self.assertIn("5.1.0", text)
        self.assertIn("wildcard", text.lower())
        for wanted, served in (("4", "4.21.2"), ("4.21.2", "4.21.2"), ("5.x", "5.1.0"), ("latest", "5.1.0"), ("^4.18", "4.21.2"), ("", "5.1.0")):
            with self.subTest(wanted):
                self.assertEqual(json.loads(self.found(command("extract", f"express@{wanted}", "wildcard", "--json")))["version"], served)

    def test_a_focus_of_several_words_needs_no_quotes(self):
        apart = json.loads(self.found(command("extract", "express", "error", "handling", "middleware", "--json")))
        self.assertEqual(apart["focus"], "error handling middleware")
        self.assertEqual(apart, json.loads(self.found(command("extract", "express", "error handling middleware", "--json"))))

    def test_options_of_extract(self):
        answer = json.loads(self.found(command("extract", "express", "--max-sections", "2", "--max-chars", "3000", "--json")))
        self.assertLessEqual(len(answer["sections"]), 2)
        self.assertLessEqual(len(self.found(command("extract", "express", "--max-sections=50", "--max-chars=2000"))), 2001)

    def test_one_section_by_its_id(self):
        answer = json.loads(self.found(command("extract", "express", "wildcard", "--json")))
        id = answer["sections"][0]["id"]
        one = json.loads(self.found(command("extract", "express", f"#{id}", "--json", "--max-chars", "100000")))
        self.assertEqual([row["id"] for row in one["sections"]], [id])
        self.assertNotIn("omittedChars", one["sections"][0])

    def test_scoped_ids(self):
        with tempfile.TemporaryDirectory() as folder:
            write_index(folder, index(entry("@scope/pkg", "1.0.0", "2.0.0"), entry("a@b", "3.0.0")))
            for operand, version in (("@scope/pkg", "2.0.0"), ("@scope/pkg@1", "1.0.0"), ("@scope/pkg@1.0.0", "1.0.0"), ("@scope/pkg@latest", "2.0.0")):
                with self.subTest(operand):
                    answer = json.loads(self.found(command("--local-index", folder, "extract", operand, "install", "--json")))
                    self.assertEqual((answer["id"], answer["version"]), ("@scope/pkg", version))
            self.assertIn("2.0.0", self.found(command("--local-index", folder, "releases", "@scope/pkg")))

    def test_nothing_found_is_1(self):
        for arguments in (("lookup", "qqqqqqqqqq"), ("extract", "express", "qqqqqqqqqq")):
            with self.subTest(arguments):
                done = command(*arguments)
                self.assertEqual((done.returncode, done.stderr), (1, b""))
                self.assertEqual(command(*arguments, "--json").returncode, 1)

    def test_an_unknown_id_and_version_are_1_with_a_line_on_standard_error(self):
        for arguments, says in ((("releases", "expres"), "express"), (("extract", "qqqqqq"), "qqqqqq"), (("extract", "express@99", "x"), "4.21.2")):
            with self.subTest(arguments):
                done = command(*arguments)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (1, b"", 1))
                self.assertIn(says, done.stderr.decode())

    def test_an_outage_is_1_and_no_empty_list(self):
        done = command("--index-url", f"http://127.0.0.1:{free_port()}", "lookup", "qqqqqqqqqq")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"remote", done.stderr)

    def test_notices_are_shown(self):
        url = f"http://127.0.0.1:{free_port()}"
        self.assertIn(url, self.found(command("--index-url", url, "lookup", "express")))
        self.assertEqual(len(json.loads(self.found(command("--index-url", url, "lookup", "express", "--json")))["notices"]), 1)

    def test_errors_as_json(self):
        for arguments, code, exit in ((("extract", "qqqqqq"), "not-found", 1), (("extract", "express@99"), "version", 1),
                                      (("lookup", "x", "--limit", "0"), "validation", 2)):
            with self.subTest(arguments):
                done = command(*arguments, "--json")
                self.assertEqual((json.loads(done.stdout)["error"]["code"], done.returncode), (code, exit))

    def test_version(self):
        self.assertIn(doctrove.__version__, self.found(command("--version")))
        self.assertEqual(len(command("--version").stdout.splitlines()), 1)

    def test_help(self):
        text = self.found(command("--help"))
        self.assertEqual(text, self.found(command("-h")))
        for name, (operands, _, _, options, meaning) in doctrove.COMMANDS.items():
            with self.subTest(name):
                shown = self.found(command(name, "--help"))
                self.assertIn(f"{name} {operands}".rstrip() + "\n", shown)
                self.assertIn(meaning, shown)
                self.assertEqual(re.findall("(?m)^  --([a-z-]+)", shown), list(options))
        for part in ("lookup", "releases", "extract", "serve-index", "doctor", "--index-url", "--version", "usage"):
            self.assertIn(part, text)

    def test_wrong_usage_is_2(self):
        for arguments, says in ((("nonsense",), "nonsense"), (("lookup",), "lookup"), (("releases",), "releases"), (("releases", "a", "b"), "releases"),
                                (("extract",), "extract"), (("doctor", "x"), "doctor"),
                                (("serve-index", "a", "1", "2"), "serve-index"), (("--nonsense",), "nonsense"), (("lookup", "x", "--nonsense"), "nonsense"),
                                (("-x",), "x"), (("lookup", "x", "--max-chars", "2000"), "max-chars"),
                                (("releases", "x", "--limit", "3"), "limit"), (("--json",), "json"), (("lookup", "x", "--limit"), "limit"),
                                (("--index-url",), "index-url"), (("lookup", "x", "--host", "::1"), "host"),
                                (("--version=1",), "version"), (("--debug=maybe",), "debug"), (("LOOKUP", "express"), "LOOKUP"), (("look", "express"), "look")):
            with self.subTest(arguments):
                self.refused(command(*arguments), says)

    def test_bad_arguments_are_2(self):
        for arguments, says in ((("lookup", ""), "query"), (("lookup", "  "), "query"), (("lookup", "x", "--limit", "0"), "50"),
                                (("lookup", "x", "--limit", "51"), "50"), (("lookup", "x", "--limit", "ten"), "50"),
                                (("lookup", "x", "--limit=-1"), "50"), (("extract", ""), "id"), (("extract", "express", "--max-sections", "0"), "50"),
                                (("extract", "express", "--max-chars", "1"), "--max-chars"),
                                (("lookup", "x" * 10240), "query")):
            with self.subTest(arguments=str(arguments)[:60]):
                self.refused(command(*arguments), says)

    def test_bad_settings_are_2_and_name_source_and_key(self):
        with tempfile.TemporaryDirectory() as folder:
            files = {}
            for name, content in (("unknown", {"nonsense": 1}), ("type", {"cacheTtl": "soon"}), ("range", {"timeoutMs": 0}), ("array", []),
                                  ("null", {"lang": None})):
                files[name] = os.path.join(folder, f"{name}.json")
                with open(files[name], "wb") as file:
                    file.write(as_bytes(content))
            broken = os.path.join(folder, "broken.json")
            with open(broken, "wb") as file:
                file.write(b"{")
            cases = [(("--cache-ttl", "86401"), {}, ("--cache-ttl", "86400")), (("--cache-ttl", "-1"), {}, ("--cache-ttl",)),
                     (("--timeout-ms", "0"), {}, ("--timeout-ms",)), (("--timeout-ms", "1.5"), {}, ("--timeout-ms",)),
                     (("--lang", "de"), {}, ("--lang", "zh")), (("--answers", "json"), {}, ("--answers", "text")),
                     ((), {"DOCTROVE_LANG": "de"}, ("DOCTROVE_LANG",)), ((), {"DOCTROVE_CACHE_TTL": "x"}, ("DOCTROVE_CACHE_TTL",)),
                     ((), {"DOCTROVE_DEBUG": "perhaps"}, ("DOCTROVE_DEBUG",)), ((), {"DOCTROVE_INDEX_URL": "nonsense"}, ("DOCTROVE_INDEX_URL",)),
                     (("--only", ","), {}, ("--only",)),
                     (("--config", files["unknown"]), {}, (files["unknown"], "nonsense")), (("--config", files["type"]), {}, (files["type"], "cacheTtl")),
                     (("--config", files["range"]), {}, ("timeoutMs",)),
                     (("--config", files["array"]), {}, (files["array"],)), (("--config", files["null"]), {}, ("lang",)), (("--config", broken), {}, (broken,)),
                     ((), {"DOCTROVE_CONFIG": broken}, (broken,)),
                     (("--config", os.path.join(folder, "nowhere")), {}, ("nowhere",))]
            for at, (arguments, env, says) in enumerate(cases):
                subcommand = ("lookup", "express") if at % 2 else ()
                with self.subTest(arguments=arguments, env=env, command=subcommand):
                    self.refused(command(*arguments, *subcommand, env=clean_env(**env)), *says)

    def test_settings_in_their_order(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "config.json")
            with open(path, "wb") as file:
                file.write(as_bytes({"lang": "zh", "cacheTtl": 0, "debug": True, "only": ["zod"], "answers": "text"}))

            def setting(key, *arguments, **env):
                report = json.loads(command(*arguments, "doctor", "--json", env=clean_env(**env)).stdout)
                return next((row["value"], row["origin"].split(" ")[0]) for row in report["settings"] if row["setting"] == key)

            self.assertEqual(setting("lang"), ("en", "default"))
            self.assertEqual(setting("lang", "--config", path), ("zh", "config"))
            self.assertEqual(setting("cacheTtl", DOCTROVE_CONFIG=path), (0, "config"))
            self.assertEqual(setting("lang", "--config", path, DOCTROVE_LANG="en"), ("en", "environment"))
            self.assertEqual(setting("lang", "--config", path, DOCTROVE_LANG=""), ("zh", "config"))
            self.assertEqual(setting("lang", "--lang", "zh", DOCTROVE_LANG="en"), ("zh", "command"))
            self.assertEqual(setting("only", "--config", path, "--only", "express,dayjs"), (["express", "dayjs"], "command"))
            self.assertEqual(setting("cacheTtl", "--no-cache", "--cache-ttl", "5"), (0, "command"))

    def test_words_that_start_with_a_hyphen(self):
        done = command("extract", "--", "express", "-wildcard")
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_chinese(self):
        self.assertIn("名称精确匹配", self.found(command("--lang", "zh", "lookup", "express")))
        self.assertIn("名称精确匹配", self.found(command("lookup", "express", env=clean_env(DOCTROVE_LANG="zh"))))

    def test_no_colour_when_piped(self):
        for arguments in (("lookup", "express"), ("releases", "zod"), ("extract", "express", "wildcard"), ("doctor",), ("--help",)):
            with self.subTest(arguments):
                self.assertNotIn(ESCAPE, command(*arguments, env=clean_env(TERM="xterm-256color", FORCE_COLOR="1")).stdout)


class Doctor(unittest.TestCase):

    def test_a_healthy_installation(self):
        done = command("doctor")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        text = done.stdout.decode("utf-8")
        for part in (doctrove.__version__, program(), sys.executable, "bundled", "cacheTtl", "3 entries"):
            self.assertIn(part, text)
        report = json.loads(command("doctor", "--json").stdout)
        self.assertEqual((report["problems"], report["version"], report["sources"][0]["entries"]), ([], doctrove.__version__, 3))
        self.assertGreater(report["sources"][0]["sections"], 100)

    def test_what_fails_and_why(self):
        with tempfile.TemporaryDirectory() as folder:
            volume = {"sections": [section("a", "b")]}
            broken = {**entry("alpha"), "volumes": {"1.0.0": {"href": "a.json", "sha256": "0" * 64}}}
            write_index(folder, index(broken), **{"a.json": volume})
            url = f"http://127.0.0.1:{free_port()}"
            done = command("--local-index", folder, "--index-url", url, "--only", "nowhere", "doctor", "--json")
            problems = "\n".join(json.loads(done.stdout)["problems"])
            self.assertEqual(done.returncode, 1)
            for part in (url, "sha256", "nowhere"):
                self.assertIn(part, problems)
            self.assertEqual(command("--local-index", folder, "doctor").returncode, 1)

    def test_a_local_index_that_does_not_load_is_a_finding(self):
        with tempfile.TemporaryDirectory() as folder:
            write_index(folder, {"format": "other"})
            done = command("--local-index", folder, "doctor")
            self.assertEqual(done.returncode, 1)
            self.assertIn("$.format", done.stdout.decode("utf-8"))

    def test_remotes_are_tried(self):
        with Remote({"/index.json": index(entry("alpha"))}) as remote:
            report = json.loads(command("--index-url", remote.url, "doctor", "--json").stdout)
            self.assertEqual([(row["kind"], row["entries"]) for row in report["sources"]], [("remote", 1), ("bundled", 3)])
            self.assertEqual(report["problems"], [])


class Surroundings(unittest.TestCase):

    @needs_sh
    def test_a_reader_that_stops_early_is_no_fault(self):
        long = ("--max-chars", "200000", "--max-sections", "50")
        for reader, arguments in (("head -n 1", ("extract", "express", *long)), ("head -c 1", ("extract", "zod", "--json", *long)), ("true", ("--help",)),
                                  ("true", ("extract", "express", *long))):
            with self.subTest(arguments, reader=reader):
                done = shell('{ "$@"; echo "$?" >&3; } 3>&2 | ' + reader + " >/dev/null", *arguments)
                self.assertRegex(done.stderr.decode(), r"^(0|141)\n$")

    @needs_sh
    def test_closed_standard_output(self):
        for arguments in (("lookup", "express"), ("--version",), ("--help",), ("doctor",)):
            with self.subTest(arguments):
                done = shell('exec "$@" >&-', *arguments)
                self.assertNotIn(b"Traceback", done.stderr)

    @needs_sh
    def test_closed_standard_error(self):
        for arguments, code in ((("lookup", "express"), 0), (("nonsense",), 2), (("releases", "qqqqqq"), 1)):
            with self.subTest(arguments):
                self.assertEqual(shell('exec "$@" 2>&-', *arguments).returncode, code)

    @unittest.skipUnless(os.path.exists("/dev/full"), "this system has no /dev/full")
    def test_a_full_disk_is_a_fault_in_one_line(self):
        for arguments in (("lookup", "express"), ("--help",)):
            with self.subTest(arguments):
                done = shell('exec "$@" >/dev/full', *arguments)
                self.assertNotEqual(done.returncode, 0)
                self.assertNotIn(b"Traceback", done.stderr)

    @unittest.skipIf(os.name == "nt", "Windows has no such locales")
    def test_output_is_utf_8_whatever_the_locale_says(self):
        for flags, env in (((), {"LC_ALL": "C", "PYTHONUTF8": "0"}), ((), {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"}),
                           (("-X", "utf8=0", *FLAGS), {"LC_ALL": "C"})):
            with self.subTest(env, flags=flags):
                done = command("--lang", "zh", "lookup", "express", flags=flags, env=clean_env(**env))
                self.assertEqual(done.returncode, 0)
                self.assertIn("名称精确匹配", done.stdout.decode("utf-8"))
                error = command("--lang", "zh", "extract", "qqqq", flags=flags, env=clean_env(**env))
                self.assertEqual((error.returncode, len(error.stderr.splitlines())), (1, 1))

    @unittest.skipIf(os.name == "nt", "Windows gives arguments as text")
    def test_arguments_are_utf_8_whatever_the_locale_says(self):
        for env in ({"LC_ALL": "C", "PYTHONUTF8": "0"}, {}):
            with self.subTest(env):
                done = command("extract", "express", "通配符", "--json", flags=(), env=clean_env(**env))
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertEqual(json.loads(done.stdout)["focus"], "通配符")

    @unittest.skipIf(os.name == "nt", "Windows needs some of its environment")
    def test_an_empty_environment(self):
        for arguments in (("lookup", "express"), ("extract", "express", "通配符"), ("doctor",), ("--version",)):
            with self.subTest(arguments):
                done = command(*arguments, env={}, flags=())
                self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_nothing_is_written_anywhere(self):
        with tempfile.TemporaryDirectory() as folder:
            home = os.path.join(folder, "home")
            os.mkdir(home)
            env = clean_env(HOME=home, USERPROFILE=home, XDG_CACHE_HOME=home, XDG_CONFIG_HOME=home, TMPDIR=home, TEMP=home)
            for arguments in (("lookup", "express"), ("extract", "zod", "parse"), ("doctor",)):
                self.assertEqual(command(*arguments, env=env, flags=(), cwd=home).returncode, 0)
            self.assertEqual(os.listdir(home), [])

    def test_the_source_file_runs_as_well(self):
        path = os.path.join(os.path.dirname(doctrove.__file__), "doctrove.py")
        self.assertEqual(json.loads(command("extract", "express@4", "wildcard", "--json", path=path).stdout)["version"], "4.21.2")
        self.assertEqual(parse_line(command(path=path, stdin=None, input=encode(request("ping"))).stdout)["result"], {})


@needs_pty
class Terminal(unittest.TestCase):

    def at_terminal(self, *arguments, stdin_too=False, env=None):
        """What the program writes to a terminal, and its exit code and standard error."""
        master, slave = pty.openpty()
        try:
            process = subprocess.Popen([sys.executable, *FLAGS, program(), *arguments], stdin=slave if stdin_too else subprocess.DEVNULL, stdout=slave,
                                       stderr=subprocess.PIPE,
                                       env=clean_env(TERM="xterm-256color") if env is None else env)
        finally:
            os.close(slave)
        shown = b""
        while True:
            ready, _, _ = select.select([master], [], [], PATIENCE)
            try:
                part = os.read(master, 65536) if ready else b""
            except OSError:
                part = b""  # Linux reports the end of a terminal so
            if not part:
                break
            shown += part
        os.close(master)
        errors = process.stderr.read()
        process.stderr.close()
        return shown.replace(b"\r\n", b"\n"), process.wait(PATIENCE), errors

    def test_colour(self):
        for arguments in (("lookup", "express"), ("extract", "express", "wildcard"), ("releases", "zod"), ("doctor",)):
            with self.subTest(arguments):
                shown, code, errors = self.at_terminal(*arguments)
                self.assertEqual((code, errors), (0, b""))
                self.assertIn(ESCAPE, shown)
                self.assertTrue(shown.rstrip(b"\n").count(ESCAPE + b"0m"))
                plain = command(*arguments).stdout
                if arguments != ("doctor",):
                    self.assertEqual(re.sub(rb"^#+ ", b"", re.sub(rb"\x1b\[[0-9;]*m", b"", shown), flags=re.MULTILINE),
                                     re.sub(rb"^#+ ", b"", plain, flags=re.MULTILINE))

    def test_code_is_shown_as_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            write_index(folder, index({**entry("alpha"), "volumes": {"1.0.0": {"sections": [section("Install", "```sh\n# a comment\nrun\n```")]}}}))
            shown, code, _ = self.at_terminal("--local-index", folder, "extract", "alpha")
            self.assertEqual(code, 0)
            self.assertIn(b"\n# a comment\n", shown)

    def test_no_colour(self):
        for env in (clean_env(TERM="xterm-256color", NO_COLOR="1"), clean_env(TERM="dumb")):
            shown, code, _ = self.at_terminal("lookup", "express", env=env)
            self.assertEqual(code, 0)
            self.assertNotIn(ESCAPE, shown)

    def test_json_has_no_colour(self):
        shown, _, _ = self.at_terminal("lookup", "express", "--json")
        self.assertEqual(json.loads(shown)["results"][0]["id"], "express")

    def greet(self, *options):
        """What a server says on standard error when its input is a terminal; the input ends at once."""
        master, slave = pty.openpty()
        os.write(master, b"\4")  # Ctrl-D
        process = subprocess.Popen([sys.executable, *FLAGS, program(), *options], stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_env())
        os.close(slave)
        out, errors = process.communicate(timeout=PATIENCE)
        os.close(master)
        return out, errors.decode("utf-8"), process.returncode

    def test_three_lines_for_a_person(self):
        out, errors, code = self.greet()
        self.assertEqual((out, code), (b"", 0))
        lines = errors.splitlines()
        self.assertEqual(len(lines), 3)
        self.assertIn("MCP", lines[0])
        for id in ("express", "zod", "dayjs"):
            self.assertIn(id, lines[1])
        self.assertIn("extract", lines[2])
        question = re.search(r"extract \S+ \S+", lines[2]).group().rstrip(".").split()
        self.assertEqual(command(*question).returncode, 0)

    def test_three_lines_in_chinese(self):
        _, errors, _ = self.greet("--lang", "zh")
        self.assertEqual(len(errors.splitlines()), 3)
        self.assertIn("文档", errors)

    def test_no_lines_for_a_program(self):
        self.assertEqual(command(stdin=None, input=encode(request("ping"))).stderr, b"")

    def test_three_lines_even_when_a_remote_is_down(self):
        out, errors, code = self.greet("--index-url", f"http://127.0.0.1:{free_port()}", "--timeout-ms", "500")
        self.assertEqual((out, code, len(errors.splitlines())), (b"", 0, 3))


if __name__ == "__main__":
    unittest.main()
