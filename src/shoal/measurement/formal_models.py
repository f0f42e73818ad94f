"""The formal models measured on any table: for each, the figure that its classes reach, whatever was asked of them.

A model is met by a parameter on the right side of its figure. Most figures depend on nothing else. Those that do:

- *p* (p-sensitive k-anonymity) and *alpha* ((α, k)-anonymity) are for the k that the table has;
- *recursive_c2*, *recursive_c3* are for l = 2 and 3: recursive (c, l)-diversity holds for every greater c;
- *enhanced_beta* is the least β of enhanced β-likeness. Where a value gains more than −ln p, no β will do;
- *lkc_k*, *lkc_c* are for an attacker who knows L = 2 quasi-identifiers.

A figure beyond all numbers (no parameter will do) is null in JSON. One that makes no sense for the table is left out,
and the reason is said. Classes are those of equal cells, also where a policy takes a star for any value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from math import comb, inf, isfinite
from typing import Any

import numpy as np

from shoal.errors import FieldName, FieldText
from shoal.kernels.arrays import Integers
from shoal.privacy import Classes, Figure, PrivacyModel, privacy_models
from shoal.privacy.models.alpha_k import AlphaK
from shoal.privacy.models.beta_likeness import BetaLikeness
from shoal.privacy.models.beta_likeness import LikenessKind as Likeness
from shoal.privacy.models.delta_disclosure import DeltaDisclosure
from shoal.privacy.models.delta_presence import DeltaPresence
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.privacy.models.k_map import KMap
from shoal.privacy.models.l_diversity import DiversityKind, LDiversity
from shoal.privacy.models.lkc import Lkc
from shoal.privacy.models.p_sensitive import PSensitive
from shoal.privacy.models.re_identification_risk import AverageRisk, MaximumRisk
from shoal.privacy.models.sample_uniqueness import SampleUniqueness
from shoal.privacy.models.t_closeness import ClosenessDistance, TCloseness
from shoal.schema import Column

KNOWN = 2
"""How many quasi-identifiers an attacker knows in LKC-privacy."""
MOST_CELLS = 30_000_000
"""Classes × values, or classes × sets of attributes, beyond which a figure is left out."""

COUNTED = ("k", "k_map", "distinct_l", "p")
"""Figures that are whole numbers."""

Values = dict[str, float]


NEUTRAL = 1
"""A parameter to ask a model with whose figure doesn't depend on it."""

WHOLE: dict[str, PrivacyModel] = {
    "k": KAnonymity(k=NEUTRAL),
    "maximum_risk": MaximumRisk(maximum=NEUTRAL),
    "average_risk": AverageRisk(maximum=NEUTRAL),
    "sample_uniqueness": SampleUniqueness(maximum=NEUTRAL),
}
"""Figures of the classes themselves, and who measures them."""

_GIVEN = "given"
POPULATION: dict[str, PrivacyModel] = {
    "k_map": KMap(k=NEUTRAL, population=_GIVEN),
    "delta_presence": DeltaPresence(maximum=NEUTRAL, population=_GIVEN),
}
"""Figures of the classes beside a table of the population: the fewest people a class stands for there, and the largest
share of them that is in the table."""


def _diversity(kind: DiversityKind) -> Callable[[str, float, int], PrivacyModel]:
    return lambda name, bound, _: LDiversity(attribute=name, l=bound, kind=kind)


def _recursive(values: int) -> Figure:
    return Figure(
        f"recursive_c{values}",
        f"recursive (c, {values})-diversity: c above",
        lambda name, bound, _: LDiversity(attribute=name, l=values, c=bound, kind=DiversityKind.RECURSIVE),
    )


def _closeness(name: str, distance: ClosenessDistance) -> Figure:
    return Figure(
        name,
        f"t-closeness: t, {distance} distance",
        lambda attribute, bound, _: TCloseness(attribute=attribute, t=bound, distance=distance),
    )


def _likeness(name: str, kind: Likeness) -> Figure:
    return Figure(
        name,
        f"{kind} β-likeness: β",
        lambda attribute, bound, _: BetaLikeness(attribute=attribute, beta=bound, kind=kind),
    )


