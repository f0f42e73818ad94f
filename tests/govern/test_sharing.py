"""From a request to its end, and everything that stands in the way of a wrong delivery (MeitY 3.2; PDPC step 5)."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from tests.govern.conftest import AGREEMENT, FORM, START, Clock, Do, complete_steps, enter_release, open_project

from shoal.errors import AccessError, InputError
from shoal.govern.kinds.project import ProjectState
from shoal.govern.procedure import procedure
from shoal.govern.registry import GovernanceRegistry
from shoal.policy.presets import PRESETS, UseCase

pytestmark = pytest.mark.requirement("G-03")


def agreed(do: Do) -> None:
    do("manager", "request.submit", "R-1", project="hospital", **FORM)
    do("chief-investigator", "request.review", "R-1")
    do("co-director", "request.approve", "R-1")
    do("manager", "request.agree", "R-1", **AGREEMENT)


def deliver(do: Do) -> Any:
    return do("data-manager", "request.deliver", "R-1", release="2026-q1", channel="encrypted package")


@pytest.mark.requirement("G-01", "G-04")
def test_from_request_to_expunge(do: Do, registry: GovernanceRegistry, clock: Clock) -> None:
    open_project(do)
    complete_steps(do)
    enter_release(do)
    agreed(do)
    assert deliver(do).status == "delivered"
    [due] = [one for one in registry.due(clock().date().replace(year=2027)) if one.kind == "request"]
    assert (str(due.on), due.what) == ("2026-12-31", "the recipient expunges the data")
    do("co-director", "request.extend", "R-1", until="2027-06-30", reason="the study goes on")
    do("auditor", "request.inspect", "R-1", found="kept as agreed")
    do("manager", "request.expunge", "R-1")
    assert do("auditor", "request.confirm", "R-1").status == "confirmed"
    acts = [one.act for one in registry.history("request", "R-1")]
    assert acts[:3] == ["submit", "review", "approve"] and acts[-1] == "confirm"
    with pytest.raises(InputError, match="nothing more can be done"):
        do("manager", "request.expunge", "R-1")
    registry.verify()


@pytest.mark.requirement("G-01")
@pytest.mark.parametrize("step", range(1, 16))
def test_nothing_leaves_while_a_needed_step_is_open(do: Do, step: int) -> None:
    open_project(do)
    complete_steps(do, but=step)
    enter_release(do)
    agreed(do)
    with pytest.raises(InputError, match=rf"step {step} \("):
        deliver(do)
    do("chief-investigator", "project.complete", "hospital", step=step, note="done")
    assert deliver(do).status == "delivered"


@pytest.mark.requirement("G-01", "G-02")
def test_going_back_opens_what_builds_on_it(do: Do, registry: GovernanceRegistry) -> None:
    open_project(do)
    complete_steps(do)
    with pytest.raises(AccessError):
        do("manager", "project.reopen", "hospital", step=12, reason="risk above the threshold")
    after = do("validator", "project.reopen", "hospital", step=12, reason="risk above the threshold")
    assert isinstance(after, ProjectState)
    assert after.open_steps == (12, 13, 14, 15) and after.step(12).times_reopened == 1
    assert registry.history("project", "hospital")[-1].given == {"step": 12, "reason": "risk above the threshold"}


@pytest.mark.requirement("G-02")
@pytest.mark.parametrize("case", UseCase)
def test_needed_steps_follow_the_use_case(case: UseCase) -> None:
    needed = procedure().needed(case)
    assert {1, 2, 3, 15} <= set(needed)
    for number, step in procedure().steps.items():
        assert (number in needed) == (step.always or step.pdpc in PRESETS[case].steps)
    assert sorted(procedure().steps) == list(range(1, 16))


@pytest.mark.requirement("G-01")
def test_the_threshold_step_takes_a_release_that_meets_it(do: Do) -> None:
    open_project(do)
    enter_release(do, k=4)
    with pytest.raises(InputError, match="k 4, and the project needs 5"):
        do("chief-investigator", "project.complete", "hospital", step=13, release="2026-q1")
    with pytest.raises(InputError, match="what shows that it is done"):
        do("chief-investigator", "project.complete", "hospital", step=13)


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ({"k": 4}, "k 4, and the project needs 5"),
        ({"k": None}, "k None, and the project needs 5"),
        ({"attacks_found": 1}, "attacks on that release found something"),
        ({"models_met": False}, "misses a privacy model"),
    ],
)
def test_a_release_that_falls_short_is_not_delivered(do: Do, figures: dict[str, Any], said: str) -> None:
    open_project(do)
    complete_steps(do)
    enter_release(do, **figures)
    agreed(do)
    with pytest.raises(InputError, match=said):
        deliver(do)


def test_a_public_release_takes_two_approvals_attacks_and_a_tester(do: Do) -> None:
    with pytest.raises(InputError, match="a k of 11 at least"):
        open_project(do, release_model="public", k=5)
    open_project(do, release_model="public")
    complete_steps(do)
    enter_release(do, k=11, attacked=False)
    do("manager", "request.submit", "R-1", project="hospital", **FORM)
    do("chief-investigator", "request.review", "R-1")
    assert do("co-director", "request.approve", "R-1").status == "reviewed"
    with pytest.raises(AccessError, match="a second time"):
        do("co-director", "request.approve", "R-1")
    assert do("chief-investigator", "request.approve", "R-1").status == "approved"
    do("manager", "request.agree", "R-1", **AGREEMENT)
    with pytest.raises(InputError, match="attacked before"):
        deliver(do)
    do("data-manager", "release.withdraw", "2026-q1", reason="not attacked")
    do("data-manager", "release.enter", "2026-q2", project="hospital", k=11, attacked=True, data_sha256="b" * 64)
    public = {"release": "2026-q2", "channel": "the open data portal"}
    with pytest.raises(InputError, match="independent tester"):
        do("data-manager", "request.deliver", "R-1", **public)
    do("tester", "release.test", "2026-q2", note="linked by age and town", passed=False)
    with pytest.raises(InputError, match="independent tester"):
        do("data-manager", "request.deliver", "R-1", **public)
    do("tester", "release.test", "2026-q2", note="tried again", passed=True)
    assert do("data-manager", "request.deliver", "R-1", **public).status == "delivered"


def test_four_eyes(do: Do) -> None:
    open_project(do)
    do("devi", "person.change-roles", "manager", roles=["manager", "chief-investigator", "data-manager", "tester"])
    do("manager", "request.submit", "R-1", project="hospital", **FORM)
    for act in ("review", "reject"):
        with pytest.raises(AccessError, match="somebody else"):
            do("manager", f"request.{act}", "R-1", **({"reason": "no"} if act == "reject" else {}))
    do("chief-investigator", "request.review", "R-1")
    with pytest.raises(AccessError, match="their own request"):
        do("manager", "request.approve", "R-1")
    do("manager", "release.enter", "2026-q1", project="hospital", k=5)
    with pytest.raises(AccessError, match="that they entered"):
        do("manager", "release.test", "2026-q1", passed=True)


def test_one_person_can_not_sign_for_both_sides(do: Do) -> None:
    open_project(do)
    do("manager", "request.submit", "R-1", project="hospital", **FORM)
    do("chief-investigator", "request.review", "R-1")
    do("co-director", "request.approve", "R-1")
    with pytest.raises(InputError, match="both sides"):
        do("manager", "request.agree", "R-1", sha256="a" * 64, signatories=["Dean", "dean"])
    with pytest.raises(InputError, match="both sides"):
        do("manager", "request.agree", "R-1", sha256="a" * 64, signatories=["Dr. A. Rao", "dr a rao "])
    with pytest.raises(InputError, match="which agreement"):
        do("manager", "request.agree", "R-1", signatories=["Dean", "Director"])


def test_an_approval_ends(do: Do, clock: Clock) -> None:
    open_project(do)
    complete_steps(do)
    enter_release(do)
    agreed(do)
    clock.pass_days(181)
    with pytest.raises(InputError, match="approval has ended"):
        deliver(do)


def test_of_two_approvals_the_first_that_ends_counts(do: Do, clock: Clock, registry: GovernanceRegistry) -> None:
    open_project(do, release_model="public")
    do("manager", "request.submit", "R-1", project="hospital", **FORM)
    do("chief-investigator", "request.review", "R-1")
    do("co-director", "request.approve", "R-1")
    clock.pass_days(170)
    do("chief-investigator", "request.approve", "R-1")
    ends = [one.on for one in registry.due(clock().date().replace(year=2030)) if one.what == "the approval ends"]
    assert ends == [START.date() + datetime.timedelta(days=180)]
    clock.pass_days(11)
    with pytest.raises(InputError, match="approval has ended"):
        do("manager", "request.agree", "R-1", **AGREEMENT)


def test_k_does_not_grow_by_somebodys_word(do: Do) -> None:
    open_project(do)
    enter_release(do, k=3)
    with pytest.raises(InputError, match="the same data had k 3"):
        do("data-manager", "release.reassess", "2026-q1", k=50)
    assert do("data-manager", "release.reassess", "2026-q1", k=2).model_dump()["k"] == 2


def test_a_release_that_nobody_could_recognise_is_not_delivered(do: Do) -> None:
    open_project(do)
    complete_steps(do)
    enter_release(do, data_sha256="")
    agreed(do)
    with pytest.raises(InputError, match="has no checksum"):
        deliver(do)


def test_another_projects_release_is_not_delivered(do: Do) -> None:
    open_project(do)
    complete_steps(do)
    do("chief-investigator", "project.open", "census", use_case="external-sharing")
    do("data-manager", "release.enter", "2026-q1", project="census", k=5)
    agreed(do)
    with pytest.raises(InputError, match="another project"):
        deliver(do)
