"""What a line of a log tells of a connection: addresses, the machine at the other end, queries, headers that let in.

An address also stands in names that providers give to the lines of their customers, as ``dsl-192-0-2-7.example.net``:
of such a name the numbers go, and of ``pool-77.example.net``, which only counts, all but the provider. Names of servers
are nobody's, and so is that of the machine that wrote the log; a name goes where it is said to be a client's, or where
a machine is called after its owner (``Ashas-MacBook-Pro``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from shoal.text.lexicon.gazetteers import LexiconKind, lexicon
from shoal.text.logs.log_lines import writing_hosts
from shoal.text.logs.signed_patterns import SignedPattern
from shoal.text.spans import Span

BY = "log connections"
SURE = 0.98
"""As sure as any recogniser: a header is taken whole, with what is known inside it."""

_OCTET = r"(?:25[0-5]|2[0-4]\d|[01]?\d?\d)"
_IP = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_FOUR = rf"{_OCTET}(?P<sign>[.-]){_OCTET}(?P=sign){_OCTET}(?P=sign){_OCTET}"
_OF_A_FILE = r"\.(?:jar|war|dll|so|exe|zip|t?gz|tar|rpm|deb|whl|log|txt|conf)\b"
_LABEL = r"[A-Za-z0-9](?:[\w-]*[A-Za-z0-9])?"
_HOST = rf"(?!(?:com|org|net|io)\.){_LABEL}(?:\.{_LABEL})+"
"""No name of a package, which begins as hosts end."""
_IPV6 = r"(?:[\da-fA-F]{0,4}:){2,7}[\da-fA-F]{0,4}(?:\.\d{1,3}){0,3}"
_CLIENT = (
    r"(?i:(?<![\w.])(?:r(?:host|addr)|remote[_ -]?host|client[_ -]?(?:host|name|addr|address)|src[_ -]?host"
    r"|source[_ -]?host|workstation(?:[_ -]?name)?))[\"']?"
)
_OTHER_END = r"(?i:(?<![\w.])(?:client|peer(?:name)?))[\"']?"
"""Programs have clients and peers too: a name behind these has to be a host's."""
_DEVICE = r"(?:MacBook|iPhone|iPad|iMac|Mac-mini|Laptop|ThinkPad)"
_LET_IN = r"(?i:\b(?:proxy-)?authorization|\bx-(?!cache|idempot)[\w-]*(?:key|token|auth|secret|session)[\w-]*)"

