"""Values that look like those of a column and are none of them: made from what most of its values look like.

The pattern of a column is what at least ten of its values have in common: where letters, digits and signs stand, and
such characters that all of these share as can be no word (the P of ``P5535230``, the zeros of rounded numbers). The
rest is drawn anew, so that letters can be read aloud and mean nothing. What happens to be a value of the column after
all is thrown away.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
import polars as pl

from shoal.randomness import Randomness, Stream

LEAST: Final = 10
"""Values that have to look alike for a pattern to be told."""
LONGEST: Final = 40
"""Longer texts are prose: nothing is made up for them."""
LOOKED_AT: Final = 1_000
"""Values that tell what a column looks like."""
_TRIES: Final = 12
_VOWELS: Final = "aeiou"
_CONSONANTS: Final = "bdfgklmnprstv"
_SHAPE: Final = (
    pl.col("text")
    .str.replace_all(r"[\p{Ll}\p{Lo}\p{Lt}\p{Lm}]", "l")
    .str.replace_all(r"\p{Lu}", "u")
    .str.replace_all(r"\p{Nd}", "d")
    .str.replace_all(r"[^lud]", ".")
)


def pattern_of(values: pl.Series) -> str | None:
    """``d``, ``u`` and ``l`` for a digit, a capital and a small letter; what follows a backslash stands for itself,
    and a blank for one of several signs.

    None where too few values look alike, or they are long.

    >>> pattern_of(pl.Series([f"P{number}" for number in range(100, 120)]))
    '\\\\Pddd'
    """
    texts = _texts(values).alias("text")
    shapes = texts.filter((texts != "") & (texts.str.len_chars() <= LONGEST)).to_frame().with_columns(shape=_SHAPE)
    counted = shapes.group_by("shape").len("alike").sort("alike", "shape", descending=[True, False]).head(1)
    if counted.is_empty() or counted["alike"].item() < LEAST:
        return None
    shape = counted["shape"].item()
    same = shapes.filter(pl.col("shape") == shape)["text"].to_list()
    shared = [{text[place] for text in same} for place in range(len(shape))]
    kept = ["".join(chars) if len(chars) == 1 else "" for chars in shared]
    return "".join(_place(shape, kept, place) for place in range(len(shape)))


def _place(shape: str, kept: list[str], place: int) -> str:
    """Of the characters that all values share, those that can be no word: signs, zeros, letters that stand alone or
    cover others, as in ``XXXX``.
    """
    char, kind = kept[place], shape[place]
    if kind == ".":
        return f"\\{char}" if char else " "
    if kind == "d":
        return "\\0" if char == "0" else kind
    beside = [at for at in (place - 1, place + 1) if 0 <= at < len(shape) and shape[at] in "lu"]
    return f"\\{char}" if char and all(kept[at] == char for at in beside) else kind


def _texts(values: pl.Series) -> pl.Series:
    """Of lists, records, bytes, objects and spans of time there are none: nothing is made up for them."""
    plain = not (values.dtype.is_nested() or values.dtype in (pl.Binary, pl.Object, pl.Duration))
    return values.drop_nulls().head(LOOKED_AT).cast(pl.String) if plain else pl.Series(dtype=pl.String)


def is_prose(values: pl.Series) -> bool:
    """Whether most values are longer than anything that is made up."""
    lengths = _texts(values).str.len_chars()
    return len(lengths) > 0 and bool((lengths > LONGEST).mean() > 1 / 2)  # type: ignore[operator]  # a share


def made_up(pattern: str, stream: Stream, row: int) -> str:
    """A text of the pattern; equal rows of a stream give equal texts."""
    drawn = iter(stream.words(np.arange(row * LONGEST, (row + 1) * LONGEST, dtype=np.uint64))[:, 0].tolist())
    chars: list[str] = []
    for kind, literal in _parts(pattern):
        word = next(drawn)
        if literal:
            chars.append(literal)
        elif kind == "d":
            first = not chars or not chars[-1].isdigit()
            chars.append("123456789"[word % 9] if first else string.digits[word % 10])
        else:
            letters = _CONSONANTS if not chars or chars[-1].lower() not in _CONSONANTS else _VOWELS
            letter = letters[word % len(letters)]
            chars.append(letter.upper() if kind == "u" else letter)
    return "".join(chars)


def _parts(pattern: str) -> Iterator[tuple[str, str]]:
    """Each place: its kind, or the character that stands there."""
    rest = iter(pattern)
    for char in rest:
        yield ("", next(rest)) if char == "\\" else ("", char) if char == " " else (char, "")


def unknown_to(
    original: pl.LazyFrame, patterns: Mapping[str, tuple[str, str]], randomness: Randomness, wanted: int
) -> dict[str, tuple[str, ...]]:
    """By the key of each pattern, which comes with the column that it must not repeat, texts that the column has not.

    One pass over the original, whatever the number of patterns.
    """
    tries = {
        key: list(dict.fromkeys(made_up(pattern, randomness.stream("made up", key), row) for row in range(_TRIES)))
        for key, (_, pattern) in patterns.items()
    }
    if not tries:
        return {}
    there = original.select(
        pl.col(column).cast(pl.String).filter(pl.col(column).cast(pl.String).is_in(tries[key])).unique().implode()
        .alias(key)
        for key, (column, _) in patterns.items()
    ).collect(engine="streaming")  # fmt: skip
    return {
        key: tuple(text for text in texts if text not in there[key].explode().to_list())[:wanted]
        for key, texts in tries.items()
    }
