"""The visitor: a bound step, the same object that a run maps over batches, to a piece of SQL that gives the same."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import Final

import polars as pl

from shoal.hierarchy import BoundHierarchy
from shoal.hierarchy.base import TOP, escape_top
from shoal.hierarchy.bound_ladder import BoundLadder
from shoal.hierarchy.kinds.dates import BoundDates, Period
from shoal.hierarchy.kinds.intervals import BoundIntervals
from shoal.hierarchy.kinds.redact import BoundRedact, Side
from shoal.hierarchy.number_bands import LARGEST_UNITS, LARGEST_WHOLE, label_parts
from shoal.live.sql.masks import mask_of
from shoal.live.sql.refusal import ELSE, NotInSqlError
from shoal.live.sql.words import Sql, SqlWords
from shoal.pseudonyms.formats.base32 import Base32
from shoal.pseudonyms.formats.hexadecimal import Hexadecimal
from shoal.schema.columns import Column
from shoal.schema.steps import Step
from shoal.schema.values import ValueType
from shoal.techniques.generalisation.code import CodeStep, TailThreshold
from shoal.techniques.generalisation.generalise import GeneralisedOutput, GeneraliseStep
from shoal.techniques.generalisation.round import LARGEST, NearestRoundStep
from shoal.techniques.pseudonymisation.pseudonym_steps import KeyedStep
from shoal.techniques.suppression.mask import MaskStep

MOST_VALUES: Final = 1_000
"""Of a list that stands in a view."""
_PERIODS: Final = {
    Period.DAY: "%Y-%m-%d",
    Period.WEEK: "%G-W%V",
    Period.MONTH: "%Y-%m",
    Period.QUARTER: "%Y-Q%Q",
    Period.YEAR: "%Y",
}


@dataclass(frozen=True)
class StepVisitor:
    """``pads`` is where the view finds the key of a column's domain."""

    words: SqlWords
    column: Column
    pads: tuple[Sql, Sql] | None = field(default=None, repr=False)

    @singledispatchmethod
    def sql(self, step: Step, x: Sql) -> Sql:
        raise NotInSqlError(ELSE)

    @sql.register
    def _mask(self, step: MaskStep, x: Sql) -> Sql:
        return mask_of(step.masker, self._text(x), self.words)

    @sql.register
    def _keyed(self, step: KeyedStep, x: Sql) -> Sql:
        if step.algorithm != "hmac-sha256":
            raise NotInSqlError("servers don't know BLAKE2b; write `algorithm: hmac_sha256`")
        if not isinstance(step.form, Base32 | Hexadecimal) or self.pads is None:
            raise NotInSqlError("only the formats base32 and hexadecimal are compiled")
        digest = self.words.keyed(self._text(x), self.pads)
        return self.words.base32(digest) if isinstance(step.form, Base32) else digest

    @sql.register
    def _round(self, step: NearestRoundStep, x: Sql) -> Sql:
        words, digits, base = self.words, step.digits, step.base_units
        unit = words.as_whole(x) if self._whole else words.units(x, digits, cut=False)
        up, down = f"({unit} + {base // 2})", f"({base // 2} - {unit})"
        # Ties go away from nought: upwards from half of the base on, and the same mirrored below.
        above = f"({up} - MOD({up}, {base}))"
        rounded = words.case([(f"{unit} >= 0", above)], f"(MOD({down}, {base}) - {down})")
        most = LARGEST // 10**digits
        if not self._whole:
            rounded = words.as_float(f"{rounded} * {10**-digits:.{digits}f}" if digits else rounded)
        return words.within(x, str(-most), str(most), rounded)

    @sql.register
    def _code(self, step: CodeStep, x: Sql) -> Sql:
        labelled = any(end is not None and end.label is not None for end in (step.top, step.bottom))
        return self._labelled(step, x) if labelled else self._clipped(step, x)

    @sql.register
    def _generalise(self, step: GeneraliseStep, x: Sql) -> Sql:
        if step.output is not GeneralisedOutput.RANGE:
            raise NotInSqlError("only ranges are compiled, no midpoints and no random values")
        return self.level(step.bound, step.level, x)

    def level(self, bound: BoundHierarchy, level: int, x: Sql) -> Sql:
        """A column on a level of its hierarchy; nothing but a suppressed cell reads ``*``."""
        if level == 0:
            return self._escaped(x) if isinstance(self.column.storage, pl.String) and not bound.marked else x
        if level >= bound.height:
            return self.words.text(TOP)
        match bound:
            case BoundIntervals():
                return self._intervals(bound, level, x)
            case BoundDates():
                return self._periods(bound, level, x)
            case BoundRedact():
                return self._escaped(self._redacted(bound, level, x))
            case BoundLadder():
                return self._listed(bound, level, x)
        raise NotInSqlError("this kind of hierarchy is not compiled")

    @property
    def _whole(self) -> bool:
        return self.column.type is ValueType.INTEGER

    def _text(self, x: Sql) -> Sql:
        if not self._whole and not isinstance(self.column.storage, pl.String):
            raise NotInSqlError(f"a server writes {self.column.type} values as text in ways of its own")
        return self.words.as_text(x)

    def _escaped(self, x: Sql) -> Sql:
        star, slash = self.words.text(TOP), self.words.text("\\")
        bare = self.words.as_text(self.words.without_leading(x, "\\"))
        return self.words.case([(f"{bare} = {star}", self.words.joined([slash, x]))], x)

    def _clipped(self, step: CodeStep, x: Sql) -> Sql:
        number = (self.words.as_whole if self._whole else self.words.as_float) if self.column.is_number else None
        branches, value = [], number(x) if number else x
        for end, sign in ((step.top, ">="), (step.bottom, "<=")):
            if end is not None:
                threshold = self._threshold(end)
                branches.append((f"{x} {sign} {threshold}", number(threshold) if number else threshold))
        coded = self.words.case(branches, value)
        return coded if self._whole else self.words.finite(x, coded) if number else self._dated(x, coded)

    def _labelled(self, step: CodeStep, x: Sql) -> Sql:
        if not self._whole and self.column.type is not ValueType.DATE:
            raise NotInSqlError(f"a label beside {self.column.type} values is not compiled; leave the label out")
        branches = [
            (f"{x} {sign} {self._threshold(end)}", self.words.text(end.text(self.column)))
            for end, sign in ((step.bottom, "<="), (step.top, ">="))
            if end is not None
        ]
        plain = self.words.as_text(x) if self._whole else self._dated(x, self.words.date_parts(x, "%Y-%m-%d"))
        return self.words.case(branches, plain)

    def _threshold(self, end: TailThreshold) -> Sql:
        value = end.threshold
        if isinstance(value, datetime.date):
            return self.words.day(value) if self.column.type is ValueType.DATE else self.words.moment(value)
        return self.words.number(value)

    def _dated(self, x: Sql, value: Sql) -> Sql:
        """A date of the years 1 to 9999, as all that a run can read."""
        return self.words.case([(self.words.is_day(x), value)], self.words.null)

    def _periods(self, bound: BoundDates, level: int, x: Sql) -> Sql:
        period = bound.levels[level - 1]
        if period is not Period.DECADE:
            return self._dated(x, self.words.date_parts(x, _PERIODS[period]))
        year = self.words.year(x)
        start = self.words.joined([self.words.text("000"), self.words.decimal(f"{year} - MOD({year}, 10)", 0, 0)])
        return self._dated(x, self.words.joined([self.words.tail(start, 4), self.words.text("s")]))

    def _redacted(self, bound: BoundRedact, level: int, x: Sql) -> Sql:
        words, how = self.words, bound.how
        if how.align:
            raise NotInSqlError("with `align` a label depends on the longest value of the data")
        text, step = self._text(x), bound.steps[level - 1]
        kept = words.head(text, -step) if how.side is Side.RIGHT else words.tail(text, -step)
        hidden = words.text(how.char)
        if how.keep_length:
            hidden = words.repeated(how.char, f"LEAST({words.length(text)}, {step})")
        return words.joined([kept, hidden] if how.side is Side.RIGHT else [hidden, kept])

    def _listed(self, bound: BoundLadder, level: int, x: Sql) -> Sql:
        """What isn't listed is suppressed."""
        values = bound.rungs[0]
        if len(values) > MOST_VALUES:
            raise NotInSqlError(f"its list has {len(values):,} values; {MOST_VALUES:,} at most stand in a view")
        labels = bound.generalise(values, level)
        table = pl.DataFrame({"value": values, "label": labels}).drop_nulls()
        groups = table.group_by("label", maintain_order=True).agg("value")
        branches = [
            (self.words.same(self._text(x), known), self.words.text(label)) for label, known in groups.iter_rows()
        ]
        if not bound.lists_missing:
            return self.words.case([(f"{x} IS NULL", self.words.null), *branches], self.words.text(TOP))
        empty = table.filter(pl.col("value") == "")["label"].item()
        return self.words.case([(f"{x} IS NULL", self.words.text(empty)), *branches], self.words.text(TOP))

    def _intervals(self, bound: BoundIntervals, level: int, x: Sql) -> Sql:
        words = self.words
        finer = 0 if bound.whole else max(self.column.scale - bound.scale, 0)
        width, step = bound.widths[level - 1], 10**finer
        unit = words.as_whole(x) if bound.whole else words.units(x, bound.scale + finer, cut=True)
        low = words.floored(unit, width * step, bound.origin * step)
        after = f"({low} + {width * step})"
        if bound.low is not None:
            low = words.case([(f"{low} < {bound.low * step}", str(bound.low * step))], low)
        if bound.high is not None:
            after = words.case([(f"{after} > {bound.high * step}", str(bound.high * step))], after)
        branches = []
        if bound.low is not None:
            branches.append((f"{unit} < {bound.low * step}", words.text(_never_top(bound.low_label))))
        if bound.high is not None:
            branches.append((f"{unit} >= {bound.high * step}", words.text(_never_top(bound.high_label))))
        inside = self._label(bound, level, low, after, bound.scale + finer)
        label = words.case(branches, self._escaped(inside) if TOP in (bound.template or "") else inside)
        most = LARGEST_WHOLE if bound.whole else LARGEST_UNITS // 10**bound.scale
        return words.within(x, str(-most), str(most), label)

    def _label(self, bound: BoundIntervals, level: int, low: Sql, after: Sql, digits: int) -> Sql:
        shown = bound.digits[level - 1]
        last = f"({after} - 1)" if bound.whole else after
        ends = {"low": low, "high": last, "next": after}
        said = {name: self.words.decimal(end, digits, shown) for name, end in ends.items()}

        def filled(template: str) -> Sql:
            parts = []
            for literal, name in label_parts(template):
                parts += [self.words.text(literal)] if literal else []
                parts += [said[name]] if name is not None else []
            return self.words.joined(parts)

        if bound.template is not None:
            return filled(bound.template)
        if not bound.whole:
            return filled("[{low}, {next})")
        alone, negative = (f"{low} = {last}", said["low"]), (f"{low} < 0", filled("{low} to {high}"))
        return self.words.case([alone, negative], filled("{low}-{high}"))


def _never_top(label: str) -> str:
    return str(escape_top(pl.Series([label])).item())
