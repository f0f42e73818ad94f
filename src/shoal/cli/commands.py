"""The commands. Each is thin: parse, call the library, print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.output import note, print_json, progress
from shoal.cli.vaults import KeyFileOption, PersonOption, PlaceOption, ServiceOption, secrets_for
from shoal.errors import InputError

PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy file (YAML).")]
Input = Annotated[str | None, typer.Option("--input", "-i", help="Data to use instead of the policy's source.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines, and nothing else, on stdout.")]
Sheet = Annotated[str | None, typer.Option(help="Sheet of an Excel file.")]


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
    from shoal.cli.summary import in_words, print_release
    from shoal.policy.several import SeveralTables, load_any
    from shoal.release.attacking import read_table
    from shoal.release.evidence import Study
    from shoal.release.job import release_folder

    chosen = load_any(policy)
    if isinstance(chosen, SeveralTables):
        from shoal.cli.several import run_tables

        if control is not None:
            raise InputError("--control: a control group is for one table, and the policy has several")
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
                pdf=pdf,
                as_json=json,
                secrets=secrets,
            )
        return
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
            study=Study(strangers, tell) if evidence or control is not None else None,
            pdf=pdf,
            progress=report,
            secrets=secrets,
        )
    note(in_words(release.manifest.solution))
    if json:
        print_json(release.manifest.to_dict())
    else:
        print_release(release)


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
    from shoal.cli.explore import explore_policy, listed, numbers, print_exploration, refuse_page, write_page
    from shoal.policy import Policy
    from shoal.release.exploring import grid

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
    from shoal.policy.several import SeveralTables, load_any, policies_schema

    if schema:
        print_json(policies_schema())
        return
    if policy is None:
        raise InputError("which policy? (shoal check POLICY, or shoal check --schema)")
    chosen = load_any(policy)
    if isinstance(chosen, SeveralTables):
        from shoal.cli.several import check_several

        check_several(chosen, str(policy), data=input, as_json=json)
        return
    if input is not None or chosen.source is not None:
        from shoal.release.checking import check_against_data

        check_against_data(chosen, input)
    warnings = warnings_in(chosen)
    if json:
        print_json({"ok": True, "policy": chosen.name, "warnings": warnings})
        return
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)
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
    from shoal.cli.profile import Asked, find_sets, refuse_senseless
    from shoal.discover import profile as profile_table
    from shoal.discover.safe_harbor import check_safe_harbor
    from shoal.io import explained
    from shoal.release.frames import source_at
    from shoal.release.suggesting import holds_tables
    from shoal.scan.annotators import annotate_by

    refuse_senseless(sets=sets, max_size=max_size, person=person)
    if table is None and holds_tables(data):
        from shoal.cli.profile import profile_tables

        if sets or safe_harbor or sheet:
            raise InputError("--sets, --safe-harbor and --sheet are about one table, and there are several")
        profile_tables(data, as_json=json)
        return
    source = source_at({"url": data, "table": table} if table else {"path": data, "sheet": sheet} if sheet else data)
    with explained(source):
        frame = source.scan()
        found = profile_table(frame, annotate=annotate_by())
        asked = Asked(
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


def measure(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A file, a release folder or a database URL.")],
    policy: Annotated[Path | None, typer.Option(help="Take roles, person and models from a policy.")] = None,
    qi: Annotated[str | None, typer.Option("--qi", help="Quasi-identifiers, separated by commas.")] = None,
    sensitive: Annotated[str | None, typer.Option(help="Sensitive attributes, separated by commas.")] = None,
    person: Annotated[str | None, typer.Option(help="The column that names the person; k then counts people.")] = None,
    original: Annotated[str | None, typer.Option(help="The table before, to compare with: usefulness too.")] = None,
    auxiliary: Annotated[
        str | None, typer.Option(help="New outside data: re-assess a release and add to its history.")
    ] = None,
    harm: Annotated[str | None, typer.Option(help="Potential harm: low, medium, high (PDPC, annex D).")] = None,
    motive: Annotated[str | None, typer.Option(help="Motive of an insider: low, medium, high.")] = None,
    controls: Annotated[str | None, typer.Option(help="Controls at the recipient: none, low, medium, high.")] = None,
    acquaintance: Annotated[float | None, typer.Option(help="Chance that a recipient knows somebody in it.")] = None,
    breach: Annotated[float | None, typer.Option(help="Chance of a data breach at the recipient.")] = None,
    threshold: Annotated[float | None, typer.Option(help="Risk above which a record counts as at risk.")] = None,
    population_size: Annotated[int | None, typer.Option(help="People that the table was drawn from.")] = None,
    suda: Annotated[bool, typer.Option("--suda", help="Look for special uniques (SUDA2).")] = False,  # noqa: FBT002
    weight: Annotated[str | None, typer.Option(help="Column of sampling weights: individual risk.")] = None,
    household: Annotated[str | None, typer.Option(help="Column that names the household.")] = None,
    purpose: Annotated[str | None, typer.Option(help="What the data is for, as research or test_data.")] = None,
    target: Annotated[str | None, typer.Option(help="An attribute to predict, to try usefulness by.")] = None,
    rule: Annotated[
        list[str] | None, typer.Option(help="Judge sums of sensitive numbers: threshold=3, dominance=1,0.8, p=0.1 …")
    ] = None,
    require: Annotated[list[str] | None, typer.Option(help="k=5, distinct_l=3, t=0.2 …: exit 1 if not met.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the verdicts as JUnit XML, for pipelines.")] = None,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Measure how risky a table is, and how useful: k, class sizes, three attackers; with --original, what was lost.

    Example: shoal measure release/data.csv --qi age,sex,pin --require k=5
    """
    from shoal.cli.gates import finish, refuse_junit
    from shoal.cli.measurement import print_measurement
    from shoal.release.assessing import Wanted, circumstances
    from shoal.release.measuring import MeasureRequest, measure_data

    said = circumstances(
        harm=harm,
        motive=motive,
        controls=controls,
        acquaintance=acquaintance,
        breach=breach,
        threshold=threshold,
        population_size=population_size,
        purpose=purpose,
        target=target,
    )
    wanted = Wanted(said, suda, weight, household)
    refuse_junit(junit)
    if original is None and (target is not None or purpose is not None):
        raise InputError("--target and --purpose are about usefulness, which needs --original DATA")
    if auxiliary is not None:
        from shoal.cli.reassess import reassess_and_print

        alone = {"--qi": qi, "--sensitive": sensitive, "--person": person, "--original": original, "--rule": rule}
        for option, given in {**alone, "--suda": suda or None, "--weight": weight, "--harm": harm}.items():
            if given is not None:
                raise InputError(f"{option}: can't go with --auxiliary, which links new data with a release")
        found = reassess_and_print(data, auxiliary, require or [], policy=policy, as_json=json)
        finish(f"shoal measure {data}", found, junit)
        return
    request = MeasureRequest.of(
        policy=policy,
        qi=qi,
        sensitive=sensitive,
        person=person,
        require=require or [],
        wanted=wanted,
        rules=rule or [],
    )
    measured = measure_data(data, request, original=original)
    if json:
        print_json(measured.to_dict())
    else:
        print_measurement(measured)
    finish(f"shoal measure {data}", measured.models, junit)


