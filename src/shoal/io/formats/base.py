"""What a table format declares about itself; one file of this folder for each.

A new format is one new file here, or one in another distribution under the entry point ``shoal.formats``: a module
that calls ``file_formats.add`` with its declaration. Names of files, first bytes, the policy's ``format:``, what a scan
takes for a table: everything follows from it. Libraries that read a format are imported inside its functions, since the
declarations are read whenever any file is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticKnownError, core_schema

from shoal.schema.registry import RegistrationError, Registry

if TYPE_CHECKING:
    import polars as pl

    from shoal.io.options import FileOptions
    from shoal.io.sources import Source

LAST: Final = 1000


@dataclass(frozen=True)
class Signature:
    """How files of a format begin."""

    opening: bytes
    description: str
    """What such a file is, for a message: *a Parquet file*."""


@dataclass(frozen=True)
class FileFormat:
    key: str
    """As in ``format:`` of a policy."""
    suffixes: tuple[str, ...]
    """In lower case, with the dot. Files that we write have the first one."""
    open: Callable[[Path, FileOptions], Source]
    """The source behind a file that others have written: everything is checked, all of it, before it is returned."""
    sink: Callable[[pl.LazyFrame, Path], None] | None
    """Writes a stream of rows to a file; None of delimited text, which is written in the dialect of its source."""
    scan: Callable[[Path, str], pl.LazyFrame] | None
    """A file that we have written ourselves, read anew; the text is its label. None of delimited text."""
    order: int = LAST
    """The place in lists of formats; equal ones by key."""
    shared_suffixes: frozenset[str] = frozenset()
    """Those of the suffixes that other files have more often: such a file is a table only where somebody says so."""
    signatures: tuple[Signature, ...] = ()
    options: frozenset[str] = frozenset()
    """The fields of ``FileOptions`` that mean something for it."""
    separator: str | None = None
    """Of delimited text, unless the file has another."""
    in_parts: bool = False
    """Whether a folder of such files is read and written as one table: delimited text and Parquet."""
    sheets: Callable[[Path, str], list[str]] | None = None
    """The names of the tables of a file, where it may hold several; the text is its label."""
    says_rows: bool = False
    """Whether a file says how many records it has, so that nothing has to be read to know it."""
    one_record_tells: bool = False
    """Whether the file names no types, so that a single record can change how a whole column is read."""
    line_is_record: bool = False
    """Whether each line is a record, most of the time, so that a piece of a file tells how many there are."""
    scan_binary: Callable[[Path], pl.LazyFrame] | None = None
    """A file of our own with its columns of bytes, which ``scan`` refuses; None where the format can't hold any."""

    def __post_init__(self) -> None:
        if not self.suffixes or not all(one.startswith(".") and one == one.lower() for one in self.suffixes):
            raise RegistrationError(f"the file format '{self.key}' needs suffixes such as '.csv', in lower case")
        if {self.sink is None, self.scan is None} != {self.separator is not None}:
            raise RegistrationError(f"the file format '{self.key}' needs sink and scan, or else a separator")

    @property
    def delimited(self) -> bool:
        return self.separator is not None


DEFAULT_FORMAT: Final = "csv"
"""What a file is taken for whose name and content say nothing."""
file_formats: Registry[FileFormat] = Registry("shoal.io.formats", "file format", "shoal.formats")


def all_formats() -> tuple[FileFormat, ...]:
    """In their order; no two may have a suffix in common."""
    return file_formats.in_order(lambda one: one.order, lambda one: one.suffixes, "a suffix")


def format_named(key: str) -> FileFormat:
    found = file_formats.get(key)
    if found is None:
        raise ValueError(file_formats.unknown(key))
    return found


def format_of_suffix(suffix: str) -> FileFormat | None:
    """By the ending of a file's name, in whatever case."""
    return next((one for one in all_formats() if suffix.lower() in one.suffixes), None)


def table_suffixes() -> frozenset[str]:
    """The endings of files that are taken for tables without anybody saying so."""
    return frozenset(suffix for one in all_formats() for suffix in one.suffixes if suffix not in one.shared_suffixes)


class FormatName:
    """The type of a field that names a format: checked, and listed in the JSON Schema, as the registry stands then."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(cls._known)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"enum": [one.key for one in all_formats()], "type": "string"}

    @staticmethod
    def _known(value: object) -> object:
        keys = [one.key for one in all_formats()]
        if isinstance(value, str) and value in keys:
            return value
        *others, last = map(repr, keys)
        raise PydanticKnownError("literal_error", {"expected": f"{', '.join(others)} or {last}"})
