"""What a policy must keep to beyond its shape: problems that stop it, and warnings that a person should read.

Each attribute, what goes together with pseudonyms (whom a record is about must not be mixed up), with privacy models
and with anatomisation. What roles, mappings and a vault ask for is checked in files of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shoal.errors import InputError
from shoal.policy.data_state import problems_of_mappings
from shoal.policy.default_attribute import EVERYTHING_ELSE
from shoal.policy.differential_privacy import problems_of_guarantee
from shoal.policy.edit_rules import problems_of_rules
from shoal.policy.presets import UseCase
from shoal.policy.role_propagation import problems_of_roles, warnings_of_roles
from shoal.policy.vault_needs import warnings_without_vault
from shoal.policy.yaml_tree import TreePath
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.pseudonyms import Uniqueness
from shoal.pseudonyms.issuance import issued_uniqueness
from shoal.schema import Role
from shoal.schema.circumstances import Controls
from shoal.schema.registry import did_you_mean
from shoal.techniques.anatomisation.anatomise import Anatomise
from shoal.techniques.generalisation.generalise import Generalise
from shoal.techniques.pseudonymisation.pseudonymise import Pseudonymise

if TYPE_CHECKING:
    from shoal.policy.model import Attribute, Policy


def problems_in(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    yield from _unnamed_columns(policy)
    yield from _levels(policy)
    for name, attribute in policy.attributes.items():
        yield from _attribute(name, attribute)
    yield from problems_of_roles(policy)
    yield from problems_of_pseudonyms(policy)
    yield from _models(policy)
    yield from _decoys(policy)
    yield from _wildcards(policy)
    yield from problems_of_anatomy(policy)
    yield from problems_of_mappings(policy)
    yield from problems_of_rules(policy)
    yield from problems_of_guarantee(policy)
    yield from _public(policy)
    for name in policy.assess.unweighed:
        yield ("assess", name), "comes to nothing without the potential harm: say `harm` too"
    if policy.privacy and not policy.quasi_identifiers:
        yield ("privacy",), "there is no quasi-identifier that a privacy model could protect"
    if policy.solve.recoding != "global" and policy.solve.utility != "loss":
        yield (
            ("solve", "utility"),
            f"recoding: {policy.solve.recoding} minimises the loss; others need recoding: global",
        )
    if policy.solve.recoding != "global" and policy.solve.time_limit is not None:
        yield ("solve", "time_limit"), "goes with recoding: global only"
    whole = [model for model in policy.models if isinstance(model, KAnonymity) and model.plain]
    if policy.solve.recoding == "clustered" and not whole:
        yield ("solve", "recoding"), "clustered needs k_anonymity among the privacy models"
    if policy.privacy and not policy.kind.has_classes:
        yield ("privacy",), "privacy models are for records; an aggregated table has `minimum` instead"


def _public(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    """Nobody who has public data can be held to anything, and annex D of the PDPC guide is not for it."""
    if policy.use_case is UseCase.PUBLIC and policy.assess.controls not in (None, Controls.NONE):
        yield ("assess", "controls"), "there are none around public data: leave it out"


def _attribute(name: str, attribute: Attribute) -> Iterator[tuple[TreePath, str]]:
    path: TreePath = ("attributes", name)
    if name == EVERYTHING_ELSE and (attribute.role is not Role.DIRECT or not attribute.is_suppressed):
        yield path, "columns that nobody named can only be suppressed"
    uses_hierarchy = any(isinstance(step, Generalise) and step.hierarchy is None for step in attribute.steps)
    if attribute.hierarchy is not None and attribute.role not in (Role.QUASI, Role.SENSITIVE) and not uses_hierarchy:
        yield (*path, "hierarchy"), "is used only for a quasi-identifier or by the technique `generalise`"
    if attribute.hierarchy is not None and attribute.role is Role.QUASI and uses_hierarchy:
        yield (*path, "technique"), "generalise by a fixed level, or have the level solved, not both"
    steps = attribute.steps
    removing = [step.key for step in steps[:-1] if step.removes]
    if attribute.is_suppressed and len(steps) > 1:
        yield (*path, "technique"), "suppress leaves nothing that another technique could work on"
    elif removing:
        yield (*path, "technique"), f"{removing[0]} takes the column out of the table, so it comes last"
    if attribute.role is Role.QUASI and not attribute.is_released and not attribute.is_suppressed:
        yield (*path, "role"), "a column that leaves the table is no quasi-identifier of it; call it sensitive"


def _models(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    """The attributes that models name: sensitive ones have to be released, others have to be quasi-identifiers."""
    yield from _population(policy)
    yield from _absent(policy)
    for place, model in enumerate(policy.privacy):
        path: TreePath = ("privacy", place, model.key)
        for name in model.sensitive:
            attribute = policy.attributes.get(name)
            if attribute is None:
                yield path, f"there is no attribute '{name}'{did_you_mean(name, tuple(policy.attributes))}"
            elif attribute.role is not Role.SENSITIVE or not attribute.is_released:
                yield path, f"'{name}' has to be a sensitive attribute that is released"
            elif getattr(model, "distance", None) == "hierarchical" and attribute.hierarchy is None:
                yield path, f"a hierarchical distance needs a hierarchy of '{name}'"
        for name in getattr(model, "attributes", ()):
            if name not in policy.quasi_identifiers:
                yield path, f"'{name}' is not a quasi-identifier{did_you_mean(name, policy.quasi_identifiers)}"


def _decoys(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    """Invented records have to look like real ones, and to make up for classes that are too small."""
    path: TreePath = ("solve", "decoys")
    if policy.solve.decoys is None:
        return
    if policy.solve.recoding != "global":
        yield path, f"go with recoding: global, not with {policy.solve.recoding}"
    others = [model.key for model in policy.models if not isinstance(model, KAnonymity) or not model.plain]
    if others or not policy.models:
        yield path, f"fill classes up to the k of k_anonymity only{'; not for ' + ', '.join(others) if others else ''}"
    if not policy.solve.suppression_limit:
        yield path, "replace suppressed records; with suppression_limit: 0 there are none"
    named = [
        name
        for name, attribute in policy.attributes.items()
        if (attribute.role is Role.DIRECT or name == policy.person) and attribute.is_released
    ]
    if named:
        yield path, f"can't be told from real people only if nobody is named: suppress {', '.join(named)}"


def _wildcards(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    """Records that match by stars are not classes, and classes are what all models but plain k-anonymity look at."""
    path: TreePath = ("solve", "starred")
    if policy.solve.starred != "wildcard":
        return
    if policy.solve.recoding != "cells":
        yield path, f"wildcard goes with recoding: cells, not with {policy.solve.recoding}"
    others = [model.key for model in policy.models if not isinstance(model, KAnonymity) or not model.plain]
    if others or not policy.models:
        refused = f"; not for {', '.join(others)}" if others else ""
        yield path, f"wildcard is for k_anonymity by all quasi-identifiers only{refused}"
    if policy.person:
        yield path, "wildcard counts records, so it doesn't go with `person`"


def _absent(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    """Cell by cell, it is not followed what becomes of people whom only the population has."""
    for place, model in enumerate(policy.privacy):
        only = model.global_recoding_only
        if only is not None and policy.solve.recoding != "global":
            path: TreePath = ("privacy", place, model.key)
            yield path, f"{only.condition} it goes with recoding: global only, or {only.remedy}"


def _population(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    """A population is compared with the table as it is, so its quasi-identifiers must not have been altered before."""
    compared = [place for place, model in enumerate(policy.privacy) if model.population_table is not None]
    tables = {policy.privacy[place].population_table for place in compared}
    for place in compared:
        path: TreePath = ("privacy", place, policy.privacy[place].key)
        if len(tables) > 1:
            yield path, "all models have to compare with the same population"
        altered = [name for name in policy.quasi_identifiers if policy.attributes[name].steps]
        if altered:
            yield path, f"can't be compared with a population: {', '.join(altered)} would be altered before"


def _unnamed_columns(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    known = tuple(policy.attributes)
    if EVERYTHING_ELSE in known:
        return
    named: list[tuple[TreePath, str]] = [(("person",), policy.person)] if policy.person else []
    for name, attribute in policy.attributes.items():
        named += [(("attributes", name, "technique"), also) for step in attribute.steps for also in step.also_reads()]
    for key, technique in policy.table_steps.items():
        named += [((key,), column) for column in technique.columns(None)]
    for path, column in named:
        if column not in known:
            yield path, f"names the column '{column}', which is not among the attributes{did_you_mean(column, known)}"


def _levels(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    for name, (low, high) in policy.solve.levels.items():
        path: TreePath = ("solve", "levels", name)
        if name not in policy.quasi_identifiers:
            yield path, f"is not a quasi-identifier{did_you_mean(name, policy.quasi_identifiers)}"
        if not 0 <= low <= high:
            yield path, f"the bounds [{low}, {high}] are crossed or negative"


def warnings_in(policy: Policy, *, vaulted: bool | None = None) -> list[str]:
    """What a person should know before running it; none of these stops a run.

    ``vaulted`` says whether the run has a vault; before the run that is whether the policy names one.
    """
    found = list(identifier_warnings(policy))
    preset = policy.preset
    found += warnings_of_roles(policy)
    found += warnings_of_pseudonyms(policy)
    found += warnings_without_vault(policy, vaulted=policy.vault is not None if vaulted is None else vaulted)
    if policy.quasi_identifiers and not policy.models and policy.kind.has_classes:
        found.append("there are quasi-identifiers but no privacy model, so nothing is generalised to protect them")
    if policy.solve.starred == "wildcard":
        found.append(
            "k counts a star as matching any value (solve.starred: wildcard), and so does every figure of risk but "
            "those that end in _by_value; that is weaker than k by classes"
        )
    if preset and preset.k is not None:
        wanted = [model.k for model in policy.models if isinstance(model, KAnonymity)]
        if not policy.quasi_identifiers:
            found.append(f"{policy.use_case} aims at k = {preset.k}, but no attribute is a quasi-identifier")
        elif wanted and min(wanted) < preset.k:
            found.append(f"k = {min(wanted)} is below the {preset.k} that {policy.use_case} aims at")
    if preset and preset.alter_everything:
        untouched = [name for name, attribute in policy.attributes.items() if _passes_through(attribute)]
        if untouched:
            found.append(f"test data should have every attribute altered; untouched: {', '.join(untouched)}")
    return found


def released_identifiers(policy: Policy) -> tuple[str, ...]:
    """Direct identifiers that are in the release, as something else."""
    return tuple(
        name for name, attribute in policy.attributes.items() if attribute.role is Role.DIRECT and attribute.is_released
    )


def identifier_warnings(policy: Policy) -> Iterator[str]:
    """One for each direct identifier that is released; a key of records need not be a person's name."""
    for name in released_identifiers(policy):
        steps = policy.attributes[name].steps
        is_key = any(isinstance(step, Pseudonymise) and step.is_key for step in steps) and name != policy.person
        what = "is a key" if is_key else "names a person"
        yield f"'{name}' {what} and is released in another form: what is left of it is not in k"


