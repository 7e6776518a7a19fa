"""npm:NAME, crate:NAME and go:MODULE: what is installed becomes sections, under the names that users write. The packages are written by the tests."""
from __future__ import annotations

import io
import json
import os
import tarfile
import time
import unittest
from typing import Any
from unittest import mock

from support import doctrove, make_folder

Record = dict[str, Any]


def write(folder: str, files: dict[str, Any]) -> None:
    for name, content in files.items():
        path = os.path.join(folder, *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else (content if isinstance(content, str) else json.dumps(content)).encode("utf-8"))


def imported(source: str, **where: str) -> Any:
    return doctrove.import_collection(doctrove.open_source(source, {name.replace("_", "-"): value for name, value in where.items()}))


class Case(unittest.TestCase):

    def setUp(self) -> None:
        self.folder = make_folder(self)
        self.modules = os.path.join(self.folder, "node_modules")

    def package(self, declarations: str, **more: Any) -> dict[str, Record]:
        """name -> section of the package `lib`, whose index.d.ts this is. more: further files, '__' for '/' and '_' for '.' in their names."""
        files = {"package.json": {"name": "lib", "version": "1.2.3", "types": "index.d.ts"}, "index.d.ts": declarations, **more}
        write(os.path.join(self.modules, "lib"), files)
        return self.sections("lib")

    def sections(self, name: str) -> dict[str, Record]:
        self.done = imported(f"npm:{name}", node_modules=self.modules)
        found: dict[str, Record] = {}
        for record in self.done.volume["sections"]:
            found[record["id"]] = record
        for record in self.done.volume["sections"]:
            for other in record.get("names", ()):
                found.setdefault(other, record)
        return found


