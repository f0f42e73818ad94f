"""An old release looked at again: what new outside data would do to it, kept in the release's history.

The auxiliary table is linked with the release by the quasi-identifiers that both have; by these and each further column
that both have, also one that nobody took for identifying when it was released, which is what new data changes; and by
all of them. The worst of these counts. Nobody is linked by a column that was altered (noise, averages, other people's
values): it fits by chance only, and attacks with the original try what it gives away.

Nobody knows whose record is whose any more, so what counts is how many people each person could be: fewer than k is
less than the release promised. A value that a hierarchy doesn't know can only be behind a ``*``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from pydantic import Field

from shoal.assess.attack.table_attack import read_table
from shoal.assess.comparison.compatibility import ReleaseProvenance
from shoal.assess.comparison.label_vocabulary import Vocabulary
from shoal.assess.comparison.person_bounds import PersonBounds
from shoal.assess.reassess.request import ReassessRequest
from shoal.attack.battery import without_suppressed
from shoal.attack.matching.coverage import Match
from shoal.errors import DataError, FieldName, FieldText, InputError
from shoal.io import sha256_of
from shoal.io.frames import source_at
from shoal.policy.treatment import Treatment
from shoal.privacy import ModelFinding
from shoal.randomness import now
from shoal.results.history import ReassessmentResult
from shoal.results.record_counts import CountBasis
from shoal.results.release_folder import ReleaseFolder
from shoal.schema import Role


def _holds(seen: Mapping[str, Any]) -> bool | None:
    """None where it is neither shown nor refuted."""
    if seen["below"]:
        return False
    shown = seen["fitting"] and not seen["unread_labels"]
    return True if shown and not seen["perhaps_below"] else None


class Reassessment(ReassessmentResult):
    """A look that was just taken: whether the promise holds follows from its figures."""

    holds: bool | None = Field(default_factory=_holds)

    @property
    def shown(self) -> bool:
        """Whether the figures can show that a promise holds."""
        return bool(self.fitting) and not self.unread_labels

    def result(self) -> ReassessmentResult:
        """With everything said, as the history keeps it."""
        return ReassessmentResult.model_validate(self.model_dump())

    def findings(self, bounds: Mapping[str, float]) -> tuple[ModelFinding, ...]:
        """That nobody is among fewer than k, or what is required instead; and that anything was shown at all."""
        if not self.fitting:
            return (ModelFinding("people who fit any record", 1, 0, met=False),)
        found = [self._finding(name, bound) for name, bound in (bounds or {"k": self.k}).items()]
        if self.unread_labels:
            found.append(ModelFinding("released labels that can't be read", 0, self.unread_labels, met=False))
        return tuple(found)

    def _finding(self, name: str, bound: float) -> ModelFinding:
        if name == "k":
            return ModelFinding("k", bound, self.fewest, self.fewest >= bound)
        return ModelFinding("uniques", bound, self.alone, self.alone <= bound)


def reassess(release: str, request: ReassessRequest) -> Reassessment:
    """Link new outside data with a release folder. What is found is not kept: see ``release.history``."""
    folder = ReleaseFolder.at(release)
    manifest = folder.manifest
    if manifest is None:
        raise InputError(
            FieldText(f"{release}: is not a release folder; ", FieldName("auxiliary"), " re-assesses releases")
        )
    k = folder.promised_k
    folder.require_untouched()
    shown, people = (
        read_table(folder.data, "release"),
        read_table(source_at(request.auxiliary, request.reader), "auxiliary table"),
    )
    treatment = ReleaseProvenance.of(request.policy, folder).treatment
    common = tuple(name for name in shown.columns if name in people.columns)
    altered = tuple(name for name in common if treatment.get(name) is Treatment.ALTERED)
    common = tuple(name for name in common if name not in altered)
    if not common:
        also = " that was not altered" if altered else ""
        raise DataError(f"the auxiliary table has no column in common with the release{also}")
    quasi = tuple(name for name in shown.columns if manifest.roles.get(name) is Role.QUASI)
    shown = without_suppressed(shown, quasi)
    words = Vocabulary.of(people, shown, treatment, request.policy)
    whose = PersonBounds.of(folder, shown, treatment, request.policy)
    context = _Context(
        k, people.height, whose, int(words.unknown.sum()), altered if treatment else None, request.auxiliary
    )
    tried = []
    for names in _sets(tuple(name for name in quasi if name in common), common):
        match = Match.of(shown, words.people, names, words.labels)
        tried.append(context.judged(match, names, by_classes=set(names) <= set(quasi)))
    return max(tried, key=_badness)


def _sets(quasi: tuple[str, ...], common: tuple[str, ...]) -> Sequence[tuple[str, ...]]:
    others = [name for name in common if name not in quasi]
    sets = [quasi, *((*quasi, name) for name in others), common]
    return tuple(dict.fromkeys(names for names in sets if names))


def _badness(one: Reassessment) -> tuple[float, ...]:
    """Where nobody fits, nothing is known, so what anybody fits goes before."""
    return one.below, one.perhaps_below, -one.fewest if one.fitting else -inf, one.fitting


@dataclass(frozen=True)
class _Context:
    """What is the same for all sets of attributes."""

    k: int
    people: int
    whose: PersonBounds
    unknown: int
    altered: tuple[str, ...] | None
    auxiliary: str

    def judged(self, match: Match, names: tuple[str, ...], *, by_classes: bool) -> Reassessment:
        least = self.whose.least(match, self.k, by_classes=by_classes)
        most = match.candidates() if self.whose.counted is CountBasis.AT_LEAST else least
        least, most = least[least > 0], most[most > 0]
        below = int((most < self.k).sum())
        local = Path(self.auxiliary)
        return Reassessment(
            when=now().replace(microsecond=0),
            attributes=names,
            people=self.people,
            fitting=len(least),
            alone=int((least == 1).sum()),
            fewest=int(least.min()) if len(least) else 0,
            k=self.k,
            below=below,
            auxiliary_sha256=sha256_of(local) if "://" not in self.auxiliary and local.is_file() else None,
            unread_labels=match.unread,
            perhaps_below=int((least < self.k).sum()) - below,
            counted=self.whose.counted,
            unknown=self.unknown,
            altered=self.altered,
        )
