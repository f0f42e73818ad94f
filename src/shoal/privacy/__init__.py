"""Formal privacy models: one file each, each registers itself under its policy key."""

from shoal.privacy.base import Figure, MinimumClass, ModelFinding, PrivacyModel, SensitiveModel, kept_by, privacy_models
from shoal.privacy.classes import Classes, Histograms

__all__ = [
    "Classes",
    "Figure",
    "Histograms",
    "MinimumClass",
    "ModelFinding",
    "PrivacyModel",
    "SensitiveModel",
    "kept_by",
    "privacy_models",
]
