"""Generalisation and suppression of sets of items."""
