"""Where combinations are too many for the solver's machine, the engine rolls the finest attribute up before it counts.

What comes out is what the whole table would give with the same lowest levels.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from shoal.engine.polars import PolarsEngine
from shoal.engine.protocol import TooManyCombinationsError
from shoal.engine.spark import SparkEngine, counting
from shoal.errors import DataError
from shoal.policy import Policy
from shoal.release.run import release_folder
from shoal.schema import Counts

pytestmark = pytest.mark.requirement("L-04", "D-01")

ROWS = 600
TABLE = pl.DataFrame(
    {
        "age": [None if row % 31 == 0 else row * 7 % 90 for row in range(ROWS)],
        "pin": [None if row % 43 == 0 else f"{110_000 + row * 37 % 110}" for row in range(ROWS)],
        "sex": [("f", "m")[row % 2] for row in range(ROWS)],
        "ward": [("north", "south", "east")[row % 3] for row in range(ROWS)],
    }
)
AGE = {"role": "quasi", "hierarchy": {"intervals": {"widths": [5, 15, 45]}}}
PIN = {"role": "quasi", "hierarchy": {"redact": {"side": "right"}}}


class Limited(PolarsEngine):
    """Hands over so many combinations and no more; remembers how often it was asked for too many."""

    most = 0
    refused = 0

    def counts(self, table: Any, attributes: tuple[str, ...], person: str | None = None) -> Counts:
        counts = super().counts(table, attributes, person)
        if counts.size > self.most:
            self.refused += 1
            raise TooManyCombinationsError(f"there are {counts.size} combinations")
        return counts


def policy(folder: Path, **solve: Any) -> Policy:
    content = {
        "shoal": 1,
        "name": "rolled",
        "attributes": {"age": AGE, "pin": PIN, "sex": {"role": "quasi"}, "ward": {"role": "sensitive"}},
        "privacy": [{"k_anonymity": {"k": 4}}, {"l_diversity": {"attribute": "ward", "kind": "distinct", "l": 2}}],
        "solve": {"suppression_limit": 0.1, **solve},
    }
    (folder / "policy.yaml").write_text(json.dumps(content), encoding="utf-8")
    return Policy.load(folder / "policy.yaml")


def limited(most: int) -> Limited:
    engine = Limited(batch_rows=64)
    engine.most = most
    return engine


@pytest.fixture
def data(tmp_path: Path) -> str:
    TABLE.write_parquet(tmp_path / "table.parquet")
    return str(tmp_path / "table.parquet")


def released(folder: Path, name: str, data: str, engine: Any, **solve: Any) -> tuple[pl.DataFrame, dict[str, Any]]:
    release = release_folder(policy(folder, **solve), folder / name, data=data, engine=engine, seed=1)
    assert release.folder is not None
    facts = json.loads((release.folder / "release.json").read_text(encoding="utf-8"))
    return pl.read_parquet(release.folder / "data.parquet"), facts


def rolled(facts: dict[str, Any]) -> dict[str, int]:
    """The level that each attribute was counted on, as the manifest's warning says."""
    (warning,) = [warning for warning in facts["warnings"] if "too many combinations" in warning]
    return {name: int(level) for name, level in re.findall(r"'(\w+)' from level (\d)", warning)}


@pytest.mark.parametrize("recoding", ["global", "local", "cells", "rare"])
def test_what_comes_out_is_what_the_whole_table_gives(tmp_path: Path, data: str, recoding: str) -> None:
    engine = limited(300)
    found, facts = released(tmp_path, "rolled", data, engine, recoding=recoding)
    levels = rolled(facts)
    assert engine.refused > 1
    assert set(levels) == {"age", "pin"}
    bounds = {name: [level, 4 if name == "age" else 6] for name, level in levels.items()}
    whole, expected = released(tmp_path, "whole", data, PolarsEngine(), recoding=recoding, levels=bounds)
    assert_frame_equal(found, whole)
    assert facts["solution"]["levels"] == expected["solution"]["levels"]
    assert facts["risk"] == expected["risk"]
    assert facts["risk_before"]["k"] >= expected["risk_before"]["k"]


def test_the_lowest_level_of_the_policy_is_where_it_starts(tmp_path: Path, data: str) -> None:
    engine = limited(120)
    _, facts = released(tmp_path, "rolled", data, engine, levels={"age": [2, 4], "pin": 3})
    assert rolled(facts) == {"pin": 3}
    assert engine.refused == 1


def test_no_level_above_those_of_the_policy_is_taken(tmp_path: Path, data: str) -> None:
    with pytest.raises(DataError, match="combinations"):
        released(tmp_path, "rolled", data, limited(4), levels={"age": [0, 1], "pin": [0, 2]})
    assert not (tmp_path / "rolled").exists()


def test_an_attribute_that_is_too_fine_by_itself_is_refused(tmp_path: Path, data: str) -> None:
    with pytest.raises(DataError, match="combinations"):
        released(tmp_path, "rolled", data, limited(50))


@pytest.mark.spark
def test_spark_rolls_up_on_its_executors(
    spark: SparkEngine, tmp_path: Path, data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, facts = released(tmp_path, "rolled", data, limited(300))
    monkeypatch.setattr(counting, "MOST", 300)
    found, told = released(tmp_path, "on spark", data, spark)
    assert rolled(told) == rolled(facts) != {}
    assert_frame_equal(found, expected, check_row_order=False)
    assert (told["risk"], told["solution"]) == (facts["risk"], facts["solution"])
