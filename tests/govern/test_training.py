"""Eight topics with a quiz that writes the record; whoever lapsed releases nothing (G-07)."""

from __future__ import annotations

import pytest
from tests.govern.conftest import Clock, Do, enter_release, open_project
from tests.support.commands import Call

from shoal.errors import AccessError, InputError
from shoal.govern.kinds.person import PersonState
from shoal.govern.registry import GovernanceRegistry
from shoal.govern.training import training_topics

pytestmark = pytest.mark.requirement("G-07")


def right(topic: str) -> list[int]:
    return [question.right for question in training_topics()[topic].questions]


def test_the_eight_topics_of_the_guidelines() -> None:
    assert len(training_topics()) == 8
    for topic in training_topics().values():
        assert len({question.asks for question in topic.questions}) == len(topic.questions)
        assert all(question.right <= len(question.options) for question in topic.questions)
        for guess in (1, 2, 3):
            most = max(len(question.options) for question in topic.questions)
            if guess <= most:
                same = [min(guess, len(question.options)) for question in topic.questions]
                assert topic.marks(same) < 100, "always the same answer is not all right"


def test_marks_are_those_of_the_answers(do: Do, registry: GovernanceRegistry, clock: Clock) -> None:
    answers = right("breaches")
    wrong = [one % 3 + 1 for one in answers[:2]] + answers[2:]
    state = do("manager", "person.sit", "manager", topic="breaches", answers=wrong)
    assert isinstance(state, PersonState)
    assert (state.trainings[-1].marks, state.trainings[-1].passed) == (50, False)
    again = state.trainings[-1].again_on
    assert ("be examined again in breaches", again) in [(one.what, one.on) for one in registry.due(again)]
    with pytest.raises(InputError, match="again tomorrow"):
        do("manager", "person.sit", "manager", topic="breaches", answers=answers)
    clock.pass_days(1)
    state = do("manager", "person.sit", "manager", topic="breaches", answers=answers)
    assert isinstance(state, PersonState)
    assert (state.trainings[-1].marks, state.trainings[-1].passed) == (100, True)
    assert not [one for one in registry.due(again) if "breaches" in one.what]


def test_nobody_sits_for_somebody_else(do: Do) -> None:
    with pytest.raises(InputError, match="for somebody else"):
        do("devi", "person.sit", "manager", topic="breaches", answers=right("breaches"))


@pytest.mark.parametrize(
    ("topic", "answers", "told"),
    [
        ("breeches", [1], "did you mean 'breaches'"),
        ("breaches", [1], "4 questions"),
        ("breaches", [9] * 4, "from 1 to"),
    ],
)
def test_bad_answers(do: Do, topic: str, answers: list[int], told: str) -> None:
    with pytest.raises(InputError, match=told):
        do("manager", "person.sit", "manager", topic=topic, answers=answers)


def test_who_lapsed_can_still_learn_and_then_release(do: Do, clock: Clock) -> None:
    open_project(do)
    clock.pass_days(400)
    with pytest.raises(AccessError, match="lapsed"):
        enter_release(do)
    with pytest.raises(AccessError, match="lapsed"):
        do("data-manager", "request.deliver", "R-1", release="2026-q1", channel="mail")
    do("data-manager", "incident.report", "I-1", title="a key", lost=["mapping"], jurisdiction="india")
    do("data-manager", "person.sit", "data-manager", topic="techniques", answers=right("techniques"))
    enter_release(do)


def test_at_the_terminal(shoal: Call) -> None:
    assert shoal("register", "training", "topics", "--json").found["breaches"] == "Handling a data breach"
    page = shoal("register", "training", "read", "breaches").stdout
    assert "mapping" in page
    assert "PDPC" not in page, "why an answer is right is told afterwards"
    answers = ",".join(map(str, right("breaches")))
    passed = shoal("register", "training", "take", "breaches", "--answers", answers, "--by", "asha")
    assert (passed.code, "100 of 100, passed" in passed.stdout) == (0, True)
    wrong = ",".join(str(one % 3 + 1) for one in right("laws"))
    failed = shoal("register", "training", "take", "laws", "--answers", wrong, "--by", "asha")
    assert (failed.code, "not passed" in failed.stdout) == (1, True)
    bad = shoal("register", "training", "take", "laws", "--answers", "a,b", "--by", "asha")
    assert (bad.code, bad.stderr.count("\n")) == (2, 1)
