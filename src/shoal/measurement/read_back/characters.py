"""Texts of equal length character by character: what is masked in one column and shown in another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.measurement.read_back.disclosure_rule import DisclosureRule
from shoal.measurement.read_back.levels import Levels, as_text

Letters = NDArray[np.uint32]
SHORTEST, LONGEST = 3, 32
_FEW = 500
_MARGIN = 0.15


def laid_out(texts: pl.Series) -> Letters:
    """A row per text, a column per character, zeros behind its end."""
    letters = np.array(texts.to_list(), dtype=np.str_)
    if not len(letters) or not letters.dtype.itemsize:
        return np.zeros((len(letters), 1), dtype=np.uint32)
    return np.ascontiguousarray(letters).view(np.uint32).reshape(len(letters), -1)


def usual_length(texts: pl.Series, rule: DisclosureRule) -> int | None:
    """Of nearly all of them; None if they differ, or are too short or too long to be masked."""
    counted = texts.str.len_chars().value_counts(sort=True)
    length, records = counted.row(0)
    usual = SHORTEST <= length <= LONGEST and records >= rule.share * len(texts)
    return int(length) if usual else None


@dataclass(frozen=True)
class CharacterGrid:
    """A column as texts, with the length that nearly all of them have."""

    name: str
    texts: pl.Series = field(repr=False)
    length: int | None

    @classmethod
    def of(cls, name: str, values: pl.Series, rule: DisclosureRule) -> CharacterGrid:
        texts = as_text(values)
        return cls(name, texts, usual_length(texts, rule))

    @cached_property
    def letters(self) -> Letters:
        return laid_out(self.texts)


@dataclass(frozen=True)
class Template:
    """How a label of some level is put together."""

    level: int
    shown: Mapping[int, tuple[str, int]]
    fixed: Mapping[int, str]


def template_for(
    levels: Levels, original: CharacterGrid, own: CharacterGrid | None, other: CharacterGrid, rule: DisclosureRule
) -> tuple[int, Template] | None:
    """The length of the texts and the finest label that both columns show between them, if the other adds to it.

    ``own`` is the attribute's released column and ``other`` another one, record by record.
    """
    length = original.length
    if length is None or other.length is None:
        return None
    whole = original.letters[:, :length]
    theirs = _best_offset(whole, other.letters, rule, set())
    if not theirs:
        return None
    usual = [_most_common(whole[:, place]) for place in range(length)]
    constant = {place: chr(letter) for place, (letter, share) in enumerate(usual) if share >= rule.share}
    mine: dict[int, int] = {}
    if own is not None:
        mine = _best_offset(whole, own.letters, rule, set(constant))
    theirs = _best_offset(whole, other.letters, rule, set(constant))
    added = set(theirs) - set(mine) - set(constant)
    if not added:
        return None
    shown = {place: (other.name, there) for place, there in theirs.items()}
    if own is not None:
        shown |= {place: (own.name, there) for place, there in mine.items()}
    for level in range(levels.height):
        found = _composed(levels, level, original.texts, whole, shown, constant, rule)
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
    rule: DisclosureRule,
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


def _best_offset(whole: Letters, other: Letters, rule: DisclosureRule, constant: set[int]) -> dict[int, int]:
    """Where the other text has to be laid beside so that most characters that differ between records agree."""
    best: dict[int, int] = {}
    for offset in range(1 - other.shape[1], whole.shape[1]):
        found = _agreeing(whole, other, rule, offset)
        if len(set(found) - constant) > len(set(best) - constant):
            best = found
    return best


def _agreeing(whole: Letters, other: Letters, rule: DisclosureRule, offset: int) -> dict[int, int]:
    """Places of the one, and those of the other that nearly always hold the same character.

    A few records show where it is worth while to compare all: of 500, no fewer than 400 agree by chance where 95 % do.
    """
    first, end = max(0, offset), min(whole.shape[1], offset + other.shape[1])
    step = max(1, len(whole) // _FEW)
    few = (whole[::step, first:end] == other[::step, first - offset : end - offset]).mean(axis=0)
    return {
        int(place): int(place) - offset
        for place in first + np.flatnonzero(few >= rule.share - _MARGIN)
        if (whole[:, place] == other[:, place - offset]).mean() >= rule.share
    }


def _most_common(letters: NDArray[np.uint32]) -> tuple[int, float]:
    found, records = np.unique(letters, return_counts=True)
    top = int(records.argmax())
    return int(found[top]), float(records[top]) / max(1, len(letters))
