"""Matters of health, where they are told of somebody: "has hepatitis C", "is deaf", "fracture of the left knee".

They are special categories of personal data (GDPR, Article 9). An illness that nobody has ("asthma is common") is left,
but for texts that tell of several: those are somebody's notes.
"""

from __future__ import annotations

from shoal.text.lazy_patterns import lazy_pattern
from shoal.text.lexicon.gazetteers import sections_in
from shoal.text.lexicon.sentence_context import PhraseHit, either, row_of_words
from shoal.text.spans import Span

BY = "health"
TOLD = 0.75
TRIGGERED = 0.65
IN_COMPANY = 0.55
ALONE = 0.4
"""Below the threshold, unless the text tells of several."""
MANY = 3
LONGEST = 48
"""Characters of a word that ends like an illness."""
FURTHER = 3
"""Parts that are looked for after it."""

_LISTS = sections_in("health")
_DEGREE = (
    rf"(?:{either(_LISTS['degrees'] + _LISTS['body'])}|(?:stage|type) (?:\d|[ivx]+)|\d+(?:st|nd|rd|th)"
    r"|[a-z]+-(?:degree|grade|onset|related|induced)|(?:one|two|three|four|five|six|seven|eight|nine|\d+) months"
    r"|[a-z‑-]{3,}(?:ic|ive|ous|oid|ular|eal|cal|nal|ral|tal|ial|ying))"
)
_DEGREES = lazy_pattern(rf"(?:(?<![\w-]){_DEGREE} ){{1,3}}$")
_PART = lazy_pattern(
    r"(?:,? (?:of|in|on|to|at|affecting) (?:(?:the|his|her|my|both|one|whole|entire) ){0,2}"
    r"(?:(?:left|right|upper|lower|\d+(?:st|nd|rd|th)|[a-z]+(?:al|ic|ar)) ){0,3}"
    rf"(?:{either(_LISTS['body'])})(?!\w)(?: and [a-z]+)?){{1,2}}"
)
_FURTHER = lazy_pattern(
    rf"{_PART.pattern}| (?:type|stage|grade) (?:\d|[ivx]+)(?!\w)| [a-e](?!\w)|-\d\d(?!\w)| \([a-z]+\)"
    r"| (?:disease|syndrome|disorder|infection|virus|attacks?|trouble|problems?)(?!\w)"
)
_HAD = lazy_pattern(
    r"\b(?:suffer\w*|diagnos\w+|histor(?:y|ies) of|treat\w+|died|dying|developed|contracted|caught|has|have|had|having"
    r"|with|from|of|for|his|her|my|after|signs?|symptoms|shows?|showed|found|there is|caused|causing|due to|because of"
    r"|owing to|sustained|underwent|undergone|undergoing|attempted|committed|needed|an|is|was|left|following"
    r"|resulted in|reported|the|a|and|litt|leidet|hat|hatte|wegen|souffre|a eu|tiene|padece)[: ]*$|['’]s $|, $"
)
_HAD_FOR_SURE = lazy_pattern(
    r"\b(?:suffer\w*|diagnos\w+|histor(?:y|ies) of|treated for|died (?:of|from)|developed|contracted|has|have|had|got"
    r"|having|with|his|her|my|sustained|underwent|undergone|attempted|committed|a|an|of|from)[: ](?:an? |the )?$"
)
_BE = lazy_pattern(
    r"(?:\b(?:is|was|are|were|been|being|be|am|became|become|left him|left her|declared|remained|considered|as|and|or"
    r"|born|went|getting|ist|war|est|était|es|está|era|è)|['’]m|['’]s)(?: (?:not|now|also|both|still|already|an?))* $"
)
_PHRASE = lazy_pattern(
    r"[ :]+(?:(?:an?|the|his|her|de|du|de la|un|une|einer?|einem) |d['’])*"
    r"(?P<words>[^\W\d_][\w’'-]*(?: [^\W\d_][\w’'-]*){0,3})"
)
_CLINICAL = lazy_pattern(rf"\b(?:{either(_LISTS['clinical'])})\b")
_ALLOWANCE = lazy_pattern(rf" (?:{either(_LISTS['allowances'])})\b")
_IDIOM = lazy_pattern(r" of (?:genius|luck|midnight|fortune|laughter|anger|conscience)\b")
_RECEIVED = lazy_pattern(r"\b(?:his|her|my|receiv\w+|granted|draws|drew|awarded)(?: (?:an?|the))? $")
_VAGUE = frozenset(_LISTS["vague"])
_NO_ENDINGS = frozenset(_LISTS["no endings"])
_NO_ILLNESS = frozenset(_LISTS["no illness"])
_OF_PEOPLE_ONLY = frozenset(_LISTS["of people only"])


def named(hit: PhraseHit) -> Span | None:
    """An illness by its name or its ending."""
    start = hit.start
    while start and (hit.small[start - 1].isalnum() or hit.small[start - 1] in "-‑"):
        start -= 1
        if hit.end - start > LONGEST:
            return None
    whole = hit._replace(start=start)
    if whole.phrase in _NO_ENDINGS:
        return None
    before, after = whole.before(), whole.after()
    told = _PART.match(after) or _CLINICAL.search(before) or whole.of_somebody(before, after)
    return _span(whole, before, TOLD if told else ALONE)


def in_capitals(hit: PhraseHit) -> Span | None:
    """An abbreviation, which is a word like any other in small letters."""
    return named(hit) if hit.text[hit.start : hit.end].isupper() else None


def in_context(hit: PhraseHit) -> Span | None:
    """A word that tells of an illness only where somebody has it: "depression", "stroke"."""
    before, after = hit.before(), hit.after()
    degrees = _DEGREES.search(before)
    opening = before if degrees is None else before[: degrees.start()]
    if degrees is None and _PART.match(after):
        return _span(hit, before, TOLD)
    if not _HAD.search(opening) or not (_CLINICAL.search(before) or hit.of_somebody(before)):
        return None
    if degrees is None and (hit.phrase in _VAGUE or not _HAD_FOR_SURE.search(opening)):
        return None
    if _IDIOM.match(after) or (_ALLOWANCE.match(after) and not _RECEIVED.search(opening)):
        return None
    return _span(hit, before, TOLD)


def adjective(hit: PhraseHit) -> Span | None:
    """ "Blind", "pregnant", after a form of "to be", of somebody."""
    before = hit.before()
    degrees = _DEGREES.search(before)
    opening = before if degrees is None else before[: degrees.start()]
    return _span(hit, before, TOLD) if _BE.search(opening) and hit.of_somebody(before) else None


def after_a_trigger(hit: PhraseHit) -> Span | None:
    """What follows "suffers from" or "diagnosed with", whatever it is called."""
    match = _PHRASE.match(hit.small, hit.end)
    if match is None:
        return None
    sure = hit.phrase[-1] == ":" or hit.phrase in _OF_PEOPLE_ONLY
    row = row_of_words(match["words"])
    if not row or not _NO_ILLNESS.isdisjoint(row.split()) or not (sure or hit.of_somebody(hit.before())):
        return None
    return Span(match.start("words"), match.start("words") + len(row), "health", TRIGGERED, BY)


def _span(hit: PhraseHit, before: str, score: float) -> Span:
    """With its degree before it and the part of the body after it."""
    degrees, end = _DEGREES.search(before), hit.end
    for _ in range(FURTHER):
        further = _FURTHER.match(hit.small, end)
        if further is None:
            break
        end = further.end()
    return hit.span("health", score, BY, more=0 if degrees is None else len(degrees.group()), end=end)
