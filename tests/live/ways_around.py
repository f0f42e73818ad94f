"""Tries to see more than a role may: statements in, everything out that the role gets to see of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import yaml
from sqlalchemy import make_url
from tests.live.conftest import LOGIN, House
from tests.servers import postgres_programs

FOLDER = Path(__file__).resolve().parent / "ways"


def ways(kind: str) -> dict[str, list[str]]:
    """By name, what a role tries on one kind of server."""
    found: dict[str, list[str]] = yaml.safe_load((FOLDER / f"{kind}.yaml").read_text())
    return found


def observed(house: House, user: str | None, statements: Iterable[str]) -> str:
    """Rows, errors, notices and warnings of each statement, whatever became of the one before."""
    return _in_postgres(house, user, statements) if house.is_postgres else _in_mariadb(house, user, statements)


def _in_postgres(house: House, user: str | None, statements: Iterable[str]) -> str:
    url = make_url(house.url)
    login, password = (user, LOGIN) if user else (url.username, url.password)
    seen: list[str] = []
    with psycopg.connect(
        host=url.host, port=url.port, user=login, password=password, dbname=url.database, autocommit=True
    ) as connection:
        connection.add_notice_handler(lambda told: seen.append(f"{told.message_primary} {told.message_detail}"))
        connection.add_notify_handler(lambda told: seen.append(told.payload))
        for statement in statements:
            try:
                seen += _copied(connection, statement) if statement.startswith("COPY") else _told(connection, statement)
            except psycopg.Error as error:
                seen.append(f"{error} {error.diag.context} {error.diag.message_detail}")
    return "\n".join(seen)


def _told(connection: psycopg.Connection[Any], statement: str) -> list[str]:
    cursor = connection.execute(statement.encode())
    return [*map(str, cursor.fetchall() if cursor.description else []), f"{cursor.rowcount} row(s)"]


def _copied(connection: psycopg.Connection[Any], statement: str) -> list[str]:
    with connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        return [bytes(part).decode() for part in copy]


def _in_mariadb(house: House, user: str | None, statements: Iterable[str]) -> str:
    url = make_url(house.url)
    login, password = (user, LOGIN) if user else (url.username, url.password)
    place = {"host": url.host, "port": url.port, "database": f"shoal_{user}" if user else url.database}
    seen: list[str] = []
    given: dict[str, Any] = {
        "user": login,
        "password": password or "",
        "autocommit": True,
        "use_unicode": False,
        "conv": {},
    }
    connection = pymysql.connect(**place, **given)  # type: ignore[call-overload]
    with connection, connection.cursor() as cursor:
        for statement in statements:
            for asked in (statement, "SHOW WARNINGS"):
                try:
                    cursor.execute(asked)
                    seen += [str([_plain(cell) for cell in row]) for row in cursor.fetchall()]
                    seen.append(f"{cursor.rowcount} row(s)")
                except pymysql.Error as error:
                    seen.append(str(error))
    return "\n".join(seen)


def _plain(cell: object) -> object:
    """Text in whatever letters the session has chosen."""
    if not isinstance(cell, bytes):
        return cell
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return cell.decode("latin-1")


def dumped(house: House, user: str | None, *options: str) -> str:
    """What the server's own program for backups writes as this user; without one, as whoever applied the views."""
    url = make_url(house.url)
    name, password = (str(url.username), str(url.password)) if user is None else (user, LOGIN)
    given = ["-h", "127.0.0.1", "-p" if house.is_postgres else "-P", str(url.port)]
    if house.is_postgres:
        command = [str(postgres_programs() / "pg_dump"), *given, "-U", name, *options, str(url.database)]
        done = subprocess.run(command, env=os.environ | {"PGPASSWORD": password}, capture_output=True, check=False)
    else:
        command = ["mariadb-dump", *given, "-u", name, f"-p{password}", *options]
        done = subprocess.run(command, capture_output=True, check=False)
    return (done.stdout + done.stderr).decode()
