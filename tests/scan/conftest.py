"""A real PostgreSQL server, for backups of one."""

from tests.servers import postgres, postgres_url

__all__ = ["postgres", "postgres_url"]
