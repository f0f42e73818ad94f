"""A whole table as codes, and back: shapes, constraints and codes bound together. This is what methods model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from shoal.errors import DataError
from shoal.kernels.arrays import Integers
from shoal.randomness import Randomness
from shoal.schema.parameters import Parameters
from shoal.synth.column_codes import ColumnCodes, codes_of, encoded, once_a_person
from shoal.synth.column_shapes import ColumnShape, ShapeKind, read, written
from shoal.synth.constraint_detection import constraints_of
from shoal.synth.constraints import Enforcement, TableConstraints, enforcement
from shoal.synth.shape_detection import RARE, shapes_of

_STORED: Final = {str(kind): kind for kind in (pl.String(), pl.Boolean(), pl.Int64(), pl.Float64())}
_PREFIX: Final = "synthetic-"

Places = NDArray[np.uint64]
"""Numbers of records, from 0."""


class TableDescription(Parameters):
    """What the user says of a table. Whatever is left unsaid is found."""

    columns: Mapping[str, ColumnShape] = Field(default_factory=dict)
    constraints: TableConstraints = TableConstraints()
    find_constraints: bool = True
    rare: int = RARE
    """Values of fewer people than this never reappear."""
    person: str | None = None
    """The column that tells people apart; without it each record is one."""


class TableCoding(Parameters):
    """All that is known of a table but how its columns go together."""

    shapes: dict[str, ColumnShape]
    """Of all columns, in their order."""
    stored: dict[str, str]
    first_numbers: dict[str, int]
    """Of identifiers that are whole numbers, the first that is given."""
    enforcement: Enforcement
    codes: dict[str, ColumnCodes]
    """Of what is modelled."""

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(one.size for one in self.codes.values())

    @property
    def constraints(self) -> TableConstraints:
        return self.enforcement.constraints

    def described(self) -> dict[str, Any]:
        """Shapes and constraints, without what is left as it is by default."""
        shapes = {name: shape.model_dump(mode="json", exclude_defaults=True) for name, shape in self.shapes.items()}
        return {"shapes": shapes, "constraints": self.constraints.model_dump(mode="json", exclude_defaults=True)}

    def encode(self, frame: pl.DataFrame) -> Integers:
        """One column of codes for each that is modelled."""
        table = self.enforcement.reduced(read_table(frame, self.shapes))
        columns = [encoded(codes, table[name]) for name, codes in self.codes.items()]
        return np.stack(columns, axis=1) if columns else np.zeros((frame.height, 0), dtype=np.int64)

    def decode(self, codes: Integers, randomness: Randomness, first: int) -> pl.DataFrame:
        """Records of codes. Random numbers belong to the record, so they are the same in any batch."""
        places = np.arange(first, first + len(codes), dtype=np.uint64)
        return self.written(self.steps(codes, randomness, places), places)

    def steps(
        self,
        codes: Integers,
        randomness: Randomness,
        places: Places,
        known: pl.DataFrame | None = None,
        purpose: Sequence[str] = (),
    ) -> pl.DataFrame:
        """The same before it is written, as columns are read by their shapes; what is ``known`` as it is."""
        given = known if known is not None else pl.DataFrame()
        drawn = {
            name: given[name]
            if name in given.columns
            else one.decode(codes[:, at], randomness.stream("synth", *purpose, "value", name).uniform(places))
            for at, (name, one) in enumerate(self.codes.items())
        }
        return self.enforcement.restored(pl.DataFrame(drawn))

    def written(self, table: pl.DataFrame, places: Places, names: Iterable[str] | None = None) -> pl.DataFrame:
        """Columns as the table had them, all or some."""
        chosen = self.shapes if names is None else names
        return pl.DataFrame([self._written(table, name, places) for name in chosen])

    def _written(self, table: pl.DataFrame, name: str, places: Places) -> pl.Series:
        shape, stored = self.shapes[name], _STORED.get(self.stored[name], pl.String())
        if shape.kind is ShapeKind.IDENTIFIER:
            return new_keys(places, self.first_numbers.get(name)).alias(name)
        if shape.kind is ShapeKind.TEXT:
            return pl.Series(name, [None] * len(places), dtype=pl.String)
        return written(table[name], shape, stored).alias(name)


def read_table(frame: pl.DataFrame, shapes: Mapping[str, ColumnShape]) -> pl.DataFrame:
    """Columns as steps or text, by their shapes."""
    return pl.DataFrame([read(frame[name], shape).alias(name) for name, shape in shapes.items()])


def coding_of(
    frame: pl.DataFrame, description: TableDescription | None = None, people: pl.Series | None = None
) -> TableCoding:
    """Shapes, constraints and codes of a table. It has to have at least as many records as make a value not rare.

    ``people`` says whose each record is, where no column of the table does.
    """
    said = description or TableDescription()
    if frame.height < said.rare or not frame.width:
        told = f"records: {frame.height} of at least {said.rare}, columns: {frame.width}"
        raise DataError(f"the table is too small to be synthesised ({told})")
    if said.person is not None and said.person not in frame.columns:
        raise DataError(f"there is no column '{said.person}' that could tell people apart")
    numbered = {said.person: ColumnShape(kind=ShapeKind.IDENTIFIER)} if said.person else {}
    shapes = shapes_of(frame, {**said.columns, **numbered}, rare=said.rare)
    found = said.constraints
    if said.find_constraints:
        found = constraints_of(read_table(frame, shapes), shapes, said.constraints)
    shapes = found.shapes(shapes)
    several = people if said.person is None else frame[said.person]
    person = pl.int_range(frame.height, eager=True) if several is None else several
    table = read_table(frame, shapes)
    enforced = enforcement(found, table, shapes, said.rare, person)
    reduced = enforced.reduced(table)
    numbers = {name: key_numbers(frame[name]) for name, one in shapes.items() if one.kind is ShapeKind.IDENTIFIER}
    modelled = [name for name in reduced.columns if shapes[name].is_stepped or shapes[name].is_named]
    return TableCoding(
        shapes=shapes,
        stored={name: str(_plain(frame[name].dtype)) for name in frame.columns},
        first_numbers={name: first for name, first in numbers.items() if first is not None},
        enforcement=enforced,
        codes={
            name: codes_of(
                reduced[name] if several is None else once_a_person(reduced[name], person),
                _modelled(shapes[name], name, enforced),
                said.rare,
            )
            for name in modelled
        },
    )


def _modelled(shape: ColumnShape, name: str, enforced: Enforcement) -> ColumnShape:
    """A difference has none of the bounds of the column that it stands for."""
    by = enforced.differences.get(name)
    return shape if by is None or not by.modelled else shape.model_copy(update={"lowest": None, "highest": None})


def _plain(stored: pl.DataType) -> pl.DataType:
    return pl.Int64() if stored.is_integer() else pl.Float64() if stored.is_numeric() else stored


def key_numbers(values: pl.Series) -> int | None:
    """The first number that is given anew: round, and above all that were there. None for keys that are no numbers.

    >>> key_numbers(pl.Series(["7", "912"])), key_numbers(pl.Series(["7", "x"])), key_numbers(pl.Series(["007"]))
    (1001, None, None)
    """
    numbers = values.drop_nulls()
    if isinstance(numbers.dtype, pl.String):
        if numbers.is_empty() or not numbers.str.contains("^[1-9][0-9]{0,17}$").all():
            return None
        numbers = numbers.cast(pl.Int64)
    if not numbers.dtype.is_numeric():
        return None
    largest = max(abs(int(numbers.max() or 0)), abs(int(numbers.min() or 0)))  # type: ignore[arg-type]
    return int(10 ** min(len(str(largest)), 18)) + 1


def new_keys(places: Places, first: int | None) -> pl.Series:
    """Keys of records by their places."""
    numbers = pl.Series(places.astype(np.int64)) + (1 if first is None else first)
    return numbers if first is not None else _PREFIX + numbers.cast(pl.String)
