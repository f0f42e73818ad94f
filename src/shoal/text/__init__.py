"""Free text: what in it is about a person, and how it is taken out again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.text.annotator import Annotator
    from shoal.text.spans import Finder, Span

__all__ = ["Annotator", "Finder", "Span"]
_HOMES = {"Annotator": "shoal.text.annotator", "Finder": "shoal.text.spans", "Span": "shoal.text.spans"}


def __getattr__(name: str) -> object:
    """Public names are imported on first use: a child that takes a document apart needs none of what is recognised."""
    if name not in _HOMES:
        raise AttributeError(f"module 'shoal.text' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
