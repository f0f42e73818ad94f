"""A table or a release, judged: how risky it is, and what an attacker gets out of it."""

from __future__ import annotations

from collections.abc import Iterable

from shoal.api.arguments import Data, flag_from, instance_from, is_place, names_from, source_from
from shoal.api.releasing import PolicyLike
from shoal.assess.attack.request import AttackRequest
from shoal.assess.attack.table_attack import attack_data
from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.table_measurement import measure_data
from shoal.assess.measure.thresholds import FigureThreshold
from shoal.attack.ground_truth.targets import TRIALS
from shoal.errors import InputError
from shoal.io import Source
from shoal.policy import Policy
from shoal.release import Release
from shoal.results.attack_report import AttackReport
from shoal.results.attack_roles import AttackRoles
from shoal.results.measured_table import MeasuredTable
from shoal.results.release_folder import ReleaseFolder
from shoal.schema import Role

Names = str | Iterable[str]
"""One column, or several."""


def measure(  # noqa: PLR0913  # one argument per wish
    data: Data,
    *,
    quasi: Names = (),
    sensitive: Names = (),
    person: str | None = None,
    policy: PolicyLike | None = None,
    original: Data = None,
    require: Names = (),
    by_records: bool = False,
) -> MeasuredTable:
    """Risk and usefulness of any table, counted from the table alone.

    Args:
        data: a table in memory, a path, a release folder, a database's address, or a `Release`.
        quasi: the quasi-identifiers; else `policy` says it, or the `Release` itself.
        sensitive: what is to be kept from an attacker.
        person: the column that names the person, where somebody has several records.
        policy: its models are measured too, and its hierarchies say what labels stand for.
        original: the table before; then what was lost is measured as well.
        require: thresholds, as `"k=5"`; `met` says whether they hold.
        by_records: count records, although somebody may have several.

    Examples:
        >>> import polars as pl
        >>> table = pl.DataFrame({"age": [30, 30, 40], "city": ["Pune", "Pune", "Goa"]})
        >>> measure(table, quasi=["age", "city"]).k
        1
    """
    request = _measure_request(data, quasi, sensitive, person, policy)
    thresholds = tuple(FigureThreshold.parse(text) for text in names_from(require, "require"))
    request = request.model_copy(update={"require": thresholds, "by_records": flag_from(by_records, "by_records")})
    before = None if original is None else source_from(original, "original")
    folder, table = _release(data, "data")
    return measure_data(table or folder, request, original=before)


def _measure_request(
    data: Data, quasi: Names, sensitive: Names, person: str | None, policy: PolicyLike | None
) -> MeasureRequest:
    known, wanted = names_from(quasi, "quasi"), names_from(sensitive, "sensitive")
    if policy is not None:
        if known:
            raise InputError("the policy says it already: give one of the two", field="quasi")
        return MeasureRequest.by_policy(Policy.of(policy), wanted, person)
    if not known and isinstance(data, Release):
        manifest = data.manifest
        known, wanted = manifest.with_role(Role.QUASI), wanted or manifest.with_role(Role.SENSITIVE)
        person = person or (None if manifest.person is None else manifest.person.attribute)
    if not known:
        raise InputError("say which columns are quasi-identifiers, or give a policy", field="quasi")
    return MeasureRequest(quasi=known, sensitive=wanted, person=person)


def attack(  # noqa: PLR0913  # one argument per wish
    release: Data,
    original: Data,
    *,
    quasi: Names = (),
    sensitive: Names = (),
    person: str | None = None,
    policy: PolicyLike | None = None,
    auxiliary: Data = None,
    control: Data = None,
    trials: int = TRIALS,
    seed: int | None = None,
) -> AttackReport:
    """Attack a release: single people out, link them, infer what is sensitive, break pseudonyms; against guessing.

    Args:
        release: a `Release`, a release folder, or any other table: in memory, a path, a database's address.
        original: the table that it was made from; it judges the attacks.
        quasi: what an attacker knows; else `policy` says it, or the release itself.
        sensitive: what an attacker wants to know.
        person: the column of the original that names the person.
        policy: says the roles, and by its hierarchies what labels stand for.
        auxiliary: another table about people, to link with.
        control: people who are not in the original, to compare with.
        trials: people that each attack is tried on, at most.
        seed: makes it repeatable, for tests.
    """
    known, wanted = names_from(quasi, "quasi"), names_from(sensitive, "sensitive")
    if person is not None:
        instance_from(person, str, "the name of a column", "person")
    folder, table = _release(release, "release")
    chosen = None if policy is None else Policy.of(policy)
    roles = AttackRoles.by(chosen, folder, quasi=known, sensitive=wanted, person=person)
    request = AttackRequest(
        original=source_from(original, "original"),
        roles=roles,
        auxiliary=None if auxiliary is None else source_from(auxiliary, "auxiliary"),
        control=None if control is None else source_from(control, "control"),
        trials=trials,
        seed=seed,
    )
    return attack_data(folder, request, table=table)


def _release(data: Data, argument: str) -> tuple[ReleaseFolder, Source | None]:
    """A release with what is known of how it was made; its table, where that lies in no file."""
    if is_place(data):
        return ReleaseFolder.around(str(data)), None
    if not isinstance(data, Release):
        return ReleaseFolder(argument), source_from(data, argument)
    if data.folder is not None:
        return ReleaseFolder.at(str(data.folder)), None
    return ReleaseFolder(argument, data.manifest), source_from(data, argument)
