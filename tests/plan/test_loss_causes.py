"""Where much is lost, it is said what of, and what would help; each figure is what solving again gives."""

from __future__ import annotations

import polars as pl
import pytest
from tests.source_documents.tables import TABLES

from shoal.api.arguments import source_from
from shoal.plan.dry_run import rehearse
from shoal.plan.loss_causes import TOO_MUCH, LossCauses, loss_causes
from shoal.plan.solver_choice import solve_by_policy
from shoal.policy import Policy

pytestmark = pytest.mark.requirement("S-07")
PEOPLE = pl.DataFrame(
    {f"trait {place}": [str((n * step + n // 3) % most) for n in range(24)] for place, step, most in
     [(1, 1, 24), (2, 5, 23), (3, 7, 19), (4, 11, 2)]}
)  # fmt: skip
"""Twenty-four people who differ in nearly everything but the last trait."""


def asked(table: pl.DataFrame, quasi: list[str], varied: str | None) -> Policy:
    given = dict.fromkeys(quasi, "{role: quasi}") | ({varied: "{role: sensitive}"} if varied else {})
    roles = "".join(f'  "{name}": {given.get(name, "suppress")}\n' for name in table.columns)
    further = f'\n  - l_diversity: {{attribute: "{varied}", l: 2, kind: distinct}}' if varied else ""
    models = f"privacy:\n  - k_anonymity: {{k: 5}}{further}\n"
    return Policy.from_text(f"shoal: 1\nname: a\nattributes:\n{roles}{models}solve: {{recoding: local}}\n")


def causes_of(table: pl.DataFrame, quasi: list[str], varied: str | None = None) -> tuple[float, LossCauses | None]:
    policy = asked(table, quasi, varied)
    problem = rehearse(policy, source_from(table, "data"), seed=0).problem
    solution = solve_by_policy(problem, policy.solve)
    return solution.loss, loss_causes(problem, policy.solve, solution)


def test_as_many_are_named_as_it_takes() -> None:
    loss, causes = causes_of(PEOPLE, PEOPLE.columns)
    assert causes is not None
    assert min(causes.without.values()) > TOO_MUCH
    assert causes.without_several is not None
    names, left = causes.without_several
    assert 1 < len(names) < len(PEOPLE.columns)
    again, none = causes_of(PEOPLE, [name for name in PEOPLE.columns if name not in names])
    assert again == left <= TOO_MUCH < loss
    assert none is None
    assert f" and {names[-1]}: loss {left:.2f}" in causes.words


def test_a_smaller_k_is_that_of_a_use_case() -> None:
    table = TABLES["meity 2.u"].frame().select("Gender").vstack(pl.DataFrame({"Gender": ["Male", "Female"]}))
    loss, causes = causes_of(table, ["Gender"])
    assert loss == 1
    assert causes is not None
    assert causes.smaller_k == (3, 0.0)
    assert "nothing of the detail" in causes.words
    assert "with k = 3 instead of 5 (enough for internal-anonymised and retention): loss 0.00" in causes.words


def test_where_nothing_helps_it_is_said_that_there_are_too_few() -> None:
    _, causes = causes_of(pl.DataFrame({"town": list("abcdef")}), ["town"])
    assert causes is not None
    assert causes.words.endswith("combine the data with other data, or give counts by group")


def test_nothing_is_said_of_what_keeps_its_detail() -> None:
    loss, causes = causes_of(pl.DataFrame({"ward": ["a", "b"] * 5}), ["ward"])
    assert (loss, causes) == (0, None)


def test_what_other_models_cost_is_told() -> None:
    """Two wards of five, all of one ward ill: k alone keeps the wards apart."""
    table = pl.DataFrame({"ward": ["a"] * 5 + ["b"] * 5, "illness": ["x"] * 5 + ["x", "y"] * 2 + ["y"]})
    loss, causes = causes_of(table, ["ward"], "illness")
    assert loss == 1
    assert causes is not None
    assert causes.k_alone == 0
    assert "with k-anonymity as the only model: loss 0.00" in causes.words
