"""Encryption of an attribute (ISO/IEC 20889, 9.2.2 to 9.2.5): who holds the key reads it, others can work with it.

| scheme | what is still possible without the key | clause |
|---|---|---|
| ``deterministic`` | equality: counting, joining | 9.2.2 |
| ``order_preserving`` | order: sorting, ranges | 9.2.3 |
| ``format_preserving`` | equality, and the form of the value | 9.2.4 |
| ``homomorphic`` | sums and means, themselves encrypted | 9.2.5 |

What is possible for the recipient is possible for an attacker: frequent values have frequent ciphertexts (9.2.2), and
the key names everybody. ``key`` is the name of a domain of the vault, if left out the attribute's name; or
``file:PATH``, a file of 32 bytes or 64 hexadecimal digits. Equal key names, equal ciphertexts, whatever the table. The
key itself never stands in a policy, which is read, copied and signed by people who must not have it; and a key that is
forgotten with the run would make a value unreadable for ever, which is suppression, so a lasting one is asked for.

Each scheme is a file of its own, ``encrypt_*.py``. Missing values stay missing.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Self

import polars as pl
from pydantic import ConfigDict, Field, field_serializer, field_validator, model_validator

from shoal.crypto import Key
from shoal.crypto.hazmat.deterministic import decrypt_column
from shoal.crypto.hazmat.ff1 import alphabet_problem
from shoal.crypto.text_encoding import TextEncoding
from shoal.errors import FieldName, FieldText, InputError
from shoal.pseudonyms.secrets import Secrets
from shoal.schema.columns import Column
from shoal.schema.values import ValueType
from shoal.techniques.base import LINKING_ONLY, Context, Facts, Lowered, Lowers, Step, Technique, table_a1
from shoal.techniques.cryptographic.encryption.key_file import read_key
from shoal.techniques.cryptographic.fixed_point import Bounds

FILE = "file:"
PURPOSE = "encrypt"
_DOMAIN = r"[a-z0-9][a-z0-9_-]{0,62}"
_HEX_KEY = r"(0x)?[0-9A-Fa-f]{32,}"


ALPHABETS: Mapping[str, str] = MappingProxyType(
    {
        "digits": string.digits,
        "letters": string.ascii_letters,
        "alphanumeric": string.digits + string.ascii_letters,
    }
)


class EncryptionScheme(StrEnum):
    DETERMINISTIC = "deterministic"
    FORMAT_PRESERVING = "format_preserving"
    ORDER_PRESERVING = "order_preserving"
    HOMOMORPHIC = "homomorphic"


FACTS: Mapping[EncryptionScheme, Facts] = MappingProxyType(
    {
        EncryptionScheme.DETERMINISTIC: table_a1("Deterministic encryption", "9.2.2", LINKING_ONLY),
        EncryptionScheme.ORDER_PRESERVING: table_a1("Order-preserving encryption", "9.2.3", LINKING_ONLY),
        # Table A.1 has no line of its own for it; it is a deterministic encryption.
        EncryptionScheme.FORMAT_PRESERVING: table_a1("Format-preserving encryption", "9.2.4", LINKING_ONLY),
        EncryptionScheme.HOMOMORPHIC: table_a1(
            "Homomorphic encryption", "9.2.5", Lowered(Lowers.NO, Lowers.NO, Lowers.NO)
        ),
    }
)

TAKES: Mapping[EncryptionScheme, frozenset[str]] = MappingProxyType(
    {
        EncryptionScheme.DETERMINISTIC: frozenset({"encoding"}),
        EncryptionScheme.FORMAT_PRESERVING: frozenset({"alphabet", "tweak", "keep_separators"}),
        EncryptionScheme.ORDER_PRESERVING: frozenset({"bounds", "decimals", "range_bits"}),
        EncryptionScheme.HOMOMORPHIC: frozenset({"decimals"}),
    }
)
"""What a scheme lets the policy choose, beside ``key``."""


class _FactsOfScheme:
    """Of a technique in a policy the line of its scheme, of the class the first one."""

    def __get__(self, technique: Encrypt | None, _: type[Encrypt]) -> Facts:
        return FACTS[EncryptionScheme.DETERMINISTIC if technique is None else technique.scheme]


class Encrypt(Technique):
    model_config = ConfigDict(hide_input_in_errors=True)  # what was given for a key may be one

    key = "encrypt"
    facts = _FactsOfScheme()

    scheme: EncryptionScheme = EncryptionScheme.DETERMINISTIC
    key_name: str | None = Field(None, alias="key")
    """The name of a domain of the vault, or ``file:PATH``."""
    encoding: TextEncoding = TextEncoding.BASE64URL
    """How a ciphertext becomes text (deterministic)."""
    alphabet: str = "digits"
    """``digits``, ``letters``, ``alphanumeric``, or the characters themselves (format-preserving)."""
    tweak: str = Field("", max_length=256)
    """No secret; another tweak, other ciphertexts (format-preserving)."""
    keep_separators: bool = True
    """Characters outside the alphabet stay in place; otherwise a value that has one is refused (format-preserving)."""

    bounds: Bounds | None = None
    """The least and the greatest value there can be; others are refused (order-preserving)."""
    decimals: int | None = Field(None, ge=0, le=15)
    """Digits after the point; by default the most that occur (order-preserving, homomorphic)."""
    range_bits: int | None = Field(None, ge=10, le=62)
    """Ciphertexts lie below 2 to the power of this (order-preserving)."""

    @property
    def characters(self) -> str:
        """The alphabet, character by character."""
        return ALPHABETS.get(self.alphabet, self.alphabet)

    @field_validator("key_name")
    @classmethod
    def _is_a_name(cls, name: str | None) -> str | None:
        if name is None or name.startswith(FILE):
            return name
        if re.fullmatch(_HEX_KEY, name) or not re.fullmatch(_DOMAIN, name):
            raise ValueError(
                "this is neither the name of a domain (lower-case letters, digits, - and _) nor file:PATH. A key "
                "itself can't stand in a policy, where everybody who checks the policy would have it"
            )
        return name

    @field_serializer("key_name", when_used="json-unless-none")
    def _without_folder(self, name: str) -> str:
        return FILE + Path(name.removeprefix(FILE)).name if name.startswith(FILE) else name

    @model_validator(mode="after")
    def _check_choices(self) -> Self:
        for name in sorted(self.model_fields_set - TAKES[self.scheme] - {"scheme", "key_name"}):
            raise ValueError(f"scheme {self.scheme} doesn't take {name}")
        if (
            self.scheme is EncryptionScheme.FORMAT_PRESERVING
            and (problem := alphabet_problem(self.characters)) is not None
        ):
            raise ValueError(problem)
        return self

    def resolve(self, base: Path) -> Self:
        if self.key_name is None or not self.key_name.startswith(FILE):
            return self
        return self.model_copy(update={"key_name": FILE + str(base / self.key_name.removeprefix(FILE))})

    def refuse(self, column: Column) -> str | None:
        return super().refuse(column) or self._refuse_scheme(column)

    def _refuse_scheme(self, column: Column) -> str | None:
        match self.scheme:
            case EncryptionScheme.DETERMINISTIC:
                return None
            case EncryptionScheme.FORMAT_PRESERVING:
                from shoal.techniques.cryptographic.encryption.format_preserving import refuse_format

                return refuse_format(column)
            case EncryptionScheme.ORDER_PRESERVING:
                from shoal.techniques.cryptographic.encryption.order_preserving import refuse_order

                return refuse_order(self, column)
            case EncryptionScheme.HOMOMORPHIC:
                from shoal.techniques.cryptographic.encryption.homomorphic import refuse_homomorphic

                return refuse_homomorphic(self, column)

    @property
    def removes(self) -> bool:
        return self.scheme is EncryptionScheme.HOMOMORPHIC

    def bind(self, column: Column, context: Context) -> Step:
        secret = self.secret(column.name, context.secrets)
        match self.scheme:
            case EncryptionScheme.DETERMINISTIC:
                from shoal.techniques.cryptographic.encryption.deterministic import DeterministicStep

                return DeterministicStep(column.name, secret, self.encoding)
            case EncryptionScheme.FORMAT_PRESERVING:
                from shoal.techniques.cryptographic.encryption.format_preserving import bind_format

                return bind_format(self, column, secret)
            case EncryptionScheme.ORDER_PRESERVING:
                from shoal.techniques.cryptographic.encryption.order_preserving import bind_order

                return bind_order(self, column, secret)
            case EncryptionScheme.HOMOMORPHIC:
                from shoal.techniques.cryptographic.encryption.homomorphic import bind_homomorphic

                return bind_homomorphic(self, column, secret)

    def leaves(self, column: Column) -> Column:
        match self.scheme:
            case EncryptionScheme.ORDER_PRESERVING:
                from shoal.techniques.cryptographic.encryption.order_preserving import leaves_order

                return leaves_order(column)
            case EncryptionScheme.HOMOMORPHIC:
                from shoal.techniques.cryptographic.encryption.homomorphic import leaves_homomorphic

                return leaves_homomorphic(column)
            case _:
                return replace(column, type=ValueType.TEXT, storage=pl.String(), scale=0, date_format=None)

    def undo(self, attribute: str, encrypted: pl.Series, secrets: Secrets | None) -> pl.Series:
        """The texts that ciphertexts stand for: for those who have the key, and the right to use it."""
        secret = self.secret(attribute, secrets)
        match self.scheme:
            case EncryptionScheme.DETERMINISTIC:
                return decrypt_column(secret, encrypted, self.encoding)
            case EncryptionScheme.FORMAT_PRESERVING:
                from shoal.techniques.cryptographic.encryption.format_preserving import undo_format

                return undo_format(self, encrypted, secret)
            case _:
                raise InputError(f"scheme {self.scheme} is undone by its own command")

    def secret(self, attribute: str, secrets: Secrets | None) -> Key:
        """The key of the scheme: no two schemes ever use the same."""
        if self.key_name is not None and self.key_name.startswith(FILE):
            root = read_key(attribute, Path(self.key_name.removeprefix(FILE)))
        elif secrets is None or not secrets.lasting:
            raise InputError(
                f"column '{attribute}': its key would be forgotten with this run, and nobody could ever read it again",
                advice=FieldText(
                    "name a vault with ",
                    FieldName("vault"),
                    ", or a key file with `key: file:PATH`; to get rid of it, suppress it",
                ),
            )
        else:
            root = secrets.key(self.domain_of(attribute), PURPOSE)
        return root.derive(PURPOSE, self.scheme)

    def domain_of(self, attribute: str) -> str:
        """The domain's name; an attribute whose name can't be one needs a key name."""
        name = self.key_name or re.sub(r"\s+", "_", attribute.lower())
        if not re.fullmatch(_DOMAIN, name):
            raise InputError(f"attribute '{attribute}': its name can't be that of a domain", advice="name a `key`")
        return name
