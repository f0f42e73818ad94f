"""Policies: what the user wants, read from YAML, checked as a whole."""

from typing import TYPE_CHECKING

from shoal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from shoal.policy.checks import warnings_in
    from shoal.policy.default_attribute import EVERYTHING_ELSE
    from shoal.policy.model import Attribute, Policy, Solve
    from shoal.policy.presets import PRESETS, UseCase

__all__ = ["EVERYTHING_ELSE", "PRESETS", "Attribute", "Policy", "Solve", "UseCase", "warnings_in"]

__getattr__ = lazy_exports(
    __name__,
    {
        "EVERYTHING_ELSE": "shoal.policy.default_attribute",
        "PRESETS": "shoal.policy.presets",
        "Attribute": "shoal.policy.model",
        "Policy": "shoal.policy.model",
        "Solve": "shoal.policy.model",
        "UseCase": "shoal.policy.presets",
        "warnings_in": "shoal.policy.checks",
    },
)
