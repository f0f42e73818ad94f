"""Probabilistic record linkage (Fellegi & Sunter 1969): which record is the likeliest, when some attributes disagree?

Of a person and a record each attribute agrees exactly (the label is the value), agrees (a wider label covers it) or
disagrees. Let m be the probability of such an outcome among pairs that belong together and u among pairs that don't;
with attributes taken as independent, the weight of a pair is Σ log m/u. Nobody tells the attacker which pairs belong
together: m, u and the share of true pairs are estimated from the outcomes alone by expectation–maximisation (Winkler
1988). Only pairs in one block, that agree on chosen attributes, are compared. People are linked one to one with the
records of the largest weights, largest first; among equal ones at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shoal.attack.attacks.linking import with_strangers
from shoal.attack.ground_truth.owners import Trials, judged_by_claims, owners_of
from shoal.attack.matching.agreement_weights import OUTCOMES, Weights
from shoal.attack.matching.coverage import Match, distinct_rows
from shoal.attack.registry import Try, attack
from shoal.attack.result import CERTAIN, Attack, NothingToTryError, Rate
from shoal.attack.scene import Scene
from shoal.errors import DataError
from shoal.hierarchy.labels import text_of
from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.randomness import Randomness

MOST_PAIRS = 1_000_000
"""Pairs of a person and a class that are compared at most; fewer people are tried where there would be more."""


def probabilistic_linking(  # noqa: PLR0913  # what the attacker has, what is true, how far to go
    release: pl.DataFrame,
    targets: pl.DataFrame,
    attributes: Sequence[str],
    *,
    aligned: bool,
    randomness: Randomness,
    block: Sequence[str] | None = None,
    truth: str | None = None,
    person: str | None = None,
    control: pl.DataFrame | None = None,
    known: Mapping[str, pl.DataFrame] | None = None,
    domain: pl.DataFrame | None = None,
    trials: int = 2000,
    certain: bool = False,
) -> Attack:
    """Link up to ``trials`` of the targets with their likeliest records.

    ``block`` names the attributes that have to agree; left out, it is the one that rules out most. ``known``,
    ``domain``, ``person`` and ``certain`` are as for ``linking``; without ``aligned`` or ``truth`` certain links are
    judged by whether more claims are made than about strangers. The control group counts false claims:
    strangers with a single likeliest record that is taken for theirs rather than not.
    """
    people = with_strangers(targets, control, attributes)
    match = Match.of(release, people, attributes, known, domain)
    stream = randomness.stream("attack", "probabilistic linking")
    owners = owners_of(release, targets, aligned=aligned, truth=truth)
    blocks = BlockingIndex.of(match, _blocks(match, attributes, block))
    chosen = blocks.affordable(stream.permutation(targets.height)[:trials])
    strangers = blocks.affordable(targets.height + stream.permutation(people.height - targets.height, 1)[:trials])
    pairs = CandidatePairs.of(match, blocks, np.concatenate([chosen, strangers]))
    belongs = Weights.learn(*pairs.patterns(), pairs.expected)
    weight = belongs.weight(pairs.outcome)
    linked = pairs.one_to_one(weight, stream.permutation(len(weight), 2), len(chosen))
    there = np.flatnonzero(linked >= 0)
    alike = match.records[linked[there]]
    rows = Trials.by(None if person is None else targets[person], targets.height)
    own = np.minimum(rows.sizes[chosen[there]], alike)
    if owners is not None:
        own = owners.held(match.class_of, chosen[there], linked[there])
    chance = np.zeros(len(chosen))
    chance[there] = own / alike
    tried = Trials.by(None if person is None else targets[person].gather(chosen), len(chosen))
    expected, sure = tried.best(chance), tried.best((chance == 1).astype(np.float64))
    claims = pairs.claims(weight, belongs.probability(pairs.outcome) > 0.5)
    outcome = Attack(
        "probabilistic_linking",
        "Probabilistic record linkage" + (CERTAIN if certain else ""),
        f"{', '.join(attributes)} of {tried.count:,} people",
        Rate(float((sure if certain else expected).sum()), tried.count),
        Rate(len(chosen) / release.height, tried.count),
        Rate(float(claims[len(chosen) :].sum()), len(strangers)) if len(strangers) else None,
        details={
            "expected": float(expected.mean()),
            "linked": float((linked >= 0).mean()),
            "claims": float(claims[: len(chosen)].mean()),
            "compared_pairs": float(len(weight)),
            "pairs_that_belong": belongs.share,
        },
        claims_only=True,
    )
    if owners is not None:
        return outcome
    if not certain or not len(strangers):
        return judged_by_claims(outcome, certain=certain)
    made = tried.best(claims[: len(chosen)].astype(np.float64))
    return replace(outcome, success=Rate(float(made.sum()), tried.count), claims_only=False)


@dataclass(frozen=True)
class BlockingIndex:
    """Which classes are in one block with each combination of known values."""

    target_of: Integers
    """The block of each person."""
    pairs: pl.DataFrame
    """``block``, and the block ``beside`` it that classes are in."""
    classes: pl.DataFrame
    """The block that each ``released`` class is in."""

    @classmethod
    def of(cls, match: Match, places: Sequence[int]) -> BlockingIndex:
        narrow = Match(
            tuple(match.coverages[place] for place in places),
            *distinct_rows(list(match.targets[:, places].T)),
            *distinct_rows(list(match.classes[:, places].T)),
        )
        both = [pl.DataFrame({"block": target, "beside": released}) for target, released in narrow.pairs()]
        classes = pl.DataFrame({"beside": narrow.class_of, "released": np.arange(len(narrow.class_of))})
        if not both:
            raise NothingToTryError(
                "no person and no record share a block", advice="choose other attributes to block by"
            )
        return cls(narrow.target_of[match.target_of], pl.concat(both), classes)

    def affordable(self, people: Integers) -> Integers:
        """The first of these people, as many as can be compared, in their order in the table."""
        sizes = np.bincount(self.classes["beside"].to_numpy())
        weights = sizes[self.pairs["beside"].to_numpy()]
        load = np.bincount(self.pairs["block"].to_numpy(), weights=weights, minlength=int(self.target_of.max()) + 1)
        total = np.cumsum(load[self.target_of[people]])
        return np.sort(people[: max(1, int(np.searchsorted(total, MOST_PAIRS, side="right")))])


@dataclass(frozen=True)
class CandidatePairs:
    """Pairs of a person and a released class in one block."""

    people: int
    person: Integers
    released: Integers
    outcome: Integers
    records: Integers
    """Of each class."""

    @classmethod
    def of(cls, match: Match, blocks: BlockingIndex, people: Integers) -> CandidatePairs:
        asked = pl.DataFrame({"block": blocks.target_of[people], "person": np.arange(len(people))})
        both = asked.join(blocks.pairs, on="block").join(blocks.classes, on="beside").sort("person", "released")
        if not both.height:
            raise NothingToTryError(
                "no person and no record share a block", advice="choose other attributes to block by"
            )
        person, released = both["person"].to_numpy(), both["released"].to_numpy()
        return cls(len(people), person, released, _outcomes(match, people[person], released), match.records)

    @property
    def expected(self) -> float:
        return self.people / float(self.records[self.released].sum())

    def patterns(self) -> tuple[Integers, Floats]:
        """Distinct outcomes, and the number of pairs with each."""
        digits = OUTCOMES ** np.arange(self.outcome.shape[1])
        key, where = np.unique(self.outcome @ digits, return_inverse=True)
        counts = np.bincount(where, weights=self.records[self.released])
        return key[:, None] // digits % OUTCOMES, counts.astype(np.float64)

    def one_to_one(self, weight: Floats, tie: Integers, people: int) -> Integers:
        """The class that each of the first ``people`` is linked with, −1 for none; a record is given away only once."""
        mine = np.flatnonzero(self.person < people)
        order = mine[np.lexsort((tie[mine], -np.round(weight[mine], 9)))]
        left, linked = self.records.tolist(), [-1] * people
        for person, released in zip(self.person[order].tolist(), self.released[order].tolist(), strict=True):
            if linked[person] < 0 and left[released]:
                linked[person] = released
                left[released] -= 1
        return np.array(linked, dtype=np.int64)

    def claims(self, weight: Floats, likely: Mask) -> Mask:
        """Whether one record alone is the likeliest of a person, and likelier theirs than not."""
        best = np.full(self.people, -np.inf)
        np.maximum.at(best, self.person, weight)
        top = (weight >= best[self.person] - 1e-9) & likely
        return np.asarray(
            np.bincount(self.person[top], weights=self.records[self.released[top]], minlength=self.people) == 1
        )


def _outcomes(match: Match, people: Integers, released: Integers) -> Integers:
    columns = []
    for place, coverage in enumerate(match.coverages):
        value, label = match.targets[match.target_of[people], place], match.classes[released, place]
        texts = pl.concat([text_of(coverage.values), text_of(coverage.labels)]).rank("dense").fill_null(0).to_numpy()
        exact = texts[value] == texts[len(coverage.values) + label]
        columns.append(np.where(exact, 2, coverage.covers(value, label).astype(np.int64)))
    return np.stack(columns, axis=1)


def _blocks(match: Match, attributes: Sequence[str], block: Sequence[str] | None) -> list[int]:
    if block:
        for name in block:
            if name not in attributes:
                raise DataError(f"'{name}' can't be blocked by: it is not among the attributes to link by")
        return [list(attributes).index(name) for name in block]
    shares = [
        len(each.of_value) / len(each.values) / len(each.labels) + each.everything.mean() for each in match.coverages
    ]
    return [int(np.argmin(shares))]


@attack("probabilistic_linking", order=30)
def tries_probabilistic(scene: Scene) -> Iterator[tuple[str, Try]]:
    quasi = scene.tables.quasi
    if quasi:
        known = {name: table for name, table in scene.known.items() if name in quasi}
        given = {**scene.judged_by(quasi), "control": scene.control_with(quasi), "known": known, "trials": scene.trials}
        yield (
            "probabilistic_linking",
            lambda: [probabilistic_linking(scene.shown, scene.people, quasi, randomness=scene.randomness, **given)],
        )
