"""All attacks that fit a release, one after the other. What can't be tried is said, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from shoal.attack.distance import distance_linking
from shoal.attack.inference import homogeneity, skewness
from shoal.attack.learned import learned
from shoal.attack.linking import linking
from shoal.attack.membership import membership
from shoal.attack.order import look_in_order, recovered
from shoal.attack.people import TRIALS
from shoal.attack.probabilistic import probabilistic_linking
from shoal.attack.pseudonyms import attack_frequencies, attack_hashes
from shoal.attack.result import Attack, NothingToTryError
from shoal.attack.singling_out import singling_out
from shoal.errors import DataError
from shoal.randomness import Randomness

WHO = "__shoal_who"
"""A column that only the judge sees: whose record it is."""
SUPPRESSED = "*"
Try = Callable[[], Sequence[Attack]]


@dataclass(frozen=True)
class Tables:
    """What is attacked, and what the judge knows."""

    release: pl.DataFrame = field(repr=False)
    original: pl.DataFrame = field(repr=False)
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    """Numbers that were altered, and could be recognised by being near."""
    pseudonyms: tuple[str, ...] = ()
    """Direct identifiers that are in the release, replaced or not."""
    control: pl.DataFrame | None = field(default=None, repr=False)
    auxiliary: pl.DataFrame | None = field(default=None, repr=False)
    """Another table about people, by which an attacker would link; else the original's own quasi-identifiers."""
    known: Mapping[str, pl.DataFrame] = field(default_factory=dict, repr=False)
    """Hierarchies by attribute."""
    person: str | None = None
    """The column of the original that names the person: attacks are then tried on people, not on records."""
    origins: pl.Series | None = field(default=None, repr=False)
    """The row of the original that each released record was made from, where that is known; null for an invented one.
    Left out, it is looked for."""


@dataclass(frozen=True)
class Attacked:
    attacks: tuple[Attack, ...]
    skipped: Mapping[str, str]
    """What was not tried, and why."""
    unjudged: tuple[str, ...]
    """Of these, what might have found something: it is not known. The others had nothing to go by."""
    rows_known: bool
    """Whether it is known which record of the original each released record is."""
    in_order: bool
    """Whether that is the one in the same row."""

    @property
    def found(self) -> tuple[Attack, ...]:
        """Those that get more out of the release than guessing or the population gives."""
        return tuple(attack for attack in self.attacks if attack.found)


def run_attacks(
    tables: Tables,
    randomness: Randomness,
    *,
    trials: int = TRIALS,
    progress: Callable[[int, int], None] | None = None,
) -> Attacked:
    origins = tables.origins if tables.origins is not None else _origins(tables, randomness)
    tries = dict(_tries(tables, randomness, trials, origins))
    found: list[Attack] = []
    skipped: dict[str, str] = {}
    unjudged = []
    for number, (name, attempt) in enumerate(tries.items()):
        if progress:
            progress(number, len(tries))
        try:
            found += attempt()
        except DataError as error:
            skipped[name] = str(error)
            if not isinstance(error, NothingToTryError):
                unjudged.append(name)
    in_order = origins is not None and bool((origins == pl.Series(np.arange(len(origins)))).all())
    return Attacked(tuple(found), skipped, tuple(unjudged), origins is not None, in_order)


def _origins(tables: Tables, randomness: Randomness) -> pl.Series | None:
    release, original = tables.release, tables.original
    if look_in_order(release, original, (*tables.quasi, *tables.sensitive), tables.known, randomness):
        return pl.Series(np.arange(release.height))
    return recovered(release, original)


