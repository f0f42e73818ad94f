"""What goes together with pseudonyms: whom a record is about must not be mixed up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shoal.errors import InputError
from shoal.policy.yaml_tree import TreePath
from shoal.pseudonyms import Uniqueness
from shoal.pseudonyms.issuance import issued_uniqueness
from shoal.techniques.pseudonymisation.pseudonymise import Pseudonymise

if TYPE_CHECKING:
    from shoal.policy.model import Policy


def problems_of_pseudonyms(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    linking: set[str] = set()
    for name, step in _pseudonymised(policy):
        path: TreePath = ("attributes", name, "technique", step.key)
        try:
            domain = step.domain_of(name)
        except InputError as error:
            yield path, str(error)
            continue
        if _mixes_people_up(policy, name, step):
            use = "a key" if step.is_key else "the person"
            yield path, f"'{name}' is {use}, and people may share a pseudonym; use method: random or a wide format"
        if step.double_coding and domain in linking:
            yield path, f"the domain '{domain}' is coded twice already; name another `domain`"
        if step.double_coding:
            linking.add(domain)


def warnings_of_pseudonyms(policy: Policy) -> Iterator[str]:
    for name, step in _pseudonymised(policy):
        if step.uniqueness is Uniqueness.MAY_COLLIDE:
            yield f"'{name}': two people may get the same pseudonym ({step.format.key})"
        if step.format.caution:
            yield f"'{name}': {step.format.caution}"


def _mixes_people_up(policy: Policy, name: str, step: Pseudonymise) -> bool:
    """With ``key: true`` a derived pseudonym is judged by the data, before the run, if its format has one for each."""
    if step.uniqueness is Uniqueness.UNIQUE or not (step.is_key or name == policy.person):
        return False
    return not step.is_key or issued_uniqueness(step.format) is Uniqueness.MAY_COLLIDE


def _pseudonymised(policy: Policy) -> Iterator[tuple[str, Pseudonymise]]:
    for name, attribute in policy.attributes.items():
        yield from ((name, step) for step in attribute.steps if isinstance(step, Pseudonymise))
