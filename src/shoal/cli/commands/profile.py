"""``shoal profile DATA --sets`` and ``--safe-harbor``: which sets of attributes tell people apart, which identifiers
are left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl
import typer

from shoal.cli.terminal.output import print_json, print_table
from shoal.cli.views.summary import print_profile
from shoal.discover import Profile
from shoal.discover.profile import ColumnProfile
from shoal.discover.safe_harbor import SafeHarbor
from shoal.errors import DataError, InputError
from shoal.measurement.risk.quasi_identifiers import QuasiAnalysis, QuasiSet, analyse_quasi
from shoal.schema import Role
from shoal.schema.registry import did_you_mean

MOST_VALUES = 100
"""A sensitive attribute with more values than that is an amount, of which outsiders don't know the last digit."""
MOSTLY_OWN = 0.5
SHOWN = 20
MAX_SIZE = 3


@dataclass(frozen=True)
class ProfileReport:
    """A profile, with what was asked beyond it."""

    profile: Profile
    sets: QuasiIdentifierSets | None = None
    safe_harbor: SafeHarbor | None = None

    @property
    def met(self) -> bool:
        return self.safe_harbor is None or self.safe_harbor.met

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = self.profile.to_dict()
        if self.sets is not None:
            found["sets"] = self.sets.to_dict()
        if self.safe_harbor is not None:
            found["safe_harbor"] = self.safe_harbor.to_dict()
        return found

    def print(self, label: str) -> None:
        """What was asked; the columns, where that was nothing in particular."""
        if self.sets is None and self.safe_harbor is None:
            print_profile(self.profile, label)
        if self.sets is not None:
            print_sets(self.sets, label)
        if self.safe_harbor is not None:
            print_safe_harbor(self.safe_harbor, label)


@dataclass(frozen=True)
class QuasiIdentifierSets:
    analysis: QuasiAnalysis
    left_out: dict[str, str]
    """Columns that were not searched, and why."""

    def to_dict(self) -> dict[str, Any]:
        return {**self.analysis.to_dict(), "left_out": self.left_out}


def profile_tables(data: str, *, as_json: bool) -> None:
    """Every table of a folder or a database, and the keys that join them."""
    from shoal.discover.table_links import domains
    from shoal.scan.annotators import annotate_by
    from shoal.scan.policy_suggestion import as_tables, profile_tables_at

    found = profile_tables_at(data, annotate_by())
    joined = domains(as_tables(found), found.constrained)
    if as_json:
        told = {name: {**one.profile.to_dict(), "keys": joined[name]} for name, one in found.tables.items()}
        print_json({"tables": told})
        return
    for name, one in found.tables.items():
        print_profile(one.profile, name)
        for column, domain in joined[name].items():
            typer.echo(f"  {column}: a key of {domain}, by which tables are joined")
        typer.echo("")


def refuse_senseless(*, sets: bool, max_size: int | None, person: str | None) -> None:
    """Before anything is read."""
    if not sets and (max_size is not None or person is not None):
        option = "--max-size" if max_size is not None else "--person"
        raise InputError(f"{option}: is about sets of attributes", advice="give --sets too")
    if max_size is not None and max_size < 1:
        raise InputError("--max-size: sets have one attribute or more")


def find_sets(frame: pl.LazyFrame, profile: Profile, max_size: int | None, person: str | None) -> QuasiIdentifierSets:
    """The sets of columns that somebody might know; direct identifiers single out by themselves and are left out."""
    names = tuple(column.name for column in profile.columns)
    if person is not None and person not in names:
        raise DataError(f"--person: the data has no column '{person}'{did_you_mean(person, names)}")
    if profile.rows <= 1:
        raise DataError("--sets: the table has fewer than two records, so there is nobody to tell apart")
    reasons = {column.name: _left_out(column, person) for column in profile.columns}
    searched = [name for name, why in reasons.items() if why is None]
    if not searched:
        raise DataError("--sets: no column is left to search: all are direct identifiers, or tell nobody apart")
    left_out = {name: why for name, why in reasons.items() if why is not None}
    return QuasiIdentifierSets(analyse_quasi(frame, searched, max_size=max_size or MAX_SIZE, person=person), left_out)


def _left_out(column: ColumnProfile, person: str | None) -> str | None:
    if column.name == person:
        return "it names the person"
    if column.proposal.role is Role.DIRECT:
        return "a direct identifier: it singles people out by itself"
    if column.spread.distinct <= 1 and (column.missing in (0, 1) or not column.spread.values):
        return "no two records differ in it"
    return None if column.proposal.role is Role.QUASI else _amount(column)


def _amount(column: ColumnProfile) -> str | None:
    """Why outsiders don't know a value that is not quasi-identifying by itself."""
    if column.spread.distinct > MOST_VALUES:
        return f"more than {MOST_VALUES} values, which outsiders seldom know exactly"
    if column.spread.uniqueness > MOSTLY_OWN:
        return "most records have a value of their own, which outsiders seldom know exactly"
    return None


def print_sets(found: QuasiIdentifierSets, label: str) -> None:
    analysis = found.analysis
    by = f"{analysis.rows:,} records" + (f" of {analysis.people:,} people" if analysis.people != analysis.rows else "")
    typer.echo(f"{label}: {by}\n")
    _print_ranked("Sets of attributes that tell people apart", analysis.sets)
    if analysis.minimal:
        _print_ranked("Smallest sets that single somebody out", analysis.minimal)
    else:
        typer.echo(f"No set of up to {analysis.size} attributes singles anybody out.")
    if analysis.size < min(analysis.asked_size, len(analysis.attributes)):
        typer.echo(f"Sets of more than {analysis.size} were not searched: there are too many.")
    if found.left_out:
        typer.echo("Left out:")
        for name, why in found.left_out.items():
            typer.echo(f"  {name}: {why}")


def _print_ranked(title: str, sets: tuple[QuasiSet, ...]) -> None:
    rows = [
        (
            ", ".join(one.names),
            f"{one.distinction:.4f}",
            f"{one.separation:.4f}",
            f"{one.alone:,} ({one.uniqueness:.1%})",
        )
        for one in sets[:SHOWN]
    ]
    print_table(title, ("set", "distinction", "separation", "people alone"), rows)
    if len(sets) > SHOWN:
        typer.echo(f"  … and {len(sets) - SHOWN:,} more\n")


def print_safe_harbor(found: SafeHarbor, label: str) -> None:
    rows = [
        (
            finding.letter,
            finding.title,
            "\n".join(f"{held.column}: {held.why}" for held in finding.columns) or "none found",
        )
        for finding in found.findings
    ]
    print_table(f"{label}: HIPAA Safe Harbor, 45 CFR 164.514(b)(2)", ("", "identifier", "found in"), rows)
    typer.echo(found.words[0])
    for limit in found.limits:
        typer.echo(f"  {limit}")
