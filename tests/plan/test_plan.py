"""A plan is data: frozen nodes that validate themselves, can be printed and compared. Binding runs what it must."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import polars as pl
import pytest
from tests.plan.planning import binder_for

from shoal.engine.polars import PolarsEngine
from shoal.engine.polars.table import PolarsTable
from shoal.errors import BugError
from shoal.plan import build_problem
from shoal.plan.binding_queries import CountQuery, SampleQuery
from shoal.plan.nodes import AskedQuery, Plan, PlannedStep, PlanStage, QueryPurpose
from shoal.plan.shape import PlanShape
from shoal.schema import Step
from shoal.techniques.suppression.suppress import SuppressStep

STEP = SuppressStep("name")
TABLE = pl.DataFrame(
    {"name": ["SECRET1", "SECRET2", "SECRET3", "SECRET4"], "age": [31, 32, 33, 34], "pay": [777001, 777002, 3, 4]}
)
POLICY = """\
shoal: 1
name: p
attributes:
  name: {role: direct, technique: [permute, suppress]}
  age: {role: quasi, technique: [{code: {top_quantile: 0.9}}, {code: {bottom_quantile: 0.1}}]}
  pay: {role: insensitive, technique: permute}
privacy: [{k_anonymity: {k: 2}}]
"""


def test_nodes_are_frozen() -> None:
    node = PlannedStep(STEP, "suppress", "", "name")
    with pytest.raises(FrozenInstanceError):
        node.technique = "mask"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: PlannedStep("mask", "mask", ""), "a step that an engine can run"),  # type: ignore[arg-type]
        (lambda: PlannedStep(STEP, "", ""), "which technique"),
        (lambda: PlannedStep(STEP, "suppress", "", stage=PlanStage.SUPPRESSION), "is for an attribute"),
        (lambda: CountQuery(("age", "age")), "names a column twice"),
        (lambda: AskedQuery(CountQuery(("age",)), -1), "before the first"),
        (lambda: AskedQuery(SampleQuery(("age",)), 1), "looks behind no step"),
        (lambda: Plan(asked=(AskedQuery(CountQuery(()), 0),)), "stands with its step"),
        (lambda: Plan(asked=(AskedQuery(CountQuery(()), 1, QueryPurpose.CHECK),)), "stands with its step"),
        (lambda: Plan((node(PlanStage.SOLUTION), node(PlanStage.ATTRIBUTES))), "comes after one of the stage"),
        (lambda: Plan((node(PlanStage.ATTRIBUTES, behind=1),)), "behind one that comes after"),
    ],
)
def test_what_makes_no_sense_is_our_bug(make: object, reason: str) -> None:
    with pytest.raises(BugError, match=reason):
        make()  # type: ignore[operator]


def node(stage: PlanStage, behind: int = 0) -> PlannedStep:
    return PlannedStep(STEP, "suppress", "", "name", stage=stage, queries=(AskedQuery(CountQuery(("age",)), behind),))


def test_plans_are_compared_by_what_they_say() -> None:
    one, same = binder_for(TABLE, POLICY), binder_for(TABLE, POLICY)
    other = binder_for(TABLE, POLICY.replace("0.9", "0.8"))
    for binder in (one, same, other):
        binder.bind_techniques()
    assert one.plan == same.plan
    assert one.plan != other.plan


def test_a_plan_is_printed_and_written_as_json_without_any_value() -> None:
    binder = binder_for(TABLE, POLICY)
    binder.bind_techniques()
    build_problem(binder)
    written = json.dumps(binder.plan.to_dict())
    for text in (str(binder.plan), repr(binder.plan), written):
        assert "SECRET" not in text
        assert "777" not in text
    assert [step["technique"] for step in json.loads(written)["steps"]] == [
        "originals",
        "code",
        "code",
        "permute",
        "permute",
        "suppress",
    ]
    assert str(binder.plan).splitlines()[2] == "3. age: code bottom_quantile 0.1 (attributes, bound behind step 2)"


def test_a_step_that_is_bound_behind_another_says_so() -> None:
    binder = binder_for(TABLE, POLICY)
    binder.bind_techniques()
    first, second = (planned for planned in binder.plan if planned.attribute == "age")
    assert (first.barrier, second.barrier) == (1, 2), "the first sees the originals' column copied, nothing else"
    assert [planned.barrier for planned in binder.plan if planned.technique == "permute"] == [0, 0]


class CountingEngine(PolarsEngine):
    """Says which steps were run, and how often."""

    def __init__(self) -> None:
        super().__init__()
        self.ran: list[str] = []

    def map(self, table: PolarsTable, steps: object) -> PolarsTable:
        self.ran += [type(step).__name__ for step in steps]  # type: ignore[attr-defined]
        return super().map(table, steps)  # type: ignore[arg-type]

    def shuffle(self, table: PolarsTable, step: Step) -> PolarsTable:
        self.ran.append(type(step).__name__)
        return super().shuffle(table, step)


def test_binding_runs_only_what_a_query_looks_behind_and_execution_runs_the_rest_once() -> None:
    binder = binder_for(TABLE, POLICY)
    engine = CountingEngine()
    binder.planned.engine = engine
    binder.bind_techniques()
    assert engine.ran.count("PermuteStep") == 0
    assert "CodeStep" in engine.ran
    binder.planned.execute()
    binder.planned.execute()
    assert engine.ran.count("PermuteStep") == 1, "that of the column which goes is left out"
    assert len(binder.planned.executed) <= len(binder.plan)


def test_shape_is_known_without_a_record() -> None:
    shape = PlanShape.over(TABLE.schema, [STEP])
    assert shape.columns == ("age", "pay")
    assert shape.last_that_matters(("age",)) == 0
