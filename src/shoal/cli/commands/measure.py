"""``shoal measure`` and ``shoal attack``: how risky, how useful, proven by attack; gates for pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json, progress, warn
from shoal.errors import InputError


def measure(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A file, a release folder or a database URL.")],
    policy: Annotated[Path | None, typer.Option(help="Take roles, person and models from a policy.")] = None,
    qi: Annotated[str | None, typer.Option("--qi", help="Quasi-identifiers, separated by commas.")] = None,
    sensitive: Annotated[str | None, typer.Option(help="Sensitive attributes, separated by commas.")] = None,
    person: Annotated[str | None, typer.Option(help="The column that names the person; k then counts people.")] = None,
    by_records: Annotated[bool, typer.Option("--by-records", help="Count records, not people.")] = False,  # noqa: FBT002
    original: Annotated[str | None, typer.Option(help="The table before, to compare with: usefulness too.")] = None,
    auxiliary: Annotated[
        str | None, typer.Option(help="New outside data: re-assess a release and add to its history.")
    ] = None,
    harm: Annotated[str | None, typer.Option(help="Potential harm: low, medium, high (PDPC, annex D).")] = None,
    motive: Annotated[str | None, typer.Option(help="Motive of an insider: low, medium, high.")] = None,
    controls: Annotated[str | None, typer.Option(help="Controls at the recipient: none, low, medium, high.")] = None,
    procedure: Annotated[
        str | None, typer.Option(help="pdpc: the risk may reach its threshold; meity: it has to be less.")
    ] = None,
    acquaintance: Annotated[float | None, typer.Option(help="Chance that a recipient knows somebody in it.")] = None,
    breach: Annotated[float | None, typer.Option(help="Chance of a data breach at the recipient.")] = None,
    threshold: Annotated[float | None, typer.Option(help="Risk above which a record counts as at risk.")] = None,
    population: Annotated[
        str | None, typer.Option(help="A table of the population, one record each: k-map, δ-presence, journalist.")
    ] = None,
    population_size: Annotated[int | None, typer.Option(help="People that the table was drawn from.")] = None,
    sampling_fraction: Annotated[
        float | None, typer.Option(help="The same as the share of them that is in the table, as 0.05.")
    ] = None,
    suda: Annotated[bool, typer.Option("--suda", help="Look for special uniques (SUDA2).")] = False,  # noqa: FBT002
    weight: Annotated[str | None, typer.Option(help="Column of sampling weights: individual risk.")] = None,
    household: Annotated[str | None, typer.Option(help="Column that names the household.")] = None,
    log_linear: Annotated[bool, typer.Option("--log-linear", help="Population uniques, by models.")] = False,  # noqa: FBT002
    unsafe: Annotated[
        str | None, typer.Option(help="Combinations of up to 3 attributes with 10 records or fewer: 10, or 10,3.")
    ] = None,
    missing: Annotated[
        str | None, typer.Option(help="How an empty or starred cell is read: value (of its own) or wildcard.")
    ] = None,
    records: Annotated[
        Path | None, typer.Option(help="Write the figures of every record, by number, to a CSV or Parquet file.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of records that is there.")] = False,  # noqa: FBT002
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
    from shoal.assess.measure.missing_values import missing_as
    from shoal.assess.measure.record_figures import records_target
    from shoal.assess.measure.request import MeasureRequest
    from shoal.assess.measure.risk_assessment import AssessmentOptions, circumstances
    from shoal.assess.measure.table_measurement import measure_data
    from shoal.assess.measure.unsafe_rule import UnsafeRule
    from shoal.assess.multi_table.table_set import table_set_at
    from shoal.cli.terminal.ci_gates import finish, refuse_junit
    from shoal.cli.views.measurement import print_measurement
    from shoal.results.release_folder import ReleaseFolder

    said = circumstances(
        harm=harm,
        motive=motive,
        controls=controls,
        procedure=procedure,
        acquaintance=acquaintance,
        breach=breach,
        threshold=threshold,
        population_size=population_size,
        sampling_fraction=sampling_fraction,
        purpose=purpose,
        target=target,
    )
    wanted = AssessmentOptions(
        said,
        suda,
        weight,
        household,
        missing_as(missing),
        log_linear=log_linear,
        unsafe=None if unsafe is None else UnsafeRule.parse(unsafe),
        records=records is not None,
    )
    refuse_junit(junit)
    tables = table_set_at(data, policy)
    if tables is not None:
        from shoal.cli.views.multi_table import measure_multi_table, refuse_for_multi_table

        columns = {"--qi": qi, "--sensitive": sensitive, "--person": person, "--rule": rule, "--target": target}
        looked_at = {"--suda": suda, "--log-linear": log_linear, "--unsafe": unsafe, "--records": records}
        others = {"--weight": weight, "--household": household, "--population": population, "--missing": missing}
        refuse_for_multi_table({**columns, **looked_at, **others, "--auxiliary": auxiliary})
        measure_multi_table(
            tables, require or [], wanted=wanted, original=original, by_records=by_records, junit=junit, as_json=json
        )
        return
    _refuse_senseless(force=force and records is None, useful=original is None and bool(target or purpose))
    lines = (
        None if records is None else records_target(records, ReleaseFolder.at(data).data, original, policy, force=force)
    )
    if auxiliary is not None:
        from shoal.cli.views.reassessment import reassess_and_print

        alone = {"--qi": qi, "--sensitive": sensitive, "--person": person, "--original": original, "--rule": rule}
        single = {"--weight": weight, "--missing": missing, "--unsafe": unsafe, "--records": records}
        single |= {"--population": population}
        about = {f"--{name.replace('_', '-')}": True for name in sorted(said.model_fields_set)}
        flags = {"--by-records": by_records or None, "--suda": suda or None, "--log-linear": log_linear or None}
        for option, given in {**alone, **single, **flags, **about}.items():
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
        population=population,
        by_records=by_records,
    )
    measured = measure_data(data, request, original=original)
    for doubt in measured.doubts:
        warn(doubt)
    if lines is not None:
        lines.write(measured.records.lazy())
    if json:
        print_json(measured.to_dict())
    else:
        print_measurement(measured)
        if lines is not None:
            typer.echo(f"figures of every record: {lines.label}")
    finish(f"shoal measure {data}", measured.models, junit)


def _refuse_senseless(*, force: bool, useful: bool) -> None:
    if force:
        raise InputError("--force: replaces a file of records; there is none without --records FILE")
    if useful:
        raise InputError("--target and --purpose are about usefulness, which needs --original DATA")


def attack(
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="A release folder, or any file or database URL.")],
    original: Annotated[str, typer.Option(help="The table that the release was made from; it judges the attacks.")],
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
    json: Json = False,  # noqa: FBT002
) -> None:
    """Attack a release: single people out, link them, infer what is sensitive, break pseudonyms; against guessing.

    Example: shoal attack release/ --original patients.csv --control others.csv
    """
    from shoal.assess.attack.table_attack import attack_data
    from shoal.assess.multi_table.table_set import table_set_at
    from shoal.cli.terminal.ci_gates import finish, refuse_junit
    from shoal.cli.views.attacks import print_attacks
    from shoal.results.attack_report import attack_bounds
    from shoal.results.attack_roles import AttackRoles

    refuse_junit(junit)
    tables = table_set_at(release, policy)
    if tables is not None:
        from shoal.cli.views.multi_table import attack_multi_table, refuse_for_multi_table

        columns = {"--qi": qi, "--sensitive": sensitive, "--person": person}
        refuse_for_multi_table({**columns, "--auxiliary": auxiliary, "--control": control})
        attack_multi_table(
            tables, original, require or [], trials=trials, seed=seed, safe=safe, junit=junit, as_json=json
        )
        return
    roles = AttackRoles.of(release, policy=policy, qi=qi, sensitive=sensitive, person=person)
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
    for doubt in found.doubts:
        warn(doubt)
    if json:
        print_json(found.to_dict())
    else:
        print_attacks(found)
    finish(f"shoal attack {release}", found.findings(bounds, safe=safe), junit)
