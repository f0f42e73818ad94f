"""What is left of a value when a part of it is released: the last four digits, a prefix, a number without its country.

A mask that shows where characters were taken out (``xxxx1234``) is read elsewhere. Here the released text has no such
marks: it is looked for in the original, at the same place in every value, with and without separators.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

ENOUGH = 0.95
"""Of the values looked at, the share that has to be such a part."""
LOOKED_AT = 200
FURTHEST = 24
"""Places within a value that are looked at."""
BY_CHANCE = 1e-6

Text = Callable[[str], str]


@dataclass(frozen=True)
class KeptPart:
    """What becomes of a value: it is written plainly, and so much of it is kept."""

    plain: Text
    start: int | None
    stop: int | None

    def __call__(self, value: str) -> str:
        return self.plain(value)[self.start : self.stop]


def read_parts(released: pl.Series, original: pl.Series, beside: pl.Series | None) -> pl.DataFrame | None:
    """Each value of the original, and the label that its part is; None where labels are no parts of values.

    ``beside`` has the value that each released record had. Without it labels are compared with the parts of all
    values, and more than chance has to fit.

    >>> numbers = pl.Series(["9876 5432 1098", "1234 5678 9012"])
    >>> read_parts(pl.Series(["1098", "9012"]), numbers, numbers)["label"].to_list()
    ['1098', '9012']
    """
    texts = original.cast(pl.String, strict=False) if _readable(original) else None
    labels = released.cast(pl.String, strict=False) if _readable(released) else None
    if texts is None or labels is None:
        return None
    distinct = texts.drop_nulls().unique(maintain_order=True)
    shown = labels.drop_nulls().unique(maintain_order=True)
    if not len(distinct) or not len(shown) or 2 * int(shown.is_in(distinct.implode()).sum()) >= len(shown):
        return None
    key = _keyed(shown.to_list(), distinct.to_list(), counted=released.dtype.is_integer())
    part = _by_rows(labels, beside.cast(pl.String), key) if beside is not None else _by_values(shown, distinct, key)
    if part is None:
        return None
    written = {key(label): label for label in shown.to_list()}
    read = [written.get(key(part(value))) for value in distinct.to_list()]
    values = pl.DataFrame({"value": distinct, "label": pl.Series(read, dtype=pl.String)})
    if (values["value"] == values["label"]).any():
        return None
    return values.with_columns(pl.col("value").cast(original.dtype)).drop_nulls()


def _keyed(labels: list[str], values: list[str], *, counted: bool) -> Text:
    """How labels are compared with parts: without separators; a number has no zeros before it; what all labels begin
    with, and is more than any value has, was put there."""
    bare = [_bare(label) for label in labels if label != "*"]
    beyond = min(map(len, bare), default=0) - max(len(_bare(value)) for value in values)
    prefix = common_start(bare)[: max(0, beyond)]

    def key(text: str) -> str:
        plain = _bare(text)
        plain = plain[len(prefix) :] if prefix and plain.startswith(prefix) else plain
        return plain.lstrip("0") if counted else plain

    return key


def _by_rows(labels: pl.Series, beside: pl.Series, key: Text) -> KeptPart | None:
    both = pl.DataFrame({"label": labels, "value": beside}).drop_nulls().unique(maintain_order=True)
    both = both.filter(pl.col("label") != "*").head(LOOKED_AT)
    pairs = [(key(label), value) for label, value in both.rows()]
    if len(pairs) < 2 or len({label for label, _ in pairs}) < 2:
        return None
    for part in _candidates([label for label, _ in pairs], [value for _, value in pairs]):
        if sum(key(part(value)) == label for label, value in pairs) >= ENOUGH * len(pairs):
            return part
    return None


def _by_values(shown: pl.Series, distinct: pl.Series, key: Text) -> KeptPart | None:
    labels = [key(label) for label in shown.head(LOOKED_AT).to_list() if label != "*"]
    if len(labels) < 2:
        return None
    values = distinct.to_list()
    length = max(map(len, labels))
    for part in _candidates(labels, values[:LOOKED_AT]):
        parts = {key(part(value)) for value in values}
        fitting = sum(label in parts for label in labels)
        by_chance = min(1.0, len(parts) / 10.0**length)
        if fitting >= ENOUGH * len(labels) and by_chance ** len(set(labels)) < BY_CHANCE:
            return part
    return None


def _candidates(labels: list[str], values: list[str]) -> Iterator[KeptPart]:
    """Parts as long as the labels are: from the end, from the beginning, from between; or all but some characters."""
    lengths = [len(label) for label in labels]
    length = max(set(lengths), key=lengths.count)
    if lengths.count(length) < ENOUGH * len(lengths):
        length = max(lengths)
    if not length:
        return
    for plain in (_same, _bare, _digits):
        longest = max(len(plain(value)) for value in values)
        if longest < length:
            continue
        yield KeptPart(plain, -length, None)
        yield KeptPart(plain, 0, length)
        for start in range(1, min(longest - length, FURTHEST) + 1):
            yield KeptPart(plain, start, start + length)
        if lengths.count(length) < ENOUGH * len(lengths):
            for cut in range(longest if longest < FURTHEST else FURTHEST):
                yield KeptPart(plain, cut, None)
                yield KeptPart(plain, None, -cut or None)


def common_start(texts: Sequence[str]) -> str:
    """What all texts begin with.

    >>> common_start(["ID-12", "ID-2", "ID-1"])
    'ID-'
    """
    if not texts:
        return ""
    first, last = min(texts), max(texts)
    same = next((place for place, letter in enumerate(first) if last[place : place + 1] != letter), len(first))
    return first[:same]


def _readable(values: pl.Series) -> bool:
    return values.dtype == pl.String or values.dtype.is_integer()


def _same(text: str) -> str:
    return text


def _bare(text: str) -> str:
    """Letters and digits alone, in capitals.

    >>> _bare("+91 98-76 ab")
    '919876AB'
    """
    return re.sub(r"[\W_]+", "", text).upper()


def _digits(text: str) -> str:
    return re.sub(r"\D+", "", text)
