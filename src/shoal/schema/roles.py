"""What an attribute can do to the person behind the record (ISO/IEC 20889, clause 6)."""

from enum import StrEnum


class Role(StrEnum):
    DIRECT = "direct"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"