def attack(
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="A release folder, or any file or database URL.")],
    original: Annotated[str, typer.Option(help="The table that the release was made from; it judges the attacks.")],
    auxiliary: Annotated[str | None, typer.Option(help="Another table about people, to link with.")] = None,
    control: Annotated[str | None, typer.Option(help="People who are not in the original, to compare with.")] = None,
    policy: Annotated[Path | None, typer.Option(help="Take roles and hierarchies from a policy.")] = None,
    qi: Annotated[str | None, typer.Option("--qi", help="What an attacker knows, separated by commas.")] = None,
    sensitive: Annotated[str | None, typer.Option(help="What an attacker wants to know.")] = None,
    trials: Annotated[int, typer.Option(help="People that each attack is tried on, at most.")] = 5000,
    require: Annotated[list[str] | None, typer.Option(help="linking=0.01 …: exit 1 if an attack does better.")] = None,
    safe: Annotated[bool, typer.Option("--safe", help="Exit 1 if any attack finds more than guessing.")] = False,  # noqa: FBT002
    seed: Annotated[int | None, typer.Option(help="Makes it repeatable: for tests only.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the verdicts as JUnit XML, for pipelines.")] = None,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Attack a release: single people out, link them, infer what is sensitive, break pseudonyms; against guessing.

    Example: shoal attack release/ --original patients.csv --control others.csv
    """
    from shoal.cli.attack import print_attacks
    from shoal.cli.gates import finish, refuse_junit
    from shoal.release.attacking import Roles, attack_bounds, attack_data

    refuse_junit(junit)
    roles = Roles.of(release, policy=policy, qi=qi, sensitive=sensitive)
    bounds = attack_bounds(require or [])
    with progress() as report:
        found = attack_data(
            release,
            roles,
            original=original,
            auxiliary=auxiliary,
            control=control,
            trials=trials,
            seed=seed,
            progress=None if report is None else lambda done, total: report("attack", done, total),
        )
    if json:
        print_json(found.to_dict())
    else:
        print_attacks(found)
    finish(f"shoal attack {release}", found.findings(bounds, safe=safe), junit)


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the example.")] = Path("demo"),
    force: Annotated[bool, typer.Option("--force", help="Replace the release that is there.")] = False,  # noqa: FBT002
    json: Json = False,  # noqa: FBT002
) -> None:
    """Anonymise a bundled, made-up hospital table and show five records before and after.

    Example: shoal demo --output demo/
    """
    from shoal.cli.demo import print_demo, run_demo

    release = run_demo(output, force=force)
    if json:
        print_json(release.manifest.to_dict())
    else:
        print_demo(release, output)
