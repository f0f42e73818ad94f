"""What the figures do not say, in plain words.

A recipient is told only limits that follow from what the recipient's page shows; how the release was attacked or
assessed can't be read off them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from shoal.report.facts import ReportFacts
from shoal.report.wording import measured, sentence


@dataclass(frozen=True)
class Limit:
    """The limit, and what follows from it; one that the caller gave has no heading."""

    what: str
    meaning: str


def limits(facts: ReportFacts, *, recipient: bool) -> tuple[Limit, ...]:
    if recipient:
        return (*_classes(facts), *_recipients(facts), *_always(facts))
    own = (Limit("", sentence(one)) for one in facts.limits)
    return (*_classes(facts), *_journalist(facts), *_attempts(facts), *_attacks(facts), *_always(facts), *own)


def _recipients(facts: ReportFacts) -> Iterable[Limit]:
    if measured(facts):
        yield Limit(
            "The risk shown is that of an attempt by a prosecutor.",
            "It assumes an attacker who tries, and who knows that the person is in the file: the upper bound.",
        )


def _classes(facts: ReportFacts) -> Iterator[Limit]:
    if not measured(facts):
        yield Limit(
            "The risk of re-identification is not measured.",
            "The released table has no classes of records to count. Whether small groups or rare values are left needs "
            "a judgement of its own.",
        )
        return
    yield Limit(
        "Only the declared quasi-identifiers count.",
        "Someone who knows other released attributes of a person may tell records apart that look alike here.",
    )
    yield Limit(
        "k says who can be picked out, not what can be learnt.",
        "If all members of a class share a sensitive value, that value is disclosed although nobody is singled out.",
    )
    yield Limit(
        "Suppressed records belong to no class.",
        "Their quasi-identifying values are hidden, or the records are left out; their other attributes may remain.",
    )
    if not facts.person:
        yield Limit(
            "A record is taken for a person.",
            "Where one person has several records, fewer people than k may stand behind a class.",
        )
    yield Limit(
        "Measured from the written file.",
        "The figures of the released file were counted again from what was written, by code that does not know the "
        "solver or what it chose. What a class is, and what each model asks, is defined once for both.",
    )


def _always(facts: ReportFacts) -> Iterator[Limit]:
    if facts.manifest.differential_privacy is None:
        yield Limit(
            "Noise is not differential privacy.",
            "Where values were randomised, they are uncertain; no bound is given on what can be learnt from all of "
            "them together.",
        )
    else:
        yield Limit(
            "Differential privacy is of one record.",
            "What is true of people in general can be learnt whoever is in the file. ε and δ add up over releases of "
            "the same people, and nobody keeps count of them here. The file is a sample: release.json says ε, δ and "
            "the chance of each record to be drawn, by which counts are divided.",
        )
    yield Limit(
        "One release at a time, as of today.",
        "Other files about the same people, released earlier, elsewhere or in years to come, can be combined with this "
        "one and are not considered. Look again when new data appears.",
    )


def _journalist(facts: ReportFacts) -> Iterable[Limit]:
    if not measured(facts):
        return
    if facts.manifest.attackers is None:
        yield Limit(
            "Journalist risk is not estimated.",
            "It needs a table of the population. The prosecutor risk shown assumes an attacker who knows that the "
            "person is in the file, so it is the upper bound.",
        )
    else:
        yield Limit(
            "Journalist and marketer risk rest on the population.",
            "They are as good as what is known of it; the table of attackers names their basis. The prosecutor risk "
            "needs no such knowledge and is the upper bound.",
        )


def _attempts(facts: ReportFacts) -> Iterable[Limit]:
    if facts.assessment is not None:
        yield Limit(
            "How likely an attempt is was judged, not measured.",
            "Motives, controls and the chance of a breach enter the assessed risk as the owner declared them.",
        )
    elif measured(facts):
        yield Limit(
            "The risk is that of an attempt.",
            "How likely an attempt is depends on motives, contracts and controls around the file; none of it is in "
            "these figures.",
        )


def _attacks(facts: ReportFacts) -> Iterable[Limit]:
    if not facts.attacks:
        yield Limit(
            "The file was not attacked.", "The figures follow from counting; nobody has tried to do what they rule out."
        )
        return
    yield Limit(
        "An attack that fails proves little.",
        "Only the attacks listed were tried, with the background knowledge named. Someone who knows more about a "
        "person, or finds a better way, may succeed.",
    )
    if any(one.control is None for one in facts.attacks):
        yield Limit(
            "Not every attack has a control group.",
            "Without people who are not in the file, what an attack learns from the file can't be told from what is "
            "true of people in general; it is compared with guessing alone.",
        )
