"""Before a release is committed: the written files are searched for the direct identifiers of the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from shoal.errors import DataError
from shoal.measurement.risk.identifier_leaks import IdentifierLeaks
from shoal.plan.hidden_columns.record_origin import ORIGIN
from shoal.policy import EVERYTHING_ELSE, Policy
from shoal.policy.role_propagation import accepted_tells
from shoal.privacy.identifier_search import (
    ACROSS,
    LOOKED_AT,
    SHARE,
    IdentifierHit,
    LeakSearch,
    across,
    find_leaks,
    plain,
    some_cells,
)
from shoal.results.manifest import WrittenFile
from shoal.schema import Role
from shoal.schema.hidden_columns import HIDDEN

_PLACE, _WAS = f"{HIDDEN}place__", f"{HIDDEN}was_"
BATCH = 200_000


def identifiers_of(policy: Policy) -> tuple[str, ...]:
    """What is looked for. A text that is searched is none itself: what it says of people is in other columns too.
    One that an aggregate publishes for a reason would be found as a matter of course."""
    return tuple(
        name
        for name, attribute in policy.attributes.items()
        if attribute.role is Role.DIRECT and name != EVERYTHING_ELSE
        if not (attribute.because and not policy.kind.has_records)
        if not any(step.searches_text for step in attribute.steps)
    )


def take_last_look(  # noqa: PLR0913, PLR0917  # what there is to look at, and where it came from
    policy: Policy, source: pl.LazyFrame, output: pl.LazyFrame, files: Sequence[WrittenFile], aside: Path, rows: int
) -> IdentifierLeaks:
    """What was searched, and that nothing was found; a finding stops the run."""
    source, output = _as_text(source), _as_text(output)
    present = source.collect_schema().names()
    sought = tuple(name for name in identifiers_of(policy) if name in present)
    columns = tuple(output.collect_schema())
    texts = {file.told.path: _as_text(file.frame) for file in files if file.beside.for_recipient}
    beside = {f"{path}: {name}": (frame, name) for path, frame in texts.items() for name in frame.collect_schema()}
    if not sought:
        return IdentifierLeaks(rows, 0)
    looking = LeakSearch(sought, policy.person, accepted_tells(policy), len(sought) * (len(columns) + len(beside)))
    paired = _paired(source, output, aside, sought, rows)
    hits: list[IdentifierHit] = []
    if paired is not None:
        hits += find_leaks(paired, [_WAS + name for name in sought], columns, looking, rows)
    unpaired = {} if paired is not None else {name: (output, name) for name in columns}
    hits += _across(source, _cells(unpaired | beside), looking)
    _refuse(hits)
    return IdentifierLeaks(rows, rows if paired is None else paired.height, sought, (*columns, *beside))


def look_between_tables(tables: Mapping[str, tuple[Policy, pl.LazyFrame, pl.LazyFrame]]) -> None:
    """Identifiers of one table in the columns of another; ``tables`` have their policy, source and output by name."""
    cells = {}
    for name, (_, _, output) in tables.items():
        frame = _as_text(output)
        cells[name] = _cells({f"{name}.{column}": (frame, column) for column in frame.collect_schema()})
    hits: list[IdentifierHit] = []
    for name, (policy, given, _) in tables.items():
        source = _as_text(given)
        present = source.collect_schema().names()
        sought = tuple(one for one in identifiers_of(policy) if one in present)
        others = {told: found for other, columns in cells.items() if other != name for told, found in columns.items()}
        found = _across(source, others, LeakSearch(sought, policy.person))
        hits += (replace(hit, identifier=f"{name}.{hit.identifier}") for hit in found)
    _refuse(hits)


def _refuse(hits: Sequence[IdentifierHit]) -> None:
    if hits:
        found = "; ".join(map(str, hits))
        raise DataError(
            f"the last look at the output found direct identifiers, so nothing was released: {found}",
            advice="suppress or treat these columns, or give the identifier the role that it has",
        )


def _cells(columns: Mapping[str, tuple[pl.LazyFrame, str]]) -> dict[str, pl.Series]:
    return {told: some_cells(_some_distinct(frame, name)) for told, (frame, name) in columns.items()}


def _some_distinct(frame: pl.LazyFrame, name: str) -> pl.Series:
    """Distinct cells, of many an even part: those whose hashes are lowest."""
    kept = pl.Series(name, [], dtype=pl.String)
    for batch in frame.select(name).collect_batches(chunk_size=BATCH):
        kept = pl.concat([kept, batch.to_series()]).unique()
        if len(kept) > 4 * ACROSS:
            kept = kept.gather(kept.hash().arg_sort()[:ACROSS])
    return kept


def _as_text(frame: pl.LazyFrame) -> pl.LazyFrame:
    """What can be read in a table; lists and records as JSON, and no bytes, which nothing can be read from."""
    return frame.select(
        pl.struct(name).struct.json_encode().alias(name) if kind.is_nested() else pl.col(name).cast(pl.String)
        for name, kind in frame.collect_schema().items()
        if kind != pl.Binary() and kind != pl.Object()
    )


def _paired(
    source: pl.LazyFrame, output: pl.LazyFrame, aside: Path, sought: Sequence[str], rows: int
) -> pl.DataFrame | None:
    """Released records with the identifiers of the records that they were made from; None where there are no such."""
    if not aside.exists() or ORIGIN not in pl.scan_ipc(aside).collect_schema():
        return None
    step = max(1, -(-rows // LOOKED_AT))
    both = pl.concat([output, pl.scan_ipc(aside).select(pl.col(ORIGIN).cast(pl.UInt64))], how="horizontal")
    released = both.gather_every(step).collect(engine="streaming").with_row_index(_PLACE)
    wanted = released.select(_PLACE, ORIGIN).lazy()
    was = source.select(pl.col(name).alias(_WAS + name) for name in sought).with_row_index(ORIGIN)
    was = was.with_columns(pl.col(ORIGIN).cast(pl.UInt64)).join(wanted, on=ORIGIN, how="inner")
    found = was.drop(ORIGIN).collect(engine="streaming")
    return released.drop(ORIGIN).join(found, on=_PLACE, how="inner", maintain_order="left").drop(_PLACE)


def _across(source: pl.LazyFrame, cells: Mapping[str, pl.Series], looking: LeakSearch) -> Iterator[IdentifierHit]:
    """Cells that are beside no record of the source: all values are gone through, in batches."""
    for identifier in looking.identifiers if cells else ():
        met: dict[str, list[pl.Series]] = {name: [] for name in cells}
        values, distinct = 0, 0
        for batch in source.select(identifier).collect_batches(chunk_size=BATCH):
            seen = plain(batch.to_series()).drop_nulls()
            values, distinct = values + len(seen), distinct + seen.n_unique()
            for name, written in cells.items():
                met[name].append(seen.filter(seen.is_in(written.implode())).unique())
        if identifier != looking.person and distinct < SHARE * values:
            continue
        for name, written in cells.items():
            if met[name] and (identifier, name) not in looking.accepted:
                yield from across(identifier, pl.concat(met[name]).unique(), written, name, among=distinct)
