"""Occupations, where they are said of somebody: "is a nurse", "worked as a watchman", "Asha Rao, welder".

"The judge" and "ask a lawyer" only act in the story and are left. A line of its own that ends like an occupation, as
under a name on a card or in a signature, is one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache

from shoal.text.lazy_patterns import lazy_pattern
from shoal.text.lexicon.gazetteers import LexiconKind, folded, lexicon, sections_in
from shoal.text.lexicon.sentence_context import LINKS, PhraseHit, either, row_of_words
from shoal.text.spans import Span

BY = "occupations"
ON_A_CARD = 0.6
SAID = 0.7
BEFORE_A_NAME = 0.6
_NEAR, _FAR = 64, 160
LONGEST = 40
"""Characters of a word."""
MOST_WORDS = 4
"""Words before an occupation that can belong to it."""

_LISTS = sections_in("occupations")
_JOBS = _LISTS["job words"]
"""What the names of occupations end with."""
_JOB_ENDINGS = ("ist", "ian", *_JOBS)
_LAST_TWO = frozenset(ending[-2:] for ending in _JOB_ENDINGS)
"""To look two letters up is quicker than to compare all endings."""
_LINE = lazy_pattern(
    r"(?m)^(?=[^\n]{3,96}$)[ ?•*-]{0,4}((?:[A-Za-z][A-Za-z'’-]*,? (?:and |of |/ )?){0,5}[A-Za-z]*"
    rf"(?i:[a-z]ist|[a-z]ian|{'|'.join(_JOBS)}))[ .,]*$"
)
LONGEST_LINE = 96
_COMPOUND = lazy_pattern(
    r"[a-z]{2,}(?:ist|ian|grapher|keeper|worker|maker|driver|smith|monger|wright|writer|officer|grower|fitter|engineer|packer"
    r"|packager|preparer|repairer)$"
)
_IN_SENTENCES = frozenset(_LISTS["in sentences"])
_GOES_ON = lazy_pattern(rf"[,.;:!?)'’”\"–-]|\s*$| [–(-]| (?:{either(_LISTS['goes on'])})\b")
_DEPARTMENT = lazy_pattern(r" [A-Z][\w-]+(?: (?:and|&|of) [A-Z][\w-]+){0,2}")
_BY_TRADE = lazy_pattern(r"[\w ]{0,12} by (?:profession|trade|training|occupation)\b|[, ]+von beruf\b")
_OF_A_THING = lazy_pattern(rf" (?:{either(_LISTS['things'])})(?!\w)")
_NAMED_AFTER = lazy_pattern(r",? (?:called|named|by the name of|(?:mr|mrs|ms|miss|dr)\b\.?) ")
_NAME_AFTER = lazy_pattern(r",? [A-Z][a-z]+ [A-Z][a-z]+")
_ACTING = lazy_pattern(r"\b(?:represented|assisted|defended|advised|counsel)\b")
_AGENT = lazy_pattern(
    r"[a-z]{2,}(?:er|or|ist|ian|man|woman|eer|ess|smith|wright|maid|boy|girl|hand|master|mistress|keeper|clerk|nurse|cook"
    r"|guard|aide|chef|monger|ant|herd|grapher)$"
)
_PHRASE = lazy_pattern(
    r"[ :]+(?P<article>(?:an?|the|his|her|its|their|un|une|una|eine?|einen) )?"
    r"(?P<words>[^\W\d_][\w'’&/-]*(?: [^\W\d_][\w'’&/-]*){0,4})"
)
_JOINED = lazy_pattern(
    r"(?:[^\W\d_][\w'’-]*,? ){1,3}and (?:[a-z][\w'’-]* ){0,2}(?P<last>[a-z][\w'’-]*)(?=[.,;)\n]|$| [a-z])"
)
"""An occupation of two halves: "dining room and cafeteria attendant"."""
_PARTICIPLES = frozenset(_LISTS["participles"])
_NO_ROLES = frozenset(_LISTS["no roles"])
_BE = frozenset(_LISTS["forms of be"])
_ADVERBS = frozenset(_LISTS["adverbs"])
_THINGS = frozenset({"this", "that", "it", "there", "which", "what", "here"})
_OF_ANYBODY = frozenset(
    {"old", "new", "young", "first", "good", "great", "best", "proud", "famous", "well-known", "excellent"}
)
_OWNERS = frozenset({"our", "my", "his", "her", "their"})
_ARTICLES = frozenset({"a", "an", "the", "un", "une", "una", "ein", "eine", "our"})
_AS = frozenset({"as", "als", "comme", "como", "come"})
_SOME_SUCH = frozenset({"retired", "former", "ex", "unemployed", "self-employed", "freelance", "trainee"})
_ROLES_IN_A_FILE = frozenset(sections_in("sentences")["roles in a file"])
_ACTS = frozenset(sections_in("context")["before a role"])


def occupations(text: str) -> Iterator[Span]:
    if "\n" not in text:
        return
    start = 0
    for line in text.split("\n"):
        match = _LINE.match(text, start) if _may_be_a_card(line) else None
        if match is not None and _is_on_a_card(text, match.start(1), match.group(1).split()):
            yield Span(match.start(1), match.end(1), "occupation", ON_A_CARD, BY)
        start += len(line) + 1


def _may_be_a_card(line: str) -> bool:
    """A quick look at the end of a line, which most don't pass; what engines take for a letter of ASCII passes."""
    if len(line) > LONGEST_LINE:
        return False
    if not line.isascii():
        return True
    line = line.rstrip(" .,")
    return line[-2:].lower() in _LAST_TWO and line.lower().endswith(_JOB_ENDINGS)


