"""Parts of policies that several tests write."""

from __future__ import annotations

from collections.abc import Mapping
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
_HIERARCHIES: Final = {
    "age": "hierarchy: {intervals: {widths: [10, 20, 40]}}",
    "pin": 'hierarchy: {redact: {side: right, char: "x"}}',
}


def policy_text(source: str, rest: str, further: Mapping[str, str] | None = None, **roles: str) -> str:
    """A policy that says of the columns their roles, as in ``quasi="age pin"``, what else there is, and the rest.

    Ages are generalised by intervals and PIN codes digit by digit, unless something else is said of them.
    """
    said = _HIERARCHIES | dict(further or {})
    columns = [(name, role) for role, names in roles.items() for name in names.split()]
    lines = [f"  {name}: {{{', '.join(filter(None, (f'role: {role}', said.get(name))))}}}" for name, role in columns]
    return "\n".join(
        ["shoal: 1", f"name: {source.removesuffix('.csv')}", f"source: {source}", "attributes:", *lines, rest]
    )
