"""A SELECT to a question. Clauses that are not expressly understood are refused, so that none is passed over."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from shoal.dp.description import ColumnKind, DatasetColumn, DatasetDescription
from shoal.dp.question import (
    ENDINGS,
    AggregateFunction,
    AskedFigure,
    GroupKey,
    Ordering,
    OutputColumn,
    Question,
    aggregate_name,
)
from shoal.dp.scalars import Scalar, ScalarCall, ScalarColumn, ScalarConstant, ScalarKind, facts_of
from shoal.dp.sql.grouping import grouping_levels
from shoal.dp.sql.refusals import refusal
from shoal.dp.sql.scalar_reader import MOST_NESTED, MOST_PARTS, ScalarReader, refuse_more, unknown_column
from shoal.errors import RefusedQuestion
from shoal.schema.registry import did_you_mean

_JOIN: Final = "JOIN b ON a.person = b.person"
_WHOLE: Final = re.compile(r"[0-9]{1,9}")
WIDEST: Final = 2.0**200
"""Bounds of what is added up; squares of it can still be written as numbers."""
MOST_SELECTS: Final = 100
MOST_LETTERS: Final = 20_000
"""Of a question."""
_UNDERSTOOD: Final = frozenset(
    {"expressions", "from_", "joins", "where", "group", "having", "order", "limit", "with_", "kind", "hint"}
)
_AGGREGATES: Final[Mapping[type[Any], AggregateFunction]] = {
    exp.Sum: AggregateFunction.SUM,
    exp.Avg: AggregateFunction.MEAN,
    exp.Variance: AggregateFunction.VARIANCE,
    exp.VariancePop: AggregateFunction.VARIANCE,
    exp.Stddev: AggregateFunction.DEVIATION,
    exp.StddevPop: AggregateFunction.DEVIATION,
    exp.StddevSamp: AggregateFunction.DEVIATION,
}
_QUANTILES: Final = (exp.Median, exp.Quantile, exp.ApproxQuantile, exp.WithinGroup)


@dataclass(frozen=True)
class RowView:
    """Rows as a FROM gives them: what can be named, over which columns of which tables, and which rows are in it."""

    tables: tuple[str, ...]
    columns: Mapping[str, DatasetColumn]
    visible: Mapping[str, Scalar]
    """By their names in small letters, with and without the table's."""
    people: frozenset[str]
    """Names of the column that names the person."""
    where: Scalar | None = None

    def column(self, node: exp.Column) -> Scalar:
        refuse_more(node, "this", "table")
        named = f"{node.table}.{node.name}" if node.table else node.name
        found = self.visible.get(named.lower())
        if found is not None:
            return found
        if named.lower() in self.people:
            raise RefusedQuestion(
                f"'{node.name}' names the person", advice=f"count people with COUNT(DISTINCT {node.name})"
            )
        raise unknown_column(named, dict.fromkeys(self.visible))

    @property
    def reader(self) -> ScalarReader:
        return ScalarReader(self.columns, self.column)

    def narrowed(self, where: Scalar | None) -> RowView:
        if self.where is None or where is None:
            return replace(self, where=self.where or where)
        both = ScalarCall("and", (self.where, where))
        if both.depth > MOST_NESTED or both.size > MOST_PARTS:
            raise RefusedQuestion("it is nested too deeply", advice="choose rows in one WHERE")
        return replace(self, where=both)


@contextmanager
def _quietly() -> Iterator[None]:
    """What is not understood is said once, by us; sqlglot would log it too."""
    log = logging.getLogger("sqlglot")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def read_questions(sql: str, description: DatasetDescription) -> tuple[Question, ...]:
    """The SELECTs of a question, several where they are put together with UNION ALL."""
    if len(sql) > MOST_LETTERS:
        raise RefusedQuestion(f"a question has at most {MOST_LETTERS:,} letters")
    if "\x00" in sql:
        raise RefusedQuestion("a question has no NUL characters")
    try:
        with _quietly():
            parsed = sqlglot.parse(sql)
    except (SqlglotError, RecursionError):
        raise RefusedQuestion(
            "it can't be read as SQL", advice="SELECT region, COUNT(*) FROM t GROUP BY region"
        ) from None
    statements = [one for one in parsed if one is not None]
    if len(statements) != 1:
        raise RefusedQuestion("one SELECT at a time")
    try:
        questions = tuple(_Selects(description).questions(statements[0], {}))
    except RecursionError:
        raise RefusedQuestion("it is nested too deeply") from None
    if len(questions) > MOST_SELECTS:
        raise RefusedQuestion(f"at most {MOST_SELECTS} SELECTs at a time", advice="use GROUP BY")
    return questions


