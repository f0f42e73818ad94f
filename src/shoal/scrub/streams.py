"""Scrubbing what has no end, as ``tail -f app.log``: line by line, in bounded memory, nothing held back.

Lines that come together are scrubbed together, each as if it came alone; nothing waits for a line that is yet to come.

A line that is longer than ``most`` characters is taken in windows that overlap. A window is cut where nothing that was
found in it crosses the cut, at least ``overlap`` characters before its end, and the next one is read together with the
``overlap`` characters before the cut. So whatever is no longer than the overlap is seen whole, with what stands around
it, in one window at least: nothing escapes at a seam.

Lines that belong together (a stack trace below its message) can be scrubbed as one record: ``follows`` says which lines
go on with the record before them. A record can only be written when the next one begins.

Whether a stream is a log is told by its first lines, as far as they have come: the line of a stack trace, which tells
nothing of it by itself, is read as those before it are.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from shoal.errors import InputError
from shoal.scrub.outcome import ScrubAction, ScrubOutcome
from shoal.scrub.scrubber import Scrubber
from shoal.text.logs.log_lines import LogDetector, TextKind

MOST = 65_536
OVERLAP = 2_048
STACK_TRACE = re.compile(
    r"\s+\S|Traceback \(most recent call last\):|Caused by: |\.\.\. \d+ more|\w+(\.\w+)*(Error|Exception)\b"
)
"""Lines that go on with a stack trace of Python or Java."""

ReportAction = Callable[[ScrubAction, str, str], None]
"""Is told what was done, with places in the whole stream, what stands there now, and what stood there."""


def scrub_lines(  # noqa: PLR0913  # what a stream may need
    lines: Iterable[str],
    scrubber: Scrubber,
    *,
    most: int = MOST,
    overlap: int = OVERLAP,
    follows: re.Pattern[str] | None = None,
    person: str = "",
    tell: ReportAction | None = None,
) -> Iterator[str]:
    """The scrubbed text of each line, as it comes. A line may come in several pieces, the last of which ends it."""
    alone = ([line] for line in lines)
    return scrub_together(alone, scrubber, most=most, overlap=overlap, follows=follows, person=person, tell=tell)


def scrub_together(  # noqa: PLR0913  # as above
    batches: Iterable[Sequence[str]],
    scrubber: Scrubber,
    *,
    most: int = MOST,
    overlap: int = OVERLAP,
    follows: re.Pattern[str] | None = None,
    person: str = "",
    tell: ReportAction | None = None,
) -> Iterator[str]:
    """As ``scrub_lines``, for lines that come several at a time. What has come is passed on before more is read."""
    if not 0 < 2 * overlap <= most:
        raise InputError("the windows of long lines have to be at least twice as long as their overlap")
    stream = _StreamScrubber(scrubber, most, overlap, person, tell)
    for batch in _whole(batches) if follows is None else _records(batches, follows, most):
        short: list[str] = []
        for part, ends in batch:
            if ends and stream.is_between_records and len(part) <= most:
                short.append(part)
                continue
            if short:
                yield stream.each(short)
                short = []
            yield from stream.long(part, ends=ends)
        if short:
            yield stream.each(short)
    yield from stream.long("", ends=True)


def read_lines(stream: BinaryIO, encoding: str = "utf-8", most: int = MOST) -> Iterator[str]:
    """Lines of a stream as they come, with their ends; of an endless line, pieces of at most ``most`` bytes.

    Bytes that are no text in the encoding become U+FFFD: what can't be read isn't passed on.
    """
    for lines in read_together(stream, encoding, most):
        yield from lines


def read_together(stream: BinaryIO, encoding: str = "utf-8", most: int = MOST) -> Iterator[list[str]]:
    """As ``read_lines``, all that is there at once in one list."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    for pieces in _pieces(stream, most):
        if lines := [text for piece in pieces if (text := decoder.decode(piece))]:
            yield lines
    if rest := decoder.decode(b"", final=True):
        yield [rest]


def _pieces(stream: BinaryIO, most: int) -> Iterator[list[bytes]]:
    """Lines as bytes, as many as one look at the stream gives; of a stream that has no look to give, one by one."""
    look = getattr(stream, "read1", None)
    if look is None:
        while piece := stream.readline(most):
            yield [piece]
        return
    rest = b""
    while data := look(most):
        *lines, rest = (rest + data).split(b"\n")
        if cut := [piece for line in lines for piece in _cut(line + b"\n", most)]:
            yield cut
        *full, rest = _cut(rest, most)
        if full:
            yield full
    if rest:
        yield [rest]


