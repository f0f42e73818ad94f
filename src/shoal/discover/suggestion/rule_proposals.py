"""Edit rules that a table itself suggests: two values that many people have each, and nobody has together.

Proposed only where chance is no explanation. Had the two attributes nothing to do with each other, at least
``EXPECTED`` records would have both values; that none has is then rarer than one in ten thousand million. Where a large
part of the likely pairs is missing, one attribute is made from the other (a town and its state), and nothing is said.

A rule names values, which a suggested policy does not do otherwise. So it is asked for, and only values of at least k
people are named.

>>> sexes = ["male"] * 300 + ["female"] * 300
>>> wards = (["surgery"] * 2 + ["urology"]) * 100 + (["surgery"] * 2 + ["gynaecology"]) * 100
>>> found = propose_rules(pl.LazyFrame({"sex": sexes, "ward": wards}), ["sex", "ward"], k=5)
>>> [rule.never for rule in found]
["sex = 'female' AND ward = 'urology'", "sex = 'male' AND ward = 'gynaecology'"]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import polars as pl

from shoal.discover.suggestion.policy_draft import Suggestion
from shoal.discover.suggestion.policy_yaml import comment, setting
from shoal.policy import PRESETS, UseCase
from shoal.schema import Role, ValueType
from shoal.schema.type_detection import detect

EXPECTED: Final = 25
"""Records that would have both values if the attributes had nothing to do with each other."""
MOST_RULES: Final = 10
MOST_COLUMNS: Final = 12
MOST_VALUES: Final = 40
MOST_MISSING: Final = 0.34
"""The share of likely pairs that may be missing before one attribute is taken to be made from the other."""
FEWEST_PEOPLE: Final = 5
"""Who have to have a value for it to be named, where the use case asks for no k."""
_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*")
ABOUT: Final = "No record has these values together, though many have each. Whether none ever can is for you to say."


@dataclass(frozen=True)
class ProposedRule:
    name: str
    never: str
    expected: float


def with_rules(found: Suggestion, frame: pl.LazyFrame, use_case: UseCase) -> Suggestion:
    """The suggestion with the rules that its table shows, if any."""
    kinds = {name: one for name, one in found.choices.items() if one.role is not Role.DIRECT and not one.suppressed}
    rules = propose_rules(frame, tuple(kinds), k=PRESETS[use_case].k or FEWEST_PEOPLE, person=found.person)
    if not rules:
        return found
    lines = [f"  - {setting({'name': rule.name, 'never': rule.never})}" for rule in rules]
    return replace(found, text="\n".join([found.text.rstrip("\n"), "", comment(ABOUT), "rules:", *lines, ""]))


def propose_rules(
    frame: pl.LazyFrame, names: Sequence[str], *, k: int, person: str | None = None
) -> tuple[ProposedRule, ...]:
    """For pairs of columns of few texts, the most surprising first; from counts, in streamed passes."""
    schema = frame.collect_schema()
    stored = [name for name in names if isinstance(schema[name], pl.String | pl.Categorical | pl.Enum)]
    texts = [name for name, column in detect(frame, stored).items() if column.type is ValueType.TEXT] if stored else []
    if not texts:
        return ()
    several = frame.select(pl.col(texts).n_unique()).collect(engine="streaming").row(0, named=True)
    few = sorted((name for name in texts if 2 <= several[name] <= MOST_VALUES), key=lambda name: several[name])
    columns = [name for name in texts if name in few[:MOST_COLUMNS] and name != person]
    people = pl.len() if person is None else pl.col(person).n_unique()
    found = [rule for pair in combinations(columns, 2) for rule in _never_together(frame, pair, people, k)]
    return tuple(sorted(found, key=lambda rule: (-rule.expected, rule.never))[:MOST_RULES])


def _never_together(frame: pl.LazyFrame, pair: tuple[str, str], people: pl.Expr, k: int) -> Iterator[ProposedRule]:
    texts = frame.with_columns(pl.col(pair).cast(pl.String)).drop_nulls(pair)
    counted = [
        texts.group_by(keys).agg(records=pl.len(), people=people).sort(keys).collect(engine="streaming")
        for keys in ([pair[0]], [pair[1]], list(pair))
    ]
    first, second, both = counted
    total = int(first["records"].sum())
    there = set(both.select(pair).iter_rows())
    likely = [
        (one, other, records * others / total)
        for one, records, _ in _held(first, k)
        for other, others, _ in _held(second, k)
        if records * others >= EXPECTED * total
    ]
    missing = [each for each in likely if each[:2] not in there]
    if missing and len(missing) <= MOST_MISSING * len(likely):
        for one, other, expected in missing:
            never = f"{_column(pair[0])} = {_value(one)} AND {_column(pair[1])} = {_value(other)}"
            yield ProposedRule(_called(one, other), never, expected)


def _held(counted: pl.DataFrame, k: int) -> list[tuple[str, int, int]]:
    """Values of at least k people."""
    return counted.filter(pl.col("people") >= k).rows()


def _column(name: str) -> str:
    escaped = name.replace('"', '""')
    return name if _PLAIN.fullmatch(name) else f'"{escaped}"'


def _value(text: str) -> str:
    escaped = text.replace("'", "''")
    return f"'{escaped}'"


def _called(one: str, other: str) -> str:
    return re.sub(r"[^\w.-]+", "-", f"no-{one}-{other}")[:100]
