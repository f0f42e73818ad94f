"""``shoal run``: data by a policy, as a release folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import RELEASE
from shoal.cli.terminal.options import Input, Json, PolicyFile
from shoal.cli.terminal.output import note, print_json
from shoal.cli.terminal.progress_view import progress
from shoal.cli.terminal.reader import NO_FLAGS, ReaderFlags
from shoal.cli.terminal.recognisers import NO_FILES, RecogniserFlags
from shoal.cli.vault.connection import KeyFileOption, PersonOption, PlaceOption, ServiceOption, secrets_for
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.release.destinations import Release
    from shoal.release.multi_table.summary import MultiTableRelease


def run(
    policy: PolicyFile,
    input: Input = None,  # noqa: A002  # the option is called --input
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder of the release.")] = None,
    engine: Annotated[str, typer.Option(help="polars (this machine) or spark (a cluster).")] = "polars",
    master: Annotated[str | None, typer.Option(help="Where Spark runs: local[4], spark://host:7077, yarn …")] = None,
    parts: Annotated[bool, typer.Option("--parts", help="The data as a folder of parts.")] = False,  # noqa: FBT002
    seed: Annotated[int | None, typer.Option(help="Makes the run repeatable: for tests only.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the release that is there.")] = False,  # noqa: FBT002
    evidence: Annotated[bool, typer.Option("--evidence", help="Attack the release and try its use.")] = False,  # noqa: FBT002
    control: Annotated[
        str | None, typer.Option(help="People who are not in the data, to compare attacks with; implies --evidence.")
    ] = None,
    safe: Annotated[  # noqa: FBT002
        bool, typer.Option("--safe", help="Exit 1 if an attack beats guessing, or might; implies --evidence.")
    ] = False,
    explore: Annotated[bool, typer.Option("--explore", help="Show in the report what privacy costs.")] = False,  # noqa: FBT002
    pdf: Annotated[bool, typer.Option("--pdf", help="The reports as PDF too (needs Chromium).")] = False,  # noqa: FBT002
    vault: PlaceOption = None,
    person: PersonOption = None,
    key_file: KeyFileOption = None,
    service: ServiceOption = None,
    own: RecogniserFlags = NO_FILES,
    reader: ReaderFlags = NO_FLAGS,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Anonymise data by a policy and write a release folder: the data, release.json, report.html, recipient.html.

    Example: shoal run policy.yaml --input patients.csv --output release/
    """
    from shoal.assess.attack.table_attack import read_table
    from shoal.policy.multi_table import MultiTablePolicy, load_any
    from shoal.release.multi_table.run import MultiTableRun
    from shoal.release.multi_table.summary import MultiTableRelease
    from shoal.release.request import RunOptions
    from shoal.release.run import Run

    chosen = own.added_to_any(load_any(policy))
    several = isinstance(chosen, MultiTablePolicy)
    if several and control is not None:
        raise InputError("--control: a control group is for one table, and the policy has several")
    if several and explore:
        raise InputError("--explore: tries are of one table, and the policy has several")
    if explore and engine != "polars":
        raise InputError("--explore: tries are made on this machine", advice="shoal explore takes a part of the data")
    strangers = None if control is None else read_table(reader.open(control), "control group")
    policies = chosen.tables.values() if isinstance(chosen, MultiTablePolicy) else [chosen]
    with secrets_for(policies, vault, person, key_file, service) as secrets, progress(silent=json) as monitor:
        options = RunOptions(
            output=output,
            engine=engine,
            master=master,
            parts=parts or None,
            seed=seed,
            force=force,
            evidence=evidence or safe,
            pdf=pdf,
            secrets=secrets,
        )
        if isinstance(chosen, MultiTablePolicy):
            asked = options.for_tables(chosen, None if input is None else Path(input), reader.options)
            finished: Release | MultiTableRelease = MultiTableRun(asked, monitor).execute()
        else:
            source = reader.open_for(chosen, input)
            request = options.for_table(chosen, source=source, control=strangers, explore=explore)
            finished = Run(request, monitor).execute()
    if isinstance(finished, MultiTableRelease):
        _show_tables(finished, safe=safe, as_json=json)
    else:
        _show(finished, f"shoal run {policy}", safe=safe, as_json=json)


def _show(release: Release, command: str, *, safe: bool, as_json: bool) -> None:
    from shoal.cli.terminal.ci_gates import finish
    from shoal.cli.views.attacks import evidence_findings, print_evidence
    from shoal.cli.views.summary import in_words, print_release, verdict

    note(in_words(release.solution))
    if as_json:
        print_json(release.manifest.to_dict())
    else:
        print_release(release)
        print_evidence(release.manifest)
    findings = [*verdict(release), *(evidence_findings(release.manifest) if safe else ())]
    finish(command, findings, None)


def _show_tables(whole: MultiTableRelease, *, safe: bool, as_json: bool) -> None:
    from shoal.cli.terminal.ci_gates import finish
    from shoal.cli.views.multi_table import print_tables, release_findings

    if as_json:
        print_json(whole.to_dict())
    else:
        print_tables(whole)
    finish(f"shoal run {whole.name}", list(release_findings(whole, safe=safe)), None)


COMMAND = CommandEntry(run, place=10, task=RELEASE)
