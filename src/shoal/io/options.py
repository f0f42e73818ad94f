"""What a policy may say about where data comes from and where it goes: files and databases, nothing opened yet.

A plain string is a path, or a database's address when it holds ``://`` (the table then stands after ``#``). An address
may name environment variables, ``postgresql://clinic:${CLINIC_PASSWORD}@db/records``; they are filled in only when the
database is opened, so that a policy need not hold a password. What may be shown of an address is its ``label``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final, Literal, Self, TypeVar
from urllib.parse import quote as percent_encoded

from pydantic import ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from shoal.io.reader_options import Format, ReaderOptions
from shoal.schema.parameters import Parameters
from shoal.schema.registry import did_you_mean
from shoal.schema.validation_messages import validation_message

IfExists = Literal["fail", "replace", "append"]

DRIVERS: Final = {
    "sqlite": "sqlite",
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "mariadb": "mysql",
    "mysql": "mysql",
}
"""Schemes of addresses and the kind of database behind each."""

_ADDRESS: Final = re.compile(
    r"(?P<scheme>[a-z]+)(?:\+\w+)?://"
    r"(?:(?P<user>[^:@/?#]*)(?::[^@/?#]*)?@)?"
    r"(?P<place>(?:\[[^\]@/?#]*\]|[^:@/?#]*)(?::(?:\d+|\$\{\w+\}))?)"
    r"(?P<path>/[^?#]*)?(?:\?[^#@]*)?"
)
"""So strict that no part of a password with unescaped characters can be taken for a host, a port or a path."""
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")


class FileOptions(ReaderOptions):
    """A file to read. What is not said is found out."""

    path: str = Field(min_length=1)

    @property
    def label(self) -> str:
        return self.path

    def told(self, reader: ReaderOptions) -> FileOptions:
        """With what is said of all files that are read, as far as it means something for this one."""
        return self.model_copy(update=reader.said_of(self.path, self.format))


class Address(Parameters):
    """Where a database is. The address is secret as a whole, because it may hold a password; ``label`` is not."""

    model_config = ConfigDict(hide_input_in_errors=True)

    url: SecretStr

    @field_validator("url")
    @classmethod
    def _well_formed(cls, value: SecretStr) -> SecretStr:
        found = _ADDRESS.fullmatch(value.get_secret_value())
        if not found:
            raise ValueError("not a database's address; characters such as @ : / ? # in a password are written %40 …")
        if found["scheme"] not in DRIVERS:
            known = ("sqlite", "postgresql", "mariadb", "mysql")
            raise ValueError(f"unknown kind of database '{found['scheme']}'; {', '.join(known)} are known")
        if "@" in (found["path"] or "") and found["scheme"] != "sqlite":
            raise ValueError("an @ or / in a user's name or password must be written %40 or %2F")
        return value

    @property
    def kind(self) -> str:
        return DRIVERS[self._parts()["scheme"]]

    @property
    def place(self) -> str:
        """The address without password and options: what may be shown."""
        found = self._parts()
        user = f"{found['user']}@" if found["user"] else ""
        return f"{found['scheme']}://{user}{found['place']}{found['path'] or ''}"

    def resolved(self) -> str:
        """The whole address, variables filled in. A variable that is not set is a KeyError with its name."""
        return _VARIABLE.sub(lambda found: percent_encoded(os.environ[found[1]], safe=""), self.url.get_secret_value())

    def _parts(self) -> re.Match[str]:
        found = _ADDRESS.fullmatch(self.url.get_secret_value())
        if found is None:
            raise ValueError("not a database's address")
        return found


class DatabaseOptions(Address):
    """A table or a query to read from a database."""

    table: str | None = Field(default=None, min_length=1)
    query: str | None = Field(default=None, min_length=1)
    db_schema: str | None = Field(default=None, alias="schema", min_length=1)

    @model_validator(mode="after")
    def _table_or_query(self) -> Self:
        if (self.table is None) == (self.query is None):
            raise ValueError("a database needs either a table or a query, as in {url: …, table: patients}")
        if self.query is not None and self.db_schema is not None:
            raise ValueError("schema goes with a table; in a query write it before the table's name")
        return self

    @property
    def label(self) -> str:
        return f"{self.place}#{self.table or 'query'}"


class FileTargetOptions(Parameters):
    """A file to write. What is not said is as in the source."""

    path: str = Field(min_length=1)
    format: Format | None = None

    @property
    def label(self) -> str:
        return self.path


class DatabaseTargetOptions(Address):
    """A table to write in a database."""

    table: str = Field(min_length=1)
    db_schema: str | None = Field(default=None, alias="schema", min_length=1)
    if_exists: IfExists = "fail"

    @property
    def label(self) -> str:
        return f"{self.place}#{self.table}"


OptionsT = TypeVar("OptionsT", bound=Parameters)
DatabaseT = TypeVar("DatabaseT", bound=Parameters)
SourceOptions = FileOptions | DatabaseOptions
TargetOptions = FileTargetOptions | DatabaseTargetOptions


def parse_source(value: object) -> SourceOptions:
    """Options from a string or a mapping, as a policy or a command line gives them. A ValueError says what is wrong."""
    return _parsed(value, "source", FileOptions, DatabaseOptions)


def parse_target(value: object) -> TargetOptions:
    return _parsed(value, "target", FileTargetOptions, DatabaseTargetOptions)


def _parsed(value: object, what: str, of_file: type[OptionsT], of_database: type[DatabaseT]) -> OptionsT | DatabaseT:
    if isinstance(value, of_file | of_database):
        return value
    given = _mapping(value, what)
    return _checked(of_database, given) if "url" in given else _checked(of_file, given)


def _mapping(value: object, what: str) -> dict[str, object]:
    if isinstance(value, Mapping):
        return {str(key): given for key, given in value.items()}
    if not isinstance(value, str) or not value:
        raise ValueError(f"a {what} is a path, or {{path: …}}, or {{url: …, table: …}}")
    if value.startswith("file://"):
        return {"path": value.removeprefix("file://")}
    if "://" not in value:
        return {"path": value}
    address, hash_sign, table = value.partition("#")
    if not hash_sign:
        return {"url": address}
    if "@" in table or "/" in table:
        raise ValueError("a # in a password must be written %23")
    return {"url": address, "table": table}


def _checked(model: type[OptionsT], given: dict[str, object]) -> OptionsT:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        known = tuple(field.alias or name for name, field in model.model_fields.items())
        problems = [_problem(details, known) for details in error.errors(include_url=False, include_input=False)]
    raise ValueError("; ".join(problems))


def _problem(details: ErrorDetails, known: tuple[str, ...]) -> str:
    key = str(details["loc"][0]) if details["loc"] else ""
    if details["type"] == "extra_forbidden":
        return f"unknown key '{key}'{did_you_mean(key, known)}"
    if details["type"] == "missing":
        return f"{key} is missing"
    return f"{key}: {validation_message(details)}" if key else validation_message(details)
