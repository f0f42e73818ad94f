"""HIPAA Safe Harbor: which of the 18 identifiers a table seems to hold (45 CFR 164.514(b)(2)).

Columns are judged by their names, by the forms of their values and by how the values are spread, as in a profile. Some
things may stay in part: years, ages up to 89 and one class of 90 or older, and the first three digits of a ZIP code
where more than 20,000 people live there. Those are checked on every record.

A check can find an identifier; it can't prove that there is none. So `SafeHarbor.met` says "none found", and `LIMITS`
says what no check of a table can know.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from shoal.discover.recognisers import RecogniserSet, default_recognisers, words
from shoal.discover.table_profile import ColumnProfile, Profile, profile
from shoal.errors import InputError
from shoal.schema import Role
from shoal.schema.registry import did_you_mean
from shoal.schema.type_detection import AmbiguousDate

IDENTIFIERS = {
    "A": "names",
    "B": "places smaller than a state",
    "C": "dates finer than a year, and ages over 89",
    "D": "telephone numbers",
    "E": "fax numbers",
    "F": "e-mail addresses",
    "G": "social security numbers",
    "H": "medical record numbers",
    "I": "health plan beneficiary numbers",
    "J": "account numbers",
    "K": "certificate and licence numbers",
    "L": "vehicle identifiers, licence plates included",
    "M": "device identifiers and serial numbers",
    "N": "web addresses",
    "O": "IP addresses",
    "P": "biometric identifiers",
    "Q": "full-face photographs and the like",
    "R": "any other unique number, characteristic or code",
}
"""By their letters in the rule."""

NAMED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("E", ("fax",)),
    ("G", ("ssn", "social security", "social security number")),
    ("H", ("mrn", "medical record", "patient id", "patient no", "patient number", "chart no", "chart number", "uhid")),
    ("I", ("beneficiary", "health plan", "medicare", "medicaid", "member id", "subscriber id")),
    ("I", ("insurance id", "insurance no", "insurance number", "policy no", "policy number")),
    ("L", ("vin", "vehicle", "licence plate", "license plate", "number plate", "plate", "registration no")),
    ("K", ("licence", "license", "licence no", "license no", "certificate", "dea", "npi", "driving licence")),
    ("M", ("device", "device id", "serial", "serial no", "serial number", "imei", "imsi", "udi")),
    ("P", ("fingerprint", "fingerprints", "iris", "retina", "voiceprint", "biometric", "biometrics", "faceprint")),
    ("Q", ("photo", "photograph", "picture", "portrait", "selfie", "mugshot", "face image")),
    ("B", ("county", "precinct", "parish", "census tract", "block group", "neighbourhood", "neighborhood", "geocode")),
)
"""By their names alone, whatever their values look like; the first that fits counts."""

BY_KIND = {
    "name": "A",
    "address": "B",
    "place": "B",
    "latitude": "B",
    "longitude": "B",
    "ifsc": "B",
    "phone": "D",
    "email": "F",
    "account": "J",
    "iban": "J",
    "card": "J",
    "mac": "M",
    "url": "N",
    "ipv4": "O",
    "ipv6": "O",
    "aadhaar": "R",
    "pan": "R",
    "gstin": "R",
    "uen": "R",
    "voter_id": "R",
    "passport": "R",
    "nric": "R",
    "username": "R",
}
"""Where a recogniser's kind belongs."""

WIDE_PLACES = ("state", "country", "nation")
"""Places that may stay."""

DATE_NAMES = ("date", "dob", "birth", "birthday", "admitted", "admission", "discharged", "discharge", "died", "death")
PARTS_OF_DATES = ("month", "day", "weekday", "week", "quarter", "time", "timestamp")


RESTRICTED_AREAS = (
    "036",
    "059",
    "063",
    "102",
    "203",
    "556",
    "692",
    "790",
    "821",
    "823",
    "830",
    "831",
    "878",
    "879",
    "884",
    "890",
    "893",
)
"""Three-digit ZIP areas with at most 20,000 people (Census 2000); their codes have to be changed to 000."""
OLDEST = 89
LIMITS = (
    "Only names, forms and spread of values were looked at: an identifier of an unusual form can be overlooked.",
    "Safe Harbor also asks that nobody at the holder actually knows of a way to identify a person by what is left "
    "(45 CFR 164.514(b)(2)(ii)); no check of a table can tell.",
    "It covers identifiers of relatives, employers and household members too; whom a value belongs to can't be seen.",
    "The small three-digit ZIP areas are those of the Census of 2000; later counts may name others.",
    "A year of birth that tells an age over 89 is only found if the year of the release is given.",
)

