"""Sign-in by an organisation's own provider (OpenID Connect, code flow with PKCE).

The provider says who somebody is, never what they may do: an account is made here, and its owner links it to the
provider once, signed in with the password. Who is linked to no account does not come in, whatever the provider says.

What is fetched is fetched from the provider that the operator named, by TLS or on this machine. No redirect is
followed.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from sqlalchemy import delete, insert, select

from shoal.crypto.mac import same
from shoal.errors import AccessError, InputError
from shoal.randomness import now
from shoal.server.access.accounts import Account
from shoal.server.access.sessions import digest, random_text
from shoal.server.home import StudioHome
from shoal.server.store.tables import ACCOUNTS, IDENTITIES, SIGN_IN_FLOWS

ALGORITHMS: Final = ("RS256", "PS256", "ES256", "EdDSA")
"""That sign with a key only the provider has."""
FLOW_MINUTES: Final = 10
KEPT_SECONDS: Final = 300.0
TIMEOUT: Final = 5.0
MOST_BYTES: Final = 1024 * 1024
LEEWAY: Final = 60
"""Seconds by which two clocks may differ."""
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
NOT_PROVED: Final = "the provider did not prove who you are: begin anew"
NOT_LINKED: Final = "no account is linked to this: sign in with your password, and link it under your name"


@dataclass(frozen=True)
class SignInFlow:
    """One sign-in under way: what the browser has to bring back."""

    address: str
    """Of the provider's page."""
    secret: str
    """For a cookie of the browser that began."""


