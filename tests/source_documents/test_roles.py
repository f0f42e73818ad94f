"""Every worked table of the source documents gets the roles that its document marks."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import yaml
from tests.source_documents.tables import TABLES, WorkedTable

from shoal.discover.suggestion.policy_draft import suggest
from shoal.discover.table_profile import profile
from shoal.policy import Policy, UseCase
from shoal.schema import Role

pytestmark = pytest.mark.requirement("D-04", "D-07")
COMMON = yaml.safe_load((Path(__file__).parent / "common_attributes.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_roles_are_those_that_the_document_marks(table: WorkedTable) -> None:
    found = profile(table.frame().lazy())
    assert {name: found[name].proposal.role for name in table.roles} == dict(table.roles)


@pytest.mark.parametrize("key", ["meity annexure 4", "meity 2.l", "meity 2.u", "pdpc diseases"])
def test_what_the_table_is_for_is_kept(key: str) -> None:
    table = TABLES[key]
    suggestion = suggest(profile(table.frame().lazy()), name="x", use_case=UseCase.INTERNAL_ANONYMISED)
    policy = Policy.from_text(suggestion.text)
    targets = [name for name, role in table.roles.items() if role is Role.SENSITIVE]
    assert targets
    assert all(policy.attributes[name].is_released for name in targets)
    assert not any(policy.attributes[name].steps for name in targets)


@pytest.mark.parametrize("role", COMMON)
def test_common_attributes_of_the_pdpc_guide(role: str) -> None:
    """A vehicle's plate is taken for a direct identifier here, though the guide calls it indirect: it is registered."""
    for name, values in COMMON[role].items():
        one = profile(pl.LazyFrame({name: values})).columns[0]
        assert one.proposal.role == role, name


def test_a_name_that_says_what_it_is_outweighs_check_digits_by_chance() -> None:
    """MeitY 2.e: two of three made-up Aadhaar numbers pass the check of a payment card."""
    found = profile(TABLES["meity 2.e"].frame().lazy())["Aadhaar Number"]
    assert found.type != "card"
    assert "an Aadhaar number" in found.proposal.reasons[0]


@pytest.mark.parametrize(
    ("name", "values", "numbers"),
    [("Sr no", [1, 2, 3], True), ("Serial number", [0, 1, 2], True), ("Serial number", [7, 9, 30], False)],
)
def test_a_column_that_numbers_the_records_is_taken_out(name: str, values: list[int], *, numbers: bool) -> None:
    proposal = profile(pl.LazyFrame({name: values}))[name].proposal
    assert proposal.role is (Role.DIRECT if numbers or name == "Serial number" else Role.QUASI)
    assert ("it numbers the records" in proposal.reasons) == numbers


@pytest.mark.parametrize("key", ["meity 2.c", "meity 2.e"])
def test_one_pseudonym_is_enough_where_nothing_else_is_left(key: str) -> None:
    """PDPC annex B, direct identifiers."""
    suggestion = suggest(profile(TABLES[key].frame().lazy()), name="x", use_case=UseCase.INTERNAL_ANONYMISED)
    released = [one.technique for one in suggestion.choices.values() if not one.suppressed]
    assert len(released) == 1
    assert "pseudonymise" in str(released[0])


def test_things_have_names_too() -> None:
    """A brand or a store is no person; whoever runs it is one."""
    names = ["Brand name", "Store name", "bank_name", "Store manager name", "Owner name of store"]
    values = ["Asha Rao", "Ravi Nair", "Meera Das"]
    roles = [profile(pl.LazyFrame({name: values}))[name].proposal.role for name in names]
    assert roles == [Role.QUASI] * 3 + [Role.DIRECT] * 2
