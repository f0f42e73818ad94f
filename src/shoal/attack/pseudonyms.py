"""Attacks on one pseudonymised column (ISO/IEC 20889, 9.4.3.3.3).

Dictionary: an identifier that was hashed without a key is found by hashing every identifier there can be; a format such
as the NRIC number has few enough. A keyed hash (HMAC) withstands it for as long as the key is kept.

The other two need no weakness of the cipher (:mod:`shoal.attack.frequencies`): where equal values have equal
pseudonyms, their frequencies stay visible, and where the order is kept, so do their ranks.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import gcd

import numpy as np
import polars as pl

from shoal.attack.digests import Digests
from shoal.attack.formats import FORMATS, Format, Places, listed
from shoal.attack.frequencies import Paired, cumulative, frequency, sorting
from shoal.attack.result import Attack, Rate
from shoal.errors import DataError

BUDGET = 5_000_000
"""Hashes that are computed at most: some seconds on one core."""
CHUNK = 1 << 16
"""Identifiers that are held at a time."""
GOLDEN = 0.6180339887498949


@dataclass(frozen=True)
class Recipe:
    """How an identifier may have been made into a hash value."""

    algorithm: str
    prefix: bytes = b""
    suffix: bytes = b""

    def broken(self, texts: list[bytes], wanted: frozenset[bytes]) -> set[bytes]:
        """The wanted hash values that these identifiers have."""
        make = getattr(hashlib, self.algorithm)
        if self.prefix or self.suffix:
            texts = [self.prefix + text + self.suffix for text in texts]
        return {value for text in texts if (value := make(text, usedforsecurity=False).digest()) in wanted}


def dictionary(
    released: pl.Series,
    formats: Sequence[Format],
    *,
    salts: Sequence[tuple[str, str]] = (("", ""),),
    budget: int = BUDGET,
) -> Attack:
    """Hash the identifiers of the formats and look for the column's values among the results.

    ``salts`` are pairs of a prefix and a suffix that may have been put around the identifier. What doesn't fit into the
    budget is tried in part, spread evenly over the format: then the share broken is about the share tried, and
    ``broken_of_whole`` says what trying everything would come to.
    """
    digests = Digests.of(released)
    if digests is None:
        raise DataError(f"{released.name}: the values don't look like hash values")
    formats = [each for each in formats if each.size]
    if not formats:
        raise DataError(f"{released.name}: a dictionary attack needs identifiers to try")
    recipes = [Recipe(name, before.encode(), after.encode()) for name in digests.algorithms for before, after in salts]
    search = _Search(digests.values, recipes, budget)
    for number, each in enumerate(sorted(formats, key=lambda each: each.size)):
        search.go_through(each, len(formats) - number)
    space = sum(each.size for each in formats)
    trials = len(digests.values)
    return Attack(
        "dictionary",
        "Dictionary of hashed identifiers",
        f"the format of the identifiers ({', '.join(each.title for each in formats)}) and common hash functions",
        Rate(len(search.found), trials),
        Rate(min(trials, trials / space), trials),
        attribute=released.name,
        details=search.account(space),
    )


@dataclass
class _Search:
    """A dictionary attack under way. Once one recipe has succeeded the others are dropped."""

    wanted: frozenset[bytes]
    recipes: list[Recipe]
    budget: int
    found: set[bytes] = field(default_factory=set)
    tried: int = 0
    hashes: int = 0
    seconds: float = 0.0
    expected: float = 0.0
    """How many would have been found if all of each format had been tried."""

    def go_through(self, space: Format, formats_left: int) -> None:
        """Try the format, with this format's part of the hashes that are left."""
        last = self.hashes + (self.budget - self.hashes) // formats_left
        started, tried, found = time.perf_counter(), self.tried, len(self.found)
        for places in _places(space.size, (last - self.hashes) // len(self.recipes)):
            room = (last - self.hashes) // len(self.recipes)
            if room <= 0 or len(self.found) == len(self.wanted):
                break
            self._try(space.write(places[:room]).tolist())
        self.seconds += time.perf_counter() - started
        new, done = len(self.found) - found, len(self.found) == len(self.wanted)
        self.expected += new if done or not new else new * space.size / (self.tried - tried)

    def _try(self, texts: list[bytes]) -> None:
        hits = {recipe: recipe.broken(texts, self.wanted) for recipe in self.recipes}
        self.tried += len(texts)
        self.hashes += len(texts) * len(self.recipes)
        self.found.update(*hits.values())
        self.recipes = [recipe for recipe in self.recipes if hits[recipe]] or self.recipes

    def account(self, space: int) -> dict[str, float]:
        speed = self.hashes / self.seconds if self.seconds else 0.0
        return {
            "space": float(space),
            "tried": self.tried / space,
            "hashes": float(self.hashes),
            "hashes_per_second": speed,
            "seconds_for_whole_space": space * len(self.recipes) / speed if speed else 0.0,
            "broken_of_whole": min(1.0, self.expected / len(self.wanted)),
        }


def _places(size: int, most: int) -> Iterator[Places]:
    """All places in order if so many may be tried; otherwise places in steps that never meet one twice."""
    step = 1 if size <= most else _stride(size)
    for start in range(0, size, CHUNK):
        count = min(CHUNK, size - start)
        yield (start * step % size + np.arange(count, dtype=np.int64) * step) % size


def _stride(size: int) -> int:
    step = max(1, int(size * GOLDEN))
    while gcd(step, size) > 1:
        step += 1
    return step


def attack_column(  # noqa: PLR0913  # what is known of the column, and how far to go
    released: pl.Series,
    original: pl.Series | None = None,
    auxiliary: pl.Series | None = None,
    *,
    formats: Sequence[Format] | None = None,
    aligned: bool = True,
    salts: Sequence[tuple[str, str]] = (("", ""),),
    budget: int = BUDGET,
) -> list[Attack]:
    """Look at a pseudonymised column and run the attacks that fit it; none may.

    ``aligned`` says that record i of the original is record i of the release: only then is it known which value belongs
    to which pseudonym, and frequencies can be judged. ``auxiliary`` is what the attacker has of such values, a list of
    people or a public table; the original's own values if nothing is given.
    """
    attacks = []
    if Digests.of(released) is not None:
        spaces = tuple(formats) if formats is not None else _fitting(original)
        lists = [listed(values) for values in (auxiliary,) if values is not None]
        attacks.append(dictionary(released, (*lists, *spaces), salts=salts, budget=budget))
    if original is None or not aligned:
        return attacks
    paired = Paired.of(released, original, auxiliary)
    if not paired.deterministic or not paired.repeats:
        return attacks
    attacks.append(frequency(paired))
    if paired.ordered:
        attacks.append(cumulative(paired))
        if paired.dense:
            attacks.append(sorting(paired))
    return attacks


def _fitting(original: pl.Series | None) -> tuple[Format, ...]:
    """The formats that the original is written in, which an attacker knows of; all if there is no original.

    An original in no known format stands for the list of people that somebody has.
    """
    if original is None:
        return FORMATS
    texts = original.drop_nulls().cast(pl.String).unique()
    return tuple(each for each in FORMATS if each.fits(texts)) or (listed(original),)
