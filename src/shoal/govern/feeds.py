"""What a system collects from its feed: a package for its key, against its token, and recorded."""

from __future__ import annotations

import contextlib
from pathlib import Path

from shoal.errors import InputError, IntegrityError
from shoal.govern.kinds.feed import FeedState
from shoal.govern.kinds.release import ReleaseState
from shoal.govern.packages import SealedPackage, pack_release
from shoal.govern.registry import GovernanceRegistry
from shoal.govern.release_entry import is_there
from shoal.randomness import random_bytes


def issue_token(registry: GovernanceRegistry, identifier: str, *, days: int, by: str) -> tuple[str, FeedState]:
    """The token, which nobody can be told again, and the feed."""
    token = f"feed_{random_bytes(32).hex()}"
    state = registry.perform("feed", "issue", identifier, {"token": token, "days": days}, by=by)
    return token, _feed(state, identifier)


def collect_feed(  # noqa: PLR0913  # which feed, by whom, from where to where
    registry: GovernanceRegistry, identifier: str, package: Path, *, token: str, by: str, folder: Path | None = None
) -> SealedPackage:
    """What was delivered last, sealed for the system. Where it is not recorded, there is no package either."""
    registry.require("feed", "collect", identifier, by=by)
    feed = _feed(registry.state("feed", identifier), identifier)
    feed.require_token(token, registry.today())
    if not feed.deliveries:
        raise InputError(f"nothing was delivered to feed '{identifier}' yet")
    name = feed.deliveries[-1].release
    release = registry.state("release", name)
    place = folder or (Path(release.place) if isinstance(release, ReleaseState) and release.place else None)
    if place is None or not place.is_dir():
        raise InputError(f"release '{name}': its folder is not where it was entered", field="folder")
    if not is_there(str(place), getattr(release, "data_sha256", "")):
        raise IntegrityError(f"{place}: the data is not what was delivered")
    made = pack_release(place, package, recipient=feed.recipient)
    told = {"release": name, "data_sha256": made.data_sha256, "package_sha256": made.sha256}
    try:
        registry.perform("feed", "collect", identifier, {**told, "token": token}, by=by)
    except BaseException:
        with contextlib.suppress(OSError):
            package.unlink()
        raise
    return made


def _feed(state: object, identifier: str) -> FeedState:
    if not isinstance(state, FeedState):
        raise InputError(f"'{identifier}' is no feed")
    return state
