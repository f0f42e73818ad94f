"""Sessions of browsers and tokens of programs. Of both only a digest is kept, so the database lets nobody in."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import Final

from sqlalchemy import delete, insert, select, update

from shoal.errors import InputError
from shoal.randomness import now, random_bytes
from shoal.server.access.accounts import Account
from shoal.server.access.rights import allows
from shoal.server.home import StudioHome
from shoal.server.store.database import new_id
from shoal.server.store.tables import ACCOUNTS, SESSIONS, SIGN_INS, TOKENS

PREFIX: Final = "shoal_"
"""So that a token that was left in a file is recognised by those who scan for such."""
LONGEST_DAYS: Final = 366
_SEEN_EVERY: Final = 60.0


@dataclass(frozen=True)
class Principal:
    """Who asks, and by what right."""

    account: Account
    csrf: str | None = None
    """What a form of this session has to carry; None of a token."""
    scopes: tuple[str, ...] | None = None
    """Of a token: what it may be used for, within what the account may do."""

    def may(self, act: str) -> bool:
        within = self.scopes is None or any(_covers(scope, act) for scope in self.scopes)
        return within and allows(self.account.roles, act)


def _covers(scope: str, act: str) -> bool:
    return scope == act or (scope.endswith(".*") and act.startswith(scope[:-1]))


def random_text() -> str:
    return base64.urlsafe_b64encode(random_bytes(32)).decode().rstrip("=")


def digest(secret: str) -> str:
    """Secrets have 256 bits of chance, so one plain hash will do."""
    return hashlib.sha256(secret.encode()).hexdigest()


class SessionRegister:
    def __init__(self, home: StudioHome) -> None:
        self._database, self._settings = home.database, home.settings

    def open(self, account: Account, previous: str | None = None) -> str:
        """A new secret for each sign-in; the session that the browser came with ends."""
        secret, moment = random_text(), now().timestamp()
        with self._database.transaction() as connection:
            if previous:
                connection.execute(delete(SESSIONS).where(SESSIONS.c.digest == digest(previous)))
            connection.execute(
                delete(SESSIONS).where(SESSIONS.c.created < moment - 3600 * self._settings.session_hours)
            )
            kept = {"digest": digest(secret), "account": account.id, "csrf": random_text()}
            connection.execute(insert(SESSIONS).values(**kept, created=moment, seen=moment))
            mine = update(SIGN_INS).where(SIGN_INS.c.account == account.id).values(last=moment)
            if connection.execute(mine).rowcount == 0:
                connection.execute(insert(SIGN_INS).values(account=account.id, last=moment))
        return secret

    def close(self, secret: str) -> None:
        with self._database.transaction() as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.digest == digest(secret)))

    def who(self, secret: str) -> Principal | None:
        moment, key = now().timestamp(), digest(secret)
        joined = select(SESSIONS, ACCOUNTS).join(ACCOUNTS, ACCOUNTS.c.id == SESSIONS.c.account)
        with self._database.reading() as connection:
            row = connection.execute(joined.where(SESSIONS.c.digest == key)).mappings().first()
        if row is None or row[ACCOUNTS.c.disabled]:
            return None
        seen, begun = row[SESSIONS.c.seen], row[SESSIONS.c.created]
        if seen + 60 * self._settings.idle_minutes < moment or begun + 3600 * self._settings.session_hours < moment:
            self.close(secret)
            return None
        if seen + _SEEN_EVERY < moment:
            with self._database.transaction() as connection:
                connection.execute(update(SESSIONS).where(SESSIONS.c.digest == key).values(seen=moment))
        return Principal(_account(row), row[SESSIONS.c.csrf])


class TokenRegister:
    def __init__(self, home: StudioHome) -> None:
        self._database = home.database

    def issue(self, principal: Principal, name: str, scopes: list[str], days: int) -> tuple[str, str]:
        """Its identifier and the token, which nobody can be shown again. It may do no more than who makes it."""
        if not name.strip() or len(name) > 100:
            raise InputError("has 1 to 100 characters", field="name")
        if not 1 <= days <= LONGEST_DAYS:
            raise InputError(f"has to be 1 to {LONGEST_DAYS}", field="days")
        if not scopes or not all(principal.may(scope.replace("*", "any")) for scope in scopes):
            raise InputError("has to be of acts that the account itself may do, such as release.*", field="scopes")
        secret, identifier, moment = PREFIX + random_text(), new_id(), now().timestamp()
        kept = {"id": identifier, "account": principal.account.id, "name": name.strip(), "digest": digest(secret)}
        with self._database.transaction() as connection:
            connection.execute(
                insert(TOKENS).values(**kept, scopes=sorted(scopes), created=moment, expires=moment + days * 86_400)
            )
        return identifier, secret

    def of(self, account: str) -> list[dict[str, object]]:
        wanted = (TOKENS.c.id, TOKENS.c.name, TOKENS.c.scopes, TOKENS.c.created, TOKENS.c.expires)
        with self._database.reading() as connection:
            rows = connection.execute(select(*wanted).where(TOKENS.c.account == account).order_by(TOKENS.c.created))
            return [dict(row) for row in rows.mappings()]

    def revoke(self, account: str, identifier: str) -> bool:
        with self._database.transaction() as connection:
            gone = connection.execute(delete(TOKENS).where(TOKENS.c.id == identifier, TOKENS.c.account == account))
        return gone.rowcount == 1

    def who(self, secret: str) -> Principal | None:
        joined = select(TOKENS, ACCOUNTS).join(ACCOUNTS, ACCOUNTS.c.id == TOKENS.c.account)
        with self._database.reading() as connection:
            row = connection.execute(joined.where(TOKENS.c.digest == digest(secret))).mappings().first()
        if row is None or row[ACCOUNTS.c.disabled] or row[TOKENS.c.expires] < now().timestamp():
            return None
        return Principal(_account(row), scopes=tuple(row[TOKENS.c.scopes]))


def _account(row: object) -> Account:
    values = {column.name: row[column] for column in ACCOUNTS.c}  # type: ignore[index]
    return Account(
        values["id"],
        values["name"],
        tuple(values["roles"]),
        values["totp_secret"] is not None,
        values["disabled"],
        values["created"],
    )