def _passes_through(attribute: Attribute) -> bool:
    return not attribute.steps and attribute.hierarchy is None


def anatomised(policy: Policy) -> Anatomise | None:
    found = policy.table_steps.get(Anatomise.key)
    return found if isinstance(found, Anatomise) else None


def problems_of_anatomy(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    """The columns that are cut off are in another file, where nothing that goes by classes of records finds them."""
    technique = anatomised(policy)
    if technique is None:
        return
    path: TreePath = (Anatomise.key,)
    for name in technique.sensitive:
        attribute = policy.attributes.get(name)
        if attribute is not None and (attribute.role is not Role.SENSITIVE or not attribute.is_released):
            yield (*path, "sensitive"), f"'{name}' has to be a sensitive attribute that is released"
    if "shuffle_rows" not in policy.table_steps:
        yield path, "needs `shuffle_rows: true`: the order of the records could tell the values that are cut off"
    if not policy.kind.has_records:
        yield path, "is for records; an aggregated table has none"
    if policy.solve.decoys is not None:
        yield path, "counts on every record being real; leave solve.decoys out"
    for place, model in enumerate(policy.privacy):
        if cut := [name for name in model.sensitive if name in technique.sensitive]:
            where: TreePath = ("privacy", place, model.key)
            yield where, f"can't look at {', '.join(cut)}, which anatomise cuts off; its l is what protects them"


def problems_of_pseudonyms(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    linking: set[str] = set()
    for name, step in _pseudonymised(policy):
        path: TreePath = ("attributes", name, "technique", step.key)
        try:
            domain = step.domain_of(name)
        except InputError as error:
            yield path, str(error)
            continue
        if _mixes_people_up(policy, name, step):
            use = "a key" if step.is_key else "the person"
            yield path, f"'{name}' is {use}, and people may share a pseudonym; use method: random or a wide format"
        if step.double_coding and domain in linking:
            yield path, f"the domain '{domain}' is coded twice already; name another `domain`"
        if step.double_coding:
            linking.add(domain)


def warnings_of_pseudonyms(policy: Policy) -> Iterator[str]:
    for name, step in _pseudonymised(policy):
        if step.uniqueness is Uniqueness.MAY_COLLIDE:
            yield f"'{name}': two people may get the same pseudonym ({step.format.key})"
        if step.format.caution:
            yield f"'{name}': {step.format.caution}"


def _mixes_people_up(policy: Policy, name: str, step: Pseudonymise) -> bool:
    """With ``key: true`` a derived pseudonym is judged by the data, before the run, if its format has one for each."""
    if step.uniqueness is Uniqueness.UNIQUE or not (step.is_key or name == policy.person):
        return False
    return not step.is_key or issued_uniqueness(step.format) is Uniqueness.MAY_COLLIDE


def _pseudonymised(policy: Policy) -> Iterator[tuple[str, Pseudonymise]]:
    for name, attribute in policy.attributes.items():
        yield from ((name, step) for step in attribute.steps if isinstance(step, Pseudonymise))
