"""Scrubbing what a Python program logs, before any handler writes it.

>>> import logging, sys
>>> from shoal.text import Annotator
>>> log = logging.getLogger("shop")
>>> handler = logging.StreamHandler(sys.stdout)
>>> handler.addFilter(ScrubbingFilter(Scrubber(Annotator())))
>>> log.addHandler(handler)
>>> log.warning("no invoice for %s", "asha@clinic.in")
no invoice for [EMAIL]
>>> log.removeHandler(handler)

Put the filter on handlers: a filter on a logger isn't asked about records of the loggers below it. The message is put
together with its arguments first, so that names are seen in their sentence; handlers that group records by their
template get the finished message instead. If scrubbing itself fails, the record keeps its level and place and loses its
words: a log never shows more because something went wrong.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from shoal.scrub.scrubber import Scrubber

WITHHELD = "[message withheld: it could not be scrubbed]"
STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every record has; the rest came with ``extra=``."""
_PLAIN = (bool, int, float, type(None))


class ScrubbingFilter(logging.Filter):
    """Cleans message, arguments, exception, stack and extras of every record; it lets all of them pass."""

    def __init__(self, scrubber: Scrubber, name: str = "") -> None:
        super().__init__(name)
        self._scrubber = scrubber
        self._formatter = logging.Formatter()

    def filter(self, record: logging.LogRecord) -> bool:
        if not super().filter(record):
            return False
        try:
            self._clean(record)
        except Exception:  # noqa: BLE001  # whatever happens, nothing unscrubbed is written
            _withhold(record)
        return True

    def _clean(self, record: logging.LogRecord) -> None:
        record.msg, record.args = self._text(record.getMessage()), None
        if record.exc_info:
            record.exc_text = record.exc_text or self._formatter.formatException(record.exc_info)
            record.exc_info = None
        if record.exc_text:
            record.exc_text = self._text(record.exc_text)
        if record.stack_info:
            record.stack_info = self._text(record.stack_info)
        for name in vars(record).keys() - STANDARD:
            setattr(record, name, self._value(getattr(record, name)))

    def _text(self, text: str) -> str:
        return self._scrubber.scrub(text).text

    def _value(self, value: object) -> object:
        """Texts are scrubbed, also inside lists and mappings; numbers too, where their digits are recognised."""
        if isinstance(value, Mapping):
            return {self._value(key): self._value(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self._value(inner) for inner in value]
        written = str(value)
        clean = self._text(written)
        return value if isinstance(value, _PLAIN) and clean == written else clean


class ScrubbingFormatter(logging.Formatter):
    """Another formatter's lines, scrubbed as a whole: for handlers whose formatter adds words of its own."""

    def __init__(self, scrubber: Scrubber, formatter: logging.Formatter | None = None) -> None:
        super().__init__()
        self._scrubber = scrubber
        self._formatter = formatter or logging.Formatter()

    def format(self, record: logging.LogRecord) -> str:
        try:
            return self._scrubber.scrub(self._formatter.format(record)).text
        except Exception:  # noqa: BLE001  # as above
            return WITHHELD


def _withhold(record: logging.LogRecord) -> None:
    record.msg, record.args = WITHHELD, None
    record.exc_info = record.exc_text = record.stack_info = None
    for name in vars(record).keys() - STANDARD:
        setattr(record, name, WITHHELD)
