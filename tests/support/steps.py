"""Steps that do as they are told, for tests of what engines do with steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from shoal.schema import Scope, Step


@dataclass(frozen=True)
class Rewrites(Step):
    """Expressions on the columns that it says it reads."""

    needs: tuple[str, ...]
    what: pl.Expr | Iterable[pl.Expr]

    @property
    def reads(self) -> tuple[str, ...]:
        return self.needs

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(self.what)


class RewritesWhole(Rewrites):
    scope: ClassVar[Scope] = Scope.TABLE


@dataclass(frozen=True)
class Keeps(Step):
    """Keeps the records that meet a condition."""

    needs: tuple[str, ...]
    condition: pl.Expr
    drops_records: ClassVar[bool] = True

    @property
    def reads(self) -> tuple[str, ...]:
        return self.needs

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.filter(self.condition)
