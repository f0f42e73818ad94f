"""Attacks on a released table: what somebody with outside knowledge gets out of it, measured against guessing."""

from shoal.attack.result import Attack, Rate

__all__ = ["Attack", "Rate"]
