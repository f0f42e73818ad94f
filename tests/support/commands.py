"""The command as users call it, but in this process, since starting one takes a second."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from shoal.cli import main


@dataclass(frozen=True)
class Ended:
    code: int
    stdout: str
    stderr: str

    @property
    def found(self) -> Any:
        return json.loads(self.stdout)


Call = Callable[..., Ended]


def in_process(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    """``shoal …`` with the words that it is called with."""

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["shoal", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return Ended(int(ended.value.code or 0), *capfd.readouterr())

    return run
