"""The package is a distribution of its own: whoever imports it here would have its things in all other tests."""

from __future__ import annotations

collect_ignore = ["package"]
