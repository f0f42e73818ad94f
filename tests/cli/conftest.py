"""The command in the folder of a test."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.commands import Call, Ended, in_process

__all__ = ["Call", "Ended", "call"]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    monkeypatch.chdir(tmp_path)
    return in_process(monkeypatch, capfd)
