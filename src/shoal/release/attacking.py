"""``shoal attack``: the attacks on a release that lies somewhere, judged by the original."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, nan
from pathlib import Path
from typing import Any

import polars as pl
from polars import selectors

from shoal.attack import Attack
from shoal.attack.battery import Attacked, Tables, run_attacks
from shoal.attack.people import TRIALS
from shoal.errors import DataError, InputError
from shoal.io import explained
from shoal.policy import Policy
from shoal.privacy import Finding
from shoal.randomness import Randomness
from shoal.release.belonging import need_to_belong, other_people
from shoal.release.folder import data_file, names_in, roles_of
from shoal.release.frames import source_at
from shoal.release.pairing import Pairing, known_labels, need_columns, typed
from shoal.schema import Role
from shoal.schema.registry import did_you_mean

ATTACKS = (
    "singling_out",
    "linking",
    "probabilistic_linking",
    "auxiliary_linking",
    "identifier_linking",
    "distance_linking",
    "membership",
    "homogeneity",
    "skewness",
    "learned_inference",
    "dictionary",
    "frequency",
    "cumulative",
    "sorting",
)
_CLOCKED = ("hashes_per_second", "seconds_for_whole_space")

MOSTLY_ALONE = 0.5
FITTING = 0.5
"""Of the original's people, the share that has to fit a released record for a verdict to mean anything."""


class NothingToAttackError(DataError):
    """A release without anything that an attacker could go by."""


@dataclass(frozen=True)
class Roles:
    """What an attacker may know of people, and what is to be kept from them."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    """Direct identifiers that are in the release, as something else."""
    other: tuple[str, ...] = ()
    policy: Policy | None = None

    @classmethod
    def of(cls, release: str, *, policy: Path | None, qi: str | None, sensitive: str | None) -> Roles:
        """From what the user says; else from a policy; else from the release's own manifest."""
        if qi is not None and not names_in(qi):
            raise InputError("--qi names no column")
        chosen = None if policy is None else Policy.load(policy)
        known = {name: attribute.role for name, attribute in chosen.attributes.items()} if chosen else roles_of(release)
        if qi is None and not known:
            raise InputError(
                "say what an attacker knows: --qi a,b,c or --policy POLICY",
                advice="a release folder that this version wrote says it itself",
            )
        with_role = {role: tuple(name for name, own in known.items() if own == role) for role in Role}
        quasi, wanted = names_in(qi) or with_role[Role.QUASI], names_in(sensitive)
        for name in wanted:
            if name in quasi:
                raise InputError(f"'{name}' can't be known to an attacker and be what the attacker wants to know")
        return cls(
            quasi,
            wanted or tuple(name for name in with_role[Role.SENSITIVE] if name not in quasi),
            with_role[Role.DIRECT],
            with_role[Role.INSENSITIVE],
            chosen,
        )


@dataclass(frozen=True)
class AttackReport:
    """What was tried, and what came of it."""

    done: Attacked
    rows: int
    people: int
    roles: Roles
    control: bool

    def findings(self, bounds: Mapping[str, float], *, safe: bool = False) -> tuple[Finding, ...]:
        """What was required of single attacks; with ``safe``, that none gets more than its yardstick."""
        asked = [
            Finding(
                _label(attack), bounds[attack.key], attack.success.share, attack.success.share <= bounds[attack.key]
            )
            for attack in self.done.attacks
            if attack.key in bounds
        ]
        missing = [Finding(key, bound, inf, met=False) for key, bound in bounds.items() if not self._tried(key)]
        doubt = [Finding("people who fit any record", FITTING, self.fitting, met=False)] if self.doubtful else []
        doubt += (
            [Finding("labels that can't be read without --policy", 0, self.unread, met=False)] if self.unread else []
        )
        every = [
            Finding(f"{_label(one)} against {_than(one)}", one.yardstick.share, one.success.share, not one.found)
            for one in self.done.attacks
        ]
        return (*asked, *missing, *((*doubt, *every) if safe else ()))

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

    def to_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "quasi_identifiers": list(self.roles.quasi),
            "sensitive": list(self.roles.sensitive),
            "control": self.control,
            "fitting": self.fitting,
            "rows_in_order": self.done.in_order,
            "attacks": [_repeatable(attack.to_dict()) for attack in self.done.attacks],
            "skipped": dict(self.done.skipped),
            "found": [attack.key for attack in self.done.found],
        }


