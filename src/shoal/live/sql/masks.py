"""Masks as SQL: by position, and by the formats of addresses and numbers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from shoal.live.sql.refusal import NotInSqlError
from shoal.live.sql.words import Sql, SqlWords
from shoal.techniques.suppression.mask_formats import EmailMask, EndingMask, NetworkMask, NumberMask
from shoal.techniques.suppression.mask_positions import SEPARATORS, Masker, PositionMask

_SPACES: Final = r"\u0009\u000a\u000b\u000c\u000d\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""Unicode's white space: what a server takes for it depends on its locale."""
_NOT_SEPARATOR: Final = rf"[^{SEPARATORS.replace('-', '')}\u002d]"
_EMAIL: Final = rf"[^@{_SPACES}]+@[^@{_SPACES}.]+([.][^@{_SPACES}.]+)+"
_FOLDS: Final = {
    "[A-Z]": r"[A-Za-z\u017f\u212a]",
    "[STFGM]": r"[STFGMstfgm\u017f]",
    "[A-Z0-9]": r"[A-Za-z0-9\u017f\u212a]",
}
"""What a class holds where case doesn't count (Unicode has a long s and a Kelvin sign)."""


def mask_of(masker: Masker, x: Sql, words: SqlWords) -> Sql:
    match masker:
        case PositionMask():
            return _by_position(masker, x, words)
        case EmailMask():
            return _email(masker, x, words)
        case NetworkMask():
            return _network(masker, x, words)
        case EndingMask():
            return _ending(masker, x, words)
        case NumberMask():
            return _number(masker, x, words)
    raise NotInSqlError("this mask can't be said in SQL")


def _by_position(mask: PositionMask, x: Sql, words: SqlWords) -> Sql:
    if mask.separators:
        return _between_separators(mask, x, words)
    size = words.length(x)
    whole = words.repeated(mask.char, mask.length or size)
    whole = words.case([(f"{x} IS NOT NULL", whole)], words.null) if mask.length else whole
    kept = mask.first + mask.last
    if not kept:
        return whole
    gap = mask.length - kept if mask.length else f"{size} - {kept}"
    left = [words.head(x, mask.first)] if mask.first else []
    right = [words.tail(x, mask.last)] if mask.last else []
    return words.case([(f"{size} <= {kept}", whole)], words.joined([*left, words.repeated(mask.char, gap), *right]))


def _between_separators(mask: PositionMask, x: Sql, words: SqlWords) -> Sql:
    covered = words.replaced(x, _NOT_SEPARATOR, mask.char)
    if not mask.first + mask.last:
        return covered
    middle = words.middle(covered, mask.first, mask.last)
    left = [words.head(x, mask.first)] if mask.first else []
    right = [words.tail(x, mask.last)] if mask.last else []
    shown = words.joined([*left, middle, *right])
    fits = f"{words.length(x)} > {mask.first + mask.last} AND {words.holds(middle, mask.char)}"
    return words.case([(fits, shown)], covered)


def _email(mask: EmailMask, x: Sql, words: SqlWords) -> Sql:
    whole = PositionMask(char=mask.cover.char, length=mask.cover.length)
    domain = words.after_sign(x, "@")
    shown = domain if mask.keep_domain else _by_position(whole, domain, words)
    local = _by_position(mask.cover, words.before_sign(x, "@", 1), words)
    address = words.joined([local, words.text("@"), shown])
    return words.case([(words.looks_like(x, _EMAIL), address)], _by_position(whole, x, words))


def _network(mask: NetworkMask, x: Sql, words: SqlWords) -> Sql:
    if mask.v6:
        raise NotInSqlError("addresses of IPv6 are written in too many ways for SQL; use `kind: ipv4`")
    octet = "[0-9]{1,3}"
    fits = words.looks_like(x, r"[.]".join([octet] * 4))
    hidden = words.text(2 * ("." + 3 * mask.char))
    shown = words.joined([words.before_sign(x, ".", 2), hidden])
    return words.case([(fits, shown)], _by_position(PositionMask(char=mask.char), x, words))


def _ending(mask: EndingMask, x: Sql, words: SqlWords) -> Sql:
    if "\\p" in mask.pattern:
        raise NotInSqlError("servers don't agree on what a letter is; mask by position")
    compact = words.replaced(x, rf"[{_SPACES}\u002d]", "")
    size = words.length(compact)
    kept = words.head(compact, -mask.hidden)
    kept = kept if mask.shown is None else words.head(kept, mask.shown)
    # The pattern makes sure that no more than a few characters are there.
    total = f"GREATEST({size}, {mask.hidden})"
    ended = words.joined([kept, words.repeated(mask.char, f"{total} - {words.length(kept)}")])
    fits = words.looks_like(compact, _caseless(mask.pattern))
    return words.case([(fits, ended)], _by_position(PositionMask(char=mask.char), x, words))


def _number(mask: NumberMask, x: Sql, words: SqlWords) -> Sql:
    whole = PositionMask(char=mask.cover.char, length=mask.cover.length)
    length = None if mask.cover.length is None else mask.cover.length - 1
    plain, short = mask.patterns()
    branches = []
    if short is not None:
        cover = replace(mask.cover, last=mask.cover.last - 1, length=length)
        rest = _by_position(cover, words.head(x, -1), words)
        hidden = words.joined([rest, words.text(mask.cover.char)])
        branches.append((words.looks_like(x, _caseless(_inside(short))), hidden))
    if plain is not None:
        branches.append((words.looks_like(x, _caseless(_inside(plain))), _by_position(mask.cover, x, words)))
    return words.case(branches, _by_position(whole, x, words))


def _inside(pattern: str) -> str:
    """Without its anchors and its flag."""
    found = re.fullmatch(r"\^\(\?i:(.*)\)\$", pattern)
    if found is None:
        raise NotInSqlError("this pattern can't be said in SQL")
    return found[1]


def _caseless(pattern: str) -> str:
    for plain, folded in sorted(_FOLDS.items(), key=lambda pair: -len(pair[0])):
        pattern = pattern.replace(plain, folded)
    return pattern
