"""One pass finds the same with either engine, in linear time, whatever the text; what can't be judged is masked."""

from __future__ import annotations

import pickle
import re
import threading
from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.discover.recognisers import InText, Recogniser, default_recognisers
from shoal.discover.recognisers.expressions import LinearError, linear, spans, within_edges
from shoal.schema import Role
from shoal.text.annotator import Annotator
from shoal.text.matching import prefilter, scanner
from shoal.text.matching.character_forms import as_read
from shoal.text.matching.context_words import ContextWords
from shoal.text.matching.pattern_shape import DIGIT, SIGNS, least, pattern_shape
from shoal.text.matching.pattern_traits import traits_of
from shoal.text.matching.patterns import LONGEST_CHECKED, UNCHECKED, PatternFinder
from shoal.text.matching.prefilter import Match
from shoal.text.matching.scanner import PatternScanner
from shoal.text.spans import Span

pytestmark = pytest.mark.requirement("D-03")

PLAIN = PatternFinder(engine="re2", least=0)
EXPRESSIONS = [each.text.expression for each in default_recognisers() if each.text]
PIECES = (
    "asha.rao@example.org",
    "2341 2341 2346",
    "4111-1111-1111-1111",
    "GB82 WEST 1234 5698 7654 32",
    "2026-11-16T05:00:11Z",
    "12 मार्च 2024",
    "MRN: ",
    "account no. ",
    "S1234567D",
    "10.2.3.4",
    "2001:db8::1",
    "https://example.org/a",
    "+65 6123 4567",
    "98765 43210",
    "phone ",
    "TEL. ",
    "nhs no ",
    "943 476 5919",
    "İ",
    "_",
    "\n",
    " ",
    "é",
    "中",
    "４２",
    "\ud800",
)
FRUGAL = PatternFinder(engine="re2")
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=20)), max_size=40).map("".join)


def _each(matches: Iterable[Match]) -> list[tuple[int, int, int]]:
    return sorted((place, start, end) for place, found in matches for start, end in found)


@pytest.fixture(scope="module")
def fast() -> PatternFinder:
    pytest.importorskip("hyperscan", reason="Hyperscan is not installed: pip install 'shoal[text]'")
    patterns = PatternFinder(engine="hyperscan", least=0)
    list(patterns.find(""))
    return patterns


@settings(max_examples=150)
@given(text=texts)
def test_both_engines_find_the_same(fast: PatternFinder, text: str) -> None:
    assert sorted(fast.find(text)) == sorted(PLAIN.find(text))


@settings(max_examples=100)
@given(
    st.lists(
        st.sampled_from(["a", "ab", "a+b?", "[ab]{2}", "b[ab]*c", "[abc]{1,3}", "(?:ab|bc)+"]), min_size=1, max_size=4
    ),
    st.text("abc _é", max_size=30),
)
def test_engines_agree_where_matches_overlap(patterns: list[str], text: str) -> None:
    pytest.importorskip("hyperscan", reason="Hyperscan is not installed: pip install 'shoal[text]'")
    given_ = [within_edges(pattern, edges) for pattern in patterns for edges in ("both", "none")]
    assert _each(PatternScanner(given_, "hyperscan").matches(text)) == _each(
        PatternScanner(given_, "re2").matches(text)
    )


def test_too_large_for_starts_is_found_all_the_same() -> None:
    pytest.importorskip("hyperscan", reason="Hyperscan is not installed: pip install 'shoal[text]'")
    large = within_edges("[a-z0-9-]{20,200}x")
    engine = scanner.HyperscanEngine([large, within_edges("abc")])
    assert engine.large == {0}
    assert _each(engine.matches(b"abc " + b"d" * 30 + b"x", 0, 35)) == [(0, 4, 35), (1, 0, 3)]


SCANNER = PatternScanner(EXPRESSIONS)
GATED = [place for place, each in enumerate(EXPRESSIONS) if traits_of(each).is_number or traits_of(each).holds_at]
UNGATED = scanner.Re2Engine([EXPRESSIONS[place] for place in GATED])


@settings(max_examples=200)
@given(texts)
def test_gates_leave_nothing_out(text: str) -> None:
    """What is looked for in stretches of digits or around an @ is what a search of the whole text gives."""
    data = as_read(text).encode("utf-8", "replace").translate(scanner._SIGNS)
    found = [one for one in SCANNER._in_block(data, None, 0, len(data)) if one[0] in GATED]
    assert _each(found) == _each((GATED[place], where) for place, where in UNGATED.matches(data, 0, len(data)))


@settings(max_examples=200)
@given(texts)
def test_gates_leave_nothing_out_that_context_speaks_for(text: str) -> None:
    """Without a gate each doubtful candidate is judged by itself, and the outcome is the same."""
    read = as_read(text)
    near = FRUGAL._surroundings.of(read)
    wanted = {
        span for place, found in SCANNER.matches(read) for span in FRUGAL._judges[place].spans(read, found, near, {})
    }
    assert set(FRUGAL.find(text)) == wanted


