"""Keys of a vault for what is not a pseudonym: digests by which people are known again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from shoal.crypto.keys import Key


class NamedDomain(Protocol):
    @property
    def name(self) -> str: ...


class KeyHolder(Protocol):
    """A vault, as far as it is needed here."""

    def key(self, domain: str, purpose: str) -> Key: ...

    def domains(self) -> Iterable[NamedDomain]: ...

    def add_domain(self, name: str) -> object: ...


def domain_key(vault: KeyHolder, domain: str, purpose: str, *, new: bool = False) -> Key:
    """Of a domain for this alone, which ``new`` makes where there is none."""
    if new and domain not in {each.name for each in vault.domains()}:
        vault.add_domain(domain)
    return vault.key(domain, purpose)