@dataclass(frozen=True)
class _Selects:
    description: DatasetDescription

    def questions(self, node: exp.Expr, views: Mapping[str, RowView]) -> Iterator[Question]:
        if isinstance(node, exp.Subquery):
            refuse_more(node, "this")
            node = node.this
        if isinstance(node, exp.Union):
            if node.args.get("distinct"):
                raise RefusedQuestion("UNION compares rows", advice="put questions together with UNION ALL")
            refuse_more(node, "this", "expression", "with_")
            views = {**views, **self._named(node, views)}
            yield from self.questions(node.this, views)
            yield from self.questions(node.expression, views)
            return
        if not isinstance(node, exp.Select):
            raise refusal(type(node).__name__, node.sql())
        view = self._rows(node, views)
        yield _QuestionReader(view, node).question()

    def _named(self, node: exp.Expr, views: Mapping[str, RowView]) -> dict[str, RowView]:
        """What WITH names: choices of rows, each of which may use those before."""
        known = dict(views)
        clause = node.args.get("with_")
        if clause is None:
            return known
        if clause.args.get("recursive"):
            raise RefusedQuestion("WITH RECURSIVE is not understood")
        for one in clause.expressions:
            refuse_more(one, "this", "alias")
            _refuse_renamed(one)
            known[one.alias.lower()] = self._chosen(one.this, known, one.alias)
        return known

    def _rows(self, node: exp.Select, views: Mapping[str, RowView]) -> RowView:
        foreign = [name for name, value in node.args.items() if value and name not in _UNDERSTOOD]
        if foreign or node.args.get("kind") or node.args.get("hint"):
            raise RefusedQuestion(
                f"{', '.join(name.strip('_').upper() for name in foreign) or 'a hint'}: is not understood in a SELECT",
                advice="use WHERE, GROUP BY, HAVING, ORDER BY, LIMIT",
            )
        known = self._named(node, views)
        source = node.args.get("from_")
        if source is None:
            raise RefusedQuestion("FROM is missing", advice=f"FROM {next(iter(self.description.described_tables))}")
        view = self._from(source.this, known)
        for join in node.args.get("joins") or ():
            view = self._joined(view, join, known)
        where = node.args.get("where")
        return view.narrowed(None if where is None else view.reader.truth(where.this))

    def _from(self, node: exp.Expr, views: Mapping[str, RowView]) -> RowView:
        if not isinstance(node, exp.Table | exp.Subquery):
            raise refusal(type(node).__name__, node.sql())
        refuse_more(node, "this", "alias")
        _refuse_renamed(node)
        if isinstance(node, exp.Subquery):
            return self._chosen(node.this, views, node.alias)
        name = node.name
        alias = node.alias or name
        if name.lower() in views:
            return _called(views[name.lower()], alias)
        tables = {known.lower(): known for known in self.description.described_tables}
        if name.lower() not in tables:
            near = did_you_mean(name, tuple(self.description.described_tables))
            raise RefusedQuestion(f"no table '{name}' is described{near}")
        known = self.description.name if self.description.source is not None else tables[name.lower()]
        return _called(self._table(known), alias)

    def _table(self, name: str) -> RowView:
        table = self.description.described_tables[name]
        prefix = "" if self.description.source is not None else f"{name}."
        columns = {f"{prefix}{column}": one for column, one in table.columns.items() if column != table.person}
        visible = {column.removeprefix(prefix).lower(): ScalarColumn(column) for column in columns}
        people = frozenset() if table.person is None else frozenset({table.person.lower()})
        return RowView((name,), columns, visible, people)

    def _chosen(self, node: exp.Expr, views: Mapping[str, RowView], alias: str) -> RowView:
        """A SELECT that chooses rows and works out columns, and no more."""
        if not isinstance(node, exp.Select):
            raise refusal(type(node).__name__, node.sql())
        later = [name for name in ("group", "having", "order", "limit") if node.args.get(name)]
        if later or any(list(_aggregates_in(one)) for one in node.expressions):
            raise RefusedQuestion(
                f"the part '{alias or 'in FROM'}' groups rows or counts them",
                advice="group once, in the outer SELECT; parts choose rows and work out columns",
            )
        view = self._rows(node, views)
        visible: dict[str, Scalar] = {}
        for one in node.expressions:
            if isinstance(one, exp.Star):
                refuse_more(one)
                visible |= {name: scalar for name, scalar in view.visible.items() if "." not in name}
            elif isinstance(one, exp.Column) and one.name.lower() in view.people:
                continue
            elif not one.alias_or_name:
                raise RefusedQuestion(f"{one.sql()[:60]}: needs a name", advice="write … AS name")
            else:
                visible[one.alias_or_name.lower()] = view.reader.read(one.unalias())
        return _called(replace(view, visible=visible), alias)

    def _joined(self, left: RowView, join: exp.Expr, views: Mapping[str, RowView]) -> RowView:
        foreign = [name for name, value in join.args.items() if value and name not in ("this", "on", "using", "kind")]
        if foreign or str(join.args.get("kind") or "INNER") != "INNER":
            raise RefusedQuestion(
                f"{join.sql()[:60]}: only an inner JOIN on the person", advice="JOIN b ON a.person = b.person"
            )
        right = self._from(join.this, views)
        if set(left.tables) & set(right.tables):
            raise RefusedQuestion("a table is not joined with itself", advice="count people by WHERE instead")
        on, using = join.args.get("on"), join.args.get("using")
        sides = (
            [name.name for name in using] * 2
            if using
            else [side.sql().lower() for side in (on.this, on.expression)]
            if isinstance(on, exp.EQ)
            else []
        )
        sides = [side.lower() for side in sides]
        ways = (sides, sides[::-1]) if len(sides) == 2 else ()
        if not any(one in left.people and other in right.people for one, other in ways):
            raise RefusedQuestion("tables are joined by the person alone", advice=_JOIN)
        twice = {name for name in left.visible if name in right.visible}
        visible = {name: scalar for name, scalar in {**left.visible, **right.visible}.items() if name not in twice}
        both = replace(
            left,
            tables=(*left.tables, *right.tables),
            columns={**left.columns, **right.columns},
            visible=visible,
            people=left.people | right.people,
        )
        return both.narrowed(right.where)


