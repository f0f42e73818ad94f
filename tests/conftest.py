"""Shared fixtures; requirement marks are collected for docs/standards.md."""
