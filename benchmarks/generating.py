"""Test data, ten million rows of twelve columns of identifiers, against Faker with the same columns.

Faker makes fewer rows in the same run, and its CPU time is taken per row; it is given its quicker way, without weights.
"""

from __future__ import annotations

import string
from collections.abc import Callable
from pathlib import Path

from faker import Faker

from benchmarks.cpu import cpu_seconds
from benchmarks.result import Result
from shoal.kernels.check_characters import nric_letter
from shoal.randomness import Randomness
from shoal.synth.test_data import TableSchema, rows_of

ROWS = 10_000_000
FAKER_ROWS = 20_000
GOAL = 1.0
"""Percent of what Faker takes: a hundred times as fast."""
COLUMNS = ("aadhaar", "pan", "nric", "card", "iban", "phone", "email", "user_name", "name", "uuid", "mac", "ipv4")


def run(_folder: Path, _rows: int) -> list[Result]:
    mine = cpu_seconds(_shoal) / ROWS
    theirs = cpu_seconds(_faker) / FAKER_ROWS
    label = f"test data, {ROWS:,} rows × {len(COLUMNS)} columns of identifiers"
    described = f"Faker {theirs * 1e6:.0f} µs a row ({FAKER_ROWS:,} rows)"
    return [Result(label, f"{mine * 1e6:.2f} µs a row", described, 100 * mine / theirs, GOAL, "%")]


def _shoal() -> None:
    schema = TableSchema.of({"shoal": 1, "columns": {name: name for name in COLUMNS}})
    for _ in rows_of(schema, ROWS, Randomness(seed=7)):
        pass


def _faker() -> None:
    fake = Faker("en_IN", use_weighting=False)
    fake.seed_instance(7)
    columns: dict[str, Callable[[], object]] = {
        "aadhaar": fake.aadhaar_id,
        "pan": lambda: fake.bothify("???P?####?", string.ascii_uppercase),
        "nric": lambda: _nric(fake.numerify("#######")),
        "card": fake.credit_card_number,
        "iban": fake.iban,
        "phone": fake.phone_number,
        "email": fake.safe_email,
        "user_name": fake.user_name,
        "name": fake.name,
        "uuid": fake.uuid4,
        "mac": fake.mac_address,
        "ipv4": fake.ipv4,
    }
    for make in (columns[name] for name in COLUMNS):
        for _ in range(FAKER_ROWS):
            make()


def _nric(digits: str) -> str:
    return f"T{digits}{nric_letter('T', digits)}"
