"""pack: a new single file with other documentation in it. It answers from what was packed, alone and with nothing around it, and a bad
input leaves no file behind."""
from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
import zipfile

from processes import (
    FLAGS,
    ROOT,
    as_bytes,
    build,
    clean_env,
    command,
    encode,
    entry,
    index,
    initialize,
    other_interpreters,
    parse_line,
    program,
    reference,
    section,
    tool_call,
    write_index,
)
from support import doctrove, make_folder, put

TAG = sys.implementation.cache_tag
ALONE = ("unshare", "-n")


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def page(title, *words):
    return f"# {title}\n\n" + "\n".join(f"## {title} {word}\n\nHow {title.lower()} does {word}.\n" for word in words)


class Packing(unittest.TestCase):
    """What the tests below share: a folder, the packed file that is asked for, and documentation."""

    def setUp(self):
        self.folder = make_folder(self)
        self.target = os.path.join(self.folder, "docs.pyz")
        self.gizmo = put(os.path.join(self.folder, "src", "gizmo-1.2"), {"a.md": page("Gizmo", "start", "stop"), "b.md": page("Valve", "open")})

    def pack(self, *arguments, path=None, **options):
        return command("pack", "-o", self.target, *arguments, path=path, **options)

    def packed(self, *arguments, **options):
        """The report of a pack that must be made."""
        done = self.pack("--json", *arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return json.loads(done.stdout)

    def refused(self, *arguments, code=2, says=(), **options):
        """A pack that must not be made: one line says why, and nothing is left."""
        before = self.files()
        done = self.pack(*arguments, **options)
        text = done.stderr.decode("utf-8")
        self.assertEqual((done.returncode, done.stdout), (code, b""), text)
        for part in says:
            self.assertIn(part, text)
        self.assertNotIn("Traceback", text)
        self.assertEqual(self.files(), before)
        return text

    def files(self):
        return {name: digest(os.path.join(self.folder, name)) for name in os.listdir(self.folder) if os.path.isfile(os.path.join(self.folder, name))}

    def extract(self, *arguments, path=None):
        done = command("extract", *arguments, "--json", path=path or self.target)
        return json.loads(done.stdout)


class Pack(Packing):

    def test_a_folder_becomes_a_file_that_answers_from_it(self):
        report = self.packed(self.gizmo)
        self.assertEqual({name: report[name] for name in ("file", "doctrove", "missing")},
                         {"file": self.target, "doctrove": doctrove.__version__, "missing": []})
        self.assertEqual((report["sha256"], report["bytes"]), (digest(self.target), os.path.getsize(self.target)))
        self.assertIn(TAG, report["byteCode"])
        self.assertEqual(report["asked"], {"id": "gizmo", "version": "1.2"})
        answer = self.extract("gizmo", "valve open")
        self.assertEqual((answer["version"], answer["source"]["kind"], answer["sections"][0]["heading"]), ("1.2", "bundled", "Valve open"))
        self.assertEqual(self.extract("express", "wildcard")["id"], "express")
        doctor = json.loads(command("doctor", "--json", path=self.target).stdout)
        self.assertEqual((doctor["problems"], doctor["program"]["byteCode"]), ([], "used"))

    def test_an_installed_package_goes_in(self):
        site = put(os.path.join(self.folder, "site-packages"), {
            "pumps.py": '"""Pumps."""\n\n\ndef prime(level: int = 3) -> bool:\n    """Fill the pump."""\n',
            "pumps-1.4.dist-info/METADATA": "Metadata-Version: 2.1\nName: pumps\nVersion: 1.4\n",
            "pumps-1.4.dist-info/RECORD": "pumps.py,,\npumps-1.4.dist-info/METADATA,,\npumps-1.4.dist-info/RECORD,,\n"})
        report = self.packed("pypi:pumps", "--site-packages", site, "--no-bundled")
        self.assertEqual([(row["id"], row["version"]) for row in report["holds"]], [("pumps", "1.4")])
        self.assertIn("prime(level: int = 3) -> bool", self.extract("pumps", "pumps.prime")["sections"][0]["body"])
        with zipfile.ZipFile(self.target) as archive:
            self.assertNotIn(self.folder.encode(), b"".join(archive.read(name) for name in archive.namelist() if name.startswith("data/")))

    def test_all_that_is_named_goes_in(self):
        root, other = os.path.join(self.folder, "library"), write_index(os.path.join(self.folder, "index"), index(entry("alpha", "2.0", "1.0")))
        command("--root", root, "index", self.gizmo, "--as", "pump@3")
        report = self.packed("--root", root, "--index", other, self.gizmo, "--as", "gizmo@9", "--no-bundled")
        self.assertEqual([(row["id"], row["version"], row["from"]) for row in report["holds"]],
                         [("gizmo", "9", "imported"), ("alpha", "2.0", "index"), ("alpha", "1.0", "index"), ("pump", "3", "library")])
        self.assertEqual(self.extract("alpha@1", "install")["sections"][0]["body"], "Install alpha 1.0 first.")

    def test_a_library_in_the_environment_counts_where_nothing_else_is_named(self):
        root = os.path.join(self.folder, "library")
        command("--root", root, "index", self.gizmo, "--as", "pump@3")
        env = clean_env(DOCTROVE_ROOT=root)
        self.assertEqual([row["id"] for row in self.packed("--no-bundled", env=env)["holds"]], ["pump"])
        self.assertEqual([row["id"] for row in self.packed("--no-bundled", self.gizmo, env=env)["holds"]], ["gizmo"])

    def test_repeated_it_gives_the_same_bytes_wherever_the_sources_lie(self):
        first = self.packed(self.gizmo, "--as", "gizmo@1")
        elsewhere = os.path.join(self.folder, "elsewhere")
        shutil.copytree(self.gizmo, elsewhere)
        os.utime(os.path.join(elsewhere, "a.md"), (1, 1))
        self.target = os.path.join(self.folder, "other.pyz")
        second = self.packed(elsewhere, "--as", "gizmo@1")
        self.assertEqual(first["sha256"], second["sha256"])

    def test_nothing_of_this_machine_goes_in(self):
        self.packed(self.gizmo)
        with zipfile.ZipFile(self.target) as archive:
            held = b"".join(archive.read(name) for name in archive.namelist() if name.startswith("data/"))
        self.assertIn(b"How gizmo does start", held)
        for private in (self.folder, os.path.basename(self.folder), '"stamp"'):
            self.assertNotIn(private.encode(), held)

    def test_versions_of_an_entry_that_is_bundled_too_stand_side_by_side(self):
        source = put(os.path.join(self.folder, "src", "express"), {"a.md": page("Express", "wildcard")})
        report = self.packed(source, "--as", "express@4.21.2")
        self.assertEqual([(row["version"], row["from"]) for row in report["holds"] if row["id"] == "express"], [("5.1.0", "bundled"), ("4.21.2", "imported")])
        self.assertEqual(self.extract("express@4", "wildcard")["sections"][0]["body"], "How express does wildcard.")
        self.assertIn("wildcard", json.dumps(self.extract("expressjs@5", "wildcard")["sections"]))
        shown = self.pack(source, "--as", "express@4.21.2").stdout.decode()
        self.assertRegex(shown, r"bundled index: express 5\.1\.0, (?!express)")

    def test_without_bundled_only_what_was_packed_is_there(self):
        self.packed(self.gizmo, "--no-bundled")
        self.assertEqual(command("releases", "express", path=self.target).returncode, 1)
        self.assertEqual(json.loads(command("repos", "--json", path=self.target).stdout)["total"], 1)

    def test_a_packed_file_packs_the_next_one_and_itself_anew(self):
        self.packed(self.gizmo)
        running = os.path.join(self.folder, "running.pyz")
        shutil.copyfile(self.target, running)
        self.target = running
        try:
            self.packed(self.gizmo, "--as", "pump@3", path=running)
        except AssertionError:
            if os.name == "nt":
                self.skipTest("Windows does not let a running file be replaced")
            raise
        self.assertEqual({row["repo"] for row in json.loads(command("repos", "--json", path=running).stdout)["repos"]},
                         {"gizmo", "pump", "express", "zod", "dayjs"})

    def test_it_needs_no_checkout(self):
        alone = os.path.join(self.folder, "alone")
        os.mkdir(alone)
        shutil.copyfile(program(), os.path.join(alone, "doctrove.pyz"))
        self.packed(self.gizmo, path="doctrove.pyz", cwd=alone)
        self.assertEqual(self.extract("gizmo@1", "start")["sections"][0]["heading"], "Gizmo start")

    def test_a_checkout_packs_the_same_file(self):
        first = self.packed(self.gizmo)
        self.assertEqual(self.packed(self.gizmo, path=os.path.join(ROOT, "doctrove.py"))["sha256"], first["sha256"])

    def test_volumes_inside_the_index_get_files_of_their_own(self):
        self.packed("--index", write_index(os.path.join(self.folder, "index"), index(entry("alpha", "2.0", "1.0"))), "--no-bundled")
        with zipfile.ZipFile(self.target) as archive:
            data = {name: archive.read(name) for name in archive.namelist() if name.startswith("data/")}
        volumes = json.loads(data["data/index.json"])["entries"][0]["volumes"]
        self.assertEqual(len(data), 3)
        for volume in volumes.values():
            self.assertEqual(hashlib.sha256(data["data/" + volume["href"]]).hexdigest(), volume["sha256"])

    def test_the_index_keeps_its_date_and_unknown_members(self):
        folder = write_index(os.path.join(self.folder, "index"), index(entry("alpha", aliases=["a1"], colour="red")))
        self.packed("--index", folder, "--no-bundled")
        with zipfile.ZipFile(self.target) as archive:
            held = json.loads(archive.read("data/index.json"))
        self.assertEqual((held["updatedAt"], held["entries"][0]["aliases"], held["entries"][0]["colour"]), ("2026-08-16T00:00:00.000Z", ["a1"], "red"))

    def test_ids_that_make_the_same_file_name_do_not_meet(self):
        one, two = section("One", "first"), section("Two", "second")
        folder = write_index(os.path.join(self.folder, "index"), index(
            {**entry("a-b", "c"), "volumes": {"c": {"sections": [one]}}}, {**entry("a", "b-c"), "volumes": {"b-c": {"sections": [one]}}},
            {**entry("A-B", "c"), "volumes": {"c": {"sections": [two]}}}))
        self.packed("--index", folder, "--no-bundled")
        self.assertEqual([self.extract(id)["sections"][0]["body"] for id in ("a-b@c", "a@b-c", "A-B@c")], ["first", "first", "second"])

    def test_byte_code_is_added_for_the_interpreter_that_packs_and_for_those_named(self):
        others = other_interpreters()
        if not others:
            self.skipTest("there is no other Python 3.9 or newer on this machine")
        done = subprocess.run([others[0], *FLAGS, program(), "pack", self.gizmo, "-o", self.target, "--json"], stdin=subprocess.DEVNULL, capture_output=True,
                              env=clean_env(), timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(len(json.loads(done.stdout)["byteCode"]), 2)
        named = self.packed(self.gizmo, *(part for other in others for part in ("--compile-with", other)))
        self.assertEqual(len(named["byteCode"]), 1 + len(others))
        for python in (sys.executable, *others):
            with self.subTest(python):
                report = json.loads(subprocess.run([python, *FLAGS, self.target, "doctor", "--json"], stdin=subprocess.DEVNULL, capture_output=True,
                                                   env=clean_env(), timeout=60).stdout)
                self.assertEqual((report["program"]["byteCode"], report["problems"]), ("used", []))

    def test_byte_code_added_by_a_pack_is_that_of_a_build(self):
        others = other_interpreters()
        if not others:
            self.skipTest("there is no other Python 3.9 or newer on this machine")
        whole = os.path.join(self.folder, "whole.pyz")
        self.assertEqual(build(whole, "--compile-with", others[0]).returncode, 0)
        self.packed(self.gizmo, "--compile-with", others[0])
        with zipfile.ZipFile(whole) as one, zipfile.ZipFile(self.target) as two:
            for name in one.namelist():
                if name.endswith(".pyc"):
                    self.assertEqual(one.read(name), two.read(name), name)


class Pinned(Packing):
    """What a project pins."""

    def setUp(self):
        super().setUp()
        lock = {"name": "p", "lockfileVersion": 3, "packages": {
            "": {"dependencies": {"gadget": "^2.0.0"}}, "node_modules/gadget": {"version": "2.1.3", "dependencies": {"deep": "1"}},
            "node_modules/deep": {"version": "1.0.0"}}}
        self.project = put(os.path.join(self.folder, "project"), {
            "package.json": json.dumps({"name": "p", "dependencies": {"gadget": "^2.0.0"}}), "package-lock.json": json.dumps(lock),
            **{f"node_modules/{name}/package.json": json.dumps({"name": name, "version": version, "main": "index.js"})
               for name, version in (("gadget", "2.1.3"), ("deep", "1.0.0"))},
            "node_modules/gadget/README.md": page("Gadget", "turn"), "node_modules/deep/README.md": page("Deep", "dive")})

    def test_the_installed_copies_go_in(self):
        report = self.packed("--project", self.project, "--no-bundled")
        self.assertEqual([(row["id"], row["version"]) for row in report["holds"]], [("gadget", "2.1.3")])
        self.assertEqual(self.extract("gadget", "turn")["sections"][0]["heading"], "Gadget turn")
        both = self.packed("--project", self.project, "--all", "--no-bundled")
        self.assertEqual({row["id"] for row in both["holds"]}, {"gadget", "deep"})

    def test_one_that_is_not_installed_is_named(self):
        shutil.rmtree(os.path.join(self.project, "node_modules", "deep"))
        self.refused("--project", self.project, "--all", code=1, says=["npm:deep", "--keep-going"])
        done = self.pack("--project", self.project, "--all", "--keep-going", "--json")
        self.assertEqual((done.returncode, [row["source"] for row in json.loads(done.stdout)["missing"]]), (1, ["npm:deep"]))

    def test_a_project_in_the_environment_counts_where_nothing_else_is_named(self):
        env = clean_env(DOCTROVE_PROJECT=self.project)
        self.assertEqual([row["id"] for row in self.packed("--no-bundled", env=env)["holds"]], ["gadget"])
        self.assertEqual([row["id"] for row in self.packed("--no-bundled", self.gizmo, env=env)["holds"]], ["gizmo"])


class List(Packing):

    def test_it_names_every_version_with_its_figures(self):
        report = self.packed(self.gizmo)
        listed = json.loads(command("pack", "--list", self.target, "--json").stdout)
        self.assertEqual(listed["holds"], [{name: value for name, value in row.items() if name != "from"} for row in report["holds"]])
        self.assertEqual({name: listed[name] for name in ("doctrove", "sha256", "byteCode", "versions")},
                         {name: report[name] for name in ("doctrove", "sha256", "byteCode", "versions")})
        shown = command("pack", "--list", self.target).stdout.decode()
        for part in ("gizmo 1.2", "express 5.1.0", TAG, doctrove.__version__, report["holds"][0]["sha256"]):
            self.assertIn(part, shown)

    def test_a_file_with_its_volumes_in_the_index(self):
        other = os.path.join(self.folder, "other.pyz")
        self.assertEqual(build(other, "--index", write_index(os.path.join(self.folder, "index"), index(entry("alpha")))).returncode, 0)
        rows = json.loads(command("pack", "--list", other, "--json").stdout)["holds"]
        self.assertEqual([(row["id"], row["version"], row["sections"]) for row in rows], [("alpha", "1.0.0", 1)])

    def test_what_is_no_packed_file(self):
        index_only = os.path.join(self.folder, "index.zip")
        with zipfile.ZipFile(index_only, "w") as archive:
            archive.writestr("index.json", as_bytes(index(entry("alpha"))))
        for path in (self.gizmo, os.path.join(self.gizmo, "a.md"), index_only, os.path.join(self.folder, "nowhere")):
            with self.subTest(path):
                done = command("pack", "--list", path)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, b"", 1))
                self.assertIn(os.path.basename(path), done.stderr.decode())


