"""Messages between a process and its child: JSON, bytes beside it, open files with it. Nothing is unpickled."""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

_HEAD: Final = struct.Struct("!IQ")
_MOST_FILES: Final = 4


class EndedError(Exception):
    """The other side is gone."""


class TooLargeError(Exception):
    """A message larger than what was asked for."""


@dataclass(frozen=True)
class Message:
    told: Mapping[str, Any]
    content: bytes = field(default=b"", repr=False)
    files: tuple[int, ...] = ()


def send(line: socket.socket, told: Mapping[str, Any], content: bytes = b"", files: Sequence[int] = ()) -> None:
    text = json.dumps(told).encode()
    try:
        head = _HEAD.pack(len(text), len(content))
        if files:
            socket.send_fds(line, [head], list(files))
        else:
            line.sendall(head)
        line.sendall(text)
        if content:
            line.sendall(content)
    except (BrokenPipeError, ConnectionError):
        raise EndedError from None


def receive(line: socket.socket, most: int) -> Message:
    """The next message. EndedError if there is none, TooLargeError if it has more than ``most`` bytes."""
    try:
        head, files, _, _ = socket.recv_fds(line, _HEAD.size, _MOST_FILES)
        if head and len(head) < _HEAD.size:
            head += _exactly(line, _HEAD.size - len(head))
        if not head:
            raise EndedError
        length, beside = _HEAD.unpack(head)
        if length + beside > most:
            _close(files)
            raise TooLargeError
        return Message(json.loads(_exactly(line, length)), _exactly(line, beside), tuple(files))
    except ConnectionError:
        raise EndedError from None


def _exactly(line: socket.socket, length: int) -> bytes:
    found = bytearray(length)
    view, at = memoryview(found), 0
    while at < length:
        read = line.recv_into(view[at:])
        if not read:
            raise EndedError
        at += read
    view.release()
    return bytes(found)


def _close(files: Sequence[int]) -> None:
    for one in files:
        os.close(one)
