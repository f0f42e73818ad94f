"""Generalisation hierarchies: one file per kind, each registers itself under its policy key."""

from shoal.hierarchy.base import TOP, BoundHierarchy, Hierarchy, hierarchies, parse_hierarchy
from shoal.hierarchy.flat import Flat

__all__ = ["TOP", "BoundHierarchy", "Flat", "Hierarchy", "hierarchies", "parse_hierarchy"]
