"""Every worked table of the source documents gets the roles that its document marks."""

from __future__ import annotations

import polars as pl
import pytest
from tests.source_documents.tables import TABLES, WorkedTable

from shoal.discover.suggestion.policy_draft import suggest
from shoal.discover.table_profile import profile
from shoal.policy import Policy, UseCase
from shoal.schema import Role

pytestmark = pytest.mark.requirement("D-04", "D-07")
COMMON = {
    # PDPC guide, step 1: common examples, by role. Values are made up.
    Role.DIRECT: {
        "Name": ["Asha Rao", "Ravi Nair", "Meera Das"],
        "Email address": ["a@example.org", "b@example.org", "c@example.org"],
        "Mobile phone number": ["98000 00000", "98000 11111", "98000 22222"],
        "NRIC number": ["S1234567D", "S7654321A", "S1111111D"],
        "Passport number": ["A1234567", "B1234567", "C1234567"],
        "Account number": ["0012345678", "0012345679", "0012345670"],
        "Social media username": ["asha_99", "ravi.n", "meera"],
    },
    Role.QUASI: {
        "Age": ["24", "39", "18"],
        "Gender": ["M", "M", "F"],
        "Race": ["Indian", "Chinese", "Malay"],
        "Date of birth": ["2003-02-01", "1990-08-15", "1998-12-30"],
        "Address": ["71 Punggol Central", "35 Mandalay Road", "1 Stonehenge Road"],
        "Postal code": ["828755", "208215", "117438"],
        "Job title": ["CEO", "Director", "Manager"],
        "Company name": ["Speedy Taxi Ltd", "Best Food Ltd", "No. 1 Cold Wear Pte Ltd"],
        "Marital status": ["Single", "Married", "Widowed"],
        "Height": ["160", "177", "158"],
        "Weight": ["64", "79", "61"],
        "IP address": ["12.120.210.88", "12.120.210.89", "12.120.210.90"],
    },
    Role.SENSITIVE: {
        "Purchases": ["38.05", "12.50", "9.99"],
        "Salary": ["6200", "7500", "8000"],
        "Credit rating": ["A", "B", "A"],
        "Insurance policy": ["Life", "Car", "Life"],
        "Medical diagnosis": ["Asthma", "Gout", "Asthma"],
        "Vaccination status": ["Vaccinated", "First dose", "Unvaccinated"],
    },
}


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
def test_common_attributes_of_the_pdpc_guide(role: Role) -> None:
    """A vehicle's plate is taken for a direct identifier here, though the guide calls it indirect: it is registered."""
    for name, values in COMMON[role].items():
        one = profile(pl.LazyFrame({name: values})).columns[0]
        assert one.proposal.role is role, name
