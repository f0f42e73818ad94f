"""Whether the edit rules of a policy hold, in the original and in what was written.

What a rule says stands in the policy alone: it names values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from shoal.errors import DataError
from shoal.policy import Policy
from shoal.policy.edit_rules import EditRule, OnViolation, computable_rules, declared_columns, rule_columns
from shoal.results.base import Absent, ResultModel, Words
from shoal.results.number_format import count
from shoal.schema import Column
from shoal.schema.rule_counts import RuleCount, count_violations, known_values


class RuleCountResult(ResultModel):
    records: int
    violations: int
    """Records that break the rule."""
    undecided: int = 0
    """Records of which it can't be told: a value is missing, suppressed or generalised."""


class EditRuleResult(ResultModel):
    name: str
    columns: tuple[str, ...]
    on_violation: str
    before: RuleCountResult | None = None
    """In the original; none where a column is made in the run."""
    after: RuleCountResult | None = None
    """In the released data."""
    untold: Absent[Words] = None
    """Why nothing can be said of the released data."""

    @property
    def held(self) -> bool:
        """Whether no released record is seen to break it."""
        return self.after is None or not self.after.violations

    @property
    def words(self) -> str:
        before = "" if self.before is None else f"{count(self.before.violations, 'record')} before"
        after = f"{self.after.violations:,} after" if self.after is not None else f"after: {self.untold}"
        return f"broken by {', '.join(filter(None, (before, after)))}"


def check_edit_rules(policy: Policy, before: pl.LazyFrame, after: pl.LazyFrame) -> tuple[EditRuleResult, ...]:
    """Counted in streamed passes over both tables. A rule that has to hold, and doesn't, is a DataError."""
    if not policy.rules:
        return ()
    found = count_edit_rules(
        policy.rules,
        before,
        after if policy.kind.has_records else None,
        declared=declared_columns(policy),
        by_value=True,
    )
    refuse_broken(policy.rules, found, advice="treat their columns together, or say on_violation: suppress")
    return found


def count_edit_rules(
    rules: Sequence[EditRule],
    before: pl.LazyFrame | None,
    after: pl.LazyFrame | None,
    *,
    declared: Mapping[str, Column] | None = None,
    by_value: bool = False,
) -> tuple[EditRuleResult, ...]:
    """``by_value``: what is no value of the original, as a label of several, decides nothing in the released data."""
    there, left = ([] if frame is None else frame.collect_schema().names() for frame in (before, after))
    columns: dict[str, Column] = {}
    for frame, names in ((before, there), (after, left)):
        if frame is not None:
            columns |= rule_columns(rules, declared or {}, frame, [name for name in names if name not in columns])
    was, known = {}, {}
    if before is not None:
        was = count_violations(before, computable_rules(rules, columns, there))
        if by_value:
            known = known_values(before, {name: column for name, column in columns.items() if name in there})
    now = {} if after is None else count_violations(after, computable_rules(rules, columns, left), known)
    return tuple(_result(rule, was.get(rule.name), now.get(rule.name), left) for rule in rules)


def edit_rule_warnings(found: Sequence[EditRuleResult], advice: str | None = None) -> Iterator[str]:
    for one in found:
        if one.after is not None and one.after.violations:
            were = "" if one.before is None else f" ({one.before.violations:,} of the original)"
            kept = advice or (
                f"techniques that treat {' and '.join(map(repr, one.columns))} together, or on_violation: suppress, "
                "would keep it"
            )
            yield (
                f"the rule '{one.name}' is broken by {one.after.violations:,} of {one.after.records:,} released "
                f"records{were}: {kept}"
            )


def _result(rule: EditRule, was: RuleCount | None, now: RuleCount | None, left: Sequence[str]) -> EditRuleResult:
    gone = [f"'{name}'" for name in rule.columns if name not in left]
    untold = None
    if now is None:
        which = f"{' and '.join(gone)} {'is' if len(gone) == 1 else 'are'} not released"
        untold = which if left else "there are no records in the release"
    return EditRuleResult(
        name=rule.name,
        columns=rule.columns,
        on_violation=str(rule.on_violation),
        before=None if was is None else RuleCountResult.model_validate(was),
        after=None if now is None else RuleCountResult.model_validate(now),
        untold=untold,
    )


def refuse_broken(rules: Iterable[EditRule], found: Iterable[EditRuleResult], *, advice: str) -> None:
    must = {rule.name for rule in rules if rule.on_violation is OnViolation.REFUSE}
    broken = [one for one in found if one.name in must and (one.after is None or one.after.violations)]
    if broken:
        told = "; ".join(f"'{one.name}' is {one.words}" for one in broken)
        raise DataError(f"rules: {told}", advice=advice)
