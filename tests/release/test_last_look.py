"""Before a release is committed, it is searched for direct identifiers: whatever let them through, nothing leaves."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import DataError
from shoal.policy.multi_table import MultiTablePolicy, load_any
from shoal.release.multi_table.run import release_tables
from shoal.release.run import release_folder
from shoal.results.number_format import percent

pytestmark = pytest.mark.requirement("V-05", "T-01")

PEOPLE = 240
HEADING = "shoal: 1\nname: p\n"


def table() -> pl.DataFrame:
    places = pl.Series(range(PEOPLE))
    return pl.DataFrame(
        {
            "name": "SECRET" + (places * 37 + 1_000).cast(pl.String),
            "account": 401_234_567 + places * 7_919 + places * places * 13 % 5_003,
            "age": 20 + places * 7 % 60,
            "ill": pl.Series(["flu", "gout", "cold", "ague"] * (PEOPLE // 4)),
            "note": pl.Series([f"visit {place % 7}" for place in range(PEOPLE)]),
        }
    )


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Shoal that follows no roles and measures no technique."""
    monkeypatch.setattr("shoal.policy.checks.problems_of_roles", lambda _: iter(()))
    monkeypatch.setattr("shoal.plan.binder.refuse_weaker_roles", lambda _: None)
    monkeypatch.setattr("shoal.plan.binder.refuse_unaltered", lambda _: None)


LEAKS = {
    "into an insensitive column": (
        "name: {role: direct, technique: {combine: {into: x, expression: \"CONCAT('x', name)\"}}}",
        "x: {role: insensitive}",
        "'x' beside their own record",
    ),
    "kept beside": (
        "name: {role: direct, technique: {combine: {into: x, expression: \"CONCAT('x', name)\", drop: false}}}",
        "x: {role: direct}",
        "'name' nearly as they were",
    ),
    "through a chain": (
        "name: {role: direct, technique: {combine: {into: x, expression: \"CONCAT('x', name)\"}}}",
        'x: {role: quasi, technique: {combine: {into: y, expression: "CONCAT(x, age)"}}}\n  y: {role: insensitive}',
        "'y' beside their own record",
    ),
    "round": ("account: {role: direct, technique: {round: {base: 1}}}", "", "'account' nearly as they were"),
    "code": ("account: {role: direct, technique: {code: {top: 99999999999}}}", "", "'account' nearly as they were"),
    "noise": ("account: {role: direct, technique: {noise: {laplace: {scale: 1.0e-9}}}}", "", "nearly as they were"),
    "mask": ("name: {role: direct, technique: {mask: {keep_first: 9}}}", "", "'name' nearly as they were"),
    "permuted": ("name: {role: direct, technique: permute}", "", "'name'"),
}


@pytest.mark.parametrize(("first", "second", "says"), LEAKS.values(), ids=LEAKS)
@pytest.mark.parametrize("more", ["", "shuffle_rows: true\nsample: {fraction: 0.5}\n"], ids=["in order", "shuffled"])
@pytest.mark.usefixtures("unchecked")
def test_each_way_is_caught_where_nothing_else_does(
    first: str, second: str, says: str, more: str, tmp_path: Path
) -> None:
    lines = "\n".join(f"  {line}" for line in (first, second, "age: {role: insensitive}", '"*": suppress') if line)
    policy = shoal.Policy.from_text(f"{HEADING}attributes:\n{lines}\n{more}")
    data = tmp_path / "table.csv"
    table().write_csv(data)
    with pytest.raises(DataError, match="the last look at the output found direct identifiers") as caught:
        release_folder(policy, tmp_path / "out", data=str(data), seed=3)
    assert says in str(caught.value)
    assert "SECRET" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["table.csv"], "nothing is left behind"
    with pytest.raises(DataError, match="last look"):
        shoal.anonymise(table(), policy, seed=3)


