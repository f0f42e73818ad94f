"""One date shift per person: intervals stay, dates don't, and every table, remark and later release moves alike."""

from __future__ import annotations

import datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import PolicyError, ShoalError
from shoal.policy import Policy
from shoal.policy.multi_table import MultiTablePolicy, load_any
from shoal.release import anonymise
from shoal.release.multi_table.run import release_tables
from shoal.vault import Passphrase, Vault

pytestmark = pytest.mark.requirement("T-30")
HEAD = "shoal: 1\nname: visits\nattributes:\n"
SHIFT = "{shift_dates: {person: patient, domain: patients}}"
POLICY = HEAD + f"  patient: {{role: direct}}\n  came: {{role: insensitive, technique: {SHIFT}}}\n"
DAYS = st.dates(datetime.date(1930, 1, 1), datetime.date(2035, 12, 31))


def shifted(frame: pl.DataFrame, text: str = POLICY, *, seed: int | None = 1) -> pl.DataFrame:
    return anonymise(frame, Policy.from_text(text), seed=seed).data  # type: ignore[no-any-return]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), DAYS), min_size=1, max_size=30))
def test_intervals_stay_and_no_date_does(visits: list[tuple[str, datetime.date]]) -> None:
    frame = pl.DataFrame(visits, schema={"patient": pl.String, "came": pl.Date}, orient="row")
    moved = shifted(frame)["came"]
    by = (moved - frame["came"]).dt.total_days()
    assert by.abs().min() >= 1  # type: ignore[operator]
    assert by.abs().max() <= 365  # type: ignore[operator]
    shifts = pl.DataFrame({"patient": frame["patient"], "by": by}).group_by("patient").agg(pl.col("by").n_unique())
    assert shifts["by"].to_list() == [1] * len(shifts)


def test_people_are_moved_by_different_days_either_way() -> None:
    frame = pl.DataFrame({"patient": [f"p{n}" for n in range(2000)], "came": [datetime.date(2020, 1, 1)] * 2000})
    by = (shifted(frame)["came"] - frame["came"]).dt.total_days()
    assert by.n_unique() > 600, "of 730"
    assert abs((by > 0).mean() - 0.5) < 0.05  # type: ignore[operator]


@pytest.mark.parametrize("form", ["%d/%m/%Y", "%Y-%m-%d %H:%M:%S"])
def test_dates_keep_the_form_and_the_time_that_they_had(form: str) -> None:
    moments = [datetime.datetime(2020, 3, 31, 14, 5, 9), datetime.datetime(2021, 12, 30, 23, 59, 1)]  # noqa: DTZ001
    frame = pl.DataFrame({"patient": [7, 7], "came": [one.strftime(form) for one in moments]})
    moved = [datetime.datetime.strptime(one, form) for one in shifted(frame)["came"]]  # noqa: DTZ007
    assert moved[1] - moved[0] == datetime.datetime.strptime(frame["came"][1], form) - datetime.datetime.strptime(  # noqa: DTZ007
        frame["came"][0], form
    )


def test_weeks_keep_the_day_of_the_week() -> None:
    frame = pl.DataFrame({"patient": [f"p{n}" for n in range(50)], "came": [datetime.date(2024, 2, 14)] * 50})
    moved = shifted(frame, POLICY.replace("domain: patients", "domain: patients, weeks: true, days: 90"))["came"]
    assert set(moved.dt.weekday()) == {3}
    assert (moved - frame["came"]).dt.total_days().abs().max() <= 90  # type: ignore[operator]


def test_the_person_is_read_as_it_came_whatever_becomes_of_it() -> None:
    frame = pl.DataFrame({"patient": ["p1", "p2", "p1"], "came": [datetime.date(2024, 2, 14)] * 3})
    kept = POLICY.replace("{role: direct}", "{role: direct, technique: {pseudonymise: {domain: others}}}")
    assert shifted(frame, kept)["came"].to_list() == shifted(frame)["came"].to_list()


