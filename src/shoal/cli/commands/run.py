"""``shoal run``: data by a policy, as a release folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.governance.project_options import NO_PROJECT, ProjectFlags
from shoal.cli.terminal.help import RELEASE
from shoal.cli.terminal.imports import importing
from shoal.cli.terminal.options import Input, Json, PolicyFile
from shoal.cli.terminal.output import note, print_json
from shoal.cli.terminal.progress_view import progress
from shoal.cli.terminal.reader import NO_FLAGS, ReaderFlags
from shoal.cli.terminal.recognisers import NO_FILES, RecogniserFlags
from shoal.cli.vault.connection import NO_VAULT, VaultFlags, secrets_for
from shoal.errors import InputError
from shoal.kernels.early_checksums import begin_checksum

if TYPE_CHECKING:
    import polars as pl

    from shoal.crypto import Key
    from shoal.plan.hidden_columns.earlier_class import EarlierClasses
    from shoal.policy import Policy
    from shoal.release.destinations import Release
    from shoal.release.membership import MembershipTarget
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
    after: Annotated[
        list[str] | None,
        typer.Option(
            help="RELEASE=TABLE: have an earlier release in view, and what it was made from, or the list of who is in "
            "it (--members). May be repeated."
        ),
    ] = None,
    members: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep for yourself who is in the release, as NAME.members (needs a vault)."),
    ] = None,
    pdf: Annotated[bool, typer.Option("--pdf", help="The reports as PDF too (needs Chromium).")] = False,  # noqa: FBT002
    door: VaultFlags = NO_VAULT,
    own: RecogniserFlags = NO_FILES,
    reader: ReaderFlags = NO_FLAGS,
    registered: ProjectFlags = NO_PROJECT,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Anonymise data by a policy and write a release folder: the data, release.json, report.html, recipient.html.

    Example: shoal run policy.yaml --input patients.csv --output release/
    """
    if input is not None:
        begin_checksum(Path(input))
    with importing():
        from shoal.policy.multi_table import MultiTablePolicy, load_any
        from shoal.release.destinations import Release
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
    if several and after:
        raise InputError("is for one table, and the policy has several", field="after")
    if several and members is not None:
        raise InputError("is for one table, and the policy has several", field="members")
    registration = registered.registration
    strangers = None if control is None else _control_group(reader, control)
    policies = chosen.tables.values() if isinstance(chosen, MultiTablePolicy) else [chosen]
    with secrets_for(policies, door) as secrets, progress(silent=json) as monitor:
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
            withdrawn=registered.withdrawn(door),
        )
        if isinstance(chosen, MultiTablePolicy):
            from shoal.release.multi_table.run import MultiTableRun

            asked = options.for_tables(chosen, None if input is None else Path(input), reader.options)
            tables = MultiTableRun(asked, monitor)
            finished: Release | MultiTableRelease = (
                tables.execute() if registration is None else registration.run_tables(tables)
            )
        else:
            source = reader.open_for(chosen, input)
            request = options.for_table(
                chosen,
                source=source,
                control=strangers,
                explore=explore,
                earlier=_earlier(chosen, reader, after, door),
                members=_members(members, door),
            )
            prepared = Run(request, monitor)
            finished = prepared.execute() if registration is None else registration.run(prepared)
    if isinstance(finished, Release):
        _show(finished, f"shoal run {policy}", safe=safe, as_json=json)
    else:
        _show_tables(finished, safe=safe, as_json=json)


def _earlier(policy: Policy, reader: ReaderFlags, after: list[str] | None, door: VaultFlags) -> EarlierClasses | None:
    if not after:
        return None
    from shoal.pseudonyms.person_marks import PersonMarks
    from shoal.release.earlier_classes import earlier_classes
    from shoal.release.membership import SUFFIX, MembershipList

    pairs = [one.partition("=") for one in after]
    if any(not folder or not table for folder, _, table in pairs):
        raise InputError("is written as RELEASE=TABLE", field="after")
    told = {
        Path(folder): MembershipList.read(Path(place)) if place.endswith(SUFFIX) else reader.open(place)
        for folder, _, place in pairs
    }
    listed = any(isinstance(one, MembershipList) for one in told.values())
    return earlier_classes(policy, told, marks=PersonMarks(_membership_key(door) if listed else None))


def _members(path: Path | None, door: VaultFlags) -> MembershipTarget | None:
    if path is None:
        return None
    from shoal.pseudonyms.person_marks import PersonMarks
    from shoal.release.membership import MembershipTarget

    return MembershipTarget(path, PersonMarks(_membership_key(door, new=True)))


def _membership_key(door: VaultFlags, *, new: bool = False) -> Key:
    from shoal.crypto.domain_keys import domain_key
    from shoal.release.membership import DOMAIN, PURPOSE

    with door.connection().open() as vault:
        return domain_key(vault, DOMAIN, PURPOSE, new=new)


def _control_group(reader: ReaderFlags, address: str) -> pl.DataFrame:
    from shoal.assess.attack.table_attack import read_table

    return read_table(reader.open(address), "control group")


def _show(release: Release, command: str, *, safe: bool, as_json: bool) -> None:
    from shoal.cli.terminal.ci_gates import finish
    from shoal.cli.views.summary import in_words, print_release, verdict

    note(in_words(release.solution))
    if as_json:
        print_json(release.manifest.to_dict())
    else:
        print_release(release)
    findings = [*verdict(release)]
    if safe or release.manifest.attacks is not None:
        from shoal.cli.views.attacks import evidence_findings, print_evidence

        if not as_json:
            print_evidence(release.manifest)
        findings += evidence_findings(release.manifest) if safe else ()
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
