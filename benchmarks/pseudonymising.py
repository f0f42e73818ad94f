"""Pseudonyms and ciphertexts of ten million records with a million people, against a bare loop over the people."""

from __future__ import annotations

import hmac
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from fastfpe import ff1

from benchmarks.result import Result, paired, seconds
from shoal.crypto import Key
from shoal.crypto.hazmat.ff1 import Ff1
from shoal.pseudonyms.formats.base32 import Base32
from shoal.schema import Step
from shoal.techniques.cryptographic.encryption.deterministic import DeterministicStep
from shoal.techniques.cryptographic.encryption.format_preserving import FormatStep
from shoal.techniques.pseudonymisation.pseudonym_steps import KeyedStep

PEOPLE = 1_000_000
RECORDS = 10_000_000
BATCH = 100_000
ROUNDS = 5
SECRET = Key(bytes(range(32)))

_MEMORY = """
import resource, sys
import polars as pl
from shoal.crypto import Key
from shoal.techniques.cryptographic.encryption.deterministic import DeterministicStep

step, batch = DeterministicStep("id", Key(bytes(32))), {batch}
for start in range(0, {records}, batch):
    numbers = pl.int_range(start, start + batch, eager=True).cast(pl.String).str.zfill(9)
    step.apply(pl.select(id="PAT-" + pl.lit(numbers)))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def run(_folder: Path, _rows: int) -> list[Result]:
    ids = pl.Series("id", [f"PAT{number * 7919 % 10**9:09d}" for number in range(PEOPLE)])
    cards = pl.Series("id", [f"{number * 7919:016d}" for number in range(PEOPLE)])
    cipher = Ff1(SECRET.material, "0123456789")
    return [
        _against("keyed pseudonyms", ids, lambda: KeyedStep("id", SECRET, Base32(), "blake2b"), _hmac, 1.3),
        _against("AES-SIV", ids, lambda: DeterministicStep("id", SECRET), _siv, 1.3),
        _against("FF1, 16 digits", cards, lambda: FormatStep("id", cipher), _ff1, 1.2),
        _memory(),
    ]


def _against(
    name: str, people: pl.Series, make: Callable[[], Step], loop: Callable[[pl.Series], object], goal: float
) -> Result:
    """The step over all records, batch by batch; the yardstick over each person once, and no record at all."""
    records = people.gather(np.random.default_rng(7).integers(0, PEOPLE, RECORDS))
    batches = list(_batches(records))

    def mine() -> float:
        step = make()
        return seconds(lambda: [step.apply(batch) for batch in batches])

    ratio, own, theirs = paired(mine, lambda: seconds(lambda: loop(people)), ROUNDS)
    label = f"{name}, {RECORDS:,} records of {PEOPLE:,} people"
    return Result(label, f"{own:.2f} s", f"{loop.__doc__} {theirs:.2f} s", ratio, goal)


def _batches(records: pl.Series) -> Iterator[pl.DataFrame]:
    for start in range(0, len(records), BATCH):
        yield records[start : start + BATCH].to_frame()


def _hmac(people: pl.Series) -> object:
    """hmac for each person"""
    return [hmac.digest(SECRET.material, person.encode(), "sha256") for person in people.to_list()]


def _siv(people: pl.Series) -> object:
    """cryptography's AESSIV for each person"""
    encrypt = AESSIV(SECRET.expand(64, "aes-siv")).encrypt
    return [encrypt(person.encode(), None) for person in people.to_list()]


def _ff1(people: pl.Series) -> object:
    """fastfpe for each person"""
    key = SECRET.material.hex()
    return [ff1.encrypt(key, "", "0123456789", person) for person in people.to_list()]


def _memory() -> Result:
    code = _MEMORY.format(records=RECORDS, batch=BATCH)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    peak = float(done.stdout)
    return Result(f"memory for {RECORDS:,} people", f"{peak:.0f} MB", "", peak / 1000, 2.0, "GB")
