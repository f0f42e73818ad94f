"""What every test can use: the shared data, one Hypothesis profile, and an account of skips and requirement IDs."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENT = "requirement"

# Derandomised: a run that fails here fails everywhere. SHOAL_HYPOTHESIS=explore looks for new examples.
settings.register_profile("ci", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("SHOAL_HYPOTHESIS", "ci"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the project."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Public data sets and golden results that are too large, or not ours, to live in the project."""
    path = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))
    if not path.is_dir():
        pytest.skip("shared data absent: set SHOAL_SHARED to the folder with data/ and golden/")
    return path


@pytest.fixture(scope="session")
def browsers() -> Iterator[Callable[..., Browser]]:
    """Starts Debian's Chromium. Playwright runs once in a process, so tests share it; a skip says what is absent."""
    path = os.environ.get("SHOAL_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("CHROMIUM ABSENT: no page is looked at (apt-get install chromium)")
    playwright = pytest.importorskip("playwright.sync_api", reason="PLAYWRIGHT ABSENT: no page is looked at")
    with playwright.sync_playwright() as driver:
        yield partial(driver.chromium.launch, executable_path=path, args=["--no-sandbox", "--disable-gpu"])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks travel with the reports, so that they are counted where several processes run the tests too."""
    for item in items:
        for mark in item.iter_markers(REQUIREMENT):
            item.user_properties.extend((REQUIREMENT, str(requirement)) for requirement in mark.args)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the tests that passed have shown, and what could not be shown here and why."""
    passed: list[pytest.TestReport] = terminalreporter.getreports("passed")
    skipped: list[pytest.TestReport] = terminalreporter.getreports("skipped")
    shown = sorted({str(value) for report in passed for name, value in report.user_properties if name == REQUIREMENT})
    terminalreporter.section("requirements and skips")
    terminalreporter.write_line(f"{len(shown)} requirements shown: {' '.join(shown) or 'none'}")
    terminalreporter.write_line(f"{len(skipped)} tests skipped")
    for reason, count in Counter(_reason(report) for report in skipped).most_common():
        terminalreporter.write_line(f"{count:6} x {reason}", yellow=True)


def _reason(report: pytest.TestReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")
