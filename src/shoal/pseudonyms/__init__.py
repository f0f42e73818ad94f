"""Pseudonyms: what they look like (formats), how they are derived or issued, and what a run may know of secrets."""

from shoal.pseudonyms.formats.base import NarrowFormat, PseudonymFormat, Uniqueness, WideFormat, pseudonym_formats
from shoal.pseudonyms.secrets import Secrets

__all__ = ["NarrowFormat", "PseudonymFormat", "Secrets", "Uniqueness", "WideFormat", "pseudonym_formats"]
