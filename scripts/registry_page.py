"""Write ``docs/reference/registry.md``: kinds of record, their acts, who may do them, from their declarations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from shoal.govern.procedure import procedure
from shoal.govern.record_kinds import RecordAct, RecordKind, record_kinds
from shoal.govern.rights import allowing_roles, role_rights

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "registry.md"
INTRODUCTION = """\
# The registry

What a registry keeps, what may be done with it, and by whom. This page is made from the declarations (`make generate`).
[Govern releases](../how-to/govern.md) shows it at work. An act is a command, `shoal register KIND ACT ID --by NAME …`,
and one call in Python: `registry.perform(KIND, ACT, ID, {…}, by=NAME)`.
"""


def lines() -> Iterator[str]:
    yield INTRODUCTION
    yield "## Roles\n"
    yield "| role | is | by | takes training |\n|---|---|---|---|"
    for name, rights in role_rights().items():
        yield f"| `{name}` | {rights.title} | {rights.source} | {'yes' if rights.training else 'no'} |"
    yield "\n## Steps of a project\n"
    yield "| | step | step of the PDPC guide | |\n|---|---|---|---|"
    for number, step in procedure().steps.items():
        yield f"| {number} | {step.title} | {step.pdpc} | {'always needed' if step.always else ''} |"
    for name, kind in sorted(record_kinds):
        yield f"\n## {name}\n\n{kind.about}\n"
        yield "| act | does | when it is | needs | may be given | who |\n|---|---|---|---|---|---|"
        yield from (row(kind, act) for act in kind.acts.values())


def row(kind: RecordKind, act: RecordAct) -> str:
    shown = {name: field for name, field in act.given.model_fields.items() if field.description}
    needed = [f"`{name}`" for name, field in shown.items() if field.is_required()]
    free = [f"`{name}`" for name, field in shown.items() if not field.is_required()]
    when = ", ".join(sorted(act.when)) or "new"
    who = ", ".join(f"`{role}`" for role in allowing_roles(f"{kind.name}.{act.name}"))
    cells = [f"`{act.name}`", " ".join(act.about.split()), when, ", ".join(needed), ", ".join(free), who]
    return f"| {' | '.join(cells)} |"


def page() -> str:
    return "\n".join(lines()) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
