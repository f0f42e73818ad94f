"""``shoal run``: data by a policy, as a release folder."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.options import Input, Json, PolicyFile
from shoal.cli.terminal.output import note, print_json, progress
from shoal.cli.vault.connection import KeyFileOption, PersonOption, PlaceOption, ServiceOption, secrets_for
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.policy.multi_table import MultiTablePolicy
    from shoal.pseudonyms import Secrets


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
    json: Json = False,  # noqa: FBT002
) -> None:
    """Anonymise data by a policy and write a release folder: the data, release.json, report.html, recipient.html.

    Example: shoal run policy.yaml --input patients.csv --output release/
    """
    from shoal.assess.attack.table_attack import read_table
    from shoal.assess.evidence.study import EvidenceStudy
    from shoal.assess.exploration import exploration_of
    from shoal.cli.terminal.ci_gates import finish
    from shoal.cli.views.attacks import evidence_findings, print_evidence
    from shoal.cli.views.summary import in_words, print_release, verdict
    from shoal.policy.multi_table import MultiTablePolicy, load_any
    from shoal.release.run import release_folder

    chosen = load_any(policy)
    if isinstance(chosen, MultiTablePolicy):
        if control is not None:
            raise InputError("--control: a control group is for one table, and the policy has several")
        if explore:
            raise InputError("--explore: tries are of one table, and the policy has several")
        with secrets_for(chosen.tables.values(), vault, person, key_file, service) as secrets:
            _run_tables(
                chosen,
                data=input,
                output=output,
                engine=engine,
                master=master,
                parts=parts or None,
                seed=seed,
                force=force,
                evidence=evidence,
                safe=safe,
                pdf=pdf,
                as_json=json,
                secrets=secrets,
            )
        return
    if explore and engine != "polars":
        raise InputError("--explore: tries are made on this machine", advice="shoal explore takes a part of the data")
    folder = output or Path(f"{chosen.name}-release")
    strangers = None if control is None else read_table(control, "control group")
    with secrets_for([chosen], vault, person, key_file, service) as secrets, progress() as report:
        tell = None if report is None else lambda done, total: report("attack", done, total)
        release = release_folder(
            chosen,
            folder,
            data=input,
            engine=engine,
            master=master,
            parts=parts or None,
            seed=seed,
            force=force,
            study=EvidenceStudy(strangers, tell) if evidence or safe or control is not None else None,
            explore=partial(exploration_of, chosen, input, seed=seed, progress=report) if explore else None,
            pdf=pdf,
            progress=report,
            secrets=secrets,
        )
    note(in_words(release.manifest.solution))
    if json:
        print_json(release.manifest.to_dict())
    else:
        print_release(release)
        print_evidence(release.manifest.evidence)
    findings = [*verdict(release), *(evidence_findings(release.manifest.evidence) if safe else ())]
    finish(f"shoal run {policy}", findings, None)


def _run_tables(
    several: MultiTablePolicy,
    *,
    data: str | None,
    output: Path | None,
    engine: str,
    master: str | None,
    parts: bool | None,
    seed: int | None,
    force: bool,
    evidence: bool,
    safe: bool,
    pdf: bool,
    as_json: bool,
    secrets: Secrets | None = None,
) -> None:
    from shoal.assess.evidence.study import EvidenceStudy
    from shoal.cli.terminal.ci_gates import finish
    from shoal.cli.views.multi_table import print_tables, release_findings
    from shoal.release.multi_table.run import release_tables

    with progress() as report:
        tell = None if report is None else lambda done, total: report("attack", done, total)
        whole = release_tables(
            several,
            output or Path(f"{several.name}-release"),
            data=None if data is None else Path(data),
            engine=engine,
            master=master,
            parts=parts,
            seed=seed,
            force=force,
            study=EvidenceStudy(None, tell) if evidence or safe else None,
            pdf=pdf,
            progress=report,
            secrets=secrets,
        )
    if as_json:
        print_json(whole.to_dict())
    else:
        print_tables(whole)
    finish(f"shoal run {several.name}", list(release_findings(whole, safe=safe)), None)


COMMAND = CommandEntry(run, place=10)
