"""Words without a meaning, and codes by a pattern."""

from __future__ import annotations

from functools import cache
from typing import Annotated, ClassVar

import numpy as np
import polars as pl
from pydantic import AfterValidator, Field

from shoal.synth.test_data.base import LARGEST, Assurance, CodeGenerator, Generator, Standing
from shoal.synth.test_data.code_layout import CodeLayout, CodePart, digits, letters, literal
from shoal.synth.test_data.draws import Draws

_AT_ONCE = 4
"""Words that one draw of 64 bits is good for."""


@cache
def _words() -> pl.Series:
    """Everyday English words, from Faker's list."""
    from faker.providers.lorem.en_US import Provider

    return pl.Series(sorted({word for word in Provider.word_list if word.isascii() and word.isalpha()}))


class Words(Generator):
    """So many words behind each other."""

    key = "words"
    title = "Words without a meaning"
    shorthand = "count"

    count: int = Field(5, ge=1, le=200)

    @property
    def assurance(self) -> Assurance:
        return Assurance(Standing.IMPERSONAL, "everyday words by chance")

    def draw(self, draws: Draws) -> pl.Series:
        listed = _words()
        texts = {}
        for place in range(self.count):
            lane, shift = divmod(place, _AT_ONCE)
            if not shift:
                drawn = draws.words(lane)
            number = (drawn >> np.uint64(16 * shift) & np.uint64(0xFFFF)).astype(np.int64)
            texts[str(place)] = listed.gather(number * len(listed) >> 16)
        return pl.DataFrame(texts).select(pl.concat_str(pl.all(), separator=" ")).to_series()


@cache
def _layout(pattern: str) -> CodeLayout:
    parts: list[CodePart] = []
    rest = pattern
    while rest:
        kind = rest[0]
        if kind == "\\":
            parts += literal(rest[1:2])
            rest = rest[2:]
            continue
        same = len(rest) - len(rest.lstrip(kind))
        parts += digits(same) if kind == "#" else letters(same) if kind == "?" else literal(kind * same)
        rest = rest[same:]
    return CodeLayout(parts)


def _possible(pattern: str) -> str:
    if not (pattern.isascii() and pattern.isprintable()):
        raise ValueError("a pattern is made of ASCII characters")
    if pattern.replace("\\\\", "").endswith("\\"):
        raise ValueError("a backslash at the end stands for nothing")
    if _layout(pattern).size > LARGEST:
        raise ValueError("at most eighteen places that vary")
    return pattern


class Patterns(CodeGenerator):
    r"""``#`` is a digit, ``?`` a capital letter; a backslash makes the next character stand for itself.

    >>> Patterns(text=r"TEST-##\#?").write(np.array([26])).to_list()
    ['TEST-01#A']
    """

    key = "pattern"
    title = "Codes by a pattern"
    shorthand = "text"
    stands_for: ClassVar = {
        key: {"text": "TEST-########"} for key in ("medical_record", "customer_number", "identity_number", "account")
    }

    text: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_possible)]

    @property
    def layout(self) -> CodeLayout:
        return _layout(self.text)

    @property
    def assurance(self) -> Assurance:
        if "TEST" in self.text.upper():
            return Assurance(Standing.RESERVED, "it says itself that it is for tests")
        return Assurance(Standing.MAY_COINCIDE, "whether real codes look like the pattern isn't known")
