"""``shoal register compose`` and ``import``: what releases say together, and how old ones are counted in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.governance.registry_place import NO_ACTOR, NO_REGISTRY, ActorOption, RegistryOption
from shoal.cli.terminal.lists import listed
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json, print_table, say
from shoal.cli.terminal.reader import NO_FLAGS, ReaderFlags
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.assess.composition.request import HeldRelease
    from shoal.results.composition_result import CompositionResult

BLOCKED = 1


def compose(  # one option per wish
    releases: Annotated[
        list[str],
        typer.Argument(metavar="RELEASE…", help="One: a registered release. Several: folders, the new one first."),
    ],
    original: Annotated[
        str, typer.Option(help="The table that they were made from: figures are then counted, not expected.")
    ] = "",
    person: Annotated[
        list[str] | None,
        typer.Option(
            "--person",
            help="The column of the originals that names people; RELEASE=COLUMN where they differ. May be repeated.",
        ),
    ] = None,
    originals: Annotated[
        list[str] | None, typer.Option("--originals", help="RELEASE=FILE where each has its own. May be repeated.")
    ] = None,
    folder: Annotated[
        list[str] | None, typer.Option("--folder", help="RELEASE=FOLDER of one that was moved. May be repeated.")
    ] = None,
    policy: Annotated[
        list[Path] | None, typer.Option("--policy", help="Its hierarchies say what words stand for. May be repeated.")
    ] = None,
    recipient: Annotated[
        list[str] | None, typer.Option("--recipient", help="Who is to get it. May be repeated.")
    ] = None,
    k: Annotated[int, typer.Option("--k", help="Of folders: how many people have to fit.")] = 5,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to write the result (JSON).")] = None,
    registry: RegistryOption = NO_REGISTRY,
    actor: ActorOption = NO_ACTOR,
    reader: ReaderFlags = NO_FLAGS,
    json: Json = False,  # noqa: FBT002
) -> None:
    """See what a release tells together with all earlier ones of the same people; exit 1 where the rule blocks it.

    Example: shoal register compose 2026-q2 --original patients.csv --by chan
    """
    from shoal.assess.composition.composing import compose as composed
    from shoal.assess.composition.request import ComposeRequest
    from shoal.govern.composition_check import check_composition, record_composition
    from shoal.govern.composition_rules import judged
    from shoal.io import write_atomic
    from shoal.policy import Policy

    column, called = _columns(person or [])
    held = _held(releases, _named(originals, "originals"), _named(folder, "folder"), called, tuple(recipient or ()))
    asked = ComposeRequest(
        release=held[0],
        earlier=tuple(held[1:]),
        k=k,
        original=original,
        person=column,
        reader=reader.options,
        policies=tuple(Policy.load(path) for path in policy or ()),
    )
    if len(releases) > 1:
        result = judged(composed(asked))
    else:
        with registry.opened() as opened:
            result = check_composition(opened, releases[0], asked, tuple(recipient or ()))
            record_composition(opened, releases[0], result, by=actor.name)
            aside = sum(one.status != "void" for one in opened.states("release").values()) - 1 - len(result.earlier)
        if aside:
            say(f"{aside} other releases are registered and were not looked at: of other people, by what was entered")
    if output is not None:
        write_atomic(output, result.to_json())
    print_json(result.to_dict()) if json else _show(result)
    if result.blocks:
        raise typer.Exit(BLOCKED)


def import_(  # one option per wish
    data: Annotated[str, typer.Argument(metavar="DATA", help="A file that was shared, or a project of ARX (.deid).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the release that is made of it.")],
    quasi: Annotated[str, typer.Option(help="Columns by which people could be found, separated by commas.")] = "",
    sensitive: Annotated[str, typer.Option(help="Sensitive columns, separated by commas.")] = "",
    direct: Annotated[str, typer.Option(help="Columns that name people or stand for their names.")] = "",
    hierarchy: Annotated[
        list[str] | None, typer.Option(help="COLUMN=FILE: what its labels stand for (value;level 1;…).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the release that is there.")] = False,  # noqa: FBT002
    reader: ReaderFlags = NO_FLAGS,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Make a release folder of a file that was shared years ago, so that it can be entered and is counted.

    Example: shoal register import shared-2019.csv -o shared-2019/ --quasi age,sex,town --sensitive diagnosis
    """
    from shoal.assess.composition.shared_files import ARX, SharedFile, import_arx, import_file
    from shoal.schema import Role

    if Path(data).suffix == ARX:
        made = import_arx(Path(data), output, force=force)
    else:
        said = {Role.QUASI: quasi, Role.SENSITIVE: sensitive, Role.DIRECT: direct}
        roles = {name: role for role, text in said.items() if text for name in listed(f"--{role}", text)}
        files = {name: Path(path) for name, path in _named(hierarchy, "hierarchy").items()}
        for path in files.values():
            if not path.is_file():
                raise InputError(f"{path}: there is no such file", field="hierarchy")
        made = import_file(data, output, SharedFile(roles, files), reader=reader.options, force=force)
    if json:
        print_json(made.to_dict())
        return
    k = 0 if made.risk is None else made.risk.k
    typer.echo(
        f"{output}: {made.data.rows} records, k {k}; enter it with: "
        f"shoal register release enter ID --folder {output} --out --project …"
    )


