"""Free text: what in it is about a person, and how it is taken out again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from shoal.text.annotator import Annotator
    from shoal.text.spans import Finder, Span

__all__ = ["Annotator", "Finder", "Span"]
__getattr__ = lazy_exports(
    __name__, {"Annotator": "shoal.text.annotator", "Finder": "shoal.text.spans", "Span": "shoal.text.spans"}
)
"""A child that takes a document apart needs none of what is recognised."""
