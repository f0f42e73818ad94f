"""Keys and ciphers, on whole columns at once. Nothing here knows of tables, policies or people.

Every primitive comes from a maintained library; what this room adds is the work on many values at a time, and names.
"""

from shoal.crypto.keys import KEY_BYTES, Key

__all__ = ["KEY_BYTES", "Key"]