class Declarations(Case):

    def test_a_function_is_a_section_with_its_signature_its_comment_and_its_line(self) -> None:
        found = self.package("""\
// first line
/**
 * Adds two numbers. See {@link sub} and {@link https://example.org the site}.
 *
 * @param a - the one
 * @param b the other
 * @returns the sum
 * @example
 * add(1, 2)
 * @deprecated use plus
 * @default 1
 */
export declare function add(a: number, b?: number, ...rest: number[]): number;
""")["add"]
        self.assertEqual((found["heading"], found["path"]), ("add(a, b?, ...rest)", "index.d.ts:13"))
        self.assertEqual(found["body"], """\
```ts
export declare function add(a: number, b?: number, ...rest: number[]): number
```

Adds two numbers. See `sub` and [the site](https://example.org).

**Parameters**

- `a`: the one
- `b`: the other

**Returns** the sum

**Example**

```ts
add(1, 2)
```

**Deprecated** use plus

**Default** `1`""")

    def test_overloads_share_a_section_and_each_keeps_its_comment(self) -> None:
        found = self.package("/** One. */\nexport function f(a: string): void;\n/** @deprecated Two. */\nexport function f(a: number, b: number): void;\n")
        self.assertEqual(found["f"]["heading"], "f(a, b)")
        body = found["f"]["body"]
        places = [body.index(part) for part in ("a: string", "One.", "a: number", "**Deprecated** Two.")]
        self.assertEqual(places, sorted(places))

    def test_members_of_classes_and_interfaces_have_sections(self) -> None:
        found = self.package("""\
export declare class Base { /** Opens. */ open(): this; }
export declare class Door<T = {}> extends Base {
  private secret: string;
  #hidden: string;
  constructor(width: number, options?: { deep: boolean });
  /** How wide. */
  readonly width: number;
  plain: string;
  get color(): string;
  set color(value: string);
  static of<T>(items: T[]): Door;
  static: boolean;
  knock(times?: number): void
  knock(times: string): void
  [key: string]: any;
}
export interface Call { (a: string): void; /** Makes. */ new (b: string): Call; }
""")
        self.assertEqual(found["Door.constructor"]["heading"], "new Door(width, options?)")
        self.assertEqual(found["Door.knock"]["heading"], "Door.knock(times?)")
        self.assertIn("times: string", found["Door.knock"]["body"])
        self.assertIn("How wide.", found["Door.width"]["body"])
        self.assertEqual(found["Door.color"]["heading"], "Door.color")
        self.assertIn("static of<T>", found["Door.of"]["body"])
        self.assertEqual(found["Door.plain"], found["Door"])  # nothing is said of it: the class shows it
        self.assertIn("Inherited from `Base`: `open`", found["Door"]["body"])
        self.assertEqual({name for name in found if "secret" in name or "hidden" in name}, set())
        self.assertEqual(found["Call.new"]["heading"], "new Call(b)")

    def test_types_enums_and_constants_are_shown_whole(self) -> None:
        found = self.package("""\
export type Deep<T> = T extends (infer U)[] ? { a: U; /* kept */ b: Deep<U> } : never
export declare enum Color { Red = "red", /** Green it is. */ Green = 1 << 2 }
export declare const enum Bits { A }
export declare const one: 1, two: { a: string }
export declare let call: (a: string, b?: number) => Promise<void>;
export type Tpl = `${number}px` | `a${Deep<"b">}`;
export declare const { x, y }: Point;
""")
        self.assertIn("/* kept */ b: Deep<U> } : never", found["Deep"]["body"])
        self.assertIn("Green it is.", found["Color"]["body"])
        self.assertEqual(found["Color.Green"], found["Color"])
        self.assertEqual(found["call"]["heading"], "call(a, b?)")
        self.assertTrue({"Bits", "one", "two", "Tpl", "x", "y"} <= set(found))

    def test_what_is_reexported_has_the_name_that_users_write(self) -> None:
        found = self.package("""\
export * from "./star.js";
export * as ns from './space';
export { inner as outer, type Shape } from "./more.mjs";
import * as z from "./space";
export { z };
import whole = require("./whole");
export { whole };
export default z;
""", **{"star.d.ts": "export declare const star: number; declare const unseen: 1; export {};", "space/index.d.ts": "export declare function fn(): void;",
            "more.d.mts": "declare function inner(): void; interface Shape { a: 1 } export { inner, Shape };",
            "whole.d.ts": "declare function w(): void; declare namespace w { const sub: string; } export = w;"})
        self.assertEqual(found["star"]["path"], "star.d.ts:1")
        self.assertEqual(found["ns.fn"]["path"], "space/index.d.ts:1")
        self.assertEqual(found["outer"]["heading"], "outer()")
        self.assertTrue({"Shape", "z", "z.fn", "whole", "whole.sub", "lib"} <= set(found))
        self.assertNotIn("unseen", found)

    def test_a_namespace_of_everything_gives_its_name_to_everything(self) -> None:
        found = self.package('import * as z from "./all"; export * from "./all"; export { z }; export default z;', **{
            "all.d.ts": "export declare function a(): void; export declare function b(): void; export class C { parse(data: unknown): void }"})
        self.assertEqual(found["z.a"]["heading"], "z.a()")
        self.assertEqual(found["z.C.parse"]["heading"], "z.C.parse(data)")
        self.assertEqual(found["a"], found["z.a"])

    def test_what_is_exported_as_a_whole_has_the_name_of_the_package(self) -> None:
        found = self.package("""\
declare function e(): e.App;
declare namespace e { interface App extends Core { } function Router(options?: {}): App; interface Core { /** Gets. */ get(path: string): this } }
export = e;
""")
        self.assertEqual(found["lib"]["heading"], "lib()")
        self.assertEqual(found["lib.Router"]["heading"], "lib.Router(options?)")
        self.assertIn("Gets.", found["lib.Core.get"]["body"])

    def test_the_members_of_the_one_object_of_a_package_are_called_by_its_name(self) -> None:
        found = self.package("export interface Static extends Base { all(): void } interface Base { get(url: string): void }\n"
                             "declare const ax: Static; export default ax;")
        self.assertEqual(found["Static.all"]["heading"], "ax.all()")
        self.assertEqual(found["ax.get"], found["Base.get"])

    def test_declarations_of_one_name_are_merged_and_augmentations_joined(self) -> None:
        found = self.package("""\
/// <reference path="./extra.d.ts" />
export interface A { /** One. */ one(): void }
export interface A { two(): void }
export declare function A(): A;
declare global { interface Window { lib: A } }
declare module "virtual" { export function made(): void }
""", **{"extra.d.ts": 'import "./index"; declare module "./index" { interface A { three(): void } }'})
        self.assertTrue({"A.one", "A.two", "A.three", "Window", "virtual.made"} <= set(found))
        self.assertEqual(found["A.three"]["path"], "extra.d.ts:1")
        self.assertEqual(found["A"]["heading"], "A()")

    def test_each_block_of_a_namespace_says_for_itself_what_it_exports(self) -> None:
        found = self.package("declare namespace n { const a: 1; } declare namespace n { const b: 2; const c: 3; export { c }; } export = n;")
        self.assertTrue({"lib.a", "lib.c"} <= set(found))
        self.assertNotIn("lib.b", found)

    def test_a_name_whose_module_is_not_at_hand_keeps_its_statement(self) -> None:
        found = self.package('export { Far } from "elsewhere"; export * from "nowhere"; export declare const near: 1;')
        self.assertIn('export { Far } from "elsewhere"', found["Far"]["body"])
        self.assertIn("near", found)

    def test_modules_that_reexport_each_other_end(self) -> None:
        found = self.package('export * from "./b"; export { x } from "./b"; export declare const a: 1;',
                             **{"b.d.ts": 'export * from "./index"; export { x } from "./index"; export declare const b: 1;'})
        self.assertTrue({"a", "b"} <= set(found))

    def test_syntax_that_is_not_known_is_named_and_skipped(self) -> None:
        found = self.package("export declare const a: 1;\nexport ?!? strange { thing };\nexport declare const b: 2;\n"
                             "interface C { ?? ; ok(): void }\nexport { C };")
        self.assertTrue({"a", "b", "C.ok"} <= set(found))
        self.assertIn({"path": "index.d.ts:2", "reason": "declarations that are not understood: export ?!? strange { thing };"},
                      self.done.report["skippedFiles"])

    def test_hostile_declarations_end_in_linear_time(self) -> None:
        for sign in ("type A=<", "export {", "`${", "interface A{b:{", "namespace a{", "class A extends B<", "type A = B extends C ? ", "/**", "a<b,"):
            with self.subTest(sign):
                write(os.path.join(self.modules, "lib"), {"package.json": {"name": "lib", "types": "index.d.ts"}, "index.d.ts": sign * (300000 // len(sign))})
                started = time.process_time()
                self.sections("lib")
                self.assertLess(time.process_time() - started, 20)


class Packages(Case):

    def test_entries_of_exports_by_condition_pattern_and_subpath(self) -> None:
        write(os.path.join(self.modules, "@my", "lib"), {
            "package.json": {"name": "@my/lib", "version": "2.0.0", "exports": {
                ".": {"types@<=4.0": "./old.d.ts", "import": {"types": "./esm/index.d.mts", "default": "./esm/index.mjs"}, "require": "./no.cjs"},
                "./sub": [{"browser": "./no.js"}, "./sub.js"], "./parts/*": {"types": "./parts/*.d.ts"},
                "./parts/secret/*": None, "./package.json": "./package.json"}},
            "esm/index.d.mts": "export declare const main: 1;", "old.d.ts": "export declare const old: 1;", "sub.d.ts": "export declare function deep(): void;",
            "parts/one.d.ts": "export declare function main(a: string): void;", "parts/secret/x.d.ts": "export declare const hush: 1;",
            "README.md": "# My lib\n\nText.", "docs/guide.md": "# Guide\n\nMore.", "CHANGELOG.md": "# 2.0.0\n\n- New.", "src/notes.md": "# No"})
        found = self.sections("@my/lib")
        self.assertEqual(found["main"]["path"], "esm/index.d.mts:1")
        self.assertEqual(found["@my/lib/sub"], found["deep"])
        self.assertIn("Import from `@my/lib/sub`.", found["deep"]["body"])
        self.assertEqual(found["@my/lib/parts/one.main"]["heading"], "main(a)")
        self.assertEqual({"old", "hush"} & set(found), set())
        documents = {document["path"] for document in self.done.volume["documents"]}
        self.assertTrue({"README.md", "docs/guide.md", "CHANGELOG.md"} <= documents)
        self.assertNotIn("src/notes.md", documents)

    def test_without_exports_files_beside_a_script_and_folders_that_say_what_they_are_are_imported_by_their_paths(self) -> None:
        write(self.modules, {
            "days/package.json": {"name": "days", "version": "1.0.0", "main": "days.js"}, "days/days.js": "", "days/index.d.ts":
                "export = days;\ndeclare function days(): days.Day;\ndeclare namespace days { interface Day { year(): number } }\n",
            "days/plugin/utc.js": "", "days/plugin/utc.d.ts":
                "declare const plugin: () => void;\nexport = plugin;\ndeclare module 'days' { interface Day { utc(): Day }\n export function utc(): Day }\n",
            "days/plugin/types.d.ts": "export type Alone = 1;\n", "days/more/index.js": "", "days/more/index.d.ts": "export function more(): void;\n",
            "days/other/package.json": {"types": "./built/other.d.ts"}, "days/other/built/other.d.ts": "export function other(): void;\n",
            "days/esm/index.js": "", "days/esm/index.d.ts": "export function twice(): void;\n",
            "days/_own/x.js": "", "days/_own/x.d.ts": "export function own(): void;\n"})
        found = self.sections("days")
        for id, path in {"utc": "plugin/utc.d.ts:1", "days.utc": "plugin/utc.d.ts:4", "days.Day.utc": "plugin/utc.d.ts:3", "more": "more/index.d.ts:1",
                         "other": "other/built/other.d.ts:1"}.items():
            with self.subTest(id):
                self.assertEqual(found[id]["path"], path)
        self.assertIn("days/plugin/utc", found["utc"]["names"])
        self.assertIn("Import from `days/more`.", found["more"]["body"])
        self.assertEqual({"Alone", "twice", "own"} & set(found), set())

    def test_without_exports_what_stands_beside_the_entry_in_its_folder_is_the_entrys(self) -> None:
        write(self.modules, {
            "deep/package.json": {"name": "deep", "version": "1.0.0", "main": "main/index.js"}, "deep/main/index.js": "", "deep/main/part.js": "",
            "deep/main/index.d.ts": "export { part } from './part';\n",
            "deep/main/part.d.ts": "export function part(): void;\nexport function inner(): void;\n"})
        self.assertEqual(sorted(self.sections("deep")), ["part"])

    def test_declarations_from_types_versions_and_from_the_types_package(self) -> None:
        write(self.modules, {"a/package.json": {"name": "a", "types": "index.d.ts", "typesVersions": {"<=3": {"*": ["old/*"]}, "*": {"*": ["new/*"]}}},
                             "a/new/index.d.ts": "export declare const fresh: 1;", "a/index.d.ts": "export declare const stale: 1;",
                             "@s/b/package.json": {"name": "@s/b", "version": "1.0.0", "main": "index.js"}, "@s/b/index.js": "exports.x = 1",
                             "@types/s__b/package.json": {"name": "@types/s__b", "version": "9.0.0"},
                             "@types/s__b/index.d.ts": "export function typed(): void;"})
        self.assertIn("fresh", self.sections("a"))
        self.assertEqual(self.sections("@s/b")["typed"]["path"], "@types/s__b/index.d.ts:1")
        self.assertEqual(doctrove.open_npm("@s/b", {"node-modules": self.modules}).label, ("@s/b", "1.0.0"))

    def test_names_that_come_from_a_dependency_are_followed_through_links(self) -> None:
        store = os.path.join(self.modules, ".pnpm")
        write(store, {"lib@1/node_modules/lib/package.json": {"name": "lib", "version": "1.0.0", "types": "index.d.ts"},
                      "lib@1/node_modules/lib/index.d.ts": 'export * from "core";',
                      "core@1/node_modules/core/package.json": {"name": "core", "types": "c.d.ts"},
                      "core@1/node_modules/core/c.d.ts": "export declare function go(): void;"})
        try:
            os.symlink(os.path.join(store, "lib@1", "node_modules", "lib"), os.path.join(self.modules, "lib"), target_is_directory=True)
            os.symlink(os.path.join(store, "core@1", "node_modules", "core"), os.path.join(store, "lib@1", "node_modules", "core"), target_is_directory=True)
        except OSError as error:
            self.skipTest(f"no links here: {error}")
        self.assertEqual(self.sections("lib")["go"]["path"], "core/c.d.ts:1")

    def test_a_workspace_package_is_read_where_its_link_leads(self) -> None:
        write(self.folder, {"packages/mine/package.json": {"name": "mine", "version": "0.0.1", "types": "src/index.ts"},
                            "packages/mine/src/index.ts": "/** Here. */\nexport function here(a = 1): number { return a }\nconst hidden = 2;\n"})
        os.makedirs(self.modules)
        try:
            os.symlink(os.path.join(self.folder, "packages", "mine"), os.path.join(self.modules, "mine"), target_is_directory=True)
        except OSError as error:
            self.skipTest(f"no links here: {error}")
        found = self.sections("mine")
        self.assertEqual((found["here"]["heading"], found["here"]["path"]), ("here(a?)", "src/index.ts:2"))
        self.assertNotIn("hidden", found)

    def test_javascript_without_declarations_gives_what_its_author_documented(self) -> None:
        write(self.modules, {"js/package.json": {"name": "js", "version": "1.0.0", "main": "./lib"}, "js/lib/index.js": """\
'use strict'
var re = /[`"'{]/g
module.exports = make
module.exports.other = function (a, b) { return a }
/** Not exported. */
function inner () {}
/**
 * Makes it.
 * @param {string} [name] what to call it
 */
function make (name) { return `${name}` }
"""})
        found = self.sections("js")
        self.assertEqual(found["make"]["body"], "```ts\nfunction make (name)\n```\n\nMakes it.\n\n**Parameters**\n\n- `name` (`string`): what to call it")
        self.assertEqual({"inner", "other", "re"} & set(found), set())

    def test_an_archive_is_read_without_unpacking(self) -> None:
        path = os.path.join(self.folder, "lib-3.0.0.tgz")
        with tarfile.open(path, "w:gz") as archive:
            for name, text in (("package.json", '{"name": "lib", "version": "3.0.0", "types": "./dist/index"}'), ("README.md", "# Lib\n\nText."),
                               ("dist/index.d.ts", 'export * from "./a";'), ("dist/a.d.ts", "export declare const a: 1;")):
                info = tarfile.TarInfo(f"package/{name}")
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text.encode()))
        collection = doctrove.open_source(f"npm:{path}", {})
        self.assertEqual(collection.label, ("lib", "3.0.0"))
        ids = {record["id"]: record["path"] for record in doctrove.import_collection(collection).volume["sections"]}
        self.assertEqual(ids["a"], "dist/a.d.ts:1")

    def test_a_package_that_is_not_installed_says_where_it_looked_and_what_to_run(self) -> None:
        with self.assertRaises(doctrove.DocError) as caught:
            doctrove.open_source("npm:absent", {"node-modules": self.modules})
        self.assertEqual(caught.exception.code, "not-found")
        said = caught.exception.message("en")
        self.assertIn("npm install absent", said)
        self.assertIn(self.modules.replace(os.sep, "/"), said)

    def test_a_name_that_leads_elsewhere_is_refused(self) -> None:
        for name in ("../x", "/etc", "@a/../b", ""):
            with self.subTest(name), self.assertRaises(doctrove.DocError) as caught:
                doctrove.open_source(f"npm:{name}", {"node-modules": self.modules})
            self.assertEqual(caught.exception.code, "validation")

    def test_what_the_manifest_says_in_a_line_is_what_the_package_is_about(self) -> None:
        for said, about in (("Sign  tokens\n", "Sign tokens"), (None, ""), (["x"], ""), (7, "")):
            with self.subTest(said):
                write(os.path.join(self.modules, "lib"), {"package.json": {"name": "lib", "version": "1.2.3", "description": said}, "README.md": "# Lib"})
                self.assertEqual(doctrove.open_npm("lib", {"node-modules": self.modules}).about, about)

    def test_broken_package_files_cost_only_themselves(self) -> None:
        write(self.modules, {"bad/package.json": b"\xff{", "bad/index.d.ts": b"export declare const ok: 1; \xff\xfe", "bad/README.md": "# Bad\n\nText."})
        self.assertIn("ok", self.sections("bad"))

    def test_an_imported_package_is_refreshed_from_where_it_is_installed(self) -> None:
        root = os.path.join(self.folder, "library")
        self.package("/** Old. */\nexport declare function f(): void;")
        doctrove.import_source("npm:lib", "", "", root, options={"where": {"node-modules": self.modules}})
        self.package("/** New. */\nexport declare function f(): void;")
        report = doctrove.refresh_volume(root, "lib", "1.2.3")
        self.assertEqual((report["changed"], report["failed"]), (["index.d.ts"], []))
        self.assertEqual(doctrove.refresh_volume(root, "lib", "1.2.3")["changed"], [])


class Code(Case):

    def test_public_items_of_a_crate_have_the_paths_that_users_write(self) -> None:
        write(self.folder, {"registry/src/index/my-crate-1.4.0/src/lib.rs": """\
//! A crate.
pub use crate::inner::deep::{Thing, helper as help};
mod inner;
pub mod open {
    /// Opens.
    pub fn open<T: Into<String>>(path: T, mode: u8) -> Result<(), Error> { Ok(()) }
    pub(crate) fn hidden() {}
}
/// Says hello.
#[macro_export]
macro_rules! hello { () => {} }
#[deprecated(note = "gone")]
#[doc = "A number."]
pub const N: u8 = 1;
""", "registry/src/index/my-crate-1.4.0/src/inner/mod.rs": "pub mod deep;", "registry/src/index/my-crate-1.4.0/src/inner/deep.rs": """\
/** A thing. */
pub struct Thing<'a> { /// Its name.
    pub name: &'a str, secret: u8 }
impl<'a> Thing<'a> {
    /// Makes one.
    ///
    /// ```
    /// # use x;
    /// Thing::new();
    /// ```
    pub fn new(name: &'a str) -> Self { let c = '"'; Self { name } }
    fn private(&self) {}
}
pub fn helper() {}
/// Speaks.
pub trait Speak { /// Says it.
    fn say(&self, what: &str); }
""", "registry/src/index/my-crate-1.10.0-rc.1/src/lib.rs": "", "registry/src/index/my-crate-1.4.0/README.md": "# My crate\n\nText."})
        with mock.patch.dict(os.environ, {"CARGO_HOME": self.folder}):
            collection = doctrove.open_source("crate:my-crate", {})
        self.assertEqual(collection.label, ("my-crate", "1.4.0"))
        found = {record["id"]: record for record in doctrove.import_collection(collection).volume["sections"]}
        self.assertEqual(found["my_crate::Thing::new"]["heading"], "my_crate::Thing::new(name)")
        self.assertEqual(found["my_crate::Thing::new"]["path"], "src/inner/deep.rs:11")
        self.assertIn("```rust\nThing::new();\n```", found["my_crate::Thing::new"]["body"])
        self.assertIn("Its name.", found["my_crate::Thing::name"]["body"])
        self.assertEqual(found["my_crate::open::open"]["heading"], "my_crate::open::open(path, mode)")
        self.assertIn("A number.\n\n**Deprecated** gone", found["my_crate::N"]["body"])
        self.assertTrue({"my_crate::help", "my_crate::hello!", "my_crate", "My crate".lower()} & set(found))
        self.assertEqual({"my_crate::Thing::private", "my_crate::open::hidden", "my_crate::Speak"} & set(found), set())

    def test_what_a_go_module_exports_has_the_name_of_its_package(self) -> None:
        write(self.folder, {"github.com/!me/mux@v1.2.0/mux.go": """\
// Package mux routes.
package mux

import "net/http"

// Router is it.
type Router[T any] struct {
	Name string // shown
}

// Handle adds a handler.
//
//	r.Handle("/", nil)
func (r *Router[T]) Handle(path string, handlers ...http.Handler) interface{} {
	return "}"
}

// Kinds.
const (
	A Kind = iota
	B
	c
)

func hidden() {}
""", "github.com/!me/mux@v1.2.0/internal/x.go": "package x\nfunc X() {}\n", "github.com/!me/mux@v1.2.0/mux_test.go": "package mux\nfunc TestX() {}\n"})
        with mock.patch.dict(os.environ, {"GOMODCACHE": self.folder}):
            collection = doctrove.open_source("go:github.com/Me/mux", {})
        self.assertEqual(collection.label, ("github.com/Me/mux", "v1.2.0"))
        found = {record["id"]: record for record in doctrove.import_collection(collection).volume["sections"]}
        handle = found["github.com/Me/mux.Router.Handle"]
        self.assertEqual((handle["heading"], handle["path"]), ("mux.Router.Handle(path, handlers)", "mux.go:14"))
        self.assertEqual(handle["body"], "```go\nfunc (r *Router[T]) Handle(path string, handlers ...http.Handler) interface{}\n```\n\n"
                         "Handle adds a handler.\n\n```go\nr.Handle(\"/\", nil)\n```")
        self.assertIn("mux.B", found["github.com/Me/mux.A"]["names"])
        self.assertEqual(set(found), {"github.com/Me/mux", "github.com/Me/mux.Router", "github.com/Me/mux.Router.Handle", "github.com/Me/mux.A"})

    def test_a_copy_whose_folder_is_known_is_read_there(self) -> None:
        write(self.folder, {"vendor/a/Cargo.toml": '[package]\nname = "a"\nversion = "3.1.4"\n', "vendor/a/src/lib.rs": "/// F.\npub fn f() {}\n",
                            "vendor/y@v2.0.0/a.go": "package y\n\n// F is it.\nfunc F() {}\n"})
        for source, place, label, id in (("crate:a", "a", ("a", "3.1.4"), "a::f"), ("go:x/y", "y@v2.0.0", ("x/y", "v2.0.0"), "x/y.F")):
            with self.subTest(source):
                collection = doctrove.open_source(source, {"folder": os.path.join(self.folder, "vendor", place)})
                self.assertEqual(collection.label, label)
                self.assertIn(id, [record["id"] for record in doctrove.import_collection(collection).volume["sections"]])

    def test_what_a_crates_manifest_says_is_what_it_is_about(self) -> None:
        for said, about in (('"Sign \\"tokens\\" fast"', 'Sign "tokens" fast'), ("'Sign tokens'", "Sign tokens"), ('"""\nSign\ntokens\n"""', "Sign tokens"),
                            ('"Sign', ""), ("7", "")):
            with self.subTest(said):
                write(self.folder, {"Cargo.toml": f'[package]\nname = "c"\nversion = "1.0.0"\ndescription = {said}\n', "src/lib.rs": "//! A crate."})
                self.assertEqual(doctrove.open_crate("c", {"folder": self.folder}).about, about)

    def test_what_is_not_there_says_where_it_looked(self) -> None:
        write(self.folder, {"registry/src/i/a-1.0.0/src/lib.rs": "", "github.com/x/y@v1.0.0/a.go": "package y"})
        with mock.patch.dict(os.environ, {"CARGO_HOME": self.folder, "GOMODCACHE": self.folder}):
            for source in ("crate:b", "crate:a@2.0.0", "go:github.com/x/z", "go:github.com/x/y@v2.0.0", "go:../x"):
                with self.subTest(source), self.assertRaises(doctrove.DocError) as caught:
                    doctrove.open_source(source, {})
                self.assertEqual(caught.exception.code, "not-found")
                self.assertIn(self.folder, caught.exception.message("en"))


if __name__ == "__main__":
    unittest.main()
