"""A filter for Python's logging: fields of a record are masked, and what can't be told apart is covered.

The text of a message that stands in the program stays. Values that are put into it by name (``%(name)s`` with a
mapping) and further fields (``extra``) are masked by the policy; a name that it doesn't know, a value by position and
the text of an exception are covered.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from shoal.errors import ShoalError
from shoal.live.applications.field_masks import FieldMasks

COVERED: Final = "[covered]"
_OWN: Final = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
_HARMLESS: Final = (bool, type(None))


class MaskingFilter(logging.Filter):
    """Put on a handler, so that it sees the records of every logger."""

    def __init__(self, masks: FieldMasks) -> None:
        super().__init__()
        self._masks = masks

    def filter(self, record: logging.LogRecord) -> bool:
        args = record.args
        if isinstance(args, Mapping):
            record.args = {name: self._seen(name, value) for name, value in args.items()}
        elif args:
            record.args = tuple(one if isinstance(one, _HARMLESS) else _Covered() for one in args)
        if not isinstance(record.msg, str):
            record.msg = COVERED
        if record.exc_info:
            kind = record.exc_info[0]
            record.exc_text = f"{kind.__name__ if kind else 'error'}: {COVERED}"
            record.exc_info = None
        for name in record.__dict__.keys() - _OWN:
            record.__dict__[name] = self._seen(name, record.__dict__[name])
        return True

    def _seen(self, name: str, value: object) -> object:
        try:
            return self._masks.value(name, value)
        except ShoalError:
            return COVERED


class _Covered(int):
    """Fits every place of a format: ``%s``, ``%r``, and ``%d`` or ``%f`` as nought."""

    def __str__(self) -> str:
        return COVERED

    __repr__ = __str__
