"""What released records tell of a person's sensitive value: for each person, the values of the records that fit.

A sensitive cell that could stand for anything (``*``) tells nothing: its record counts among those that fit, and speaks
for no value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.attack.matching.coverage import Coverage, Match, compatible
from shoal.kernels.arrays import Floats, Integers, Mask

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


CELLS = 10_000_000
"""Numbers of records, by person and label, that are held at a time."""


@dataclass(frozen=True)
class Posteriors:
    """Some people and, for each, how many fitting records have which sensitive label."""

    people: Integers
    """Their rows in the table of people."""
    rows: Integers
    """Beside each entry of ``labels``: for whom it is, as a place in ``people``."""
    labels: Integers
    records: Floats
    fitting: Floats
    """For each of the people, all records that fit, with or without a label that tells something."""

    @property
    def best(self) -> Floats:
        """For each of the people, the records of their commonest label."""
        top = np.zeros(len(self.people))
        np.maximum.at(top, self.rows, self.records)
        return top

    @property
    def share(self) -> Floats:
        """How sure the commonest label is."""
        return self.best / np.maximum(self.fitting, 1)

    @property
    def modal(self) -> Mask:
        """The entries that are the commonest of their person, or tie for it."""
        return np.asarray(self.records == self.best[self.rows])


@dataclass(frozen=True)
class OwnRecords:
    """Which released records are people's own: pairs of a row of the table of people and a record."""

    people: Integers = field(repr=False)
    records: Integers = field(repr=False)

    @classmethod
    def of(cls, release: pl.DataFrame, original: pl.DataFrame, owner: str, people: Integers) -> OwnRecords:
        """``owner`` names a column of both tables that says whose a row is."""
        asked = pl.DataFrame({"who": original[owner].gather(people), "person": people})
        there = pl.DataFrame({"who": release[owner], "record": np.arange(release.height)}).drop_nulls()
        both = asked.join(there, on="who").sort("person", "record")
        return cls(both["person"].to_numpy(), both["record"].to_numpy())

    def among(self, people: Integers) -> OwnRecords:
        """The same with people's places among these rows, which are in order."""
        return OwnRecords(np.searchsorted(people, self.people), self.records)


@dataclass(frozen=True)
class SensitiveView:
    """The released records as an attacker sees them who knows people's quasi-identifiers and wants one attribute."""

    match: Match = field(repr=False)
    coverage: Coverage = field(repr=False)
    """Of the sensitive attribute."""
    values: Integers = field(repr=False)
    """The code of each one's true value, for all in the table of people."""
    histogram: csr_matrix = field(repr=False)
    """Classes × labels that tell something."""
    released: Integers = field(repr=False)
    """The label of each released record."""

    @classmethod
    def of(
        cls,
        release: pl.DataFrame,
        people: pl.DataFrame,
        attributes: Sequence[str],
        sensitive: str,
        known: Mapping[str, pl.DataFrame] | None = None,
    ) -> SensitiveView:
        from scipy.sparse import csr_matrix

        match = Match.of(release, people, attributes, known)
        coverage = Coverage.of(people[sensitive], release[sensitive], (known or {}).get(sensitive))
        labels = coverage.label_codes(release[sensitive])
        tells = ~coverage.everything[labels]
        shape = (len(match.classes), len(coverage.labels))
        histogram = csr_matrix((np.ones(int(tells.sum())), (match.class_of[tells], labels[tells])), shape=shape)
        return cls(match, coverage, coverage.codes(people[sensitive]), histogram, labels)

    @property
    def prior(self) -> Floats:
        """The share of each label in the whole release: what is believed of anybody."""
        return np.asarray(self.histogram.sum(axis=0), dtype=np.float64).ravel() / max(len(self.match.class_of), 1)

    @property
    def guessed(self) -> Floats:
        """For all in the table of people, the chance that the release's commonest label, by lot if several are, is
        right."""
        prior = self.prior
        modal = (prior == prior.max(initial=0.0)) & (prior > 0)
        covering = np.bincount(self.coverage.of_value, modal[self.coverage.of_label], len(self.coverage.values))
        return covering[self.values] / max(int(modal.sum()), 1)

    @property
    def unread(self) -> int:
        """Labels that could not be read, so that nothing was ruled out or concluded by them."""
        return self.match.unread + self.coverage.unread

    def posteriors(self, people: Integers) -> Iterator[Posteriors]:
        """About these rows of the table of people, as many at a time as memory allows."""
        order = people[np.argsort(self.match.target_of[people], kind="stable")]
        wanted, place = np.unique(self.match.target_of[order], return_inverse=True)
        fitting, records = np.zeros(len(wanted)), self.match.records
        for target, released in self._compatible(wanted):
            fitting += np.bincount(target, weights=records[released], minlength=len(wanted))
        cells = np.minimum(fitting[place], self.histogram.shape[1])
        parts = np.floor(np.cumsum(cells) / CELLS)
        for part in np.split(np.arange(len(order)), np.flatnonzero(np.diff(parts)) + 1):
            if len(part):
                yield self._posteriors(order[part], fitting[place[part]])

    def left_out(self, posteriors: Posteriors, own: OwnRecords) -> Posteriors:
        """The same posteriors if people's own records were not in the release."""
        mine = np.isin(own.people, posteriors.people)
        people, records = own.people[mine], own.records[mine]
        fits = self.match.fits(people, records)
        order = np.argsort(posteriors.people, kind="stable")
        place = order[np.searchsorted(posteriors.people[order], people[fits])]
        fitting = posteriors.fitting - np.bincount(place, minlength=len(posteriors.people))
        labels = self.released[records[fits]]
        tells = ~self.coverage.everything[labels]
        size = len(self.coverage.labels)
        taken, often = np.unique(place[tells] * size + labels[tells], return_counts=True)
        keys = posteriors.rows * size + posteriors.labels
        if len(taken):
            at = np.minimum(np.searchsorted(taken, keys), len(taken) - 1)
            left = posteriors.records - np.where(taken[at] == keys, often[at], 0)
        else:
            left = posteriors.records
        there = left > 0
        return Posteriors(posteriors.people, posteriors.rows[there], posteriors.labels[there], left[there], fitting)

    def _compatible(self, targets: Integers) -> Iterator[tuple[Integers, Integers]]:
        return compatible(self.match.targets[targets], self.match.classes, self.match.coverages)

    def right(self, people: Integers, labels: Integers) -> Mask:
        """Whether a claim about the person beside it is true: the label tells something and covers their value."""
        covered = self.coverage.covers(self.values[people], labels)
        return np.asarray(covered & ~self.coverage.everything[labels])

    def _posteriors(self, people: Integers, fitting: Floats) -> Posteriors:
        from scipy.sparse import csr_matrix

        wanted, place = np.unique(self.match.target_of[people], return_inverse=True)
        shape = (len(wanted), len(self.match.classes))
        counted = csr_matrix((len(wanted), self.histogram.shape[1]))
        for target, released in self._compatible(wanted):
            counted = counted + csr_matrix((np.ones(len(target)), (target, released)), shape=shape) @ self.histogram
        each = counted.tocsr()[place].tocoo()
        return Posteriors(people, each.row.astype(np.int64), each.col.astype(np.int64), each.data, fitting)
