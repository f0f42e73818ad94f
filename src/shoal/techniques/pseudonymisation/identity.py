"""The identity table (ISO/IEC 20889, 9.4.1; Big Personal Data Anonymization, steps 2, 3 and 5): who is behind a record.

The identifiers leave the table, but not for good: with the person's concatenated quasi-identifiers, as they were before
anything was generalised, they go to a domain of the vault. The record gets a code that says nothing, and under this
code, and only through the vault, one person can be found again: the health worker's follow-up.

    identity: {domain: patients, keep: [name, phone], into: record}

The code is a keyed digest of identifiers, quasi-identifiers and the record's position, so each record has its own and
two records of one person can't be joined by it (``per: person`` leaves the position out). What goes to the vault is
sealed from the moment it is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import polars as pl
from pydantic import Field

from shoal.crypto import Key
from shoal.crypto.aead import seal_many, unseal_many
from shoal.crypto.keyed_digests import digests
from shoal.errors import FieldName, FieldText, InputError
from shoal.pseudonyms.formats.base32 import Base32
from shoal.schema.column_names import ColumnNames
from shoal.schema.columns import ROW, Columns
from shoal.techniques.base import LINKING_ONLY, Context, Stage, Step, TableTechnique, table_a1

SEPARATOR = " | "
"""Between the concatenated quasi-identifiers."""
_END = b"\x00"


class Identity(TableTechnique):
    key = "identity"
    stage = Stage.BEFORE_ATTRIBUTES
    turn = 30
    facts = table_a1("Identity table in the vault", "9.4.1", LINKING_ONLY)

    domain: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")
    keep: ColumnNames = Field(min_length=1, description="The identifiers that go to the vault.")
    by: ColumnNames = Field(default=(), description="The quasi-identifiers; else all of the policy.")
    into: str = Field(default="record", min_length=1, description="The column of the release that holds the code.")
    per: Literal["record", "person"] = "record"

    def creates(self) -> tuple[str, ...]:
        return (self.into,)

    def columns(self, person: str | None) -> tuple[str, ...]:
        return (*self.keep, *self.by)

    def refuse(self, columns: Columns) -> str | None:
        return f"there is a column '{self.into}' already; say another with `into`" if self.into in columns else None

    def bind(self, context: Context) -> IdentityStep:
        if context.secrets is None or not context.secrets.lasting:
            raise InputError(
                "identity: an identity table needs a vault", advice=FieldText("name one with ", FieldName("vault"))
            )
        code = context.secrets.key(self.domain, "identity")
        own_row = self.per == "record"
        return IdentityStep(self.domain, self.keep, self.by, self.into, code, Key(context.stream.key), own_row)


@dataclass(frozen=True)
class IdentityStep(Step):
    domain: str
    keep: tuple[str, ...]
    by: tuple[str, ...]
    into: str
    code: Key = field(repr=False)
    run: Key = field(repr=False)
    """Seals what is put aside until it is in the vault; forgotten with the run."""
    own_row: bool = True

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.keep, *self.by)))

    @property
    def aside(self) -> str:
        """The hidden column of sealed identities."""
        return f"__shoal_identity_{self.domain}__"

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        who = frame.select(pl.col(name).cast(pl.String) for name in self.keep).to_struct().struct.json_encode()
        by = self._concatenated(frame)
        told = [
            identity + _END + quasi
            for identity, quasi in zip(who.cast(pl.Binary).to_list(), by.cast(pl.Binary).to_list(), strict=True)
        ]
        rows = frame[ROW].to_list() if self.own_row else [0] * frame.height
        codes = Base32().write(
            digests(self.code, [row.to_bytes(8, "big") + one for row, one in zip(rows, told, strict=True)])
        )
        sealed = seal_many(self.run, told, codes.cast(pl.Binary).to_list())
        return frame.with_columns(codes.alias(self.into), pl.Series(self.aside, sealed, dtype=pl.Binary()))

    def opened(self, codes: pl.Series, sealed: pl.Series) -> tuple[pl.Series, list[bytes]]:
        """The identities as JSON and, beside each, the concatenated quasi-identifiers."""
        told = unseal_many(self.run, sealed.to_list(), codes.cast(pl.Binary).to_list())
        pairs = [one.split(_END, 1) for one in told]
        return pl.Series([who.decode() for who, _ in pairs], dtype=pl.String()), [by for _, by in pairs]

    def _concatenated(self, frame: pl.DataFrame) -> pl.Series:
        if not self.by:
            return pl.Series([""] * frame.height, dtype=pl.String())
        cells = [pl.col(name).cast(pl.String).fill_null("") for name in self.by]
        return frame.select(pl.concat_str(cells, separator=SEPARATOR).alias("by"))["by"]
