"""What is skipped to be quicker holds nothing that would have been found."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.scrub import second_look
from shoal.text.dates_numbers import figures, quantities
from shoal.text.lexicon.capitalised_runs import runs_in
from shoal.text.lexicon.caseless_scripts import _in_caseless_scripts, find_in_caseless_scripts, has_no_case
from shoal.text.lexicon.gazetteers import LexiconKind, lexicon
from shoal.text.organisation_names import formal_names
from shoal.text.person_names import finder, repeated_mentions
from shoal.text.personal_facts import occupations
from shoal.text.place_names.place_context import all_nouns_have_capitals
from shoal.text.spans import Span
from shoal.text.street_addresses.address_parts import (
    BOXED,
    CODE_FIRST,
    CUE,
    GATES,
    LONG_CODE,
    TOWN_FIRST,
    address_forms,
    is_cued,
    with_tail,
)

pytestmark = pytest.mark.requirement("D-03", "X-01")

_AS_SPOKEN = re.compile(r"(?<![\w.,])\d+(?:[,.'/:–-][\dA-Z]+)*(?!\w)|(?<=[$€£¥₹₩₽₺₫฿₦₱sM])\d+(?:[,.]\d+)*")
"""Numbers as one would write the expression, if it were not to be quick."""
_GATES = {
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


_TOWNS = (
    "Leeds|Ⓐlm|St. Gallen|,| | |, |LS1 4AP|K1A 0B1|TX|NSW|TX.|2000|75001|1017 AB"
    "|123 45|00-950|1000-205|13083-970|D-|12|(|\n"
)
_OF_TOWNS = st.lists(st.sampled_from(_TOWNS.split("|")), max_size=8).map("".join)


@example("Austin TX., 78701")
@given(_OF_TOWNS)
def test_towns_are_looked_for_wherever_their_forms_match(text: str) -> None:
    with_code, _, code_first = address_forms(small=False, plain=text.isascii()).towns
    assert GATES[TOWN_FIRST].search(text) or not with_code.search(text)
    assert GATES[CODE_FIRST].search(text) or not code_first.search(text)


_BORN_TO = re.compile(r"(?<![\w'’/-])(?P<name>[^\W\d_]{3,}) (?i:[sdw]/o\.?|a/[lp]) (?=\w)")
_AT_NAME = re.compile(r"(?<![\w@.])@([^\W\d_]{3,})(?![\w@-]|\.\w)")


@example("muthu s/o ramasamy d/o xyzzy")
@given(st.text(st.sampled_from("sdwa/olp.SOA ſxyzé1_'-")))
def test_whose_child_somebody_is_is_found_as_by_the_plain_expression(text: str) -> None:
    found = [(span.start, span.end) for span in finder.born_to(text)]
    assert found == [
        match.span("name")
        for match in _BORN_TO.finditer(text)
        if match["name"].islower() and not lexicon().kinds(match["name"]) & _NO_CHILD
    ]


_NO_CHILD = LexiconKind.COMMON | LexiconKind.FORM


@given(st.text(st.sampled_from("@@ab.é-_ 1")))
def test_who_is_called_upon_is_found_as_by_the_plain_expression(text: str) -> None:
    assert [match.span(1) for match in finder._AT_NAME.finditer(text)] == [
        match.span(1) for match in _AT_NAME.finditer(text)
    ]


class _Anything:
    def __contains__(self, _: object) -> bool:
        return True


@given(
    st.lists(
        st.sampled_from(["$", "Rs.", "RM ", "USD ", "€", "\n", " ", "\u00a0", "5", "1,200", "k", " million", "EUR"])
    )
)
def test_sums_are_found_whichever_signs_are_looked_at_first(parts: list[str]) -> None:
    text = "".join(parts)
    found = list(figures.figures(text))
    with pytest.MonkeyPatch.context() as patched:
        for name in ("_SIZES_BEGIN", "_SIGNS_END", "_COINS"):
            patched.setattr(figures, name, _Anything())
        assert list(figures.figures(text)) == found


@given(
    st.lists(st.sampled_from(["he weighs ", "disabled ", "5", "'", "11", " ", "kg", "ﬅone", "K", "m²", "%", "/", "8"]))
)
def test_quantities_are_found_whichever_signs_are_looked_at_first(parts: list[str]) -> None:
    text = "".join(parts)
    found = list(figures.figures(text))
    with pytest.MonkeyPatch.context() as patched:
        for name in ("_UNITS_BEGIN", "_FOOT"):
            patched.setattr(quantities, name, _Anything())
        assert list(figures.figures(text)) == found


_TAILS = ["e.V.", "S.p.A", "y asociados", "és társa", "s.r.o.", ".d.o.o", "d.o.o.", "mbH", "ry", "Nyrt.", "A/S", "S/A"]


@given(st.lists(st.sampled_from([*_TAILS, "Kft.", "sp. z o.o.", "und Söhne", "og", ",", " ", " "]), max_size=4))
def test_legal_forms_behind_a_name_are_found_by_one_look_at_a_sign(parts: list[str]) -> None:
    text = f"Rossi{''.join(parts)}"
    found = formal_names.past_its_tail(text, len("Rossi"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(formal_names, "_TAILS_BEGIN", _Anything())
        assert formal_names.past_its_tail(text, len("Rossi")) == found


@given(st.text(st.sampled_from("ist an.,İſBaker")))
def test_lines_that_end_like_an_occupation_are_those_that_end_so(line: str) -> None:
    ends = line.rstrip(" .,").lower().endswith(occupations._JOB_ENDINGS) or not line.isascii()
    assert occupations._may_be_a_card(line) is ends


@example(f"x{'e' * 34}der Haus {'e' * 40}die Burg")
@given(
    st.lists(st.sampled_from(["der ", "Die ", "Haus ", "Burg", ". ", ", ", "(", "im ", "under ", "\n"]), max_size=20)
)
def test_where_every_noun_may_have_a_capital_runs_are_looked_at(parts: list[str]) -> None:
    text = "".join(parts)
    assert second_look._may_be_german(text) or not all_nouns_have_capitals(list(runs_in(text)))


@given(
    st.lists(st.sampled_from(["Send", " to", " lives", " at", " c/o", " Asha,", "ADRESS", "e:", " ", "\n", "ſend to"]))
)
def test_what_leads_to_an_address_does_so_in_any_case(parts: list[str]) -> None:
    text = "".join(parts)
    assert is_cued(text) is (CUE.search(text) is not None)


def test_single_words_are_read_as_runs_of_several_are() -> None:
    text = "We met Asha, Rao, The, Dr, Mr., Nordwind, Jean-Pierre, Ministry, K, OK, Paris-based, Brightwater, von."
    for run in runs_in(text):
        if len(run.words) == 1:
            several = [parts for parts in finder._stretches(run) if parts[0]]
            assert list(finder._alone(run.words[0])) == several
