"""Feeds: systems that get releases again and again, by a token that ends (MeitY 3.2.2, type 2; G-03)."""

from __future__ import annotations

import datetime
import hashlib
import hmac
from collections.abc import Iterable
from typing import Final

from pydantic import Field

from shoal.errors import AccessError, InputError
from shoal.govern.kinds.opt_out import require_left_out
from shoal.govern.kinds.project import ProjectState, require_steps
from shoal.govern.kinds.release import ReleaseState, require_composed
from shoal.govern.kinds.request import RequestState, require_releasable
from shoal.govern.record_kinds import ActContext, ActInput, DueDate, RecordKind, RecordState, declared
from shoal.schema.parameters import Parameters

SYSTEM: Final = "system"
"""The role of a system that collects."""
MOST_TOKEN_DAYS: Final = 365


class FeedDelivery(Parameters):
    release: str
    by: str
    on: datetime.date
    collected_on: datetime.date | None = None
    package_sha256: str = ""
    """Of the package that the system collected."""


class FeedState(RecordState):
    request: str = ""
    """The request that was approved, agreed and delivered to before."""
    system: str = ""
    """Who collects: a system that was admitted with this role."""
    recipient: str = ""
    """Its public key (age): what it collects is sealed for it."""
    every_days: int = 30
    until: datetime.date = datetime.date.max
    began_on: datetime.date = datetime.date.min
    token_sha256: str = ""
    """What its token is known by; the token itself is kept by nobody but the system."""
    token_until: datetime.date | None = None
    deliveries: tuple[FeedDelivery, ...] = ()

    def due(self) -> Iterable[DueDate]:
        if self.status != "open":
            return
        last = self.deliveries[-1].on if self.deliveries else self.began_on
        following = last + datetime.timedelta(days=self.every_days)
        if following < self.until:
            yield DueDate(following, f"deliver to {self.system} again")
        if self.token_until is not None and self.token_until < self.until:
            yield DueDate(self.token_until, f"the token of {self.system} ends: issue another", self.system)
        yield DueDate(self.until, "the feed ends: stop it")

    def require_token(self, token: str, today: datetime.date) -> None:
        known = bool(self.token_sha256) and hmac.compare_digest(token_digest(token), self.token_sha256)
        if not known:
            raise AccessError("that is not the token of this feed")
        if self.token_until is None or today > self.token_until:
            raise AccessError(f"the token ended on {self.token_until}", advice="shoal register token FEED")


FEED = declared(RecordKind("feed", "Systems that get releases again and again.", FeedState))


def token_digest(token: str) -> str:
    """A token is random and long: a plain digest tells nothing of it."""
    return hashlib.sha256(token.encode()).hexdigest()


class FeedForm(ActInput):
    request: str = Field(description="The request that was delivered to: its approval and agreement hold for the feed.")
    system: str = Field(description="Who collects, admitted with the role system.")
    recipient: str = Field(pattern="^age1[0-9a-z]{58}$", description="Its public key (age1…).")
    every_days: int = Field(ge=1, le=366, description="How often, in days.")
    until: datetime.date = Field(description="Until when; not longer than the request.")
    title: str = Field(default="", description="In a few words.")


class FeedToken(ActInput):
    days: int = Field(default=90, ge=1, le=MOST_TOKEN_DAYS, description="How many days it holds.")
    token: str = Field(default="", exclude=True)
    """Never written down."""


class FeedRelease(ActInput):
    release: str = Field(description="Which release.")


class FeedCollection(ActInput):
    token: str = Field(default="", exclude=True)
    """Never written down."""
    release: str = ""
    data_sha256: str = ""
    package_sha256: str = ""


class FeedExtension(ActInput):
    until: datetime.date = Field(description="Until when; not longer than the request.")


class FeedEnd(ActInput):
    reason: str = Field(min_length=1, description="Why.")


