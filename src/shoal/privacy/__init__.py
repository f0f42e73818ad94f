"""Formal privacy models: one file each, each registers itself under its policy key."""

from shoal.privacy.base import MinimumClass, ModelFinding, PrivacyModel, SensitiveModel, kept_by, privacy_models
from shoal.privacy.classes import Classes, Histograms
from shoal.privacy.figures import Figure, FigureUnit

__all__ = [
    "Classes",
    "Figure",
    "FigureUnit",
    "Histograms",
    "MinimumClass",
    "ModelFinding",
    "PrivacyModel",
    "SensitiveModel",
    "kept_by",
    "privacy_models",
]
