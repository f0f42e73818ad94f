"""Direct identifiers that would be released: what their techniques leave of them, tried on some of their values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from shoal.engine.protocol import TableT
from shoal.errors import DataError
from shoal.plan.binding_queries import SampleQuery
from shoal.plan.hidden_columns.person_tag import PERSON, TagPerson
from shoal.plan.nodes import QueryPurpose
from shoal.policy import Attribute
from shoal.privacy.near_identity import Nearness, nearness
from shoal.schema import Column, Role, Scope, Step

if TYPE_CHECKING:
    from shoal.plan.binder import PlanBinder

SAMPLE = 1_000
"""Records, evenly spread over the table. A share of one in five is known to within 2.5 points (95 %)."""


def refuse_unaltered(binder: PlanBinder[TableT]) -> None:
    """A direct identifier whose techniques change nothing in effect is refused, whatever their parameters."""
    for name, attribute in binder.attributes.items():
        if not is_released_identifier(attribute):
            continue
        found = _tried(binder, name)
        if found is not None and found.changes_nothing:
            raise DataError(f"attributes.{name}: {_in_words(attribute, found)}", advice="suppress or pseudonymise")


def is_released_identifier(attribute: Attribute) -> bool:
    """Whether it is a direct identifier that goes out in another form. A text that is searched is no identifier itself:
    what is recognised in it is replaced, and the rest is meant to stay."""
    direct = attribute.role is Role.DIRECT and attribute.is_released
    return direct and not any(step.searches_text for step in attribute.steps)


def _in_words(attribute: Attribute, found: Nearness) -> str:
    done = ", ".join(step.key for step in attribute.steps if not step.creates())
    treatment = f"{done} leaves too much of it" if done else "nothing is done to it"
    if found.told >= found.elsewhere:
        share = f"{found.told:.0%} of {found.records:,} values that were tried can still be told"
    else:
        share = f"{found.elsewhere:.0%} of the values that were tried still stand in the table, if in other records"
    return f"is a direct identifier, and {treatment}: {share}"


def _tried(binder: PlanBinder[TableT], name: str) -> Nearness | None:
    """None where some values alone don't do for a technique; then the written output has to show it."""
    steps = list(_steps_for(binder, name))
    read = {column for step in steps for column in (name, *step.reads)}
    present = binder.source_columns
    records = max((column.rows for column in binder.columns.values()), default=0)
    columns = tuple(column for column in present if column in read)
    frame = binder.planned.ask(SampleQuery(columns, max(1, records // SAMPLE)), QueryPurpose.CHECK)
    column, before = binder.described.get(name), frame[name] if name in frame.columns else None
    try:
        for step in steps:
            frame = step.apply(frame)
            if before is None and name in frame.columns:
                before = frame[name]
    except (DataError, pl.exceptions.PolarsError):
        return None
    if before is None or name not in frame.columns or frame.height != len(before):
        return None
    numbers = None if column is None else _numbers(column, before, frame[name])
    return nearness(before, frame[name], numbers=numbers, records=records)


def _steps_for(binder: PlanBinder[TableT], name: str) -> Iterator[Step]:
    """Of the attributes' steps, those that have to do with the column, and those that these need."""
    needed, kept = {name}, list[Step]()
    for planned in reversed(binder.plan.steps):
        step = planned.step
        tags = isinstance(step, TagPerson) and PERSON in needed
        if not tags and (planned.attribute is None or step.scope not in (Scope.ROW, Scope.TABLE)):
            continue
        if tags or needed & {planned.attribute, *step.reads}:
            needed |= set(step.reads)
            kept.append(step)
    yield from reversed(kept)


def _numbers(column: Column, before: pl.Series, after: pl.Series) -> tuple[pl.Series, pl.Series] | None:
    if not (column.is_number or column.is_date):
        return None
    read = column.numbers if column.is_number else column.dates
    try:
        was, now = read(before), after.cast(pl.Float64) if column.is_number else column.dates(after)
    except (DataError, pl.exceptions.PolarsError):
        return None
    return was, now
