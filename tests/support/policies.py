"""Parts of policies that several tests write."""

from __future__ import annotations

from typing import Final

PATIENTS: Final = """\
tables:
  patients:
    source: patients.csv
    person: id
    attributes:
      id: {role: direct, technique: {pseudonymise: {domain: patients}}}
"""
"""The beginning of the tables of a hospital; further attributes of patients may follow."""