class Bad(Packing):
    """Bad input: said in one line, and nothing is written."""

    def test_usage(self):
        for arguments, says in ((("pack", self.gizmo), "-o FILE"), (("pack", "-o", self.target), "--index PATH"),
                                (("pack", "-o", self.target, self.gizmo, self.gizmo, "--as", "a@1"), "--as"), (("pack", "-o", "", self.gizmo), "-o FILE")):
            with self.subTest(arguments):
                done = command(*arguments)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, b"", 1))
                self.assertIn(says, done.stderr.decode())
        self.assertEqual(self.files(), {})

    def test_a_target_that_cannot_be_written(self):
        for target in (os.path.join(self.folder, "nowhere", "docs.pyz"), self.folder):
            with self.subTest(target):
                self.target = target
                self.refused(self.gizmo, says=["cannot write", os.path.basename(target)])
        if os.name != "nt" and os.geteuid():
            os.chmod(self.gizmo, 0o500)
            self.addCleanup(os.chmod, self.gizmo, 0o700)
            self.target = os.path.join(self.gizmo, "docs.pyz")
            self.refused("--index", program(), says=["cannot write"])

    def test_a_target_that_cannot_be_written_is_said_before_the_work(self):
        self.target = os.path.join(self.folder, "nowhere", "docs.pyz")
        self.refused(os.path.join(self.folder, "no-source"), says=["cannot write"])

    def test_a_source_that_fails(self):
        text = self.refused(self.gizmo, os.path.join(self.folder, "no-source"), code=1, says=["no-source", "--keep-going", self.target])
        self.assertEqual(len(text.splitlines()), 2)

    def test_keep_going_packs_the_others_and_says_what_is_missing(self):
        done = self.pack(self.gizmo, os.path.join(self.folder, "no-source"), "--keep-going", "--json")
        self.assertEqual(done.returncode, 1)
        report = json.loads(done.stdout)
        self.assertEqual([os.path.basename(row["source"]) for row in report["missing"]], ["no-source"])
        self.assertEqual(self.extract("gizmo", "start")["version"], "1.2")
        self.assertIn("MISSING", self.pack(self.gizmo, os.path.join(self.folder, "no-source"), "--keep-going").stdout.decode())

    def test_keep_going_with_nothing_left(self):
        self.refused(os.path.join(self.folder, "no-source"), "--keep-going", says=["no-source", "name what to pack"])

    def test_an_index_with_a_fault_is_named(self):
        volume = {"sections": [section("a", "b")]}
        alpha = entry("alpha")
        cases = {
            "format": (index(alpha) | {"format": "x"}, {}, ["$.format"]),
            "missing": (index({**alpha, "volumes": {"1.0.0": reference("a.json", volume)}}), {}, ["a.json"]),
            "changed": (index({**alpha, "volumes": {"1.0.0": reference("a.json", volume)}}), {"a.json": b"{}"}, ['volumes["1.0.0"].sha256']),
            "volume": (index({**alpha, "volumes": {"1.0.0": reference("a.json", {"sections": [7]})}}), {"a.json": {"sections": [7]}}, ["sections[0]"]),
            "empty": (index(), {}, ["nothing to pack"]),
            "twice": (index(alpha, alpha), {}, ["$.entries[1].id"]),
        }
        for name, (value, files, says) in cases.items():
            with self.subTest(name):
                self.refused("--index", write_index(os.path.join(self.folder, "bad", name), value, **files), says=says)
        self.refused("--index", os.path.join(self.folder, "nowhere"), says=["nowhere"])
        self.refused("--root", os.path.join(self.folder, "nowhere"), says=["nowhere"])

    def test_a_refused_pack_leaves_the_old_file(self):
        self.packed(self.gizmo)
        self.refused("--index", write_index(os.path.join(self.folder, "bad"), {}))
        self.assertEqual(self.extract("gizmo")["version"], "1.2")

    def test_a_file_that_does_not_answer_is_not_left(self):
        mute = os.path.join(self.folder, "mute.pyz")
        with zipfile.ZipFile(program()) as old, zipfile.ZipFile(mute, "w") as new:
            for name in old.namelist():
                data = old.read(name)
                new.writestr(name, b"import sys\nif len(sys.argv) < 2: sys.exit('out of order')\n" + data if name == "__main__.py" else data)
        self.refused(self.gizmo, path=mute, says=["gizmo 1.2", "out of order", self.target])

    def test_the_new_file_is_asked_without_the_settings_of_this_process(self):
        self.packed(self.gizmo, env=clean_env(DOCTROVE_ONLY="zod", DOCTROVE_ANSWERS="text"))

    @unittest.skipIf(os.name == "nt", "Windows has no limit on the size of files")
    def test_a_full_disk(self):
        import resource
        self.refused("--index", program(), says=["cannot write"], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000)))

    @unittest.skipIf(os.name == "nt", "Windows has no such signal")
    def test_an_interrupt_leaves_nothing(self):
        for moment in (0.3, 0.6):
            process = subprocess.Popen([sys.executable, *FLAGS, program(), "pack", "-o", self.target, self.gizmo], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_env())
            try:
                process.wait(moment)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
            self.assertIn(process.returncode, (0, 130))
            self.assertEqual([name for name in self.files() if name != "docs.pyz"], [])

    def test_kill_at_any_moment_leaves_the_old_or_the_new_file(self):
        moments, states = random.Random(5), set()
        known = {}
        for id in ("one", "two"):
            started = time.monotonic()
            self.packed(self.gizmo, "--as", f"{id}@1")
            took, known[digest(self.target)] = time.monotonic() - started, id
        for turn in range(8):
            process = subprocess.Popen([sys.executable, *FLAGS, program(), "pack", "-o", self.target, self.gizmo, "--as", f"{('one', 'two')[turn % 2]}@1"],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_env())
            try:
                process.wait(moments.uniform(0.3, 1.1) * took)
            except subprocess.TimeoutExpired:
                process.kill()
            process.wait()
            states.add(known[digest(self.target)])
        self.assertTrue(states)


