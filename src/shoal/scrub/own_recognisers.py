"""Recognisers of one's own, where there are any; what reads their files is loaded only then."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shoal.discover.recognisers import RecogniserSet


def recognisers_with(files: Sequence[Path]) -> RecogniserSet | None:
    """The installed ones with those of the files; None where there are no files, for the installed ones alone."""
    if not files:
        return None
    from shoal.discover.recognisers import own_files

    return own_files.recognisers_with(files)
