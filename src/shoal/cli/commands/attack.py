"""``shoal attack``: what an attacker gets out of a release, against guessing; a gate for pipelines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import ASSESS
from shoal.cli.terminal.options import Json, refuse_for_multi_table, refuse_for_synthetic
from shoal.cli.terminal.output import Shown, tell
from shoal.cli.terminal.progress_view import progress
from shoal.cli.terminal.reader import NO_FLAGS, ReaderFlags

if TYPE_CHECKING:
    from shoal.assess.multi_table.table_set import TableSet
    from shoal.privacy import ModelFinding
    from shoal.results.release_folder import ReleaseFolder


def attack(
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="A release folder, or any file or database URL.")],
    original: Annotated[
        str | None,
        typer.Option(help="The table that the release was made from, if it does not lie beside it: the judge."),
    ] = None,
    auxiliary: Annotated[str | None, typer.Option(help="Another table about people, to link with.")] = None,
    control: Annotated[str | None, typer.Option(help="People who are not in the original, to compare with.")] = None,
    policy: Annotated[Path | None, typer.Option(help="Take roles and hierarchies from a policy.")] = None,
    qi: Annotated[str | None, typer.Option("--qi", help="What an attacker knows, separated by commas.")] = None,
    sensitive: Annotated[str | None, typer.Option(help="What an attacker wants to know.")] = None,
    person: Annotated[str | None, typer.Option(help="The original's column that names the person.")] = None,
    trials: Annotated[int, typer.Option(help="People that each attack is tried on, at most.")] = 5000,
    require: Annotated[list[str] | None, typer.Option(help="linking=0.01 …: exit 1 if an attack does better.")] = None,
    safe: Annotated[bool, typer.Option("--safe", help="Exit 1 if an attack beats guessing, or might.")] = False,  # noqa: FBT002
    seed: Annotated[int | None, typer.Option(help="Makes it repeatable: for tests only.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the verdicts as JUnit XML, for pipelines.")] = None,
    reader: ReaderFlags = NO_FLAGS,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Attack a release: single people out, link them, infer what is sensitive, break pseudonyms; against guessing.

    Of a synthetic release: copies, nearest records, membership …, against people of --control it was not made from.

    Example: shoal attack release/ --original patients.csv --control others.csv
    """
    from shoal.assess.attack.original_file import find_original
    from shoal.assess.attack.request import AttackRequest
    from shoal.assess.attack.table_attack import attack_data
    from shoal.assess.multi_table.table_set import table_set_at
    from shoal.assess.synthetic.released import is_synthetic, is_synthetic_set
    from shoal.cli.terminal.ci_gates import refuse_junit
    from shoal.cli.views.attacks import print_attacks
    from shoal.results.attack_report import attack_bounds
    from shoal.results.attack_roles import AttackRoles
    from shoal.results.release_folder import ReleaseFolder

    refuse_junit(junit)
    folder = ReleaseFolder.around(release)
    table = None if folder.content is not None or Path(release).is_dir() else reader.open(folder.data)
    original = original or find_original(folder)
    asked = _Attempt(folder, original, control, tuple(require or ()), reader, trials, seed, safe, junit, json)
    if is_synthetic_set(folder):
        refuse_for_synthetic({"--auxiliary": auxiliary, "--policy": policy, "--qi": qi, "--person": person})
        _attack_set(asked)
        return
    tables = table_set_at(folder, policy, reader.options)
    if tables is not None:
        columns = {"--qi": qi, "--sensitive": sensitive, "--person": person}
        refuse_for_multi_table({**columns, "--auxiliary": auxiliary, "--control": control})
        _attack_tables(asked, tables)
        return
    if is_synthetic(folder):
        refuse_for_synthetic({"--auxiliary": auxiliary, "--policy": policy, "--qi": qi, "--person": person})
        _attack_synthetic(asked, sensitive)
        return
    roles = AttackRoles.of(folder, policy=policy, qi=qi, sensitive=sensitive, person=person)
    bounds = attack_bounds(asked.require)
    if table is None and folder.manifest is None:
        table = reader.open(folder.data)
    opened = reader.open_all({"original": original, "auxiliary": auxiliary, "control": control})
    request = AttackRequest(**opened, roles=roles, trials=trials, seed=seed)
    with progress(silent=json) as monitor, monitor.phase("read"):
        found = attack_data(folder, request, table=table, progress=monitor.progress("attack"))
    asked.finish(found, print_attacks, found.findings(bounds, safe=safe))


@dataclass(frozen=True)
class _Attempt:
    """What is attacked, judged by what, how far, and where the verdicts go: the same for every kind of release."""

    folder: ReleaseFolder
    original: str
    control: str | None
    require: Sequence[str]
    reader: ReaderFlags
    trials: int
    seed: int | None
    safe: bool
    junit: Path | None
    as_json: bool

    def finish(self, found: Shown, printed: Callable[[Shown], None], verdicts: Sequence[ModelFinding]) -> None:
        from shoal.cli.terminal.ci_gates import finish

        tell(found, printed, as_json=self.as_json)
        finish(f"shoal attack {self.folder.data_named or self.folder.place}", verdicts, self.junit)


def _attack_tables(asked: _Attempt, tables: TableSet) -> None:
    from shoal.assess.multi_table.attack import attack_tables
    from shoal.cli.views.multi_table import print_attacked
    from shoal.results.attack_report import attack_bounds

    bounds = attack_bounds(asked.require)
    options = asked.reader.options
    with progress(silent=asked.as_json) as monitor:
        found = attack_tables(
            tables, asked.original, trials=asked.trials, seed=asked.seed, reader=options, monitor=monitor
        )
    asked.finish(found, print_attacked, found.findings(bounds, safe=asked.safe))


def _attack_set(asked: _Attempt) -> None:
    from shoal.assess.synthetic import parse_gates
    from shoal.assess.synthetic.released import SyntheticRequest, assess_synthetic_set
    from shoal.cli.views.synthetic import print_tables_attacks
    from shoal.randomness import Randomness

    request = SyntheticRequest(
        original=asked.original,
        control=asked.control,
        require=parse_gates(asked.require),
        trials=asked.trials,
        fidelity=False,
    )
    with progress(silent=asked.as_json) as monitor:
        found = assess_synthetic_set(asked.folder, request, asked.reader.open, Randomness(asked.seed), monitor)
    asked.finish(found, print_tables_attacks, found.findings(safe=asked.safe))


def _attack_synthetic(asked: _Attempt, targets: str | None) -> None:
    from shoal.assess.synthetic import parse_gates
    from shoal.assess.synthetic.released import SyntheticRequest, assess_synthetic_release
    from shoal.cli.views.synthetic import print_synthetic_attacks
    from shoal.randomness import Randomness
    from shoal.results.release_folder import names_in

    opened = asked.reader.open_all({"original": asked.original, "control": asked.control})
    request = SyntheticRequest(
        original=opened["original"],
        control=opened.get("control"),
        targets=names_in(targets),
        require=parse_gates(asked.require),
        trials=asked.trials,
        fidelity=False,
    )
    with progress(silent=asked.as_json) as monitor:
        found = assess_synthetic_release(asked.folder, request, Randomness(asked.seed), monitor)
    asked.finish(found, print_synthetic_attacks, found.findings(safe=asked.safe))


COMMAND = CommandEntry(attack, place=90, task=ASSESS)
