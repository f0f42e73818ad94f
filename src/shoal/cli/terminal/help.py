"""How commands describe themselves: by task, in whole sentences, in words that are not Python's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter

CONTEXT: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_TYPE: Final = re.compile(r" ?<(?:list\[)?([^<>\]]*)\]?>")
_WORDS: Final = {"str": "TEXT", "int": "NUMBER", "float": "NUMBER"}
_PLACES: Final = ("path", "file", "directory", "Path")


def plain_name(name: str, *, argument: bool) -> str:
    """What stands before an option's description, without names of Python's types.

    >>> plain_name("--require <list[str]>", argument=False), plain_name("DATA <str>", argument=True)
    ('--require TEXT', 'DATA')
    >>> plain_name("--replace <label|mask>", argument=False)
    '--replace label|mask'
    """

    def written(found: re.Match[str]) -> str:
        word = found[1]
        return f" {'FILE' if word in _PLACES else _WORDS.get(word, word)}"

    return _TYPE.sub("" if argument else written, name)


def _usage(piece: str) -> str:
    """
    >>> _usage("{DATA}"), _usage("[[TEXT|DATA]]"), _usage("[[FILE…]]..."), _usage("{PATH|URL…}...")
    ('DATA', '[TEXT|DATA]', '[FILE…]', 'PATH|URL…')
    """
    bare = piece.removesuffix("...") if "…" in piece else piece
    return re.sub(r"^\{(.*)\}|^\[(\[.*\])\]", lambda found: found[1] or found[2], bare)


def summary(text: str | None) -> str:
    """The first sentence, up to where it goes into details.

    >>> summary("Measure how risky a table is: k, class sizes.\\n\\nExample: …")
    'Measure how risky a table is.'
    """
    first = " ".join((text or "").strip().split("\n\n")[0].split())
    return re.split(r"(?:[:;]|(?<=\w)\.)(?: |$)", first)[0].rstrip(".") + "."


def _format_options(command: Any, context: Context, formatter: HelpFormatter) -> None:
    rows: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            argument = parameter.param_type_name == "argument"
            rows[parameter.param_type_name].append((plain_name(record[0], argument=argument), record[1]))
    for title, found in zip(("Arguments", "Options"), rows.values(), strict=True):
        if found:
            with formatter.section(title):
                formatter.write_dl(found)


class PlainCommand(TyperCommand):
    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        """``DATA [TEXT] [FILE…]``: as manuals write what is needed, what may be left out, what may be repeated."""
        return [_usage(piece) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        _format_options(self, ctx, formatter)


class PlainGroup(TyperGroup):
    """Lists its commands in whole sentences, by what somebody wants to do."""

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        _format_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)

    def list_commands(self, ctx: Context) -> list[str]:
        """Names alone: to list commands need not build them."""
        return list(self.commands)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        described = [(name, *self.described(name)) for name in self.list_commands(ctx)]
        width = max((len(name) for name, _, _ in described), default=0)
        for task in sorted({task for _, _, task in described}, key=_place):
            with formatter.section(task):
                formatter.write_dl([(name.ljust(width), said) for name, said, of in described if of == task])

    def described(self, name: str) -> tuple[str, str]:
        """What a command does, and for which task."""
        return summary(self.commands[name].help), _COMMANDS


def _place(task: str) -> tuple[int, str]:
    return (TASKS.index(task), "") if task in TASKS else (len(TASKS), task)


_COMMANDS: Final = "Commands"
TASKS: Final = ("Find", "Prepare", "Release", "Assess", "Ask", "Govern", "Keep apart", "Learn")
"""What commands are for, in the order of the help."""
FIND, PREPARE, RELEASE, ASSESS, ASK, GOVERN, KEEP, LEARN = TASKS
