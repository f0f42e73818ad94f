"""Mutations of a file: bits, lengths, pieces cut out, doubled, moved; inside the parts of an archive too."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

Mutation = Callable[[bytearray, Random], None]
LENGTHS: Final = (
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0xFFFF,
    0x10000,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    2**40,
    2**63 - 1,
)
_MOST: Final = 2_000_000


def mutated(content: bytes, random: Random, words: Sequence[bytes] = ()) -> bytes:
    """The content with one to six things changed; half of the time inside a part, where it is an archive."""
    if content.startswith(b"PK\x03\x04") and random.random() < 0.7:
        return _inside_archive(content, random, words)
    return _mutated(content, random, words)


def _mutated(content: bytes, random: Random, words: Sequence[bytes]) -> bytes:
    made = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        if words and random.random() < 0.5:
            _put_word(made, random, words)
        else:
            random.choice(MUTATIONS)(made, random)
    return bytes(made[:_MOST])


def _inside_archive(content: bytes, random: Random, words: Sequence[bytes]) -> bytes:
    """One part changed and packed anew, so that its checksum is right and its reader sees the change."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        parts = old.infolist()
        chosen = random.choice(parts).filename
        for part in parts:
            inner = old.read(part)
            if part.filename == chosen:
                inner = _mutated(inner, random, words)
            elif random.random() < 0.01:
                continue
            new.writestr(zipfile.ZipInfo(part.filename), inner, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _place(made: bytearray, random: Random) -> int:
    """Anywhere, but more often near the ends, where formats keep what they say of themselves."""
    if not made:
        return 0
    where = random.random()
    if where < 0.25:
        return random.randrange(min(len(made), 64))
    if where < 0.5:
        return len(made) - 1 - random.randrange(min(len(made), 256))
    return random.randrange(len(made))


def _flip(made: bytearray, random: Random) -> None:
    if made:
        made[_place(made, random)] ^= 1 << random.randrange(8)


def _byte(made: bytearray, random: Random) -> None:
    if made:
        made[_place(made, random)] = random.choice(
            (0, 0x0A, 0x22, 0x2C, 0x5B, 0x7B, 0x7F, 0x80, 0xFF, random.randrange(256))
        )


def _length(made: bytearray, random: Random) -> None:
    form = random.choice(("<H", ">H", "<I", ">I", "<Q"))
    size = struct.calcsize(form)
    if len(made) >= size:
        at = min(_place(made, random), len(made) - size)
        made[at : at + size] = struct.pack(form, random.choice(LENGTHS) & (256**size - 1))


def _cut(made: bytearray, random: Random) -> None:
    del made[_place(made, random) :]


def _gone(made: bytearray, random: Random) -> None:
    at = _place(made, random)
    del made[at : at + random.choice((1, 2, 4, 16, 100, 1000))]


def _doubled(made: bytearray, random: Random) -> None:
    at = _place(made, random)
    piece = made[at : at + random.choice((1, 4, 16, 200))]
    made[at:at] = piece * random.choice((1, 2, 50, 1000))


def _moved(made: bytearray, random: Random) -> None:
    at, to = _place(made, random), _place(made, random)
    piece = made[at : at + random.choice((4, 16, 64, 400))]
    made[to : to + (len(piece) if random.random() < 0.5 else 0)] = piece


def _noise(made: bytearray, random: Random) -> None:
    at = _place(made, random)
    made[at:at] = random.randbytes(random.choice((1, 4, 32)))


def _digits(made: bytearray, random: Random) -> None:
    """A number that is written out made long, small or negative."""
    places = [at for at, byte in enumerate(made[:200_000]) if 48 <= byte <= 57]
    if places:
        at = random.choice(places)
        made[at : at + 1] = random.choice((b"99999999", b"-1", b"0", b"4294967296", b"1e999", b"18446744073709551616"))


def _put_word(made: bytearray, random: Random, words: Sequence[bytes]) -> None:
    at = _place(made, random)
    made[at : at + random.choice((0, 0, 1, 5))] = random.choice(words)


MUTATIONS: Final[tuple[Mutation, ...]] = (
    _flip, _flip, _byte, _length, _length, _cut, _gone, _doubled, _moved, _noise, _digits,
)  # fmt: skip
