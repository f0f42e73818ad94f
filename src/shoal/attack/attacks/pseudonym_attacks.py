"""Attacks on one pseudonymised column (ISO/IEC 20889, 9.4.3.3.3).

Dictionary (:mod:`shoal.attack.codes.dictionary`): an identifier that was hashed without a key is found by hashing
every identifier there can be. It need not have been hashed plainly (:mod:`shoal.attack.codes.code_recipes`): cut
short, repeated or with a common word before it, it is found as well.

The other two need no weakness of the cipher (:mod:`shoal.attack.codes.frequency_analysis`): where equal values have
equal pseudonyms, their frequencies stay visible, and where the order is kept, so do their ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import polars as pl

from shoal.attack.codes.code_recipes import BrokenCodes, Codes, recognise
from shoal.attack.codes.dictionary import BUDGET, dictionary
from shoal.attack.codes.digests import Digests
from shoal.attack.codes.frequency_analysis import PairedColumn, cumulative, frequency, sorting
from shoal.attack.codes.identifier_formats import FORMATS, IdentifierFormat, listed
from shoal.attack.registry import Try, attack
from shoal.attack.result import Attack, Rate
from shoal.attack.scene import Scene
from shoal.errors import DataError, FieldName, FieldText


def attack_column(  # noqa: PLR0913  # what is known of the column, and how far to go
    released: pl.Series,
    original: pl.Series | None = None,
    auxiliary: pl.Series | None = None,
    *,
    formats: Sequence[IdentifierFormat] | None = None,
    aligned: bool = True,
    beside: pl.Series | None = None,
    salts: Sequence[tuple[str, str]] = (("", ""),),
    budget: int = BUDGET,
) -> list[Attack]:
    """Look at a pseudonymised column and run the attacks that fit it; none may.

    ``aligned`` says that record i of the original is record i of the release; otherwise ``beside`` may have the value
    that each released record had. Without either, frequencies are judged by themselves where no record was left out.
    ``auxiliary`` is what the attacker has of such values, a list of people or a public table; the original's own values
    if nothing is given.
    """
    rows = original if aligned else beside
    found = attack_hashes(released, original, auxiliary, beside=rows, formats=formats, salts=salts, budget=budget)
    if original is not None:
        found += attack_frequencies(released, original, auxiliary, beside=rows)
    return found


def attack_hashes(  # noqa: PLR0913  # what is known of the column, and how far to go
    released: pl.Series,
    original: pl.Series | None = None,
    auxiliary: pl.Series | None = None,
    *,
    beside: pl.Series | None = None,
    formats: Sequence[IdentifierFormat] | None = None,
    salts: Sequence[tuple[str, str]] = (("", ""),),
    budget: int = BUDGET,
) -> list[Attack]:
    """The dictionary attack, on a column of what looks like codes.

    With the original, every way that is known from an identifier to a code is tried on a few first.
    """
    recipe = None if original is None or formats is not None else recognise(released, original, beside)
    if Digests.of(released) is None:
        return [] if original is None else _by_recipe(released, original, recipe)
    spaces = tuple(formats) if formats is not None else _fitting(original)
    lists = [listed(values) for values in (auxiliary,) if values is not None]
    plain = dictionary(released, (*lists, *spaces), original=original, salts=salts, budget=budget)
    if original is None or recipe is None or plain.success.right:
        return [plain]
    return _by_recipe(released, original, recipe)


def _by_recipe(released: pl.Series, original: pl.Series, broken: BrokenCodes | None) -> list[Attack]:
    """What a recipe comes to; where there is none, that nothing was found in what can hardly be anything but codes."""
    codes = [each for each in Codes.of(released) if each.long] if broken is None else [broken.codes]
    if not codes:
        return []
    trials = len(codes[0].values) if broken is None else broken.tried
    space = sum(each.size for each in _fitting(original))
    return [
        Attack(
            "dictionary",
            "Dictionary of hashed identifiers",
            "the format of the identifiers, and the usual ways to hash, cut, repeat and write",
            Rate(0 if broken is None else broken.broken, trials),
            Rate(trials * min(1.0, codes[0].by_chance), trials),
            attribute=released.name,
            details={
                "space": float(space),
                "tried": 1.0 if broken else 0.0,
                "rounds": float(broken.recipe.rounds if broken else 0),
                "characters": float(codes[0].length),
            },
        )
    ]


def attack_frequencies(
    released: pl.Series, original: pl.Series, auxiliary: pl.Series | None = None, *, beside: pl.Series | None
) -> list[Attack]:
    """The attacks on a column in which equal values have equal pseudonyms, and some occur more than once."""
    if not released.drop_nulls().is_duplicated().any():
        return []
    paired = _paired(released, original, beside, auxiliary)
    if paired is None:
        return []
    attacks = [frequency(paired)]
    if paired.ordered:
        attacks.append(cumulative(paired))
        if paired.dense:
            attacks.append(sorting(paired))
    return attacks


def _paired(
    released: pl.Series, original: pl.Series, beside: pl.Series | None, auxiliary: pl.Series | None
) -> PairedColumn | None:
    """Pseudonyms and their values; None where equal values don't have equal pseudonyms."""
    if beside is not None:
        paired = PairedColumn.of(released, beside, original if auxiliary is None else auxiliary)
        if paired.deterministic:
            return paired
    found = PairedColumn.by_counts(released, original, auxiliary)
    if found is None and beside is None and released.count() != original.count():
        raise DataError(
            f"{released.name}: pseudonyms repeat, but records were left out and nothing says which one is whose",
            advice=FieldText("let ", FieldName("evidence", of="run"), " attack, which knows"),
        )
    return found


