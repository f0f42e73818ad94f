"""A table, and the policies of ``examples.yaml`` on it, which together use every technique and every privacy model."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from shoal.policy import Policy

ROWS = 120
EXAMPLES: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
NAMES = tuple(EXAMPLES["policies"])
DOMAINS = ("patients", "phones", "cards", "mail", "pay")
"""That a vault has to have."""

_FIRST = ("Asha", "Ravi", "Meera", "Arjun", "Kavya", "Rohan")
_LAST = ("Rao", "Iyer", "Khan", "Das", "Nair")


def table() -> pl.DataFrame:
    rows = range(ROWS)
    person = [row * 7 % 80 for row in rows]
    return pl.DataFrame(
        {
            "patient": [None if row % 29 == 0 else f"p{person[row]}" for row in rows],
            "name": [f"{_FIRST[who % 6]} {_LAST[who % 5]}" for who in person],
            "phone": [f"+91 98200 {who:05}" for who in person],
            "email": [f"{_FIRST[who % 6].lower()}{who}@example.org" for who in person],
            "card": [f"4111 1111 1111 {who:04}" for who in person],
            "age": [20 + who * 13 % 60 for who in person],
            "sex": [("f", "m")[who % 2] for who in person],
            "town": [("Pune", "Agra", None, "Delhi")[who // 3 % 4] for who in person],
            "income": [1000 + row * 37 % 900 + row % 4 * 0.25 for row in rows],
            "bonus": [50 + row * 11 % 40 + row % 2 * 0.5 for row in rows],
            "visits": pl.Series([row * 5 % 48 for row in rows], dtype=pl.UInt8),
            "seen": [datetime.date(2024, 1, 1) + datetime.timedelta(days=row * 17 % 300) for row in rows],
            "moment": [datetime.datetime(2024, 1, 1, row * 7 % 3, row % 60) for row in rows],  # noqa: DTZ001
            "diagnosis": [("flu", "gout", "cold", "asthma", "migraine", "anaemia")[row * 5 // 4 % 6] for row in rows],
            "had": [";".join(("tea", "cake", "rum", "milk")[row % 3 : row % 3 + 1 + row % 2]) for row in rows],
            "latitude": [18.5 + row % 13 * 0.01 for row in rows],
            "longitude": [73.8 + row % 11 * 0.01 for row in rows],
            "note": [f"Called {_FIRST[who % 6]} {_LAST[who % 5]} on +91 98200 {who:05}." for who in person],
        }
    )


def everyone() -> pl.DataFrame:
    """A population in which the people of the table are."""
    people = table().select(pl.col("age", "sex").cast(pl.String))
    return pl.concat([people] * 3)


def policy(name: str, folder: Path, example: Mapping[str, Any] | None = None) -> Policy:
    """The policy of an example, as a file in the folder that the table and the population lie in."""
    example = EXAMPLES["policies"][name] if example is None else example
    attributes = {**EXAMPLES["common"], **example["attributes"], "*": "suppress"}
    known = {"shoal": 1, "name": name.replace(" ", "-"), **example, "attributes": attributes}
    path = folder / f"{known['name']}.yaml"
    path.write_text(yaml.safe_dump(known, sort_keys=False), encoding="utf-8")
    return Policy.load(path)
