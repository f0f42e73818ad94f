"""Feeds: a system gets releases by a token that ends, each looked at together with all before it (MeitY 3.2.2)."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.govern.conftest import AGREEMENT, FORM, Clock, Do, complete_steps, copied, enter_release, open_project
from tests.support.commands import Call

from shoal.crypto.age_files import AgeIdentity
from shoal.errors import AccessError, InputError, IntegrityError
from shoal.govern.feeds import collect_feed, issue_token
from shoal.govern.kinds.feed import FeedState
from shoal.govern.kinds.release import ReleaseState, holders
from shoal.govern.packages import unpack_release
from shoal.govern.registry import GovernanceRegistry
from shoal.govern.release_entry import release_figures

pytestmark = pytest.mark.requirement("G-03", "R-08")
IDENTITY = AgeIdentity.new()
FEED = {"request": "R-1", "system": "system", "recipient": IDENTITY.recipient, "every_days": 30, "until": "2026-12-01"}
SEEN = {"outcome": "pass", "basis": "released", "exact": False}


@pytest.fixture
def delivered(do: Do, clock: Clock) -> Do:
    """A request whose first delivery went the ordinary way."""
    open_project(do)
    complete_steps(do)
    enter_release(do)
    do("manager", "request.submit", "R-1", project="hospital", **FORM)
    do("chief-investigator", "request.review", "R-1")
    do("chief-investigator", "request.approve", "R-1")
    do("manager", "request.agree", "R-1", **AGREEMENT)
    with pytest.raises(InputError, match="follows a first delivery"):
        do("manager", "feed.open", "F-1", **FEED)
    do("data-manager", "request.deliver", "R-1", release="2026-q1", channel="package")
    return do


@pytest.fixture
def feed(delivered: Do) -> Do:
    delivered("manager", "feed.open", "F-1", **FEED)
    return delivered


def entered(do: Do, name: str, **given: Any) -> None:
    do("data-manager", "release.enter", name, project="hospital", **{"k": 5, "data_sha256": "c" * 64, **given})


def composed(do: Do, name: str, *earlier: str, sha256: str = "c" * 64, **seen: Any) -> None:
    given = {**SEEN, "earlier": earlier, "release_sha256": sha256, **seen}
    do("data-manager", "release.compose", name, **given)


def test_each_delivery_is_looked_at_with_all_before_it(feed: Do, registry: GovernanceRegistry) -> None:
    for name in ("april", "may"):
        entered(feed, name)
    with pytest.raises(InputError, match="looked at together"):
        feed("data-manager", "feed.deliver", "F-1", release="april")
    composed(feed, "april", "2026-q1")
    feed("data-manager", "feed.deliver", "F-1", release="april")
    composed(feed, "may", "2026-q1")
    with pytest.raises(InputError, match="looked at together"):
        feed("data-manager", "feed.deliver", "F-1", release="may")
    composed(feed, "may", "2026-q1", "april", outcome="block")
    with pytest.raises(InputError, match="tells too much"):
        feed("data-manager", "feed.deliver", "F-1", release="may")
    composed(feed, "may", "2026-q1", "april")
    feed("data-manager", "feed.deliver", "F-1", release="may")
    releases = {name: one for name, one in registry.states("release").items() if isinstance(one, ReleaseState)}
    assert holders(registry, releases) == dict.fromkeys(["2026-q1", "april", "may"], (FORM["seeker"],))
    feed("manager", "request.expunge", "R-1")
    assert all(holders(registry, releases).values()), "nobody but who has it says that it is gone"
    feed("auditor", "request.confirm", "R-1")
    assert not any(holders(registry, releases).values()), "what was expunged is held by nobody"


def test_what_refuses_a_delivery_refuses_one_of_a_feed(feed: Do) -> None:
    with pytest.raises(InputError, match="have it already"):
        feed("data-manager", "feed.deliver", "F-1", release="2026-q1")
    entered(feed, "low", k=2)
    with pytest.raises(InputError, match="has k 2"):
        feed("data-manager", "feed.deliver", "F-1", release="low")
    feed("chief-investigator", "project.reopen", "hospital", step=12, reason="the risk changed")
    entered(feed, "april")
    with pytest.raises(InputError, match="step 12"):
        feed("data-manager", "feed.deliver", "F-1", release="april")
    feed("chief-investigator", "project.open", "other", use_case="external-sharing")
    feed("data-manager", "release.enter", "else", project="other", k=5)
    with pytest.raises(InputError, match="another project"):
        feed("data-manager", "feed.deliver", "F-1", release="else")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"system": "seeker"}, "is no system"),
        ({"until": "2027-01-01"}, "has to be extended first"),
        ({"until": "2026-01-01"}, "a day that is over"),
        ({"recipient": "somebody"}, "public key of the age format"),
        ({"every_days": 0}, "at least 1"),
        ({"request": "R-2"}, "no request 'R-2'"),
    ],
)
def test_a_feed_that_can_not_be(delivered: Do, given: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        delivered("manager", "feed.open", "F-1", **{**FEED, **given})


@pytest.fixture
def collected(feed: Do, released: Path, registry: GovernanceRegistry) -> str:
    """With a real folder to collect; its token."""
    figures = release_figures(released)
    feed("data-manager", "release.enter", "april", project="hospital", folder=str(released))
    composed(feed, "april", "2026-q1", sha256=figures["data_sha256"])
    feed("data-manager", "feed.deliver", "F-1", release="april")
    return issue_token(registry, "F-1", days=30, by="data-manager")[0]


def test_a_system_collects_what_only_it_can_open(
    collected: str, registry: GovernanceRegistry, released: Path, tmp_path: Path, file_place: str
) -> None:
    made = collect_feed(registry, "F-1", tmp_path / "today.age", token=collected, by="system")
    got = unpack_release(tmp_path / "today.age", tmp_path / "received", IDENTITY)
    assert release_figures(got)["data_sha256"] == release_figures(released)["data_sha256"]
    state = registry.state("feed", "F-1")
    assert isinstance(state, FeedState)
    assert (state.deliveries[-1].package_sha256, str(state.deliveries[-1].collected_on)) == (made.sha256, "2026-03-02")
    connection = sqlite3.connect(file_place)
    text = "\n".join(connection.iterdump())
    connection.close()
    assert collected not in text, "a token stands nowhere"


def test_who_has_no_right_or_no_token_gets_nothing(
    collected: str, registry: GovernanceRegistry, feed: Do, clock: Clock, tmp_path: Path
) -> None:
    feed("devi", "person.admit", "portal", roles=["system"])
    for by, token, told in (
        ("manager", collected, "no right"),
        ("portal", collected, "not the system of this feed"),
        ("system", "feed_" + "0" * 64, "not the token"),
        ("system", "", "not the token"),
    ):
        with pytest.raises(AccessError, match=told):
            collect_feed(registry, "F-1", tmp_path / "x.age", token=token, by=by)
    renewed, _ = issue_token(registry, "F-1", days=30, by="data-manager")
    with pytest.raises(AccessError, match="not the token"):
        collect_feed(registry, "F-1", tmp_path / "x.age", token=collected, by="system")
    clock.pass_days(31)
    with pytest.raises(AccessError, match="token ended on"):
        collect_feed(registry, "F-1", tmp_path / "x.age", token=renewed, by="system")
    late, _ = issue_token(registry, "F-1", days=30, by="data-manager")
    feed("manager", "request.expunge", "R-1")
    with pytest.raises(InputError, match="is expunged"):
        collect_feed(registry, "F-1", tmp_path / "x.age", token=late, by="system")
    feed("manager", "feed.stop", "F-1", reason="over")
    with pytest.raises(InputError, match="is stopped"):
        collect_feed(registry, "F-1", tmp_path / "x.age", token=late, by="system")
    assert not list(tmp_path.glob("x.age*"))


def test_data_that_is_not_what_was_delivered_is_not_handed_over(
    collected: str, registry: GovernanceRegistry, tmp_path: Path
) -> None:
    from tests.support.planted_releases import write_release

    from shoal.schema import Role

    other = write_release(tmp_path / "other", pl.DataFrame({"age": ["20"] * 6}), {"age": Role.QUASI})
    with pytest.raises(IntegrityError, match="not what was delivered"):
        collect_feed(registry, "F-1", tmp_path / "x.age", token=collected, by="system", folder=other)
    assert not (tmp_path / "x.age").exists()


@pytest.mark.requirement("G-11")
def test_what_is_due_of_a_feed_and_of_who_has_data(feed: Do, registry: GovernanceRegistry, clock: Clock) -> None:
    issue_token(registry, "F-1", days=60, by="data-manager")
    told = {(str(one.on), one.what) for one in registry.due(clock().date().replace(year=2027)) if one.kind == "feed"}
    assert told == {
        ("2026-04-01", "deliver to system again"),
        ("2026-05-01", "the token of system ends: issue another"),
        ("2026-12-01", "the feed ends: stop it"),
    }
    feed("co-director", "request.extend", "R-1", until="2028-12-31", reason="the study goes on")
    visits = [one.on for one in registry.due(clock().date().replace(year=2029)) if one.what.startswith("visit")]
    assert [str(on) for on in visits] == ["2027-03-02"]
    clock.pass_days(300)
    feed("auditor", "request.inspect", "R-1", found="as agreed")
    visits = [one.on for one in registry.due(clock().date().replace(year=2029)) if one.what.startswith("visit")]
    assert [str(on) for on in visits] == ["2027-12-27"]
    feed("manager", "feed.extend", "F-1", until="2027-12-01")
    with pytest.raises(InputError, match="made by the registry"):
        feed("data-manager", "feed.issue", "F-1")


def test_by_command_line(
    shoal: Call, collected: str, file_place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = ["--registry", copied(file_place, tmp_path / "feeds.db")]
    told = shoal("register", "token", "F-1", *place, "--days", "5", "--by", "data-manager")
    assert told.code == 0, told.stderr
    token = told.stdout.split()[0]
    got = shoal("register", "collect", "F-1", "-o", "today.age", *place, "--by", "system")
    assert (got.code, "SHOAL_FEED_TOKEN" in got.stderr) == (2, True)
    monkeypatch.setenv("SHOAL_FEED_TOKEN", token)
    got = shoal("register", "collect", "F-1", "-o", "today.age", *place, "--by", "system")
    assert got.code == 0, got.stderr
    assert token not in got.stdout + got.stderr
    assert (tmp_path / "today.age").is_file()
