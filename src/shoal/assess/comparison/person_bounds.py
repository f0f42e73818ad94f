"""How many people stand behind records of a release that fit somebody, where one person may have several.

Where the attribute that names people is in the release, they are told apart by it. Where it is not, n records are of
n ÷ m people at least if nobody has more than m; and a whole class is of at least k, as was counted at the release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from shoal.assess.comparison.counting_unit import DeclaredPeople
from shoal.attack.matching.coverage import Match
from shoal.kernels.arrays import Integers
from shoal.policy import Policy
from shoal.policy.treatment import Treatment
from shoal.results.record_counts import CountBasis
from shoal.results.release_folder import ReleaseFolder


@dataclass(frozen=True)
class PersonBounds:
    most_records: int | None
    """Of one person; None where nobody knows."""
    owner: pl.Series | None = field(default=None, repr=False)
    by_class: bool = False
    """Whether each class is known to have k people: not where a star was counted as any value."""

    @classmethod
    def of(
        cls, release: ReleaseFolder, shown: pl.DataFrame, treatment: Mapping[str, Treatment], policy: Policy | None
    ) -> PersonBounds:
        """By the manifest; by the policy where an older manifest doesn't say. ``shown`` are records of the release."""
        manifest, told = release.manifest, DeclaredPeople.of(release)
        if told is None:
            own = (manifest is not None and manifest.says_who) or (policy is not None and policy.person is None)
            return cls(1 if own else None)
        if told.person in shown.columns and treatment.get(told.person) is not Treatment.ALTERED:
            owner = shown[told.person].cast(pl.String).fill_null("")
            if owner.is_duplicated().any():  # else each record may have a name of its own
                return cls(told.most_records, owner)
        solution = None if manifest is None else manifest.solution
        return cls(told.most_records, None, solution is not None and solution.recoding != "cells")

    @property
    def counted(self) -> CountBasis:
        return CountBasis.PEOPLE if self.most_records == 1 or self.owner is not None else CountBasis.AT_LEAST

    def least(self, match: Match, k: int, *, by_classes: bool) -> Integers:
        """For each known person, as many people as the records that fit are at least of.

        ``by_classes`` says that whole classes fit, or don't.
        """
        if self.owner is not None:
            return match.people(self.owner)
        records = match.candidates()
        least = np.minimum(records, 1) if self.most_records is None else -(-records // self.most_records)
        return np.where(records > 0, np.maximum(least, k), 0) if by_classes and self.by_class else least
