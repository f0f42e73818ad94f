"""Keyed digests: sixteen bytes for each value that nobody without the key can work out, or check a guess against.

BLAKE2b has the key built in (RFC 7693); HMAC-SHA-256 (RFC 2104, FIPS 198-1) is offered where a rule asks for it, cut to
its first half (RFC 2104, 5). With 128 bits, among a thousand million values two have the same digest with a chance of
less than 1 : 10²⁰.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.crypto.keys import Key

DIGEST_BYTES = 16
Algorithm = Literal["blake2b", "hmac-sha256"]


def digests(key: Key, values: Sequence[bytes], algorithm: Algorithm = "blake2b") -> NDArray[np.uint8]:
    """One row of sixteen bytes for each value.

    >>> digests(Key(bytes(32)), [b"Asha", b"Ravi", b"Asha"]).shape
    (3, 16)
    """
    made = _blake2b(key.material, values) if algorithm == "blake2b" else _hmac_sha256(key.material, values)
    return np.frombuffer(b"".join(made), dtype=np.uint8).reshape(len(values), DIGEST_BYTES)


def _blake2b(key: bytes, values: Sequence[bytes]) -> Iterable[bytes]:
    make = hashlib.blake2b
    return [make(value, key=key, digest_size=DIGEST_BYTES).digest() for value in values]


def _hmac_sha256(key: bytes, values: Sequence[bytes]) -> Iterable[bytes]:
    make = hmac.digest
    return [make(key, value, "sha256")[:DIGEST_BYTES] for value in values]
