"""Values as points on a line: numbers, and dates as days since 1970-01-01."""

from __future__ import annotations

import datetime

import polars as pl

from shoal.schema.type_detection import DATE_FORMATS, YEAR

_THOUSANDS = r"^[-+]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?$"
_OFFSET = r"([0-9]:[0-9]{2}(?::[0-9.]+)?)\s*[-+][0-9]{2}:?[0-9]{2}$"
_FIRST_DAY = datetime.date(1000, 1, 1)
"""Years have four digits: ``14/02/24`` is no date of the year 24."""
_MICROSECONDS = 86_400_000_000


def read_numbers(values: pl.Series) -> pl.Series:
    """The values as Float64; what is no finite number is null.

    >>> read_numbers(pl.Series([" 34", "1,250.5", "−3", "1e2", "30-39", "inf"])).to_list()
    [34.0, 1250.5, -3.0, 100.0, None, None]
    """
    if not isinstance(values.dtype, pl.String | pl.Categorical | pl.Enum):
        return _finite(values.cast(pl.Float64, strict=False))
    text = values.cast(pl.String).str.strip_chars()
    numbers = text.cast(pl.Float64, strict=False)
    if numbers.null_count() > text.null_count():
        plain = text.str.replace("−", "-", literal=True)
        spaced = plain.str.contains(_THOUSANDS)
        plain = plain.zip_with(~spaced.fill_null(value=False), plain.str.replace_all(",", "", literal=True))
        numbers = plain.cast(pl.Float64, strict=False)
    return _finite(numbers)


def _finite(numbers: pl.Series) -> pl.Series:
    return numbers.set(~numbers.is_finite(), None)


def read_dates(values: pl.Series, form: str | None = None) -> pl.Series:
    """The values as days, with the time of day as a fraction (Float64); what is no date is null.

    Text is read in the given format, or in the one, of those in use, that fits most of it.

    >>> read_dates(pl.Series(["02/01/1970", "1970-01-03", "15/01/1970 12:00", "16/01/1970"])).to_list()
    [1.0, None, None, 15.0]
    """
    if values.dtype == pl.Date():
        return values.to_physical().cast(pl.Float64)
    if isinstance(values.dtype, pl.Datetime):
        return values.dt.replace_time_zone(None).dt.epoch("us").cast(pl.Float64) / _MICROSECONDS
    text = values.cast(pl.String)
    return _read_as(text, form or date_format(text))


def date_format(text: pl.Series) -> str:
    """The format that fits most of the texts; the first of those that fit equally well."""
    best, most = DATE_FORMATS[0], -1
    distinct = text.drop_nulls().unique()
    distinct = distinct.filter(distinct.str.contains(YEAR))
    if distinct.is_empty():
        return best
    for form in DATE_FORMATS:
        read = len(distinct) - _read_as(distinct, form).null_count()
        if read > most:
            best, most = form, read
        if most == len(distinct):
            break
    return best


def _read_as(text: pl.Series, form: str) -> pl.Series:
    if "%H" in form:
        moments = text.str.replace(_OFFSET, "$1").str.to_datetime(form, strict=False, time_unit="us")
        days = moments.dt.replace_time_zone(None).dt.epoch("us").cast(pl.Float64) / _MICROSECONDS
    else:
        days = text.str.to_date(form, strict=False).to_physical().cast(pl.Float64)
    first = (_FIRST_DAY - datetime.date(1970, 1, 1)).days
    return days.set(days < first, None)


def text_of(series: pl.Series) -> pl.Series:
    """Values as text; a whole number is written without a decimal point, whatever it is stored as."""
    if series.dtype.is_decimal():
        series = series.cast(pl.Float64)
    if not series.dtype.is_float():
        return series.cast(pl.String)
    whole = (series == series.floor()) & (series.abs() < 2**53)
    plain = series.cast(pl.Int64, strict=False).cast(pl.String)
    return plain.zip_with(whole.fill_null(value=False), series.cast(pl.String))
