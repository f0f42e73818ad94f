"""Who a line of a log is about: users behind a key or a word, in the columns of an access log, in addresses and paths.

Programs name users by a few habits: ``user=asha``, "for user asha", "Accepted password for asha from 192.0.2.7",
"asha : TTY=pts/0", "(asha) CMD", ``CORP\\asha``, ``asha@node7``, ``/home/asha``. A word behind a bare "user" is a name
if it is no everyday word, or if nothing follows it: "user session closed" tells of nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from shoal.text.lexicon.gazetteers import LexiconKind, lexicon
from shoal.text.spans import Span

BY = "log users"
USERNAME = "username"
SURE = 0.9

_X = r"[^\s,;:\"'()\[\]{}<>|=&]"
_NAME = rf"(?P<value>{_X}++)(?!=)"
_QUOTED = r"\\?\"(?P<quoted>[^\"\\\n]{1,64})\\?\"|'(?P<single>[^'\n]{1,64})'"
_ADDRESS = (
    r"(?:(?i:::ffff:)?\d{1,3}(?:\.\d{1,3}){3}|[\da-fA-F]*:[\da-fA-F:]+:[\da-fA-F]*"
    r"|(?!(?:com|org|net)\.)[A-Za-z][\w-]*(?:\.[\w-]+)+)"
)
_KEY = (
    r"(?<![A-Za-z])(?:[A-Za-z]+[_.-]|(?-i:[a-z]+(?=[A-Z])))?(?:[resd]?user(?:[_ .-]?(?:name|id))?|usr|uname"
    r"|log(?:in|on)(?:[_ .-]?(?:name|id))?|logname|acct|account[_ .-]?name|principal|runas|actor"
    r"|(?:member|customer|patient|employee)[_ .-]?id)"
)
_COLON = r"[ \t]{0,8}:[ \t]{0,8}"
_HOMES = (
    r"(?:(?<![\w.])(?:/(?:usr|export|data|mnt|net|nfs|private|Volumes/\w+|System/Volumes/\w+))?/(?:home|Users)/"
    r"|\b[A-Za-z]:(?:\\{1,2}|/)(?:Users|Documents and Settings)(?:\\{1,2}|/)"
    r"|/var/(?:spool/)?mail/|/var/spool/cron/(?:crontabs/)?)"
)
_FILE = r"(?P<value>[^\s/\\:\"'<>|,;()\[\]?#&]+)"
_SAID = (
    # a key and its value
    rf"(?i:{_KEY})(?:\\?[\"'])?(?:{_COLON}(?=\\?[\"'])|=>?|\s=\s)(?:{_QUOTED}|{_NAME})",
    # words that come before a user and nothing else
    rf"(?i:\b(?:invalid|illegal|unknown|for|authenticating|target|remote) user(?:name)? (?:is )?)[\"'<\[]?{_NAME}",
    rf"(?i:\b(?:user|role|username|account|login|principal|owner) )(?:name )?(?:{_QUOTED}|<{_NAME}>)",
    # whoever comes from an address, is let in, or does something by a number of the system
    rf"(?i:\b(?:for|by|of|as) ){_NAME} (?:(?:from|via|at) (?={_ADDRESS}\b)|on (?=/dev/|tty|pts/))",
    rf"(?i:\b(?:for|by|of|as) )(?:{_QUOTED}) (?=(?:from|via) )",
    rf"(?i:\b(?:log[io]n|session|authentication|password|access)\b[^\n:;]{{0,32}} (?:for|by) ){_NAME}(?=\.?\s*$)",
    rf"(?i:\blogin from {_ADDRESS},? {{1,2}}\()(?P<value>[^\s()]{{1,64}})",
    rf"(?i:\b(?:by|user|for) ){_NAME}\((?=uid=)",
    # sudo, su, cron
    rf"\bsudo(?:\[\d+\])?: +{_NAME} : ",
    rf"(?:^|[\s:])\({_NAME}\) (?=CMD|LIST|RELOAD|EDIT|REPLACE|BEGIN|END|MAIL|STARTUP|\*)",
    rf"\(to {_X}+\) {_NAME} on ",
    rf"\(to {_NAME}\) {_X}+ on ",
    # who asked, in the columns of an access log
    rf"^(?:\S+ )?{_ADDRESS}(?::\d+)? \S+ (?P<value>[^\s\[\]\"]+) \[\d{{1,2}}/[A-Z][a-z]{{2}}/\d{{4}}:",
    # accounts of a domain, of a machine, of Windows
    r"(?<![\w\\:/.$%])(?!HK)[A-Z][A-Z0-9-]{1,14}\\{1,2}(?P<value>[A-Za-z][\w.$-]*)(?![\w\\:])",
    r"(?<![\w.@/%+-])(?P<value>[a-z_][a-z0-9_.-]{0,31})@(?![0-9a-f]+\b)[A-Za-z][\w-]*(?![\w-]*(?:\.\w|@))",
    r"\b(?P<value>S-1-5-21-\d+-\d+-\d+-\d+)\b",
    rf"{_HOMES}{_FILE}",
    r"(?<![\w/.])~(?P<value>[a-z][a-z0-9_-]+)(?=/)",
)
_EVERYDAY = (
    r"(?<![\w-])[Uu]ser(?:name)? (?P<value>[A-Za-z][\w.@$-]*[\w$])(?![\w(=:\\])",
    rf"(?i:{_KEY}){_COLON}{_NAME}",
    rf"(?<![\w.])/(?:users?|u|profiles?|members?|people|accounts?)/{_FILE}",
)
"""Behind these an everyday word is nobody's name."""
_USERS = tuple(re.compile(pattern, re.MULTILINE) for pattern in _SAID)
_PERHAPS = tuple(re.compile(pattern, re.MULTILINE) for pattern in _EVERYDAY)
_ENDS = re.compile(r"\s*(?:$|[;,.]\s*$|[;,]\s|\n)")
_NOBODY = re.compile(
    r"(?i:null|none|nil|n/?a|true|false|undefined|is|was|has|not|and|or|the|a|an|public|shared|default|all|new"
    r"|-+|\?+|\*+|%\w|\d{1,3}|0x[\da-f]+|\[.*|<.*)$"
)
_ACCOUNTS = frozenset(
    {"root", "test", "guest", "admin", "administrator", "nobody", "support", "backup", "operator", "service"}
)
"""Everyday words that are names of accounts everywhere."""


def find_users(text: str) -> Iterator[Span]:
    for pattern in _USERS:
        for match in pattern.finditer(text):
            span = _value(text, match)
            if span is not None:
                yield span
    for pattern in _PERHAPS:
        for match in pattern.finditer(text):
            span = _value(text, match)
            if span is not None and _may_be_a_name(text, span):
                yield span


def _value(text: str, match: re.Match[str]) -> Span | None:
    groups = match.re.groupindex
    name = next((name for name in groups if match[name] is not None), None)
    if name is None:
        return None
    start, end = match.span(name)
    while end > start and text[end - 1] in ".,:;!?":
        end -= 1
    if end <= start or _NOBODY.match(text[start:end]):
        return None
    return Span(start, end, USERNAME, SURE, BY)


def _may_be_a_name(text: str, span: Span) -> bool:
    word = text[span.start : span.end]
    if word.lower() in _ACCOUNTS or not lexicon().kinds(word) & LexiconKind.COMMON:
        return not word.endswith(("ing", "ed")) or bool(lexicon().kinds(word))
    return text[span.start - 1] == " " and _ENDS.match(text, span.end) is not None
