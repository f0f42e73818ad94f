"""Contents of one length, so that a sealed value doesn't tell a long name from a short one.

A byte 80 and then zeros, to the next multiple of 32 bytes (ISO/IEC 7816-4; ISO/IEC 9797-1, method 2). What is left to
see is how many blocks of 32 bytes a value takes: one for nearly every name, number or address line.

>>> len(padded([b"Li", b"Venkatanarasimharajuvaripeta"])[0])
32
>>> unpadded(padded([b"Li", b"", bytes(40)])) == [b"Li", b"", bytes(40)]
True
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

BLOCK: Final = 32
_ENDS: Final = [b"\x80".ljust(BLOCK - length, b"\x00") for length in range(BLOCK)]


def padded(contents: Iterable[bytes]) -> list[bytes]:
    return [content + _ENDS[len(content) % BLOCK] for content in contents]


def unpadded(contents: Iterable[bytes]) -> list[bytes]:
    return [content.rstrip(b"\x00")[:-1] for content in contents]
