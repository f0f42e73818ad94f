"""Accounts: who there is, and how somebody becomes known as one of them."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Any, Final

from pyotp.totp import TOTP
from sqlalchemy import Connection, func, insert, select, update

from shoal.crypto.mac import same
from shoal.errors import AccessError, InputError
from shoal.io import write_atomic
from shoal.randomness import now, random_bytes
from shoal.server.access.passwords import PasswordKeeper, refuse_weak
from shoal.server.access.rights import checked_roles
from shoal.server.home import StudioHome
from shoal.server.store.database import new_id
from shoal.server.store.tables import ACCOUNTS, ATTEMPTS, SESSIONS, SIGN_INS, TOKENS

NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{1,62}")
SECRET: Final = re.compile("[A-Z2-7]{32}")
"""Of the second factor, in base 32."""
_STEP: Final = 30
NOBODY: Final = ""
"""No account has this identifier."""
REFUSED: Final = "the name, the password or the code is not right, or too many attempts were made"
"""One answer for every reason: which it was is nobody's business."""


@dataclass(frozen=True)
class Account:
    id: str
    name: str
    roles: tuple[str, ...]
    second_factor: bool
    disabled: bool
    created: float

    @classmethod
    def of(cls, row: Any) -> Account:
        return cls(row.id, row.name, tuple(row.roles), row.totp_secret is not None, row.disabled, row.created)


