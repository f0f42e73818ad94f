"""Homes and places of work from traces (ISO/IEC 20889, 12.2): where somebody's nights are, and their working hours.

The attacker sees traces: released rows with a place and a moment that a released name, a pseudonym too, holds together.
A person's home is taken to be the place of most nights (21 to 6 o'clock), the place of work that of most working hours
(Monday to Friday, 9 to 17 o'clock) away from home. A place is a cell of about 100 metres, and the median of the points
in it. A home is found if it lies within ``WITHIN`` metres of the one that the original shows in the same way, or that a
table of known homes tells.

Guessing takes the place of another person of the original: where all live in one street it is right as well. Which
columns hold place and time is told by their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from shoal.attack.registry import Try, attack
from shoal.attack.result import Attack, NothingToTryError, Rate
from shoal.attack.scene import WHO, Scene
from shoal.kernels.arrays import Floats
from shoal.randomness import Randomness

WITHIN: Final = 200.0
"""Metres: the next corner."""
_CELL: Final = 0.001
"""Degrees of latitude: about 100 metres."""
_METRES_PER_DEGREE: Final = 111_195.0
_LATITUDES: Final = frozenset({"latitude", "lat"})
_LONGITUDES: Final = frozenset({"longitude", "lon", "lng", "long"})
_NIGHT, _MORNING = 21, 6
_WORK, _EVENING = 9, 17


@dataclass(frozen=True)
class TraceLayout:
    """Which columns of a table hold a trace."""

    latitude: str
    longitude: str
    time: str

    @classmethod
    def found_in(cls, frame: pl.DataFrame) -> TraceLayout | None:
        """
        >>> TraceLayout.found_in(pl.DataFrame({"Lat": ["1.5"], "lng": ["103.8"], "seen": ["2026-03-02T23:10:00"]}))
        TraceLayout(latitude='Lat', longitude='lng', time='seen')
        """
        latitude = next((name for name in frame.columns if name.lower() in _LATITUDES), None)
        longitude = next((name for name in frame.columns if name.lower() in _LONGITUDES), None)
        time = next((name for name in frame.columns if _has_moments(frame[name])), None)
        return None if latitude is None or longitude is None or time is None else cls(latitude, longitude, time)

    def points(self, frame: pl.DataFrame, who: str) -> pl.DataFrame:
        """Columns ``who``, ``latitude``, ``longitude``, ``time``; rows that lack one are left out."""
        return pl.DataFrame(
            {
                "who": frame[who],
                "latitude": frame[self.latitude].cast(pl.Float64, strict=False),
                "longitude": frame[self.longitude].cast(pl.Float64, strict=False),
                "time": _moments(frame[self.time]),
            }
        ).drop_nulls()


def _has_moments(values: pl.Series) -> bool:
    if isinstance(values.dtype, pl.Datetime):
        return True
    if values.dtype != pl.String():
        return False
    some = values.drop_nulls().head(100)
    return len(some) > 0 and _moments(some).null_count() == 0


def _moments(values: pl.Series) -> pl.Series:
    if values.dtype != pl.String():
        return values.cast(pl.Datetime("us"), strict=False)
    told = pl.col(values.name).str.replace("T", " ", literal=True)
    forms = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M", "%d/%m/%Y %H:%M:%S", "%d/%m/%Y %H:%M")
    read = [told.str.to_datetime(form, strict=False, time_unit="us") for form in forms]
    return values.to_frame().select(pl.coalesce(read)).to_series()


def usual_places(points: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Home and place of work of everybody who shows one: columns ``who``, ``latitude``, ``longitude``."""
    hour, weekday = pl.col("time").dt.hour(), pl.col("time").dt.weekday()
    homes = _most_visited(points.filter((hour >= _NIGHT) | (hour < _MORNING)))
    working = points.filter((hour >= _WORK) & (hour < _EVENING) & (weekday <= 5))
    beside = working.join(homes, on="who", how="left", suffix="_home")
    away = (_metres("latitude", "longitude", "latitude_home", "longitude_home") > WITHIN).fill_null(value=True)
    return homes, _most_visited(beside.filter(away).select(points.columns))


