#!/usr/bin/env python3
"""doctrove: accurate, versioned, traceable library documentation for coding agents, offline, in one file.

Run without a command it is an MCP server on standard input and output; the same abilities are commands at a shell (``--help``).
The module reads from top to bottom as the data flows, and each room uses only the rooms above it:

    errors      messages in English and Chinese, DocError
    config      command line > environment > config file > default, from one table
    cache       least recently used items with a time to live; the pause after a failed fetch
    releases    parse, compare and select versions
    scoring     words, catalog tiers, section ranking
    index       the format doctrove-index@1: validation, Index / Entry / Volume / Section
    sources     where bytes come from: bundled, folder, file, zip
    remote      indexes at URLs: fetched, cached, revalidated, within limits
    catalog     the sources merged: lookup, releases, extract
    tools       one registry of names, schemas and functions, for MCP and for the command line alike
    protocol    JSON-RPC and the MCP session, handshake era and stateless era
    transports  standard input and output
    static host an index folder over HTTP
    doctor      what is configured, what loads, what fails and why
    main        the command line

Start-up is a feature: a client may start the process twice per connection. At the top stands only what every start needs; everything
else is imported by the function that needs it.
"""
from __future__ import annotations

import json
import math
import os
import re
import sys
import time
from _thread import allocate_lock
from bisect import bisect_right
from itertools import accumulate, count

TYPE_CHECKING = False
if TYPE_CHECKING:
    import array
    import http.client
    import http.server
    import socket
    import threading
    import urllib.request
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import IO, Any, Callable, Union

    Record = dict[str, Any]
    RequestId = Union[str, int, None]

__version__ = "0.1.0"

# ── errors ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

# Every text that a user or a model may read, as (English, Chinese). tests/test_messages.py holds both to the same placeholders.
MESSAGES: dict[str, tuple[str, str]] = {
    # tool arguments
    "argument-missing": ("'{argument}' is required: {accepted}.", "缺少参数 '{argument}'：{accepted}。"),
    "argument-wrong": ("'{argument}' is not acceptable ({got}): {accepted}.", "参数 '{argument}' 不可用（{got}）：{accepted}。"),
    "argument-unknown": ("There is no argument '{argument}' here. Accepted: {accepted}.", "没有参数 '{argument}'。可用：{accepted}。"),
    "argument-twice": ("'{argument}' and '{other}' mean the same; give one of them.", "'{argument}' 与 '{other}' 含义相同，只给其中一个。"),
    "accept-text": ("a non-empty text of at most {most} characters", "不超过 {most} 个字符的非空文本"),
    "accept-whole": ("a whole number from {least} to {most}", "{least} 到 {most} 的整数"),
    "got-surrogate": ("it holds half of a surrogate pair", "含有不成对的代理字符"),
    "got-empty": ("it is empty", "为空"),
    "got-long": ("it has {length} characters", "有 {length} 个字符"),
    # catalog
    "unknown-id": (
        "There is no entry '{id}'. Nearest ids: {nearest}. Search with catalog_lookup.",
        "没有条目 '{id}'。相近的 id：{nearest}。请用 catalog_lookup 搜索。"),
    "unknown-id-none": (
        "There is no entry '{id}' and nothing near it. Search with catalog_lookup.",
        "没有条目 '{id}'，也没有相近的。请用 catalog_lookup 搜索。"),
    "unknown-section": (
        "{name} {version} has no section '#{section}'. Nearest ids: {nearest}. To search for the words instead, leave out '#'.",
        "{name} {version} 没有章节 '#{section}'。相近的 id：{nearest}。若要搜索词语，请去掉 '#'。"),
    "unknown-section-none": (
        "{name} {version} has no section '#{section}' and nothing near it. To search for words, leave out '#'.",
        "{name} {version} 没有章节 '#{section}'，也没有相近的。若要搜索词语，请去掉 '#'。"),
    "unknown-version": ("{name} has no version that fits '{wanted}'. Available: {candidates}.", "{name} 没有符合 '{wanted}' 的版本。可用：{candidates}。"),
    "no-versions": ("{name} lists no version.", "{name} 没有列出任何版本。"),
    "outage-empty": (
        "Nothing was found in what can be read, but {source} cannot be read now: {reason} Try again later.",
        "在可读的内容中没有找到；但 {source} 现在无法读取：{reason} 请稍后重试。"),
    "notice-fallback": ("{source} cannot be read, so it is missing from this answer: {reason}", "无法读取 {source}，本次回答不包含它：{reason}"),
    "notice-stale": ("{source} cannot be reached; its last copy is used: {reason}", "无法访问 {source}，使用的是上一次的副本：{reason}"),
    "notice-volume": (
        "{source} cannot deliver this volume, {other} holds the same version: {reason}",
        "{source} 无法提供该卷，改用 {other} 中的同一版本：{reason}"),
    # releases
    "note-latest": ("newest stable version", "最新稳定版"),
    "note-latest-pre": ("newest version; there is no stable one yet", "最新版本；尚无稳定版"),
    "note-exact": ("exactly the version asked for", "与请求的版本完全一致"),
    "note-prefix": ("newest version that starts with {wanted}", "以 {wanted} 开头的最新版本"),
    "note-prefix-pre": ("newest version that starts with {wanted}; only pre-releases do", "以 {wanted} 开头的最新版本；只有预发布版"),
    "note-range": ("newest version that fits {wanted}", "符合 {wanted} 的最新版本"),
    "note-range-pre": ("newest version that fits {wanted}; only pre-releases do", "符合 {wanted} 的最新版本；只有预发布版"),
    # network
    "remote-refused": ("{url} cannot be reached: {reason}.", "无法访问 {url}：{reason}。"),
    "remote-status": ("{url} answered HTTP status {status}.", "{url} 返回 HTTP 状态 {status}。"),
    "remote-timeout": ("{url} did not answer within {seconds} s.", "{url} 在 {seconds} 秒内没有响应。"),
    "remote-large": ("{url} is larger than the limit of {limit} bytes.", "{url} 超过 {limit} 字节的限制。"),
    "remote-broken": ("{url} sent a damaged answer: {reason}.", "{url} 返回的内容已损坏：{reason}。"),
    "remote-address": ("{url} leads to {address}, which is refused.", "{url} 指向被拒绝的地址 {address}。"),
    "remote-scheme": ("{url} leads to a URL that is not http or https: refused.", "{url} 指向非 http/https 的地址，已拒绝。"),
    "remote-invalid": ("{url} is not a usable index: {reason}", "{url} 不是可用的索引：{reason}"),
    # index
    "index-unreadable": ("{where} cannot be read: {reason}.", "无法读取 {where}：{reason}。"),
    "archive-replaced": ("{where} was overwritten while this server runs from it: restart the server.", "{where} 在运行期间被覆盖：请重启服务器。"),
    "index-large": ("{where} is larger than the limit of {limit} bytes.", "{where} 超过 {limit} 字节的限制。"),
    "index-fault": ("{where}: {path}: {fault}.", "{where}：{path}：{fault}。"),
    "fault-json": ("not JSON ({detail})", "不是 JSON（{detail}）"),
    "fault-deep": ("nested too deeply", "嵌套过深"),
    "fault-values": ("holds more than {limit} objects and arrays", "对象和数组超过 {limit} 个"),
    "fault-encoding": ("not UTF-8 ({detail})", "不是 UTF-8（{detail}）"),
    "fault-type": ("must be {wanted}", "必须是 {wanted}"),
    "fault-format": ("must be \"doctrove-index@1\"", "必须是 \"doctrove-index@1\""),
    "fault-missing": ("is missing", "缺失"),
    "fault-duplicate": ("stands there twice: {value}", "重复：{value}"),
    "fault-no-volume": ("version {version} has no volume", "版本 {version} 没有卷"),
    "fault-href": ("must be a relative path inside the index's folder, not {value}", "必须是索引目录内的相对路径，而不是 {value}"),
    "fault-sha256": ("must be 64 hexadecimal digits", "必须是 64 位十六进制数"),
    "fault-absent": ("the file {value} is not there", "文件 {value} 不存在"),
    "fault-hash": (
        "the file {value} is another one: its sha256 is {actual}",
        "文件 {value} 不是所指的文件：其 sha256 为 {actual}"),
    "fault-link": ("the file {value} leads out of the index's folder", "文件 {value} 指向索引目录之外"),
    # config
    "config-value": ("{origin}: {setting} must be {accepted}, not {got}.", "{origin}：{setting} 必须是 {accepted}，而不是 {got}。"),
    "config-unknown": ("{origin}: there is no setting '{setting}'. Known: {accepted}.", "{origin}：没有设置 '{setting}'。可用：{accepted}。"),
    "config-file": ("config file {path}: {reason}.", "配置文件 {path}：{reason}。"),
    "usage": ("{problem}. See --help.", "{problem}。见 --help。"),
    # matches
    "match-name": ("name equals the query", "名称精确匹配"),
    "match-id": ("id equals the query", "id 精确匹配"),
    "match-alias": ("alias equals the query: {value}", "别名精确匹配：{value}"),
    "match-squashed": ("equal without punctuation and spaces: {value}", "忽略标点和空格后相同：{value}"),
    "match-name-prefix": ("name starts with the query", "名称前缀匹配"),
    "match-alias-prefix": ("alias starts with the query: {value}", "别名前缀匹配：{value}"),
    "match-name-words": ("{count} of {all} words in the name: {words}", "名称命中 {count}/{all} 词：{words}"),
    "match-summary-words": ("{count} of {all} words in the summary: {words}", "摘要命中 {count}/{all} 词：{words}"),
    "match-typo": ("one typo away from {value}", "与 {value} 只差一处拼写"),
    "match-heading": ("{count} in heading: {words}", "标题命中 {count} 词：{words}"),
    "match-body": ("{count} in body: {words}", "正文命中 {count} 词：{words}"),
    "match-form": ("other form: {words}", "词形变化：{words}"),
    "match-context": ("in the headings above or the id: {words}", "上级标题或 id 命中：{words}"),
    "match-section": ("the section asked for", "所请求的章节"),
    # answers
    "next-more": (
        "{omitted} more: fetch one with focus \"#ID\", narrow the focus, or raise maxSections / maxChars.",
        "另有 {omitted} 节：用 focus \"#ID\" 取其中一节，缩小 focus，或增大 maxSections / maxChars。"),
    "next-cut": (
        "{omitted} characters left out; whole section: focus \"#{id}\", maxChars {room}",
        "省略 {omitted} 个字符；整节：focus \"#{id}\"，maxChars {room}"),
    "next-none": (
        "No section has any of these words; the first headings are listed. Use other words.",
        "没有章节包含这些词；已列出最前面的标题。请换用其他词。"),
    "next-weak": (
        "Weak: no passage shown has even half of the words, so this may not be covered here.",
        "匹配较弱：所示章节都不足一半的词，文档可能没有涉及。"),
    "next-lookup": ("{omitted} more: raise limit or use more telling words.", "另有 {omitted} 条：增大 limit 或使用更具体的词。"),
    "next-lookup-none": ("No entry matches. Try a library's name, or fewer and more general words.", "没有匹配的条目。请尝试库名，或更少、更通用的词。"),
    "next-releases": (
        "{omitted} older versions are not detailed here; doc_extract takes each by its number.",
        "另有 {omitted} 个较旧版本未详列；doc_extract 可按版本号读取。"),
    "text-results": ("{shown} of {total} entries for \"{query}\"", "“{query}”：{total} 条中的 {shown} 条"),
    "text-releases": ("{name} ({id}): {count} versions, latest {latest}", "{name}（{id}）：{count} 个版本，最新 {latest}"),
    "text-extract": ("{name} {version}: {shown} of {total} sections for \"{focus}\"", "{name} {version}：“{focus}”命中 {total} 节，显示 {shown} 节"),
    "text-contents": ("{name} {version}: {shown} of {total} sections", "{name} {version}：共 {total} 节，显示 {shown} 节"),
    "text-version": ("Version {version} ({note}). Source: {source}.", "版本 {version}（{note}）。来源：{source}。"),
    "text-more": ("More sections", "更多章节"),
    "text-sections": (
        "sections: {count}",
        "节数：{count}"),
    "text-notice": ("Note: {text}", "注意：{text}"),
    "text-stale": ("(stale copy)", "（过期副本）"),
    # server
    "banner": (
        "doctrove {version}: an MCP server for library documentation; it speaks JSON-RPC on standard input and output.\n{holds}\n{ask}",
        "doctrove {version}：提供库文档的 MCP 服务器，通过标准输入输出使用 JSON-RPC。\n{holds}\n{ask}"),
    "banner-holds": ("It holds {entries} entries: {names}.", "包含 {entries} 个条目：{names}。"),
    "banner-ask": (
        "Ask it here: {program} extract {example}. Set up a client: see README. End with Ctrl-D.",
        "在命令行提问：{program} extract {example}。客户端配置见 README。按 Ctrl-D 结束。"),
    "internal": (
        "Internal error ({reason}). This is a fault of doctrove; run with --debug for the details.",
        "内部错误（{reason}）。这是 doctrove 的缺陷；用 --debug 查看详情。"),
}
LANGUAGES = ("en", "zh")


def say(lang: str, key: str, **values: object) -> str:
    """The message `key` in `lang` ('en' or 'zh') with its placeholders filled; a value that is itself a (key, values) pair is said first."""
    filled = {name: say(lang, value[0], **value[1]) if isinstance(value, tuple) else value for name, value in values.items()}
    return MESSAGES[key][LANGUAGES.index(lang)].format(**filled)


class DocError(Exception):
    """What went wrong, with the way to mend it; becomes a tool result, a line on stderr or a notice.

    code: validation | not-found | version | network | timeout | internal, or config (which exits with 2).
    key, values: the message in MESSAGES. data: further members of the error object, such as candidates.
    """

    def __init__(self, code: str, key: str, data: Record | None = None, **values: object) -> None:
        super().__init__(code, key)
        self.code, self.key, self.values, self.data = code, key, values, data or {}

    def message(self, lang: str) -> str:
        return say(lang, self.key, **self.values)

    def report(self, lang: str) -> Record:
        """{"code", "message", …}: the error object of a tool result."""
        return {"code": self.code, "message": self.message(lang), **self.data}

    def __str__(self) -> str:
        return self.message("en")


def as_config(work: Callable[[], Any]) -> Any:
    """work(), with its DocError turned into a config error: what the user configured cannot be used, which ends the program with 2."""
    try:
        return work()
    except DocError as error:
        raise DocError("config", error.key, error.data, **error.values) from None


# ── config ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

class Setting:
    """One row of the settings table: drives the command line, the environment, the config file, --help and README."""

    __slots__ = ("accepted", "choices", "default", "env", "help", "key", "kind", "metavar", "option", "span")

    def __init__(self, key: str, kind: str, option: str, metavar: str, env: str, default: Any, help: str,
                 accepted: str, span: tuple[int, int] = (0, 0), choices: tuple[str, ...] = ()) -> None:
        self.key, self.kind, self.option, self.metavar, self.env, self.default = key, kind, option, metavar, env, default
        self.help, self.accepted, self.span, self.choices = help, accepted, span, choices


SETTINGS = (
    Setting("indexUrl", "urls", "index-url", "URL", "DOCTROVE_INDEX_URL", (), "remote index, tried first; may be repeated",
            "an http or https URL without user name and password"),
    Setting("localIndex", "path", "local-index", "PATH", "DOCTROVE_LOCAL_INDEX", None,
            "local index: a folder, an index.json, a .zip or a .pyz (default: bundled)", "a path"),
    Setting("only", "ids", "only", "ID[,ID…]", "DOCTROVE_ONLY", (), "offer only these entries", "entry ids, separated by commas"),
    Setting("cacheTtl", "whole", "cache-ttl", "SEC", "DOCTROVE_CACHE_TTL", 600, "seconds that fetched indexes and results are kept; 0 turns the cache off",
            "a whole number from 0 to 86400", span=(0, 86400)),
    Setting("timeoutMs", "whole", "timeout-ms", "MS", "DOCTROVE_TIMEOUT_MS", 15000, "time limit for one remote fetch",
            "a whole number from 1 to 600000", span=(1, 600000)),
    Setting("answers", "choice", "answers", "both|text", "DOCTROVE_ANSWERS", "both",
            "text: no structuredContent and no outputSchema, for clients that show a model both forms",
            "'both' or 'text'", choices=("both", "text")),
    Setting("lang", "choice", "lang", "en|zh", "DOCTROVE_LANG", "en", "language of messages", "'en' or 'zh'", choices=LANGUAGES),
    Setting("debug", "flag", "debug", "", "DOCTROVE_DEBUG", False, "log to stderr", "true or false"),
)
SETTING_BY_KEY = {setting.key: setting for setting in SETTINGS}
CONFIG_OPTION = ("config", "PATH", "DOCTROVE_CONFIG", "config file: a JSON object with the keys of the table in README")
FLAG_WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


class Settings:
    """The settings in force, as attributes named like the config file's keys; `origin[key]` says where each came from."""

    indexUrl: tuple[str, ...]
    localIndex: str | None
    only: tuple[str, ...]
    cacheTtl: int
    timeoutMs: int
    answers: str
    lang: str
    debug: bool

    def __init__(self) -> None:
        self.origin: dict[str, str] = {}
        for setting in SETTINGS:
            self.put(setting, setting.default, "default")

    def put(self, setting: Setting, value: Any, origin: str) -> None:
        setattr(self, setting.key, value)
        self.origin[setting.key] = origin


def check_url(url: str) -> bool:
    """Whether `url` may name a remote index: http or https, with a host, without credentials, spaces or control characters."""
    match = re.fullmatch(r"https?://([^/?#\s@\\]+)([/?][^\s#\\]*)?", url, re.IGNORECASE)
    return bool(match) and not re.search(r"[\x00-\x20\x7f]", url)


def read_setting(setting: Setting, given: Any, origin: str) -> Any:
    """`given` (a text, or a JSON value from the config file) as the setting's value. Raises DocError config, naming origin and setting."""
    value = given.strip() if isinstance(given, str) else given
    is_typed = origin.startswith("config file")  # there a number is a number and no text
    texts = [value] if isinstance(value, str) else value
    good = False
    if setting.kind in ("urls", "ids"):
        separator = r"\s+" if setting.kind == "urls" else r"[,\s]+"
        if isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts):
            value = tuple(part for text in texts for part in re.split(separator, text) if part)
            good = bool(value) and (setting.kind == "ids" or all(check_url(part) for part in value))
    elif setting.kind == "path":
        good = isinstance(value, str) and bool(value) and "\0" not in value
    elif setting.kind == "choice":
        good = value in setting.choices
    elif setting.kind == "whole":
        if isinstance(value, str) and not is_typed and re.fullmatch(r"[0-9]{1,9}", value):
            value = int(value)
        good = isinstance(value, int) and not isinstance(value, bool) and setting.span[0] <= value <= setting.span[1]
    elif setting.kind == "flag":
        value = FLAG_WORDS.get(value.lower(), value) if isinstance(value, str) and not is_typed else value
        good = isinstance(value, bool)
    if not good:
        name = "--" + setting.option if origin == "command line" else setting.env if origin == "environment" else f"'{setting.key}'"
        shown = json.dumps(given, ensure_ascii=False)
        raise DocError("config", "config-value", origin=origin, setting=name, accepted=setting.accepted, got=shown[:80])
    return value


MAX_CONFIG_BYTES = 1 << 20


