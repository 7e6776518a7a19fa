#!/usr/bin/env python3
"""Drives the page of a built doctrove in headless Chromium.

    python3 tests/browser/run.py doctrove.pyz [--cache DIR] [--shots DIR] [--only WORD]

Serves documentation that is made here, some of it hostile, over HTTP, with a token and without; then drive.mjs uses the page as people do and judges
what it sees. Installs playwright-core (pinned in package.json) and uses the chromium that is on PATH, or $CHROMIUM. With --shots it leaves screenshots
of every view at three widths in both themes, to be judged by eye. Prints one line per check, closes with `N passed, M failed`. Exit status: 0 all
passed, 1 something failed, 2 no node or no chromium.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
INSTALL_SECONDS = 300
RUN_SECONDS = 240
TOKEN = "a-token-for-the-browser-tests"
WORDS = ("open", "close", "read", "write", "seek", "watch", "drain", "flush", "reset", "count", "probe", "seal", "vent", "purge")
VALVE = """\
Call `valve.{word}(name)` to {word} a valve by its **name**. See [the first one](#valve-open), [the manual](https://docs.example/valve?a=1&b=2)
and [a file beside it](other.md).

```python
import valve  # the library itself

def main(name: str = 'main') -> None:
    valve.{word}(name)
    print("{word} is done: 100 %, and this line is longer than a narrow screen is wide, so it has to be scrolled")
```

| argument | meaning |
| -------- | ------- |
| `name` | the valve's name, or `a\\|b` for one of two |
| `limit` | how long it may take |

1. First look whether it is there.
2. Then {word} it:
   - slowly, or
   - at once.

> A valve that is gone cannot {word}.
"""
# What a documentation may hold that wants to be more than text.
HOSTILE = """\
<script>window.broken = 1</script><img src=x onerror="window.broken = 2"><svg onload="window.broken = 3"></svg>
<iframe srcdoc="<script>parent.broken = 4</script>"></iframe><style>body { display: none }</style>

[one](javascript:window.broken=5) [two](  jAvAsCrIpT:window.broken=6) [three](data:text/html,<script>window.broken=7</script>)
[four](//evil.example/x) ![five](https://evil.example/pixel.png "six") <https://evil.example/" onclick="window.broken=8>
[seven](https://evil.example/"onmouseover="window.broken=9) [eight](#"><img src=x onerror=window.broken=10>)

```html"><script>window.broken = 11</script>
</code></pre><script>window.broken = 12</script>
```

| <img src=x onerror=window.broken=13> | b |
| --- | --- |
| <script>window.broken = 14</script> | [x](vbscript:window.broken=15) |

**unclosed `code and *emphasis [and](a link
"""
NAUGHTY = "<img src=x onerror=window.broken=20>"


def sections() -> list[dict[str, Any]]:
    return [{"id": f"valve-{word}", "heading": f"valve.{word}(name)", "path": f"https://docs.example/valve/{word}.html#top", "body": VALVE.format(word=word)}
            for word in WORDS]


def make_index(folder: Path) -> Path:
    """An index with two harmless entries and a hostile one."""
    whole = {"id": "a/b c?d&e=#%25ü", "heading": "A strange id", "path": "strange.md", "body": "The strange section zanzibar."}
    entries = [
        {"id": "valve", "name": "Valve", "summary": "Opens and closes valves, and watches what flows through them.", "homepage": "https://docs.example/valve",
         "versions": ["7.2", "6.0"], "volumes": {"7.2": {"summary": "The newest one.", "sections": sections()}, "6.0": {"sections": sections()[:3]}}},
        {"id": "@scope/gauge", "name": "Gauge", "summary": "Reads gauges.", "versions": ["1.0"], "volumes": {"1.0": {"sections": [whole]}}},
        {"id": "hostile", "name": f"Hostile {NAUGHTY}", "summary": f"Wants more than text {NAUGHTY}", "homepage": "javascript:window.broken=21",
         "versions": ["1.0", NAUGHTY], "volumes": {version: {"summary": NAUGHTY, "sections": [
             {"id": NAUGHTY, "heading": f"Trouble {NAUGHTY}", "path": "javascript:window.broken=22", "body": HOSTILE},
             {"id": "deep", "heading": "Deep", "path": "deep.md", "body": "> " * 5000 + "x\n\n" + "- " * 5000 + "y\n\n" + "**a *b _c `d [e " * 5000},
         ]} for version in ("1.0", NAUGHTY)}},
    ]
    folder.mkdir()
    (folder / "index.json").write_text(json.dumps({"format": "doctrove-index@1", "entries": entries}), encoding="utf-8")
    return folder


