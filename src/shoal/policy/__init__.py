"""Policies: what the user wants, read from YAML, checked as a whole."""

from shoal.policy.checks import warnings_in
from shoal.policy.default_attribute import EVERYTHING_ELSE
from shoal.policy.model import Attribute, Policy, Solve
from shoal.policy.presets import PRESETS, UseCase

__all__ = ["EVERYTHING_ELSE", "PRESETS", "Attribute", "Policy", "Solve", "UseCase", "warnings_in"]
