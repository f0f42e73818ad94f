"""``shoal scrub``: texts, logs and documents without what they say of people."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, NoReturn, TextIO

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import RELEASE
from shoal.cli.terminal.imports import importing
from shoal.cli.terminal.options import Json, TextKind
from shoal.cli.terminal.output import note, print_json, say, warn
from shoal.cli.terminal.progress_view import progress
from shoal.cli.terminal.recognisers import NO_FILES, RecogniserFlags
from shoal.cli.vault.connection import NO_VAULT, VaultFlags
from shoal.errors import InputError, printable
from shoal.scrub.choices import Ages, Dates, Replace, chosen_types

if TYPE_CHECKING:
    from shoal.documents.base import DocumentFormat
    from shoal.pseudonyms import Secrets
    from shoal.schema.progress import Monitor
    from shoal.scrub.account import ScrubAccount
    from shoal.scrub.files import FileScrubber
    from shoal.scrub.folder_scrub import LeftOutFile

STDIN = Path("-")
MANY_OBJECTS = 50_000
"""Words and spans are made by the ten thousand, and hardly any of them is ever garbage that has to be looked for."""
NOT_READ = 1
"""A file of a folder that could not be scrubbed, and so is not in the folder that was written."""


def scrub(  # a Typer command has one parameter for each option
    files: Annotated[list[Path] | None, typer.Argument(metavar="[FILE…|FOLDER]", help="Without one, stdin.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to: a file, or a folder for several or a tree."),
    ] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Replace the files themselves.")] = False,  # noqa: FBT002
    replace: Annotated[Replace, typer.Option(help="What is written instead.")] = "label",
    kind: TextKind = "auto",
    types: Annotated[str | None, typer.Option(help="Only these types, separated by commas.")] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", metavar="WORD|FILE", help="What stays: a phrase, or a file with one on each line."),
    ] = None,
    deny: Annotated[
        list[str] | None,
        typer.Option("--deny", metavar="WORD|FILE", help="What always goes: a phrase, or a file of them."),
    ] = None,
    own: RecogniserFlags = NO_FILES,
    dates: Annotated[Dates | None, typer.Option(help="Shifted with --replace pseudonym, unless said.")] = None,
    ages: Annotated[Ages | None, typer.Option(help="Generalised with --replace pseudonym, unless said.")] = None,
    char: Annotated[str, typer.Option(help="The symbol of masks.")] = "*",
    domain: Annotated[str, typer.Option(help="Whose texts share stand-ins.")] = "text",
    table: Annotated[Path | None, typer.Option(help="Write a table of what was recognised (CSV).")] = None,
    keep_values: Annotated[  # noqa: FBT002
        bool, typer.Option("--keep-values", help="The original values in the table: for the owner alone.")
    ] = False,
    report: Annotated[Path | None, typer.Option(help="Write what was done, types and places (JSON).")] = None,
    records: Annotated[bool, typer.Option("--records", help="Stack traces as one, with their message.")] = False,  # noqa: FBT002
    encoding: Annotated[str, typer.Option(help="Of plain text.")] = "utf-8",
    model: Annotated[str, typer.Option(help="A learned model: auto, none, or its name.")] = "none",
    door: VaultFlags = NO_VAULT,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Take out of texts, logs and documents what they say of people; from stdin to stdout too.

    Example: tail -f app.log | shoal scrub, or shoal scrub letter.txt mail.eml -o clean/ --replace pseudonym
    """
    with importing(objects=MANY_OBJECTS):
        from shoal.scrub.account import ScrubAccount
        from shoal.scrub.files import FileScrubber
        from shoal.scrub.phrase_list import PhraseLists, phrases_from
        from shoal.scrub.scrubber import Scrubber, standard_annotator
        from shoal.scrub.streams import STACK_TRACE

    lists = PhraseLists.of(phrases_from(allow or (), "allow"), phrases_from(deny or (), "deny"))
    known = own.chosen()
    given = files or [STDIN]
    tree = _tree(given, output, in_place=in_place)
    targets: list[Path | None] = [] if tree is not None else _targets(given, output, in_place=in_place)
    if json and None in targets:
        raise InputError("--json: stdout is taken by the text", advice="say where that goes with --output")
    if keep_values and table is None:
        raise InputError("--keep-values: goes with --table")
    with ExitStack() as held:
        secrets = held.enter_context(_secrets(door, needed=replace == "pseudonym" or dates == "shift"))
        scrubber = Scrubber(
            standard_annotator(model, kind=kind, recognisers=known, deny=lists.deny),
            replace,
            secrets,
            domain,
            char=char,
            types=chosen_types(types, known),
            allow=lists.allow,
            dates=dates,
            ages=ages,
        )
        done: list[Path] = []
        side = held.enter_context(_written(report, done))
        rows = held.enter_context(_written(table, done, private=keep_values))
        account = ScrubAccount(side, rows, keep_values=keep_values)
        held.callback(account.finish)
        cleaner = FileScrubber(scrubber, account, encoding, STACK_TRACE if records else None, _carrier)
        left_out: list[LeftOutFile] = []
        shown = None in targets or STDIN in given
        with progress(silent=json or shown) as monitor:
            if tree is None:
                with monitor.phase("scrub"):
                    _clean(cleaner, list(zip(given, targets, strict=True)), done, monitor)
            else:
                left_out = _clean_tree(cleaner, *tree, monitor)
    _say(account, left_out, as_json=json)


def _tree(given: list[Path], output: Path | None, *, in_place: bool) -> tuple[Path, Path] | None:
    """A folder and where its like goes; None where files are named."""
    if not any(path != STDIN and path.is_dir() for path in given):
        return None
    if len(given) > 1:
        raise InputError("a folder is scrubbed alone", advice="call the command once for each")
    if in_place or output is None:
        raise InputError("a folder goes to another folder", advice="say which with --output, without --in-place")
    return given[0], output