_MASKED = r"[*#?xX\s-]"
_KEPT = 3
_SSN = "999-99-9999"
_SHOWN = 0.3
_YEARS = ("9999", "9999-9999", "*")


@dataclass(frozen=True)
class SuspectedColumn:
    """A column that seems to hold an identifier."""

    column: str
    why: str


@dataclass(frozen=True)
class SafeHarborFinding:
    """One of the 18 identifiers, by its letter in the rule, and the columns that seem to hold it."""

    letter: str
    title: str
    columns: tuple[SuspectedColumn, ...] = ()

    @property
    def words(self) -> str:
        if not self.columns:
            return f"({self.letter}) {self.title}: none found."
        held = "; ".join(f"'{held.column}': {held.why}" for held in self.columns)
        return f"({self.letter}) {self.title}: {held}."


@dataclass(frozen=True)
class SafeHarbor:
    findings: tuple[SafeHarborFinding, ...]
    """All 18, in the order of the rule."""
    limits: tuple[str, ...] = LIMITS

    @property
    def met(self) -> bool:
        """None of the identifiers was found; no more than that."""
        return not any(finding.columns for finding in self.findings)

    @property
    def words(self) -> tuple[str, ...]:
        found = [finding.words for finding in self.findings if finding.columns]
        verdict = (
            f"{len(found)} of the 18 identifiers were found." if found else "None of the 18 identifiers was found."
        )
        return (verdict, *found, *self.limits)

    def to_dict(self) -> dict[str, object]:
        """Plain JSON types, and no value of the table."""
        return {
            "met": self.met,
            "findings": [
                {
                    "letter": finding.letter,
                    "title": finding.title,
                    "columns": [{"column": held.column, "why": held.why} for held in finding.columns],
                }
                for finding in self.findings
            ],
            "limits": list(self.limits),
        }


def check_safe_harbor(
    frame: pl.LazyFrame | pl.DataFrame,
    known: Profile | None = None,
    *,
    year: int | None = None,
    recognisers: RecogniserSet | None = None,
) -> SafeHarbor:
    """Look for the 18 identifiers in a table; ``known`` is its profile, where there is one already.

    >>> found = check_safe_harbor(pl.DataFrame({"zip": ["021**", "036**"], "visit_date": ["2024", "2023"]}))
    >>> [(finding.letter, finding.columns[0].why) for finding in found.findings if finding.columns]
    [('B', '1 value(s) are of a three-digit area with at most 20,000 people')]
    """
    lazy = frame.lazy()
    recognisers = recognisers or default_recognisers()
    known = known or profile(lazy, recognisers=recognisers)
    names = tuple(lazy.collect_schema())
    for column in known.columns:
        if column.name not in names:
            raise InputError(
                f"the profile has a column '{column.name}' that the table hasn't{did_you_mean(column.name, names)}"
            )
    held = [
        (letter, SuspectedColumn(column.name, why))
        for column in known.columns
        for letter, why in _suspected(column, recognisers)
    ]
    present = _present(lazy, sorted({each.column for _, each in held}))
    held = [(letter, each) for letter, each in held if present[each.column]]
    held += _in_part(lazy, known, year, recognisers)
    findings = tuple(
        SafeHarborFinding(letter, title, tuple(each for where, each in held if where == letter))
        for letter, title in IDENTIFIERS.items()
    )
    seen = (f"Forms were looked at in {known.rows_seen:,} of {known.rows:,} records.",) if known.sampled else ()
    return SafeHarbor(findings, (*seen, *LIMITS))


def _suspected(column: ColumnProfile, recognisers: RecogniserSet) -> Iterator[tuple[str, str]]:
    """Letters and reasons, apart from what may stay in part."""
    name = f" {words(column.name)} "
    kind = column.identifier.recogniser if column.identifier else None
    if _is_postal(column, recognisers) or (_is_age(column, recognisers) and not column.column.is_date):
        return
    if (finer := _finer_than_a_year(column, name)) is not None:
        yield "C", finer
        return
    if column.column.is_date or _is_year(column):
        return
    said = next((letter for letter, names in NAMED if any(f" {each} " in name for each in names)), None)
    if said:
        yield said, "its name says so"
    elif any(shape.form == _SSN and shape.share >= _SHOWN for shape in column.shapes):
        yield "G", f"values have the form {_SSN}"
    elif kind and kind.type in BY_KIND:
        if kind.type != "place" or not any(f" {each} " in name for each in WIDE_PLACES):
            yield BY_KIND[kind.type], column.proposal.reasons[0]
    elif kind is None and column.proposal.role is Role.DIRECT:
        named = recognisers.direct_by_name(column.name)
        yield BY_KIND.get("" if named is None else named.type, "R"), column.proposal.reasons[0]


