"""``shoal measure``: how risky a table is, and how useful; a gate for pipelines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import ASSESS
from shoal.cli.terminal.options import Json, refuse_for_multi_table, refuse_for_synthetic
from shoal.cli.terminal.output import print_json, tell, warn
from shoal.cli.terminal.progress_view import progress
from shoal.cli.terminal.reader import NO_FLAGS, ReaderFlags
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.assess.measure.options import AssessmentOptions
    from shoal.assess.multi_table.table_set import TableSet
    from shoal.assess.reassess.request import ReassessRequest
    from shoal.privacy import ModelFinding
    from shoal.results.release_folder import ReleaseFolder


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
    reader: ReaderFlags = NO_FLAGS,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Measure how risky a table is, and how useful: k, class sizes, three attackers; with --original, what was lost.

    Of a synthetic release, with --original: what it still tells, by columns, pairs, models that learn from it.

    Example: shoal measure release/data.csv --qi age,sex,pin --require k=5
    """
    from shoal.assess.measure.options import AssessmentOptions, circumstances, parse_missing
    from shoal.assess.measure.record_figures import records_target
    from shoal.assess.measure.request import MeasureRequest
    from shoal.assess.measure.table_measurement import measure_data
    from shoal.assess.measure.unsafe_rule import UnsafeRule
    from shoal.assess.multi_table.table_set import table_set_at
    from shoal.assess.reassess.request import ReassessRequest
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
    options = AssessmentOptions(
        circumstances=said,
        suda=suda,
        weight=weight,
        household=household,
        missing=parse_missing(missing),
        log_linear=log_linear,
        unsafe=None if unsafe is None else UnsafeRule.parse(unsafe),
        records=records is not None,
    )
    refuse_junit(junit)
    folder = ReleaseFolder.around(data)
    asked = {
        "--policy": policy,
        "--qi": qi,
        "--sensitive": sensitive,
        "--person": person,
        "--rule": rule,
        "--auxiliary": auxiliary,
        "--records": records,
        "--population": population,
    }
    if _is_measured_synthetic(folder, original, target, require or [], asked, reader, junit=junit, as_json=json):
        return
    tables = table_set_at(folder, policy, reader.options)
    if tables is not None:
        columns = {"--qi": qi, "--sensitive": sensitive, "--person": person, "--rule": rule, "--target": target}
        looked_at = {"--suda": suda, "--log-linear": log_linear, "--unsafe": unsafe, "--records": records}
        others = {"--weight": weight, "--household": household, "--population": population, "--missing": missing}
        refuse_for_multi_table({**columns, **looked_at, **others, "--auxiliary": auxiliary})
        _measure_tables(
            tables,
            require or [],
            reader,
            options=options,
            original=original,
            by_records=by_records,
            junit=junit,
            as_json=json,
        )
        return
    _refuse_senseless(force=force and records is None, useful=original is None and bool(target or purpose))
    lines = None if records is None else records_target(records, folder.data, original, policy, force=force)
    if auxiliary is not None:
        alone = {"--qi": qi, "--sensitive": sensitive, "--person": person, "--original": original, "--rule": rule}
        single = {
            "--weight": weight,
            "--missing": missing,
            "--unsafe": unsafe,
            "--records": records,
            "--population": population,
        }
        flags = {
            "--by-records": by_records or None,
            "--suda": suda or None,
            "--log-linear": log_linear or None,
            **{f"--{name.replace('_', '-')}": True for name in sorted(said.model_fields_set)},
        }
        for option, given in {**alone, **single, **flags}.items():
            if given is not None:
                raise InputError(f"{option}: can't go with --auxiliary, which links new data with a release")
        again = ReassessRequest.parse(auxiliary, require=require or [], policy=policy, reader=reader.options)
        found = _reassess(data, again, as_json=json)
        finish(f"shoal measure {data}", found, junit)
        return
    outside = None if folder.manifest is not None else folder.data
    opened = reader.open_all({"data": outside, "original": original, "population": population})
    request = MeasureRequest.parse(
        policy=policy,
        quasi=qi,
        sensitive=sensitive,
        person=person,
        require=require or [],
        options=options,
        rules=rule or [],
        population=opened.get("population"),
        release=folder,
        by_records=by_records,
    )
    with progress(silent=json) as monitor:
        measured = measure_data(opened.get("data", folder), request, original=opened.get("original"), monitor=monitor)
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