_OURS = (
    Figure("distinct_l", "distinct l-diversity: l", _diversity(DiversityKind.DISTINCT)),
    Figure("entropy_l", "entropy l-diversity: l", _diversity(DiversityKind.ENTROPY)),
    _recursive(2),
    _recursive(3),
    _closeness("t", ClosenessDistance.EQUAL),
    _closeness("t_ordered", ClosenessDistance.ORDERED),
    _closeness("t_hierarchical", ClosenessDistance.HIERARCHICAL),
    Figure("p", "p-sensitive k-anonymity: p", lambda name, bound, k: PSensitive(attribute=name, p=bound, k=k)),
    Figure("alpha", "(α, k)-anonymity: α", lambda name, bound, k: AlphaK(attribute=name, alpha=bound, k=k)),
    _likeness("beta", Likeness.BASIC),
    _likeness("enhanced_beta", Likeness.ENHANCED),
    Figure("delta", "δ-disclosure: δ above", lambda name, bound, _: DeltaDisclosure(attribute=name, delta=bound)),
    Figure("lkc_c", f"LKC-privacy, L = {KNOWN}: C", lambda name, bound, _: Lkc(l=KNOWN, k=1, c=bound, attribute=name)),
)
DECLARED: tuple[Figure, ...] = tuple(figure for _, model in privacy_models for figure in model.measured_by())
"""What models say of themselves, those from plug-ins too."""
SENSITIVE: dict[str, Figure] = {
    figure.name: figure for figure in (*_OURS, *DECLARED) if figure.sensitive and figure.name not in WHOLE
}
"""Figures of one sensitive attribute."""
WHOLE |= {figure.name: figure.model("", NEUTRAL, NEUTRAL) for figure in DECLARED if not figure.sensitive}


@dataclass(frozen=True)
class FormalFigures:
    whole: Values
    attributes: Mapping[str, Values] = field(default_factory=dict)
    left_out: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Per attribute and figure, why there is none."""
    lkc_k: int | None = None
    """The fewest people who match any two values; None where that is k itself, or too much to count."""

    @property
    def parameters(self) -> dict[str, dict[str, int]]:
        """What a figure was measured for, where that matters."""
        k = int(self.whole["k"])
        known = {} if self.lkc_k is None else {"lkc_c": {"l": KNOWN, "k": self.lkc_k}}
        return {"p": {"k": k}, "alpha": {"k": k}, "recursive_c2": {"l": 2}, "recursive_c3": {"l": 3}, **known}

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; null is beyond all numbers."""
        found: dict[str, Any] = {name: _plain(name, value) for name, value in self.whole.items()}
        if self.lkc_k is not None:
            found["lkc_k"] = self.lkc_k
        if self.attributes:
            found["attributes"] = {
                attribute: {name: _plain(name, value) for name, value in values.items()}
                for attribute, values in self.attributes.items()
            }
            found["left_out"] = {name: dict(reasons) for name, reasons in self.left_out.items() if reasons}
            found["parameters"] = self.parameters
        return found


def measure_formal(classes: Classes, columns: Mapping[str, Column] | None = None) -> FormalFigures:
    """The figures of all models that need nothing but the table, and, where the classes have a population, of those
    that compare with it; ``columns`` says which attributes have an order.

    >>> sizes = np.array([2, 4])
    >>> measure_formal(Classes(sizes, sizes)).to_dict()
    {'k': 2, 'maximum_risk': 0.5, 'average_risk': 0.3333333333333333, 'sample_uniqueness': 0.0}
    """
    whole_table = WHOLE if classes.population is None else WHOLE | POPULATION
    whole = {name: achieved(model, classes) for name, model in whole_table.items()}
    pairs = _sets_of_known(classes)
    attributes, left_out = {}, {}
    for name in classes.sensitive:
        reasons = dict(_senseless(classes, name, (columns or {}).get(name), pairs))
        wanted = [figure for figure in SENSITIVE if figure not in reasons]
        attributes[name] = {figure: measure_figure(figure, classes, name) for figure in wanted}
        left_out[name] = reasons
    known = None
    if attributes and pairs and len(classes) * pairs <= MOST_CELLS:
        known = min(int(classes.people_in(*groups).min()) for groups in _matching(classes))
    return FormalFigures(whole, attributes, left_out, known)


