"""The paper's identity table: identifiers kept apart, found again through the vault only, one person at a time."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.release.run import release_folder
from shoal.vault import Passphrase, Right, Vault

pytestmark = pytest.mark.requirement("S-10", "V-02")

ANITA = Passphrase("anita", "a long enough phrase")
RAVI = Passphrase("ravi", "another long phrase")
POLICY = """
shoal: 1
name: clinic
attributes:
  name: {role: direct}
  phone: {role: direct}
  age: {role: quasi, hierarchy: {intervals: {widths: [10], origin: 0}}}
  sex: {role: quasi}
  result: {role: sensitive}
privacy: [{k_anonymity: {k: 3}}]
solve: {suppression_limit: 0.5}
identity: {domain: patients, keep: [name, phone]}
"""


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    vault = Vault.create(tmp_path / "v.vault", ANITA, state=tmp_path / "state")
    vault.add_domain("patients", approvals=1)
    vault.admit(RAVI, [Right.APPROVE])
    return vault


@pytest.fixture
def patients() -> pl.DataFrame:
    size = 60
    return pl.DataFrame(
        {
            "name": [f"Zzmarked {at}" for at in range(size)],
            "phone": [f"+65 0000 {at:04d}" for at in range(size)],
            "age": [20 + at % 15 for at in range(size)],
            "sex": ["f" if at % 2 else "m" for at in range(size)],
            "result": ["positive" if at % 7 == 0 else "negative" for at in range(size)],
        }
    )


def approved(tmp_path: Path, request: int) -> None:
    with Vault.open(tmp_path / "v.vault", RAVI, state=tmp_path / "state") as other:
        other.approve(request)


def test_one_person_of_the_release_is_found_again(vault: Vault, patients: pl.DataFrame, tmp_path: Path) -> None:
    release = shoal.anonymise(patients, shoal.Policy.from_text(POLICY), vault=vault)
    assert "name" not in release.data.columns
    assert release.data["record"].n_unique() == len(patients)
    place = release.data["result"].to_list().index("positive")
    request = vault.ask("patients", [release.data["record"][place]], "follow-up of a positive result")
    approved(tmp_path, request.id)
    (found,) = vault.reveal(request.id)
    assert json.loads(found.value) == {"name": patients["name"][place], "phone": patients["phone"][place]}


def test_the_concatenated_quasi_identifiers_lead_to_the_records(vault: Vault, patients: pl.DataFrame) -> None:
    release = shoal.anonymise(patients, shoal.Policy.from_text(POLICY), vault=vault)
    codes = vault.matching("patients", "23 | f", "a contact of the person is ill")
    alike = patients.select((pl.col("age") == 23) & (pl.col("sex") == "f")).to_series()
    assert sorted(codes) == sorted(release.data["record"].filter(alike).to_list())
    assert vault.matching("patients", "99 | f", "a contact of the person is ill") == []


def test_records_of_one_person_share_a_code_only_if_the_policy_says_so(vault: Vault, patients: pl.DataFrame) -> None:
    twice = pl.concat([patients, patients])
    each = shoal.anonymise(twice, shoal.Policy.from_text(POLICY), vault=vault)
    assert each.data["record"].n_unique() == len(twice)
    per_person = POLICY.replace("phone]}", "phone], per: person}").replace("domain: patients", "domain: people")
    vault.add_domain("people")
    together = shoal.anonymise(twice, shoal.Policy.from_text(per_person), vault=vault)
    assert together.data["record"].n_unique() == len(patients)
    assert vault.verify().entries == len(twice) + len(patients)


def test_nothing_of_the_identities_is_in_the_folder(vault: Vault, patients: pl.DataFrame, tmp_path: Path) -> None:
    patients.write_csv(tmp_path / "patients.csv")
    folder = tmp_path / "release"
    release_folder(shoal.Policy.from_text(POLICY), folder, data=str(tmp_path / "patients.csv"), secrets=vault)
    held = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"Zzmarked" not in held
    assert b"+65 0000" not in held
    assert b"Zzmarked" not in (tmp_path / "v.vault").read_bytes()


def test_without_a_vault_nothing_is_released(patients: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="without a vault nobody could be found again"):
        shoal.anonymise(patients, shoal.Policy.from_text(POLICY))


def test_a_column_of_that_name_is_not_overwritten(vault: Vault, patients: pl.DataFrame) -> None:
    policy = shoal.Policy.from_text(POLICY.replace("keep: [name, phone]", "keep: [name, phone], into: sex"))
    with pytest.raises(InputError, match="there is a column 'sex' already"):
        shoal.anonymise(patients, policy, vault=vault)
