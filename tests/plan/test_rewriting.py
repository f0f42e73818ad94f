"""Every rewrite rule leaves the output as it was, byte for byte, whatever the table and the policy are."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.plan.planning import Written, write

from shoal.errors import BugError, DataError, InfeasibleError
from shoal.plan.nodes import PlannedStep
from shoal.plan.rewrite_rules import (
    RULES,
    FusedStep,
    PlanSegment,
    RewriteRule,
    drop_identities,
    fuse_column_steps,
    look_up_labels,
    suppress_columns_first,
)
from shoal.schema import Column
from shoal.techniques.generalisation.generalise import LookUpStep

pytestmark = pytest.mark.requirement("T-08")

HEAD = "shoal: 1\nname: p\nattributes:\n"
NAME = (
    "{role: direct, technique: [{mask: {keep_first: 1}}, suppress]}",
    "{role: direct, technique: [permute, suppress]}",
    "{role: direct, technique: {permute: {within: [city]}}}",
    "{role: direct, technique: {pseudonymise: {domain: people}}}",
    "suppress",
)
AGE = (
    "{role: quasi, hierarchy: {intervals: {widths: [10, 40]}}}",
    "{role: quasi, technique: [{round: {base: 5}}, {code: {top: 60}}]}",
    "{role: quasi, technique: {generalise: {hierarchy: {intervals: {widths: [10]}}, level: 1}}}",
)
PAY = (
    "{role: insensitive, technique: [{round: {base: 10}}, {noise: {laplace: {scale: 5}}}, {round: {base: 1}}]}",
    "{role: insensitive, technique: [permute, {code: {top: 900}}]}",
    "{role: insensitive, technique: [{round: {base: 100}}, suppress]}",
    "{role: insensitive, technique: {microaggregate: {k: 3}}}",
)
WHOLE = (
    "",
    "shuffle_rows: true\n",
    "sample: {fraction: 0.8}\n",
    "suppress_records: {where: age > 70}\nperson: name\n",
    "solve: {suppression_limit: 0.5, drop_suppressed: true}\n",
    "solve: {recoding: cells}\n",
)


@st.composite
def policies(draw: st.DrawFn) -> str:
    chosen = {"name": draw(st.sampled_from(NAME)), "age": draw(st.sampled_from(AGE)), "city": "{role: quasi}"}
    chosen["pay"] = draw(st.sampled_from(PAY))
    attributes = "".join(f"  {name}: {chosen[name]}\n" for name in draw(st.permutations(list(chosen))))
    return f"{HEAD}{attributes}privacy: [{{k_anonymity: {{k: 2}}}}]\n{draw(st.sampled_from(WHOLE))}"


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    records = draw(st.integers(6, 30))
    some = st.lists(st.integers(0, 1000), min_size=records, max_size=records)
    pay, ages = draw(some), draw(st.lists(st.integers(18, 90), min_size=records, max_size=records))
    cities = draw(st.lists(st.sampled_from(["Pune", "Delhi", "*"]), min_size=records, max_size=records))
    names = [f"Person {number * 7919 % 10007:05}" for number in range(records)]
    return pl.DataFrame({"name": names, "age": ages, "city": cities, "pay": pay})


def outcome(table: pl.DataFrame, policy: str, rules: tuple[RewriteRule, ...]) -> Written | str:
    try:
        return write(table, policy, rules)
    except (DataError, InfeasibleError) as error:
        return str(error)


def same(one: Written | str, other: Written | str) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return (one.data, one.aside) == (other.data, other.aside)


@pytest.mark.parametrize("rules", [*((rule,) for rule in RULES), RULES], ids=[*(r.__name__ for r in RULES), "all"])
@given(table=tables(), policy=policies())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_output_is_unchanged(rules: tuple[RewriteRule, ...], table: pl.DataFrame, policy: str) -> None:
    assert same(outcome(table, policy, rules), outcome(table, policy, ()))


def last_first(segment: PlanSegment) -> PlanSegment:
    """Known-bad: steps that depend on each other change places."""
    return segment.picked(sorted(range(len(segment.steps)), key=lambda place: segment.steps[place].technique))


def forget_noise(segment: PlanSegment) -> PlanSegment:
    """Known-bad: a step that does something is taken for one that does nothing."""
    return without(segment, "noise")


def without(segment: PlanSegment, technique: str) -> PlanSegment:
    return segment.picked(place for place, planned in enumerate(segment.steps) if planned.technique != technique)


TABLE = pl.DataFrame(
    {
        "name": [f"Person {number * 7919 % 10007:05}" for number in range(20)],
        "age": [20 + number % 4 for number in range(20)],
        "city": ["Pune", "Delhi"] * 10,
        "pay": [number * 37 % 1000 for number in range(20)],
    }
)
POLICY = f"{HEAD}  name: {NAME[1]}\n  age: {AGE[0]}\n  city: {{role: quasi}}\n  pay: {PAY[0]}\n"
ASKED = POLICY + "privacy: [{k_anonymity: {k: 4}}]\n"


@pytest.mark.parametrize("rule", [last_first, forget_noise])
def test_a_rule_that_changes_the_output_is_caught(rule: RewriteRule) -> None:
    assert not same(outcome(TABLE, ASKED, (rule,)), outcome(TABLE, ASKED, ()))


def test_a_rule_that_loses_a_column_is_our_bug_and_nothing_is_written() -> None:
    def keep_everything(segment: PlanSegment) -> PlanSegment:
        return without(segment, "suppress")

    with pytest.raises(BugError, match="other columns than it says"):
        write(TABLE, ASKED, (keep_everything,))


def keys(written: Written) -> list[str]:
    return [planned.technique for planned in written.executed]


def test_nothing_is_done_to_a_column_that_goes() -> None:
    assert "permute" in keys(write(TABLE, ASKED, ()))
    assert "permute" not in keys(write(TABLE, ASKED, (suppress_columns_first,)))


def test_what_others_read_is_still_done_before_a_column_goes() -> None:
    policy = ASKED.replace(NAME[1], "{role: direct, technique: [{permute: {with: [pay]}}, suppress]}")
    done = keys(write(TABLE, policy, (suppress_columns_first,)))
    assert done.index("permute") < done.index("suppress")


def test_steps_on_one_column_are_fused_up_to_the_next_column() -> None:
    assert "round + noise + round" in keys(write(TABLE, ASKED, (fuse_column_steps,)))
    (one, other) = (PlannedStep(LookUpStep(Column(name), NONE, NONE), "generalise", "", name) for name in ("a", "b"))
    segment = PlanSegment.over(pl.Schema({"a": pl.String(), "b": pl.String()}), (one, other, other))
    assert [type(planned.step) for planned in fuse_column_steps(segment).steps] == [LookUpStep, FusedStep]


NONE = pl.Series([None], dtype=pl.String)


def test_a_look_up_that_gives_every_value_back_is_dropped() -> None:
    values = pl.Series(["a", None])
    nothing = PlannedStep(LookUpStep(Column("a"), values, values), "generalise", "", "a")
    something = PlannedStep(LookUpStep(Column("a"), values, pl.Series(["a", "*"])), "generalise", "", "a")
    segment = PlanSegment.over(pl.Schema({"a": pl.String()}), (nothing, something))
    assert drop_identities(segment).steps == (something,)
    assert drop_identities(segment).steps[0] is something


def test_levels_of_the_solver_are_looked_up() -> None:
    written = write(TABLE, ASKED + "solve: {levels: {age: 1}}\n", (look_up_labels,))
    assert any(isinstance(planned.step, LookUpStep) for planned in written.executed)
