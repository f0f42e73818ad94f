"""The steps of pseudonymisation: derived as values turn up, or looked up among those issued beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from shoal.crypto import Key
from shoal.crypto.keyed_digests import Algorithm
from shoal.errors import DataError
from shoal.kernels.memo import Memo, StringIndex
from shoal.pseudonyms.derivation import derive
from shoal.pseudonyms.formats.base import PseudonymFormat
from shoal.schema.canonical_text import canonical_text
from shoal.schema.steps import AttributeStep, SidecarFile


@dataclass(frozen=True)
class KeyedStep(AttributeStep):
    """A keyed digest, computed once for each value that turns up."""

    secret: Key
    form: PseudonymFormat
    algorithm: Algorithm
    memo: Memo = field(default_factory=Memo, repr=False, compare=False)

    @property
    def adds(self) -> frozenset[str] | None:
        return self.form.characters

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        pseudonyms = self.memo.map(canonical_text(frame[self.attribute]), self._derive)
        return frame.with_columns(pseudonyms.alias(self.attribute))

    def _derive(self, values: pl.Series) -> pl.Series:
        return derive(self.secret, self.form, values, self.algorithm)


class LookUp:
    """Results by text, for texts that are all known beforehand. Its index is made anew wherever it travels."""

    def __init__(self, texts: pl.Series, results: pl.Series) -> None:
        self.texts = texts
        self.results = results
        self._index = StringIndex()
        self._index.add(texts)

    def __reduce__(self) -> tuple[type[LookUp], tuple[pl.Series, pl.Series]]:
        return LookUp, (self.texts, self.results)

    def map(self, values: pl.Series) -> pl.Series:
        """The result of each text; a missing value stays missing. A text that isn't known is a KeyError."""
        present = values.is_not_null()
        codes = self._index.find(values.drop_nulls())
        if (codes < 0).any():
            raise KeyError
        places = np.full(len(values), -1, dtype=np.int64)
        places[present.to_numpy()] = codes
        return self.results.gather(pl.Series(places).set(~present, None))


@dataclass(frozen=True)
class IssuedStep(AttributeStep):
    """A pseudonym for each value that the column was found to have."""

    issued: LookUp = field(repr=False, compare=False)
    sharing: int = 0
    """By how many there are fewer pseudonyms than values."""
    characters: frozenset[str] | None = None
    sidecars: tuple[SidecarFile, ...] = ()

    def __getstate__(self) -> dict[str, object]:
        """What is for a third party alone doesn't travel to executors."""
        return {**self.__dict__, "sidecars": ()}

    @property
    def report_note(self) -> str:
        return f"{self.sharing:,} fewer pseudonyms than values" if self.sharing else ""

    @property
    def adds(self) -> frozenset[str] | None:
        return self.characters

    @property
    def sidecar_files(self) -> tuple[SidecarFile, ...]:
        return self.sidecars

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        try:
            pseudonyms = self.issued.map(canonical_text(frame[self.attribute]))
        except KeyError:
            raise DataError(f"column '{self.attribute}' has values that were not there when it was counted") from None
        return frame.with_columns(pseudonyms.alias(self.attribute))
