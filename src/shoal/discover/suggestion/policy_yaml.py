"""Parts of a policy as YAML, with comments; whatever a column is called, it stays one scalar on one line."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping

import yaml

from shoal.discover.suggestion.technique_choice import TechniqueChoice

_PLAIN = re.compile(r"[A-Za-z_][\w./-]*|/[\w./-]+")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_WIDTH = 112


def setting(value: object) -> str:
    """A setting in YAML's flow style.

    >>> setting({"intervals": {"widths": [5, 10]}}), setting("no: 1"), setting(True)
    ('{intervals: {widths: [5, 10]}}', '"no: 1"', 'true')
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{setting(str(key))}: {setting(given)}" for key, given in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(setting(given) for given in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return _scalar(str(value))


def _scalar(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.isascii() and text.lower() not in _WORDS:
        return text
    return yaml.dump(text, default_style='"', allow_unicode=True, width=float("inf")).strip()


def comment(text: str) -> str:
    """One line, whatever the text holds."""
    line = " ".join(text.split())
    return f"# {''.join(each if each.isprintable() else '?' for each in line)}"


def comments(text: str, indent: str = "") -> list[str]:
    """As many lines as it takes."""
    return [f"{indent}{comment(line)}" for line in textwrap.wrap(text, _WIDTH)]


def attribute_lines(choices: Mapping[str, TechniqueChoice]) -> Iterable[str]:
    for name, choice in choices.items():
        yield from comments(choice.reason, "  ")
        yield f"  {setting(name)}: {setting(choice.entry)}"
