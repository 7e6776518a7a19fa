"""What a project pins: lock files and manifests, the version that an entry is asked for in, and the installed copies in the library."""
from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from processes import Server, command
from support import ROOT, doctrove, load_cases, make_folder, open_catalog, write_index

# What the markers in the fixtures are held against.
LINUX = {"python_version": "3.12", "python_full_version": "3.12.1", "sys_platform": "linux", "platform_system": "Linux", "os_name": "posix",
         "platform_machine": "x86_64", "implementation_name": "cpython", "platform_python_implementation": "CPython"}
PROJECTS = os.path.join(ROOT, "tests", "fixtures", "projects")
WHOLE = 100_000  # characters of hostile text
PATIENCE = 5.0  # seconds of this process for one of them; what grows faster than the text takes minutes


def put(folder: str, files: dict[str, Any]) -> str:
    """Writes files (path -> text, bytes, or an object as JSON) below `folder`, which is returned."""
    for path, content in files.items():
        where = os.path.join(folder, *path.split("/"))
        os.makedirs(os.path.dirname(where), exist_ok=True)
        data = content if isinstance(content, bytes) else content.encode() if isinstance(content, str) else json.dumps(content).encode()
        with open(where, "wb") as file:
            file.write(data)
    return folder


def describe(pins: Any) -> list[str]:
    """The lines of a fixture's pins.txt: package, version, exact or range, direct or transitive, file, groups; the faults, the warnings, and what
    markers want elsewhere."""
    lines = [[f"{pin.ecosystem}:{pin.name}", pin.version or "*", "exact" if pin.exact else "range", "direct" if pin.direct else "transitive", pin.file,
              *pin.groups] for pin in pins.pins]
    return [" ".join(line) for line in lines] + [f"fault {fault}" for fault in pins.faults] + [f"warning {fault}" for fault in pins.warnings] + [
        f"elsewhere {name}" for name in pins.elsewhere]


def npm_lock(*packages: tuple[str, str], **root: Any) -> dict[str, Any]:
    return {"lockfileVersion": 3, "packages": {"": root, **{f"node_modules/{name}": {"version": version} for name, version in packages}}}


class ProjectCase(unittest.TestCase):
    def project(self, files: dict[str, Any]) -> str:
        return put(make_folder(self), files)

    def pins(self, files: dict[str, Any]) -> Any:
        return doctrove.Pins(self.project(files))


