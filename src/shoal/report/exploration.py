"""An exploration in words and tables, the same lines for the terminal and for the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from shoal.report.frontier import FrontierScales, panel, swatch
from shoal.results.exploration import Exploration, ExplorationTrial
from shoal.results.number_format import NONE, count, moment, number, percent

HEADER = (
    "k", "limit", "loss", "suppressed", "smallest class", "average class", "highest risk", "average risk",
    "optimal", "seconds", "levels",
)  # fmt: skip
WORDS = ("optimal", "levels")
"""The columns that are not amounts."""


@dataclass(frozen=True)
class ExplorationRow:
    """One try in a table. ``best``: nothing beats it."""

    cells: tuple[str, ...]
    best: bool
    wanted: bool
    found: bool


@dataclass(frozen=True)
class ExplorationPage:
    name: str
    data: str
    records: str
    created: str
    created_iso: str
    complete: bool
    advice: tuple[str, ...]
    panels: tuple[tuple[str, Markup], ...]
    legend: tuple[tuple[Markup, str], ...]
    header: tuple[tuple[str, bool], ...]
    """Each column, and whether it is of amounts."""
    tables: tuple[tuple[str, tuple[ExplorationRow, ...]], ...]
    """By kind of recoding."""
    attributes: tuple[str, ...]
    reasons: tuple[str, ...]


def compose_exploration(exploration: Exploration, created: datetime) -> ExplorationPage:
    scales = FrontierScales.of(exploration)
    return ExplorationPage(
        name=exploration.name,
        data=exploration.data,
        records=count(exploration.records, "record"),
        created=moment(created),
        created_iso=created.isoformat(timespec="seconds"),
        complete=exploration.complete,
        advice=exploration.advice,
        panels=tuple((recoding, panel(exploration, recoding, scales)) for recoding in exploration.recodings),
        legend=tuple((swatch(limit, scales), limit_in_words(limit)) for limit in scales.limits),
        header=tuple((name, name not in WORDS) for name in HEADER),
        tables=tuple(tables(exploration)),
        attributes=attributes(exploration),
        reasons=reasons(exploration),
    )


def tables(exploration: Exploration) -> Iterator[tuple[str, tuple[ExplorationRow, ...]]]:
    """The tries of each kind of recoding."""
    best = exploration.frontier
    for recoding in exploration.recodings:
        tries = (one for one in exploration.tries if one.recoding == recoding)
        yield (
            recoding,
            tuple(ExplorationRow(_cells(one), one in best, one.wanted, one.found is not None) for one in tries),
        )


def attributes(exploration: Exploration) -> tuple[str, ...]:
    """The quasi-identifiers, in the order in which the levels stand."""
    return next((tuple(one.found.levels) for one in exploration.tries if one.found is not None), ())


def reasons(exploration: Exploration) -> tuple[str, ...]:
    """Why some tries came to nothing: for each k and recoding that of the highest limit that failed."""
    failed: dict[tuple[str, int], ExplorationTrial] = {}
    for one in exploration.tries:
        if one.reason is not None:
            failed[one.recoding, one.k] = one
    return tuple(f"{one}: {one.reason}" for one in failed.values())


def limit_in_words(limit: float) -> str:
    return f"up to {percent(limit)} suppressed" if limit else "nothing suppressed"


def _cells(one: ExplorationTrial) -> tuple[str, ...]:
    setting = (f"{one.k:,}", percent(one.limit))
    seconds = f"{one.seconds:.2f}"
    found = one.found
    if found is None:
        return (*setting, *(NONE,) * 7, seconds, "not reachable")
    return (
        *setting,
        f"{found.loss:.3f}",
        f"{found.suppressed:,} ({percent(found.suppressed_share)})",
        f"{found.smallest_class:,}",
        number(round(found.average_class_size, 1)),
        _risk(found.prosecutor_max),
        _risk(found.prosecutor_average),
        "yes" if found.optimal else "no",
        seconds,
        " ".join(str(level) for level in found.levels.values()),
    )


def _risk(risk: float) -> str:
    """Three digits after the point are enough to compare; a risk that they don't show has as many as it needs."""
    return f"{risk:.3f}" if risk >= 0.01 else number(risk)
