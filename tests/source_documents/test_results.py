"""What the source documents print or reckon comes out: tokens with their mapping, k of groups, links and inferences."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.source_documents.tables import TABLES

from shoal.attack.attacks.inference import homogeneity, skewness
from shoal.attack.codes.dictionary import dictionary
from shoal.attack.codes.identifier_formats import numbers
from shoal.attack.ground_truth.targets import TrialDesign
from shoal.cli import main
from shoal.policy import Policy
from shoal.randomness import Randomness
from shoal.release import anonymise
from shoal.synthetic_release import synthesise
from shoal.vault import Passphrase, Vault

ASHA = Passphrase("asha", "a long enough phrase")


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """What a command says as JSON."""
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr("sys.argv", ["shoal", *arguments])
        main()
    assert not ended.value.code
    return dict(json.loads(capsys.readouterr().out))


@pytest.mark.requirement("T-05", "V-01")
@pytest.mark.parametrize(
    ("table", "name", "form", "shape"),
    [
        ("meity 2.e", "Aadhaar Number", "{integer: {digits: 16}}", r"[0-9]{16}"),
        ("pdpc shows", "Name", "{integer: {digits: 4}}", r"[0-9]{4}"),
        ("pdpc lessons", "Person", "{integer: {digits: 6}}", r"[0-9]{6}"),
    ],
)
def test_tokens_are_unique_random_and_mapped_in_the_vault(
    tmp_path: Path, table: str, name: str, form: str, shape: str
) -> None:
    """MeitY 2.e to 2.g (virtual ids), PDPC step 2 (tokens and mapping) and annex A."""
    people = TABLES[table].frame()
    text = "shoal: 1\nname: tokens\nattributes:\n"
    text += "".join(f'  "{other}": {{role: insensitive}}\n' for other in people.columns if other != name)
    text += f"  {name}: {{role: direct, technique: "
    text += f"{{pseudonymise: {{domain: people, format: {form}, method: random, reversible: true}}}}}}\n"
    with Vault.create(tmp_path / "v.vault", ASHA, state=tmp_path / "state") as vault:
        vault.add_domain("people")
        first, again = (pl.DataFrame(anonymise(people, Policy.from_text(text), vault=vault).data) for _ in range(2))
        tokens = first[name].cast(pl.String)
        asked = vault.ask("people", tokens.to_list(), "the mapping is to be checked")
        assert [one.value for one in vault.reveal(asked.id)] == people[name].to_list()
    assert tokens.str.contains(f"^{shape}$").all()
    assert tokens.n_unique() == len(people)
    assert not set(tokens) & {value.replace(" ", "") for value in people[name]}
    assert first.equals(again), "the mapping is kept, so the same person has the same token"
    assert first.drop(name).equals(people.drop(name)), "the other columns stay, as they do in the tables printed"


@pytest.mark.requirement("S-01", "R-01")
def test_pdpc_step_4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Groups of 2, 4 and 3 records: k of the whole is 2."""
    groups = (("22xxxx", "21 to 25", 2), ("10xxxx", "41 to 45", 4), ("58xxxx", "56 to 60", 3))
    rows = [(code, age) for code, age, times in groups for _ in range(times)]
    pl.DataFrame(rows, schema=["Postal code", "Age"], orient="row").write_csv(tmp_path / "shows.csv")
    told = called(capsys, "measure", str(tmp_path / "shows.csv"), "--qi", "Postal code,Age", "--json")
    assert told["risk"]["k"] == 2
    assert told["risk"]["prosecutor_max"] == pytest.approx(1 / 2)


