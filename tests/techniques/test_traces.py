"""Techniques on traces: what they promise is counted by other code; what they are for is tried by the attack."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.support.traces import made_up_traces

from shoal.attack.attacks.home_and_work import home_and_work
from shoal.errors import DataError
from shoal.randomness import Randomness
from shoal.schema import ROW, Column, ValueType
from shoal.techniques.base import Context, Step, TableTechnique
from shoal.techniques.generalisation.cloak_traces import CloakTraces
from shoal.techniques.randomisation.microaggregate_traces import MicroaggregateTraces
from shoal.techniques.statistical.sample_traces import SampleTraces
from shoal.techniques.suppression.cut_stays import CutStays

COLUMNS = {
    "latitude": Column("latitude", ValueType.DECIMAL, pl.Float64(), scale=6),
    "longitude": Column("longitude", ValueType.DECIMAL, pl.Float64(), scale=6),
    "time": Column("time", ValueType.DATETIME, pl.Datetime("us")),
}
NAMES: Any = {"latitude": "latitude", "longitude": "longitude", "time": "time"}
EVERY: list[type[TableTechnique]] = [SampleTraces, CutStays, CloakTraces, MicroaggregateTraces]
PARAMETERS: dict[str, dict[str, Any]] = {
    "sample_traces": {"minutes": 120},
    "cloak_traces": {"k": 3},
    "microaggregate_traces": {"k": 3},
}


def bound(technique: TableTechnique, seed: int = 7) -> Step:
    return technique.bind(Context(COLUMNS, Randomness(seed).stream("traces"), person="who"))


def table(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(
        pl.int_range(frame.height, dtype=pl.UInt64).alias(ROW), pl.col("time").cast(pl.Datetime("us"))
    )


def made(kind: type[TableTechnique], **parameters: Any) -> TableTechnique:
    return kind(**NAMES, **{**PARAMETERS.get(kind.key, {}), **parameters})


walks = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 12), st.floats(18.4, 18.6), st.floats(73.8, 73.9)), max_size=60
)


def frame_of(drawn: list[tuple[int, int, float, float]]) -> pl.DataFrame:
    traces, _ = made_up_traces(1, 1)
    start = traces["time"][0]
    rows = [(f"p{who}", round(lat, 6), round(lon, 6), start.replace(hour=hour)) for who, hour, lat, lon in drawn]
    return table(pl.DataFrame(rows, schema=traces.schema, orient="row"))


@pytest.mark.requirement("D-12")
@given(walks, st.integers(2, 4), st.sampled_from([100.0, 1000.0]))
@settings(max_examples=60, deadline=None)
def test_each_place_and_moment_is_that_of_k_people(drawn, k, metres):
    frame = frame_of(drawn)
    cloaked = bound(made(CloakTraces, k=k, metres=metres, largest=8 * metres)).apply(frame)
    people: dict[Any, set[Any]] = defaultdict(set)
    for record in cloaked.to_dicts():
        people[record["latitude"], record["longitude"], record["time"]].add(record["who"])
    assert all(len(who) >= k for who in people.values())
    before = {row[ROW]: row for row in frame.to_dicts()}
    for record in cloaked.to_dicts():
        was = before[record[ROW]]
        assert abs(record["latitude"] - was["latitude"]) * 111_195 <= 4 * metres + 1
        assert was["time"].replace(minute=0) == record["time"]


@pytest.mark.requirement("D-12")
@given(walks, st.integers(2, 3))
@settings(max_examples=60, deadline=None)
def test_each_trace_is_that_of_k_people(drawn, k):
    released = bound(made(MicroaggregateTraces, k=k)).apply(frame_of(drawn))
    traces: dict[str, list[Any]] = defaultdict(list)
    for record in released.to_dicts():
        traces[record["who"]].append((record["time"], record["latitude"], record["longitude"]))
    alike = Counter(tuple(sorted(trace)) for trace in traces.values())
    assert all(people >= k for people in alike.values())


@given(walks, st.sampled_from([60, 180]))
@settings(max_examples=40, deadline=None)
def test_one_point_of_each_slot_is_kept_as_it_was(drawn, minutes):
    frame = frame_of(drawn)
    sampled = bound(made(SampleTraces, minutes=minutes)).apply(frame)
    slots = [(row["who"], int(row["time"].timestamp()) // (60 * minutes)) for row in sampled.to_dicts()]
    assert len(set(slots)) == len(slots)
    assert set(slots) == {(row["who"], int(row["time"].timestamp()) // (60 * minutes)) for row in frame.to_dicts()}
    assert sampled.equals(frame.filter(pl.col(ROW).is_in(sampled[ROW].implode())))


def test_nobody_is_left_near_their_home():
    traces, homes = made_up_traces(20)
    left = bound(CutStays(**NAMES, radius=600.0, places=1)).apply(table(traces))
    beside = left.join(homes, on="who", suffix="_home")
    north = (pl.col("latitude") - pl.col("latitude_home")) * 111_195
    assert left["who"].n_unique() == 20
    assert (
        beside.filter(north.abs() < 200)
        .filter((pl.col("longitude") - pl.col("longitude_home")).abs() < 0.002)
        .is_empty()
    )


def test_the_middle_of_a_hole_is_not_the_home():
    """Somebody walks north past the home: how far the hole reaches is another with each draw."""
    traces, _ = made_up_traces(1, days=3)
    first, north = traces.head(1), traces["latitude"][0]
    walk = [first.with_columns(latitude=north + step * 0.0002, time=traces["time"].max()) for step in range(-40, 41)]
    frame = table(pl.concat([traces, *walk]))
    ends = {bound(CutStays(**NAMES, places=1), seed).apply(frame)["latitude"].max() for seed in range(6)}
    lefts = {bound(CutStays(**NAMES, places=1), seed).apply(frame).height for seed in range(6)}
    assert len(ends | lefts) > 2


@pytest.mark.requirement("D-12")
def test_homes_are_found_before_and_not_after():
    traces, homes = made_up_traces(40)
    frame = table(traces)
    before, work = home_and_work(traces, traces, Randomness(1), known=homes)
    assert before.success.share > 0.9
    assert work.success.share > 0.9
    assert before.baseline.share < 0.2
    cut = bound(CutStays(**NAMES, radius=800.0, places=2)).apply(frame)
    cloaked = bound(made(CloakTraces, k=4, metres=500.0, largest=4_000.0)).apply(frame)
    same = bound(made(MicroaggregateTraces, k=4, minutes=60)).apply(frame)
    for released in (cut, cloaked, same):
        after = home_and_work(released.select(traces.columns), traces, Randomness(1), known=homes)[0]
        assert after.success.share < 0.25
        assert released.height > 0


@pytest.mark.parametrize("kind", EVERY)
def test_rows_without_place_or_time_are_left_out(kind):
    traces, _ = made_up_traces(6, days=1)
    holes = pl.col(ROW) % 3
    frame = table(traces).with_columns(
        latitude=pl.when(holes == 0).then(None).otherwise(pl.col("latitude")),
        time=pl.when(holes == 1).then(None).otherwise(pl.col("time")),
    )
    released = bound(made(kind)).apply(frame)
    assert released.null_count().sum_horizontal().item() == 0
    assert bound(made(kind)).apply(frame.clear()).schema == frame.schema


@pytest.mark.parametrize("kind", EVERY)
def test_the_same_seed_gives_the_same_traces(kind):
    traces, _ = made_up_traces(6, days=1)
    assert bound(made(kind)).apply(table(traces)).equals(bound(made(kind)).apply(table(traces)))


@pytest.mark.parametrize("kind", EVERY)
def test_texts_are_written_as_they_came(kind):
    traces, _ = made_up_traces(6, days=1)
    texts = table(traces).with_columns(
        pl.col("latitude", "longitude").round(6).cast(pl.String), pl.col("time").dt.to_string("%d/%m/%Y %H:%M")
    )
    columns = {
        "latitude": Column("latitude", ValueType.DECIMAL, scale=6),
        "longitude": Column("longitude", ValueType.DECIMAL, scale=6),
        "time": Column("time", ValueType.DATETIME, date_format="%d/%m/%Y %H:%M"),
    }
    step = made(kind).bind(Context(columns, Randomness(7).stream("traces"), person="who"))
    as_texts, as_values = step.apply(texts), bound(made(kind)).apply(table(traces))
    assert as_texts.schema == texts.schema
    assert as_texts["latitude"].cast(pl.Float64).to_list() == pytest.approx(as_values["latitude"].to_list(), abs=2e-6)
    assert as_texts["time"].str.to_datetime("%d/%m/%Y %H:%M").to_list() == as_values["time"].to_list()


def test_across_the_date_line_neighbours_are_neighbours():
    start = made_up_traces(1, 1)[0]["time"][0]
    rows = [(f"p{who}", 0.0, longitude, start) for who, longitude in enumerate((179.999, -179.999, 179.998))]
    frame = table(pl.DataFrame(rows, schema=["who", "latitude", "longitude", "time"], orient="row"))
    released = bound(made(MicroaggregateTraces, k=3)).apply(frame)
    assert released["longitude"].abs().to_list() == pytest.approx([179.999333] * 3, abs=1e-5)


@pytest.mark.parametrize("kind", EVERY)
def test_what_is_no_trace_is_refused(kind):
    technique = made(kind)
    assert "latitude" in str(technique.refuse({**COLUMNS, "latitude": Column("latitude")}))
    assert "time" in str(technique.refuse({**COLUMNS, "time": Column("time", ValueType.DATE)}))
    assert technique.refuse(COLUMNS) is None
    with pytest.raises(DataError, match="somebody's"):
        technique.bind(Context(COLUMNS, Randomness(1).stream("traces")))
    far = table(pl.DataFrame({"who": ["p"], "latitude": [91.0], "longitude": [0.0], "time": [None]}))
    with pytest.raises(DataError, match="no degrees"):
        bound(technique).apply(far)


def test_cells_do_not_shrink():
    with pytest.raises(ValidationError, match="largest"):
        CloakTraces(**NAMES, k=2, metres=500.0, largest=100.0)


def test_too_many_slots_are_refused(monkeypatch):
    monkeypatch.setattr("shoal.techniques.randomisation.microaggregate_traces.MOST_CELLS", 10)
    with pytest.raises(DataError, match="longer"):
        bound(made(MicroaggregateTraces)).apply(table(made_up_traces(6, 1)[0]))