def _columns(person: list[str]) -> tuple[str, dict[str, str]]:
    """For all releases, and for some."""
    plain = [one for one in person if "=" not in one]
    if len(plain) > 1:
        raise InputError("one column for all, or RELEASE=COLUMN for each", field="person")
    return "".join(plain), _named([one for one in person if "=" in one], "person")


def _held(
    releases: list[str],
    own: Mapping[str, str],
    moved: Mapping[str, str],
    called: Mapping[str, str],
    recipients: tuple[str, ...],
) -> list[HeldRelease]:
    """Folders, the new one first; or one that is registered, and what is said of others."""
    from shoal.assess.composition.request import HeldRelease

    if len(releases) == 1:
        names = [*releases, *(name for name in {**own, **moved, **called} if name not in releases)]
        return [
            HeldRelease(
                name=name,
                folder=_path(moved.get(name)),
                original=own.get(name, ""),
                person=called.get(name, ""),
            )
            for name in names
        ]
    return [
        HeldRelease(
            name=_short(name),
            folder=Path(name),
            original=own.get(name, own.get(_short(name), "")),
            person=called.get(name, called.get(_short(name), "")),
            recipients=recipients if name == releases[0] else (),
        )
        for name in releases
    ]


def _named(given: list[str] | None, field: str) -> dict[str, str]:
    found = dict(one.partition("=")[::2] for one in given or ())
    if any(not name or not value for name, value in found.items()):
        raise InputError("is written as NAME=PLACE", field=field)
    return found


def _short(name: str) -> str:
    return Path(name).resolve().name


def _path(place: str | None) -> Path | None:
    return None if place is None else Path(place)


def _show(result: CompositionResult) -> None:
    pairs = {pair.earlier: pair for pair in result.pairs}
    rows = [
        (
            one.name,
            one.kind,
            "" if one.k is None else one.k,
            "" if one.epsilon is None else f"{one.epsilon:g}",
            ", ".join(pairs[one.name].by) if one.name in pairs else "",
            pairs[one.name].most if one.name in pairs else "",
            ", ".join(one.recipients),
        )
        for one in (result.release, *result.earlier)
    ]
    header = ("release", "kind", "k alone", "ε", "joined by", "fit both, at most", "held by")
    print_table("releases", header, rows)
    counted = "counted" if result.exact else "expected, from the releases alone"
    told = [
        ("effective k", "no records to join" if result.effective_k is None else result.effective_k),
        ("people whom nobody else fits", f"{result.unique:.2%}"),
        (f"people whom fewer than {result.k_required} fit", f"{result.below:.2%}"),
        *((f"certain values of {name}", number) for name, number in result.certain.items()),
        *((f"narrowed: {name}", f"{share:.1%} of records") for name, share in result.narrowed.items() if share),
        ("sum of ε", f"{result.epsilon:g}"),
        ("figures are", counted),
    ]
    print_table("together", ("what", "is"), told)
    for reason in result.reasons:
        typer.echo(f"{reason.outcome.value}: {reason.text}")
    typer.echo(f"outcome: {result.outcome.value}")
