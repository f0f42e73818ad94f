"""Small JSON files from others: manifests, histories, sums."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

MAX_BYTES: Final = 1 << 26


def read_json(path: Path) -> Any:
    """What is in the file; a ValueError if it is no JSON, too large, or nested too deep to be what it should be."""
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError("too large")
    try:
        return json.loads(content.decode("utf-8"))
    except RecursionError:
        raise ValueError("nested too deep") from None
