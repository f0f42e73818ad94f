"""Labels of every kind of hierarchy are read back as covering the values they were made of."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.hierarchies import CASES, Case, every_kind

from shoal.attack.matching.coverage import Coverage
from shoal.hierarchy import BoundHierarchy
from shoal.hierarchy.kinds.intervals import BoundIntervals
from shoal.hierarchy.kinds.redact import BoundRedact
from shoal.hierarchy.labels import date_spans, number_spans, read_dates, read_numbers, text_of

pytestmark = pytest.mark.requirement("T-08", "R-04", "R-06")
some = settings(max_examples=12, deadline=None)


def missed(values: pl.Series, labels: pl.Series, known: pl.DataFrame | None = None) -> pl.Series:
    """Which labels are not read as covering the value beside them."""
    read = Coverage.of(values, labels, known)
    return pl.Series(~read.covers(read.codes(values), read.label_codes(labels)))


@every_kind(12)
def test_who_knows_the_hierarchy_reads_every_label(kind: str, data: st.DataObject) -> None:
    drawn: Case = data.draw(CASES[kind])
    bound = drawn.bind()
    for level in range(bound.height + 1):
        labels = text_of(bound.generalise(drawn.values, level)).alias("label")
        known = pl.DataFrame([drawn.values.alias("value"), labels])
        assert not missed(drawn.values, labels, known).any()


@every_kind(12)
def test_who_does_not_know_it_rules_out_no_value_by_its_label(kind: str, data: st.DataObject) -> None:
    """A label that is also a value is taken for that value."""
    drawn: Case = data.draw(CASES[kind])
    if getattr(drawn.hierarchy, "also", None):
        return  # a name of one's own for a code: only who knows the hierarchy knows what it stands for
    bound = drawn.bind()
    for level in range(bound.height + 1):
        labels = text_of(bound.generalise(drawn.values, level))
        if not _readable(bound, labels):
            continue
        wrong = missed(drawn.values, labels)
        values = text_of(drawn.values).implode()
        assert not (wrong & ~labels.is_in(values)).any()


def _readable(bound: BoundHierarchy, labels: pl.Series) -> bool:
    """Not, without the hierarchy: masks whose cover is a letter like others, or stands for any number of characters;
    grids of few cells, which can't be told from exact numbers."""
    if isinstance(bound, BoundRedact):
        return bound.how.keep_length and bound.how.char in "x*"
    if isinstance(bound, BoundIntervals) and bound.template == "{low}":
        return labels.drop_nulls().n_unique() >= 5
    return True


@pytest.mark.parametrize("kind", ["intervals", "cuts", "grid", "dates"])
@some
@given(data=st.data())
def test_the_span_of_a_label_holds_the_value(kind: str, data: st.DataObject) -> None:
    drawn: Case = data.draw(CASES[kind])
    bound = drawn.bind()
    points = read_dates(drawn.values) if kind == "dates" else read_numbers(drawn.values)
    there = points.drop_nulls().to_numpy()
    if not len(there):
        return
    for level in range(1, bound.height):
        labels = bound.generalise(drawn.values, level).drop_nulls()
        read = date_spans if kind == "dates" else number_spans
        spans = read(labels, float(there.min()), float(there.max()))
        assert spans.known.all()
        if kind == "grid":
            width = 10.0 ** -bound.digits[level - 1]  # type: ignore[attr-defined]
            assert np.all((spans.low <= there) & (there - spans.high < width * (1 + 1e-9)))
        else:
            whole = np.floor(there) if kind == "dates" else there
            assert np.all((spans.low <= whole) & (whole <= spans.high))
