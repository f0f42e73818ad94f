"""Encrypted columns of a release: added up by people without the key, opened by those who have it."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import polars as pl

from shoal.crypto import Key
from shoal.crypto.homomorphic import PublicKey, SecretKey, Total
from shoal.errors import DataError, IntegrityError, SourceError
from shoal.io import write_atomic
from shoal.io.formats import parquet
from shoal.io.formats.columnar import checked
from shoal.io.json_files import read_json
from shoal.kernels.arrays import Mask
from shoal.schema.values import ValueType
from shoal.secure_aggregation.opened_total import OpenedTotal
from shoal.techniques.cryptographic.encryption.homomorphic import FOLDER, SCHEMA, bound_to
from shoal.techniques.cryptographic.fixed_point import FixedPoint

File = str | Path | pl.DataFrame
ALL = ""
"""The name of the total of all records."""


@dataclass(frozen=True)
class EncryptedTotal:
    """A sum that nobody can read who lacks the key; ``present`` likewise counts the values that are there."""

    records: int
    sum: bytes
    present: bytes | None


@dataclass(frozen=True)
class EncryptedTotals:
    """Totals of one column by name (``ward=north``), with what the owner needs to open them."""

    column: str
    type: ValueType
    scale: int
    identity: str
    sealed_key: bytes
    totals: Mapping[str, EncryptedTotal]

    def write(self, path: str | Path) -> None:
        totals = [
            {"name": name, "records": each.records, "sum": _text(each.sum), "present": _text(each.present)}
            for name, each in self.totals.items()
        ]
        about = {"shoal": "encrypted totals", "column": self.column, "type": str(self.type), "scale": self.scale}
        secret = {"set": self.identity, "sealed_key": _text(self.sealed_key)}
        write_atomic(Path(path), json.dumps({**about, **secret, "totals": totals}, indent=1))

    @classmethod
    def read(cls, path: str | Path) -> EncryptedTotals:
        try:
            found = read_json(Path(path))
            totals = {
                each["name"]: EncryptedTotal(
                    int(each["records"]),
                    b64decode(each["sum"]),
                    b64decode(each["present"]) if each["present"] else None,
                )
                for each in found["totals"]
            }
            about = found["column"], ValueType(found["type"]), int(found["scale"]), found["set"]
            return cls(*about, b64decode(found["sealed_key"]), totals)
        except OSError as error:
            raise SourceError(f"{path}: can't be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError):
            raise SourceError(f"{path}: holds no encrypted totals") from None


def encrypted_file(release: str | Path, column: str) -> Path:
    """Where a release folder has an encrypted column."""
    path = Path(release) / FOLDER / f"{quote(column, safe=' ')}.parquet"
    if not path.is_file():
        raise SourceError(f"{release}: has no homomorphically encrypted column '{column}'")
    return path


def encrypted_sum(file: File, mask: Mask | pl.Series | None = None) -> EncryptedTotals:
    """The encrypted sum of a column: of all records, or of those that the mask picks. Needs no key."""
    return encrypted_sums(file, {ALL: mask})


def encrypted_sums(file: File, masks: Mapping[str, Mask | pl.Series | None]) -> EncryptedTotals:
    """Several sums in one pass. A mask has a truth value for each released record, in their order."""
    label, about, rows = _opened(file)
    public = PublicKey(about["public_key"])
    picked = {name: None if mask is None else np.asarray(mask, dtype=bool) for name, mask in masks.items()}
    wrong = [mask for mask in picked.values() if mask is not None and len(mask) != rows]
    if wrong:
        raise DataError(f"{label}: has {rows:,} records, and a mask of {len(wrong[0]):,}")
    sums = {name: (public.total(), public.total()) for name in picked}
    start = 0
    for chunk in _chunks(file):
        for name, mask in picked.items():
            _add(sums[name], chunk, None if mask is None else mask[start : start + chunk["rows"]])
        start += chunk["rows"]
    totals = {
        name: _total(name, rows if mask is None else int(mask.sum()), *sums[name]) for name, mask in picked.items()
    }
    kind = ValueType(about["type"])
    return EncryptedTotals(about["column"], kind, about["scale"], about["set"], about["sealed_key"], totals)


def open_totals(totals: EncryptedTotals, key: Key) -> dict[str, OpenedTotal]:
    """What the totals are: for those who have the key that the policy named. Exact."""
    secret = SecretKey.unsealed(key, totals.sealed_key, bound_to(totals.identity, totals.column))
    numbers = FixedPoint(totals.type, totals.scale)
    opened = {}
    for name, each in totals.totals.items():
        present = each.records if each.present is None else _added(secret, each.present)
        if not 0 <= present <= each.records:
            raise IntegrityError("a total doesn't fit the number of its records: it was altered")
        opened[name] = OpenedTotal(each.records, present, numbers.exact(_added(secret, each.sum)))
    return opened


def _added(secret: SecretKey, ciphertext: bytes) -> int:
    return sum(secret.decrypt(ciphertext).tolist())


def _add(sums: tuple[Total, Total], chunk: dict[str, Any], mask: Mask | None) -> None:
    values, present = sums
    values.add(chunk["values"], mask)
    if chunk["present"] is not None:
        present.add(chunk["present"], mask)


def _total(name: str, records: int, values: Total, present: Total) -> EncryptedTotal:
    added = values.ciphertext()
    if added is None:
        raise DataError("there is no record to add up" + (f" for {name}" if name else ""))
    return EncryptedTotal(records, added, present.ciphertext())


def _opened(file: File) -> tuple[str, dict[str, Any], int]:
    """What the file says of itself, and its number of records."""
    label = "table in memory" if isinstance(file, pl.DataFrame) else str(file)
    lazy = file.lazy() if isinstance(file, pl.DataFrame) else _scan(Path(file))
    if not isinstance(file, pl.DataFrame) and Path(file).is_file():
        checked(Path(file), parquet.KIND, label, broken="is not an encrypted column")
    try:
        first = lazy.select("column", "type", "scale", "set", "public_key", "sealed_key").head(1).collect()
        rows, sets = lazy.select(pl.col("rows").sum(), pl.col("set").n_unique()).collect().row(0)
    except OSError as error:
        raise SourceError(f"{label}: can't be read: {error.strerror or 'it is no file'}") from None
    except pl.exceptions.PolarsError:
        raise SourceError(f"{label}: is not an encrypted column") from None
    if not first.height or sets != 1 or first.null_count().sum_horizontal().item():
        raise SourceError(f"{label}: is not an encrypted column, or not a whole one")
    return label, first.row(0, named=True), rows


def _chunks(file: File) -> Iterator[dict[str, Any]]:
    lazy = (file.lazy() if isinstance(file, pl.DataFrame) else _scan(Path(file))).select("rows", "values", "present")
    for batch in lazy.collect_batches(chunk_size=16, maintain_order=True):
        yield from batch.iter_rows(named=True)


def _scan(path: Path) -> pl.LazyFrame:
    return pl.scan_parquet(path, glob=False, schema=SCHEMA)


def _text(content: bytes | None) -> str | None:
    return None if content is None else b64encode(content).decode()
