"""Generalisation hierarchies: one file per kind, each registers itself under its policy key."""

from shoal.hierarchy.base import TOP, BoundHierarchy, Hierarchy, hierarchies

__all__ = ["TOP", "BoundHierarchy", "Hierarchy", "hierarchies"]
