"""Shares of a column, as the parties hold them: added up by each for itself, put together by enough of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.crypto.secret_sharing import Sharing
from shoal.errors import InputError, IntegrityError, SourceError
from shoal.io.formats import parquet
from shoal.io.formats.columnar import checked
from shoal.io.json_files import read_json
from shoal.schema.values import ValueType
from shoal.secure_aggregation.opened_total import OpenedTotal
from shoal.techniques.cryptographic.fixed_point import FixedPoint

Shares = NDArray[np.uint64]
File = str | Path | pl.DataFrame
_ABOUT = ("column", "type", "scale", "party", "parties", "threshold", "set")


@dataclass(frozen=True)
class ShareFileHeader:
    """What a file of shares says of itself."""

    column: str
    type: str
    scale: int
    party: int
    parties: int
    threshold: int
    set: str

    @property
    def scheme(self) -> Sharing:
        return Sharing(self.parties, self.threshold)

    @property
    def numbers(self) -> FixedPoint:
        return FixedPoint(ValueType(self.type), self.scale)

    @property
    def of_all(self) -> tuple[object, ...]:
        """What is the same in the files of all parties."""
        return (self.column, self.type, self.scale, self.parties, self.threshold, self.set)


@dataclass(frozen=True)
class SumOfShares:
    """A party's share of the sum, and of the number of values that are there. It says nothing by itself."""

    about: ShareFileHeader
    records: int
    sum: int
    present: int | None

    def to_dict(self) -> dict[str, Any]:
        return {"shoal": "sum of shares", **asdict(self)}

    @classmethod
    def of_dict(cls, found: dict[str, Any]) -> Self:
        about = ShareFileHeader(**found["about"])
        whole = all(isinstance(found[key], int) for key in ("records", "sum"))
        if not whole or not isinstance(found["present"], int | None):
            raise TypeError
        _check(about)
        return cls(about, found["records"], found["sum"], found["present"])


@dataclass(frozen=True)
class SharedTotal(OpenedTotal):
    """The sum of a shared column."""

    column: str

    def to_dict(self) -> dict[str, Any]:
        return {"column": self.column, **super().to_dict()}


def sum_of_shares(file: File) -> SumOfShares:
    """What one party adds up by itself, without anything from the others."""
    about, frame = _read(file)
    scheme = about.scheme
    present = int(scheme.total(frame["present"].to_numpy())[0]) if "present" in frame.columns else None
    return SumOfShares(about, frame.height, int(scheme.total(frame["share"].to_numpy())[0]), present)