class Alone(Packing):
    """Where nothing else is: only the file, in a folder that cannot be written, without a home and without a network."""

    def setUp(self):
        super().setUp()
        self.valve = put(os.path.join(self.folder, "src", "valve-7"), {f"{name}.md": page(f"Part {name}", "install", "upgrade") for name in "abcde"})
        self.packed(self.gizmo, self.valve)
        self.empty = os.path.join(self.folder, "empty")
        os.mkdir(self.empty)
        shutil.move(self.target, self.empty)
        self.target = os.path.join(self.empty, "docs.pyz")

    def ask(self, prefix=()):
        """Ten questions over standard input and output; the answers in order."""
        questions = [("gizmo", "1", "gizmo start", "Gizmo start"), ("gizmo", "1.2", "gizmo stop", "Gizmo stop"), ("gizmo", None, "valve open", "Valve open"),
                     *(("valve", "7", f"part {name} install", f"Part {name} install") for name in "abcde"),
                     ("valve", None, "upgrade part b", "Part b upgrade"), ("gizmo", None, "#b/valve-open", "Valve open")]
        messages = [initialize("2025-11-25"), {"jsonrpc": "2.0", "method": "notifications/initialized"},
                    *(tool_call("doc_extract", {"id": id, "focus": focus, **({"version": version} if version else {})}, at)
                      for at, (id, version, focus, _) in enumerate(questions, 1))]
        env = {name: value for name, value in clean_env().items() if name.upper() not in ("HOME", "USERPROFILE", "HOMEPATH", "HOMEDRIVE", "TMPDIR")}
        done = subprocess.run([*prefix, sys.executable, *FLAGS, "docs.pyz"], input=b"".join(map(encode, messages)), capture_output=True, cwd=self.empty,
                              env=env, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        answers = {line["id"]: line["result"]["structuredContent"] for line in map(parse_line, done.stdout.splitlines(keepends=True)[1:])}
        for at, (id, _, focus, heading) in enumerate(questions, 1):
            with self.subTest(focus):
                self.assertEqual((answers[at]["id"], answers[at]["version"]), (id, {"gizmo": "1.2", "valve": "7"}[id]))
                self.assertEqual(answers[at]["sections"][0]["heading"], heading)
        self.assertEqual(os.listdir(self.empty), ["docs.pyz"])

    def test_in_a_folder_that_cannot_be_written(self):
        os.chmod(self.target, 0o400)
        os.chmod(self.empty, 0o500)
        self.addCleanup(os.chmod, self.empty, 0o700)
        self.addCleanup(os.chmod, self.target, 0o700)
        self.ask()

    def test_without_any_network(self):
        try:
            reason = subprocess.run([*ALONE, "true"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20).stderr.decode()
        except OSError as error:
            reason = str(error)
        if reason:
            self.skipTest(f"a network cannot be taken away here: {reason.strip()}")
        self.ask(ALONE)

    def test_on_a_file_system_that_cannot_be_written(self):
        script = 'mount --bind "$PWD" "$PWD" && mount -o remount,bind,ro "$PWD" && cd "$PWD" && { ! touch probe 2>/dev/null; } && exec "$@"'
        prefix = ("unshare", "-n", "-m", "sh", "-c", script, "sh")
        try:
            reason = subprocess.run([*prefix, "true"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, cwd=self.empty)
            reason = reason.stderr.decode().strip() or reason.returncode
        except OSError as error:
            reason = str(error)
        if reason:
            self.skipTest(f"a file system cannot be made read-only here: {reason}")
        self.ask(prefix)

    def test_a_volume_is_read_when_it_is_asked_for_and_not_before(self):
        with zipfile.ZipFile(self.target) as archive:
            info = next(info for info in archive.infolist() if info.filename.startswith("data/volumes/valve-"))
        with open(self.target, "r+b") as file:
            file.seek(info.header_offset + 30)
            while not re.search(rb"\.json$", file.read(info.header_offset + 30 + len(info.filename) - file.tell())):
                self.fail("the member is elsewhere")
            file.write(b"\xff" * info.compress_size)
        messages = [initialize("2025-11-25"), tool_call("catalog_lookup", {"query": "valve"}, 1),
                    tool_call("doc_extract", {"id": "gizmo", "focus": "start"}, 2), tool_call("doc_extract", {"id": "valve", "focus": "install"}, 3)]
        done = command(path=self.target, stdin=None, input=b"".join(map(encode, messages)))
        results = {line["id"]: line["result"] for line in map(parse_line, done.stdout.splitlines(keepends=True)[1:])}
        self.assertEqual([results[number]["isError"] for number in (1, 2, 3)], [False, False, True])
        self.assertEqual(results[2]["structuredContent"]["sections"][0]["heading"], "Gizmo start")


if __name__ == "__main__":
    unittest.main()
