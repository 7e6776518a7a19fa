"""What the drivers of the official clients and of the official suite share: running commands, installing once, a server over HTTP."""
from __future__ import annotations

import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

RUN_SECONDS = 60
INSTALL_SECONDS = 300
FLAGS = ("-I", "-S")  # as client configurations have it


def run(command: list[str], seconds: int, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace", stdin=subprocess.DEVNULL, timeout=seconds, **options)


def install_once(folder: Path, steps: list[list[str]], what: str, again: bool = False) -> Path:
    """The folder, filled by the steps unless an earlier run did. Raises RuntimeError."""
    complete = folder / "complete"
    if complete.is_file() and not again:
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    for step in steps:
        done = run(step, INSTALL_SECONDS, cwd=folder)
        if done.returncode:
            raise RuntimeError(f"{what} cannot be installed: {(done.stderr or done.stdout).strip()[-1500:]}")
    complete.touch()
    return folder


def install_npm(folder: Path, package: str, *options: str, again: bool = False) -> Path:
    """A folder that holds this npm package. Raises RuntimeError."""
    command = [str(shutil.which("npm")), "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error", *options, package]
    return install_once(folder, [command], package, again)


class HttpServer:
    """A doctrove that serves HTTP on a free loopback port. A context manager; url: where it answers; problems: what its end was like."""

    def __init__(self, server: Path, *options: str) -> None:
        self.command = [sys.executable, *FLAGS, str(server), "--http", "127.0.0.1:0", *options]
        self.problems: list[str] = []

    def __enter__(self) -> HttpServer:
        self.errors = tempfile.TemporaryFile()  # closed with the server
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors, env=clean_env())
        lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=lambda: lines.put(self.process.stdout.readline()), daemon=True).start()  # type: ignore[union-attr]
        try:
            found = re.search(r"http://127\.0\.0\.1:[0-9]+/mcp", lines.get(timeout=RUN_SECONDS).decode("utf-8"))
        except queue.Empty:
            found = None
        if not found:
            self.__exit__()
            raise RuntimeError(f"{' '.join(self.command)} does not say its URL; {' '.join(self.problems)}")
        self.url = found.group()
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            code = self.process.wait(RUN_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.errors.seek(0)
        noise = self.errors.read().decode("utf-8", "replace").strip()
        self.errors.close()
        if self.process.stdout:
            self.process.stdout.close()
        if noise or (code and os.name != "nt"):
            self.problems.append(f"the server ended with {code} and wrote: {noise[-1500:]!r}")


def clean_env() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.upper().startswith("DOCTROVE_")}
