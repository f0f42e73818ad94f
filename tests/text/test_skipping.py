"""What is skipped to be quicker holds nothing that would have been found."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.text.dates_numbers import figures
from shoal.text.lexicon.caseless_scripts import _in_caseless_scripts, find_in_caseless_scripts, has_no_case
from shoal.text.person_names import repeated_mentions
from shoal.text.spans import Span
from shoal.text.street_addresses.address_parts import BOXED, GATES, LONG_CODE, TOWN_FIRST, address_forms, with_tail

pytestmark = pytest.mark.requirement("D-03", "X-01")

_AS_SPOKEN = re.compile(r"(?<![\w.,])\d+(?:[,.'/:–-][\dA-Z]+)*(?!\w)|(?<=[$€£¥₹₩₽₺₫฿₦₱sM])\d+(?:[,.]\d+)*")
"""Numbers as one would write the expression, if it were not to be quick."""
_GATES = {
    TOWN_FIRST: re.compile(r"(?i:\d[A-Z]{2}(?!\w)|[A-Z]\d[A-Z] ?\d|\d{4})"),
    LONG_CODE: re.compile(r"\d{6}|\d{3} \d{3}"),
    BOXED: re.compile(r"(?i:b(?:ox|ag|p)|post|apartado)"),
}


@given(st.text(st.sampled_from("0129٣sM$€.,'/:–-AZaſ _\n")))
def test_numbers_are_those_of_the_plain_expression(text: str) -> None:
    assert [match.span() for match in figures._NUMBERS.finditer(text)] == [
        match.span() for match in _AS_SPOKEN.finditer(text)
    ]


@example("po BoX 12")
@given(st.text(st.sampled_from("0129 aAbBgGoOxXpPsSſtTKrRdD._\n")))
def test_gates_are_open_wherever_the_plain_expression_matches(text: str) -> None:
    for gate, plain in _GATES.items():
        assert bool(GATES[gate].search(text)) is bool(plain.search(text))


def test_whatever_is_looked_for_in_scripts_without_capitals_begins_with_a_sign_that_has_no_case() -> None:
    assert [phrase for phrase in _in_caseless_scripts() if not has_no_case(phrase[0])] == []
    assert [sign for sign in "aé’–“€ñªIß" if has_no_case(sign)] == []
    assert [span.type for span in find_in_caseless_scripts("“北京” – Ñandú")] == ["place"]


@given(st.lists(st.sampled_from(["Asha", "Rao", "Mina", "Pune", " ", ", ", "Nordwind", "nordwind", "x"]), max_size=30))
def test_names_are_found_again_by_one_look_as_by_one_for_each(words: list[str]) -> None:
    text = "".join(words)
    spans = [
        Span(match.start(), match.end(), kind, 0.9, "names")
        for name, kind in (("Asha Rao", "person"), ("Nordwind", "organisation"))
        if (match := re.search(name, text))
    ]
    spans.sort()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(repeated_mentions, "LONG", 0)
        at_once = repeated_mentions.find_repeated_mentions(text, spans)
    assert at_once == repeated_mentions.find_repeated_mentions(text, spans)


@given(st.lists(st.sampled_from(["12 ", "High Street", ", ", "\n", "Flat 7", "Leeds", "LS1 4AP", "TX", "75001 "])))
def test_the_tail_of_an_address_is_the_same_whether_it_was_met_before_or_not(parts: list[str]) -> None:
    text = "".join(parts)
    forms = address_forms(small=False, plain=True)
    kept = forms._replace(tails={})
    for end in (*range(len(text)), *range(len(text))):
        assert with_tail(text, end, kept) == with_tail(text, end, forms)
    assert forms.tails is None, "what belongs to one text is not kept for others"
