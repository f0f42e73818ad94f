"""Runs with a vault and without: pseudonyms that last, columns that can be decrypted, and what is said of either."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.support.policies import policy_text

from ..conftest import Call
from .conftest import REASON, acting, refused

PEOPLE = pl.DataFrame(
    {
        "id": ["Zyxwvut1", "Zyxwvut2", None, "Zyxwvut1"],
        "phone": ["+65 6123 4567", "+65 6765 4321", "+65 6111 2222", "+65 6123 4567"],
        "diagnosis": ["asthma", "gout", "asthma", "flu"],
    }
)


def clinic_policy(**techniques: str) -> str:
    further = {name: f"technique: {technique}" for name, technique in techniques.items()}
    return policy_text("people.csv", "", further, direct="id phone", sensitive="diagnosis")


POLICY = clinic_policy(id="{pseudonymise: {domain: patients, method: random}}")
RUN = ("run", "policy.yaml", "--output")


@pytest.fixture
def clinic(made: Call) -> Call:
    PEOPLE.write_csv("people.csv")
    Path("policy.yaml").write_text(POLICY, encoding="utf-8")
    return made


def released(folder: str, column: str = "id") -> list[str | None]:
    return pl.read_csv(f"{folder}/data.csv", infer_schema=False)[column].to_list()


@pytest.mark.requirement("T-05")
def test_pseudonyms_of_two_runs_are_the_same_and_lead_back(clinic: Call) -> None:
    assert clinic(*RUN, "a", "--vault", "shoal.vault").code == 0
    assert clinic(*RUN, "b", "--vault", "shoal.vault").code == 0
    codes = released("a")
    assert codes == released("b")
    assert codes[0] == codes[3] not in (codes[1], "Zyxwvut1")
    answer = clinic("vault", "reveal", "patients", str(codes[1]), "--reason", REASON, "--json")
    assert answer.found["revealed"][0]["value"] == "Zyxwvut2"


def test_without_a_vault_it_is_said_that_pseudonyms_do_not_last(clinic: Call) -> None:
    ended = clinic(*RUN, "a")
    assert ended.code == 0
    (line,) = [line for line in ended.stderr.splitlines() if "no vault" in line]
    assert "'id'" in line
    manifest = json.loads(Path("a/release.json").read_text(encoding="utf-8"))
    assert [warning for warning in manifest["warnings"] if "of this run only" in warning]
    assert clinic(*RUN, "b").code == 0
    assert released("a") != released("b")
    assert "of this run only" in clinic("check", "policy.yaml").stderr


def test_with_a_vault_nothing_of_the_kind_is_said(clinic: Call) -> None:
    assert "no vault" not in clinic(*RUN, "a", "--vault", "shoal.vault").stderr
    assert "no vault" not in Path("a/release.json").read_text(encoding="utf-8")


def test_policy_names_the_vault_from_its_own_folder(clinic: Call) -> None:
    Path("policies").mkdir()
    source = POLICY.replace("people.csv", "../people.csv")
    Path("policies/p.yaml").write_text(source + "vault: ../shoal.vault\n", encoding="utf-8")
    assert "no vault" not in clinic("check", "policies/p.yaml").stderr
    assert clinic("run", "policies/p.yaml", "--output", "a").code == 0
    assert clinic("vault", "domains", "--json").found["domains"][0]["entries"] == 2
    Path("policies/p.yaml").write_text(source + "vault: none.vault\n", encoding="utf-8")
    assert refused(clinic("run", "policies/p.yaml", "--output", "b"), "policies/none.vault", "no such vault")
    assert clinic("run", "policies/p.yaml", "--output", "b", "--vault", "shoal.vault").code == 0


def test_password_in_a_policy_is_refused_and_not_repeated(clinic: Call) -> None:
    Path("policy.yaml").write_text(POLICY + "vault: postgresql://a:hush@host/vault\n", encoding="utf-8")
    ended = clinic("check", "policy.yaml")
    assert (ended.code, "PGPASSWORD" in ended.stderr, "hush" in ended.stderr) == (2, True, False)


def test_environment_names_the_vault_of_a_run(clinic: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_VAULT", "shoal.vault")
    assert "no vault" not in clinic(*RUN, "a").stderr


def test_vault_stays_closed_where_nothing_is_taken_from_it(clinic: Call) -> None:
    without = POLICY.replace("technique: {pseudonymise: {domain: patients, method: random}}", "technique: suppress")
    Path("policy.yaml").write_text(without, encoding="utf-8")
    assert clinic(*RUN, "a", "--vault", "none.vault").code == 0


def test_run_needs_the_right_to_use(clinic: Call) -> None:
    clinic("vault", "admit", "meera", "--right", "approve", "--with-key-file", "meera.key")
    assert refused(clinic(*RUN, "a", "--vault", "shoal.vault", *acting("meera")), "right to use")
    assert not Path("a").exists()


def test_unknown_domain_says_how_to_add_it(clinic: Call) -> None:
    Path("policy.yaml").write_text(POLICY.replace("domain: patients", "domain: patient"), encoding="utf-8")
    assert refused(clinic(*RUN, "a", "--vault", "shoal.vault"), "did you mean 'patients'", "shoal vault add patient")


def test_several_tables_share_the_vault(clinic: Call) -> None:
    attributes = POLICY.split("attributes:\n")[1].replace("\n  ", "\n      ").strip()
    table = f"source: people.csv\n    attributes:\n      {attributes}\n"
    several = f"shoal: 1\nname: both\nvault: shoal.vault\ntables:\n  first:\n    {table}  second:\n    {table}"
    Path("policy.yaml").write_text(several, encoding="utf-8")
    ended = clinic(*RUN, "a")
    assert (ended.code, "no vault" in ended.stderr) == (0, False)
    codes = released("a/first")
    assert codes == released("a/second")
    assert clinic("vault", "reveal", "patients", str(codes[0]), "--reason", REASON, "--json").code == 0
    Path("policy.yaml").write_text(several.replace("  second:\n", "  second:\n    vault: v\n"), encoding="utf-8")
    assert "stands at the top" in clinic("check", "policy.yaml").stderr


ENCRYPTED = clinic_policy(
    id="{encrypt: {key: patients, encoding: hex}}",
    phone="{encrypt: {scheme: format_preserving, key: patients}}",
)
DECRYPT = ("vault", "decrypt", "a", "--reason", REASON)


@pytest.fixture
def encrypted(clinic: Call) -> Call:
    Path("policy.yaml").write_text(ENCRYPTED, encoding="utf-8")
    assert clinic(*RUN, "a", "--vault", "shoal.vault").code == 0
    assert not set(released("a")) & {"Zyxwvut1", "Zyxwvut2"}
    return clinic


@pytest.mark.parametrize("column", ["id", "phone"])
def test_decrypt_gives_the_column_back_and_leaves_the_others(encrypted: Call, column: str) -> None:
    ended = encrypted(*DECRYPT, "--column", column, "--policy", "policy.yaml", "-o", "opened.csv", "--json")
    assert ended.found == {"column": column, "path": "opened.csv"}
    opened, sealed = (pl.read_csv(path, infer_schema=False) for path in ("opened.csv", "a/data.csv"))
    assert opened[column].to_list() == PEOPLE[column].to_list()
    assert opened.drop(column).equals(sealed.drop(column))
    assert Path("opened.csv").stat().st_mode & 0o077 == 0
    last = encrypted("vault", "audit", "--json").found["entries"][-1]
    assert (last["action"], last["domain"], last["details"]["reason"]) == ("decrypt", "patients", REASON)


def test_decrypt_by_scheme_and_domain(encrypted: Call) -> None:
    words = ("--column", "phone", "--scheme", "format_preserving", "--domain", "patients", "-o", "opened.csv")
    assert encrypted(*DECRYPT, *words).code == 0
    assert pl.read_csv("opened.csv", infer_schema=False)["phone"].to_list() == PEOPLE["phone"].to_list()


def test_decrypt_is_refused_without_a_right_a_reason_or_a_fitting_key(encrypted: Call) -> None:
    by_policy = ("--policy", "policy.yaml", "-o", "opened.csv")
    encrypted("vault", "admit", "tara", "--right", "use", "--with-key-file", "tara.key")
    assert refused(encrypted(*DECRYPT, "--column", "id", *by_policy, *acting("tara")), "right to reveal")
    assert refused(encrypted("vault", "decrypt", "a", "--reason", "x", "--column", "id", *by_policy), "in words")
    assert refused(encrypted(*DECRYPT, "--column", "diagnosis", *by_policy), "doesn't end with `encrypt`")
    assert refused(encrypted(*DECRYPT, "--column", "nobody", "-o", "opened.csv"), "no column 'nobody'")
    assert refused(encrypted(*DECRYPT, "--column", "id", *by_policy, "--scheme", "deterministic"), "leave them out")
    assert refused(encrypted(*DECRYPT, "--column", "id", "--scheme", "rot13", "-o", "opened.csv"), "no scheme 'rot13'")
    assert refused(encrypted(*DECRYPT, "--column", "id", "--scheme", "homomorphic", "-o", "opened.csv"), "homomorphic")
    encrypted("vault", "add", "others")
    assert encrypted(*DECRYPT, "--column", "id", "--domain", "others", "-o", "opened.csv").code == 2
    assert not Path("opened.csv").exists()


def test_decrypt_honours_approvals(encrypted: Call) -> None:
    encrypted("vault", "add", "guarded", "--approvals", "1")
    words = ("--column", "id", "--domain", "guarded", "-o", "opened.csv")
    assert refused(encrypted(*DECRYPT, *words), "asks for approvals")


def test_decrypt_never_replaces_a_file(encrypted: Call) -> None:
    Path("opened.csv").write_text("mine", encoding="utf-8")
    words = ("--column", "id", "--policy", "policy.yaml", "-o", "opened.csv")
    before = len(encrypted("vault", "audit", "--json").found["entries"])
    assert refused(encrypted(*DECRYPT, *words), "exists already")
    assert Path("opened.csv").read_text(encoding="utf-8") == "mine"
    assert len(encrypted("vault", "audit", "--json").found["entries"]) == before
