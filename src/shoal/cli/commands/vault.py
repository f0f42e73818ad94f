"""``shoal vault``: who is behind a pseudonym, kept apart; its commands are in ``shoal.cli.vault``."""

from __future__ import annotations

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import KEEP
from shoal.cli.vault.group import app

COMMAND = CommandEntry(app, place=120, task=KEEP)