def test_who_is_not_named_moves_alone() -> None:
    frame = pl.DataFrame(
        {"patient": [None] * 40, "came": [datetime.date(2024, 2, 14)] * 40}, schema_overrides={"patient": pl.String}
    )
    by = (shifted(frame)["came"] - frame["came"]).dt.total_days()
    assert by.n_unique() > 20
    assert by.abs().min() >= 1  # type: ignore[operator]


TABLES = """
shoal: 1
name: hospital
tables:
  stays:
    source: stays.csv
    attributes:
      patient: {role: direct}
      came: {role: insensitive, technique: {shift_dates: {person: patient, domain: patients}}}
      went: {role: insensitive, technique: {shift_dates: {person: patient, domain: patients}}}
  tests:
    source: tests.csv
    attributes:
      person: {role: direct}
      taken: {role: insensitive, technique: {shift_dates: {person: person, domain: patients}}}
      remark: {role: insensitive, technique: {scrub: {dates: shift, person: person, domain: patients}}}
"""


def test_tables_and_remarks_of_one_person_move_alike(tmp_path: Path) -> None:
    (tmp_path / "stays.csv").write_text("patient,came,went\n11,2024-01-05,2024-01-09\n12,2024-03-01,2024-03-31\n")
    (tmp_path / "tests.csv").write_text(
        "person,taken,remark\n12,2024-03-02,came back on 2024-03-20\n11,2024-01-06,came back on 2024-01-08\n"
    )
    (tmp_path / "policy.yaml").write_text(TABLES)
    several = load_any(tmp_path / "policy.yaml")
    assert isinstance(several, MultiTablePolicy)
    release_tables(several, tmp_path / "out")
    stays = pl.read_csv(tmp_path / "out/stays/data.csv", try_parse_dates=True)
    tests = pl.read_csv(tmp_path / "out/tests/data.csv", try_parse_dates=True)
    first, second = [
        (stays["came"][n] - datetime.date(*day)).days for n, day in enumerate([(2024, 1, 5), (2024, 3, 1)])
    ]
    assert first != second
    assert (stays["went"] - stays["came"]).dt.total_days().to_list() == [4, 30]
    assert [(one - datetime.date(2024, 3, 2)).days for one in tests["taken"][:1]] == [second]
    assert [(one - datetime.date(2024, 1, 6)).days for one in tests["taken"][1:]] == [first]
    for remark, day, by in zip(tests["remark"], ((2024, 3, 20), (2024, 1, 8)), (second, first), strict=True):
        assert (datetime.date(*day) + datetime.timedelta(days=by)).isoformat() in remark


def test_a_vault_moves_a_later_release_alike(tmp_path: Path) -> None:
    frame = pl.DataFrame({"patient": ["p1", "p2"], "came": [datetime.date(2024, 2, 14)] * 2})
    policy = Policy.from_text(POLICY)
    asha = Passphrase("asha", "a long enough phrase")
    with Vault.create(tmp_path / "v.vault", asha, state=tmp_path / "state") as vault:
        vault.add_domain("patients")
        once, again = (anonymise(frame, policy, vault=vault).data["came"].to_list() for _ in range(2))  # type: ignore[index]
    assert once == again


def test_without_one_no_two_releases_move_alike() -> None:
    frame = pl.DataFrame({"patient": [f"p{n}" for n in range(20)], "came": [datetime.date(2024, 2, 14)] * 20})
    assert shifted(frame, seed=None)["came"].to_list() != shifted(frame, seed=None)["came"].to_list()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("person: patient", "person: patent", "did you mean 'patient'"),
        ("person: patient", "person: came", "can't name the person"),
        ("domain: patients", "domain: Patients", "domain"),
    ],
)
def test_what_makes_no_sense_is_refused(old: str, new: str, message: str) -> None:
    frame = pl.DataFrame({"patient": ["p1"], "came": [datetime.date(2024, 2, 14)]})
    with pytest.raises((PolicyError, ShoalError), match=message):
        shifted(frame, POLICY.replace(old, new))
