"""What is done to each attribute for a use case, by what the attribute is (PDPC guide, annex B)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from shoal.discover.column_profile import ColumnProfile, Profile
from shoal.discover.recognisers import Setting
from shoal.discover.suggestion.redundant_columns import MOST_QUASI, redundant
from shoal.discover.value_kinds import ValueKind
from shoal.policy import PRESETS, UseCase
from shoal.schema import Role
from shoal.schema.type_detection import AmbiguousDate
from shoal.techniques import techniques

MOSTLY_OWN = 0.5
"""Where more records than that have a value of their own, a label without levels would become a star anyway."""
FEW_ALIKE = 2
"""Numbers that fewer people share than so many times k, on average, are mostly shared by fewer than k."""
RARE = 10
NEEDED = 3
"""The weight of a quasi-identifier that the purpose needs."""
TELLING_STARS = 2
"""Of so few different values, a star tells which one it was."""
FORMATS = {"email": "email", "nric": "nric", "card": "card", "aadhaar": "aadhaar", "pan": "pan", "phone": "phone"}
"""Pseudonyms that look like the kind, for test data."""
MOST_DIGITS = 6
"""Longer whole numbers are codes rather than counts."""


@dataclass(frozen=True)
class TechniqueChoice:
    """What a policy says of one attribute, and why."""

    role: Role
    reason: str
    technique: Setting | None = None
    hierarchy: Setting | None = None
    redundant: bool = False
    """Taken out because another attribute says it already."""
    weight: int | None = None
    """How much its loss counts against the others'."""

    @property
    def suppressed(self) -> bool:
        return self.technique == "suppress"

    @property
    def entry(self) -> dict[str, Any]:
        given = {"role": str(self.role), "technique": self.technique, "hierarchy": self.hierarchy}
        given |= {"weight": self.weight}
        return {key: value for key, value in given.items() if value is not None}


def choose(
    profile: Profile, use_case: UseCase, person: str | None, keys: Mapping[str, str], *, joinable: bool = True
) -> dict[str, TechniqueChoice]:
    """A choice for each column; ``keys`` are those that other tables are joined by, with their domains.

    Where tables are not to be ``joinable``, what joins them is taken out.
    """
    chosen = {one.name: _choice(one, use_case, person, keys if joinable else {}) for one in profile.columns}
    if not joinable:
        chosen |= {one.name: _parted(chosen[one.name]) for one in profile.columns if one.name in keys}
    for name, identifier in profile.repeats.items():
        if chosen[name].role is not Role.DIRECT and chosen[name].technique != "scrub":
            chosen[name] = _left_out(chosen[name], f"it holds values of '{identifier}', which is a direct identifier")
    if PRESETS[use_case].k is not None:
        chosen = _without_redundant(profile, chosen)
    return chosen if any(not one.suppressed for one in chosen.values()) else _something(profile, chosen)


def _choice(one: ColumnProfile, use_case: UseCase, person: str | None, keys: Mapping[str, str]) -> TechniqueChoice:
    reason = _why(one)
    if one.name in keys:
        named = f"{reason}; other tables are joined by it, so it gets the same pseudonyms there"
        return TechniqueChoice(Role.DIRECT, named, {"pseudonymise": {"domain": keys[one.name], "key": True}})
    if one.column.storage.is_nested() or isinstance(one.column.storage, pl.Binary | pl.Duration | pl.Object):
        return TechniqueChoice(Role.DIRECT, "records, lists or bytes, which no technique looks into", "suppress")
    if PRESETS[use_case].alter_everything:
        return _altered(one, reason, is_person=one.name == person)
    if one.name == person or one.proposal.role is Role.DIRECT:
        return _direct(one, use_case, reason, is_person=one.name == person)
    if one.proposal.role is Role.QUASI:
        return _quasi(one, reason)
    return _kept(one, use_case, reason)


def _parted(choice: TechniqueChoice) -> TechniqueChoice:
    """What refers to records of another table holds the values of a key there, which names one of them."""
    if choice.suppressed:
        return choice
    reason = f"{choice.reason}; other tables could be joined by it, and together they say more than each alone"
    role = choice.role if choice.role is Role.QUASI else Role.DIRECT
    return replace(choice, role=role, technique="suppress", hierarchy=None, reason=reason)


def domain_for(name: str) -> str:
    """A name for a domain of pseudonyms.

    >>> domain_for("Patient Id"), domain_for("रोगी")
    ('patient_id', 'keys')
    """
    return re.sub(r"[^a-z0-9_-]+", "_", name.lower()).strip("_-")[:63] or "keys"


