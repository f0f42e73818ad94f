"""What an operator may set, with limits that hold for a small server as it comes."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

MIB: Final = 1024 * 1024
HOME: Final = "SHOAL_STUDIO_HOME"
SETTINGS: Final = "SHOAL_STUDIO_SETTINGS"
"""The variable by which a process hands them to another: an address may hold a password, and lists of processes show
arguments to everybody.
"""


class ServerSettings(BaseModel):
    """
    >>> ServerSettings(workers=1).jobs_per_account
    4
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    secure: bool = False
    """Whether browsers come by TLS: cookies are then sent by TLS alone."""
    host_names: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]")
    """Names that the server answers to."""
    database: str | None = None
    """Of PostgreSQL, where accounts and jobs are not kept in the home folder."""
    alone: bool = True
    """Whether this is the only process that answers requests: then it also starts workers and clears up."""
    oidc_issuer: str | None = None
    """The provider of an organisation by which its people sign in, as it calls itself."""
    oidc_client: str = "shoal"
    oidc_secret_file: Path | None = None
    """Holds what the studio proves itself with to the provider; a public client has none."""
    vault: str | None = None
    """Whose requests to reveal people work on in the browser."""
    tables_folder: Path | None = None
    """Whose tables may be taken in by those who may upload."""
    table_servers: tuple[str, ...] = ()
    """Databases whose tables may be taken in, as postgresql://host:port; no other address is ever connected to."""
    workers: int = Field(2, ge=0, le=64)
    """Processes that work on jobs; with 0 somebody else starts them."""
    upload_bytes: int = Field(2048 * MIB, ge=1)
    stored_bytes: int = Field(20 * 1024 * MIB, ge=1)
    """Of all tables, texts and documents of an account that are kept at once."""
    document_bytes: int = Field(32 * MIB, ge=1)
    body_bytes: int = Field(MIB, ge=1)
    """Of any request that is no upload."""
    jobs_per_account: int = Field(4, ge=1)
    """That wait or run at once."""
    job_attempts: int = Field(3, ge=1)
    """How often a job is begun whose worker dies, before it counts as failed."""
    lease_seconds: float = Field(30.0, gt=0)
    """A worker that is silent for so long has lost its job to another."""
    beat_seconds: float = Field(2.0, gt=0)
    idle_minutes: int = Field(30, ge=1)
    session_hours: int = Field(12, ge=1)
    failures_before_lock: int = Field(5, ge=1)
    lock_minutes: int = Field(15, ge=1)
    attempts_per_address: int = Field(30, ge=1)
    """Sign-ins that fail, within the time of a lock."""
    password_cost: Literal["standard", "cheapest"] = "standard"  # noqa: S105  # of argon2id; cheapest is for tests
