"""Databases that stay as they are."""
