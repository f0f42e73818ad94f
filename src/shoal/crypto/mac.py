"""A keyed check of a few parts in order (HMAC-SHA-256, RFC 2104): each part with its length, so that none can shift."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

from shoal.crypto.keys import Key


def mac(key: Key, parts: Iterable[bytes]) -> bytes:
    """
    >>> mac(Key(bytes(32)), [b"ab", b"c"]) == mac(Key(bytes(32)), [b"a", b"bc"])
    False
    """
    check = hmac.new(key.material, digestmod=hashlib.sha256)
    for part in parts:
        check.update(len(part).to_bytes(8, "big"))
        check.update(part)
    return check.digest()


def same(one: bytes, other: bytes) -> bool:
    """Compared in constant time."""
    return hmac.compare_digest(one, other)
