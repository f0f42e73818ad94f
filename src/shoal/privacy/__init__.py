"""Formal privacy models: one file each, each registers itself under its policy key."""

from shoal.privacy.base import Classes, Finding, PrivacyModel, privacy_models

__all__ = ["Classes", "Finding", "PrivacyModel", "privacy_models"]