def _is_measured_synthetic(
    folder: ReleaseFolder,
    original: str | None,
    target: str | None,
    require: Sequence[str],
    refused: Mapping[str, object],
    reader: ReaderFlags,
    *,
    junit: Path | None,
    as_json: bool,
) -> bool:
    """Whether it is a synthetic release with its original, and if so, what it still tells."""
    from shoal.assess.synthetic.released import SyntheticRequest, assess_synthetic_release, is_synthetic

    if folder.tables is not None:
        return _is_measured_set(folder, original, require, reader, junit=junit, as_json=as_json)
    if original is None or not is_synthetic(folder):
        return False
    from shoal.assess.comparison.paired_tables import MEASURING
    from shoal.assess.synthetic import parse_gates
    from shoal.cli.terminal.ci_gates import finish
    from shoal.cli.views.synthetic import print_fidelity

    refuse_for_synthetic(refused)
    request = SyntheticRequest(
        original=reader.open_all({"original": original})["original"],
        targets=() if target is None else (target,),
        require=parse_gates(require),
        attacks=False,
    )
    with progress(silent=as_json) as monitor:
        found = assess_synthetic_release(folder, request, MEASURING, monitor)
    tell(found, print_fidelity, as_json=as_json)
    finish(f"shoal measure {folder.place}", found.findings(), junit)
    return True


def _is_measured_set(
    folder: ReleaseFolder,
    original: str | None,
    require: Sequence[str],
    reader: ReaderFlags,
    *,
    junit: Path | None,
    as_json: bool,
) -> bool:
    """Whether it is a release of several synthetic tables, and if so, what they still tell."""
    from shoal.assess.synthetic.released import SyntheticRequest, assess_synthetic_set, is_synthetic_set

    if not is_synthetic_set(folder):
        return False
    from shoal.assess.comparison.paired_tables import MEASURING
    from shoal.assess.synthetic import parse_gates
    from shoal.cli.terminal.ci_gates import finish
    from shoal.cli.views.synthetic import print_tables_fidelity

    if original is None:
        raise InputError("synthetic tables are measured beside the real ones", field="original")
    request = SyntheticRequest(original=original, require=parse_gates(require), attacks=False)
    with progress(silent=as_json) as monitor:
        found = assess_synthetic_set(folder, request, reader.open, MEASURING, monitor)
    tell(found, print_tables_fidelity, as_json=as_json)
    finish(f"shoal measure {folder.place}", found.findings(), junit)
    return True


def _measure_tables(
    tables: TableSet,
    require: Sequence[str],
    reader: ReaderFlags,
    *,
    options: AssessmentOptions,
    original: str | None,
    by_records: bool,
    junit: Path | None,
    as_json: bool,
) -> None:
    from shoal.assess.multi_table.measurement import measure_tables
    from shoal.cli.terminal.ci_gates import finish
    from shoal.cli.views.multi_table import print_measured

    with progress(silent=as_json) as monitor, monitor.phase("measure tables"):
        measured = measure_tables(
            tables, require, options=options, original=original, by_records=by_records, reader=reader.options
        )
    tell(measured, print_measured, as_json=as_json)
    if tables.manifest is not None and not as_json:
        typer.echo(f"  more of a single table: shoal measure {Path(tables.place) / 'TABLE'}; --json has all of it.")
    finish(f"shoal measure {tables.place}", measured.models, junit)


def _reassess(release: str, request: ReassessRequest, *, as_json: bool) -> tuple[ModelFinding, ...]:
    from shoal.cli.views.reassessment import reassessment_lines
    from shoal.release.history import reassess_release
    from shoal.results.history import HISTORY

    found = reassess_release(release, request)
    if as_json:
        print_json(found.to_dict())
    else:
        for line in reassessment_lines(found):
            typer.echo(line)
        typer.echo(f"history: {Path(release) / HISTORY}")
    return found.findings(request.require)


COMMAND = CommandEntry(measure, place=80, task=ASSESS)
