"""Pseudonymisation (ISO/IEC 20889, 9.4; PDPC annex A and B; MeitY 2.2.3): a made-up value for each person.

Records of one person stay together and nobody is named. Two ways lead there:

| method | pseudonym | mapping | clause |
|---|---|---|---|
| ``keyed`` | a keyed digest of the value, in the shape of the format | none: the key is enough | 9.4.3.3.3 |
| ``random`` | the next one in a secret order, independent of the value | in the vault | 9.4.3.2 |

Left out, the method is ``random`` where the pseudonym has to lead back (``reversible``, ``double_coding``), otherwise
``keyed``. There is no hash without a key: whoever can list the values that may occur would undo it.

Pseudonyms are the same within a ``domain``, whatever the table, and unrelated between domains. With a vault they last;
without one they are of this run only. ``format`` is what they look like: see ``shoal.pseudonyms``. A derived pseudonym
of a narrow format may be shared by two people, so it is refused for the person column and where ``key`` says that
records are found or joined by it.

``double_coding`` (PDPC annex A) gives the release a second code, drawn for this release alone. The vault holds who has
which interim code, a file beside the release holds which interim code has which pseudonym, for a trusted third party:
neither leads from a record to a person without the other.

Each pseudonym still stands for one person: whoever knows enough of a person's records finds all of them, and frequent
values have frequent pseudonyms. Missing values stay missing.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal, Self

import numpy as np
import polars as pl
from pydantic import AfterValidator, Field, model_validator

from shoal.crypto import Key
from shoal.crypto.keyed_digests import Algorithm
from shoal.errors import BugError, DataError, FieldName, FieldText, InputError
from shoal.pseudonyms import PseudonymFormat, Secrets, Uniqueness, pseudonym_formats
from shoal.pseudonyms.derivation import derive, derived_uniqueness, stays_within
from shoal.pseudonyms.formats.base32 import Base32
from shoal.pseudonyms.issuance import issued_uniqueness, pseudonyms_of
from shoal.randomness import Stream
from shoal.schema.canonical_text import canonical_text
from shoal.schema.columns import Column
from shoal.schema.registry_choices import item
from shoal.schema.roles import Role
from shoal.schema.steps import SidecarFile
from shoal.schema.values import ValueType
from shoal.techniques.base import LINKING_ONLY, Context, Step, Technique, table_a1
from shoal.techniques.pseudonymisation.pseudonym_steps import IssuedStep, KeyedStep, LookUp

DOMAIN = r"^[a-z0-9][a-z0-9_-]{0,62}$"
LINKING = "for-third-party/linking"
ABOUT_LINKING = (
    "which interim code has which pseudonym. Give it to the trusted third party, who gets nothing else, "
    "and take it out of this folder: with it the vault's owner could name the people in the data"
)
_ALGORITHMS: dict[str, Algorithm] = {"blake2b": "blake2b", "hmac_sha256": "hmac-sha256"}

if TYPE_CHECKING:
    OneFormat = PseudonymFormat
else:
    OneFormat = item("FormatChoice", pseudonym_formats)


def _domain(name: str) -> str:
    if not re.match(DOMAIN, name):
        raise ValueError("a domain has small letters, digits and, not in front, hyphens and underscores; 63 at most")
    return name


class Pseudonymise(Technique):
    key = "pseudonymise"
    facts = table_a1("Pseudonymisation", "9.4", LINKING_ONLY, roles=frozenset({Role.DIRECT}))

    domain: Annotated[str, AfterValidator(_domain)] | None = None
    """Who shares pseudonyms; if it is left out, the attribute's name."""
    method: Literal["keyed", "random"] | None = None
    format: OneFormat = Field(default=Base32(), json_schema_extra={"default": Base32.key})
    algorithm: Literal["blake2b", "hmac_sha256"] = "blake2b"
    reversible: bool = False
    """A lawful follow-up must be possible, so a run without a vault is refused."""
    is_key: bool = Field(default=False, alias="key")
    """Records are found or joined by it, so two people must never share a pseudonym."""
    double_coding: bool = False

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if self.double_coding and self.method == "keyed":
            raise ValueError("double coding needs independent pseudonyms: leave method out")
        if self.algorithm != "blake2b" and not self.is_keyed:
            raise ValueError("an algorithm goes with method: keyed")
        leads_back = self.double_coding or self.reversible
        if leads_back and issued_uniqueness(self.format) is Uniqueness.MAY_COLLIDE:
            raise ValueError(f"people may share a pseudonym of the format '{self.format.key}', so none leads back")
        return self

    @property
    def is_keyed(self) -> bool:
        return self.method == "keyed" or (self.method is None and not self.reversible and not self.double_coding)

    @property
    def uniqueness(self) -> Uniqueness:
        """What is certain before any data is seen."""
        return derived_uniqueness(self.format) if self.is_keyed else issued_uniqueness(self.format)

    @property
    def _by_rows(self) -> bool:
        """Whether a pseudonym can be made wherever a value turns up, without knowing the others."""
        return self.is_keyed and not self.reversible and self.uniqueness is Uniqueness.UNIQUE

    def domain_of(self, attribute: str) -> str:
        """The domain's name; an attribute whose name can't be one needs a domain."""
        name = self.domain or re.sub(r"\s+", "_", attribute.lower())
        if not re.match(DOMAIN, name):
            raise InputError(f"attribute '{attribute}': its name can't be that of a domain", advice="name a `domain`")
        return name

    def wants(self, attribute: str) -> tuple[tuple[str, ...], ...]:
        return () if self._by_rows else ((attribute,),)

    def bind(self, column: Column, context: Context) -> Step:
        secrets, domain = _secrets(context), self.domain_of(column.name)
        if (self.reversible or self.double_coding) and not secrets.lasting:
            raise InputError(
                f"column '{column.name}': without a vault nothing can be kept for a follow-up",
                advice=FieldText(
                    "name one with ", FieldName("vault"), ", or leave `reversible` and `double_coding` out"
                ),
            )
        if self._by_rows:
            return KeyedStep(column.name, _key(secrets, domain), self.format, _ALGORITHMS[self.algorithm])
        values = _scrambled(canonical_text(context.counts[(column.name,)].values_of(column.name)), context.stream)
        if self.is_keyed:
            return self._derived(column.name, secrets, domain, values)
        if self.double_coding:
            return self._coded_twice(column.name, secrets, domain, values, context)
        return self._step(column.name, values, secrets.issue(domain, values, self.format))

    def _derived(self, attribute: str, secrets: Secrets, domain: str, values: pl.Series) -> IssuedStep:
        self._refuse_shared(attribute, values)
        pseudonyms = derive(_key(secrets, domain), self.format, values, _ALGORITHMS[self.algorithm])
        step = self._step(attribute, values, pseudonyms)
        if self.reversible:
            if step.sharing:
                raise DataError(
                    f"column '{attribute}': {step.sharing} values would share a pseudonym, so it couldn't lead back",
                    advice="use method: random, or a wide format such as base32",
                )
            secrets.remember(domain, pseudonyms, values)
        return step

    def _refuse_shared(self, attribute: str, values: pl.Series) -> None:
        """A key is unique for certain, not by luck: the next table of the domain would have other values."""
        if self.is_key and self.uniqueness is Uniqueness.MAY_COLLIDE and not stays_within(self.format, values):
            raise DataError(
                f"column '{attribute}' is a key, and people may share a derived pseudonym of '{self.format.key}'",
                advice="use method: random, or a wide format such as base32",
            )

    def _coded_twice(
        self, attribute: str, secrets: Secrets, domain: str, values: pl.Series, context: Context
    ) -> IssuedStep:
        interim = secrets.issue(domain, values, Base32())
        drawn = Key(context.stream.key).derive("second code")
        pseudonyms = pseudonyms_of(drawn, self.format, np.arange(len(values)))
        released = pseudonyms.cast(self.format.storage)
        # Pseudonyms are in no order that means anything, so sorted by them the rows aren't either.
        linking = pl.DataFrame({"pseudonym": released, "interim": interim}).sort("pseudonym")
        beside = SidecarFile(f"{LINKING}-{domain}", table=linking, about=ABOUT_LINKING)
        return replace(self._step(attribute, values, pseudonyms), sidecars=(beside,))

    def _step(self, attribute: str, values: pl.Series, pseudonyms: pl.Series) -> IssuedStep:
        shared = len(values) - pseudonyms.n_unique()
        looked_up = LookUp(values, pseudonyms.cast(self.format.storage))
        return IssuedStep(attribute, looked_up, shared, self.format.characters)

    def leaves(self, column: Column) -> Column:
        kind = ValueType.INTEGER if self.format.storage == pl.Int64() else ValueType.TEXT
        return replace(column, type=kind, storage=self.format.storage, scale=0, date_format=None)


def _scrambled(values: pl.Series, stream: Stream) -> pl.Series:
    """Each value once, in a random order: nothing that is kept tells of the order in which they came."""
    distinct = values.drop_nulls().unique(maintain_order=True)
    return distinct.gather(stream.permutation(len(distinct)))


def _secrets(context: Context) -> Secrets:
    if context.secrets is None:
        raise BugError("pseudonymise was bound without secrets")
    return context.secrets


def _key(secrets: Secrets, domain: str) -> Key:
    return secrets.key(domain, Pseudonymise.key)
