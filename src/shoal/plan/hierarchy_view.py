"""A hierarchy to be looked at: of a file, of a policy's attribute, of a classification that comes with Shoal."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from shoal.errors import FieldName, FieldText, InputError
from shoal.hierarchy import FlatHierarchy, Hierarchy
from shoal.hierarchy.classifications.classification import classification, classification_names
from shoal.hierarchy.kinds.csv_file import CsvHierarchy
from shoal.hierarchy.tree import HierarchyTree, tree_of, tree_of_bound
from shoal.plan.dry_run import bind_to_source
from shoal.policy import Policy
from shoal.policy.sources import source_of
from shoal.schema.columns import Column
from shoal.schema.registry import did_you_mean


def view_hierarchy(place: str, column: str | None = None, data: str | None = None) -> HierarchyTree:
    """``place`` is a hierarchy's file, the name of a classification, or a policy, of which ``column`` is shown."""
    if column is not None:
        return _of_policy(Policy.load(place), column, data)
    if place in classification_names():
        return classification_tree(place)
    if Path(place).suffix.lower() in {".yaml", ".yml"}:
        raise InputError("a policy has many hierarchies", advice="name a column of it too")
    if not Path(place).is_file():
        known = classification_names()
        raise InputError(
            f"{place}: there is no such file{did_you_mean(place, known)}", advice=f"or one of {', '.join(known)}"
        )
    return _listed(CsvHierarchy(path=Path(place)), Column(Path(place).stem))


def classification_tree(name: str) -> HierarchyTree:
    """Its groups; codes that have no group with a name are not listed in it."""
    levels = [level for level in classification(name).facts.levels if level.spans]
    smallest = levels[0].spans
    order = sorted(smallest, key=lambda span: span[0])
    labels = {group: [level.label(low) or group for level in levels] for low, _, group in order}
    return tree_of(list(zip(*labels.values(), strict=True)))


def _of_policy(policy: Policy, column: str, data: str | None) -> HierarchyTree:
    names = tuple(policy.attributes)
    if column not in names:
        raise InputError(f"the policy has no attribute '{column}'{did_you_mean(column, names)}")
    hierarchy = policy.attributes[column].hierarchy or FlatHierarchy()
    hierarchy = hierarchy.resolve(policy.folder)
    if hierarchy.listed() is not None:
        return _listed(hierarchy, Column(column))
    if data is None and policy.source is None:
        raise InputError(
            f"what groups '{column}' has depends on the data",
            advice=FieldText("give it with ", FieldName("data", "DATA")),
        )
    question = bind_to_source(policy, source_of(policy, data)).question
    if column not in question.hierarchies:
        raise InputError(f"'{column}' is not generalised by a hierarchy")
    bound = question.hierarchies[column]
    return tree_of_bound(bound, question.counts.frame()[column].unique().sort(), leaves=False)


def _listed(hierarchy: Hierarchy, column: Column) -> HierarchyTree:
    values = pl.Series("value", hierarchy.listed() or (), dtype=pl.String)
    bound = hierarchy.bind(column, pl.DataFrame({"value": values, "records": [1] * len(values)}))
    return tree_of_bound(bound, values, leaves=True)
