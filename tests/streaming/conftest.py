"""A real server of streams."""

from tests.servers import valkey

__all__ = ["valkey"]
