"""The report's own words: the verdict, and names for roles, techniques and measures of usefulness."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shoal.policy import UseCase
from shoal.report.facts import AttributeFacts, ModelFacts, ReportFacts
from shoal.results.manifest import Manifest, StateResult
from shoal.results.number_format import count, one_in
from shoal.schema import Role

ROLES: dict[str, str] = {
    Role.DIRECT: "Direct identifier",
    Role.QUASI: "Quasi-identifier",
    Role.SENSITIVE: "Sensitive",
    Role.INSENSITIVE: "Insensitive",
}

MEASURES = {
    "loss": ("Generalisation loss", "Detail lost over all quasi-identifying cells: 0 is none, 1 is all."),
    "geometric_loss": ("Geometric loss", "Detail lost per attribute, joined by a geometric mean: 0 is none."),
    "precision": (
        "Precision",
        "How low in their hierarchies cells stay: 1 is untouched, 0 is the top.",
    ),
    "detail_kept": (
        "Detail kept",
        "1 − generalisation loss, of the quasi-identifiers that have more than one value: 1 is all of it.",
    ),
    "discernibility": (
        "Discernibility",
        "Sum of the squared class sizes, a suppressed record counted as one of all: smaller keeps more apart.",
    ),
    "average_class_size": ("Average class size", "Released records per equivalence class: smaller keeps more detail."),
    "entropy": ("Entropy", "Information lost over all cells, in bits: 0 is none."),
    "entropy_lost": ("Entropy lost", "Information lost, as a share of what the cells hold: 0 is none, 1 is all."),
    "records_kept": ("Records kept", "Share of the source's records that are released with quasi-identifying values."),
}

# ISO/IEC 20889, clause 9: enough to know what the values can be used for, without a single parameter.
_FAMILIES = {
    "9.1": "Sampled or aggregated",
    "9.2": "Encrypted",
    "9.3": "Suppressed in part",
    "9.4": "Replaced by a pseudonym",
    "9.5": "Kept in a table of its own",
    "9.6": "Generalised",
    "9.7": "Randomised: a single value may not be true of the person",
    "9.8": "Synthetic",
}
_CLAUSE = re.compile(r"\b9\.\d")


@dataclass(frozen=True)
class ReportVerdict:
    kind: str
    """``met``, ``unmet`` or ``none``: picks the colour and the sign."""
    headline: str
    sentences: tuple[str, ...]


def measured(facts: ReportFacts) -> bool:
    """Whether the released table has equivalence classes that mean something.

    Without a quasi-identifier the whole table is one class: true, and worth nothing as evidence.
    """
    return facts.after.k > 0 and any(one.role == Role.QUASI for one in facts.attributes)


def give_verdict(facts: ReportFacts, *, recipient: bool) -> ReportVerdict:
    """Good only if the models are met, the assessed risk is within its limit, no attack finds anything, or might, and
    the data are no longer personal.

    A recipient is told that something speaks against the file, but not which attacks succeed.
    """
    kind, headline = _headline(facts.models)
    concerns = _concerns(facts, recipient=recipient)
    found = _read_back(facts, recipient=recipient)
    first = [*found, *_risk_sentences(facts)] if gives_back(facts) else [*_risk_sentences(facts), *found]
    sentences = [
        *first,
        *_assessed(facts),
        *([] if recipient else _attacked(facts)),
        *_state(facts.manifest, recipient=recipient),
    ]
    if kind == "unmet":
        sentences.insert(0, "Do not release this file as it is.")
    elif concerns:
        kind, headline = "unmet", f"{headline}, but {' and '.join(concerns)}"
    elif accepts(facts) and facts.manifest.read_back is not None:
        kind, headline = "none", f"{headline}, but what its owner accepts leaves k = {facts.manifest.read_back.k:,}"
    elif facts.unjudged:
        left = "not all evidence could be judged" if recipient else f"{count(len(facts.unjudged), 'attack')} not judged"
        kind, headline = "none", f"{headline}, but {left}"
    elif kind == "met" and facts.manifest.not_assessed:
        kind, headline = "none", f"{headline}, but the risk was not held against the harm that is declared"
    elif facts.nothing_left:
        kind, headline = "none", f"{headline}, but only because nothing is left that tells records apart"
    elif facts.manifest.state is not None and facts.manifest.state.still_personal:
        kind, headline = "none", f"{headline}, but the data are still personal"
    return ReportVerdict(kind, headline, tuple(sentences))


def _state(manifest: Manifest, *, recipient: bool) -> tuple[str, ...]:
    if manifest.state is None:
        return ()
    told = (
        (manifest.state.brief,) if recipient else (manifest.state.words, _guidance(manifest.state, manifest.use_case))
    )
    return tuple(filter(None, told))


def _guidance(state: StateResult, use_case: str | None) -> str:
    """What the PDPC guide has the use case do beyond the file."""
    if state.controls_needed is None:
        return ""
    if use_case == UseCase.PUBLIC:
        return "Anybody may have the file, so no controls around it can be relied on."
    first, last = min(state.steps), max(state.steps)
    whole = len(state.steps) > 2 and last - first + 1 == len(state.steps)
    steps = f"{first} to {last}" if whole else ", ".join(map(str, state.steps))
    controls = "asks for further controls around the data" if state.controls_needed else "relies on no further controls"
    shredded = f"; what leads back to people is destroyed by {state.shred_on:%-d %B %Y}" if state.shred_on else ""
    return f"The use case takes steps {steps} of the PDPC guide and {controls}{shredded}."


def _headline(models: tuple[ModelFacts, ...]) -> tuple[str, str]:
    if not models:
        return "none", "No privacy model was asked for"
    total = len(models)
    missed = sum(not model.found.met for model in models)
    if missed:
        return "unmet", f"{missed} of {count(total, 'privacy model')} {'is' if missed == 1 else 'are'} not met"
    return "met", "The privacy model is met" if total == 1 else f"All {total} privacy models are met"


def _concerns(facts: ReportFacts, *, recipient: bool) -> list[str]:
    """What speaks against a release although its models are met."""
    concerns = []
    if gives_back(facts) and facts.manifest.read_back is not None:
        concerns.append(f"other released columns leave k = {facts.manifest.read_back.k:,}")
    if facts.assessment is not None and not facts.assessment.within:
        concerns.append("the assessed risk is above its limit")
    found = sum(one.found for one in facts.attacks)
    if found and recipient:
        concerns.append("other evidence speaks against handing the file on")
    elif found:
        total = count(len(facts.attacks), "attack")
        if any(one.control is not None for one in facts.attacks):
            concerns.append(f"{found} of {total} {'succeeds' if found == 1 else 'succeed'}")
        else:
            finds = "finds" if found == 1 else "find"
            concerns.append(f"{found} of {total} {finds} more than guessing (no control group was given)")
    return concerns


def gives_back(facts: ReportFacts) -> bool:
    """Whether other released columns split the classes, so that k is not what it seems."""
    return measured(facts) and facts.manifest.read_back is not None and facts.k_open < facts.after.k


def accepts(facts: ReportFacts) -> bool:
    """Whether only what the policy accepts splits the classes."""
    found = facts.manifest.read_back
    return found is not None and measured(facts) and found.k < facts.after.k and not gives_back(facts)


def _read_back(facts: ReportFacts, *, recipient: bool) -> list[str]:
    found = facts.manifest.read_back
    if found is None or not measured(facts):
        return []
    if accepts(facts):
        why = "" if recipient else ", for the reasons under Warnings"
        return [f"Its owner accepts what some columns tell of others{why}. With that counted in, k is {found.k:,}."]
    if not gives_back(facts):
        return ["Other released columns split none of these groups."]
    least = "at least " if found.lower_bound else ""
    told = "" if recipient else f": {'; '.join(one.words for one in found.tellings[:3])}"
    left = f"With that counted in, k is {least}{found.k:,}."
    return [f"Other released columns give back what was generalised{told}.", left]


def level(number: int, height: int | None) -> str:
    """
    >>> level(2, 4), level(4, 4), level(0, None)
    ('2 of 4', '4 of 4: *', '0')
    """
    if height is None:
        return str(number)
    return f"{number} of {height}{': *' if number == height else ''}"


def _assessed(facts: ReportFacts) -> list[str]:
    one = facts.assessment
    if one is None:
        reason = facts.manifest.not_assessed
        return [f"There is no verdict by potential harm: {reason}."] if reason else []
    place = "within" if one.within else "above" if one.probability > one.threshold else "not less than"
    return [f"With the chance of an attempt counted in, the risk is {place} the limit for {harm_in_words(one.harm)}."]


def _attacked(facts: ReportFacts) -> list[str]:
    """All attacks in one line, and those that nobody could judge in another."""
    total = len(facts.attacks)
    found = [one.title + (f" of {one.attribute}" if one.attribute else "") for one in facts.attacks if one.found]
    left = [f"Not judged, so that it is open what they find: {', '.join(facts.unjudged)}."] if facts.unjudged else []
    if not total:
        return left or ["The file was not attacked: nobody has tried to do what the figures rule out."]
    if not found:
        told = "1 attack was tried; it found" if total == 1 else f"{total} attacks were tried; none found"
        return [f"{told} {'no ' if total == 1 else ''}more than {yardsticks(facts)}.", *left]
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    lone = all(one.control is None for one in facts.attacks)
    return [
        f"{len(found)} of {count(total, 'attack')} found more than {yardsticks(facts)}: {'; '.join(found[:3])}{more}.",
        *(["No control group was given, so what is true of people in general counts as found."] if lone else []),
        *left,
    ]


def yardsticks(facts: ReportFacts) -> str:
    """What attacks are compared with; without a control group that is guessing alone."""
    controlled = any(one.control is not None for one in facts.attacks)
    by_k = (
        ", or than groups of their size tell whatever is in them" if any(one.allowed for one in facts.attacks) else ""
    )
    return ("guessing, or than is true of people who are not in the file" if controlled else "guessing") + by_k


def harm_in_words(harm: str) -> str:
    """
    >>> harm_in_words("medium")
    'medium potential harm'
    """
    return f"{harm.lower()} potential harm"


def sentence(text: str) -> str:
    """
    >>> sentence("an insider tries"), sentence("Done.")
    ('An insider tries.', 'Done.')
    """
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def whole(text: str) -> str:
    """A sentence that was made for many, put right for one.

    >>> whole("Everyone looks like at least 1 other people."), whole("at least 11 other people")
    ('Everyone looks like at least 1 other person.', 'at least 11 other people')
    """
    return re.sub(r"\b1 other people\b", "1 other person", text)


def _risk_sentences(facts: ReportFacts) -> tuple[str, ...]:
    after = facts.after
    if not measured(facts):
        if after.records and after.suppressed == after.records:
            return ("Every record was suppressed: no quasi-identifying value is left in the file.",)
        if not facts.manifest.kind.has_records:
            return ("The file has groups of people instead of records, so that no record can be picked out.",)
        return (
            "The released table has no quasi-identifiers by which its records could be told apart, "
            "so the chance of picking out a person is not measured here.",
        )
    if after.k == 1:
        alone = count(after.uniques, *unit(facts))
        return (f"{alone} can be singled out: no other has the same combination of quasi-identifying values.",)
    who = "Everyone" if facts.person else "Every record"
    others = count(after.k - 1, *_other(facts))
    return (
        f"{who} whose quasi-identifying values are in the released file shares them with at least {others}.",
        "Someone who knows these values of a person, and that the person is in the file, "
        f"picks the right record with a chance of at most {one_in(after.prosecutor_max)}.",
    )


def rows(facts: ReportFacts) -> str:
    """What a row of the file is."""
    return "record" if facts.manifest.kind.has_records else "group"


def unit(facts: ReportFacts) -> tuple[str, str]:
    """What k counts, one and many."""
    return ("person", "people") if facts.person else ("record", "records")


def _other(facts: ReportFacts) -> tuple[str, str]:
    one, many = unit(facts)
    return f"other {one}", f"other {many}"


def role(name: str) -> str:
    return ROLES.get(name, name)


def families(attribute: AttributeFacts) -> tuple[str, ...]:
    """What kinds of technique an attribute went through, read off the clauses alone."""
    found = [match.group() for clause in attribute.clause for match in _CLAUSE.finditer(clause)]
    words = tuple(dict.fromkeys(_FAMILIES[one] for one in found if one in _FAMILIES))
    return words or ("Changed" if attribute.done else "Not changed",)


def measure(name: str) -> tuple[str, str]:
    """Title and meaning of a measure of usefulness; one that is not known here goes by its own name."""
    return MEASURES.get(name, (name.replace("_", " ").capitalize(), ""))


def use_case(name: str | None) -> str:
    return name.replace("-", " ").capitalize() if name else ""
