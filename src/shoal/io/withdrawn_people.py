"""People who withdrew, left out of a source before anything of it is counted.

They are known by keyed digests alone: without the key nobody can try out whether somebody is among them. A source
without them is a source like any other, so every engine, and whatever else reads it, sees the rest only.
"""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from shoal.crypto import Key
from shoal.crypto.keyed_digests import digests
from shoal.errors import InputError
from shoal.io.sources import FileSource, Source
from shoal.kernels.calendar import on_calendar


def identity_digest(key: Key, identifier: str) -> str:
    """What stands for a person. Blanks around it, case and width of letters make no difference.

    >>> identity_digest(Key(bytes(32)), " p-17") == identity_digest(Key(bytes(32)), "P-17")
    True
    """
    return _digests(key, [identifier])[0]


def _digests(key: Key, identifiers: list[str]) -> list[str]:
    plain = [unicodedata.normalize("NFKC", one).strip().casefold().encode() for one in identifiers]
    return [bytes(row).hex() for row in digests(key, plain)]


@dataclass(frozen=True)
class WithdrawnPeople:
    key: Key = field(repr=False)
    digests: frozenset[str] = field(repr=False)

    def __len__(self) -> int:
        return len(self.digests)

    @property
    def fingerprint(self) -> str:
        """Another one when somebody else withdraws or comes back."""
        return hashlib.sha256("".join(sorted(self.digests)).encode()).hexdigest()

    def left_out_of(self, source: Source, person: str | None) -> Source:
        """The source without their records; refused where no column says whose a record is."""
        if person is None:
            raise InputError(
                f"{len(self)} people withdrew, and no column says whose a record is: name one with `person`"
            )
        if isinstance(source, FileSource):
            return RemainingFiles(source, person, self)
        return RemainingRecords(source, person, self)

    def remaining(self, frame: pl.LazyFrame, person: str) -> pl.LazyFrame:
        """Records that nobody's name stands in stay: there is nobody who could have withdrawn."""
        kind = frame.collect_schema().get(person)
        if kind is None:
            raise InputError(f"people withdrew, and there is no column '{person}' that says whose a record is")
        names = on_calendar(pl.col(person), kind)
        if kind.is_float():
            names = pl.when(names == names.round()).then(names.cast(pl.Int64, strict=False).cast(pl.String))
            names = names.otherwise(pl.col(person).cast(pl.String))
        told = names.cast(pl.String).map_batches(self._belongs, return_dtype=pl.Boolean, is_elementwise=True)
        return frame.filter(~told)

    def _belongs(self, names: pl.Series) -> pl.Series:
        distinct = names.drop_nulls().unique()
        texts = distinct.to_list()
        gone = [text for text, digest in zip(texts, _digests(self.key, texts), strict=True) if digest in self.digests]
        return names.is_in(pl.Series(gone, dtype=pl.String)).fill_null(value=False)


@dataclass(frozen=True)
class RemainingRecords:
    """A source without the records of people who withdrew."""

    original: Any
    person: str
    withdrawn: WithdrawnPeople

    @property
    def label(self) -> str:
        return str(self.original.label)

    def scan(self) -> pl.LazyFrame:
        return self.withdrawn.remaining(self.original.scan(), self.person)


@dataclass(frozen=True)
class RemainingFiles(RemainingRecords):
    """The same of a source that lies in files."""

    @property
    def files(self) -> tuple[Path, ...]:
        found: tuple[Path, ...] = self.original.files
        return found
