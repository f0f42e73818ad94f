"""Texts of equal length character by character: what is masked in one column and shown in another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.measurement.read_back.levels import Levels
from shoal.measurement.read_back.rule import Rule

Letters = NDArray[np.uint32]
SHORTEST, LONGEST = 3, 32


def laid_out(texts: pl.Series) -> Letters:
    """A row per text, a column per character, zeros behind its end."""
    letters = np.array(texts.to_list(), dtype=np.str_)
    if not len(letters) or not letters.dtype.itemsize:
        return np.zeros((len(letters), 1), dtype=np.uint32)
    return np.ascontiguousarray(letters).view(np.uint32).reshape(len(letters), -1)


def usual_length(texts: pl.Series, rule: Rule) -> int | None:
    """Of nearly all of them; None if they differ, or are too short or too long to be masked."""
    counted = texts.str.len_chars().value_counts(sort=True)
    length, records = counted.row(0)
    usual = SHORTEST <= length <= LONGEST and records >= rule.share * len(texts)
    return int(length) if usual else None


@dataclass(frozen=True)
class Template:
    """How a label of some level is put together."""

    level: int
    shown: Mapping[int, tuple[str, int]]
    fixed: Mapping[int, str]


def template_for(
    levels: Levels, original: pl.Series, own: tuple[str, pl.Series] | None, other: tuple[str, pl.Series], rule: Rule
) -> tuple[int, Template] | None:
    """The length of the texts and the finest label that both columns show between them, if the other adds to it.

    ``own`` is the attribute's released column and ``other`` another one, each with its name, record by record.
    """
    length = usual_length(original, rule)
    if length is None or usual_length(other[1], rule) is None:
        return None
    whole = laid_out(original)[:, :length]
    usual = [_most_common(whole[:, place]) for place in range(length)]
    constant = {place: chr(letter) for place, (letter, share) in enumerate(usual) if share >= rule.share}
    mine: dict[int, int] = {}
    if own is not None:
        mine = _best_offset(whole, laid_out(own[1]), rule, set(constant))
    theirs = _best_offset(whole, laid_out(other[1]), rule, set(constant))
    added = set(theirs) - set(mine) - set(constant)
    if not added:
        return None
    shown = {place: (other[0], there) for place, there in theirs.items()}
    if own is not None:
        shown |= {place: (own[0], there) for place, there in mine.items()}
    for level in range(levels.height):
        found = _composed(levels, level, original, whole, shown, constant, rule)
        if found is not None:
            needs = {place for place in found.shown if place in added}
            return (length, found) if needs else None
    return None


def _composed(  # noqa: PLR0913, PLR0917  # what is known of each character
    levels: Levels,
    level: int,
    original: pl.Series,
    whole: Letters,
    shown: Mapping[int, tuple[str, int]],
    constant: Mapping[int, str],
    rule: Rule,
) -> Template | None:
    labels = levels.vocabulary.gather(levels.labels[level][levels.value_codes(original)])
    length = whole.shape[1]
    if usual_length(labels, rule) != length:
        return None
    letters = laid_out(labels)[:, :length]
    fixed: dict[int, str] = {}
    used: dict[int, tuple[str, int]] = {}
    for place in range(length):
        letter, share = _most_common(letters[:, place])
        if share >= rule.share:
            fixed[place] = chr(letter)
        elif (letters[:, place] == whole[:, place]).mean() >= rule.share and place in shown:
            used[place] = shown[place]
        elif place in constant:
            fixed[place] = constant[place]
        else:
            return None
    return Template(level, used, fixed)


def _best_offset(whole: Letters, other: Letters, rule: Rule, constant: set[int]) -> dict[int, int]:
    """Where the other text has to be laid beside so that most characters that differ between records agree."""
    best: dict[int, int] = {}
    for offset in range(1 - other.shape[1], whole.shape[1]):
        found = _agreeing(whole, other, rule, offset)
        if len(set(found) - constant) > len(set(best) - constant):
            best = found
    return best


def _agreeing(whole: Letters, other: Letters, rule: Rule, offset: int) -> dict[int, int]:
    """Places of the one, and those of the other that nearly always hold the same character."""
    found = {}
    for place in range(max(0, offset), min(whole.shape[1], offset + other.shape[1])):
        if (whole[:, place] == other[:, place - offset]).mean() >= rule.share:
            found[place] = place - offset
    return found


def _most_common(letters: NDArray[np.uint32]) -> tuple[int, float]:
    found, records = np.unique(letters, return_counts=True)
    top = int(records.argmax())
    return int(found[top]), float(records[top]) / max(1, len(letters))
