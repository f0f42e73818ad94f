"""Before a release is committed: the written files are searched for the direct identifiers of the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from shoal.errors import DataError
from shoal.io import RecordPicker, ScannedTable
from shoal.kernels.pass_listener import told
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
    policy: Policy, original: ScannedTable, written: ScannedTable, files: Sequence[WrittenFile], aside: Path, rows: int
) -> IdentifierLeaks:
    """What was searched, and that nothing was found; a finding stops the run."""
    source, output = _as_text(original.scan()), _as_text(written.scan())
    present = source.collect_schema().names()
    sought = tuple(name for name in identifiers_of(policy) if name in present)
    columns = tuple(output.collect_schema())
    texts = {file.told.path: _as_text(file.frame) for file in files if file.beside.for_recipient}
    beside = {f"{path}: {name}": (frame, name) for path, frame in texts.items() for name in frame.collect_schema()}
    if not sought:
        return IdentifierLeaks(rows, 0)
    looking = LeakSearch(sought, policy.person, accepted_tells(policy), len(sought) * (len(columns) + len(beside)))
    paired = _paired(original, written, aside, sought, rows)
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
    for batch in told(frame.select(name).collect_batches(chunk_size=BATCH), pl.DataFrame.__len__):
        kept = pl.concat([kept, batch.to_series()]).unique()
        if len(kept) > 4 * ACROSS:
            kept = kept.gather(kept.hash().arg_sort()[:ACROSS])
    return kept


def _as_text(frame: pl.LazyFrame) -> pl.LazyFrame:
    """What can be read in a table; lists and records as JSON, and no bytes, which nothing can be read from."""
    return frame.select(
        pl.struct(name).struct.json_encode().alias(name)
        if kind.is_nested()
        else (pl.col(name).to_physical() if isinstance(kind, pl.Duration) else pl.col(name)).cast(pl.String)
        for name, kind in frame.collect_schema().items()
        if kind != pl.Binary() and kind != pl.Object()
    )


def _paired(
    original: ScannedTable, written: ScannedTable, aside: Path, sought: Sequence[str], rows: int
) -> pl.DataFrame | None:
    """Released records with the identifiers of the records that they were made from; None where there are no such."""
    if not aside.exists() or ORIGIN not in pl.scan_ipc(aside).collect_schema():
        return None
    step = max(1, -(-rows // LOOKED_AT))
    origins = pl.scan_ipc(aside).select(pl.col(ORIGIN).cast(pl.UInt64)).gather_every(step).collect(engine="streaming")
    released = _picked(written, pl.Series(np.arange(origins.height) * step))
    if released is None:
        released = _as_text(written.scan().gather_every(step)).collect(engine="streaming")
    released = pl.concat([released, origins], how="horizontal").with_row_index(_PLACE)
    found = _identifiers(original, sought, origins.to_series()).join(released.select(_PLACE, ORIGIN), on=ORIGIN)
    return released.drop(ORIGIN).join(found.drop(ORIGIN), on=_PLACE, how="inner", maintain_order="left").drop(_PLACE)


def _identifiers(original: ScannedTable, sought: Sequence[str], origins: pl.Series) -> pl.DataFrame:
    """Of the records at these places of the source."""
    places = origins.drop_nulls().unique().sort()
    was = [pl.col(name).alias(_WAS + name) for name in sought]
    if (picked := _picked(original, places)) is not None:
        return picked.select(*was, places.alias(ORIGIN))
    numbered = original.scan().select(sought).with_row_index(ORIGIN).with_columns(pl.col(ORIGIN).cast(pl.UInt64))
    found = numbered.join(places.to_frame(ORIGIN).lazy(), on=ORIGIN).collect(engine="streaming")
    return _as_text(found.lazy().select(sought)).select(was).collect().with_columns(found[ORIGIN])


def _picked(table: ScannedTable, places: pl.Series) -> pl.DataFrame | None:
    """Some records as text, where that takes no pass over all of them."""
    picked = table.pick(places.cast(pl.Int64).to_numpy()) if isinstance(table, RecordPicker) else None
    return None if picked is None else _as_text(picked.lazy()).collect()


def _across(source: pl.LazyFrame, cells: Mapping[str, pl.Series], looking: LeakSearch) -> Iterator[IdentifierHit]:
    """Cells that are beside no record of the source: all values are gone through, in batches."""
    for identifier in looking.identifiers if cells else ():
        met: dict[str, list[pl.Series]] = {name: [] for name in cells}
        values, distinct = 0, 0
        for batch in told(source.select(identifier).collect_batches(chunk_size=BATCH), pl.DataFrame.__len__):
            seen = plain(batch.to_series()).drop_nulls()
            values, distinct = values + len(seen), distinct + seen.n_unique()
            for name, written in cells.items():
                met[name].append(seen.filter(seen.is_in(written.implode())).unique())
        if identifier != looking.person and distinct < SHARE * values:
            continue
        for name, written in cells.items():
            if met[name] and (identifier, name) not in looking.accepted:
                yield from across(identifier, pl.concat(met[name]).unique(), written, name, among=distinct)
