"""A policy, tried before anything is released: checked, planned, explored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from shoal.api.arguments import Data, is_place, source_from
from shoal.assess.exploration import KS, LIMITS, ExploreRequest, explore_policy
from shoal.errors import InputError
from shoal.plan.description import PlanDescription, describe_bound, describe_policy
from shoal.plan.dry_run import check_against_data
from shoal.policy import Policy, warnings_in
from shoal.policy.load import PolicyDraft
from shoal.policy.multi_table import MultiTablePolicy, any_of
from shoal.release.multi_table.run import check_tables
from shoal.results.exploration import Exploration
from shoal.schema.notebook_html import card, listing
from shoal.schema.progress import CancelToken, EventSink, Monitor

PolicyLike = Policy | PolicyDraft | Mapping[str, object] | str | Path
"""A policy that was read, what `suggest` gives, a mapping of its keys, the path of its file, or its text."""


@dataclass(frozen=True)
class PolicyCheck:
    """A policy without problems: those would have been raised as a ``PolicyError``."""

    policy: str
    """Its name."""
    warnings: tuple[str, ...]
    against_data: bool
    """Whether it was held against data too."""

    def __repr__(self) -> str:
        told = f"{len(self.warnings)} warning{'' if len(self.warnings) == 1 else 's'}"
        return f"<PolicyCheck {self.policy}: no problems, {told}{', data read' if self.against_data else ''}>"

    def _repr_html_(self) -> str:
        data = "fits its data" if self.against_data else "not held against data"
        return card(f"{self.policy}: no problems", {"data": data}, listing("Warnings", self.warnings))


def check(policy: PolicyLike | MultiTablePolicy, data: Data = None) -> PolicyCheck:
    """Check a policy: every problem at once, as a ``PolicyError``; with data, whether it fits them.

    Args:
        policy: a `Policy`, what `suggest` gives, the path of its file, its text, or a dict; of one table or of several.
        data: a table in memory, a path or a database's address; for a policy of several tables, the path of their
            folder. Without it, the policy's own source is read, where it names one.

    Returns:
        What to know before a run, though nothing is wrong.

    Examples:
        >>> check({"shoal": 1, "name": "staff", "attributes": {"age": {"role": "insensitive"}}})
        <PolicyCheck staff: no problems, 0 warnings>
    """
    chosen = any_of(policy)
    if isinstance(chosen, MultiTablePolicy):
        return _check_tables(chosen, data)
    against = data is not None or chosen.source is not None
    if against:
        check_against_data(chosen, None if data is None else source_from(data, "data"))
    return PolicyCheck(chosen.name, tuple(warnings_in(chosen)), against)


def _check_tables(several: MultiTablePolicy, data: Data) -> PolicyCheck:
    if data is not None and not is_place(data):
        raise InputError("has to be the path of a folder, since the policy is of several tables", field="data")
    named = several.documents is not None or all(policy.source is not None for policy in several.tables.values())
    against = data is not None or named
    if against:
        check_tables(several, None if data is None else Path(str(data)))
    said = [f"{name}: {told}" for name, policy in several.tables.items() for told in warnings_in(policy)]
    return PolicyCheck(several.name, tuple(said), against)


def plan(policy: PolicyLike, data: Data = None) -> PlanDescription:
    """What a run would do to each column, in order, before anything is written. No value of the data is in it.

    Args:
        policy: a `Policy`, what `suggest` gives, the path of its file, its text, or a dict.
        data: a table in memory, a path or a database's address. Without it, the policy's own source; where it names
            none, what the policy alone tells.

    Returns:
        The plan; `to_dict()` has it as JSON does, a notebook shows it as a table.

    Examples:
        >>> import polars as pl
        >>> policy = {"shoal": 1, "name": "staff", "attributes": {"pay": {"role": "insensitive"}}}
        >>> [column.reader_sees for column in plan(policy, pl.DataFrame({"pay": [3, 4]})).columns]
        ['the value as it is']
    """
    chosen = Policy.of(policy)
    if data is None and chosen.source is None:
        return describe_policy(chosen)
    return describe_bound(chosen, None if data is None else source_from(data, "data"))


def explore(  # noqa: PLR0913  # one argument per wish
    policy: PolicyLike,
    data: Data = None,
    *,
    ks: Iterable[int] = KS,
    limits: Iterable[float] = LIMITS,
    recodings: Iterable[str] | None = None,
    seed: int | None = None,
    progress: EventSink | None = None,
    cancel: CancelToken | None = None,
) -> Exploration:
    """Try a policy with several k and suppression limits: what each step towards more privacy costs.

    Nothing is released. The result can be looped over and has its tries by number, too.

    Args:
        policy: a `Policy`, what `suggest` gives, the path of its file, its text, or a dict.
        data: a table in memory, a path or a database's address; else the policy's own source.
        ks: values of k.
        limits: shares of the records that may be suppressed.
        recodings: kinds of recoding; if none are given, global and local, or global alone where the policy minimises
            something else than the loss.
        seed: makes it repeatable, for tests.
        progress: is called with the events of the work.
        cancel: stops it from another thread.
    """
    request = ExploreRequest(ks=ks, limits=limits, recodings=recodings, seed=seed)
    source = None if data is None else source_from(data, "data")
    return explore_policy(Policy.of(policy), source, request, Monitor(progress, cancel))
