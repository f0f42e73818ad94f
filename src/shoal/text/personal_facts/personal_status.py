"""How somebody lives: family, children, home, income, standing before the law; as a sentence tells it of a person."""

from __future__ import annotations

from shoal.text.dates_numbers.numerals import NUMERAL
from shoal.text.lazy_patterns import lazy_pattern
from shoal.text.lexicon.gazetteers import sections_in
from shoal.text.lexicon.sentence_context import PhraseHit, either
from shoal.text.spans import Span

BY = "standing"
SURE = 0.7
TOLD = 0.65

_LISTS = sections_in("standing")
_FOREIGN = r"(?:ist|war|est|était|es|está|estaba|è)"
_BE = lazy_pattern(
    rf"(?:\b(?:is|was|are|were|been|being|am|became|become|got|remained|{_FOREIGN})|['’]m|['’]s)"
    r"(?: (?:not|now|also|both|still|already|newly|recently|currently|since|twice|happily|legally))* $|(?<=d) and $"
)
_IN_ANOTHER_LANGUAGE = lazy_pattern(rf"\b{_FOREIGN} $")
_A_PERSON = lazy_pattern(
    r"(?:(?:\b(?:is|was|am|been|became|being|as|remained)|['’]m)(?: (?:now|also|still|then|only))? an? |[,(] an? )"
    rf"(?:(?:{either(_LISTS['kinds of people'])}|\w+an|\w+ese) ){{0,2}}$"
)
_PARENTS = r"(?:mother|father|parents?|mum|mom|dad|grandmother|grandfather)"
_CHILDREN = lazy_pattern(
    r"(?:\b(?:he|she|i|we|they|who|couple|applicants?|and|parents) (?:also )?(?:has|have|had|having) |['’]ve (?:got )?"
    r"|, (?:and )?(?:has|have|had) |\bwith (?:her|his|my|their) |\b(?:their|his|her|my|our|rais(?:ing|es|ed)"
    r"|bringing up|brought up|expecting|tiene|tengo"
    rf"|hat|habe|a|ha|married,? (?:and )?(?:with|has|have)|{_PARENTS} (?:of|to|with)|(?:youngest|eldest|oldest) of) )"
    rf"(?P<count>(?:an? |no |{NUMERAL} )(?:(?:{either(_LISTS['kinds of children'])}) ){{0,2}})$"
)
_HOW_MANY = lazy_pattern(rf" {NUMERAL}(?!\w)")
_BORN = lazy_pattern(
    r"\b(?:gave birth to|giving birth to|given birth to|adopted|expecting) (?:an? |her \w+ |their \w+ |twin )?$"
)
_HIMSELF = lazy_pattern(r"\b(?:he|she|i|who|they|child|son|daughter|boy|girl) (?:was|were|had been|is|am|has been) $")
_SPOUSE = lazy_pattern(r" from (?:his|her|my) (?:husband|wife|spouse|partner)\b")
_OF_THINGS_TOO = frozenset(_LISTS["of things too"])
_CLAUSE_ENDS = lazy_pattern(r"[,.;:!?)\n]|$| (?:and|or|but|since|by|from|in|at|who|with|of|for|now)\b")
_BELIEVES = lazy_pattern(
    r"(?:\b(?:is|was|am|are|were|been|being|as|votes?|voted|devout|practising|practicing|identif(?:y|ies) as)"
    r"|came out as|['’]m|['’]s)(?: (?:an?|the|openly|also|very|deeply|now))* $"
)
_POLITICIAN = lazy_pattern(rf" (?:{either(sections_in('beliefs')['politicians'])})(?!\w)")
_NEXT_WORD = lazy_pattern(r" (?P<value>[^\W\d_]{3,})")
_ADJECTIVE = lazy_pattern(r"(?<!\w)(?!der |die |ein |eine )[^\W\d_]+(?:er|e|en) $")
_HAS = lazy_pattern(r"\b(?:has|had|have|with|his|her|having|wears?|wore)(?: an?)? (?P<kind>(?:[a-z-]+ ){0,2})$")
_SUBJECT = lazy_pattern(r" in [a-z]+(?: [a-z]+(?:ing|ics|logy|law|ion|ure))?(?!\w)")
_LABELLED = lazy_pattern(r" ?[:=-] ?(?P<value>[^\W\d_]+(?:[ -][^\W\d_]+)?)")


