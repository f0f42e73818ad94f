"""Scrubbing what has no end, as ``tail -f app.log``: line by line, in bounded memory, nothing held back.

A line that is longer than ``most`` characters is taken in windows that overlap. A window is cut where nothing that was
found in it crosses the cut, at least ``overlap`` characters before its end, and the next one is read together with the
``overlap`` characters before the cut. So whatever is no longer than the overlap is seen whole, with what stands around
it, in one window at least: nothing escapes at a seam.

Lines that belong together (a stack trace below its message) can be scrubbed as one record: ``follows`` says which lines
go on with the record before them. A record can only be written when the next one begins.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from shoal.errors import InputError
from shoal.text.outcome import Action, Scrubbed
from shoal.text.scrubbing import Scrubber

MOST = 65_536
OVERLAP = 2_048
STACK_TRACE = re.compile(
    r"\s+\S|Traceback \(most recent call last\):|Caused by: |\.\.\. \d+ more|\w+(\.\w+)*(Error|Exception)\b"
)
"""Lines that go on with a stack trace of Python or Java."""

Tell = Callable[[Action, str, str], None]
"""Is told what was done, with places in the whole stream, what stands there now, and what stood there."""


def scrub_lines(  # noqa: PLR0913  # what a stream may need
    lines: Iterable[str],
    scrubber: Scrubber,
    *,
    most: int = MOST,
    overlap: int = OVERLAP,
    follows: re.Pattern[str] | None = None,
    person: str = "",
    tell: Tell | None = None,
) -> Iterator[str]:
    """The scrubbed text of each line, as it comes. A line may come in several pieces, the last of which ends it."""
    if not 0 < 2 * overlap <= most:
        raise InputError("the windows of long lines have to be at least twice as long as their overlap")
    stream = _Stream(scrubber, overlap, person, tell)
    for record in _records(lines, follows, most):
        before, waiting = "", ""
        for part in record:
            waiting += part
            while len(waiting) > most:
                done, out = stream.window(before, waiting)
                yield out
                before, waiting = (before + waiting[:done])[-overlap:], waiting[done:]
        if waiting:
            yield stream.rest(before, waiting)


def read_lines(stream: BinaryIO, encoding: str = "utf-8", most: int = MOST) -> Iterator[str]:
    """Lines of a stream as they come, with their ends; of an endless line, pieces of at most ``most`` bytes.

    Bytes that are no text in the encoding become U+FFFD: what can't be read isn't passed on.
    """
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    while piece := stream.readline(most):
        if text := decoder.decode(piece):
            yield text
    if rest := decoder.decode(b"", final=True):
        yield rest


def _records(lines: Iterable[str], follows: re.Pattern[str] | None, most: int) -> Iterator[Iterable[str]]:
    """The pieces of each line; with ``follows``, lines that belong together in one, up to ``most`` characters."""
    source = iter(lines)
    if follows is None:
        for first in source:
            yield _rest_of_line(first, source)
        return
    record = ""
    for first in source:
        line = "".join(_rest_of_line(first, source, most))
        if record and (not follows.match(line) or len(record) + len(line) > most):
            yield (record,)
            record = ""
        record += line
    if record:
        yield (record,)


def _rest_of_line(first: str, source: Iterator[str], most: int | None = None) -> Iterator[str]:
    """A line's pieces until the one that ends it."""
    yield first
    seen = len(first)
    while not first.endswith("\n") and (most is None or seen < most):
        following = next(source, None)
        if following is None:
            return
        yield following
        seen += len(following)
        first = following


@dataclass
class _Stream:
    """Scrubs windows, and knows how far it has come."""

    scrubber: Scrubber
    overlap: int
    person: str
    tell: Tell | None
    read: int = 0
    written: int = 0

    def window(self, before: str, waiting: str) -> tuple[int, str]:
        """How much of what waits is done, and its scrubbed text; ``before`` was done already."""
        text, begin = before + waiting, len(before)
        scrubbed = self.scrubber.scrub(text, self.person)
        cut = len(text) - self.overlap
        across = next((action for action in scrubbed.actions if action.start < cut < action.end), None)
        if across is not None:
            cut = across.start if across.start > begin else across.end
        return cut - begin, self._passed_on(scrubbed, text, begin, cut)

    def rest(self, before: str, waiting: str) -> str:
        text = before + waiting
        return self._passed_on(self.scrubber.scrub(text, self.person), text, len(before), len(text))

    def _passed_on(self, scrubbed: Scrubbed, text: str, begin: int, end: int) -> str:
        """The text between two characters of the original.

        What crosses the first is replaced as a whole, although its beginning was passed on before.
        """
        first, last = scrubbed.place_of(begin), scrubbed.place_of(end)
        if self.tell is not None:
            ahead, out = self.read - begin, self.written - first
            for done in scrubbed.actions:
                if begin < done.end <= end:
                    places = (done.start + ahead, done.end + ahead, done.new_start + out, done.new_end + out)
                    now = scrubbed.text[done.new_start : done.new_end]
                    self.tell(Action(*places, done.type), now, text[done.start : done.end])
        self.read += end - begin
        self.written += last - first
        return scrubbed.text[first:last]