class Accounts:
    def __init__(self, home: StudioHome, keeper: PasswordKeeper) -> None:
        self._home, self._database, self._keeper = home, home.database, keeper

    @property
    def exist(self) -> bool:
        with self._database.reading() as connection:
            return bool(connection.execute(select(func.count()).select_from(ACCOUNTS)).scalar_one())

    def all(self) -> list[Account]:
        with self._database.reading() as connection:
            return [Account.of(row) for row in connection.execute(select(ACCOUNTS).order_by(ACCOUNTS.c.name))]

    def last_signed_in(self) -> dict[str, float]:
        """By account; whoever never came is not in it."""
        with self._database.reading() as connection:
            found = connection.execute(select(SIGN_INS.c.account, SIGN_INS.c.last))
            return {account: float(at) for account, at in found}

    def create(self, name: str, password: str, roles: list[str], *, setup_token: str | None = None) -> Account:
        """``setup_token`` is what the first account needs, and no later one may be made with."""
        wanted = checked_roles(roles)
        if not NAME.fullmatch(name):
            raise InputError("has 2 to 63 lower-case letters, digits, dots, dashes", field="name")
        refuse_weak(password, name)
        hashed = self._keeper.hashed(password)
        with self._database.transaction() as connection:
            if setup_token is not None:
                self._check_setup(connection, setup_token)
            if connection.execute(select(ACCOUNTS.c.id).where(ACCOUNTS.c.name == name)).first() is not None:
                raise InputError("there is an account of this name already", field="name")
            identifier = new_id()
            made = {"id": identifier, "name": name, "password": hashed, "roles": wanted}
            connection.execute(insert(ACCOUNTS).values(**made, created=now().timestamp()))
        if setup_token is not None:
            self._home.setup_token.unlink(missing_ok=True)
        return self.get(identifier)

    def get(self, identifier: str) -> Account:
        with self._database.reading() as connection:
            return Account.of(connection.execute(select(ACCOUNTS).where(ACCOUNTS.c.id == identifier)).one())

    def set_disabled(self, identifier: str, *, disabled: bool) -> bool:
        """Whether there is such an account. One that is disabled is signed out at once, and its tokens end."""
        with self._database.transaction() as connection:
            changed = connection.execute(
                update(ACCOUNTS).where(ACCOUNTS.c.id == identifier).values(disabled=disabled, failures=0)
            )
            if disabled:
                for table in (SESSIONS, TOKENS):
                    connection.execute(table.delete().where(table.c.account == identifier))
        return changed.rowcount == 1

    def set_roles(self, identifier: str, roles: list[str]) -> bool:
        """Whether there is such an account. What it may do changes with the next request; tokens never do more."""
        wanted = checked_roles(roles)
        with self._database.transaction() as connection:
            changed = connection.execute(update(ACCOUNTS).where(ACCOUNTS.c.id == identifier).values(roles=wanted))
        return changed.rowcount == 1

    def make_setup_token(self) -> str | None:
        """For the terminal, once: who can read it may make the first account. None where there is one already."""
        if self.exist:
            return None
        token = random_bytes(16).hex()
        write_atomic(self._home.setup_token, token, private=True)
        return token

    def _check_setup(self, connection: Connection, token: str) -> None:
        path = self._home.setup_token
        kept = path.read_text(encoding="ascii") if path.exists() else ""
        some = connection.execute(select(ACCOUNTS.c.id).limit(1)).first() is not None
        if some or not kept or not same(kept.encode(), token.strip().encode()):
            raise AccessError("this is not the token that `shoal serve` printed", field="token")

    def sign_in(self, name: str, password: str, code: str, origin: str) -> Account:
        """Whoever it is, or ``AccessError`` with the one answer for every reason."""
        self.slow_down(origin)
        with self._database.reading() as connection:
            row = connection.execute(select(ACCOUNTS).where(ACCOUNTS.c.name == name)).first()
        right = self._keeper.matches(None if row is None else row.password, password)
        with self._database.transaction() as connection:
            row = connection.execute(select(ACCOUNTS).where(ACCOUNTS.c.name == name)).first()
            if row is not None and right and not row.disabled and not _locked(row):
                step = _second_factor_step(row, code)
                if step is not None:
                    known = {"failures": 0, "locked_until": None, "totp_step": step}
                    connection.execute(update(ACCOUNTS).where(ACCOUNTS.c.id == row.id).values(**known))
                    return Account.of(row)
            self.note_attempt(connection, origin)
            self._count_failure(connection, row)
        raise AccessError(REFUSED)

    def _count_failure(self, connection: Connection, row: Any) -> None:
        """Of nobody, and of who is locked out, the same is done as of others, and changes nothing."""
        settings, moment = self._home.settings, now().timestamp()
        failures = 0 if row is None else row.failures + 1
        locked = failures >= settings.failures_before_lock
        until = moment + 60 * settings.lock_minutes if locked else None
        kept: dict[str, Any] = {"failures": 0 if locked else failures, "locked_until": until}
        if row is not None and _locked(row):
            kept = {"failures": row.failures, "locked_until": row.locked_until}
        identifier = NOBODY if row is None else row.id
        connection.execute(update(ACCOUNTS).where(ACCOUNTS.c.id == identifier).values(**kept))

    def note_attempt(self, connection: Connection, origin: str) -> None:
        moment, window = now().timestamp(), 60 * self._home.settings.lock_minutes
        connection.execute(ATTEMPTS.delete().where(ATTEMPTS.c.since < moment - window))
        row = connection.execute(select(ATTEMPTS).where(ATTEMPTS.c.origin == origin)).first()
        if row is None:
            connection.execute(insert(ATTEMPTS).values(origin=origin, since=moment, failures=1))
            return
        counted = {"failures": row.failures + 1}
        connection.execute(update(ATTEMPTS).where(ATTEMPTS.c.origin == origin).values(**counted))

    def fail_from(self, origin: str) -> None:
        """An attempt that is no sign-in, such as a wrong setup token."""
        with self._database.transaction() as connection:
            self.note_attempt(connection, origin)

    def slow_down(self, origin: str) -> None:
        settings, moment = self._home.settings, now().timestamp()
        with self._database.reading() as connection:
            row = connection.execute(select(ATTEMPTS).where(ATTEMPTS.c.origin == origin)).first()
        recent = row is not None and row.since + 60 * settings.lock_minutes >= moment
        if recent and row is not None and row.failures >= settings.attempts_per_address:
            raise AccessError(REFUSED)

    def set_second_factor(self, account: str, secret: str | None, code: str) -> None:
        """A secret counts once a code of it was shown; it is taken away with a code of its own, and not replaced
        without one. Codes that are wrong count as sign-ins that failed.
        """
        if secret is not None and not SECRET.fullmatch(secret):
            raise InputError("is no secret that an app could hold", field="secret")
        with self._database.transaction() as connection:
            row = connection.execute(select(ACCOUNTS).where(ACCOUNTS.c.id == account)).one()
            if secret is not None and row.totp_secret is not None:
                raise InputError("there is one already: take it away first", field="secret")
            proving = secret if secret is not None else row.totp_secret
            used = row.totp_step if secret is None else 0
            step = None if proving is None or _locked(row) else _matching_step(proving, code, used)
            if step is None:
                self._count_failure(connection, row)
            else:
                kept = {"totp_secret": secret, "totp_step": step}
                connection.execute(update(ACCOUNTS).where(ACCOUNTS.c.id == account).values(**kept))
        if step is None:
            raise InputError("is not the code of this moment, or too many were tried", field="code")

    def change_password(self, account: str, password: str, new: str, *, session: str | None) -> None:
        """With the one that was. Every other session of the account ends, so that who has the old one is out."""
        with self._database.reading() as connection:
            row = connection.execute(select(ACCOUNTS).where(ACCOUNTS.c.id == account)).one()
        right = self._keeper.matches(row.password, password) and not _locked(row)
        if right:
            refuse_weak(new, row.name)
        hashed = self._keeper.hashed(new) if right else ""
        with self._database.transaction() as connection:
            if right:
                connection.execute(update(ACCOUNTS).where(ACCOUNTS.c.id == account).values(password=hashed))
                others = (SESSIONS.c.account == account, SESSIONS.c.digest != (session or ""))
                connection.execute(SESSIONS.delete().where(*others))
            else:
                self._count_failure(connection, row)
        if not right:
            raise InputError("is not the one that was, or too many were tried", field="old password")


def new_secret() -> str:
    """160 bits, as RFC 4226 asks for."""
    return base64.b32encode(random_bytes(20)).decode()


def _locked(row: Any) -> bool:
    return row.locked_until is not None and row.locked_until > now().timestamp()


def _second_factor_step(row: Any, code: str) -> int | None:
    """The step of time whose code was given; a code that was used before is none any more (RFC 6238, 5.2)."""
    return row.totp_step if row.totp_secret is None else _matching_step(row.totp_secret, code, row.totp_step)


def _matching_step(secret: str, code: str, used: int) -> int | None:
    totp, current = TOTP(secret), int(now().timestamp()) // _STEP
    given = code.replace(" ", "").encode()
    steps = [step for step in (current - 1, current, current + 1) if same(totp.at(step * _STEP).encode(), given)]
    return next((step for step in steps if step > used), None)
