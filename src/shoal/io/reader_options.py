"""How a file is to be read: the same fields in a policy's ``source``, as flags of the command line, as arguments.

What is not said is found out. What is said is checked, and refused where it means nothing for the format.
"""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, ValidationError, field_validator, model_validator

from shoal.errors import InputError
from shoal.io.formats.base import FormatName, format_named, format_of_suffix
from shoal.schema.parameters import Parameters
from shoal.schema.registry import did_you_mean
from shoal.schema.validation_messages import validation_message

Format = Annotated[str, FormatName]
"""The key of a table format."""
MOST_HEADER_ROWS: Final = 10_000
_SPELT: Final = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}


def _spelt_out(value: object) -> object:
    return _SPELT.get(value, value) if isinstance(value, str) else value


def _texts(value: object) -> object:
    """One value or several; numbers are taken as they are written, since YAML reads -99 as a number."""
    if value is None:
        return None
    several = value if isinstance(value, list | tuple) else (value,)
    return tuple(str(one) if isinstance(one, int | float) and not isinstance(one, bool) else one for one in several)


class ReaderOptions(Parameters):
    """How any file is to be read, wherever it lies."""

    format: Format | None = Field(default=None, description="Found from the name, then from the content.")
    separator: Annotated[str, BeforeValidator(_spelt_out)] | None = Field(default=None, description="One character.")
    quote: str | None = Field(default=None, description="One character; an empty text means that nothing is quoted.")
    encoding: str | None = Field(default=None, description="As Python names it: utf-8, cp1252, utf-16, shift_jis …")
    header_row: int | None = Field(
        default=None,
        ge=1,
        le=MOST_HEADER_ROWS,
        description="The row that names the columns, counted from 1; rows above it are left out.",
    )
    null_values: Annotated[tuple[str, ...] | None, BeforeValidator(_texts)] = Field(
        default=None, description="Texts that mean a missing value, beside empty cells."
    )
    decimal: Annotated[Literal[",", "."], BeforeValidator(_spelt_out)] | None = Field(
        default=None, description='"," where numbers are written 1.234,56; "." where they are written 1,234.56.'
    )
    sheet: str | int | None = Field(default=None, description="Excel: its name, or its number from 1.")

    @classmethod
    def parse(cls, **given: object) -> Self:
        """What a caller said, None being nothing; an error names the field."""
        try:
            return cls.model_validate({name: value for name, value in given.items() if value is not None})
        except ValidationError as error:
            first = error.errors()[0]
        raise InputError(validation_message(first), field=str(first["loc"][0]) if first["loc"] else "separator")

    @property
    def said(self) -> dict[str, Any]:
        """The fields that have a value."""
        return {name: value for name in ReaderOptions.model_fields if (value := getattr(self, name)) is not None}

    def said_of(self, path: str, file_format: str | None = None) -> dict[str, Any]:
        """Those that mean something for a file of this name; all, where the name tells nothing."""
        named = self.format or file_format
        kind = format_of_suffix(Path(path).suffix) if named is None else format_named(named)
        return {key: value for key, value in self.said.items() if kind is None or key in {"format", *kind.options}}

    @field_validator("separator", "quote")
    @classmethod
    def _one_plain_character(cls, value: str | None) -> str | None:
        if value and (len(value) != 1 or not value.isascii() or value in "\r\n\0"):
            raise ValueError("must be one ASCII character")
        return value

    @field_validator("encoding")
    @classmethod
    def _known_encoding(cls, value: str | None) -> str | None:
        if value is None:
            return None
        try:
            "a".encode(value)
            return codecs.lookup(value).name
        except LookupError:
            known = ("utf-8", "utf-16", "cp1252", "latin-1", "cp1251", "shift_jis", "gb18030", "big5", "euc_kr")
            raise ValueError(f"unknown encoding '{value}'{did_you_mean(value, known)}") from None

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        if self.separator == "":
            raise ValueError("separator: must be one ASCII character")
        if self.separator and self.separator == self.quote:
            raise ValueError("separator and quote must differ")
        return self