class Files(ProjectCase):
    def test_each_fixture_pins_what_it_says(self) -> None:
        names = sorted(os.listdir(PROJECTS))
        self.assertGreater(len(names), 20)
        for name in names:
            with self.subTest(name), open(os.path.join(PROJECTS, name, "pins.txt"), encoding="utf-8") as file:
                self.assertEqual(describe(doctrove.Pins(os.path.join(PROJECTS, name), LINUX)), file.read().splitlines())

    def test_lines_may_end_as_windows_has_them(self) -> None:
        for name in sorted(os.listdir(PROJECTS)):
            folder = os.path.join(make_folder(self), name)
            shutil.copytree(os.path.join(PROJECTS, name), folder)
            for place, _, files in os.walk(folder):
                for file in files:
                    with open(os.path.join(place, file), "rb") as source:
                        data = source.read()
                    with open(os.path.join(place, file), "wb") as target:
                        target.write(data.replace(b"\n", b"\r\n"))
            with self.subTest(name), open(os.path.join(folder, "pins.txt"), encoding="utf-8") as text:
                self.assertEqual(describe(doctrove.Pins(folder, LINUX)), text.read().splitlines())

    def test_a_file_that_is_broken_is_named_with_its_line_and_the_others_are_read(self) -> None:
        good = {"package.json": {"dependencies": {"zod": "3.23.8"}}}
        for name, text, line in (
                ("uv.lock", 'version = 1\n\n[[package]]\nname = "a\n', 4), ("poetry.lock", "[[package]\n", 1), ("Cargo.lock", "a = 1\nb = ]\n", 2),
                ("pylock.toml", "a = [1,\n2\n", 3), ("pyproject.toml", "[project]\ndependencies = {\n", 3), ("Pipfile.lock", '{\n"default": \n', 3),
                ("pnpm-lock.yaml", "lockfileVersion: '9.0'\npackages:\n  a: &anchor\n", 3), ("pnpm-lock.yaml", "a: [1\n", 1),
                ("pnpm-lock.yaml", "a:\n  b: 1\n    c: 2\n", 3), ("pnpm-lock.yaml", "a: 1\n<<<<<<< HEAD\n", 2), ("pnpm-lock.yaml", "- a\n", 1),
                ("yarn.lock", "__metadata:\n  version: 8\n\n\"a@npm:1\n", 4), ("yarn.lock", "a@1:\n  version \"1.0.0\"\n<<<<<<< HEAD\n", 3),
                ("bun.lock", "{\n// a remark\n\"packages\": {,,}\n", 3), ("package-lock.json", "[1]", 1), ("package-lock.json", "[" * 100000, 1)):
            with self.subTest(name=name, text=text[:40]):
                pins = self.pins({**good, name: text})
                self.assertEqual([pin.name for pin in pins.pins], ["zod"])
                self.assertEqual([fault.values["file"] for fault in pins.faults], [name])
                self.assertEqual(pins.faults[0].values["line"], line)
                for lang in ("en", "zh"):
                    self.assertIn(name, pins.faults[0].message(lang))

    def test_a_file_that_is_no_text_is_named(self) -> None:
        pins = self.pins({"requirements.txt": b"a==1\n\xff", "Cargo.lock": b"\x80"})
        self.assertEqual([fault.values["file"] for fault in pins.faults], ["Cargo.lock", "requirements.txt"])

    def test_a_name_that_no_file_can_have_is_named_and_the_others_are_read(self) -> None:
        for name in ("a\0b", "x" * 5000 + ".txt", "/".join("x" * 3000)):
            with self.subTest(name[:10]):
                pins = self.pins({"requirements.txt": f"-r {name}\n-c {name}\na==1\n", "uv.lock": '[[package]]\nname = "b"\nversion = "1"\n'})
                self.assertEqual(sorted(pin.name for pin in pins.pins), ["a", "b"])
                self.assertEqual([len(str(fault)) < 300 for fault in pins.faults], [True])
        surrogates = {"workspaces": ["\ud800", "a\0b", "a\0b/*", "\ud800/**", "x" * 5000 + "/*"], "dependencies": {"zod": "1.0.0"}}
        self.assertEqual([pin.name for pin in self.pins({"package.json": surrogates}).pins], ["zod"])

    def test_requirements_as_windows_shells_write_them(self) -> None:
        pins = self.pins({"requirements.txt": "flask==3.1.0\r\n".encode("utf-16")})
        self.assertEqual(describe(pins), ["pypi:flask 3.1.0 exact direct requirements.txt"])

    def test_requirements_that_include_each_other_end(self) -> None:
        pins = self.pins({"requirements.txt": "-r requirements-b.txt\na==1\n", "requirements-b.txt": "-r requirements.txt\nb==2\n"})
        self.assertEqual(sorted(pin.name for pin in pins.pins), ["a", "b"])

    def test_nothing_outside_the_project_is_read(self) -> None:
        folder = self.project({"outside/package.json": {"dependencies": {"secret": "1.0.0"}}, "outside/x.txt": "secret==1.0.0",
                               "inside/requirements.txt": "-r ../outside/x.txt\n-r " + "/etc/hostname" + "\nok==1\n",
                               "inside/package.json": {"workspaces": ["../outside", "/", "packages/../../outside"], "dependencies": {"zod": "1.0.0"}}})
        pins = doctrove.Pins(os.path.join(folder, "inside"))
        self.assertEqual(sorted(pin.name for pin in pins.pins), ["ok", "zod"])

    def test_links_that_lead_out_are_not_followed(self) -> None:
        folder = self.project({"outside.json": {"dependencies": {"secret": "1.0.0"}}, "inside/go.mod": "module x\nrequire a.b/c v1.0.0\n"})
        try:
            os.symlink(os.path.join(folder, "outside.json"), os.path.join(folder, "inside", "package.json"))
        except (OSError, NotImplementedError):
            self.skipTest("symbolic links are not possible here")
        pins = doctrove.Pins(os.path.join(folder, "inside"))
        self.assertEqual([pin.name for pin in pins.pins], ["a.b/c"])
        self.assertEqual([fault.values["file"] for fault in pins.faults], ["package.json"])

    def test_a_file_above_the_limit_is_named_and_not_read(self) -> None:
        pins = self.pins({"requirements.txt": b"a==1\n" + b"#" * doctrove.MAX_MANIFEST_BYTES, "uv.lock": '[[package]]\nname = "b"\nversion = "1"\n'})
        self.assertEqual([pin.name for pin in pins.pins], ["b"])
        self.assertIn("4 MiB", str(pins.faults[0]))

    def test_pins_above_the_limit_are_left_out(self) -> None:
        text = "".join(f"a{number}==1\n" for number in range(doctrove.MAX_PINS + 5))
        self.assertLess(len(text), doctrove.MAX_MANIFEST_BYTES)
        pins = self.pins({"requirements.txt": text})
        self.assertEqual((len(pins.pins), len(pins.faults)), (doctrove.MAX_PINS, 1))

    def test_folders_of_installed_packages_are_no_part_of_a_repository(self) -> None:
        pins = self.pins({"web/package.json": {"dependencies": {"zod": "1.0.0"}}, "node_modules/package.json": {"dependencies": {"no": "1.0.0"}},
                          ".cache/package.json": {"dependencies": {"no": "1.0.0"}}})
        self.assertEqual([pin.name for pin in pins.pins], ["zod"])

    def test_members_at_any_depth_and_those_taken_away(self) -> None:
        def member(name: str) -> dict[str, Any]:
            return {"name": name, "dependencies": {f"of-{name}": "1.0.0"}}

        pins = self.pins({"package.json": {"workspaces": {"packages": ["apps/**", "!apps/old", "lib?", "./one/"]}}, "apps/a/package.json": member("a"),
                          "apps/b/deep/c/package.json": member("c"), "apps/old/package.json": member("old"), "lib1/package.json": member("l"),
                          "one/package.json": member("o"), "two/package.json": member("t"), "apps/a/node_modules/x/package.json": member("x")})
        self.assertEqual(sorted(pin.name for pin in pins.pins), ["of-a", "of-c", "of-l", "of-o"])

    def test_values_of_the_wrong_kind_pin_nothing_and_raise_nothing(self) -> None:
        wrong: list[Any] = [None, 1, "x", [], {}, [1], {"a": 1}, {"a": [1]}, {"a": {"version": 1, "dependencies": 1}}, [{"name": 1, "version": []}]]
        for value in wrong:
            for name, keys in (("package-lock.json", ("packages", "dependencies")), ("bun.lock", ("workspaces", "packages")), ("Pipfile.lock", ("default",)),
                               ("package.json", ("dependencies", "workspaces", "name", "peerDependenciesMeta"))):
                with self.subTest(name=name, value=value):
                    self.assertEqual([pin.version for pin in self.pins({name: dict.fromkeys(keys, value)}).pins if pin.exact], [])

    def test_hostile_text_takes_linear_time(self) -> None:
        signs = ("[", "{", '"', "'", "\\", "a.", "[[a]]\nb=1\n", "a = {b = [", '"""', "- ", "? ", "a: ", "a: |\n ", "{a: ", "[a, ", '{"a":', "/*", ",", "a@",
                 "# via\n", "-r x\n", "\\\n", "**/", "a\n", ">=1,", "<<<<<<<\n", "require (\n", "node_modules/")
        names = ("uv.lock", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "go.mod", "requirements.txt", "pyproject.toml", "package.json")
        for sign in signs:
            text = sign * (WHOLE // len(sign))
            folder = self.project(dict.fromkeys(names, text))
            before = time.process_time()
            doctrove.Pins(folder)
            with self.subTest(sign):
                self.assertLess(time.process_time() - before, PATIENCE)


@contextmanager
def without_venv() -> Iterator[None]:
    """No virtual environment is active."""
    active = os.environ.pop("VIRTUAL_ENV", None)
    try:
        yield
    finally:
        if active is not None:
            os.environ["VIRTUAL_ENV"] = active


class Markers(ProjectCase):
    def test_each_comes_to_what_the_case_says(self) -> None:
        for marker, expected in load_cases("markers"):
            with self.subTest(marker):
                try:
                    found = doctrove.read_marker(marker, LINUX)
                except ValueError:
                    found = "malformed"
                self.assertIs(found, expected) if expected != "malformed" else self.assertEqual(found, expected)

    def test_deep_and_long_ones_end(self) -> None:
        for marker in ("(" * WHOLE, "extra == 'x' and " * (WHOLE // 16), "'" * WHOLE, " " * WHOLE, "a." * WHOLE):
            with self.subTest(marker[:20]), self.assertRaises(ValueError):
                doctrove.read_marker(marker, LINUX)

    def found(self, files: dict[str, Any]) -> list[str]:
        return describe(doctrove.Pins(self.project(files), LINUX))

    def test_requirements_for_other_systems_are_not_pinned(self) -> None:
        text = 'one==1.0 ; sys_platform == "win32"\ntwo==2.0; python_version >= "3.8"\nthree==3.0 ; odd\nfour==1 ; python_version < "3"\nfour==2\n'
        self.assertEqual(self.found({"requirements.txt": text}), [
            "pypi:four 2 exact direct requirements.txt", "pypi:three 3.0 exact direct requirements.txt", "pypi:two 2.0 exact direct requirements.txt",
            "warning requirements.txt: odd: the marker cannot be read, taken as holding", "elsewhere one"])

    def test_what_only_packages_for_other_systems_ask_for_is_not_pinned(self) -> None:
        lock = ('[[package]]\nname = "a"\nversion = "1"\n[package.dependencies]\nb = {version = "*", markers = "os_name == \'nt\'"}\n'
                '[[package]]\nname = "b"\nversion = "1"\n[package.dependencies]\nc = "*"\nd = "*"\n'
                '[[package]]\nname = "c"\nversion = "1"\n[package.dependencies]\nb = "*"\n[[package]]\nname = "d"\nversion = "1"\n'
                '[[package]]\nname = "e"\nversion = "1"\nmarkers = "sys_platform == \'win32\'"\n[package.dependencies]\nf = "*"\n'
                '[[package]]\nname = "f"\nversion = "1"\n[[package]]\nname = "g"\nversion = "1"\n'
                'markers = {main = "sys_platform == \'win32\'", dev = "sys_platform == \'linux\'"}\n')
        manifest = '[project]\ndependencies = ["a", "d", "f; os_name == \'nt\'"]\n'
        self.assertEqual(self.found({"poetry.lock": lock, "pyproject.toml": manifest}), [
            "pypi:a 1 exact direct poetry.lock", "pypi:d 1 exact direct poetry.lock",
            # b and c ask for each other, and nobody else does who can be seen: what goes round is kept
            "pypi:b 1 exact transitive poetry.lock", "pypi:c 1 exact transitive poetry.lock", "pypi:g 1 exact transitive poetry.lock",
            "elsewhere e", "elsewhere f"])

    def test_each_kind_of_lock_file_knows_markers(self) -> None:
        marker = "sys_platform == 'win32'"
        cases: dict[str, Any] = {
            "pdm.lock": f'[[package]]\nname = "x"\nversion = "1"\nmarker = "{marker}"\n[[package]]\nname = "y"\nversion = "1"\n',
            "pylock.toml": f'[[packages]]\nname = "x"\nversion = "1"\nmarker = "{marker}"\n[[packages]]\nname = "y"\nversion = "1"\n',
            "Pipfile.lock": {"default": {"x": {"version": "==1", "markers": marker}, "y": {"version": "==1"}}},
            "uv.lock": '[[package]]\nname = "y"\nversion = "1"\n[[package]]\nname = "x"\nversion = "1"\n[[package]]\nname = "me"\nversion = "1"\n'
                       f'source = {{ virtual = "." }}\ndependencies = [{{ name = "y" }}, {{ name = "x", marker = "{marker}" }}]\n'}
        for name, content in cases.items():
            with self.subTest(name):
                pins = doctrove.Pins(self.project({name: content}), LINUX)
                self.assertEqual(([pin.name for pin in pins.pins], pins.elsewhere, list(map(str, pins.warnings))), (["y"], ["x"], []))

    def test_the_environment_in_the_project_tells_the_version_of_python(self) -> None:
        lines = 'old==1 ; python_version < "3.5"\nnew==1 ; python_version >= "3.5"\n'
        for config, elsewhere in (("version = 3.4.1\n", ["new"]), ("implementation = CPython\nversion_info = 3.12.1.final.0\n", ["old"]), ("home = x\n", [])):
            with self.subTest(config):
                folder = self.project({"requirements.txt": lines, ".venv/pyvenv.cfg": config})
                self.assertEqual(doctrove.Pins(folder).elsewhere, elsewhere)

    def test_options_that_name_a_python_decide_and_else_the_one_that_runs(self) -> None:
        folder = self.project({"venv/pyvenv.cfg": "version = 3.4.1\n", "other/pyvenv.cfg": "version_info = 3.5.2\n", "empty/x": ""})
        running = ".".join(map(str, sys.version_info[:3]))
        cases: list[tuple[str, dict[str, str], str]] = [
            ("", {}, "3.4.1"), ("", {"venv": "other"}, "3.5.2"), ("", {"python": "other/bin/python"}, "3.5.2"), ("", {"site-packages": "x"}, running),
            ("empty", {}, running)]
        for place, options, version in cases:
            with self.subTest(options, place=place), without_venv():
                named = {name: os.path.join(folder, *path.split("/")) for name, path in options.items()}
                found = doctrove.project_environment(os.path.join(folder, place), named)
                self.assertEqual((found["python_full_version"], found["sys_platform"]), (version, sys.platform))

    def test_what_is_wanted_elsewhere_is_not_missing_and_is_named(self) -> None:
        files = {"requirements.txt": 'here==1\nthere==1 ; sys_platform == "none"\n', ".venv/pyvenv.cfg": "version = 3.12.1\n"}
        done = command("index", "--project", self.project(files), "--root", make_folder(self), "--json")
        report = json.loads(done.stdout)
        self.assertEqual([row["package"] for row in report["packages"]], ["pypi:here"])
        self.assertEqual((report["elsewhere"], report["environment"]["python_full_version"]), (["there"], "3.12.1"))


class Warnings(ProjectCase):
    def test_what_has_another_form_than_it_should_is_named_with_its_path(self) -> None:
        good = '[[package]]\nname = "good"\nversion = "1"\n'
        cases: list[tuple[str, Any, str]] = [
            ("uv.lock", "package = 1\n", "package must be a list"),
            ("uv.lock", good + '[[package]]\nversion = "1"\n', "package[1].name is missing"),
            ("uv.lock", good + '[[package]]\nname = "x"\nversion = 1\n', "package[1].version must be a text"),
            ("poetry.lock", good + '[[package]]\nname = "x"\n', "package[1].version is missing"),
            ("pylock.toml", '[[packages]]\nname = []\n', "packages[0].name must be a text"),
            ("Cargo.lock", good + '[[package]]\nname = "x"\nversion = ["1"]\n', "package[1].version must be a text"),
            ("Pipfile.lock", {"default": {"x": "==1"}}, "default.x must be a table"),
            ("package-lock.json", {"packages": {"node_modules/x": 1}}, "packages.node_modules/x must be a table"),
            ("package-lock.json", {"packages": {"": {"dependencies": ["x"]}}}, "packages..dependencies must be a table"),
            ("bun.lock", {"packages": {"x": "x@1"}}, "packages.x must be a list"),
            ("pnpm-lock.yaml", "lockfileVersion: '9.0'\npackages:\n  x@1.0.0: text\n", "packages.x@1.0.0 must be a table"),
            ("yarn.lock", '__metadata:\n  version: 8\n\n"x@npm:^1":\n  resolution: "x@npm:1.0.0"\n', "x@npm:^1.version is missing"),
            ("package.json", {"dependencies": {"x": 1}}, "dependencies.x must be a text"),
            ("pyproject.toml", '[project]\ndependencies = "x"\n', "project.dependencies must be a list"),
            ("Cargo.toml", 'dependencies = ["x"]\n', "dependencies must be a table")]
        for name, content, text in cases:
            with self.subTest(text, name=name):
                pins = doctrove.Pins(self.project({name: content}), LINUX)
                self.assertIn(f"{name}: {text}: left out", list(map(str, pins.warnings)))
                self.assertEqual(pins.faults, [])

    def test_lines_that_name_no_package_are_named(self) -> None:
        lines = {"git+https://x/y.git": True, "./wheels/x.whl": True, "==1.0": True, "a b": True, "-e git+https://x/y.git": True, "x>": True, "x==": True,
                 "x==latest!": True, ".": False, "-e .": False, "--index-url https://x": False, "x @ https://x/y.whl": False, "x[a]>=1; extra == 'b'": False}
        for line, is_named in lines.items():
            with self.subTest(line):
                pins = doctrove.Pins(self.project({"requirements.txt": f"{line}\nz==1\n"}), LINUX)
                self.assertEqual([str(fault).startswith(f"requirements.txt: {line[0]}") for fault in pins.warnings], [True] * is_named)
                self.assertIn("z", [pin.name for pin in pins.pins])

    def test_a_thousand_of_them_are_not_all_named(self) -> None:
        pins = doctrove.Pins(self.project({"requirements.txt": "".join(f"./a{at}\n" for at in range(1000))}), LINUX)
        self.assertEqual((len(pins.warnings), str(pins.warnings[-1])), (20, "requirements.txt: more of this kind is not named"))

    def test_what_is_said_again_is_counted(self) -> None:
        pins = self.pins({"go.mod": "module m\n" + "require (\n" * 1000 + ")\nrequire a.b/c v1.0.0\n", "requirements.txt": "./a\n./b\n./a\n"})
        text = "names no package with a version of a registry, and pins nothing"
        self.assertEqual(list(map(str, pins.warnings)), [f"go.mod: require (: {text} (999 times)", f"requirements.txt: ./a: {text} (2 times)",
                                                         f"requirements.txt: ./b: {text}"])
        self.assertEqual([pin.name for pin in pins.pins], ["a.b/c"])

    def test_a_long_value_is_cut_and_the_advice_stays(self) -> None:
        long = "1" * 5000
        for name, content in {"requirements.txt": f"a=={long}!\n", "go.mod": f"require a {long}\n",
                              "pyproject.toml": f'[project]\ndependencies = ["a >={long}!"]\n',
                              "Cargo.lock": f'[[package]]\nname = "a"\nversion = "{long}!"\nsource = "x"\n'}.items():
            with self.subTest(name):
                said = str(self.pins({name: content}).warnings[0])
                self.assertRegex(said, r": a \D{0,3}1{80,}…: (names no package|its version cannot be read)")
                self.assertLess(len(said), 300)
        pins = self.pins({"requirements.txt": "a==" + "1." * 5000 + "1\nb==1\n"})
        self.assertEqual(([pin.name for pin in pins.pins], len(str(pins.warnings[0])) < 300), (["b"], True))

    def test_the_report_of_an_index_and_the_log_of_a_pack_name_them(self) -> None:
        folder = self.project({"requirements.txt": "./vendored\nx==1\n"})
        done = command("index", "--project", folder, "--root", make_folder(self))
        self.assertIn("- requirements.txt: ./vendored: names no package", done.stdout.decode())
        done = command("pack", "--project", folder, "-o", os.path.join(make_folder(self), "docs.pyz"))
        self.assertIn("requirements.txt: ./vendored: names no package", done.stderr.decode())


class Toml(unittest.TestCase):
    CASES = (
        "a = 1\nb = -2_000\nc = 0x1F\nd = 1.5e3\ne = true\nf = false\n", 'a = "\\u00e9\\t\\"x\\" \\\\"\nb = \'C:\\x\'\n',
        'a = """\nline\n  "quoted" \\\n    joined"""\nb = \'\'\'\n\'raw\' \\n\'\'\'\n', "a.b.c = 1\na.\"d.e\" = 2\n'f' = 3\n",
        "[a]\nx = 1\n[a.b]\ny = 2\n[[c]]\nn = 1\n[[c]]\nn = 2\n[c.d]\nz = 3\n[[c.e]]\nq = 1\n", "a = [ 1, # one\n  2,\n\n  [ 'x' ], { y = 1 } ]\n",
        "a = {}\nb = { c.d = 1, 'e f' = [ ] }\n", "# only a remark", "", "\n\n  a = 1  # x\n", "a = []\n[ b . c ]\nd = 1\n", "a = inf\nb = -inf\n")

    def test_it_reads_what_tomllib_reads(self) -> None:
        try:
            import tomllib  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            self.skipTest("this Python has no tomllib to hold it against")
        texts = list(self.CASES)
        for place, _, files in os.walk(PROJECTS):
            for name in files:
                if name.endswith((".toml", "Pipfile")) or name in ("uv.lock", "poetry.lock", "pdm.lock", "Cargo.lock"):
                    with open(os.path.join(place, name), encoding="utf-8") as file:
                        texts.append(file.read())
        self.assertGreater(len(texts), 20)
        for text in texts:
            with self.subTest(text[:50]):
                self.assertEqual(doctrove.parse_toml(text, "x"), self.plain(tomllib.loads(text)))

    def plain(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self.plain(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.plain(inner) for inner in value]
        return value if isinstance(value, (str, int, float)) else value.isoformat().replace("+00:00", "Z")

    def test_dates_stay_texts(self) -> None:
        for date in ("2025-03-13", "2025-03-13T11:10:24Z", "2025-03-13 11:10:24.123+02:00", "11:10:24"):
            self.assertEqual(doctrove.parse_toml(f"a = {date} # x", "x"), {"a": date})

    def test_what_is_broken_is_refused(self) -> None:
        for text in ("a", "a =", "a = \n", "= 1", "[a", "[[a]", "[]", 'a = "x', "a = 'x\ny'", "a = [1 2]", "a = {b = 1", "a = 1 b = 2", "a = 1\n[a.b]\n",
                     "a = '''x", 'a = "\\UFFFFFFFF"', "a = 1\n[[a]]\n", ".".join("a" * 100) + " = 1", "a = " + "[" * 1000 + "]" * 1000):
            with self.subTest(text[:30]), self.assertRaises(doctrove.DocError):
                doctrove.parse_toml(text, "x")


class Yaml(unittest.TestCase):
    def read(self, text: str) -> Any:
        return doctrove.read_yaml(text, "x")

    def test_what_lock_files_use(self) -> None:
        for text, value in (
                ("a: 1\nb: 'it''s'\nc: \"x\\ty\"\nd:\ne: null\nf: ~\n", {"a": "1", "b": "it's", "c": "x\ty", "d": "", "e": "", "f": ""}),
                ("a:\n  b:\n    c: d # remark\n# remark\n\n  e: f#g\n", {"a": {"b": {"c": "d"}, "e": "f#g"}}),
                ("a:\n- x\n- 'y'\nb:\n  - n: 1\n    m: 2\n  -\n    n: 3\n", {"a": ["x", "y"], "b": [{"n": "1", "m": "2"}, {"n": "3"}]}),
                ("a: {b: c, 'd e': [f, \"g\"], h: {}, i: []}\n", {"a": {"b": "c", "d e": ["f", "g"], "h": {}, "i": []}}),
                ("'a@1: 2':\n  b: http://x/y\n\"q, r\": 1\n/s/t: 2\n", {"a@1: 2": {"b": "http://x/y"}, "q, r": "1", "/s/t": "2"}),
                ("a: |-\n  any: thing\n\n   { # goes\nb: >\n  x\nc: 1\n", {"a": "", "b": "", "c": "1"}),
                ("? long key\n: a: 1\n  b: 2\n? other\n:\n  c: 3\nd: 4\n", {"long key": {"a": "1", "b": "2"}, "other": {"c": "3"}, "d": "4"}),
                ("a: {node: '>=10', npm: '>=6.0.0 || 7'}\n", {"a": {"node": ">=10", "npm": ">=6.0.0 || 7"}})):
            with self.subTest(text):
                self.assertEqual(self.read(text), [value])

    def test_several_documents(self) -> None:
        self.assertEqual([document for document in self.read("---\na: 1\n---\nb: 2\n") if document], [{"a": "1"}, {"b": "2"}])

    def test_what_is_not_of_the_subset_is_refused_with_its_line(self) -> None:
        for text, line in (("a: 1\nb: *x\n", 2), ("a: !!str 1\n", 1), ("a: &x 1\n", 1), ("<<: *a\n", 1), ("a: 'x\n", 1), ("a: {b: 1\n", 1), ("a: {b}\n", 1),
                           ("a: 1\n\n  b: 2\n", 3), ("a\n", 1), ("a: 1\nb\n", 2), ("a: [1] x\n", 1), ("? a\nb: 1\n", 2), ("a: %x\n", 1), ("\ta: 1\n", 1),
                           ("".join("  " * depth + "a:\n" for depth in range(200)), 66)):
            with self.subTest(text[:40]), self.assertRaises(doctrove.DocError) as caught:
                self.read(text)
            self.assertEqual(caught.exception.values["line"], line)


def entry(id: str, versions: list[str], **members: Any) -> dict[str, Any]:
    return {"id": id, "name": members.pop("name", id.title()), "versions": versions, **members,
            "volumes": {version: {"sections": [{"heading": f"{id} {version}", "body": "words"}]} for version in versions}}


class Versions(ProjectCase):
    def extract(self, versions: list[str], files: dict[str, Any], **members: Any) -> Any:
        catalog = open_catalog(write_index(make_folder(self), {"entries": [entry("express", versions, **members)]}), project=self.project(files))
        return catalog.extract("express")

    def test_which_version_answers_a_call_that_names_none(self) -> None:
        lock = {"package-lock.json": npm_lock(("express", "4.18.2"), dependencies={"express": "^4"})}
        for versions, files, answer, words in (
                (["5.1.0", "4.18.2", "4.21.2"], lock, ("4.18.2", "pinned"), ["package-lock.json"]),
                (["5.1.0", "4.21.2", "4.17.0"], lock, ("4.17.0", "nearest"), ["4.18.2", "4.17.0", "package-lock.json"]),
                (["5.1.0", "4.20.0", "4.0.0"], lock, ("4.20.0", "nearest"), ["4.18.2", "4.20.0"]),
                (["4.18.3", "4.18.0-rc.1", "4.17.9"], lock, ("4.18.3", "nearest"), ["4.18.2"]),
                (["4.19.0-beta.1"], lock, ("4.19.0-beta.1", "nearest"), ["4.18.2"]),
                (["main"], lock, ("main", "latest"), ["4.18.2", "no version"]),
                (["5.1.0", "4.21.2", "4.17.0"], {"package.json": {"dependencies": {"express": "~4.17.0"}}}, ("4.17.0", "pinned"), ["~4.17.0", "package.json"]),
                (["5.1.0", "4.21.2"], {"package.json": {"dependencies": {"express": "*"}}}, ("5.1.0", "latest"), ["newest"]),
                (["5.1.0", "4.21.2"], {"package.json": {"dependencies": {"koa": "1.0.0"}}}, ("5.1.0", "latest"), ["newest"]),
                (["5.1.0", "4.21.2"], {"Cargo.lock": "x = ]", "package.json": {}}, ("5.1.0", "latest"), ["newest", "Cargo.lock"])):
            with self.subTest(versions=versions, files=list(files), answer=answer):
                found = self.extract(versions, files)
                self.assertEqual((found["version"], found["releaseKind"]), answer)
                for word in words:
                    self.assertIn(word, found["releaseNote"])

    def test_where_no_version_is_compatible_it_is_an_error_that_names_the_pin_and_the_candidates(self) -> None:
        for versions, files in ((["5.1.0", "3.0.0"], {"package-lock.json": npm_lock(("express", "4.18.2"))}),
                                (["0.5.0"], {"package-lock.json": npm_lock(("express", "0.4.2"))}),
                                (["5.1.0"], {"package.json": {"dependencies": {"express": "^4.18"}}})):
            with self.subTest(versions), self.assertRaises(doctrove.DocError) as caught:
                self.extract(versions, files)
            self.assertEqual((caught.exception.code, caught.exception.data["candidates"]), ("version", versions))
            self.assertEqual(caught.exception.data["pinned"]["file"], next(iter(files)))
            self.assertIn(caught.exception.data["pinned"]["version"], str(caught.exception))

    def test_a_call_that_names_a_version_gets_that_one(self) -> None:
        catalog = open_catalog(write_index(make_folder(self), {"entries": [entry("express", ["5.1.0", "4.18.2"])]}),
                               project=self.project({"package-lock.json": npm_lock(("express", "4.18.2"))}))
        for wanted, kind in (("latest", "latest"), ("5", "prefix"), ("5.1.0", "exact")):
            found = catalog.extract("express", wanted)
            self.assertEqual((found["version"], found["releaseKind"]), ("5.1.0", kind))
        self.assertEqual(catalog.extract("express@5")["version"], "5.1.0")
        self.assertEqual(catalog.extract("express", "")["version"], "4.18.2")

    def test_which_entry_is_the_pinned_package(self) -> None:
        files = {"package-lock.json": npm_lock(("day.js", "1.0.0"), ("Redis", "4.0.0"), ("@scope/x", "2.0.0")),
                 "requirements.txt": "Ruamel_YAML==1.0.0\nredis==5.0.0\n", "go.mod": "module x\nrequire github.com/A/b/v2 v2.0.0\n"}
        pins = self.pins(files)
        for record, version in (
                ({"id": "dayjs", "name": "Day.js"}, "1.0.0"), ({"id": "ruamel.yaml", "name": "x"}, "1.0.0"),
                ({"id": "x", "name": "y", "aliases": ["RUAMEL-yaml"]}, "1.0.0"), ({"id": "@Scope/X", "name": "x"}, "2.0.0"),
                ({"id": "scope-x", "name": "x"}, None), ({"id": "b", "name": "b", "package": "go:github.com/a/b/v2"}, "v2.0.0"),
                ({"id": "redis", "name": "Redis", "package": "npm:redis"}, "4.0.0"), ({"id": "redis", "name": "Redis", "package": "pypi:redis"}, "5.0.0"),
                ({"id": "pypi:redis", "name": "Redis"}, "5.0.0"), ({"id": "redis", "name": "Redis"}, "5.0.0"),
                ({"id": "dayjs", "name": "Day.js", "package": "npm:other"}, None)):
            with self.subTest(record):
                found = doctrove.find_pins(pins, {"versions": [], **record})
                self.assertEqual(found[0].version if found else None, version)

    def test_other_versions_in_the_project_are_named(self) -> None:
        lock = npm_lock(("express", "4.18.2"), dependencies={"express": "^4"})
        lock["packages"].update({"packages/a": {"dependencies": {"express": "^5"}}, "packages/a/node_modules/express": {"version": "5.1.0"}})
        found = self.extract(["5.1.0", "4.18.2"], {"package-lock.json": lock})
        self.assertEqual(found["version"], "4.18.2")
        self.assertIn("5.1.0", found["releaseNote"])

    def test_lookup_and_releases_show_what_is_pinned(self) -> None:
        catalog = open_catalog(write_index(make_folder(self), {"entries": [entry("express", ["5.1.0"]), entry("koa", ["2.0.0"])]}),
                               project=self.project({"package-lock.json": npm_lock(("express", "4.18.2"))}))
        pinned = {"version": "4.18.2", "file": "package-lock.json"}
        self.assertEqual(catalog.lookup("express")["results"][0]["pinned"], pinned)
        self.assertEqual(catalog.releases("express")["pinned"], pinned)
        self.assertNotIn("pinned", catalog.releases("koa"))
        self.assertIn("pinned 4.18.2 (package-lock.json)", doctrove.render_releases(catalog.releases("express"), "en"))
        self.assertIn("pinned 4.18.2 (package-lock.json)", doctrove.render_lookup(catalog.lookup("express"), "en"))

    def test_without_a_project_nothing_is_pinned(self) -> None:
        catalog = open_catalog(write_index(make_folder(self), {"entries": [entry("express", ["5.1.0"])]}))
        self.assertNotIn("pinned", catalog.lookup("express")["results"][0])
        self.assertEqual(catalog.extract("express")["releaseKind"], "latest")

    def test_a_lock_file_that_changes_comes_or_goes_is_seen_at_the_next_call(self) -> None:
        folder = self.project({"package.json": {"dependencies": {"express": "^4"}}})
        catalog = open_catalog(write_index(make_folder(self), {"entries": [entry("express", ["5.1.0", "4.18.2", "4.17.0"])]}), project=folder)
        seen = [catalog.extract("express")["version"]]
        for version in ("4.17.0", "4.18.2", "5.1.0"):
            put(folder, {"package-lock.json": npm_lock(("express", version), padding=version * len(seen))})
            seen.append(catalog.extract("express")["version"])
        os.remove(os.path.join(folder, "package-lock.json"))
        seen.append(catalog.extract("express")["version"])
        self.assertEqual(seen, ["4.18.2", "4.17.0", "4.18.2", "5.1.0", "4.18.2"])

    def test_other_files_that_come_and_go_are_no_reason_to_read_again(self) -> None:
        folder = self.project({"package-lock.json": npm_lock(("express", "4.18.2"))})
        project = doctrove.open_project(folder)
        pins = doctrove.read_pins(project)
        put(folder, {"notes.md": "x", "src/a.js": "y"})
        self.assertIs(doctrove.read_pins(project), pins)

    def test_a_project_that_is_not_there_is_a_config_error(self) -> None:
        done = command("--project", "no-such-folder", "lookup", "express")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"no-such-folder", done.stderr)

    def test_the_packed_server_takes_the_pinned_version(self) -> None:
        folder = self.project({"package-lock.json": npm_lock(("zod", "3.23.8"))})
        with Server("--project", folder) as server:
            server.open()
            found: Any = server.ask("tools/call", {"name": "doc_extract", "arguments": {"id": "zod", "focus": "parse"}})
        answer = found["result"]["structuredContent"]
        self.assertEqual((answer["version"], answer["releaseKind"]), ("3.23.8", "pinned"))


def npm_package(folder: str, name: str, version: str, text: str = "") -> str:
    return put(os.path.join(folder, "node_modules", *name.split("/")), {
        "package.json": {"name": name, "version": version}, "README.md": f"# {name}\n\n{text or 'How to use it.'}\n"})


class Index(ProjectCase):
    """The command `index --project`, as a process."""

    def setUp(self) -> None:
        self.root = make_folder(self)

    def run_index(self, folder: str, *options: str, path: str | None = None) -> tuple[int, Any]:
        done = command("--root", self.root, "--project", folder, "index", "--json", *options, flags=("-I",), path=path or os.path.join(ROOT, "doctrove.py"))
        self.assertTrue(done.stdout, done.stderr)
        return done.returncode, json.loads(done.stdout)

    def rows(self, report: Any) -> list[tuple[Any, ...]]:
        return [(row["package"], row["pinned"], row.get("installed"), row["status"], row.get("differs", False)) for row in report["packages"]]

    def entries(self) -> dict[str, Any]:
        with open(os.path.join(self.root, "index.json"), encoding="utf-8") as file:
            return {each["id"]: each for each in json.load(file)["entries"]}

    def test_installed_copies_go_into_the_library_and_the_rest_is_named(self) -> None:
        folder = self.project({"package-lock.json": npm_lock(
            ("zod", "3.23.8"), ("@scope/x", "1.0.0"), ("gone", "1.0.0"), ("other", "2.0.0"), ("below", "1.0.0"),
            dependencies={"zod": "^3", "@scope/x": "^1", "gone": "^1", "other": "^2"})})
        for name, version in (("zod", "3.23.8"), ("@scope/x", "1.0.0"), ("other", "2.1.0"), ("below", "1.0.0")):
            npm_package(folder, name, version)
        code, report = self.run_index(folder)
        self.assertEqual(self.rows(report), [
            ("npm:@scope/x", "1.0.0", "1.0.0", "imported", False), ("npm:gone", "1.0.0", None, "missing", False),
            ("npm:other", "2.0.0", "2.1.0", "imported", True), ("npm:zod", "3.23.8", "3.23.8", "imported", False)])
        self.assertEqual((code, report["imported"], report["missing"], report["differs"], report["transitive"]), (1, 3, 1, 1, 1))
        self.assertIn(os.path.join(folder, "node_modules"), report["places"])
        self.assertEqual({id: (each["versions"], each["package"]) for id, each in self.entries().items()},
                         {"@scope/x": (["1.0.0"], "npm:@scope/x"), "other": (["2.1.0"], "npm:other"), "zod": (["3.23.8"], "npm:zod")})
        code, report = self.run_index(folder, "--all")
        self.assertEqual([row[0] for row in self.rows(report)][-1], "npm:below")
        self.assertIn("below", self.entries())

    def test_what_has_not_changed_is_not_read_again(self) -> None:
        folder = self.project({"package-lock.json": npm_lock(("a", "1.0.0"), ("b", "1.0.0"), dependencies={"a": "1", "b": "1"})})
        for name in "ab":
            npm_package(folder, name, "1.0.0")
        self.assertEqual(self.run_index(folder)[0], 0)
        before = self.entries()
        put(folder, {"node_modules/b/README.md": "# b\n\nAnother text.\n", "node_modules/b/package.json": {"name": "b", "version": "1.0.0", "x": 1}})
        report = self.run_index(folder)[1]
        self.assertEqual([row["status"] for row in report["packages"]], ["unchanged", "imported"])
        after = self.entries()
        self.assertEqual(before["a"], after["a"])
        self.assertNotEqual(before["b"]["volumes"]["1.0.0"]["sha256"], after["b"]["volumes"]["1.0.0"]["sha256"])

    def test_one_package_that_fails_stops_no_other(self) -> None:
        folder = self.project({"package-lock.json": npm_lock(("a", "1.0.0"), ("b", "1.0.0"), dependencies={"a": "1", "b": "1"})})
        put(folder, {"node_modules/a/package.json": {"name": "a", "version": "1.0.0"}})  # holds nothing to read
        npm_package(folder, "b", "1.0.0")
        code, report = self.run_index(folder)
        self.assertEqual((code, [row["status"] for row in report["packages"]]), (1, ["failed", "imported"]))
        self.assertIn("message", report["packages"][0]["error"])

    def test_a_broken_file_of_the_project_is_named_and_the_others_are_imported(self) -> None:
        folder = self.project({"package.json": {"dependencies": {"a": "^1"}}, "Cargo.lock": "x = ]"})
        npm_package(folder, "a", "1.2.0")
        code, report = self.run_index(folder)
        self.assertEqual((code, self.rows(report)), (1, [("npm:a", "^1", "1.2.0", "imported", False)]))
        self.assertEqual(len(report["faults"]), 1)
        self.assertIn("Cargo.lock", report["faults"][0])

    def test_an_optional_package_that_is_not_installed_is_no_failure(self) -> None:
        folder = self.project({"package.json": {"dependencies": {"a": "^1"}, "optionalDependencies": {"fsevents": "^2"}}})
        npm_package(folder, "a", "1.0.0")
        code, report = self.run_index(folder)
        self.assertEqual((code, report["missing"]), (0, 1))

    def test_copies_inside_of_others_in_members_and_in_the_store_of_pnpm(self) -> None:
        lock = npm_lock(("a", "1.0.0"), dependencies={"a": "^1"})
        lock["packages"].update({"node_modules/a/node_modules/x": {"version": "2.0.0"}, "packages/m": {"dependencies": {"x": "^1"}},
                                 "packages/m/node_modules/x": {"version": "1.0.0"}, "node_modules/y": {"version": "3.0.0"}})
        folder = self.project({"package-lock.json": lock, "package.json": {"workspaces": ["packages/*"], "dependencies": {"a": "^1"}},
                               "packages/m/package.json": {"name": "m", "dependencies": {"x": "^1"}}})
        npm_package(npm_package(folder, "a", "1.0.0"), "x", "2.0.0")
        npm_package(os.path.join(folder, "packages", "m"), "x", "1.0.0")
        npm_package(os.path.join(folder, "node_modules", ".pnpm", "y@3.0.0"), "y", "3.0.0")
        code, report = self.run_index(folder, "--all")
        self.assertEqual((code, report["imported"]), (0, 4))
        self.assertEqual(self.entries()["x"]["versions"], ["2.0.0", "1.0.0"])

    def test_a_name_of_two_ecosystems_gets_two_ids(self) -> None:
        folder = self.project({"package.json": {"dependencies": {"redis": "^4"}}, "requirements.txt": "redis==5.0.0\n"})
        npm_package(folder, "redis", "4.0.0")
        report = self.run_index(folder)[1]
        self.assertEqual([(row["package"], row["id"]) for row in report["packages"]], [("npm:redis", "npm:redis"), ("pypi:redis", "pypi:redis")])

    def test_an_id_that_the_library_has_for_another_package_is_not_taken(self) -> None:
        write_index(self.root, {"entries": [entry("redis", ["5.0.0"], package="pypi:redis")]})
        folder = self.project({"package.json": {"dependencies": {"redis": "^4"}}})
        npm_package(folder, "redis", "4.0.0")
        self.assertEqual(self.run_index(folder)[1]["packages"][0]["id"], "npm:redis")
        self.assertEqual(self.run_index(folder)[1]["packages"][0]["status"], "unchanged")
        self.assertEqual(sorted(self.entries()), ["npm:redis", "redis"])

    def test_python_packages_are_found_in_the_environment_of_the_project(self) -> None:
        folder = self.project({"requirements.txt": "Ruamel.YAML==0.18.6\nflask==3.1.0\ngone==1\n"})
        site = os.path.join(folder, ".venv", "lib", "python3.11", "site-packages")
        put(site, {"ruamel_yaml-0.18.6.dist-info/RECORD": "", "ruamel_yaml-0.18.6.dist-info/METADATA": "Name: ruamel.yaml\nVersion: 0.18.6\n\n# Read\n",
                   "Flask-3.0.0-py3.11.egg-info": "Name: Flask\nVersion: 3.0.0\n"})
        pins = doctrove.Pins(folder)
        for options in ({}, {"venv": os.path.join(folder, ".venv")}, {"site-packages": site}):
            installed = doctrove.Installed(pins, options)
            found = {pin.name: [(copy.version, doctrove.fits_pin(pin, copy.version)) for copy in installed.copies(pin)] for pin in pins.pins}
            with self.subTest(options=sorted(options)):
                self.assertEqual(found, {"Ruamel.YAML": [("0.18.6", True)], "flask": [("3.0.0", False)], "gone": []})

    def test_a_python_package_is_imported_in_the_version_that_is_installed(self) -> None:
        folder = self.project({"requirements.txt": "demo-pkg==1.0.0\ngone==1\n"})
        put(os.path.join(folder, ".venv", "lib", "python3.11", "site-packages"), {
            "demo_pkg-1.1.0.dist-info/RECORD": "demo_pkg/__init__.py,,\ndemo_pkg-1.1.0.dist-info/METADATA,,\n",
            "demo_pkg-1.1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: Demo_pkg\nVersion: 1.1.0\n",
            "demo_pkg/__init__.py": 'def greet(name: str) -> str:\n    """Says hello."""\n    return name\n'})
        code, report = self.run_index(folder)
        self.assertEqual((code, self.rows(report)), (1, [("pypi:demo-pkg", "1.0.0", "1.1.0", "imported", True), ("pypi:gone", "1", None, "missing", False)]))
        done = command("--root", self.root, "--project", folder, "extract", "Demo.Pkg", "greet", "--json")
        self.assertEqual(done.returncode, 1, "no entry has that id")
        answer = json.loads(command("--root", self.root, "--project", folder, "extract", "demo-pkg", "greet", "--json").stdout)
        self.assertEqual((answer["version"], answer["releaseKind"]), ("1.1.0", "nearest"))
        self.assertIn("demo_pkg.greet", [row["id"] for row in answer["sections"]])

    def test_crates_and_modules_are_found_in_their_caches(self) -> None:
        crates, text = "cargo/registry/src/index-1/", "# Read me\n\nText.\n"
        home = self.project({crates + "serde-1.0.219/Cargo.toml": "", crates + "serde-1.0.219/README.md": text, crates + "serde_json-1.0.1/Cargo.toml": "",
                             "go/github.com/!sirupsen/logrus@v1.9.3/README.md": text})
        folder = self.project({"Cargo.toml": '[dependencies]\nserde = "1"\n', "go.mod": "module x\nrequire github.com/Sirupsen/logrus v1.9.3\n"})
        env = {**os.environ, "CARGO_HOME": os.path.join(home, "cargo"), "GOMODCACHE": os.path.join(home, "go")}
        done = command("--root", self.root, "--project", folder, "index", "--json", flags=("-I",), path=os.path.join(ROOT, "doctrove.py"), env=env)
        self.assertEqual(self.rows(json.loads(done.stdout)), [
            ("crate:serde", "^1", "1.0.219", "imported", False), ("go:github.com/Sirupsen/logrus", "v1.9.3", "v1.9.3", "imported", False)])
        self.assertEqual(done.returncode, 0)

    def test_the_table_says_the_same_in_words(self) -> None:
        folder = self.project({"package-lock.json": npm_lock(("a", "1.0.0"), ("b", "2.0.0"), ("c", "1.0.0"), dependencies={"a": "1", "b": "2", "c": "1"})})
        npm_package(folder, "a", "1.0.0")
        npm_package(folder, "b", "2.1.0")
        for lang, words in (("en", ("1 sections", "pinned is 2.0.0", "not installed", "Looked for packages in")),
                            ("zh", ("未变", "固定的是 2.0.0", "未安装", "查找位置"))):
            done = command("--root", self.root, "--project", folder, "--lang", lang, "index")
            text = done.stdout.decode("utf-8")
            self.assertEqual(done.returncode, 1)
            for word in words:
                self.assertIn(word, text)
            self.assertEqual(len(re.findall(r"^\| npm:", text, re.MULTILINE)), 3)

    def test_wrong_usage(self) -> None:
        folder = self.project({"package.json": {"dependencies": {"a": "1"}}})
        for arguments in (("index",), ("--root", self.root, "index"), ("--project", folder, "index"),
                          ("--root", self.root, "--project", folder, "index", "--as", "x")):
            with self.subTest(arguments):
                done = command(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
        done = command("--root", self.root, "--project", make_folder(self), "index")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"pins nothing", done.stderr)

    def test_doctor_names_the_project_and_what_is_wrong_with_it(self) -> None:
        folder = self.project({"package.json": {"dependencies": {"a": "1"}}, "Cargo.lock": "x = ]"})
        done = command("--project", folder, "doctor", "--json")
        report = json.loads(done.stdout)
        self.assertEqual((done.returncode, report["project"]["pins"]), (1, 1))
        self.assertIn("Cargo.lock", report["problems"][0])

    def test_doctor_names_what_pins_nothing_and_finds_no_fault_in_it(self) -> None:
        done = command("--project", self.project({"requirements.txt": "./vendored\nx==1\n"}), "doctor")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("- requirements.txt: ./vendored: names no package", done.stdout.decode())


if __name__ == "__main__":
    unittest.main()
