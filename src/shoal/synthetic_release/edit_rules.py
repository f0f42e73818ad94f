"""Edit rules of a synthetic table (ISO/IEC 20889, 9.7.3): read from a policy or a file of their own, and counted.

Rules of which ``on_violation`` is ``suppress`` steer the draw: a record that breaks one is drawn again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import Field, ValidationError

from shoal.errors import InputError, PolicyError, PolicyProblem
from shoal.policy import Policy
from shoal.policy.edit_rules import EditRule, OnViolation
from shoal.policy.load import findings_of, read_given, read_mapping
from shoal.policy.yaml_tree import dotted
from shoal.results.edit_rule_results import EditRuleResult, count_edit_rules, refuse_broken
from shoal.schema.parameters import Parameters
from shoal.schema.registry import did_you_mean
from shoal.synthetic_release.record_draws import RecordDraw

FIELD = "edit_rules"


class EditRuleFile(Parameters):
    """Rules without a policy."""

    shoal: Literal[1] = 1
    rules: tuple[EditRule, ...] = Field(min_length=1)


def read_edit_rules(given: object) -> tuple[EditRule, ...]:
    """As a caller has them: a policy, the path of its file or of one that holds ``rules:`` alone, a text, a mapping.

    >>> [rule.name for rule in read_edit_rules({"rules": [{"name": "adults", "never": "age < 18"}]})]
    ['adults']
    """
    rules = given.rules if isinstance(given, Policy) else read_given(given, _from_text, field=FIELD)
    if not rules:
        raise InputError("there is none in that policy", field=FIELD)
    return rules


def _from_text(text: str, *, source: str = "policy", folder: Path | None = None) -> tuple[EditRule, ...]:
    tree, data = read_mapping(text, source=source)
    if "attributes" in data or "rules" not in data:
        return Policy.from_text(text, source=source, folder=folder).rules
    try:
        read = EditRuleFile.model_validate(data)
    except ValidationError as error:
        found = findings_of(error, tree, EditRuleFile)
        problems = [PolicyProblem(*tree.where(path), dotted(path), message) for path, message in found]
        raise PolicyError([*tree.problems, *dict.fromkeys(problems)], source=source) from None
    if tree.problems:
        raise PolicyError(list(tree.problems), source=source)
    return read.rules


def refuse_unknown(rules: Iterable[EditRule], columns: Sequence[str]) -> None:
    """A rule over a column that is not there would never be seen broken."""
    for rule in rules:
        for name in rule.columns:
            if name not in columns:
                near = did_you_mean(name, tuple(columns))
                raise InputError(f"'{rule.name}': there is no column '{name}'{near}", field=FIELD)


def never_drawn(rules: Iterable[EditRule]) -> tuple[str, ...]:
    """Conditions of records that are drawn again."""
    return tuple(rule.never for rule in rules if rule.on_violation is OnViolation.SUPPRESS)


def checked_rules(
    rules: Sequence[EditRule], original: pl.DataFrame | None, released: pl.LazyFrame, draw: RecordDraw
) -> tuple[EditRuleResult, ...]:
    """How often each is broken in the source, where it was read, and in what was drawn; what has to hold, holds."""
    if not rules:
        return ()
    before = original.lazy() if original is not None and original.height and draw.needs_data else None
    found = count_edit_rules(rules, before, released)
    refuse_broken(rules, found, advice="say on_violation: suppress, and records that break it are drawn again")
    return found
