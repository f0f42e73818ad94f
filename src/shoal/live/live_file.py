"""The live file: a database, its roles, and the policy of each (``live.yaml``)."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from shoal.dp.description import DescribedFile
from shoal.io.options import Address
from shoal.policy import Policy
from shoal.policy.model import OneLine
from shoal.policy.multi_table import MultiTablePolicy, load_any
from shoal.schema.field_docs import DocumentedFields
from shoal.schema.parameters import Parameters

ROLE = r"^[A-Za-z_][A-Za-z0-9_]{0,40}(@[A-Za-z0-9_.%:-]{1,60})?$"
TABLE = r"^[^\x00-\x1f\x7f]{1,63}$"
Level = Annotated[int, Field(ge=0)]
RoleName = Annotated[str, Field(pattern=ROLE)]
TableName = Annotated[str, Field(pattern=TABLE)]


def _address(value: object) -> object:
    return {"url": value} if isinstance(value, str) else value


def _server(address: LiveDatabase) -> LiveDatabase:
    if address.kind == "sqlite":
        raise ValueError("a SQLite file has no roles; open it with shoal.live.sqlite in your program")
    return address


class LiveDatabase(Address):
    """Where the tables are, and who applies the views: the user of this address owns them."""

    db_schema: str | None = Field(default=None, alias="schema", min_length=1)
    """On PostgreSQL; else ``public``."""


class LiveRole(DocumentedFields, Parameters):
    """What one role of the database sees."""

    policy: Path
    """A policy of one table or of several; relative to the folder of the live file."""
    purpose: OneLine
    """What the role reads the data for; it stands beside its views."""
    table: TableName | None = None
    """The table of a policy of one table, where its source doesn't name one."""
    rows: dict[TableName, str] = Field(default_factory=dict)
    """By table, which rows are seen: as in region = 'north'."""
    levels: dict[str, Level | dict[str, Level]] = Field(default_factory=dict)
    """How far each quasi-identifier is generalised; by table where there are several."""
    since: datetime.date | None = None
    """The first day (UTC) on which anything is seen."""
    until: datetime.date | None = None
    """The last day (UTC) on which anything is seen."""
    accept: OneLine | None = None
    """Why privacy models that a view can't hold are left aside."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.since and self.until and self.until < self.since:
            raise ValueError("until is before since")
        return self


class LiveFile(DocumentedFields, DescribedFile):
    """Roles and what each sees."""

    shoal: Literal[1]
    name: str = Field(pattern=r"^[\w][\w .-]{0,99}$")
    database: Annotated[
        LiveDatabase,
        BeforeValidator(_address, json_schema_input_type=str | LiveDatabase),
        AfterValidator(_server),
    ]
    """Its address; a password is best left to the environment."""
    roles: dict[RoleName, LiveRole] = Field(min_length=1)

    def policies(self) -> dict[str, Policy | MultiTablePolicy]:
        """By role."""
        return {name: load_any(self.folder / role.policy) for name, role in self.roles.items()}


def live_schema() -> dict[str, Any]:
    """JSON Schema for editors."""
    schema = LiveFile.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return schema