def test_most_patterns_are_behind_gates() -> None:
    assert len(GATED) > 0.6 * len(EXPRESSIONS)


@settings(max_examples=100)
@given(st.binary(max_size=80).map(lambda raw: re.sub(b"[a-f]", b"7", raw)))
def test_both_ways_to_find_digits_agree(data: bytes) -> None:
    for part in ((0, len(data)), (3, max(3, len(data) - 2))):
        assert prefilter._by_search(data, *part) == (
            prefilter._by_arrays(data, *part) if re.search(b"[0-9]", data[slice(*part)]) else []
        )


@settings(max_examples=200)
@given(st.data())
def test_an_outline_fits_whatever_the_pattern_matches(data: st.DataObject) -> None:
    pattern = data.draw(
        st.sampled_from(["[A-Z]{2}[0-9]{1,3} ?X|1[.-]2", "[0-9a-f]{4}(?:-[0-9]+)*", "[^a]x", r"\d\b.[%&]"])
    )
    match = data.draw(st.from_regex(re.compile(pattern, re.ASCII), fullmatch=True)).encode()
    form = pattern_shape(pattern)
    assert form
    assert linear(form).fullmatch(match.translate(SIGNS))
    assert sum(sign == ord(DIGIT) for sign in match.translate(SIGNS)) >= least(pattern)


@settings(max_examples=40)
@given(
    st.one_of(st.text(max_size=2000), st.binary(max_size=2000).map(lambda raw: raw.decode("utf-8", "surrogateescape")))
)
def test_no_text_breaks_the_scan(text: str) -> None:
    for span in PLAIN.find(text):
        assert 0 <= span.start < span.end <= len(text)
    assert not PLAIN.failures


ADVERSARIAL = [
    "a",
    "1",
    "1 ",
    "-",
    "a@",
    "1.",
    "a.",
    "::",
    "x" * 7 + "=",
    "account ",
    "01/",
    "(",
    "(0",
    "４",
    "@a.",
    "MRN " * 3,
    "\n",
]


@pytest.mark.parametrize("piece", ADVERSARIAL)
def test_repeats_of_20_kilobytes_are_nothing_special(piece: str) -> None:
    text = (piece * 20_000)[:20_000]
    assert all(span.end <= len(text) for span in PLAIN.find(text))


def test_every_pattern_is_linear() -> None:
    """RE2 takes them all; it refuses what needs more than one look at a character."""
    for each in default_recognisers():
        if each.text:
            linear(each.text.labelled if each.text.after else each.text.expression)
    with pytest.raises(LinearError):
        linear(r"(a+)\1")


