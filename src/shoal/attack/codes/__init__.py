"""Attacks on codes: dictionaries, digests, frequencies."""
