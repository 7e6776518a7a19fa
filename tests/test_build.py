"""The packed file: the same bytes each time, no bad index, byte code for whom it was built, and it runs wherever it lies."""
from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
import zipfile

from processes import (
    FLAGS,
    ROOT,
    as_bytes,
    build,
    built,
    clean_env,
    command,
    encode,
    entry,
    exchange,
    index,
    initialize,
    other_interpreters,
    parse_line,
    program,
    reference,
    request,
    section,
    tool_call,
    write_index,
)

import doctrove

FORBIDDEN = "urllib ssl http html ast argparse dataclasses typing inspect logging asyncio zipfile".split()
TAG = sys.implementation.cache_tag


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Build(unittest.TestCase):

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = os.path.realpath(holder.name)
        self.target = os.path.join(self.folder, "out.pyz")

    def built(self, *options, **env):
        done = build(self.target, *options, **env)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode("utf-8")

    def refused(self, *options, says=(), **env):
        done = build(self.target, *options, **env)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        lines = done.stderr.decode("utf-8").splitlines()
        self.assertEqual(len(lines), 1, lines)
        for part in says:
            self.assertIn(part, lines[0])
        self.assertEqual([name for name in os.listdir(self.folder) if "out.pyz" in name], [])

    def test_two_builds_are_the_same_bytes(self):
        """Whatever the environment, the names and the times of the files."""
        copy = os.path.join(self.folder, "some", "data")
        shutil.copytree(os.path.join(ROOT, "data"), copy)
        for folder, _, names in os.walk(copy):
            for name in names:
                os.utime(os.path.join(folder, name), (0, 0))
        self.target = os.path.join(self.folder, "some", "other.pyz")
        self.built("--index", copy, PYTHONHASHSEED="2", TZ="Asia/Tokyo", LC_ALL="C", PYTHONOPTIMIZE="1", PYTHONDONTWRITEBYTECODE="1", SOURCE_DATE_EPOCH="")
        self.assertEqual(digest(self.target), digest(program()))

    def test_source_date_epoch_is_honoured(self):
        self.built(SOURCE_DATE_EPOCH="1700000000", TZ="UTC")
        with zipfile.ZipFile(self.target) as archive:
            self.assertEqual({info.date_time for info in archive.infolist()}, {(2023, 11, 14, 22, 13, 20)})
        first = digest(self.target)
        self.assertNotEqual(first, digest(program()))
        self.built(SOURCE_DATE_EPOCH="1700000000", TZ="America/New_York")
        self.assertEqual(digest(self.target), first)

    def test_a_source_date_epoch_that_is_no_number(self):
        self.refused(says=["SOURCE_DATE_EPOCH", "yesterday"], SOURCE_DATE_EPOCH="yesterday")

    def test_it_says_what_it_made(self):
        path, said = built()
        for part in (path, str(os.path.getsize(path)), digest(path), TAG):
            self.assertIn(part, said)
        with open(os.path.join(ROOT, "data", "index.json"), encoding="utf-8") as file:
            self.assertRegex(said, rf"entries\s+{len(json.load(file)['entries'])}\b")

    def test_bad_indexes_are_refused_with_the_json_path_and_leave_nothing(self):
        alpha = entry("alpha")
        volume = {"sections": [section("a", "b")]}
        cases = {
            "wrong format": ({**index(alpha), "format": "x"}, {}, ["$.format"]),
            "duplicate id": (index(alpha, alpha), {}, ["$.entries[1].id"]),
            "no volume": (index({**alpha, "versions": ["9"]}), {}, ["$.entries[0].volumes", "9"]),
            "missing file": (index({**alpha, "volumes": {"1.0.0": reference("a.json", volume)}}), {}, ['$.entries[0].volumes["1.0.0"].href', "a.json"]),
            "changed file": (index({**alpha, "volumes": {"1.0.0": reference("a.json", volume)}}), {"a.json": b"{}"}, ['$.entries[0].volumes["1.0.0"].sha256']),
            "bad volume": (index({**alpha, "volumes": {"1.0.0": reference("a.json", {"sections": [7]})}}), {"a.json": {"sections": [7]}},
                           ['$.entries[0].volumes["1.0.0"].sections[0]']),
            "escape": (index({**alpha, "volumes": {"1.0.0": reference("../a.json", volume)}}), {}, ["href"]),
        }
        for at, (name, (value, files, says)) in enumerate(cases.items()):
            with self.subTest(name):
                self.refused("--index", write_index(os.path.join(self.folder, f"bad-{at}"), value, **files), says=says)
        self.refused("--index", os.path.join(self.folder, "nowhere"), says=["nowhere"])

    def test_a_refused_build_leaves_the_old_file(self):
        with open(self.target, "wb") as file:
            file.write(b"the old one")
        self.assertEqual(build(self.target, "--index", write_index(os.path.join(self.folder, "bad"), {})).returncode, 2)
        with open(self.target, "rb") as file:
            self.assertEqual(file.read(), b"the old one")

    def test_a_target_that_cannot_be_written(self):
        done = build(os.path.join(self.folder, "nowhere", "out.pyz"))
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, b"", 1))

    def test_an_interpreter_that_is_none(self):
        self.refused("--compile-with", os.path.join(self.folder, "no-python"), says=["no-python"])

    def test_another_index(self):
        volume = {"summary": "s", "sections": [section("Install", "by reference")]}
        folder = write_index(os.path.join(self.folder, "mine"), index({**entry("alpha"), "volumes": {"1.0.0": reference("volumes/a.json", volume)}},
                                                                      entry("beta")), **{"volumes/a.json": volume})
        self.built("--index", folder)
        answer = json.loads(command("extract", "alpha", "--json", path=self.target).stdout)
        self.assertEqual((answer["sections"][0]["body"], answer["source"]["kind"]), ("by reference", "bundled"))
        self.assertEqual(command("releases", "express", path=self.target).returncode, 1)
        self.assertEqual(command("doctor", path=self.target).returncode, 0)

    def test_a_packed_file_is_an_index_to_pack_and_to_serve_from(self):
        self.built("--index", program())
        self.assertEqual(digest(self.target), digest(program()))
        self.assertEqual(command("--local-index", program(), "extract", "zod", path=self.target).returncode, 0)

    def test_the_archive_holds_what_it_must_and_nothing_private(self):
        with zipfile.ZipFile(program()) as archive:
            names = archive.namelist()
            self.assertIsNone(archive.testzip())
            self.assertEqual(len(names), len(set(names)))
            self.assertLessEqual({"__main__.py", "doctrove.py", f"{TAG}/doctrove.pyc", "data/index.json"}, set(names))
            self.assertEqual([name for name in names if name.startswith(("/", ".")) or ".." in name or "\\" in name], [])
            code = archive.read(f"{TAG}/doctrove.pyc")
        self.assertEqual(int.from_bytes(code[4:8], "little"), 1, "hash-based, and not held against the source")
        self.assertNotIn(ROOT.encode(), code)
        with open(program(), "rb") as file:
            self.assertTrue(file.readline().startswith(b"#!"))

    def test_what_processes_of_their_own_call_is_there(self):
        path = os.path.join(self.folder, "a.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write("# Title\n\nWords.\n")
        process = subprocess.Popen([sys.executable, *FLAGS, "-c", doctrove.WORKER, os.path.join(program(), TAG)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=clean_env())
        process.stdin.write(encode({"a.md": (path, "", "")}) + encode(["a.md", ""]))
        process.stdin.flush()
        line = process.stdout.readline()
        self.assertEqual((process.communicate(timeout=60)[1], process.returncode), (b"", 0))
        self.assertEqual(json.loads(line)[4], "Title")

    def test_a_large_folder_is_imported_by_the_packed_file(self):
        folder = os.path.join(self.folder, "docs")
        os.mkdir(folder)
        for number in range(4):
            with open(os.path.join(folder, f"{number}.md"), "w", encoding="utf-8") as file:
                file.write(f"# Page {number}\n\n" + "Words that fill a page. " * (doctrove.SHARED_BYTES // 90))
        done = command("--root", os.path.join(self.folder, "library"), "index", folder, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(json.loads(done.stdout)[0]["documents"], 4)

    def test_byte_code_for_others(self):
        others = other_interpreters()
        if not others:
            self.skipTest("there is no other Python 3.9 or newer on this machine")
        self.built(*(part for other in others for part in ("--compile-with", other)))
        for python in (sys.executable, *others):
            with self.subTest(python):
                done = subprocess.run([python, *FLAGS, self.target, "doctor", "--json"], stdin=subprocess.DEVNULL, capture_output=True, env=clean_env(),
                                      timeout=60)
                report = json.loads(done.stdout)
                self.assertEqual((done.returncode, report["program"]["byteCode"], report["problems"]), (0, "used", []))

    def test_an_interpreter_without_byte_code_takes_the_source(self):
        others = other_interpreters()
        if not others:
            self.skipTest("there is no other Python 3.9 or newer on this machine")
        for other in others:
            with self.subTest(other):
                done = subprocess.run([other, *FLAGS, program(), "doctor", "--json"], stdin=subprocess.DEVNULL, capture_output=True, env=clean_env(),
                                      timeout=60)
                report = json.loads(done.stdout)
                self.assertEqual((done.returncode, report["problems"]), (0, []))
                self.assertNotEqual(report["program"]["byteCode"], "used")

    def test_an_archive_without_this_byte_code_takes_the_source(self):
        with zipfile.ZipFile(program()) as old, zipfile.ZipFile(self.target, "w") as new:
            for name in old.namelist():
                if not name.endswith(".pyc"):
                    new.writestr(name, old.read(name))
        report = json.loads(command("doctor", "--json", path=self.target).stdout)
        self.assertNotEqual(report["program"]["byteCode"], "used")
        self.assertEqual(json.loads(command("extract", "express@4", "wildcard", "--json", path=self.target).stdout)["version"], "4.21.2")
        self.assertEqual(parse_line(command(path=self.target, stdin=None, input=encode(request("ping"))).stdout)["result"], {})

    def test_rehash_brings_references_up_to_date(self):
        volume = {"summary": "s", "sections": [section("Install", "new"), section("Use", "it")]}
        folder = write_index(os.path.join(self.folder, "mine"), index({**entry("alpha"), "volumes": {"1.0.0": {"href": "a.json", "sha256": "0" * 64}}}),
                             **{"a.json": volume})
        self.assertEqual(build(self.target, "--index", folder).returncode, 2)
        self.built("--rehash", "--index", folder)
        with open(os.path.join(folder, "index.json"), encoding="utf-8") as file:
            row = json.load(file)["entries"][0]["volumes"]["1.0.0"]
        data = as_bytes(volume)
        self.assertEqual((row["sha256"], row["bytes"], row["sections"]), (hashlib.sha256(data).hexdigest(), len(data), 2))


class Runs(unittest.TestCase):
    """Wherever the file lies and however it is started."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = os.path.realpath(holder.name)

    def answers(self, path, *flags, cwd=None, env=None):
        done = command("extract", "express@4.21.2", "wildcard", "--json", path=path, flags=flags, cwd=cwd, env=env)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(json.loads(done.stdout)["version"], "4.21.2")
        served = command(path=path, flags=flags, cwd=cwd, env=env, stdin=None, input=encode(initialize("2025-11-25")) + encode(tool_call("catalog_lookup",
                                                                                                                                         {"query": "zod"}, 1)))
        self.assertEqual((served.returncode, served.stderr), (0, b""))
        self.assertEqual([parse_line(line)["id"] for line in served.stdout.splitlines(keepends=True)], [0, 1])

    def copy(self, *names):
        path = os.path.join(self.folder, *names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copyfile(program(), path)
        return path

    def test_isolated_and_without_site(self):
        for flags in ((), ("-I",), ("-I", "-S"), ("-OO", "-B"), ("-bb", "-X", "utf8=0")):
            with self.subTest(flags):
                self.answers(program(), *flags)

    def test_from_another_folder(self):
        self.answers(program(), "-I", cwd=self.folder)
        self.answers(os.path.relpath(program(), self.folder), "-I", cwd=self.folder)

    def test_spaces_and_letters_beyond_ascii_in_the_path(self):
        for names in (("a folder with spaces", "doc trove.pyz"), ("größe 文档 ñ", "документ.pyz"), ("quote'\"%20#?&", "x.pyz") if os.name != "nt"
                      else ("plus+%20#&", "x.pyz")):
            with self.subTest(names):
                self.answers(self.copy(*names), *FLAGS)

    @unittest.skipIf(os.name == "nt", "Windows has no C locale")
    def test_letters_beyond_ascii_in_the_path_and_the_c_locale(self):
        self.answers(self.copy("größe 文档", "x.pyz"), env=clean_env(LC_ALL="C", PYTHONUTF8="0"))

    def test_another_name(self):
        self.answers(self.copy("docs"), *FLAGS)
        self.answers(self.copy("docs.zip"), *FLAGS)

    def test_read_only_file_and_folder(self):
        path = self.copy("locked", "doctrove.pyz")
        before = digest(path)
        os.chmod(path, stat.S_IREAD)
        os.chmod(os.path.dirname(path), stat.S_IREAD | stat.S_IEXEC)
        try:
            self.answers(path, "-I")
            self.assertEqual(os.listdir(os.path.dirname(path)), ["doctrove.pyz"])
        finally:
            os.chmod(os.path.dirname(path), stat.S_IRWXU)
            os.chmod(path, stat.S_IRWXU)
        self.assertEqual(digest(path), before)

    @unittest.skipIf(os.name == "nt", "Windows starts files by their ending")
    def test_the_file_itself_is_a_program(self):
        self.assertTrue(os.stat(program()).st_mode & stat.S_IXUSR)

    def test_a_link_to_it(self):
        path = os.path.join(self.folder, "linked.pyz")
        try:
            os.symlink(program(), path)
        except OSError as error:
            self.skipTest(f"links cannot be made here: {error}")
        self.answers(path, *FLAGS)

    def test_files_beside_it_do_not_get_in_the_way(self):
        path = self.copy("beside", "doctrove.pyz")
        for name in ("json.py", "doctrove.py", "os.py", "zlib.py", "threading.py"):
            with open(os.path.join(self.folder, "beside", name), "w") as file:
                file.write("raise SystemExit('shadowed')\n")
        self.answers(path, *FLAGS, cwd=os.path.dirname(path))
        self.answers(path, cwd=os.path.dirname(path))

    def test_byte_code_is_used(self):
        for flags in (FLAGS, ("-I",), ()):
            self.assertEqual(json.loads(command("doctor", "--json", flags=flags).stdout)["program"]["byteCode"], "used")

    def running(self, path):
        """A server that runs from `path` and has answered once."""
        process = subprocess.Popen([sys.executable, *FLAGS, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_env(),
                                   bufsize=0)
        process.stdin.write(encode(request("ping")))
        line = b""
        while not line.endswith(b"\n"):
            line += process.stdout.read(1)
        return process

    def test_a_running_server_goes_on_when_the_file_is_replaced(self):
        path = self.copy("replaced", "doctrove.pyz")
        other = os.path.join(self.folder, "other.pyz")
        with zipfile.ZipFile(other, "w") as archive:
            archive.writestr("__main__.py", "raise SystemExit('another program')\n")
        with self.running(path) as process:
            try:
                os.replace(other, path)
            except OSError as error:
                process.kill()
                self.skipTest(f"a file in use cannot be replaced here: {error}")
            # Each of the later ones needs a part of the program that was not loaded when the file was replaced.
            asked = [initialize("2025-11-25"), tool_call("doc_extract", {"id": "express"}, 1), tool_call("catalog_lookup", {"query": "validate"}, 2),
                     request("resources/list", id=3)]
            out, errors = process.communicate(b"".join(map(encode, asked)), timeout=60)
        self.assertEqual((process.returncode, errors), (0, b""))
        _, extracted, found, listed = (parse_line(line)["result"] for line in out.splitlines(keepends=True))
        self.assertIs(extracted["isError"], False)
        self.assertEqual(extracted["structuredContent"]["id"], "express")
        self.assertEqual(found["structuredContent"]["results"][0]["id"], "zod")
        self.assertTrue(listed["resources"])

    def test_a_running_server_says_that_the_file_was_overwritten(self):
        path = self.copy("overwritten", "doctrove.pyz")
        with self.running(path) as process:
            with open(path, "wb") as file:
                file.write(b"#!/x\n" + b"PK\3\4" * 100)
            asked = [initialize("2025-11-25"), tool_call("doc_extract", {"id": "express"}, 1), request("resources/list", id=2)]
            out, errors = process.communicate(b"".join(map(encode, asked)), timeout=60)
        self.assertEqual((process.returncode, errors), (0, b""))
        _, extracted, listed = (parse_line(line) for line in out.splitlines(keepends=True))
        for message in (extracted["result"]["structuredContent"]["error"]["message"], listed["error"]["message"]):
            self.assertIn("was overwritten while this server runs from it: restart", message)


class Start(unittest.TestCase):

    def run_timed(self, path, *options, data=b""):
        done = subprocess.run([sys.executable, *FLAGS, "-X", "importtime", path, *options], input=data, capture_output=True, env=clean_env(), timeout=60)
        self.assertEqual(done.returncode, 0)
        return done.stdout, set(re.findall(r"^import time:\s+\d+ \|\s+\d+ \|\s+(\S+)$", done.stderr.decode("utf-8"), flags=re.MULTILINE))

    def imported(self, messages, *options):
        """The answers, and the modules that a server imports between its start and its end beyond those that the interpreter takes to run any archive."""
        with tempfile.TemporaryDirectory() as folder:
            empty = os.path.join(folder, "empty.pyz")
            with zipfile.ZipFile(empty, "w") as archive:
                archive.writestr("__main__.py", "")
            _, always = self.run_timed(empty)
        output, modules = self.run_timed(program(), *options, data=b"".join(map(encode, messages)))
        answers = [parse_line(line) for line in output.splitlines(keepends=True)]
        self.assertEqual(len(answers), sum("id" in message for message in messages))
        return answers, modules - always

    def test_a_start_imports_nothing_that_it_does_not_need(self):
        answers, modules = self.imported([initialize("2025-11-25"), {"jsonrpc": "2.0", "method": "notifications/initialized"}, request("tools/list", id=1),
                                          tool_call("doc_extract", {"id": "express", "version": "5", "focus": "wildcard"}, 2)])
        self.assertTrue(answers[2]["result"]["structuredContent"]["sections"])
        self.assertIn("json", modules)
        self.assertIn("doctrove", modules)
        self.assertEqual(sorted(name for name in modules if name.split(".")[0] in FORBIDDEN), [])

    def test_the_same_in_the_stateless_era_and_with_chinese(self):
        from processes import ENVELOPE
        _, modules = self.imported([request("server/discover", {"_meta": ENVELOPE}, 1), tool_call("doc_extract", {"id": "express", "focus": "通配符"}, 2,
                                                                                                  _meta=ENVELOPE)], "--lang", "zh")
        self.assertEqual(sorted(name for name in modules if name.split(".")[0] in FORBIDDEN), [])

    def test_the_packed_module_is_this_checkout(self):
        self.assertIn(doctrove.__version__, command("--version").stdout.decode())
        self.assertEqual(exchange([initialize("2025-11-25")]).by_id(0)["result"]["serverInfo"]["version"], doctrove.__version__)


if __name__ == "__main__":
    unittest.main()
