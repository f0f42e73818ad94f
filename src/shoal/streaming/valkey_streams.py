"""Streams of Valkey and Redis: where one is, how it is reached, what its entries' numbers are as positions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit, urlunsplit

from shoal.errors import InputError, SourceError, TargetError, install_advice

if TYPE_CHECKING:
    from redis import Redis

_SEQUENCE_BITS: Final = 20
_SCHEMES: Final = {"valkey": "redis", "valkeys": "rediss"}


@dataclass(frozen=True)
class StreamPlace:
    """A server, and the key of a stream on it: ``redis://host:6379/0#visits``."""

    server: str
    key: str
    shown: str
    """Without what may be a secret."""

    @classmethod
    def parse(cls, address: str, field: str) -> StreamPlace:
        parts = urlsplit(address)
        if not parts.fragment:
            raise InputError("has to name the stream, e.g. redis://host:6379/0#visits", field=field)
        key = unquote(parts.fragment)
        server = urlunsplit((_SCHEMES.get(parts.scheme, parts.scheme), parts.netloc, parts.path, parts.query, ""))
        return cls(server, key, f"{parts.hostname or parts.path}#{key}")

    def connect(self) -> Redis:
        try:
            from redis import Redis
        except ImportError:
            raise InputError("streams of Valkey and Redis need a driver", advice=install_advice("streams")) from None
        try:
            return Redis.from_url(self.server, socket_connect_timeout=10)
        except ValueError:
            raise InputError(f"{self.shown}: is no address of a server") from None

    def identity(self, server: Redis) -> str:
        """By the number that a server gives itself at its start; by the address where it may not be asked."""
        from redis.exceptions import RedisError

        try:
            told: Any = server.info("server")
            name = str(told["run_id"])
        except (RedisError, KeyError):
            name = self.server
        return f"{name} {server.get_connection_kwargs().get('db', 0)} {self.key}"


@contextmanager
def told_by_server(place: StreamPlace, kind: type[SourceError | TargetError]) -> Iterator[None]:
    """What a server or the network reports, without its words: they may hold values."""
    from redis.exceptions import RedisError

    try:
        yield
    except RedisError as error:
        raise kind(f"{place.shown}: the server failed ({type(error).__name__})") from None


def position_of(entry: bytes) -> int:
    """
    >>> position_of(b"1-1") == (1 << 20) + 1
    True
    """
    milliseconds, sequence = map(int, entry.split(b"-"))
    if sequence >= 1 << _SEQUENCE_BITS or milliseconds >= 1 << (64 - _SEQUENCE_BITS):
        raise SourceError("the stream has more than a million entries of one millisecond")
    return milliseconds << _SEQUENCE_BITS | sequence


def entry_at(position: int) -> str:
    """
    >>> entry_at(position_of(b"1718000000000-3"))
    '1718000000000-3'
    """
    return f"{position >> _SEQUENCE_BITS}-{position & ((1 << _SEQUENCE_BITS) - 1)}"
