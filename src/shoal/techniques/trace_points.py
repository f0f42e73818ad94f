"""What techniques on traces share: whose point it is, where and when; cells of a grid in metres; slots of time.

Rows that lack the place or the time can't be treated, so all these techniques leave them out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

import numpy as np
import polars as pl
from pydantic import Field

from shoal.errors import DataError
from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.schema.columns import Column, Columns
from shoal.schema.values import ValueType
from shoal.techniques.base import Context, Scope, Stage, Step, TableTechnique
from shoal.techniques.strata import stratum_codes

METRES_PER_DEGREE: Final = 111_195.0
"""Of latitude, on a sphere of mean radius."""
_NEAR_THE_POLES: Final = 0.01


class TraceTechnique(TableTechnique):
    """Parameters that name the columns of a trace; the policy's ``person`` says whose it is."""

    stage = Stage.BEFORE_ATTRIBUTES

    latitude: str = Field(description="The column of the latitude, in decimal degrees.")
    longitude: str = Field(description="The column of the longitude.")
    time: str = Field(description="The column of the moment.")

    def columns(self, person: str | None) -> tuple[str, ...]:
        return self.latitude, self.longitude, self.time

    def refuse(self, columns: Columns) -> str | None:
        for name in (self.latitude, self.longitude):
            if columns[name].type is not ValueType.DECIMAL:
                return f"a coordinate is a decimal number; column '{name}' is {columns[name].type}"
        if columns[self.time].type is not ValueType.DATETIME:
            return f"the time has to be a date with a time of day; column '{self.time}' is {columns[self.time].type}"
        return None

    def trace(self, context: Context) -> TraceColumns:
        if context.person is None:
            raise DataError(f"{self.key}: a trace is somebody's", advice="name the column of the `person`")
        latitude, longitude, time = (context.columns[name] for name in self.columns(None))
        return TraceColumns(latitude, longitude, time, context.person)


@dataclass(frozen=True)
class TracePoints:
    """Points as numbers, and the rows of the table they stand in."""

    rows: Integers
    person: Integers
    latitude: Floats
    longitude: Floats
    seconds: Floats

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, places: Integers | Mask) -> TracePoints:
        return TracePoints(
            self.rows[places],
            self.person[places],
            self.latitude[places],
            self.longitude[places],
            self.seconds[places],
        )

    def slots(self, minutes: float) -> Integers:
        return np.floor(self.seconds / (60.0 * minutes)).astype(np.int64)


@dataclass(frozen=True)
class TraceColumns:
    latitude: Column
    longitude: Column
    time: Column
    person: str = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        return self.latitude.name, self.longitude.name, self.time.name, self.person

    def read(self, frame: pl.DataFrame) -> TracePoints:
        latitude = self._degrees(frame, self.latitude, 90)
        longitude = self._degrees(frame, self.longitude, 180)
        moments = self.time.dates(frame[self.time.name]).cast(pl.Datetime("us"))
        seconds = (moments.to_physical().cast(pl.Float64) / 1e6).fill_null(np.nan).to_numpy()
        there = ~(np.isnan(latitude) | np.isnan(longitude) | np.isnan(seconds))
        points = TracePoints(
            np.arange(frame.height, dtype=np.int64), stratum_codes(frame, (self.person,)), latitude, longitude, seconds
        )
        return points.at(there)

    @staticmethod
    def _degrees(frame: pl.DataFrame, column: Column, most: int) -> Floats:
        degrees = column.numbers(frame[column.name]).cast(pl.Float64).fill_null(np.nan).to_numpy()
        if outside := int((np.abs(degrees) > most).sum()):
            raise DataError(f"column '{column.name}': {outside} value(s) are no degrees between -{most} and {most}")
        return degrees

    def places(self, latitude: Floats, longitude: Floats) -> tuple[pl.Series, pl.Series]:
        """Coordinates in the columns' own form."""
        east = (longitude + 180.0) % 360.0 - 180.0
        return _written(self.latitude, latitude), _written(self.longitude, east)

    def moments(self, seconds: Floats) -> pl.Series:
        moments = pl.Series(self.time.name, np.round(seconds * 1e6).astype(np.int64)).cast(pl.Datetime("us"))
        return self.time.from_dates(moments).alias(self.time.name)


def _written(column: Column, degrees: Floats) -> pl.Series:
    rounded = np.round(degrees, column.scale) + 0.0
    if not isinstance(column.storage, pl.String):
        return pl.Series(column.name, rounded).cast(column.storage)
    return pl.Series(column.name, [f"{one:.{column.scale}f}" for one in rounded.tolist()], dtype=pl.String())


@dataclass(frozen=True)
class MetreGrid:
    """Cells of ``metres``, each level twice as wide as the one before; four cells of one level are one of the next.

    Cells are measured along the latitude of the widest cells that they lie in.
    """

    metres: float
    levels: int

    def cells(self, points: TracePoints, level: int) -> tuple[Integers, Integers]:
        high, wide = self._steps(points.latitude)
        north = np.floor(points.latitude / (high * 2**level)).astype(np.int64)
        return north, np.floor(points.longitude / (wide * 2**level)).astype(np.int64)

    def centres(self, points: TracePoints, level: int) -> tuple[Floats, Floats]:
        high, wide = self._steps(points.latitude)
        north, east = self.cells(points, level)
        return (north + 0.5) * high * 2**level, (east + 0.5) * wide * 2**level

    def _steps(self, latitude: Floats) -> tuple[float, Floats]:
        """Degrees of latitude, and of longitude, of the smallest cells."""
        high = self.metres / METRES_PER_DEGREE
        widest = high * 2 ** (self.levels - 1)
        middle = np.radians((np.floor(latitude / widest) + 0.5) * widest)
        return high, high / np.maximum(_NEAR_THE_POLES, np.cos(middle))


def metres_between(latitude: Floats, longitude: Floats, others: Floats, beside: Floats) -> Floats:
    """Between near points, each with its other: along the meridian and the parallel.

    >>> metres_between(np.array([60.0]), np.array([10.0]), np.array([60.0]), np.array([10.001])).round(1).tolist()
    [55.6]
    """
    north = (others - latitude) * METRES_PER_DEGREE
    turn = (beside - longitude + 180.0) % 360.0 - 180.0
    east = turn * METRES_PER_DEGREE * np.cos(np.radians((latitude + others) / 2))
    distance: Floats = np.hypot(north, east)
    return distance


@dataclass(frozen=True)
class TraceStep(Step):
    """A step that needs whole traces."""

    scope: ClassVar[Scope] = Scope.TABLE
    drops_records: ClassVar[bool] = True

    trace: TraceColumns

    @property
    def reads(self) -> tuple[str, ...]:
        return self.trace.names


def kept(frame: pl.DataFrame, rows: Integers) -> pl.DataFrame:
    """These rows, in the order of the table."""
    return frame[np.sort(rows)] if len(rows) else frame.clear()