@FEED.act(name="open")
def begin(context: ActContext, _: None, given: FeedForm) -> FeedState:
    """Let a system get releases again and again, for a request that was delivered to."""
    request = _live(context, given.request)
    _check_until(context, request, given.until)
    system = context.view.state("person", given.system)
    if system.status != "active" or SYSTEM not in getattr(system, "roles", ()):
        raise InputError(f"'{given.system}' is no system", field="system", advice="shoal register person admit …")
    told = {name: getattr(given, name) for name in type(given).model_fields}
    return FeedState(status="open", project=request.project, began_on=context.today, **told)


@FEED.act("open")
def issue(context: ActContext, before: FeedState, given: FeedToken) -> FeedState:
    """Give the system a token; one that it had holds no more. `shoal register token` makes it and does this."""
    _live(context, before.request)
    if len(given.token) < 32:
        raise InputError("a token is made by the registry", advice="shoal register token FEED")
    ends = min(context.today + datetime.timedelta(days=given.days), before.until)
    return before.model_copy(update={"token_sha256": token_digest(given.token), "token_until": ends})


@FEED.act("open")
def deliver(context: ActContext, before: FeedState, given: FeedRelease) -> FeedState:
    """Put a release there to be collected. What refuses any delivery refuses this one too."""
    request = _live(context, before.request)
    if context.today >= before.until:
        raise InputError(f"the feed ended on {before.until}")
    project, release = context.view.state("project", before.project), context.view.state("release", given.release)
    if not isinstance(project, ProjectState) or not isinstance(release, ReleaseState):
        raise InputError("it belongs to another project", field="release")
    if release.project != before.project:
        raise InputError("it belongs to another project", field="release")
    if given.release in {request.release, *(one.release for one in before.deliveries)}:
        raise InputError("they have it already", field="release")
    require_steps(project)
    require_releasable(project, release)
    require_left_out(context.view, release)
    require_composed(context.view, given.release, release)
    delivery = FeedDelivery(release=given.release, by=context.by, on=context.today)
    return before.model_copy(update={"deliveries": (*before.deliveries, delivery)})


@FEED.act("open")
def collect(context: ActContext, before: FeedState, given: FeedCollection) -> FeedState:
    """Take what was delivered last. `shoal register collect` makes the package and does this."""
    if context.by != before.system:
        raise AccessError(f"{context.by} is not the system of this feed")
    before.require_token(given.token, context.today)
    _live(context, before.request)
    if not before.deliveries or before.deliveries[-1].release != given.release:
        raise InputError("that is not what was delivered last", field="release")
    release = context.view.state("release", given.release)
    if release.status != "entered":
        raise InputError(f"that release is {release.status}", field="release")
    if getattr(release, "data_sha256", "") != given.data_sha256:
        raise InputError("the data is not what was delivered", field="release")
    told = {"collected_on": context.today, "package_sha256": given.package_sha256}
    last = before.deliveries[-1].model_copy(update=told)
    return before.model_copy(update={"deliveries": (*before.deliveries[:-1], last)})


@FEED.act("open")
def extend(context: ActContext, before: FeedState, given: FeedExtension) -> FeedState:
    """Let it go on, as long as the request allows."""
    _check_until(context, _live(context, before.request), given.until)
    return before.model_copy(update={"until": given.until})


@FEED.act("open")
def stop(_: ActContext, before: FeedState, given: FeedEnd) -> FeedState:
    """End it: the token holds no more."""
    return before.model_copy(update={"status": "stopped", "token_sha256": "", "token_until": None})


def _live(context: ActContext, identifier: str) -> RequestState:
    """A feed stands on a request: what ends that ends it."""
    request = context.view.state("request", identifier)
    if not isinstance(request, RequestState) or request.status != "delivered":
        raise InputError(
            f"request '{identifier}' is {request.status}: a feed follows a first delivery", field="request"
        )
    if request.until is not None and context.today >= request.until:
        raise InputError("the time for which the data was asked for is over", field="request")
    return request


def _check_until(context: ActContext, request: RequestState, until: datetime.date) -> None:
    if until <= context.today:
        raise InputError("a day that is over", field="until")
    if request.until is not None and until > request.until:
        raise InputError(f"the request ends on {request.until}: it has to be extended first", field="until")