def _clean_tree(cleaner: FileScrubber, folder: Path, target: Path, monitor: Monitor) -> list[LeftOutFile]:
    from shoal.scrub.folder_scrub import FolderScrub

    with monitor.phase("scrub"), monitor.listening("scrub, one file", None, "bytes"):
        work = FolderScrub(cleaner, folder, target, monitor.progress("files"))
        work.execute()
    say(f"{target}: {work.written:,} file(s) written, {len(work.left_out):,} left out")
    if work.telling_names:
        warn(f"{target}: the names of {work.telling_names} file(s) or folder(s) may tell of people; they were kept")
    return work.left_out


def _clean(cleaner: FileScrubber, jobs: list[tuple[Path, Path | None]], done: list[Path], monitor: Monitor) -> None:
    """``done`` grows by what others may have seen of the work: all of a file, any part of a stream."""
    for number, (source, target) in enumerate(jobs):
        if len(jobs) > 1:
            monitor.progress("scrub")(number, len(jobs))
        if source == STDIN or target is None:
            done.append(source)
        task = "scrub" if len(jobs) == 1 else f"scrub, {number + 1} of {len(jobs)}"
        size = source.stat().st_size if source.is_file() else None
        try:
            with monitor.listening(task, size, "bytes"):
                _clean_one(cleaner, source, target)
        except KeyboardInterrupt:
            if source != STDIN:
                raise
            _stop_reading()
        done.append(source)


def _clean_one(cleaner: FileScrubber, source: Path, target: Path | None) -> None:
    if source == STDIN:
        with _out(target) as out:
            cleaner.stream(sys.stdin.buffer, out)
    elif target is None:
        cleaner.show(source, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    else:
        cleaner.clean(source, target)


@contextmanager
def _out(target: Path | None) -> Iterator[BinaryIO]:
    """Where a stream goes. A file is whole at its end; Ctrl-C is one too, so what was read by then is kept."""
    if target is None:
        yield sys.stdout.buffer
        return
    from shoal.io import atomic_binary

    interrupted: KeyboardInterrupt | None = None
    with atomic_binary(target) as out:
        try:
            yield out
        except KeyboardInterrupt as error:
            interrupted = error
    if interrupted is not None:
        raise interrupted


def _stop_reading() -> NoReturn:
    """Ctrl-C ends a stream: what was read is written, and the side files are whole."""
    from shoal.cli.terminal.signals import INTERRUPTED

    sys.stdout.buffer.flush()
    sys.exit(INTERRUPTED)


def _targets(files: list[Path], output: Path | None, *, in_place: bool) -> list[Path | None]:
    """Where each file goes; None is stdout."""
    if in_place:
        if output is not None or STDIN in files:
            raise InputError("--in-place: goes with files, and without --output")
        return list(files)
    if output is None:
        if len(files) > 1:
            raise InputError("several files need a folder to go to", advice="say which with --output")
        return [None]
    if len(files) == 1 and not output.is_dir() and not str(output).endswith(os.sep):
        _refuse_same(files[0], output)
        return [output]
    return _in_folder(files, output)


def _in_folder(files: list[Path], folder: Path) -> list[Path | None]:
    names = [file.name for file in files]
    if STDIN in files:
        raise InputError("stdin goes to a file, not to a folder")
    if len(set(names)) < len(names):
        raise InputError("two files have the same name, so one would overwrite the other")
    from shoal.io import writing

    with writing(str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        _refuse_same(file, folder / file.name)
    return [folder / name for name in names]


def _refuse_same(source: Path, target: Path) -> None:
    if source != STDIN and target.exists() and source.exists() and source.samefile(target):
        raise InputError(f"{target}: is the file itself", advice="use --in-place if it is to be replaced")


@contextmanager
def _secrets(door: VaultFlags, *, needed: bool) -> Iterator[Secrets | None]:
    """The vault, if one is named and anything is taken from it."""
    if not needed or not door.place:
        if needed:
            note("no vault is named: stand-ins and shifted dates are of this run only")
        yield None
        return
    with door.connection().open() as opened:
        yield opened


@contextmanager
def _written(path: Path | None, done: list[Path], *, private: bool = False) -> Iterator[TextIO | None]:
    """A file beside the work. Where the work breaks off, it tells of what was done by then, if anything was."""
    if path is None:
        yield None
        return
    from shoal.io import atomic_text

    broken_off: BaseException | None = None
    with atomic_text(path, private=private) as file:
        try:
            yield file
        except BaseException as error:
            if not done:
                raise
            broken_off = error
    if broken_off is not None:
        raise broken_off


def _carrier(path: Path) -> DocumentFormat:
    from shoal import documents

    return documents.open(path)


def _say(account: ScrubAccount, left_out: list[LeftOutFile], *, as_json: bool) -> None:
    for warning in account.warnings:
        warn(warning)
    for one in left_out:
        typer.echo(f"left out: {printable(one.path)}: {printable(one.why)}", err=True)
    if as_json:
        told = [{"path": one.path, "why": one.why} for one in left_out]
        print_json({**account.to_dict(), **({"left_out": told} if told else {})})
    else:
        _say_found(account)
    if any(one.failed for one in left_out):
        raise typer.Exit(NOT_READ)


def _say_found(account: ScrubAccount) -> None:
    found = ", ".join(f"{times:,} {kind}" for kind, times in sorted(account.counts.items())) or "nothing"
    note(f"replaced: {found}")


COMMAND = CommandEntry(scrub, place=100, task=RELEASE)
