"""Copies: does a synthetic record equal a real one more often than chance brings about?

In a table of few columns many synthetic records equal a real one, since many people are alike; that is no copy. So the
same is counted for people who were not learned from: of the records that only the original has, the share that the
synthetic table has too, against the same of records that only the control group has. Both are of the same size, by lot;
what else the original has is left out, so that either group's records are new to the other.

A record that nobody else has, in neither group, is *unique*; a synthesiser that gives these back gives a person back.
One from whom at most five people differ in a single column is an *outlier*: chance makes few of them, so that copies
show among them that are lost among the many records which are often drawn.

Records are equal in all columns. Each counts once, however often it occurs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from polars import selectors

from shoal.attack.registry import Try
from shoal.attack.result import Attack, NothingToTryError, Rate
from shoal.attack.synthetic.registry import synthetic_attack
from shoal.attack.synthetic.scene import SyntheticScene
from shoal.kernels.arrays import Integers

_ORIGINAL, _REST, _CONTROL, _SYNTHETIC, _GUESS = (f"__shoal_{name}" for name in ("o", "r", "c", "s", "g"))
FEW_NEAR = 5
"""People who differ from an outlier in one column, at most."""
_KNOWS = "the synthetic table alone"


def copies(scene: SyntheticScene) -> list[Attack]:
    """Of all records that one group alone has."""
    counted = _counted(scene)
    mine = counted.filter((pl.col(_ORIGINAL) > 0) & (pl.col(_REST) == 0) & (pl.col(_CONTROL) == 0))
    theirs = counted.filter((pl.col(_CONTROL) > 0) & (pl.col(_REST) == 0) & (pl.col(_ORIGINAL) == 0))
    whole = _shares(counted, scene.tables.synthetic.height)
    return [_attack("copies", "Copies of records", mine, theirs, whole)]


def copies_of_people(scene: SyntheticScene) -> list[Attack]:
    """Of records that one person alone has, and of those among them whom hardly anybody is near."""
    counted = _counted(scene, halved=False)
    people = counted[_ORIGINAL] + counted[_CONTROL]
    alone = (people == 1).to_numpy()
    outlying = alone & (_near(counted.select(scene.tables.original.columns), people.to_numpy()) <= FEW_NEAR)
    found = []
    for key, whose, of in (("unique", "unique records", alone), ("outliers", "outliers", outlying)):
        some = counted.filter(pl.Series(of))
        mine, theirs = some.filter(pl.col(_ORIGINAL) == 1), some.filter(pl.col(_CONTROL) == 1)
        if mine.height:
            people_given_back = float((mine[_SYNTHETIC] > 0).sum())
            found.append(_attack(f"copies_of_{key}", f"Copies of {whose}", mine, theirs, {"people": people_given_back}))
    if not found:
        raise NothingToTryError("no record of the original is unique")
    return found


def _attack(key: str, title: str, mine: pl.DataFrame, theirs: pl.DataFrame, details: dict[str, float]) -> Attack:
    strangers = _hit(theirs, _SYNTHETIC) if theirs.height else None
    return Attack(key, title, _KNOWS, _hit(mine, _SYNTHETIC), _hit(mine, _GUESS), strangers, details=details)


def _hit(records: pl.DataFrame, by: str) -> Rate:
    return Rate(float((records[by] > 0).sum()), records.height)


def _shares(counted: pl.DataFrame, rows: int) -> dict[str, float]:
    """Of the synthetic records, those that equal one of the original, of as many of the original as there are in the
    control group, and of the control group."""
    any_ = (counted[_ORIGINAL] + counted[_REST] > 0, counted[_ORIGINAL] > 0, counted[_CONTROL] > 0)
    names = ("synthetic_equal_to_original", "synthetic_equal_to_as_many", "synthetic_equal_to_control")
    return {
        name: float(counted[_SYNTHETIC].filter(where).sum()) / rows for name, where in zip(names, any_, strict=True)
    }


def _counted(scene: SyntheticScene, *, halved: bool = True) -> pl.DataFrame:
    """Each distinct record with how often each of the tables has it; ``halved``, what the original has beyond the size
    of the control group is counted apart."""
    original, control = scene.tables.original, scene.tables.control
    size = min(original.height, control.height) if halved and control is not None else original.height
    rest = np.ones(original.height, dtype=bool)
    rest[scene.stream("copies", "original").permutation(original.height)[:size]] = False
    others = original.clear() if control is None else control
    parts = [
        (original.filter(pl.Series(~rest)), _ORIGINAL),
        (original.filter(pl.Series(rest)), _REST),
        (scene.drawn(others, "copies", size) if halved else others, _CONTROL),
        (scene.tables.synthetic, _SYNTHETIC),
        (_shuffled(scene), _GUESS),
    ]
    flags = [name for _, name in parts]
    stacked = pl.concat(
        frame.with_columns(pl.lit(own == name, dtype=pl.UInt32).alias(name) for name in flags) for frame, own in parts
    )
    plain = stacked.with_columns(selectors.float().fill_nan(None) + 0.0)  # −0.0 is 0
    return plain.group_by(original.columns).agg(pl.col(flags).sum())


def _near(records: pl.DataFrame, people: Integers) -> Integers:
    """For each distinct record, how many people differ from it in exactly one column.

    >>> _near(pl.DataFrame({"a": [1, 1, 2], "b": [1, 2, 3]}), np.array([1, 5, 1])).tolist()
    [5, 1, 0]
    """
    hashes = [records[name].hash(seed=7 + place).to_numpy() for place, name in enumerate(records.columns)]
    whole = np.add.reduce(hashes)
    near = np.zeros(records.height, dtype=np.int64)
    for each in hashes:
        _, place = np.unique(whole - each, return_inverse=True)
        near += np.bincount(place, weights=people)[place].astype(np.int64) - people
    return near


def _shuffled(scene: SyntheticScene) -> pl.DataFrame:
    """Guesses by somebody who knows each column and nothing of how they go together."""
    table = scene.tables.synthetic
    return pl.DataFrame(
        [column.gather(scene.stream("copies", "guess", column.name).permutation(table.height)) for column in table]
    )


@synthetic_attack("copies", "copies_of_unique", "copies_of_outliers", order=10)
def tries_copies(scene: SyntheticScene) -> Iterator[tuple[str, Try]]:
    yield "copies", lambda: copies(scene)
    yield "copies_of_unique", lambda: copies_of_people(scene)
