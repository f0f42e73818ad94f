"""Tasks for a child: each goes wrong in its own way."""

from __future__ import annotations

import os
import signal
import time

import polars as pl

from shoal.errors import DataError
from shoal.sandbox.child import Channel
from shoal.sandbox.excel_task import hand_over

SHY = "Zyxwvut"
"""A value that must not be seen anywhere."""


def table(channel: Channel, rows: int) -> None:
    hand_over(channel, pl.DataFrame({"a": range(rows)}), {"rows": rows})


def environment(channel: Channel) -> None:
    channel.tell({"names": sorted(os.environ), "pid": os.getpid()})


def sums(channel: Channel, numbers: list[int]) -> None:
    channel.tell({"sum": sum(channel.ask({"ask": "double", "number": number})["doubled"] for number in numbers)})


def copied(channel: Channel) -> None:
    source, target = channel.files
    os.write(target, os.read(source, 1000).upper())


def refuses(channel: Channel) -> None:
    raise DataError("column 'a': 3 values are none", advice="look at it")


def raises(channel: Channel) -> None:
    raise KeyError(SHY)


def panics(channel: Channel) -> None:
    class PanicException(BaseException):
        pass

    raise PanicException(SHY)


def recurses(channel: Channel) -> None:
    recurses(channel)


def swells(channel: Channel) -> None:
    held = [bytearray(1 << 24) for _ in range(1000)]
    channel.tell({"held": len(held)})


def aborts(channel: Channel) -> None:
    os.write(1, SHY.encode())
    os.write(2, SHY.encode())
    os.abort()


def overflows(channel: Channel) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def spins(channel: Channel) -> None:
    while True:
        pass


def sleeps(channel: Channel) -> None:
    channel.tell({"pid": os.getpid()})
    time.sleep(600)


def talks(channel: Channel) -> None:
    while True:
        channel.tell({}, b"x" * (1 << 20))