def _is_on_a_card(text: str, start: int, words: list[str]) -> bool:
    """Whether a line that ends like an occupation is one: no sentence, no name, no made-up word."""
    *others, last = (word.strip(",").lower() for word in words)
    kinds = lexicon().entries.get(folded(last), 0)
    if last in _NO_ROLES or kinds & LexiconKind.PEOPLE or not _IN_SENTENCES.isdisjoint(others):
        return False
    if others:
        return True
    listed = kinds & LexiconKind.OCCUPATION or last in _heads()
    if kinds & (LexiconKind.GIVEN | LexiconKind.FAMILY):
        return bool(listed) and _is_under_a_name(text, start)
    return bool(listed) or _COMPOUND.search(last) is not None


def _is_under_a_name(text: str, start: int) -> bool:
    above = text[:start].rstrip().rsplit("\n", 1)[-1].split()
    return 1 < len(above) < 5 and all(word[0].isupper() for word in above)


def said(hit: PhraseHit) -> Span | None:
    """An occupation on the list, if it is said of somebody; with the words that tell which ("retired", "bus")."""
    after = hit.after(24)
    if _OF_A_THING.match(after) or hit.text[hit.start - 1 : hit.start] == "-":
        return None
    if _alone(hit):
        return hit.span("occupation", ON_A_CARD, BY)
    if _BY_TRADE.match(after):
        return hit.span("occupation", SAID, BY)
    before = hit.before(_NEAR)
    headed = hit.phrase.endswith(" of")
    goes_on = headed or _GOES_ON.match(after) or any(map(_is_some_such, before.split()[-MOST_WORDS:]))
    more = _said_with(hit, before) if goes_on else None
    if more is None and _NAMED_AFTER.match(after):
        more = _with_an_article(hit, before, ("a", "an"))
    if more is None and _NAME_AFTER.match(hit.text, hit.end):
        more = _with_an_article(hit, before, _OWNERS)
    if more is not None:
        department = _DEPARTMENT.match(hit.text, hit.end) if headed else None
        return hit.span("occupation", SAID, BY, more=more, end=department.end() if department else None)
    return hit.span("occupation", BEFORE_A_NAME, BY) if _before_a_name(hit, before) else None


def _with_an_article(hit: PhraseHit, before: str, articles: Collection[str]) -> int | None:
    """ "A retired policeman named", "our accountant, Asha Rao": how many characters stand before the occupation."""
    words = before.split()[-MOST_WORDS - 1 :]
    for place in range(len(words) - 1, -1, -1):
        if words[place] in articles:
            return None if _ACTING.search(hit.before(_FAR)) else sum(len(word) + 1 for word in words[place + 1 :])
        if not _modifies(words[place]):
            return None
    return None


def ending(hit: PhraseHit) -> Span | None:
    """As ``said``, for a word on no list that ends like one: "dressmaker", "Lagerarbeiter"."""
    start = hit.start
    while start and hit.small[start - 1].isalpha() and hit.end - start < LONGEST:
        start -= 1
    return said(hit._replace(start=start))