def _fitting(original: pl.Series | None) -> tuple[IdentifierFormat, ...]:
    """The formats that the original is written in, which an attacker knows of; all if there is no original.

    An original in no known format stands for the list of people that somebody has.
    """
    if original is None:
        return FORMATS
    texts = original.drop_nulls().cast(pl.String).unique()
    return tuple(each for each in FORMATS if each.fits(texts)) or (listed(original),)


@attack("dictionary", order=80)
def tries_dictionary(scene: Scene) -> Iterator[tuple[str, Try]]:
    """On every column that was replaced, whatever its role; a column that the original lacks may be made of any."""
    tables = scene.tables
    for name in _replaced(scene):
        given, beside = scene.given(name), scene.beside(name)
        yield (
            f"dictionary: {name}",
            partial(attack_hashes, tables.release[name], tables.original[name], given, beside=beside),
        )
    for name in tables.release.columns:
        if name not in tables.original.columns and Codes.of(tables.release[name]):
            yield f"dictionary: {name}", partial(_by_any_column, scene, name)


@attack("frequency", "cumulative", "sorting", order=90)
def tries_frequencies(scene: Scene) -> Iterator[tuple[str, Try]]:
    for name in _replaced(scene):
        released, original = scene.tables.release[name], scene.tables.original[name]
        beside = scene.beside(name)
        yield (
            f"frequency: {name}",
            partial(attack_frequencies, released, original, scene.given(name), beside=beside),
        )


def _replaced(scene: Scene) -> Iterator[str]:
    """What names people, and any other column whose labels can't be read as wider forms of its values."""
    tables = scene.tables
    for name in dict.fromkeys((*tables.pseudonyms, *tables.coded)):
        if not scene.as_it_was(name) and (name in tables.pseudonyms or scene.unreadable(name)):
            yield name


def _by_any_column(scene: Scene, name: str) -> list[Attack]:
    """Codes in a column that the original lacks: whatever column of it they may have been made of."""
    released = scene.tables.release[name]
    for source in scene.tables.original.columns:
        values = scene.tables.original[source]
        if values.dtype.is_nested() or values.dtype.is_float():
            continue
        broken = recognise(released, values, scene.beside(source))
        if broken is not None:
            return _by_recipe(released, values, broken)
    return _by_recipe(released, scene.tables.original[:, 0], None)
