"""Character masking (ISO/IEC 20889, 9.3.2; PDPC annexes A and B; MeitY 2.2.2): characters are replaced by one symbol.

Of a value c₁…cₙ the first f and the last l characters stay and each other one becomes the symbol. Where f + l ≥ n the
whole value is covered. The symbol doesn't depend on what it covers, so nothing of it can be worked out from the result;
what stays is all there is to link by. The length stays too, unless ``length`` fixes it.

``kind`` knows formats: which part of an address says least of the person, and how many digits a check character would
give back (see ``mask_formats``). Without a kind a number's check digit is a character like any other.

Masking an identifier so little that it is still unique is pseudonymisation, not masking (9.3.2, note 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated, Self

import polars as pl
from pydantic import AfterValidator, Field, model_validator

from shoal.schema.columns import Column
from shoal.schema.values import ValueType
from shoal.techniques.base import AttributeStep, Context, Lowered, Lowers, Technique, table_a1
from shoal.techniques.suppression.mask_formats import (
    ENDINGS,
    FREE_CHARACTERS,
    NUMBERS,
    EmailMask,
    MaskFormat,
    NetworkMask,
    NumberMask,
)
from shoal.techniques.suppression.mask_positions import SEPARATORS, Masker, PositionMask

KEPT_OF_NUMBERS = 4
ANY_TEXT = frozenset({"keep_first", "keep_last", "length", "keep_separators"})
TAKES: Mapping[MaskFormat, frozenset[str]] = MappingProxyType(
    {MaskFormat.EMAIL: ANY_TEXT - {"keep_separators"} | {"keep_domain"}, **dict.fromkeys(NUMBERS, ANY_TEXT)}
)
"""What a kind lets the policy choose, beside ``char``; the kinds that aren't listed have a rule of their own."""


def _symbol(char: str) -> str:
    if not char.isprintable():
        raise ValueError("the symbol has to be a printable character")
    return char


class Mask(Technique):
    key = "mask"
    facts = table_a1("Character masking", "9.3.2", Lowered(Lowers.YES, Lowers.PARTIALLY, Lowers.NO))

    keep_first: int | None = Field(None, ge=0)
    """Characters that stay at the beginning."""
    keep_last: int | None = Field(None, ge=0)
    """Characters that stay at the end."""
    char: Annotated[str, Field(min_length=1, max_length=1), AfterValidator(_symbol)] = "*"
    length: int | None = Field(None, ge=1)
    """The length of every masked value, so that the original length is hidden too."""
    keep_separators: bool | None = None
    """Spaces, dashes, dots and the like stay where they are."""
    keep_domain: bool = True
    """Of an e-mail address."""
    kind: MaskFormat | None = None

    @model_validator(mode="after")
    def _check_choices(self) -> Self:
        takes = ANY_TEXT if self.kind is None else TAKES.get(self.kind, frozenset())
        for name in sorted(self.model_fields_set - takes - {"char", "kind"}):
            whom = "mask without a kind" if self.kind is None else f"kind {self.kind}"
            raise ValueError(f"{whom} doesn't take {name}")
        cover = self._cover()
        if cover.length is not None and cover.length <= cover.first + cover.last:
            raise ValueError("length has to be more than the characters that are kept, or nothing would be masked")
        if self.keep_separators and cover.length is not None:
            raise ValueError("keep_separators and length exclude each other: separators in place tell the length")
        if cover.separators and self.char in SEPARATORS:
            raise ValueError("the symbol can't be a separator while separators are kept")
        if self.kind in NUMBERS and NumberMask(NUMBERS[self.kind], cover).patterns() == (None, None):
            raise ValueError(
                f"kind {self.kind}: with so many characters kept fewer than {10**FREE_CHARACTERS:,} numbers "
                "would be possible; keep fewer"
            )
        return self

    def _cover(self) -> PositionMask:
        number = self.kind in NUMBERS
        last = KEPT_OF_NUMBERS if number and self.keep_last is None else self.keep_last or 0
        separators = number and self.length is None if self.keep_separators is None else self.keep_separators
        return PositionMask(self.keep_first or 0, last, self.char, self.length, separators)

    def refuse(self, column: Column) -> str | None:
        if column.type is ValueType.BOOLEAN and self.length is None:
            return f"mask keeps the length, which tells true from false in column '{column.name}'; suppress it instead"
        return super().refuse(column)

    def masker(self) -> Masker:
        match self.kind:
            case None:
                return self._cover()
            case MaskFormat.EMAIL:
                return EmailMask(self._cover(), self.keep_domain)
            case MaskFormat.IP | MaskFormat.IPV4 | MaskFormat.IPV6:
                return NetworkMask(self.char, v4=self.kind is not MaskFormat.IPV6, v6=self.kind is not MaskFormat.IPV4)
            case kind if kind in ENDINGS:
                return replace(ENDINGS[kind], char=self.char)
            case kind:
                return NumberMask(NUMBERS[kind], self._cover())

    def bind(self, column: Column, context: Context) -> MaskStep:
        return MaskStep(column.name, self.masker())

    def leaves(self, column: Column) -> Column:
        return replace(column, type=ValueType.TEXT, storage=pl.String(), scale=0, date_format=None)


@dataclass(frozen=True)
class MaskStep(AttributeStep):
    """
    >>> frame = pl.DataFrame({"card": ["2345 6789 1234", None]})
    >>> MaskStep("card", PositionMask(last=4, char="x", separators=True)).apply(frame)["card"].to_list()
    ['xxxx xxxx 1234', None]
    """

    masker: Masker

    @property
    def adds(self) -> frozenset[str] | None:
        return frozenset(self.masker.char) if isinstance(self.masker, PositionMask) else None

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        masked = self.masker.mask(frame[self.attribute].cast(pl.String))
        return frame.with_columns(masked.alias(self.attribute))
