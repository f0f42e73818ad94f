"""What a caller may be asked about, as keyed digests: enough to say yes or no, and nothing that could be shown.

A worker reads the table once. What it leaves is a sorted file of digests, each of a person, a column and a value
together, made with a key of this desk alone. Who answers callers reads neither the table nor a value of it.
"""

from __future__ import annotations

import mmap
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from shoal.crypto.keys import KEY_BYTES, Key
from shoal.crypto.mac import mac
from shoal.errors import DataError, IntegrityError
from shoal.io import write_atomic
from shoal.randomness import random_bytes

if TYPE_CHECKING:
    from shoal.io import Source
    from shoal.schema.progress import Monitor

WIDTH: Final = 32
"""Hexadecimal digits of a digest that are kept: two claims that are the same by chance are not to be expected."""
AT_ONCE: Final = 20_000
_POINT: Final = re.compile(r"(?<=\d)\.(?=\d)")
_KEPT: Final = frozenset("LMN")


def plain(said: str) -> str:
    """What is meant, however it was written: case, spaces, dashes and the width of letters say nothing.

    >>> plain(" Asha  RAO-Iyer "), plain("+91 98765-43210"), plain("1.50"), plain("１９９０-0１-02")
    ('asharaoiyer', '919876543210', '1.50', '19900102')
    """
    text = unicodedata.normalize("NFKC", said).casefold()
    parts = _POINT.split(text)
    return ".".join("".join(one for one in part if unicodedata.category(one)[0] in _KEPT) for part in parts)


@dataclass(frozen=True)
class ClaimIndex:
    folder: Path

    @property
    def _file(self) -> Path:
        return self.folder / "claims"

    @property
    def ready(self) -> bool:
        return self._file.exists()

    def _key(self) -> Key:
        path = self.folder / "key"
        if not path.exists():
            write_atomic(path, random_bytes(KEY_BYTES).hex(), private=True)
        try:
            return Key(bytes.fromhex(path.read_text(encoding="ascii")))
        except ValueError:
            raise IntegrityError("the key of the desk is none") from None

    def build(self, source: Source, person: str, columns: Sequence[str], monitor: Monitor) -> int:
        """How many claims can be checked. A record without a person, and a value that is missing, is no claim."""
        import polars as pl

        if missing := [name for name in (person, *columns) if name not in source.scan().collect_schema()]:
            raise DataError(f"the table has no column '{missing[0]}'")
        key, found = self._key(), bytearray()
        frame = source.scan().select(pl.col(name).cast(pl.String) for name in (person, *columns))
        for batch in frame.collect_batches(chunk_size=AT_ONCE):
            monitor.check()
            for who, *values in batch.iter_rows():
                if who is not None and plain(who):
                    said = zip(columns, values, strict=True)
                    found += b"".join(_claim(key, who, name, one) for name, one in said if one is not None)
        if not found:
            raise DataError("no record names a person and says something of them: there is nothing to check")
        claims = np.frombuffer(found, dtype=f"S{WIDTH}")
        claims.sort()
        write_atomic(self._file, found.decode("ascii"), private=True)
        return len(claims)

    def who(self, person: str) -> str:
        """The same for the same person of this desk, and of no use elsewhere."""
        return mac(self._key(), (b"person", plain(person).encode())).hex()[:WIDTH]

    def matches(self, person: str, claims: Mapping[str, str]) -> bool:
        """Whether all that is said stands in one table for this person; each is looked up, whatever the others say."""
        key = self._key()
        with self._file.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as kept:
            found = [_stands(kept, _claim(key, person, name, said)) for name, said in sorted(claims.items())]
        return bool(found) and all(found)


def _claim(key: Key, person: str, column: str, value: str) -> bytes:
    return mac(key, (b"claim", plain(person).encode(), column.encode(), plain(value).encode())).hex()[:WIDTH].encode()


def _stands(kept: mmap.mmap, wanted: bytes) -> bool:
    low, high = 0, len(kept) // WIDTH
    while low < high:
        middle = (low + high) // 2
        if kept[middle * WIDTH : (middle + 1) * WIDTH] < wanted:
            low = middle + 1
        else:
            high = middle
    return kept[low * WIDTH : (low + 1) * WIDTH] == wanted