def attack_data(  # noqa: PLR0913  # one argument per option of `shoal attack`
    release: str,
    roles: Roles,
    *,
    original: str,
    auxiliary: str | None = None,
    control: str | None = None,
    trials: int = TRIALS,
    seed: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> AttackReport:
    if trials < 1:
        raise InputError("--trials: at least one person has to be tried")
    frames = {
        whose: read_table(place, whose)
        for whose, place in {
            "release": data_file(release),
            "original": original,
            "auxiliary table": auxiliary,
            "control group": control,
        }.items()
        if place is not None
    }
    _need_to_belong(frames["release"], frames["original"], roles)
    given = frames.get("auxiliary table"), frames.get("control group")
    return attack_frames(
        frames["release"], frames["original"], roles, *given, trials=trials, seed=seed, progress=progress
    )


def _need_to_belong(release: pl.DataFrame, original: pl.DataFrame, roles: Roles) -> None:
    shared = [name for name in release.columns if name in original.columns]
    if not shared:
        raise DataError("the original and the release have no column in common: they can't belong together")
    for frame, whose in ((release, "release"), (original, "original")):
        if frame.height == 1:
            raise DataError(f"the {whose} has one record: there is nobody to hide among, so nothing can be tried")
        for name in (*roles.quasi, *roles.sensitive):
            if name in frame.columns and frame[name].null_count() == frame.height:
                raise DataError(f"column '{name}' of the {whose} has no values at all", advice="leave it out")
    pair = Pairing(original.select(shared), release.select(shared), original.height, release.height)
    need_to_belong(pair, roles.quasi or roles.sensitive, roles.policy)


def attack_frames(  # noqa: PLR0913  # the tables, and how far to go
    release: pl.DataFrame,
    original: pl.DataFrame,
    roles: Roles,
    auxiliary: pl.DataFrame | None = None,
    control: pl.DataFrame | None = None,
    *,
    trials: int = TRIALS,
    seed: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> AttackReport:
    """The same for tables in memory."""
    there = tuple(name for name in release.columns if name in original.columns)
    if not there:
        raise DataError("the original and the release have no column in common: they can't belong together")
    need_columns(original, (*roles.quasi, *roles.sensitive), "the original")
    if auxiliary is not None and not set(auxiliary.columns) & set(release.columns):
        raise DataError("the auxiliary table has no column in common with the release")
    roles = replace(
        roles,
        quasi=tuple(name for name in roles.quasi if name in release.columns),
        sensitive=tuple(name for name in roles.sensitive if name in there),
    )
    if control is not None:
        need_columns(control, (*roles.quasi, *roles.sensitive), "the control group")
        control = other_people(control, original, (*roles.quasi, *roles.sensitive))
    tables = Tables(
        release,
        original,
        roles.quasi,
        roles.sensitive,
        tuple(name for name in roles.other if name in there and _altered_numbers(original[name], release[name])),
        tuple(name for name in there if name not in roles.quasi and _names_people(original[name], name, roles)),
        control,
        auxiliary,
        known_labels(roles.policy, original),
    )
    if not (tables.quasi or tables.numbers or tables.pseudonyms):
        raise NothingToAttackError(
            "the release has nothing to attack: no quasi-identifier, altered number or pseudonym is in it"
        )
    done = run_attacks(tables, Randomness(seed), trials=trials, progress=progress)
    return AttackReport(done, release.height, original.height, roles, control is not None)


def attack_bounds(require: Sequence[str]) -> dict[str, float]:
    """What `--require` says: the name of an attack and the highest share of people it may be right about."""
    bounds = {}
    for text in require:
        name, _, number = text.partition("=")
        if name not in ATTACKS:
            raise InputError(f"--require: unknown attack '{name}'{did_you_mean(name, ATTACKS)}")
        bounds[name] = _share(number, name)
    return bounds


def _share(text: str, name: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = nan
    if not 0 <= share <= 1:
        raise InputError(f"--require: '{name}' needs a number from 0 to 1, as in {name}=0.01")
    return share


def in_words(attack: Attack) -> str:
    """One sentence that claims no more than was measured."""
    if attack.certain and attack.success.right >= 1:
        return f"{attack.success.right:,.0f} found for certain"
    if attack.found:
        return f"gets more out of the release than {_than(attack)}"
    return f"no more than {_than(attack)}, within the interval"


def _than(attack: Attack) -> str:
    return "strangers" if attack.yardstick is attack.control else "guessing"


def _repeatable(told: dict[str, Any]) -> dict[str, Any]:
    """Without what depends on the machine's mood: the same seed gives the same bytes."""
    return told | {"details": {name: value for name, value in told["details"].items() if name not in _CLOCKED}}


def _label(attack: Attack) -> str:
    return attack.key if attack.attribute is None else f"{attack.key} of {attack.attribute}"


def read_table(place: str, whose: str) -> pl.DataFrame:
    source = source_at(place)
    with explained(source):
        frame = source.scan().collect(engine="streaming")
    if not frame.height:
        raise DataError(f"the {whose} has no records")
    return typed(frame.with_columns(selectors.duration().dt.total_microseconds()))


def _names_people(original: pl.Series, name: str, roles: Roles) -> bool:
    """A direct identifier; or a column of which nobody said anything, and in which most people are the only one."""
    if name in roles.replaced:
        return True
    if name in (*roles.sensitive, *roles.other):
        return False
    return original.n_unique() > MOSTLY_ALONE * len(original)


def _altered_numbers(original: pl.Series, released: pl.Series) -> bool:
    """Numbers that are still numbers, but not the same ones."""
    if not (original.dtype.is_numeric() and released.dtype.is_numeric()):
        return False
    return len(original) != len(released) or not original.cast(pl.Float64).eq_missing(released.cast(pl.Float64)).all()
