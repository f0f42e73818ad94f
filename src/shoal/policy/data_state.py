"""The state of released data (ISO/IEC 20889, table B.2, in the words of ISO/IEC 19944): is it still personal?

The least protected part decides: a table whose quasi-identifiers are generalised beside a pseudonym that leads back is
pseudonymised data. What is called anonymised here is so by its techniques and as long as the figures hold; whether a
law calls it that is for people to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING

from shoal.policy.default_attribute import EVERYTHING_ELSE
from shoal.policy.yaml_tree import TreePath
from shoal.randomness import now
from shoal.schema import Role
from shoal.techniques import Technique
from shoal.techniques.cryptographic.encryption.encrypt import Encrypt
from shoal.techniques.cryptographic.share import SecretSharing
from shoal.techniques.pseudonymisation.identity import Identity
from shoal.techniques.pseudonymisation.pseudonymise import Pseudonymise

if TYPE_CHECKING:
    from shoal.policy.model import Attribute, Policy

CLAUSE = "ISO/IEC 20889, table B.2"
_GENERALISING = ("9.6", "9.7", "9.8", "C.4")
"""Clauses of techniques that generalise, randomise, make up or scrub."""


class DataState(StrEnum):
    IDENTIFIED = "identified"
    PSEUDONYMISED = "pseudonymised"
    """Controlled re-identification is possible."""
    UNLINKED = "unlinked_pseudonymised"
    """Nothing leads back, but records are one by one as they were, or have a pseudonym of their own."""
    ANONYMISED = "anonymised"
    AGGREGATED = "aggregated"

    @property
    def words(self) -> str:
        return f"{self.replace('_', ' ')} data"

    def taken_for(self, *, personal: bool) -> DataState:
        """Nothing that is still personal is called anonymised."""
        return DataState.UNLINKED if personal and self is DataState.ANONYMISED else self


@dataclass(frozen=True)
class StateOfData:
    state: DataState
    still_personal: bool
    because: str
    controls_needed: bool | None = None
    """Whether the use case asks for controls around the data; None without a use case."""
    steps: tuple[int, ...] = ()
    """The steps of the PDPC guide that the use case takes."""
    shred_on: date | None = None
    """When what leads back to people is to be destroyed."""

    @property
    def brief(self) -> str:
        """One sentence, without the reason."""
        personal = (
            "still personal data" if self.still_personal else "no longer personal data as long as the figures hold"
        )
        return f"The file holds {self.state.words} ({CLAUSE}), {personal}."

    @property
    def words(self) -> str:
        """One sentence, with the reason."""
        return f"{self.brief.removesuffix('.')}: {self.because}."


def state_of(policy: Policy, *, lasting: bool, against: Sequence[str] = ()) -> StateOfData:
    """``lasting`` says whether keys and mappings of the run are kept in a vault; ``against``, what speaks against
    calling the data anonymised although techniques would: models that are not met, attacks that succeed.
    """
    state, because = _state(policy, lasting=lasting)
    preset = policy.preset
    personal = state in (DataState.IDENTIFIED, DataState.PSEUDONYMISED)
    if state is DataState.UNLINKED and not policy.models:
        personal = True
    if not personal and against:
        personal, because = True, f"{because}, but {' and '.join(against)}"
    if preset is not None and not preset.anonymised and state is not DataState.AGGREGATED:
        personal, because = True, f"{because}, but {policy.use_case} takes no step that would make it anonymous"
    return StateOfData(
        state.taken_for(personal=personal),
        personal,
        because,
        None if preset is None else preset.controls,
        () if preset is None else preset.steps,
        policy.shred_on,
    )


def _state(policy: Policy, *, lasting: bool) -> tuple[DataState, str]:
    if not policy.kind.has_records:
        return DataState.AGGREGATED, "it has groups of people, not people"
    if leading := list(_leading_back(policy, lasting=lasting)):
        return DataState.PSEUDONYMISED, f"whoever holds the keys or mappings gets back to people by {_named(leading)}"
    told_apart = [name for name, one in _released(policy) if one.role is Role.DIRECT or name == policy.person]
    if told_apart:
        return (
            DataState.UNLINKED,
            f"{_named(told_apart)} may still stand for one person each, though nothing leads back",
        )
    done = "the privacy models hold for the quasi-identifiers" if policy.models else _done(policy)
    if done:
        return DataState.ANONYMISED, f"identifiers are gone, and {done}"
    if any(one.role is Role.DIRECT for one in policy.attributes.values()):
        return DataState.UNLINKED, "identifiers are gone, and nothing is generalised or randomised"
    return DataState.IDENTIFIED, "no technique was applied"


def _leading_back(policy: Policy, *, lasting: bool) -> Iterator[str]:
    """Columns from which keys or mappings that are kept lead back to people."""
    identity = policy.table_steps.get(Identity.key)
    if isinstance(identity, Identity):
        yield identity.into
    for name, attribute in _released(policy):
        for step in attribute.steps:
            kept = isinstance(step, Encrypt | SecretSharing) or (isinstance(step, Pseudonymise) and lasting)
            if kept and (attribute.role is Role.DIRECT or name == policy.person):
                yield name


def problems_of_mappings(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    """For long-term retention mappings are destroyed (PDPC, step 5): none is made, or it is said until when."""
    if policy.shred_on is not None and policy.shred_on < now().date():
        yield ("shred_on",), "has passed: what leads back to people was to be destroyed by then"
    preset = policy.preset
    if preset is None or not preset.destroys_mappings or policy.shred_on is not None:
        return
    told = f"{policy.use_case} has identity mappings destroyed: leave it out, or say by when with `shred_on: DATE`"
    if Identity.key in policy.table_steps:
        yield (Identity.key,), told
    for name, attribute in policy.attributes.items():
        for step in attribute.steps:
            if (isinstance(step, Pseudonymise) and (step.reversible or step.double_coding)) or isinstance(
                step, Encrypt
            ):
                yield ("attributes", name, "technique", step.key), told


def _released(policy: Policy) -> Iterator[tuple[str, Attribute]]:
    yield from ((n, a) for n, a in policy.attributes.items() if n != EVERYTHING_ELSE and a.is_released)


def _done(policy: Policy) -> str | None:
    """What hides people where no model is asked for."""
    steps = (step for _, attribute in _released(policy) for step in attribute.steps)
    hides = any(_family(step).startswith(_GENERALISING) for step in steps)
    return "other attributes are generalised or randomised" if hides else None


def _family(step: Technique) -> str:
    return step.facts.clause.rpartition(", ")[2]


def _named(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in dict.fromkeys(names))
