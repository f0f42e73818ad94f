"""k is a number of people, also where the release doesn't hold the column that names them any more."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.assess.comparison.counting_unit import CountingUnit, DeclaredPeople, in_order
from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.table_measurement import measure_data
from shoal.errors import DataError, InputError
from shoal.measurement import measure_classes
from shoal.results.attack_roles import AttackRoles
from shoal.results.measured_table import MeasuredTable
from shoal.results.record_counts import CountBasis
from shoal.results.release_folder import ReleaseFolder

pytestmark = pytest.mark.requirement("R-01")

POLICY = """\
shoal: 1
name: visits
source: visits.csv
person: who
attributes:
  who: {who}
  age: {{role: quasi, hierarchy: {{intervals: {{widths: [10, 20]}}}}}}
  sex: {{role: quasi}}
  ill: {{role: sensitive}}
privacy: [{{k_anonymity: {{k: {k}}}}}]
{more}
"""
SUPPRESSED = "{role: direct}"
PSEUDONYMISED = "{role: direct, technique: {pseudonymise: {domain: patients}}}"

Make = Callable[..., str]


def visits(times: int = 4) -> pl.DataFrame:
    """Sixty people, each with the same age and sex in all of their records."""
    people = pl.DataFrame({"who": [f"P{n}" for n in range(60)]}).with_columns(
        age=20 + pl.int_range(pl.len()) * 7 % 40,
        sex=pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit("f")).otherwise(pl.lit("m")),
    )
    return pl.concat([people.with_columns(ill=pl.lit(f"ill {n}")) for n in range(times)])


@pytest.fixture
def release(tmp_path: Path) -> Make:
    def make(who: str = SUPPRESSED, more: str = "", times: int = 4, k: int = 5) -> str:
        visits(times).write_csv(tmp_path / "visits.csv")
        (tmp_path / "policy.yaml").write_text(POLICY.format(who=who, more=more, k=k))
        policy = shoal.Policy.load(tmp_path / "policy.yaml")
        shoal.anonymise(tmp_path / "visits.csv", policy, output=tmp_path / "release", seed=1)
        return str(tmp_path / "release")

    return make


def manifest(release: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(release) / "release.json").read_text())
    return found


def measured(data: str, original: bool = False, **options: Any) -> MeasuredTable:
    folder = Path(data).parent if Path(data).is_dir() else Path(data).parent.parent
    request = MeasureRequest.parse(policy=folder / "policy.yaml", quasi=None, **options)
    return measure_data(data, request, original=str(folder / "visits.csv") if original else None)


def test_the_original_says_who_is_who_where_rows_are_in_order(release: Make) -> None:
    at = release()
    told = manifest(at)["risk"]
    found = measured(at, original=True)
    assert found.counted is CountBasis.PEOPLE
    assert found.to_dict()["risk"] == pytest.approx(told)
    assert found.before is not None
    assert found.before.people == found.measurement.people == 60


def test_the_manifest_of_this_very_file_bounds_what_the_release_does_not_show(release: Make) -> None:
    at = release()
    found = measured(at, require=["k=5", "k=20"])
    assert found.counted is CountBasis.AT_LEAST
    assert found.k == manifest(at)["risk"]["k"]
    assert [one.met for one in found.models] == [True, True, False]
    assert found.to_dict()["counted"] == "people_at_least"


def test_a_manifest_without_a_checksum_proves_nothing(release: Make) -> None:
    at = release()
    told = manifest(at)
    told["data"]["sha256"] = ""
    (Path(at) / "release.json").write_text(json.dumps(told))
    with pytest.raises(DataError, match="people can't be counted"):
        measured(at)


def test_a_release_is_known_to_be_counted_in_people_without_its_policy(release: Make) -> None:
    found = measure_data(release(), MeasureRequest.parse(policy=None, quasi="age,sex"))
    assert found.counted is CountBasis.AT_LEAST
    assert found.k == 6


def test_where_everybody_has_one_record_the_manifest_says_it_all(release: Make) -> None:
    at = release(times=1)
    found = measured(at)
    assert found.counted is CountBasis.PEOPLE
    assert found.to_dict()["risk"] == pytest.approx(manifest(at)["risk"])


def test_pseudonyms_still_tell_people_apart(release: Make) -> None:
    at = release(PSEUDONYMISED)
    found = measured(f"{at}/data.csv")
    assert found.counted is CountBasis.PEOPLE
    assert found.k == manifest(at)["risk"]["k"]


@pytest.mark.parametrize("rows", ["shuffled", "cut", "turned round"])
def test_rows_out_of_order_tell_nobody_apart(release: Make, tmp_path: Path, rows: str) -> None:
    data = Path(release()) / "data.csv"
    table = pl.read_csv(data, infer_schema=False)
    moved = {"shuffled": table.sample(fraction=1, shuffle=True, seed=1), "cut": table[:-1], "turned round": table[::-1]}
    moved[rows].write_csv(data)
    with pytest.raises(DataError, match=r"no column 'who', so people can't be counted by it \(give original"):
        measured(str(data), original=True)
    with pytest.raises(DataError, match="people can't be counted"):
        measured(str(data.parent), original=True)


def away(folder: str) -> str:
    """The data file in a folder of its own, without its manifest."""
    elsewhere = Path(folder).parent / "elsewhere"
    elsewhere.mkdir()
    return str(shutil.copy(f"{folder}/data.csv", elsewhere))


def test_the_data_file_of_a_release_has_its_manifest_beside_it(release: Make) -> None:
    at = release()
    assert measured(f"{at}/data.csv").to_dict() == measured(at).to_dict()
    by_name = measure_data(f"{at}/data.csv", MeasureRequest.parse(policy=None, quasi="age,sex"))
    assert (by_name.counted, by_name.k) == (CountBasis.AT_LEAST, manifest(at)["risk"]["k"])
    roles = AttackRoles.of(f"{at}/data.csv", policy=None, qi="age,sex", sensitive=None)
    assert roles.person == "who"
    (Path(at) / "release.json").write_text("[]")
    with pytest.raises(DataError, match="by_records"):
        measured(f"{at}/data.csv")


def test_without_a_quasi_identifier_no_order_is_shown() -> None:
    table = visits().lazy()
    assert not in_order(table, table, ())


def test_a_file_that_nothing_is_known_of_is_refused_and_records_are_counted_if_asked(release: Make) -> None:
    at = away(release())
    with pytest.raises(DataError, match="by_records"):
        measured(at)
    found = measured(at, by_records=True)
    assert (found.counted, found.k) == (CountBasis.RECORDS, 24)
    with pytest.raises(InputError, match="give one of them"):
        MeasureRequest.parse(policy=None, quasi="age", person="who", by_records=True)


def test_an_altered_column_names_nobody(release: Make) -> None:
    swapped = "{role: insensitive, technique: {permute: {}}}"
    at = release(swapped)
    with pytest.raises(DataError, match="column 'who' is altered"):
        measured(away(at))


def test_what_fewer_people_make_look_safer_is_not_told_by_bounds(release: Make) -> None:
    at = release(more="assess: {population_size: 1000}")
    with pytest.raises(DataError, match="size of the population: people have to be counted"):
        measured(at)
    assert measured(at, original=True).assessed is not None


def test_rows_are_in_order_only_if_another_order_would_show() -> None:
    """Where labels cover everything, or can't be read, any order fits."""
    table = pl.DataFrame({"age": [*range(20, 60)]})
    ranges = table.select(age=pl.format("{}-{}", pl.col("age") // 10 * 10, pl.col("age") // 10 * 10 + 9))
    assert in_order(table.lazy(), ranges.lazy(), ("age",))
    assert not in_order(table.lazy(), ranges[::-1].lazy(), ("age",))
    assert not in_order(table.lazy(), ranges.with_columns(age=pl.lit("*")).lazy(), ("age",))
    assert not in_order(table.lazy(), ranges.with_columns(age=pl.lit("grown up")).lazy(), ("age",))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 6)), min_size=1, max_size=40))
def test_bounds_never_count_more_people_than_there_are(records: list[tuple[str, int]]) -> None:
    frame = pl.DataFrame(records, schema=["q", "who"], orient="row")
    true = measure_classes(frame.lazy(), ("q",), "who")
    most = int(frame.group_by("who").len()["len"].max() or 1)  # type: ignore[call-overload]
    told = DeclaredPeople(ReleaseFolder("release"), "who", most, true.k, frozenset({"q"}))
    bound = CountingUnit(frame.lazy(), None, told).people(measure_classes(frame.lazy(), ("q",)))
    assert bound.people <= true.people
    assert (bound.classes.people <= true.classes.people).all()
    assert bound.k == true.k
    assert bound.risk.prosecutor_average >= true.risk.prosecutor_average
