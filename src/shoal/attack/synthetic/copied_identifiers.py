"""Values of columns that name people, looked for in the synthetic table: a real name in it is a person's own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import polars as pl

from shoal.attack.registry import Try
from shoal.attack.result import Attack, NothingToTryError, Rate
from shoal.attack.synthetic.registry import synthetic_attack
from shoal.attack.synthetic.scene import SyntheticScene


def copied_identifiers(scene: SyntheticScene, name: str) -> Attack:
    """Of the values that only members have, the share that is there; the same of those that only strangers have."""
    synthetic, original, control = scene.tables.identifying[name]
    shown, mine = synthetic.drop_nulls().unique(), original.drop_nulls().unique()
    theirs = None if control is None else control.drop_nulls().unique()
    if theirs is not None:
        mine, theirs = mine.filter(~mine.is_in(theirs.implode())), theirs.filter(~theirs.is_in(mine.implode()))
    if not len(mine):
        raise NothingToTryError("no value is of the original alone")
    return Attack(
        "copied_identifiers",
        "Real names or codes in the table",
        "the synthetic table alone",
        _there(mine, shown),
        Rate(0.0, len(mine)),
        None if theirs is None else _there(theirs, shown),
        attribute=name,
    )


def _there(values: pl.Series, shown: pl.Series) -> Rate:
    return Rate(float(values.is_in(shown.implode()).sum()), len(values))


def _tried(scene: SyntheticScene, name: str) -> list[Attack]:
    return [copied_identifiers(scene, name)]


@synthetic_attack("copied_identifiers", order=15)
def tries_copied_identifiers(scene: SyntheticScene) -> Iterator[tuple[str, Try]]:
    for name in scene.tables.identifying:
        yield f"copied_identifiers of {name}", partial(_tried, scene, name)
