"""The commands. Each is thin: parse, call the library, print."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.terminal.options import Input, Json, PolicyFile, Sheet
from shoal.cli.terminal.output import note, print_json, progress, warn
from shoal.cli.vault.connection import KeyFileOption, PersonOption, PlaceOption, ServiceOption, secrets_for
from shoal.errors import InputError


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
        from shoal.cli.views.multi_table import run_tables

        if control is not None:
            raise InputError("--control: a control group is for one table, and the policy has several")
        if explore:
            raise InputError("--explore: tries are of one table, and the policy has several")
        with secrets_for(chosen.tables.values(), vault, person, key_file, service) as secrets:
            run_tables(
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
    note(in_words(release.solution))
    if json:
        print_json(release.manifest.to_dict())
    else:
        print_release(release)
        print_evidence(release.manifest)
    findings = [*verdict(release), *(evidence_findings(release.manifest) if safe else ())]
    finish(f"shoal run {policy}", findings, None)


def explore(
    policy: PolicyFile,
    input: Input = None,  # noqa: A002  # the option is called --input
    k: Annotated[str, typer.Option("--k", help="Values of k, separated by commas.")] = "2,3,5,10,20",
    limit: Annotated[str, typer.Option(help="Shares of records that may be suppressed.")] = "0,0.01,0.02,0.05,0.1",
    recoding: Annotated[
        str | None, typer.Option(help="Of global, local, cells, rare, clustered; else the first two.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write the chart to this HTML file.")] = None,
    seed: Annotated[int | None, typer.Option(help="Makes it repeatable: for tests only.")] = None,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Try a policy with several k and suppression limits, and show what privacy costs. Nothing is released.

    Example: shoal explore policy.yaml --k 3,5,10 --limit 0,0.05 --html chart.html
    """
    from shoal.assess.exploration import grid
    from shoal.cli.commands.explore import explore_policy, listed, numbers, print_exploration, refuse_page, write_page
    from shoal.policy import Policy

    ks = numbers("--k", k, int, "a whole number")
    limits = numbers("--limit", limit, float, "a number")
    recodings = None if recoding is None else listed("--recoding", recoding)
    if html is not None:
        refuse_page(html)
    chosen = Policy.load(policy)
    exploration = explore_policy(chosen, input, grid(chosen, ks, limits, recodings), seed=seed)
    if html is not None and exploration.complete:
        write_page(exploration, html)
    if json:
        print_json(exploration.to_dict())
    else:
        print_exploration(exploration)
    if not exploration.complete:
        raise KeyboardInterrupt


def check(
    policy: Annotated[Path | None, typer.Argument(metavar="POLICY", help="The policy file (YAML).")] = None,
    input: Input = None,  # noqa: A002  # the option is called --input
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of policies, for editors.")] = False,  # noqa: FBT002
    json: Json = False,  # noqa: FBT002
) -> None:
    """Check a policy: every problem at once, with line numbers. With --input, check it against the data too.

    Example: shoal check policy.yaml --input patients.csv
    """
    from shoal.policy import warnings_in
    from shoal.policy.multi_table import MultiTablePolicy, load_any, policies_schema

    if schema:
        print_json(policies_schema())
        return
    if policy is None:
        raise InputError("which policy? (shoal check POLICY, or shoal check --schema)")
    chosen = load_any(policy)
    if isinstance(chosen, MultiTablePolicy):
        from shoal.cli.views.multi_table import check_multi_table

        check_multi_table(chosen, str(policy), data=input, as_json=json)
        return
    if input is not None or chosen.source is not None:
        from shoal.plan.dry_run import check_against_data

        check_against_data(chosen, input)
    warnings = warnings_in(chosen)
    if json:
        print_json({"ok": True, "policy": chosen.name, "warnings": warnings})
        return
    for warning in warnings:
        warn(warning)
    typer.echo(f"{policy}: no problems")


def profile(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A file, a folder of tables or a database URL.")],
    table: Annotated[str | None, typer.Option(help="Table of a database.")] = None,
    sheet: Sheet = None,
    sets: Annotated[bool, typer.Option("--sets", help="Find sets of attributes that single people out.")] = False,  # noqa: FBT002
    max_size: Annotated[int | None, typer.Option(help="With --sets: attributes in a set, at most; else 3.")] = None,
    person: Annotated[str | None, typer.Option(help="With --sets: the column that names the person.")] = None,
    safe_harbor: Annotated[  # noqa: FBT002
        bool, typer.Option("--safe-harbor", help="Look for the 18 identifiers of HIPAA; exit 1 if one is found.")
    ] = False,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Show what a table holds: value types, recognised identifiers, a proposed role and technique, and why.

    Example: shoal profile patients.csv
    """
    from shoal.cli.commands.profile import ProfileReport, find_sets, refuse_senseless
    from shoal.discover import profile as profile_table
    from shoal.discover.safe_harbor import check_safe_harbor
    from shoal.io import explained
    from shoal.io.frames import source_at
    from shoal.scan.annotators import annotate_by
    from shoal.scan.policy_suggestion import holds_tables

    refuse_senseless(sets=sets, max_size=max_size, person=person)
    if table is None and holds_tables(data):
        from shoal.cli.commands.profile import profile_tables

        if sets or safe_harbor or sheet:
            raise InputError("--sets, --safe-harbor and --sheet are about one table, and there are several")
        profile_tables(data, as_json=json)
        return
    source = source_at({"url": data, "table": table} if table else {"path": data, "sheet": sheet} if sheet else data)
    with explained(source):
        frame = source.scan()
        found = profile_table(frame, annotate=annotate_by())
        asked = ProfileReport(
            found,
            find_sets(frame, found, max_size, person) if sets else None,
            check_safe_harbor(frame, found) if safe_harbor else None,
        )
    if json:
        print_json(asked.to_dict())
    else:
        asked.print(data)
    if not asked.met:
        raise typer.Exit(1)


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the example.")] = Path("demo"),
    force: Annotated[bool, typer.Option("--force", help="Replace the release that is there.")] = False,  # noqa: FBT002
    json: Json = False,  # noqa: FBT002
) -> None:
    """Anonymise a bundled, made-up hospital table and show five records before and after.

    Example: shoal demo --output demo/
    """
    from shoal.cli.commands.demo import print_demo, run_demo

    release = run_demo(output, force=force)
    if json:
        print_json(release.manifest.to_dict())
    else:
        print_demo(release, output)
