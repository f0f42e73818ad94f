"""What a line of a log tells of a connection: addresses, the machine at the other end, queries, headers that let in.

An address also stands in names that providers give to the lines of their customers, as ``dsl-192-0-2-7.example.net``:
of such a name the numbers go. Names of servers are nobody's, and so is that of the machine that wrote the log; a name
goes where it is said to be a client's, or where a machine is called after its owner (``Ashas-MacBook-Pro``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from shoal.text.lexicon.gazetteers import LexiconKind, lexicon
from shoal.text.logs.log_lines import writing_hosts
from shoal.text.spans import Span

BY = "log connections"
SURE = 0.98
"""As sure as any recogniser: a header is taken whole, with what is known inside it."""

_OCTET = r"(?:25[0-5]|2[0-4]\d|[01]?\d?\d)"
_IP = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_FOUR = rf"{_OCTET}(?P<sign>[.-]){_OCTET}(?P=sign){_OCTET}(?P=sign){_OCTET}"
_LABEL = r"[A-Za-z0-9](?:[\w-]*[A-Za-z0-9])?"
_HOST = rf"(?!(?:com|org|net|io)\.){_LABEL}(?:\.{_LABEL})+"
"""No name of a package, which begins as hosts end."""
_CLIENT = (
    r"(?i:(?<![\w.])(?:rhost|remote[_ -]?host|client(?:[_ -]?(?:host|name|addr|address))?|peer(?:name)?|src[_ -]?host"
    r"|source[_ -]?host|workstation(?:[_ -]?name)?))[\"']?"
)
_DEVICE = r"(?:MacBook|iPhone|iPad|iMac|Mac-mini|Laptop|ThinkPad)"
_KEY_TO_A_SERVICE = (
    r"(?i:\b(?:proxy-)?authorization|\b(?:set-)?cookie|\bx-[\w-]*(?:key|token|auth|secret|session)[\w-]*)"
)

_ADDRESSES = (
    rf"(?<![\w.])(?P<value>{_IP})(?!\.?\d|[-_]\w)",
    rf"(?:(?<=[A-Za-z-])|(?<=[A-Za-z]\.))(?P<value>{_FOUR})(?=\.[A-Za-z]|[\s\])]|$)",
    rf"(?<![\w.-])(?P<value>{_FOUR})(?=[.-][A-Za-z][\w-]*\.)",
)
_CLIENTS = (
    rf"{_CLIENT}=[\"']?(?P<value>{_LABEL}(?:\.{_LABEL})*)",
    rf"{_CLIENT}:[ \t]{{0,8}}[\"']?(?P<value>{_HOST})(?!\w)",
)
_DEVICES = (
    rf"(?<![\w.-])(?P<value>(?P<owner>[A-Za-z]+?)[’']?s?[ -]?{_DEVICE}(?:-[A-Za-z0-9]+)*(?:\.local(?:domain)?)?)"
    r"(?![\w/])",
)
_NAMES_OF_ADDRESSES = (
    rf"(?<![\w.@/-])(?P<value>{_HOST})(?= ?(?:\({_IP}\)|\[{_IP}\]))",
    rf"(?<![\w.-]){_IP} ?[(\[](?P<value>{_HOST})(?=[)\]])",
)
_QUERIES = (r"(?<=[\w/.%=~-])\?(?P<value>[\w%.~+\[\]-]+=[^\s\"'<>\\|)\]}]*)",)
_SECRETS = (
    rf"{_KEY_TO_A_SERVICE}[\"']?\s*[:=]\s*[\"']?"
    r"(?P<value>[^\"'\]}\n]{4,}?)(?=[\"'\]}\n]|,\s*[\w\"'-]+:\s|$)",
)
_KINDS = (
    ("ipv4", _ADDRESSES),
    ("domain", _CLIENTS),
    ("domain", _DEVICES),
    ("domain", _NAMES_OF_ADDRESSES),
    ("query", _QUERIES),
    ("secret", _SECRETS),
)
_PATTERNS = tuple((kind, re.compile(pattern, re.MULTILINE)) for kind, several in _KINDS for pattern in several)
_HOLDS_ADDRESS = re.compile(rf"(?:^|[A-Za-z.-]){_FOUR}(?=\.|$)")
_VERSION = re.compile(r"(?i:version|ver|release|build|firmware|revision|\bv)[ :=]?$")
_LONGEST_WORD = 12


def find_connections(text: str) -> Iterator[Span]:
    own = writing_hosts(text)
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            start, end = match.span("value")
            named = "owner" in pattern.groupindex or not any(first <= start < last for first, last in own)
            if named and not _is_nobodys(kind, match):
                yield Span(start, end, kind, SURE, BY)


def _is_nobodys(kind: str, match: re.Match[str]) -> bool:
    if kind == "ipv4":
        return (
            _VERSION.search(match.string, max(0, match.start("value") - _LONGEST_WORD), match.start("value"))
            is not None
        )
    if kind != "domain":
        return False
    if "owner" in match.re.groupindex:
        return not _is_given(match["owner"])
    return match.re.pattern in _NAMES_OF_ADDRESSES and _HOLDS_ADDRESS.search(match["value"]) is not None


def _is_given(word: str) -> bool:
    kinds = lexicon().kinds(word)
    return bool(kinds & LexiconKind.GIVEN) and not kinds & LexiconKind.COMMON