@dataclass
class SingleSignOn:
    home: StudioHome
    _metadata: dict[str, Any] = field(default_factory=dict)
    _fetched: float = 0.0

    @property
    def offered(self) -> bool:
        return self.home.settings.oidc_issuer is not None

    @property
    def issuer(self) -> str:
        if self.home.settings.oidc_issuer is None:
            raise InputError("no provider was named when the studio was started")
        return self.home.settings.oidc_issuer

    def begin(self, callback: str, account: str | None = None) -> SignInFlow:
        """``account`` is that of somebody who is signed in and links it; without one, somebody wants to come in."""
        secret, state, nonce, verifier = (random_text() for _ in range(4))
        told = self._provider()
        with self._client(callback) as client:
            made = client.create_authorization_url(
                told["authorization_endpoint"], state=state, nonce=nonce, code_verifier=verifier, scope="openid"
            )
        moment = now().timestamp()
        kept = {"digest": digest(secret), "state": state, "nonce": nonce, "verifier": verifier, "account": account}
        with self.home.database.transaction() as connection:
            connection.execute(delete(SIGN_IN_FLOWS).where(SIGN_IN_FLOWS.c.created < moment - 60 * FLOW_MINUTES))
            connection.execute(insert(SIGN_IN_FLOWS).values(**kept, created=moment))
        return SignInFlow(str(made[0]), secret)

    def end(self, callback: str, secret: str, state: str, code: str) -> tuple[Account, bool]:
        """Whose sign-in it is, and whether an account was linked by it. A flow is good once, in its own browser."""
        flow = self._take_flow(secret)
        if flow is None or not (state and code) or not same(flow.state.encode(), state.encode()):
            raise AccessError(NOT_PROVED)
        identity = self._identity(callback, code, flow.verifier, flow.nonce)
        if flow.account is not None:
            self._link(identity, flow.account)
        with self.home.database.reading() as connection:
            linked = select(ACCOUNTS).join(IDENTITIES, IDENTITIES.c.account == ACCOUNTS.c.id)
            row = connection.execute(linked.where(IDENTITIES.c.id == identity)).first()
        if row is None or row.disabled:
            raise AccessError(NOT_LINKED)
        return Account.of(row), flow.account is not None

    def _take_flow(self, secret: str) -> Any:
        key, moment = digest(secret), now().timestamp()
        with self.home.database.transaction() as connection:
            row = connection.execute(select(SIGN_IN_FLOWS).where(SIGN_IN_FLOWS.c.digest == key)).first()
            gone = connection.execute(delete(SIGN_IN_FLOWS).where(SIGN_IN_FLOWS.c.digest == key))
        fresh = row is not None and gone.rowcount == 1 and row.created > moment - 60 * FLOW_MINUTES
        return row if fresh else None

    def _identity(self, callback: str, code: str, verifier: str, nonce: str) -> str:
        told = self._provider()
        try:
            with self._client(callback) as client:
                answer = client.fetch_token(
                    told["token_endpoint"], code=code, code_verifier=verifier, grant_type="authorization_code"
                )
                keys = KeySet.import_key_set(self._fetch(client, told["jwks_uri"]))
            signed = jwt.decode(str(answer["id_token"]), keys, algorithms=list(ALGORITHMS))
            expected = {"iss": {"value": self.issuer}, "aud": {"value": self.home.settings.oidc_client}}
            claims = CodeIDToken(signed.claims, signed.header, expected, {"nonce": nonce})
            claims.validate(now=int(now().timestamp()), leeway=LEEWAY)
        except (AuthlibBaseError, JoseError, httpx2.HTTPError, ValueError, KeyError, TypeError):
            raise AccessError(NOT_PROVED) from None
        subject = claims["sub"]
        if not isinstance(subject, str) or not subject:
            raise AccessError(NOT_PROVED)
        return hashlib.sha256(f"{self.issuer}\n{subject}".encode()).hexdigest()

    def _link(self, identity: str, account: str) -> None:
        with self.home.database.transaction() as connection:
            row = connection.execute(select(IDENTITIES).where(IDENTITIES.c.id == identity)).first()
            if row is not None and row.account != account:
                raise AccessError("another account is linked to it already")
            connection.execute(delete(IDENTITIES).where(IDENTITIES.c.account == account))
            connection.execute(insert(IDENTITIES).values(id=identity, account=account, created=now().timestamp()))

    def linked(self, account: str) -> bool:
        with self.home.database.reading() as connection:
            return connection.execute(select(IDENTITIES).where(IDENTITIES.c.account == account)).first() is not None

    def unlink(self, account: str) -> None:
        with self.home.database.transaction() as connection:
            connection.execute(delete(IDENTITIES).where(IDENTITIES.c.account == account))

    def _provider(self) -> dict[str, Any]:
        """What the provider says of itself (OpenID Connect Discovery), asked anew after five minutes."""
        if time.monotonic() - self._fetched < KEPT_SECONDS and self._metadata:
            return self._metadata
        if not is_safe_address(self.issuer):
            raise AccessError("the provider is not reached by TLS: sign in with your password")
        try:
            with httpx2.Client(timeout=TIMEOUT, trust_env=False) as client:
                told = self._fetch(client, self.issuer.rstrip("/") + "/.well-known/openid-configuration")
        except (httpx2.HTTPError, ValueError):
            raise AccessError("the provider does not answer: sign in with your password") from None
        names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        if told.get("issuer") != self.issuer or not all(is_safe_address(told.get(name)) for name in names):
            raise AccessError("the provider is not the one that was named: tell who looks after the studio")
        self._metadata, self._fetched = dict(told), time.monotonic()
        return self._metadata

    def _client(self, callback: str) -> OAuth2Client:
        settings = self.home.settings
        secret = settings.oidc_secret_file.read_text(encoding="utf-8").strip() if settings.oidc_secret_file else None
        method = "client_secret_basic" if secret else "none"
        return OAuth2Client(
            settings.oidc_client,
            secret,
            redirect_uri=callback,
            code_challenge_method="S256",
            token_endpoint_auth_method=method,
            timeout=TIMEOUT,
            trust_env=False,
        )

    def _fetch(self, client: httpx2.Client, address: str) -> Any:
        with client.stream("GET", address, follow_redirects=False, **_unsigned(client)) as answer:
            answer.raise_for_status()
            body = b""
            for part in answer.iter_bytes():
                body += part
                if len(body) > MOST_BYTES:
                    raise ValueError
        told = httpx2.Response(200, content=body).json()
        if not isinstance(told, dict):
            raise TypeError
        return told


def _unsigned(client: httpx2.Client) -> dict[str, Any]:
    """What is public is asked for without the token that was got."""
    return {"withhold_token": True} if isinstance(client, OAuth2Client) else {}


def is_safe_address(address: object) -> bool:
    """
    >>> is_safe_address("https://id.example.org/token"), is_safe_address("http://127.0.0.1:9400")
    (True, True)
    >>> is_safe_address("http://id.example.org/token"), is_safe_address("file:///etc/passwd"), is_safe_address(None)
    (False, False, False)
    """
    parts = urlsplit(address) if isinstance(address, str) else urlsplit("")
    return bool(parts.hostname) and (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK))
