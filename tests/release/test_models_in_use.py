"""Models that compare with a population, with what was left out, or with invented records, from policy to manifest."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.support.policies import policy_text

import shoal
from shoal import solve
from shoal.errors import InfeasibleError, PolicyError
from shoal.solve import Problem, Solution
from shoal.solve.local_recoding.released_table import top_node


def text(models: str, solve: str = "") -> str:
    return policy_text("table.csv", f"privacy:\n{models}\nsolve: {{{solve}}}\n", quasi="q", sensitive="s")


def released(folder: Path, table: pl.DataFrame, models: str, solve: str = "") -> tuple[dict[str, Any], pl.DataFrame]:
    """Through files, as a user would."""
    table.write_csv(folder / "table.csv")
    policy = folder / "policy.yaml"
    policy.write_text(text(models, solve))
    release = shoal.anonymise(
        folder / "table.csv", shoal.Policy.load(policy), output=folder / "out", seed=1, force=True
    )
    manifest = json.loads((folder / "out" / "release.json").read_text())
    return manifest, pl.read_csv(str(release.data), infer_schema=False)


def column(**counts: int) -> list[str]:
    return [value for value, times in counts.items() for _ in range(times)]


@pytest.mark.requirement("S-01")
@pytest.mark.parametrize("recoding", ["global", "local", "cells"])
def test_k_map_counts_the_population(tmp_path: Path, recoding: str) -> None:
    pl.DataFrame({"q": column(a=5, b=1, c=9)}).write_csv(tmp_path / "everyone.csv")
    table = pl.DataFrame({"q": ["a", "a", "b", "c"], "s": ["x", "y", "x", "y"]})
    models = "  - k_map: {k: 5, population: everyone.csv}"
    manifest, data = released(tmp_path, table, models, f"recoding: {recoding}, suppression_limit: 0.25")
    assert data["q"].to_list() == ["a", "a", "*", "c"]
    assert manifest["models"] == [{"name": "k_map", "required": 5, "achieved": 5, "met": True}]
    assert manifest["suppressed"]["records"] == 1


@pytest.mark.requirement("S-04")
def test_people_who_look_like_suppressed_records_are_not_known_to_be_absent(tmp_path: Path) -> None:
    pl.DataFrame({"q": column(a=4, b=1)}).write_csv(tmp_path / "everyone.csv")
    table = pl.DataFrame({"q": ["a", "a", "b"], "s": ["x", "y", "x"]})
    models = "  - delta_presence: {minimum: 0.1, maximum: 0.5, population: everyone.csv}"
    manifest, data = released(tmp_path, table, models, "suppression_limit: 0.4, levels: {q: 0}")
    assert data["q"].to_list() == ["a", "a", "*"]
    assert manifest["models"][0]["met"]


@pytest.mark.requirement("S-03")
def test_closeness_is_to_the_table_as_it_was_even_if_suppressed_records_are_left_out(tmp_path: Path) -> None:
    table = pl.DataFrame({"q": list("aabbbbc"), "s": list("xxxyxyx")})
    models = "  - k_anonymity: {k: 2}\n  - t_closeness: {attribute: s, t: 0.3, distance: equal}"
    starred, _ = released(tmp_path, table, models, "suppression_limit: 0.2")
    dropped, data = released(tmp_path, table, models, "suppression_limit: 0.2, drop_suppressed: true")
    assert data.height == 6
    assert dropped["models"] == starred["models"]


@pytest.mark.requirement("S-12")
def test_decoys_instead_of_suppression(tmp_path: Path) -> None:
    table = pl.DataFrame({"q": column(a=6, b=2, c=5), "s": [*"xyxyxyxyxyxyx"]})
    models = "  - k_anonymity: {k: 3}"
    manifest, data = released(tmp_path, table, models, "suppression_limit: 0.2, decoys: {limit: 0.1}")
    assert manifest["decoys"] == {"records": 1, "k_without": 2}
    assert manifest["suppressed"]["records"] == 0
    assert sorted(data["q"].to_list()) == sorted(column(a=6, b=3, c=5))
    assert any("1 of the records are invented" in warning for warning in manifest["warnings"])


@pytest.mark.requirement("S-09")
def test_clusters_of_a_table_that_is_too_small_for_two_levels(tmp_path: Path) -> None:
    table = pl.DataFrame({"q": list("aabb"), "s": list("xyxy")})
    manifest, _ = released(tmp_path, table, "  - k_anonymity: {k: 3}", "recoding: clustered")
    assert manifest["risk"]["k"] == 4


@pytest.mark.requirement("S-01")
def test_different_k_for_different_sets_of_attributes() -> None:
    frame = pl.DataFrame({"a": column(u=4, v=4), "b": [*"xxyyxxyy"]})
    policy = shoal.Policy.from_text(
        "{shoal: 1, name: sets, attributes: {a: {role: quasi}, b: {role: quasi}}, "
        "privacy: [{k_anonymity: {k: 2}}, {k_anonymity: {k: 8, attributes: [b]}}]}"
    )
    release = shoal.anonymise(frame, policy)
    assert release.data.rows() == [(a, "*") for a in frame["a"]]
    assert [finding.achieved for finding in release.manifest.models] == [4, 8]


@pytest.mark.requirement("S-02")
def test_several_sensitive_attributes() -> None:
    frame = pl.DataFrame({"q": [*"aabb"], "s": [*"xyxy"], "t": [*"uuuv"]})
    policy = shoal.Policy.from_text(
        "{shoal: 1, name: two, attributes: {q: {role: quasi}, s: {role: sensitive}, t: {role: sensitive}}, "
        "privacy: [{l_diversity: {attribute: s, l: 2, kind: distinct}}, "
        "{l_diversity: {attribute: t, l: 2, kind: distinct}}]}"
    )
    release = shoal.anonymise(frame, policy)
    assert release.data["q"].unique().to_list() == ["*"]
    with pytest.raises(InfeasibleError, match="l_diversity fails for 4 of 4 records"):
        shoal.anonymise(frame.with_columns(t=pl.lit("u")), policy)


@pytest.mark.requirement("S-08")
def test_local_recoding_is_never_worse_than_one_level_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The heuristic is made to find something poor; the optimum of the lattice is released instead."""
    frame = pl.DataFrame({"q": column(a=3, b=3, c=1), "r": [*"xxxyyyy"]})
    policy = shoal.Policy.from_text(
        "{shoal: 1, name: local, attributes: {q: {role: quasi}, r: {role: quasi}}, "
        "privacy: [{k_anonymity: {k: 3}}], solve: {recoding: local}}"
    )
    honest = shoal.anonymise(frame, policy).solution
    assert honest is not None

    def poor(problem: Problem, **_: object) -> Solution:
        return replace(honest, loss=1.0, cells=top_node(problem))

    monkeypatch.setattr(solve, "solve_local", poor)
    found = shoal.anonymise(frame, policy).manifest.solution
    assert found.loss == solve_lattice_loss(frame)
    assert (found.recoding, found.optimal) == ("local", False)


