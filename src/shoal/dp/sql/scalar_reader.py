"""Expressions of SQL over one row (or over figures) to scalars, with their kinds checked."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from sqlglot import exp

from shoal.dp.description import DatasetColumn
from shoal.dp.scalars import (
    OPERATORS,
    Constant,
    Scalar,
    ScalarCall,
    ScalarConstant,
    ScalarKind,
    facts_of,
    like_pattern,
)
from shoal.dp.sql.refusals import refusal
from shoal.errors import RefusedQuestion
from shoal.schema.registry import did_you_mean

_INFIX: Final[Mapping[type[Any], str]] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.And: "and",
    exp.Or: "or",
}
_PREFIX: Final[Mapping[type[Any], str]] = {
    exp.Neg: "negate",
    exp.Not: "not",
    exp.Abs: "abs",
    exp.Sqrt: "sqrt",
    exp.Ln: "ln",
    exp.Lower: "lower",
    exp.Upper: "upper",
    exp.Length: "length",
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.DayOfWeekIso: "weekday",
    exp.Floor: "floor",
    exp.Ceil: "ceil",
    exp.Round: "round",
}
_MANY: Final[Mapping[type[Any], str]] = {exp.Least: "least", exp.Greatest: "greatest", exp.Coalesce: "coalesce"}
_PARTS: Final = {"YEAR": "year", "QUARTER": "quarter", "MONTH": "month", "DAY": "day", "ISODOW": "weekday"}
_TRUNCATED: Final = {"MONTH": "month of", "QUARTER": "quarter of", "YEAR": "year of"}
_PLAIN_ARGS: Final = frozenset({"this", "expression", "expressions", "typed", "safe", "ignore_nulls", "_type"})
"""What the nodes above may hold; anything else, such as a precision, is refused rather than passed over."""

MOST_PARTS: Final = 2000
MOST_NESTED: Final = 100
"""Of an expression, so that whatever walks it ends soon."""
MOST_PATTERN: Final = 500
ColumnReader = Callable[[exp.Column], Scalar]


@dataclass(frozen=True)
class ScalarReader:
    """Reads expressions whose columns are looked up by ``column`` and described by ``columns``."""

    columns: Mapping[str, DatasetColumn]
    column: ColumnReader
    replace: Callable[[exp.Expr], Scalar | None] = lambda _: None
    """What stands for a whole part, such as a figure for its aggregate."""

    def read(self, node: exp.Expr) -> Scalar:
        found = self.replace(node)
        return self._read(node) if found is None else found

    def call(self, node: exp.Expr, operator: str, *operands: Scalar) -> ScalarCall:
        """The only way that a call is made: its operands are of the kinds it takes, and it is not too large."""
        made = ScalarCall(operator, operands)
        if made.size > MOST_PARTS or made.depth > MOST_NESTED:
            raise RefusedQuestion(
                "it is nested too deeply", advice=f"at most {MOST_PARTS:,} operations, {MOST_NESTED} deep"
            )
        given = [facts_of(operand, self.columns) for operand in operands]
        wanted = OPERATORS[operator].wanted(len(given))
        for kind, facts in zip(wanted, given, strict=True):
            if ScalarKind.NOTHING not in (kind, facts.kind) and kind is not facts.kind:
                raise RefusedQuestion(
                    f"{_shown(node)}: needs a {kind}, not a {facts.kind}", advice="compare like with like"
                )
        alike = [facts for kind, facts in zip(wanted, given, strict=True) if kind is ScalarKind.NOTHING]
        if len({facts.kind for facts in alike} - {ScalarKind.NOTHING}) > 1:
            raise RefusedQuestion(f"{_shown(node)}: its parts are of several kinds", advice="compare like with like")
        return made

    def truth(self, node: exp.Expr) -> Scalar:
        """A condition."""
        found = self.read(node)
        if facts_of(found, self.columns).kind is not ScalarKind.TRUTH:
            raise RefusedQuestion(f"{_shown(node)}: is no condition", advice="compare it with something, as age > 30")
        return found

    def _read(self, node: exp.Expr) -> Scalar:
        kind = type(node)
        if isinstance(node, exp.Paren):
            return self.read(node.this)
        if isinstance(node, exp.Column):
            return self.column(node)
        if kind in _INFIX or kind in _PREFIX:
            return self._plain(node)
        if kind in _MANY:
            return self._folded(node, [self.read(one) for one in (node.this, *node.expressions)])
        if isinstance(node, exp.Literal | exp.Boolean | exp.Null):
            return ScalarConstant(_constant(node))
        special = _SPECIAL.get(kind)
        if special is None:
            raise refusal(kind.__name__, _shown(node))
        return special(self, node)

    def _plain(self, node: exp.Expr) -> Scalar:
        refuse_more(node, *_PLAIN_ARGS)
        kind = type(node)
        if kind in _PREFIX:
            refuse_more(node, *_PLAIN_ARGS - {"expression", "expressions"})
            return self.call(node, _PREFIX[kind], self.read(node.this))
        return self.call(node, _INFIX[kind], *self._alike(self.read(node.this), self.read(node.expression)))

    def _alike(self, left: Scalar, right: Scalar) -> tuple[Scalar, Scalar]:
        """A text that is compared with a date is one."""
        kinds = [facts_of(one, self.columns).kind for one in (left, right)]
        if kinds == [ScalarKind.DATE, ScalarKind.TEXT] and isinstance(right, ScalarConstant):
            return left, ScalarConstant(_date(str(right.value)))
        if kinds == [ScalarKind.TEXT, ScalarKind.DATE] and isinstance(left, ScalarConstant):
            return ScalarConstant(_date(str(left.value))), right
        return left, right

    def _folded(self, node: exp.Expr, operands: list[Scalar]) -> Scalar:
        operator = _MANY[type(node)]
        refuse_more(node, *_PLAIN_ARGS)
        if operator == "coalesce":
            return self.call(node, operator, *operands)
        folded = operands[0]
        for operand in operands[1:]:
            folded = self.call(node, operator, folded, operand)
        return folded

    def between(self, node: exp.Expr) -> Scalar:
        refuse_more(node, "this", "low", "high")
        value = self.read(node.this)
        low, high = (self._alike(value, self.read(node.args[name])) for name in ("low", "high"))
        return self.call(node, "and", self.call(node, ">=", *low), self.call(node, "<=", *high))

    def within(self, node: exp.Expr) -> Scalar:
        if node.args.get("query") is not None or not node.expressions:
            raise RefusedQuestion(f"{_shown(node)}: IN takes a list of values", advice="write them: IN ('a', 'b')")
        refuse_more(node, "this", "expressions")
        value = self.read(node.this)
        equal = [self.call(node, "=", *self._alike(value, self.read(one))) for one in node.expressions]
        while len(equal) > 1:  # in halves, since a chain would be as deep as the list is long
            pairs = [equal[place : place + 2] for place in range(0, len(equal), 2)]
            equal = [self.call(node, "or", *pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return equal[0]

    def like(self, node: exp.Expr) -> Scalar:
        pattern = node.expression
        if not (isinstance(pattern, exp.Literal) and pattern.is_string):
            raise RefusedQuestion(f"{_shown(node)}: LIKE takes a text", advice="write the pattern: LIKE 'A%'")
        refuse_more(node, "this", "expression", "negate")
        if len(str(pattern.this)) > MOST_PATTERN:
            raise RefusedQuestion(f"the pattern of LIKE has at most {MOST_PATTERN} letters")
        alike = self.call(node, "like", self.read(node.this), ScalarConstant(like_pattern(str(pattern.this))))
        return self.call(node, "not", alike) if node.args.get("negate") else alike

    def is_null(self, node: exp.Expr) -> Scalar:
        refuse_more(node, "this", "expression")
        if isinstance(node.expression, exp.Null):
            return self.call(node, "is null", self.read(node.this))
        if not isinstance(node.expression, exp.Boolean):
            raise refusal("Is", _shown(node))
        equal = self.call(node, "=", self.read(node.this), self.read(node.expression))
        return self.call(node, "coalesce", equal, ScalarConstant(value=False))

    def case(self, node: exp.Expr) -> Scalar:
        subject = node.args.get("this")
        parts: list[Scalar] = []
        for branch in node.args["ifs"]:
            if subject is None:
                parts.append(self.truth(branch.this))
            else:
                parts.append(self.call(node, "=", *self._alike(self.read(subject), self.read(branch.this))))
            parts.append(self.read(branch.args["true"]))
        default = node.args.get("default")
        parts.append(ScalarConstant(None) if default is None else self.read(default))
        return self.call(node, "case", *parts)

    def condition(self, node: exp.Expr) -> Scalar:
        """IF(condition, value, other)."""
        other = node.args.get("false")
        rest = ScalarConstant(None) if other is None else self.read(other)
        return self.call(node, "case", self.truth(node.this), self.read(node.args["true"]), rest)

    def cast(self, node: exp.Expr) -> Scalar:
        """Of what is known: a text to a date, a number to a whole one. Others would have to fail on some rows."""
        refuse_more(node, "this", "to")
        to = node.args["to"]
        wanted = "" if to.args.get("expressions") else to.sql().upper()
        if isinstance(node.this, exp.Literal) and wanted == "DATE":
            return ScalarConstant(_date(str(node.this.this)))
        value = self.read(node.this)
        kind = facts_of(value, self.columns).kind
        if kind is ScalarKind.NUMBER and wanted in ("DOUBLE", "FLOAT", "DECIMAL"):
            return value
        if kind is ScalarKind.NUMBER and wanted in ("INT", "BIGINT"):
            return self.call(node, "round", value)
        if kind is ScalarKind.TRUTH and wanted in ("INT", "BIGINT", "DOUBLE", "FLOAT"):
            return self.call(node, "case", value, ScalarConstant(1), ScalarConstant(0))
        raise RefusedQuestion(f"{_shown(node)}: is not converted here", advice="describe the column with that type")

    def part(self, node: exp.Expr) -> Scalar:
        refuse_more(node, "this", "expression")
        name = str(node.this.this).upper()
        if name not in _PARTS:
            raise RefusedQuestion(
                f"{_shown(node)}: not a part of a date", advice="use YEAR, QUARTER, MONTH, DAY or ISODOW"
            )
        return self.call(node, _PARTS[name], self.read(node.expression))

    def truncated(self, node: exp.Expr) -> Scalar:
        refuse_more(node, "this", "unit", "input_type_preserved")
        unit = str(getattr(node.args.get("unit"), "this", "")).upper()
        if unit not in _TRUNCATED:
            raise RefusedQuestion(f"{_shown(node)}: not a unit of dates", advice="use month, quarter or year")
        return self.call(node, _TRUNCATED[unit], self.read(node.this))

    def through(self, node: exp.Expr) -> Scalar:
        """What sqlglot wraps around the operand of a date function and means nothing here."""
        return self.read(node.this)


def _constant(node: exp.Expr) -> Constant:
    if isinstance(node, exp.Null):
        return None
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if node.args.get("is_string"):
        return str(node.this)
    try:
        value = float(node.this)
    except ValueError:
        raise RefusedQuestion(f"{_shown(node)}: is no number") from None
    if not isfinite(value):
        raise RefusedQuestion(f"{_shown(node)}: is too large")
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _date(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise RefusedQuestion("a date is written as '2026-01-31'") from None


def _shown(node: exp.Expr) -> str:
    return node.sql()[:60]


def refuse_more(node: exp.Expr, *names: str) -> None:
    """Anything else that a part of SQL holds is refused rather than passed over."""
    if any(value for name, value in node.args.items() if name not in names):
        raise RefusedQuestion(f"{_shown(node)}: holds more than is understood", advice="leave the rest out")


def unknown_column(name: str, known: Mapping[str, object]) -> RefusedQuestion:
    return RefusedQuestion(f"no column '{name}' is described{did_you_mean(name, tuple(known))}")


_SPECIAL: Final[Mapping[type[Any], Callable[[ScalarReader, exp.Expr], Scalar]]] = {
    exp.Between: ScalarReader.between,
    exp.In: ScalarReader.within,
    exp.Like: ScalarReader.like,
    exp.Is: ScalarReader.is_null,
    exp.Case: ScalarReader.case,
    exp.If: ScalarReader.condition,
    exp.Cast: ScalarReader.cast,
    exp.Extract: ScalarReader.part,
    exp.DateTrunc: ScalarReader.truncated,
    exp.TimestampTrunc: ScalarReader.truncated,
    exp.TsOrDsToDate: ScalarReader.through,
}
