"""Pseudonyms: what they look like (formats), how they are derived or issued, and what a run may know of secrets."""

from shoal.pseudonyms.base import Format, NarrowFormat, Uniqueness, WideFormat, formats
from shoal.pseudonyms.secrets import Secrets

__all__ = ["Format", "NarrowFormat", "Secrets", "Uniqueness", "WideFormat", "formats"]
