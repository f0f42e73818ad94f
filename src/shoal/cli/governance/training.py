"""Training at the terminal: a page, a quiz that is marked, and the record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.governance.registry_place import NO_ACTOR, NO_REGISTRY, ActorOption, RegistryOption
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json, print_table
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.govern.training import TrainingTopic

app = typer.Typer(
    name="training",
    help="Learn the eight topics and be examined.\n\nExample: shoal register training take breaches --by asha",
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)
Topic = Annotated[str, typer.Argument(metavar="TOPIC", help="One of the eight; `topics` lists them.")]


@app.command()
def topics(json: Json = False) -> None:  # noqa: FBT002
    """List the eight topics.

    Example: shoal register training topics
    """
    from shoal.govern.training import training_topics

    if json:
        print_json({name: one.title for name, one in training_topics().items()})
        return
    rows = [(name, one.title, len(one.questions)) for name, one in training_topics().items()]
    print_table("topics", ("topic", "is about", "questions"), rows)


@app.command()
def read(topic: Topic) -> None:
    """Read the page of a topic, and the questions.

    Example: shoal register training read breaches
    """
    from shoal.govern.training import training_topic

    _show(training_topic(topic))


@app.command()
def take(
    topic: Topic,
    answers: Annotated[
        str | None, typer.Option(help="The numbers of your answers, as 2,1,3,2; asked for at the terminal without.")
    ] = None,
    registry: RegistryOption = NO_REGISTRY,
    actor: ActorOption = NO_ACTOR,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Answer the quiz of a topic; marks and date are recorded. 60 of a hundred pass; exit code 1 where they don't.

    Example: shoal register training take breaches --by asha
    """
    from shoal.govern.kinds.person import PersonState
    from shoal.govern.training import training_topic

    chosen = training_topic(topic)
    given = _numbers(answers) if answers is not None else _asked(chosen)
    with registry.opened() as opened:
        state = opened.perform("person", "sit", actor.name, {"topic": topic, "answers": given}, by=actor.name)
    result = state.last_results[topic] if isinstance(state, PersonState) else None
    if result is None:
        return
    told = {"topic": topic, "marks": result.marks, "passed": result.passed, "again_on": result.again_on.isoformat()}
    if json:
        print_json(told)
    else:
        verdict = "passed" if result.passed else "not passed"
        typer.echo(f"{topic}: {result.marks} of 100, {verdict}; next examination by {result.again_on}")
        if result.passed:
            for number, (question, answer) in enumerate(zip(chosen.questions, given, strict=True), 1):
                if answer != question.right:
                    typer.echo(f"  {number}. {question.options[question.right - 1]}: {question.because}")
    if not result.passed:
        raise typer.Exit(1)


def _show(topic: TrainingTopic) -> None:
    typer.echo(f"{topic.title}\n")
    for paragraph in topic.page:
        typer.echo(f"{paragraph}\n")
    for number, question in enumerate(topic.questions, 1):
        typer.echo(f"{number}. {question.asks}")
        for place, option in enumerate(question.options, 1):
            typer.echo(f"   {place}) {option}")


def _asked(topic: TrainingTopic) -> list[int]:
    from shoal.cli.vault.connection import need_terminal

    need_terminal("the answers are needed", "give them with --answers 2,1,3,2")
    _show(topic)
    return [typer.prompt(f"Answer to {number}", type=int) for number in range(1, len(topic.questions) + 1)]


def _numbers(text: str) -> list[int]:
    try:
        return [int(one) for one in text.split(",")]
    except ValueError:
        raise InputError("numbers, separated by commas, as 2,1,3,2", field="answers") from None
