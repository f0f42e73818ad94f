"""Ways around a mask on PostgreSQL: all of them tried as the role, none shows a value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.live.conftest import SECRETS, House
from tests.live.ways_around import dumped, observed, ways

from shoal.vault import Vault

pytestmark = [pytest.mark.requirement("L-03"), pytest.mark.server]

VIEW = "shoal_analyst.patients"
LEAK = """CREATE FUNCTION pg_temp.leak(anyelement) RETURNS boolean COST 0.0000001 LANGUAGE plpgsql AS
    $$ BEGIN RAISE NOTICE 'seen: %', $1; RETURN true; END $$"""
HIDDEN = (*SECRETS, "asthma", "R********")
"""With what is only in the row that the role may not see, masked or not."""

WAYS = ways("postgresql")


@pytest.fixture(scope="module")
def masked(postgres_url: str, tmp_path_factory: pytest.TempPathFactory, live_vault: Vault) -> Iterator[House]:
    folder: Path = tmp_path_factory.mktemp("bypass")
    with House(postgres_url, folder, live_vault) as house:
        house.own("CREATE INDEX by_name ON patients (name)", "CREATE INDEX by_lower ON patients (lower(email))",
                  "CREATE STATISTICS known ON name, age FROM patients")  # fmt: skip
        house.live(rows={"patients": "region = 'north'"}).apply()
        house.own("ANALYZE patients")
        yield house


def test_there_are_enough_ways() -> None:
    assert len(WAYS) >= 25


def test_the_guard_sees_what_a_role_sees(masked: House) -> None:
    """The owner, asked in the same ways, shows each of the values."""
    seen = observed(masked, None, ["SELECT * FROM public.patients", "SELECT name::int FROM public.patients"])
    assert all(secret in seen for secret in (*SECRETS[:6], "asthma"))
    told = observed(masked, None, [LEAK, "SELECT 1 FROM public.patients WHERE pg_temp.leak(name)"])
    assert "seen: Asha Rao" in told


@pytest.mark.parametrize("way", WAYS)
def test_no_way_leads_around_a_mask(masked: House, way: str) -> None:
    seen = observed(masked, "analyst", WAYS[way])
    assert seen
    assert not [secret for secret in HIDDEN if secret in seen]
    assert "'hit'" not in seen


@pytest.mark.parametrize(
    "options", [[], ["-n", "shoal_analyst"], ["-t", "public.patients"], ["-a"], ["--enable-row-security"]]
)
def test_a_dump_holds_nothing(masked: House, options: list[str]) -> None:
    seen = dumped(masked, "analyst", *options)
    assert seen
    assert not [secret for secret in HIDDEN if secret in seen]


def test_a_dump_of_the_owner_holds_everything(masked: House) -> None:
    """So the program works, and the others' dumps are refused by the server."""
    seen = dumped(masked, None)
    assert all(secret in seen for secret in SECRETS)


def test_the_keys_are_in_no_definition(masked: House) -> None:
    seen = observed(masked, "analyst", WAYS["definitions and keys"])
    key = masked.vault.key("patients", "pseudonymise").material.hex()
    assert "inner_pad" in seen
    assert key[:16] not in seen


def test_an_equality_filter_works_on_what_is_seen(masked: House) -> None:
    """Its plan, so its time too, is the same whether the value that is guessed is there or not."""
    plans = {
        observed(masked, "analyst", [f"EXPLAIN (COSTS OFF) SELECT * FROM {VIEW} WHERE name = '{guess}'"]).replace(
            guess, ""
        )
        for guess in ("Asha Rao", "Nobody At All")
    }
    assert len(plans) == 1
    assert "by_name" not in plans.pop()
