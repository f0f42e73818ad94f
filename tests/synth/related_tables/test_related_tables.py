"""Several tables drawn so that they belong together: keys, numbers of children, sequences, bounds; and no outlier."""

from __future__ import annotations

import datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.synth.related_tables.hospital import DESCRIBED, described, hospital, one_more

from shoal.errors import DataError, InputError, PolicyError, SourceError
from shoal.randomness import Randomness
from shoal.synth.method import BLOCK
from shoal.synth.methods.sequential import fit_sequential
from shoal.synth.model_files import save_model
from shoal.synth.related_tables import (
    RelatedTablesDescription,
    RelatedTablesModel,
    fit_related_tables,
    load_related_tables,
    save_related_tables,
)
from shoal.synth.related_tables.child_model import ChildModel

pytestmark = pytest.mark.requirement("T-25")


@cache
def model() -> RelatedTablesModel:
    return fit_related_tables(hospital(), described())


@cache
def drawn() -> dict[str, pl.DataFrame]:
    return model().sample(1_500, Randomness(1))


def children(tables: dict[str, pl.DataFrame]) -> np.ndarray[Any, Any]:
    visits = tables["visits"].group_by("patient").len()
    joined = tables["patients"].select("id", "chronic").join(visits, left_on="id", right_on="patient", how="left")
    return joined.with_columns(pl.col("len").fill_null(0)).select("len").to_series().to_numpy()


def gaps(tables: dict[str, pl.DataFrame]) -> pl.DataFrame:
    gap = pl.col("start").diff().over("patient").dt.total_days()
    found = tables["visits"].sort("patient", "start").with_columns(gap=gap)
    return found.with_columns(before=pl.col("gap").shift().over("patient")).drop_nulls("gap")


