"""The command in the folder of a test."""

from __future__ import annotations

from tests.cli.conftest import call

__all__ = ["call"]
