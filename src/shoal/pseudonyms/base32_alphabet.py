"""The alphabet of Crockford's base 32, for whoever only has to know a code again: I, L, O and U are left out."""

from __future__ import annotations

from typing import Final

ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
