"""Homomorphic secret sharing (ISO/IEC 20889, 9.2.6): the column is split into shares for several parties.

The column leaves the table. Each party gets a file, ``shares/party-1/<column>.parquet`` and so on: a random-looking
number for each released record, in their order. ``threshold`` parties together have the values, fewer have nothing at
all: their shares are uniformly random numbers, whatever the values are, and no computing power helps. If all parties
are needed the sharing is additive modulo 2⁶⁴, otherwise it is Shamir's (``crypto.sharing``).

Sums need no value to be rebuilt: each party adds up its shares (``shoal shares sum``), and the sums, put together, give
the sum of the column. The same holds for any choice of records that the parties agree on.

Where values are missing, who is there is shared likewise, as ones and zeros, so that no party sees what is missing.
The protection ends where ``threshold`` files lie in one place: the release folder is such a place, so hand the files
out and delete it. A sum of one record is the record; parties agree beforehand on what they add up. With a ``seed`` the
seed opens every share, so a seeded run is for tests.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import quote

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from shoal.crypto.secret_sharing import MOST_PARTIES, Sharing
from shoal.errors import DataError
from shoal.randomness import Stream
from shoal.schema.columns import ROW, Column
from shoal.schema.steps import SidecarFile
from shoal.schema.values import ValueType
from shoal.techniques.base import ColumnStep, Context, Lowered, Lowers, Technique, table_a1
from shoal.techniques.cryptographic.fixed_point import READABLE, FixedPoint, refuse_new_gaps

FOLDER = "shares"
_HIDDEN = "__shoal_share_"
_PRESENCE_LANES, _IDENTITY_LANE = 1 << 32, 1 << 33
"""Beyond the lanes of the values' own shares."""


class SecretSharing(Technique):
    key = "share"
    facts = table_a1(
        "Homomorphic secret sharing", "9.2.6", Lowered(Lowers.NO, Lowers.NO, Lowers.NO), types=READABLE, random=True
    )

    parties: int = Field(ge=2, le=MOST_PARTIES)
    threshold: int | None = Field(None, ge=2, le=MOST_PARTIES)
    """How many parties together have the values; all of them, if left out."""
    decimals: int | None = Field(None, ge=0, le=15)
    """Digits after the point; by default the most that occur."""

    @model_validator(mode="after")
    def _enough_parties(self) -> Self:
        if self.threshold is not None and self.threshold > self.parties:
            raise ValueError("the threshold is at most the number of parties")
        return self

    def refuse(self, column: Column) -> str | None:
        if self.decimals is not None and column.type is not ValueType.DECIMAL:
            return f"decimals are for numbers that have some; column '{column.name}' is {column.type}"
        return super().refuse(column)

    @property
    def removes(self) -> bool:
        return True

    def bind(self, column: Column, context: Context) -> ShareStep:
        if self.decimals is not None:
            column = replace(column, scale=self.decimals)
        scheme = Sharing(self.parties, self.threshold or self.parties)
        identity = context.stream.words(np.zeros(1, dtype=np.uint64), _IDENTITY_LANE).tobytes()[:8].hex()
        return ShareStep(column, scheme, context.stream, identity)

    def leaves(self, column: Column) -> Column:
        """Nothing is left of it in the table."""
        return replace(column, type=ValueType.TEXT, storage=pl.String(), scale=0, date_format=None)


@dataclass(frozen=True)
class ShareStep(ColumnStep):
    """
    >>> step = ShareStep(Column("pay", ValueType.INTEGER), Sharing(2, 2), Stream(bytes(32)), "set")
    >>> frame = pl.DataFrame({"pay": [100, 200], ROW: pl.Series([0, 1], dtype=pl.UInt64)})
    >>> [column for column in step.apply(frame).columns if column != ROW]
    ['__shoal_share_1_pay', '__shoal_share_2_pay']
    """

    scheme: Sharing
    stream: Stream
    identity: str
    """Which shares belong together."""

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        numbers = FixedPoint.of(self.column).read(self.column, frame[self.column.name])
        large = int((numbers.abs() > self.scheme.largest).sum())
        if large:
            raise DataError(f"column '{self.column.name}': {large} value(s) have too many digits to be shared")
        refuse_new_gaps(self.column, numbers)
        rows = frame[ROW].to_numpy()
        aside = self._split("", numbers.fill_null(0), rows, 0)
        if self.column.missing:
            aside += self._split("present_", numbers.is_not_null().cast(pl.Int64), rows, _PRESENCE_LANES)
        return frame.drop(self.column.name).with_columns(aside)

    def _split(
        self, kind: str, numbers: pl.Series, rows: np.ndarray[tuple[int], np.dtype[np.uint64]], lane: int
    ) -> list[pl.Series]:
        shares = self.scheme.split(numbers.to_numpy(), lambda more: self.stream.words(rows, lane + more))
        return [pl.Series(self._hidden(kind, party), share) for party, share in enumerate(shares, 1)]

    def _hidden(self, kind: str, party: int) -> str:
        return f"{_HIDDEN}{kind}{party}_{self.column.name}"

    @property
    def sidecar_files(self) -> tuple[SidecarFile, ...]:
        return tuple(self._file(party) for party in range(1, self.scheme.parties + 1))

    def _file(self, party: int) -> SidecarFile:
        columns = {self._hidden("", party): "share"}
        if self.column.missing:
            columns[self._hidden("present_", party)] = "present"
        return SidecarFile(
            f"{FOLDER}/party-{party}/{quote(self.column.name, safe=' ')}",
            columns,
            DescribedShares(self.column, self.scheme, self.identity, party),
            f"shares of {self.column.name} for party {party} of {self.scheme.parties}, for nobody else; "
            f"{self.scheme.threshold} parties together have the values",
            ending="parquet",
        )


@dataclass(frozen=True)
class DescribedShares:
    """A party's shares with the number of the record, and what is needed to put shares together again."""

    column: Column
    scheme: Sharing
    identity: str
    party: int

    def __call__(self, shares: pl.LazyFrame) -> pl.LazyFrame:
        about = {
            "column": self.column.name,
            "type": str(self.column.type),
            "scale": FixedPoint.of(self.column).scale,
            "party": self.party,
            "parties": self.scheme.parties,
            "threshold": self.scheme.threshold,
            "set": self.identity,
        }
        return shares.with_row_index("record", 1).with_columns(
            pl.lit(value).alias(name) for name, value in about.items()
        )
