"""Secrets for one run only, drawn from its randomness and forgotten with it.

A run that releases nothing, as a check of a policy, may ask for everything; nothing is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.crypto import Key
from shoal.errors import FieldName, FieldText, InputError
from shoal.kernels.arrays import Integers
from shoal.kernels.memo import StringIndex
from shoal.pseudonyms.formats.base import PseudonymFormat
from shoal.pseudonyms.issuance import pseudonyms_of
from shoal.randomness import Randomness, Stream


@dataclass
class _Issued:
    """The values of one domain, and the serial number of each."""

    stream: Stream
    values: StringIndex = field(default_factory=StringIndex)
    serials: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    calls: int = 0

    def serials_for(self, values: pl.Series) -> Integers:
        """New values are numbered in a random order, so that the number tells nothing of the order of the data."""
        codes = self.values.find(values)
        new = values.filter(pl.Series(codes < 0)).sort()
        if len(new):
            order = self.stream.permutation(len(new), lane=self.calls) + len(self.serials)
            self.serials = np.concatenate((self.serials, order))
            self.values.add(new)
            self.calls += 1
            codes = self.values.find(values)
        return self.serials[codes]


class RunSecrets:
    """Where no vault is named: nobody can find the people again, and no other release has the same pseudonyms."""

    lasting: ClassVar[bool] = False

    def __init__(self, randomness: Randomness) -> None:
        self._randomness = randomness
        self._root = Key(randomness.stream("secrets").key)
        self._issued: dict[str, _Issued] = {}

    def key(self, domain: str, purpose: str) -> Key:
        return self._root.derive(domain, purpose)

    def issue(self, domain: str, values: pl.Series, form: PseudonymFormat) -> pl.Series:
        issued = self._issued.setdefault(domain, _Issued(self._randomness.stream("secrets", "issue", domain)))
        return pseudonyms_of(self.key(domain, "issue"), form, issued.serials_for(values))

    def remember(
        self, domain: str, pseudonyms: pl.Series, values: pl.Series, also: Sequence[bytes] | None = None
    ) -> None:
        raise InputError(
            f"domain '{domain}': without a vault nothing can be kept for a follow-up",
            advice=FieldText("name one with ", FieldName("vault"), ", or leave `reversible` out"),
        )


class RehearsalSecrets(RunSecrets):
    """Behaves like a vault that has every domain; no vault is opened, none is changed."""

    lasting: ClassVar[bool] = True

    def remember(
        self, domain: str, pseudonyms: pl.Series, values: pl.Series, also: Sequence[bytes] | None = None
    ) -> None:
        return None
