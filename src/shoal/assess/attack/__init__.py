"""Attacking a release that lies somewhere."""