def _why(one: ColumnProfile) -> str:
    if one.identifier:
        kind = one.identifier.recogniser
        return f"{kind.title}: {kind.because}"
    return "; ".join(one.proposal.reasons)


def _direct(one: ColumnProfile, use_case: UseCase, reason: str, *, is_person: bool) -> TechniqueChoice:
    stays_inside = use_case in (UseCase.INTERNAL_DEIDENTIFIED, UseCase.INTERNAL_ANONYMISED)
    if one.free_text and stays_inside and "scrub" in techniques.names():
        return TechniqueChoice(Role.DIRECT, f"{reason}; what is recognised in it is replaced by labels", "scrub")
    if stays_inside and (is_person or (one.key is not None and one.key.person)):
        together = "; a pseudonym keeps the records of one person together"
        return TechniqueChoice(Role.DIRECT, reason + together, {"pseudonymise": {"domain": domain_for(one.name)}})
    return TechniqueChoice(Role.DIRECT, reason, "suppress")


def _quasi(one: ColumnProfile, reason: str) -> TechniqueChoice:
    proposal = one.proposal
    if isinstance(one.column, AmbiguousDate):
        return TechniqueChoice(Role.QUASI, reason, "suppress")
    if proposal.technique is not None:
        whole = one.identifier is not None and one.identifier.share == 1
        return TechniqueChoice(Role.QUASI, reason, proposal.technique if whole else "suppress")
    hierarchy = proposal.hierarchy or _levels(one)
    if hierarchy is None and one.spread.uniqueness >= MOSTLY_OWN and one.spread.values >= RARE:
        return TechniqueChoice(Role.QUASI, f"{reason}; it has no levels between as it is and a star", "suppress")
    return TechniqueChoice(Role.QUASI, reason, hierarchy=hierarchy)


def _levels(one: ColumnProfile) -> Setting | None:
    """Levels that a column of its kind can have without knowing more of it."""
    if one.kind is ValueKind.DATE:
        return "dates"
    digits = max((len(re.sub(r"[^9].*", "", shape.form.lstrip("-"))) for shape in one.shapes), default=0)
    if one.kind is ValueKind.DISCRETE and one.spread.distinct > RARE and 0 < digits <= MOST_DIGITS:
        return {"intervals": {"widths": _widths(digits)}}
    return {"rare": {"minimum": RARE}} if one.spread.distinct > 3 else None


def _widths(digits: int) -> list[int]:
    """
    >>> _widths(2), _widths(4)
    ([5, 10, 50], [500, 1000, 5000])
    """
    unit = 10 ** max(digits - 2, 0)
    return [5 * unit, 10 * unit, 50 * unit]


def _kept(one: ColumnProfile, use_case: UseCase, reason: str) -> TechniqueChoice:
    role, k = one.proposal.role, PRESETS[use_case].k
    number = one.column.is_number and one.kind in (ValueKind.CONTINUOUS, ValueKind.DISCRETE)
    if role is Role.SENSITIVE and use_case is UseCase.RETENTION and number:
        noisy = f"{reason}; trends survive a little noise, and single figures don't"
        return TechniqueChoice(role, noisy, {"noise": {"multiplicative": {"sd": 0.05}}})
    if k is None or one.spread.distinct < 2:
        return TechniqueChoice(role, reason)
    if number and one.spread.distinct * k * FEW_ALIKE > one.spread.values:
        return _rounded(one, k, reason)
    if one.spread.uniqueness >= MOSTLY_OWN:
        return TechniqueChoice(role, f"{reason}; a value of one's own works like a name", "suppress")
    if one.spread.distinct <= TELLING_STARS:
        return TechniqueChoice(role, reason)
    return TechniqueChoice(role, f"{reason}; what fewer than {k} people have is starred", {"suppress_rare": {"k": k}})


def _rounded(one: ColumnProfile, k: int, reason: str) -> TechniqueChoice:
    """An amount that nobody has alone, and that is no more exact than it has to be."""
    why = f"{reason}; an exact figure can be matched with a bill or a payslip, so {k} people share each"
    shared: Setting = {"microaggregate": {"k": k}}
    if one.rounding_base is None:
        return TechniqueChoice(one.proposal.role, why, shared)
    rounded: Setting = {"round": {"base": one.rounding_base}}
    return TechniqueChoice(one.proposal.role, f"{why}, rounded", [shared, rounded])