def read_config_file(path: str) -> Record:
    """The JSON object in the config file. Raises DocError config."""
    if not os.path.isfile(path):
        raise DocError("config", "config-file", path=path, reason="there is no such file")
    try:
        with open(path, "rb") as file:
            content = json.loads(file.read(MAX_CONFIG_BYTES).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise DocError("config", "config-file", path=path, reason=getattr(error, "strerror", None) or str(error) or type(error).__name__) from None
    if not isinstance(content, dict):
        raise DocError("config", "config-file", path=path, reason="must be a JSON object")
    return content


def load_settings(options: Mapping[str, list[str]], environ: Mapping[str, str]) -> Settings:
    """Settings from the command line's options (name -> texts given), the environment and the config file.

    An empty environment variable is unset. Raises DocError config, naming the source and the key.
    """
    settings = Settings()
    config_path = (options.get(CONFIG_OPTION[0]) or [environ.get(CONFIG_OPTION[2], "")])[-1]
    if config_path:
        origin = f"config file {config_path}"
        for key, value in read_config_file(config_path).items():
            if key not in SETTING_BY_KEY:
                raise DocError("config", "config-unknown", origin=origin, setting=key, accepted=", ".join(SETTING_BY_KEY))
            setting = SETTING_BY_KEY[key]
            settings.put(setting, read_setting(setting, value, origin), origin)
    for setting in SETTINGS:
        if environ.get(setting.env):
            settings.put(setting, read_setting(setting, environ[setting.env], "environment"), f"environment {setting.env}")
        given = options.get(setting.option)
        if given:
            text: Any = given if setting.kind in ("urls", "ids") else given[-1] or (True if setting.kind == "flag" else "")
            settings.put(setting, read_setting(setting, text, "command line"), f"command line --{setting.option}")
    if "no-cache" in options:
        settings.put(SETTING_BY_KEY["cacheTtl"], 0, "command line --no-cache")
    return settings


# ── cache ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

COOL_DOWN_SECONDS = 30


class Cache:
    """At most `most` items, the least recently used dropped first, each fresh for `ttl` seconds (None: for ever; 0: nothing is kept).

    An expired item stays readable through `peek` until it is dropped, so that it can be revalidated or serve while the remote is down.
    Safe to use from several threads.
    """

    def __init__(self, most: int, ttl: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self.ttl, self.clock = most, ttl, clock
        self.items: dict[Any, tuple[float, Any]] = {}
        self.hits = self.misses = self.evictions = 0
        self.lock = allocate_lock()

    def get(self, key: Any) -> Any:
        """The fresh item, or None."""
        with self.lock:
            found = self.items.get(key)
            if found is None or (self.ttl is not None and self.clock() - found[0] >= self.ttl):
                self.misses += 1
                return None
            self.hits += 1
            self.items[key] = self.items.pop(key)
            return found[1]

    def peek(self, key: Any) -> Any:
        """The item even when it is expired, or None; not counted as a hit."""
        found = self.items.get(key)
        return found and found[1]

    def put(self, key: Any, value: Any) -> None:
        if self.ttl == 0:
            return
        with self.lock:
            self.items.pop(key, None)
            self.items[key] = (self.clock(), value)
            while len(self.items) > self.most:
                del self.items[next(iter(self.items))]
                self.evictions += 1


class CoolDown:
    """After a failed fetch: the failure is repeated at once for COOL_DOWN_SECONDS instead of trying again. Off when the cache is off."""

    def __init__(self, enabled: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self.enabled, self.clock = enabled, clock
        self.failures: dict[str, tuple[float, DocError]] = {}

    def failure(self, url: str) -> DocError | None:
        """The failure that is still cooling down, or None when `url` may be tried."""
        found = self.failures.get(url)
        return found[1] if found and self.clock() - found[0] < COOL_DOWN_SECONDS else None

    def failed(self, url: str, error: DocError) -> None:
        if self.enabled:
            self.failures[url] = (self.clock(), error)

    def succeeded(self, url: str) -> None:
        self.failures.pop(url, None)


# ── releases ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

# Python's spellings (PEP 440) and the words that mean the finished release.
PRE_NAMES = {"a": "alpha", "b": "beta", "c": "rc", "pre": "rc", "preview": "rc"}
POST_NAMES = frozenset(("post", "rev", "r"))
DEV_NAMES = frozenset(("dev", "snapshot"))
FINAL_NAMES = frozenset(("final", "ga", "release", "stable"))
SUFFIX_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-_")
NO_DEV = 1 << 62


class Version:
    """A parsed version: `release` (its numbers as written), `key` (orders by semver and PEP 440), `stable`."""

    __slots__ = ("key", "release", "stable", "text")

    def __init__(self, text: str, epoch: int, release: tuple[int, ...], pre: tuple[Any, ...], post: int, dev: int) -> None:
        self.text, self.release = text, release
        self.stable = not pre and dev == NO_DEV
        stage: tuple[Any, ...] = (0, pre) if pre else (-1,) if dev != NO_DEV and post < 0 else (1,)
        self.key = (epoch, strip_zeros(release), stage, post, dev)


def strip_zeros(release: tuple[int, ...]) -> tuple[int, ...]:
    """(2, 0, 0) -> (2,): missing parts are zero for equality."""
    end = len(release)
    while end > 1 and release[end - 1] == 0:
        end -= 1
    return release[:end]


def parse_version(text: str) -> Version | None:
    """`text` as a semver or PEP 440 version, None where it is neither (a label such as 'main').

    Case, surrounding space, a leading v and build metadata do not count. Pre-release words and numbers are compared one by one,
    numbers as numbers, also where they are written together (rc10 > rc9).
    """
    bare = text.strip().lower().partition("+")[0]
    epoch, _, bare = bare.lstrip("v").rpartition("!")
    numbers = bare[:len(bare) - len(bare.lstrip("0123456789."))].rstrip(".")
    suffix = bare[len(numbers):]
    parts = numbers.split(".")
    if not all(part.isascii() and part.isdigit() and len(part) < 19 for part in [*parts, epoch or "0"]) or set(suffix) - SUFFIX_SIGNS:
        return None
    pre: list[tuple[int, int, str]] = []
    post, dev = -1, NO_DEV
    marks = re.findall(r"[a-z]+|[0-9]+", suffix) if suffix else []
    i = 0
    while i < len(marks):
        word, takes_number = marks[i], i + 1 < len(marks) and marks[i + 1].isdigit()
        number = int(marks[i + 1][:18]) if takes_number else 0
        if word in POST_NAMES:
            post = number
        elif word in DEV_NAMES:
            dev = number
        elif word in FINAL_NAMES and len(marks) == 1:
            takes_number = False
        elif word.isdigit():
            pre.append((0, int(word[:18]), ""))
            takes_number = False
        else:
            pre.append((1, 0, PRE_NAMES.get(word, word)))
            takes_number = False
        i += 2 if takes_number else 1
    return Version(text, int(epoch or 0), tuple(map(int, parts)), tuple(pre), post, dev)


def newest_first(versions: Sequence[str]) -> list[str]:
    """Versions in falling order; equal ones (build metadata) last listed first; labels that are no versions at the end, as listed."""
    parsed = [(version.key, at, version.text) for at, version in enumerate(map(parse_version, versions)) if version]
    labels = [text for text in versions if parse_version(text) is None]
    return [text for _, _, text in sorted(parsed, reverse=True)] + labels


def newest(versions: Sequence[str]) -> str:
    """The newest stable version, else the newest pre-release, else the first label. `versions` is not empty."""
    ordered = newest_first(versions)
    for text in ordered:
        version = parse_version(text)
        if version and version.stable:
            return text
    return ordered[0]


def bump(release: tuple[int, ...], at: int) -> tuple[int, ...]:
    """(4, 18, 2), 1 -> (4, 19): the first release after all that share the parts up to `at`."""
    padded = release + (0,) * (at + 1 - len(release))
    return (*padded[:at], padded[at] + 1)


def final(epoch: int, release: tuple[int, ...]) -> Version:
    """The finished version with these numbers."""
    return Version("", epoch, release, (), -1, NO_DEV)


def below(bound: Version) -> Callable[[Version], bool]:
    """Below a bound; a pre-release of the bound itself is not below it (as npm and PEP 440 have it)."""
    return lambda version: version.key < bound.key and not (bound.stable and not version.stable and version.key[:2] == bound.key[:2])


def comparator(operator: str, text: str) -> Callable[[Version], bool] | None:
    """One comparator of a range, such as '^' '4.18' or '<' '2', as a test; None where it cannot be read."""
    wildcard = re.fullmatch(r"v?([0-9]+(?:\.[0-9]+)*)?(?:\.?[x*])+", text)
    bound = parse_version((wildcard.group(1) or "0") if wildcard else text)
    if bound is None:
        return None
    release, epoch, key = bound.release, bound.key[0], bound.key
    if wildcard and not wildcard.group(1):
        return lambda version: operator not in ("<", ">", "!=")
    after = below(final(epoch, bump(release, len(release) - 1)))  # below what follows everything that begins with the bound's numbers
    partial = wildcard is not None or (len(release) < 3 and bound.stable and key[3] < 0)
    if operator == "===":
        return lambda version: version.text.strip().lower() == text
    if (operator in ("", "=") and partial) or (operator in ("==", "!=") and wildcard):
        return lambda version: (version.key >= key and after(version)) != (operator == "!=")
    if operator in ("", "=", "=="):
        return lambda version: version.key == key
    if operator == "!=":
        return lambda version: version.key != key
    if operator == "<":
        return below(bound)
    if operator == "<=":
        return after if partial else lambda version: version.key <= key
    if operator == ">":
        return (lambda version: version.key > key and not after(version)) if partial else lambda version: version.key > key
    if operator == ">=":
        return lambda version: version.key >= key
    parts = {"^": next((i for i, part in enumerate(release) if part), len(release) - 1),
             "~": min(1, len(release) - 1)}.get(operator, max(len(release) - 2, 0))  # else ~= and ~>
    end = below(final(epoch, bump(release, parts)))
    return lambda version: version.key >= key and end(version)


def parse_range(text: str) -> list[list[Callable[[Version], bool]]] | None:
    """A manifest's range (npm, Python, Cargo, Ruby) as alternatives of tests that must all hold; None where it is none."""
    alternatives = []
    for part in text.split("||"):
        part = re.sub(r"(\S+)\s+-\s+(\S+)", r">=\1 <=\2", part.strip()) or "*"
        rest = re.sub(r"(===|[<>=!~^]=|~>|[<>=~^])\s*", r" \1", part)
        tests = []
        for piece in re.split(r"[\s,]+", rest.strip()):
            match = re.fullmatch(r"(===|[<>=!~]=|~>|[<>=~^]?)(.+)", piece)
            test = comparator(match.group(1), match.group(2)) if match else None
            if test is None:
                return None
            tests.append(test)
        alternatives.append(tests)
    return alternatives


class Release:
    """A selected version: `kind` is latest | exact | prefix | range | pinned; `note` says in words why, as a message (key, values)."""

    __slots__ = ("kind", "note", "version")

    def __init__(self, version: str, kind: str, note: str, wanted: str = "") -> None:
        self.version, self.kind, self.note = version, kind, (note, {"wanted": wanted[:60]})


def select_exact(versions: Sequence[str], wanted: str) -> str | None:
    """The listed version that `wanted` names: the same text, else the same version; a listed 2.0 also answers to 2.0.0."""
    for text in versions:
        if text.strip().lower() == wanted:
            return text
    bound = parse_version(wanted)
    found = None
    for text in versions:
        version = parse_version(text)
        if version is None:
            if text.strip().lower().lstrip("v") == wanted.lstrip("v"):
                found = text
        elif bound and version.key == bound.key and (len(version.release) <= len(bound.release) or not bound.stable):
            found = text  # the last listed wins where only build metadata differs
    return found


def select_release(versions: Sequence[str], wanted: str | None, name: str = "") -> Release:
    """Which of `versions` answers to `wanted` (design: latest, exact, prefix, range). Raises DocError version with the candidates."""
    if not versions:
        raise DocError("version", "no-versions", name=name)
    asked = (wanted or "").strip()
    text = asked.lower()
    if text in ("", "latest"):
        version = newest(versions)
        parsed = parse_version(version)
        return Release(version, "latest", "note-latest" if parsed and parsed.stable else "note-latest-pre")
    exact = select_exact(versions, text)
    if exact is not None:
        return Release(exact, "exact", "note-exact")
    parsed_versions = [version for version in map(parse_version, versions) if version]
    prefix = re.fullmatch(r"v?([0-9]{1,18}(?:\.[0-9]{1,18})*)(?:\.[x*])*", text)
    fitting: list[str] = []
    kind = "prefix" if prefix else "range"
    if prefix:
        parts = tuple(int(part) for part in prefix.group(1).split("."))
        fitting = [version.text for version in parsed_versions if version.release[:len(parts)] == parts]
    elif len(text) <= 200:
        alternatives = parse_range(text)
        fitting = [version.text for version in parsed_versions
                   if alternatives and any(all(test(version) for test in tests) for tests in alternatives)]
    if not fitting:
        candidates = newest_first(versions)[:20]
        raise DocError("version", "unknown-version", {"candidates": candidates}, name=name, wanted=asked, candidates=", ".join(candidates))
    version = newest(fitting)
    stable = any(each.text == version and each.stable for each in parsed_versions)
    return Release(version, kind, f"note-{kind}" if stable else f"note-{kind}-pre", asked)


# ── scoring ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

# Scripts that put no spaces between words (Thai, Lao, Burmese, Khmer, and all from the CJK radicals on: kana, Han, and Hangul, whose words
# carry their particles with them): there a character is a word, and two neighbours are a pair. Kept as ranges and not as a class of a
# regular expression, since `re` takes over a millisecond to compile one that is so wide.
SPACELESS = (("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"), ("\u2e80", "\U0010ffff"))
CJK = "\u2e80-\U0010ffff"

# English words that carry no topic: articles, pronouns, auxiliaries, prepositions, conjunctions and question words.
FUNCTION_WORDS = frozenset((
    "a", "about", "above", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "being", "below", "between", "both", "but", "by", "can", "cannot", "could", "did", "do", "does", "doing", "down", "during",
    "each", "either", "every", "few", "for", "from", "further", "had", "has", "have", "having", "he", "her", "here", "hers", "him", "his",
    "how", "however", "i", "if", "in", "into", "is", "it", "its", "itself", "just", "let", "may", "me", "might", "mine", "more", "most",
    "much", "must", "my", "neither", "no", "nor", "not", "of", "off", "on", "once", "one", "only", "onto", "or", "other", "ought", "our",
    "ours", "out", "over", "own", "per", "please", "same", "shall", "she", "should", "so", "some", "such", "than", "that", "the", "their",
    "theirs", "them", "then", "there", "these", "they", "this", "those", "through", "to", "too", "under", "until", "up", "upon", "us",
    "very", "via", "want", "was", "we", "were", "what", "when", "where", "whether", "which", "while", "who", "whom", "whose", "why",
    "will", "with", "within", "without", "would", "yet", "you", "your", "yours",
))

K1 = 1.2
# BM25F: field, weight, length normalisation. Measured over 114 questions on 16 corpora: a body b of 0.3 instead of the usual 0.75 is
# worth 0.06 MRR, and a heading weight of 2 instead of 4 another 0.01.
FIELDS = (("heading", 2.0, 0.5), ("body", 1.0, 0.3), ("context", 1.0, 0.5), ("ids", 1.0, 0.5))
IDENTIFIER_WEIGHT, PART_WEIGHT = 2.0, 0.7


def is_spaceless(sign: str) -> bool:
    """Whether the character belongs to a script without spaces."""
    return sign >= SPACELESS[0][0] and any(first <= sign <= last for first, last in SPACELESS)


def space_out(text: str) -> str:
    """`text` with spaces around each run of spaceless characters in it, so that `\\w+` finds words of one kind."""
    if max(text) < SPACELESS[0][0]:
        return text
    from itertools import groupby
    return "".join(" " + "".join(signs) + " " if spaceless else "".join(signs) for spaceless, signs in groupby(text, is_spaceless))


# The first bytes, in UTF-8, of all characters beyond ASCII that have case (Latin, Greek, Cyrillic, Armenian, Georgian, …): none of them
# begins a Han character, a kana or a punctuation mark.
CASED = bytes((*range(0xC3, 0xD7), 0xE1, 0xEA, 0xF0))


def fold(text: str) -> str:
    """`text` case-folded (of the letterlike signs from U+2000 on, such as Roman numerals, only where it holds other cased letters too).

    As soon as one character is not ASCII, str.casefold takes a slow way through all of them, about 60 instructions for each. Most such
    texts hold no cased letter beyond ASCII: lowering their bytes takes a third of that.
    """
    if text.isascii():
        return text.lower()
    data = text.encode("utf-8", "surrogatepass")
    if len(data.translate(None, CASED)) < len(data):
        return text.casefold()
    return data.lower().decode("utf-8", "surrogatepass")


def words(text: str) -> list[str]:
    """The words of `text`: case-folded runs of letters, digits and underscores, and single characters of scripts without spaces."""
    return folded_words(fold(text))


def folded_words(text: str) -> list[str]:
    """The words of a folded text."""
    found: list[str] = []
    for run in word_runs(text):
        found += run if is_spaceless(run[0]) else (run,)
    return found


def word_runs(text: str) -> list[str]:
    """The runs of word characters in `text`, each of spaceless characters alone or without any."""
    return re.findall(r"\w+", text if text.isascii() else space_out(text))


def is_letter(sign: str) -> bool:
    """Whether a word goes on at this character: a letter, digit or underscore that is not a word of its own."""
    return (sign.isalnum() or sign == "_") and not is_spaceless(sign)


def topic_words(text: str) -> list[str]:
    """The query words of `text`, each once: without function words, unless there are no others."""
    unique = list(dict.fromkeys(words(text)))
    return [word for word in unique if word not in FUNCTION_WORDS] or unique


VOWELS = frozenset("aeiouy")


def stem(word: str) -> str:
    """A light stem: plural, then -ing, -ed or (after t) -ion where three letters and a vowel stay, a doubled end, a final e; y becomes i."""
    if len(word) < 4 or not (word.isascii() and word.isalpha()):
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("es") and word[:-2].endswith(("s", "x", "z", "ch", "sh")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for suffix in ("ing", "ed", "ion"):
        root = word[:-len(suffix)]
        if word.endswith(suffix) and len(root) >= 3 and not VOWELS.isdisjoint(root):
            if suffix == "ion" and not (root.endswith("t") and len(root) > 3):
                break
            word = root
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    if word.endswith("y") and len(word) > 3:
        word = word[:-1] + "i"
    return word


class Column:
    """One field of many records as a single case-folded text, so that the interpreter's own search runs over all records at once.

    Measured about 60 times cheaper than cutting a volume into words first. Records stand between line feeds; record n takes the characters
    from starts[n] up to starts[n + 1] - 1.
    """

    __slots__ = ("is_ascii", "starts", "text")

    def __init__(self, texts: Sequence[str]) -> None:
        joined = "\n".join(("", *texts, ""))
        self.is_ascii = joined.isascii()
        folded = texts if self.is_ascii else [fold(text) for text in texts]
        self.text = joined.lower() if self.is_ascii else "\n".join(("", *folded, ""))
        self.starts = list(accumulate((len(text) + 1 for text in folded), initial=1))

    def record(self, number: int) -> str:
        """The folded text of one record."""
        return self.text[self.starts[number]:self.starts[number + 1] - 1]

    def count(self, term: Term) -> dict[int, int]:
        """How often `term` stands in each record that has it: record number -> occurrences."""
        counts: dict[int, int] = {}
        text, starts, forms, get = self.text, self.starts, term.forms, counts.get
        look_around = term.is_word and not (self.is_ascii and term.text.isascii())
        for match in term.pattern.finditer(text):
            start, end = match.span()
            if look_around and (is_letter(text[start - 1]) or is_letter(text[end])):
                continue
            if forms is not None:
                form = text[start:end]
                good = forms.get(form)
                if good is None:
                    good = forms[form] = stem(form) == term.stem
                if not good:
                    continue
            at = bisect_right(starts, start) - 1
            counts[at] = get(at, 0) + 1
        return counts


class Term:
    """Something of the query that BM25F looks for.

    pattern: begins with its literal text, which `re` finds with a plain search; what must stand before is then checked by looking back.
    It knows ASCII letters only: classes of more take too long to compile; around the others `Column.count` looks itself, when `is_word`.
    forms: for a word with inflections, what the pattern found so far -> whether its stem is the word's; None where the pattern decides alone.
    whole: for a part of an identifier, the identifier. optional: a term that is forgotten where nothing has it.
    """

    __slots__ = ("forms", "is_word", "optional", "pattern", "stem", "text", "weight", "whole")

    def __init__(self, text: str, weight: float, pattern: str, is_word: bool = True, optional: bool = False, whole: str = "") -> None:
        self.text, self.weight, self.is_word, self.optional, self.whole = text, weight, is_word, optional, whole
        self.pattern = re.compile(pattern, re.ASCII)
        self.stem = stem(text)
        self.forms: dict[str, bool] | None = None


def word_term(text: str, weight: float, whole: str = "") -> Term:
    """A word with its other forms: everything that begins like its stem is found, `forms` then keeps what has the same stem."""
    if not (text.isascii() and text.isalpha() and len(text) > 3):
        literal = re.escape(text)
        return Term(text, weight, rf"{literal}(?<!\w{literal})(?!\w)", whole=whole)
    root = stem(text)
    root = root[:-1] if root.endswith("i") else root  # a last i may be written y
    term = Term(text, weight, rf"{root}(?<!\w{root})\w*", whole=whole)
    term.forms = {}
    return term


def compound_term(text: str) -> Term:
    """A name joined by signs, or an option: found whole; `a::b`, `a#b` and `a->b` are the same as `a.b`."""
    parts = [re.escape(part) for part in re.split(r"::|->|[.#]", text)]
    first = parts[0]
    rest = "".join(r"(?:\.|::|->|#)" + part for part in parts[1:])
    return Term(text, 1.0, rf"{first}(?<![\w-]{first}){rest}(?![\w-])", optional=True)


def character_term(text: str) -> Term:
    """Two neighbouring characters of a script without spaces, wherever they stand."""
    return Term(text, 1.0, re.escape(text), is_word=False)


def alone_term(character: str) -> Term:
    """One such character that has none beside it: then it is a word, else a part of one."""
    before, after = rf"(?<![{CJK}]{character})", rf"(?![{CJK}])"
    return Term(character, 1.0, character + before + after, is_word=False)


COMPOUND = r"--?[A-Za-z][\w-]*|\w+(?:(?:\.|::|->|#|/|-)\w+)+"
PARTS = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\dA-Za-z_]+"


def identifier_parts(run: str) -> list[str]:
    """['use', 'state'] for useState or use_state; [] for a plain word, also with a number at its end."""
    if run.islower() and run.isalpha():
        return []
    parts = re.findall(PARTS, run)
    return list(map(str.casefold, parts)) if len(parts) > 2 or (len(parts) == 2 and not parts[1].isdigit()) else []


def query_terms(query: str) -> list[Term]:
    """What BM25F looks for, with weights: words 1, identifiers 2 and their parts 0.7, compounds 1 on top, pairs of spaceless characters 1."""
    terms: dict[str, Term] = {}
    for run in word_runs(query):
        word, parts = run.casefold(), identifier_parts(run)
        if is_spaceless(run[0]):
            for pair in [word[at:at + 2] for at in range(len(word) - 1)]:
                terms.setdefault(pair, character_term(pair))
            if len(word) == 1:
                terms.setdefault(word, alone_term(word))
        elif parts:
            terms.setdefault(word, word_term(word, IDENTIFIER_WEIGHT))
            for part in parts:
                if len(part) > 1 and part not in FUNCTION_WORDS:
                    terms.setdefault(part, word_term(part, PART_WEIGHT, whole=word))
        elif (len(word) > 1 or word.isdigit()) and word not in FUNCTION_WORDS:
            terms.setdefault(word, word_term(word, 1.0))
    for word in () if terms else words(query):
        terms.setdefault(word, word_term(word, 1.0))
    for compound in map(str.casefold, re.findall(COMPOUND, query, re.ASCII) if any(sign in query for sign in "-.:#/") else ()):
        terms.setdefault(compound, compound_term(compound))
    return list(terms.values())


class Explanation:
    """Where the query's words stand in one section: `heading`, `body` (and not in the heading), `forms` (other forms of words that are in
    neither) and `context` (only in the headings above or the ids). `score` is 0–1, rounded half up to 4 places; `share` of the words
    stands in the section."""

    __slots__ = ("body", "context", "forms", "heading", "score", "share")

    def __init__(self, query_words: Sequence[str], terms: Sequence[Term], heading: str, body: str, context: str) -> None:
        """`heading`, `body`, `context` (with the ids) are folded."""
        in_heading = set(folded_words(heading))
        self.heading = [word for word in query_words if word in in_heading]
        self.body = [word for word in query_words if word not in in_heading and stands_in(word, body)]
        self.forms: list[str] = []
        self.context: list[str] = []
        for term in terms:
            if term.text in query_words and term.text not in self.heading and term.text not in self.body:
                forms = [form for form, good in term.forms.items() if good] if term.forms is not None else [term.text]
                here = [form for form in forms if stands_in(form, heading) or stands_in(form, body)][:2]
                self.forms += here
                if not here and any(stands_in(form, context) for form in forms):
                    self.context.append(term.text)
        self.score = round_half_up(2 * len(self.heading) + len(self.body), 2 * len(query_words)) if query_words else 0.0
        self.share = (len(self.heading) + len(self.body)) / len(query_words) if query_words else 0.0

    def matches(self, lang: str) -> list[str]:
        """The same in words, for people and models."""
        rows = (("match-heading", self.heading), ("match-body", self.body), ("match-form", self.forms), ("match-context", self.context))
        return [say(lang, key, count=count_words(lang, len(found)), words=join_words(found)) for key, found in rows if found]


def stands_in(word: str, folded: str) -> bool:
    """Whether `word` stands in the folded text as a whole word."""
    at = folded.find(word)
    while at >= 0:
        end = at + len(word)
        if is_spaceless(word[0]) or not (is_letter(folded[at - 1:at]) or is_letter(folded[end:end + 1])):
            return True
        at = folded.find(word, at + 1)
    return False


def join_words(found: Sequence[str]) -> str:
    """Words for display: neighbouring spaceless characters are written together."""
    text = ""
    for word in found:
        text += word if not text or (is_spaceless(word[0]) and is_spaceless(text[-1])) else f", {word}"
    return text


def count_words(lang: str, count: int) -> str:
    return str(count) if lang == "zh" else "1 word" if count == 1 else f"{count} words"


def round_half_up(numerator: int, denominator: int) -> float:
    """numerator / denominator to 4 places, a half rounded up: exact for whole numbers, unlike round()."""
    return (numerator * 20000 + denominator) // (2 * denominator) / 10000


class SectionRanker:
    """BM25F over the sections of one volume. Built once per volume; remembers the hits of the last terms."""

    def __init__(self, rows: Sequence[tuple[str, str, str, str]]) -> None:
        """`rows`: heading, body, context (the headings above) and ids of each section, in index order."""
        self.size = len(rows)
        self.columns = [Column([row[number] for row in rows]) for number in range(len(FIELDS))]
        self.known = Cache(64, None)

    def contributions(self, term: Term) -> tuple[float, dict[int, float]]:
        """(the most that `term` can add, section number -> what it adds), both before its weight."""
        found: tuple[float, dict[int, float], dict[str, bool] | None] | None = self.known.get(term.pattern)
        if found is None:
            frequency: dict[int, float] = {}
            for column, (_, weight, b) in zip(self.columns, FIELDS):
                starts = column.starts
                per_character = b / max(starts[-1] / max(self.size, 1) - 1, 1)  # b over the average length
                for at, count in column.count(term).items():
                    norm = 1 - b + per_character * (starts[at + 1] - starts[at] - 1)
                    frequency[at] = frequency.get(at, 0.0) + weight * count / norm
            rarity = math.log(1 + (self.size - len(frequency) + 0.5) / (len(frequency) + 0.5))
            most = rarity * (K1 + 1)
            found = most, {at: most * tf / (K1 + tf) for at, tf in frequency.items()}, term.forms
            self.known.put(term.pattern, found)
        term.forms = found[2]
        return found[:2]

    def sums(self, terms: Sequence[Term]) -> dict[int, float]:
        """section number -> BM25F sum divided by the most that the query could reach (0–1), for every section with a hit."""
        sums: dict[int, float] = {}
        found = {term.text: self.contributions(term) for term in terms}
        reachable = 0.0
        for term in terms:
            most, parts = found[term.text]
            if term.optional and not parts:
                continue
            weight = 1.0 if term.whole and not found[term.whole][1] else term.weight
            reachable += weight * most
            for at, part in parts.items():
                sums[at] = sums.get(at, 0.0) + weight * part
        return {at: value / reachable for at, value in sums.items()}

    def rank(self, query: str, most: int) -> tuple[int, list[tuple[int, float]], Callable[[int], Explanation]]:
        """(number of sections with a hit, the first `most` as (section number, relevance rounded to 4 places), what explains a section).

        Equal relevance: higher score, then index order. A query in a spaceless script of which no pair is anywhere is asked by characters.
        """
        query_words, terms = topic_words(query), query_terms(query)
        sums = self.sums(terms)
        if not sums:
            terms = [character_term(word) for word in query_words if is_spaceless(word[0])]
            sums = self.sums(terms)

        def explain(at: int) -> Explanation:
            heading, body, context, ids = (column.record(at) for column in self.columns)
            return Explanation(query_words, terms, heading, body, f"{context} {ids}")

        steps = {at: int(value * 10000 + 0.5) for at, value in sums.items()}
        least = sorted(steps.values(), reverse=True)[min(most, len(steps)) - 1] if steps else 0
        ranked = sorted((-step, at) for at, step in steps.items() if step >= least)
        ties = {step for (step, _), (after, _) in zip(ranked, ranked[1:]) if step == after}
        ordered = sorted((step, -explain(at).score if step in ties else 0.0, at) for step, at in ranked[:most + 200])
        return len(sums), [(at, -step / 10000) for step, _, at in ordered[:most]], explain


# Catalog tiers: kind of key (name, id, alias) -> raw score and signal; for words the least and what the share of hit words adds.
EQUAL_TIERS = {"n": (1.0, "match-name"), "i": (1.0, "match-id"), "a": (0.95, "match-alias")}
SQUASHED_TIERS = dict.fromkeys("nia", (0.93, "match-squashed"))
PREFIX_TIERS = {"n": (0.90, "match-name-prefix"), "a": (0.85, "match-alias-prefix")}
NAME_WORDS, SUMMARY_WORDS = (0.60, 0.23), (0.30, 0.20)
TYPO = (0.10, 0.15)  # only if nothing else matches


def squash(text: str) -> str:
    """`text` without punctuation and spaces: next.js and nextjs are the same."""
    return re.sub(r"[\W_]+", "", fold(text))


def one_line(text: str) -> str:
    """`text` folded, on one line, with single spaces."""
    return " ".join(fold(text).split())


class SortedKeys:
    """Many short texts that are found by their beginning: kept in order as one text, so that a hundred thousand take little memory."""

    def __init__(self, texts: Sequence[str]) -> None:
        from array import array
        self.numbers = array("I", sorted(range(len(texts)), key=texts.__getitem__))
        self.text = "\n".join(texts[number] for number in self.numbers)
        self.starts = array("I", accumulate((len(texts[number]) + 1 for number in self.numbers), initial=0))

    def key(self, at: int) -> str:
        return self.text[self.starts[at]:self.starts[at + 1] - 1]

    def starting(self, prefix: str) -> Iterator[tuple[int, str]]:
        """(number, text) of every key that starts with `prefix`, those that equal it first."""
        low, high = 0, len(self.numbers)
        while low < high:
            middle = (low + high) // 2
            if self.key(middle) < prefix:
                low = middle + 1
            else:
                high = middle
        while low < len(self.numbers):
            text = self.key(low)
            if not text.startswith(prefix):
                return
            yield self.numbers[low], text
            low += 1

    def equal(self, text: str) -> Iterator[int]:
        """The numbers of the keys that equal `text`."""
        for number, key in self.starting(text):
            if key != text:
                return
            yield number


def edits(text: str) -> set[str]:
    """Every text one typo away: a letter dropped, swapped with its neighbour, replaced or added."""
    letters = sorted({*text, *"abcdefghijklmnopqrstuvwxyz0123456789-._ "})
    halves = [(text[:at], text[at:]) for at in range(len(text) + 1)]
    made = {left + right[1:] for left, right in halves} | {left + right[1] + right[0] + right[2:] for left, right in halves if len(right) > 1}
    for letter in letters:
        made.update(left + letter + right for left, right in halves)
        made.update(left + letter + right[1:] for left, right in halves if right)
    return made - {text, ""}


class CatalogRanker:
    """Finds entries by name, id, alias and summary. Of all entries with the same signal the most popular ones are the best ones, so words
    are counted in order of popularity, and only the first entries of each count are looked at."""

    def __init__(self, rows: Iterable[tuple[str, str, Sequence[str], str, float]]) -> None:
        """`rows`: id, name, aliases, summary and popularity of each entry, in index order."""
        from array import array
        popularity: list[float] = []
        keys: list[str] = []
        self.key_owner, self.key_kind = array("I"), bytearray()
        self.name_words: dict[str, array[int]] = {}
        self.summary_words: dict[str, array[int]] = {}
        for number, (id, name, aliases, summary, popular) in enumerate(rows):
            popularity.append(popular)
            for kind, key in ((b"n", name), (b"i", id), *((b"a", alias) for alias in aliases)):
                keys.append(one_line(key))
                self.key_owner.append(number)
                self.key_kind += kind
            for postings, text in ((self.name_words, name), (self.summary_words, summary)):
                for word in set(words(text)):
                    posting = postings.get(word)
                    if posting is None:
                        posting = postings[word] = array("I")
                    posting.append(number)
        self.keys = SortedKeys(keys)
        for at, key in enumerate(keys):
            keys[at] = squash(key)
        self.squashed = SortedKeys(keys)
        self.popularity = array("d", popularity)
        self.by_rank = array("I", sorted(range(len(popularity)), key=lambda number: -popularity[number]))
        self.rank_of = array("I", bytes(self.by_rank.itemsize * len(popularity)))
        for rank, number in enumerate(self.by_rank):
            self.rank_of[number] = rank
        self.spread_words = Cache(16, None)

    def spread(self, postings: dict[str, array.array[int]], word: str, kind: str) -> int:
        """The entries with `word` as one big number with a byte per entry, in popularity order: adding such numbers counts words in all
        entries at once."""
        spread = self.spread_words.get((kind, word))
        if spread is None:
            marks, rank_of = bytearray(len(self.by_rank)), self.rank_of
            for number in postings.get(word, ()):
                marks[rank_of[number]] = 1
            spread = int.from_bytes(marks, "little")
            self.spread_words.put((kind, word), spread)
        return int(spread)

    def key_signals(self, query: str) -> dict[int, tuple[float, str, str]]:
        """entry number -> (raw score, signal, the key that matched) for everything but words and typos."""
        best: dict[int, tuple[float, str, str]] = {}

        def offer(key: int, tiers: Mapping[str, tuple[float, str]], text: str) -> None:
            raw, signal = tiers.get(chr(self.key_kind[key]), (0.0, ""))
            number = self.key_owner[key]
            if raw > best.get(number, (0.0,))[0]:
                best[number] = raw, signal, text

        plain, bare = one_line(query), squash(query)
        for key, text in self.keys.starting(plain) if plain else ():
            offer(key, EQUAL_TIERS if text == plain else PREFIX_TIERS, text)
        for key in self.squashed.equal(bare) if bare else ():
            offer(key, SQUASHED_TIERS, plain)
        return best

    def resolve(self, id: str) -> int | None:
        """The number of the entry that has `id` as an alias, else as its id or name, case and outer space aside; None where there is none."""
        keys = sorted(("ain".index(chr(self.key_kind[key])), self.key_owner[key]) for key in self.keys.equal(one_line(id)))
        return keys[0][1] if keys else None

    def typos(self, query: str) -> dict[int, tuple[float, str, str]]:
        """Entries with a key one typo away from a query of 3 to 40 characters; the longer it is, the surer."""
        plain = one_line(query)
        best: dict[int, tuple[float, str, str]] = {}
        for text in sorted(edits(plain)) if 3 <= len(plain) <= 40 else ():
            for key in self.keys.equal(text):
                best.setdefault(self.key_owner[key], (TYPO[0] + TYPO[1] * (1 - 1 / len(plain)), "match-typo", text))
        return best

    def rank(self, query: str, most: int) -> tuple[int, list[tuple[int, float, str, Record]]]:
        """(number of entries with a signal, the best `most` as (entry number, score rounded to 4 places, signal message, its values))."""
        query_words = topic_words(query)
        found = self.key_signals(query)
        marks = bytearray(len(self.by_rank))
        for number in found:
            marks[self.rank_of[number]] = 1
        any_signal = int.from_bytes(marks, "little")
        candidates = {number: (raw, signal, {"value": value}) for number, (raw, signal, value) in found.items()}
        for kind, postings, (base, span) in (("name", self.name_words, NAME_WORDS), ("summary", self.summary_words, SUMMARY_WORDS)):
            present = [word for word in query_words if word in postings][:255]  # a count must fit a byte
            spreads = [(word, self.spread(postings, word, kind)) for word in present]
            counted = sum(spread for _, spread in spreads)
            any_signal |= counted
            levels = counted.to_bytes(len(marks), "little")
            for hits in range(len(present), 0, -1):
                rank = levels.find(hits)
                for _ in range(most):
                    if rank < 0:
                        break
                    number = self.by_rank[rank]
                    raw = base + span * hits / len(query_words)
                    if number not in candidates or candidates[number][0] < raw:
                        hit_words = [word for word, spread in spreads if spread >> (8 * rank) & 1]
                        values: Record = {"count": hits, "all": len(query_words), "words": join_words(hit_words)}
                        candidates[number] = raw, f"match-{kind}-words", values
                    rank = levels.find(hits, rank + 1)
        total = len(marks) - any_signal.to_bytes(len(marks), "little").count(0)
        if not total:
            candidates = {number: (raw, signal, {"value": value}) for number, (raw, signal, value) in self.typos(query).items()}
            total = len(candidates)
        ordered = sorted((-self.score(number, raw), -self.popularity[number], number) for number, (raw, _, _) in candidates.items())
        return total, [(number, -score, *candidates[number][1:]) for score, _, number in ordered[:most]]

    def score(self, number: int, raw: float) -> float:
        """The signal's raw score with the popularity's small part, rounded half up to 4 places."""
        popular = self.popularity[number]
        bonus = min(0.1, math.log10(popular) / 100) if popular >= 1 else 0.0
        return int((raw + (1 - raw) * bonus) * 10000 + 0.5 + 1e-9) / 10000


# ── index ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

FORMAT = "doctrove-index@1"
# Control characters: C0, C1, and what turns the direction of text. No name holds them, and no terminal is shown them.
CONTROLS = frozenset((*range(32), *range(127, 160), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))
UNSAFE = dict.fromkeys(CONTROLS - {ord("\t"), ord("\n"), 0x2028, 0x2029})
MAX_LABEL = 200
MAX_VALUES = 2000000  # objects and arrays in one file: decoding more would keep everything else waiting
MAX_INDEX_BYTES = 256 * 1024 * 1024  # also of one volume, and of what a compressed one unpacks to


def index_fault(where: str, path: str, fault: str, **values: object) -> DocError:
    """The first offence in an index, with its JSON path. The source that reads the index gives it its own code."""
    return DocError("internal", "index-fault", where=where, path=path, fault=(fault, values))


def decode_text(data: bytes, where: str) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise index_fault(where, "$", "fault-encoding", detail=f"byte {error.start}") from None
    if len(text) > MAX_VALUES and text.count("{") + text.count("[") > MAX_VALUES:
        raise index_fault(where, "$", "fault-values", limit=MAX_VALUES)
    return text[1:] if text[:1] == "\ufeff" else text  # the codec utf-8-sig would be one more import


def refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def decode_value(decoder: json.JSONDecoder, text: str, at: int, where: str, path: str) -> tuple[Any, int]:
    """(the JSON value that starts at `at`, where it ends)."""
    try:
        return decoder.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise index_fault(where, path, "fault-json", detail=f"{error.msg}: line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise index_fault(where, path, "fault-deep") from None
    except ValueError as error:
        raise index_fault(where, path, "fault-json", detail=str(error)[:100]) from None


def is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def is_label(value: Any) -> bool:
    """What is repeated in every answer, and asked for by name: on one line, and short."""
    return is_text(value) and len(value) <= MAX_LABEL and not CONTROLS.intersection(map(ord, value))


def is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# Members by owner: name, test, what it must be, whether it is required. Members that are not listed are ignored.
LABEL = f"a non-empty text of at most {MAX_LABEL} characters without control characters"
INDEX_MEMBERS = (("updatedAt", is_text, "a text", False),)
ENTRY_MEMBERS = (
    ("id", is_label, LABEL, True), ("name", is_text, "a non-empty text", True), ("summary", lambda value: isinstance(value, str), "a text", False),
    ("aliases", lambda value: isinstance(value, list) and all(map(is_label, value)), f"an array, each {LABEL}", False),
    ("homepage", lambda value: isinstance(value, str), "a text", False), ("popularity", is_number, "a number", False),
    ("versions", lambda value: isinstance(value, list) and all(map(is_label, value)), f"an array, each {LABEL}", True),
    ("volumes", lambda value: isinstance(value, dict), "an object", True))
VOLUME_MEMBERS = (("summary", lambda value: isinstance(value, str), "a text", False),)
REFERENCE_MEMBERS = (("href", is_text, "a text", True), ("sha256", is_text, "a text", True), ("bytes", is_count, "a count", False),
                     ("sections", is_count, "a count", False))
SECTION_TEXTS = ("id", "heading", "body", "path", "parent", "doc", "sha256")
LEVELS = range(1, 7)


def check_members(value: Any, members: Iterable[tuple[str, Callable[[Any], bool], str, bool]], where: str, path: str) -> Record:
    """`value` when it is an object whose listed members are as they must be; else the fault is raised with its JSON path."""
    if not isinstance(value, dict):
        raise index_fault(where, path, "fault-type", wanted="an object")
    for name, test, wanted, required in members:
        if name not in value:
            if required:
                raise index_fault(where, f"{path}.{name}", "fault-missing")
        elif not test(value[name]):
            raise index_fault(where, f"{path}.{name}", "fault-type", wanted=wanted)
    return value


def is_inside(href: str) -> bool:
    """Whether a reference is a plain relative path: no scheme, drive, query or escape, no empty, '.' or '..' segment."""
    return not any(sign in "\\?#%:" or sign < " " for sign in href) and not {"", ".", ".."} & set(href.split("/"))


def check_entry(value: Any, where: str, path: str) -> Record:
    entry = check_members(value, ENTRY_MEMBERS, where, path)
    seen: set[str] = set()
    for version in entry["versions"]:
        if version in seen:
            raise index_fault(where, f"{path}.versions", "fault-duplicate", value=version)
        seen.add(version)
        if version not in entry["volumes"]:
            raise index_fault(where, f"{path}.volumes", "fault-no-volume", version=version)
    for version, volume in entry["volumes"].items():
        check_volume(volume, where, volume_path(path, version))
    return entry


def volume_path(entry_path: str, version: str) -> str:
    return f"{entry_path}.volumes[{json.dumps(version, ensure_ascii=False)}]"


def check_volume(value: Any, where: str, path: str) -> Record:
    """A volume with its sections, or a reference to one."""
    volume = check_members(value, VOLUME_MEMBERS, where, path)
    if "href" in volume:
        check_members(volume, REFERENCE_MEMBERS, where, path)
        if not is_inside(volume["href"]):
            raise index_fault(where, f"{path}.href", "fault-href", value=json.dumps(volume["href"]))
        if len(volume["sha256"]) != 64 or volume["sha256"].strip("0123456789abcdefABCDEF"):
            raise index_fault(where, f"{path}.sha256", "fault-sha256")
        return volume
    if "sections" not in volume:
        raise index_fault(where, f"{path}.sections", "fault-missing")
    if not isinstance(volume["sections"], list):
        raise index_fault(where, f"{path}.sections", "fault-type", wanted="an array")
    ids: set[str] = set()
    for at, section in enumerate(volume["sections"]):
        if not isinstance(section, dict):
            raise index_fault(where, f"{path}.sections[{at}]", "fault-type", wanted="an object")
        for name in SECTION_TEXTS:
            if not isinstance(section.get(name, ""), str):
                raise index_fault(where, f"{path}.sections[{at}].{name}", "fault-type", wanted="a text")
        if type(section.get("level", 1)) is not int or section.get("level", 1) not in LEVELS:
            raise index_fault(where, f"{path}.sections[{at}].level", "fault-type", wanted="a whole number from 1 to 6")
        id = section.get("id")
        if id in ids or not (id is None or is_label(id)):
            raise index_fault(where, f"{path}.sections[{at}].id", "fault-duplicate" if id in ids else "fault-type", value=id, wanted=LABEL)
        if id is not None:
            ids.add(id)
    return volume


class Entry:
    """One library in an index."""

    __slots__ = ("id", "index", "number")

    def __init__(self, index: Index, number: int, id: str) -> None:
        self.index, self.number, self.id = index, number, id

    def record(self) -> Record:
        """The entry's object as in the format, decoded anew."""
        try:
            record: Record = json.loads(self.index.text[self.index.starts[self.number]:self.index.ends[self.number]])
        except RecursionError:  # it was just not too deep where it was checked
            raise index_fault(self.index.where, f"$.entries[{self.number}]", "fault-deep") from None
        return record

    def volume_path(self, version: str) -> str:
        return volume_path(f"$.entries[{self.number}]", version)


SERIALS = count(1)  # tells what was loaded when, for the keys of caches, which must not keep a whole index alive


class Index:
    """A validated doctrove-index@1. Raises DocError index-fault with the first offence.

    Of the entries only their places in the text and their ids are kept: decoded they would take about five times the memory of their text.
    """

    def __init__(self, text: str, where: str) -> None:
        from array import array
        self.text, self.where, self.serial = text, where, next(SERIALS)
        self.starts, self.ends = array("L"), array("L")
        self.numbers: dict[str, int] = {}
        members = dict(self.members())
        if members.get("format") != FORMAT:
            raise index_fault(where, "$.format", "fault-format" if "format" in members else "fault-missing")
        if "entries" not in members:
            raise index_fault(where, "$.entries", "fault-missing")
        check_members(members, INDEX_MEMBERS, where, "$")
        self.updated_at: str | None = members.get("updatedAt")

    def entries(self) -> Iterator[Entry]:
        """All entries in order."""
        return (Entry(self, number, id) for id, number in self.numbers.items())

    def find(self, id: str) -> Entry | None:
        return Entry(self, self.numbers[id], id) if id in self.numbers else None

    def members(self) -> Iterator[tuple[str, Any]]:
        """The top-level object member by member, so that never more than one entry is decoded at a time."""
        text, where = self.text, self.where
        decoder = json.JSONDecoder(parse_constant=refuse_constant)
        at = self.expect("{", 0)
        first = True
        while text[at:at + 1] != "}":
            at = at if first else self.expect(",", at)
            first = False
            if text[at:at + 1] != '"':
                raise index_fault(where, "$", "fault-json", detail=f"a member name is missing at character {at}")
            name, at = decode_value(decoder, text, at, where, "$")
            at = self.expect(":", at)
            if name == "entries":
                yield name, True
                at = self.read_entries(decoder, at)
            else:
                value, at = decode_value(decoder, text, at, where, f"$.{name}")
                yield name, value
            at = self.skip_space(at)
        rest = text[at + 1:].strip()
        if rest:
            raise index_fault(where, "$", "fault-json", detail=f"more text after the object: {rest[:20]!r}")

    def expect(self, sign: str, at: int) -> int:
        """The place after `sign` and the space around it."""
        at = self.skip_space(at)
        if self.text[at:at + 1] != sign:
            raise index_fault(self.where, "$", "fault-json", detail=f"{sign!r} is missing at character {at}")
        return self.skip_space(at + 1)

    def skip_space(self, at: int) -> int:
        if self.text[at:at + 1] not in (" ", "\t", "\n", "\r"):
            return at
        match = re.compile(r"[ \t\n\r]*").match(self.text, at)
        return match.end() if match else at

    def read_entries(self, decoder: json.JSONDecoder, at: int) -> int:
        """Validates the array that starts at `at`; returns where it ends."""
        text = self.text
        if text[at:at + 1] != "[":
            raise index_fault(self.where, "$.entries", "fault-type", wanted="an array")
        if self.numbers:
            raise index_fault(self.where, "$.entries", "fault-duplicate", value="entries")
        at = self.expect("[", at)
        while text[at:at + 1] != "]":
            number = len(self.numbers)
            path = f"$.entries[{number}]"
            at = self.expect(",", at) if number else at
            value, end = decode_value(decoder, text, at, self.where, path)
            record = check_entry(value, self.where, path)
            if record["id"] in self.numbers:
                raise index_fault(self.where, f"{path}.id", "fault-duplicate", value=record["id"])
            self.numbers[record["id"]] = number
            self.starts.append(at)
            self.ends.append(end)
            at = self.skip_space(end)
        return at + 1


class Section:
    """A passage of a volume; `id` and `level` are derived where the index does not give them. `context`: the headings above it."""

    __slots__ = ("body", "context", "heading", "id", "level", "path", "record")

    def __init__(self, record: Record, id: str, parent: Section | None) -> None:
        self.id, self.record = id, record
        self.heading: str = record.get("heading", "")
        self.body: str = record.get("body", "")
        self.path: str = record.get("path", "")
        if parent is None:
            self.level, self.context = record.get("level", 1), ""
        else:
            self.level, self.context = record.get("level", min(parent.level + 1, LEVELS[-1])), f"{parent.heading} {parent.context}"[:400]


def slug(heading: str) -> str:
    """A stable id from a heading: lower case, letters and digits of any script, joined by hyphens."""
    return re.sub(r"[\W_]+", "-", heading.casefold()).strip("-")[:80].rstrip("-") or "section"


def make_sections(records: Sequence[Record]) -> list[Section]:
    """Sections with unique ids: given ones as they are, derived ones from the heading, numbered where it repeats."""
    used = {record["id"] for record in records if "id" in record}
    by_id: dict[str, Section] = {}
    sections: list[Section] = []
    open_levels: list[Section] = []
    repeats: dict[str, int] = {}
    for record in records:
        id = record.get("id")
        if id is None:
            base = id = slug(record.get("heading", ""))
            while id in used:
                repeats[base] = repeats.get(base, 1) + 1
                id = f"{base}-{repeats[base]}"
            used.add(id)
        parent = by_id.get(record.get("parent", ""))
        if parent is None and "parent" not in record and record.get("level", 1) > 1:
            while open_levels and open_levels[-1].level >= record["level"]:
                open_levels.pop()
            parent = open_levels[-1] if open_levels else None
        section = by_id[id] = Section(record, id, parent)
        open_levels.append(section)
        sections.append(section)
    return sections


class Volume:
    """The documentation of one version: `summary`, `sections`, and what ranks them, made when the first question comes."""

    def __init__(self, record: Record) -> None:
        self.summary: str = record.get("summary", "")
        self.sections = make_sections(record["sections"])
        self.lock = allocate_lock()
        self.made_ranker: SectionRanker | None = None

    def ranker(self) -> SectionRanker:
        with self.lock:
            if self.made_ranker is None:
                self.made_ranker = SectionRanker([(section.heading, section.body, section.context, section.id) for section in self.sections])
        return self.made_ranker

    def find(self, id: str) -> int | None:
        """The number of the section with this id."""
        return next((at for at, section in enumerate(self.sections) if section.id == id), None)


# ── sources ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

def sha256_hex(data: bytes) -> str:
    import hashlib
    return hashlib.sha256(data).hexdigest()


def inflate(data: bytes, where: str) -> bytes:
    """`data` unpacked when it is gzip, else as it is. Raises DocError for a damaged or too large one."""
    if data[:2] != b"\x1f\x8b":
        return data
    import zlib
    parts, room = [], MAX_INDEX_BYTES
    try:
        while data:
            stream = zlib.decompressobj(wbits=31)
            parts.append(stream.decompress(data, room + 1))
            room -= len(parts[-1])
            if room < 0:
                raise DocError("internal", "index-large", where=where, limit=MAX_INDEX_BYTES)
            if not stream.eof:
                raise DocError("internal", "index-unreadable", where=where, reason="the gzip data end too early")
            data = stream.unused_data
    except zlib.error as error:
        raise DocError("internal", "index-unreadable", where=where, reason=f"damaged gzip data: {error}") from None
    return b"".join(parts)


class FolderStore:
    """Files below a folder; a file may also be there as NAME.gz. Links that lead out of the folder are refused."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def intact(self) -> bool:
        """Whether what is read is known to be what was verified before. Here anybody may have changed it."""
        return False

    def where(self, name: str) -> str:
        return os.path.join(self.folder, *name.split("/"))

    def path(self, name: str) -> str | None:
        """The file's path, or None where it is not there."""
        path = self.where(name)
        return path if os.path.isfile(path) else path + ".gz" if os.path.isfile(path + ".gz") else None

    def fault(self, name: str) -> str | None:
        """The message key of what is wrong with the reference `name`, before anything is read."""
        path = self.path(name)
        if path is None:
            return "fault-absent"
        inside = os.path.join(os.path.realpath(self.folder), "")
        return None if os.path.realpath(path).startswith(inside) else "fault-link"

    def read(self, name: str) -> bytes:
        where = self.where(name)
        path = self.path(name)
        if path is None:
            raise DocError("internal", "index-unreadable", where=where, reason="there is no such file")
        try:
            if os.path.getsize(path) > MAX_INDEX_BYTES:
                raise DocError("internal", "index-large", where=where, limit=MAX_INDEX_BYTES)
            with open(path, "rb") as file:
                return inflate(file.read(), where)
        except (OSError, ValueError) as error:
            raise DocError("internal", "index-unreadable", where=where, reason=getattr(error, "strerror", None) or str(error)) from None


class ArchiveStore:
    """The data inside the archive that runs, read by the loader that loaded this module.

    The build has verified it; `doctor` does so again. Reading does not: hashing a volume would cost 11 % of a whole start. The file is
    kept open: where another one takes its place while we run, the loader's table of contents is wrong, and the old file is read on.
    """

    def __init__(self, loader: Any, folder: str) -> None:
        self.loader, self.folder = loader, folder
        self.file = open(loader.archive, "rb")  # noqa: SIM115  # for as long as the process runs
        self.identity = self.identify(os.fstat(self.file.fileno()))

    @staticmethod
    def identify(stat: os.stat_result) -> tuple[int, ...]:
        return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns

    def intact(self) -> bool:
        """Whether the file at the archive's path is still the one that we started from."""
        try:
            return self.identify(os.stat(self.loader.archive)) == self.identity
        except OSError:
            return False

    def read_kept(self, name: str) -> bytes:
        """A member of the file as it was opened."""
        import zipfile
        with zipfile.ZipFile(self.file) as archive:
            return archive.read(f"{self.folder}/{name}")

    def where(self, name: str) -> str:
        return os.path.join(self.loader.archive, self.folder, *name.split("/"))

    def fault(self, name: str) -> str | None:
        return None  # the build has looked; reading finds a missing one

    def read(self, name: str) -> bytes:
        try:
            data: bytes = self.loader.get_data(self.where(name)) if self.intact() else self.read_kept(name)
        except Exception as error:  # zipimport, zipfile and zlib each have their own for a damaged or missing member
            if not self.intact():
                raise DocError("internal", "archive-replaced", where=self.loader.archive) from None
            raise DocError("internal", "index-unreadable", where=self.where(name), reason=str(error) or type(error).__name__) from None
        return inflate(data, self.where(name))


class ZipStore:
    """Members of a .zip or .pyz: those beside its index.json, which is at the top or in data/."""

    def __init__(self, path: str) -> None:
        import zipfile
        try:
            self.zip = zipfile.ZipFile(path)
        except Exception as error:  # besides its own errors a damaged file gets zipfile to raise those of half a dozen modules
            raise DocError("internal", "index-unreadable", where=path, reason=getattr(error, "strerror", None) or str(error)) from None
        self.file = path
        self.names = set(self.zip.namelist())
        self.lock = allocate_lock()
        self.folder = next((folder for folder in ("", "data/") if {f"{folder}index.json", f"{folder}index.json.gz"} & self.names), "")

    def intact(self) -> bool:
        return False

    def where(self, name: str) -> str:
        return f"{self.file}/{self.folder}{name}"

    def fault(self, name: str) -> str | None:
        return None if {self.folder + name, f"{self.folder}{name}.gz"} & self.names else "fault-absent"

    def read(self, name: str) -> bytes:
        member = self.folder + name
        member = member if member in self.names else member + ".gz"
        try:
            with self.lock:
                if self.zip.getinfo(member).file_size > MAX_INDEX_BYTES:
                    raise DocError("internal", "index-large", where=self.where(name), limit=MAX_INDEX_BYTES)
                data = self.zip.read(member)
        except KeyError:
            raise DocError("internal", "index-unreadable", where=self.where(name), reason="there is no such member") from None
        except DocError:
            raise
        except Exception as error:  # as above
            raise DocError("internal", "index-unreadable", where=self.where(name), reason=str(error) or type(error).__name__) from None
        return inflate(data, self.where(name))


class Source:
    """An index and where it comes from: `kind` is bundled | local | remote, `name` is how answers call it."""

    def __init__(self, kind: str, name: str, location: str) -> None:
        self.kind, self.name, self.location = kind, name, location
        self.stale_reason: DocError | None = None  # why an expired copy serves

    def index(self) -> Index:
        raise NotImplementedError

    def volume(self, entry: Entry, version: str) -> Volume:
        """The volume of a listed version. Raises DocError where its bytes cannot be had or are not what the index says."""
        raise NotImplementedError

    def describe(self) -> Record:
        """The `source` of an answer. Where this machine keeps the bundled index is nobody's business."""
        location = os.path.basename(self.location) if self.kind == "bundled" else self.location
        return {"name": self.name, "kind": self.kind, "location": location, **({"stale": True} if self.stale_reason else {})}


def verify_reference(data: bytes, reference: Record, where: str, path: str) -> None:
    """Raises DocError index-fault where the bytes that a reference led to are not those that it names."""
    actual = sha256_hex(data)
    if actual != reference["sha256"].lower():
        raise index_fault(where, f"{path}.sha256", "fault-hash", value=reference["href"], actual=actual)


def read_volume(data: bytes, where: str, path: str) -> Volume:
    """The volume in the bytes that a reference led to. Raises DocError index-fault."""
    text = decode_text(data, where)
    record, end = decode_value(json.JSONDecoder(parse_constant=refuse_constant), text, len(text) - len(text.lstrip()), where, path)
    if text[end:].strip():
        raise index_fault(where, path, "fault-json", detail="more text after the object")
    if isinstance(record, dict) and "href" in record:
        raise index_fault(where, f"{path}.href", "fault-type", wanted="absent in a volume that a reference leads to")
    return Volume(check_volume(record, where, path))


class LocalSource(Source):
    """The bundled index or one on this machine: parsed once; volumes are read when they are asked for, and the last ones kept."""

    def __init__(self, kind: str, store: FolderStore | ArchiveStore | ZipStore, index_name: str) -> None:
        super().__init__(kind, kind, store.where(index_name))
        self.store, self.index_name = store, index_name
        self.loaded: Index | None = None
        self.volumes = Cache(32, None)
        self.lock = allocate_lock()

    def index(self) -> Index:
        with self.lock:
            if self.loaded is None:
                index = Index(decode_text(self.store.read(self.index_name), self.location), self.location)
                self.check_references(index)
                self.loaded = index
        return self.loaded

    def check_references(self, index: Index) -> None:
        """A file that a reference names must be there; what is in it is checked when it is read."""
        if isinstance(self.store, ArchiveStore):
            return
        for entry in index.entries():
            for version, volume in entry.record()["volumes"].items():
                fault = self.store.fault(volume["href"]) if "href" in volume else None
                if fault:
                    raise index_fault(index.where, f"{entry.volume_path(version)}.href", fault, value=volume["href"])

    def volume(self, entry: Entry, version: str) -> Volume:
        key = (entry.id, version)
        found: Volume | None = self.volumes.get(key)
        if found is None:
            record = entry.record()["volumes"][version]
            if "href" in record:
                data, where = self.store.read(record["href"]), self.store.where(record["href"])
                if not self.store.intact():
                    verify_reference(data, record, where, entry.volume_path(version))
                found = read_volume(data, where, entry.volume_path(version))
            else:
                found = Volume(record)
            self.volumes.put(key, found)
        return found


    def read_all(self, index: Index) -> tuple[list[int], list[DocError]]:
        """(sections of each volume, faults): reads and verifies everything."""
        sizes, faults = [], []
        for entry in index.entries():
            for version, volume in entry.record()["volumes"].items():
                try:
                    if "href" in volume:
                        verify_reference(self.store.read(volume["href"]), volume, self.store.where(volume["href"]), entry.volume_path(version))
                    sizes.append(len(self.volume(entry, version).sections))
                except DocError as error:
                    faults.append(error)
        return sizes, faults


def bundled_source() -> LocalSource:
    """The index inside the archive that runs, or data/ beside doctrove.py."""
    loader = globals().get("__loader__")
    if hasattr(loader, "archive"):
        return LocalSource("bundled", ArchiveStore(loader, "data"), "index.json")
    return LocalSource("bundled", FolderStore(os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")), "index.json")


def local_source(path: str) -> LocalSource:
    """A folder with an index.json, an index file (.json, .json.gz), or a .zip / .pyz that holds one. Raises DocError where it is none."""
    path = os.path.abspath(os.path.expanduser(path))
    if os.path.isdir(path):
        return LocalSource("local", FolderStore(path), "index.json")
    if not os.path.isfile(path):  # a pipe or device might never end
        raise DocError("internal", "index-unreadable", where=path, reason="there is no such file or folder")
    with_zip = False
    try:
        with open(path, "rb") as file:
            head = file.read(4)
            with_zip = head[:2] == b"PK" or path.lower().endswith((".pyz", ".zip"))
    except (OSError, ValueError) as error:
        raise DocError("internal", "index-unreadable", where=path, reason=getattr(error, "strerror", None) or str(error)) from None
    if with_zip:
        return LocalSource("local", ZipStore(path), "index.json")
    folder, name = os.path.split(path)
    return LocalSource("local", FolderStore(folder), name)


# ── remote ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

MAX_REDIRECTS = 5
# Cloud metadata services: credentials are a request away, so these are refused wherever a URL leads.
METADATA_HOSTS = frozenset(("169.254.169.254", "169.254.170.2", "100.100.100.200", "fd00:ec2::254", "metadata.google.internal", "metadata.goog", "metadata"))


class Fetched:
    """A remote document as it was parsed, with what revalidates it."""

    __slots__ = ("content", "etag", "modified", "url")

    def __init__(self, url: str, content: Any, etag: str | None, modified: str | None) -> None:
        self.url, self.content, self.etag, self.modified = url, content, etag, modified


class Fetcher:
    """Fetches over http and https: cached, revalidated, one attempt per cool-down, within the time limit.

    Metadata services are refused wherever a URL leads; a redirect may not lead from a public address to a private one.
    """

    def __init__(self, settings: Settings, cache: Cache) -> None:
        self.seconds = settings.timeoutMs / 1000
        self.cache = cache
        self.cool_down = CoolDown(enabled=settings.cacheTtl > 0)
        self.locks: dict[str, Any] = {}

    def get(self, url: str, parse: Callable[[bytes, str], Any], wanted: str = "") -> tuple[Fetched, DocError | None]:
        """(the document, None), or (an expired copy, why it could not be renewed). Raises DocError network or timeout.

        wanted: tells apart what is kept under one URL, such as the hash that the content must have.

        parse: (bytes, final URL) -> content; its DocErrors count as failures of the remote. Concurrent calls for one URL wait for one attempt.
        """
        lock, deadline = self.locks.setdefault(url, allocate_lock()), time.monotonic() + self.seconds
        if not lock.acquire(timeout=self.seconds):
            raise DocError("timeout", "remote-timeout", url=url, seconds=f"{self.seconds:g}")
        try:
            return self.get_alone(url, parse, wanted, deadline)
        finally:
            lock.release()

    def get_alone(self, url: str, parse: Callable[[bytes, str], Any], wanted: str, deadline: float) -> tuple[Fetched, DocError | None]:
        key = ("fetch", url, wanted)
        fresh: Fetched | None = self.cache.get(key)
        if fresh is not None:
            return fresh, None
        old: Fetched | None = self.cache.peek(key)
        error = self.cool_down.failure(url + wanted)
        if error is None:
            try:
                fetched = self.fetch(url, old, parse, deadline)
            except DocError as failed:
                error = failed
                self.cool_down.failed(url + wanted, error)
            else:
                self.cool_down.succeeded(url + wanted)
                self.cache.put(key, fetched)
                return fetched, None
        if old is None:
            raise error
        return old, error

    def fetch(self, url: str, old: Fetched | None, parse: Callable[[bytes, str], Any], deadline: float) -> Fetched:
        """One attempt, abandoned when the time is up: its thread ends by itself once the connection that is closed under it fails."""
        import threading
        outcome: list[Fetched | DocError] = []
        done = threading.Event()
        connections: list[socket.socket] = []

        def attempt() -> None:
            try:
                outcome.append(self.request(url, old, parse, connections))
            except DocError as error:
                outcome.append(error)
            except Exception as error:  # whatever a hostile answer provokes in the libraries is the remote's fault
                outcome.append(DocError("network", "remote-broken", url=url, reason=f"{type(error).__name__}: {error}"))
            done.set()

        threading.Thread(target=attempt, daemon=True).start()
        if not done.wait(max(0.0, deadline - time.monotonic())):
            for connection in connections:
                try:
                    connection.shutdown(2)
                except OSError:
                    pass  # it is closed already
            raise DocError("timeout", "remote-timeout", url=url, seconds=f"{self.seconds:g}")
        if isinstance(outcome[0], DocError):
            raise outcome[0]
        return outcome[0]

    def request(self, url: str, old: Fetched | None, parse: Callable[[bytes, str], Any], connections: list[socket.socket]) -> Fetched:
        import http.client
        import urllib.error
        import urllib.request
        headers = {"User-Agent": f"doctrove/{__version__}", "Accept": "application/json", "Accept-Encoding": "gzip"}
        if old is not None:
            headers.update({name: value for name, value in (("If-None-Match", old.etag), ("If-Modified-Since", old.modified)) if value})
        try:
            with make_opener(self.seconds, connections).open(urllib.request.Request(url, headers=headers), timeout=self.seconds) as response:
                data = read_body(response, url)
                final, etag, modified = response.geturl(), response.headers.get("ETag"), response.headers.get("Last-Modified")
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == 304 and old is not None:
                return Fetched(old.url, old.content, old.etag, old.modified)
            raise DocError("network", "remote-status", url=url, status=error.code) from None
        except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            if isinstance(reason, DocError):
                raise reason from None
            if isinstance(reason, TimeoutError) or type(reason).__name__ == "timeout":  # socket.timeout is a class of its own before 3.10
                raise DocError("timeout", "remote-timeout", url=url, seconds=f"{self.seconds:g}") from None
            raise DocError("network", "remote-refused", url=url, reason=str(reason) or type(reason).__name__) from None
        try:
            return Fetched(final, parse(inflate(data, url), final), etag, modified)
        except DocError as error:
            raise DocError("network", "remote-invalid", url=url, reason=(error.key, error.values)) from None


def read_body(response: http.client.HTTPResponse, url: str) -> bytes:
    """The whole body, held against Content-Length and the size limit."""
    declared = response.headers.get("Content-Length")
    expected = int(declared) if declared and declared.isdigit() else None
    parts, size = [], 0
    while True:
        if size > MAX_INDEX_BYTES or (expected or 0) > MAX_INDEX_BYTES:
            raise DocError("network", "remote-large", url=url, limit=MAX_INDEX_BYTES)
        part = response.read1(65536)  # read() believes a chunk that calls itself endless
        if not part:
            break
        parts.append(part)
        size += len(part)
    if expected is not None and size != expected:
        raise DocError("network", "remote-broken", url=url, reason=f"{size} of {expected} bytes arrived")
    return b"".join(parts)


def address_kind(text: str) -> str:
    """'metadata' (a cloud's metadata service, or any link-local address), 'private' or 'public': of an IP address, also of an IPv4 one that
    an IPv6 one wraps."""
    import ipaddress
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        nat64 = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in ipaddress.ip_network("64:ff9b::/96") else None
        address = address.ipv4_mapped or address.sixtofour or nat64 or address
    if address.is_link_local or str(address) in METADATA_HOSTS:
        return "metadata"
    return "public" if address.is_global else "private"


def make_opener(seconds: float, connections: list[socket.socket]) -> urllib.request.OpenerDirector:
    """An opener that keeps the rules of Fetcher: schemes and number of redirects, addresses, and its sockets listed in `connections`."""
    import http.client
    import io
    import socket
    import urllib.error
    import urllib.parse
    import urllib.request
    first_is_private: list[bool] = []

    def look_up(connection: http.client.HTTPConnection) -> None:
        """Refuses before anything is sent; a name that resolves differently the second time is caught when it is connected."""
        for _, _, _, _, address in socket.getaddrinfo(connection.host, connection.port, type=socket.SOCK_STREAM):
            if address_kind(str(address[0])) == "metadata":
                raise DocError("network", "remote-address", url=connection.host, address=address[0])

    def admit(connection: http.client.HTTPConnection) -> None:
        connections.append(connection.sock)
        address = str(connection.sock.getpeername()[0])
        kind = address_kind(address)
        first_is_private.append(kind != "public")
        if kind == "metadata" or (kind == "private" and not first_is_private[0]):
            connection.close()
            raise DocError("network", "remote-address", url=connection.host, address=address)

    class Plain(http.client.HTTPConnection):
        def connect(self) -> None:
            look_up(self)
            super().connect()
            admit(self)

    class Secure(http.client.HTTPSConnection):
        def connect(self) -> None:
            look_up(self)
            super().connect()
            admit(self)

    class PlainHandler(urllib.request.HTTPHandler):
        def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Plain, request)

    class SecureHandler(urllib.request.HTTPSHandler):
        def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Secure, request)

    class Redirects(urllib.request.HTTPRedirectHandler):
        max_redirections = MAX_REDIRECTS

        def redirect_request(self, request: urllib.request.Request, file: IO[bytes], code: int, text: str,
                             headers: http.client.HTTPMessage, url: str) -> urllib.request.Request | None:
            parts = urllib.parse.urlsplit(url)
            if parts.scheme not in ("http", "https") or (request.type == "https" and parts.scheme != "https"):
                raise DocError("network", "remote-scheme", url=request.full_url)
            if (parts.hostname or "").lower() in METADATA_HOSTS:
                raise DocError("network", "remote-address", url=request.full_url, address=parts.hostname)
            return super().redirect_request(request, file, code, text, headers, url)

        def http_error_302(self, request: urllib.request.Request, file: IO[bytes], code: int, text: str, headers: http.client.HTTPMessage) -> Any:
            # urllib itself refuses other schemes with an error that does not say so.
            file.close()  # urllib would read the whole body first
            target = headers.get("Location") or headers.get("URI") or ""
            scheme = urllib.parse.urlsplit(urllib.parse.urljoin(request.full_url, target)).scheme
            if scheme not in ("http", "https"):
                raise DocError("network", "remote-scheme", url=request.full_url)
            return super().http_error_302(request, io.BytesIO(), code, text, headers)

        http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302  # type: ignore[assignment]  # the argument names differ

    return urllib.request.build_opener(PlainHandler, SecureHandler, Redirects)


class RemoteSource(Source):
    """An index at a URL."""

    def __init__(self, name: str, url: str, fetcher: Fetcher) -> None:
        path = url.partition("?")[0]
        plain = path if path.endswith((".json", ".json.gz")) else path.rstrip("/") + "/index.json"
        super().__init__("remote", name, plain + url[len(path):])
        self.fetcher = fetcher
        self.base = self.location

    def index(self) -> Index:
        fetched, self.stale_reason = self.fetcher.get(self.location, lambda data, final: Index(decode_text(data, final), final))
        self.base = fetched.url
        index: Index = fetched.content
        return index

    def volume(self, entry: Entry, version: str) -> Volume:
        import urllib.parse
        record = entry.record()["volumes"][version]
        if "href" not in record:
            key = ("volume", entry.index.serial, entry.id, version)
            found: Volume | None = self.fetcher.cache.get(key)
            if found is None:
                found = Volume(record)
                self.fetcher.cache.put(key, found)
            return found
        url = urllib.parse.urljoin(self.base, urllib.parse.quote(record["href"]))

        def parse(data: bytes, final: str) -> Volume:
            verify_reference(data, record, final, entry.volume_path(version))
            return read_volume(data, final, entry.volume_path(version))

        volume: Volume = self.fetcher.get(url, parse, record["sha256"])[0].content
        return volume


def remote_sources(settings: Settings, cache: Cache) -> list[Source]:
    """A source for each remote index, in the order given."""
    fetcher, urls = Fetcher(settings, cache), settings.indexUrl
    return [RemoteSource("remote" if len(urls) == 1 else f"remote-{at + 1}", url, fetcher) for at, url in enumerate(urls)]


# ── catalog ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

to_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
DEFAULT_CHARS = 7000  # what every client that was tried shows its model uncut
MAX_EXCERPT = 300000
MAX_CHARS = (1000, 200000)  # what an answer may be told to take
MAX_MORE = 20  # headings of further hits; without focus, of further sections:
MAX_OUTLINE = 500


class View:
    """The loaded indexes merged: the first source that has an id wins. Made anew only when an index changes."""

    def __init__(self, loaded: Sequence[tuple[Source, Index]], only: Sequence[str]) -> None:
        self.loaded, self.serial = loaded, next(SERIALS)
        self.only = {id.casefold() for id in only}
        self.lock = allocate_lock()
        self.made_entries: list[Entry] | None = None
        self.made_ranker: CatalogRanker | None = None

    def offers(self, id: str) -> bool:
        return not self.only or id.casefold() in self.only

    def entries(self) -> list[Entry]:
        """The entries of all sources, each id once."""
        if self.made_entries is None:
            merged: dict[str, Entry] = {}
            for _, index in self.loaded:
                for entry in index.entries():
                    if self.offers(entry.id):
                        merged.setdefault(entry.id, entry)
            self.made_entries = list(merged.values())
        return self.made_entries

    def source(self, entry: Entry) -> Source:
        return next(source for source, index in self.loaded if index is entry.index)

    def ranker(self) -> CatalogRanker:
        with self.lock:
            if self.made_ranker is None:
                records = (entry.record() for entry in self.entries())
                self.made_ranker = CatalogRanker((record["id"], record["name"], record.get("aliases", ()), record.get("summary", ""),
                                                  popularity(record)) for record in records)
        return self.made_ranker

    def holders(self, id: str) -> list[tuple[Source, Entry]]:
        """Every source that has the entry, the winning one first."""
        found = [(source, index.find(id)) for source, index in self.loaded if self.offers(id)]
        return [(source, entry) for source, entry in found if entry]

    def find(self, id: str) -> list[tuple[Source, Entry]]:
        """The holders of the entry that `id` names: exactly, by alias, ignoring case. Raises DocError not-found with the nearest ids."""
        holders = self.holders(id)
        if not holders:
            ranker, entries = self.ranker(), self.entries()
            number = ranker.resolve(id)
            if number is None:
                nearest = [entries[near].id for near, *_ in ranker.rank(id, 5)[1]]
                raise DocError("not-found", "unknown-id" if nearest else "unknown-id-none", {"nearest": nearest}, id=id, nearest=", ".join(nearest))
            holders = self.holders(entries[number].id)
        return holders


def describe(source: Source, index: Index) -> Record:
    """One of the `sources` of an answer."""
    return {**source.describe(), "entries": len(index.numbers), **({"updatedAt": index.updated_at} if index.updated_at else {})}


def popularity(record: Record) -> float:
    try:
        return float(record.get("popularity", 0))
    except OverflowError:
        return math.inf


class Catalog:
    """All sources together. `lookup`, `releases` and `extract` return the structured answers of the tools; the caller says in which language."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.lang = settings, settings.lang
        self.cache = Cache(256, settings.cacheTtl)
        self.remotes = remote_sources(settings, self.cache) if settings.indexUrl else []
        self.local: Source = local_source(settings.localIndex) if settings.localIndex else bundled_source()
        self.sources: list[Source] = [*self.remotes, self.local]
        self.failures: dict[str, DocError] = {}  # of each source the last one
        self.made_view: View | None = None
        self.lock = allocate_lock()

    def may_wait(self) -> bool:
        """Whether a call may wait for the network."""
        return bool(self.remotes)

    def load(self) -> list[tuple[Source, Index | DocError]]:
        """Every source's index, or why it cannot be had; several remotes are asked side by side."""
        outcomes: dict[str, Index | DocError] = {}

        def load_one(source: Source) -> None:
            try:
                outcomes[source.name] = source.index()
            except DocError as error:
                outcomes[source.name] = error

        if len(self.remotes) > 1:
            import threading
            threads = [threading.Thread(target=load_one, args=(source,), daemon=True) for source in self.remotes]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        for source in self.sources:
            if source.name not in outcomes:
                load_one(source)
        return [(source, outcomes[source.name]) for source in self.sources]

    def view(self) -> tuple[View, list[Record]]:
        """(what can be read now, notices about what cannot). Raises the first source's DocError where nothing can."""
        loaded: list[tuple[Source, Index]] = []
        failed: list[tuple[Source, DocError]] = []
        notices = []
        for source, outcome in self.load():
            if isinstance(outcome, DocError):
                failed.append((source, outcome))
                self.failures[source.name] = outcome
                notices.append(self.notice(outcome.code, "notice-fallback", source, outcome))
                continue
            loaded.append((source, outcome))
            if source.stale_reason:
                notices.append(self.notice(source.stale_reason.code, "notice-stale", source, source.stale_reason))
        if not loaded:
            raise failed[0][1]
        with self.lock:
            view = self.made_view
            if view is None or [index for _, index in view.loaded] != [index for _, index in loaded]:
                view = self.made_view = View(loaded, self.settings.only)
        return view, notices

    def notice(self, code: str, key: str, source: Source, error: DocError, **values: object) -> Record:
        message = say(self.lang, key, source=source.location, reason=(error.key, error.values), **values)
        return {"code": code, "source": source.name, "message": shorten(message, 300)}

    def outage(self, view: View, notices: Sequence[Record]) -> None:
        """Nothing was found: where a source is missing, that is an outage and not an answer, and is raised as such."""
        loaded = {source.name for source, _ in view.loaded}
        for notice in notices:
            if notice["source"] not in loaded:
                failure = self.failures[notice["source"]]
                raise DocError(notice["code"], "outage-empty", {"notices": notices}, source=notice["source"], reason=(failure.key, failure.values))

    def remembered(self, key: tuple[Any, ...], work: Callable[[View, list[Record]], Record]) -> Record:
        """work(view, notices) through the cache; an answer with notices neither comes from there nor is kept."""
        view, notices = self.view()
        found: Record | None = None if notices else self.cache.get((view.serial, *key))
        if found is None:
            found = work(view, notices)
            if not notices:
                self.cache.put((view.serial, *key), found)
        return found

    def lookup(self, query: str, limit: int = 8) -> Record:
        """Entries for a name or a need: results (best first), total, sources."""
        return self.remembered(("lookup", query, limit), lambda view, notices: self.find_entries(view, notices, query, limit))

    def find_entries(self, view: View, notices: list[Record], query: str, limit: int) -> Record:
        total, ranked = view.ranker().rank(query, limit)
        if not total:
            self.outage(view, notices)
        results: list[Record] = []
        answer: Record = {"query": shorten(query, 200), "results": results, "total": total, "sources": [describe(*pair) for pair in view.loaded],
                          **({"notices": notices} if notices else {})}
        room = DEFAULT_CHARS * max(limit, 8) // 8 - self.cost(answer, render_lookup(answer, self.lang)) - 300
        for number, score, signal, values in ranked:
            entry = view.entries()[number]
            record = entry.record()
            result = {"id": entry.id, "name": shorten(record["name"], 100), "summary": shorten(record.get("summary", ""), 200), "score": score,
                      "matches": [shorten(say(self.lang, signal, **values), 200)], "versions": newest_first(record["versions"])[:8],
                      "latest": newest(record["versions"]) if record["versions"] else "", "source": view.source(entry).name}
            room -= self.cost(result, render_result(result))
            if room < 0 and results:
                break
            results.append(result)
        if not total:
            answer["next"] = say(self.lang, "next-lookup-none")
        elif total > len(results):
            answer["next"] = say(self.lang, "next-lookup", omitted=total - len(results))
        return answer

    def found(self, view: View, notices: list[Record], id: str) -> list[tuple[Source, Entry]]:
        try:
            return view.find(id)
        except DocError:
            self.outage(view, notices)
            raise

    def releases(self, id: str) -> Record:
        """The versions of an entry, newest first, with the number of sections and the summary of each."""
        return self.remembered(("releases", id), lambda view, notices: self.list_releases(view, notices, id))

    def list_releases(self, view: View, notices: list[Record], id: str) -> Record:
        source, entry = self.found(view, notices, id)[0]
        record = entry.record()
        if not record["versions"]:
            raise DocError("version", "no-versions", name=record["name"])
        versions = newest_first(record["versions"])
        named = versions[:1 + bisect_right(list(accumulate(len(version) + 4 for version in versions[1:])), DEFAULT_CHARS * 3 // 4)]
        rows: list[Record] = []
        answer: Record = {"id": entry.id, "name": shorten(record["name"], 100), "summary": shorten(record.get("summary", ""), 400),
                          "homepage": cut_end(record.get("homepage", ""), 300), "latest": newest(versions), "versions": named, "total": len(versions),
                          "releases": rows,
                          "source": source.describe(), **({"notices": notices} if notices else {})}
        room = DEFAULT_CHARS - self.cost(answer, render_releases(answer, self.lang)) - 200
        for version in versions:
            volume = record["volumes"][version]
            sections = volume.get("sections")  # of a reference: their number, which may be missing
            row: Record = {"version": version, "summary": shorten(volume.get("summary", ""), 160)}
            if sections is not None:
                row["sections"] = sections if isinstance(sections, int) else len(sections)
            room -= self.cost(row, render_release(row, self.lang))
            if room < 0:
                break
            rows.append(row)
        if len(rows) < len(versions):
            answer["next"] = say(self.lang, "next-releases", omitted=len(versions) - len(rows))
        return answer

    def extract(self, id: str, version: str | None = None, focus: str | None = None, max_sections: int = 6, max_chars: int = DEFAULT_CHARS) -> Record:
        """The passages of one version that answer `focus` (without it: its sections in order), within `max_chars` in either form.

        focus: words, or '#' and a section's id for that one section .
        """
        return self.remembered(("extract", id, version, focus, max_sections, max_chars),
                               lambda view, notices: self.find_passages(view, notices, id, version, focus, max_sections, max_chars))

    def open_volume(self, holders: Sequence[tuple[Source, Entry]], version: str, notices: list[Record]) -> tuple[Source, Volume]:
        """The volume from the winning source; where the network fails, the same version from the next source that has it, with a notice."""
        source, entry = holders[0]
        try:
            return source, source.volume(entry, version)
        except DocError as error:
            for other, same in holders[1:]:
                if error.code in ("network", "timeout") and version in same.record()["versions"]:
                    notices.append(self.notice(error.code, "notice-volume", source, error, other=other.name))
                    return other, other.volume(same, version)
            raise

    def find_passages(self, view: View, notices: list[Record], id: str, version: str | None, focus: str | None, max_sections: int,
                      max_chars: int) -> Record:
        if not version and "@" in id[1:] and not view.holders(id):
            id, _, version = id.rpartition("@")
        holders = self.found(view, notices, id)
        record = holders[0][1].record()
        release = select_release(record["versions"], version, record["name"])
        source, volume = self.open_volume(holders, release.version, notices)
        answer: Record = {"id": record["id"], "name": shorten(record["name"], 100), "version": release.version, "releaseKind": release.kind,
                          "releaseNote": say(self.lang, release.note[0], **release.note[1]), **({"focus": shorten(focus, 200)} if focus else {}),
                          "sections": [], "more": [], "total": 0, "omitted": 0, "source": source.describe(),
                          **({"notices": notices} if notices else {})}
        query_words: Sequence[str] = ()
        asked_section = focus[1:] if focus and focus.startswith("#") else None
        if asked_section is not None:
            total, ranked, explain = 1, [(self.section_number(volume, record["name"], release.version, asked_section), 1.0)], None
        elif focus:
            total, ranked, explain = volume.ranker().rank(focus, max_sections + MAX_MORE)
            query_words = topic_words(focus)
        else:
            total, ranked, explain = len(volume.sections), [(at, 0.0) for at in range(min(len(volume.sections), max_sections + MAX_OUTLINE))], None
        answer["total"] = total
        if focus and not total:
            answer["next"] = say(self.lang, "next-none")
            ranked, max_sections = [(at, 0.0) for at in range(min(len(volume.sections), MAX_MORE))], 0
        self.fill(answer, [(volume.sections[number], number, relevance) for number, relevance in ranked], explain, query_words, max_sections, max_chars)
        return answer

    def section_number(self, volume: Volume, name: str, version: str, id: str) -> int:
        """The number of the section with this id. Raises DocError not-found with the ids of the nearest ones."""
        number = volume.find(id)
        if number is None:
            nearest = [volume.sections[at].id for at, _ in volume.ranker().rank(id, 5)[1]]
            raise DocError("not-found", "unknown-section" if nearest else "unknown-section-none", {"nearest": nearest},
                           name=name, version=version, section=id, nearest=", ".join(nearest))
        return number

    def fill(self, answer: Record, hits: Sequence[tuple[Section, int, float]], explain: Callable[[int], Explanation] | None, query_words: Sequence[str],
             max_sections: int, max_chars: int) -> None:
        """Puts into `answer` the best passages and, in the room that is left, the headings of the next hits; says how to get the rest."""
        shown: list[Record] = answer["sections"]
        base = self.measure(answer)
        room = max_chars - base - 180  # what `next` may take
        reserve = min(1300, room // 5) if len(hits) > 1 else 0
        best_share = 0.0
        for section, number, relevance in hits[:max_sections]:
            explanation = explain(number) if explain else None
            matches = explanation.matches(self.lang) if explanation else [say(self.lang, "match-section")] if relevance else []
            row: Record = {"id": section.id, "heading": shorten(section.heading, min(300, max_chars // 12)), "path": cut_end(section.path, max_chars // 8),
                           "body": section.body, "score": explanation.score if explanation else relevance, "relevance": relevance,
                           "matches": [shorten(match, 160) for match in matches]}
            size = self.cost(row, render_section(row, self.lang))
            if not shown and room - reserve < size <= room:
                reserve = room - size  # the best passage whole is worth more than headings
            if size > room - reserve:
                row = self.cut_section(row, room - reserve, base + size, query_words, must=not shown)
                size = self.cost(row, render_section(row, self.lang))
                if shown and (size > room - reserve or not row["body"]):
                    break
            room -= size
            shown.append(row)
            best_share = max(best_share, explanation.share if explanation else 1.0)
        for section, _, relevance in hits[len(shown):]:
            more = {"id": section.id, "heading": shorten(section.heading, 120), "relevance": relevance}
            text = render_more(more)
            room -= len(text) + text.count('"') + text.count("\\") + 45  # never less than either form takes
            if room < 0:
                break
            answer["more"].append(more)
        hints = [answer["next"]] if "next" in answer else []
        hints += [say(self.lang, "next-weak")] if shown and best_share < 0.5 else []
        self.settle(answer, hints)
        if room + 180 < len(answer.get("next", "")) + 40:
            self.trim(answer, hints, max_chars)

    def settle(self, answer: Record, hints: Sequence[str]) -> None:
        """Says how many hits are left out, and how to get them."""
        answer["omitted"] = answer["total"] - len(answer["sections"])
        hints = [*hints, *([say(self.lang, "next-more", omitted=answer["omitted"])] if answer["omitted"] > 0 else [])]
        if hints:
            answer["next"] = " ".join(hints)

    def trim(self, answer: Record, hints: Sequence[str], max_chars: int) -> None:
        """Takes away what the estimates let in too much: headings, then the last passages, then the end of the only one."""
        sections, more = answer["sections"], answer["more"]
        while self.measure(answer) > max_chars:
            if more:
                more.pop()
            elif len(sections) > 1:
                sections.pop()
                self.settle(answer, hints)
            elif sections and sections[0]["body"] not in ("", "[…]"):
                row = sections[0]
                text = row["body"][:-len("\n\n[…]")] if row["body"].endswith("\n\n[…]") else row["body"]
                kept = text[:max(0, len(text) - (self.measure(answer) - max_chars) - 60)].rstrip()
                row["omittedChars"] = row.get("omittedChars", 0) + len(text) - len(kept)
                row["body"] = close_fence(kept) + "\n\n[…]" if kept else "[…]"
            elif sections and (sections[0]["matches"] or "next" in sections[0]):
                sections[0]["matches"] = []
                sections[0].pop("next", None)  # the answer's own `next` says it too
            else:
                break

    def measure(self, answer: Record) -> int:
        """Characters of the whole answer in the longer of the forms that are sent."""
        return self.cost(answer, render_extract(answer, self.lang)) - 2

    def cost(self, part: Any, text: str) -> int:
        """Characters that `part` takes in the longer of the forms that are sent, with a separator: some clients show a model the JSON,
        some the text."""
        return max(len(to_json(part)) if self.settings.answers == "both" else 0, len(text)) + 2

    def cut_section(self, row: Record, room: int, whole: int, query_words: Sequence[str], must: bool) -> Record:
        """`row` with the part of its body around the hits that fits `room`; with none where no useful part fits and it need not.

        whole: characters of an answer that holds all of it, which the cut one names."""
        whole_body, row["body"] = row["body"], ""
        body = narrow(whole_body, query_words)
        hint = {"id": row["id"], "room": min(max(whole + 400 + 2 * len(row["id"]), MAX_CHARS[0]), MAX_CHARS[1])}
        row["omittedChars"], row["next"] = len(whole_body), say(self.lang, "next-cut", omitted=len(whole_body), **hint)
        left = room - self.cost(row, render_section(row, self.lang))
        for _ in range(4):  # the JSON form grows with every line feed and quote, so the room for the text is found by trying
            if left < 400 and not must:
                row["body"] = ""
                return row
            row["body"], kept = excerpt(body, max(left, 80), query_words)
            row["omittedChars"] = len(whole_body) - kept
            row["next"] = say(self.lang, "next-cut", omitted=row["omittedChars"], **hint)
            excess = self.cost(row, render_section(row, self.lang)) - room
            if excess <= 0:
                break
            left -= excess + 20
        return row


def shorten(text: str, most: int) -> str:
    """`text` on one line, cut at a word with an ellipsis where it is longer than `most`."""
    line = " ".join(text.split())
    line = line if line.isprintable() else line.translate(UNSAFE)
    return line if len(line) <= most else line[:most - 1].rsplit(" ", 1)[0].rstrip() + "…"


def cut_end(text: str, most: int) -> str:
    return text if len(text) <= most else text[:max(most - 1, 0)] + "…"


def next_fence(fence: str, line: str) -> str:
    """The code fence that is open after `line`, where `fence` was open before it; '' for none."""
    mark = re.match(r" {0,3}(`{3,}|~{3,})(.*)", line)
    if mark and not fence:
        return mark.group(1)
    return "" if mark and mark.group(1).startswith(fence) and not mark.group(2).strip() else fence


def close_fence(text: str) -> str:
    """`text` with its open code fence closed, where it ends inside one."""
    fence = ""
    for line in text.split("\n"):
        fence = next_fence(fence, line)
    return f"{text}\n{fence}" if fence else text


def cut_blocks(body: str) -> list[str]:
    """The body's blocks: paragraphs, lists and tables between blank lines, and fenced code as one block whatever is in it."""
    blocks: list[list[str]] = [[]]
    fence = ""
    for line in body.split("\n"):
        before, fence = fence, next_fence(fence, line)
        if before:
            blocks[-1].append(line)
            if not fence:
                blocks.append([])
        elif fence:
            blocks.append([line])
        elif line.strip():
            blocks[-1].append(line)
        else:
            blocks.append([])
    return ["\n".join(block) for block in blocks if block]


def narrow(body: str, query_words: Sequence[str]) -> str:
    """Of a body too long to be cut into blocks at once, which no import makes, the part from shortly before the first of the words."""
    if len(body) <= MAX_EXCERPT:
        return body
    folded = fold(body)
    found = [at for at in map(folded.find, query_words) if at >= 0]
    start = max(min(found, default=0) - MAX_EXCERPT // 4, 0)
    start = body.find("\n", start) + 1 if start else 0
    return body[start:start + MAX_EXCERPT]


def excerpt(body: str, room: int, query_words: Sequence[str]) -> tuple[str, int]:
    """(the first block and those around the words, at most about `room` characters; how many of the body's characters are kept).

    Cut at block borders; only where not even one block fits, at the end of a sentence or word.
    """
    blocks = cut_blocks(body)
    sizes = [len(block) + 12 for block in blocks]  # with what separates it, and a mark of what is left out
    fitting = [at for at, size in enumerate(sizes) if size <= room]
    if not fitting:
        head = cut_text(body, room)
        return close_fence(head) + "\n\n[…]", len(head)
    hits = [sum(word in fold(block) for word in query_words) for block in blocks]
    kept: set[int] = set()
    if sizes[0] <= room // 2:
        kept.add(0)  # what the section is about
    left = room - sum(sizes[at] for at in kept)
    best = max((at for at in fitting if at not in kept and sizes[at] <= left), key=lambda at: (hits[at], -at), default=None)
    window = [] if best is None else [best]
    while window:
        kept.update(window)
        left -= sum(sizes[at] for at in window)
        low, high = min(kept - {0} or kept), max(kept)
        window = [at for at in (high + 1, low - 1) if 0 <= at < len(blocks) and at not in kept and sizes[at] <= left][:1]
    parts, after = [], 0
    for at in sorted(kept):
        parts += ["[…]", blocks[at]] if at > after else [blocks[at]]
        after = at + 1
    text = "\n\n".join(parts + (["[…]"] if after < len(blocks) else []))
    return text, sum(len(blocks[at]) for at in kept) + 2 * sum(at + 1 in kept for at in kept)


def cut_text(text: str, room: int) -> str:
    """The beginning of `text` up to the last sentence, else line or word, that ends within `room` characters."""
    if len(text) <= room:
        return text.rstrip()
    end = max(text.rfind(sign, 0, room) + 1 for sign in (". ", ".\n", "。"))
    end = end if end > room // 3 else max(text.rfind("\n", 0, room), text.rfind(" ", 0, room))
    return text[:end if end > 0 else room].rstrip()


# The answers as Markdown, for people and for the models of the many clients that show the text alone.

def render_notices(answer: Record, lang: str) -> list[str]:
    return [say(lang, "text-notice", text=notice["message"]) for notice in answer.get("notices", ())]


def render_source(source: Record, lang: str) -> str:
    where = source["name"] if source["kind"] == "bundled" else f"{source['name']} {source['location']}"
    return where + (" " + say(lang, "text-stale") if source.get("stale") else "")


def render_result(result: Record) -> str:
    facts = (f"latest {result['latest']}", f"versions {', '.join(result['versions'])}",
             f"score {result['score']:g}: {'; '.join(result['matches'])}", result["source"])
    return f"- **{result['id']}** {result['name']}: {result['summary']}\n  {' | '.join(facts)}"


def render_lookup(answer: Record, lang: str) -> str:
    head = "# " + say(lang, "text-results", shown=len(answer["results"]), total=answer["total"], query=shorten(answer["query"], 100))
    tail = [answer["next"]] if "next" in answer else []
    return "\n\n".join([head, *render_notices(answer, lang), *(["\n".join(map(render_result, answer["results"]))] if answer["results"] else []), *tail])


def render_release(row: Record, lang: str) -> str:
    size = [say(lang, "text-sections", count=row["sections"])] if "sections" in row else []
    return f"- **{row['version']}** " + " | ".join([*size, *filter(None, [row["summary"]])])


def render_releases(answer: Record, lang: str) -> str:
    head = "# " + say(lang, "text-releases", name=answer["name"], id=answer["id"], count=answer["total"], latest=answer["latest"])
    about = [" ".join(filter(None, (answer["summary"], f"<{answer['homepage']}>" if answer["homepage"] else "")))]
    rows = "\n".join(render_release(row, lang) for row in answer["releases"])
    rest = answer["versions"][len(answer["releases"]):]
    tail = [", ".join(rest)] if rest else []
    return "\n\n".join(filter(None, [head, *render_notices(answer, lang), *about, rows, *tail, answer.get("next", ""), render_source(answer["source"], lang)]))


def render_section(row: Record, lang: str) -> str:
    facts = [f"#{row['id']}", row["path"], f"relevance {row['relevance']:g}, score {row['score']:g}" if row["matches"] else "", "; ".join(row["matches"])]
    return f"## {row['heading'] or row['id']}\n{' | '.join(filter(None, facts))}\n\n{row['body']}" + (f"\n\n[{row['next']}]" if "next" in row else "")


def render_more(more: Record) -> str:
    return f"- #{more['id']} {more['heading']}" + (f" ({more['relevance']:g})" if more["relevance"] else "")


def render_extract(answer: Record, lang: str) -> str:
    key = "text-extract" if "focus" in answer else "text-contents"
    head = "# " + say(lang, key, name=answer["name"], version=answer["version"], shown=len(answer["sections"]), total=answer["total"],
                      focus=shorten(answer.get("focus", ""), 100))
    version = say(lang, "text-version", version=answer["version"], note=answer["releaseNote"], source=render_source(answer["source"], lang))
    more = [f"## {say(lang, 'text-more')}\n" + "\n".join(map(render_more, answer["more"]))] if answer["more"] else []
    tail = [answer["next"]] if "next" in answer else []
    return "\n\n".join([head, version, *render_notices(answer, lang), *(render_section(row, lang) for row in answer["sections"]), *more, *tail])


# ── tools ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

class Parameter:
    """One argument of a tool: a text (`span`: its length) or a whole number (`span`: its range)."""

    __slots__ = ("default", "description", "kind", "name", "required", "span")

    def __init__(self, name: str, kind: str, description: str, span: tuple[int, int], default: int | None = None, required: bool = False) -> None:
        self.name, self.kind, self.description, self.span, self.default, self.required = name, kind, description, span, default, required

    def schema(self) -> Record:
        if self.kind == "string":
            return {"type": "string", "description": self.description, "maxLength": self.span[1], **({"minLength": 1} if self.required else {})}
        return {"type": "integer", "description": self.description, "minimum": self.span[0], "maximum": self.span[1], "default": self.default}

    def accepted(self) -> tuple[str, Record]:
        if self.kind == "string":
            return "accept-text", {"most": self.span[1]}
        return "accept-whole", {"least": self.span[0], "most": self.span[1]}

    def read(self, value: Any) -> Any:
        """`value` as the function takes it; None where it counts as absent. Raises DocError validation."""
        got: object = None
        if self.kind == "integer":
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            if isinstance(value, int) and not isinstance(value, bool) and self.span[0] <= value <= self.span[1]:
                return value
        elif isinstance(value, str):
            text = value.strip()
            if any("\ud800" <= sign <= "\udfff" for sign in text):
                got = ("got-surrogate", {})
            elif len(text) > self.span[1]:
                got = ("got-long", {"length": len(text)})
            elif text or not self.required:
                return text or None
            else:
                got = ("got-empty", {})
        shown = got or shorten(json.dumps(value), 60)
        raise DocError("validation", "argument-wrong", {"argument": self.name}, argument=self.name, got=shown, accepted=self.accepted())


def object_schema(properties: Record, optional: Sequence[str] = ()) -> Record:
    return {"type": "object", "properties": properties, "required": [name for name in properties if name not in optional]}


TEXT: Record = {"type": "string"}
NUMBER: Record = {"type": "number"}
COUNT: Record = {"type": "integer"}
TEXTS: Record = {"type": "array", "items": TEXT}
NOTICES: Record = {"type": "array", "items": object_schema({"code": TEXT, "source": TEXT, "message": TEXT}), "description": "what could not be read"}
NEXT: Record = {"type": "string", "description": "how to get the rest"}
SOURCE_MEMBERS: Record = {"name": TEXT, "kind": {"type": "string", "enum": ["bundled", "local", "remote"]}, "location": TEXT, "stale": {"type": "boolean"},
                          "entries": COUNT, "updatedAt": TEXT}
SOURCE = object_schema(SOURCE_MEMBERS, ("stale", "entries", "updatedAt"))

ID = Parameter("id", "string", "Entry id from catalog_lookup, such as 'express'; an alias works too.", (1, 200), required=True)


class Tool:
    """One tool: its schema's parts, `call(catalog, arguments)` -> the structured answer, `render(answer, lang)` -> the same as Markdown."""

    __slots__ = ("answer", "call", "description", "name", "parameters", "render", "title")

    def __init__(self, name: str, title: str, description: str, parameters: tuple[Parameter, ...], answer: Record,
                 call: Callable[[Catalog, Record], Record], render: Callable[[Record, str], str]) -> None:
        self.name, self.title, self.description, self.parameters = name, title, description, parameters
        self.answer, self.call, self.render = answer, call, render

    def schema(self, with_output: bool) -> Record:
        """The protocol's Tool object."""
        tool: Record = {
            "name": self.name, "title": self.title, "description": self.description,
            "inputSchema": {"type": "object", "properties": {parameter.name: parameter.schema() for parameter in self.parameters},
                            "required": [parameter.name for parameter in self.parameters if parameter.required], "additionalProperties": False},
            "annotations": {"title": self.title, "readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}}
        if with_output:
            # One client (TypeScript SDK 1.x) holds the structured content of an error against this schema too.
            properties = {**self.answer["properties"], "error": object_schema({"code": TEXT, "message": TEXT})}
            tool["outputSchema"] = {"type": "object", "properties": properties, "anyOf": [{"required": self.answer["required"]}, {"required": ["error"]}]}
        return tool


TOOLS = (
    Tool("catalog_lookup", "Find a library",
         "Find which libraries have documentation here, by name ('express', 'nextjs') or by need ('validate data', '日期'). Call it first when you do not "
         "know the exact id. Answers with ids, versions and why each matched; 1.0 means the name itself.",
         (Parameter("query", "string", "A library's name, or words for what it should do.", (1, 1000), required=True),
          Parameter("limit", "integer", "How many results at most.", (1, 50), 8)),
         object_schema({"query": TEXT, "results": {"type": "array", "items": object_schema(
             {"id": TEXT, "name": TEXT, "summary": TEXT, "score": NUMBER, "matches": TEXTS, "versions": TEXTS, "latest": TEXT, "source": TEXT})},
             "total": COUNT, "sources": {"type": "array", "items": SOURCE}, "notices": NOTICES, "next": NEXT}, ("notices", "next")),
         lambda catalog, given: catalog.lookup(given["query"], given["limit"]), render_lookup),
    Tool("catalog_releases", "List a library's versions",
         "List the documented versions of one library, newest first, with the size and summary of each. Call it when you must know which versions exist.",
         (ID,),
         object_schema({"id": TEXT, "name": TEXT, "summary": TEXT, "homepage": TEXT, "latest": TEXT, "versions": TEXTS, "total": COUNT,
                        "releases": {"type": "array", "items": object_schema({"version": TEXT, "sections": COUNT, "summary": TEXT}, ("sections",))},
                        "source": SOURCE, "notices": NOTICES, "next": NEXT}, ("notices", "next")),
         lambda catalog, given: catalog.releases(given["id"]), render_releases),
    Tool("doc_extract", "Read documentation",
         "Read the passages of a library's documentation that answer a question, for exactly one version. Pass the version your project uses: '5.1.0', '5', "
         "'4.x', '^4.18', '>=1,<2'; without it the newest stable one is read. The answer always names the version it is from, and a version that is not "
         "there is an error with the candidates, never another version. focus: a few telling words (API names, error text, task), in English or Chinese; "
         "or '#ID' to read one section in whole, with an id from 'sections' or 'more'. Without focus: the sections in order.",
         (ID,
          Parameter("version", "string", "Exact version, prefix or range; default: newest stable.", (0, 200)),
          Parameter("focus", "string", "What you want to know, in a few words; or '#' and a section id.", (0, 1000)),
          Parameter("maxSections", "integer", "How many passages at most.", (1, 50), 6),
          Parameter("maxChars", "integer", "How long the whole answer may be, in characters.", MAX_CHARS, DEFAULT_CHARS)),
         object_schema({"id": TEXT, "name": TEXT, "version": TEXT, "releaseKind": {"type": "string", "enum": ["latest", "exact", "prefix", "range", "pinned"]},
                        "releaseNote": TEXT, "focus": TEXT, "sections": {"type": "array", "items": object_schema(
                            {"id": TEXT, "heading": TEXT, "path": TEXT, "body": TEXT, "score": NUMBER, "relevance": NUMBER, "matches": TEXTS,
                             "omittedChars": COUNT, "next": NEXT}, ("omittedChars", "next"))},
                        "more": {"type": "array", "items": object_schema({"id": TEXT, "heading": TEXT, "relevance": NUMBER})},
                        "total": COUNT, "omitted": COUNT, "source": SOURCE, "notices": NOTICES, "next": NEXT}, ("focus", "notices", "next")),
         lambda catalog, given: catalog.extract(given["id"], given["version"], given["focus"], given["maxSections"], given["maxChars"]), render_extract),
)
TOOL_BY_NAME = {tool.name: tool for tool in TOOLS}

# Names that models invent -> the names that may be meant; the first that the tool has and the call does not give is taken.
ARGUMENT_ALIASES = {
    "library": ("id",), "libraryId": ("id",), "library_id": ("id",), "lib": ("id",), "package": ("id",), "repo": ("id",),
    "libraryName": ("id", "query"), "name": ("id", "query"), "release": ("version",), "query": ("focus",), "q": ("query", "focus"),
    "topic": ("focus", "query"), "question": ("focus", "query"), "search": ("query", "focus"), "text": ("query", "focus"),
    "max_sections": ("maxSections",), "maxResults": ("limit", "maxSections"), "max_results": ("limit", "maxSections"), "max_chars": ("maxChars",),
}


def read_arguments(tool: Tool, arguments: Record) -> Record:
    """The arguments as the tool's function takes them, with defaults. Raises DocError validation, naming the argument and what is accepted."""
    by_name = {parameter.name: parameter for parameter in tool.parameters}
    given: Record = {}
    said: dict[str, str] = {}
    for name, value in arguments.items():
        real = name if name in by_name else next((real for real in ARGUMENT_ALIASES.get(name, ()) if real in by_name), None)
        if real is None:
            raise DocError("validation", "argument-unknown", {"argument": name[:100]}, argument=shorten(ascii(name)[1:-1], 60), accepted=", ".join(by_name))
        if value is None:
            continue
        if real in given:
            raise DocError("validation", "argument-twice", {"argument": real}, argument=said[real], other=name)
        said[real] = name
        given[real] = by_name[real].read(value)
    for parameter in tool.parameters:
        if given.get(parameter.name) is None:
            if parameter.required:
                raise DocError("validation", "argument-missing", {"argument": parameter.name}, argument=parameter.name, accepted=parameter.accepted())
            given[parameter.name] = parameter.default
    return given


# ── protocol ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
STATELESS_VERSIONS = ("2026-07-28",)
SUPPORTED_VERSIONS = [*STATELESS_VERSIONS, *HANDSHAKE_VERSIONS]
META = "io.modelcontextprotocol/"
PROTOCOL_VERSION, CLIENT_CAPABILITIES, LOG_LEVEL = META + "protocolVersion", META + "clientCapabilities", META + "logLevel"
SERVER_INFO, SUBSCRIPTION_ID = META + "serverInfo", META + "subscriptionId"
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR, UNSUPPORTED_PROTOCOL_VERSION = -32700, -32600, -32601, -32602, -32603, -32022
MAX_ID_CHARS = 4096
MAX_ANSWER_BYTES = 4 * 1024 * 1024  # clients close the connection at a line of 10 MiB; a batch's last answer may add as much again
MAX_BATCH = 1000
MAX_IN_FLIGHT = 64
MAX_SUBSCRIPTIONS = 1024
CACHE_MS = 3600000
IMPLEMENTATION = {"name": "doctrove", "title": "doctrove", "version": __version__}
CAPABILITIES: Record = {"tools": {}}
INSTRUCTIONS = (
    "doctrove holds accurate, versioned library documentation, offline. Use it before writing code against a library: doc_extract with the library's id, the "
    "version the project uses and a few words of what you need; catalog_lookup when you do not know the id; catalog_releases for the versions.")


class ProtocolError(Exception):
    """A JSON-RPC error: code, one short sentence, optional data."""

    def __init__(self, code: int, message: str, data: Record | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data

    def response(self, id: RequestId) -> Record:
        return {"jsonrpc": "2.0", "id": id, "error": {"code": self.code, "message": self.message, **({"data": self.data} if self.data else {})}}


class ClientGone(Exception):
    """Nobody reads what is sent any more."""


def decode_message(line: bytes) -> Any:
    """The JSON value in one line. Raises ProtocolError -32700 for whatever is none."""
    try:
        return json.loads(line.decode("utf-8"), parse_constant=refuse_constant)
    except RecursionError:
        raise ProtocolError(PARSE_ERROR, "Parse error: nested too deeply") from None
    except ValueError as error:
        raise ProtocolError(PARSE_ERROR, f"Parse error: {str(error)[:120]}") from None


def encode_message(message: Any) -> bytes:
    """One line. Half a surrogate pair, which JSON may carry and UTF-8 may not, becomes its JSON escape."""
    return to_json(message).encode("utf-8", "backslashreplace") + b"\n"


def is_request_id(id: Any) -> bool:
    return (isinstance(id, int) and not isinstance(id, bool)) or (isinstance(id, str) and len(id) <= MAX_ID_CHARS)


def claim(message: Record) -> Record | None:
    """The request's `_meta` where it claims the stateless era, by naming a protocol version."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) and PROTOCOL_VERSION in meta else None


class Engine:
    """Answers requests, whatever the transport and the era: `answer(message, negotiated)` -> the response. Holds no state of a connection."""

    def __init__(self, catalog: Catalog, settings: Settings) -> None:
        self.catalog, self.settings = catalog, settings
        self.methods: dict[str, Callable[[Record], Record]] = {"tools/list": self.list_tools, "tools/call": self.call_tool}
        self.handshake_methods = {**self.methods, "initialize": self.initialize, "ping": self.ping}
        self.stateless_methods = {**self.methods, "server/discover": self.discover}

    def answer(self, message: Record, negotiated: str | None) -> Record:
        """The response to a request (an object with a valid id); `negotiated` is the handshake's version, None before it."""
        try:
            meta = claim(message)
            method, params = self.check(message)
            result = self.stateless(method, params, meta) if meta is not None else self.handshake(method, params, negotiated)
            return {"jsonrpc": "2.0", "id": message["id"], "result": result}
        except ProtocolError as error:
            return error.response(message["id"])
        except Exception as error:
            self.report_fault(error)
            return ProtocolError(INTERNAL_ERROR, f"Internal error: {type(error).__name__}").response(message["id"])

    def check(self, message: Record) -> tuple[str, Record]:
        """(method, params) of a well-formed request."""
        if message.get("jsonrpc") != "2.0":
            raise ProtocolError(INVALID_REQUEST, "Invalid request: jsonrpc must be \"2.0\"")
        method, params = message.get("method"), message.get("params", {})
        if not isinstance(method, str):
            raise ProtocolError(INVALID_REQUEST, "Invalid request: method must be a string")
        if not isinstance(params, dict):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: params must be an object")
        return method, params

    def handshake(self, method: str, params: Record, negotiated: str | None) -> Record:
        if method in ("server/discover", "subscriptions/listen"):
            raise ProtocolError(INVALID_PARAMS, f"Invalid params: params._meta must hold {PROTOCOL_VERSION} and {CLIENT_CAPABILITIES}")
        if negotiated is None and method not in ("initialize", "ping"):
            raise ProtocolError(INVALID_PARAMS, f"Send initialize first, or params._meta with {PROTOCOL_VERSION} and {CLIENT_CAPABILITIES}")
        if method not in self.handshake_methods:
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {shorten(method, 100)}")
        return self.handshake_methods[method](params)

    def stateless(self, method: str, params: Record, meta: Record) -> Record:
        check_envelope(meta)
        if method not in self.stateless_methods:
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {shorten(method, 100)}")
        result = {"resultType": "complete", **self.stateless_methods[method](params), "_meta": {SERVER_INFO: IMPLEMENTATION}}
        return result if method == "tools/call" else {**result, "ttlMs": CACHE_MS, "cacheScope": "public"}

    def initialize(self, params: Record) -> Record:
        asked = params.get("protocolVersion")
        if not isinstance(asked, str):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: protocolVersion must be a string")
        version = asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[0]
        return {"protocolVersion": version, "capabilities": CAPABILITIES, "serverInfo": IMPLEMENTATION, "instructions": INSTRUCTIONS}

    def ping(self, params: Record) -> Record:
        return {}

    def discover(self, params: Record) -> Record:
        return {"supportedVersions": SUPPORTED_VERSIONS, "capabilities": CAPABILITIES, "instructions": INSTRUCTIONS}

    def list_tools(self, params: Record) -> Record:
        if params.get("cursor") is not None:
            raise ProtocolError(INVALID_PARAMS, "Invalid params: unknown cursor")
        return {"tools": [tool.schema(with_output=self.settings.answers == "both") for tool in TOOLS]}

    def call_tool(self, params: Record) -> Record:
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: name must be a string")
        if name not in TOOL_BY_NAME:
            raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {shorten(name, 100)}. Tools: {', '.join(TOOL_BY_NAME)}")
        if arguments is not None and not isinstance(arguments, dict):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: arguments must be an object")
        tool, lang = TOOL_BY_NAME[name], self.settings.lang
        try:
            structured = tool.call(self.catalog, read_arguments(tool, arguments or {}))
            text, failed = tool.render(structured, lang), False
        except DocError as error:
            report = error.report(lang)
            structured, text, failed = {"error": report}, f"Error ({report['code']}): {report['message']}", True
        except Exception as error:
            self.report_fault(error)
            report = DocError("internal", "internal", reason=f"{type(error).__name__}").report(lang)
            structured, text, failed = {"error": report}, f"Error (internal): {report['message']}", True
        result: Record = {"content": [{"type": "text", "text": text}], "isError": failed}
        return result if self.settings.answers == "text" else {**result, "structuredContent": structured}

    def report_fault(self, error: Exception) -> None:
        if self.settings.debug:
            import traceback
            log("".join(traceback.format_exception(type(error), error, error.__traceback__)))


def check_envelope(meta: Record) -> None:
    """Raises ProtocolError where a stateless request's `_meta` is not as 2026-07-28 demands."""
    if not isinstance(meta[PROTOCOL_VERSION], str):
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: _meta {PROTOCOL_VERSION} must be a string")
    if not isinstance(meta.get(CLIENT_CAPABILITIES), dict):
        missing = "is missing" if CLIENT_CAPABILITIES not in meta else "must be an object"
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: _meta {CLIENT_CAPABILITIES} {missing}")
    if meta[PROTOCOL_VERSION] not in STATELESS_VERSIONS:
        requested = meta[PROTOCOL_VERSION]
        raise ProtocolError(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version",
                            {"supported": SUPPORTED_VERSIONS, "requested": cut_end(requested, 200)})
    if LOG_LEVEL in meta and meta[LOG_LEVEL] not in LOG_LEVELS:
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: _meta {LOG_LEVEL} must be one of {', '.join(LOG_LEVELS)}")


class Session:
    """One connection's state over an Engine: the negotiated version, requests in flight, subscriptions. `send` writes one message.

    Calls that may wait for the network run in threads of their own, so that they delay nothing else; a cancelled one is not answered.
    """

    def __init__(self, engine: Engine, send: Callable[[Any], None]) -> None:
        self.engine, self.send = engine, send
        self.negotiated: str | None = None
        self.in_flight: dict[tuple[type, RequestId], threading.Thread] = {}
        self.in_batch: set[tuple[type, RequestId]] = set()  # requests of batches that are not cancelled
        self.running = 0  # a cancelled request is in flight no more, but its thread may still run
        self.subscriptions: dict[tuple[type, RequestId], RequestId] = {}
        self.lock = allocate_lock()

    def receive(self, line: bytes) -> None:
        """Handles one line from the client."""
        try:
            message = decode_message(line)
            if not (isinstance(message, list) and self.negotiated == "2025-03-26"):
                self.receive_message(message)
            elif not 0 < len(message) <= MAX_BATCH:
                raise ProtocolError(INVALID_REQUEST, f"Invalid request: a batch of 1 to {MAX_BATCH} messages")
            else:
                self.in_batch.update((type(part["id"]), part["id"]) for part in message if isinstance(part, dict) and is_request_id(part.get("id")))
                if self.engine.catalog.may_wait():
                    self.start((list, id(message)), lambda: self.respond_to_batch(message))
                else:
                    self.send_some(self.respond_to_batch(message))
        except ProtocolError as error:
            self.send(error.response(None))

    def receive_message(self, message: Any) -> None:
        """Raises ProtocolError for what has no readable id to answer to."""
        if not self.is_request(message):
            return
        key = (type(message["id"]), message["id"])
        method = message.get("method")
        if method == "subscriptions/listen" and claim(message) is not None:
            self.listen(key, message)
        elif method == "tools/call" and self.engine.catalog.may_wait():
            self.start(key, lambda: self.respond(message))
        else:
            self.send(self.respond(message))

    def send_some(self, response: Any) -> None:
        if response:
            self.send(response)

    def is_request(self, message: Any) -> bool:
        """Whether `message` wants a response. A notification is acted upon here, a response is ignored."""
        if not isinstance(message, dict):
            raise ProtocolError(INVALID_REQUEST, "Invalid request: a message is one JSON object, not a batch or a bare value")
        if "id" not in message:
            if message.get("method") == "notifications/cancelled":
                self.cancel(message.get("params"))
            return False
        if not is_request_id(message["id"]):
            raise ProtocolError(INVALID_REQUEST, f"Invalid request: id must be an integer or a string of at most {MAX_ID_CHARS} characters")
        return "method" in message or not ("result" in message or "error" in message)

    def respond(self, message: Record) -> Record:
        response = self.engine.answer(message, self.negotiated)
        if message.get("method") == "initialize" and claim(message) is None and "result" in response:
            self.negotiated = response["result"]["protocolVersion"]
        return response

    def respond_to_batch(self, messages: list[Any]) -> list[Record]:
        """2025-03-26 alone has batches: the responses to its requests as one array, empty where there are none."""
        responses: list[Record] = []
        room = MAX_ANSWER_BYTES
        for message in messages:
            try:
                if self.is_request(message):
                    if room < 0:
                        raise ProtocolError(INTERNAL_ERROR, "The batch's answer is too large: send fewer requests at once")
                    if message.get("method") == "initialize":
                        raise ProtocolError(INVALID_REQUEST, "Invalid request: initialize cannot be in a batch")
                    key = (type(message["id"]), message["id"])
                    response = self.respond(message) if key in self.in_batch else {}
                    if key in self.in_batch:
                        responses.append(response)
                        room -= len(encode_message(response))
            except ProtocolError as error:
                responses.append(error.response(message["id"] if isinstance(message, dict) and is_request_id(message.get("id")) else None))
        self.in_batch.difference_update((type(response["id"]), response["id"]) for response in responses)
        return responses

    def start(self, key: tuple[type, RequestId], work: Callable[[], Any]) -> None:
        """Sends what `work` returns, from a thread of its own, unless the request is cancelled meanwhile. Raises ProtocolError when full."""
        import threading

        def run() -> None:
            response = work()
            with self.lock:
                wanted = self.in_flight.get(key) is thread  # a cancelled id may be in use by another request
                if wanted:
                    del self.in_flight[key]
                self.running -= 1
            try:
                if wanted:
                    self.send_some(response)
            except ClientGone:
                pass  # the thread that reads will find out

        with self.lock:
            problem = "id is in use by a request in flight" if key in self.in_flight else \
                f"too many requests in flight (at most {MAX_IN_FLIGHT}); wait for answers" if self.running >= MAX_IN_FLIGHT else ""
            if not problem:
                self.running += 1
                thread = self.in_flight[key] = threading.Thread(target=run, daemon=True)
        if problem:
            self.send(ProtocolError(INVALID_REQUEST, f"Invalid request: {problem}").response(None if key[0] is list else key[1]))
        else:
            thread.start()

    def listen(self, key: tuple[type, RequestId], message: Record) -> None:
        """A subscription: acknowledged with what will be honoured, which is nothing, since nothing that we list changes while we run."""
        try:
            _, params = self.engine.check(message)
            check_envelope(params["_meta"])
            if not isinstance(params.get("notifications"), dict):
                raise ProtocolError(INVALID_PARAMS, "Invalid params: notifications must be an object")
            if key in self.subscriptions:
                raise ProtocolError(INVALID_REQUEST, "Invalid request: id is in use by a subscription")
            if len(self.subscriptions) >= MAX_SUBSCRIPTIONS:
                raise ProtocolError(INTERNAL_ERROR, f"Too many subscriptions (at most {MAX_SUBSCRIPTIONS})")
        except ProtocolError as error:
            self.send(error.response(message["id"]))
            return
        self.subscriptions[key] = message["id"]
        self.send({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                   "params": {"_meta": {SUBSCRIPTION_ID: message["id"]}, "notifications": {}}})

    def cancel(self, params: Any) -> None:
        """Nothing more is sent for the request; an unknown or malformed one is ignored."""
        id = params.get("requestId") if isinstance(params, dict) else None
        if is_request_id(id):
            with self.lock:
                self.in_flight.pop((type(id), id), None)
            self.in_batch.discard((type(id), id))
            self.subscriptions.pop((type(id), id), None)

    def end(self, seconds: float) -> None:
        """Input has ended: waits for the answers in hand, at most `seconds`, answers the rest with an error, and ends the subscriptions."""
        deadline = time.monotonic() + seconds
        for thread in list(self.in_flight.values()):
            thread.join(max(0.0, deadline - time.monotonic()))
        with self.lock:
            unanswered = list(self.in_flight)
            self.in_flight.clear()
        for kind, id in unanswered:
            self.send(ProtocolError(INTERNAL_ERROR, "The server ends: input was closed before the answer came").response(None if kind is list else id))
        for id in self.subscriptions.values():
            self.send({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", "_meta": {SUBSCRIPTION_ID: id}}})


# ── transports ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

MAX_LINE = 16 * 1024 * 1024
END_SECONDS = 1.5  # clients wait 2 s after closing the input before they send SIGTERM


class Output:
    """Writes whole messages to a file descriptor, from any thread. Raises ClientGone when the reader has gone."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.lock = allocate_lock()

    def send(self, message: Any) -> None:
        rest = memoryview(encode_message(message))
        try:
            with self.lock:
                while rest:
                    rest = rest[os.write(self.descriptor, rest):]
        except OSError:
            raise ClientGone from None


def claim_stdout() -> int:
    """The descriptor of standard output for the protocol alone: what anything else prints goes to standard error."""
    for descriptor in (0, 1) if hasattr(os, "set_blocking") else ():
        try:
            os.set_blocking(descriptor, True)
        except OSError:
            pass  # it is closed, which shows soon enough
    descriptor = os.dup(1)
    try:
        os.dup2(2, 1)
    except OSError:
        pass  # standard error is closed: nothing here prints
    return descriptor


def end_on_interrupt() -> None:
    """Lets SIGINT end the process at once, as SIGTERM does. Python's own handler is only run between instructions: one that comes just
    before a read begins would wait for the next line. (`signal` itself, which wraps this module, would cost 6 % of a start.)"""
    try:
        from _signal import SIG_DFL, SIGINT, signal  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        from signal import SIG_DFL, SIGINT, signal
    signal(SIGINT, SIG_DFL)


def read_lines(stream: IO[bytes]) -> Iterator[bytes | None]:
    """The lines of `stream` without their ends; None for one that is longer than MAX_LINE, whose rest is skipped, never stored."""
    while True:
        line = stream.readline(MAX_LINE + 1)
        if not line:
            return
        if len(line) > MAX_LINE and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE)
            yield None
        else:
            yield line.strip(b"\r\n")


def serve_stdio(catalog: Catalog, settings: Settings) -> int:
    """MCP over standard input and output until the input ends. Returns the exit code."""
    try:
        output = Output(claim_stdout())
    except OSError:
        return 0  # there is no standard output: nobody can be answered
    session = Session(Engine(catalog, settings), output.send)
    if not settings.debug:
        end_on_interrupt()
    try:
        for line in read_lines(sys.stdin.buffer) if sys.stdin else ():
            if line is None:
                output.send(ProtocolError(INVALID_REQUEST, f"Invalid request: a line of more than {MAX_LINE} bytes").response(None))
            elif line.strip():
                session.receive(line)
        session.end(END_SECONDS)
    except ClientGone:
        pass
    except OSError as error:
        log(f"standard input cannot be read: {error.strerror}")
        return USAGE
    finally:
        log_cache(catalog)
    return 0


def log_cache(catalog: Catalog) -> None:
    """With --debug, what the cache was worth."""
    if catalog.settings.debug:
        log(f"cache: {catalog.cache.hits} hits, {catalog.cache.misses} misses, {catalog.cache.evictions} evictions")


def log(text: str) -> None:
    """A line on standard error, without what would steer a terminal."""
    try:
        sys.stderr.write(f"doctrove: {cut_end(text, 4000)}".translate(UNSAFE) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass  # standard error is closed


# ── static host ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────

MEDIA_TYPES = {".json": "application/json", ".md": "text/markdown; charset=utf-8", ".txt": "text/plain; charset=utf-8",
               ".html": "text/html; charset=utf-8", ".gz": "application/gzip", ".zip": "application/zip", ".pyz": "application/zip"}
LOOPBACK_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))
IDLE_SECONDS = 30


class StaticFile:
    """A file of the static host: `body` as it is sent, its strong content-based `etag`, `encoding` ('gzip' or '')."""

    __slots__ = ("body", "encoding", "etag", "media_type")

    def __init__(self, body: bytes, media_type: str, encoding: str) -> None:
        self.body, self.media_type, self.encoding = body, media_type, encoding
        self.etag = f'"{sha256_hex(body)[:32]}"'


def static_path(root: str, target: str) -> str | int:
    """The file that a request target names, or the HTTP status that refuses it.

    400: not a path, malformed percent-encoding, not UTF-8, control characters, backslashes, '.' or '..' segments.
    404: not there, hidden (a segment that starts with a dot), not a regular file, or a link that leads out of `root`.
    """
    from urllib.parse import unquote_to_bytes
    raw = target.partition("?")[0].partition("#")[0]
    if not raw.startswith("/") or re.search(r"%(?![0-9A-Fa-f]{2})", raw):
        return 400
    try:
        path = unquote_to_bytes(raw).decode("utf-8")
    except UnicodeDecodeError:
        return 400
    segments = path[1:].split("/")
    if re.search(r"[\x00-\x1f\x7f\\]", path) or {".", ".."} & set(segments):
        return 400
    segments = ["index.json"] if path == "/" else segments
    if any(not segment or segment.startswith(".") or (os.name == "nt" and ":" in segment) for segment in segments):
        return 404
    store = FolderStore(root)
    name = "/".join(segments)
    found = store.path(name)
    return found if found and store.fault(name) is None else 404


class StaticFiles:
    """The files below `root` ready to send; the last ones are kept while the file has the same size and time."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.kept = Cache(64, None)

    def get(self, target: str, gzip_accepted: bool) -> StaticFile | int:
        """The file for a request target, packed where the client takes that and it pays; or the status that refuses it."""
        found = static_path(self.root, target)
        if isinstance(found, int):
            return found
        try:
            stat = os.stat(found)
            if stat.st_size > MAX_INDEX_BYTES:
                return 404
            key = (found, stat.st_mtime_ns, stat.st_size, gzip_accepted, target.partition("?")[0].endswith(".gz"))
            file: StaticFile | None = self.kept.get(key)
            if file is None:
                with open(found, "rb") as stream:
                    file = self.pack(stream.read(), found, gzip_accepted, asked_for_gz=key[4])
                self.kept.put(key, file)
        except (OSError, DocError):
            return 404
        return file

    def pack(self, data: bytes, path: str, gzip_accepted: bool, asked_for_gz: bool) -> StaticFile:
        import gzip
        name = path[:-3] if path.endswith(".gz") and not asked_for_gz else path
        media_type = MEDIA_TYPES.get(os.path.splitext(name)[1].lower(), "application/octet-stream")
        if name != path:  # only the packed form is there
            return StaticFile(data, media_type, "gzip") if gzip_accepted else StaticFile(inflate(data, path), media_type, "")
        if gzip_accepted and len(data) > 200 and media_type.startswith(("application/json", "text/")):
            return StaticFile(gzip.compress(data, 6, mtime=0), media_type, "gzip")
        return StaticFile(data, media_type, "")


def accepts_gzip(header: str) -> bool:
    """Whether an Accept-Encoding header takes gzip."""
    weights = {}
    for part in header.lower().split(","):
        coding, _, rest = part.partition(";")
        match = re.search(r"q\s*=\s*([0-9.]+)", rest)
        weights[coding.strip()] = match.group(1).rstrip("0.") != "" if match else True
    return weights.get("gzip", weights.get("*", False))


def host_name(value: str) -> str:
    """The host of a Host header or an Origin, lower-case and without port and brackets."""
    rest = value.partition("://")[2] if "://" in value else value
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:/\[\]@]+))(?::[0-9]*)?", rest.strip())
    return (match.group(1) or match.group(2)).lower() if match else ""


def make_index_host(root: str, host: str, port: int, debug: bool) -> http.server.ThreadingHTTPServer:
    """The static host of an index folder. GET and HEAD of files below `root`; see `static_path` for what is refused.

    403: a foreign Origin; on loopback also a Host that is not this machine's (DNS rebinding). 405: every other method.
    Raises OSError when the address cannot be bound.
    """
    import http.server
    import socket
    files = StaticFiles(root)
    on_loopback = host.strip("[]").lower() in LOOPBACK_NAMES

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version, sys_version = f"doctrove/{__version__}", ""
        timeout = IDLE_SECONDS
        error_message_format = "%(code)d %(message)s\n"
        error_content_type = "text/plain; charset=utf-8"

        def __getattr__(self, name: str) -> Any:
            if name.startswith("do_"):
                return self.refuse_method
            raise AttributeError(name)

        def refuse_method(self) -> None:
            self.refuse(405, {"Allow": "GET, HEAD"})

        def refuse(self, status: int, headers: Mapping[str, str] | None = None) -> None:
            body = f"{status} {http.HTTPStatus(status).phrase}\n".encode()
            self.close_connection = True  # a body that was sent along stays unread
            self.reply(status, body, {"Content-Type": self.error_content_type, "Connection": "close", **(headers or {})})

        def reply(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if status != 304:
                self.send_header("Content-Length", str(len(body)))
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()
            if self.command != "HEAD" and status != 304:
                self.wfile.write(body)

        def allowed(self) -> bool:
            given, origin = host_name(self.headers.get("Host", "")), self.headers.get("Origin")
            if on_loopback and given not in LOOPBACK_NAMES:
                return False
            return origin is None or (host_name(origin) in LOOPBACK_NAMES if on_loopback else host_name(origin) == given)

        def do_GET(self) -> None:
            if not self.allowed():
                return self.refuse(403)
            file = files.get(self.path, accepts_gzip(self.headers.get("Accept-Encoding", "")))
            if isinstance(file, int):
                return self.refuse(file)
            if any(name.strip().lower() in ("content-length", "transfer-encoding") for name in self.headers):
                self.close_connection = True  # whatever comes behind this request, it is not read as the next one
            headers = {"ETag": file.etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
            known = [tag.strip().removeprefix("W/") for tag in self.headers.get("If-None-Match", "").split(",")]
            if file.etag in known or "*" in known:
                return self.reply(304, b"", headers)
            encoding = {"Content-Encoding": file.encoding} if file.encoding else {}
            return self.reply(200, file.body, {"Content-Type": file.media_type, **headers, **encoding})

        do_HEAD = do_GET

        def log_message(self, format: str, *values: object) -> None:
            if debug:
                log(f"{self.address_string()} {format % values}")

    class Host(http.server.ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        def handle_error(self, request: Any, client_address: Any) -> None:
            if debug:
                log(f"{client_address}: {sys.exc_info()[1]!r}")

    return Host((host.strip("[]"), port), Handler)


def serve_index(root: str, host: str, port: int, settings: Settings) -> int:
    """Serves an index folder over HTTP until SIGINT or SIGTERM. Returns the exit code; raises DocError config where it cannot."""
    import signal
    as_config(LocalSource("local", FolderStore(root), "index.json").index)
    try:
        server = make_index_host(root, host, port, settings.debug)
    except (OSError, OverflowError, ValueError, TypeError) as error:
        raise DocError("config", "usage", problem=f"cannot listen on {host} port {port}: {getattr(error, 'strerror', None) or error}") from None

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    address = f"[{host}]" if ":" in host else host
    with server:
        try:
            show(f"Serving {root} at http://{address}:{server.server_address[1]}/index.json (Ctrl-C ends)")
            server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            pass
    return 0


# ── doctor ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

def examine(catalog: Catalog, settings: Settings) -> Record:
    """What is configured, what loads, and `problems`: what fails and why. Reads every volume of the local index; changes nothing."""
    archive = getattr(globals().get("__loader__"), "archive", None)
    report: Record = {
        "version": __version__,
        "interpreter": {"version": sys.version.split()[0], "implementation": sys.implementation.name, "path": sys.executable, "platform": sys.platform},
        "program": {"path": archive or os.path.abspath(__file__), "byteCode": "used" if __file__.endswith(".pyc") or not archive else "compiled from source"},
        "settings": [{"setting": setting.key, "value": getattr(settings, setting.key), "origin": settings.origin[setting.key]} for setting in SETTINGS],
        "sources": [], "problems": []}
    with open(report["program"]["path"], "rb") as file:
        content = file.read()
    report["program"].update(bytes=len(content), sha256=sha256_hex(content))
    for source, outcome in catalog.load():
        row = source.describe()
        report["sources"].append(row)
        if isinstance(outcome, DocError):
            row["error"] = outcome.report(settings.lang)
            report["problems"].append(row["error"]["message"])
            continue
        row.update(entries=len(outcome.numbers), updatedAt=outcome.updated_at or "")
        if source.stale_reason:
            report["problems"].append(source.stale_reason.message(settings.lang))
        if isinstance(source, LocalSource):
            sizes, faults = source.read_all(outcome)
            row.update(versions=len(sizes), sections=sum(sizes))
            report["problems"] += [fault.message(settings.lang) for fault in faults]
        unknown = [id for id in settings.only if id.casefold() not in {known.casefold() for known in outcome.numbers}]
        row["onlyWithoutEntry"] = unknown
    missing = set.intersection(*(set(row.pop("onlyWithoutEntry", settings.only)) for row in report["sources"])) if report["sources"] else set()
    report["problems"] += [f"--only {id}: no source has this entry" for id in sorted(missing)]
    return report


def render_report(report: Record, lang: str) -> str:
    program, interpreter = report["program"], report["interpreter"]
    lines = [f"# doctrove {report['version']}", "",
             f"- interpreter: {interpreter['implementation']} {interpreter['version']} on {interpreter['platform']}, {interpreter['path']}",
             f"- program: {program['path']}, {program['bytes']} bytes, sha256 {program['sha256']}, byte code {program['byteCode']}", "", "## Settings", ""]
    for row in report["settings"]:
        value = row["value"]
        shown = ", ".join(value) if isinstance(value, tuple) else "none" if value is None else str(value).lower() if isinstance(value, bool) else value
        lines.append(f"- {row['setting']}: {shown or 'none' if not isinstance(value, int) else shown} ({row['origin']})")
    lines += ["", "## Sources", ""]
    for row in report["sources"]:
        state = [f"FAILS: {row['error']['message']}"] if "error" in row else [f"{row['entries']} entries"]
        state += [f"{row['versions']} versions, {row['sections']} sections read and verified"] if "versions" in row else (
            ["volumes not read"] if "entries" in row else [])
        state += [f"updated {row['updatedAt']}"] if row.get("updatedAt") else []
        lines.append(f"- {render_source(row, lang)}: {', '.join(state)}")
    lines += ["", "## Problems", "", *([f"- {problem}" for problem in report["problems"]] or ["none"])]
    return "\n".join(lines)


# ── main ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

FOUND, NOTHING_FOUND, USAGE = 0, 1, 2
# Options of commands: name -> (metavar, help, the tool's argument it sets).
COMMAND_OPTIONS = {
    "json": ("", "print the structured result", ""),
    "limit": ("N", "results at most", "limit"),
    "max-sections": ("N", "passages at most", "maxSections"),
    "max-chars": ("N", "length of the answer at most", "maxChars"),
    "host": ("ADDRESS", "address to listen on", ""),
}
# name -> (operands, fewest, most operands, options, help)
COMMANDS = {
    "lookup": ("QUERY", 1, 99, ("json", "limit"), "find libraries by name or need"),
    "releases": ("ID", 1, 1, ("json",), "list a library's versions"),
    "extract": ("ID[@VERSION] [FOCUS…]", 1, 99, ("json", "max-sections", "max-chars"), "read the passages that answer FOCUS"),
    "serve-index": ("[DIR] [PORT]", 0, 2, ("host",), "host an index folder over HTTP (default: ./data, port 8730 on 127.0.0.1)"),
    "doctor": ("", 0, 0, ("json",), "what is configured, what loads, what fails and why"),
}


def help_text() -> str:
    def row(left: str, right: str) -> str:
        return f"  {left:<32}{right}" if len(left) < 31 else f"  {left}\n  {'':<32}{right}"

    program = program_name()
    lines = [f"doctrove {__version__}: versioned library documentation for coding agents, offline.", "",
             f"usage: {program} [OPTIONS]                    serve MCP on standard input and output",
             f"       {program} [OPTIONS] COMMAND …", "", "commands:"]
    for name, (operands, _, _, options, text) in COMMANDS.items():
        lines.append(row(f"{name} {operands}".rstrip(), text))
        for option in options:
            metavar, meaning, _ = COMMAND_OPTIONS[option]
            lines.append(row(f"    --{option} {metavar}".rstrip(), meaning))
    lines += ["", "options (environment variable; all but --config, --no-cache, --help and --version are also keys of the config file):"]
    for setting in SETTINGS:
        lines.append(row(f"--{setting.option} {setting.metavar}".rstrip(), f"{setting.help} ({setting.env}; {setting.key}{default_text(setting)})"))
    name, metavar, env, text = CONFIG_OPTION
    lines += [row("--no-cache", "the same as --cache-ttl 0"), row(f"--{name} {metavar}", f"{text} ({env})"),
              row("--help", "this text"), row("--version", "the version"), "",
              "exit codes: 0 found, 1 nothing found or not readable now, 2 wrong usage or configuration"]
    return "\n".join(lines)


def default_text(setting: Setting) -> str:
    return f"; default {setting.default}" if setting.default not in ((), None, False) else ""


def program_name() -> str:
    archive = getattr(globals().get("__loader__"), "archive", None)
    return f"python3 {os.path.basename(archive or __file__)}"


def usage_error(problem: str) -> DocError:
    return DocError("config", "usage", problem=problem)


def parse_command_line(arguments: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """(options: name -> texts given, operands). Raises DocError config."""
    if not arguments:
        return {}, []
    import getopt
    takes_value = {setting.option: setting.kind != "flag" for setting in SETTINGS}
    takes_value.update({name: bool(metavar) for name, (metavar, _, _) in COMMAND_OPTIONS.items()})
    takes_value.update({CONFIG_OPTION[0]: True, "no-cache": False, "help": False, "version": False})
    try:
        pairs, operands = getopt.gnu_getopt(list(arguments), "h", [name + "=" * takes for name, takes in takes_value.items()])
    except getopt.GetoptError as error:
        raise usage_error(f"{error.msg}" + (" (put -- before words that start with a hyphen)" if "recognized" in error.msg else "")) from None
    options: dict[str, list[str]] = {}
    for name, value in pairs:
        options.setdefault("help" if name == "-h" else name[2:], []).append(value)
    return options, operands


def check_command(options: Mapping[str, list[str]], operands: Sequence[str]) -> str:
    """The command's name, '' for the server. Raises DocError config for an unknown one and for options or operands that it does not take."""
    name = operands[0] if operands else ""
    if name and name not in COMMANDS:
        raise usage_error(f"there is no command '{name}'; commands: {', '.join(COMMANDS)}")
    text, fewest, most, accepted, _ = COMMANDS.get(name, ("", 0, 0, (), ""))
    foreign = [option for option in options if option in COMMAND_OPTIONS and option not in accepted]
    if foreign:
        raise usage_error(f"{name or 'the server'} takes no option --{foreign[0]}")
    if name and not fewest <= len(operands) - 1 <= most:
        raise usage_error(f"usage: {name} {text}")
    return name


def tool_call(command: str, operands: Sequence[str], options: Mapping[str, list[str]]) -> tuple[Tool, Record]:
    """The tool and the arguments that a command stands for."""
    arguments: Record = {}
    for option, values in options.items():
        argument = COMMAND_OPTIONS[option][2] if option in COMMAND_OPTIONS else ""
        if argument:
            arguments[argument] = int(values[-1]) if re.fullmatch(r"[0-9]{1,9}", values[-1]) else values[-1]
    if command == "lookup":
        return TOOL_BY_NAME["catalog_lookup"], {"query": " ".join(operands), **arguments}
    if command == "releases":
        return TOOL_BY_NAME["catalog_releases"], {"id": operands[0], **arguments}
    id, at, version = operands[0].rpartition("@")
    id, version = (id, version) if at and id else (operands[0], "")
    return TOOL_BY_NAME["doc_extract"], {"id": id, "version": version, "focus": " ".join(operands[1:]), **arguments}


def run_tool(command: str, operands: Sequence[str], options: Mapping[str, list[str]], catalog: Catalog, settings: Settings) -> int:
    """A tool at the shell: its text, or its structured answer with --json. Returns the exit code."""
    tool, arguments = tool_call(command, operands, options)
    as_json = "json" in options
    try:
        answer = tool.call(catalog, read_arguments(tool, arguments))
    except DocError as error:
        if as_json:
            show(json.dumps({"error": error.report(settings.lang)}, ensure_ascii=False, indent=2))
        else:
            log(shorten(error.message(settings.lang), 2000))
        return USAGE if error.code in ("validation", "config") else NOTHING_FOUND
    show(json.dumps(answer, ensure_ascii=False, indent=2) if as_json else paint(tool.render(answer, settings.lang)))
    return FOUND if answer.get("results") or answer.get("versions") or answer.get("sections") else NOTHING_FOUND


BOLD = ("\033[1m", "\033[0m")


def paint(text: str) -> str:
    """Headings bold where a terminal shows them and NO_COLOR is not set."""
    text = text.translate(UNSAFE)
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or (os.name == "nt" and "WT_SESSION" not in os.environ)
    if plain or not sys.stdout or not sys.stdout.isatty():
        return text
    lines, fence = text.split("\n"), ""
    for at, line in enumerate(lines):
        fence = next_fence(fence, line)
        if not fence and re.match("#+ ", line):
            lines[at] = line.lstrip("#")[1:].join(BOLD)
    return "\n".join(lines)


def show(text: str) -> None:
    """Writes to standard output in UTF-8, whatever the locale says. Raises DocError config where it cannot be written."""
    text += "\n"
    try:
        if sys.stdout is None:
            raise OSError(9, "it is closed")
        sys.stdout.flush()
        if hasattr(sys.stdout, "buffer") and not (os.name == "nt" and sys.stdout.isatty()):
            sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        else:
            sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise usage_error(f"standard output cannot be written: {error.strerror}") from None


def greet(catalog: Catalog, settings: Settings) -> None:
    """Tells a person at a terminal, in three lines, what this is, what it holds and how to ask it something."""
    entries = catalog.view()[0].entries()
    names = ", ".join(entry.id for entry in entries[:8]) + (", …" if len(entries) > 8 else "")
    example = f"{entries[0].id} " + ("wildcard" if entries[0].id == "express" else "install") if entries else "ID"
    holds, ask = ("banner-holds", {"entries": len(entries), "names": names}), ("banner-ask", {"program": program_name(), "example": example})
    sys.stderr.write(say(settings.lang, "banner", version=__version__, holds=holds, ask=ask) + "\n")
    sys.stderr.flush()


def run(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """The program. Returns the exit code; raises DocError config."""
    options, operands = parse_command_line(arguments)
    if "help" in options or "version" in options:
        show(help_text() if "help" in options else f"doctrove {__version__}")
        return FOUND
    command = check_command(options, operands)
    settings = load_settings(options, environ)
    if command == "serve-index":
        given = operands[1:]
        if len(given) == 1 and given[0].isdigit() and not os.path.isdir(given[0]):
            given = ["./data", *given]
        directory, port = [*given, *("./data", "8730")[len(given):]]
        if not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535:
            raise usage_error(f"PORT must be a whole number from 0 to 65535, not '{port}'")
        host = (options.get("host") or ["127.0.0.1"])[-1]
        if not host.strip():
            raise usage_error("--host must name an address; 0.0.0.0 stands for all")
        return serve_index(directory, host, int(port), settings)
    catalog: Catalog = as_config(lambda: Catalog(settings))
    if command == "doctor":
        report = examine(catalog, settings)
        show(json.dumps(report, ensure_ascii=False, indent=2) if "json" in options else paint(render_report(report, settings.lang)))
        return NOTHING_FOUND if report["problems"] else FOUND
    if settings.localIndex:
        as_config(catalog.local.index)
    if command:
        code = run_tool(command, operands[1:], options, catalog, settings)
        log_cache(catalog)
        return code
    if sys.stdin and sys.stdin.isatty():
        greet(catalog, settings)
    return serve_stdio(catalog, settings)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs with the given arguments (default: the process's). Returns the exit code."""
    try:
        if arguments is None:  # on POSIX they are UTF-8 whatever the locale says
            arguments = sys.argv[1:] if os.name == "nt" else [os.fsencode(argument).decode("utf-8", "surrogateescape") for argument in sys.argv[1:]]
        return run(arguments, os.environ)
    except DocError as error:
        log(shorten(error.message("en"), 2000))
        return USAGE if error.code in ("config", "validation") else NOTHING_FOUND
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what reads our output has ended; the interpreter's last flush must not fail
        return FOUND


def leave(code: int) -> None:
    """Ends the process at once when everything is written: a thread that still waits for a remote must not disturb the interpreter's
    way of ending, which besides would take longer than answering a question."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream:
                stream.flush()
        except (OSError, ValueError):
            pass  # its reader has gone
    os._exit(code)


if __name__ == "__main__":
    leave(main())
