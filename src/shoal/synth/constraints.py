"""What holds between columns, in every record that is drawn, because it is built so.

- A column that another determines (city → state) is not modelled but looked up.
- Of two numbers or dates of which one is at most the other, the difference is modelled instead of the larger.
- A sum is added up from its parts.
- A unique column is numbered anew.

Each is declared, or found in the data (see ``constraint_detection``), and says which. What holds of most records only,
and was declared, holds of all that are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from shoal.errors import DataError
from shoal.schema.parameters import Parameters
from shoal.synth.column_codes import cut, once_a_person
from shoal.synth.column_shapes import NUMBERED, ColumnShape, Origin, ShapeKind, Shapes

_BY, _WHO = "__determinant__", "__person__"


class FunctionalDependency(Parameters):
    """Records that agree on the determinant agree on the dependent."""

    determinant: str
    dependent: str
    origin: Origin = "declared"


class Inequality(Parameters):
    """The lower is at most the upper, where both are there."""

    lower: str
    upper: str
    origin: Origin = "declared"


class SumOfParts(Parameters):
    """The total is the sum of its parts; it is missing where one of them is."""

    total: str
    parts: tuple[str, ...]
    origin: Origin = "declared"


class UniqueColumn(Parameters):
    column: str
    origin: Origin = "declared"


class TableConstraints(Parameters):
    """All that hold of one table. A column is derived by one of them at most."""

    dependencies: tuple[FunctionalDependency, ...] = ()
    inequalities: tuple[Inequality, ...] = ()
    sums: tuple[SumOfParts, ...] = ()
    unique: tuple[UniqueColumn, ...] = ()

    def derivations(self) -> dict[str, tuple[str, ...]]:
        """Of each column that is derived, those that it is derived from, these before it."""
        found: dict[str, tuple[str, ...]] = {}
        for name, sources in self._derived():
            if name in found:
                raise DataError(f"column '{name}' is derived in two ways")
            found[name] = sources
        return {name: found[name] for name in _sources_first(found)}

    def _derived(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        yield from ((one.dependent, (one.determinant,)) for one in self.dependencies)
        yield from ((one.upper, (one.lower,)) for one in self.inequalities)
        yield from ((one.total, one.parts) for one in self.sums)

    def names(self) -> set[str]:
        derived = [name for one, sources in self._derived() for name in (one, *sources)]
        return {*derived, *(one.column for one in self.unique)}

    def shapes(self, shapes: Shapes) -> dict[str, ColumnShape]:
        """The shapes as the constraints need them: unique columns as identifiers, equal decimals in what is compared.

        What can't be kept is a DataError.
        """
        missing = sorted(self.names() - shapes.keys())
        if missing:
            raise DataError(f"a constraint names a column '{missing[0]}' that is not there")
        found = dict(shapes)
        for unique in self.unique:
            found[unique.column] = ColumnShape(kind=ShapeKind.IDENTIFIER, origin=unique.origin)
        for dependency in self.dependencies:
            if not found[dependency.determinant].is_named:
                raise DataError(f"column '{dependency.determinant}' determines another, so it has to be a category")
        pairs = [(one.lower, one.upper) for one in self.inequalities]
        for names in [*pairs, *((one.total, *one.parts) for one in self.sums)]:
            _refuse_unlike([found[name] for name in names], names)
        for _ in pairs + list(self.sums):
            for names in [*pairs, *((one.total, *one.parts) for one in self.sums)]:
                finest = max(found[name].decimals for name in names)
                found |= {name: _with_decimals(found[name], finest) for name in names}
        self.derivations()
        return found


def _sources_first(derivations: dict[str, tuple[str, ...]]) -> list[str]:
    order: list[str] = []
    left = dict(derivations)
    while left:
        ready = [name for name, sources in left.items() if not any(source in left for source in sources)]
        if not ready:
            raise DataError(f"column '{next(iter(left))}' is derived from itself")
        order += ready
        left = {name: sources for name, sources in left.items() if name not in ready}
    return order


def _with_decimals(shape: ColumnShape, decimals: int) -> ColumnShape:
    if shape.decimals == decimals:
        return shape
    return shape.model_copy(update={"kind": ShapeKind.DECIMAL, "decimals": decimals})


def _refuse_unlike(shapes: list[ColumnShape], names: tuple[str, ...]) -> None:
    kinds = {"number" if shape.kind in NUMBERED else str(shape.kind) for shape in shapes}
    if len(kinds) > 1 or not shapes[0].is_stepped:
        raise DataError(f"the columns {', '.join(names)} can't be compared or added: they are of different kinds")
    if any(shape.special for shape in shapes):
        raise DataError(f"the columns {', '.join(names)} can't be compared or added: one has special codes")


class LookUp(Parameters):
    """The dependent of each determinant that enough records have, and of all others."""

    determinant: str
    stepped: bool
    """Whether dependents are numbers of steps."""
    determinants: tuple[str, ...]
    dependents: tuple[str | int | None, ...]
    otherwise: str | int | None
    of_missing: str | int | None


class Difference(Parameters):
    """What is added to the lower, and the bounds of the upper."""

    lower: str
    modelled: bool
    """Whether the difference is modelled; else the upper itself, which is raised to the lower where it has to be."""
    lowest: int
    highest: int


class Enforcement(Parameters):
    """Constraints bound to a table whose columns are read: what is modelled, and how the rest comes back."""

    constraints: TableConstraints
    look_ups: dict[str, LookUp]
    differences: dict[str, Difference]

    def reduced(self, table: pl.DataFrame) -> pl.DataFrame:
        """The table without what is derived, and with differences in place of what is compared."""
        gaps = [
            (pl.col(upper) - pl.col(by.lower)).clip(lower_bound=0).alias(upper)
            for upper, by in self.differences.items()
            if by.modelled
        ]
        return table.with_columns(gaps).drop([*self.look_ups, *(one.total for one in self.constraints.sums)])

    def restored(self, table: pl.DataFrame) -> pl.DataFrame:
        sums = {one.total: one.parts for one in self.constraints.sums}
        for name, sources in self.constraints.derivations().items():
            if name in sums:
                added = sum((table[part] for part in sources[1:]), start=table[sources[0]])
            elif name in self.differences:
                added = _raised(table, name, self.differences[name])
            else:
                added = looked_up(table[sources[0]], self.look_ups[name])
            table = table.with_columns(added.alias(name))
        return table


def enforcement(
    constraints: TableConstraints, table: pl.DataFrame, shapes: Shapes, rare: int, person: pl.Series
) -> Enforcement:
    """Of a table whose columns are read by their shapes; ``person`` says whose each record is."""
    table = table.with_columns(person.alias(_WHO))
    look_ups = {one.dependent: _look_up(table, one, shapes[one.dependent], rare) for one in constraints.dependencies}
    differences = {one.upper: _difference(table, one, rare) for one in constraints.inequalities}
    return Enforcement(constraints=constraints, look_ups=look_ups, differences=differences)


def _look_up(table: pl.DataFrame, tie: FunctionalDependency, shape: ColumnShape, rare: int) -> LookUp:
    determinant, dependent = table[tie.determinant], table[tie.dependent]
    known = dependent if shape.is_stepped or shape.is_named else dependent.clear(len(dependent))
    pairs = pl.DataFrame({_BY: determinant, "told": known, _WHO: table[_WHO]})
    people = pl.col(_WHO).n_unique()
    usual = pairs.with_columns(
        often=people.over(_BY) >= rare,
        told=pl.when(people.over("told") >= rare).then(pl.col("told")),
    )
    counted = usual.group_by(_BY, "often", "told").len().sort("len", "told", descending=[True, False], nulls_last=True)
    first = counted.filter("often").unique(_BY, keep="first", maintain_order=True).sort(_BY)
    named = first.filter(pl.col(_BY).is_not_null())
    others = counted.filter(~pl.col("often")).group_by("told").agg(pl.col("len").sum()).sort("len", "told")
    common = counted.group_by("told").agg(pl.col("len").sum()).sort("len", "told")
    of_missing = first.filter(pl.col(_BY).is_null())["told"].to_list()
    return LookUp(
        determinant=determinant.name,
        stepped=shape.is_stepped,
        determinants=tuple(named[_BY]),
        dependents=tuple(named["told"]),
        otherwise=next(iter([*others["told"].reverse(), *common["told"].reverse()]), None),
        of_missing=next(iter(of_missing), None),
    )


def looked_up(determinant: pl.Series, by: LookUp) -> pl.Series:
    """The dependents of determinants."""
    told = pl.Series([*by.dependents, by.otherwise, by.of_missing], dtype=pl.Int64 if by.stepped else pl.String)
    places = pl.int_range(len(by.determinants), eager=True)
    known = pl.DataFrame({"by": pl.Series(by.determinants, dtype=pl.String), "at": places})
    asked = determinant.alias("by").to_frame().join(known, on="by", how="left", maintain_order="left")["at"]
    places = asked.fill_null(len(by.determinants)).set(determinant.is_null(), len(by.determinants) + 1)
    return told[places]


def _difference(table: pl.DataFrame, inequality: Inequality, rare: int) -> Difference:
    lower, upper = table[inequality.lower], table[inequality.upper]
    counts = once_a_person(upper, table[_WHO]).drop_nulls().alias("value").value_counts(name="records").sort("value")
    low, high = (0, 0)
    if counts.height:
        low, high = cut(counts["value"].to_numpy(), counts["records"].to_numpy().astype(np.int64), rare)
    modelled = not bool((lower.is_null() & upper.is_not_null()).any())
    return Difference(lower=lower.name, modelled=modelled, lowest=min(low, high), highest=high)


def _raised(table: pl.DataFrame, name: str, by: Difference) -> pl.Series:
    lower, own = pl.col(by.lower), pl.col(name)
    drawn = (lower + own if by.modelled else own).clip(by.lowest, by.highest)
    return table.select(pl.when(own.is_not_null()).then(pl.max_horizontal(lower, drawn)).alias(name))[name]
