"""Secrets for a run that releases nothing, as a check of a policy: everything can be asked for, nothing is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from shoal.pseudonyms.run_secrets import RunSecrets


class RehearsalSecrets(RunSecrets):
    """Behaves like a vault that has every domain; no vault is opened, none is changed."""

    lasting: ClassVar[bool] = True

    def remember(
        self, domain: str, pseudonyms: pl.Series, values: pl.Series, also: Sequence[bytes] | None = None
    ) -> None:
        return None
