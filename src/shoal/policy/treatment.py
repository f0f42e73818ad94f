"""What becomes of each released column: whether its cells can be compared with the values they were made from."""

from __future__ import annotations

from enum import StrEnum

from shoal.policy.default_attribute import EVERYTHING_ELSE
from shoal.policy.model import Attribute, Policy
from shoal.schema import Role
from shoal.techniques.cryptographic.encryption.encrypt import Encrypt, EncryptionScheme
from shoal.techniques.pseudonymisation.pseudonymise import Pseudonymise
from shoal.techniques.suppression.mask import Mask


class Treatment(StrEnum):
    KEPT = "kept"
    """Each record says what it said."""
    GENERALISED = "generalised"
    """Each record says what it said, or less."""
    REPLACED = "replaced"
    """A technique wrote something else that is still true: a pseudonym, a mask, a rounded number."""
    PSEUDONYMISED = "pseudonymised"
    """What is left of a direct identifier, however it was made, and still tells some people apart."""
    ALTERED = "altered"
    """A technique wrote what need not be true of the person: noise, another record's value, an average."""


def treatments(policy: Policy) -> dict[str, Treatment]:
    """By released attribute. A technique may alter further columns beside the one that it is written under."""
    released = {n: a for n, a in policy.attributes.items() if n != EVERYTHING_ELSE and a.is_released}
    if not policy.kind.has_traceable_rows:
        return dict.fromkeys(released, Treatment.REPLACED)
    found = {name: _untouched(policy, name, attribute) for name, attribute in released.items()}
    for name, attribute in policy.attributes.items():
        for step in attribute.steps:
            for changed in (name, *step.also_alters()):
                if found.get(changed, Treatment.ALTERED) is not Treatment.ALTERED:
                    found[changed] = Treatment.REPLACED if step.truthful else Treatment.ALTERED
    return found


def keeps_people_apart(policy: Policy | None, person: str) -> bool:
    """Whether all records of a person still hold the same value, so that nobody is counted twice."""
    attribute = None if policy is None else policy.attributes.get(person)
    return attribute is None or all(
        isinstance(step, Pseudonymise | Mask)
        or (
            isinstance(step, Encrypt)
            and step.scheme in (EncryptionScheme.DETERMINISTIC, EncryptionScheme.FORMAT_PRESERVING)
        )
        for step in attribute.steps
    )


def _untouched(policy: Policy, name: str, attribute: Attribute) -> Treatment:
    """Cells that tell what was generalised elsewhere may be suppressed, if the policy says so."""
    suppressible = policy.read_back.found == "suppress" and name not in policy.modelled
    return Treatment.GENERALISED if attribute.role is Role.QUASI or suppressible else Treatment.KEPT
