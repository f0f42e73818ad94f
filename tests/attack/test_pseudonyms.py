"""Attacks on pseudonymised columns whose truth is known."""

from __future__ import annotations

import base64
import hashlib
import hmac
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from stdnum import verhoeff
from stdnum.in_ import aadhaar, pan

from shoal.attack.attacks.pseudonym_attacks import attack_column
from shoal.attack.codes import dictionary as dictionaries
from shoal.attack.codes import frequency_analysis, identifier_formats
from shoal.attack.codes.dictionary import dictionary
from shoal.attack.codes.digests import ALGORITHMS, Digests
from shoal.attack.codes.frequency_analysis import PairedColumn, cumulative, frequency, sorting
from shoal.attack.codes.identifier_formats import (
    AADHAAR,
    FORMATS,
    INDIAN_PHONES,
    PAN,
    PIN_CODES,
    dates,
    listed,
    nric,
    numbers,
)
from shoal.errors import DataError
from shoal.kernels.check_characters import nric_letter
from shoal.randomness import Randomness
from shoal.results.attack_results import AttackResult

pytestmark = pytest.mark.requirement("R-05")

RANGE = nric("S", 8_000_000, 8_019_999)


def texts(space: identifier_formats.IdentifierFormat, places: list[int]) -> list[str]:
    return [text.decode() for text in space.write(np.array(places, dtype=np.int64)).tolist()]


def hashed(values: list[str], algorithm: str = "sha256") -> pl.Series:
    return pl.Series("id", [hashlib.new(algorithm, value.encode()).hexdigest() for value in values])


def ids(count: int = 300) -> list[str]:
    """Identifiers of the known range, spread over it."""
    return texts(RANGE, [place * 61 for place in range(count)])


# Formats


@pytest.mark.parametrize("series", "STFGM")
def test_nric_agrees_with_the_recogniser(series: str) -> None:
    written = texts(nric(series), [0, 1, 1_234_567, 5_555_555, 9_999_999])
    assert [text[1:8] for text in written] == ["0000000", "0000001", "1234567", "5555555", "9999999"]
    assert all(text[0] == series and nric_letter(series, text[1:8]) == text[8] for text in written)


def test_aadhaar_numbers_are_valid() -> None:
    written = texts(AADHAAR, [0, 7, 123_456_789, AADHAAR.size - 1, *range(5_000_000_000, 5_000_000_200)])
    assert all(verhoeff.is_valid(text) and len(text) == 12 for text in written)
    assert written[0].startswith("20000000000") and written[3].startswith("99999999999")
    assert aadhaar.is_valid(written[2])


def test_pans_are_valid() -> None:
    written = texts(PAN, [0, 1, 12_345_678_901, PAN.size - 1])
    assert written[0] == "AAAPA0001A" and written[1] == "AAAPA0001B" and written[3] == "ZZZPZ9999Z"
    assert all(pan.is_valid(text) for text in written)


@pytest.mark.parametrize("space", FORMATS, ids=lambda space: space.key)
def test_a_format_writes_what_its_pattern_says_and_nothing_twice(space: identifier_formats.IdentifierFormat) -> None:
    some = np.unique(np.linspace(0, space.size - 1, 2_000).astype(np.int64))
    written = space.write(some)
    assert space.fits(pl.Series([text.decode() for text in written.tolist()]))
    assert len(np.unique(written)) == len(some) or space.key == "date_of_birth"  # 01/02 and 02/01 are two readings


def test_phones_and_pin_codes() -> None:
    assert INDIAN_PHONES.size == 4 * 10**9 and texts(INDIAN_PHONES, [0, 4 * 10**9 - 1]) == ["6000000000", "9999999999"]
    assert PIN_CODES.size == 900_000 and texts(PIN_CODES, [460_001]) == ["560001"]
    assert texts(numbers("staff", "staff numbers", 1), [0, 9]) == ["0", "9"]


