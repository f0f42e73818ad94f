"""Format-preserving encryption (ISO/IEC 20889, 9.2.4): FF1, so that a number of 16 digits stays a number of 16 digits.

Characters of the alphabet are encrypted together, the others stay in place: ``4111 1111 1111 1111`` keeps its spaces.
Different values have different ciphertexts. A value with too few characters to encrypt is never passed on as it is: the
run is refused, and the reason says how many there are. A check digit is a digit like any other, so it won't fit after.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from shoal.crypto import Key
from shoal.crypto.hazmat.ff1 import Ff1
from shoal.errors import DataError
from shoal.kernels.memo import Memo
from shoal.schema.canonical_text import canonical_text
from shoal.schema.columns import Column
from shoal.schema.values import ValueType
from shoal.techniques.base import AttributeStep

if TYPE_CHECKING:
    from shoal.techniques.cryptographic.encryption.encrypt import Encrypt


def refuse_format(column: Column) -> str | None:
    if column.type is ValueType.BOOLEAN:
        return f"format-preserving encryption hides a value among a million; column '{column.name}' has two values"
    return None


def bind_format(technique: Encrypt, column: Column, secret: Key) -> FormatStep:
    return FormatStep(column.name, _cipher(technique, secret))


def undo_format(technique: Encrypt, encrypted: pl.Series, secret: Key) -> pl.Series:
    """The texts again, missing ones missing."""
    return Memo().map(encrypted, _cipher(technique, secret).decrypt)


def _cipher(technique: Encrypt, secret: Key) -> Ff1:
    return Ff1(secret.material, technique.characters, technique.tweak.encode(), technique.keep_separators)


@dataclass(frozen=True)
class FormatStep(AttributeStep):
    """
    >>> step = FormatStep("phone", Ff1(bytes(32), "0123456789"))
    >>> phone = step.apply(pl.DataFrame({"phone": ["+65 6123 4567"]}))["phone"][0]
    >>> [len(part) for part in phone.split(" ")], phone[0]
    ([3, 4, 4], '+')
    """

    cipher: Ff1 = field(repr=False)
    memo: Memo = field(default_factory=Memo, init=False, repr=False, compare=False)

    @property
    def adds(self) -> frozenset[str]:
        return frozenset(self.cipher.alphabet)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        try:
            encrypted = self.memo.map(canonical_text(frame[self.attribute]), self.cipher.encrypt)
        except DataError as refused:
            raise DataError(f"column '{self.attribute}': {refused.message}", advice=refused.advice) from None
        return frame.with_columns(encrypted.alias(self.attribute))