def run(command: list[str], seconds: int, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace", stdin=subprocess.DEVNULL, timeout=seconds, **options)


def install(folder: Path) -> None:
    """Puts the client of the browser and the driver into `folder`. Raises RuntimeError."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = (HERE / "package.json").read_text(encoding="utf-8")
    if not (folder / "node_modules").is_dir() or (folder / "package.json").read_text(encoding="utf-8") != wanted:
        (folder / "package.json").write_text(wanted, encoding="utf-8")
        done = run([str(shutil.which("npm")), "install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock", "--loglevel=error"],
                   INSTALL_SECONDS, cwd=folder)
        if done.returncode:
            raise RuntimeError(f"playwright-core cannot be installed: {(done.stderr or done.stdout).strip()[-1500:]}")
    shutil.copy(HERE / "drive.mjs", folder)  # node looks for packages beside the module that imports them


class Server:
    """A doctrove that serves HTTP at `url` until it is closed."""

    def __init__(self, packed: Path, *options: str, **environ: str) -> None:
        command = [sys.executable, "-I", "-S", str(packed), "--http", "127.0.0.1:0", *options]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8",
                                        env={**os.environ, **environ})
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/", line)
        if found is None:
            self.process.kill()
            raise RuntimeError(f"the server does not say where it is: {line}{self.process.stdout.read()}")
        self.url = found[0]

    def close(self) -> None:
        self.process.terminate()
        self.process.communicate()


def setup_texts(packed: Path, home: Path) -> dict[str, str]:
    """Client -> what `setup` shows of its configuration, with python3 for the interpreter's path."""
    environ = {"HOME": str(home), "PATH": os.environ["PATH"]}
    listed = run([sys.executable, str(packed), "setup"], RUN_SECONDS, env=environ).stdout
    names = re.findall(r"^[* ] (\S+)", listed, re.MULTILINE)

    def text(name: str) -> str:
        for scope in ("user", "project"):
            shown = run([sys.executable, "-I", "-S", str(packed), "setup", name, "--scope", scope], RUN_SECONDS, env=environ, cwd=home)
            if not shown.returncode:
                return shown.stdout.partition("\n\n")[2].partition("\n\nTo put it there")[0].replace(sys.executable, "python3").strip()
        raise RuntimeError(f"setup {name}: {shown.stderr}")

    with ThreadPoolExecutor(4) as pool:
        return dict(zip(names, pool.map(text, names)))


def check(packed: Path, cache: Path, shots: Path | None, chromium: str, only: str, scratch: Path) -> int:
    """Serves, drives and reports. Returns the exit status."""
    install(cache)
    index, library = make_index(scratch / "index"), scratch / "library"
    library.mkdir()
    servers = [Server(packed, "--local-index", str(index)),
               Server(packed, "--local-index", str(index), "--root", str(library), DOCTROVE_HTTP_TOKEN=TOKEN)]
    try:
        given = {"plain": servers[0].url, "guarded": servers[1].url, "token": TOKEN, "chromium": chromium, "shots": str(shots or ""), "only": only,
                 "packed": str(packed), "setup": setup_texts(packed, scratch), "hostile": HOSTILE, "valve": VALVE, "words": WORDS}
        (scratch / "given.json").write_text(json.dumps(given), encoding="utf-8")
        return subprocess.run([str(shutil.which("node")), str(cache / "drive.mjs"), str(scratch / "given.json")], stdin=subprocess.DEVNULL,
                              timeout=RUN_SECONDS).returncode
    finally:
        for server in servers:
            server.close()


def main() -> int:
    parser = argparse.ArgumentParser(description="Drive the page of a built doctrove in headless Chromium.")
    parser.add_argument("server", type=Path, metavar="FILE", help="the built doctrove.pyz")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep playwright-core in DIR for the next run")
    parser.add_argument("--shots", type=Path, metavar="DIR", help="take screenshots of every view, and keep them in DIR")
    parser.add_argument("--only", default="", metavar="WORD", help="only the checks whose name holds WORD")
    options = parser.parse_args()
    chromium = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not shutil.which("node") or not shutil.which("npm") or not chromium:
        print("run: needs node, npm and chromium on PATH; nothing was checked", file=sys.stderr)
        return 2
    if not options.server.is_file():
        parser.error(f"{options.server} is not a file; python3 build_zipapp.py makes it")
    with tempfile.TemporaryDirectory(prefix="doctrove-browser-") as root:
        scratch = Path(root).resolve()
        shots = options.shots and options.shots.resolve()
        if shots:
            shots.mkdir(parents=True, exist_ok=True)
        try:
            return check(options.server.resolve(), (options.cache or scratch / "node").resolve(), shots, chromium, options.only, scratch)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"run: {error}", file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main())
