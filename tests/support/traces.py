"""Made-up traces of people whose homes and places of work are known."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl

BEGIN = datetime.datetime(2026, 3, 2)  # noqa: DTZ001  # a Monday, in local time as traces have it
MIDDLE = (18.52, 73.85)
METRE = 1 / 111_195


def made_up_traces(
    people: int, days: int = 5, seed: int = 3, width: float = 5_000.0
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Points every half an hour, some metres beside where people are; and their homes (``who`` and place).

    At night people are at home, on weekdays from 9 to 17 at work, on the way in between.
    """
    random = np.random.default_rng(seed)
    homes, works = (random.uniform(-width / 2, width / 2, (people, 2)) for _ in range(2))
    moments = [BEGIN + datetime.timedelta(minutes=30 * step) for step in range(48 * days)]
    rows = []
    for who in range(people):
        for moment in moments:
            hour = moment.hour + moment.minute / 60
            at_work = moment.weekday() < 5 and 9 <= hour < 17
            share = 0.5 if moment.weekday() < 5 and hour in (8.5, 17.0) else float(at_work)
            north, east = homes[who] * (1 - share) + works[who] * share + random.normal(0, 10, 2)
            rows.append((f"p{who}", *_degrees(north, east), moment))
    table = pl.DataFrame(rows, schema=["who", "latitude", "longitude", "time"], orient="row")
    places = [(f"p{who}", *_degrees(*homes[who])) for who in range(people)]
    return table, pl.DataFrame(places, schema=["who", "latitude", "longitude"], orient="row")


def _degrees(north: float, east: float) -> tuple[float, float]:
    wide = np.cos(np.radians(MIDDLE[0]))
    return round(MIDDLE[0] + north * METRE, 6), round(MIDDLE[1] + east * METRE / wide, 6)
