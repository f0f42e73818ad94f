"""A harbour's plug-in: the table, the policy and the recognisers with which tests try what comes from outside."""

from __future__ import annotations

from pathlib import Path

MODULES = Path(__file__).resolve().parent.parent / "plugins" / "package" / "src" / "harbour"
"""What the distribution that a test builds and installs adds, one thing a file."""
TOWNS = ["Pune", "Patna", "Panaji", "Porbandar", "Goa", "Gaya", "Guntur", "Gwalior", "Delhi", "Delhi"]
LOCKER_RULES = """
locker:
  title: a locker's number
  role: direct
  because: it stands on the door
  pattern: 'LOCK-[0-9]{3}'
  strength: 0.95
  text: {score: 0.9}
"""


def policy(source: str) -> str:
    return f"""
shoal: 1
name: outside
source: {source}
attributes:
  locker: suppress
  town: {{role: quasi, hierarchy: first_letter}}
  ward: {{role: insensitive, technique: shout}}
first_records: {{number: 8}}
privacy: [{{even_classes: {{least: 4}}}}]
"""
