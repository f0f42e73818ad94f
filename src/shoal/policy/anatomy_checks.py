"""What anatomisation asks of the rest of a policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shoal.policy.yaml_tree import TreePath
from shoal.schema import Role
from shoal.techniques.anatomisation.anatomise import Anatomise

if TYPE_CHECKING:
    from shoal.policy.model import Policy


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
