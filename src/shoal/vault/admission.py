"""Who stands in the vault's list of people, and what is in the box of whoever opens it."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy import Connection, select

from shoal.errors import AccessError
from shoal.vault.credentials import Credential, Person, VaultKeys
from shoal.vault.session import unchecked
from shoal.vault.tables import person


@dataclass
class OpenedBox:
    """What was in this person's box when it was last opened, and the box, to see whether it has changed."""

    held: VaultKeys
    closed: bytes = field(repr=False)


def opened_box(connection: Connection, way: Credential) -> OpenedBox:
    found = person_named(connection, way.name)
    if found.way != way.way:
        raise AccessError(f"{way.name} opens the vault by a {found.way}, not by a {way.way}")
    return OpenedBox(way.opened(found), found.box)


def person_named(connection: Connection, name: str) -> Person:
    with unchecked():
        row = connection.execute(select(person).where(person.c.name == name)).one_or_none()
    if row is None:
        raise AccessError(f"nobody called '{name}' is admitted to the vault")
    return Person.read(row)


def everybody(connection: Connection) -> tuple[Person, ...]:
    return tuple(Person.read(row) for row in connection.execute(select(person).order_by(person.c.name)))