def test_dates_in_all_forms() -> None:
    space = dates("1999-12-31", "2000-01-01", ["%Y-%m-%d", "%d%m%Y"])
    assert texts(space, [0, 1, 2, 3]) == ["1999-12-31", "2000-01-01", "31121999", "01012000"]


def test_a_list_keeps_each_value_once() -> None:
    space = listed(pl.Series(["a@x.sg", None, "é@x.sg", "a@x.sg"]))
    assert space.size == 2 and texts(space, [1, 0]) == ["é@x.sg", "a@x.sg"]


# Dictionary


@pytest.mark.parametrize("algorithm", [name for names in ALGORITHMS.values() for name in names])
def test_hashed_identifiers_of_a_known_range_are_all_broken(algorithm: str) -> None:
    attack = dictionary(hashed(ids(), algorithm), [RANGE])
    assert attack.success.right == attack.success.trials == 300
    assert attack.baseline.share == pytest.approx(1 / 20_000)
    assert attack.found and attack.details is not None and attack.details["broken_of_whole"] == 1.0


def test_exactly_those_in_the_format_are_broken() -> None:
    outside = texts(nric("S", 1_000_000), list(range(100)))
    attack = dictionary(hashed(ids(300) + outside), [RANGE])
    assert (attack.success.right, attack.success.trials) == (300, 400)
    assert attack.details is not None and attack.details["tried"] == 1.0 and attack.details["broken_of_whole"] == 0.75


def test_keyed_hashes_are_not_broken() -> None:
    key = b"\x13" * 32
    column = pl.Series("id", [hmac.new(key, value.encode(), "sha256").hexdigest() for value in ids()])
    attack = dictionary(column, [RANGE, listed(pl.Series(ids()))])
    assert attack.success.right == 0 and not attack.found
    assert attack.details is not None and attack.details["tried"] == 1.0
    assert attack.details["hashes"] == 3 * (20_000 + 300)


def test_a_salt_helps_only_who_does_not_know_it() -> None:
    column = hashed([f"pepper{value}!" for value in ids()])
    assert dictionary(column, [RANGE]).success.right == 0
    assert dictionary(column, [RANGE], salts=[("", ""), ("pepper", "!")]).success.share == 1.0


@pytest.mark.parametrize("write", [base64.b64encode, base64.urlsafe_b64encode, base64.b16encode])
def test_other_ways_to_write_a_hash(write: object) -> None:
    assert callable(write)
    raw = [hashlib.sha1(value.encode()).digest() for value in ids()]  # noqa: S324
    for column in ([write(value).decode() for value in raw], [write(value).decode().rstrip("=") for value in raw]):
        assert dictionary(pl.Series("id", column), [RANGE]).success.share == 1.0


def test_a_part_of_a_large_space_is_tried_and_the_whole_is_estimated() -> None:
    space = nric("T", 0, 199_999)
    column = hashed(texts(space, list(range(0, 200_000, 50))))
    attack = dictionary(column, [space], budget=102_000)
    details = attack.details or {}
    assert details["hashes"] <= 102_000
    assert 0.15 < details["tried"] < 0.52
    assert attack.success.share == pytest.approx(details["tried"], rel=0.1)
    assert details["broken_of_whole"] == pytest.approx(1.0, rel=0.1)
    assert details["seconds_for_whole_space"] == pytest.approx(200_000 / details["hashes_per_second"])


@pytest.mark.parametrize("size", [1, 2, 10, 97, 70_000, 200_000])
def test_a_sample_of_places_meets_none_twice(size: int) -> None:
    for most in (0, size):
        places = np.concatenate(list(dictionaries._places(size, most)))
        assert np.array_equal(np.sort(places), np.arange(size))


def test_one_budget_for_several_formats() -> None:
    column = hashed(["000123", *ids(10)], "md5")
    attack = dictionary(column, [nric("S"), numbers("staff", "staff numbers", 4), RANGE], budget=70_000)
    assert attack.success.right == 10 and (attack.details or {})["hashes"] <= 70_000


