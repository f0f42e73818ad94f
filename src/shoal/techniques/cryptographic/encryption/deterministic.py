"""Deterministic encryption (ISO/IEC 20889, 9.2.2): AES-SIV, so that equal values stay equal and nothing else shows.

The length of a value shows too: a ciphertext is sixteen bytes longer than the value. Numbers and dates are encrypted as
the text that pseudonyms are made of, so that tables can be joined whatever their files.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import polars as pl

from shoal.crypto import Key
from shoal.crypto.hazmat.deterministic import encrypt_column
from shoal.crypto.text_encoding import TextEncoding
from shoal.kernels.memo import Memo
from shoal.schema.canonical_text import canonical_text
from shoal.techniques.base import AttributeStep

_CHARACTERS: Mapping[TextEncoding, frozenset[str]] = MappingProxyType(
    {
        TextEncoding.BASE64URL: frozenset(string.ascii_letters + string.digits + "-_"),
        TextEncoding.BASE32: frozenset(string.ascii_lowercase + "234567"),
        TextEncoding.HEX: frozenset("0123456789abcdef"),
    }
)


@dataclass(frozen=True)
class DeterministicStep(AttributeStep):
    """
    >>> step = DeterministicStep("town", Key(bytes(32)))
    >>> towns = step.apply(pl.DataFrame({"town": ["Pune", None, "Pune"]}))["town"]
    >>> towns[0] == towns[2] != "Pune", towns[1]
    (True, None)
    """

    secret: Key
    written: TextEncoding = TextEncoding.BASE64URL
    memo: Memo = field(default_factory=Memo, init=False, repr=False, compare=False)

    @property
    def adds(self) -> frozenset[str]:
        return _CHARACTERS[self.written]

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        encrypted = self.memo.map(canonical_text(frame[self.attribute]), self._encrypt)
        return frame.with_columns(encrypted.alias(self.attribute))

    def _encrypt(self, values: pl.Series) -> pl.Series:
        return encrypt_column(self.secret, values, self.written)
