"""E-mail addresses at which nobody can be: the domain is one that is reserved for examples and tests.

RFC 2606 and RFC 6761 set aside ``example.com``, ``example.net``, ``example.org`` and everything that ends in
``.example``, ``.test``, ``.invalid`` or ``.localhost``. Mail to any other domain could reach somebody, so any other is
refused.
"""

from __future__ import annotations

import string
from typing import Annotated

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import AfterValidator, Field

from shoal.pseudonyms.formats.base import Blocks, WideFormat
from shoal.pseudonyms.formats.base32 import base32_blocks, base32_characters
from shoal.pseudonyms.formats.fixed_width import as_text

RESERVED = ("example.com", "example.net", "example.org", "example", "test", "invalid", "localhost")
_SMALL = 32
"""What turns the code of a capital into that of the small letter; digits already have this bit."""


def _reserved(domain: str) -> str:
    if not any(domain == name or domain.endswith(f".{name}") for name in RESERVED):
        raise ValueError(f"mail to another domain could reach somebody; reserved ones end in {', '.join(RESERVED)}")
    return domain


class Email(WideFormat):
    """The local part is a pseudonym in base 32, in small letters.

    >>> Email(domain="clinic.example").write(np.zeros((1, 16), dtype=np.uint8)).to_list()
    ['00000000000000000000000000@clinic.example']
    """

    key = "email"
    title = "E-mail addresses at a reserved domain"
    characters = frozenset(f"{string.ascii_lowercase}{string.digits}@.-")

    domain: Annotated[str, AfterValidator(_reserved)] = Field(
        "example.org", max_length=200, pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$"
    )

    def write(self, blocks: Blocks) -> pl.Series:
        local = as_text(base32_characters(blocks) | _SMALL)
        return local + f"@{self.domain}"

    def read(self, values: pl.Series) -> tuple[Blocks, NDArray[np.bool_]]:
        small = values.str.to_lowercase()
        here = small.str.ends_with(f"@{self.domain}").fill_null(value=False)
        blocks, fits = base32_blocks(small.str.head(-len(self.domain) - 1).str.to_uppercase())
        return blocks, fits & here.to_numpy()
