"""All attacks that fit a release, one after the other. What can't be tried is said, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import polars as pl

from shoal.attack.coverage import Match
from shoal.attack.distance import distance_linking
from shoal.attack.inference import homogeneity, skewness
from shoal.attack.learned import learned
from shoal.attack.linking import linking
from shoal.attack.membership import membership
from shoal.attack.people import TRIALS, drawn
from shoal.attack.probabilistic import probabilistic_linking
from shoal.attack.pseudonyms import attack_column
from shoal.attack.result import Attack
from shoal.attack.singling_out import singling_out
from shoal.errors import DataError
from shoal.randomness import Randomness

ROW = "__shoal_row"
IN_ORDER = 0.99
"""The share of records that have to fit the original's record in the same row to take the rows for the same."""
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


@dataclass(frozen=True)
class Attacked:
    attacks: tuple[Attack, ...]
    skipped: Mapping[str, str]
    """What could not be tried, and why."""
    in_order: bool
    """Whether row i of the release was taken for row i of the original."""

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
    in_order = look_in_order(tables, randomness)
    tries = dict(_tries(tables, randomness, trials, in_order=in_order))
    found: list[Attack] = []
    skipped: dict[str, str] = {}
    for number, (name, attempt) in enumerate(tries.items()):
        if progress:
            progress(number, len(tries))
        try:
            found += attempt()
        except DataError as error:
            skipped[name] = str(error)
    return Attacked(tuple(found), skipped, in_order)


def look_in_order(tables: Tables, randomness: Randomness) -> bool:
    """Whether the rows of both tables look like the same records: nearly all fit, by what their labels cover."""
    release, original = tables.release, tables.original
    names = [name for name in (*tables.quasi, *tables.sensitive) if name in original.columns]
    if release.height != original.height or not names:
        return False
    rows = drawn(release.height, randomness, "rows in order", TRIALS)
    match = Match.of(release[rows], original[rows], names, tables.known)
    place = drawn(len(rows), randomness, "all of them", len(rows))
    return float(match.fits(place, place).mean()) >= IN_ORDER


def _tries(tables: Tables, randomness: Randomness, trials: int, *, in_order: bool) -> Iterator[tuple[str, Try]]:
    release, original, quasi = tables.release, tables.original, tables.quasi
    shown, truth = without_suppressed(release.with_row_index(ROW), quasi), ROW if in_order else None
    people = original.with_row_index(ROW)
    strangers = {"control": tables.control}
    chance = {**strangers, "randomness": randomness, "trials": trials}
    known = {"known": tables.known}
    judged = {"aligned": False, "truth": truth, "certain": True}
    if quasi:
        yield "singling_out", _one(singling_out, release, original, (*quasi, *tables.sensitive), **chance)
        yield "linking", _one(linking, shown, people, quasi, **judged, **strangers, **known)
        yield "probabilistic_linking", _one(probabilistic_linking, shown, people, quasi, **judged, **chance, **known)
        yield "membership", _one(membership, shown, original, quasi, **chance, **known)
    if tables.auxiliary is not None:
        yield "auxiliary_linking", partial(_by_auxiliary, tables, tables.auxiliary, shown)
    if tables.numbers:
        yield "distance_linking", _one(distance_linking, shown, people, tables.numbers, **judged, **strangers)
    for name in tables.sensitive if quasi else ():
        for infer in (homogeneity, skewness, learned):
            yield (
                f"{infer.__name__.replace('learned', 'learned_inference')}: {name}",
                _one(infer, shown, original, quasi, name, **chance, **known),
            )
    for name in tables.pseudonyms:
        yield f"identifier_linking: {name}", partial(_by_identifier, tables, shown, people, name, truth)
        yield f"pseudonyms: {name}", partial(_on_pseudonyms, tables, name, in_order=in_order)


def _one(attack: Callable[..., Attack], *given: Any, **options: Any) -> Try:
    return lambda: [attack(*given, **options)]


def without_suppressed(release: pl.DataFrame, quasi: Sequence[str]) -> pl.DataFrame:
    """Released records that say anything. One with nothing but stars could be anybody's, so it is left aside."""
    if not quasi:
        return release
    starred = pl.all_horizontal(pl.col(name).cast(pl.String).eq_missing(SUPPRESSED) for name in quasi)
    telling = release.filter(~starred)
    return telling if telling.height else release


def _by_auxiliary(tables: Tables, auxiliary: pl.DataFrame, shown: pl.DataFrame) -> Sequence[Attack]:
    """Nobody knows whose record is whose in a second file: those with one candidate count as found."""
    common = tuple(name for name in shown.columns if name in auxiliary.columns and name != ROW)
    if not common:
        raise DataError("the auxiliary table has no column in common with the release")
    domain = tables.original if set(common) <= set(tables.original.columns) else None
    control = _having(tables.control, common)
    link = partial(linking, shown, auxiliary, common, aligned=False, certain=True)
    found = link(control=control, known=tables.known, domain=domain)
    return [found.renamed("auxiliary_linking", "Linking with the auxiliary table given")]


def _by_identifier(
    tables: Tables, shown: pl.DataFrame, people: pl.DataFrame, name: str, truth: str | None
) -> Sequence[Attack]:
    """Somebody knows a person's name or number, and the release still shows it, or a part of it."""
    control = _having(tables.control, (name,))
    found = linking(shown, people, (name,), aligned=False, truth=truth, certain=True, control=control)
    return [found.renamed("identifier_linking", "Linking by an identifier").of_attribute(name)]


def _on_pseudonyms(tables: Tables, name: str, *, in_order: bool) -> Sequence[Attack]:
    if _as_it_was(tables, name):
        return []
    auxiliary = tables.auxiliary
    given = auxiliary[name] if auxiliary is not None and name in auxiliary.columns else None
    found = attack_column(tables.release[name], tables.original[name], given, aligned=in_order)
    return [attack.of_attribute(name) for attack in found]


def _as_it_was(tables: Tables, name: str) -> bool:
    """Whether nothing was done to a column: then it is no pseudonym, and linking by it says all."""
    before, after = (
        frame[name].cast(pl.String, strict=False).unique().sort() for frame in (tables.original, tables.release)
    )
    return before.equals(after)


def _having(control: pl.DataFrame | None, columns: Sequence[str]) -> pl.DataFrame | None:
    return control if control is not None and set(columns) <= set(control.columns) else None
