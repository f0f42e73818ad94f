"""The command line: parse, call, print. Everything heavy is imported when a command needs it."""

from shoal.cli.app import main

__all__ = ["main"]
