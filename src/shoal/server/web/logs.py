"""Logs as lines of JSON. A record holds what its caller named, and no text of an exception: that may hold a value."""

from __future__ import annotations

import json
import logging
import sys
from typing import Final

_OWN: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    """
    >>> record = logging.makeLogRecord({"msg": "request", "levelname": "INFO", "status": 200, "created": 0.0})
    >>> JsonLines().format(record)
    '{"at": "1970-01-01T00:00:00Z", "level": "info", "event": "request", "status": 200}'
    """

    def format(self, record: logging.LogRecord) -> str:
        moment = self.formatTime(record, "%Y-%m-%dT%H:%M:%SZ")
        told = {"at": moment, "level": record.levelname.lower(), "event": record.getMessage()}
        told |= {name: value for name, value in vars(record).items() if name not in _OWN and value is not None}
        if record.exc_info and record.exc_info[0] is not None:
            told["error"] = record.exc_info[0].__name__
        return json.dumps(told)

    @staticmethod
    def converter(seconds: float | None) -> object:  # type: ignore[override]
        import time

        return time.gmtime(seconds)


def log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("shoal.server", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)
