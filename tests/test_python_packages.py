"""Installed Python packages as documentation: found, read and never run. Packages are written by the tests into folders like site-packages."""
from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tarfile
import time
import unittest
import zipfile
from typing import Any

from processes import command
from support import doctrove, make_folder, whole

METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"


def write(folder: str, path: str, content: str | bytes) -> None:
    target = os.path.join(folder, *path.split("/"))
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def install(test: unittest.TestCase, files: dict[str, str | bytes], name: str = "sample", version: str = "1.2", metadata: str = "",
            record: bool = True, folder: str = "") -> str:
    """A folder like site-packages that holds the distribution."""
    folder = folder or make_folder(test)
    info = f"{re.sub('[-.]', '_', name)}-{version}.dist-info"
    files = {**files, f"{info}/METADATA": metadata or METADATA.format(name=name, version=version)}
    for path, content in files.items():
        write(folder, path, content)
    if record:
        write(folder, f"{info}/RECORD", "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"]))
    return folder


def imported(folder: str, name: str = "sample") -> Any:
    return doctrove.import_collection(doctrove.open_python(name, {"site-packages": folder}))


def sections(test: unittest.TestCase, files: dict[str, str | bytes], **how: Any) -> dict[str, dict[str, Any]]:
    """id -> section of a package of these files."""
    return {record["id"]: record for record in imported(install(test, files, **how), how.get("name", "sample")).volume["sections"]}


class Finding(unittest.TestCase):
    def test_names_are_compared_as_pep_503_says(self) -> None:
        folder = install(self, {"a_b.py": '"""Text."""\n'}, name="A.b_c", version="2.0")
        for name in ("a-b-c", "A.B.C", "a__b-.c"):
            with self.subTest(name=name):
                self.assertEqual(doctrove.open_python(name, {"site-packages": folder}).label, ("a-b-c", "2.0"))

    def test_what_is_not_installed_is_not_found_with_where_it_looked_and_what_to_run(self) -> None:
        folder = make_folder(self)
        with self.assertRaises(doctrove.DocError) as raised:
            doctrove.open_python("sample", {"site-packages": folder})
        self.assertEqual(raised.exception.code, "not-found")
        self.assertIn(folder, str(raised.exception))
        self.assertIn("python -m pip install sample", str(raised.exception))

    def test_a_virtual_environment_is_looked_into(self) -> None:
        venv = make_folder(self)
        inside = "Lib/site-packages" if os.name == "nt" else "lib/python3.11/site-packages"
        install(self, {"sample.py": "def f(): 'Text.'\n"}, folder=os.path.join(venv, *inside.split("/")))
        self.assertEqual([item.path for item in doctrove.open_python("sample", {"venv": venv}).items], ["sample.py"])

    def test_an_interpreter_that_does_not_answer_is_named(self) -> None:
        with self.assertRaises(doctrove.DocError) as raised:
            doctrove.open_python("sample", {"python": os.path.join(make_folder(self), "python9")})
        self.assertIn("python9", str(raised.exception))

    def test_the_interpreter_that_runs_is_asked_where_its_packages_are(self) -> None:
        self.assertIn("version", doctrove.read_interpreter(sys.executable))

    def test_a_name_that_is_none_is_refused(self) -> None:
        for name in ("", "../x", "a b", "--python"):
            with self.subTest(name=name), self.assertRaises(doctrove.DocError):
                doctrove.open_python(name, {"site-packages": make_folder(self)})

    def test_a_single_module_without_record_is_found_by_top_level(self) -> None:
        folder = install(self, {"single.py": "def f(): 'Text.'\n", "sample-1.2.dist-info/top_level.txt": "single\n", "other.py": "x = 1\n"}, record=False)
        self.assertEqual([item.path for item in doctrove.open_python("sample", {"site-packages": folder}).items], ["single.py"])

    def test_parts_of_one_namespace_are_kept_apart(self) -> None:
        folder = install(self, {"space/one.py": "def f(): pass\n"}, name="space-one")
        install(self, {"space/two.py": "def g(): pass\n"}, name="space-two", folder=folder)
        self.assertEqual([record["id"] for record in imported(folder, "space-two").volume["sections"]], ["space.two", "space.two.g"])

    def test_a_record_that_leads_out_of_the_folder_is_not_followed(self) -> None:
        folder = install(self, {"site/sample.py": "def f(): pass\n"})
        inner = os.path.join(folder, "site")
        install(self, {}, folder=inner)
        write(folder, "secret.py", "def secret(): pass\n")
        write(inner, "sample-1.2.dist-info/RECORD", "sample.py,,\n../secret.py,,\n/etc/passwd,,\n")
        self.assertEqual([item.path for item in doctrove.open_python("sample", {"site-packages": inner}).items], ["sample.py"])