def apart(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> float:
    """Kolmogorov and Smirnov's distance."""
    every = np.unique(np.concatenate([first, second]))
    shares = [np.searchsorted(np.sort(one), every, side="right") / len(one) for one in (first, second)]
    return float(np.abs(shares[0] - shares[1]).max())


def joined(tables: dict[str, pl.DataFrame]) -> pl.DataFrame:
    return (
        tables["visits"]
        .join(tables["patients"], left_on="patient", right_on="id")
        .join(tables["doctors"], left_on="doctor", right_on="code")
    )


def test_keys_are_new_unique_and_lead_somewhere() -> None:
    for name, key in (("patients", "id"), ("doctors", "code"), ("visits", "number")):
        assert drawn()[name][key].n_unique() == drawn()[name].height
        assert not set(drawn()[name][key]) & set(hospital()[name][key])
    assert joined(drawn()).height == drawn()["visits"].height
    told = drawn()["prescriptions"].join(drawn()["visits"], left_on="visit", right_on="number")
    assert told.height == drawn()["prescriptions"].height
    assert (told["patient"] == told["patient_right"]).all(), "the patient of a prescription is the one of its visit"
    assert [frame.columns for frame in drawn().values()] == [hospital()[name].columns for name in drawn()]
    assert [frame.schema for frame in drawn().values()] == [hospital()[name].schema for name in drawn()]


def test_parents_have_as_many_children_as_others_of_their_kind() -> None:
    other = hospital(seed=2)
    assert apart(children(drawn()), children(other)) < apart(children(hospital()), children(other)) + 0.03
    for tables in (drawn(), other):
        often = tables["patients"].join(tables["visits"].group_by("patient").len(), left_on="id", right_on="patient")
        mean = dict(often.group_by("chronic").agg(pl.col("len").mean()).iter_rows())
        assert mean["yes"] == pytest.approx(9, rel=0.1)
        assert mean["no"] == pytest.approx(2.3, rel=0.15)


def test_visits_come_in_order_after_gaps_like_those_before() -> None:
    other = gaps(hospital(seed=2))
    own = gaps(drawn())
    assert drawn()["visits"].select(pl.col("start").diff().over("patient").dt.total_days().min()).item() >= 0
    near = apart(gaps(hospital())["gap"].to_numpy(), other["gap"].to_numpy())
    assert apart(own["gap"].to_numpy(), other["gap"].to_numpy()) < near + 0.03
    like = [np.corrcoef(one.drop_nulls()["gap"], one.drop_nulls()["before"])[0, 1] for one in (own, other)]
    assert like[0] == pytest.approx(like[1], abs=0.12), "who came soon comes soon again"


def test_attributes_of_children_depend_on_the_parents() -> None:
    visits = joined(drawn())
    sick = visits.filter(pl.col("diagnosis") == "diabetes")
    assert (sick["chronic"] == "yes").all()
    child = (visits["start"] - visits["born"]).dt.total_days() < 16 * 365
    assert (visits.filter(child)["field"] == "children").mean() > 0.95
    assert (visits.filter(~child)["field"] == "adults").mean() > 0.95
    told = drawn()["prescriptions"].join(visits, left_on="visit", right_on="number")
    assert ((told["drug"] == "insulin") == (told["diagnosis"] == "diabetes")).mean() > 0.98
    assert (told["since"] == told["start"]).mean() > 0.98


def test_some_doctors_are_asked_for_more_often() -> None:
    often = drawn()["visits"].group_by("doctor").len()["len"].sort(descending=True)
    assert often[0] > 3 * often.median()


def test_bounds_are_found_said_and_hold() -> None:
    bounds = model().inspect()["tables"]["visits"]["bounds"]
    assert {"column": "start", "side": "floor", "ancestor": "patients.born", "origin": "found"} in bounds
    visits = joined(drawn())
    assert (visits["start"] >= visits["born"]).all()
    assert (visits["end"] >= visits["start"]).all()


def test_a_declared_bound_holds_though_the_table_breaks_it() -> None:
    """Of each patient's last visits some begin after the day that is said to be the end."""
    tables = hospital(400)
    left = tables["visits"].group_by("patient").agg(left=pl.col("start").max() - pl.duration(days=20))
    patients = tables["patients"].join(left, left_on="id", right_on="patient", how="left").sort("id")
    declared = {
        **DESCRIBED,
        "constraints": [
            {"lower": "visits.end", "upper": "patients.left"},
            {"lower": "patients.born", "upper": "visits.start"},
        ],
    }
    fitted = fit_related_tables({**tables, "patients": patients}, RelatedTablesDescription.of(declared))
    visits = joined(fitted.sample(400, Randomness(1)))
    assert visits["left"].drop_nulls().len() > 300
    later = visits.filter(pl.col("left") >= pl.col("born"))
    assert (later["end"] <= later["left"]).drop_nulls().all()
    assert (visits["start"] >= visits["born"]).all()
    assert (visits["end"] >= visits["start"]).all()
    assert visits.select(pl.col("start").diff().over("patient").dt.total_days().min()).item() >= 0


def test_in_blocks_as_in_one_go_and_only_the_seed_decides() -> None:
    rows = 12_000
    parts = list(model().blocks(rows, Randomness(3)))
    assert len(parts) > 2
    assert max(sum(frame.height for frame in part.values()) for part in parts) < 2 * BLOCK
    whole = model().sample(rows, Randomness(3))
    for name, frame in whole.items():
        assert frame.equals(pl.concat([part[name] for part in parts if name in part]))
    assert whole["visits"]["number"].n_unique() == whole["visits"].height
    assert not model().sample(50, Randomness(4))["visits"].equals(model().sample(50, Randomness(3))["visits"])


def test_no_parents_give_tables_without_records() -> None:
    empty = model().sample(0, Randomness(1))
    assert {name: frame.schema for name, frame in empty.items()} == {n: f.schema for n, f in hospital().items()}
    assert all(frame.is_empty() for frame in empty.values())
    with pytest.raises(InputError, match="at least 0"):
        model().sample(-1, Randomness(1))


def test_a_saved_model_draws_the_same(tmp_path: Path) -> None:
    path, again = tmp_path / "hospital.model", tmp_path / "again.model"
    save_related_tables(model(), path)
    loaded = load_related_tables(path)
    for name, frame in loaded.sample(300, Randomness(2)).items():
        assert frame.equals(model().sample(300, Randomness(2))[name])
    assert loaded.inspect() == model().inspect()
    save_related_tables(loaded, again)
    assert again.read_bytes() == path.read_bytes()
    save_model(fit_sequential(hospital()["patients"]), tmp_path / "one.model")
    with pytest.raises(SourceError, match="no model"):
        load_related_tables(tmp_path / "one.model")


def test_an_outlier_of_many_visits_never_appears_nor_moves_the_others() -> None:
    """A patient of 4,000 visits, born before anybody, with an illness and an end that nobody else has."""
    with_one = fit_related_tables(one_more(hospital(), 4_000), described())
    most = children(hospital()).max()
    for seed in range(20):
        tables = with_one.sample(300, Randomness(seed))
        assert children(tables).max() <= most
        assert "plague" not in set(tables["visits"]["diagnosis"])
        assert tables["visits"]["end"].max() < datetime.date(2040, 1, 1)
        assert tables["patients"]["born"].min() > datetime.date(1930, 1, 1)
    many, plain = (one.sample(6_000, Randomness(1)) for one in (with_one, model()))
    assert children(many).mean() == pytest.approx(children(plain).mean(), rel=0.03)
    lengths = [gaps(one)["gap"].mean() for one in (many, plain)]
    assert lengths[0] == pytest.approx(lengths[1], rel=0.05)  # type: ignore[arg-type]


def test_a_leaf_stands_for_people_not_for_records() -> None:
    """One patient with 300 visits of a combination of her own is no crowd, though each part of it is frequent."""
    tables = hospital(600)
    tables = one_more(tables, 300)
    odd = pl.when(pl.col("diagnosis") == "plague").then(pl.lit("measles")).otherwise("diagnosis")
    end = pl.when(pl.col("end").dt.year() > 2100).then("start").otherwise("end")
    tables["visits"] = tables["visits"].with_columns(diagnosis=odd, end=end)
    visits = joined(fit_related_tables(tables, described()).sample(2_000, Randomness(1)))
    old = visits.filter((pl.col("start") - pl.col("born")).dt.total_days() > 60 * 365)
    assert (old["diagnosis"] == "measles").mean() < 0.01, "hers are a third of all such visits"


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "table": ({"references": [{"from": "visit.patient", "to": "patients.id"}]}, "did you mean 'visits'"),
    "column": ({"references": [{"from": "visits", "to": "patients.id"}]}, "needs a table and a column"),
    "key": ({"references": [{"from": "visits.patient", "to": "patients.sex"}]}, "the key of 'patients' is 'id'"),
    "word": ({"tables": {"patients": {"keys": "id"}}}, "did you mean 'key'"),
    "kind": ({"tables": {"patients": {"columns": {"born": {"kind": "dat"}}}}}, "tables.patients.columns.born.kind"),
    "compared": ({"constraints": [{"lower": "patient.born", "upper": "visits.start"}]}, "did you mean 'patients'"),
    "version": ({"shoal": 2}, "shoal"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_in_a_description_is_said_with_what_was_meant(case: str) -> None:
    changed, said = WRONG[case]
    with pytest.raises(PolicyError, match=said):
        RelatedTablesDescription.of({**DESCRIBED, **changed})


def test_problems_come_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "tables.yaml"
    path.write_text(
        "shoal: 1\ntables:\n  patients: {key: id}\n  visits: {ordr: start}\n"
        "references:\n  - {form: visits.patient, to: patients.id}\n"
    )
    with pytest.raises(PolicyError) as raised:
        RelatedTablesDescription.load(path)
    assert "did you mean 'order'" in str(raised.value)
    assert "did you mean 'from'" in str(raised.value)
    assert {problem.line for problem in raised.value.problems} >= {4, 6}


def test_what_the_tables_do_not_hold_is_one_line() -> None:
    tables = hospital(100)
    cases: list[tuple[dict[str, pl.DataFrame], str]] = [
        ({**tables, "patients": tables["patients"].head(50)}, "refer to nobody in 'patients'"),
        ({**tables, "patients": tables["patients"].vstack(tables["patients"].head(3))}, "stands twice"),
        ({**tables, "visits": tables["visits"].rename({"start": "begin"})}, "no column 'start'"),
        ({**tables, "doctors": tables["doctors"].head(0)}, "refer to nobody"),
        ({name: frame for name, frame in tables.items() if name != "doctors"}, "no table 'doctors'"),
        ({**tables, "visits": tables["visits"].with_columns(patient=None)}, "different types"),
        ({name: frame.head(0) for name, frame in tables.items()}, "too few"),
        (
            {**tables, "visits": tables["visits"].with_columns(start=pl.lit(None, dtype=pl.Date))},
            "gives no order",
        ),
    ]
    for given_tables, said in cases:
        with pytest.raises(DataError, match=said):
            fit_related_tables(given_tables, described())


def test_tables_in_a_circle_or_side_by_side_are_refused() -> None:
    tables = {
        "a": pl.DataFrame({"id": range(20), "b": range(20)}),
        "b": pl.DataFrame({"id": range(20), "a": range(20)}),
    }
    circle = [{"from": "a.b", "to": "b.id"}, {"from": "b.a", "to": "a.id"}]
    with pytest.raises(DataError, match="refers to itself"):
        fit_related_tables(
            tables, RelatedTablesDescription.of({"shoal": 1, "tables": {"a": {}, "b": {}}, "references": circle})
        )
    beside = {**DESCRIBED, "constraints": [{"lower": "doctors.salary", "upper": "prescriptions.dose"}]}
    with pytest.raises(DataError, match="no table stands above"):
        fit_related_tables(hospital(100), RelatedTablesDescription.of(beside))


@settings(deadline=None, max_examples=12)
@given(
    people=st.integers(12, 60),
    most=st.integers(0, 4),
    levels=st.integers(1, 3),
    ordered=st.booleans(),
    gap=st.booleans(),
    seed=st.integers(0, 5),
)
def test_random_schemas_keep_keys_and_orders(
    people: int, most: int, levels: int, ordered: bool, gap: bool, seed: int
) -> None:
    numbers = np.random.default_rng(seed)
    tables = {"t0": pl.DataFrame({"id": range(people), "day": numbers.integers(0, 3_000, people)})}
    references = []
    for level in range(1, levels + 1):
        above = tables[f"t{level - 1}"]
        of = np.repeat(np.arange(above.height), numbers.integers(0, most + 1, above.height))
        of = of if len(np.unique(of)) >= 10 else np.arange(above.height)
        columns = {
            "id": range(len(of)),
            "up": above["id"].gather(of),
            "day": above["day"].gather(of) + pl.Series(numbers.integers(0, 300, len(of))),
            "kind": pl.Series(numbers.choice(["a", "b", "c"], len(of))).set(
                pl.Series(of % 5 == 0), None if gap else "a"
            ),
        }
        tables[f"t{level}"] = pl.DataFrame(columns)
        references.append({"from": f"t{level}.up", "to": f"t{level - 1}.id"})
    described = {
        "shoal": 1,
        "rare": 3,
        "tables": {name: {"order": "day"} if ordered and name != "t0" else {} for name in tables},
        "references": references,
        "constraints": [{"lower": f"t{one - 1}.day", "upper": f"t{one}.day"} for one in range(1, levels + 1)],
    }
    fitted = fit_related_tables(tables, RelatedTablesDescription.of(described))
    made = fitted.sample(people, Randomness(seed))
    for level in range(1, levels + 1):
        child, parent = made[f"t{level}"], made[f"t{level - 1}"]
        both = child.join(parent, left_on="up", right_on="id", suffix="_up", how="inner", maintain_order="left")
        assert both.height == child.height
        assert (both["day"] >= both["day_up"]).all()
        assert child.schema == tables[f"t{level}"].schema
        assert set(child["kind"].drop_nulls()) <= {"a", "b", "c", "other"}
        if ordered:
            assert (both.select(pl.col("day").diff().over("up").min()).item() or 0) >= 0


def test_a_table_of_keys_only_may_be_a_parent() -> None:
    tables = {"a": pl.DataFrame({"id": range(40)}), "b": pl.DataFrame({"a": [*range(40)] * 2, "x": ["u", "v"] * 40})}
    said = {"shoal": 1, "tables": {"a": {}, "b": {}}, "references": [{"from": "b.a", "to": "a.id"}]}
    made = fit_related_tables(tables, RelatedTablesDescription.of(said)).sample(30, Randomness(1))
    assert made["a"].height == 30
    assert made["b"].height == 60
    assert set(made["b"]["a"]) == set(made["a"]["id"])


def test_a_model_of_children_says_what_it_keeps() -> None:
    seen = model().inspect()["tables"]["visits"]
    assert seen["measured_from"]["start"] == "patients.born"
    assert "patients.chronic" in seen["numbers"]["predicted_by"]["number"]
    assert isinstance(model().models["visits"], ChildModel)
