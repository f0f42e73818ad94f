"""User names, and e-mail addresses at domains that are reserved for examples (RFC 2606, RFC 6761): no mail arrives."""

from __future__ import annotations

from functools import cache
from typing import Annotated, ClassVar

import numpy as np
import polars as pl
from pydantic import AfterValidator, Field

from shoal.kernels.arrays import Integers
from shoal.pseudonyms.formats.email import Email
from shoal.synth.test_data.base import Assurance, NumberedGenerator, Standing
from shoal.synth.test_data.generators.names import faker_names

_NUMBERS = 10_000
Domain = Annotated[str, AfterValidator(lambda domain: Email(domain=domain).domain)]
"""One that is reserved; any other is refused."""


@cache
def _halves() -> tuple[pl.Series, pl.Series]:
    given, family = (names.str.to_lowercase() for names in faker_names("en_IN"))
    return given + ".", family


@cache
def _endings(domains: tuple[str, ...]) -> pl.Series:
    """A number of four digits, and each of the domains behind it."""
    at = [f"@{domain}" for domain in domains] or [""]
    return pl.Series([f"{number:04d}{domain}" for number in range(_NUMBERS) for domain in at])


def _written(numbers: Integers, endings: pl.Series) -> pl.Series:
    given, family = _halves()
    numbers, ending = np.divmod(numbers, len(endings))
    first, second = np.divmod(numbers, len(family))
    parts = {"given": given.gather(first), "family": family.gather(second), "ending": endings.gather(ending)}
    return pl.DataFrame(parts).select(pl.concat_str(pl.all())).to_series()


class UserNames(NumberedGenerator):
    key = "user_name"
    title = "User names: a given and a family name with a number"
    stands_for: ClassVar = {"username": {}}

    @property
    def size(self) -> int:
        given, family = _halves()
        return len(given) * len(family) * _NUMBERS

    @property
    def assurance(self) -> Assurance:
        return Assurance(
            Standing.IMPERSONAL, "made of common names and a number; some service may have such a user, who isn't meant"
        )

    def write(self, numbers: Integers) -> pl.Series:
        return _written(numbers, _endings(()))


class EmailAddresses(NumberedGenerator):
    key = "email"
    title = "E-mail addresses at reserved domains"
    shorthand = "domains"
    stands_for: ClassVar = {"email": {}}

    domains: tuple[Domain, ...] = Field(("example.com", "example.net", "example.org"), min_length=1, max_length=100)

    @property
    def size(self) -> int:
        given, family = _halves()
        return len(given) * len(family) * len(_endings(self.domains))

    @property
    def assurance(self) -> Assurance:
        return Assurance(Standing.RESERVED, "no mail can arrive at the domain", "RFC 2606, RFC 6761")

    def write(self, numbers: Integers) -> pl.Series:
        return _written(numbers, _endings(self.domains))
