"""Texts as tables: what was recognised without values, and pieces that no one can put together again."""

from __future__ import annotations

import itertools

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.text.known_forms import annotator

from shoal.errors import InputError
from shoal.pseudonyms.run_secrets import RunSecrets
from shoal.randomness import Randomness
from shoal.scrub.scrubber import Scrubber
from shoal.scrub.segments import OVERLAP, pieces_of, segment_table, type_frequencies, words_of

LETTERS = [("one", "Asha Rao, aged 34, came on 2024-03-05."), ("two", "Mail asha@clinic.in for Asha Rao")]
WORDS = st.lists(st.sampled_from("the cat sat on a mat and then it ran off".split()), max_size=30).map(" ".join)  # noqa: SIM905


def scrubber(replace="label") -> Scrubber:
    return Scrubber(annotator(), replace, RunSecrets(Randomness(1)))


def pieces(texts, seed=1, **choices) -> pl.DataFrame:
    return pieces_of(texts, scrubber(), randomness=Randomness(seed), **choices)


@pytest.mark.requirement("X-03")
def test_a_table_of_segments_has_places_types_and_no_value():
    table = segment_table(LETTERS, scrubber("pseudonym"))
    assert table.columns == ["document", "start", "end", "type", "value"]
    assert table.select("document", "start", "end", "type").rows() == [
        ("one", 0, 8, "person"),
        ("one", 10, 17, "age"),
        ("one", 27, 37, "date"),
        ("two", 5, 19, "email"),
        ("two", 24, 32, "person"),
    ]
    told = table.write_csv()
    assert "Asha" not in told
    assert "2024-03-05" not in told
    assert "aged 30–39" in told
    people = table.filter(pl.col("type") == "person")["value"]
    assert people.n_unique() == 1


@pytest.mark.requirement("X-03")
def test_the_owner_can_have_the_values():
    table = segment_table(LETTERS, scrubber(), keep_values=True)
    assert table["original"].to_list() == ["Asha Rao", "aged 34", "2024-03-05", "asha@clinic.in", "Asha Rao"]


def test_no_text_no_segments():
    assert segment_table([], scrubber()).rows() == []
    assert segment_table([("one", "")], scrubber()).rows() == []
    assert type_frequencies(segment_table([], scrubber())).rows() == []


@pytest.mark.requirement("X-04")
def test_counts_of_few_texts_are_left_out():
    table = segment_table([*LETTERS, ("three", "Lim and Rao")], scrubber())
    assert type_frequencies(table, least=2).rows() == [("person", 3, 4)]
    assert type_frequencies(table, least=4).rows() == []


@pytest.mark.requirement("X-04")
def test_pieces_hold_labels_and_are_in_enough_texts():
    texts = ["Please call Asha Rao today"] * 4 + ["a secret that nobody else has"]
    found = pieces(texts, words=2, least=4)
    assert set(found["segment"]) <= {"please call", "call [PERSON]", "[PERSON] today"}
    assert len(found)
    assert set(found["documents"]) == {4}
    assert not pieces(texts, words=2, least=5).height


@pytest.mark.requirement("X-04")
@given(texts=st.lists(WORDS, max_size=8), words=st.integers(1, 5), seed=st.integers(0, 99))
@settings(max_examples=200)
def test_no_two_pieces_overlap_end_to_beginning(texts, words, seed):
    found = [tuple(piece.split()) for piece in pieces(texts, seed, words=words, least=1)["segment"]]
    for one, other in itertools.product(found, repeat=2):
        for size in range(OVERLAP, words):
            assert one[-size:] != other[:size]
    assert len(set(found)) == len(found)
    assert all(len(piece) == words for piece in found)


def assembled(pieces_: list[tuple[str, ...]]) -> int:
    """How many words the longest text has that a chain of overlaps gives: the attack of a shotgun sequencer."""
    longest = max(map(len, pieces_), default=0)
    for first in pieces_:
        chain, left = list(first), set(pieces_) - {first}
        while following := next((one for one in left if tuple(chain[-len(one) + 1 :]) == one[:-1]), None):
            chain.append(following[-1])
            left.discard(following)
        longest = max(longest, len(chain))
    return longest


@pytest.mark.requirement("X-04")
def test_a_text_can_be_put_together_from_all_its_runs_of_words_but_not_from_the_pieces():
    text = "on monday the nurse from ward seven told her cousin about an unusual result of the blood test"
    run = words_of(text)
    every = [run[at : at + 3] for at in range(len(run) - 2)]
    assert assembled(every) == len(run)
    for seed in range(20):
        kept = [tuple(piece.split()) for piece in pieces([text] * 6, seed)["segment"]]
        assert kept
        assert assembled(kept) == 3


@given(texts=st.lists(WORDS, min_size=1, max_size=6))
def test_counts_are_those_of_texts_that_have_the_piece(texts):
    for piece, documents in pieces(texts, words=2, least=1).rows():
        assert documents == sum(f" {piece} " in f" {text} " for text in texts)


def test_pieces_come_in_an_order_that_says_nothing():
    texts = [f"w{place} x{place} y{place}" for place in range(40)]
    orders = {tuple(pieces(texts, seed, words=1, least=1)["segment"]) for seed in range(3)}
    assert len(orders) == 3
    assert len({frozenset(order) for order in orders}) == 1
    assert sorted(next(iter(orders))) != list(next(iter(orders)))


def test_only_what_is_public():
    texts = ["thank you for your letter about the leak"] * 5
    found = set(pieces(texts, words=2, public=["Thank you", "the leak", "nobody said"])["segment"])
    assert found <= {"thank you", "the leak"}
    assert not pieces(texts, words=2, public=[]).height


def test_the_same_seed_cuts_alike():
    texts = ["one two three four five six seven"] * 5
    assert pieces(texts, 3).equals(pieces(texts, 3))


def test_pieces_of_nothing():
    assert pieces([]).rows() == []
    assert pieces(["", "one two"]).rows() == []
    with pytest.raises(InputError):
        pieces([], words=0)
