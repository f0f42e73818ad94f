"""All finders together: nesting, the same person again, choice of the model, and that nothing crashes."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.text.finding import found

from shoal.errors import InputError
from shoal.text import Annotator, Span
from shoal.text.annotator import without_contained
from shoal.text.lexicon_finder import LexiconFinder
from shoal.text.spacy_finder import MODELS, SpacyFinder, available
from shoal.text.spans import merged

pytestmark = pytest.mark.requirement("X-01")
needs_model = pytest.mark.skipif(available() is None, reason="no language model installed: extra 'text'")


def test_an_address_holds_its_town_and_code() -> None:
    assert [kind for kind, _ in found("She moved to 12 High Street, Leeds LS6 2QT.")] == ["address"]


def test_a_name_inside_an_email_is_the_email() -> None:
    inside = Span(0, 4, "person", 0.9, "names")
    assert without_contained([inside, Span(0, 16, "email", 0.97, "email")], 0.5) == [
        Span(0, 16, "email", 0.97, "email")
    ]


def test_a_doubtful_holder_does_not_swallow_a_sure_span() -> None:
    spans = [Span(0, 4, "person", 0.9, "names"), Span(0, 16, "organisation", 0.51, "model")]
    assert without_contained(spans, 0.5) == spans


def test_a_surname_is_found_again_alone() -> None:
    text = "Dr. Asha Qwerl came. Later Qwerl said nothing. Qwerls are birds."
    assert [value for _, value in found(text, "person")] == ["Asha Qwerl", "Qwerl"]


def test_types_choose() -> None:
    text = "Dr. Asha Rao lives in Singapore."
    assert {span.type for span in Annotator((LexiconFinder(),), types=frozenset({"place"})).annotate(text)} == {"place"}


def test_without_a_model_there_is_none() -> None:
    assert not any(isinstance(finder, SpacyFinder) for finder in Annotator.standard("none").finders)


def test_an_unknown_model_is_named() -> None:
    with pytest.raises(InputError, match="no_such_model"):
        Annotator.standard("no_such_model").annotate("Asha")


@needs_model
def test_the_model_in_batches_agrees_with_one_by_one() -> None:
    annotator = Annotator.standard("auto")
    texts = ["Barack Obama visited Berlin.", "", "Apple hired Tim Cook."] * 3
    assert list(annotator.annotate_many(texts)) == [annotator.annotate(text) for text in texts]


@needs_model
def test_long_texts_are_cut_and_places_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.text.spacy_finder.LONGEST", 500)
    name = available()
    assert name is not None
    text = "They went on. " * 90 + "\nBarack Obama visited Berlin."
    assert any(text[span.start : span.end] == "Barack Obama" for span in SpacyFinder(name).find(text))


def test_importing_loads_neither_lists_nor_model() -> None:
    heavy = ("spacy", "faker", *MODELS)
    code = f"import sys, shoal.text; assert not set({heavy!r}) & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


PIECES = st.sampled_from(
    [
        "Dr. ",
        "Asha",
        " Rao",
        "12 ",
        "High Street",
        ", ",
        "\n",
        "İ",
        "王先生",
        "Ltd",
        " of the ",
        "'",
        "’s ",
        "A.",
        "(",
        "No. ",
        "EUR 5",
        "é",
        "ß",
    ]
)


@settings(max_examples=150)
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=30).map("".join)))
def test_any_text_gives_spans_in_order_inside_it(text: str) -> None:
    annotator = Annotator((LexiconFinder(),))
    spans = annotator.annotate(text)
    assert all(0 <= span.start < span.end <= len(text) and 0.5 <= span.score <= 1 for span in spans)
    assert all(one.end <= other.start for one, other in pairwise(spans))
    assert annotator.annotate(text) == spans


SPANS = st.builds(
    lambda start, length, kind, score: Span(start, start + length, kind, score, "x"),
    st.integers(0, 30),
    st.integers(1, 10),
    st.sampled_from("abc"),
    st.sampled_from([0.4, 0.6, 0.8]),
)


@given(st.lists(SPANS, max_size=12))
def test_merging_covers_what_was_found_and_the_surest_names_each_place(spans: list[Span]) -> None:
    kept = [span for span in spans if span.score >= 0.5]
    result = {place: span.score for span in merged(spans, 0.5) for place in range(span.start, span.end)}
    best = {
        place: max(s.score for s in kept if s.start <= place < s.end) for s in kept for place in range(s.start, s.end)
    }
    assert result == best


def test_long_repeats_end() -> None:
    for piece in ("A", "A. ", "Dr. ", "12 ", "Aa ", "Aa, ", "1-", "of the ", "\n", "12 Aa ", "é "):
        assert isinstance(Annotator((LexiconFinder(),)).annotate(piece * 3000), list)
