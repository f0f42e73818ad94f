"""Dates and ages as people say them: "last November", "see you Wednesday", "when she was 54", "in his late fifties".

A month by itself needs a word before it that makes it a time; a number needs somebody before it, and nothing after it
that it could count: "She'll be 34 soon" and "my son (12)" are ages, "I am 5 minutes late" is none. A question for it
counts as well, and where one age is told the next follows ("8 and 11"). Of a number only its length is looked at:
whether 54 is an age is for the words to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from shoal.text.lazy_patterns import lazy_pattern
from shoal.text.lexicon.capitalised_runs import with_capitals
from shoal.text.lexicon.gazetteers import NAME, PLACE, LexiconKind, lexicon, sections_in
from shoal.text.listed_phrases import stands_apart
from shoal.text.spans import Span

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

_LISTS = sections_in("calendar")
_RELATIVES = frozenset(_LISTS["kin"])
_KIN = "|".join(_LISTS["kin"])
_LIVED = "|".join(_LISTS["what is done at an age"])
_NEAR, _FAR = 48, 64
_BETWEEN_TWO = 24
_ADVERB = (
    r" (?:now|just|only|about|soon|still|around|maybe|both|all of|over|past|not|yet|even|quite|too|twice|again|[a-z]+ly"
    r"|almost|already)"
)
_LINK = (
    r" (?:am|is|was|are|were|be|been|being|turns?|turned|turning|reach|reached|reaching|looks?|looked|looking|feels?"
    r"|felt|feeling|seems?|seemed|became|become|becomes|becoming)(?: like| closer to| close to)?"
)
_BETWEEN = (
    rf"(?:{_ADVERB}|{_LINK}| (?:will|would|must|may|might|could|should|can|do|does|did|don['’]?t|doesn['’]?t|didn['’]?t"
    r"|won['’]?t|isn['’]?t|wasn['’]?t|never|has|have|had|going|gonna|to|but|and|then|when"
    r"|claims?|claimed|pretends?|pretended|hopes?|expects?|\d{1,2}))"
)
_SOMEBODY = lazy_pattern(
    rf"(?:\b(?:i|he|she|you|who|someone|somebody|{_KIN})"
    rf"(?:(?:['’](?:s|m|re)|(?<=\bi)m)|(?:['’](?:ll|d|ve|s|m|re))?{_BETWEEN}{{0,5}}{_LINK})(?:{_ADVERB}){{0,2}}"
    rf"|\b(?:we|they)(?:['’]re| are| were)(?: now| just)? (?:both|all)"
    rf"|\b(?:am|is|was|are|were) (?:i|he|she|you|(?:your|his|her|my|their) (?:{_KIN}))(?:{_ADVERB}){{0,2}}"
    rf"|\b(?:turned|turning|turns|turn)(?: just)?|\b(?:nearing|approaching|pushing) the age of"
    rf"|\b(?:{_LIVED})(?:(?: [a-z]+){{0,3}} at(?: the age of| age| only| just)?|(?<=to)|(?<=to be))"
    rf"|\b(?:oldest|eldest|youngest)|\b(?:{_KIN})(?: only| just| barely|,(?:{_ADVERB}){{0,2}})"
    rf"|\b(?:man|woman|boy|girl|lady|child|person|guy) of(?:{_ADVERB})?"
    rf"|\b(?:my|his|her|your|their|['’]s) (?:real |correct |actual )?age"
    r"(?: (?:is|was|to|as|at|from|should|be|now|field|shows?|says?|listed|given|correctly)){0,4}:?) $",
    re.IGNORECASE,
)
_ASKED = lazy_pattern(
    r"\b(?:how old|your age|his age|her age|what age)\b[^?.\n]{0,32}[?.:]['’\"”]?\s{1,2}(?:[-–*>\"“'‘] ?)?$"
    r"|\bage[^?.\n]{0,8}[?.] (?:mine|his|hers|my own)(?: is|:) $"
    r"|\bage (?:of|at)(?: the| my| his| her)? [a-z]+(?: is)?: $",
    re.IGNORECASE,
)
_NAMED = lazy_pattern(
    rf"([^\W\d_][\w'’-]*[^\W\d_])(?:, |(?P<bracket> \()"
    rf"|(?P<verb>(?:['’]s|(?:['’](?:ll|d))?{_BETWEEN}{{0,5}}{_LINK})(?:{_ADVERB}){{0,2}}) )$"
)
_AT = lazy_pattern(
    r"(?:(?:^|[.;!?,\n] ?)[Aa]t|(?:^|[.;!?\n] ?)"
    r"(?:Now|Today|Barely|Only|Just|Aged|(?:Though|Although|While|Being|When)(?: only| just| still| barely)?)) $"
)
_AT_THAT_AGE = lazy_pattern(rf",? (?:he|she|[Ii]|they|(?:my|his|her) (?:{_KIN}))\b|, [^\W\d_a-zß-öø-ÿ]")
_ENDS = lazy_pattern(
    rf"[,.;!?]?(?:\n|$)|[,;!?)\"”]|\.(?!\d)| [–-] |(?:['’]s)? (?:{'|'.join(_LISTS['after an age'])})(?!\w)",
    re.IGNORECASE,
)
_ASIDE = lazy_pattern(r"(?: (?:years?|yrs?))?,(?= [^\W\d_])")
_YEARS = lazy_pattern(r" ?(?:years?|yrs?|y)\)")
_OF_A_SEX = lazy_pattern(r",? ?[MFmf][)\]]")
_TOO = lazy_pattern(r" (?:is |was )?too (?:young|old)\b")
_SEVERAL = lazy_pattern(
    r"(?:,| and| or|, and| &|,? but)"
    r"(?: (?:almost|only|nearly|[a-z]+ed at|quit at|the other|the younger|the older|[A-Z][a-z]+))?(?: is)? "
)
_ASKING = ("?", ":", "-", "–", ".")
_WHOSE = frozenset({"my", "his", "her", "our", "your", "their"})
_PARTICLES = frozenset(sections_in("context")["particles"])
_LEADING = frozenset(_LISTS["before an age"])


_WEEKDAYS = frozenset(word.lower() for section in ("weekdays", "short weekdays") for word in _LISTS[section])


def is_weekday(text: str) -> bool:
    """Whether it names a day of the week and no date."""
    return text.strip(" ,.\n").lower() in _WEEKDAYS


def word_before(text: str, start: int) -> str:
    """The word before a place and a blank, in small letters; nothing if there is no blank."""
    words = text[max(0, start - 16) : start].split()
    return words[-1].lower() if words and start and text[start - 1] in " (" else ""


def is_stated_age(text: str, start: int, end: int) -> bool:
    """Whether words say of somebody that this is their age."""
    return bool(_ENDS.match(text, end) and _SOMEBODY.search(text[max(0, start - _NEAR) : start]))


def is_another(text: str, aged: int, start: int, end: int) -> bool:
    """Whether this number follows an age that ends there, as one of several."""
    near = 0 < start - aged < _BETWEEN_TWO and _SEVERAL.fullmatch(text, aged, start)
    return bool(near and _ENDS.match(text, end))


def is_age(text: str, read: str, start: int, end: int) -> bool:
    """Whether a short number is an age; ``read`` is the text with capitals where names have them."""
    if (text[start - 1] in "([" and _OF_A_SEX.match(text, end)) or _TOO.match(text, end):
        return True
    last = word_before(text, start)
    asked = not last or last[-1] in _ASKING
    told = asked or last[-1] in ",(" or last in _LEADING or last[-2:] in ("'s", "’s")
    if not told or not _ENDS.match(text, end):
        return False
    if asked:
        return _ASKED.search(text[max(0, start - _FAR) : start]) is not None
    if _AT.search(text[max(0, start - _NEAR) : start]) and _AT_THAT_AGE.match(text, end):
        return True
    return is_stated_age(text, start, end) or _of_a_name(read, start, end)


def _of_a_name(read: str, start: int, end: int) -> bool:
    """ "Asha Rao, 34, of Pune", "Asha (34)", "Asha is 34 and"."""
    near = read[max(0, start - _NEAR) : start]
    named = _NAMED.search(near)
    if named is None or not _is_somebody(near, named):
        return False
    if named["bracket"]:
        return read.startswith(")", end) or _YEARS.match(read, end) is not None
    return bool((_ENDS if named["verb"] else _ASIDE).match(read, end))


def _is_somebody(near: str, named: re.Match[str]) -> bool:
    """Whether a name or, with a comma or a bracket behind it, an occupation stands before the number."""
    word = named.group(1)
    kinds = lexicon().kinds(word)
    if not named["verb"] and (word.lower() in _RELATIVES or (kinds & LexiconKind.OCCUPATION and not kinds & NAME)):
        return True
    if not word[0].isupper():
        return bool(kinds & LexiconKind.OCCUPATION) and word_before(near, named.start()) in _WHOSE
    given = _is_after_a_given_name(near[: named.start()])
    if not kinds & NAME or kinds & LexiconKind.COMMON:
        return given and not kinds & (LexiconKind.COMMON | PLACE)
    return given or not kinds & PLACE


def _is_after_a_given_name(before: str) -> bool:
    """Whether a given name or a title stands before, with no more than particles of a name between."""
    for word in reversed(before.split()[-3:]):
        kinds = lexicon().kinds(word.rstrip("."))
        if word[0].isupper():
            return bool(kinds & (LexiconKind.GIVEN | LexiconKind.TITLE)) and not kinds & LexiconKind.COMMON
        if word not in _PARTICLES:
            return False
    return False


BY = "spoken"
MONTH = 0.55
WEEKDAY = 0.55
DAY = 0.7
AGE = 0.62

_BEFORE_A_MONTH = frozenset(_LISTS["before a month"])
_BEFORE_A_DAY = frozenset(_LISTS["before a day"])
_NOT_BEFORE_A_WEEKDAY = frozenset(_LISTS["not before a weekday"])
_WORDS = "|".join(sorted(_LISTS["numbers in words"], key=len, reverse=True))
_THE_DAY = lazy_pattern(r",? (?:the )?\d{1,2}(?:st|nd|rd|th)(?!\w)")
_A_DAY = lazy_pattern(r" \d{1,2}(?:st|nd|rd|th)?(?![\w%]|[.,:/]\d)")
_DAY_AND_MONTH = lazy_pattern(r"\d{1,2}/\d{2}(?![\w/]|[.,:-]\d)")
_BEFORE_A_DAY_AND_MONTH = frozenset(_LISTS["before a day and month"])
_M = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
_A_DATE = lazy_pattern(
    rf"\.?,? (?:\d{{1,2}}(?:st|nd|rd|th)?[ -](?:[Oo]f )?{_M}|{_M}\.? \d{{1,2}}(?:st|nd|rd|th)?)(?!\w)"
)
_LAST_WORD = lazy_pattern(r"([^\W\d_]+)[ -]$")


def find_spoken_dates(text: str) -> Iterator[Span]:
    read = with_capitals(text)
    kinds = _kinds()
    for index, start, end in _automaton().find_matches_as_indexes(read):
        span = _judged(text, read, kinds[index], start, end) if stands_apart(read, start, end) else None
        if span is not None:
            yield span
    yield from _by_numbers(text, read)


@cache
def _kinds() -> list[str]:
    """The kind of each word that is looked for, in the order in which the automaton has them."""
    return [*_words().values(), *("old" for _ in _OLD)]


@cache
def _words() -> dict[str, str]:
    """Months, days and decades as they are written, and with a capital; with the section that each is in."""
    listed = {word: section for section in _TRIGGERS for word in _LISTS[section]}
    return listed | {word.capitalize(): section for word, section in listed.items()}


_IN_FULL = lazy_pattern(r"[^\W\d_]+(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?(?!\w)", re.IGNORECASE)
_TRIGGERS = ("ages in words", "months", "weekdays", "short weekdays", "decades")
_OLD = ("years old", "year old", "years of age", "year-old", "months old", "month old", "month-old", "weeks old")


@cache
def _automaton() -> AhoCorasick:
    from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

    return AhoCorasick([*_words(), *_OLD], matchkind=MatchKind.LeftmostLongest, implementation=Implementation.DFA)


def _judged(text: str, read: str, kind: str, start: int, end: int) -> Span | None:
    before = text[max(0, start - 24) : start]
    if kind == "months":
        return _month(text, start, end, before)
    if kind == "weekdays":
        return _weekday(text, start, end, before)
    if kind == "short weekdays":
        dated = _A_DATE.match(read, end)
        return Span(start, dated.end(), "date", DAY, BY) if dated else None
    if kind == "decades":
        decade = _IN_HIS.search(before.lower())
        return Span(start - len(decade.group(1)), end, "age", AGE, BY) if decade else None
    if kind == "ages in words":
        whole = _IN_FULL.match(read, start)
        return Span(start, whole.end(), "age", AGE, BY) if whole and is_stated_age(text, start, whole.end()) else None
    counted = _COUNTED.search(before)
    return Span(start - len(counted.group()), end, "age", DAY, BY) if counted else None


_IN_HIS = lazy_pattern(r"\bin(?:to)? (?:his|her|their|my|your) ((?:early |mid |mid-|late )?)$")
_COUNTED = lazy_pattern(rf"(?<!\w)(?:(?:{_WORDS})[ -]?){{1,2}}$", re.IGNORECASE)
_TH = lazy_pattern(r"(?:th|nd|rd)(?!\w)(?! [A-Z])")
_TENS = lazy_pattern(r"\d\d['’]?s(?!\w)")


def _month(text: str, start: int, end: int, before: str) -> Span | None:
    last = _LAST_WORD.search(before)
    if last is None:
        return None
    word = last.group(1).lower()
    day = _A_DAY.match(text, end)
    if day is not None and word in _BEFORE_A_DAY:
        return Span(start, day.end(), "date", DAY, BY)
    of = word == "of" and before.lower().endswith(("end of ", "beginning of ", "middle of "))
    return Span(start, end, "date", MONTH, BY) if of or word in _BEFORE_A_MONTH else None


def _weekday(text: str, start: int, end: int, before: str) -> Span | None:
    last = _LAST_WORD.search(before)
    if last is not None and last.group(1).lower() in _NOT_BEFORE_A_WEEKDAY:
        return None
    if text[end : end + 1] == "-" and text[end + 1 : end + 2].islower():
        return None
    day = _THE_DAY.match(text, end)
    return Span(start, end if day is None else day.end(), "date", WEEKDAY, BY)


# --- in numbers -------------------------------------------------------------------------------------------------------

_DIGITS = lazy_pattern(r"\d\d*")
LONGEST = 2
"""Digits of a day, a month or an age. Those of a hundred years and more are left to "years old"."""


def _by_numbers(text: str, read: str) -> Iterator[Span]:
    """Ages, decades and days in numbers: every short number after a blank is looked at once."""
    aged = -1
    for match in _DIGITS.finditer(text):
        start, end = match.span()
        if end - start > LONGEST or not start or text[start - 1] not in " (-\n[":
            continue
        following = text[end : end + 1]
        if following == "/":
            day = _DAY_AND_MONTH.match(text, start)
            if day is not None and word_before(text, start) in _BEFORE_A_DAY_AND_MONTH:
                yield Span(start, day.end(), "date", MONTH, BY)
        elif following in _FURTHER:
            yield from _counted(text, start, end)
        elif text[start] == "0" or text[start - 1] == "-":
            continue
        elif is_another(text, aged, start, end) or is_age(text, read, start, end):
            aged = end
            yield Span(start, end, "age", AGE, BY)


_FURTHER = frozenset("s'’tnr")


def _counted(text: str, start: int, end: int) -> Iterator[Span]:
    """ "In his 40s", "happy 40th"."""
    before = text[max(0, start - 24) : start].lower()
    decade, tens = _IN_HIS.search(before), _TENS.match(text, start)
    if decade and tens:
        yield Span(start - len(decade.group(1)), tens.end(), "age", AGE, BY)
    elif before.endswith("happy ") and (ordinal := _TH.match(text, end)):
        yield Span(start, ordinal.end(), "age", AGE, BY)
