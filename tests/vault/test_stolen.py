"""A thief has the vault's file and a list of everybody who may be in it, but no key: the count is all that is learned.

The same file with the key shows every name: what keeps the thief out is the key and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.stats import spearmanr
from tests.vault.conftest import ANITA, FORM, Room

from shoal.vault import Vault, domains
from shoal.vault.entry_rows import every

pytestmark = pytest.mark.requirement("V-01")

WINDOW = 6
"""Bytes that are compared at first; what agrees in so many is looked at in full."""
PART = 1 << 23
ODD = np.uint64(0x9E3779B97F4A7C15)
Words = NDArray[np.uint64]

ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "utf-8": bytes,
    "utf-16": lambda name: name.decode().encode("utf-16-le"),
    "hex": lambda name: name.hex().encode(),
    "base64": lambda name: base64.b64encode(name).rstrip(b"="),
    "reversed": lambda name: name[::-1],
    "capitals": bytes.upper,
    **{
        f"{how}{digest}": (lambda name, digest=digest, form=form: form(hashlib.new(digest, name).digest()))  # type: ignore[misc]
        for digest in ("md5", "sha1", "sha256", "blake2b")
        for how, form in {"": bytes, "hex ": lambda raw: raw.hex().encode(), "base64 ": base64.b64encode}.items()
    },
}


def people(count: int) -> list[str]:
    """Names of all lengths up to 30 letters; in the order of the alphabet, as lists are."""
    return sorted(f"{hashlib.md5(bytes([at % 251])).hexdigest()[: at % 20]} Person {at}" for at in range(count))  # noqa: S324


def windows(content: bytes) -> Iterator[Words]:
    """Every six bytes in a row as a number, a part of the content at a time."""
    for start in range(0, len(content), PART):
        raw = np.frombuffer(content[start : start + PART + WINDOW - 1], dtype=np.uint8).astype(np.uint64)
        total = np.zeros(max(0, len(raw) - WINDOW + 1), dtype=np.uint64)
        for place in range(WINDOW):
            total = total << np.uint64(8) | raw[place : place + len(total)]
        yield total


def standing_in(content: bytes, heads: Words) -> Words:
    """Those of the heads that stand anywhere in the content: a quick look by a hash, then a thorough one."""
    bits = np.uint64(64 - max(16, len(heads).bit_length() + 5))
    marked = np.zeros(1 << (64 - int(bits)), dtype=np.bool_)
    marked[heads * ODD >> bits] = True
    sure = []
    for words in windows(content):
        maybe = words[marked[words * ODD >> bits]]
        sure.append(maybe[heads[np.searchsorted(heads, maybe).clip(max=len(heads) - 1)] == maybe])
    return np.unique(np.concatenate(sure))


def found_in(content: bytes, names: list[str]) -> set[tuple[str, str]]:
    """Which names stand in the content, in which shape."""
    found = set()
    for shape, encode in ENCODINGS.items():
        wanted = [encode(name.encode()) for name in names]
        heads = np.array([int.from_bytes(one[:WINDOW], "big") for one in wanted], dtype=np.uint64)
        for at in np.flatnonzero(np.isin(heads, standing_in(content, np.sort(heads)))).tolist():
            if wanted[at] in content:
                found.add((shape, names[at]))
    return found


@pytest.fixture(params=[20_000, pytest.param(1_000_000, marks=pytest.mark.slow)], ids="{:,}".format)
def names(request: pytest.FixtureRequest) -> list[str]:
    return people(request.param)


def test_what_a_thief_learns(names: list[str], file_room: Room) -> None:
    vault = file_room.create()
    for domain in ("patients", "staff"):
        vault.add_domain(domain)
        vault.issue(domain, pl.Series(names), FORM)
    pseudonyms = vault.issue("patients", pl.Series(names[:100]), FORM).to_list()
    content = Path(file_room.place).read_bytes()
    assert found_in(content, names) == set()
    assert found_in(content, pseudonyms) == set()
    _nothing_in_common(file_room)
    _no_length(file_room, names)
    _no_order(vault, names)
    _but_with_the_key(vault, names)


def _rows(room: Room, what: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(room.place)
    found = connection.execute(f"SELECT {what} FROM shoal_entry ORDER BY domain, place").fetchall()  # noqa: S608
    connection.close()
    return found


def _nothing_in_common(room: Room) -> None:
    """Two domains hold the same people, and no column that comes from a person tells so."""
    rows = _rows(room, "domain, place, sealed, substr(sealed, 1, 12), substr(sealed, -16)")
    for column in range(1, 5):
        values = [row[column] for row in rows]
        assert len(set(values)) == len(values)


def _no_length(room: Room, names: list[str]) -> None:
    """Names are of thirty lengths, sealed values of one or two; of the other columns each row has the same."""
    assert len({len(name) for name in names}) > 15
    lengths = {length for (length,) in _rows(room, "DISTINCT length(sealed)")}
    assert len(lengths) <= 2
    for column in ("length(place)", "generation", "version", "until", "state", "also"):
        assert len(_rows(room, f"DISTINCT {column}")) == 1


def _no_order(vault: Vault, names: list[str]) -> None:
    """Neither the order of the rows nor that of the serials goes with the order of the names that were put in."""
    order = {name.encode(): at for at, name in enumerate(names)}
    bound = 5 / np.sqrt(len(names))
    with vault._reading() as session:
        domain = domains.get(session, "patients")
        held = domains.keys(session, domain)
        rows = [
            (order[content], serial)
            for part in every(session.connection, domain.id)
            for content, serial in zip(part.unsealed(domain.id, held), part.serial.tolist(), strict=True)
        ]
    put_in, serials = np.array(rows).T
    assert abs(spearmanr(put_in, serials).statistic) < bound
    assert abs(spearmanr(put_in, np.arange(len(rows))).statistic) < bound


def _but_with_the_key(vault: Vault, names: list[str]) -> None:
    with vault._reading() as session:
        domain = domains.get(session, "patients")
        held = domains.keys(session, domain)
        shown = [
            content.decode()
            for part in every(session.connection, domain.id)
            for content in part.unsealed(domain.id, held)
        ]
    assert sorted(shown) == sorted(names)


def test_the_search_finds_what_is_there() -> None:
    """A search that finds nothing anywhere would show nothing."""
    names = people(500)
    for shape, encode in ENCODINGS.items():
        content = bytes(1000) + encode(names[123].encode()) + bytes(1000)
        assert (shape, names[123]) in found_in(content, names)


def test_a_value_that_is_longer_shows_no_more_than_its_blocks(file_room: Room) -> None:
    vault = file_room.create()
    vault.add_domain("patients")
    vault.issue("patients", pl.Series(["", "a", "a" * 31]), FORM)
    assert len(_rows(file_room, "DISTINCT length(sealed)")) == 1
    vault.issue("patients", pl.Series(["a" * 32, "a" * 63]), FORM)
    assert len(_rows(file_room, "DISTINCT length(sealed)")) == 2


def test_equal_files_are_not_made_of_equal_names(tmp_path: Path) -> None:
    """Two vaults with the same person, the same passphrase and the same names have no value in common."""
    columns = []
    for name in ("one", "two"):
        room = Room(str(tmp_path / name), tmp_path / "state")
        vault = Vault.create(room.place, ANITA, state=room.state)
        vault.add_domain("patients")
        issued = vault.issue("patients", pl.Series(people(50)), FORM).to_list()
        stored = {bytes(cell) for row in _rows(room, "place, sealed") for cell in row if isinstance(cell, bytes)}
        columns.append(stored | {code.encode() for code in issued})
    assert not columns[0] & columns[1]
