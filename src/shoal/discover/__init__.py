"""Know your data: what a table holds, which of it identifies people, what is proposed for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from shoal.discover.table_profile import ColumnProfile, Profile, profile

__all__ = ["ColumnProfile", "Profile", "profile"]

__getattr__ = lazy_exports(
    __name__,
    {
        "ColumnProfile": "shoal.discover.table_profile",
        "Profile": "shoal.discover.table_profile",
        "profile": "shoal.discover.table_profile",
    },
)
