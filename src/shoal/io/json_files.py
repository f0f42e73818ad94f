"""Small JSON files from others: manifests, histories, sums."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from typing import Any, Final

MAX_BYTES: Final = 1 << 26


def read_json(path: Path) -> Any:
    """What is in the file; a ValueError if it is no JSON, too large, nested too deep to be what it should be, or has
    numbers that are none: JSON has no infinity, and a number too large to be one is as good as that.
    """
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError("too large")
    try:
        return json.loads(content.decode("utf-8"), parse_constant=_finite, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _finite(written: str) -> float:
    number = float(written)
    if not isfinite(number):
        raise ValueError("a number that is none")
    return number