def test_names_in_a_column_that_was_called_insensitive_stop_the_run(tmp_path: Path) -> None:
    """Nothing in the policy could tell: the remarks name people."""
    frame = table().with_columns(
        pl.when(pl.int_range(pl.len()) % 40 == 11).then("asked for " + pl.col("name")).otherwise("note").alias("note")
    )
    policy = shoal.Policy.from_text(
        f'{HEADING}attributes: {{name: suppress, note: {{role: insensitive}}, "*": suppress}}\n'
    )
    with pytest.raises(DataError, match="6 values of 'name' in 'note' beside their own record"):
        shoal.anonymise(frame, policy)
    clean = shoal.anonymise(table(), policy)
    assert clean.manifest.to_dict()["last_look"] == {
        "rows": PEOPLE,
        "looked_at": PEOPLE,
        "sampled": False,
        "identifiers": ["name"],
        "columns": 1,
        "hits": 0,
    }


@pytest.mark.usefixtures("unchecked")
def test_an_extreme_of_an_aggregate_is_found_without_any_record() -> None:
    policy = shoal.Policy.from_text(
        HEADING + "attributes:\n  account: {role: direct, technique: {round: {base: 1}}}\n  ill: {role: insensitive}\n"
        '  "*": suppress\naggregate: {by: [ill], measures: {n: count, least: {min: account}}}\n'
    )
    with pytest.raises(DataError, match="4 values of 'account' in 'least'"):
        shoal.anonymise(table(), policy)


def test_a_further_file_for_the_recipient_is_looked_at_too() -> None:
    policy = shoal.Policy.from_text(
        HEADING + 'attributes:\n  name: suppress\n  age: {role: quasi}\n  ill: {role: sensitive}\n  "*": suppress\n'
        "anatomise: {sensitive: [ill], l: 2}\nshuffle_rows: true\n"
    )
    assert shoal.anonymise(table(), policy).manifest.to_dict()["last_look"]["columns"] == 5
    with pytest.raises(DataError, match="240 values of 'name' in 'attributes: ill'"):
        shoal.anonymise(table().with_columns(("ill: " + pl.col("name")).str.slice(5).alias("ill")), policy)


def test_a_reason_in_the_policy_is_believed_here_too() -> None:
    policy = shoal.Policy.from_text(
        HEADING + "attributes:\n"
        "  name: {role: direct, technique: {combine: {into: label, expression: \"CONCAT('x', name)\"}}}\n"
        '  label: {role: insensitive, because: "the names are made up"}\n  "*": suppress\n'
    )
    done = shoal.anonymise(table(), policy)
    assert done.data["label"][0].startswith("xSECRET")
    assert any("the names are made up" in warning for warning in done.manifest.warnings)


def test_of_large_tables_a_part_is_looked_at_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.assess.evidence.last_look.LOOKED_AT", 50)
    policy = shoal.Policy.from_text(
        f'{HEADING}attributes: {{name: suppress, note: {{role: insensitive}}, "*": suppress}}\n'
    )
    told = shoal.anonymise(table(), policy).manifest.to_dict()["last_look"]
    assert (told["sampled"], told["looked_at"]) == (True, 48)
    leaking = table().with_columns(("for " + pl.col("name")).alias("note"))
    with pytest.raises(DataError, match="48 values of 'name'"):
        shoal.anonymise(leaking, policy)


def test_a_scrubbed_text_is_no_identifier_itself() -> None:
    policy = shoal.Policy.from_text(
        f'{HEADING}attributes: {{name: suppress, note: {{role: direct, technique: scrub}}, "*": suppress}}\n'
    )
    done = shoal.anonymise(table(), policy)
    assert done.manifest.to_dict()["last_look"]["identifiers"] == ["name"]


