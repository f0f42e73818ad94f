"""``shoal query``: a differentially private answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.governance.project_options import NO_PROJECT, ProjectFlags
from shoal.cli.terminal.help import ASK
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json, say
from shoal.cli.terminal.progress_view import progress
from shoal.cli.vault.connection import NO_VAULT, VaultFlags
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.curator.curator import Curator


def query(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="The description of the dataset (YAML).")],
    sql: Annotated[str, typer.Argument(metavar="SQL", help="What is asked; the table is called t.")],
    epsilon: Annotated[str | None, typer.Option("--epsilon", "-e", help="What the answer may cost, as 0.5.")] = None,
    accuracy: Annotated[
        str | None, typer.Option(help="Find the ε that is needed: ±50, or ±2 % where `rows` is described.")
    ] = None,
    delta: Annotated[str | None, typer.Option(help="For groups that are not public; a tenth of the budget's.")] = None,
    analyst: Annotated[str | None, typer.Option(help="Who asks.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Price and error: nothing read or spent.")] = False,  # noqa: FBT002
    non_negative: Annotated[bool, typer.Option("--non-negative", help="Counts below nought are put right.")] = False,  # noqa: FBT002
    fresh: Annotated[bool, typer.Option("--fresh", help="Ask anew and pay again, though it was asked before.")] = False,  # noqa: FBT002
    beside: Annotated[
        Path | None, typer.Option(help="A synthetic release: the same is asked of it, and shown beside the answer.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="An ε above 20 is meant.")] = False,  # noqa: FBT002
    door: VaultFlags = NO_VAULT,
    registered: ProjectFlags = NO_PROJECT,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Ask a dataset a question and get an answer with noise; exit 1 when the budget does not suffice.

    Example: shoal query hospital.yaml "SELECT region, COUNT(*) FROM t GROUP BY region" --epsilon 0.5
    """
    from shoal.cli.views.private_answer import print_answer, print_price
    from shoal.curator.accuracy import WantedAccuracy, epsilon_for
    from shoal.curator.curator import Curator, positive_amount

    if (epsilon is None) == (accuracy is None):
        raise InputError("give --epsilon, or --accuracy to have it found")
    curator = Curator(dataset, withdrawn=registered.withdrawn(door))
    if accuracy is not None:
        epsilon = str(epsilon_for(curator, sql, WantedAccuracy.parse(accuracy), analyst))
        say(f"ε = {epsilon} is needed")
    if dry_run:
        price = curator.price(sql, epsilon, delta=delta, analyst=analyst, absurd=yes)
        print_json(price.to_dict()) if json else print_price(price)
        raise typer.Exit(0 if price.sufficient else 1)
    paid = float(positive_amount(epsilon, "epsilon"))
    if beside is not None and (non_negative or fresh):
        raise InputError("--beside: both tables are asked as they are, without --non-negative and --fresh")
    entered_as = f"answer {curator.description.name}"
    if beside is not None:
        with registered.answering(entered_as, paid):
            _compare(curator, sql, beside, epsilon=epsilon, delta=delta, analyst=analyst, absurd=yes, as_json=json)
        return
    with (
        registered.answering(entered_as, paid) as entered,
        progress(silent=json) as monitor,
        monitor.phase("answer"),
    ):
        answer = curator.query(
            sql, epsilon, delta=delta, analyst=analyst, absurd=yes, non_negative=non_negative, fresh=fresh
        )
        entered.epsilon = float(answer.epsilon_spent)
    print_json(answer.to_dict()) if json else print_answer(answer)


def _compare(curator: Curator, sql: str, place: Path, *, as_json: bool, **asked: Any) -> None:
    """The synthetic table is read before anything is paid."""
    from shoal.assess.attack.table_attack import read_table
    from shoal.cli.views.private_answer import print_comparison
    from shoal.curator.synthesis import compare_query
    from shoal.results.release_folder import ReleaseFolder

    folder = ReleaseFolder.around(str(place))
    synthetic = read_table(folder.data, "synthetic release")
    with progress(silent=as_json) as monitor, monitor.phase("answer"):
        both = compare_query(curator, sql, synthetic, **asked)
    print_json(both.to_dict()) if as_json else print_comparison(both)


COMMAND = CommandEntry(query, place=92, task=ASK)
