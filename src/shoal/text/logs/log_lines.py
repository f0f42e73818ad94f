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
FEWEST_KEYS, FEWEST_PAIRS, FEWEST_FIELDS = 2, 3, 5

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_WEEKDAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_CLOCK = r"\d{1,2}:\d{1,2}:\d{1,2}(?:[.,:]\d{1,9})?(?: ?[AP]M\b)?"
_DAY = (
    rf"(?:\d{{4}}[-/.:]\d{{2}}[-/.:]\d{{2}}|\d{{8}}|\d{{1,2}}[-/.](?:\d{{1,2}}|{_MONTH})[-/.]\d{{2,4}}"
    rf"|{_MONTH}-\d{{1,2}}-\d{{2,4}}|\d{{2}}[-/.]\d{{2}})"
)
_ZONE = r"(?: ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
_SYSLOG = rf"{_MONTH} {{1,2}}\d{{1,2}} \d{{2}}:\d{{2}}:\d{{2}}(?![\d,])"
_STAMP = re.compile(
    rf"(?:{_DAY}(?:T|, ?|[ :_-]){_CLOCK}{_ZONE}"
    rf"|\d{{4}}-\d{{2}}-\d{{2}}-\d{{2}}\.\d{{2}}\.\d{{2}}"
    rf"|{_WEEKDAY},? {_MONTH} {{1,2}}\d{{1,2}} {_CLOCK}(?: [A-Z]{{3,4}})?(?: \d{{4}})?"
    rf"|{_SYSLOG}|{_MONTH} {{1,2}}\d{{1,2}},? \d{{4}} {_CLOCK}|\d{{1,2}} {_MONTH} \d{{4}} [\d:]{{8}}\.\d{{3}}"
    rf"|(?<!\d)\d{{1,2}} {_MONTH} {_CLOCK}|^\d{{1,2}}-{_MONTH} \d{{2}}:\d{{2}}(?= )|\b\d{{8}}[.-]\d{{6}}\b"
    rf"|(?<![\d:.]){_CLOCK}(?![\d:])|\b\d{{6}} \d{{6}}\b|\b\d{{4}}/\d{{6}}\.\d{{3,6}}\b"
    r"|\b1[0-9]{9}(?:[0-9]{3}|[0-9]{6}|\.[0-9]{1,9})?(?![\w.]))"
)
_LEVELS = "TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL"
_LEADING = re.compile(r"(?:<\d{1,3}>(?:1 )?|\d+:[A-Z] )?[\W_]*(?:[IWEFDV](?=\d{4} ))?$")
_UNMISTAKABLE = re.compile(
    rf"(?:<\d{{1,3}}>)?{_SYSLOG} |<\d{{1,3}}>\s?\w|[IWEF]\d{{4}} \d{{2}}:\d{{2}}:\d{{2}}\.\d{{6}}\s+\d+ "
    r"|\S+ [a-z][\w./-]*\[\d+\]: |#(?:Fields|Software): |# (?:Time: \d|User@Host: )"
    r"|\s*\d+:\d{8}:\d{6}\.\d{3} |-+ last message repeated \d+ time"
    rf"|(?:{_LEVELS})(?::[\w.]+:|:? {{1,5}}[\w.$]+[.:$]\S* |\[\d+\]: )|\[(?:{_LEVELS})\] "
    r"|@4[\da-f]{23} |<Event xmlns=|Event\[\d+\]:?$|(?:TimeCreated|ProviderName|LevelDisplayName) *: "
    r"|(?:[^|]{0,100}\s)?(?:CEF|LEEF):\d(?:\.\d)?\|"
)
"""Syslog, its form of RFC 5424, klog, a process with its number, heads of W3C's and MySQL's logs, Zabbix, what Python's
logging writes if nobody says how, a level in brackets, TAI64N, events of Windows, ArcSight's and QRadar's formats."""
_FORWARDED = re.compile(rf"(?:^|\s){_SYSLOG} \S+ [\w./()-]+(?:\[\d+\])?: ")
"""A line of syslog behind what another program put before it."""
_LEVEL = re.compile(
    r"(?:^|[\s\[(<|\"/=:-]|(?<=[a-z])\.)(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|CRIT|CRITICAL|ALERT|EMERG|FATAL|SEVERE|PANIC"
    r"|FINE|FINER|FINEST|VRB|DBG|INF|WRN|FTL|LOG|STATEMENT|(?<=[ |])[VDIWEF](?=[ |]))(?=$|[\s\])>|\":,/-])"
    r"|[\[<](?i:trace|debug|info|notice|warn|warning|error|crit|critical|alert|emerg|emergency"
    r"|[a-z_]+:(?:error|warn|notice|info|debug))[\]>]"
    r"|(?<= : )(?:Auth|Acct|Proxy|Info|Warn(?:ing)?|Error|Debug)(?=: )"
    r"|(?:level|severity|lvl)[\"']?[=:] ?[\"']?\w+|(?<=, )(?:Info|Warning|Error|Fatal|Debug)(?=\s)"
    r"|(?:^|(?<=[\s,]))(?:Information|Verbose|Audit (?:Success|Failure)|(?:Warning|Error|Critical)(?=[\s,]+\d))"
    r"(?=[\s,])"
)
_PROCESS = re.compile(r"(?:^|\s)[\w.@/()-]+\[\d+\](?: \([\w. -]+\))?:? ")
_REQUEST = re.compile(
    rf" \[\d{{1,2}}/{_MONTH}/\d{{4}}:\d{{2}}:\d{{2}}:\d{{2}} "
    r"|\"(?:GET|POST|PUT|DELETE|HEAD|PATCH|OPTIONS|CONNECT|TRACE|PROPFIND) (?:\S*[/*?:]|-)|HTTP/\d(?:\.\d)?\"? \d{3}\b"
)
_FRACTION = re.compile(r":\d{1,2}[.,]\d{2,}|\d{10}\.\d{3,}|\d{6}[,.]\d{3}")
_ZONED = re.compile(r"T[\d:]{8}(?:Z|[+-]\d\d:?\d\d)|:\d\d (?:UTC|GMT|[+-]\d{4})")
"""Clocks that no person writes: parts of a second, or a zone right behind."""
_PAIR = re.compile(r"\w=[^\s=]")
_FIELD = re.compile(r"(?:^|[\s;,|])[A-Za-z_][\w.-]+=(?=[^\s=])")
_CELLS = re.compile(r"[^,\n]*,(?:[^ ,\n][^,\n]*,|,){4}")
_IDENTIFIER = re.compile(
    r"[a-z\d][A-Z]|[a-z]:[a-z]|\w::|\w_\w|\w\(|\w\.\w+\.\w|\b0x[\da-f]|\w\$\w|\w=\S|:\d{2,5}\b|\b[\da-f]{8}"
    r"|\.exe\b|\||\[[^\]]+\]|(?:^| )-(?: |$)|%[A-Z][A-Z\d_]+-\d|\s/\w+/[\w.]"
    r"|^\s*\d+ |^ [.*#] |^ [A-Z]{2,}-\d+ "
)
_NUMBERED = re.compile(r"\s*\d{3,} ")
_SPEAKER = re.compile(r"[\s\]>-]*[^\W\d_a-z][^\W\d_A-Z]+(?: [^\W\d_a-z][^\W\d_A-Z]+){1,3}: ")
"""Who says what follows, in a chat that was saved."""
_JSON_KEY = re.compile(
    r"\"@?(?:ts|time|timestamp|level|severity|log_?level|lvl|msg|message|logger|event|thread|pid|hostname|service"
    r"|caller|log|stream)\":"
)
_EVENT_KEYS = (
    re.compile(r"\":\s?\"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|(?i:time|ts|date|epoch|_at|_on)\w*\":\s?\"?1\d{9}"),
    re.compile(r"\"[\w.@ ]*(?i:event|action|operation|activity|outcome|severity|level|logger|verb)\w*\":"),
    re.compile(
        r"\"[\w.@ ]*(?i:ip|ip_?addr\w*|addr|host_?name|host|agent\w*|session\w*|trace_?id|[pg]id|process\w*"
        r"|device_?id|tenant_?id|port|proto\w*|method|sha256|md5)\":"
    ),
)
"""What an event tells that a record of somebody doesn't: when to the second, what happened, on which machine."""
_RECORD_KEY = re.compile(
    r"\"\w*(?i:street|postal|zip_?code|phone|birth|dob|first_?name|last_?name|gender|location_?name)\w*\":"
)
"""What a record of somebody tells, whatever else it holds."""
_CONTAINER = re.compile(r"[\w.-]+-\d+ +\| ")
"""Which container wrote the line, as Docker's tools put before it."""
_FOLLOWS = re.compile(
    r"\s|Traceback \(most recent call last\):|Caused by: |\.\.\. \d+ more|\w+(?:\.\w+)*(?:Error|Exception)\b"
    r"|at \w[\w.$]+\(|[})\]]|#\d+ \S|[A-Z][A-Za-z ]{2,30}:(?:\t|\s*$)"
)
"""Lines that go on with the one before."""