@pytest.mark.requirement("T-04")
def test_a_part_that_is_still_unique_is_a_pseudonym() -> None:
    """MeitY, table 2.d: the four last digits of three Aadhaar numbers; ISO/IEC 20889, 9.3.2, note 1."""
    three = pl.DataFrame(
        {"name": ["Rakesh", "Raj", "Celin"], "card": ["2345 6789 1234", "5678 1234 5678", "2345 1234 9123"]}
    )
    policy = shoal.Policy.from_text(
        HEADING + "attributes:\n  name: suppress\n  card: {role: direct, technique: {mask: {keep_last: 4, char: x}}}\n"
    )
    done = shoal.anonymise(three, policy)
    told = done.manifest.to_dict()
    assert [card[-4:] for card in done.data["card"]] == ["1234", "5678", "9123"]
    assert told["treatment"] == {"card": "pseudonymised"}
    assert told["pseudonyms"] == {"card": 1.0}
    assert any(
        f"what is left of 'card' still tells {percent(1)} of people apart" in warning for warning in told["warnings"]
    )
    assert f"a pseudonym: still unique for {percent(1)}" in done.html
    assert "9.3.2, note 1" in done.html


@pytest.mark.requirement("T-04")
def test_a_part_that_many_share_is_a_mask() -> None:
    policy = shoal.Policy.from_text(
        HEADING + 'attributes:\n  account: {role: direct, technique: {mask: {keep_first: 2}}}\n  "*": suppress\n'
    )
    told = shoal.anonymise(table(), policy).manifest.to_dict()
    assert told["treatment"] == {"account": "replaced"}
    assert told["pseudonyms"] == {}


@pytest.mark.requirement("D-09")
def test_uniqueness_counts_people_not_records() -> None:
    visits = pl.DataFrame({"who": ["a1", "a1", "b2", "b2", "c3"], "phone": ["9811", "9811", "9822", "9822", "9822"]})
    policy = shoal.Policy.from_text(
        f"{HEADING}person: who\nattributes:\n  who: suppress\n"
        "  phone: {role: direct, technique: {mask: {keep_last: 2}}}\n"
    )
    assert shoal.anonymise(visits, policy).manifest.pseudonyms == {"phone": pytest.approx(1 / 3)}


def test_in_the_manifest_of_a_folder(tmp_path: Path) -> None:
    data = tmp_path / "table.csv"
    table().write_csv(data)
    policy = shoal.Policy.from_text(
        f'{HEADING}attributes: {{name: suppress, age: {{role: insensitive}}, "*": suppress}}\n'
    )
    release_folder(policy, tmp_path / "out", data=str(data))
    told = json.loads((tmp_path / "out" / "release.json").read_text(encoding="utf-8"))
    assert told["last_look"]["hits"] == 0
    assert told["last_look"]["looked_at"] == PEOPLE


def test_keys_of_one_table_are_not_left_as_they_are_in_another(tmp_path: Path) -> None:
    ids = [f"patient-{place * 37:05}" for place in range(60)]
    pl.DataFrame({"id": ids, "age": [20 + place % 50 for place in range(60)]}).write_csv(tmp_path / "patients.csv")
    pl.DataFrame({"patient": ids * 2, "ward": ["north", "south"] * 60}).write_csv(tmp_path / "visits.csv")

    def policy(key: str) -> Path:
        path = tmp_path / "policy.yaml"
        path.write_text(
            "shoal: 1\nname: clinic\ntables:\n"
            "  patients:\n    source: patients.csv\n    attributes:\n"
            "      id: {role: direct, technique: {pseudonymise: {domain: patients}}}\n      age: {role: insensitive}\n"
            "  visits:\n    source: visits.csv\n    attributes:\n"
            f"      patient: {key}\n      ward: {{role: insensitive}}\n"
            "references: [{from: visits.patient, to: patients.id, keep: false}]\n",
            encoding="utf-8",
        )
        return path

    leaking = load_any(policy("{role: insensitive}"))
    assert isinstance(leaking, MultiTablePolicy)
    with pytest.raises(DataError, match=r"60 values of 'patients.id' in 'visits.patient'"):
        release_tables(leaking, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    treated = load_any(policy("{role: direct, technique: {pseudonymise: {domain: patients}}}"))
    assert isinstance(treated, MultiTablePolicy)
    assert release_tables(treated, tmp_path / "out").folder == tmp_path / "out"
