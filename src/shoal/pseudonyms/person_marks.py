"""What stands for a person beside the table: a hash for the run itself, or a keyed digest that may be kept."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from shoal.crypto import Key
from shoal.crypto.keyed_digests import digests


@dataclass(frozen=True)
class PersonMarks:
    """With a key, nobody without it can try out whether a name is among the marks.

    >>> PersonMarks(Key(bytes(32))).of(pl.Series(["P-1", None, "P-1"])).n_unique()
    2
    """

    key: Key | None = field(default=None, repr=False)

    def of(self, names: pl.Series) -> pl.Series:
        """The same for the same name; null for nobody's."""
        texts = names.cast(pl.String)
        if self.key is None:
            return texts.hash(0).set(texts.is_null(), None)
        distinct = texts.drop_nulls().unique()
        made = digests(self.key, [name.encode() for name in distinct.to_list()])
        marks = pl.Series([bytes(row).hex() for row in made], dtype=pl.String)
        return texts.replace_strict(distinct, marks, default=None, return_dtype=pl.String)

    @property
    def fingerprint(self) -> str:
        """Of the key; nothing without one, as such marks are not kept."""
        return "" if self.key is None else self.key.fingerprint()
