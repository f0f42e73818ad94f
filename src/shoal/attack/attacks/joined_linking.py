"""Linking over joined tables (ISO/IEC 20889, 7.2): whose pseudonym is it, judged by all records that bear it?

The attacker knows the quasi-identifiers of all records of a person in every table, and how many there are. A key of the
release, with all records that lead to it, can be that person's if in every table each of its records can be one of the
person's, and each of the person's can be one of its: what a single table hides among k, the tables together need not.

Of the m keys that remain one is the person's. Who is the only one left is found for certain, and only they count as
success; guessing is right for one of as many people as there are keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from shoal.attack.ground_truth.owners import judged_by_claims
from shoal.attack.ground_truth.record_order import look_in_order, recovered
from shoal.attack.ground_truth.targets import TRIALS, draw_rows
from shoal.attack.matching.coverage import Match
from shoal.attack.result import CERTAIN, Attack, NothingToTryError, Rate
from shoal.randomness import Randomness

MOST_PAIRS = 4_000_000
"""Of people and keys that are looked at; with more people in the release, fewer of them are tried."""
BLOCK = 2_000_000
"""Pairs of records that are compared at once."""
PERSON, KEY, RECORD, CLASS, PAIR = "person", "key", "record", "class", "pair"


@dataclass(frozen=True)
class JoinedTable:
    """A released table beside its original, and whose each record is."""

    release: pl.DataFrame = field(repr=False)
    original: pl.DataFrame = field(repr=False)
    quasi: tuple[str, ...]
    keys: pl.Series = field(repr=False)
    """Of each released record, the key that it leads to; null where to none."""
    people: pl.Series = field(repr=False)
    """Of each record of the original, whom it is about."""
    known: Mapping[str, pl.DataFrame] = field(default_factory=dict, repr=False)
    """Hierarchies by attribute."""


def joined_linking(
    tables: Sequence[JoinedTable],
    randomness: Randomness,
    *,
    owners: Mapping[str, str] | None = None,
    trials: int = TRIALS,
) -> Attack:
    """Link people with the keys of a release by all of their records.

    ``owners`` says whose each key is, which only the judge knows; without it, it is looked for in the rows.
    """
    telling = [table for table in tables if table.quasi]
    if not telling:
        raise NothingToTryError("no table that is joined has a quasi-identifier")
    held = [_Held.of(table) for table in telling]
    keys = pl.concat([one.theirs.select(KEY) for one in held]).unique(maintain_order=True)
    people = pl.concat([one.mine.select(PERSON) for one in held]).unique(maintain_order=True)
    if not keys.height or not people.height:
        raise NothingToTryError("no record leads to anybody")
    tried = draw_rows(people.height, randomness, "joined people", min(trials, max(1, MOST_PAIRS // keys.height)))
    targets = people[tried]
    pairs = _same_counts(targets, keys, held)
    for one in held:
        pairs = one.fitting(pairs)
    known = None if owners is None else pl.DataFrame({KEY: list(owners), PERSON: list(owners.values())})
    truth = _truth(telling, randomness) if known is None else known
    return _judged(targets, people.height, pairs, keys.height, telling, truth)


@dataclass(frozen=True)
class _Held:
    """Who has which records of one table, by the distinct combinations on either side."""

    match: Match
    mine: pl.DataFrame
    """``person``, ``record`` (a row of the match's targets), once each."""
    theirs: pl.DataFrame
    """``key``, ``class``, once each."""
    counts: tuple[pl.DataFrame, pl.DataFrame]
    """Records by person, and by key."""
    whole: bool
    """Whether no record was left out, so that a person has as many as before."""

    @classmethod
    def of(cls, table: JoinedTable) -> _Held:
        match = Match.of(table.release, table.original, table.quasi, table.known)
        mine = pl.DataFrame({PERSON: table.people.cast(pl.String), RECORD: match.target_of}).drop_nulls()
        theirs = pl.DataFrame({KEY: table.keys.cast(pl.String), CLASS: match.class_of}).drop_nulls()
        counts = mine.group_by(PERSON).len("records"), theirs.group_by(KEY).len("records")
        mine, theirs = (each.unique(maintain_order=True) for each in (mine, theirs))
        return cls(match, mine, theirs, counts, table.release.height == table.original.height)

    def fitting(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """The pairs whose records of this table go with each other, both ways."""
        sized = (
            pairs.join(self.mine.group_by(PERSON).len("own"), on=PERSON, how="left")
            .join(self.theirs.group_by(KEY).len("other"), on=KEY, how="left")
            .with_columns(pl.col("own", "other").fill_null(0))
        )
        nothing = sized.filter((pl.col("own") == 0) | (pl.col("other") == 0))
        # Whoever has none here can't be somebody who has some, unless records were left out.
        nothing = nothing.filter(pl.col("other") == 0 if not self.whole else pl.col("own") == pl.col("other"))
        there = sized.filter((pl.col("own") > 0) & (pl.col("other") > 0)).with_row_index(PAIR)
        kept = [self._both_ways(block) for block in _blocks(there)]
        return pl.concat([nothing.select(PERSON, KEY), *kept])

    def _both_ways(self, block: pl.DataFrame) -> pl.DataFrame:
        beside = block.join(self.mine, on=PERSON).join(self.theirs, on=KEY)
        agree = self.match.agrees(beside[RECORD].to_numpy(), beside[CLASS].to_numpy())
        found = beside.filter(pl.Series(agree)).group_by(PAIR).agg(pl.col(RECORD, CLASS).n_unique())
        every = block.join(found, on=PAIR)
        mine = pl.col(RECORD) == pl.col("own") if self.whole else pl.lit(value=True)
        return every.filter(mine & (pl.col(CLASS) == pl.col("other"))).select(PERSON, KEY)


def _blocks(pairs: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Some pairs at a time, by how many records have to be compared."""
    work = np.cumsum((pairs["own"].cast(pl.Int64) * pairs["other"].cast(pl.Int64)).to_numpy())
    block = work // BLOCK
    for number in np.unique(block):
        yield pairs.filter(pl.Series(block == number))


def _same_counts(targets: pl.DataFrame, keys: pl.DataFrame, held: Sequence[_Held]) -> pl.DataFrame:
    """All pairs of a person and a key that have as many records as each other, where none was left out."""
    whole = []
    for place, one in enumerate(held):
        mine, theirs = (each.rename({"records": f"{place}"}) for each in one.counts)
        targets = targets.join(mine, on=PERSON, how="left").with_columns(pl.col(f"{place}").fill_null(0))
        keys = keys.join(theirs, on=KEY, how="left").with_columns(pl.col(f"{place}").fill_null(0))
        whole += [f"{place}"] if one.whole else []
    pairs = targets.join(keys, on=whole) if whole else targets.join(keys, how="cross", suffix="_of_key")
    for place in range(len(held)):
        if f"{place}" not in whole:
            other = f"{place}_of_key" if f"{place}_of_key" in pairs.columns else f"{place}_right"
            pairs = pairs.filter(pl.col(other) <= pl.col(f"{place}"))
    return pairs.select(PERSON, KEY)


def _truth(tables: Sequence[JoinedTable], randomness: Randomness) -> pl.DataFrame | None:
    """Whose each key is, by tables whose rows are known to be those of the original."""
    for table in tables:
        rows: pl.Series | None = pl.Series(np.arange(table.release.height))
        if not look_in_order(table.release, table.original, table.quasi, table.known, randomness):
            rows = recovered(table.release, table.original, table.quasi, table.known)
        if rows is not None:
            owners = table.people.cast(pl.String).gather(rows)
            found = pl.DataFrame({KEY: table.keys.cast(pl.String), PERSON: owners}).drop_nulls().unique()
            return found.filter(pl.col(KEY).is_unique())
    return None


def _judged(  # noqa: PLR0913, PLR0917  # who was tried, what is left of whom, what is true
    targets: pl.DataFrame,
    everybody: int,
    pairs: pl.DataFrame,
    keys: int,
    tables: Sequence[JoinedTable],
    truth: pl.DataFrame | None,
) -> Attack:
    candidates = pairs.group_by(PERSON).len("candidates")
    claims = pairs.join(candidates.filter(pl.col("candidates") == 1), on=PERSON, how="semi")
    right = claims if truth is None else claims.join(truth, on=[PERSON, KEY], how="semi")
    found = candidates["candidates"].to_numpy()
    chances = pairs if truth is None else pairs.join(truth, on=[PERSON, KEY], how="semi")
    expected = chances.join(candidates, on=PERSON)["candidates"].cast(pl.Float64).pow(-1).sum()
    known = sorted({name for table in tables for name in table.quasi})
    attack = Attack(
        "joined_linking",
        "Linking over the joined tables" + CERTAIN,
        f"{', '.join(known)} of all records of {targets.height:,} people",
        Rate(float(right.height), targets.height),
        Rate(targets.height / max(keys, targets.height), targets.height),
        details={
            "claims": claims.height / targets.height,
            "expected": float(expected) / targets.height,
            "candidates": float(found.mean()) if len(found) else 0.0,
            "fewest_candidates": float(found.min()) if len(found) else 0.0,
            "without_candidates": 1 - len(found) / targets.height,
            "people": float(everybody),
        },
        certain=truth is not None,
    )
    return attack if truth is not None else judged_by_claims(attack, certain=True)
