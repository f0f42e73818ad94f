"""The studio as its users start it, and a person at a browser: clicks are counted, pages are looked at."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
from tests.servers import free_port

if TYPE_CHECKING:
    from playwright.sync_api import Page

PICTURES = os.environ.get("SHOAL_PICTURES")
"""A folder, where somebody wants to look at the pages."""
WAIT = 120_000
PATIENCE = 120
"""Seconds, for a machine that others work on too."""
WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")


@dataclass
class Studio:
    address: str
    token: str = ""
    """Of the first visit."""


@contextmanager
def serving(home: Path, *more: str, end: signal.Signals = signal.SIGINT) -> Iterator[Studio]:
    """Started by its command, stopped by Ctrl-C, whatever becomes of the test."""
    port = str(free_port())
    command = [sys.executable, "-m", "shoal", "serve", "--port", port, "--home", str(home), "--workers", "1", *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield _greeted(home, f"http://127.0.0.1:{port}", process)
            process.send_signal(end)
            assert process.wait(PATIENCE) in (0, 130, 143, -15)
        finally:
            if process.poll() is None:
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(PATIENCE)
                process.kill()


def _greeted(home: Path, address: str, process: subprocess.Popen[str]) -> Studio:
    """What it says at its start comes before it listens."""
    assert process.stdout is not None
    said = process.stdout.readline()
    first = said + process.stdout.readline() if (home / "setup-token").exists() or "account" in said else said
    token = re.search(r"account: (\w+)", first)
    for _ in range(10 * PATIENCE):
        assert process.poll() is None, "the studio ended at its start"
        with suppress(httpx2.HTTPError):
            if httpx2.get(f"{address}/readyz", trust_env=False).status_code == HTTPStatus.OK:
                return Studio(address, token.group(1) if token else "")
        time.sleep(0.1)
    raise AssertionError("the studio never answered")


@dataclass
class Walk:
    """A person at a browser."""

    page: Page
    clicks: int = 0
    complaints: list[str] = field(default_factory=list)
    pictures: Path | None = Path(PICTURES) if PICTURES else None

    def __post_init__(self) -> None:
        self.page.set_default_timeout(WAIT)
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def click(self, name: str, role: str = "button") -> None:
        self.clicks += 1
        self.page.get_by_role(role, name=name, exact=True).click()  # type: ignore[arg-type]

    def look(self, name: str, views: Sequence[tuple[str, int]] = ()) -> None:
        """What axe finds wrong with the page, what sticks out, and a picture where one is wanted."""
        for scheme, width in views or [(scheme, width) for scheme in SCHEMES for width in WIDTHS]:
            self.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            self.page.set_viewport_size({"width": width, "height": 900})
            told = f"{name} ({scheme}, {width})"
            self.complaints += [f"{told}: {text}" for text in violations(self.page)]
            wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if wide > 0:
                self.complaints.append(f"{told}: {wide} pixels stick out")
            if self.pictures is not None:
                self.page.screenshot(path=str(self.pictures / f"{name}-{width}-{scheme}.png"), full_page=True)
        self.page.set_viewport_size({"width": 1280, "height": 900})
        self.page.emulate_media(color_scheme="light")


def violations(page: Page) -> list[str]:
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate("axe.run().then(result => result.violations)")
    return [f"{one['id']}: {one['nodes'][0]['html'][:150]}" for one in found]
