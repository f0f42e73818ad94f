"""The pictures of the studio in README and docs: one is started, and the demo hospital goes through it.

    python scripts/studio_pictures.py

It needs Chromium (Debian's, or `playwright install chromium`), a font with Devanagari letters (fonts-lohit-deva), and
takes about two minutes.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from pictures import kept_small

PATIENCE = 300_000
COLOURS = 200
"""Gauges are told apart by theirs."""
LETTER = (
    "Dear Ms. Meera Iyer,\n\nDr. Asha Rao saw Ravi Lim, 34 years old, on 5 March 2024 in Pune.\n"
    "Write to ravi.lim@shop.in or call +91 98765 43210 about the blue lagoon.\n"
)


def main() -> None:
    with socket.socket() as free, tempfile.TemporaryDirectory() as home:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
        free.close()
        command = [sys.executable, "-m", "shoal", "serve", "--port", port, "--home", home, "--workers", "1", "--json"]
        with subprocess.Popen(  # noqa: S603  # the command above
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            try:
                token = _told(process)["setup_token"]
                _shoot(f"http://127.0.0.1:{port}", token)
            finally:
                process.send_signal(signal.SIGINT)
                process.wait(60)


def _told(process: subprocess.Popen[str]) -> dict[str, str]:
    lines = ""
    for line in process.stdout or ():
        lines += line
        if line.startswith("}"):
            break
    return dict(json.loads(lines))


def _shoot(address: str, token: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1180, "height": 760})
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        password = "-".join(("Reef", "lantern", "41", "oak"))
        for field, text in (("token", token), ("name", "meera"), ("password", password), ("again", password)):
            page.fill(f"#{field}", text)
        page.get_by_role("button", name="Make the account").click()
        page.get_by_role("button", name="Load the demo hospital").click()
        page.get_by_role("link", name="Know its columns").click()
        _picture(page, "studio-singles")
        page.locator("table.columns").evaluate("one => one.scrollIntoView()")
        _picture(page, "studio-know")
        page.evaluate("scrollTo(0, 0)")
        page.get_by_role("link", name="Levels of age").click()
        page.get_by_role("radio", name=re.compile("^Intervals")).check()
        page.locator("#preview mark").first.wait_for()
        _picture(page, "studio-levels")
        page.get_by_role("link", name="Back to the columns").click()
        page.get_by_role("link", name="Choose the privacy").click()
        page.get_by_role("button", name="Try what privacy costs").click()
        page.get_by_role("heading", name="What privacy costs", exact=True).wait_for()
        _picture(page, "studio-frontier")
        page.get_by_role("link", name="Back to the choices").click()
        page.get_by_role("button", name="Make the release").click()
        page.get_by_role("heading", name="Release of hospital").wait_for()
        _picture(page, "studio", "studio-dark")
        page.get_by_role("heading", name="Each column before and after").evaluate("one => one.scrollIntoView()")
        _picture(page, "studio-columns")
        page.evaluate("scrollTo(0, 0)")
        page.get_by_role("button", name="हिन्दी").click()
        page.locator("html[lang=hi]").wait_for()
        _picture(page, "studio-hindi")
        page.get_by_role("button", name="English").click()
        page.goto(f"{address}/texts")
        page.fill("#text", LETTER)
        page.fill("#name", "A letter")
        page.get_by_role("button", name="Look through it").click()
        page.get_by_role("heading", name="Without it").wait_for()
        _picture(page, "studio-text")
        browser.close()


def _picture(page: Page, light: str, dark: str | None = None) -> None:
    for scheme, name in (("light", light), ("dark", dark)):
        if name is not None:
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            kept_small(Image.open(io.BytesIO(page.screenshot())), name, COLOURS)
    page.emulate_media(color_scheme="light")


if __name__ == "__main__":
    main()
