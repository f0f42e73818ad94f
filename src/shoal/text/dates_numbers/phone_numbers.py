"""Phone numbers by the words around them and by where they stand, as people write them where no country's form fits."""

from __future__ import annotations

import re

from shoal.text.spans import Span

BY = "figures"
OWN = 0.8
GROUPED = 0.6
SHAPED = 0.5
_NEAR = 40
FEWEST = 7
"""Digits of what is called."""

_OWN = re.compile(
    r"\b(?:my|his|her|our|your|their|new|old|['’]s)(?: (?:new|old|own|private|direct|current|phone|mobile|cell|home"
    r"|work|office|contact|telephone)){0,3}(?: (?:number|phone|mobile|cell|landline|line|no\.?|nr\.?)| #)"
    r"(?: (?:is|was|will be|has changed to|now|here|still|changed to)){0,2}[:,]? ?\(?$",
    re.IGNORECASE,
)
"""What stands before a number that is somebody's own: "my new number is"."""
_ANSWERED = re.compile(
    r"[,\"”’)]{0,2} (?:[-–] )?(?:(?:is|was|still|not|no longer) ){0,2}"
    r"(?:(?:your|my|his|her|their|our)(?: [a-z]+)? number\b|(?:and )?hung up\b|rings\b|by phone\b|via whatsapp\b"
    r"|(?:call|text|ring) (?:me|us|after|before|any|when|if|or)\b|(?:busy|engaged|disconnected|out of service)\b"
    r"|goes (?:straight )?to voicemail\b)",
    re.IGNORECASE,
)
_CALLING = re.compile(
    r"\b(?:phone|phoned|telephone|tel|mobile|cell|fax|desk|calls?|called|calling|answer|answering|ring|rang|ringing|dial"
    r"|dialled|dialed|text|texted|texting|sms|stop to|messaged|hotline|helpline|voicemail|landline|digits"
    r"|messages? (?:to|on)|registered|whatsapp|reach|contact|telefon|téléphone|teléfono|telefono|handy|hp)\b"
    r"[^\d\n]{0,24}\n?[^\d\n]{0,4}$"
    r"|(?:^|[\s(])[TMPFHWO][:.] ?\(?$|\((?:home|work|cell|mobile|office)\):? \(?$",
    re.IGNORECASE,
)
_CARD = re.compile(r"\b(?:card|cc|visa|mastercard)\b[^\d\n]{0,6}$", re.IGNORECASE)
_GROUPS = re.compile(r"\d+(?:\)?[ ./-]\d+){0,6}(?!\w)")
_WITHOUT_A_GAP = re.compile(r"\d{10,15}(?=[ ./-]\d)")
"""A whole number: what follows behind the gap is another."""
_SHAPED = re.compile(r"\d{2,4}(?P<gap>[ .-])\d{2,4}(?:(?P=gap)\d{2,4}){1,4}(?![\w]|[ .-]\d)")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:[ .]\d{3})+(?!\d)")
_IN_GROUPS = re.compile(r"\d{2,4}\)?[ ./-]{1,2}\d{2,8}(?:[ ./-]\d{2,4}){0,4}$")
_IN_FOURS = re.compile(r"\d{4}(?:[ -]\d{4}){2,3}$")
"""As cards and identity cards are written, and the tail of an IBAN."""
_IN_AN_ACCOUNT = re.compile(r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z\d]{4}){0,6}[ -]$")
"""What stands before the tail of an IBAN."""
_SEVEN = re.compile(r"\d{3}[ .-]\d{4}$")
_NOTHING_AFTER = re.compile(r"[.,;!?]?[\"”)]?\s*(?:\n|$)|[,.]?[\"”]")
_BEHIND_A_NAME = re.compile(r"[A-Z][\w'’-]+ [A-Z][\w'’.-]+(?:,| -| –|:| \|) \(?$")


def called_number(text: str, start: int) -> Span | None:
    """The number that starts here, if it is one that is called; or one of a card, after words for it."""
    number = _WITHOUT_A_GAP.match(text, start) or _GROUPS.match(text, start)
    if number is None:
        return None
    if number.end() - start < FEWEST:
        return None
    digits = sum(letter.isdigit() for letter in number.group())
    before = text[max(0, start - _NEAR) : start]
    first = start - before.endswith("(")
    sure = _how_sure(text, first, number, digits, before) if 6 < digits < 16 else 0.0
    if sure:
        return Span(first, number.end(), "phone", sure, BY)
    if 11 < digits < 20 and _CARD.search(before[-16:]):
        return Span(start, number.end(), "card", GROUPED, BY)
    return None


def _how_sure(text: str, first: int, number: re.Match[str], digits: int, before: str) -> float:
    """How sure it is that a number of so many digits is one of a phone."""
    if _OWN.search(before):
        return OWN
    if _CALLING.search(before) or _ANSWERED.match(text, number.end()):
        return GROUPED
    if digits > 12 or _IN_FOURS.match(number.group()) or _IN_AN_ACCOUNT.search(before):
        return 0.0
    shaped = digits > 7 and _SHAPED.match(text, number.start()) and not _THOUSANDS.match(text, number.start())
    alone = (digits > 7 or _SEVEN.match(number.group())) and _stands_for_itself(text, first, number)
    return SHAPED if shaped or alone else 0.0


def _stands_for_itself(text: str, start: int, number: re.Match[str]) -> bool:
    """In groups, on a line or in quotes of its own, or behind a name and a comma."""
    if not _IN_GROUPS.match(number.group()) or not _NOTHING_AFTER.match(text, number.end()):
        return False
    before = text[max(0, start - _NEAR) : start]
    if not before.strip(" \t") or before[-1] in '\n"“':
        return len(text) > number.end() - start
    return _BEHIND_A_NAME.search(before) is not None
