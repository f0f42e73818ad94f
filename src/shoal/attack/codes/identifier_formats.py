"""How identifiers are written, as spaces that can be gone through: number ``i`` of a format is one identifier.

A hash hides an identifier only as well as its format is large. An NRIC number has ten million forms for each first
letter, a date of birth some fifty thousand: all of them are hashed in seconds. A format is a size and a way to write
the identifiers at given places, so that any part of it can be tried without holding the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.kernels.arrays import Integers
from shoal.kernels.check_characters import NRIC_SERIES, digits_of, nric_letters, verhoeff_digits

Places = Integers
Texts = NDArray[np.bytes_]

DATE_FORMS = ("%Y-%m-%d", "%d/%m/%Y", "%d-%m-%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y%m%d", "%d%m%Y", "%Y/%m/%d")
LISTED = "list"
FITTING = 0.9
"""A column is in a format if at least this share of its values is."""


@dataclass(frozen=True)
class IdentifierFormat:
    """A space of identifiers, of which any part can be written."""

    key: str
    title: str
    size: int
    pattern: str
    """A regular expression for the whole identifier."""
    write: Callable[[Places], Texts]
    """The identifiers at these places, 0 ≤ place < size, in the bytes that a hash is taken of."""

    def fits(self, values: pl.Series) -> bool:
        """Whether the values, given as text, are written in this format."""
        known = values.drop_nulls()
        return 0 < FITTING * len(known) <= known.str.contains(f"^(?:{self.pattern})$").sum()


def nric(series: str = "S", first: int = 0, last: int = 9_999_999) -> IdentifierFormat:
    """NRIC numbers or FINs of one first letter, their seven digits from ``first`` to ``last``.

    >>> nric("S", 1_234_567, 1_234_568).write(np.arange(2)).tolist()
    [b'S1234567D', b'S1234568B']
    """
    pattern = f"{series}[0-9]{{7}}[A-Z]"
    return IdentifierFormat(f"nric_{series.lower()}", f"NRIC numbers or FINs with {series}", last - first + 1, pattern,
                  partial(_write_nric, series, first))  # fmt: skip


def numbers(key: str, title: str, digits: int, starts: str = "0123456789") -> IdentifierFormat:
    """All numbers of so many digits that start with one of ``starts``.

    >>> numbers("pin", "PIN codes", 6, "12").write(np.array([0, 99_999, 100_000])).tolist()
    [b'100000', b'199999', b'200000']
    """
    rest = digits - 1
    pattern = f"[{starts}][0-9]{{{rest}}}"
    return IdentifierFormat(key, title, len(starts) * 10**rest, pattern, partial(_write_number, rest, starts))


def dates(first: str = "1900-01-01", last: str = "2026-12-31", forms: Sequence[str] = DATE_FORMS) -> IdentifierFormat:
    """Every day from the first to the last, in each of the forms.

    >>> dates("2000-02-28", "2000-03-01", ["%d/%m/%Y"]).write(np.arange(3)).tolist()
    [b'28/02/2000', b'29/02/2000', b'01/03/2000']
    """
    start = np.datetime64(first, "D").astype(np.int64)
    days = int(np.datetime64(last, "D").astype(np.int64) - start) + 1
    pattern = r"[0-9]{1,4}([-/.][0-9]{1,2}[-/.][0-9]{2,4})|[0-9]{8}"
    write = partial(_write_dates, int(start), days, tuple(forms))
    return IdentifierFormat("date_of_birth", "dates of birth", days * len(forms), pattern, write)


def listed(candidates: pl.Series) -> IdentifierFormat:
    """The distinct values of a list that the attacker has: staff, customers, voters, e-mail addresses."""
    distinct = candidates.drop_nulls().cast(pl.String).unique(maintain_order=True)
    return IdentifierFormat(LISTED, "a list of people", len(distinct), ".*", partial(_write_listed, distinct))


def _write_nric(series: str, first: int, places: Places) -> Texts:
    digits = digits_of(places + first, 7)
    head = np.full(len(places), ord(series), np.uint8)
    return _joined(head, digits + ord("0"), nric_letters(series, digits))


def _write_number(rest: int, starts: str, places: Places) -> Texts:
    head = np.frombuffer(starts.encode(), np.uint8)[places // 10**rest]
    return _joined(head, digits_of(places % 10**rest, rest) + ord("0"))


def _write_dates(start: int, days: int, forms: tuple[str, ...], places: Places) -> Texts:
    frame = pl.DataFrame({"form": places // days, "day": (places % days + start).astype(np.int32)})
    day = pl.col("day").cast(pl.Date)
    written = pl.coalesce(
        pl.when(pl.col("form") == number).then(day.dt.strftime(form)) for number, form in enumerate(forms)
    )
    return _encoded(frame.select(written).to_series())


def _write_listed(distinct: pl.Series, places: Places) -> Texts:
    return _encoded(distinct.gather(places))


def _write_aadhaar(places: Places) -> Texts:
    """The first digit is 2 … 9; the twelfth is the check digit of Verhoeff (1969)."""
    digits = digits_of(places + 2 * 10**10, 11)
    return _joined(digits + ord("0"), verhoeff_digits(digits) + ord("0"))


def _write_pan(places: Places) -> Texts:
    """Three letters, P for a person, the initial of the name, four digits from 0001, a check letter of unknown rule."""
    rest, letter = np.divmod(places, 26)
    rest, number = np.divmod(rest, 9_999)
    letters = rest[:, None] // 26 ** np.array([3, 2, 1, 0]) % 26 + ord("A")
    holder = np.full(len(places), ord("P"), np.uint8)
    return _joined(letters[:, :3], holder, letters[:, 3], digits_of(number + 1, 4) + ord("0"), letter + ord("A"))


def _joined(*parts: NDArray[np.integer]) -> Texts:
    """Columns of character codes as one text for each row."""
    whole = np.column_stack(parts).astype(np.uint8)
    texts: Texts = np.ascontiguousarray(whole).view(f"S{whole.shape[1]}").ravel()
    return texts


def _encoded(texts: pl.Series) -> Texts:
    return np.array([text.encode() for text in texts], dtype=np.bytes_)


PIN_CODES = numbers("pin_code", "PIN codes", 6, "123456789")
SINGAPORE_PHONES = numbers("singapore_mobile", "Singapore mobile phone numbers", 8, "89")
INDIAN_PHONES = numbers("indian_mobile", "Indian mobile phone numbers", 10, "6789")
AADHAAR = IdentifierFormat("aadhaar", "Aadhaar numbers", 8 * 10**10, "[2-9][0-9]{11}", _write_aadhaar)
PAN = IdentifierFormat("pan", "PANs of persons", 26**5 * 9_999, "[A-Z]{3}P[A-Z][0-9]{4}[A-Z]", _write_pan)

FORMATS = (
    dates(),
    *(numbers(f"digits_{width}", f"numbers of {width} digits", width) for width in range(1, 10)),
    PIN_CODES,
    *(nric(series) for series in NRIC_SERIES),
    SINGAPORE_PHONES,
    INDIAN_PHONES,
    AADHAAR,
    PAN,
)
"""The formats that are known by name."""
