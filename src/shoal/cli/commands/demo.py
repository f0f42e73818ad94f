"""``shoal demo``: the bundled hospital, anonymised before your eyes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import LEARN
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json
from shoal.cli.terminal.progress_view import progress

if TYPE_CHECKING:
    from shoal.release import Release

OTHERS: Final = 2
"""The seed of people whom the hospital never saw: the control group of the attacks."""


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the example.")] = Path("demo"),
    force: Annotated[bool, typer.Option("--force", help="Replace the release that is there.")] = False,  # noqa: FBT002
    json: Json = False,  # noqa: FBT002
) -> None:
    """Anonymise a bundled, made-up hospital table and show five records before and after.

    Example: shoal demo --output demo/
    """
    from shoal.cli.views.demo import print_demo

    release = _release(output, force=force)
    if json:
        print_json(release.manifest.to_dict())
    else:
        print_demo(release, output)


def _release(folder: Path, *, force: bool) -> Release:
    from shoal.assess.attack.table_attack import read_table
    from shoal.examples import hospital
    from shoal.io import write_atomic
    from shoal.policy import Policy
    from shoal.release.request import RunRequest
    from shoal.release.run import Run

    folder.mkdir(parents=True, exist_ok=True)
    hospital.write(folder / "hospital.csv")
    write_atomic(folder / "hospital.yaml", hospital.policy())
    hospital.write(folder / "control.csv", seed=OTHERS)
    policy = Policy.load(folder / "hospital.yaml")
    control = read_table(str(folder / "control.csv"), "control group")
    with progress() as monitor:
        request = RunRequest(policy=policy, output=folder / "release", force=force, control=control)
        return Run(request, monitor).execute()


COMMAND = CommandEntry(demo, place=110, task=LEARN)
