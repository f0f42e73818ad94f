"""``shoal scrub``: texts, logs and documents without what they say of people."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, NoReturn, TextIO

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import RELEASE
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import note, print_json, say, warn
from shoal.cli.terminal.progress_view import progress
from shoal.cli.terminal.recognisers import NO_FILES, RecogniserFlags
from shoal.cli.vault.connection import PLACE, KeyFileOption, PersonOption, PlaceOption, ServiceOption, VaultConnection
from shoal.errors import InputError, printable

if TYPE_CHECKING:
    from shoal.documents.base import DocumentFormat
    from shoal.pseudonyms import Secrets
    from shoal.scrub.account import ScrubAccount
    from shoal.scrub.files import FileScrubber
    from shoal.scrub.folder_scrub import LeftOutFile

STDIN = Path("-")
NOT_READ = 1
"""A file of a folder that could not be scrubbed, and so is not in the folder that was written."""


class ReplacementChoice(StrEnum):
    LABEL = "label"
    MASK = "mask"
    PSEUDONYM = "pseudonym"


class DateChoice(StrEnum):
    SHIFT = "shift"
    LABEL = "label"
    KEEP = "keep"


class KindChoice(StrEnum):
    AUTO = "auto"
    LOG = "log"
    PROSE = "prose"


class AgeChoice(StrEnum):
    GENERALISE = "generalise"
    LABEL = "label"
    KEEP = "keep"


def scrub(  # a Typer command has one parameter for each option
    files: Annotated[list[Path] | None, typer.Argument(metavar="[FILE…|FOLDER]", help="Without one, stdin.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to: a file, or a folder for several or a tree."),
    ] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Replace the files themselves.")] = False,  # noqa: FBT002
    replace: Annotated[ReplacementChoice, typer.Option(help="What is written instead.")] = ReplacementChoice.LABEL,
    kind: Annotated[KindChoice, typer.Option(help="What the texts are; auto tells by their lines.")] = KindChoice.AUTO,
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
    dates: Annotated[DateChoice | None, typer.Option(help="Shifted with --replace pseudonym, unless said.")] = None,
    ages: Annotated[AgeChoice | None, typer.Option(help="Generalised with --replace pseudonym, unless said.")] = None,
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
    vault: PlaceOption = None,
    person: PersonOption = None,
    key_file: KeyFileOption = None,
    service: ServiceOption = None,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Take out of texts, logs and documents what they say of people; from stdin to stdout too.

    Example: tail -f app.log | shoal scrub, or shoal scrub letter.txt mail.eml -o clean/ --replace pseudonym
    """
    from shoal.scrub.account import ScrubAccount
    from shoal.scrub.choices import chosen_types
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
        secrets = held.enter_context(_secrets(replace, dates, (vault, person, key_file, service)))
        scrubber = Scrubber(
            standard_annotator(model, kind=kind.value, recognisers=known, deny=lists.deny),
            replace.value,
            secrets,
            domain,
            char=char,
            types=chosen_types(types, known),
            allow=lists.allow,
            dates=None if dates is None else dates.value,
            ages=None if ages is None else ages.value,
        )
        done: list[Path] = []
        side = held.enter_context(_written(report, done))
        rows = held.enter_context(_written(table, done, private=keep_values))
        account = ScrubAccount(side, rows, keep_values=keep_values)
        held.callback(account.finish)
        cleaner = FileScrubber(scrubber, account, encoding, STACK_TRACE if records else None, _carrier)
        left_out: list[LeftOutFile] = []
        if tree is None:
            shown = None in targets or STDIN in given
            with progress(silent=json or shown) as monitor, monitor.phase("scrub", _size(given)):
                _clean(cleaner, list(zip(given, targets, strict=True)), done)
        else:
            left_out = _clean_tree(cleaner, *tree)
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


def _clean_tree(cleaner: FileScrubber, folder: Path, target: Path) -> list[LeftOutFile]:
    from shoal.scrub.folder_scrub import FolderScrub

    with progress() as monitor:
        work = FolderScrub(cleaner, folder, target, monitor.progress("scrub"))
        work.execute()
    say(f"{target}: {work.written:,} file(s) written, {len(work.left_out):,} left out")
    if work.telling_names:
        warn(f"{target}: the names of {work.telling_names} file(s) or folder(s) may tell of people; they were kept")
    return work.left_out


def _size(files: list[Path]) -> int | None:
    """Bytes; None where one of them is a stream."""
    try:
        return sum(file.stat().st_size for file in files)
    except OSError:
        return None


def _clean(cleaner: FileScrubber, jobs: list[tuple[Path, Path | None]], done: list[Path]) -> None:
    """``done`` grows by what others may have seen of the work: all of a file, any part of a stream."""
    for source, target in jobs:
        if source == STDIN or target is None:
            done.append(source)
        try:
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
def _secrets(
    replace: ReplacementChoice, dates: DateChoice | None, door: tuple[str | None, str | None, Path | None, str | None]
) -> Iterator[Secrets | None]:
    """The vault, if one is named and anything is taken from it."""
    needed = replace is ReplacementChoice.PSEUDONYM or dates is DateChoice.SHIFT
    place = door[0] or os.environ.get(PLACE)
    if not needed or not place:
        if needed:
            note("no vault is named: stand-ins and shifted dates are of this run only")
        yield None
        return
    with VaultConnection.of(place, *door[1:]).open() as opened:
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
