"""The report on paper: printed to PDF by a browser that is installed, since only a browser draws all of the page.

The browser gets a profile of its own that is removed afterwards, and no way to the network; the PDF takes its place in
one step, so that there is the old one or the whole new one.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from shoal.errors import InputError, SourceError, TargetError
from shoal.io import replacement

VARIABLE = "SHOAL_CHROMIUM"
BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge",
    "microsoft-edge-stable", "msedge",
)  # fmt: skip
_QUIET = (
    "--headless", "--disable-gpu", "--no-first-run", "--no-default-browser-check", "--disable-extensions",
    "--disable-sync", "--disable-component-update", "--disable-background-networking", "--disable-breakpad",
    "--disable-dev-shm-usage", "--no-pdf-header-footer",
)  # fmt: skip
_NO_NETWORK = ("--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9", "--proxy-bypass-list=<-loopback>")


def write_pdf(html: Path, pdf: Path, *, timeout: float = 120.0) -> None:
    """Print the page ``html`` to ``pdf``; what was there is replaced."""
    if not html.is_file():
        raise SourceError(f"there is no page to print at {html}")
    browser = find_browser()
    try:
        with tempfile.TemporaryDirectory(
            prefix=".pdf-", dir=pdf.parent.resolve(), ignore_cleanup_errors=True
        ) as folder:
            printed = Path(folder) / "page.pdf"
            _print(browser, html, printed, timeout)
            with replacement(pdf) as partial:
                shutil.copyfile(printed, partial)
    except OSError as error:
        raise TargetError(f"{pdf} can't be written: {error.strerror or 'the system refused'}") from None


def html_to_pdf(page: str, pdf: Path) -> None:
    """Print a page that is nowhere yet."""
    with tempfile.TemporaryDirectory(prefix="shoal-page-") as folder:
        html = Path(folder) / "page.html"
        html.write_text(page, encoding="utf-8")
        write_pdf(html, pdf)


def find_browser() -> str:
    """The browser named by the environment, else the first that is installed."""
    named = os.environ.get(VARIABLE)
    found = shutil.which(named) if named else next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        what = f"{VARIABLE} names no program that can be run" if named else "no browser was found to print the PDF with"
        raise InputError(
            what,
            advice=f"install Chromium, Chrome or Edge, or set {VARIABLE} to the path of one; "
            "the HTML report can also be printed from any browser",
        )
    return found


def _print(browser: str, html: Path, printed: Path, timeout: float) -> None:
    home = printed.parent / "profile"
    home.mkdir()
    # As root a browser runs only without its sandbox; the page has no script and may load nothing.
    sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()
    command = [
        browser, *_QUIET, *_NO_NETWORK, *sandbox, f"--user-data-dir={home}", f"--print-to-pdf={printed}",
        html.resolve().as_uri(),
    ]  # fmt: skip
    environment = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_CACHE_HOME": str(home)}
    process = subprocess.Popen(  # noqa: S603 - a browser of the user's, no shell
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        raise InputError(
            f"{Path(browser).name} did not print the page within {timeout:g} seconds",
            advice="try again when the machine is less busy, or print the HTML report from a browser",
        ) from None
    finally:
        _end(process)
    if not printed.is_file() or not printed.read_bytes().startswith(b"%PDF-"):
        raise InputError(
            f"{Path(browser).name} printed no PDF (it ended with code {process.returncode})",
            advice=f"set {VARIABLE} to another Chromium, Chrome or Edge, or print the HTML report from a browser",
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    """The browser, if it still runs, and what it started: all are in a session of their own."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
