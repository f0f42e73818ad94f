"""Bodies: organisations whose name says what they are, by a legal form, a kind or an ampersand.

"Regional Court" or "Ministry of Defence" alone names an office that every country has: it is not taken. "Lubań District
Court" is, for its first word, and so is an office of three words or more, though each is generic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shoal.text.lazy_patterns import lazy_pattern
from shoal.text.lexicon.capitalised_runs import JOINS, PARTICLES, CapitalisedRun, RunWord
from shoal.text.lexicon.gazetteers import NAME, PLACE, LexiconKind, folded, sections_in
from shoal.text.lexicon.word_shapes import is_adverb, is_no_name
from shoal.text.spans import Span

BY = "organisations"
FORM = 0.9
KIND = 0.8
CONTEXT = 0.6
LOOKS_LIKE = 0.52
GENERIC_FROM = 3
"""An office of this many words is taken though each is generic."""
LONGEST_BODY = 130

_FOREIGN = lazy_pattern(
    r" \((?!the |of |see |a |an |in |no |on |at |and |or |as |from |for )[^\W\d_][^()\d“”\"\n]{5,60}\)"
)
"""The name in another language, in brackets after a body that every country has: "Supreme Court (Högsta domstolen)"."""
_SHORT_NAME = lazy_pattern(r" \([“\"](?:the )?([A-Z][A-Z.-]{2,9})[”\"]")
_SMALL_BODY = lazy_pattern(
    r"\b(?:board|fund|tribunal|office|agency|authority|council|commission|committee|service|department|union|bank|institute"
    r"|association)\b"
)
_BROKEN = frozenset(".,;:()\n")
_OPENERS = frozenset(sections_in("context")["openers"])
_ADVERBS = frozenset(sections_in("trade")["openers"])
_STREETS = frozenset(sections_in("context")["streets"])
_OF = frozenset({"of", "for", "de", "di", "du", "della", "des", "del", "der", "van"})
_LEADING = frozenset(folded(word) for word in sections_in("bodies")["leading"])
_CLUBS = frozenset(sections_in("bodies")["clubs"])
_OF_AN_OFFICE = frozenset(sections_in("trade")["of"])
_EVERYWHERE = frozenset({"government", "ministry", "european"})
_NO_PROPER = LexiconKind.COMMON | LexiconKind.OCCUPATION | LexiconKind.GENERIC | LexiconKind.TITLE
_NO_TOWN = (
    LexiconKind.COMMON
    | LexiconKind.PEOPLE
    | LexiconKind.TITLE
    | LexiconKind.GENERIC
    | LexiconKind.BELIEF
    | LexiconKind.GIVEN
)
_HEADS = lazy_pattern(
    r" (?:[\w-]+-type |high-security |state |district |central |military |psychiatric |general |university |remand )?"
    r"(?:prison|police|hospital|garrison|court|university|barracks|monastery|clinic|gaol|jail|airport|orphanage)(?!\w)"
)
_SMALL_FORM = (
    r"(?:e\.? ?V\.?|e\. ?K\.|s\.r\.l\.?|s\.p\.a\.?|s\.n\.c\.?|s\.a\.s\.?|s\.r\.o\.?|a\.s\.|j?\.?d\.o\.o\.?|d\.d\."
    r"|[skvo]\.[psc]\.|v\.o\.s\.|[Ss]p\. ?(?:z ?o\. ?o|[jk])\.?|mbH|b\.v\.|n\.v\.|ry|K[hkf]t\.|Bt\.|[ZN]y?rt\.|A/S|S/A)"
)
_KIN = (
    r"(?:y [Aa]sociados|[ei] [Ff]igli|e [Ff]ilhos|e [Aa]ssociati|et [Ff]ils|et [Aa]ssoci[ée]s|[ia] [Ss]yn(?:owie|ové)?"
    r"|und (?:S[öo]hne|Partner)|og [Ss]øn(?:ner)?|och [Ss]öner|és [Tt]ársa)"
)
_TAIL = lazy_pattern(rf",? (?:{_KIN}(?: (?:{_SMALL_FORM}|S\.[A-Z][\w.]*))?|{_SMALL_FORM})(?!\w)")
"""Legal forms and words of kinship in small letters after the name."""
_TAILS_BEGIN = frozenset(".yeéiuoesjdakvosSmbnrKBZNA")
"""To look one sign up is quicker than to try the expression."""
_POLISH = lazy_pattern(r"\. ?(?:z ?o\. ?o|[jk])\.?(?: Sp\.k\.?)?(?!\w)")
""" "Sp. z o.o.", of which the first letters are a word of the run."""
_KINDRED = frozenset(
    ("fils", "filhos", "figli", "hijos", "sohne", "sonner", "soner", "synowie", "associati", "associes")
)


def find_formal_name(run: CapitalisedRun, words: Sequence[RunWord], text: str) -> Span | None:
    """The body that these words of a run name."""
    tail = past_its_tail(text, words[-1].end) if words[-1] is run.words[-1] else words[-1].end
    if tail > words[-1].end:
        words = _after_an_office(words)
        return Span(words[0].start, tail, "organisation", FORM, BY)
    heads = [place for place, word in enumerate(words) if word.kinds & (LexiconKind.FORM | LexiconKind.BODY)]
    if len(words) == 1:
        return (_kinds(words, text) if heads else None) or _small_head(run, words, text)
    forms = [place for place in heads if place and _is_form(words, place)]
    if forms:
        return span_of(_after_an_office(words[: forms[-1] + 1]), FORM)
    if len(words) > 2 and words[-1].key in _KINDRED and words[-2].key in PARTICLES:
        return span_of(_after_an_office(words), FORM)
    return _joined(words) or _club(words) or (_kinds(words, text) if heads else None) or _small_head(run, words, text)


def past_its_tail(text: str, end: int) -> int:
    """The end of a name with the legal form in small letters after it, if there is one."""
    if text[end - 1 : end + 2] in ("A/S", "S/A"):
        return end + 2
    polish = _POLISH.match(text, end) if text[end - 2 : end] == "Sp" else None
    if polish is not None:
        return polish.end()
    tail = _TAIL.match(text, end) if _sign_behind(text, end) in _TAILS_BEGIN else None
    return end if tail is None else tail.end()


def _sign_behind(text: str, end: int) -> str:
    """What stands behind a blank, or a comma and a blank."""
    if text[end : end + 1] == ",":
        end += 1
    return text[end + 1 : end + 2] if text[end : end + 1] == " " else ""


def without_opener(run: CapitalisedRun) -> Sequence[RunWord]:
    """The run without an everyday word that only begins the sentence, and without what joins nothing."""
    words = run.words
    first, past = 0, len(words)
    while first < past and (
        words[first].key in _OPENERS
        or is_no_name(words[first].key)
        or (run.opens and (words[first].key in JOINS or words[first].key in _ADVERBS))
        or (run.opens and not first and past > 1 and is_adverb(words[0].key))
    ):
        first += 1
    while past > first and (words[past - 1].key in JOINS or words[past - 1].key in PARTICLES):
        past -= 1
    return words if past - first == len(words) else words[first:past]


def span_of(words: Sequence[RunWord], score: float) -> Span:
    return Span(words[0].start, words[-1].end, "organisation", score, BY)


def _is_form(words: Sequence[RunWord], place: int) -> bool:
    """A legal form; one that is a name or initials as well only in its own writing, at the end: "Rossi SA"."""
    word = words[place]
    if not word.kinds & LexiconKind.FORM or not word.is_cased:
        return False
    if not word.kinds & NAME and not word.is_initial:
        return True
    written = word.text.isupper() and (len(word.text) < 3 or "." not in word.text or word.text.count(".") > 1)
    return written and place == len(words) - 1 and not words[0].text.isupper()


def _after_an_office(words: Sequence[RunWord]) -> Sequence[RunWord]:
    """Without who speaks for it: "Chief Executive Officer of | Strix Television AB", "Asha at | Ernst AG"."""
    for place, word in enumerate(words[:-1]):
        if word.key in ("of", "at", "for"):
            left = [one for one in words[:place] if one.is_cased]
            office = all(
                one.key in _OF_AN_OFFICE or (one.kinds & _NO_PROPER and not one.kinds & LexiconKind.BODY)
                for one in left
            )
            person = bool(left) and (left[0].kinds & LexiconKind.GIVEN or left[0].is_initial or _like_a_person(left))
            none = word.key == "for" and not any(one.kinds & (LexiconKind.BODY | LexiconKind.GENERIC) for one in left)
            return words[place + 1 :] if office or person or none or word.key == "at" else words
    return words


def _like_a_person(words: Sequence[RunWord]) -> bool:
    """Two or three words that are nothing but names, if anything."""
    return 1 < len(words) < 4 and not any(word.kinds & ~NAME for word in words)


def _joined(words: Sequence[RunWord]) -> Span | None:
    """ "Hale & Pryce", "Obermeier und Söhne": not two given names."""
    places = [place for place, word in enumerate(words) if word.key == "&" and 0 < place < len(words) - 1]
    if not places:
        return None
    beside = (words[places[0] - 1], words[places[-1] + 1])
    couple = all(
        word.kinds & LexiconKind.GIVEN and not word.kinds & LexiconKind.FAMILY for word in beside
    ) or _share_a_surname(words[: places[0]], words[places[-1] + 1 :])
    return None if couple else span_of(_after_an_office(words), FORM)


def _share_a_surname(left: Sequence[RunWord], right: Sequence[RunWord]) -> bool:
    """ "John & Harriet Russell"."""
    given = len(left) == 1 and len(right) == 2 and left[0].kinds & right[0].kinds & LexiconKind.GIVEN
    return (
        bool(given)
        and bool(right[1].kinds & LexiconKind.FAMILY)
        and not right[1].kinds & (LexiconKind.BODY | LexiconKind.FORM)
    )


def _club(words: Sequence[RunWord]) -> Span | None:
    """ "FC Navarra", "SV Kassel"."""
    if len(words) < 2 or words[0].text not in _CLUBS or words[1].text.isupper():
        return None
    return span_of(words, KIND)


def _small_head(run: CapitalisedRun, words: Sequence[RunWord], text: str) -> Span | None:
    """ "Catterick garrison", "the Edirne F-type prison": a proper name before a kind in small letters."""
    if words[-1] is not run.words[-1] or run.after[:1] != " " or words[-1].kinds & _NO_TOWN:
        return None
    head = _HEADS.match(text, run.end)
    return None if head is None else Span(words[-1].start, head.end(), "organisation", CONTEXT, BY)


def _segments(words: Sequence[RunWord]) -> Iterator[Sequence[RunWord]]:
    """Cut where one body ends and another begins: "Dean | Klagenfurt University", "Prosecutor | High Court"."""
    first, headless = 0, True
    for place, word in enumerate(words):
        cut = word.key in ("of", "for") or (word.key == "and" and _is_a_person(words[first : min(place, first + 4)]))
        if word.key in ("at", "on") or (headless and cut):
            yield words[first:place]
            first, headless = place + 1, True
        elif word.kinds & (LexiconKind.FORM | LexiconKind.BODY):
            headless = False
    yield words[first:]


def _is_a_person(words: Sequence[RunWord]) -> bool:
    """ "Asha Rao and | Credit Union"."""
    return len(words) > 1 and bool(words[0].kinds & LexiconKind.GIVEN) and _like_a_person(words)


def _kinds(words: Sequence[RunWord], text: str) -> Span | None:
    """The last segment of a run that names a body."""
    if any(word.key in _STREETS for word in words):
        return None
    for segment in reversed(list(_segments(words))):
        while segment and segment[0].key in JOINS:
            segment = segment[1:]  # noqa: PLW2901
        heads = [place for place, word in enumerate(segment) if word.kinds & LexiconKind.BODY and not word.is_initial]
        span = _kind(segment, heads, text) if heads else None
        if span is not None:
            return span
    return None


def _kind(words: Sequence[RunWord], heads: list[int], text: str) -> Span | None:
    past = heads[-1] + 1
    if past < len(words) and (_goes_on(words, past) or words[heads[-1]].key in _LEADING):
        past = len(words)
    inside = words[:past]
    proper = [
        word
        for word in inside
        if word.is_cased
        and not word.kinds & (LexiconKind.BODY | LexiconKind.GENERIC | LexiconKind.PEOPLE | LexiconKind.TITLE)
    ]
    named = [word for word in proper if not word.kinds & LexiconKind.COMMON or word.kinds & (PLACE | NAME)]
    if named:
        return span_of(inside, KIND)
    foreign = _FOREIGN.match(text, inside[-1].end)
    if foreign is not None:
        return Span(inside[0].start, foreign.end(), "organisation", CONTEXT, BY)
    return span_of(inside, LOOKS_LIKE) if len(proper) > 1 or _long(inside) else None


def _goes_on(words: Sequence[RunWord], past: int) -> bool:
    """ "Institute of Physics", "Centre for Research": not "Serrano Group for Jones"."""
    if words[past].key != "for" or past + 1 == len(words):
        return words[past].key in _OF
    following = words[past + 1]
    return not following.kinds & NAME or bool(following.kinds & LexiconKind.COMMON)


def _long(words: Sequence[RunWord]) -> bool:
    """An office of several words, though each is generic: "Social Insurance Authority", "State Security Court"."""
    everywhere = any(word.key in _EVERYWHERE for word in words)
    return (
        not everywhere and sum(word.is_cased and not word.kinds & LexiconKind.PEOPLE for word in words) >= GENERIC_FROM
    )


def of_a_town(run: CapitalisedRun, previous: CapitalisedRun) -> Iterator[Span]:
    """ "District Court in Kielce": a body that each town has, with its town."""
    words = without_opener(previous) if run.start - previous.end == 4 else ()
    if len(words) == 1 and words[0].key.endswith(("ing", "s")):
        return
    generic = bool(words) and all(
        word.kinds & (LexiconKind.BODY | LexiconKind.GENERIC) for word in words if word.is_cased
    )
    if (
        generic
        and words[-1].kinds & LexiconKind.BODY
        and not run.words[0].kinds & (LexiconKind.COMMON | LexiconKind.COUNTRY)
    ):
        yield Span(words[0].start, run.end, "organisation", KIND, BY)


def abbreviated(text: str) -> Iterator[Span]:
    """A body that the text gives a short name: 'the regional health fund (“the RHF”)'."""
    for match in _SHORT_NAME.finditer(text):
        yield Span(match.start(1), match.end(1), "organisation", KIND, BY)
        named = text[max(0, match.start() - LONGEST_BODY) : match.start()].rpartition(" the ")[2]
        named = named.removeprefix("the ")
        if named.islower() and _BROKEN.isdisjoint(named) and _SMALL_BODY.search(named):
            yield Span(match.start() - len(named), match.start(), "organisation", CONTEXT, BY)
