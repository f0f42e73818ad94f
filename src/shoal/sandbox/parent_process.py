"""The parent's side: a child is started when the first untrusted file is read, and reads the next ones too.

A thread has children of its own, because the kernel ends a child with the thread that started it. A child that was
broken off, or that died, is never used again.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

from shoal import errors
from shoal.errors import InputError, SourceError
from shoal.sandbox.limits import MEMORY_VARIABLE, SECONDS_VARIABLE, TABLES, Limits
from shoal.sandbox.messages import EndedError, Message, TooLargeError, receive, send

Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Answers what a task asks while it reads."""
_START: Final = """\
import sys
sys.path[:] = sys.argv[2:]
from shoal.sandbox.child import main
main(int(sys.argv[1]))
"""
_PASSED_ON: Final = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TMPDIR", "SHOAL_DEBUG")
_THREADS: Final = 4
_USED_UP: Final = 4
"""A child that still holds this part of its memory after a file is not used again."""


class ChildReader:
    def __init__(self) -> None:
        line, theirs = socket.socketpair()
        with ExitStack() as unfinished, theirs:
            unfinished.callback(line.close)
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter, no shell
                [sys.executable, "-I", "-S", "-c", _START, str(os.getpid()), *filter(None, sys.path)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=None if os.environ.get("SHOAL_DEBUG") else subprocess.DEVNULL,
                env=_environment(),
                process_group=0,
            )
            unfinished.pop_all()
        self.line = line
        self.owner = os.getpid()
        self.end = weakref.finalize(self, _end, self._process, line, self.owner)

    @property
    def is_usable(self) -> bool:
        return self.end.alive and self.owner == os.getpid() and self._process.poll() is None

    def verdict(self) -> int:
        """How it ended: the number of a signal, below zero."""
        try:
            return self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return 0


class _Idle(threading.local):
    def __init__(self) -> None:
        self.children: list[ChildReader] = []


_idle = _Idle()


@dataclass(frozen=True)
class ReadRequest:
    """One file that is to be read by a task, ``module:function``, in a child."""

    task: str
    arguments: Mapping[str, object]
    label: str
    broken: str
    """What is said of a file that the task can't read."""
    size: int
    limits: Limits = TABLES


def read(request: ReadRequest, *, files: Sequence[int] = (), answer: Answer | None = None) -> Iterator[Message]:
    """What the task tells, until it is done; a file that it can't read is a SourceError.

    ``answer`` is asked wherever the message has the key ``ask``; such messages are not handed on.
    """
    allowed = request.limits.scaled(request.size)
    try:
        child = _taken()
    except OSError:
        raise SourceError(f"{request.label}: no process can be started to read it") from None
    try:
        told: Mapping[str, Any] = {}
        send(
            child.line, {"task": request.task, "arguments": request.arguments, "limits": allowed.to_dict()}, files=files
        )
        child.line.settimeout(allowed.patience)
        left = allowed.memory
        while not told.keys() & {"done", "refused", "broken"}:
            message = receive(child.line, left)
            told = message.told
            left -= len(message.content)
            if "ask" in told and answer is not None:
                send(child.line, answer(told))
            elif not told.keys() & {"done", "refused", "broken"}:
                yield message
    except TimeoutError:
        child.end()
        raise _too_long(request.label, allowed) from None
    except TooLargeError:
        child.end()
        raise _too_large(request.label, allowed) from None
    except EndedError:
        raise _died(child, request, allowed) from None
    except BaseException:
        child.end()
        raise
    _put_back(child, told, allowed)
    _raise(told, request, allowed)


def _taken() -> ChildReader:
    while _idle.children:
        child = _idle.children.pop()
        if child.is_usable:
            return child
        child.end()
    return ChildReader()


def _put_back(child: ChildReader, told: Mapping[str, Any], limits: Limits) -> None:
    worn = told.get("broken") in ("memory", "panic") or told["memory"] > limits.memory // _USED_UP
    if worn:
        child.end()
    else:
        _idle.children.append(child)


def _raise(told: Mapping[str, Any], request: ReadRequest, limits: Limits) -> None:
    if "refused" in told:
        name, message, advice = told["refused"]
        kind = getattr(errors, name, None)
        known = isinstance(kind, type) and issubclass(kind, InputError) and kind is not errors.PolicyError
        raise (kind if kind is not None and known else SourceError)(message, advice=advice)
    if told.get("broken") == "memory":
        raise _too_large(request.label, limits)
    if "broken" in told:
        raise SourceError(f"{request.label}: {request.broken}")


def _died(child: ChildReader, request: ReadRequest, limits: Limits) -> SourceError:
    verdict = child.verdict()
    child.end()
    if verdict == -signal.SIGXCPU:
        return _too_long(request.label, limits)
    if verdict == -signal.SIGABRT:
        return _too_large(request.label, limits)
    return SourceError(f"{request.label}: {request.broken}: its reader broke down")


def _too_large(label: str, limits: Limits) -> SourceError:
    return SourceError(
        f"{label}: would need more than {limits.memory_mb:,} MB of memory to be read, or is damaged",
        advice=f"if you trust it, {MEMORY_VARIABLE} allows more",
    )


def _too_long(label: str, limits: Limits) -> SourceError:
    return SourceError(
        f"{label}: takes more than {limits.seconds:,} s to be read, too long for its size",
        advice=f"if you trust it, {SECONDS_VARIABLE} allows more",
    )


def _environment() -> dict[str, str]:
    """Nothing that the child doesn't need: an environment may hold keys."""
    threads = str(min(_THREADS, os.cpu_count() or 1))
    ours = {
        "POLARS_MAX_THREADS": threads,
        "POLARS_SKIP_CPU_CHECK": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",  # its own one reserves a gigabyte
        "MALLOC_ARENA_MAX": "2",
        "RUST_BACKTRACE": "0",
    }
    return {**{name: os.environ[name] for name in _PASSED_ON if name in os.environ}, **ours}


def _end(process: subprocess.Popen[bytes], line: socket.socket, owner: int) -> None:
    line.close()
    if os.getpid() == owner:
        process.kill()
        process.wait()