def read_sum(path: str | Path) -> SumOfShares:
    """A sum that a party has written down as JSON."""
    try:
        return SumOfShares.of_dict(read_json(Path(path)))
    except OSError as error:
        raise SourceError(f"{path}: can't be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SourceError(f"{path}: is not a sum of shares") from None


def combine_shares(sums: Sequence[SumOfShares]) -> SharedTotal:
    """The sum of the column, from the sums of enough parties."""
    about = _belonging([each.about for each in sums])
    if len({each.records for each in sums}) > 1:
        raise IntegrityError(f"the sums of '{about.column}' are not of the same records")
    records = sums[0].records
    total = _joined(about, {each.about.party: [each.sum] for each in sums})
    shown = _all_or_none(about, [each.present is not None for each in sums])
    present = int(_joined(about, {each.about.party: [each.present] for each in sums})[0]) if shown else records
    if not 0 <= present <= records:
        raise IntegrityError(f"the sums of '{about.column}' don't fit together: one was altered")
    return SharedTotal(records, present, about.numbers.exact(int(total[0])), about.column)


def rebuild(files: Iterable[File]) -> pl.DataFrame:
    """The table of the shared columns, from the files of enough parties; those of several columns may be mixed."""
    read = [_read(file) for file in files]
    columns = list(dict.fromkeys(about.column for about, _ in read))
    tables = [_rebuilt([each for each in read if each[0].column == column]) for column in columns]
    if len({table.height for table in tables}) > 1:
        raise IntegrityError("the columns have different numbers of records: they are not of one release")
    records = pl.DataFrame({"record": np.arange(1, 1 + tables[0].height)}) if tables else pl.DataFrame()
    return pl.concat([records, *tables], how="horizontal")


def _rebuilt(read: Sequence[tuple[ShareFileHeader, pl.DataFrame]]) -> pl.DataFrame:
    about = _belonging([each for each, _ in read])
    frames = {each.party: frame.sort("record") for each, frame in read}
    records = next(iter(frames.values()))["record"]
    if not all(frame["record"].equals(records) for frame in frames.values()):
        raise IntegrityError(f"the files of '{about.column}' don't have the same records")
    numbers = pl.Series(about.column, _joined(about, {party: frame["share"] for party, frame in frames.items()}))
    if _all_or_none(about, ["present" in frame.columns for frame in frames.values()]):
        there = _joined(about, {party: frame["present"] for party, frame in frames.items()})
        if not np.isin(there, (0, 1)).all():
            raise IntegrityError(f"the shares of '{about.column}' don't fit together: a file was altered")
        numbers = numbers.set(pl.Series(there == 0), None)
    return about.numbers.written(numbers).to_frame()


def _all_or_none(about: ShareFileHeader, has: Sequence[bool]) -> bool:
    if any(has) and not all(has):
        raise IntegrityError(f"the files of '{about.column}' don't fit together: one was altered")
    return all(has)


def _joined(about: ShareFileHeader, shares: dict[int, Any]) -> NDArray[np.int64]:
    return about.scheme.join({party: np.asarray(each, dtype=np.uint64) for party, each in shares.items()})


def _belonging(abouts: Sequence[ShareFileHeader]) -> ShareFileHeader:
    """Files of different parties and of one sharing, as many as are needed; what they have in common."""
    first = abouts[0]
    if any(each.of_all != first.of_all for each in abouts):
        raise IntegrityError(f"the files of '{first.column}' are from different releases: their shares don't fit")
    parties = [each.party for each in abouts]
    if len(set(parties)) < len(parties):
        raise IntegrityError(f"'{first.column}': a party is there twice")
    if len(parties) < first.threshold:
        raise InputError(
            f"'{first.column}': {first.threshold} of {first.parties} parties are needed, and there are files of "
            f"{len(parties)}"
        )
    return first


def _read(file: File) -> tuple[ShareFileHeader, pl.DataFrame]:
    label = "table in memory" if isinstance(file, pl.DataFrame) else str(file)
    frame = file if isinstance(file, pl.DataFrame) else _parquet(Path(file))
    wanted = {"record", "share", *_ABOUT}
    if not wanted <= set(frame.columns) or frame["share"].dtype != pl.UInt64() or not frame.height:
        raise SourceError(f"{label}: is not a file of shares")
    said = frame.select(_ABOUT).unique()
    if said.height != 1 or frame.select(wanted).null_count().sum_horizontal().item():
        raise IntegrityError(f"{label}: holds shares that don't belong together")
    try:
        about = ShareFileHeader(**said.row(0, named=True))
        _check(about)
    except (TypeError, ValueError):
        raise SourceError(f"{label}: is not a file of shares") from None
    return about, frame


def _check(about: ShareFileHeader) -> None:
    """A scheme that there is, and a party of it."""
    ValueType(about.type)
    if not 1 <= about.party <= about.scheme.parties or not 0 <= about.scale <= 15:
        raise ValueError


def _parquet(path: Path) -> pl.DataFrame:
    try:
        if path.is_file():
            checked(path, parquet.KIND, str(path), broken="is not a file of shares")
        return pl.read_parquet(path, glob=False)
    except OSError as error:
        raise SourceError(f"{path}: can't be read: {error.strerror or 'it is no file'}") from None
    except pl.exceptions.PolarsError:
        raise SourceError(f"{path}: is not a file of shares") from None
