"""Inputs of the library as the command line writes them."""

from __future__ import annotations

from typing import Any, Final

from shoal.errors import FieldName, FieldText

OTHERWISE: Final = {
    "absurd": "yes",
    "data": "input",
    "ks": "k",
    "limits": "limit",
    "quasi": "qi",
    "quasi_identifiers": "qi",
    "recodings": "recoding",
    "rules": "rule",
}
"""Inputs whose flag has another name than the Python keyword."""


def flag(field: FieldName) -> str:
    """
    >>> flag(FieldName("by_records")), flag(FieldName("quasi", "a,b")), flag(FieldName("evidence", of="run"))
    ('--by-records', '--qi a,b', '`shoal run --evidence`')
    """
    name = f"--{OTHERWISE.get(field.name, field.name).replace('_', '-')}"
    written = f"{name} {field.example}" if field.example else name
    return f"`shoal {field.of} {written}`" if field.of else written


def with_flags(value: Any) -> Any:
    """A result for a machine, of dicts and lists, whose texts name inputs as flags."""
    if isinstance(value, FieldText):
        return value.styled(flag)
    if isinstance(value, dict):
        return {key: with_flags(each) for key, each in value.items()}
    return [with_flags(each) for each in value] if isinstance(value, list | tuple) else value
