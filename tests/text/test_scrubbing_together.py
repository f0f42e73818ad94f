"""The quick way gives what the slow way gives: texts read together, digits evened out, rounds in step."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.discover.recognisers import InText, Recogniser, default_recognisers
from shoal.pseudonyms.run_secrets import RunSecrets
from shoal.randomness import Randomness
from shoal.schema import Role
from shoal.scrub.scrubber import Scrubber
from shoal.text import lexicon_finder
from shoal.text.annotator import Annotator, without_contained
from shoal.text.lexicon import capitalised_runs
from shoal.text.lexicon.sentence_context import stands_apart
from shoal.text.lexicon_finder import LexiconFinder, find_by_lexicon, with_normalised_digits
from shoal.text.matching import context_words, pattern_traits, patterns
from shoal.text.matching.batch import THICKNESS, BatchedPatternFinder, separator_for
from shoal.text.matching.patterns import PatternFinder
from shoal.text.person_names import repeated_mentions
from shoal.text.spans import Span, merged

pytestmark = pytest.mark.requirement("X-02")

PATTERNS = PatternFinder()
SIDE_BY_SIDE = BatchedPatternFinder(PATTERNS)
ANNOTATOR = Annotator((PATTERNS, LexiconFinder()))
LINES = [
    '2026-11-01T00:00:03.017Z INFO web[12] 10.2.31.4 GET /login 200 2837 6ms "Mozilla/5.0 (X11; Linux) Gecko"\n',
    "2026-11-01T00:00:04Z DEBUG pool[907] card 4111 1111 1111 1111 declined for asha.rao@example.org\n",
    "2026-11-01T00:00:05Z DEBUG pool[1907] card 4111 1111 1111 1112 declined\n",
    "Nov  1 00:00:05 host sshd[3201]: Failed password for asha from 192.0.2.7 port 52022 ssh2\n",
    "user=ravi.lim password: \n",
    "hunter2 is what he wrote, phone\n",
    "+91 98765 43210\n",
    "postgres://shop:s3cret}@db.example.net/x\n",
    "patient MRN: A-004711 moved, born on 3 May 1981, aged 34\n",
    "Dr. Asha Rao of Nordwind Ltd called. Rao lives at 12 High Street, London.\n",
    "in 1850, in 1950, in 2050, in 3050; EUR 012 345, EUR 512 345; MI5 and MI6\n",
    "straße 12, Zürich, 日本 田中さん\n",
    "a note",
    "",
    "\n",
]
PIECES = [
    *(piece for line in LINES for piece in re.findall(r"\s+|\S+", line)),
    *(
        "}",
        "}}",
        "]",
        "https://x.example/a}b",
        "secret=",
        "MRN",
        "ssn",
        ":",
        "://",
        "a:b@c.de",
        "'",
        '"',
        "0",
        "19",
        "20",
    ),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
LOG_LINES = st.sampled_from(LINES).flatmap(
    lambda line: st.lists(st.sampled_from("0012589"), min_size=len(line), max_size=len(line)).map(
        lambda digits: "".join(
            new if old.isdigit() and old.isascii() else old for old, new in zip(line, digits, strict=True)
        )
    )
)


@pytest.fixture(scope="module")
def sentences(shared) -> list[str]:
    """Generated sentences and paragraphs of judgments."""
    data = shared / "data"
    generated = json.loads((data / "presidio_research" / "synth_dataset_v2.json").read_text(encoding="utf-8"))
    cases = (data / "tab_dev_113" / "tab_dev_113.jsonl").read_text(encoding="utf-8").splitlines()
    paragraphs = [part for case in cases[:30] for part in json.loads(case)["text"].split("\n") if part]
    return [each["full_text"] for each in generated if each["template_id"] % 4 == 0] + paragraphs[:300]


def slowly(text: str) -> list[Span]:
    """The annotation without any short cut."""
    everything = [*PATTERNS.find(text), *find_by_lexicon(text)]
    spans = merged(without_contained(everything, ANNOTATOR.threshold), ANNOTATOR.threshold)
    again = _again(text, spans)
    spans = merged([*spans, *again], ANNOTATOR.threshold) if again else spans
    bare = [(span, text[span.start : span.end]) for span in spans]
    kept = [(span, value) for span, value in bare if any(letter.isalnum() for letter in value)]
    return [
        span._replace(start=span.end - len(value.lstrip(" \t\n\r,;")), end=span.start + len(value.rstrip(" \t\n\r,;")))
        for span, value in kept
    ]


def _again(text: str, spans: list[Span]) -> list[Span]:
    from ahocorasick_rs import AhoCorasick, MatchKind

    parts = repeated_mentions._parts(text, spans)
    matches = AhoCorasick(list(parts), matchkind=MatchKind.LeftmostLongest).find_matches_as_indexes(text)
    seen = [
        Span(start, end, list(parts.values())[index], repeated_mentions.AGAIN, repeated_mentions.BY)
        for index, start, end in matches
    ]
    apart = [span for span in seen if stands_apart(text, span.start, span.end)]
    return [span for span in apart if not any(other.holds(span) for other in spans)]


# --- annotation -------------------------------------------------------------------------------------------------------


def test_annotations_are_those_of_the_slow_way(sentences):
    texts = [*LINES, *sentences]
    slow = [slowly(text) for text in texts]
    assert [ANNOTATOR.annotate(text) for text in texts] == slow
    assert list(ANNOTATOR.annotate_many(texts)) == slow


@given(st.lists(TEXTS | LOG_LINES, max_size=8))
@settings(max_examples=150, deadline=None)
def test_texts_that_are_read_together_don_t_touch_each_other(texts):
    assert list(ANNOTATOR.annotate_many(texts)) == [slowly(text) for text in texts]


@given(
    st.lists(
        st.builds(
            lambda start, length, kind, score: Span(start, start + length, kind, score, "test"),
            st.integers(0, 30),
            st.integers(0, 12),
            st.sampled_from(["address", "place", "person", "email"]),
            st.sampled_from([0.3, 0.5, 0.6, 0.9]),
        ),
        max_size=8,
    )
)
def test_spans_that_don_t_overlap_are_settled_as_by_merging(spans):
    text = "a" * 50
    settled = Annotator(())._settled(text, list(spans), "prose")
    alone = merged(without_contained(spans, 0.5), 0.5)
    assert settled == merged([*alone, *_again(text, alone)], 0.5)


# --- runs -------------------------------------------------------------------------------------------------------------

_ANYWHERE = re.compile(rf"(?<![\w@])(?:{capitalised_runs._RUN})")


def test_runs_begin_where_the_whole_form_fits(sentences):
    for text in [*LINES, *sentences]:
        assert list(capitalised_runs._spans(text)) == [match.span() for match in _ANYWHERE.finditer(text)]


@given(
    st.lists(
        st.sampled_from(
            ["d'", "l’", "al-", "El", "el-", "A", "ä", "Ö", " ", "Mr.", "M/s", "of ", "@", "-", "s'", "9", "_"]
        )
    )
)
@settings(max_examples=300)
def test_runs_begin_where_the_whole_form_fits_in_any_text(parts):
    text = "".join(parts)
    assert list(capitalised_runs._spans(text)) == [match.span() for match in _ANYWHERE.finditer(text)]
    for run in capitalised_runs.runs_in(text):
        assert [text[word.start : word.end] for word in run.words] == [word.text for word in run.words]
        line = text[max(0, run.start - 36) : run.start].rsplit("\n", 1)[-1].rsplit(". ", 1)[-1].lower()
        before = capitalised_runs._LAST_WORDS.findall(line)[-4:]
        assert run.before == tuple([word for word in before if word[0].isalnum() or word[-1].isalnum()][-3:])


# --- digits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("digits", ["0123456789", "0129", "18", "5"])
def test_finders_take_texts_for_the_same_whose_digits_are_evened_out(sentences, digits):
    stream = Randomness(7).stream("digits")
    for text in [*LINES, *sentences[::3]]:
        drawn = iter(stream.uniform(np.arange(len(text), dtype=np.uint64), lane=len(text)).tolist())
        changed = re.sub("[0-9]", lambda _, drawn=drawn: digits[int(next(drawn) * len(digits))], text)  # type: ignore[misc]
        assert list(LexiconFinder().find(changed)) == find_by_lexicon(changed)


@given(LOG_LINES | TEXTS)
@settings(max_examples=300, deadline=None)
def test_any_line_is_found_in_as_without_memory(line):
    assert list(LexiconFinder().find(line)) == find_by_lexicon(line)
    if line.isascii():
        assert len(with_normalised_digits(line)) == len(line)
        assert with_normalised_digits(with_normalised_digits(line).decode()) == with_normalised_digits(line)


KEPT_APART = r"\(\?:1\[89\]\|20\)|\(\?:19\|20\)|\[1-9\]|^0$"
"""What ``with_even_digits`` keeps apart: centuries of years, and noughts in front of a number."""
NO_DIGITS = r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\{+[0-9]*,?[0-9]*\}+|\[0-9\]|utf-8"
"""Digits in expressions that stand for no digit, or for any."""


def _told_apart(source: str, allowed: str) -> list[str]:
    tree = ast.parse(source)
    notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in notes
    ]
    return [text for text in texts if re.search("[0-9]", re.sub(allowed, "", text))]


def _with_imports(name: str, seen: dict[str, str]) -> dict[str, str]:
    if name not in seen:
        seen[name] = inspect.getsource(importlib.import_module(name))
        for module in re.findall(r"^from (shoal\.text\.[\w.]+) import", seen[name], re.MULTILINE):
            _with_imports(module, seen)
    return seen


def test_no_finder_tells_more_digits_apart_than_are_kept():
    blind: dict[str, str] = {}
    for finder in ("person_names.finder", "place_names.finder", "organisation_names.finder",
                   "personal_facts.occupations", "listed_phrases"):  # fmt: skip
        _with_imports(f"shoal.text.{finder}", blind)
    others: dict[str, str] = {}
    for finder in ("street_addresses.finder", "dates_numbers.figures", "dates_numbers.spoken_dates"):
        _with_imports(f"shoal.text.{finder}", others)
    for module, source in blind.items():
        assert not _told_apart(source, NO_DIGITS), module
    for module in others.keys() - blind.keys():
        assert not _told_apart(others[module], f"{NO_DIGITS}|{KEPT_APART}"), module
    assert len(blind) > 7
    assert _told_apart('_A = re.compile(r"24/\\d{1,2}")', f"{NO_DIGITS}|{KEPT_APART}")


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(lexicon_finder, "MOST_REMEMBERED", 16)
    finder = LexiconFinder()
    for number in range(100):
        finder.find(f"line {'x' * number}")
        assert 0 < len(finder.memory.table(LexiconFinder)) <= 16


# --- walls ------------------------------------------------------------------------------------------------------------


def test_a_wall_is_thicker_than_anything_reaches():
    assert max(context_words.REACH, patterns.JUST_BEFORE, 2 * pattern_traits.AROUND + pattern_traits.APART) < THICKNESS
    assert separator_for(PATTERNS) is not None


@given(st.lists(TEXTS | LOG_LINES, min_size=4, max_size=12))
@settings(max_examples=200, deadline=None)
def test_patterns_find_side_by_side_what_they_find_in_each(texts):
    together = SIDE_BY_SIDE.find_many(texts)
    assert [sorted(spans) for spans in together] == [sorted(PATTERNS.find(text)) for text in texts]


@pytest.mark.parametrize("pattern", [r'<[^"]{1,200}>', r"(?s:.)x", r"x$", r"^x", r"\n?[^a]x"])
def test_without_a_wall_each_text_is_looked_through_by_itself(pattern):
    stranger = Recogniser(
        "stranger", "a thing", Role.DIRECT, "it is", type="stranger", text=InText(pattern, 0.8, 0.9, edges="none")
    )
    own = PatternFinder((*default_recognisers(), stranger))
    assert separator_for(own) is None
    texts = ["<x", "x>", "ax", "xa", "x"] * 2
    assert BatchedPatternFinder(own).find_many(texts) == [list(own.find(text)) for text in texts]


# --- scrubbing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("replace", ["label", "mask", "pseudonym"])
def test_texts_are_scrubbed_together_as_each_alone(sentences, replace):
    scrubber = Scrubber(ANNOTATOR, replace, RunSecrets(Randomness(1)))
    texts = [*LINES, *sentences[::12]]
    together = scrubber.scrub_many(texts, "somebody")
    assert together == [scrubber.scrub(text, "somebody") for text in texts]
    again = scrubber.scrub_many([scrubbed.text for scrubbed in together], "somebody")
    assert [scrubbed.text for scrubbed in again] == [scrubbed.text for scrubbed in together]
    for text, scrubbed in zip(texts, together, strict=True):
        if not scrubbed.actions:
            assert scrubbed.text == text