def _said_with(hit: PhraseHit, before: str) -> int | None:
    """How many characters before it tell which it is; None where nothing before these says it of somebody.

    Where somebody comes from ("a Belgian chef") and how old they are are kinds of their own.
    """
    words = before.split()
    more = 0
    told = True
    own: list[str] = []
    while words and len(own) <= MOST_WORDS:
        word = words.pop()
        if word in _ARTICLES:
            said = _opens(hit, before, words, word) or (word in ("a", "an", "the") and any(map(_is_some_such, own)))
            return more if said else None
        if word[0] == "(" or word[-1] == "," or word in _BE or word in _ADVERBS or word in _AS:
            if word[0] == "(" and len(word) > 1:
                more += len(word)
            return more if _opens(hit, before, [*words, word], "") else None
        if not _modifies(word):
            return None
        own.append(word)
        told = told and not _tells_of_other_things(word)
        more += len(word) + 1 if told else 0
    return None


def _tells_of_other_things(word: str) -> bool:
    return word in _OF_ANYBODY or word[0].isdigit() or bool(lexicon().entries.get(folded(word), 0) & LexiconKind.PEOPLE)


def _opens(hit: PhraseHit, before: str, words: list[str], article: str) -> bool:
    """Whether the last of these words say that an occupation follows: "is also", "as" with "a", a name and a comma."""
    while words and words[-1] in _ADVERBS:
        words = words[:-1]
    if not words:
        return False
    last = words[-1]
    if last in _BE:
        asked = words[-2:-1] == ["who"] and article == "the"
        return article != "our" and not asked and (len(words) < 2 or words[-2] not in _THINGS)
    if last == "be":
        return words[-3:-1] == ["used", "to"]
    if last in _AS or last == "and":
        return article in ("a", "an") or (last in _AS and not article)
    if last[-1] == "," or last[0] == "(" or last == "–":
        whom = last.rstrip(",") if last[-1] == "," else words[-2] if len(words) > 1 else ""
        place = before.rfind(whom)
        somebody = whom in _ROLES_IN_A_FILE or hit.text[hit.start - len(before) + place].isupper()
        return bool(whom) and somebody and not _ACTING.search(hit.before(_FAR))
    return words[-3:] == ["one", "of", "the"]


def _is_some_such(word: str) -> bool:
    return word in _SOME_SUCH or word.endswith("-year-old")


def _modifies(word: str) -> bool:
    """Whether a word before a noun can belong to it: no link, no participle that tells of an event."""
    return (
        word not in LINKS
        and (not word.endswith("ed") or word in _PARTICIPLES or "-" in word)
        and word[-1] not in ".:;)"
    )


def _alone(hit: PhraseHit) -> bool:
    """On a line of its own, in a text of several."""
    text, start, end = hit.text, hit.start, hit.end
    opens = start == 0 or text[start - 1] == "\n"
    alone = opens and text[end : end + 1] in ("", "\n", "\r") and end - start < len(text.strip())
    return alone and _is_on_a_card(text, start, text[start:end].split())


def _before_a_name(hit: PhraseHit, before: str) -> bool:
    """ "Songwriter Asha Rao": in small letters, before a word with a capital."""
    following = hit.text[hit.end : hit.end + 3]
    named = len(following) == 3 and following[0] == " " and following[1].isupper() and following[2].islower()
    return named and hit.text[hit.start].islower() and not _ACTS.intersection(before.split()[-1:])


def after_a_trigger(hit: PhraseHit) -> Span | None:
    """What follows "worked as a", "post of", "Occupation:", if it is listed or formed like an occupation."""
    match = _PHRASE.match(hit.text, hit.end)
    if match is None or (match["article"] and hit.phrase.endswith((" of", "elected", "appointed"))):
        return None
    words = row_of_words(match["words"]).split(" ")
    labelled = hit.phrase[-1] == ":"
    formed = labelled or hit.phrase.endswith(" of") or hit.of_somebody(hit.before())
    start = match.start("words")
    joined = _JOINED.match(hit.text, start)
    if (
        joined
        and _is_role(joined["last"].lower(), formed=formed)
        and _IN_SENTENCES.isdisjoint(joined[0].lower().split())
    ):
        return Span(start, joined.end(), "occupation", SAID, BY)
    for count in range(len(words), 0, -1):
        if _is_role(words[count - 1].lower(), formed=formed) or (labelled and words[0]):
            return Span(start, start + len(" ".join(words[:count])), "occupation", SAID, BY)
    return None


def _is_role(word: str, *, formed: bool) -> bool:
    """Whether a word is a listed role, or is formed like one, where that is enough."""
    if not word or word in _NO_ROLES:
        return False
    listed = lexicon().entries.get(folded(word), 0) & LexiconKind.OCCUPATION or word in _heads()
    return bool(listed) or (formed and _AGENT.match(word) is not None)


@cache
def _heads() -> frozenset[str]:
    """The last words of the listed roles."""
    return frozenset(role.lower().rsplit(" ", 1)[-1] for role in _LISTS["roles"])
