"""Whether a text is a log, by the structure of its lines: a timestamp, a level, a process or logger, a request.

No list of programs is asked. A line counts by what stands in its head, with points for each sign of a machine; a
timestamp alone is none, since notes and chats have it too. A text is a log if half of its lines are, those apart that
go on with the line before (a stack trace).

>>> is_log("2026-11-03 10:15:22,104 INFO [main] org.example.Store: opened in 35 ms")
True
>>> is_log("2026-11-03 10:15 Asha Rao called and asked for her results.")
False
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

TextKind = Literal["auto", "log", "prose"]
"""What a text is read as; ``auto`` finds out."""

LINES_LOOKED_AT = 100
LONGEST_HEAD = 160
"""Characters of a line in which its head is looked for."""
LONGEST_OBJECT = 2_000
NEAR = 64
"""Characters behind a timestamp that tell who wrote it."""
ENOUGH = 3
"""Points that make a line one of a log."""
FEWEST_KEYS, FEWEST_PAIRS = 2, 3

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_WEEKDAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_CLOCK = r"\d{1,2}:\d{1,2}:\d{1,2}(?:[.,:]\d{1,9})?(?: ?[AP]M\b)?"
_DAY = (
    rf"(?:\d{{4}}[-/.]\d{{2}}[-/.]\d{{2}}|\d{{8}}|\d{{1,2}}[-/.](?:\d{{1,2}}|{_MONTH})[-/.]\d{{2,4}}"
    r"|\d{2}[-/.]\d{2})"
)
_ZONE = r"(?: ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
_SYSLOG = rf"{_MONTH} {{1,2}}\d{{1,2}} \d{{2}}:\d{{2}}:\d{{2}}(?![\d,])"
_STAMP = re.compile(
    rf"(?:{_DAY}(?:T|, ?|[ :_-]){_CLOCK}{_ZONE}"
    rf"|\d{{4}}-\d{{2}}-\d{{2}}-\d{{2}}\.\d{{2}}\.\d{{2}}"
    rf"|{_WEEKDAY},? {_MONTH} {{1,2}}\d{{1,2}} {_CLOCK}(?: [A-Z]{{3,4}})?(?: \d{{4}})?"
    rf"|{_SYSLOG}|{_MONTH} \d{{1,2}}, \d{{4}} {_CLOCK}"
    rf"|(?<![\d:.]){_CLOCK}(?![\d:])|\b\d{{6}} \d{{6}}\b"
    r"|\b1[0-9]{9}(?:[0-9]{3}|[0-9]{6}|\.[0-9]{1,9})?(?![\w.]))"
)
_LEADING = re.compile(r"(?:<\d{1,3}>(?:1 )?)?[\s\[(\"'{-]*(?:[IWEFDV](?=\d{4} ))?$")
_UNMISTAKABLE = re.compile(
    rf"(?:<\d{{1,3}}>)?{_SYSLOG} |<\d{{1,3}}>1 |[IWEF]\d{{4}} \d{{2}}:\d{{2}}:\d{{2}}\.\d{{6}}\s+\d+ "
    r"|\S+ [a-z][\w./-]*\[\d+\]: "
    r"|(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)(?::[\w.]+:|:? {1,5}[\w.$]+[.:$]\S* )"
)
"""Syslog, its form of RFC 5424, klog, a process with its number, what Python's logging writes if nobody says how."""
_LEVEL = re.compile(
    r"(?:^|[\s\[(<|\"/=:-])(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|CRIT|CRITICAL|ALERT|EMERG|FATAL|SEVERE|PANIC"
    r"|FINE|FINER|FINEST|LOG|STATEMENT|(?<=[ |])[VDIWEF](?=[ |]))(?=$|[\s\])>|\":,/-])"
    r"|\[(?i:trace|debug|info|notice|warn|warning|error|crit|alert|emerg|[a-z_]+:(?:error|warn|notice|info|debug))\]"
    r"|(?:level|severity|lvl)[\"']?[=:] ?[\"']?\w+|(?<=, )(?:Info|Warning|Error|Fatal|Debug)(?=\s)"
    r"|(?<=[\s,])(?:Information|Verbose|Audit (?:Success|Failure))(?=[\s,])"
)
_PROCESS = re.compile(r"(?:^|\s)[\w.@/()-]+\[\d+\](?: \([\w. -]+\))?:? ")
_REQUEST = re.compile(
    rf" \[\d{{1,2}}/{_MONTH}/\d{{4}}:\d{{2}}:\d{{2}}:\d{{2}} "
    r"|\"(?:GET|POST|PUT|DELETE|HEAD|PATCH|OPTIONS|CONNECT|TRACE|PROPFIND) \S+|HTTP/\d(?:\.\d)?\"? \d{3}\b"
)
_FRACTION = re.compile(r":\d{1,2}[.,]\d{2,}")
_PAIR = re.compile(r"\w=[^\s=]")
_IDENTIFIER = re.compile(
    r"[a-z\d][A-Z]|[a-z]:[a-z]|\w::|\w_\w|\w\(|\w\.\w+\.\w|\b0x[\da-f]|\w\$\w|\w=\S|:\d{2,5}\b|\b[\da-f]{8}"
    r"|\.exe\b|\||\[[^\]]+\]|(?:^| )-(?: |$)"
    r"|^\s*\d+ "
)
_JSON_KEY = re.compile(
    r"\"@?(?:ts|time|timestamp|level|severity|log_?level|lvl|msg|message|logger|event|thread|pid|hostname|service"
    r"|caller)\":"
)
_FOLLOWS = re.compile(
    r"\s|Traceback \(most recent call last\):|Caused by: |\.\.\. \d+ more|\w+(?:\.\w+)*(?:Error|Exception)\b"
    r"|at \w[\w.$]+\(|[})\]]"
)
"""Lines that go on with the one before."""