def anywhere(hit: PhraseHit) -> Span | None:
    return hit.span("standing", SURE, BY)


def adjective(hit: PhraseHit) -> Span | None:
    """ "Divorced", "homeless", after a form of "to be", of somebody."""
    before = hit.before()
    if not _BE.search(before) or not (_IN_ANOTHER_LANGUAGE.search(before) or hit.of_somebody(before)):
        return None
    if hit.phrase == "adopted" and not _HIMSELF.search(before):
        return None
    spouse = _SPOUSE.match(hit.small, hit.end)
    if hit.phrase in _OF_THINGS_TOO and spouse is None and not _CLAUSE_ENDS.match(hit.small, hit.end):
        return None
    return hit.span("standing", TOLD, BY, end=spouse.end() if spouse else None)


def person(hit: PhraseHit) -> Span | None:
    """ "A widow", "as a refugee"."""
    before = hit.before()
    return hit.span("standing", TOLD, BY) if _A_PERSON.search(before) and hit.of_somebody(before) else None


def believing(hit: PhraseHit) -> Span | None:
    """A word of belief that is an everyday one too: "she is Orthodox", "votes Labour", "a Republican senator"."""
    before = hit.before()
    if hit.text[hit.start].isupper() and _POLITICIAN.match(hit.small, hit.end):
        return hit.span("belief", TOLD, BY)
    told = _BELIEVES.search(before) and _CLAUSE_ENDS.match(hit.small, hit.end) and hit.of_somebody(before)
    return hit.span("belief", TOLD, BY) if told else None


def children(hit: PhraseHit) -> Span | None:
    """How many children somebody has, and that one was born."""
    before = hit.before()
    born = _BORN.search(before)
    if born is not None and hit.of_somebody(before):
        return hit.span("standing", TOLD, BY, more=len(born.group()))
    match = _CHILDREN.search(before) if hit.of_somebody(before) else None
    return None if match is None else hit.span("standing", TOLD, BY, more=len(match["count"]))


def parent(hit: PhraseHit) -> Span | None:
    """ "Mother of three"."""
    match = _HOW_MANY.match(hit.small, hit.end)
    return None if match is None else hit.span("standing", TOLD, BY, end=match.end())


def labelled(hit: PhraseHit) -> Span | None:
    """ "Marital status: single"."""
    match = _LABELLED.match(hit.text, hit.end)
    return None if match is None else Span(*match.span("value"), "standing", SURE, BY)


def believed_by_label(hit: PhraseHit) -> Span | None:
    """ "Religion: Hindu"."""
    match = _LABELLED.match(hit.text, hit.end)
    return None if match is None else Span(*match.span("value"), "belief", SURE, BY)


def of_a_nation(hit: PhraseHit) -> Span | None:
    """ "De nationalité française"."""
    match = _NEXT_WORD.match(hit.text, hit.end)
    return None if match is None else Span(*match.span("value"), "standing", SURE, BY)


def citizen(hit: PhraseHit) -> Span | None:
    """ "Türkischer Staatsangehöriger"."""
    match = _ADJECTIVE.search(hit.before())
    return None if match is None else hit.span("standing", SURE, BY, more=len(match.group()))


def looks(hit: PhraseHit) -> Span | None:
    """ "A scar on his cheek", "blue eyes"."""
    before = hit.before()
    match = _HAS.search(before)
    return hit.span("standing", TOLD, BY, more=len(match["kind"])) if match and hit.of_somebody(before) else None


def education(hit: PhraseHit) -> Span | None:
    """ "A degree in law"."""
    if hit.phrase == "degree" and hit.small.startswith(" of ", hit.end):
        return None
    before = hit.before()
    subject = _SUBJECT.match(hit.small, hit.end)
    return hit.span("standing", TOLD, BY, end=subject.end() if subject else None) if hit.of_somebody(before) else None
