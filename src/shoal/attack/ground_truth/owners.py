"""Which released record is whose: what the attacker doesn't know, and the judge has to."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from shoal.attack.result import Attack
from shoal.errors import DataError, FieldName, FieldText
from shoal.kernels.arrays import Floats, Integers


@dataclass(frozen=True)
class Owners:
    """Whose each released record is, and who each target is: equal values are the same person."""

    records: pl.Series = field(repr=False)
    targets: pl.Series = field(repr=False)

    def held(self, groups: Integers, targets: Integers, asked: Integers) -> Floats:
        """How many released records of the group asked for are those of the target beside it.

        ``groups`` has the group of each released record.

        >>> owners = Owners(pl.Series([7, 7, 8]), pl.Series([7, 8]))
        >>> owners.held(np.array([0, 0, 0]), np.array([0, 1]), np.array([0, 0])).tolist()
        [2.0, 1.0]
        """
        there = pl.DataFrame({"owner": self.records, "group": groups}).group_by("owner", "group").len("records")
        wanted = pl.DataFrame({"owner": self.targets.gather(targets), "group": asked})
        found = wanted.join(there, on=["owner", "group"], how="left", maintain_order="left")["records"]
        return found.fill_null(0).cast(pl.Float64).to_numpy()


def owners_of(release: pl.DataFrame, targets: pl.DataFrame, *, aligned: bool, truth: str | None) -> Owners | None:
    """None where nothing says whose record is whose."""
    if truth is not None:
        if truth not in release.columns or truth not in targets.columns:
            raise DataError(f"column '{truth}' should say whose record it is, but is not in both tables")
        return Owners(release[truth], targets[truth])
    if not aligned:
        return None
    if release.height != targets.height:
        raise DataError(
            f"the release has {release.height} rows and the original {targets.height}: row i of one can't be row i of "
            "the other"
        )
    rows = pl.Series(np.arange(targets.height))
    return Owners(rows, rows)


def judged_by_claims(attack: Attack, *, certain: bool) -> Attack:
    """An attack of which every claim was counted as right, since nobody can tell: enough to say that it finds nothing,
    not to say that it finds something."""
    if certain and not attack.found:
        return attack
    raise DataError(
        "it makes claims, and nothing says which released record is whose",
        advice=FieldText(
            "attack a release in the order of the original, or let ",
            FieldName("evidence", of="run"),
            " attack, which knows",
        ),
    )


@dataclass(frozen=True)
class Trials:
    """Rows about people as trials: the rows of one person are one, and the one that tells most counts."""

    of: Integers = field(repr=False)
    """For each row, whose trial it is."""
    count: int

    @classmethod
    def by(cls, person: pl.Series | None, rows: int) -> Trials:
        """Without a person each row is one."""
        if person is None:
            return cls(np.arange(rows), rows)
        codes = person.rank("dense").to_numpy().astype(np.int64) - 1
        return cls(codes, int(codes.max(initial=-1)) + 1)

    @property
    def sizes(self) -> Integers:
        """For each row, how many rows the person has."""
        return np.bincount(self.of, minlength=self.count)[self.of]

    def best(self, values: Floats) -> Floats:
        """Of each person the largest of their rows' values, all of them 0 or more.

        >>> Trials.by(pl.Series(["a", "b", "a"]), 3).best(np.array([0.5, 0.0, 1.0])).tolist()
        [1.0, 0.0]
        """
        most = np.zeros(self.count)
        np.maximum.at(most, self.of, values)
        return most
