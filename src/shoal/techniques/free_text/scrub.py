"""Scrubbing of free text in a column (ISO/IEC 20889, C.4): remarks, comments, letters beside the rest of a record.

What is recognised in a text is replaced, the rest stays:

| replace | instead of "Asha Rao" | clause |
|---|---|---|
| ``label`` | ``[PERSON]`` | 9.3.2 |
| ``mask`` | as many symbols: ``********`` | 9.3.2 |
| ``pseudonym`` | the same made-up name wherever she is named in the domain | 9.4 |

With stand-ins, dates are shifted by a secret number of days and ages told by the decade, unless ``dates`` and ``ages``
say otherwise. Each value of the column is a text of its own: who "Rao" is, is found out within it.

Only what is recognised is replaced. A text can tell who somebody is in words that no recogniser knows, so a scrubbed
column is not anonymous by that, and no privacy model counts it (C.1). The report says how much of each type was found.
Missing values stay missing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, Self

import polars as pl
from pydantic import AfterValidator, Field, model_validator

from shoal.errors import BugError, DataError
from shoal.schema.canonical_text import canonical_text
from shoal.schema.columns import Column
from shoal.schema.counts import Counts
from shoal.schema.values import ValueType
from shoal.techniques.base import Context, Lowered, Lowers, ScrubRequest, Step, Technique, table_a1
from shoal.techniques.pseudonymisation.pseudonym_steps import LookUp
from shoal.techniques.pseudonymisation.pseudonymise import DOMAIN


def _symbol(char: str) -> str:
    if not char.isprintable() or char.isspace():
        raise ValueError("the symbol has to be a printable character")
    return char


class Scrub(Technique):
    key = "scrub"
    searches_text = True
    facts = table_a1("Scrubbing of free text", "C.4", Lowered(Lowers.PARTIALLY, Lowers.PARTIALLY, Lowers.NO))

    types: tuple[str, ...] | None = Field(None, min_length=1)
    """Only these kinds, such as person, email, phone; all that are recognised if it is left out."""
    replace: Literal["label", "mask", "pseudonym"] = "label"
    domain: Annotated[str, Field(pattern=DOMAIN)] = "text"
    """Whose texts share stand-ins."""
    char: Annotated[str, Field(min_length=1, max_length=1), AfterValidator(_symbol)] = "*"
    """The symbol of masks."""
    keep_length: bool = True
    """A mask is as long as what it covers, so that nothing in the text moves; otherwise all have five characters."""
    dates: Literal["shift", "label", "keep"] | None = None
    """If it is left out, shifted with ``replace: pseudonym``, else replaced like everything."""
    ages: Literal["generalise", "label", "keep"] | None = None
    """If it is left out, generalised with ``replace: pseudonym``, else replaced like everything."""

    person: str | None = None
    """With ``dates: shift``, the column that names the person: its dates move as in ``shift_dates``."""
    allow: tuple[str, ...] = ()
    """Words and phrases that stay, whatever they are taken for, such as the clinic's own name."""
    deny: tuple[str, ...] = ()
    """Words and phrases that go wherever they stand, such as the names of projects."""

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        for name in sorted(self.model_fields_set & {"char", "keep_length"}):
            if self.replace != "mask":
                raise ValueError(f"{name} goes with replace: mask")
        if "domain" in self.model_fields_set and self.replace != "pseudonym" and self.dates != "shift":
            raise ValueError("a domain goes with replace: pseudonym, or with dates: shift")
        if self.person is not None and not self._shifts:
            raise ValueError("a person goes with dates: shift")
        return self

    @property
    def _shifts(self) -> bool:
        return self.dates == "shift" or (self.dates is None and self.replace == "pseudonym")

    @property
    def reads_originals(self) -> bool:  # type: ignore[override]  # only where it looks at the person
        return self.person is not None

    def also_reads(self) -> tuple[str, ...]:
        return () if self.person is None else (self.person,)

    def wants(self, attribute: str) -> tuple[tuple[str, ...], ...]:
        return ((attribute, *self.also_reads()),)

    def bind(self, column: Column, context: Context) -> ScrubStep:
        if context.scrubber is None:
            raise BugError("scrub was bound without a scrubber")
        scrubber = context.scrubber(self._request())
        counts = context.counts[(column.name, *self.also_reads())]
        pairs = _texts_of(counts, column.name, self.person)
        scrubbed, found, touched = [], Counter[str](), 0
        for text, person, records in pairs.iter_rows():
            clean, kinds = scrubber.scrub_text(text, person)
            scrubbed.append(clean)
            found.update({kind: times * records for kind, times in kinds.items()})
            touched += records if kinds else 0
        lasting = context.secrets is not None and context.secrets.lasting
        keys = pairs["text"] if self.person is None else _joined(pairs["text"], pairs["person"])
        looked_up = LookUp(keys, pl.Series(scrubbed, dtype=pl.String))
        of_this_run = self.replace == "pseudonym" and not lasting
        return ScrubStep(column.name, looked_up, tuple(sorted(found.items())), touched, of_this_run, self.person)

    def _request(self) -> ScrubRequest:
        types = None if self.types is None else frozenset(self.types)
        look = (self.replace, self.domain, types, self.char, self.keep_length, self.dates, self.ages)
        return ScrubRequest(*look, self.allow, self.deny)

    def leaves(self, column: Column) -> Column:
        return replace(column, type=ValueType.TEXT, storage=pl.String(), scale=0, date_format=None)


def _texts_of(counts: Counts, attribute: str, person: str | None) -> pl.DataFrame:
    """Each text with the person whose it is, "" where nobody is named, and how many records have both."""
    table = counts.frame()
    named = pl.lit("") if person is None else canonical_text(table[person]).fill_null("")
    pairs = table.select(text=canonical_text(table[attribute]), person=named, records=pl.Series(counts.records))
    return pairs.drop_nulls("text").group_by("text", "person", maintain_order=True).agg(pl.col("records").sum())


def _joined(texts: pl.Series, people: pl.Series) -> pl.Series:
    """A text and a person in one key; a missing text has none."""
    return (
        pl.DataFrame({"person": people, "text": texts})
        .select(pl.concat_str("person", "text", separator="\x00"))
        .to_series()
    )


@dataclass(frozen=True)
class ScrubStep(Step):
    """The scrubbed text of each value that the column was found to have."""

    attribute: str
    scrubbed: LookUp = field(repr=False, compare=False)
    found: tuple[tuple[str, int], ...] = ()
    """How much of each type, over all records."""
    touched: int = 0
    """Records in which something was found."""
    of_this_run: bool = False
    person: str | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.attribute,) if self.person is None else (self.attribute, self.person)

    @property
    def report_note(self) -> str:
        kinds = " + ".join(f"{times:,} {kind}" for kind, times in self.found)
        told = f"found {kinds} in {self.touched:,} records" if kinds else "found nothing"
        return f"{told}; stand-ins are of this run only" if self.of_this_run else told

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        keys = canonical_text(frame[self.attribute])
        if self.person is not None:
            keys = _joined(keys, canonical_text(frame[self.person]).fill_null(""))
        try:
            texts = self.scrubbed.map(keys)
        except KeyError:
            raise DataError(f"column '{self.attribute}' has values that were not there when it was counted") from None
        return frame.with_columns(texts.alias(self.attribute))