def _most_visited(points: pl.DataFrame) -> pl.DataFrame:
    """Of each person, the cell that is theirs on most days; of equal ones the cell with most points."""
    wide = pl.col("latitude").radians().cos().clip(lower_bound=0.01)
    cells = points.with_columns(
        (pl.col("latitude") / _CELL).floor().alias("north"),
        (pl.col("longitude") * wide / _CELL).floor().alias("east"),
        pl.col("time").dt.date().alias("day"),
    )
    visited = cells.group_by("who", "north", "east").agg(
        pl.col("day").n_unique().alias("days"),
        pl.len().alias("points"),
        pl.col("latitude").median(),
        pl.col("longitude").median(),
    )
    order = visited.sort("days", "points", "north", "east", descending=[True, True, False, False])
    return order.unique("who", keep="first", maintain_order=True).select("who", "latitude", "longitude").sort("who")


def _metres(latitude: str, longitude: str, other: str, beside: str) -> pl.Expr:
    north = (pl.col(latitude) - pl.col(other)) * _METRES_PER_DEGREE
    wide = ((pl.col(latitude) + pl.col(other)) / 2).radians().cos()
    east = (pl.col(longitude) - pl.col(beside)) * _METRES_PER_DEGREE * wide
    return (north**2 + east**2).sqrt()


def home_and_work(
    release: pl.DataFrame, original: pl.DataFrame, randomness: Randomness, *, known: pl.DataFrame | None = None
) -> list[Attack]:
    """Look for homes and places of work in released points, and compare with those of the original.

    Both tables have ``who``, ``latitude``, ``longitude``, ``time``; in the release ``who`` is what the judge knows of a
    trace. ``known`` are homes that are known for sure: ``who``, ``latitude``, ``longitude``.
    """
    found, true = usual_places(release), usual_places(original)
    homes = true[0] if known is None else known
    made = [
        _judged("home_places", "Finding homes in traces", found[0], homes, randomness),
        _judged("work_places", "Finding places of work in traces", found[1], true[1], randomness),
    ]
    return [one for one in made if one is not None]


def _judged(key: str, title: str, found: pl.DataFrame, true: pl.DataFrame, randomness: Randomness) -> Attack | None:
    if not len(true):
        return None
    right = _near(true.join(found, on="who", how="inner", suffix="_found"))
    order = randomness.stream("attack", key).permutation(len(true))
    another = pl.DataFrame({f"{name}_found": true[name].gather(order) for name in ("latitude", "longitude")})
    others = pl.concat([true, another], how="horizontal").filter(pl.Series(order != np.arange(len(order))))
    return Attack(
        key,
        title,
        "released places and moments, held together by a released name",
        Rate(float(right.sum()), len(true)),
        Rate(float(_near(others).mean() * len(true)) if len(others) else 0.0, len(true)),
        details={"claims": float(len(found)), "precision": float(right.mean()) if len(right) else 0.0},
    )


def _near(pairs: pl.DataFrame) -> Floats:
    away = _metres("latitude", "longitude", "latitude_found", "longitude_found")
    return pairs.select((away <= WITHIN).cast(pl.Float64)).to_series().to_numpy()


@attack("home_places", "work_places", order=75)
def _tries(scene: Scene) -> Iterator[tuple[str, Try]]:
    released, before = (TraceLayout.found_in(table) for table in (scene.release, scene.people))
    names = [name for name in scene.tables.pseudonyms if name in scene.release.columns]
    if released is None or before is None or not names or scene.truth is None or scene.person is None:
        return

    def tried() -> Sequence[Attack]:
        points = released.points(scene.release.with_columns(_owners(scene.release, names[0])), WHO)
        found = home_and_work(points, before.points(scene.people, WHO), scene.randomness)
        if not found:
            raise NothingToTryError("nobody shows where their nights or their working hours are")
        return found

    yield "home_places", tried


def _owners(release: pl.DataFrame, name: str) -> pl.Series:
    """Whose a whole trace is: the person whom most of its rows are of. The name alone holds it together."""
    most = pl.col(WHO).drop_nulls().mode().min().over(name)
    return release.select(pl.when(pl.col(name).is_not_null()).then(most).alias(WHO)).to_series()