_WRITTEN_BY = re.compile(
    rf"(?:^(?:<\d{{1,3}}>(?:1 )?)?(?:{_SYSLOG}|\d{{4}}-\d{{2}}-\d{{2}}T[\d:.]+\S*)|(?<=\s){_SYSLOG}) "
    r"(?P<host>[\w./@-]+) ",
    re.MULTILINE,
)
"""Relays put themselves before the machine: ``relay@node7``."""


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
    if container := _CONTAINER.match(line):
        line = line[container.end() :]
    head = line[:LONGEST_HEAD]
    if _UNMISTAKABLE.match(head) or _FORWARDED.search(head) or _REQUEST.search(line):
        return True
    if head.lstrip()[:1] == "{":
        if _is_event(line):
            return True
        if _RECORD_KEY.search(line):
            return False
    stamp = _STAMP.search(head)
    if stamp is not None and _points(head, *stamp.span()) >= ENOUGH:
        return True
    return "=" in head and len(_FIELD.findall(head)) >= FEWEST_FIELDS


def _is_event(line: str) -> bool:
    """Whether an object is one that a program tells of itself."""
    if len(set(_JSON_KEY.findall(line, 0, LONGEST_OBJECT))) >= FEWEST_KEYS:
        return True
    if _RECORD_KEY.search(line):
        return False
    return all(pattern.search(line, 0, LONGEST_OBJECT) for pattern in _EVENT_KEYS)


def _points(head: str, start: int, end: int) -> int:
    """What speaks for a program around a timestamp."""
    before, behind = head[:start], head[end : end + NEAR].lstrip("])}")
    numbered = _NUMBERED.match(before)
    leads = _LEADING.match(before) is not None
    return (
        1
        + leads
        + bool(_FRACTION.search(head, start, end) or (leads and _ZONED.search(head, start, end)))
        + 2 * bool(_LEVEL.search(head))
        + 2 * bool(_PROCESS.search(behind))
        + (numbered is not None)
        + bool(_IDENTIFIER.search(behind) or _IDENTIFIER.search(before, numbered.end() if numbered else 0))
        + (len(_PAIR.findall(head)) >= FEWEST_PAIRS or _CELLS.match(head) is not None)
        - bool(_SPEAKER.match(behind))
    )