def test_what_is_no_hash_is_said() -> None:
    for column in (pl.Series("id", ["a", "b"]), pl.Series("id", [1, 2]), pl.Series("id", [None], dtype=pl.String)):
        assert Digests.of(column) is None
        with pytest.raises(DataError, match="id: the values don't look like hash values"):
            dictionary(column, [RANGE])
    with pytest.raises(DataError, match="identifiers to try"):
        dictionary(hashed(["1"]), [listed(pl.Series([], dtype=pl.String))])


# Frequencies


def column_of(counts: list[int]) -> pl.Series:
    return pl.Series("ward", np.repeat(np.arange(len(counts)), counts))


def scrambled(values: pl.Series, *, ordered: bool = False) -> pl.Series:
    """A deterministic pseudonym: by a random permutation, or by a random rising function."""
    size = int(values.max()) + 1  # type: ignore[arg-type]
    stream = Randomness(seed=5).stream("cipher")
    codes = stream.permutation(size)
    if ordered:
        codes = np.cumsum(stream.words(np.arange(size, dtype=np.uint64))[:, 0] % 1000 + 1).astype(np.int64)
    return pl.Series("ward", codes[values.to_numpy()])


def test_a_zipf_column_is_read_wholly() -> None:
    values = column_of([600 // rank for rank in range(1, 11)])
    attack = frequency(PairedColumn.of(scrambled(values), values))
    assert attack.success.share == 1.0
    assert attack.baseline.right == 600 and attack.found


def test_frequencies_that_tie_are_a_matter_of_luck() -> None:
    values = column_of([50, 20, 20, 20, 10])
    attack = frequency(PairedColumn.of(scrambled(values), values))
    assert attack.success.right == pytest.approx(50 + 20 + 10)
    assert attack.details is not None and attack.details["values"] == pytest.approx(3 / 5)


def test_an_even_column_tells_no_more_than_guessing() -> None:
    values = column_of([40] * 25)
    attack = frequency(PairedColumn.of(scrambled(values), values))
    assert attack.baseline.share == 1 / 25
    assert attack.success.share == pytest.approx(1 / 25)
    assert not attack.found


def test_auxiliary_frequencies_in_another_order_mislead() -> None:
    values = column_of([50, 30, 20])
    public = column_of([500, 200, 300])
    attack = frequency(PairedColumn.of(scrambled(values), values, public))
    assert attack.success.right == 50
    elsewhere = pl.Series("ward", [7, 7, 8])
    assert frequency(PairedColumn.of(scrambled(values), values, elsewhere)).success.right == 0


@given(st.lists(st.integers(1, 30), min_size=1, max_size=7), st.lists(st.integers(1, 30), min_size=1, max_size=7))
def test_matching_by_rank_is_the_least_squares_matching(mine: list[int], theirs: list[int]) -> None:
    size = max(len(mine), len(theirs))
    one, other = np.zeros(size), np.zeros(size)
    one[: len(mine)], other[: len(theirs)] = mine, theirs
    rows, columns = linear_sum_assignment((one[:, None] - other) ** 2)
    least = ((one[rows] - other[columns]) ** 2).sum()
    assert ((np.sort(one) - np.sort(other)) ** 2).sum() == pytest.approx(least)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.lists(st.integers(1, 3), min_size=1, max_size=4))
def test_expected_success_is_the_mean_over_all_ways_to_break_ties(mine: list[int], theirs: list[int]) -> None:
    values, public = column_of(mine), column_of(theirs)
    rights = [
        sum(mine[each] for each, guess in zip(ranked, guesses, strict=False) if each == guess)
        for ranked in rankings(mine)
        for guesses in rankings(theirs)
    ]
    attack = frequency(PairedColumn.of(values, values, public))
    assert attack.success.right == pytest.approx(sum(rights) / len(rights))


def rankings(counts: list[int]) -> list[list[int]]:
    """The places of the counts, commonest first, for every order in which ties may be drawn."""
    return [sorted(order, key=lambda place: -counts[place]) for order in permutations(range(len(counts)))]


def test_order_gives_away_what_frequencies_do_not() -> None:
    values = column_of([40] * 25)
    paired = PairedColumn.of(scrambled(values, ordered=True), values)
    assert frequency(paired).success.share == pytest.approx(1 / 25)
    assert cumulative(paired).success.share == sorting(paired).success.share == 1.0
    assert cumulative(paired).found


def test_order_sets_misleading_frequencies_right() -> None:
    values, public = column_of([31, 30]), column_of([300, 310])
    paired = PairedColumn.of(scrambled(values, ordered=True), values, public)
    assert frequency(paired).success.right == 0
    assert cumulative(paired).success.share == 1.0


def test_cumulative_attack_where_values_are_missing() -> None:
    values = pl.Series("age", np.repeat([1, 2, 4], [30, 50, 20]))
    public = pl.Series("age", np.repeat([1, 2, 3, 4], [300, 480, 20, 200]))
    paired = PairedColumn.of(values * 17 + 3, values, public)
    assert cumulative(paired).success.share == 1.0
    with pytest.raises(DataError, match="every known value"):
        sorting(paired)


def test_many_values_are_matched_by_cumulative_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frequency_analysis, "ASSIGNED", 10)
    values = column_of([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8])
    assert cumulative(PairedColumn.of(scrambled(values, ordered=True), values)).success.share == 1.0
    lone = PairedColumn.of(values, values, pl.Series("ward", [0]))
    assert cumulative(lone).success.right == 3


