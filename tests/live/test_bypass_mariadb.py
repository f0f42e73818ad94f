"""Ways around a mask on MariaDB: all of them tried as the role, none shows a value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.live.conftest import SECRETS, House
from tests.live.ways_around import dumped, observed, ways

from shoal.vault import Vault

pytestmark = [pytest.mark.requirement("L-03"), pytest.mark.server]

HIDDEN = (*SECRETS, "asthma", "R********")
"""With what is only in the row that the role may not see, masked or not."""
VIEW = "shoal_analyst.patients"

WAYS = ways("mariadb")


@pytest.fixture(scope="module")
def masked(mariadb_url: str, tmp_path_factory: pytest.TempPathFactory, live_vault: Vault) -> Iterator[House]:
    folder: Path = tmp_path_factory.mktemp("bypass")
    with House(mariadb_url, folder, live_vault) as house:
        house.own("CREATE INDEX by_name ON patients (name)", "CREATE INDEX by_region ON patients (region)")
        house.live(rows={"patients": "region = 'north'"}).apply()
        yield house


def test_there_are_enough_ways() -> None:
    assert len(WAYS) >= 25


def test_the_guard_sees_what_a_role_sees(masked: House) -> None:
    """The owner, asked in the same ways, shows each of the values."""
    asked = ["SELECT * FROM shoal.patients", "SELECT CAST(diagnosis AS SIGNED) FROM shoal.patients"]
    seen = observed(masked, None, asked)
    assert all(secret in seen for secret in (*SECRETS[:6], "asthma"))
    assert "INTEGER value: 'asthma'" in seen


@pytest.mark.parametrize("way", WAYS)
def test_no_way_leads_around_a_mask(masked: House, way: str) -> None:
    seen = observed(masked, "analyst", WAYS[way])
    assert seen
    assert not [secret for secret in HIDDEN if secret in seen]
    assert "'hit'" not in seen


@pytest.mark.parametrize(
    "options", [["shoal_analyst"], ["shoal"], ["--all-databases"], ["--databases", "shoal", "shoal_keys"]]
)
def test_a_dump_holds_nothing(masked: House, options: list[str]) -> None:
    seen = dumped(masked, "analyst", "--no-tablespaces", *options)
    assert seen
    assert not [secret for secret in HIDDEN if secret in seen]


def test_a_dump_of_the_owner_holds_everything(masked: House) -> None:
    """So the program works, and the others' dumps are refused by the server."""
    seen = dumped(masked, None, "--no-tablespaces", "shoal")
    assert all(secret in seen for secret in SECRETS)


def test_the_clock_of_a_session_doesnt_give_time_back(masked: House) -> None:
    """The role's time is over; NOW can be set, what the view goes by can't."""
    masked.live(until="2020-01-01").apply()
    tried = ["SET timestamp = 1000000000", f"SELECT * FROM {VIEW}", "SET time_zone = '-12:00'", f"SELECT * FROM {VIEW}"]
    seen = observed(masked, "analyst", tried)
    masked.live(rows={"patients": "region = 'north'"}).apply()
    assert "A*******" not in seen
    assert "A*******" in observed(masked, "analyst", [f"SELECT * FROM {VIEW}"])