def _cut(line: bytes, most: int) -> list[bytes]:
    return [line[at : at + most] for at in range(0, len(line), most)] or [b""]


Part = tuple[str, bool]
"""A piece of a record, and whether it ends it."""


def _whole(batches: Iterable[Sequence[str]]) -> Iterator[Iterable[Part]]:
    """Each line by itself."""
    for batch in batches:
        yield [(piece, piece[-1:] == "\n") for piece in batch]


def _records(batches: Iterable[Sequence[str]], follows: re.Pattern[str], most: int) -> Iterator[Iterable[Part]]:
    """Lines that belong together in one, up to ``most`` characters."""
    record = line = ""
    for batch in batches:
        done: list[Part] = []
        for piece in batch:
            line += piece
            if piece[-1:] != "\n" and len(line) < most:
                continue
            if record and (not follows.match(line) or len(record) + len(line) > most):
                done.append((record, True))
                record = ""
            record, line = record + line, ""
        yield done
    if line and record and (not follows.match(line) or len(record) + len(line) > most):
        yield [(record, True)]
        record = ""
    if record or line:
        yield [(record + line, True)]


@dataclass
class _StreamScrubber:
    """Scrubs records and windows of long ones, and knows how far it has come."""

    scrubber: Scrubber
    most: int
    overlap: int
    person: str
    tell: ReportAction | None
    detector: LogDetector = field(default_factory=LogDetector)
    read: int = 0
    written: int = 0
    _before: str = ""
    """What of a long record is done, as far as it overlaps with the next window."""
    _waiting: str = ""

    @property
    def is_between_records(self) -> bool:
        return not self._before and not self._waiting

    def each(self, texts: Sequence[str]) -> str:
        """Whole texts, each scrubbed by itself."""
        scrubbed = self.scrubber.scrub_many(texts, self.person, self._kind(texts))
        return "".join([self._passed_on(one, text, 0, len(text)) for one, text in zip(scrubbed, texts, strict=True)])

    def _kind(self, texts: Sequence[str]) -> TextKind:
        kind = self.scrubber.kind
        return kind if kind != "auto" else "log" if self.detector.read(texts) else "prose"

    def long(self, part: str, *, ends: bool) -> Iterator[str]:
        """What can be passed on of a record that comes in parts."""
        self._waiting += part
        while len(self._waiting) > self.most:
            yield self._window()
        if ends:
            text, begin = self._before + self._waiting, len(self._before)
            if self._waiting:
                scrubbed = self.scrubber.scrub(text, self.person, self._kind((text,)))
                yield self._passed_on(scrubbed, text, begin, len(text))
            self._before = self._waiting = ""

    def _window(self) -> str:
        """The scrubbed text of as much of what waits as can't change by what is yet to come."""
        text, begin = self._before + self._waiting, len(self._before)
        scrubbed = self.scrubber.scrub(text, self.person, self._kind((text,)))
        cut = len(text) - self.overlap
        across = next((action for action in scrubbed.actions if action.start < cut < action.end), None)
        if across is not None:
            cut = across.start if across.start > begin else across.end
        self._before, self._waiting = text[:cut][-self.overlap :], text[cut:]
        return self._passed_on(scrubbed, text, begin, cut)

    def _passed_on(self, scrubbed: ScrubOutcome, text: str, begin: int, end: int) -> str:
        """The text between two characters of the original.

        What crosses the first is replaced as a whole, although its beginning was passed on before.
        """
        whole = begin == 0 and end == len(text)
        first, last = (0, len(scrubbed.text)) if whole else (scrubbed.place_of(begin), scrubbed.place_of(end))
        if self.tell is not None:
            ahead, out = self.read - begin, self.written - first
            for done in scrubbed.actions:
                if begin < done.end <= end:
                    places = (done.start + ahead, done.end + ahead, done.new_start + out, done.new_end + out)
                    now = scrubbed.text[done.new_start : done.new_end]
                    self.tell(ScrubAction(*places, done.type), now, text[done.start : done.end])
        self.read += end - begin
        self.written += last - first
        return scrubbed.text[first:last]