def test_pseudonyms_of_another_kind_are_refused() -> None:
    values = column_of([3, 2, 1])
    fresh = PairedColumn.of(pl.Series("ward", range(6)), values)
    with pytest.raises(DataError, match="one pseudonym for each value"):
        frequency(fresh)
    with pytest.raises(DataError, match="aren't ordered"):
        cumulative(PairedColumn.of(-values % 3, values))
    with pytest.raises(DataError, match="differ in length"):
        PairedColumn.of(values, values[:2])
    with pytest.raises(DataError, match="no record"):
        PairedColumn.of(pl.Series("ward", [None], dtype=pl.Int64), pl.Series([1]))
    with pytest.raises(DataError, match="nothing is known"):
        PairedColumn.of(values, values, pl.Series("ward", [None], dtype=pl.Int64))
    with pytest.raises(DataError, match="another type"):
        PairedColumn.of(values, values, pl.Series("ward", ["secret"]))


# The whole column


def test_hashed_identifiers_get_the_dictionary_of_their_format() -> None:
    attacks = attack_column(hashed(ids(40)), pl.Series("id", ids(40)), budget=1_000)
    assert [attack.key for attack in attacks] == ["dictionary"]
    assert attacks[0].details is not None and attacks[0].details["space"] == 10**7
    assert "NRIC" in attacks[0].knows and not any(
        value in str(AttackResult.of(attacks[0]).to_dict()) for value in ids(40)
    )


def test_the_whole_space_is_settled_by_the_identifiers_that_occur(monkeypatch: pytest.MonkeyPatch) -> None:
    """80,000 million Aadhaar numbers are not gone through, and yet it is known whom they would give away."""
    numbers_ = texts(AADHAAR, [place * 7_919_000_017 % AADHAAR.size for place in range(1, 51)])
    found = attack_column(hashed(numbers_, "sha1"), pl.Series("id", numbers_), budget=20_000)[0]
    assert found.success.share == 1
    assert found.details is not None
    assert found.details["tried"] == pytest.approx(20_000 / AADHAAR.size)
    assert (found.details["settled"], found.details["broken_of_whole"]) == (1, 1)
    keyed = pl.Series("id", [hmac.new(b"key", each.encode(), "sha256").hexdigest() for each in numbers_])
    monkeypatch.setattr(dictionaries._DictionarySearch, "go_through", lambda *_: pytest.fail("in vain"))
    safe = attack_column(keyed, pl.Series("id", numbers_))[0]
    assert (safe.success.right, safe.details and safe.details["tried"]) == (0, 0)