def measure_figure(figure: str, classes: Classes, attribute: str) -> float:
    """One figure of a sensitive attribute."""
    if figure in ("recursive_c2", "recursive_c3"):
        return _least_c(classes, attribute, int(figure[-1]))
    if figure == "enhanced_beta":
        return _enhanced(classes, attribute)
    if figure == "lkc_c":
        return _confidence(classes, attribute)
    return achieved(SENSITIVE[figure].model(attribute, NEUTRAL, int(classes.people.min())), classes)


def achieved(model: PrivacyModel, classes: Classes) -> float:
    """What `PrivacyModel.find` finds, without asking whether it will do. Every class has records."""
    figures = model.figures(classes)
    return float(figures.min() if model.more_is_safer else figures.max())


def why_not_measured(figure: str, classes: Classes, attribute: str, column: Column | None) -> str | None:
    """Why a figure makes no sense for an attribute, however much work it may be."""
    if figure == "t_ordered" and not (column is not None and (column.is_number or column.is_date)):
        return "its values are neither numbers nor dates"
    if figure == "t_hierarchical" and not classes.histograms(attribute).tree:
        return "no policy gives it a hierarchy and a model that looks at it"
    if figure == "lkc_c" and not _sets_of_known(classes):
        return f"there are no more than {KNOWN} quasi-identifiers: see alpha"
    return None


def _senseless(classes: Classes, attribute: str, column: Column | None, pairs: int) -> Iterator[tuple[str, str]]:
    cells = len(classes) * len(classes.histograms(attribute).whole)
    for figure in SENSITIVE:
        reason = why_not_measured(figure, classes, attribute, column)
        if reason is None and cells > MOST_CELLS:
            reason = FieldText(
                "too many classes and values to go through unasked; ", FieldName("require"), " asks for it"
            )
        if reason is None and figure == "lkc_c" and max(cells, len(classes)) * pairs > MOST_CELLS:
            reason = FieldText(
                "too many classes and sets of attributes to go through unasked; ",
                FieldName("require"),
                " asks for it",
            )
        if reason is not None:
            yield figure, reason


def _sets_of_known(classes: Classes) -> int:
    """How many sets of attributes an attacker may know who doesn't know all of them; none if there are too few."""
    number = len(classes.attributes)
    return comb(number, KNOWN) if number > KNOWN and classes.cells is not None else 0


def _least_c(classes: Classes, attribute: str, values: int) -> float:
    """The greatest r₁ ÷ (r_l + … + rₘ); infinite with fewer than l values in a class (Machanavajjhala et al. 2007)."""
    most = 0.0
    for _, block in classes.histograms(attribute).blocks():
        falling = np.sort(block, axis=1)[:, ::-1]
        tails = falling[:, values - 1 :].sum(axis=1)
        if not tails.all():
            return inf
        most = max(most, float((falling[:, 0] / tails).max()))
    return most


def _enhanced(classes: Classes, attribute: str) -> float:
    """A gain is at most min(β, −ln p): the greatest gain will do for β, or nothing will (Cao and Karras 2012)."""
    gain = achieved(BetaLikeness(attribute=attribute, beta=1, kind=Likeness.BASIC), classes)
    if gain <= 0:
        return 0.0
    model = BetaLikeness(attribute=attribute, beta=gain, kind=Likeness.ENHANCED)
    return gain if model.holds(classes).all() else inf


def _confidence(classes: Classes, attribute: str) -> float:
    """The largest share of a sensitive value among those who match what an attacker knows (Mohammed et al. 2009)."""
    largest = 0.0
    for groups, number in _matching(classes):
        for _, block in classes.histograms(attribute).merged(groups, number).blocks():
            largest = max(largest, float((block.max(axis=1) / block.sum(axis=1)).max()))
    return largest


def _matching(classes: Classes) -> Iterator[tuple[Integers, int]]:
    """The classes grouped by each two quasi-identifiers: the group of each class, and how many there are."""
    if classes.cells is None:
        return
    for first, second in combinations(classes.cells.T, KNOWN):
        pairs = first * (int(second.max()) + 1) + second
        found, groups = np.unique(pairs, return_inverse=True)
        yield groups.astype(np.int64), len(found)


def _plain(name: str, value: float) -> float | None:
    if not isfinite(value):
        return None
    return int(value) if name in COUNTED else value
