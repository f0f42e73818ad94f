"""Documents that are made from what is recorded: checklists, drafts, notifications."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from shoal.cli.governance.registry_place import NO_REGISTRY, RegistryOption
from shoal.cli.terminal.output import say
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.report.plain_document import PlainDocument


class WrittenForm(StrEnum):
    HTML = "html"
    MARKDOWN = "markdown"
    CSV = "csv"
    PDF = "pdf"
    JSON = "json"


_ENDINGS: Final = {
    ".html": WrittenForm.HTML, ".md": WrittenForm.MARKDOWN, ".csv": WrittenForm.CSV,
    ".pdf": WrittenForm.PDF, ".json": WrittenForm.JSON,
}  # fmt: skip
Folders = Annotated[
    list[Path] | None, typer.Option("--folder", help="The folder of a release of the project. May be repeated.")
]
Policies = Annotated[
    list[Path] | None, typer.Option("--policy", help="The policy of a release of the project. May be repeated.")
]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Where to write it; else it is shown.")]
Format = Annotated[WrittenForm | None, typer.Option("--format", help="By the file's ending, else Markdown.")]
Project = Annotated[str, typer.Argument(metavar="PROJECT", help="The project's identifier.")]


def written(document: PlainDocument, chosen: WrittenForm | None, output: Path | None, told: object) -> None:
    """The document in its format, to a file or to be read at once. ``told`` is what it says, as JSON."""
    import json

    from shoal.io import write_atomic
    from shoal.report.pdf import html_to_pdf

    form = chosen or (WrittenForm.MARKDOWN if output is None else _ENDINGS.get(output.suffix, WrittenForm.HTML))
    if form is WrittenForm.PDF:
        if output is None:
            raise InputError("a PDF goes into a file", field="output")
        html_to_pdf(document.to_html(), output)
    else:
        written: dict[WrittenForm, Callable[[], str]] = {
            WrittenForm.HTML: document.to_html,
            WrittenForm.MARKDOWN: document.to_markdown,
            WrittenForm.CSV: document.to_csv,
            WrittenForm.JSON: lambda: json.dumps(told, indent=2, default=str) + "\n",
        }
        text = written[form]()
        if output is None:
            typer.echo(text, nl=False)
            return
        write_atomic(output, text)
    say(f"{output}: written")


def checklist(
    project: Project,
    folder: Folders = None,
    policy: Policies = None,
    output: Output = None,
    form: Format = None,
    registry: RegistryOption = NO_REGISTRY,
) -> None:
    """Fill the checklists of MeitY, PDPC and ISO from what is recorded; what nothing shows stays open.

    Example: shoal register checklist hospital --folder release/ --policy policy.yaml -o checklist.html
    """
    from dataclasses import asdict

    from shoal.govern.checklist import checklist_document, fill
    from shoal.govern.evidence_base import gather
    from shoal.randomness import now

    with registry.opened() as opened:
        base = gather(opened, project, folder or (), policy or ())
        use_case = opened.state("project", project).use_case  # type: ignore[attr-defined]  # of a project
    filled = fill(base, use_case)
    for one in filled:
        say(f"{one.source}: {one.answered} of {one.needed} lines are answered by evidence")
    page = checklist_document(project, filled, now().date().isoformat())
    written(page, form, output, [asdict(one) | {"answered": one.answered, "needed": one.needed} for one in filled])


def draft(
    what: Annotated[str, typer.Argument(metavar="dpia|expert", help="Impact assessment, or expert determination.")],
    project: Project,
    folder: Folders = None,
    policy: Policies = None,
    output: Output = None,
    form: Format = None,
    registry: RegistryOption = NO_REGISTRY,
) -> None:
    """Draft an assessment from what is recorded, with its gaps shown.

    Example: shoal register draft dpia hospital --folder release/ --policy policy.yaml -o dpia.html
    """
    from dataclasses import asdict

    from shoal.govern.drafts import draft_forms, drafted
    from shoal.govern.evidence_base import gather
    from shoal.randomness import now
    from shoal.schema.registry import did_you_mean

    forms = draft_forms()
    if what not in forms:
        raise InputError(f"there is no form of '{what}'{did_you_mean(what, tuple(forms))}", field="what")
    with registry.opened() as opened:
        base = gather(opened, project, folder or (), policy or ())
    page = drafted(forms[what], base, now().date().isoformat())
    written(page, form, output, asdict(page))


def notification(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="The incident.")],
    people: Annotated[bool, typer.Option("--people", help="To those affected, not to the authority.")] = False,  # noqa: FBT002
    output: Output = None,
    form: Format = None,
    registry: RegistryOption = NO_REGISTRY,
) -> None:
    """Draft what has to be told after a loss: to the authority, or to the people affected.

    Example: shoal register notification I-1 -o notification.html
    """
    from dataclasses import asdict

    from shoal.govern.drafts import notification as drafted_notification
    from shoal.govern.kinds.incident import IncidentState
    from shoal.randomness import now

    with registry.opened() as opened:
        incident = opened.state("incident", identifier)
    if not isinstance(incident, IncidentState):
        raise InputError(f"'{identifier}' is no incident")
    page = drafted_notification(identifier, incident, now())[1 if people else 0]
    written(page, form, output, asdict(page))
