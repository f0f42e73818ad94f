"""Homomorphic encryption (ISO/IEC 20889, 9.2.5): the column can be added up by people who can't read it.

The column leaves the table and becomes a further file of the release, ``homomorphic/<column>.parquet``: ciphertexts of
8192 numbers each (``crypto.homomorphic``), in the order of the released records, with the public key. A recipient adds
up all records, or those that the other columns of the table pick, and sends the encrypted total back; who has the vault
opens it. Where values are missing, a second ciphertext says which are there, so that means are right and nobody without
the key sees where something is missing.

Every value is encrypted with fresh randomness: equal values look different, and nothing but the number of records can
be seen. The secret key is made for the release, sealed with the key that the policy names and kept in the same file.

Opening a total tells it. A single record has a total too, and nothing proves that a total is what it is said to be. So
whoever opens totals for others trusts them to add up many records, or gives totals to nobody who knows the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote

import numpy as np
import polars as pl

from shoal.crypto import Key
from shoal.crypto.homomorphic import LARGEST, SLOTS, PublicKey, SecretKey
from shoal.errors import DataError
from shoal.kernels.arrays import Integers
from shoal.kernels.batch_streams import streamed
from shoal.randomness import Stream, random_bytes
from shoal.schema.columns import ROW, Column
from shoal.schema.steps import SidecarFile
from shoal.schema.values import NUMBERS, ValueType
from shoal.techniques.base import ColumnStep
from shoal.techniques.cryptographic.fixed_point import FixedPoint, refuse_new_gaps

if TYPE_CHECKING:
    from shoal.techniques.cryptographic.encryption.encrypt import Encrypt

FOLDER = "homomorphic"
_MISSING = np.iinfo(np.int64).min
_HIDDEN = "__shoal_homomorphic_"
SCHEMA = pl.Schema(
    {
        "rows": pl.Int64(),
        "values": pl.Binary(),
        "present": pl.Binary(),
        "column": pl.String(),
        "type": pl.String(),
        "scale": pl.Int64(),
        "set": pl.String(),
        "public_key": pl.Binary(),
        "sealed_key": pl.Binary(),
    }
)
"""One line for each ciphertext; what is the same for all stands in the first."""


def refuse_homomorphic(technique: Encrypt, column: Column) -> str | None:
    if column.type not in NUMBERS | {ValueType.BOOLEAN}:
        return f"homomorphic encryption adds up numbers; column '{column.name}' is {column.type}"
    if technique.decimals is not None and column.type is not ValueType.DECIMAL:
        return f"decimals are for numbers that have some; column '{column.name}' is {column.type}"
    return None


def bind_homomorphic(technique: Encrypt, column: Column, secret: Key) -> HomomorphicStep:
    if technique.decimals is not None:
        column = replace(column, scale=technique.decimals)
    identity = random_bytes(8).hex()
    secret_key, public_key = SecretKey.new()
    sealed = secret_key.sealed(secret, bound_to(identity, column.name))
    return HomomorphicStep(column, Packing(column, identity, public_key, sealed, Stream(Key.new().material)))


def leaves_homomorphic(column: Column) -> Column:
    """Nothing is left of it in the table."""
    return replace(column, type=ValueType.TEXT, storage=pl.String(), scale=0, date_format=None)


def bound_to(identity: str, column: str) -> str:
    """What a sealed secret key belongs to."""
    return f"{FOLDER} {identity} {column}"


@dataclass(frozen=True)
class Packing:
    """From hidden values, one for each record, to the file: ciphertexts of many values each.

    Values wait in a temporary file until all records are written. They wait there encrypted, with a key that is known
    only to this run and forgotten with it.
    """

    column: Column
    identity: str
    public_key: PublicKey
    sealed_key: bytes = field(repr=False)
    waiting: Stream

    def hide(self, numbers: Integers, rows: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> pl.Series:
        return pl.Series(numbers.view(np.uint64) ^ self.waiting.words(rows)[:, 0])

    def __call__(self, waiting: pl.LazyFrame) -> pl.LazyFrame:
        return streamed(lambda: self._packed(waiting), SCHEMA)

    def _packed(self, waiting: pl.LazyFrame) -> Iterator[pl.DataFrame]:
        first = self._about()
        for batch in waiting.collect_batches(chunk_size=SLOTS * 8, maintain_order=True, engine="streaming"):
            for part in batch.iter_slices(SLOTS):
                hidden, rows = part["values"].to_numpy(), part["rows"].to_numpy()
                numbers = (hidden ^ self.waiting.words(rows)[:, 0]).view(np.int64)
                yield pl.DataFrame([{**self._encrypted(numbers), **first}], schema=SCHEMA)
                first = {}

    def _encrypted(self, numbers: Integers) -> dict[str, object]:
        there = numbers != _MISSING
        present = self.public_key.encrypt(there.astype(np.int64)) if self.column.missing else None
        return {
            "rows": len(numbers),
            "values": self.public_key.encrypt(np.where(there, numbers, 0)),
            "present": present,
            "set": self.identity,
        }

    def _about(self) -> dict[str, object]:
        return {
            "column": self.column.name,
            "type": str(self.column.type),
            "scale": FixedPoint.of(self.column).scale,
            "public_key": self.public_key.material,
            "sealed_key": self.sealed_key,
        }


@dataclass(frozen=True)
class HomomorphicStep(ColumnStep):
    packing: Packing
    largest: ClassVar[int] = LARGEST >> 20
    """So that a slot holds the sum of a million ciphertexts, of eight thousand million records."""

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        numbers = FixedPoint.of(self.column).read(self.column, frame[self.column.name])
        large = int((numbers.abs() > self.largest).sum())
        if large:
            raise DataError(
                f"column '{self.column.name}': {large} value(s) have too many digits to be added up encrypted",
                advice=f"with `decimals`, at most {self.largest:,} of the last digit's units fit",
            )
        refuse_new_gaps(self.column, numbers)
        rows = frame[ROW]
        hidden = self.packing.hide(numbers.fill_null(_MISSING).to_numpy(), rows.to_numpy())
        aside = [hidden.alias(self._values), rows.alias(self._rows)]
        return frame.drop(self.column.name).with_columns(aside)

    @property
    def _values(self) -> str:
        return f"{_HIDDEN}values_{self.column.name}"

    @property
    def _rows(self) -> str:
        return f"{_HIDDEN}rows_{self.column.name}"

    @property
    def sidecar_files(self) -> tuple[SidecarFile, ...]:
        return (
            SidecarFile(
                f"{FOLDER}/{quote(self.column.name, safe=' ')}",
                {self._values: "values", self._rows: "rows"},
                self.packing,
                f"{self.column.name}, encrypted so that it can be added up without the key; "
                "the encrypted totals are opened by the owner",
                ending="parquet",
                for_recipient=True,
            ),
        )