def _refuse_renamed(node: exp.Expr) -> None:
    alias = node.args.get("alias")
    if alias is not None:
        refuse_more(alias, "this")


def _called(view: RowView, alias: str) -> RowView:
    """The same rows under a name: columns can be named with it and without."""
    if not alias:
        return view
    bare = {name: scalar for name, scalar in view.visible.items() if "." not in name}
    people = {name for name in view.people if "." not in name}
    prefix = alias.lower()
    return replace(
        view,
        visible={**bare, **{f"{prefix}.{name}": scalar for name, scalar in bare.items()}},
        people=frozenset({*people, *(f"{prefix}.{name}" for name in people)}),
    )


def _aggregates_in(node: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(node, exp.WithinGroup | exp.AggFunc | exp.Window):
        yield node
        return
    for child in node.iter_expressions():
        yield from _aggregates_in(child)


@dataclass
class _QuestionReader:
    """Outputs, HAVING and ORDER BY share aggregates: each is asked for once."""

    view: RowView
    node: exp.Select
    aggregates: list[AskedFigure] = field(default_factory=list)

    def question(self) -> Question:
        keys, levels = self._keys()
        reader = self._figures(keys)
        outputs = self._outputs(reader)
        having = self.node.args.get("having")
        condition = None if having is None else reader.truth(having.this)
        order = self._order(reader, outputs)
        if not self.aggregates:
            raise RefusedQuestion("it asks for no figure", advice="add one: COUNT(*), SUM(x), AVG(x), MEDIAN(x)")
        return Question(
            tables=self.view.tables,
            where=self.view.where,
            keys=keys,
            aggregates=tuple(self.aggregates),
            outputs=outputs,
            having=condition,
            order=order,
            limit=self._limit(),
            levels=levels,
        )

    def _keys(self) -> tuple[tuple[GroupKey, ...], tuple[tuple[int, ...], ...]]:
        """With the levels of totals, where some are asked for."""
        group = self.node.args.get("group")
        if group is None:
            return (), ()
        keys: list[GroupKey] = []
        levels: list[tuple[int, ...]] = []
        for level in grouping_levels(group):
            places = {self._place(self._referred(one), keys) for one in level}
            levels.append(tuple(sorted(places)))
        kept = tuple(dict.fromkeys(levels))
        return tuple(keys), () if kept == (tuple(range(len(keys))),) else kept

    def _place(self, meant: exp.Expr, keys: list[GroupKey]) -> int:
        """Of a key among those that are known, which it joins."""
        scalar = self.view.reader.read(meant.unalias())
        scalars = [known.scalar for known in keys]
        if scalar in scalars:
            return scalars.index(scalar)
        named = next((out.alias for out in self.node.expressions if out.alias and out.unalias() == meant), "")
        name = named or meant.alias_or_name or meant.sql()
        keys.append(GroupKey(_free(name, {known.name for known in keys}), scalar))
        return len(keys) - 1

    def _referred(self, one: exp.Expr) -> exp.Expr:
        """GROUP BY 1 and GROUP BY alias mean what stands in the SELECT."""
        outputs = self.node.expressions
        if isinstance(one, exp.Literal) and not one.is_string:
            place = int(str(one.this)) if _WHOLE.fullmatch(str(one.this)) else 0
            if not 1 <= place <= len(outputs):
                raise RefusedQuestion(f"GROUP BY {one.this}: there is no such column in the SELECT")
            found: exp.Expr = outputs[place - 1].unalias()
            return found
        if isinstance(one, exp.Column) and not one.table and one.name.lower() not in self.view.visible:
            for output in outputs:
                if output.alias and output.alias.lower() == one.name.lower():
                    aliased: exp.Expr = output.unalias()
                    return aliased
        return one

    def _figures(self, keys: tuple[GroupKey, ...]) -> ScalarReader:
        """Reads over keys and figures: a part that is a key or an aggregate stands for it."""
        columns = {key.name: _of_kind(facts_of(key.scalar, self.view.columns).kind) for key in keys}

        def stands_for(node: exp.Expr) -> Scalar | None:
            if isinstance(node, exp.Window):
                raise refusal("Window", node.sql())
            if isinstance(node, exp.AggFunc | exp.WithinGroup):
                return self._figure(node, columns)
            if isinstance(node, exp.Literal | exp.Boolean | exp.Null):
                return None
            return self._key(node, keys)

        def column(node: exp.Column) -> Scalar:
            for output in self.node.expressions:  # HAVING and ORDER BY may use names of outputs
                if output.alias and output.alias.lower() == node.name.lower() and not node.table:
                    return reader.read(output.unalias())
            self.view.column(node)
            raise RefusedQuestion(
                f"'{node.name}' is neither grouped by nor within an aggregate", advice="add it to GROUP BY"
            )

        reader = ScalarReader(columns, column, stands_for)
        return reader

    def _key(self, node: exp.Expr, keys: tuple[GroupKey, ...]) -> Scalar | None:
        if not any(True for _ in node.find_all(exp.Column)):
            return None
        try:
            scalar = self.view.reader.read(node)
        except RefusedQuestion:
            return None
        return next((ScalarColumn(key.name) for key in keys if key.scalar == scalar), None)

    def _figure(self, node: exp.Expr, columns: dict[str, DatasetColumn]) -> Scalar:
        aggregate = self._aggregate(node)
        if aggregate not in self.aggregates:
            self.aggregates.append(aggregate)
        name = aggregate_name(self.aggregates.index(aggregate))
        columns[name] = DatasetColumn(type=ColumnKind.NUMBER)
        return ScalarColumn(name)

    def _aggregate(self, node: exp.Expr) -> AskedFigure:
        refuse_more(node, "this", "expression", "quantile", "big_int")
        if isinstance(node, exp.Count):
            return self._count(node)
        if isinstance(node, exp.CountIf):
            return AskedFigure(
                AggregateFunction.COUNT, ScalarCall("case", (self.view.reader.truth(node.this), _ONE, _NONE))
            )
        if isinstance(node, _QUANTILES):
            return self._quantile(node)
        function = _AGGREGATES.get(type(node))
        if function is None:
            raise refusal(type(node).__name__, node.sql())
        if isinstance(node.this, exp.Distinct):
            raise RefusedQuestion(f"{node.sql()[:60]}: DISTINCT goes with COUNT of the person alone")
        return AskedFigure(function, self._number(node.this))

    def _count(self, node: exp.Expr) -> AskedFigure:
        what = node.this
        if isinstance(what, exp.Star) or what is None or (isinstance(what, exp.Literal) and not what.is_string):
            return AskedFigure(AggregateFunction.COUNT)
        if isinstance(what, exp.Distinct):
            named = what.expressions
            person = len(named) == 1 and isinstance(named[0], exp.Column) and named[0].sql().lower()
            if person not in self.view.people:
                raise RefusedQuestion(
                    f"{node.sql()[:60]}: only people are counted once each", advice=_distinct(self.view)
                )
            return AskedFigure(AggregateFunction.PEOPLE)
        return AskedFigure(AggregateFunction.COUNT, self.view.reader.read(what))

    def _quantile(self, node: exp.Expr) -> AskedFigure:
        if isinstance(node, exp.Median):
            return AskedFigure(AggregateFunction.QUANTILE, self._number(node.this), 0.5)
        if isinstance(node, exp.WithinGroup):
            inner, ordered = node.this, node.expression.expressions
            if not isinstance(inner, exp.PercentileCont | exp.PercentileDisc) or len(ordered) != 1:
                raise refusal(type(inner).__name__, node.sql())
            refuse_more(inner, "this")
            value, fraction = ordered[0].this, inner.this
            if ordered[0].args.get("desc"):
                raise RefusedQuestion(f"{node.sql()[:60]}: in rising order only")
        else:
            value, fraction = node.this, node.args.get("quantile")
        if not isinstance(fraction, exp.Literal) or fraction.is_string or not 0 < float(str(fraction.this)) < 1:
            raise RefusedQuestion(f"{node.sql()[:60]}: the share lies between 0 and 1", advice="QUANTILE(x, 0.9)")
        return AskedFigure(AggregateFunction.QUANTILE, self._number(value), float(str(fraction.this)))

    def _number(self, node: exp.Expr) -> Scalar:
        scalar = self.view.reader.read(node)
        facts = facts_of(scalar, self.view.columns)
        if facts.kind is not ScalarKind.NUMBER:
            raise RefusedQuestion(f"{node.sql()[:60]}: is no number")
        if facts.bounded and max(abs(facts.low), abs(facts.high)) > WIDEST:
            raise RefusedQuestion(f"{node.sql()[:60]}: its bounds are too wide to add up", advice="count in millions")
        if not facts.bounded:
            raise RefusedQuestion(
                f"{node.sql()[:60]}: has no public bounds, so one person could change the answer without limit",
                advice="describe `bounds` of the column, or write LEAST(GREATEST(x, 0), 100)",
            )
        return scalar

    def _outputs(self, reader: ScalarReader) -> tuple[OutputColumn, ...]:
        outputs: list[OutputColumn] = []
        for one in self.node.expressions:
            if isinstance(one, exp.Star):
                raise refusal("Star", "SELECT *")
            taken = {f"{known.name}{end}" for known in outputs for end in ENDINGS}
            name = _free(one.alias or _name(one), taken)
            outputs.append(OutputColumn(name, reader.read(one.unalias())))
        return tuple(outputs)

    def _order(self, reader: ScalarReader, outputs: tuple[OutputColumn, ...]) -> tuple[Ordering, ...]:
        order = self.node.args.get("order")
        found: list[Ordering] = []
        for one in () if order is None else order.expressions:
            descending = bool(one.args.get("desc"))
            if isinstance(one.this, exp.Literal) and not one.this.is_string:
                place = int(str(one.this.this)) if _WHOLE.fullmatch(str(one.this.this)) else 0
                if not 1 <= place <= len(outputs):
                    raise RefusedQuestion(f"ORDER BY {one.this.this}: there is no such column in the SELECT")
                found.append(Ordering(outputs[place - 1].scalar, descending))
            else:
                found.append(Ordering(reader.read(one.this), descending))
        return tuple(found)

    def _limit(self) -> int | None:
        limit = self.node.args.get("limit")
        if limit is None:
            return None
        number = limit.args.get("expression")
        if not isinstance(number, exp.Literal) or not _WHOLE.fullmatch(str(number.this)):
            raise RefusedQuestion("LIMIT takes a whole number", advice="LIMIT 10")
        refuse_more(limit, "expression")
        return int(str(number.this))


def _free(name: str, taken: set[str]) -> str:
    """A name that is not taken, nor will be by what stands beside an estimate."""
    tried, number = name, 1
    while any(f"{tried}{end}" in taken for end in ENDINGS):
        number += 1
        tried = f"{name}_{number}"
    return tried


def _distinct(view: RowView) -> str:
    person = next(iter(sorted(view.people)), None)
    return "describe the column `person`" if person is None else f"COUNT(DISTINCT {person})"


def _of_kind(kind: ScalarKind) -> DatasetColumn:
    of = {
        ScalarKind.NUMBER: ColumnKind.NUMBER,
        ScalarKind.TRUTH: ColumnKind.BOOLEAN,
        ScalarKind.DATE: ColumnKind.DATE,
    }
    return DatasetColumn(type=of.get(kind, ColumnKind.CATEGORY))


def _name(node: exp.Expr) -> str:
    """Of an output without an alias: the column, or the function and its column."""
    if isinstance(node, exp.Column):
        return str(node.name)
    if isinstance(node, exp.WithinGroup):
        node = node.this
    inside = next((str(one.name) for one in node.find_all(exp.Column)), "")
    if isinstance(node, exp.AggFunc):
        word = {"Stddev": "stddev", "ApproxQuantile": "quantile"}.get(type(node).__name__, node.sql_name().lower())
        return f"{word}_{inside}" if inside else word
    return node.sql().lower()[:60]


_ONE: Final = ScalarConstant(1)
_NONE: Final = ScalarConstant(None)
