"""Attacks on tables that lie somewhere: who says what is known, what is refused, what comes out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest

from shoal.assess.attack.request import AttackRequest
from shoal.assess.attack.table_attack import attack_data, attack_frames, read_table
from shoal.attack import Attack, Rate
from shoal.errors import InputError
from shoal.results.attack_report import AttackReport, attack_bounds, in_words, share_tried
from shoal.results.attack_roles import AttackRoles

pytestmark = pytest.mark.requirement("R-04")

SHY = "Zyxwvut"
"""A value that stands in the data and must never stand in any message."""
ROLES_OF = (("age", "city"), ("ill",))
ROLES = AttackRoles(*ROLES_OF)


def people(size: int = 120, first: int = 0) -> pl.DataFrame:
    place = range(first, first + size)
    return pl.DataFrame(
        {
            "age": [20 + each % 60 for each in place],
            "city": [f"{SHY}{each // 60}" for each in place],
            "ill": ["ABC"[each % 3] for each in place],
            "bill": [each * 10.0 for each in place],
        }
    )


def attacked(
    release: pl.DataFrame, original: pl.DataFrame, roles: AttackRoles = ROLES, **more: pl.DataFrame
) -> AttackReport:
    return attack_frames(release, original, roles, **more, trials=200, seed=1)


def refusal(attempt: Callable[[], object]) -> str:
    with pytest.raises(InputError) as refused:
        attempt()
    assert SHY not in str(refused.value)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_everybody_is_found_where_nothing_was_done() -> None:
    report = attacked(people(), people())
    shares = {attack.key: attack.success.share for attack in report.done.attacks}
    assert shares["linking"] == shares["homogeneity"] == shares["skewness"] == 1
    told = report.to_dict()
    assert told["rows"] == 120
    assert told["rows_in_order"] is True
    assert told["control"] is False
    assert {"linking", "homogeneity", "skewness"} <= set(told["found"])
    assert list(told["skipped"]) == ["membership"]
    assert SHY not in json.dumps(told, allow_nan=False)


@pytest.mark.requirement("R-05")
def test_the_same_seed_gives_the_same_bytes() -> None:
    """With a hashed column too, where a clock runs."""
    hashed = people().with_columns(name=pl.Series([f"{SHY} {each}" for each in range(120)]))
    release = hashed.with_columns(name=pl.col("name").map_elements(_sha256, pl.String))
    roles = AttackRoles(("age", "city"), ("ill",), replaced=("name",))
    first, second = (json.dumps(attacked(release, hashed, roles).to_dict()) for _ in range(2))
    assert first == second
    assert '"dictionary"' in first
    assert SHY not in first


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_only_altered_numbers_are_recognised_by_being_near() -> None:
    roles = AttackRoles(("age",), other=("bill",))
    assert not any(attack.key == "distance_linking" for attack in attacked(people(), people(), roles).done.attacks)
    moved = people().with_columns(pl.col("bill") + 1)
    found = {attack.key: attack for attack in attacked(moved, people(), roles).done.attacks}
    assert found["distance_linking"].success.share == 1


@pytest.mark.parametrize(
    ("release", "original", "roles", "says"),
    [
        (people().select(x="age"), people(), ROLES, "no column in common"),
        (people(), people(), AttackRoles(("agee",)), "no column 'agee'; did you mean 'age'?"),
        (people(), people(), AttackRoles(("age",), ("il",)), "no column 'il'"),
        (people().select("city"), people(), AttackRoles(("age",)), "nothing to attack"),
    ],
    ids=["columns", "quasi-identifier", "sensitive", "nothing"],
)
def test_tables_that_do_not_fit(release: pl.DataFrame, original: pl.DataFrame, roles: AttackRoles, says: str) -> None:
    assert says in refusal(lambda: attacked(release, original, roles))


@pytest.mark.parametrize(
    ("control", "says"),
    [
        (people().drop("ill"), "the control group has no column 'ill'"),
        (people(first=500).with_columns(pl.format("{} {}", pl.lit(SHY), "age").alias("age")), "column 'age'"),
        (people(), "most of the control group are in the original"),
        (people().head(1), "most of the control group are in the original"),
    ],
    ids=["column", "type", "the original", "one of the original"],
)
def test_control_groups_that_are_none(control: pl.DataFrame, says: str) -> None:
    assert says in refusal(lambda: attacked(people(), people(), control=control))


def test_a_control_group_may_be_stored_otherwise() -> None:
    """Numbers as text are the same numbers, and people who look like several others may still be strangers."""
    control = people(first=30).with_columns(pl.col("age").cast(pl.String), bill=-1.0)
    report = attacked(people(), people(), control=control)
    assert report.control
    assert not report.done.skipped
    assert all(attack.control is not None for attack in report.done.attacks if not attack.key.startswith("membership"))
    alike = people().with_columns(age=1, city=pl.lit("x"), bill=0.0)
    assert attacked(alike, alike, control=alike.head(100)).control
    says = refusal(lambda: attacked(alike, alike, control=alike.head(99)))
    assert says == "the control group has 99 people, too few to compare with (give 100 or more)"


def test_an_auxiliary_table_about_something_else() -> None:
    says = refusal(lambda: attacked(people(), people(), auxiliary=pl.DataFrame({"shoe": [1]})))
    assert says == "the auxiliary table has no column in common with the release"


@pytest.mark.parametrize("rows", [(1, 120), (120, 1), (1, 1), (2, 2)])
def test_one_record_is_attacked_without_a_stumble(rows: tuple[int, int]) -> None:
    told = attacked(people().head(rows[0]), people().head(rows[1])).to_dict()
    assert json.dumps(told, allow_nan=False)
    assert told["rows"] == rows[0]
    assert {"linking", "homogeneity"} <= {each["attack"] for each in told["attacks"]}


def test_a_column_without_a_value_tells_nothing() -> None:
    empty = people().with_columns(city=pl.lit(None, pl.String))
    linked = {each.key: each for each in attacked(empty, empty).done.attacks}["linking"]
    assert linked.success.right == 0
    wanted = attacked(empty, empty, AttackRoles(("age",), ("city",)))
    assert not any(attack.found for attack in wanted.done.attacks if attack.attribute == "city")


def files(folder: Path, **tables: pl.DataFrame) -> list[str]:
    for name, table in tables.items():
        table.write_parquet(folder / f"{name}.parquet")
    return [str(folder / f"{name}.parquet") for name in tables]


def test_an_original_of_which_nothing_is_in_the_release(tmp_path: Path) -> None:
    strange = people().with_columns(age=pl.col("age") + 500, city=pl.lit("Elsewhere"), ill=pl.lit("D"))
    release, original = files(tmp_path, release=strange, original=people())
    says = refusal(lambda: attack_data(release, AttackRequest(roles=ROLES, original=original)))
    assert says == "the original and the release have no value in common: they can't belong together"


@pytest.mark.parametrize(
    "altered",
    [
        people().with_columns(pl.lit("*").alias(name) for name in ("age", "city", "ill")),
        people().with_columns(pl.col("age") + 0.37, city=pl.lit("*"), ill=pl.lit("*")),
        people().with_columns(age=pl.lit("20-99"), city=pl.lit("somewhere"), ill=pl.lit("unwell")),
        people().with_columns(age=pl.lit("old"), city=pl.lit("somewhere"), ill=pl.lit("unwell")),
        people().with_columns(age=pl.col("age") + 500),
    ],
    ids=["all starred", "noise", "generalised", "words nobody can read", "one column far off"],
)
def test_an_original_that_may_belong(tmp_path: Path, altered: pl.DataFrame) -> None:
    release, original = files(tmp_path, release=altered, original=people())
    assert attack_data(release, AttackRequest(roles=ROLES, original=original, trials=50, seed=1)).rows == 120


def test_tables_are_read_or_refused(tmp_path: Path) -> None:
    (tmp_path / "head.csv").write_text("age,city\n")
    for name in ("absent.csv", "head.csv"):
        says = refusal(lambda name=name: read_table(str(tmp_path / name), "release"))
        assert name in says
    (whole,) = files(tmp_path, whole=people().with_columns(stay=pl.lit(timedelta(days=2))))
    assert read_table(whole, "release")["stay"].unique().to_list() == [172_800_000_000]
    assert "trials: at least one" in refusal(
        lambda: attack_data(whole, AttackRequest(roles=ROLES, original=whole, trials=0))
    )


def folder(path: Path, manifest: object) -> str:
    path.mkdir()
    people().write_csv(path / "data.csv")
    (path / "release.json").write_text(manifest if isinstance(manifest, str) else json.dumps(manifest))
    return str(path)


def test_roles_from_the_folder_the_policy_and_the_user(tmp_path: Path) -> None:
    said = {"age": "quasi", "city": "quasi", "ill": "sensitive", "bill": "insensitive", "id": "direct"}
    release = folder(tmp_path / "r", {"data": {"path": "data.csv"}, "roles": said})
    by = {"policy": None, "qi": None, "sensitive": None}
    assert AttackRoles.of(release, **by) == AttackRoles(("age", "city"), ("ill",), ("id",), ("bill",))
    assert AttackRoles.of(release, **by | {"qi": "bill, ill"}).quasi == ("bill", "ill")
    assert "named twice" in refusal(lambda: AttackRoles.of(release, **by | {"qi": "bill, ill,bill"}))
    assert AttackRoles.of(release, **by | {"qi": "age,ill"}).sensitive == ()
    assert AttackRoles.of("some.csv", **by | {"qi": "age"}) == AttackRoles(("age",))
    assert "what an attacker knows" in refusal(lambda: AttackRoles.of("some.csv", **by))
    assert "names no column" in refusal(lambda: AttackRoles.of("some.csv", **by | {"qi": " , "}))
    assert "'age'" in refusal(lambda: AttackRoles.of("some.csv", **by | {"qi": "age", "sensitive": "age"}))


def test_the_person_from_the_folder_the_policy_and_the_user(tmp_path: Path) -> None:
    told = {"data": {"path": "data.csv"}, "roles": {"age": "quasi"}, "person": {"attribute": "pid", "most_records": 3}}
    policy = tmp_path / "policy.yaml"
    policy.write_text("shoal: 1\nname: p\nperson: who\nattributes: {who: {role: direct}, age: {role: quasi}}\n")
    release = folder(tmp_path / "r", told)
    by = {"policy": None, "qi": None, "sensitive": None}
    assert AttackRoles.of(release, **by).person == "pid"
    assert AttackRoles.of(release, **by | {"qi": "age"}).person == "pid"
    assert AttackRoles.of(release, **by | {"policy": policy}).person == "who"
    assert AttackRoles.of(release, **by | {"policy": policy}, person="bill").person == "bill"
    assert AttackRoles.of(folder(tmp_path / "old", told | {"person": None}), **by).person is None


def visits() -> pl.DataFrame:
    """Everybody twice, with two illnesses."""
    table = people().with_columns(pid=pl.format("{}-{}", pl.lit(SHY), pl.row_index()))
    return pl.concat([table, table.with_columns(ill=pl.lit("D"))])


def test_people_with_several_records_are_found_as_people() -> None:
    release = visits().select("age", "city", "ill")
    by_records, by_people = (
        {
            attack.key: attack
            for attack in attacked(release, visits(), AttackRoles(*ROLES_OF, person=person)).done.attacks
        }
        for person in (None, "pid")
    )
    assert by_records["linking"].success.right == 0
    assert (by_people["linking"].success.right, by_people["linking"].success.trials) == (120, 120)
    report = attacked(release, visits(), AttackRoles(*ROLES_OF, person="pid"))
    assert report.to_dict()["person"] == "pid"
    assert not report.findings({"linking": 0})[0].met
    says = refusal(lambda: attacked(release, visits(), AttackRoles(*ROLES_OF, person="pidd")))
    assert says == "the original has no column 'pidd'; did you mean 'pid'?"


def test_an_attack_that_applies_and_is_not_judged_does_not_pass() -> None:
    """Shuffled, the bill moved a little: that records are near is seen, but not whether picks by all are right."""
    shuffled = people().with_columns(pl.lit("*").alias(name) for name in ("age", "city", "ill"))
    shuffled = shuffled.with_columns(pl.col("bill") + 1).reverse()
    roles = AttackRoles(("age", "city"), other=("bill",))
    report = attacked(shuffled, people(), roles)
    assert report.to_dict()["unjudged"] == ["combined_linking"]
    assert report.to_dict()["found"] == ["distance_linking"]
    assert report.to_dict()["rows_known"] is False
    safe = {finding.name: finding.met for finding in report.findings({}, safe=True)}
    assert safe["combined_linking: what it finds"] is False
    assert report.findings({}) == ()
    origins = pl.Series(range(119, -1, -1))
    known = attack_frames(shuffled, people(), roles, origins=origins, trials=200, seed=1)
    assert known.to_dict()["unjudged"] == []
    assert "distance_linking" in known.to_dict()["found"]


def test_what_has_nothing_to_go_by_is_no_reason_to_fail() -> None:
    starred = attacked(people().with_columns(age=pl.lit("*"), city=pl.lit("*")), people())
    assert "membership" in starred.done.skipped
    assert "membership" not in starred.done.unjudged


def test_of_a_dictionary_it_is_said_how_much_was_gone_through() -> None:
    def told(tried: float, settled: float = 0.0) -> str:
        details = {"tried": tried, "space": 8e10, "settled": settled}
        rates = Rate(50, 100), Rate(0, 100)
        return share_tried(Attack("dictionary", "", "", *rates, attribute="id", details=details))

    assert told(1) == told(0.2) == ""
    assert told(0.000125, 0.5).startswith("10,000,000 of the 80,000,000,000 identifiers of the format")
    assert "would find nobody" in told(0)


@pytest.mark.parametrize(
    "manifest",
    ["{", "[]", {"roles": {}}, {"roles": {"age": "king"}, "data": {"path": "data.csv"}}, {"roles": [], "data": 3}],
)
def test_a_manifest_that_is_none(tmp_path: Path, manifest: object) -> None:
    release = folder(tmp_path / "r", manifest)
    by = {"policy": None, "qi": "age", "sensitive": None}
    says = refusal(
        lambda: attack_data(release, AttackRequest(roles=AttackRoles.of(release, **by), original=f"{release}/data.csv"))
    )
    assert says == f"{release}/release.json: is not the manifest of a release"


def test_bounds() -> None:
    assert attack_bounds(["linking=0.05", "homogeneity=0", "membership=1"]) == {
        "linking": 0.05,
        "homogeneity": 0,
        "membership": 1,
    }
    for text in ("linking", "linking=", "linking=x", "linking=nan", "linking=-1", "linking=1.01", "linking=inf"):
        assert "from 0 to 1" in refusal(lambda text=text: attack_bounds([text]))
    assert "did you mean 'linking'?" in refusal(lambda: attack_bounds(["linkin=0.1"]))


def test_what_is_required_is_met_missed_or_not_to_be_had() -> None:
    report = attacked(people(), people())
    met, missed = report.findings({"linking": 1.0})[0], report.findings({"linking": 0.99})[0]
    assert (met.name, met.achieved, met.met, missed.met) == ("linking", 1.0, True, False)
    assert [finding.met for finding in report.findings({"membership": 1.0})] == [False]
    assert [each.name for each in report.findings({"homogeneity": 0.5})] == ["homogeneity of ill"]
    every = report.findings({}, safe=True)
    assert [not finding.met for finding in every] == [attack.found for attack in report.done.attacks]
    assert "linking against guessing" in [finding.name for finding in every]


def test_words_claim_no_more_than_was_measured() -> None:
    report = attacked(people(), people())
    words = {attack.key: in_words(attack) for attack in report.done.attacks}
    assert words["linking"] == "120 found for certain"
    assert words["homogeneity"] == "gets more out of the release than guessing"
    starred = attacked(people().with_columns(age=pl.lit("*"), city=pl.lit("*")), people())
    words = {attack.key: in_words(attack) for attack in starred.done.attacks}
    assert words["linking"] == "no more than guessing, within the interval"
