"""What a policy has to keep to for its release to be differentially private (ISO/IEC 20889, 10.3; decision 0026).

The guarantee is one of the whole way from the source to the release. Every choice on that way that looks at the data
would have to be in the proof, and only two are: who is drawn, and which groups are too small. So whatever else looks at
the data is refused, and so is what is not known not to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from shoal.hierarchy.kinds.flat import FlatHierarchy
from shoal.io import SourceOptions
from shoal.policy.default_attribute import EVERYTHING_ELSE
from shoal.policy.yaml_tree import TreePath
from shoal.privacy import PrivacyModel
from shoal.privacy.models.differential_privacy import DifferentialPrivacy
from shoal.privacy.sampling_guarantee import SamplingGuarantee
from shoal.schema import Role
from shoal.schema.values import DATES
from shoal.techniques import TableTechnique
from shoal.techniques.randomisation.shuffle_rows import ShuffleRows
from shoal.techniques.statistical.sample import IndependentSampling

if TYPE_CHECKING:
    from shoal.policy.model import Attribute, Policy

KEY = DifferentialPrivacy.key

ONE_TABLE = "differential_privacy is for a table by itself: what several say of one person would add up"


def guarantee_of(models: Sequence[PrivacyModel]) -> SamplingGuarantee | None:
    return next((model.guarantee for model in models if isinstance(model, DifferentialPrivacy)), None)


def with_sampling(own: Mapping[str, TableTechnique], guarantee: SamplingGuarantee) -> dict[str, TableTechnique]:
    """Records are drawn before all else, and come out in an order that says nothing of the source's."""
    brought = {
        IndependentSampling.key: IndependentSampling(fraction=guarantee.sampling),
        ShuffleRows.key: ShuffleRows(),
    }
    return {**own, **brought}


def problems_of_guarantee(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    if policy.guarantee is None:
        return
    yield from _whole_policy(policy)
    yield from _solving(policy)
    for name, attribute in policy.attributes.items():
        if name != EVERYTHING_ELSE and attribute.is_released:
            yield from _released(policy, name, attribute)


def _whole_policy(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    if len(policy.privacy) > 1:
        yield ("privacy",), f"{KEY} goes alone: what another model suppresses would depend on the data"
    if policy.person is not None:
        yield ("person",), f"{KEY} draws records, so each person has one: bring them down to one each, leave this out"
    if not isinstance(policy.source, SourceOptions | None):
        yield ("source",), f"{KEY} needs a table in which each person has one record, not one that is merged on the way"
    if policy.output.parts:
        yield ("output", "parts"), f"the number and size of parts would tell of the source: {KEY} writes one file"
    if policy.rules:
        yield ("rules",), f"edit rules look at the records, which {KEY} does not account for"
    for key in policy.table.model_fields_set - {ShuffleRows.key}:
        if getattr(policy.table, key) is not None:
            yield (key,), f"{KEY} brings its own sampling and goes with no other technique on the table"


def _solving(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    solve = policy.solve
    if solve.recoding != "global":
        yield ("solve", "recoding"), f"{KEY} needs recoding: global; others choose by the data"
    if solve.decoys is not None:
        yield ("solve", "decoys"), f"{KEY} goes without: how many are invented would depend on the data"
    if not solve.drop_suppressed:
        yield (
            ("solve", "drop_suppressed"),
            f"{KEY} needs drop_suppressed: true, since the number of starred records would tell how many were drawn",
        )
    if solve.suppression_limit < 1:
        yield (
            ("solve", "suppression_limit"),
            f"{KEY} needs suppression_limit: 1, since whether a limit is kept to would depend on the data",
        )


def _released(policy: Policy, name: str, attribute: Attribute) -> Iterator[tuple[TreePath, str]]:
    path: TreePath = ("attributes", name)
    if attribute.role is not Role.QUASI:
        yield (
            path,
            f"{KEY} protects all that is released or nothing: make it a quasi-identifier with a fixed level, or "
            "suppress it",
        )
        return
    low, high = policy.solve.levels.get(name, (0, -1))
    if low != high:
        yield (
            ("solve", "levels"),
            f"every quasi-identifier needs a fixed level: say which '{name}' has, as `{name}: 1`; a level that is "
            f"chosen by the data breaks {KEY}",
        )
    hierarchy = attribute.hierarchy or FlatHierarchy()
    if not hierarchy.data_independent:
        yield (*path, "hierarchy"), f"the labels of {hierarchy.key} depend on the data, which breaks {KEY}"
    if attribute.technique:
        yield (*path, "technique"), f"{KEY} goes with fixed levels of hierarchies only; leave it out"
    if attribute.type is None and attribute.format is None:
        yield path, f"declare its type, as `type: text`: {KEY} can't have it found from the data"
    elif attribute.type in DATES and attribute.format is None:
        yield path, f'declare its format, as `format: "%Y-%m-%d"`: {KEY} can\'t have it found from the data'
