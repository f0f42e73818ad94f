"""Which released columns bear the same keys, by what a policy makes of them; and how to take that away.

A reference that *need not* be kept may still join: what counts is whether equal values stay equal. Pseudonyms of one
domain do, and ciphertexts of one key; other forms of a key only the data can tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from shoal.errors import InputError
from shoal.policy.default_attribute import EVERYTHING_ELSE
from shoal.policy.model import Attribute, Policy
from shoal.policy.references import ReferenceEnd
from shoal.schema import Role
from shoal.techniques.cryptographic.encryption.encrypt import Encrypt, EncryptionScheme
from shoal.techniques.pseudonymisation.pseudonymise import DOMAIN, Pseudonymise
from shoal.techniques.randomisation.shuffle_rows import ShuffleRows
from shoal.techniques.suppression.suppress import Suppress

Fingerprint = tuple[str, ...]


def key_fingerprint(policy: Policy, table: str, column: str) -> Fingerprint | None:
    """Equal fingerprints, equal values for equal values. None where the policy alone doesn't tell."""
    attribute = policy.attributes.get(column)
    if attribute is None or not attribute.is_released or not policy.kind.has_records:
        return None
    if len(attribute.steps) != 1:
        return None
    (step,) = attribute.steps
    if isinstance(step, Pseudonymise):
        return _of_pseudonyms(table, column, step)
    if isinstance(step, Encrypt) and step.scheme is not EncryptionScheme.HOMOMORPHIC:
        chosen = (str(getattr(step, name)) for name in sorted(Encrypt.model_fields) if name != "key_name")
        return (step.key, step.key_name or re.sub(r"\s+", "_", column.lower()), *chosen)
    return None


def _of_pseudonyms(table: str, column: str, step: Pseudonymise) -> Fingerprint:
    try:
        domain = step.domain_of(column)
    except InputError:
        domain = f"{table}.{column}"
    second = table if step.double_coding else ""
    return (step.key, domain, second, "keyed" if step.is_keyed else "random", step.algorithm, repr(step.format))


def keys_by_policy(tables: Mapping[str, Policy]) -> dict[Fingerprint, tuple[ReferenceEnd, ...]]:
    """Columns of direct identifiers that are released as pseudonyms or ciphertexts, those with equal keys together."""
    found: dict[Fingerprint, tuple[ReferenceEnd, ...]] = {}
    for table, policy in tables.items():
        for column, attribute in policy.attributes.items():
            if column != EVERYTHING_ELSE and attribute.role is not Role.QUASI:
                fingerprint = key_fingerprint(policy, table, column)
                if fingerprint is not None:
                    found[fingerprint] = (*found.get(fingerprint, ()), ReferenceEnd(table, column))
    return found


def connected(pairs: Iterable[tuple[ReferenceEnd, ...]]) -> list[tuple[ReferenceEnd, ...]]:
    """Ends that belong together, directly or through others.

    >>> a, b, c, d = (ReferenceEnd(name, "id") for name in "abcd")
    >>> sorted(len(group) for group in connected([(a, b), (d,), (b, c)]))
    [1, 3]
    """
    groups: list[list[ReferenceEnd]] = []
    for pair in pairs:
        touched = [group for group in groups if set(group) & set(pair)]
        apart = [group for group in groups if group not in touched]
        groups = [*apart, list(dict.fromkeys(end for group in (*touched, list(pair)) for end in group))]
    return [tuple(group) for group in groups]


def unlinked(tables: Mapping[str, Policy], keys: Mapping[ReferenceEnd, bool]) -> dict[str, Policy]:
    """The tables' policies with nothing left to join by. ``keys`` says of each key whether its table has it twice.

    A pseudonym that stands once in its table becomes one of that table alone; all other keys are suppressed, and the
    rows are shuffled, because tables in the same order could be laid side by side.
    """
    changed = {name: _shuffled(policy) for name, policy in tables.items()}
    for end, repeated in keys.items():
        policy = changed[end.table]
        place = list(tables).index(end.table) + 1
        apart = _apart(policy.attributes[end.column], end, None if repeated else place)
        again = policy.model_copy(update={"attributes": {**policy.attributes, end.column: apart}})
        changed[end.table] = again.placed(policy.text, policy.folder)
    return changed


def _shuffled(policy: Policy) -> Policy:
    if not policy.kind.has_records:
        return policy
    table = policy.table.model_copy(update={ShuffleRows.key: ShuffleRows()})
    return policy.model_copy(update={"table": table}).placed(policy.text, policy.folder)


def _apart(attribute: Attribute, end: ReferenceEnd, place: int | None) -> Attribute:
    step = attribute.steps[0] if len(attribute.steps) == 1 else None
    domain = None
    if place is not None and isinstance(step, Pseudonymise) and not step.double_coding:
        domain = own_domain(step.domain_of(end.column), place)
    if step is None or domain is None:
        return attribute.model_copy(update={"role": Role.DIRECT, "technique": (Suppress(),), "hierarchy": None})
    return attribute.model_copy(update={"technique": (step.model_copy(update={"domain": domain}),)})


def own_domain(domain: str, place: int) -> str | None:
    """A domain that only the table at this place has; None where its name would be too long.

    >>> own_domain("patients", 2)
    'patients--2'
    """
    name = f"{domain}--{place}"
    return name if re.match(DOMAIN, name) else None
