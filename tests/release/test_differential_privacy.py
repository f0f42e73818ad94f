"""Differentially private tables by an ordinary policy: what is refused, what comes out, what is told of it (S-06)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import exp, log, sqrt
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import FieldName, InputError, PolicyError
from shoal.policy.model import Policy
from shoal.policy.multi_table import any_of
from shoal.release.run import release_folder
from shoal.results.manifest import Manifest

pytestmark = pytest.mark.requirement("S-06")

ASKED = {"differential_privacy": {"epsilon": 1.0, "delta": 1e-6}}
SOLVE = {"levels": {"age": 1, "sex": 0}, "drop_suppressed": True, "suppression_limit": 1}
ATTRIBUTES: dict[str, Any] = {
    "age": {"role": "quasi", "type": "integer", "hierarchy": {"intervals": [10, 20]}},
    "sex": {"role": "quasi", "type": "text"},
    "*": "suppress",
}


def written(**changes: object) -> dict[str, Any]:
    given = {"shoal": 1, "name": "census", "attributes": ATTRIBUTES, "privacy": [ASKED], "solve": SOLVE}
    return {key: value for key, value in {**given, **changes}.items() if value is not None}


def people(number: int) -> pl.DataFrame:
    draw = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "id": np.arange(number),
            "age": draw.integers(0, 60, number),
            "sex": draw.choice(["F", "M"], number, p=[0.7, 0.3]),
        }
    )


def with_attribute(name: str, **changes: object) -> dict[str, Any]:
    return written(attributes={**ATTRIBUTES, name: {**ATTRIBUTES.get(name, {}), **changes}})


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "level left open": (written(solve={**SOLVE, "levels": {"age": 1}}), "every quasi-identifier needs a fixed level"),
    "level chosen": (written(solve={**SOLVE, "levels": {"age": [0, 1], "sex": 0}}), "needs a fixed level"),
    "sensitive column": (with_attribute("job", role="sensitive"), "protects all that is released or nothing"),
    "insensitive column": (with_attribute("job", role="insensitive"), "protects all that is released or nothing"),
    "identifier in another form": (
        with_attribute("id", role="direct", technique={"mask": {}}),
        "protects all that is released or nothing",
    ),
    "labels by frequency": (with_attribute("sex", hierarchy={"rare": 5}), "rare depend on the data"),
    "labels by length": (with_attribute("sex", hierarchy={"redact": {}}), "redact depend on the data"),
    "labels by country of most": (with_attribute("sex", hierarchy="places"), "places depend on the data"),
    "technique": (with_attribute("age", technique={"round": {"base": 5}}), "fixed levels of hierarchies only"),
    "type to be found": (with_attribute("sex", type=None), "declare its type"),
    "format to be found": (with_attribute("sex", type="date"), "declare its format"),
    "another model": (written(privacy=[ASKED, {"k_anonymity": {"k": 5}}]), "goes alone"),
    "person": (written(person="id"), "draws records, so each person has one"),
    "sampling of its own": (written(sample={"fraction": 0.5}), "brings its own sampling"),
    "starred records": (written(solve={**SOLVE, "drop_suppressed": False}), "needs drop_suppressed: true"),
    "limit": (written(solve={**SOLVE, "suppression_limit": 0.1}), "needs suppression_limit: 1"),
    "local recoding": (written(solve={**SOLVE, "recoding": "local"}), "needs recoding: global"),
    "decoys": (written(solve={**SOLVE, "decoys": {"limit": 0.1}}), "how many are invented"),
    "parts": (written(output={"parts": True}), "writes one file"),
    "rules": (written(rules=[{"name": "young", "never": "age < 5"}]), "edit rules look at the records"),
    "merged sources": (written(source={"merge": "map.yaml"}), "not one that is merged"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_would_look_at_the_data_is_refused(case: str) -> None:
    policy, reason = REFUSED[case]
    with pytest.raises(PolicyError, match=reason):
        Policy.of(policy)


def test_a_table_among_several_is_refused() -> None:
    table = {key: value for key, value in written().items() if key not in {"shoal", "name"}}
    with pytest.raises(PolicyError, match="for a table by itself"):
        any_of({"shoal": 1, "name": "census", "tables": {"people": {**table, "source": "people.csv"}}})


def test_parts_and_other_engines_are_refused(tmp_path: Path) -> None:
    people(100).write_csv(tmp_path / "people.csv")
    policy = Policy.of(written())
    for options, field in (({"parts": True}, "parts"), ({"engine": "spark"}, "engine")):
        with pytest.raises(InputError) as refused:
            release_folder(policy, tmp_path / "out", data=str(tmp_path / "people.csv"), **options)
        assert str(refused.value.field) == str(FieldName(field))
    assert not (tmp_path / "out").exists()


def test_a_policy_that_was_changed_in_python_is_looked_at_again() -> None:
    policy = Policy.of(written())
    loose = policy.model_copy(update={"solve": policy.solve.model_copy(update={"levels": {}})})
    with pytest.raises(InputError, match="every quasi-identifier needs a fixed level"):
        shoal.anonymise(people(100), loose)


def test_groups_have_k_and_small_ones_are_gone() -> None:
    source = people(2000)
    made = shoal.anonymise(source, written())
    groups = made.data.group_by("age", "sex").len()
    assert groups["len"].min() >= 74
    assert made.data.columns == ["age", "sex"]
    assert "*" not in made.data["age"].to_list()
    assert made.manifest.differential_privacy is not None
    assert not made.manifest.differential_privacy.seeded
    assert made.manifest.state is not None
    assert not made.manifest.state.still_personal
    assert made.manifest.records is not None
    drawn = 2000 - made.manifest.records.not_sampled
    assert abs(drawn - 2000 * 0.632) < 6 * sqrt(2000 * 0.632 * 0.368)


def test_two_runs_draw_others_in_another_order() -> None:
    source = people(2000)
    one, other = (shoal.anonymise(source, written()).data for _ in range(2))
    assert not one.equals(other)


def test_nothing_is_written_of_too_few_and_the_columns_stay_what_they_are() -> None:
    few, many = (shoal.anonymise(people(number), written()).data for number in (60, 3000))
    assert few.is_empty()
    assert few.schema == many.schema


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("private")
    people(1999).write_csv(place / "people.csv")
    made = shoal.anonymise(place / "people.csv", written(purpose="To try it"), output=place / "release", seed=5)
    (place / "seen.json").write_text(made.manifest.to_json())
    return place


def test_the_manifest_has_nothing_of_the_source(folder: Path) -> None:
    told = json.loads((folder / "release" / "release.json").read_text())
    known = {"source", "records", "suppressed", "suppressed_by_group", "risk_before", "utility", "columns", "drivers"}
    known |= {"timing", "peak_rss_mb", "warnings", "last_look", "attackers", "usefulness", "attacks", "read_back"}
    assert not known & told.keys()
    assert told["differential_privacy"]["smallest_group"] == 74
    assert told["differential_privacy"]["seeded"] is True
    assert told["solution"]["loss"] is None
    assert told["data"]["rows"] == pl.read_csv(folder / "release" / "data.csv").height
    Manifest.load(folder / "release")


def test_neither_manifest_nor_recipients_page_has_a_count_that_is_not_in_the_data(folder: Path) -> None:
    records = json.loads((folder / "seen.json").read_text())["records"]
    secret = {records[name] for name in ("source", "suppressed", "dropped", "not_sampled")} - {0}
    assert 1999 in secret
    for file in ("release.json", "recipient.html"):
        text = (folder / "release" / file).read_text()
        for number in secret:
            assert f">{number}<" not in text
            assert f"{number:,} " not in text
            assert f": {number}," not in text
    report = (folder / "release" / "report.html").read_text()
    assert "1,999" in report


def test_what_is_told_does_not_change_with_what_is_left_out() -> None:
    """The same released table from two sources is told of alike: nothing of the source is in it."""
    facts = [shoal.anonymise(people(number), written()).manifest.published() for number in (50, 60)]
    one, other = (fact.model_copy(update={"created": None}).to_dict() for fact in facts)
    assert one == other


def test_the_recipients_page_is_the_same_whatever_was_left_out(tmp_path: Path) -> None:
    """A value that looks like a mark is escaped by a step of its own, which nobody may see of a record that is gone."""
    pages = []
    for name, rare in (("plain", "x"), ("marked", "*")):
        source = people(30).with_columns(pl.lit(rare).alias("sex"))
        source.write_csv(tmp_path / f"{name}.csv")
        shoal.anonymise(tmp_path / f"{name}.csv", written(), output=tmp_path / name)
        page = (tmp_path / name / "recipient.html").read_text()
        pages.append(re.sub(r"<time.*?</time>", "", page))
    assert pages[0] == pages[1]


def test_a_seeded_draw_is_said_to_guarantee_nothing() -> None:
    made = shoal.anonymise(people(500), written(), seed=7)
    guarantee, state = made.manifest.differential_privacy, made.manifest.state
    assert guarantee is not None
    assert guarantee.seeded
    assert state is not None
    assert state.still_personal
    assert any("nothing is guaranteed" in warning for warning in made.manifest.warnings)


def test_the_same_seed_draws_the_same() -> None:
    one, other = (shoal.anonymise(people(2000), written(), seed=7).data for _ in range(2))
    assert one.equals(other)


Shares: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
EPSILON, DELTA, K = log(2), 0.01, 19
TABLES = 20_000
"""Tiny tables, all in one source and told apart by a column: each is a draw of its own."""


def sizes_released(size: int, model: Mapping[str, object]) -> Shares:
    """By the number of records that a group of so many is released with, how often that happens."""
    source = pl.DataFrame({"table": np.repeat(np.arange(TABLES), size)})
    policy = {
        "shoal": 1,
        "name": "tables",
        "attributes": {"table": {"role": "quasi", "type": "integer"}},
        "privacy": [dict(model)],
        "solve": {"levels": {"table": 0}, "drop_suppressed": True, "suppression_limit": 1},
    }
    found = shoal.anonymise(source, policy).data.group_by("table").len()["len"].to_numpy()
    counted = np.bincount(found, minlength=size + 2)
    counted[0] = TABLES - len(found)
    return counted / TABLES


def measured_delta(model: Mapping[str, object], size: int) -> float:
    """The δ that a record more or less in a group shows at this ε, less three standard errors."""
    with_one, without = sizes_released(size, model), sizes_released(size - 1, model)
    without = np.pad(without, (0, len(with_one) - len(without)))
    return max(excess(with_one, without), excess(without, with_one))


def excess(one: Shares, other: Shares) -> float:
    telling = one > exp(EPSILON) * other
    found, expected = float(one[telling].sum()), float(other[telling].sum())
    error = sqrt((found + exp(2 * EPSILON) * expected) / TABLES)
    return found - exp(EPSILON) * expected - 3 * error


@pytest.mark.parametrize("size", [19, 25, 32])
def test_neighbours_are_within_epsilon_and_delta(size: int) -> None:
    assert measured_delta({"differential_privacy": {"epsilon": EPSILON, "delta": DELTA}}, size) <= DELTA


def test_without_sampling_they_are_not() -> None:
    """The same measure of the same groups with the same k, where everybody is drawn."""
    assert measured_delta({"k_anonymity": {"k": K}}, 25) > 0.9
