"""Who a line of a log is about: users behind a key or a word, in the columns of an access log, in addresses and paths.

Programs name users by a few habits: ``user=asha``, "for user asha", "Accepted password for asha from 192.0.2.7",
"asha : TTY=pts/0", "(asha) CMD", ``CORP\\asha``, ``asha@node7``, ``/home/asha``. A word behind a bare "user" is a name
if it is no everyday word, or if nothing follows it: "user session closed" tells of nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from shoal.text.lexicon.gazetteers import LexiconKind, lexicon
from shoal.text.logs.log_lines import writing_hosts
from shoal.text.logs.signed_patterns import SignedPattern
from shoal.text.logs.user_columns import COLUMNS
from shoal.text.logs.user_objects import DOERS_IN_OBJECTS, USERS_IN_OBJECTS
from shoal.text.spans import Span

BY = "log users"
USERNAME = "username"
SURE = 0.9

_signed = SignedPattern.of
_X = r"[^\s,;:\"'()\[\]{}<>|=&]"
_NAME = rf"(?P<value>{_X}++)(?!=)"
_QUOTED = (
    r"\\?\"(?P<quoted>(?![;,:=)])[^\"\\\n]{1,64}(?:\\+[^\"\\\n]{1,64})?)\\?\"|'(?P<single>(?![;,:=)])[^'\n]{1,64})'"
)
_IP = r"\d{1,3}(?:\.\d{1,3}){3}"
_ADDRESS = (
    rf"(?:(?i:::ffff:)?{_IP}|[\da-fA-F]*:[\da-fA-F:]+:[\da-fA-F]*"
    r"|(?!(?:com|org|net)\.)[A-Za-z][\w-]*(?:\.[\w-]+)+)"
)
_KEY = (
    r"(?:(?<![A-Za-z])|(?-i:(?<=[a-z])(?=[A-Z])))"
    r"(?:[a-z]{0,8}user(?:\d|s|[_ .-]?(?:long|full|display|principal|short)?[_ .-]?(?:name|id))?|usr|uname|ugi|set_id"
    r"|log(?:in|on)(?:[_.-]?id|[_ .-]?name)|(?-i:logname|LOGNAME)|acct|ctladdr|account[_ .-]?name|upn"
    r"|administrator|admin(?:[_ .-]?name)?|principal(?:[_ .-]?(?:name|id))?|runas|actor(?:[_ .-]?name)?"
    r"|(?:member|customer|patient|employee)[_ .-]?id)"
)
_LOGIN = r"(?<![A-Za-z.])(?:[a-z]+_)?log(?:in|on)"
_DOER = (
    r"(?<![A-Za-z])(?:operator|owner|requester|submitter|assignee|approver"
    r"|(?:created|updated|modified|changed|submitted|requested|performed|triggered|approved)_?by)"
)
_COLON = r"[ \t]{0,8}:[ \t]{0,8}"
_HOMES = (
    r"(?:(?<![\w.])(?:/(?:usr|export|data|mnt|net|nfs|private|Volumes/\w+|System/Volumes/\w+))?/(?:homes?|Users)/"
    r"|(?<![\w./-])homes/"
    r"|\b[A-Za-z]:(?:\\{1,2}|/)(?:Users|Documents and Settings)(?:\\{1,2}|/)"
    r"|/var/(?:spool/)?mail/|/var/spool/cron/(?:crontabs/)?)"
)
_FILE = r"(?P<value>[^\s/\\:\"'<>|,;()\[\]?#&]+)"
_LETS_IN = (
    r"(?i:\b(?:log(?:in|on|ged)|session|authenticat\w+|password|publickey|access|accepted|failed|keyboard\S+"
    r"|reboot|shutdown|halt)\b"
)
_COMING = rf"(?:(?:from|via|at) (?={_ADDRESS}\b)|on (?=/dev/|tty|pts/))"
_KEYS = (
    "user", "usr", "uname", "login", "logon", "logname", "acct", "ctladdr", "account", "principal", "runas", "actor",
    "member", "customer", "patient", "employee", "admin", "upn", "ugi", "set_id",
)  # fmt: skip
_IS_IN = r"(?:logged (?:in|out|on|off)|signed (?:in|out)|log(?:in|on) (?:attempted|failed|succeeded|ok)\b)"
_ASKED = (
    r"(?:failed|log(?:in|on|ged)|from|signed|connected|disconnected|authenticated|has been|is now|does not exist)\b"
)
_SUDO = r"(?:TTY|PWD|USER|GROUP|COMMAND)=|\d incorrect|user NOT|command not|a password is|unable to"
_BEFORE_WHOM = ("for ", "by ", "of ", "as ")
_SAID = (
    # a key and its value
    _signed(
        rf"(?i:{_KEY})(?:\\?[\"'])?(?:{_COLON}(?:\[\d*\]? ?)?(?=\\?[\"'])|=>?|\s=\s)(?:{_QUOTED}|<?{_NAME})", *_KEYS
    ),
    *USERS_IN_OBJECTS,
    _signed(r"(?:(?<![A-Za-z])[aes]?uid|(?<![A-Z])[AES]?UID)=\\?\"(?P<value>[A-Za-z_][\w.-]*)\\?\"", "uid="),
    _signed(
        r"(?i:\b(?:invalid|illegal|unknown) user) {1,2}(?P<whoever>[^\s:;,]+)(?= from | \[preauth\]| \S+ port | ?$)",
        " user",
    ),
    # words that come before a user and nothing else
    _signed(
        rf"(?i:\b(?:invalid|illegal|unknown|for|authenticat(?:e|ed|ing)|target|remote) user(?:name)? (?:is )?)"
        rf"[\"'<\[]?{_NAME}",
        " user",
    ),
    _signed(
        rf"(?i:\b(?:user|role|username|account|login|principal|owner) )(?:name )?"
        rf"(?:{_QUOTED}|<{_NAME}>|\[(?P<bracketed>{_X}++)\](?!\\))",
        "user",
        "role ",
        "account ",
        "login ",
        "principal ",
        "owner ",
    ),
    # whoever comes from an address, is let in, or does something by a number of the system
    _signed(rf"{_LETS_IN}[^\n;]{{0,48}}? (?:for|by|of|as) ){_NAME} {_COMING}", *_BEFORE_WHOM),
    _signed(rf"(?i:\b(?:for|by|of|as) )(?:{_QUOTED}) (?=(?:from|via) {_ADDRESS}\b)", " from ", " via "),
    _signed(rf"(?i:\blogin from {_ADDRESS},? {{1,2}}\()(?P<value>[^\s()]{{1,64}})", "login from "),
    _signed(rf"(?i:\b(?:by|user|for) ){_NAME}\((?=uid=)", "(uid="),
    _signed(rf"\bUser@Host: +{_NAME}\[", "user@host"),
    _signed(rf"\be?uid=\d+\({_NAME}\)", "uid="),
    # sudo, su, cron
    _signed(rf"(?:^|\s){_NAME} : (?={_SUDO})", " : "),
    _signed(
        r"(?i:\b(?:add(?:ed)?|deleted?|removed?|changed?|(?:un)?locked) )"
        r"(?:(?:user|account) '(?P<value>[^'\n]+)'|'(?P<single>[^'\n]+)'(?= (?:to|from) (?:\w+ )?group\b))",
        " '",
    ),
    _signed(rf"(?i:\b(?:new|add|delete|changed?) user\b)[^\n=]{{0,20}}\bname={_NAME}", "name="),
    _signed(rf"(?:\bsu(?:\[\d+\])?:|\bSU) {_NAME} (?=to \S+ on )", "su"),
    _signed(rf"(?:\bsu(?:\[\d+\])?:|\bSU) \S+ to {_NAME} on ", "su"),
    _signed(rf"(?:^|[\s:])\({_NAME}\) (?=CMD|LIST|RELOAD|EDIT|REPLACE|BEGIN|END|MAIL|STARTUP|\*)", ") "),
    _signed(rf"\(to {_X}+\) {_NAME} on ", "(to "),
    _signed(rf"\(to {_NAME}\) {_X}+ on ", "(to "),
    # who asked, in the columns of an access log
    _signed(r"^(?:\S+ )?\S+ \S+ (?P<value>[^\s\[\]\"]+) \[\d{1,2}/[A-Z][a-z]{2}/\d{4}:", " ["),
    _signed(rf"\b[A-Z]{{3,7}} (?:[a-z]+://\S+|[\w.-]+:\d+)(?: \d\.\d)? {_NAME} [A-Z_]+/", "_"),
    _signed(rf"\[pid \d+\] \[{_NAME}\] ", "[pid "),
    _signed(r"(?i:\blog(?:in|on) \w+(?: \([^()\n]{0,100}\))?: )\[(?P<value>[^\s\[\]/<]+)(?=[\]/])", ": ["),
    _signed(r"\]\\{1,2}\[(?P<value>[^\s\[\]]+)\]", "\\"),
    _signed(rf"{_ADDRESS}\|{_NAME}\|(?=(?:GET|POST|PUT|HEAD|DELETE|PATCH)\b)", "|get", "|p", "|head", "|delete"),
    _signed(rf"\((?P<value>{_X}+)@(?={_ADDRESS}\))", "("),
    _signed(rf"\((?P<value>{_X}+),(?={_IP}[,)])", "("),
    _signed(rf"(?<![\w.@/%+-])(?P<value>[A-Za-z_][\w.-]{{0,31}})@(?=\[?{_IP}\b)", "@"),
    _signed(rf"(?:^[^A-Za-z\n]*|-> )(?P<value>[A-Za-z][\w.-]+)/(?={_IP}:\d)", "/"),
    _signed(r"^[^\",\n]{10,40},\"(?P<quoted>[^\"\n]{1,64})\",(?:\"[^\"\n]*\")?,\d+,", ',"'),
    _signed(
        rf"\b(?:imap|pop3|lmtp|lda|smtp|submission)\({_NAME}\)",
        "imap(",
        "pop3(",
        "lmtp(",
        "lda(",
        "smtp(",
        "submission(",
    ),
    # a name in a directory, a certificate
    _signed(r"\b(?i:uid)=(?P<value>[A-Za-z][\w.-]+)(?=,)", "uid="),
    _signed(r"\bCN=(?P<value>[a-z][\w-]*)(?![\w.*])", "cn="),
    # accounts of a domain, of a machine, of Windows
    _signed(
        r"(?<![\w\\:/.$%])(?!HK)[A-Z][A-Z0-9-]{1,14}(?:\.[A-Z]{2,})*\\{1,4}+(?![nrt](?![a-z]))(?P<value>[A-Za-z][\w.$-]*)(?![\w\\:&])",
        "\\",
    ),
    _signed(
        r"(?<![\w.@/%+-])(?P<value>[a-z_][a-z0-9_.-]{0,31})@(?![0-9a-f]+\b)[A-Za-z][\w-]*(?![\w-]*(?:\.\w|@))", "@"
    ),
    _signed(rf"(?<![\w.@])@(?P<value>[a-z0-9][\w.=-]{{1,63}}):(?={_ADDRESS})", "@"),
    _signed(r"(?i:\bdenied to )(?P<value>[A-Za-z][\w-]{2,38})(?=\.?$)", "denied to "),
    _signed(rf"\) {_NAME} (?=(?:opened|closed|renamed|deleted) file )", " file "),
    _signed(r"\barn:aws[\w-]*:\w+::\d*:(?:user|assumed-role/[\w+=,.@-]+)/(?P<value>[\w+=,.@-]+)", "arn:aws"),
    _signed(r"\b(?P<value>S-1-5-21-\d+-\d+-\d+-\d+)\b", "s-1-5-21-"),
    _signed(rf"{_HOMES}{_FILE}", "home/", "homes/", "users", "settings", "mail/", "cron/"),
    _signed(r"(?<![\w.])~(?P<value>[a-z][a-z0-9_.-]+)(?=[/\s\"])", "~"),
    _signed(r"\bSHA256:(?P<value>[A-Za-z0-9+/]{43})(?![\w+/])", "sha256:"),
)
_LISTED = (
    _signed(
        r"(?i:\busers with \w+ permissions: Set\(|\bacls to: ?)(?P<list>[^\s,;()]+(?:, ?[^\s,;()]+)*)",
        "users with",
        "acls to:",
    ),
    _signed(
        r"(?i:(?<![A-Za-z])(?:users|usernames|logins|members|participants|admins|owners|assignees|approvers|reviewers))"
        r"(?:\\?[\"'])?[ \t]?[=:][ \t]?[\[({](?P<maybe>[\w.@\\\"' -]{2,64}(?:,[\w.@\\\"' -]{2,64}){0,40})[\])}]",
        "users",
        "usernames",
        "logins",
        "members",
        "participants",
        "admins",
        "owners",
        "assignees",
        "approvers",
        "reviewers",
    ),
)
"""Several users one after the other."""
_IN_LIST = re.compile(r"(?<![\w.@-])[A-Za-z_][\w.@-]*")
_EVERYDAY = (
    _signed(
        r"(?<![\w-])(?:[Uu]ser(?:name)?|USER) (?:[\w.-]+\\{1,4})?"
        r"(?P<value>[A-Za-z][\w.@$-]*[\w$])(?![\w(=\\]|:\S)",
        "user",
    ),
    _signed(r"(?i:\buser(?:name|id)?) ?\((?P<value>[A-Za-z_][\w.@$-]+)\)", "user"),
    _signed(
        rf"{_LETS_IN}[^\n:;]{{0,32}} (?:for|by) {{1,2}}){_NAME}(?= : |[.:]?\s*(?:[;,]\s|(?:\[\w+\])?$))",
        " for ", " by ",
    ),
    _signed(rf"(?i:\b(?:administrator|admin|account|subscriber|identity) ){_NAME}(?= {_ASKED})", "admin", "account "),
    _signed(
        rf"(?<![\w.@/-])(?![A-Z]+ )(?P<value>[A-Za-z][\w.-]+) (?=(?:has |is now |was |successfully )?{_IS_IN})",
        " log", " sign",
    ),
    _signed(r"(?i:\b(?:by|from) )(?P<value>[A-Za-z][\w.-]+) (?=user\b)", " user"),
    _signed(rf"{_IP}:\d+ \[(?P<value>[A-Za-z][\w.-]+)\] ", " ["),
    _signed(
        r"(?i:\b(?:registered|created|updated|modified|changed|edited|deleted|approved|rejected|opened|signed|reviewed"
        r"|requested|submitted|cancelled|booked|uploaded|downloaded|viewed|printed|exported) by )"
        r"(?P<value>[A-Za-z][\w.@-]+)(?![\w(:/]| [A-Za-z])",
        "ed by ",
    ),
    *COLUMNS,
    _signed(rf"(?i:{_KEY}|{_LOGIN}){_COLON}{_NAME}", *_KEYS),
    _signed(
        rf"(?i:{_LOGIN}|{_DOER})=[\"']?{_NAME}",
        "login=", "logon=", "operator=", "owner=", "requester=", "submitter=", "assignee=", "approver=", "by=",
    ),
    *DOERS_IN_OBJECTS,
    _signed(r"(?<![\w.-])u=(?P<value>[a-z][\w.-]{2,})(?= )", "u="),
    _signed(rf"(?<![\w.])(?P<value>[A-Za-z][\w-]+)\[/{_ADDRESS}(?=[\]:])", "[/"),
    _signed(rf"(?i:\b(?:for|by|of|as) ){_NAME} {_COMING}", *_BEFORE_WHOM),
    _signed(
        rf"(?<![\w.])/(?:users?|u|profiles?|members?|people|accounts?)/{_FILE}",
        "/user", "/u/", "/profile", "/member", "/people/", "/account",
    ),
)  # fmt: skip
"""Behind these an everyday word is nobody's name."""
_ENDS = re.compile(r"\s*(?:$|[;,.]\s*$|;\s|\n)")
_NOBODY = re.compile(
    r"(?i:null|none|nil|n/?a|true|false|on|off|yes|no|undefined|is|was|has|had|have|are|were|be|been|not|and|or|the|a|an"
    r"|s|with|from|to|in|at|by|of|for|as|does|did|do|can|cannot|could|would|should|may|must|will|who|which|that|this|it"
    r"|here|found|tried|name|public|shared|default|all|new|ids?|-+|\?+|\*+|%\w|\d{1,3}|0x[\da-f]+|\[.*|<.*|[\w-]+\$"
    r"|(?:com|org|net|io|javax?)\.\w+\..*)$"
)
ACCOUNTS = frozenset(
    {"root", "test", "guest", "admin", "administrator", "nobody", "support", "backup", "operator", "service"}
)
"""Everyday words that are names of accounts everywhere."""


