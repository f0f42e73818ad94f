"""Sources and sinks by their addresses: ``-``, a file, ``redis://host:6379/0#stream``."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from shoal.errors import InputError
from shoal.streaming.sinks.base import StreamSink
from shoal.streaming.sinks.files import FileSink, OutputSink
from shoal.streaming.sources.base import StreamSource
from shoal.streaming.sources.lines import FileFeed, InputFeed

STANDARD: Final = "-"
SERVERS: Final = frozenset({"redis", "rediss", "valkey", "valkeys", "unix"})


def open_feed(address: str, *, follow: bool = False) -> StreamSource:
    """Where a stream comes from: the standard input, a file that may grow, a stream of Valkey or Redis."""
    if address == STANDARD:
        return InputFeed()
    if (scheme := urlsplit(address).scheme) in SERVERS:
        from shoal.streaming.sources.valkey import ValkeyFeed

        return ValkeyFeed(address, follow=follow)
    if "://" in address:
        raise InputError(f"'{scheme}' is no kind of stream", field="from", advice=_known())
    return FileFeed(Path(address), follow=follow)


def open_sink(address: str, *, force: bool = False) -> StreamSink:
    """Where a stream goes: the standard output, a file, a stream of Valkey or Redis."""
    if address == STANDARD:
        return OutputSink()
    if (scheme := urlsplit(address).scheme) in SERVERS:
        from shoal.streaming.sinks.valkey import ValkeySink

        return ValkeySink(address, force=force)
    if "://" in address:
        raise InputError(f"'{scheme}' is no kind of stream", field="to", advice=_known())
    return FileSink(Path(address), force=force)


def _known() -> str:
    return "a file, - for the standard input or output, or redis://host:6379/0#name"
