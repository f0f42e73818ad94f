"""What a scrubber did to a text is done to the pieces that the text came in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.documents.marked import Done, Result, mark, scrub, scrub_to_text

from shoal.documents.cleaning_account import MOST_PLACES, EditRecorder
from shoal.documents.text_edits import applied, edits_of, spread

WORDS = st.lists(st.sampled_from(["Dear ", mark("a"), mark("bc"), ", ", "x", " ", "[PERSON]", "é"]), max_size=12)


@given(WORDS, st.data())
def test_pieces_together_are_the_scrubbed_text(words: list[str], data: st.DataObject) -> None:
    text = "".join(words)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    pieces = [text[low:high] for low, high in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    for result in (scrub(text), scrub_to_text(text)):
        assert "".join(spread(pieces, edits_of(text, result))) == scrub_to_text(text)


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_change_is_found_again(old: str, new: str) -> None:
    assert applied(old, edits_of(old, new)) == new


@given(WORDS)
def test_nothing_of_a_mark_is_outside_the_edits(words: list[str]) -> None:
    """Also where only the new text is known: whole words count as replaced."""
    text = " ".join(words)
    left = list(text)
    for edit in edits_of(text, scrub_to_text(text)):
        left[edit.start : edit.end] = "\0" * (edit.end - edit.start)
    assert "feather" not in "".join(left)


def test_untouched_pieces_keep_their_characters() -> None:
    pieces = ["Dear Qui", "ll", "xfeather", ", bye"]
    assert spread(pieces, edits_of("".join(pieces), scrub("".join(pieces)))) == ["Dear [PERSON]", "", "", ", bye"]


def test_offsets_that_contradict_the_text_are_not_believed() -> None:
    wrong = Result("Dear [PERSON]", (Done(0, 4, 0, 8),))
    assert applied("Dear Asha", edits_of("Dear Asha", wrong)) == "Dear [PERSON]"


def test_a_label_gives_context_and_is_not_touched() -> None:
    def with_context(text: str) -> str:
        return text.replace("phone: 55", "phone: [PHONE]")

    ledger = EditRecorder(with_context)
    assert ledger.clean("cell", "55", "phone") == "[PHONE]"
    assert ledger.clean("cell", "55", "size") == "55"
    assert EditRecorder(scrub).clean("cell", "hello", mark("key")) == "hello"


def test_the_account_counts_by_place_and_type_and_stays_small() -> None:
    ledger = EditRecorder(scrub)
    for number in range(MOST_PLACES + 5):
        ledger.clean(f"line {number}", mark("x"))
    ledger.clean("line 1", f"{mark('y')} {mark('z')}")
    account = ledger.account()
    assert account.by_type() == {"person": MOST_PLACES + 7}
    counts = {entry.place: entry.count for entry in account.cleaned}
    assert (counts["line 0"], counts["line 1"], counts["elsewhere"]) == (1, 3, 5)
    assert "feather" not in str(account.to_dict())
