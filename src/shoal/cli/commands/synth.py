"""``shoal synth``: a synthetic table, as a release folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.governance.project_options import NO_PROJECT, ProjectFlags
from shoal.cli.terminal.help import RELEASE
from shoal.cli.terminal.imports import importing
from shoal.cli.terminal.lists import listed
from shoal.cli.terminal.option_sets import OptionSet
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json
from shoal.cli.terminal.progress_view import progress
from shoal.cli.terminal.reader import NO_FLAGS, ReaderFlags
from shoal.cli.vault.connection import NO_VAULT, VaultFlags
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.io import Source
    from shoal.synthetic_release.output import SyntheticRelease
    from shoal.synthetic_release.several.output import SyntheticTablesRelease
    from shoal.synthetic_release.several.request import RelatedTablesRequest


@dataclass(frozen=True)
class MixingFlags(OptionSet):
    """Of tables whose rows are those of real people, partly drawn."""

    columns: Annotated[
        str | None, typer.Option(help="Of partial: the columns that are drawn, separated by commas; all else is real.")
    ] = None
    qi: Annotated[
        str | None, typer.Option("--qi", help="Of partial: the quasi-identifiers by which records are risky.")
    ] = None
    risky: Annotated[
        int | None, typer.Option(help="Of partial: only records whose quasi-identifiers fewer than so many share.")
    ] = None
    weight: Annotated[float | None, typer.Option(help="Of hybrid: the share of the real record, as 0.5.")] = None

    @property
    def wishes(self) -> dict[str, object]:
        """By the fields of a request."""
        named = {"columns": self.columns, "quasi": self.qi}
        lists = {name: tuple(listed(f"--{name}", text)) for name, text in named.items() if text is not None}
        return {**lists, "risky": self.risky, "weight": self.weight}


@dataclass(frozen=True)
class BudgetFlags(OptionSet):
    """Who pays for a private synthesis."""

    dataset: Annotated[
        Path | None, typer.Option(help="A dataset's description: its budget pays, and its source is learnt from.")
    ] = None
    analyst: Annotated[str | None, typer.Option(help="Whose part of that budget.")] = None
    table: Annotated[str | None, typer.Option(help="Which of the dataset's tables.")] = None


NOT_MIXED, NO_BUDGET = MixingFlags(), BudgetFlags()


def synth(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATA…", help="A file or database URL; a folder or several files of tables that belong together."
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder of the release.")] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="sequential (if not said), marginals, network, deep, test-data, partial, hybrid, or one of a plug-in."
        ),
    ] = None,
    rows: Annotated[int | None, typer.Option(help="How many records; as many as the source has, if not said.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="What a private method may tell of one person, as 1.")] = None,
    delta: Annotated[float | None, typer.Option(help="The chance that it tells more, as 1e-9.")] = None,
    rows_per_person: Annotated[
        int, typer.Option(help="Of a private method: at most so many records of a person are learnt from.")
    ] = 1,
    seed: Annotated[int | None, typer.Option(help="Makes the draw repeatable: for tests only.")] = None,
    description: Annotated[
        Path | None, typer.Option(help="Shapes of columns, constraints, person (YAML); of test data, its schema.")
    ] = None,
    where: Annotated[str | None, typer.Option(help="Only records of which this is true: \"sex = 'F'\".")] = None,
    balance: Annotated[str | None, typer.Option(help="Each value of this column equally often.")] = None,
    edit_rules: Annotated[
        Path | None, typer.Option(help="Edit rules to count: a policy, or a YAML file with its rules: alone.")
    ] = None,
    targets: Annotated[str | None, typer.Option(help="Columns that will be predicted, separated by commas.")] = None,
    from_model: Annotated[Path | None, typer.Option(help="Draw from a model that was kept.")] = None,
    save_model: Annotated[bool, typer.Option("--save-model", help="Put the model beside the data.")] = False,  # noqa: FBT002
    mixing: MixingFlags = NOT_MIXED,
    budget: BudgetFlags = NO_BUDGET,
    heavy: Annotated[  # noqa: FBT002
        bool, typer.Option("--heavy", help="Test data out of the data: everything perturbed and swapped.")
    ] = False,
    control: Annotated[
        str | None, typer.Option(help="People who are not in the data, to compare attacks with.")
    ] = None,
    evidence: Annotated[bool, typer.Option(help="Measure how alike it is, and attack it.")] = True,  # noqa: FBT002
    require: Annotated[list[str] | None, typer.Option(help="copies=0.01, tv2=0.05 …: exit 1 if it is more.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the release that is there.")] = False,  # noqa: FBT002
    door: VaultFlags = NO_VAULT,
    reader: ReaderFlags = NO_FLAGS,
    registered: ProjectFlags = NO_PROJECT,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Make a synthetic table, or several, and write a release folder: records that tell the same story about nobody.

    Example: shoal synth patients.csv --output synthetic/
    """
    with importing():
        from shoal.assess.synthetic import parse_gates
        from shoal.synthetic_release.edit_rules import read_edit_rules
        from shoal.synthetic_release.request import SynthesisRequest, default_method
        from shoal.synthetic_release.run import SyntheticRun
        from shoal.synthetic_release.several.request import RelatedTablesRequest
        from shoal.synthetic_release.several.table_sources import is_several

    bounds = parse_gates(require or [])
    if bounds and not evidence:
        raise InputError("what is required has to be measured", field="require")
    folder = output or Path("synthetic-release")
    registration, withdrawn = registered.registration, registered.withdrawn(door)
    if is_several(data or [], description):
        if registration is not None:
            raise InputError("a release of several tables is not entered by itself", field="project")
        asked = {"method": method, "where": where, "balance": balance, "targets": targets, "from_model": from_model}
        single = {
            **asked,
            "epsilon": epsilon,
            "delta": delta,
            **mixing.wishes,
            **asdict(budget),
            "heavy": heavy or None,
            "edit_rules": edit_rules,
        }
        request_of_all = RelatedTablesRequest(
            data=data or None,
            description=description,
            rows=rows,
            seed=seed,
            control=control,
            require=bounds,
            evidence=evidence,
            save_model=save_model,
            output=folder,
            force=force,
            reader=reader.options,
        )
        _several(request_of_all, single, as_json=json)
        return
    sources = reader.open_all({"data": next(iter(data or []), None), "control": control})
    if heavy:
        if edit_rules is not None:
            raise InputError("does not go with heavy: everything is perturbed apart", field="edit_rules")
        if registration is not None:
            raise InputError("test data out of the data is not entered by itself", field="project")
        _heavy(sources.get("data"), folder, method, seed=seed, force=force, as_json=json)
        return
    request = SynthesisRequest(
        data=sources.get("data"),
        method=method or default_method(budget.dataset),
        rows=rows,
        epsilon=epsilon,
        delta=delta,
        rows_per_person=rows_per_person,
        seed=seed,
        description=description,
        where=where,
        balance=balance,
        edit_rules=() if edit_rules is None else read_edit_rules(edit_rules),
        targets=tuple(listed("--targets", targets)) if targets else (),
        from_model=from_model,
        save_model=save_model,
        control=sources.get("control"),
        require=bounds,
        evidence=evidence,
        output=folder,
        force=force,
        withdrawn=withdrawn,
        **mixing.wishes,
        **asdict(budget),
    )
    with progress(silent=json) as monitor:
        prepared = SyntheticRun(request, monitor)
        release = prepared.execute() if registration is None else registration.synthesise(prepared)
    _show(release, f"shoal synth {data or release.manifest.method}", as_json=json)


