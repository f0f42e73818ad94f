"""Attacks on one pseudonymised column (ISO/IEC 20889, 9.4.3.3.3).

Dictionary (:mod:`shoal.attack.dictionary`): an identifier that was hashed without a key is found by hashing every
identifier there can be.

The other two need no weakness of the cipher (:mod:`shoal.attack.frequencies`): where equal values have equal
pseudonyms, their frequencies stay visible, and where the order is kept, so do their ranks.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.attack.dictionary import BUDGET, dictionary
from shoal.attack.digests import Digests
from shoal.attack.formats import FORMATS, Format, listed
from shoal.attack.frequencies import Paired, cumulative, frequency, sorting
from shoal.attack.result import Attack
from shoal.errors import DataError


def attack_column(  # noqa: PLR0913  # what is known of the column, and how far to go
    released: pl.Series,
    original: pl.Series | None = None,
    auxiliary: pl.Series | None = None,
    *,
    formats: Sequence[Format] | None = None,
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
    found = attack_hashes(released, original, auxiliary, formats=formats, salts=salts, budget=budget)
    if original is not None:
        found += attack_frequencies(released, original, auxiliary, beside=original if aligned else beside)
    return found


def attack_hashes(  # noqa: PLR0913  # what is known of the column, and how far to go
    released: pl.Series,
    original: pl.Series | None = None,
    auxiliary: pl.Series | None = None,
    *,
    formats: Sequence[Format] | None = None,
    salts: Sequence[tuple[str, str]] = (("", ""),),
    budget: int = BUDGET,
) -> list[Attack]:
    """The dictionary attack, on a column of what looks like hash values."""
    if Digests.of(released) is None:
        return []
    spaces = tuple(formats) if formats is not None else _fitting(original)
    lists = [listed(values) for values in (auxiliary,) if values is not None]
    return [dictionary(released, (*lists, *spaces), original=original, salts=salts, budget=budget)]


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
) -> Paired | None:
    """Pseudonyms and their values; None where equal values don't have equal pseudonyms."""
    if beside is not None:
        paired = Paired.of(released, beside, original if auxiliary is None else auxiliary)
        if paired.deterministic:
            return paired
    found = Paired.by_counts(released, original, auxiliary)
    if found is None and beside is None and released.count() != original.count():
        raise DataError(
            f"{released.name}: pseudonyms repeat, but records were left out and nothing says which one is whose",
            advice="let `shoal run --evidence` attack, which knows",
        )
    return found


def _fitting(original: pl.Series | None) -> tuple[Format, ...]:
    """The formats that the original is written in, which an attacker knows of; all if there is no original.

    An original in no known format stands for the list of people that somebody has.
    """
    if original is None:
        return FORMATS
    texts = original.drop_nulls().cast(pl.String).unique()
    return tuple(each for each in FORMATS if each.fits(texts)) or (listed(original),)
