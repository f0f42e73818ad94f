"""What a copy of a database is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, SkipValidation

from shoal.errors import InputError
from shoal.io.database_schemas.statements import KINDS
from shoal.io.databases.base import address_of
from shoal.io.options import Address, DatabaseOptions, DatabaseTargetOptions
from shoal.policy.multi_table import MultiTablePolicy
from shoal.pseudonyms import Secrets
from shoal.schema.registry import did_you_mean
from shoal.schema.requests import UseCaseRequest


class CopyRequest(UseCaseRequest):
    """A copy of a whole schema. No error and no ``repr`` shows data or a password."""

    model_config = ConfigDict(hide_input_in_errors=True, defer_build=True)

    policy: Annotated[MultiTablePolicy, SkipValidation] = Field(repr=False)
    source: str | None = Field(default=None, repr=False)
    """The database's address; what the policy says if None."""
    target: str | None = Field(default=None, repr=False)
    """An address, or the path of a file of SQL; what the policy says if None."""
    schema_name: str | None = None
    """The schema that is copied, where it is not the usual one."""
    target_schema: str | None = None
    sample: float | None = Field(default=None, gt=0, le=1)
    """The share of the records of the table ``of`` that is copied, with all that is theirs."""
    of: str | None = None
    dialect: str | None = None
    """Of a file; that of the source if None."""
    output: Path | None = None
    """Where the account of the copy is written; beside it lies what an unfinished copy needs to go on."""
    seed: int | None = None
    """Makes the copy repeatable: for tests."""
    restart: bool = False
    """Removes what an unfinished copy has left, and begins anew."""
    secrets: Annotated[Secrets | None, SkipValidation] = Field(default=None, repr=False)
    """A vault, whose pseudonyms and keys last; without one they are of this copy only."""

    @property
    def account(self) -> Path:
        return self.output or Path(f"{self.policy.name}-copy.json")

    def source_address(self) -> Address:
        if self.policy.documents is not None:
            raise InputError("a policy of nested documents is for files; shoal run takes it")
        if self.source is not None:
            return address_of(self.source)
        named = {
            policy.source.url.get_secret_value()
            for policy in self.policy.tables.values()
            if isinstance(policy.source, DatabaseOptions)
        }
        if len(named) != 1:
            raise InputError("say which database is copied", field="from")
        return address_of(named.pop())

    def source_schema(self) -> str | None:
        named = {
            policy.source.db_schema
            for policy in self.policy.tables.values()
            if isinstance(policy.source, DatabaseOptions) and policy.source.db_schema
        }
        return self.schema_name or (named.pop() if len(named) == 1 and self.source is None else None)

    def target_place(self) -> Address | Path:
        if self.target is None:
            named = {
                policy.target.url.get_secret_value()
                for policy in self.policy.tables.values()
                if isinstance(policy.target, DatabaseTargetOptions)
            }
            if len(named) != 1:
                raise InputError("say where the copy goes: a database, or a file", field="to")
            return address_of(named.pop())
        if "://" in self.target and not self.target.startswith("file://"):
            return address_of(self.target)
        return Path(self.target.removeprefix("file://")).expanduser()

    def refuse_unknown_dialect(self) -> None:
        if self.dialect is not None and self.dialect not in KINDS:
            raise InputError(
                f"there is none called '{self.dialect}'{did_you_mean(self.dialect, KINDS)}",
                field="dialect",
                advice=", ".join(KINDS),
            )
        if self.dialect is not None and not isinstance(self.target_place(), Path):
            raise InputError("is for a file; a database has its own", field="dialect")
        if self.of is not None and self.sample is None:
            raise InputError("goes with a share of its records", field="of", advice="such as 1%")