def _several(request: RelatedTablesRequest, single: Mapping[str, object], *, as_json: bool) -> None:
    from shoal.cli.terminal.ci_gates import finish
    from shoal.cli.views.synthesis import print_related_synthesis, related_findings
    from shoal.synthetic_release.several.run import RelatedTablesRun

    for name, given in single.items():
        if given and not (name == "method" and given == "sequential"):
            raise InputError("is about one table, and there are several", field=name)
    with progress(silent=as_json) as monitor:
        release = RelatedTablesRun(request, monitor).execute()
    if as_json:
        print_json({**release.manifest.to_dict(), "of_tables": _manifests(release)})
    else:
        print_related_synthesis(release)
    finish(f"shoal synth {release.manifest.name}", related_findings(release), None)


def _manifests(release: SyntheticTablesRelease) -> dict[str, object]:
    return {name: one.manifest.to_dict() for name, one in release.tables.items()}


def _show(release: SyntheticRelease, command: str, *, as_json: bool) -> None:
    from shoal.cli.terminal.ci_gates import finish
    from shoal.cli.views.synthesis import print_synthesis
    from shoal.results.synthesis.synthetic_assessment import gate_findings

    if as_json:
        print_json(release.manifest.to_dict())
    else:
        print_synthesis(release)
    finish(command, gate_findings(release.manifest.models), None)


def _heavy(
    source: Source | None, folder: Path, method: str | None, *, seed: int | None, force: bool, as_json: bool
) -> None:
    from shoal.cli.views.summary import print_release
    from shoal.synthetic_release.heavy import heavy_release

    if method != "test-data" or source is None:
        raise InputError("is a way to make test data out of data", field="heavy", advice="--method test-data DATA")
    with progress(silent=as_json) as monitor:
        release = heavy_release(source, folder, seed=seed, force=force, monitor=monitor)
    if as_json:
        print_json(release.manifest.to_dict())
    else:
        print_release(release)


COMMAND = CommandEntry(synth, place=12, task=RELEASE)
