"""What a run may know of secrets: keys of named domains, and pseudonyms. Never a master key.

A vault answers these questions for good. Without a vault, ``ForThisRun`` answers them for one run: its keys are drawn
for the run and forgotten with it, so its pseudonyms say who is the same person within this release and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

import polars as pl

from shoal.crypto import Key
from shoal.pseudonyms.formats.base import PseudonymFormat


class Secrets(Protocol):
    lasting: ClassVar[bool]
    """Whether a later run, or a lawful follow-up, will find the same keys and pseudonyms."""

    def key(self, domain: str, purpose: str) -> Key:
        """The key of a domain for one purpose, as ``pseudonymise`` or ``encrypt``."""

    def issue(self, domain: str, values: pl.Series, form: PseudonymFormat) -> pl.Series:
        """Independent pseudonyms, one for each value: the one it has in the domain, or a new one.

        ``values`` is text, each value once, none missing; the answer has the same length and order.
        """

    def remember(
        self, domain: str, pseudonyms: pl.Series, values: pl.Series, also: Sequence[bytes] | None = None
    ) -> None:
        """Keep what derived pseudonyms stand for, so that a lawful follow-up can find the person.

        ``also`` is a second thing to find each by, as the person's concatenated quasi-identifiers.
        """