class Editable(unittest.TestCase):
    def setUp(self) -> None:
        self.project = make_folder(self)
        write(self.project, "src/sample/__init__.py", "def f():\n    'Text.'\n")
        write(self.project, "setup.py", "raise SystemExit('it ran')\n")

    def check(self, files: dict[str, str | bytes]) -> None:
        folder = install(self, files)
        self.assertIn("sample.f", {record["id"] for record in imported(folder).volume["sections"]})

    def test_a_path_file_is_followed(self) -> None:
        self.check({"__editable__.sample.pth": os.path.join(self.project, "src") + "\n"})

    def test_the_table_of_a_finder_is_read_and_the_finder_not_run(self) -> None:
        finder = f"raise SystemExit('it ran')\nMAPPING: dict[str, str] = {{'sample': {os.path.join(self.project, 'src', 'sample')!r}}}\n"
        self.check({"__editable___sample_1_2_finder.py": finder, "__editable__.sample.pth": "import __editable___sample_1_2_finder\n"})

    def test_a_direct_url_is_the_last_resort(self) -> None:
        from urllib.request import pathname2url
        self.check({"sample-1.2.dist-info/direct_url.json": json.dumps({"url": "file://" + pathname2url(self.project), "dir_info": {"editable": True}})})


class Archives(unittest.TestCase):
    def test_a_wheel_is_read_in_place(self) -> None:
        path = os.path.join(make_folder(self), "sample-1.2-py3-none-any.whl")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("sample/__init__.py", "def f():\n    'Text.'\n")
            archive.writestr("sample-1.2.dist-info/METADATA",
                             METADATA.format(name="Sample", version="1.2") + "Description-Content-Type: text/markdown\n\n# Sample\n\nHello.\n")
        collection = doctrove.open_python(path, {})
        self.assertEqual(collection.label, ("sample", "1.2"))
        self.assertEqual([item.path for item in collection.items], ["README.md", "sample/__init__.py"])

    def test_of_a_source_distribution_the_package_and_its_documents_are_read(self) -> None:
        path = os.path.join(make_folder(self), "sample-1.2.tar.gz")
        members = {"PKG-INFO": METADATA.format(name="sample", version="1.2"), "src/sample/__init__.py": "def f(): pass\n", "setup.py": "x = 1\n",
                   "tests/test_f.py": "def test_f(): pass\n", "docs/guide.rst": "Guide\n=====\n\nText.\n", "CHANGES.md": "# 1.2\n\nNew.\n"}
        with tarfile.open(path, "w:gz") as archive:
            for name, text in members.items():
                info = tarfile.TarInfo("sample-1.2/" + name)
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text.encode()))
        self.assertEqual(sorted(item.path for item in doctrove.open_python(path, {}).items),
                         ["CHANGES.md", "docs/guide.rst", "sample-1.2/src/sample/__init__.py"])

    def test_what_the_metadata_says_in_a_line_is_what_the_package_is_about(self) -> None:
        for said, about in (("Sign tokens, and check them.", "Sign tokens, and check them."), ("UNKNOWN", ""), ("", ""), ("词 caf\u00e9", "词 caf\u00e9")):
            with self.subTest(said):
                folder = install(self, {"sample.py": "def f(): pass\n"}, metadata=METADATA.format(name="sample", version="1.2") + f"Summary: {said}\n\nText.\n")
                self.assertEqual(doctrove.open_python("sample", {"site-packages": folder}).about, about)

    def test_an_entry_keeps_what_its_package_says_beside_other_documentation(self) -> None:
        folder, root = install(self, {"sample.py": "def f(): pass\n"}, metadata=METADATA.format(name="sample", version="1.2") + "Summary: Sign tokens\n\n"
                               "Sample\n======\n\nIt is easy to use and has no bugs at all.\n"), make_folder(self)
        write(root, "docs/index.md", "# Guide\n\nText.\n")
        doctrove.import_source("pypi:sample", "", "", os.path.join(root, "library"), options={"where": {"site-packages": folder}})
        doctrove.import_source(os.path.join(root, "docs"), "sample", "1.2", os.path.join(root, "library"))
        entry = doctrove.Library(os.path.join(root, "library")).find("sample")
        self.assertEqual(entry["summary"], "Sign tokens. It is easy to use and has no bugs at all.")

    def test_a_damaged_archive_is_refused(self) -> None:
        folder = make_folder(self)
        write(folder, "sample-1.2.tar.gz", b"\x1f\x8bdamaged")
        with self.assertRaises(doctrove.DocError):
            doctrove.open_python(os.path.join(folder, "sample-1.2.tar.gz"), {})