def _altered(one: ColumnProfile, reason: str, *, is_person: bool) -> TechniqueChoice:
    """Test data: nothing stays as it is, and no record stays together."""
    role = one.proposal.role
    if one.free_text:
        return TechniqueChoice(Role.DIRECT, f"{reason}; tests can have made-up text", "suppress")
    if role is Role.DIRECT or is_person:
        like: dict[str, Setting] = {"domain": domain_for(one.name)}
        if one.type in FORMATS and not is_person:
            like["format"] = FORMATS[one.type]
        return TechniqueChoice(Role.DIRECT, f"{reason}; replaced by made-up values", {"pseudonymise": like})
    if one.kind is ValueKind.CONTINUOUS and not one.column.date_format:
        steps: list[Setting] = ["permute", {"noise": {"multiplicative": {"sd": 0.1}}}]
        return TechniqueChoice(role, f"{reason}; moved to other records and made noisy", steps)
    if one.column.is_date:
        return TechniqueChoice(
            role, f"{reason}; moved to other records, by some days", ["permute", {"noise": {"days": 30}}]
        )
    return TechniqueChoice(role, f"{reason}; moved to other records", "permute")


def _without_redundant(profile: Profile, chosen: dict[str, TechniqueChoice]) -> dict[str, TechniqueChoice]:
    quasi = [one for one in profile.columns if chosen[one.name].role is Role.QUASI and not chosen[one.name].suppressed]
    out = redundant(quasi, profile.inferences) | _said_twice(profile, chosen, [one.name for one in quasi])
    left = [one for one in quasi if one.name not in out]
    for one in sorted(left, key=lambda one: (one.identifier is None, one.spread.distinct))[MOST_QUASI:]:
        out[one.name] = f"more than {MOST_QUASI} quasi-identifiers would leave little but stars"
    return {name: _left_out(one, out[name]) if name in out else one for name, one in chosen.items()}


def _said_twice(profile: Profile, chosen: Mapping[str, TechniqueChoice], quasi: Sequence[str]) -> dict[str, str]:
    """Columns that say what a quasi-identifier says, in other words: left as they are, they would give it back."""
    found = {}
    for one in profile.inferences:
        ends = {*one.columns, one.gives}
        if one.kind != "same" or not one.in_table or len(ends) != 2:
            continue
        for name in ends:
            (other,) = ends - {name}
            if other in quasi and name not in quasi and not chosen[name].suppressed:
                found[name] = f"it says the same as '{other}', which is generalised, and would give it back"
    return found


def _left_out(choice: TechniqueChoice, why: str) -> TechniqueChoice:
    reason = f"{choice.reason}; {why}"
    return replace(choice, technique="suppress", hierarchy=None, reason=reason, redundant=True)


def needed_only(chosen: dict[str, TechniqueChoice], needs: Sequence[str]) -> dict[str, TechniqueChoice]:
    """What the purpose needs keeps its detail as far as can be; the rest goes (PDPC guide, step 1: minimisation)."""
    return {
        name: (replace(one, weight=NEEDED) if one.role is Role.QUASI and not one.suppressed else one)
        if name in needs or one.suppressed
        else _left_out(one, "the purpose does not need it")
        for name, one in chosen.items()
    }


def without_quasi(chosen: dict[str, TechniqueChoice], why: str) -> dict[str, TechniqueChoice]:
    """Where there are too few people to hide among."""
    return {name: _left_out(one, why) if one.role is Role.QUASI else one for name, one in chosen.items()}


def _something(profile: Profile, chosen: dict[str, TechniqueChoice]) -> dict[str, TechniqueChoice]:
    """A table of nothing but identifiers and texts: the texts stay without them, else one pseudonym for each record.

    One column of pseudonyms is enough for a table (PDPC guide, annex B): that with the most values.
    """
    there = [one for one in profile.columns if not one.column.storage.is_nested()]
    texts = [one.name for one in there if one.free_text]
    if texts and "scrub" in techniques.names():
        for name in texts:
            why = f"{chosen[name].reason}; what is recognised becomes labels"
            chosen[name] = replace(chosen[name], technique="scrub", reason=why)
    elif there:
        name = max(there, key=lambda one: (one.proposal.role is Role.DIRECT, one.spread.distinct)).name
        why = f"{chosen[name].reason}; nothing else would be left, so a pseudonym stands for it"
        code: Setting = {"pseudonymise": {"domain": domain_for(name)}}
        chosen[name] = replace(chosen[name], role=Role.DIRECT, technique=code, hierarchy=None, reason=why)
    return chosen
