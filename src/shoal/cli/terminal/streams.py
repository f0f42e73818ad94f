"""When nobody takes what a command prints.

That says nothing of the data, so it may not end with exit code 1, which is a verdict: a reader that went away
(``| head``) ends the command as SIGPIPE would, an output that can't be written is said and ends it with 2.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from shoal.errors import TargetError

READER_GONE = 141
"""As shells count what SIGPIPE ended: 128 + 13."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What a full disk or a terminal that is gone answers. Files that Shoal writes are named when that happens to them."""


@contextmanager
def printing() -> Iterator[None]:
    """Around a command: raise BrokenPipeError if its reader went away, TargetError if its output can't be written."""
    _need_open_streams()
    try:
        try:
            yield
        except SystemExit as ended:
            if isinstance(ended.__context__, BrokenPipeError):  # for which Typer and Rich end with 1
                raise ended.__context__ from None
            sys.stdout.flush()
            raise
        sys.stdout.flush()
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise TargetError(f"the output can't be written: {error.strerror}") from None


@contextmanager
def settled() -> Iterator[None]:
    """Around all that a process says: nothing is left in a buffer that the interpreter would fail on when it ends,
    with an exit code of its own (120).
    """
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # as where the caller closed it
                with last_words(stream):
                    stream.flush()


@contextmanager
def last_words(stream: TextIO) -> Iterator[None]:
    """The exit code counts, whether they can be written or not."""
    try:
        yield
    except OSError:
        give_up(stream)


def give_up(stream: TextIO) -> None:
    """What is left in its buffer goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _need_open_streams() -> None:
    """Where the caller closed one, Python has None, and the next file that is opened would take its number."""
    closed = [name for name in ("stdout", "stderr") if getattr(sys, name) is None]
    for name in closed:
        setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
    if "stdout" in closed:
        raise TargetError("the output can't be written: it is closed")
