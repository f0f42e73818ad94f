"""Whether a number is an age: somebody stands before it, and nothing after it that it could count.

"She'll be 34 soon" and "my son (12)" are ages, "I am 5 minutes late" is none. A question for it counts as well, and
where one age is told the next follows ("8 and 11"). Of a number only its length is looked at.
"""

from __future__ import annotations

import re

from shoal.text.lexicon.gazetteers import NAME, PLACE, LexiconKind, lexicon, sections_in

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
_SOMEBODY = re.compile(
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
_ASKED = re.compile(
    r"\b(?:how old|your age|his age|her age|what age)\b[^?.\n]{0,32}[?.:]['’\"”]?\s{1,2}(?:[-–*>\"“'‘] ?)?$"
    r"|\bage[^?.\n]{0,8}[?.] (?:mine|his|hers|my own)(?: is|:) $"
    r"|\bage (?:of|at)(?: the| my| his| her)? [a-z]+(?: is)?: $",
    re.IGNORECASE,
)
_NAMED = re.compile(
    rf"([^\W\d_][\w'’-]*[^\W\d_])(?:, |(?P<bracket> \()"
    rf"|(?P<verb>(?:['’]s|(?:['’](?:ll|d))?{_BETWEEN}{{0,5}}{_LINK})(?:{_ADVERB}){{0,2}}) )$"
)
_AT = re.compile(
    r"(?:(?:^|[.;!?,\n] ?)[Aa]t|(?:^|[.;!?\n] ?)"
    r"(?:Now|Today|Barely|Only|Just|Aged|(?:Though|Although|While|Being|When)(?: only| just| still| barely)?)) $"
)
_AT_THAT_AGE = re.compile(rf",? (?:he|she|[Ii]|they|(?:my|his|her) (?:{_KIN}))\b|, [^\W\d_a-zß-öø-ÿ]")
_ENDS = re.compile(
    rf"[,.;!?]?(?:\n|$)|[,;!?)\"”]|\.(?!\d)| [–-] |(?:['’]s)? (?:{'|'.join(_LISTS['after an age'])})(?!\w)",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"(?: (?:years?|yrs?))?,(?= [^\W\d_])")
_YEARS = re.compile(r" ?(?:years?|yrs?|y)\)")
_OF_A_SEX = re.compile(r",? ?[MFmf][)\]]")
_TOO = re.compile(r" (?:is |was )?too (?:young|old)\b")
_SEVERAL = re.compile(
    r"(?:,| and| or|, and| &|,? but)"
    r"(?: (?:almost|only|nearly|[a-z]+ed at|quit at|the other|the younger|the older|[A-Z][a-z]+))?(?: is)? "
)
_ASKING = ("?", ":", "-", "–", ".")
_WHOSE = frozenset({"my", "his", "her", "our", "your", "their"})
_PARTICLES = frozenset(sections_in("context")["particles"])
_LEADING = frozenset(_LISTS["before an age"])


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
