"""Stand-ins: what is written in the place of a name, a number or an address when people are to be told apart.

They are derived from the value with a key, so the same value has the same stand-in in every text of the domain, and
nobody without the key can try guesses. They follow the form of what they replace and are nobody's: addresses are at a
reserved domain, numbers come from ranges that are never given out (see ``shoal.pseudonyms``). Kinds that have no such
range get a label with a short code, ``[ACCOUNT-7Q2XK3]``; with its 30 bits, two of a thousand values share a code with
a chance of 1 in 2,000. Names say nothing of the sex or the length of the original, and people may share one.

A *mark* behind a name or a number says that it was made up. Readers take nobody else for the person meant, and a text
that is scrubbed again is left as it is. Addresses need none: their form is seen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

import polars as pl

from shoal.crypto import Key
from shoal.crypto.keyed_digests import digests
from shoal.pseudonyms.derivation import derive
from shoal.pseudonyms.formats.aadhaar import Aadhaar, Vid
from shoal.pseudonyms.formats.base import NarrowFormat
from shoal.pseudonyms.formats.base32 import base32_characters
from shoal.pseudonyms.formats.card import Card
from shoal.pseudonyms.formats.email import Email
from shoal.pseudonyms.formats.fixed_width import as_text
from shoal.pseudonyms.formats.name import Name, names_of
from shoal.pseudonyms.formats.nric import Nric
from shoal.pseudonyms.formats.pan import Pan
from shoal.pseudonyms.formats.phone import Phone
from shoal.scrub.coreference import mention_of, titles_of
from shoal.scrub.surrogate_form import CODE_LENGTH, LOCALE, MARK, PEOPLE, is_shaped_like_surrogate, without_separators
from shoal.text.scoped_cache import cached_in_scope

NUMBERS: dict[str, NarrowFormat] = {
    "aadhaar": Aadhaar(), "vid": Vid(), "pan": Pan(), "card": Card(), "nric": Nric(), "fin": Nric(),
    "phone": Phone(), "fax": Phone(),
}  # fmt: skip
"""By type; each writes numbers that nobody has. A FIN becomes an NRIC number, since no FINs are known to be free."""
ADDRESSES = Email()
_TRIES = 20
_MOST_MADE = 10_000


@dataclass(frozen=True)
class SurrogateMaker:
    key: Key
    locale: str = LOCALE
    mark: str = MARK
    _made: dict[tuple[str, str, str], str] = field(default_factory=dict, repr=False, compare=False)
    """Those of the last values, since a log names the same people again and again."""

    def of(self, kind: str, value: str, person: str = "") -> str:
        """The stand-in of a value; ``person`` is the key of whoever a name stands for."""
        asked = (kind, value, person)
        made = self._made.get(asked)
        if made is None:
            if len(self._made) >= _MOST_MADE:
                self._made.clear()
            made = self._made[asked] = self._make(kind, value, person)
        return made

    def __getstate__(self) -> dict[str, object]:
        """What was made stays behind: it holds values."""
        return {"key": self.key, "locale": self.locale, "mark": self.mark, "_made": {}}

    def _make(self, kind: str, value: str, person: str) -> str:
        if kind in PEOPLE and person:
            return self._name(value, person)
        if kind == "email":
            return str(derive(self._key(kind), ADDRESSES, pl.Series([value.casefold()])).item())
        if kind in NUMBERS:
            return self._number(kind, value)
        return f"[{kind.upper()}-{self._code(kind, value)}]"

    def _name(self, value: str, person: str) -> str:
        """A name that shares no word with the person's own."""
        name = ""
        for attempt in range(_TRIES):
            seed = person if not attempt else f"{person} {attempt}"
            name = str(derive(self._key("person"), Name(locale=self.locale), pl.Series([seed])).item())
            if not {word.casefold() for word in name.split()} & set(mention_of(value).words + tuple(person.split())):
                break
        ending = re.search(r"['’]s$", value)
        return f"{titles_of(value)}{name}{self.mark}{ending[0] if ending else ''}"

    def _number(self, kind: str, value: str) -> str:
        bare = without_separators(value).upper()
        made = str(derive(self._key(kind), NUMBERS[kind], pl.Series([bare])).item())
        return _laid_out(made, value) + self.mark

    def _code(self, kind: str, value: str) -> str:
        block = digests(self._key(kind), [" ".join(value.split()).casefold().encode()])
        return str(as_text(base32_characters(block)).item())[-CODE_LENGTH:]

    def _key(self, kind: str) -> Key:
        return self.key.derive("stand-in", kind)


def _laid_out(made: str, like: str) -> str:
    """The characters with the separators of another text, if it has as many characters beside them.

    >>> _laid_out("012345678901", "2345 6789 0123")
    '0123 4567 8901'
    """
    places = [place for place, character in enumerate(like) if character.isalnum()]
    if len(places) != len(made) or not made.isalnum():
        return made
    characters = list(like)
    for place, character in zip(places, made, strict=True):
        characters[place] = character
    return "".join(characters)


def is_surrogate_name(first: str, last: str, locale: str) -> bool:
    known_first, known_last = _known(locale)
    return first in known_first and last in known_last


@cached_in_scope(most=4096)
def is_surrogate_number(text: str) -> bool:
    bare = without_separators(text)
    return is_shaped_like_surrogate(text) and any(
        (form.read(pl.Series([bare])) >= 0).all() for form in set(NUMBERS.values())
    )


@cache
def _known(locale: str) -> tuple[frozenset[str], frozenset[str]]:
    first, last = names_of(locale)
    return frozenset(first), frozenset(last)
