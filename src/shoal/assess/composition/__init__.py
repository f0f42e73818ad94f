"""Releases of the same people joined: what a holder of all of them learns (R-08)."""
