"""A command for each act of each kind of record, made from its declaration: a field is an option."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import Enum
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

import typer

from shoal.cli.governance.registry_place import NO_ACTOR, NO_REGISTRY, ActorOption, RegistryOption
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from shoal.govern.record_kinds import RecordAct, RecordKind

Identifier = Annotated[str, typer.Argument(metavar="ID", help="The record's identifier.")]


def add_record_acts(group: typer.Typer) -> None:
    """A group for each kind, a command for each of its acts."""
    from shoal.govern.record_kinds import record_kinds

    for name, kind in sorted(record_kinds):
        example = f"Example: shoal register {name} {next(iter(kind.acts))} {_EXAMPLES.get(name, 'first')} …"
        below = typer.Typer(
            name=name,
            help=f"{kind.about}\n\n{example}",
            add_completion=False,
            rich_markup_mode=None,
            no_args_is_help=True,
        )
        for act in kind.acts.values():
            below.command(act.name)(_command(kind, act))
        group.add_typer(below)


_EXAMPLES = {"person": "asha", "project": "hospital", "request": "R-1", "release": "2026-q1", "incident": "I-1"}


def _command(kind: RecordKind, act: RecordAct) -> Callable[..., None]:
    shown = {name: field for name, field in act.given.model_fields.items() if field.description}

    def command(identifier: str, registry: RegistryOption, actor: ActorOption, json: bool, **options: Any) -> None:  # noqa: FBT001
        given = {name: value for name, value in options.items() if value not in (None, [], False)}
        with registry.opened() as opened:
            state = opened.perform(kind.name, act.name, identifier, given, by=actor.name)
        if json:
            print_json({"kind": kind.name, "id": identifier, **state.model_dump(mode="json", exclude_defaults=True)})
            return
        typer.echo(f"{kind.name} {identifier}: {state.status}")

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("identifier", keyword, annotation=Identifier),
        *(
            inspect.Parameter(name, keyword, annotation=_option(name, field), default=_default(field))
            for name, field in shown.items()
        ),
        inspect.Parameter("registry", keyword, annotation=RegistryOption, default=NO_REGISTRY),
        inspect.Parameter("actor", keyword, annotation=ActorOption, default=NO_ACTOR),
        inspect.Parameter("json", keyword, annotation=Json, default=False),
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what Typer reads
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    command.__name__ = act.name.replace("-", "_")
    needed = " ".join(f"--{name.replace('_', '-')} …" for name, field in shown.items() if field.is_required())
    example = f"shoal register {kind.name} {act.name} {_EXAMPLES.get(kind.name, 'first')} {needed} --by asha"
    command.__doc__ = f"{act.about}\n\nExample: {' '.join(example.split())}"
    return command


def _option(name: str, field: FieldInfo) -> Any:
    flag = f"--{name.replace('_', '-')}"
    choices = _choices(field.annotation)
    told = f"{field.description}{f' One of: {chr(44).join(choices)}.' if choices else ''}".replace(",", ", ")
    if field.annotation is bool:
        return Annotated[bool, typer.Option(flag, help=field.description)]
    if get_origin(field.annotation) is tuple:
        return Annotated[list[str] | None, typer.Option(flag, help=f"{told} May be repeated.")]
    return Annotated[str | None, typer.Option(flag, help=told)]


def _default(field: FieldInfo) -> Any:
    return False if field.annotation is bool else None


def _choices(annotation: Any) -> list[str]:
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [str(one.value) for one in annotation]
    if get_origin(annotation) in {tuple, Union, UnionType}:
        return [choice for inner in get_args(annotation) for choice in _choices(inner)]
    return []
