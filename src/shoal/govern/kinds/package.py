"""Packages: encrypted copies of a release for a recipient, with which checksum, by which channel (G-03)."""

from __future__ import annotations

import datetime
from enum import StrEnum

from pydantic import Field

from shoal.errors import InputError
from shoal.govern.kinds.request import RequestState, require_deliverable
from shoal.govern.record_kinds import ActContext, ActInput, RecordKind, RecordState, declared


class PackageSealing(StrEnum):
    """What opens it."""

    RECIPIENT_KEY = "recipient-key"
    PASSPHRASE = "passphrase"  # noqa: S105  # a way to seal


class PackageState(RecordState):
    release: str = ""
    request: str = ""
    recipient: str = ""
    """Who asked for the data, as the request has it, or the fingerprint of a key."""
    sha256: str = ""
    data_sha256: str = ""
    sealing: PackageSealing = PackageSealing.RECIPIENT_KEY
    channel: str = ""
    key_channel: str = ""
    """How the passphrase goes to them: another way than the package."""
    packed_on: datetime.date | None = None


PACKAGE = declared(RecordKind("package", "Encrypted packages for recipients.", PackageState))


class PackageFacts(ActInput):
    request: str = Field(description="Whose request it answers.")
    release: str = Field(description="Which release is in it.")
    sha256: str = Field(pattern="^[0-9a-f]{64}$", description="Of the package.")
    data_sha256: str = Field(pattern="^[0-9a-f]{64}$", description="Of the data in it.")
    sealing: PackageSealing = Field(description="What opens it.")
    recipient: str = Field(min_length=1, description="The fingerprint of the recipient's key, or who it is for.")
    channel: str = Field(min_length=1, description="How it goes to them.")
    key_channel: str = Field(default="", description="How the passphrase goes to them.")


@PACKAGE.act()
def pack(context: ActContext, _: None, given: PackageFacts) -> PackageState:
    """Record a package. `shoal pack` makes it and does this."""
    request = context.view.state("request", given.request)
    release = context.view.state("release", given.release)
    if not isinstance(request, RequestState) or release.project != request.project:
        raise InputError("it belongs to another project", field="release")
    if request.status not in {"agreed", "delivered"}:
        raise InputError(f"request '{given.request}' is {request.status}: nothing is packed for it", field="request")
    if request.status == "agreed" or given.release != request.release:
        require_deliverable(context, request, given.release)
    if getattr(release, "data_sha256", "") != given.data_sha256:
        raise InputError("the data is not what was entered as this release", field="release")
    if given.sealing is PackageSealing.PASSPHRASE and not _apart(given):
        raise InputError("a passphrase goes another way than the package", field="key_channel")
    told = {name: getattr(given, name) for name in type(given).model_fields}
    return PackageState(status="packed", project=request.project, packed_on=context.today, **told)


def _apart(given: PackageFacts) -> bool:
    return bool(given.key_channel) and given.key_channel.strip().casefold() != given.channel.strip().casefold()