def solve_lattice_loss(frame: pl.DataFrame) -> float:
    policy = shoal.Policy.from_text(
        "{shoal: 1, name: global, attributes: {q: {role: quasi}, r: {role: quasi}}, privacy: [{k_anonymity: {k: 3}}]}"
    )
    return shoal.anonymise(frame, policy).manifest.solution.loss  # type: ignore[return-value]


@pytest.mark.requirement("S-04")
def test_a_figure_beyond_all_numbers_is_null_in_json(tmp_path: Path) -> None:
    pl.DataFrame({"q": [*"aabb"], "s": [*"xxyy"]}).write_csv(tmp_path / "table.csv")
    (tmp_path / "policy.yaml").write_text(text("  - delta_disclosure: {attribute: s, delta: 1}"))
    command = [sys.executable, "-m", "shoal", "measure", str(tmp_path / "table.csv")]
    command += ["--policy", str(tmp_path / "policy.yaml"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout)["models"] == [
        {"name": "delta_disclosure", "required": 1, "achieved": None, "met": False}
    ]


@pytest.mark.requirement("S-04")
def test_people_known_to_be_absent_are_followed_by_global_recoding_only(tmp_path: Path) -> None:
    pl.DataFrame({"q": column(x=4, y=4, z=3)}).write_csv(tmp_path / "everyone.csv")
    table = pl.DataFrame({"q": ["x", "x", "y"], "s": ["u", "v", "u"]})
    models = "  - delta_presence: {minimum: 0.1, maximum: 0.8, population: everyone.csv}"
    _, data = released(tmp_path, table, models)
    assert data["q"].to_list() == ["*", "*", "*"]
    for recoding in ("local", "cells", "rare"):
        with pytest.raises(PolicyError, match="recoding: global only"):
            released(tmp_path, table, models, f"recoding: {recoding}")


@pytest.mark.requirement("S-04")
def test_where_all_records_are_suppressed_presence_is_not_an_error(tmp_path: Path) -> None:
    pl.DataFrame({"q": column(x=2, y=2)}).write_csv(tmp_path / "everyone.csv")
    table = pl.DataFrame({"q": ["x", "x"], "s": ["u", "v"]})
    models = "  - delta_presence: {minimum: 0.1, maximum: 0.4, population: everyone.csv}"
    manifest, _ = released(tmp_path, table, models, "suppression_limit: 1.0")
    assert manifest["suppressed"]["records"] == 2


@pytest.mark.requirement("S-07")
def test_at_equal_cost_nobody_is_suppressed(tmp_path: Path) -> None:
    table = pl.DataFrame({"q": [*"xxyy"], "s": [*"uuvv"]})
    models = "  - t_closeness: {attribute: s, t: 0.1, distance: equal}"
    manifest, data = released(tmp_path, table, models, "suppression_limit: 1.0, drop_suppressed: true")
    assert manifest["suppressed"]["records"] == 0
    assert data.height == 4
