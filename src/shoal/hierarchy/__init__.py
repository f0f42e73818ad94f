"""Generalisation hierarchies: one file per kind, each registers itself under its policy key."""

from shoal.hierarchy.base import TOP, BoundHierarchy, Hierarchy, hierarchies, parse_hierarchy
from shoal.hierarchy.kinds.flat import FlatHierarchy

__all__ = ["TOP", "BoundHierarchy", "FlatHierarchy", "Hierarchy", "hierarchies", "parse_hierarchy"]