@pytest.mark.requirement("R-04")
def test_the_app_user_is_linked_by_his_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """PDPC, an example of de-identification: names are gone, and a public profile finds the record all the same."""
    users = TABLES["pdpc albert"].frame()
    profile = users.select("Name", "Date of birth", "Gender", "Company")
    users.write_csv(tmp_path / "users.csv")
    users.drop("Name").write_csv(tmp_path / "published.csv")
    profile.write_csv(tmp_path / "profiles.csv")
    command = ["attack", "published.csv", "--original", "users.csv", "--auxiliary", "profiles.csv", "--person", "Name"]
    command = [str(tmp_path / part) if part.endswith(".csv") else part for part in command]
    told = called(capsys, *command, "--qi", "Date of birth,Gender,Company", "--seed", "1", "--json")
    linked = [one for one in told["attacks"] if one["attack"] == "linking"]
    assert linked
    assert max(one["success"]["share"] for one in linked) == 1


@pytest.mark.requirement("R-04")
def test_the_surgeons_clients() -> None:
    """PDPC step 5, attribute disclosure: all below 30 had the procedure, so a client of 28 had it, whichever record."""
    released = pl.DataFrame(
        {"age": ["<30"] * 6 + ["30+"] * 6, "procedure": ["rhinoplasty"] * 6 + ["rhinoplasty", "botox", "filler"] * 2}
    )
    clients = released.with_columns(pl.Series("age", ["<30"] * 6 + ["30+"] * 6))
    found = homogeneity(released, clients, ["age"], "procedure", TrialDesign(Randomness(1)))
    assert found.details is not None
    assert found.details["claims"] == pytest.approx(6 / 12)
    assert found.details["precision"] == 1


@pytest.mark.requirement("R-04")
def test_seventy_per_cent_above_75() -> None:
    """PDPC step 5, inference: seven in ten above 75 have the condition; so, likely, has one who is not in the data."""
    ages = [">75"] * 100 + ["≤75"] * 100
    has = ["yes"] * 70 + ["no"] * 30 + ["yes"] * 10 + ["no"] * 90
    table = pl.DataFrame({"age": ages, "condition": has})
    others = pl.DataFrame({"age": [">75"] * 50, "condition": ["yes"] * 35 + ["no"] * 15})
    found = skewness(table, table, ["age"], "condition", TrialDesign(Randomness(1), control=others))
    assert found.control is not None
    assert found.control.share == pytest.approx(0.7)


@pytest.mark.requirement("R-04", "T-05")
def test_a_dictionary_of_eight_digit_numbers() -> None:
    """ISO/IEC 20889, 9.4.3.3.3: a hash of eight digits has a hundred million inputs; a keyed hash withstands."""
    of_eight = numbers("eight", "numbers of eight digits", 8)
    assert of_eight.size == 100_000_000
    people = pl.Series("number", [f"{n * 7919 % 10**8:08}" for n in range(1, 41)])
    plain = pl.Series("number", [hashlib.sha256(one.encode()).hexdigest() for one in people])
    found = dictionary(plain, [of_eight], original=people, budget=1000)
    assert found.success.share == 1
    keyed = pl.Series("number", [hmac.new(b"k" * 32, one.encode(), "sha256").hexdigest() for one in people])
    assert dictionary(keyed, [of_eight], original=people, budget=1000).success.share == 0


@pytest.mark.requirement("T-25")
def test_purchases_that_nobody_made() -> None:
    """MeitY 2.p to 2.r: the same columns and products in the same proportions, and nothing of ten people alone."""
    bought = TABLES["meity 2.p"].frame().with_columns(pl.col("Age").cast(pl.Int64))
    of_ten = synthesise(bought, seed=1, evidence=False).data
    assert isinstance(of_ten, pl.DataFrame)
    assert set(of_ten["Product Category"]) == {None}, "each is one of so few that none is learnt from"

    of_many = synthesise(pl.concat([bought] * 60), seed=1, evidence=False).data
    assert isinstance(of_many, pl.DataFrame)
    assert of_many.columns == bought.columns
    products = of_many["Product Category"].value_counts(normalize=True)
    shares = dict(zip(products["Product Category"], products["proportion"], strict=True))
    assert set(shares) == set(bought["Product Category"])
    for product, share in bought["Product Category"].value_counts(normalize=True).iter_rows():
        assert shares[product] == pytest.approx(share, abs=0.1)
    assert of_many["Age"].is_between(20, 40).all()
