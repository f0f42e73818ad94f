"""Values of a source's column as the merged table has them, and which of them can't be brought into that form.

Pure expressions over a lazy frame, so that a source of any length is converted in a stream. What can't be converted is
missing in the outcome and counted by ``failures``; a merged source is opened only where all of these counts are zero.

>>> frame = pl.LazyFrame({"gender": ["m", "f", "?"]})
>>> origin = ColumnOrigin(column="gender", values={"m": "male", "f": "female"})
>>> sex = Conversion("sex", origin, TargetColumn(), pl.String())
>>> frame.select(sex.values()).collect()["sex"].to_list()
['male', 'female', None]
>>> [(why, frame.select(count).collect().item()) for why, count in sex.failures().items()]
[('not listed in `values`', 1)]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from shoal.io.merging.mapping import ColumnOrigin, TargetColumn
from shoal.kernels.replacing import replaced
from shoal.schema.values import DATES, NUMBERS, ValueType

STORAGE: Final[dict[ValueType, pl.DataType]] = {
    ValueType.INTEGER: pl.Int64(),
    ValueType.DECIMAL: pl.Float64(),
    ValueType.BOOLEAN: pl.Boolean(),
    ValueType.DATE: pl.Date(),
    ValueType.DATETIME: pl.Datetime("us"),
    ValueType.TEXT: pl.String(),
}
_ISO: Final = {
    ValueType.DATE: ("%Y-%m-%d",),
    ValueType.DATETIME: ("%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"),
}
"""How dates that are stored as text are read where no format is said: there is nothing to guess in them."""


@dataclass(frozen=True)
class Conversion:
    """From one column of a source to one of the merged table."""

    name: str
    origin: ColumnOrigin
    target: TargetColumn
    stored: pl.DataType | None
    """The type of the source's column; None where there is none."""

    def values(self) -> pl.Expr:
        return self._read().alias(self.name)

    def failures(self) -> dict[str, pl.Expr]:
        """By the reason, how many values can't be converted."""
        given, read = self._mapped(), self._read()
        found: dict[str, pl.Expr] = {}
        if self.origin.values is not None and self.origin.others == "refuse":
            found["not listed in `values`"] = self._unlisted()
        if self.target.type is not ValueType.TEXT:
            found[f"not to be read as {self.target.type}{self._as_written()}"] = given.is_not_null() & read.is_null()
        if self.target.values:
            listed = read.is_in(list(self.target.values))
            found["not among the values of the merged column"] = read.is_not_null() & ~listed
        if self.target.required:
            found["missing, and required"] = given.is_null() & ~self._unlisted()
        return {why: failed.cast(pl.UInt64).sum().alias(f"{self.name}|{why}") for why, failed in found.items()}

    def _as_written(self) -> str:
        return f" in the format {self.origin.format}" if self.origin.format is not None else ""

    def _given(self) -> pl.Expr:
        if self.origin.column is not None:
            return pl.col(self.origin.column)
        return pl.lit(self.origin.constant, dtype=pl.String())

    def _unlisted(self) -> pl.Expr:
        if self.origin.values is None or self.origin.others != "refuse":
            return pl.lit(value=False)
        return self._given().is_not_null() & ~self._given().cast(pl.String).is_in(list(self.origin.values))

    def _mapped(self) -> pl.Expr:
        """The values in the words of the merged table, where words are replaced."""
        listed = self.origin.values
        if listed is None:
            return self._given()
        given, keep = self._given().cast(pl.String), self.origin.others == "keep"
        return replaced(given, list(listed), list(listed.values()), pl.String(), keep=keep)

    @property
    def _is_text(self) -> bool:
        return self.origin.values is not None or self.origin.column is None or self.stored == pl.String()

    def _read(self) -> pl.Expr:
        given, kind = self._mapped(), self.target.type
        if kind in NUMBERS:
            return self._numbers(given)
        if kind in DATES:
            return self._dates(given)
        if kind is ValueType.BOOLEAN and self._is_text:
            return replaced(given.str.to_lowercase(), ["true", "false"], [True, False], pl.Boolean())
        return given.cast(STORAGE[kind], strict=False)

    def _numbers(self, given: pl.Expr) -> pl.Expr:
        """Whole numbers stay exact where nothing is reckoned; what is not whole is never cut to an integer."""
        whole = self.target.type is ValueType.INTEGER
        if (
            whole
            and not self.origin.reckons
            and (self._is_text or (self.stored is not None and self.stored.is_integer()))
        ):
            return given.cast(pl.Int64, strict=False)
        number = given.cast(pl.Float64, strict=False)
        if self.origin.reckons:
            number = number * self.origin.multiply + self.origin.add
        if self.origin.decimals is not None:
            number = number.round(self.origin.decimals)
        fits = number.is_finite() & ((number == number.floor()) if whole else pl.lit(value=True))
        return pl.when(fits).then(number).cast(STORAGE[self.target.type], strict=False)

    def _dates(self, given: pl.Expr) -> pl.Expr:
        storage = STORAGE[self.target.type]
        if not self._is_text:
            temporal = self.stored is not None and self.stored.is_temporal()
            return given.cast(storage, strict=False) if temporal else pl.lit(None, dtype=storage)
        patterns = (self.origin.format,) if self.origin.format is not None else _ISO[self.target.type]
        return pl.coalesce(_parsed(given, pattern).cast(storage) for pattern in patterns)


def _parsed(text: pl.Expr, pattern: str) -> pl.Expr:
    timed = any(part in pattern for part in ("%H", "%I", "%T", "%s", "%R", "%X"))
    return text.str.strptime(pl.Datetime("us") if timed else pl.Date(), pattern, strict=False)
