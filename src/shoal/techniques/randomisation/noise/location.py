"""Noise on a location: latitude and longitude move together to a random point nearby (ISO/IEC 20889, 9.7.2).

The new point is uniform in the disc of radius ``metres`` around the old one: bearing 2π·u, distance metres·√v, carried
along a great circle, so that a metre is a metre at any latitude and the date line and the poles are no exception. Noise
on each coordinate by itself would stretch with the latitude; the suggestion of ± 0.005° per coordinate in the PDPC
guide, annex B, is ``uniform: {width: 0.01}`` on either column.

A lone house in a wide field stays near: the radius has to hold enough people. Where one coordinate is missing the
other is removed too, for it could not be moved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from shoal.errors import DataError
from shoal.kernels.arrays import Floats
from shoal.randomness import Stream
from shoal.schema.columns import ROW, Column
from shoal.schema.parameters import Parameters
from shoal.techniques.base import Step

EARTH_RADIUS = 6_371_008.8
"""Mean radius in metres (IUGG)."""

_BEARING, _DISTANCE = 0, 1


class LocationNoise(Parameters):
    metres: float = Field(gt=0, le=1_000_000)
    longitude: str
    """The column of the longitude; the attribute itself is the latitude. Both in decimal degrees."""


@dataclass(frozen=True)
class LocationNoiseStep(Step):
    latitude: Column
    longitude: Column
    metres: float
    stream: Stream

    @property
    def reads(self) -> tuple[str, ...]:
        return self.latitude.name, self.longitude.name

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        latitude = self._degrees(frame, self.latitude, limit=90)
        longitude = self._degrees(frame, self.longitude, limit=180)
        missing = latitude.is_null() | longitude.is_null()
        rows = frame[ROW].to_numpy()
        moved = self._moved(latitude.fill_null(0).to_numpy(), longitude.fill_null(0).to_numpy(), rows)
        return frame.with_columns(
            pl.Series(column.name, degrees.round(column.scale) + 0.0).set(missing, None)
            for column, degrees in zip((self.latitude, self.longitude), moved, strict=True)
        )

    def _moved(self, latitude: Floats, longitude: Floats, rows: NDArray[np.uint64]) -> tuple[Floats, Floats]:
        bearing = 2.0 * np.pi * self.stream.uniform(rows, _BEARING)
        arc = self.metres / EARTH_RADIUS * np.sqrt(self.stream.uniform(rows, _DISTANCE))
        start = np.radians(latitude)
        sine = np.sin(start) * np.cos(arc) + np.cos(start) * np.sin(arc) * np.cos(bearing)
        end = np.arcsin(np.clip(sine, -1.0, 1.0))
        turn = np.arctan2(np.sin(bearing) * np.sin(arc) * np.cos(start), np.cos(arc) - np.sin(start) * np.sin(end))
        east = (longitude + np.degrees(turn) + 180.0) % 360.0 - 180.0
        return np.degrees(end), east

    def _degrees(self, frame: pl.DataFrame, column: Column, limit: int) -> pl.Series:
        degrees = column.numbers(frame[column.name]).cast(pl.Float64)
        if outside := int((degrees.abs() > limit).sum()):
            raise DataError(f"column '{column.name}': {outside} value(s) are no degrees between -{limit} and {limit}")
        return degrees
