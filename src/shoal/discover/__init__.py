"""Know your data: what a table holds, which of it identifies people, what is proposed for it."""

from shoal.discover.profile import ColumnProfile, Profile, profile

__all__ = ["ColumnProfile", "Profile", "profile"]
