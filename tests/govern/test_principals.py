"""What people ask about data of their own: found through the vault, answered in time, nobody named (G-10)."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from tests.govern.conftest import Clock, Do, enter_release, open_project
from tests.support.commands import Call

from shoal.crypto import Key
from shoal.errors import InputError
from shoal.govern.opt_outs import withdraw_people
from shoal.govern.principal_search import SearchPlace, record_search
from shoal.govern.registry import GovernanceRegistry
from shoal.io.withdrawn_people import identity_digest

pytestmark = pytest.mark.requirement("G-10")
KEY = Key(bytes(range(32)))


class OneDomain:
    """What a vault would know."""

    def lookup(self, domain: str, values: Sequence[str]) -> list[str | None]:
        assert domain == "patients"
        return [f"X{value}" if value == "P-3" else None for value in values]


@pytest.fixture
def places(tmp_path: Path, do: Do) -> list[SearchPlace]:
    pl.DataFrame({"id": ["P-1", "p-3 ", "P-3", "P-4"]}).write_csv(tmp_path / "wards.csv")
    pl.DataFrame({"who": ["XP-3", "XP-4", "P-3"]}).write_csv(tmp_path / "data.csv")
    open_project(do)
    do("manager", "source.add", "wards", title="wards", owner="asha")
    do("manager", "source.add", "letters", title="letters", owner="asha")
    enter_release(do)
    return [
        SearchPlace.read(f"source/wards={tmp_path}/wards.csv:id"),
        SearchPlace.read(f"release/2026-q1={tmp_path}/data.csv:who@patients"),
    ]


def receive(do: Do, wish: str, jurisdiction: str = "singapore") -> None:
    do("privacy-officer", "principal.receive", wish, wish=wish, jurisdiction=jurisdiction,
       identity=identity_digest(KEY, "P-3"))  # fmt: skip


def test_found_in_sources_by_name_and_in_releases_by_pseudonym(
    registry: GovernanceRegistry, do: Do, places: list[SearchPlace]
) -> None:
    receive(do, "see")
    do("privacy-officer", "principal.verify", "see", how="identity card")
    with pytest.raises(InputError, match="not the person who asked"):
        record_search(registry, "see", places, identifier="P-4", key=KEY, vault=OneDomain, by="privacy-officer")
    found = record_search(registry, "see", places, identifier="P-3", key=KEY, vault=OneDomain, by="privacy-officer")
    assert [(one.place, one.records) for one in found] == [
        ("source/wards", 2), ("release/2026-q1", 1), ("source/letters", 0)
    ]  # fmt: skip
    assert found[-1].by == "not looked into"
    assert do("privacy-officer", "principal.answer", "see", answer="a copy was sent").status == "answered"


def test_an_answer_takes_proof_of_who_asks_and_a_search(do: Do, places: list[SearchPlace]) -> None:
    receive(do, "delete")
    with pytest.raises(InputError, match="can't answer now"):
        do("privacy-officer", "principal.answer", "delete", answer="done")
    do("privacy-officer", "principal.verify", "delete", how="identity card")
    with pytest.raises(InputError, match="not looked for yet"):
        do("privacy-officer", "principal.answer", "delete", answer="done")


def test_who_asks_to_stop_has_to_be_left_out(registry: GovernanceRegistry, do: Do, places: list[SearchPlace]) -> None:
    receive(do, "stop")
    do("privacy-officer", "principal.verify", "stop", how="identity card")
    record_search(registry, "stop", places, identifier="P-3", key=KEY, vault=OneDomain, by="privacy-officer")
    with pytest.raises(InputError, match="did not withdraw yet"):
        do("privacy-officer", "principal.answer", "stop", answer="stopped")
    withdraw_people(registry, KEY, ["P-3"], by="privacy-officer")
    assert do("privacy-officer", "principal.answer", "stop", answer="stopped").status == "answered"


@pytest.mark.parametrize(("jurisdiction", "days"), [("singapore", 30), ("india", 90), ("european-union", 30)])
def test_deadlines_are_those_of_the_law_that_holds(
    registry: GovernanceRegistry, do: Do, clock: Clock, jurisdiction: str, days: int
) -> None:
    receive(do, "correct", jurisdiction)
    last = clock().date() + datetime.timedelta(days=days)
    mine = [one for one in registry.due(last) if one.kind == "principal"]
    assert [one.on for one in mine] == [last]
    do("privacy-officer", "principal.refuse", "correct", reason="nothing is kept")
    assert not [one for one in registry.due(last) if one.kind == "principal"]


def test_nobody_is_named(registry: GovernanceRegistry, do: Do, places: list[SearchPlace], file_place: str) -> None:
    receive(do, "see")
    do("privacy-officer", "principal.verify", "see", how="identity card")
    record_search(registry, "see", places, identifier="P-3", key=KEY, vault=OneDomain, by="privacy-officer")
    everything = b"".join(path.read_bytes() for path in Path(file_place).parent.glob("registry.db*"))
    assert b"P-3" not in everything


@pytest.mark.parametrize("text", ["wards.csv:id", "source/x=wards.csv", "person/x=a:b", "source/x=:id", ""])
def test_places_are_written_in_one_way(text: str) -> None:
    with pytest.raises(InputError, match="a place is written as"):
        SearchPlace.read(text)


def test_on_the_command_line(shoal: Call, tmp_path: Path) -> None:
    (tmp_path / "person.txt").write_text("P-3\n")
    identity = shoal("register", "identify", "person.txt").stdout.strip()
    for line in (
        "register source add wards --title wards --owner asha --by asha",
        f"register principal receive see --wish see --jurisdiction india --identity {identity} --by asha",
        "register principal verify see --how card --by asha",
    ):
        assert shoal(*line.split()).code == 0, line
    found = shoal(
        "register", "find", "see", "person.txt", "--in", "source/wards=patients.csv:id", "--by", "asha", "--json"
    )
    assert found.found["searched"] == [{"place": "source/wards", "by": "identifier", "records": 2}]
    wrong = shoal("register", "find", "see", "person.txt", "--in", "source/other=patients.csv:id", "--by", "asha")
    assert (wrong.code, "is not registered" in wrong.stderr) == (2, True)
