"""Example rows tell what techniques do, and no value of anybody."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.assess.evidence.example_rows import example_rows
from shoal.io.frames import FrameSource
from shoal.kernels.look_alikes import is_prose, made_up, pattern_of, unknown_to
from shoal.policy import Policy
from shoal.randomness import Randomness

POLICY = """
shoal: 1
name: example
attributes:
  id: {role: direct, technique: suppress}
  card: {role: direct, technique: {mask: {keep_last: 4}}}
  age: {role: quasi, hierarchy: {intervals: [10, 50]}}
  seen: {role: quasi, hierarchy: {dates: [month, year]}}
  place: {role: quasi, hierarchy: {redact: {}}}
  job: {role: quasi, hierarchy: {taxonomy: {tree: {Crafts: [mason, smith], Arts: [poet]}}}}
  illness: {role: sensitive}
  bill: {role: insensitive, technique: {round: {base: 100}}}
  note: {role: direct, technique: suppress}
solve: {levels: {age: 1, seen: 1, place: 3, job: 1}}
privacy: [{k_anonymity: {k: 2}}]
"""


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    rows = range(240)
    return pl.DataFrame(
        {
            "id": [f"P{1000 + row}" for row in rows],
            "card": [f"{4000 + row} {7000 + row} {1000 + row}" for row in rows],
            "age": [31 + row % 9 for row in rows],
            "seen": [f"2025-03-{row % 28 + 1:02}" for row in rows],
            "place": [f"4110{row % 90 + 10}" for row in rows],
            "job": ["mason", "smith", "poet"] * 80,
            "illness": ["flu", "gout"] * 120,
            "bill": [round(100.5 + 3.7 * row, 2) for row in rows],
            "note": [f"a long remark about a visit, number {row}, in many words" for row in rows],
        }
    )


def examples(table: pl.DataFrame) -> dict[str, list[tuple[str, str, str]]]:
    policy = Policy.from_text(POLICY)
    release = shoal.anonymise(table, policy, seed=1)
    values = {name: table[name].unique() for name in policy.quasi_identifiers}
    found = example_rows(policy, FrameSource(table.lazy()), FrameSource(release.data.lazy()), len(table), values)
    return {one.name: [(cell.before, cell.after, cell.for_recipient) for cell in one.cells] for one in found}


@pytest.mark.requirement("R-10")
def test_what_is_before_fits_what_is_after(table: pl.DataFrame) -> None:
    found = examples(table)
    assert list(found) == list(table.columns)
    for before, after, told in found["age"][:1]:
        low, high = after.split("-")
        assert int(low) <= int(before) <= int(high)
        assert told == before
    before, after, _ = found["seen"][0]
    assert before.startswith(after)
    assert len(before) == 10
    assert found["place"][0] == ("a value of 411xxx", "411xxx", "a value of 411xxx")
    assert ("a value of Crafts", "Crafts", "a value of Crafts") in found["job"]
    assert set(found["illness"]) == {("a value", "the same", "a value")}
    assert {after for _, after, _ in found["id"]} == {"left out"}
    assert set(found["note"]) == {("free text", "left out", "free text")}
    assert all(float(after) % 100 == 0 for _, after, _ in found["bill"])


@pytest.mark.requirement("R-10")
def test_nothing_that_is_made_up_is_a_value_of_the_original(table: pl.DataFrame) -> None:
    found = examples(table)
    for name in ("id", "card", "bill", "note"):
        own = set(table[name].cast(pl.String))
        assert not own & {text for cells in found[name] for text in cells}, name
    texts = {text for cells in found.values() for cell in cells for text in cell}
    assert not texts & {"mason", "smith", "poet", "flu", "gout"}
    assert {told for _, _, told in found["id"] + found["card"]} == {"an identifier"}


def test_what_the_column_has_is_thrown_away() -> None:
    """Known-bad: of one digit there are ten, and the column has nine of them."""
    column = pl.DataFrame({"one": [str(digit) for digit in range(9)] * 3})
    stream = Randomness(1)
    found = unknown_to(column.lazy(), {"key": ("one", "d")}, stream, 3)
    assert set(found["key"]) <= {"9"}


@pytest.mark.parametrize(
    ("values", "pattern"),
    [
        (["AB-1", "CD-2"] * 10, "uu\\-d"),
        (["100", "200", "300"] * 5, "d\\0\\0"),
        (["é1", "ü2"] * 9, "ld"),
        (["XXXX 17", "XXXX 28"] * 9, "\\X\\X\\X\\X\\ dd"),
        (["Gupta, A.", "Gupta, B."] * 9, "ullll\\,\\ u\\."),
        (["a"] * 3, None),
        (["x" * 41] * 20, None),
        ([], None),
    ],
)
def test_a_pattern_is_what_ten_values_have_in_common(values: list[str], pattern: str | None) -> None:
    assert pattern_of(pl.Series("one", values, dtype=pl.String)) == pattern


def test_letters_can_be_read_aloud_and_numbers_do_not_begin_with_nothing() -> None:
    stream = Randomness(3).stream("test")
    for row in range(20):
        word, number = made_up("ullll", stream, row), made_up("ddd", stream, row)
        assert word[0].isupper()
        assert any(letter in "aeiou" for letter in word)
        assert number[0] != "0"


@pytest.mark.parametrize(
    "values", [[["a", "b"]] * 20, [{"a": 1}] * 20, [b"\x00\xff"] * 20], ids=["lists", "records", "bytes"]
)
def test_nothing_is_made_up_for_what_is_no_text(values: list[object]) -> None:
    assert pattern_of(pl.Series(values)) is None
    assert not is_prose(pl.Series(values))
