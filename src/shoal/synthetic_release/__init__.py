"""Synthetic releases: a table, or only its description, in; a release folder of records that nobody is behind out."""

from typing import TYPE_CHECKING

from shoal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from shoal.synthetic_release.output import SyntheticRelease
    from shoal.synthetic_release.run import synthesise
    from shoal.synthetic_release.several.output import SyntheticTablesRelease
    from shoal.synthetic_release.several.run import synthesise_tables

__all__ = ["SyntheticRelease", "SyntheticTablesRelease", "synthesise", "synthesise_tables"]

__getattr__ = lazy_exports(
    __name__,
    {
        "SyntheticRelease": "shoal.synthetic_release.output",
        "SyntheticTablesRelease": "shoal.synthetic_release.several.output",
        "synthesise": "shoal.synthetic_release.run",
        "synthesise_tables": "shoal.synthetic_release.several.run",
    },
)
