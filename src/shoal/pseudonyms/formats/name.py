"""Names of people, a first and a last one, each from the lists that Faker has for a locale.

There are fewer names than people, and people share names: two may get the same one (``may collide``), and a name can't
be traced back. It is for test data and demonstrations; a key needs another format. First names aren't chosen by sex,
because a pseudonym tells nothing. The lists are those of the installed Faker: another version may give other names.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import AfterValidator

from shoal.kernels.arrays import Integers, places_among
from shoal.pseudonyms.formats.base import NarrowFormat
from shoal.schema.registry import did_you_mean

LOCALES = "faker.providers.person"


def _installed(locale: str) -> str:
    known = tuple(module.name for module in pkgutil.iter_modules(importlib.import_module(LOCALES).__path__))
    if locale not in known:
        raise ValueError(f"there are no names for the locale '{locale}'{did_you_mean(locale, known)}")
    if not all(len(names) for names in names_of(locale)):
        raise ValueError(f"the locale '{locale}' has no plain lists of first and last names")
    return locale


@cache
def names_of(locale: str) -> tuple[pl.Series, pl.Series]:
    """First and last names, each once and in order. Names with a space are left out, so that a name splits one way."""
    provider = importlib.import_module(f"{LOCALES}.{locale}").Provider
    first, last = (getattr(provider, which, ()) for which in ("first_names", "last_names"))
    return _plain(first), _plain(last)


def _plain(names: Iterable[str]) -> pl.Series:
    return pl.Series(sorted({name for name in names if name.split() == [name]}), dtype=pl.String)


class Name(NarrowFormat):
    """
    >>> Name(locale="en_IN").size > 200_000
    True
    """

    key = "name"
    title = "Names of people, not one for each"
    distinct = False

    locale: Annotated[str, AfterValidator(_installed)] = "en_IN"

    @property
    def size(self) -> int:
        first, last = names_of(self.locale)
        return len(first) * len(last)

    def write(self, numbers: Integers) -> pl.Series:
        first, last = names_of(self.locale)
        one, other = np.divmod(numbers, len(last))
        return first.gather(one) + " " + last.gather(other)

    def parse(self, values: pl.Series) -> pl.Series:
        first, last = names_of(self.locale)
        parts = values.str.splitn(" ", 2).struct.unnest()
        one, other = (places_among(part, names) for part, names in zip(parts.get_columns(), (first, last), strict=True))
        return one * len(last) + other
