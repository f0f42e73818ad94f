"""A run knows which record became which, whatever happened to their order and number; the release doesn't tell."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.support.policies import policy_text

from shoal.assess.attack import table_attack
from shoal.attack.battery import AttackTables, BatteryResult
from shoal.policy import Policy
from shoal.release.run import release_folder

pytestmark = pytest.mark.requirement("R-04")

POLICY = policy_text(
    "data.csv",
    "privacy: [{k_anonymity: {k: 4}}]\n",
    {"bill": "technique: {noise: {uniform: {width: 1}}}"},
    quasi="city",
    insensitive="mark bill",
)


def table(alike: int) -> pl.DataFrame:
    """Two cities that many live in and one that two do; a mark that so many people have each."""
    city = ["a"] * 50 + ["b"] * 8 + ["c"] * 2
    return pl.DataFrame({"city": city, "mark": [place // alike for place in range(60)], "bill": [5.0] * 60})


@pytest.mark.parametrize(
    ("alike", "more", "rows"),
    [
        (1, "shuffle_rows: true\nsolve: {suppression_limit: 0.2}", 60),
        (1, "shuffle_rows: true\nsolve: {suppression_limit: 0.2, drop_suppressed: true}", 58),
        (1, "sample: {fraction: 0.5}\nshuffle_rows: true\nsolve: {suppression_limit: 0.2}", None),
        (6, "solve: {suppression_limit: 0.2, decoys: {limit: 0.5}}", 62),
    ],
    ids=["shuffled", "left out", "sampled", "invented"],
)
def test_every_record_is_traced_to_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alike: int, more: str, rows: int | None
) -> None:
    seen: list[AttackTables] = []

    def watched(tables: AttackTables, *_: object, **__: object) -> BatteryResult:
        seen.append(tables)
        return BatteryResult((), {}, (), rows_known=True, in_order=False)

    monkeypatch.setattr(table_attack, "run_attacks", watched)
    table(alike).write_csv(tmp_path / "data.csv")
    policy = Policy.from_text(POLICY + more)
    done = release_folder(policy, tmp_path / "release", data=str(tmp_path / "data.csv"), seed=1, evidence=True)
    tables, manifest = seen[0], json.loads((tmp_path / "release" / "release.json").read_text())
    origins = tables.origins
    assert origins is not None
    assert len(origins) == done.manifest.data.rows
    assert rows is None or len(origins) == rows
    assert origins.null_count() == manifest["decoys"]["records"]
    assert origins.drop_nulls().n_unique() == origins.count()
    real = origins.is_not_null()
    assert tables.release["mark"].filter(real).equals(tables.original["mark"].gather(origins.filter(real)))
    assert "__shoal" not in (tmp_path / "release" / "data.csv").read_text() + json.dumps(manifest)
