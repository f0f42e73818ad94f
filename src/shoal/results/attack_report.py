"""What the attacks on a release came to, and whether that is what was required."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any

from shoal.attack import Attack
from shoal.attack.battery import BatteryResult
from shoal.attack.registry import attack_keys
from shoal.errors import FieldName, FieldText, InputError
from shoal.privacy import ModelFinding
from shoal.results.attack_results import AttackReportResult, AttackResult
from shoal.results.attack_roles import AttackRoles
from shoal.results.number_format import percent
from shoal.schema.notebook_html import card, grid, listing, short, tick
from shoal.schema.registry import did_you_mean

BEYOND_THE_BATTERY = ("joined_linking", "read_back")
"""Attacks on all tables of a release together, and on its columns by themselves."""

FITTING = 0.5
"""Of the original's people, the share that has to fit a released record for a verdict to mean anything."""


@dataclass(frozen=True)
class AttackReport:
    """What was tried, and what came of it."""

    done: BatteryResult
    rows: int
    people: int
    roles: AttackRoles
    control: bool
    doubts: tuple[str, ...] = ()
    """Whether the original and the release belong together."""

    def __repr__(self) -> str:
        return short("AttackReport", "", self._figures())

    def _repr_html_(self) -> str:
        rows = [
            (_label(one), percent(one.success.share), percent(one.limit.share), in_words(one), tick(met=not one.found))
            for one in self.done.attacks
        ]
        header = ("attack", "right about", "allowed", "what it gets", "withstood")
        return card("Attacked", self._figures(), grid(header, rows), *self._reservations())

    def _reservations(self) -> Iterator[str]:
        """What keeps a verdict from meaning much."""
        yield listing("Doubts", map(str, self.doubts))
        yield listing("Not judged, may find something", self.done.unjudged)
        if self.doubtful:
            yield listing("Hardly anybody fits", [f"{percent(self.fitting)} of the people fit any released record"])

    def _figures(self) -> dict[str, str]:
        succeed = sum(one.found for one in self.done.attacks)
        return {"records": f"{self.rows:,}", "attacks": str(len(self.done.attacks)), "that succeed": str(succeed)}

    def findings(self, bounds: Mapping[str, float], *, safe: bool = False) -> tuple[ModelFinding, ...]:
        """What was required of single attacks; with ``safe``, that none gets more than its yardstick, or might."""
        asked = [
            ModelFinding(
                _label(attack), bounds[attack.key], attack.success.share, attack.success.share <= bounds[attack.key]
            )
            for attack in self.done.attacks
            if attack.key in bounds
        ]
        missing = [ModelFinding(key, bound, inf, met=False) for key, bound in bounds.items() if not self._tried(key)]
        doubts = len(self.doubts)
        doubt = [ModelFinding("doubts whether the tables belong together", 0, doubts, met=False)] if doubts else []
        doubt += [ModelFinding("people who fit any record", FITTING, self.fitting, met=False)] if self.doubtful else []
        doubt += (
            [
                ModelFinding(
                    FieldText("labels that can't be read without ", FieldName("policy")), 0, self.unread, met=False
                )
            ]
            if self.unread
            else []
        )
        open_ = [ModelFinding(f"{name}: what it finds", 0, inf, met=False) for name in self.done.unjudged]
        every = [
            ModelFinding(f"{_label(one)} against {_than(one)}", one.limit.share, one.success.share, not one.found)
            for one in self.done.attacks
        ]
        return (*asked, *missing, *((*doubt, *open_, *every) if safe else ()))

    @property
    def everybody(self) -> int:
        """People of the original. Linking tries all of them, whoever has several records once."""
        linked = [one.success.trials for one in self.done.attacks if one.key in ("linking", "identifier_linking")]
        return max(linked, default=0 if self.roles.person else self.people)

    @property
    def fitting(self) -> float:
        """The share of people who could be in any released record, by what links them."""
        told = [attack.details or {} for attack in self.done.attacks if attack.key == "linking"]
        return 1 - told[0]["without_candidates"] if told else 1.0

    @property
    def unread(self) -> int:
        """Released labels that the attacker could not read, which makes the attacks weaker than they could be."""
        if self.roles.policy is not None:
            return 0
        told = (attack.details or {} for attack in self.done.attacks)
        return int(max((details.get("unread_labels", 0.0) for details in told), default=0.0))

    @property
    def doubtful(self) -> bool:
        """Whether so few fit that the tables hardly belong together, or the labels can't be read."""
        return self.fitting < FITTING * min(1.0, self.rows / self.people)

    def _tried(self, key: str) -> bool:
        return any(attack.key == key for attack in self.done.attacks)

    def result(self) -> AttackReportResult:
        return AttackReportResult(
            rows=self.rows,
            quasi_identifiers=self.roles.quasi,
            sensitive=self.roles.sensitive,
            person=self.roles.person,
            control=self.control,
            fitting=self.fitting,
            doubts=self.doubts,
            rows_in_order=self.done.in_order,
            rows_known=self.done.rows_known,
            attacks=tuple(AttackResult.of(attack) for attack in self.done.attacks),
            skipped=dict(self.done.skipped),
            unjudged=self.done.unjudged,
            found=tuple(attack.key for attack in self.done.found),
        )

    def to_dict(self) -> dict[str, Any]:
        return self.result().to_dict()


def attack_bounds(require: Sequence[str]) -> dict[str, float]:
    """What is required: the name of an attack and the highest share of people it may be right about."""
    bounds = {}
    for text in require:
        name, _, number = text.partition("=")
        known = (*attack_keys(), *BEYOND_THE_BATTERY)
        if name not in known:
            raise InputError(f"unknown attack '{name}'{did_you_mean(name, known)}", field="require")
        bounds[name] = _share(number, name)
    return bounds


def _share(text: str, name: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = nan
    if not 0 <= share <= 1:
        raise InputError(f"'{name}' needs a number from 0 to 1, as in {name}=0.01", field="require")
    return share


def in_words(attack: Attack) -> str:
    """One sentence that claims no more than was measured."""
    if attack.certain and attack.success.right >= 1:
        return f"{attack.success.right:,.0f} found for certain"
    if attack.found:
        return f"gets more out of the release than {_than(attack)}"
    if attack.allowed and attack.excess[0] > 0:
        return f"more than {_than(attack)}, by no more than groups of their size tell ({attack.allowed:.0%})"
    return f"no more than {_than(attack)}, within the interval"


def share_tried(attack: Attack) -> str:
    """Of a dictionary attack, how much was really gone through, where its result rests on the original besides."""
    details = attack.details or {}
    tried, space = details.get("tried", 1.0), details.get("space", 0.0)
    if attack.key == "dictionary" and not tried:
        return (
            "no identifier of the original leads to a released value by a common hash function, so that going through "
            f"all {space:,.0f} of the format would find nobody"
        )
    if not details.get("settled"):
        return ""
    return (
        f"{tried * space:,.0f} of the {space:,.0f} identifiers of the format were gone through; what the others would "
        "find is known from the original"
    )


def _than(attack: Attack) -> str:
    if attack.yardstick is not attack.control:
        return "guessing"
    return "without people's own records" if attack.left_out else "strangers"


def _label(attack: Attack) -> str:
    return attack.key if attack.attribute is None else f"{attack.key} of {attack.attribute}"