_WRITTEN_BY = re.compile(
    rf"^(?:<\d{{1,3}}>(?:1 )?)?(?:{_SYSLOG}|\d{{4}}-\d{{2}}-\d{{2}}T[\d:.]+\S*) (?P<host>[\w.-]+) ", re.MULTILINE
)


def writing_hosts(text: str) -> list[tuple[int, int]]:
    """Where in the heads of lines the machine is named that wrote them, as syslog does."""
    return [match.span("host") for match in _WRITTEN_BY.finditer(text)]


def is_log(text: str) -> bool:
    """Whether half of the first lines are those of a log."""
    return LogDetector().read(text.splitlines() if "\n" in text else (text,))


@dataclass
class LogDetector:
    """What the first lines of a text or a stream tell, as they come."""

    logged: int = 0
    others: int = 0
    """Lines that are none of a log's and don't go on with one."""
    looked_at: int = 0

    def read(self, lines: Iterable[str]) -> bool:
        """Whether it is a log, as far as is known with these lines."""
        for line in islice(lines, max(0, LINES_LOOKED_AT - self.looked_at)):
            self.looked_at += 1
            if is_log_line(line):
                self.logged += 1
            elif line.strip() and not (self.logged and _FOLLOWS.match(line)):
                self.others += 1
        return self.logged > 0 and self.logged >= self.others


def is_log_line(line: str) -> bool:
    """Whether the head of a line is one that a program writes."""
    head = line[:LONGEST_HEAD]
    if _UNMISTAKABLE.match(head) or _REQUEST.search(line):
        return True
    if head.lstrip()[:1] == "{" and len(set(_JSON_KEY.findall(line, 0, LONGEST_OBJECT))) >= FEWEST_KEYS:
        return True
    stamp = _STAMP.search(head)
    return stamp is not None and _points(head, *stamp.span()) >= ENOUGH


def _points(head: str, start: int, end: int) -> int:
    """What speaks for a program around a timestamp."""
    before, behind = head[:start], head[end : end + NEAR].lstrip("])}")
    return (
        (2 if _LEADING.match(before) else 1)
        + bool(_FRACTION.search(head, start, end))
        + 2 * bool(_LEVEL.search(head))
        + 2 * bool(_PROCESS.search(behind))
        + bool(_IDENTIFIER.search(behind) or _IDENTIFIER.search(before))
        + (len(_PAIR.findall(head)) >= FEWEST_PAIRS)
    )