def test_a_space_that_was_gone_through_whole_finds_what_is_in_it() -> None:
    """A number with a wrong check letter is written like one of the format, and is not in it."""
    wrong = [text[:-1] + ("A" if text[-1] != "A" else "B") for text in ids(5)]
    values = [*ids(40), *wrong]
    whole = dictionary(hashed(values), [RANGE], original=pl.Series(values))
    assert (whole.success.right, whole.details and whole.details["tried"]) == (40, 1)


def test_the_budget_goes_through_all_nric_numbers_of_a_letter() -> None:
    assert nric("S").size <= dictionaries.BUDGET


def test_a_list_of_people_breaks_any_unkeyed_hash() -> None:
    names = pl.Series("email", [f"person{number}@example.sg" for number in range(50)])
    column = hashed(names.to_list(), "md5")
    assert attack_column(column, names)[0].success.share == 1.0
    assert attack_column(column, None, names[:20], formats=())[0].success.share == pytest.approx(20 / 50)


def test_numbers_that_keep_order_get_all_three_attacks() -> None:
    values = column_of([9, 5, 3, 1])
    keys = [attack.key for attack in attack_column(scrambled(values, ordered=True), values)]
    assert keys == ["frequency", "cumulative", "sorting"]
    shuffled = scrambled(values, ordered=True).reverse()
    assert [attack.key for attack in attack_column(shuffled, values, aligned=False)] == ["frequency"]


def test_frequencies_in_the_same_order_by_more_than_chance_are_taken_for_ordered() -> None:
    values = column_of([9, 5, 8, 1, 7, 2, 6])
    shuffled = scrambled(values, ordered=True).reverse()
    keys = [attack.key for attack in attack_column(shuffled, values, aligned=False)]
    assert keys == ["frequency", "cumulative", "sorting"]


@given(st.lists(st.integers(1, 6), min_size=2, max_size=8), st.integers(0, 99))
def test_no_order_of_rows_is_needed_to_judge_frequencies(often: list[int], seed: int) -> None:
    """As many records as before, equal pseudonyms for equal values: success is what it is in order."""
    values = column_of(often)
    aligned = PairedColumn.of(scrambled(values), values)
    shuffled = PairedColumn.by_counts(scrambled(values).sample(fraction=1, shuffle=True, seed=seed), values)
    assert shuffled is not None
    assert frequency(shuffled).success.right == pytest.approx(frequency(aligned).success.right)
    assert frequency(shuffled).baseline == frequency(aligned).baseline


def test_other_frequencies_are_no_pseudonyms_of_these_values() -> None:
    values = column_of([9, 5, 3, 1])
    assert PairedColumn.by_counts(column_of([8, 6, 3, 1]), values) is None
    assert attack_column(column_of([8, 6, 3, 1]).reverse(), values, aligned=False) == []


def test_frequencies_are_not_judged_where_records_are_missing_and_nobody_knows_which() -> None:
    values = column_of([9, 5, 3, 1])
    released = scrambled(values).head(12)
    with pytest.raises(DataError, match="nothing says which one is whose"):
        attack_column(released, values, aligned=False)
    found = attack_column(released, values, aligned=False, beside=values.head(12))
    assert [attack.key for attack in found] == ["frequency"]


def test_nothing_fits_fresh_tokens() -> None:
    values = column_of([9, 5, 3, 1])
    assert attack_column(pl.Series("ward", Randomness(seed=2).stream("t").permutation(18)), values) == []
    assert attack_column(pl.Series("ward", [4]), pl.Series("ward", [1])) == []
