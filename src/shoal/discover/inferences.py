"""Inference across columns (PDPC guide, annex D; MeitY, 2.2.1): what stays readable when a column is taken out.

Some is known from what the columns are (a date of birth gives the age, an NRIC number begins with the year of birth, an
e-mail address holds the name), some is seen in the records: a city tells its state, two columns say the same, a text
repeats what stands beside it. Warnings name columns, never values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import polars as pl

from shoal.discover.dependencies import Dependency, dependencies
from shoal.discover.recognisers import words
from shoal.discover.value_kinds import ValueKind
from shoal.schema import Column, ValueType

LOOKED_AT = 20_000
"""Records that dependencies are looked for in."""
TEXTS = 2_000
"""Records whose texts are compared."""
OFTEN = 0.2
ORDERED = 0.98
MOST = 60
"""Columns that are compared with each other."""

TELLING = {
    "nric": ("birth_date", "an NRIC number of a citizen or resident begins with the last digits of the year of birth"),
    "pan": ("name", "the fifth letter of a PAN is the first letter of the surname"),
    "gstin": ("pan", "a GSTIN holds the PAN of the owner, and the state"),
    "ifsc": ("place", "an IFSC names the bank's branch, and so the place"),
    "iban": ("place", "an IBAN begins with the country, and holds the bank's branch"),
    "cn_id": ("birth_date", "the number holds place, date of birth and sex"),
    "mykad": ("birth_date", "the number holds date and place of birth, and the sex"),
    "codice_fiscale": ("name", "the number holds letters of the name, date and place of birth, and the sex"),
    "personnummer": ("birth_date", "the number holds the date of birth and the sex"),
    "cpr": ("birth_date", "the number holds the date of birth and the sex"),
    "ipv4": ("place", "an IP address can be looked up for its place"),
    "vehicle_plate": ("place", "a vehicle's plate names the state or town that gave it out"),
    "phone": ("place", "the first digits of a phone number tell country and region"),
}
"""What a recognised kind gives away besides itself."""
PLACES = frozenset({"place", "postal_code", "pin_code", "address"})
BEGINS = ("start", "from", "begin", "entry", "admitted", "admission", "in", "opened", "check in", "arrival", "hired")
ENDS = (
    "stop",
    "end",
    "to",
    "until",
    "exit",
    "discharged",
    "discharge",
    "out",
    "closed",
    "check out",
    "departure",
    "left",
)


@dataclass(frozen=True)
class DescribedColumn:
    """What the search has to know of a column."""

    column: Column
    kind: ValueKind
    type: str | None
    """The recognised type."""
    direct: bool
    free_text: bool

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def is_birth(self) -> bool:
        said = f" {words(self.name)} "
        return (
            self.type == "birth_date" or " birth " in said or " dob " in said or " yob " in said or "birthdate" in said
        )

    @property
    def is_age(self) -> bool:
        return self.type == "age" or "age" in words(self.name).split()


@dataclass(frozen=True)
class ColumnInference:
    """What ``columns`` give away of ``gives``, a column of the table or a fact about people."""

    kind: str
    """derived, encoded, duration, dependency, same, repeated."""
    columns: tuple[str, ...]
    gives: str
    reason: str
    in_table: bool = True
    """Whether ``gives`` is a column."""

    def to_dict(self) -> dict[str, str | bool | list[str]]:
        return {
            "kind": self.kind,
            "columns": list(self.columns),
            "gives": self.gives,
            "in_table": self.in_table,
            "reason": self.reason,
        }


def inferences(frame: pl.DataFrame, described: Sequence[DescribedColumn]) -> tuple[ColumnInference, ...]:
    """All that was found; ``frame`` holds the records looked at."""
    by_name = {one.name: one for one in described}
    found = [*_of_birth(described), *_encoded(described), *_durations(frame, described), *_located(described)]
    found += _dependent(frame, by_name)
    found += _repeated(frame.head(TEXTS), described)
    known: dict[tuple[frozenset[str], str], ColumnInference] = {}
    for one in found:
        known.setdefault((frozenset(one.columns), one.gives), one)
    return tuple(known.values())


def _of_birth(described: Sequence[DescribedColumn]) -> Iterator[ColumnInference]:
    births = [one for one in described if one.is_birth and (one.column.is_date or one.column.is_number)]
    ages = [one for one in described if one.is_age and one.column.is_number]
    for birth in births:
        for age in ages:
            yield ColumnInference("derived", (birth.name,), age.name, "the year of birth gives the age")
            yield ColumnInference("derived", (age.name,), birth.name, "the age gives the year of birth, but for a year")


def _encoded(described: Sequence[DescribedColumn]) -> Iterator[ColumnInference]:
    for one in described:
        if one.type not in TELLING:
            continue
        gives, reason = TELLING[one.type]
        others = [other for other in described if other.type == gives and other.name != one.name]
        for other in others:
            yield ColumnInference("encoded", (one.name,), other.name, reason)
        if not others:
            yield ColumnInference("encoded", (one.name,), gives.replace("_", " "), reason, in_table=False)


def _located(described: Sequence[DescribedColumn]) -> Iterator[ColumnInference]:
    latitudes = [one for one in described if one.type == "latitude"]
    longitudes = [one for one in described if one.type == "longitude"]
    for latitude, longitude in zip(latitudes, longitudes, strict=False):
        for place in described:
            if place.type in PLACES:
                yield ColumnInference(
                    "derived", (latitude.name, longitude.name), place.name, "a position tells the place"
                )


def _durations(frame: pl.DataFrame, described: Sequence[DescribedColumn]) -> Iterator[ColumnInference]:
    """Two dates of which one never comes before the other."""
    dates = [one for one in described if one.column.is_date and not one.is_birth]
    read = {one.name: one.column.dates(frame[one.name]).cast(pl.Datetime("us")) for one in dates}
    for first, second in permutations(dates, 2):
        if not (_said(first.name, BEGINS) and _said(second.name, ENDS)):
            continue
        both = (read[second.name] - read[first.name]).drop_nulls()
        if len(both) and _not_before(both) >= ORDERED:
            reason = "entry and exit together give how long somebody stayed"
            yield ColumnInference("duration", (first.name, second.name), "length of stay", reason, in_table=False)


def _not_before(spans: pl.Series) -> float:
    return float((spans.dt.total_microseconds() >= 0).sum()) / len(spans)


def _said(name: str, marks: Sequence[str]) -> bool:
    said = f" {words(name)} "
    return any(f" {mark} " in said for mark in marks)


def _dependent(frame: pl.DataFrame, described: Mapping[str, DescribedColumn]) -> Iterator[ColumnInference]:
    compared = [name for name, one in described.items() if _comparable(one, frame)][:MOST]
    for found in dependencies(frame, compared):
        yield from _in_words(found, frame, described)


def _comparable(one: DescribedColumn, frame: pl.DataFrame) -> bool:
    opaque = one.column.storage.is_nested() or isinstance(one.column.storage, pl.Binary | pl.Duration | pl.Object)
    if opaque or one.free_text or one.kind in (ValueKind.CONTINUOUS, ValueKind.SET):
        return False
    return one.kind is not ValueKind.DATE and frame[one.name].drop_nulls().n_unique() > 1


def _in_words(
    found: Dependency, frame: pl.DataFrame, described: Mapping[str, DescribedColumn]
) -> Iterator[ColumnInference]:
    by, told = described[found.by], described[found.told]
    if found.both_ways:
        same = frame[by.name].cast(pl.String).eq_missing(frame[told.name].cast(pl.String)).all()
        reason = "both columns hold the same values" if same else "each tells the other: they say the same in two ways"
        yield ColumnInference("same", (by.name,), told.name, reason)
    elif not by.direct:
        yield ColumnInference("dependency", (by.name,), told.name, f"who knows '{by.name}' knows '{told.name}' too")


def _repeated(frame: pl.DataFrame, described: Sequence[DescribedColumn]) -> Iterator[ColumnInference]:
    """Names in e-mail addresses, and whatever a free text repeats of its own record."""
    holders = [one for one in described if one.free_text or one.type in ("email", "url", "username")]
    held = [one for one in described if _is_plain(one) and not one.free_text]
    for holder in holders:
        for one in held:
            if one.name == holder.name or (not holder.free_text and one.type not in ("name", None)):
                continue
            share = _held(frame[holder.name], frame[one.name])
            if share >= OFTEN:
                reason = f"'{holder.name}' repeats '{one.name}' in {share:.0%} of the records looked at"
                yield ColumnInference("repeated", (holder.name,), one.name, reason)


def _is_plain(one: DescribedColumn) -> bool:
    text = isinstance(one.column.storage, pl.String | pl.Categorical | pl.Enum)
    return one.column.type is ValueType.INTEGER or (one.column.type is ValueType.TEXT and text)


def _held(texts: pl.Series, values: pl.Series) -> float:
    """The share of records whose text holds a whole word of three letters or more of the value."""
    table = pl.DataFrame({"text": texts.cast(pl.String), "value": values.cast(pl.String)}).drop_nulls()
    if table.is_empty() or table["value"].n_unique() < 3:
        return 0.0
    apart = table.with_row_index("row").with_columns(
        pl.col("text").str.to_lowercase(), part=pl.col("value").str.to_lowercase().str.extract_all(r"[\p{L}\d]{3,}")
    )
    parts = apart.explode("part").drop_nulls()
    hits = parts.filter(pl.col("text").str.contains(pl.col("part"), literal=True))
    return hits["row"].n_unique() / table.height