class Names(unittest.TestCase):
    def found(self, files: dict[str, str | bytes], name: str) -> dict[str, Any]:
        records = sections(self, files)
        self.assertIn(name, records)
        return records[name]

    def test_what_is_taken_from_a_module_stands_under_the_public_name_and_is_found_under_the_other(self) -> None:
        record = self.found({"sample/__init__.py": "from .api import *\n",
                             "sample/api.py": "def get(url, params=None, **kwargs):\n    'Gets.'\n"}, "sample.get")
        self.assertEqual(record["heading"], "sample.get(url, params=None, **kwargs)")
        self.assertEqual(record["path"], "sample/api.py:1")
        self.assertEqual(record["names"], ["sample.api.get"])

    def test_all_is_read_however_it_is_made(self) -> None:
        cases = {
            "a list": "__all__ = ['f']\n", "a sum": "__all__ = ['x']\n__all__ += ['f']\n", "extended": "__all__ = []\n__all__.extend(('f',))\n",
            "appended": "__all__ = []\n__all__.append('f')\n", "of another module": "from . import _inner\n__all__ = _inner.__all__ + []\n",
            "with a star": "from . import _inner\n__all__ = [*_inner.__all__]\n", "sorted": "__all__ = sorted(('f',))\n"}
        for name, text in cases.items():
            with self.subTest(name):
                self.found({"sample/__init__.py": "from ._inner import f\n" + text, "sample/_inner.py": "__all__ = ['f']\ndef f(): pass\n"}, "sample.f")

    def test_where_a_part_of_all_is_not_known_what_the_module_defines_is_offered(self) -> None:
        inner = "__all__ = made(globals()) + ['h']\nclass F: pass\nf = F()\ndef h(): pass\n"
        self.found({"sample/__init__.py": "from ._middle import *\n", "sample/_inner.py": inner,
                    "sample/_middle.py": "from . import _inner\nfrom ._inner import *\n__all__ = ['x']\n__all__ += _inner.__all__\n"}, "sample.f")

    def test_an_import_as_itself_is_offered(self) -> None:
        self.found({"sample/api.py": "from ._inner import f as f\n", "sample/_inner.py": "def f(): pass\n"}, "sample.api.f")

    def test_lazy_names_are_read_where_they_stand(self) -> None:
        inner = "def f(): pass\n"
        cases = {
            "an import in the hook": "def __getattr__(name):\n    if name == 'f':\n        from ._inner import f\n        return f\n",
            "a table of modules": "_names = {'f': '._inner'}\ndef __getattr__(name): ...\n",
            "a table of pairs": "_names = {'f': ('sample._inner', 'f')}\ndef __getattr__(name): ...\n",
            "a table of lists": "import lazy\n__getattr__, __dir__, __all__ = lazy.attach(__name__, submod_attrs={'_inner': ['f']})\n",
            "what type checkers are told": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ._inner import f\ndef __getattr__(name): ...\n"}
        for name, text in cases.items():
            with self.subTest(name):
                self.found({"sample/__init__.py": text, "sample/_inner.py": inner}, "sample.f")

    def test_what_is_private_has_no_section(self) -> None:
        records = sections(self, {"sample/__init__.py": "def _f(): pass\nclass C:\n    def _m(self): pass\n", "sample/_inner.py": "def g(): pass\n"})
        self.assertEqual(sorted(records), ["sample", "sample.C"])

    def test_another_name_of_a_thing_is_a_name_of_its_section(self) -> None:
        self.assertEqual(self.found({"sample.py": "def f(): pass\ng = f\n"}, "sample.f")["names"], ["sample.g"])

    def test_a_method_of_an_instance_is_a_function_of_the_module(self) -> None:
        text = "class Random:\n    def pick(self, a):\n        'Picks.'\n_one = Random()\npick = _one.pick\n"
        self.assertEqual(self.found({"sample.py": text}, "sample.pick")["heading"], "sample.pick(a)")

    def test_modules_that_take_all_from_each_other_end(self) -> None:
        self.found({"sample/__init__.py": "from .a import *\n", "sample/a.py": "from .b import *\nfrom .c import x\n",
                    "sample/b.py": "from .a import *\ndef f(): pass\n", "sample/c.py": "from .a import x\n"}, "sample.f")

    def test_the_names_of_other_packages_are_found_at_the_module(self) -> None:
        record = self.found({"sample/__init__.py": "from other import Thing as Thing\n"}, "sample")
        self.assertIn("sample.Thing", record["names"])
        self.assertIn("`Thing` (`other.Thing`)", record["body"])


class Classes(unittest.TestCase):
    def test_fields_stand_in_the_class_with_values_and_comments(self) -> None:
        text = ("from dataclasses import dataclass, field\n@dataclass(frozen=True)\nclass Point:\n    'A point.'\n    x: int\n    y: int = 0  # upwards\n"
                "    tags: list = field(default_factory=list)\n    #: What it\n    #: is called.\n    name: str = ''\n    z: int = 1\n    'The depth.'\n")
        record = sections(self, {"sample.py": text})["sample.Point"]
        self.assertEqual(record["heading"], "sample.Point(x, y=0, tags=list, name='', z=1)")
        for line in ("@dataclass(frozen=True)", "    y: int = 0  # upwards", "A point.", "- `name`: What it", "- `z`: The depth."):
            self.assertIn(line, record["body"].split("\n"))

    def test_an_enumeration_shows_its_members(self) -> None:
        record = sections(self, {"sample.py": "import enum\nclass Color(enum.Enum):\n    RED = 1  # warm\n"})["sample.Color"]
        self.assertIn("    RED = 1  # warm", record["body"])
        self.assertEqual(record["names"], ["sample.Color.RED"])

    def test_overloads_stand_together(self) -> None:
        text = ("from typing import overload\nclass C:\n    @overload\n    def m(self, a: int) -> int: ...\n    @overload\n"
                "    def m(self, a: str) -> str: ...\n"
                "    def m(self, a):\n        'Text.'\n")
        record = sections(self, {"sample.py": text})["sample.C.m"]
        self.assertEqual(record["heading"], "sample.C.m(a)")
        self.assertIn("def m(self, a: int) -> int\n@overload\ndef m(self, a: str) -> str", record["body"])
        self.assertIn("Text.", record["body"])

    def test_properties_and_asynchronous_methods_are_shown_as_such(self) -> None:
        text = ("class C:\n    @property\n    def p(self) -> int: 'P.'\n    @p.setter\n    def p(self, value): ...\n    async def m(self): 'M.'\n"
                "    @staticmethod\n    def s(a): 'S.'\n")
        records = sections(self, {"sample.py": text})
        self.assertEqual([records[f"sample.C.{name}"]["heading"] for name in "pms"], ["sample.C.p", "sample.C.m()", "sample.C.s(a)"])
        self.assertIn("@property\ndef p(self) -> int\n# can be set", records["sample.C.p"]["body"])
        self.assertIn("async def m(self)", records["sample.C.m"]["body"])

    def test_what_is_inherited_is_listed_and_found_under_both_classes(self) -> None:
        records = sections(self, {"sample.py": "class A:\n    def m(self): 'M.'\nclass B(A):\n    def n(self): 'N.'\n"})
        self.assertIn("Inherited from `sample.A`: `m`", records["sample.B"]["body"])
        self.assertIn("sample.B.m", records["sample.A.m"]["names"])

    def test_what_comes_from_a_private_base_stands_in_the_class(self) -> None:
        records = sections(self, {"sample/__init__.py": "from ._base import B\n", "sample/_base.py": "class _A:\n    def m(self): 'M.'\nclass B(_A): 'B.'\n"})
        self.assertEqual(records["sample.B.m"]["path"], "sample/_base.py:2")

    def test_a_base_that_is_its_own_ends(self) -> None:
        self.assertIn("sample.A", sections(self, {"sample.py": "class A(B): pass\nclass B(A): pass\nclass C(C): pass\n"}))

    def test_deprecation_is_kept(self) -> None:
        text = ("from warnings import deprecated\n@deprecated('Use g.')\ndef f():\n    'Old.'\n"
                "def g():\n    '''New.\n\n    .. deprecated:: 2.0\n       Use h.\n    '''\n")
        records = sections(self, {"sample.py": text})
        self.assertIn("**Deprecated**: Use g.", records["sample.f"]["body"])
        self.assertIn("Deprecated since version 2.0", records["sample.g"]["body"])


class Stubs(unittest.TestCase):
    def test_a_compiled_module_is_read_from_its_stub(self) -> None:
        record = sections(self, {"sample/__init__.py": "", "sample/fast.so": b"\x7fELF", "sample/fast.pyi": "def f(a: int) -> int: ...\n"})["sample.fast.f"]
        self.assertIn("def f(a: int) -> int", record["body"])
        self.assertEqual(record["path"], "sample/fast.pyi:1")

    def test_a_distribution_of_stubs_is_read_for_the_package(self) -> None:
        folder = install(self, {"sample/__init__.py": "def g(): pass\n"})
        install(self, {"sample-stubs/fast.pyi": "def f(a: int) -> int: ...\n"}, name="types-sample", folder=folder)
        self.assertIn("sample.fast.f", {record["id"] for record in imported(folder).volume["sections"]})

    def test_the_docstring_of_the_source_goes_with_the_types_of_the_stub(self) -> None:
        record = sections(self, {"sample.py": "def f(a, b=1):\n    'Text.'\n", "sample.pyi": "def f(a: int, b: int = ...) -> str: ...\n"})["sample.f"]
        self.assertIn("def f(a: int, b: int = ...) -> str", record["body"])
        self.assertIn("Text.", record["body"])
        self.assertEqual(record["path"], "sample.py:1")

    def test_a_compiled_module_without_a_stub_is_named(self) -> None:
        done = imported(install(self, {"sample/__init__.py": "def f(): pass\n", "sample/fast.cpython-311-x86_64-linux-gnu.so": b"\x7fELF"}))
        self.assertEqual([row["path"] for row in done.report["skippedFiles"]], ["sample/fast.cpython-311-x86_64-linux-gnu.so"])


CYTHON = '''\
"""About fast."""
cimport cython
from libc.math cimport sin
include "more.pxi"
__all__ = ["area", "Shape",
           "SIZE", "total", "old"]
DEF LIMIT = 5
SIZE = LIMIT
cdef int hidden(int a) except -1:
    return a

@cython.boundscheck(False)
def area(Shape shape not None, double[:] edges, *, bint exact=True, kind=u"plain"):
    """Tells the area: of a shape."""
    cdef int i = 0
    for i in range(5): pass
    """no docstring"""

cpdef inline double total(double a, double b=2.0) noexcept nogil:
    return a + b

IF UNAME_SYSNAME == "Windows":
    old = 1
ELSE:
    old = <object>NULL

cdef public class Shape(Base) [ type ShapeType, object Shape ]:
    """A shape."""
    cdef readonly double width, height
    cdef int secret
    def __cinit__(self, double width=1.0):
        self.width = width

    property name:
        "Its name."
        def __get__(self):
            return "x"

    @staticmethod
    def made(text): return Shape()

    cdef void _move(self, int x):
        pass
'''


class Cython(unittest.TestCase):
    def setUp(self) -> None:
        self.records = sections(self, {"sample/__init__.py": "", "sample/fast.so": b"\x7fELF", "sample/fast.pyx": CYTHON,
                                       "sample/more.pxi": 'class Base:\n    """Below."""\n\ndef helper(): pass\n'})

    def test_what_python_can_use_has_its_section(self) -> None:
        names = ["SIZE", "Base", "helper", "area", "total", "old", "Shape", "Shape.name", "Shape.made"]
        self.assertEqual(sorted(self.records), sorted(["sample", "sample.fast", *(f"sample.fast.{name}" for name in names)]))

    def test_signatures_are_those_that_a_caller_sees(self) -> None:
        for name, heading in {"area": 'area(shape, edges, *, exact=True, kind=u"plain")', "total": "total(a, b=2.0)", "Shape": "Shape(width=1.0)"}.items():
            with self.subTest(name):
                self.assertEqual(self.records[f"sample.fast.{name}"]["heading"], f"sample.fast.{heading}")
        self.assertIn("shape: Shape", self.records["sample.fast.area"]["body"])
        self.assertIn("-> double", self.records["sample.fast.total"]["body"])

    def test_docstrings_and_attributes_are_kept(self) -> None:
        for name, text in {"area": "Tells the area: of a shape.", "Shape": "A shape.", "Shape.name": "Its name.", "Base": "Below."}.items():
            with self.subTest(name):
                self.assertIn(text, self.records[f"sample.fast.{name}"]["body"])
        self.assertIn("width: double", self.records["sample.fast.Shape"]["body"])
        self.assertNotIn("secret", self.records["sample.fast.Shape"]["body"])
        self.assertNotIn("no docstring", self.records["sample.fast.area"]["body"])

    def test_places_are_those_in_the_source_and_in_what_it_includes(self) -> None:
        place = 1 + next(at for at, line in enumerate(CYTHON.split("\n")) if line.startswith("def area"))
        self.assertEqual(self.records["sample.fast.area"]["path"], f"sample/fast.pyx:{place}")
        self.assertEqual(self.records["sample.fast.helper"]["path"], "sample/more.pxi:4")

    def test_declarations_stand_in_for_a_stub_that_says_nothing(self) -> None:
        records = sections(self, {"sample/fast.so": b"\x7fELF", "sample/fast.pyi": "def __getattr__(name): ...\n",
                                  "sample/fast.pxd": "cdef int no(int a)\ncpdef double yes(double x0, bint derivative=*) noexcept nogil\n"})
        self.assertEqual(records["sample.fast.yes"]["heading"], "sample.fast.yes(x0, derivative=...)")
        self.assertNotIn("sample.fast.no", records)

    def test_what_stands_behind_an_open_bracket_is_read_and_an_open_end_is_named(self) -> None:
        before, after = "def before(x):\n  'ok'\n", "def after(x):\n  'secondtext'\n"
        opens = "a bracket that opens here is not closed: what follows"
        cases = {"x = (1,\n" + after: ("after", f"{opens}, up to line 3, is left out"),
                 "def f(int a, (b:\n  'a'\n  pass\n" + after: ("after", f"{opens}, up to line 5, is left out"),
                 "x = (1,\n" + after + "y = (\n": ("after", f"{opens}, up to line 3, is left out (and 1 more in this file)"),
                 "x = [1,\n  # " + after: ("x", f"{opens} is left out"),
                 "x = '''abc\n" + after: ("x", "a text that begins here has no end: what follows is left out"),
                 "x = (\'a\',\n '''abc\n" + after: ("x", "a text that begins here has no end: what follows is left out")}
        for text, (name, reason) in cases.items():
            with self.subTest(text):
                done = imported(install(self, {"sample/__init__.py": "", "sample/fast.so": b"\x7fELF", "sample/fast.pyx": before + text}))
                records = {record["id"]: record for record in done.volume["sections"]}
                self.assertIn("sample.fast.before", records)
                self.assertTrue(f"sample.fast.{name}" in records or re.search(rf"^{name}\b", records["sample.fast"]["body"], re.M))
                self.assertEqual({row["path"].split(":")[0]: row["reason"] for row in done.report["skippedFiles"]}, {"sample/fast.pyx": reason})

    def test_an_odd_definition_costs_no_other(self) -> None:
        cases = {"def f(not None): pass": "f(*args, **kwargs)", "def f(int &, b): pass": "f(*args, **kwargs)", "def f(=5): pass": "f(*args, **kwargs)",
                 "def f(a, (b: pass": "f(*args, **kwargs)", "def f(a=1 if, b: int = 2, c=): pass": "f(a=..., b=2, c=...)", "def f(a=lambda x, y: 0): pass":
                 "f(a=lambda x, y: 0)", "cpdef inline int f(a) except -1: pass": "f(a)", "cpdef api inline f(int *a): pass": "f(a)", "def None(a): pass": "",
                 "cpdef int 1x(a): pass": "", "None = 1": "", "cdef class A:\n  cdef public int None, x\n  cdef public a..b y": ""}
        for text, heading in cases.items():
            with self.subTest(text):
                records = sections(self, {"sample/__init__.py": "", "sample/fast.so": b"\x7fELF", "sample/fast.pyx": f"{text}\ndef g(x):\n  'Text.'\n"})
                self.assertIn("Text.", records["sample.fast.g"]["body"])
                self.assertEqual(records["sample.fast.f"]["heading"] if heading else "", heading and f"sample.fast.{heading}")

    def test_long_lines_take_linear_time(self) -> None:
        cases = {"words": "cpdef inline" + " inline" * 200000, "words of a class": "cdef" + " public" * 150000, "blanks": "cpdef" + " " * 1000000,
                 "more blanks": "cpdef inline" + " " * 1000000 + "x", "fields": "cdef public int a" + ", a" * 300000 + " !", "colons": "a" + ":" * 1000000,
                 "blocks": "if " + ":" * 1000000 + "x", "values": "a" + " , a" * 250000 + " !", "quotes": "\\'''\n" * 200000, "prefixes": "r" * 1000000,
                 "brackets": "x = (\ndef f():\n" * 5000, "parameters": "def f(" + ", ".join(f"a{at}: int = 1" for at in range(60000)) + "): pass"}
        for name, text in cases.items():
            with self.subTest(name):
                start = time.process_time()
                doctrove.read_cython("fast.pyx", text + "\n", lambda path, name: None, [])
                self.assertLess(time.process_time() - start, 5)

    def test_hostile_sources_never_raise_and_take_linear_time(self) -> None:
        cases = {
            "an open text": 'def f():\n    """' + "x" * 1000, "open brackets": "def f(" * 100000, "spaces": "cpdef int" + " " * 500000 + "f",
            "a parameter": "def f(int" + " " * 500000 + "x): pass", "commas": "a" + ", a" * 200000, "includes": 'include "fast.pyx"\n' * 1000,
            "deep": "".join(" " * depth + "if 1:\n" for depth in range(1000)), "quotes": "'''" * 100001, "colons": "class C" + "(" * 100000 + ":"}
        for name, text in cases.items():
            with self.subTest(name):
                start = time.perf_counter()
                self.assertIn("sample.g", sections(self, {"sample/__init__.py": "def g(): pass\n", "sample/fast.pyx": text}))
                self.assertLess(time.perf_counter() - start, 20)


class Broken(unittest.TestCase):
    def test_a_syntax_error_costs_its_file_alone(self) -> None:
        done = imported(install(self, {"sample/__init__.py": "from ._worse import g\ndef f(): pass\n", "sample/bad.py": "def (:\n",
                                      "sample/_worse.py": "x = (\n"}))
        self.assertEqual({row["path"]: row["reason"].partition(":")[0] for row in done.report["skippedFiles"]},
                         {"sample/bad.py": "syntax error in line 1", "sample/_worse.py": "syntax error in line 1"})
        self.assertIn("sample.f", {record["id"] for record in done.volume["sections"]})

    def test_a_generated_file_is_left_out_with_the_reason(self) -> None:
        done = imported(install(self, {"sample/__init__.py": "def f(): pass\n", "sample/tables.py": "x = 1  # " + "y" * (5 << 20)}))
        self.assertIn("generated code is not read", done.report["skippedFiles"][0]["reason"])

    def test_encodings_are_those_that_the_file_names(self) -> None:
        text = "# -*- coding: latin-1 -*-\ndef f(a='é'):\n    'Café.'\n".encode("latin-1")
        record = sections(self, {"sample.py": text})["sample.f"]
        self.assertEqual(record["heading"], "sample.f(a='é')")
        self.assertIn("Café.", record["body"])

    def test_broken_files_never_raise(self) -> None:
        cases: dict[str, bytes] = {
            "a NUL": b"x = '\0'\n", "no such encoding": b"# coding: nonsense\n", "wrong bytes": b"x = '\xff'\n", "deep": b"x = " + b"(" * 5000 + b")" * 5000,
            "deeper": b"x = " + b"-" * 100000 + b"1", "nested": b"".join(b" " * depth + b"if 1:\n" for depth in range(90)) + b" " * 90 + b"x = 1\n",
            "only a text": b"'''", "carriage returns": b"def g():\r    'Text.'\r", "a mark of byte order": b"\xef\xbb\xbfdef g(): pass\n"}
        for name, content in cases.items():
            with self.subTest(name):
                self.assertIn("sample.f", sections(self, {"sample/__init__.py": "def f(): pass\n", "sample/other.py": content}))

    def test_broken_metadata_costs_the_readme_alone(self) -> None:
        folder = install(self, {"sample.py": "def f(): pass\n"})
        write(folder, "sample-1.2.dist-info/METADATA", b"\xff\xfe\0\0 no header at all")
        write(folder, "sample-1.2.dist-info/RECORD", b'sample.py,,\n"unclosed,,\n')
        self.assertIn("sample.f", {record["id"] for record in imported(folder).volume["sections"]})

    def test_long_texts_take_linear_time(self) -> None:
        cases = {
            "dashes": "-" * 1000000, "titles": "Args:\n    x: y\n" * 60000, "underlined": "Notes\n-----\n" * 60000, "spaces": "Args:\n  " + " " * 1000000 + "x",
            "parentheses": "Args:\n    a (" + "(" * 300000, "names": "Parameters\n----------\n" + "a, " * 300000, "colons": ":param " * 140000,
            "ticks": "`" * 1000000, "prompts": ">>> \n" * 200000, "hashes": "# \n" * 300000, "fields": ":a: b\nc\n" * 100000, "roles": ":a:" * 300000}
        for name, text in cases.items():
            with self.subTest(name):
                start = time.perf_counter()
                doctrove.docstring_blocks(text)
                self.assertLess(time.perf_counter() - start, 20)


class Docstrings(unittest.TestCase):
    def check(self, text: str, expected: str) -> None:
        self.assertEqual("\n\n".join(doctrove.docstring_blocks(text)), expected)

    def test_google(self) -> None:
        self.check("Does it.\n\n    Args:\n        a (int): The first,\n            continued.\n        **kwargs: The rest.\n\n"
                   "    Returns:\n        A dict.\n\n"
                   "    Raises:\n        ValueError: If not.\n\n    Example:\n        >>> f(1)\n        1\n    ",
                   "Does it.\n\n**Args**\n\n- `a` (int): The first,\n  continued.\n- `**kwargs`: The rest.\n\n**Returns**\n\nA dict.\n\n"
                   "**Raises**\n\n- `ValueError`: If not.\n\n**Example**\n\n```pycon\n>>> f(1)\n1\n```")

    def test_numpy(self) -> None:
        self.check("Does it.\n\n    Parameters\n    ----------\n    a, b : int, optional\n        The first.\n    *args\n        The rest.\n\n"
                   "    Returns\n    -------\n    out : ndarray\n        A result.\n\n    Notes\n    -----\n    Text.\n    ",
                   "Does it.\n\n**Parameters**\n\n- `a`, `b` (int, optional): The first.\n- `*args`: The rest.\n\n"
                   "**Returns**\n\n- `out` (ndarray): A result.\n\n**Notes**\n\nText.")

    def test_field_lists(self) -> None:
        self.check("Does it.\n\n    :param a: The first,\n    not indented.\n    :type a: int\n    :returns: See :class:`~m.Thing`.\n    ",
                   "Does it.\n\n**Parameters**\n\n- `a` (int): The first, not indented.\n\n**Returns**: See `Thing`.")

    def test_markdown_stays_with_its_headings_as_bold_text(self) -> None:
        self.check("Does it.\n\n    # Title\n\n    ```python\n    # no title\n    ```\n    ", "Does it.\n\n**Title**\n\n```python\n# no title\n```")

    def test_no_text_is_lost(self) -> None:
        for text in ("Args:\n    free text without names\n", "Returns:\n\n", "Note: on one line", "Parameters\n----------\n", "Args:\nnot indented\n"):
            with self.subTest(text):
                words = set(re.findall(r"\w+", text))
                self.assertLessEqual(words, set(re.findall(r"\w+", " ".join(doctrove.docstring_blocks(text)))) | {"Returns", "Parameters"})


class Library(unittest.TestCase):
    def setUp(self) -> None:
        self.site = install(self, {"sample/__init__.py": "from ._inner import f\n", "sample/_inner.py": "def f(a):\n    'Text.'\n"},
                            metadata=METADATA.format(name="sample", version="1.2") + "\nSample\n======\n\nReadme text.\n")
        self.root = make_folder(self)

    def call(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return command("--root", self.root, *arguments)

    def test_the_shell_indexes_extracts_verifies_and_refreshes(self) -> None:
        done = self.call("index", "pypi:Sample", "--site-packages", self.site, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)[0]
        self.assertEqual((report["repo"], report["version"], report["documents"]), ("sample", "1.2", 2))
        self.assertIn(b"sample.f(a)", self.call("extract", "sample", "#sample._inner.f").stdout)
        self.assertEqual(json.loads(self.call("verify", "sample", "--json").stdout)["repos"][0]["source"]["match"], 2)
        self.assertEqual(json.loads(self.call("refresh", "sample", "--json").stdout)["repos"][0]["unchanged"], 2)
        write(self.site, "sample/_inner.py", "def f(a, b):\n    'Text.'\n")
        self.assertEqual(json.loads(self.call("refresh", "sample", "--json").stdout)["repos"][0]["changed"], 1)
        self.assertIn(b"sample.f(a, b)", self.call("extract", "sample", "#sample._inner.f").stdout)

    def test_what_is_not_installed_ends_with_one(self) -> None:
        done = self.call("index", "pypi:absent", "--site-packages", self.site)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"pip install absent", done.stderr)

    def test_the_same_package_gives_the_same_volume(self) -> None:
        self.assertEqual(whole(imported(self.site).volume), whole(imported(self.site).volume))

    def test_nothing_of_a_package_is_run(self) -> None:
        mark = os.path.join(make_folder(self), "ran")
        text = f"open({mark!r}, 'w')\n"
        install(self, {"sample/__init__.py": text, "sample.pth": f"import os; {text}", "sample/setup.py": text}, folder=self.site)
        doctrove.import_collection(doctrove.open_python("sample", {"site-packages": self.site}))
        self.assertFalse(os.path.exists(mark))


class StandardLibrary(unittest.TestCase):
    def test_modules_with_and_without_source_are_there(self) -> None:
        collection = doctrove.open_python("stdlib", {})
        self.assertEqual(collection.label, ("python", sys.version.split()[0].rstrip("+")))
        chosen = [item for item in collection.items if item.path in ("json/__init__.py", "builtins", "math", "posixpath.py", "os.py")]
        collection.items[:] = chosen
        records = {record["id"]: record for record in doctrove.import_collection(collection).volume["sections"]}
        for name in ("json.dumps", "print", "str.join", "os.path.join", "os.getcwd", "ValueError"):
            with self.subTest(name):
                self.assertIn(name, records)
        self.assertNotIn("test", {item.path.partition("/")[0] for item in collection.items})


if __name__ == "__main__":
    unittest.main()
