"""Pseudonyms: what they look like (formats), how they are derived or issued, and what a run may know of secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from shoal.pseudonyms.formats.base import NarrowFormat, PseudonymFormat, Uniqueness, WideFormat, pseudonym_formats
    from shoal.pseudonyms.secrets import Secrets

__all__ = ["NarrowFormat", "PseudonymFormat", "Secrets", "Uniqueness", "WideFormat", "pseudonym_formats"]

__getattr__ = lazy_exports(
    __name__,
    {
        "NarrowFormat": "shoal.pseudonyms.formats.base",
        "PseudonymFormat": "shoal.pseudonyms.formats.base",
        "Secrets": "shoal.pseudonyms.secrets",
        "Uniqueness": "shoal.pseudonyms.formats.base",
        "WideFormat": "shoal.pseudonyms.formats.base",
        "pseudonym_formats": "shoal.pseudonyms.formats.base",
    },
)