def _finer_than_a_year(column: ColumnProfile, name: str) -> str | None:
    if column.column.is_date or isinstance(column.column, AmbiguousDate):
        return "dates finer than a year"
    if any(f" {each} " in name for each in PARTS_OF_DATES):
        return "its name says that it holds a part of a date"
    dated = any(f" {each} " in name for each in DATE_NAMES)
    if dated and column.shapes and any(shape.form not in _YEARS for shape in column.shapes):
        return "its name says that it holds dates, and not all values are years"
    return None


def _is_year(column: ColumnProfile) -> bool:
    dated = any(f" {each} " in f" {words(column.name)} " for each in (*DATE_NAMES, "year"))
    return dated and all(shape.form in _YEARS for shape in column.shapes)


def _is_age(column: ColumnProfile, recognisers: RecogniserSet) -> bool:
    return _is(column, "age", recognisers)


def _is_postal(column: ColumnProfile, recognisers: RecogniserSet) -> bool:
    return _is(column, "postal_code", recognisers) or _is(column, "pin_code", recognisers)


def _is(column: ColumnProfile, key: str, recognisers: RecogniserSet) -> bool:
    if column.identifier and column.identifier.recogniser.type == key:
        return True
    return recognisers.hints_at(column.name, key)


def _present(lazy: pl.LazyFrame, names: list[str]) -> dict[str, bool]:
    """Which columns have a value that is neither missing nor starred."""
    if not names:
        return {}
    schema = lazy.collect_schema()
    counted = lazy.select(_text_or_any(name, schema[name]).is_not_null().any() for name in names)
    return counted.collect(engine="streaming").row(0, named=True)


def _text_or_any(name: str, dtype: pl.DataType) -> pl.Expr:
    if dtype.is_nested() or isinstance(dtype, pl.Binary | pl.Duration | pl.Object):
        return pl.when(pl.col(name).is_not_null()).then(pl.lit(value=True)).alias(name)
    return _text(name)


def _text(name: str) -> pl.Expr:
    text = pl.col(name).cast(pl.String).str.strip_chars()
    return pl.when(~text.is_in(["", "*"])).then(text).alias(name)


def _in_part(
    lazy: pl.LazyFrame, known: Profile, year: int | None, recognisers: RecogniserSet
) -> list[tuple[str, SuspectedColumn]]:
    """Ages, years of birth and postal codes that tell more than they may, counted over all records."""
    questions: list[tuple[str, str, str, pl.Expr]] = []
    for column in known.columns:
        name = column.name
        if _is_postal(column, recognisers):
            questions.append(("B", name, "tell more than three characters of a postal code", _long_code(name)))
            questions.append(("B", name, "are of a three-digit area with at most 20,000 people", _small_area(name)))
        elif _is_age(column, recognisers) and not column.column.is_date:
            questions.append(("C", name, f"are ages over {OLDEST} that are not one class of 90 or older", _old(name)))
        elif year is not None and _is(column, "birth_date", recognisers):
            early = _text(name).str.extract(r"(\d{4})").cast(pl.Int64) < year - OLDEST
            questions.append(("C", name, f"are years that tell an age over {OLDEST}", early))
    if not questions:
        return []
    asked = [answer.sum().alias(str(place)) for place, (*_, answer) in enumerate(questions)]
    counts = lazy.select(asked).collect(engine="streaming").row(0)
    return [
        (letter, SuspectedColumn(name, f"{count:,} value(s) {why}"))
        for (letter, name, why, _), count in zip(questions, counts, strict=True)
        if count
    ]


def _code(name: str) -> pl.Expr:
    return _text(name).str.replace_all(_MASKED, "")


def _long_code(name: str) -> pl.Expr:
    return _code(name).str.len_chars() > _KEPT


def _small_area(name: str) -> pl.Expr:
    code = _code(name)
    return code.str.contains(r"^\d{1,3}$") & code.str.zfill(_KEPT).is_in(RESTRICTED_AREAS)


def _old(name: str) -> pl.Expr:
    text = _text(name)
    from_age = text.str.extract(r"(\d+\.?\d*)").cast(pl.Float64)
    open_ended = text.str.contains(r"(?i)[+>≥]|\b(or|and|plus|over)\b")
    return (from_age > OLDEST + 1) | ((from_age > OLDEST) & ~open_ended)