def find_users(text: str) -> Iterator[Span]:
    folded, own = text.casefold(), writing_hosts(text)
    for pattern in _SAID:
        for match in pattern.finditer(text, folded):
            span = _value(text, match)
            if span is not None and not any(first <= span.start < last for first, last in own):
                yield span
    yield from _in_lists(text, folded)
    for pattern in _EVERYDAY:
        for match in pattern.finditer(text, folded):
            span = _value(text, match)
            if span is not None and _may_be_a_name(text, span):
                yield span


def _in_lists(text: str, folded: str) -> Iterator[Span]:
    for pattern in _LISTED:
        for match in pattern.finditer(text, folded):
            group = match.lastgroup or ""
            items = [Span(*one.span(), USERNAME, SURE, BY) for one in _IN_LIST.finditer(text, *match.span(group))]
            names = [one for one in items if not _NOBODY.match(text[one.start : one.end])]
            likely = sum(_may_be_a_name(text, one) for one in names)
            if group == "list" or 2 * likely >= len(items):
                yield from names


def _value(text: str, match: re.Match[str]) -> Span | None:
    groups = match.re.groupindex
    name = next((name for name in groups if match[name] is not None), None)
    if name is None:
        return None
    start, end = match.span(name)
    while end > start and text[end - 1] in ".,:;!?@":
        end -= 1
    if end <= start or (name != "whoever" and _NOBODY.match(text[start:end])):
        return None
    return Span(start, end, USERNAME, SURE, BY)


def _may_be_a_name(text: str, span: Span) -> bool:
    word = text[span.start : span.end]
    if "_" in word and all(_is_common(part) for part in word.split("_")):
        return False
    if word.lower() in ACCOUNTS or not lexicon().kinds(word) & LexiconKind.COMMON:
        return not word.endswith(("ing", "ed")) or bool(lexicon().kinds(word))
    if word.endswith(("ing", "ed")):
        return False
    said_by_whom = text.endswith("ed by ", 0, span.start)
    return text[span.start - 1] == " " and not said_by_whom and _ENDS.match(text, span.end) is not None


def _is_common(word: str) -> bool:
    kinds = lexicon().kinds(word)
    return bool(kinds & LexiconKind.COMMON) and not kinds & LexiconKind.GIVEN
