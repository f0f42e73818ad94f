"""Whose record is whose, so that attacks can be judged."""
