"""How long an answer takes with and without one person, in CPU seconds, the two in turn: what a clock could tell.

``python scripts/answer_time.py [ROWS] [TURNS]``. A clock tells a person if the difference stands out of the spread.
"""

from __future__ import annotations

import sys
import time
from decimal import Decimal
from statistics import median

import polars as pl

from shoal.dp.composition import composed
from shoal.dp.description import DatasetDescription
from shoal.dp.noisy_answer import with_noise, worked_out
from shoal.dp.sql.question_reader import read_questions
from shoal.dp.tabulation import checked_frames

ALLOWED = 2
DESCRIPTION = DatasetDescription.model_validate(
    {
        "shoal": 1,
        "name": "people",
        "source": "people.csv",
        "person": "who",
        "rows_per_person": ALLOWED,
        "columns": {
            "age": {"type": "integer", "bounds": [0, 100]},
            "region": {"type": "category", "categories": ["north", "south"]},
            "town": {"type": "category"},
        },
        "budget": {"epsilon": 10, "delta": "1e-6"},
    }
)
QUESTIONS = {
    "counts by region": "SELECT region, COUNT(*), AVG(age) FROM t GROUP BY region",
    "counts by town, not public": "SELECT town, COUNT(*) FROM t GROUP BY town",
    "a condition that only she meets": "SELECT COUNT(*) FROM t WHERE age = 99 AND region = 'south'",
}


def people(rows: int, busy: int) -> pl.DataFrame:
    """Two rows for each; ``busy`` of them have five."""
    numbers = [place // ALLOWED for place in range(rows)] + [place for place in range(busy) for _ in range(3)]
    return pl.DataFrame({"who": numbers}).with_columns(
        (pl.col("who") % 90).alias("age"),
        pl.lit("north").alias("region"),
        (pl.col("who") % 50).cast(pl.String).alias("town"),
    )


def seconds(sql: str, frame: pl.DataFrame) -> float:
    plan = composed(read_questions(sql, DESCRIPTION), DESCRIPTION, Decimal(1), None)
    begun = time.process_time()
    exact = plan.tabulated([checked_frames(one, [frame.lazy()]) for one in plan.plans])
    for one, found in zip(plan.plans, exact, strict=True):
        worked_out(one, with_noise(one, found))
    return time.process_time() - begun


def main() -> None:
    rows, turns = (int(given) for given in (*sys.argv[1:], "200000", "21")[:2])
    for case, busy, hers in (
        ("as many rows as others", 0, ALLOWED),
        ("more rows than are used, as others", 100, 50),
        ("more rows than are used, as nobody else", 0, 50),
    ):
        without = people(rows, busy).rechunk()
        she = pl.DataFrame({"who": [-1] * hers, "age": [99] * hers, "region": "south", "town": "Nowhere"})
        both = without, pl.concat([without, she]).rechunk()
        for name, sql in QUESTIONS.items():
            taken: tuple[list[float], list[float]] = ([], [])
            for turn in range(2 * turns + 2):  # the first two are not counted
                spent = seconds(sql, both[turn % 2])
                if turn > 1:
                    taken[turn % 2].append(spent)
            spread = median(abs(one - median(taken[0])) for one in taken[0])
            middle = [median(one) for one in taken]
            told = f"without {1000 * middle[0]:.1f} ms (± {1000 * spread:.1f}), with {1000 * middle[1]:.1f} ms"
            sys.stdout.write(f"{case}; {name}: {told}\n")


if __name__ == "__main__":
    main()
