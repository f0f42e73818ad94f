"""Names that are nobody's: planets, products, medicines, laws of nature, labels of forms, identifiers of programs.

They look like names of people and places, and often are some as well: Venus is a given name, Toyota a city. So they
are let go only where nothing but the word itself spoke for somebody: a title, a second name or an address around it
still counts.
"""

from __future__ import annotations

import re
from functools import cache

from shoal.text.lexicon.gazetteers import NAME, lexicon, sections_in
from shoal.text.spans import Span

NAMING = frozenset({"person", "place", "organisation"})
BY = frozenset({"names", "places", "organisations"})
LABELS = "form labels"
SURE = 0.75
"""From this score on more than the word speaks for somebody."""
_LAW = re.compile(
    r"['’]s? (?:(?:first|second|third|last|famous) )?"
    r"(?:laws?|theorem|equations?|constant|principle|method|theory|formula|paradox|syndrome|disease)\b"
)
_IDENTIFIER = re.compile(
    r"(?!(?:Mc|Mac|De|Di|La|Le|Van|Fitz|Du|Al|El|O['’])[A-Z])\w*(?:[a-z]{2,}[A-Z]|[A-Z]{2,}[a-z]{2,})\w*"
)
_COLON = re.compile(r" ?[:：]")
_HUMP = re.compile(r"[A-Z][a-z]{2,}")
_PROGRAM = re.compile(
    r"(?:[A-Z][a-z\d]+)+(?:Service|Repository|Gateway|Controller|Manager|Handler|Factory|Exception|Error|Client|Server"
    r"|Provider|Listener|Adapter|Builder|Config|Context|Helper|Impl|Interface|Mapper|Module|Parser|Proxy|Queue|Request"
    r"|Response|Router|Session|Test|Thread|Utils?|Validator|View|Worker|Writer|Reader)"
)
"""Classes of programs, called by what they do."""
_CALLS = re.compile(r"(?:\.|::|->|#)[a-z_]\w*\(")
_MEDICINE = re.compile(
    r"\w{2,}(?:statin|pril|sartan|olol|azole|mycin|cillin|formin|prazole|oxacin|parin|tinib|umab|ximab|dipine|gliptin"
    r"|gliflozin|thiazide|setron|triptan|caine|profen|cycline)e?"
)
"""Stems that the WHO gives to substances of a kind (INN)."""
_DOSE_BEFORE = re.compile(r"\d ?(?:mg|mcg|µg|g|ml|units?|tablets?|capsules?|puffs?|drops?)(?: of)? $")
_DOSE_BEHIND = re.compile(r" (?:tablets? |capsules? )?\d[\d.,]* ?(?:mg|mcg|µg|ml|units?)\b")
_MEASURED = re.compile(r"[\d.,]+ ?[x×] ?[\d.,]+(?: ?[x×] ?[\d.,]+)?")
_LONGEST_DOSE = 24
_ORDINALS = "ºª"
"""They make a word an abbreviation for a number: ``NºCol``."""


def is_impersonal(text: str, span: Span) -> bool:
    if span.type == "address":
        return _MEASURED.fullmatch(text, span.start, span.end) is not None
    if span.type not in NAMING or span.by not in BY:
        return False
    word = text[span.start : span.end]
    if _LAW.match(text, span.end) or (span.score < SURE and _is_a_form_label(text, span, word)):
        return True
    if span.score >= SURE or " " in word:
        return span.score < SURE and _begins_with_a_label(word)
    if _is_of_a_program(text, span, word) or _is_a_medicine(text, span, word):
        return True
    return word in _things() or any(sign in word for sign in _ORDINALS)


def up_to_label(text: str, span: Span) -> Span:
    """A name ends where the label of the next field begins: ``Fornavn: Anna Efternavn: Holm``."""
    if span.type != "person" or span.by not in BY or _COLON.match(text, span.end) is None:
        return span
    name, _, last = text[span.start : span.end].rpartition(" ")
    if not name.strip() or last.casefold() not in _form_labels() or lexicon().kinds(last) & NAME:
        return span
    return span._replace(end=span.start + len(name.rstrip()))


def _is_a_form_label(text: str, span: Span, word: str) -> bool:
    return _COLON.match(text, span.end) is not None and word.casefold() in _form_labels()


def _begins_with_a_label(words: str) -> bool:
    """``Servicio de Urgencias``: a small word behind a label is none of a name's."""
    first, second = words.split()[:2]
    return second.islower() and first in _things()


def _is_of_a_program(text: str, span: Span, word: str) -> bool:
    """Firms write words together too, as programs do: theirs are told by what a class is called or does."""
    if span.type == "organisation" and not (_PROGRAM.fullmatch(word) or _CALLS.match(text, span.end)):
        return False
    return _is_identifier(text, span, word)


def _is_a_medicine(text: str, span: Span, word: str) -> bool:
    before = text[max(0, span.start - _LONGEST_DOSE) : span.start]
    return bool(
        _MEDICINE.fullmatch(word.lower())
        or (span.type == "organisation" and (_DOSE_BEFORE.search(before) or _DOSE_BEHIND.match(text, span.end)))
    )


def _is_identifier(text: str, span: Span, word: str) -> bool:
    """Whether words are written together as programs do; names that people write together are of accounts."""
    if _IDENTIFIER.fullmatch(word) is None or text[span.start - 1 : span.start] in ("@", "#"):
        return False
    return not any(lexicon().kinds(part) & NAME for part in _HUMP.findall(word))


@cache
def _things() -> frozenset[str]:
    return frozenset(word for name, words in sections_in("things").items() if name != LABELS for word in words)


@cache
def _form_labels() -> frozenset[str]:
    return frozenset(word.casefold() for word in sections_in("things")[LABELS])
