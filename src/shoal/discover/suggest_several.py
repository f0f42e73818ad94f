"""A policy to start from for tables that belong together: keys get the same pseudonyms in all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shoal.discover.linking import End, Table, domains
from shoal.discover.suggest import Suggestion, Wanted, notes_of, table_lines, wanted_for
from shoal.discover.writing import comment, setting
from shoal.errors import DataError
from shoal.policy import PRESETS, UseCase


def suggest_tables(  # noqa: PLR0913  # one argument per part of the policy
    tables: Mapping[str, Table],
    *,
    name: str,
    use_case: UseCase,
    sources: Mapping[str, object],
    source: object = None,
    constrained: Iterable[tuple[End, End]] = (),
) -> Suggestion:
    """A policy of several tables. ``source`` is the database of all; ``sources`` says where each one is otherwise."""
    if not tables:
        raise DataError("there are no tables to suggest a policy for")
    joined = domains(tables, constrained)
    wanted = {key: _wanted(table, use_case, joined[key]) for key, table in tables.items()}
    notes = _notes(wanted, joined)
    title = PRESETS[use_case].title.lower()
    lines = [f"# A policy to start from: {title}. Read each line, and change what is not so.", *map(comment, notes), ""]
    lines += ["shoal: 1", f"name: {setting(name)}", f"use_case: {use_case}"]
    lines += [] if source is None else [f"source: {setting(source)}"]
    lines += ["", "tables:"]
    for key, one in wanted.items():
        lines += [f"  {setting(key)}:"]
        lines += [f"    source: {setting(sources[key])}"] if key in sources else []
        lines += [*table_lines(one, "    "), ""]
    choices = {f"{key}.{column}": choice for key, one in wanted.items() for column, choice in one.choices.items()}
    return Suggestion("\n".join(lines), choices, None, tuple(notes))


def _wanted(table: Table, use_case: UseCase, keys: Mapping[str, str]) -> Wanted:
    wanted = wanted_for(table.profile, use_case=use_case, keys=keys)
    return wanted.without_quasi() if wanted.too_few else wanted


def _notes(wanted: Mapping[str, Wanted], joined: Mapping[str, Mapping[str, str]]) -> list[str]:
    notes = [f"{key}: {note}" for key, one in wanted.items() for note in notes_of(one)]
    if any(joined.values()):
        notes.append(
            "Who joins the tables by their pseudonyms learns more of a person than k counts; "
            "if nobody has to, suppress the keys."
        )
    return notes