def _tries(tables: Tables, randomness: Randomness, trials: int, origins: pl.Series | None) -> Iterator[tuple[str, Try]]:
    quasi, who = tables.quasi, _who(tables.original, tables.person)
    control = tables.control
    if control is not None and tables.person in control.columns:
        control = control.with_columns(_who(control, tables.person))
    people = tables.original.with_columns(who)
    release = tables.release if origins is None else tables.release.with_columns(who.gather(origins))
    shown = without_suppressed(release, quasi)
    person = None if tables.person is None else WHO
    truth = None if origins is None else WHO
    chance: dict[str, Any] = {"control": control, "randomness": randomness, "trials": trials, "person": person}
    known: dict[str, Any] = {"known": tables.known}
    judged: dict[str, Any] = {"aligned": False, "truth": truth, "certain": True, "person": person}
    linked = partial(linking, shown, people, **judged, owner=truth and person)
    if quasi:
        yield "singling_out", _one(singling_out, release, people, (*quasi, *tables.sensitive), **chance)
        yield "linking", _one(linked, quasi, control=control, **known)
        yield (
            "probabilistic_linking",
            _one(probabilistic_linking, shown, people, quasi, **judged | chance, **known),
        )
        yield "membership", _one(membership, shown, people, quasi, **chance, **known)
    if tables.auxiliary is not None:
        yield "auxiliary_linking", partial(_by_auxiliary, tables, tables.auxiliary, shown, truth and person)
    if tables.numbers:
        others = _having(control, tables.numbers)
        yield "distance_linking", _one(distance_linking, shown, people, tables.numbers, **judged, control=others)
    for name in tables.sensitive if quasi else ():
        for infer in (homogeneity, skewness, learned):
            yield (
                f"{infer.__name__.replace('learned', 'learned_inference')}: {name}",
                _one(infer, shown, people, quasi, name, **chance, **known),
            )
    for name in tables.pseudonyms:
        yield f"identifier_linking: {name}", partial(_by_identifier, tables, linked, name)
        if not _as_it_was(tables, name):
            released, original, given = tables.release[name], tables.original[name], _given(tables, name)
            beside = None if origins is None else original.gather(origins)
            yield f"dictionary: {name}", partial(attack_hashes, released, original, given)
            yield f"frequency: {name}", partial(attack_frequencies, released, original, given, beside=beside)


def _who(frame: pl.DataFrame, person: str | None) -> pl.Series:
    """A number for each person; a record that names nobody is somebody's of their own."""
    rows = pl.Series(WHO, np.arange(frame.height))
    if person is None:
        return rows
    return frame[person].rank("dense").cast(pl.Int64).fill_null(rows + frame.height + 1).alias(WHO)


def _one(attack: Callable[..., Attack], *given: Any, **options: Any) -> Try:
    return lambda: [attack(*given, **options)]


def without_suppressed(release: pl.DataFrame, quasi: Sequence[str]) -> pl.DataFrame:
    """Released records that say anything. One with nothing but stars could be anybody's, so it is left aside."""
    if not quasi:
        return release
    starred = pl.all_horizontal(pl.col(name).cast(pl.String).eq_missing(SUPPRESSED) for name in quasi)
    telling = release.filter(~starred)
    return telling if telling.height else release


def _by_auxiliary(tables: Tables, auxiliary: pl.DataFrame, shown: pl.DataFrame, owner: str | None) -> Sequence[Attack]:
    """Nobody knows whose record is whose in a second file: those with one candidate count as found."""
    common = tuple(name for name in tables.release.columns if name in auxiliary.columns)
    if not common:
        raise DataError("the auxiliary table has no column in common with the release")
    domain = tables.original if set(common) <= set(tables.original.columns) else None
    control = _having(tables.control, common)
    link = partial(linking, shown, auxiliary, common, aligned=False, certain=True, owner=owner)
    found = link(control=control, known=tables.known, domain=domain)
    return [found.renamed("auxiliary_linking", "Linking with the auxiliary table given")]


def _by_identifier(tables: Tables, linked: Callable[..., Attack], name: str) -> Sequence[Attack]:
    """Somebody knows a person's name or number, and the release still shows it, or a part of it."""
    found = linked((name,), control=_having(tables.control, (name,)))
    return [found.renamed("identifier_linking", "Linking by an identifier").of_attribute(name)]


def _given(tables: Tables, name: str) -> pl.Series | None:
    """What the auxiliary table has of such values."""
    auxiliary = tables.auxiliary
    return auxiliary[name] if auxiliary is not None and name in auxiliary.columns else None


def _as_it_was(tables: Tables, name: str) -> bool:
    """Whether nothing was done to a column: then it is no pseudonym, and linking by it says all."""
    before, after = (
        frame[name].cast(pl.String, strict=False).unique().sort() for frame in (tables.original, tables.release)
    )
    return before.equals(after)


def _having(control: pl.DataFrame | None, columns: Sequence[str]) -> pl.DataFrame | None:
    return control if control is not None and set(columns) <= set(control.columns) else None
