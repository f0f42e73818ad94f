"""The form of values without the values: ``Aaaa 999`` for a word and a number.

Capitals become A, other letters a, digits 9; ASCII punctuation and spaces stay, anything else becomes ``?``. Long forms
are cut, because the lengths of many words in a row are almost as telling as the words.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

LONGEST = 24
SHOWN = 3


@dataclass(frozen=True)
class ValueShape:
    form: str
    share: float
    """Of the distinct values."""


def shape_of(text: pl.Expr) -> pl.Expr:
    """
    >>> pl.select(shape_of(pl.lit("Flat 7b, Æther-Straße"))).item()
    'Aaaa 9a, Aaaaa-Aaaaaa'
    """
    form = (
        text.str.replace_all(r"\p{N}", "9")
        .str.replace_all(r"\p{Lu}", "A")
        .str.replace_all(r"[\p{L}\p{M}&&[^A]]", "a")
        .str.replace_all(r"[^ -~]", "?")
    )
    return pl.when(form.str.len_chars() > LONGEST).then(form.str.head(LONGEST) + "…").otherwise(form)


def common_shapes(distinct: pl.Series) -> tuple[ValueShape, ...]:
    """The forms that most of the distinct values have."""
    if distinct.is_empty():
        return ()
    forms = pl.DataFrame({"text": distinct}).select(form=shape_of(pl.col("text")))
    counted = forms.group_by("form").len().sort("len", "form", descending=[True, False]).head(SHOWN)
    return tuple(ValueShape(form, count / len(distinct)) for form, count in counted.iter_rows())
