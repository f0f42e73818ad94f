"""Work per distinct value: a memo answers like a dictionary, whatever the hash, the batches and the threads."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import BugError
from shoal.kernels.appendable_column import AppendableColumn
from shoal.kernels.memo import Hashes, Memo, StringIndex

TEXTS = st.text(max_size=3) | st.text("ab", max_size=20) | st.sampled_from(["", "Pune", "Thiruvananthapuram"])
BATCHES = st.lists(st.lists(st.none() | TEXTS, max_size=30), max_size=6)


def constant(texts: pl.Series) -> Hashes:
    return np.full(len(texts), 0xABCD_0000_FFFF_FFFF, dtype=np.uint64)


def by_length(texts: pl.Series) -> Hashes:
    return texts.str.len_bytes().to_numpy().astype(np.uint64)


def same_tag(texts: pl.Series) -> Hashes:
    """Different slots, and the same upper half everywhere: a wrong text always looks like the right one."""
    return (texts.hash(1).to_numpy() & np.uint64(7)).astype(np.uint64)


def same_slot(texts: pl.Series) -> Hashes:
    return texts.hash(1).to_numpy() << np.uint64(40)


HASHES = [None, constant, by_length, same_tag, same_slot]


def column(values: list[str] | list[str | None]) -> pl.Series:
    return pl.Series("text", values, dtype=pl.String)


class Counted:
    """A function that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: pl.Series) -> pl.Series:
        self.asked += texts.to_list()
        return texts + "!" + texts


@pytest.mark.parametrize("hashed", HASHES)
@given(batches=BATCHES)
@settings(max_examples=60)
def test_answers_like_a_dictionary_and_computes_each_text_once(
    hashed: Callable[[pl.Series], Hashes] | None, batches: list[list[str | None]]
) -> None:
    memo, compute = Memo(hashed), Counted()
    for batch in batches:
        mapped = memo.map(column(batch), compute)
        assert mapped.name == "text"
        assert mapped.dtype == pl.String
        assert mapped.to_list() == [None if text is None else f"{text}!{text}" for text in batch]
    seen = {text: None for batch in batches for text in batch if text is not None}
    assert compute.asked == list(seen)
    assert len(memo) == len(seen)


@pytest.mark.parametrize("hashed", HASHES)
@given(known=st.lists(TEXTS, unique=True, max_size=40), asked=st.lists(TEXTS, max_size=40))
@settings(max_examples=60)
def test_codes_are_places_in_the_order_of_adding(
    hashed: Callable[[pl.Series], Hashes] | None, known: list[str], asked: list[str]
) -> None:
    index = StringIndex(hashed)
    for cut in (known[:7], known[7:]):
        index.add(column(cut))
    places = {text: place for place, text in enumerate(known)}
    assert index.find(column(asked)).tolist() == [places.get(text, -1) for text in asked]


def test_many_texts_through_many_growths() -> None:
    texts = column([f"person {number}" if number % 2 else str(number) for number in range(60_000)])
    index = StringIndex()
    for start in range(0, 60_000, 7_001):
        index.add(texts[start : start + 7_001])
    order = np.random.default_rng(7).permutation(60_000)
    assert (index.find(texts.gather(order)) == order).all()
    assert (index.find(texts + "?") == -1).all()


def test_what_a_computation_raises_leaves_nothing_behind() -> None:
    memo = Memo()

    def refuses(texts: pl.Series) -> pl.Series:
        if "bad" in texts.to_list():
            raise ValueError("refused")
        return texts

    assert memo.map(column(["good"]), refuses).to_list() == ["good"]
    with pytest.raises(ValueError, match="refused"):
        memo.map(column(["good", "new", "bad"]), refuses)
    assert len(memo) == 1
    assert memo.map(column(["new", "good"]), refuses).to_list() == ["new", "good"]


def test_results_that_belong_to_no_text_are_our_bug() -> None:
    memo = Memo()
    with pytest.raises(BugError, match="one result for each text"):
        memo.map(column(["a", "b"]), lambda texts: texts[:1])
    assert len(memo) == 0


@given(batches=BATCHES, most=st.integers(1, 12))
@settings(max_examples=60)
def test_a_full_memo_begins_anew_and_answers_the_same(batches: list[list[str | None]], most: int) -> None:
    memo, largest = Memo(most=most), most
    for batch in batches:
        expected = [None if text is None else f"{text}!{text}" for text in batch]
        assert memo.map(column(batch), Counted()).to_list() == expected
        largest = max(largest, len({text for text in batch if text is not None}))
        assert len(memo) <= largest


def test_nothing_travels_with_a_pickle() -> None:
    memo = Memo(constant, most=5)
    memo.map(column(["secret"]), Counted())
    sent = pickle.dumps(memo)
    assert b"secret" not in sent
    arrived = pickle.loads(sent)  # noqa: S301  # our own bytes
    assert (len(arrived), arrived._hashed, arrived._most) == (0, constant, 5)


@pytest.mark.parametrize("values", [[], [None, None]])
def test_no_text_at_all_still_has_a_type(values: list[str | None]) -> None:
    mapped = Memo().map(column(values), lambda texts: texts.str.len_bytes().cast(pl.Int64))
    assert mapped.to_list() == values
    assert mapped.dtype == pl.Int64


def test_results_of_another_type() -> None:
    memo = Memo()
    for batch in (["a", "bb"], ["ccc", None, "a"]):
        lengths = memo.map(column(batch), lambda texts: texts.str.len_bytes().cast(pl.Int64))
        assert lengths.to_list() == [None if text is None else len(text) for text in batch]


def test_threads_share_one_memo() -> None:
    memo, compute = Memo(), Counted()
    batches = [column([str((start + step) % 500) for step in range(400)]) for start in range(0, 4_000, 100)]
    with ThreadPoolExecutor(8) as pool:
        mapped = list(pool.map(lambda batch: memo.map(batch, compute), batches))
    for batch, result in zip(batches, mapped, strict=True):
        assert result.to_list() == [f"{text}!{text}" for text in batch]
    assert sorted(compute.asked) == sorted(set(compute.asked))


@given(chunks=st.lists(st.lists(TEXTS, max_size=20), max_size=8))
@settings(max_examples=60)
def test_a_growing_column_holds_what_was_appended(chunks: list[list[str]]) -> None:
    growing = AppendableColumn()
    earlier: list[tuple[pl.Series, list[str]]] = []
    held: list[str] = []
    for chunk in chunks:
        whole = column(["x", *chunk, "y"])
        growing.append(whole[1:-1])
        held = held + chunk
        assert growing.column().to_list() == held
        assert growing.column().n_chunks() == 1
        earlier.append((growing.column(), held))
    assert len(growing) == len(held)
    for then, what in earlier:
        assert then.to_list() == what
