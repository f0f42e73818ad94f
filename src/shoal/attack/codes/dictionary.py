"""A dictionary of hashed identifiers: all that there can be are hashed, and compared with a released column.

An identifier that was hashed without a key is found in this way; a format such as the NRIC number has few enough. A
keyed hash (HMAC) withstands it for as long as the key is kept.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import gcd

import numpy as np
import polars as pl

from shoal.attack.codes.digests import Digests
from shoal.attack.codes.identifier_formats import LISTED, IdentifierFormat, Places
from shoal.attack.result import Attack, Rate
from shoal.errors import DataError

BUDGET = 10_000_000
"""Hashes that are computed at most: all NRIC numbers of one first letter, in a quarter of a minute on one core."""
CHUNK = 1 << 16
"""Identifiers that are held at a time."""
GOLDEN = 0.6180339887498949


@dataclass(frozen=True)
class HashRecipe:
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
    formats: Sequence[IdentifierFormat],
    *,
    original: pl.Series | None = None,
    salts: Sequence[tuple[str, str]] = (("", ""),),
    budget: int = BUDGET,
) -> Attack:
    """Hash the identifiers of the formats and look for the column's values among the results.

    ``salts`` are pairs of a prefix and a suffix that may have been put around the identifier. What doesn't fit into the
    budget is tried in part, spread evenly over the format; ``tried`` is the share. With the ``original`` it is known
    all the same what trying everything comes to: of all identifiers only those that occur can lead to a released
    value, so hashing them settles it (``settled`` is the share known in this way alone), and a function that none of
    them leads by is not gone through. Without it, success is what was found, and ``broken_of_whole`` an estimate.
    """
    digests = Digests.of(released)
    if digests is None:
        raise DataError(f"{released.name}: the values don't look like hash values")
    formats = [each for each in formats if each.size]
    if not formats:
        raise DataError(f"{released.name}: a dictionary attack needs identifiers to try")
    recipes = [
        HashRecipe(name, before.encode(), after.encode()) for name in digests.algorithms for before, after in salts
    ]
    search = _DictionarySearch(digests.values, recipes, budget)
    for number, each in enumerate(sorted(formats, key=lambda each: each.size)):
        occurring = None if original is None or each.key == LISTED else search.broken(_written(each, original))
        if occurring is None or occurring:
            whole = search.go_through(each, len(formats) - number)
            search.settled |= set() if whole else occurring or set()
    space = sum(each.size for each in formats)
    trials = len(digests.values)
    return Attack(
        "dictionary",
        "Dictionary of hashed identifiers",
        f"the format of the identifiers ({', '.join(each.title for each in formats)}) and common hash functions",
        Rate(len(search.found | search.settled), trials),
        Rate(min(trials, trials / space), trials),
        attribute=released.name,
        details=search.account(space),
    )


@dataclass
class _DictionarySearch:
    """A dictionary attack under way. Once one recipe has succeeded the others are dropped."""

    wanted: frozenset[bytes]
    recipes: list[HashRecipe]
    budget: int
    found: set[bytes] = field(default_factory=set)
    tried: int = 0
    hashes: int = 0
    seconds: float = 0.0
    expected: float = 0.0
    """How many would have been found if all of each format had been tried."""
    settled: set[bytes] = field(default_factory=set)
    """What trying all of each format finds beyond that, by the identifiers that occur."""

    def broken(self, texts: list[bytes]) -> set[bytes]:
        """The wanted values that these lead to. Once a function succeeds, those that don't are dropped."""
        hits = {recipe: recipe.broken(texts, self.wanted) for recipe in self.recipes}
        self.recipes = [recipe for recipe in self.recipes if hits[recipe]] or self.recipes
        return set().union(*hits.values())

    def go_through(self, space: IdentifierFormat, formats_left: int) -> bool:
        """Try the format, with this format's part of the hashes that are left; whether that was enough for all."""
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
        return done or self.tried - tried == space.size

    def _try(self, texts: list[bytes]) -> None:
        self.tried += len(texts)
        self.hashes += len(texts) * len(self.recipes)
        self.found |= self.broken(texts)

    def account(self, space: int) -> dict[str, float]:
        speed = self.hashes / self.seconds if self.seconds else 0.0
        return {
            "space": float(space),
            "tried": self.tried / space,
            "settled": len(self.settled - self.found) / len(self.wanted),
            "hashes": float(self.hashes),
            "hashes_per_second": speed,
            "seconds_for_whole_space": space * len(self.recipes) / speed if speed else 0.0,
            "broken_of_whole": min(1.0, max(self.expected, len(self.found | self.settled)) / len(self.wanted)),
        }


def _written(space: IdentifierFormat, original: pl.Series) -> list[bytes]:
    """The identifiers of the original that are written in the format."""
    texts = original.drop_nulls().cast(pl.String).unique()
    return [text.encode() for text in texts.filter(texts.str.contains(f"^(?:{space.pattern})$"))]


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
