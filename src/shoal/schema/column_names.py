"""Columns that a policy lists: each of them once, since the second time would say nothing."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator


def _named_once(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError("a column is named once")
    return names


ColumnNames = Annotated[tuple[str, ...], AfterValidator(_named_once)]