def test_looks_grow_with_the_text_and_not_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes that engines are shown, counted: twice the text is twice the work."""
    shown = [0]

    def counting(compiled: object, data: bytes, start: int, end: int) -> list[tuple[int, int]]:
        shown[0] += end - start
        return spans(compiled, data, start, end)

    monkeypatch.setattr(prefilter, "spans", counting)
    monkeypatch.setattr(scanner, "spans", counting)
    line = " ".join(PIECES[:13]) + "\n"
    work = []
    for times in (20, 40):
        shown[0] = 0
        list(PLAIN.find(line * times))
        work.append(shown[0])
    assert work[0] > 0
    assert work[1] <= 2.1 * work[0]


@pytest.mark.parametrize("before", ["", "é", "中文", "😀 ", "आधार "])
def test_places_are_characters(before: str) -> None:
    text = f"{before}\n{before}asha@example.org"
    start = text.index("asha") if before in ("", "😀 ", "आधार ") else text.index(before, len(before) + 1)
    assert [(span.start, span.end) for span in PLAIN.find(text) if span.type == "email"] == [(start, len(text))]


@pytest.mark.parametrize("plain", [True, False])
def test_blocks_do_not_shift_places(monkeypatch: pytest.MonkeyPatch, *, plain: bool) -> None:
    text = "\n".join(f"line {n} {'' if plain else 'é中'} S1234567D" for n in range(50))
    whole = sorted(PLAIN.find(text))
    monkeypatch.setattr(scanner, "BLOCK", 64)
    assert sorted(PLAIN.find(text)) == whole
    assert len([span for span in whole if span.type == "nric"]) == 50


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("२३४१ २३४१ २३४६", "aadhaar"),
        ("ＡＳＨＡ＠example.org", "email"),
        ("+65–6123–4567", "phone"),
        ("+65\u00a06123 4567", "phone"),
    ],
)
def test_other_forms_of_characters_are_read(text: str, kind: str) -> None:
    assert (kind, 0, len(text)) in {(span.type, span.start, span.end) for span in PLAIN.find(text)}


def test_the_low_line_is_an_edge() -> None:
    assert [(span.start, span.end) for span in PLAIN.find("scan_S1234567D_2.pdf") if span.type == "nric"] == [(5, 14)]


def test_the_next_number_is_left_out() -> None:
    text = "card 4111 1111 1111 1111 123"
    assert [(span.start, span.end) for span in PLAIN.find(text) if span.by == "card"] == [(5, 24)]


def own(check: object, pattern: str = "[0-9]+") -> Recogniser:
    how = InText(pattern, 0.5, 0.9, check=check)  # type: ignore[arg-type]
    return Recogniser("own", "an own", Role.DIRECT, "so", type="own", text=how)


def broken(_value: str) -> bool:
    raise RuntimeError("a value is in here")


def test_a_check_that_breaks_fails_closed() -> None:
    patterns = PatternFinder((own(broken),))
    assert list(patterns.find("no 123")) == [Span(3, 6, UNCHECKED, 1.0, "own")]
    assert patterns.failures == {"own": 1}
    assert [span.type for span in Annotator((patterns,)).annotate("no 123")] == [UNCHECKED]


def test_a_check_is_not_given_more_than_it_can_bear() -> None:
    given_: list[int] = []
    patterns = PatternFinder((own(lambda value: bool(given_.append(len(value)))),))  # type: ignore[func-returns-value]
    found = list(patterns.find("1" * (LONGEST_CHECKED + 1) + " " + "2" * LONGEST_CHECKED))
    assert [(span.type, span.length) for span in found] == [(UNCHECKED, LONGEST_CHECKED + 1)]
    assert given_ == [LONGEST_CHECKED]
    assert patterns.failures == {"own": 1}


def test_copies_find_the_same() -> None:
    copy = pickle.loads(pickle.dumps(PLAIN))  # noqa: S301  our own
    assert list(copy.find("S1234567D")) == list(PLAIN.find("S1234567D"))


def test_threads_do_not_meet(fast: PatternFinder) -> None:
    text = "mail asha@example.org, IP 10.2.3.4, www.example.org\n" * 200
    expected = sorted(fast.find(text))
    results: list[list[Span]] = []
    threads = [threading.Thread(target=lambda: results.append(sorted(fast.find(text)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def test_nothing_is_found_by_nobody() -> None:
    assert list(PatternFinder(()).find("asha@example.org")) == []
    assert list(PLAIN.find("")) == []


def test_a_pattern_with_a_long_lead_is_not_taken_for_a_number() -> None:
    lead = replace(own(None).text, pattern="EMPLOYEE NUMBER OF THE HOUSE [0-9]{4}")  # type: ignore[type-var]
    assert not traits_of(lead.expression).is_number
    text = "employee number of the house 1234"
    found = list(PatternFinder((replace(own(None), text=lead),)).find(text))
    assert [(span.start, span.end) for span in found] == [(0, len(text))]


@settings(max_examples=60)
@given(texts)
def test_what_can_not_be_believed_is_all_that_is_left_out(text: str) -> None:
    assert sorted(PatternFinder.find(USUAL, text)) == sorted(
        span for span in PLAIN.find(text) if span.score >= USUAL.least
    )


USUAL = PatternFinder()


class TestSurroundings:
    CONTEXT: ClassVar = [("telephone", "tel", "téléphone"), ("car",), ("電話",)]

    @pytest.mark.parametrize(
        ("text", "place", "near"),
        [
            ("Tel: 42", 0, True),
            ("TELEPHONE 42", 0, True),
            ("telegraph 42", 0, False),
            ("42 tels", 0, True),
            ("42 telst", 0, False),
            ("İ TÉLÉPHONE 42", 0, True),
            ("car 42", 1, True),
            ("card 42", 1, False),
            ("電話42", 2, True),
            ("tel" + " " * 45 + "42", 0, True),
            ("tel" + " " * 46 + "42", 0, False),
            ("42" + " " * 45 + "tel", 0, True),
            ("42" + " " * 46 + "tel", 0, False),
        ],
    )
    def test_words_that_are_near(self, text: str, place: int, near: bool) -> None:
        start = text.index("42")
        assert ContextWords(self.CONTEXT).of(text)(place, start, start + 2) is near

    @settings(max_examples=100)
    @given(st.lists(st.sampled_from(["tel", "card", "é", "42", " ", "電話", "x" * 30]), max_size=60).map("".join))
    def test_over_bytes_nothing_that_is_near_is_far(self, text: str) -> None:
        near = ContextWords(self.CONTEXT).of(text)
        over = near.in_bytes(text.encode())
        for found in re.finditer("42", text):
            start, end = (len(text[:place].encode()) for place in found.span())
            for place in range(len(self.CONTEXT)):
                assert over(place, start, end) or not near(place, *found.span())

    @settings(max_examples=50)
    @given(st.integers(0, 200))
    def test_many_pieces_and_few_are_alike(self, count: int) -> None:
        near = ContextWords(self.CONTEXT).of("tel" + " " * 3000 + "car" + " " * 5000)
        pieces = [(37 * place, 37 * place + 9) for place in range(count)]
        assert list(near.those_near(pieces)) == [piece for piece in pieces for _ in near.those_near([piece])]
