r"""The grammar of labels on a line: what each says of its two ends.

Ranges are ``30-39``, ``30–39``, ``30 to 39``, ``30..39``, ``[30, 40)``, ``(30; 40]``; ``< 18``, ``≤ 18``, ``under 18``,
``90+``, ``≥ 90``, ``90 and over``, ``[90, inf)`` have one end. On a line of dates an end is a period, and a period is a
label of its own; on a line of numbers a decade is. A single number is no range: it may be a value, or a rounded one.
``3,5`` is no range either, because the comma may be that of a decimal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from shoal.hierarchy.labels.periods import DECADE, PERIOD, period_days
from shoal.hierarchy.labels.points import read_numbers
from shoal.kernels.arrays import Floats, Mask, as_floats

Kind = Literal["number", "date"]

_NUMBER = r"[-−+]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_POINTS = {"number": rf"{DECADE}|{_NUMBER}", "date": PERIOD}
_ALONE = {"number": DECADE, "date": PERIOD}
_TO = r"(?:\s*(?:-|–|—|\.\.|to|;)\s*|\s*,\s+|\s+,)"
_BELOW = r"<=?|≤|under |below |up to "
_ABOVE = r">=?|≥|over |above |from "
_UPWARDS = {"number": r"\+|and over|and above|and older|or over|or more|or older", "date": r"\+|and over|and above"}
_DOWNWARDS = {"number": "and under|and below|and younger|or under|or less|or fewer|or younger", "date": "and below"}
"""An older person is born on an earlier date: those words say nothing sure of dates."""
_HELD = ["[", "]", "<=", "≤", "up to ", ">=", "≥", "from "]
"""What is written beside an end that belongs to the label."""
_SIGN = r"[0-9\[(]"
"""What every label has that is read: a digit, or a bracket around no end at all. Words are no work then."""
_PARTS = ("whole", "before", "low", "high", "behind", "both")


def _patterns(kind: Kind) -> list[str]:
    end = rf"(?:{_POINTS[kind]})"
    forms = (
        rf"(?<before>[\[(])\s*(?:(?<low>{end})|-inf|[-−]∞)?\s*[,;]\s*(?:(?<high>{end})|\+?inf|\+?∞)?\s*(?<behind>[\])])",
        rf"(?<before>[\[(])?\s*(?<low>{end}){_TO}(?<high>{end})\s*(?<behind>[\])])?",
        rf"(?<both>{_ALONE[kind]})",
        rf"(?<behind>{_BELOW})\s*(?<high>{end})",
        rf"(?<before>{_ABOVE})\s*(?<low>{end})",
        rf"(?<low>{end})\s*(?:{_UPWARDS[kind]})",
        rf"(?<high>{end})\s*(?:{_DOWNWARDS[kind]})",
    )
    return [f"^(?<whole>{form})$" for form in forms]


@dataclass(frozen=True)
class Edge:
    """One end of each label, which names a point or a period. NaN: the label has no end on this side."""

    first: Floats
    """Where what is named begins."""
    last: Floats
    """The last of it that can be written: the last day of a month, of a number itself."""
    upto: Floats
    """Where the next one that is written to as many decimals begins: 40 for 39."""
    after: Floats
    """Where what lies behind it begins."""
    held: Mask
    """Whether what is named belongs to the label."""

    @classmethod
    def of(cls, texts: pl.Series, held: Mask, kind: Kind) -> Edge:
        if kind == "date":
            first, after = period_days(texts)
            return cls(first, after - 1, after, after, held)
        decade = texts.str.ends_with("s").fill_null(value=False).to_numpy()
        first = as_floats(read_numbers(texts.str.strip_suffix("s")))
        decimals = texts.str.extract(r"\.([0-9]+)", 1).str.len_chars().fill_null(0).to_numpy()
        exponent = texts.str.contains("[eE]").fill_null(value=False).to_numpy()
        after = np.where(decade, first + 10, np.nextafter(first, np.inf))
        unit = np.where(exponent, 0.0, 10.0 ** -decimals.astype(np.float64))
        return cls(first, np.where(decade, first + 9, first), np.maximum(first + unit, after), after, held)

    @property
    def named(self) -> Mask:
        return ~np.isnan(self.first)

    def swapped(self, where: Mask, other: Edge) -> Edge:
        mine, others = vars(self), vars(other)
        return Edge(**{name: np.where(where, others[name], mine[name]) for name in mine})


@dataclass(frozen=True)
class Ends:
    low: Edge
    high: Edge
    read: Mask
    """Which labels the grammar has a meaning for."""

    @classmethod
    def of(cls, labels: pl.Series, kind: Kind) -> Ends:
        """
        >>> ends = Ends.of(pl.Series(["30-39", "(5, 6.5]", "< 18", "34"]), "number")
        >>> ends.low.first.tolist(), ends.high.first.tolist(), ends.read.tolist()
        ([30.0, 5.0, nan, nan], [39.0, 6.5, 18.0, nan], [True, True, True, False])
        """
        parts = _parts(labels, kind)
        texts = [parts.select(pl.coalesce(side, "both")).to_series() for side in ("low", "high")]
        held = [parts[side].is_in(_HELD).fill_null(value=True).to_numpy() for side in ("before", "behind")]
        low, high = (Edge.of(text, holds, kind) for text, holds in zip(texts, held, strict=True))
        lost = [text.is_not_null().to_numpy() & ~edge.named for text, edge in zip(texts, (low, high), strict=True)]
        read = parts["whole"].is_not_null().to_numpy() & ~lost[0] & ~lost[1]
        falling = low.first >= high.after
        return cls(low.swapped(falling, high), high.swapped(falling, low), read)

    def stretches(self) -> tuple[Floats, Floats]:
        """From where to before where each label reaches; NaN where it is not read.

        ``30-39`` holds everything before 40, because nobody lies between 39 and 40 unless another label begins at 39.
        """
        low, high = self.low, self.high
        start = np.where(low.named, np.where(low.held, low.first, low.after), -np.inf)
        touches = np.isin(high.first, low.first[self.read & low.named])
        between = low.named & ~touches & (high.first != start)
        stop = np.where(high.held, np.where(between, high.upto, high.after), high.first)
        stop = np.where(high.named, stop, np.inf)
        return np.where(self.read, start, np.nan), np.where(self.read, stop, np.nan)


def may_have_ends(labels: pl.Series) -> bool:
    """Whether any label could be read at all.

    >>> may_have_ends(pl.Series(["Married", "*"])), may_have_ends(pl.Series(["Married", "< 18"]))
    (False, True)
    """
    return bool(labels.cast(pl.String).str.contains(_SIGN).any())


def _parts(labels: pl.Series, kind: Kind) -> pl.DataFrame:
    """Each label taken apart, by the patterns that fit; ``whole`` is null where none does."""
    label = labels.cast(pl.String).str.strip_chars().to_frame("label")
    if not may_have_ends(label["label"]):
        return pl.DataFrame({part: pl.Series([None] * label.height, dtype=pl.String) for part in _PARTS})
    patterns = {str(place): pattern for place, pattern in enumerate(_patterns(kind))}
    found = label.select(**{place: pl.col("label").str.extract_groups(form) for place, form in patterns.items()})
    return found.select(
        pl.coalesce(pl.col(place).struct.field(part) for place, form in patterns.items() if f"<{part}>" in form).alias(
            part
        )
        for part in _PARTS
    )
