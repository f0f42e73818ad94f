"""The child: reads one untrusted file after the other under limits, for a parent that never touches their content.

It imports as little as it can, since its start is what every file pays. A task is a function ``module:name`` that is
given a Channel and the arguments of the request. Whatever it raises crosses as a kind of failure; only our own errors,
which hold no values, cross in their words.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from shoal import errors
from shoal.sandbox.limits import Limits, hold, private_memory
from shoal.sandbox.messages import EndedError, Message, receive, send

_PARENT_DEATH_SIGNAL: Final = 1
_MOST: Final = 1 << 31


class Channel:
    """What a task has of its parent."""

    def __init__(self, line: socket.socket, files: tuple[int, ...]) -> None:
        self._line = line
        self.files = files
        """Files that the parent has opened for the task."""

    def tell(self, told: Mapping[str, Any], content: bytes = b"") -> None:
        send(self._line, told, content)

    def ask(self, told: Mapping[str, Any]) -> Mapping[str, Any]:
        """Tell the parent something that it answers."""
        send(self._line, told)
        return receive(self._line, _MOST).told


def main(parent: int) -> None:
    _die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    line = socket.socket(fileno=0)
    while True:
        try:
            request = receive(line, _MOST)
            _serve(line, request)
        except EndedError:
            os._exit(0)


def _serve(line: socket.socket, request: Message) -> None:
    hold(Limits.of_dict(request.told["limits"]))
    outcome: dict[str, Any]
    try:
        _task(request.told["task"])(Channel(line, request.files), **request.told["arguments"])
        outcome = {"done": True}
    except EndedError:
        raise
    except errors.InputError as error:
        outcome = {"refused": [type(error).__name__, error.message, error.advice]}
    except BaseException as error:  # noqa: BLE001 - a panic of a Rust library is no Exception
        _show(error)
        outcome = {"broken": _kind(error), "errno": getattr(error, "errno", None)}
    finally:
        for one in request.files:
            _close(one)
    send(line, {**outcome, "memory": private_memory()})


def _task(name: str) -> Callable[..., None]:
    module, _, function = name.partition(":")
    found: Callable[..., None] = getattr(importlib.import_module(module), function)
    return found


def _kind(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "memory"
    return "panic" if type(error).__name__ == "PanicException" else "content"


def _close(file: int) -> None:
    with suppress(OSError):  # the task closed it
        os.close(file)


def _show(error: BaseException) -> None:
    """For whoever looks for a bug of ours; what a library says may hold values, so never else."""
    if os.environ.get("SHOAL_DEBUG"):
        import traceback

        traceback.print_exception(error)


def _die_with(parent: int) -> None:
    """The kernel ends this process when the thread that started it ends, however that comes."""
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