_ADDRESSES = (
    rf"(?<![\w.~+])(?<![A-Za-z]-)(?P<value>{_IP})(?!\.?\d|[-_]\w|{_OF_A_FILE})",
    rf"(?:(?<=[A-Za-z-])|(?<=[A-Za-z]\.))(?P<value>{_FOUR})(?=(?!{_OF_A_FILE})\.[A-Za-z])",
    rf"(?<=[A-Za-z-])(?P<value>{_OCTET}(?:-{_OCTET}){{3}})(?=[\s\])]|$)",
    rf"(?<![\w.-])(?P<value>{_FOUR})(?=[.-][A-Za-z][\w-]*\.)",
)
_PARTED = (".", "-")
_CLIENTS = (
    rf"{_CLIENT}=[\"'\[]?(?P<value>{_IPV6})(?![\w:])",
    rf"(?i:\bworkstation) \[(?P<value>{_LABEL})\]",
    rf"^(?P<value>{_IPV6}) \S+ \S+ \[\d{{1,2}}/[A-Z][a-z]{{2}}/\d{{4}}:",
    rf"{_CLIENT}=[\"']?(?P<value>{_LABEL}(?:\.{_LABEL})*)",
    rf"(?:{_CLIENT}:|{_OTHER_END}[=:])[ \t]{{0,8}}[\"']?(?P<value>{_HOST})(?!\w)",
    rf"^(?P<value>{_HOST}) \S+ \S+ \[\d{{1,2}}/[A-Z][a-z]{{2}}/\d{{4}}:",
)
_DEVICES = (
    rf"(?<![\w.-])(?P<value>(?P<owner>[A-Za-z]+?)(?P<own>[’']?s[ -]?)?-?{_DEVICE}(?:-[A-Za-z0-9]+)*"
    r"(?:\.local(?:domain)?)?)(?![\w/])",
)
_NAMES_OF_ADDRESSES = (
    rf"(?<![\w.@/-])(?<!relay=)(?P<value>{_HOST})(?= ?(?:\({_IP}\)|\[{_IP}\]))",
    rf"(?<![\w.-]){_IP} ?[(\[](?P<value>{_HOST})(?=[)\]])",
    rf"(?i:\bfrom )(?P<value>{_LABEL})(?= \({_IP}\))",
)
_QUERIES = (r"(?<=[\w/.%=~\s-])\?(?P<value>[\w%.~+\[\]-]+=[^\s\"'<>\\|)\]}]*)",)
_QUERY_COLUMNS = (r"\b[A-Z]{3,8} /\S* (?P<value>[\w%.~+&\[\]-]+=\S*)(?= \d{2,5} )",)
"""Between the path and the port, as W3C's logs have it."""
_SECRETS = (
    r"(?i:\b(?:set-)?cookie)[\"']?\s*[:=]\s*[\"']?"
    r"(?P<value>[^\"'\]}\n]{4,}?)(?=[\"'\]}\n]|,\s*[\w\"'-]+:\s|$)",
    rf"{_LET_IN}[\"']?\s*[:=]\s*[\"']?"
    r"(?P<value>(?i:(?:basic|bearer|digest|negotiate|token|aws4\S*) +)?[^\s\"',;\]}]{4,}(?:, ?\w+=[^\s\"',;]+)*)",
)
_LONG_MACS = (r"\bMAC=(?P<value>(?:[\da-fA-F]{2}:){13}[\da-fA-F]{2})\b",)
"""Both ends of a connection and its kind, as firewalls write them."""
_OF_CLIENTS = ("rhost", "raddr", "remote", "client", "src", "source", "workstation", "peer", " [")
_KINDS = (
    ("mac", _LONG_MACS, ("mac=",)),
    ("ipv4", _ADDRESSES, _PARTED),
    ("domain", _CLIENTS, _OF_CLIENTS),
    ("domain", _DEVICES, ("macbook", "iphone", "ipad", "imac", "mac-mini", "laptop", "thinkpad")),
    ("domain", _NAMES_OF_ADDRESSES, _PARTED),
    ("query", _QUERIES, ("?",)),
    ("query", _QUERY_COLUMNS, (" /",)),
    ("secret", _SECRETS, ("cookie", "authori", "x-")),
)
_PATTERNS = tuple((kind, SignedPattern.of(pattern, *signs)) for kind, several, signs in _KINDS for pattern in several)
_OF_ADDRESSES = frozenset(pattern for _, pattern in _PATTERNS if pattern.expression.pattern in _NAMES_OF_ADDRESSES)
_SECOND_LEVEL = re.compile(r"(?i:co|com|net|org|ac|edu|gov|ne|or|go|gob|nic|mil|[a-z]{2})\.[a-z]{2}")
_COUNTED = re.compile(
    r"(?i:(?:^|[.-])(?:[avs]?dsl|pool|dyn(?:amic)?|dhcp|stat(?:ic)?|cable|pppo?e?|dial(?:up|in)?|ip|client|cust(?:omer)?|host"
    r"|broadband|cpe|fib(?:er|re)|ftth|mobile|nat)[.-]?\d)|\d+\D+\d+\D+\d"
)
_FOUR_PARTS = re.compile(r"\d[.-]\d{1,3}[.-]\d{1,3}[.-]\d")
_HOLDS_ADDRESS = re.compile(rf"(?:^|[A-Za-z.-]){_FOUR}(?=\.|$)")
_VERSION = re.compile(
    r"(?i:version|\bver|release|build|firmware|revision|\brev|\boid|\bv)[\"']?"
    r"(?: (?:is|was|name|number))?[\s:=\"']{0,3}$"
    r"|(?:Mozilla/\d[^\"\n]*)(?<=[A-Za-z]/)$"
)
"""What comes before a number with three dots that is none of a net; browsers have such versions."""
_OF_A_BROWSER = re.compile(r"\d+\.0\.0\.0(?!:)")
_PRODUCT = re.compile(r"(?<![\w.-])[A-Z][A-Za-z]+/$")
_LONGEST_HEAD = 200


def find_connections(text: str) -> Iterator[Span]:
    own = writing_hosts(text)
    folded, has_four_parts = text.casefold(), _FOUR_PARTS.search(text) is not None
    for kind, pattern in _PATTERNS:
        if pattern.signs == _PARTED and not has_four_parts:
            continue
        for match in pattern.finditer(text, folded):
            start, end = match.span("value")
            written = any(first <= start < last and (first, last) != (start, end) for first, last in own)
            if written and "owner" not in match.re.groupindex:
                continue
            if not _is_nobodys(kind, match):
                yield Span(start, _end_of_machine(match) if pattern in _OF_ADDRESSES else end, kind, SURE, BY)


def _end_of_machine(match: re.Match[str]) -> int:
    """Where in the name that a provider counts its customers by the provider begins; elsewhere the end of the name.

    A provider has two parts, or three as in ``example.co.uk``.
    """
    parts = match["value"].split(".")
    of_net = 3 if _SECOND_LEVEL.fullmatch(".".join(parts[-2:])) else 2
    if not _COUNTED.search(".".join(parts[:-of_net])):
        return match.end("value")
    return match.end("value") - len(".".join(("", *parts[-of_net:])))


def _is_nobodys(kind: str, match: re.Match[str]) -> bool:
    if kind == "ipv4":
        return is_a_version(match.string, *match.span("value"))
    if kind != "domain":
        return False
    if "owner" in match.re.groupindex:
        return not _is_an_owner(match["owner"], match["own"])
    return match.re.pattern in _NAMES_OF_ADDRESSES and _HOLDS_ADDRESS.search(match["value"]) is not None


def is_a_version(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - _LONGEST_HEAD) : start]
    if _VERSION.search(before):
        return True
    return _PRODUCT.search(before) is not None and _OF_A_BROWSER.match(text, start, end + 1) is not None


def _is_an_owner(word: str, own: str | None) -> bool:
    """A given name, or a word on no list that says with an ``s`` whose it is."""
    kinds = lexicon().kinds(word)
    if kinds & LexiconKind.COMMON:
        return False
    return bool(kinds & LexiconKind.GIVEN) or (
        own is not None
        and word[0].isupper()
        and not word.endswith("s")
        and not lexicon().kinds(f"{word}s") & LexiconKind.COMMON
    )
