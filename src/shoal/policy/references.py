"""References between tables: a column of one holds the keys of another, and still does after both were rewritten.

Both ends of a reference have to become the same thing: the same pseudonym for the same value (one domain, one method,
one format), the same ciphertext (one key, one scheme), or nothing at all. Anything else would leave keys that match
nobody, or, worse, somebody else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import Field, field_validator

from shoal.errors import InputError
from shoal.policy.default_attribute import EVERYTHING_ELSE
from shoal.policy.model import Attribute, Policy
from shoal.pseudonyms import Uniqueness
from shoal.schema import Role
from shoal.schema.parameters import Parameters
from shoal.schema.registry import did_you_mean
from shoal.techniques.cryptographic.encryption.encrypt import Encrypt, EncryptionScheme
from shoal.techniques.pseudonymisation.pseudonymise import Pseudonymise

OF_ANY_TABLE = frozenset({"id", "key", "code", "no", "nr", "number", "name", "uuid"})
"""Names that say nothing of what is named."""


class JoinedTablesRule(Parameters):
    """What is asked of the tables together: of all that they say of one person."""

    accept: str | None = Field(default=None, description="Why the joined tables need not meet what is asked of them.")
    k: int | None = Field(default=None, ge=1, description="With `accept`: the lowest k of the joined tables, still.")
    unlink: bool = Field(default=False, description="Take away whatever records could be joined by.")

    @field_validator("accept")
    @classmethod
    def _says_why(cls, reason: str | None) -> str | None:
        if reason is not None and not reason.strip():
            raise ValueError("needs a reason, which the report shows")
        return reason


@dataclass(frozen=True)
class ReferenceEnd:
    """One end of a reference."""

    table: str
    column: str

    @classmethod
    def parse(cls, text: str) -> ReferenceEnd:
        """
        >>> ReferenceEnd.parse("visits.patient")
        ReferenceEnd(table='visits', column='patient')
        """
        table, _, column = text.partition(".")
        return cls(table, column)

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"


@dataclass(frozen=True)
class Reference:
    """``child`` holds keys of ``parent``."""

    child: ReferenceEnd
    parent: ReferenceEnd
    keep: bool = True
    """Whether the released tables are to be joinable by it."""
    reason: str | None = None
    """Why it is taken for a reference, where nobody declared it."""

    def __str__(self) -> str:
        return f"{self.child} → {self.parent}"


def names_fit(child: ReferenceEnd, parent: ReferenceEnd) -> bool:
    """Whether a column is called like a key of the other table.

    >>> names_fit(ReferenceEnd("visits", "patient_id"), ReferenceEnd("patients", "id"))
    True
    >>> names_fit(ReferenceEnd("visits", "id"), ReferenceEnd("patients", "id"))
    False
    """
    column, key, table = child.column.lower(), parent.column.lower(), parent.table.lower()
    if column == key:
        return key not in OF_ANY_TABLE
    called = {table, table.removesuffix("s"), table.removesuffix("es"), f"{table.removesuffix('ies')}y"}
    if column in called:
        return key in OF_ANY_TABLE or key in {f"{one}_{word}" for one in called for word in OF_ANY_TABLE}
    return column in {f"{one}{between}{key}" for one in called for between in ("_", "", "-", " ")}


@dataclass(frozen=True)
class KeyOutcome:
    """What a policy makes of a key. Two keys can be joined if they become the same."""

    words: str
    released: bool = True
    joinable: bool = True
    same: tuple[tuple[str, str], ...] = ()
    """What has to be equal at both ends."""


SUPPRESSED = KeyOutcome("is suppressed", released=False)
AS_IT_IS = KeyOutcome("stays as it is")


def outcome(policy: Policy, column: str) -> KeyOutcome:
    attribute = policy.attributes.get(column) or policy.attributes[EVERYTHING_ELSE]
    if attribute.is_suppressed:
        return SUPPRESSED
    if not policy.kind.has_records:
        return KeyOutcome("is in a table that is aggregated", joinable=False)
    if attribute.role is Role.QUASI and policy.models:
        return KeyOutcome("is a quasi-identifier, which may be generalised", joinable=False)
    if not attribute.steps:
        return AS_IT_IS
    return _rewritten(column, attribute)


def _rewritten(column: str, attribute: Attribute) -> KeyOutcome:
    names = ", ".join(step.key for step in attribute.steps)
    if len(attribute.steps) > 1:
        return KeyOutcome(f"goes through {names}", joinable=False)
    (step,) = attribute.steps
    if isinstance(step, Pseudonymise):
        return _pseudonymised(column, step)
    if isinstance(step, Encrypt):
        return _encrypted(column, step)
    return KeyOutcome(f"goes through {names}, which doesn't keep keys apart", joinable=False)


def _pseudonymised(column: str, step: Pseudonymise) -> KeyOutcome:
    if step.double_coding:
        return KeyOutcome("is coded twice, and the second code is of one table only", joinable=False)
    if step.uniqueness is Uniqueness.MAY_COLLIDE:
        return KeyOutcome("gets pseudonyms that two people may share (take a wide format)", joinable=False)
    try:
        domain = step.domain_of(column)
    except InputError:
        return KeyOutcome("needs a domain for its pseudonyms", joinable=False)
    method = ("method", "keyed") if step.is_keyed else ("method", "random")
    same = (("domain", domain), method, ("algorithm", step.algorithm), ("format", repr(step.format)))
    return KeyOutcome(f"gets pseudonyms of the domain '{domain}'", same=(("technique", step.key), *same))


def _encrypted(column: str, step: Encrypt) -> KeyOutcome:
    """By these two schemes equal values have equal ciphertexts, whatever else is in the column."""
    if step.scheme not in (EncryptionScheme.DETERMINISTIC, EncryptionScheme.FORMAT_PRESERVING):
        return KeyOutcome(f"is encrypted by the scheme {step.scheme}, which is not for keys", joinable=False)
    chosen = ((name, str(getattr(step, name))) for name in sorted(Encrypt.model_fields) if name != "key_name")
    key = step.key_name or re.sub(r"\s+", "_", column.lower())
    return KeyOutcome(f"is encrypted with the key '{key}'", same=(("technique", step.key), ("key", key), *chosen))


def problems_of(tables: Mapping[str, Policy], reference: Reference) -> Iterator[tuple[str, str]]:
    """What is wrong with a declared reference: at ``from`` or ``to``, and why."""
    for place, end in (("from", reference.child), ("to", reference.parent)):
        if not end.column:
            yield place, "is written TABLE.COLUMN"
        elif end.table not in tables:
            yield place, f"there is no table '{end.table}'{did_you_mean(end.table, tuple(tables))}"
        else:
            known = tables[end.table].attributes
            if end.column not in known and EVERYTHING_ELSE not in known:
                near = did_you_mean(end.column, tuple(known))
                yield place, f"the table '{end.table}' has no attribute '{end.column}'{near}"
    if reference.child == reference.parent:
        yield "to", "a column can't refer to itself"


def why_apart(tables: Mapping[str, Policy], reference: Reference) -> str | None:
    """Why the released tables could not be joined by the reference; None if they can, or if both ends are gone."""
    child = outcome(tables[reference.child.table], reference.child.column)
    parent = outcome(tables[reference.parent.table], reference.parent.column)
    for end, own in ((reference.child, child), (reference.parent, parent)):
        if not own.joinable:
            return f"{end} {own.words}, so nothing can be joined by it"
    if child == parent:
        return None
    return f"{reference.child} {child.words}, but {reference.parent} {parent.words}: {_must_agree(child, parent)}"


def _must_agree(child: KeyOutcome, parent: KeyOutcome) -> str:
    own, other = dict(child.same), dict(parent.same)
    differing = [name for name in own | other if own.get(name) != other.get(name)]
    if not own or not other or "technique" in differing:
        return "both must become the same"
    return f"{' and '.join(differing)} must be the same at both ends"


def is_released(tables: Mapping[str, Policy], reference: Reference) -> bool:
    """Whether both ends are in the release."""
    ends = (reference.child, reference.parent)
    return all(outcome(tables[end.table], end.column).released for end in ends)
