"""The probability of re-identification in its circumstances (PDPC Guide to Basic Anonymisation, annex D).

P(re-identification) = 1/k × P(attempt), and an attempt is as likely as the likeliest of three: an insider who tries, by
motive and by the controls in place; somebody who knows a person in the table; a data breach at the recipient. What is
acceptable depends on the harm that could be done. The guide's figures are examples, and for a release that is not
public; an organisation may set its own.

What is acceptable: by the PDPC guide the threshold may be reached; by MeitY's Guidelines for Anonymisation of Data,
3.2.1, step 13, the risk has to be less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar

from shoal.errors import InputError
from shoal.schema.circumstances import Controls, Harm, Motive, Procedure
from shoal.schema.registry import did_you_mean

INSIDER = {
    Controls.HIGH: {Motive.LOW: 0.03, Motive.MEDIUM: 0.05, Motive.HIGH: 0.1},
    Controls.MEDIUM: {Motive.LOW: 0.2, Motive.MEDIUM: 0.25, Motive.HIGH: 0.3},
    Controls.LOW: {Motive.LOW: 0.4, Motive.MEDIUM: 0.5, Motive.HIGH: 0.6},
    Controls.NONE: {Motive.LOW: 1.0, Motive.MEDIUM: 1.0, Motive.HIGH: 1.0},
}
THRESHOLDS = {Harm.LOW: 0.2, Harm.MEDIUM: 0.1, Harm.HIGH: 0.01}
ACQUAINTANCES = 150
"""People whom somebody knows, on average (Dunbar 1993)."""

NOT_FOR_PUBLIC = (
    "annex D of the PDPC guide assumes a release that is not public, and this one is (controls: none, or use case "
    "public); judge it by its highest risk, by attacks, or by another procedure (meity)"
)
_ASKED = {
    Procedure.PDPC: "The PDPC guide, annex D, was followed: the probability may be as high as the threshold.",
    Procedure.MEITY: "The MeitY guidelines, step 13, were followed: the probability has to be less than the threshold.",
}
_SCENARIOS = {
    "insider": "a deliberate attack by an insider",
    "acquaintance": "recognition by somebody who knows a person in the table",
    "breach": "a data breach at the recipient",
}
Level = TypeVar("Level", Motive, Controls, Harm, Procedure)


@dataclass(frozen=True)
class Reidentification:
    k: int
    harm: Harm
    motive: Motive
    controls: Controls | None
    """None: unsaid, so that an attempt is taken to be certain."""
    parts: dict[str, float | None]
    """The probability of an attempt by scenario: insider, acquaintance, breach; None where it was not given."""
    attempt: float
    success: float
    """The probability that an attempt succeeds, 1/k."""
    probability: float
    threshold: float
    within: bool
    procedure: Procedure = Procedure.PDPC

    @property
    def words(self) -> tuple[str, ...]:
        """The verdict, how it came about, and what was left out."""
        given = {name: chance for name, chance in self.parts.items() if chance is not None}
        likeliest = max(given, key=lambda name: given[name])
        relation = "is within" if self.within else "is above"
        if not self.within and math.isclose(self.probability, self.threshold):
            relation = "is not less than"
        said = [
            f"The probability of re-identification is {self.probability:.3g}, which {relation} the threshold of "
            f"{self.threshold:g} for {self.harm} potential harm.",
            self._success_in_words(),
            f"The likeliest attempt is {_SCENARIOS[likeliest]}, with a probability of {self.attempt:.3g}.",
            _ASKED[self.procedure],
        ]
        said += [f"Not assessed: {_SCENARIOS[name]}." for name, chance in self.parts.items() if chance is None]
        return tuple(said)

    def _success_in_words(self) -> str:
        if not self.k:
            return "No record is in any class, so no attempt can succeed."
        if self.k == 1:
            return "At least one person is alone in their class, so an attempt on them is taken to succeed."
        return (
            f"Every person is among at least {self.k} who look alike, so an attempt succeeds with at most 1/{self.k}."
        )


def assess(  # noqa: PLR0913  # one argument per figure of the guide
    k: int,
    *,
    harm: Harm | str,
    motive: Motive | str,
    controls: Controls | str | None,
    acquaintance: float | None = None,
    breach: float | None = None,
    insider: float | None = None,
    threshold: float | None = None,
    procedure: Procedure | str = Procedure.PDPC,
) -> Reidentification:
    """The assessment of a table whose smallest class has ``k`` people (0: there is none).

    ``acquaintance`` and ``breach`` are probabilities of an attempt, and are left out of the maximum where not given;
    ``insider`` and ``threshold`` stand in for the guide's figures.

    >>> assess(5, harm="low", motive="medium", controls="none").probability
    0.2
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 0:
        raise InputError("k has to be a whole number, 0 or more")
    harm, motive, procedure = _level(Harm, harm), _level(Motive, motive), _level(Procedure, procedure)
    controls = None if controls is None else _level(Controls, controls)
    parts = {
        "insider": INSIDER[controls or Controls.NONE][motive] if insider is None else insider,
        "acquaintance": acquaintance,
        "breach": breach,
    }
    limit = THRESHOLDS[harm] if threshold is None else threshold
    for name, chance in (*parts.items(), ("threshold", limit)):
        _check(name, chance)
    attempt = max(chance for chance in parts.values() if chance is not None)
    probability = attempt / k if k else 0.0
    reached = math.isclose(probability, limit)
    within = probability <= limit or reached if procedure is Procedure.PDPC else probability < limit and not reached
    success = 1 / k if k else 0.0
    return Reidentification(k, harm, motive, controls, parts, attempt, success, probability, limit, within, procedure)


def acquaintance_probability(prevalence: float, acquaintances: int = ACQUAINTANCES) -> float:
    """The chance that somebody knows a person of whom the share ``prevalence`` of the population is: 1 − (1 − p)ᵐ.

    The guide leaves the estimate open; this one is El Emam's (2013), and supposes that acquaintances are a random draw.

    >>> round(acquaintance_probability(0.001), 3)
    0.139
    """
    _check("prevalence", prevalence)
    if acquaintances < 0:
        raise InputError("nobody knows fewer than 0 people")
    if prevalence == 1:
        return float(acquaintances > 0)
    return -math.expm1(acquaintances * math.log1p(-prevalence))


def _level(kind: type[Level], said: Level | str) -> Level:
    known = tuple(str(level) for level in kind)
    if str(said).lower() not in known:
        named = f"{kind.__name__.lower()}: {str(said)!r} is none of {', '.join(known)}"
        raise InputError(f"{named}{did_you_mean(str(said).lower(), known)}")
    return kind(str(said).lower())


def _check(name: str, chance: float | None) -> None:
    if chance is not None and not 0 <= chance <= 1:
        raise InputError(f"{name}: {chance} is no probability", advice="give one from 0 to 1")
