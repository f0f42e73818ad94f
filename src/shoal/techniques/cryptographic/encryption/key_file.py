"""A key in a file of its own, for those who have no vault."""

from __future__ import annotations

import re
from pathlib import Path

from shoal.crypto import KEY_BYTES, Key
from shoal.errors import AccessError

_MOST_BYTES = 80


def read_key(attribute: str, path: Path) -> Key:
    """32 bytes as they are, or as 64 hexadecimal digits."""
    try:
        with path.open("rb") as file:
            held = file.read(_MOST_BYTES + 1)
    except OSError as problem:
        why = problem.strerror or "it can't be opened"
        raise AccessError(f"column '{attribute}': the key file '{path.name}' can't be read: {why}") from None
    if re.fullmatch(rb"\s*[0-9A-Fa-f]{64}\s*", held):
        return Key(bytes.fromhex(held.decode()))
    if len(held) != KEY_BYTES:
        raise AccessError(f"column '{attribute}': '{path.name}' is no key file: {KEY_BYTES} bytes, or 64 hex digits")
    return Key(held)
