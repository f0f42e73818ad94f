"""``frame.shoal.masked(policy)`` for Polars, and for pandas where that is installed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import polars as pl

from shoal.live.applications.field_masks import FieldMasks
from shoal.policy import Policy


class PolarsAccessor:
    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def masked(self, policy: object, levels: Mapping[str, int] | None = None) -> pl.DataFrame:
        """What the policy lets be seen of the table; a column that it doesn't name is an error."""
        return FieldMasks(Policy.of(policy), levels or {}).frame(self._frame)


class PandasAccessor:
    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def masked(self, policy: object, levels: Mapping[str, int] | None = None) -> Any:
        """As with Polars; the index, which may hold identifiers, is made anew."""
        masked = FieldMasks(Policy.of(policy), levels or {}).frame(pl.from_pandas(self._frame))
        return masked.to_pandas()


def register_accessors() -> None:
    """Once in a program; frames then have ``.shoal``."""
    pl.api.register_dataframe_namespace("shoal")(PolarsAccessor)
    try:
        extensions = import_module("pandas.api.extensions")
    except ModuleNotFoundError:
        return
    extensions.register_dataframe_accessor("shoal")(PandasAccessor)
