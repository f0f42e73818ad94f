"""People who withdrew are in nothing that is released afterwards, and the registry doesn't say who they are (G-13)."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from tests.govern.conftest import AGREEMENT, FORM, GONE, Clock, Do, complete_steps, open_project
from tests.support.clusters import require_spark
from tests.support.commands import Call

from shoal.crypto import Key
from shoal.curator.curator import Curator
from shoal.curator.publishing import publish
from shoal.errors import InputError
from shoal.govern.opt_outs import people_who_come_back, withdraw_people, withdrawn_people
from shoal.govern.registry import GovernanceRegistry
from shoal.io.withdrawn_people import WithdrawnPeople, identity_digest
from shoal.policy import Policy
from shoal.release.request import RunRequest
from shoal.release.run import Run
from shoal.synthetic_release.request import SynthesisRequest
from shoal.synthetic_release.run import SyntheticRun

pytestmark = pytest.mark.requirement("G-13")

KEY = Key(bytes(range(32)))
POLICY = """
shoal: 1
name: patients
person: id
attributes:
  id: {role: direct, technique: suppress}
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 100]}}}
  ward: {role: insensitive}
privacy: [{k_anonymity: {k: 2}}]
"""


@pytest.fixture
def withdrawn(registry: GovernanceRegistry, do: Do) -> WithdrawnPeople:
    open_project(do)
    assert withdraw_people(registry, KEY, GONE, by="manager") == len(GONE)
    found = withdrawn_people(registry, "hospital", lambda: KEY)
    assert found is not None
    return found


def wards(folder: Path) -> set[str]:
    (data,) = folder.glob("data.*")
    frame = pl.read_parquet(data) if data.suffix == ".parquet" else pl.read_csv(data)
    return set(frame["ward"])


@pytest.mark.parametrize("engine", ["polars", pytest.param("spark", marks=pytest.mark.slow)])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_runs_leave_them_out(
    withdrawn: WithdrawnPeople, patients: Path, tmp_path: Path, engine: str, ending: str
) -> None:
    if engine == "spark":
        require_spark()
    request = RunRequest(
        policy=Policy.from_text(POLICY),
        data=str(patients.with_suffix(f".{ending}")),
        output=tmp_path / "release",
        engine=engine,
        master="local[1]" if engine == "spark" else None,
        withdrawn=withdrawn,
    )
    release = Run(request).execute()
    assert wards(tmp_path / "release") == {"north"}
    assert release.manifest.records is not None
    assert release.manifest.records.source == 2 * (100 - len(GONE))
    told = json.loads((tmp_path / "release" / "release.json").read_text())
    assert told["withdrawn"] == len(GONE)
    everything = "".join(path.read_text(errors="ignore") for path in (tmp_path / "release").rglob("*.*"))
    assert not any(f"gone {one[2:]}" in everything for one in GONE)


def test_numbers_and_spellings_are_the_same_person(registry: GovernanceRegistry, do: Do) -> None:
    open_project(do)
    withdraw_people(registry, KEY, [" p-3", "17"], by="manager")
    found = withdrawn_people(registry, "hospital", lambda: KEY)
    assert found is not None
    for people in (["P-3", "p-3 ", "P-4", None], [17, 18], [17.0, 18.5]):
        frame = pl.LazyFrame({"id": people})
        left = found.remaining(frame, "id").collect()["id"].to_list()
        assert left == [one for one in people if str(one).strip().casefold() not in {"p-3", "17", "17.0"}]


def test_synthesis_learns_nothing_of_them(withdrawn: WithdrawnPeople, patients: Path) -> None:
    request = SynthesisRequest(
        data=str(patients), description={"person": "id"}, evidence=False, withdrawn=withdrawn, seed=1
    )
    release = SyntheticRun(request).execute()
    assert release.manifest.withdrawn == len(GONE)
    model = json.dumps(release.manifest.to_dict())
    assert "gone" not in model
    assert set(release.data["ward"]) == {"north"}
    with pytest.raises(InputError, match="learn anew"):
        SyntheticRun(SynthesisRequest(from_model=patients, withdrawn=withdrawn))


def described(patients: Path, folder: Path, **further: object) -> Path:
    """A dataset's description in which the wards of who withdrew are public, so that they could be told."""
    wards = ["north", *(f"gone {one[2:]}" for one in GONE)]
    description = {
        "shoal": 1,
        "name": "patients",
        "source": str(patients),
        "person": "id",
        "rows_per_person": 2,
        "columns": {"ward": {"type": "category", "categories": wards}, **further},
        "budget": {"epsilon": 100_000, "delta": 1e-6},
    }
    path = folder / "dataset.yaml"
    path.write_text(yaml.safe_dump(description))
    return path


def test_answers_do_not_count_them(withdrawn: WithdrawnPeople, patients: Path, tmp_path: Path) -> None:
    path = described(patients, tmp_path)
    sql = "SELECT COUNT(*) AS n FROM t"
    before = Curator(path).query(sql, 50, absurd=True).to_dict()
    after = Curator(path, withdrawn=withdrawn).query(sql, 50, absurd=True).to_dict()
    counted = [round(answer["rows"][0]["n"] / 2) for answer in (before, after)]
    assert counted == [100, 100 - len(GONE)]


def test_a_synthesis_from_a_budget_learns_nothing_of_them(tmp_path: Path) -> None:
    """So many withdrew that even with noise their ward would be told."""
    people = [f"P-{place}" for place in range(2_000)]
    wards = ["north" if place % 2 else "gone 3" for place in range(2_000)]
    pl.DataFrame({"id": people, "ward": wards}).write_csv(tmp_path / "patients.csv")
    withdrawn = WithdrawnPeople(KEY, frozenset(identity_digest(KEY, one) for one in people[::2]))
    path = described(tmp_path / "patients.csv", tmp_path)
    asked = {"dataset": path, "method": "marginals", "epsilon": 9.0, "evidence": False, "rows": 1_000, "seed": 1}
    before, after = (
        (SyntheticRun(SynthesisRequest(**asked, withdrawn=gone)).execute().data["ward"] == "gone 3").mean()
        for gone in (None, withdrawn)
    )
    assert before > 0.4, "with them, their ward is told"
    assert after < 0.02, "nothing is left but noise"


def test_reports_period_by_period_do_not_count_them(withdrawn: WithdrawnPeople, patients: Path, tmp_path: Path) -> None:
    days = pl.read_csv(patients).with_columns(day=pl.lit("2025-01-15"))
    days.write_csv(patients)
    bounds = [datetime.date(2025, 1, 1), datetime.date(2025, 2, 28)]
    figures = []
    for name, gone in (("before", None), ("after", withdrawn)):
        folder = tmp_path / name
        folder.mkdir()
        described(patients, folder, day={"type": "date", "bounds": bounds})
        report = {"shoal": 1, "name": "wards", "dataset": "dataset.yaml", "figure": "COUNT(*)", "by": ["ward"]}
        text = yaml.safe_dump(report | {"every": "month", "time": "day", "epsilon": 5_000})
        (folder / "report.yaml").write_text(text)
        made = publish(folder / "report.yaml", until=datetime.date(2025, 2, 1), withdrawn=gone)
        figures.append({row["ward"]: round(row["total"]) for row in made.rows})
    assert figures[0] == {"north": 2 * (100 - len(GONE)), **{f"gone {one[2:]}": 2 for one in GONE}}
    assert figures[1] == {"north": 2 * (100 - len(GONE)), **{f"gone {one[2:]}": 0 for one in GONE}}


def test_no_person_column_is_refused(withdrawn: WithdrawnPeople, patients: Path, tmp_path: Path) -> None:
    policy = Policy.from_text(POLICY.replace("person: id\n", ""))
    request = RunRequest(policy=policy, data=str(patients), output=tmp_path / "release", withdrawn=withdrawn)
    with pytest.raises(InputError, match="no column says whose"):
        Run(request)
    with pytest.raises(InputError, match="no column says whose"):
        SyntheticRun(SynthesisRequest(data=str(patients), withdrawn=withdrawn))
    assert not (tmp_path / "release").exists()


def test_another_key_fits_nobody_and_is_refused(withdrawn: WithdrawnPeople, registry: GovernanceRegistry) -> None:
    with pytest.raises(InputError, match="another key"):
        withdrawn_people(registry, "hospital", Key.new)
    with pytest.raises(InputError, match="another key"):
        withdraw_people(registry, Key.new(), ["P-9"], by="manager")


def test_from_some_projects_only_and_back(registry: GovernanceRegistry, do: Do) -> None:
    open_project(do)
    do("chief-investigator", "project.open", "schools", use_case="external-sharing")
    withdraw_people(registry, KEY, ["P-1"], by="manager", projects=["schools"])
    assert withdrawn_people(registry, "hospital", lambda: KEY) is None
    withdraw_people(registry, KEY, ["P-1"], by="manager")
    found = withdrawn_people(registry, "hospital", lambda: KEY)
    assert found is not None
    with pytest.raises(InputError, match="let in again"):
        registry.purge("opt-out", *found.digests, by="manager", reason="tidy")
    assert people_who_come_back(registry, KEY, ["P-1"], by="manager") == 1
    assert withdrawn_people(registry, "hospital", lambda: KEY) is None


def test_the_registry_names_nobody(withdrawn: WithdrawnPeople, file_place: str) -> None:
    everything = b"".join(path.read_bytes() for path in Path(file_place).parent.glob("registry.db*"))
    assert not any(one.encode() in everything for one in GONE)
    assert KEY.material not in everything


def test_on_the_command_line(shoal: Call, tmp_path: Path) -> None:
    (tmp_path / "people.txt").write_text("\n".join(GONE))
    (tmp_path / "policy.yaml").write_text(POLICY)
    assert "3 withdrew" in shoal("register", "withdraw", "people.txt", "--by", "asha").stdout
    made = shoal("run", "policy.yaml", "-i", "patients.csv", "-o", "out", "--project", "hospital", "--by", "chan")
    assert made.code == 0, made.stderr
    assert wards(tmp_path / "out") == {"north"}
    (tmp_path / "policy.yaml").write_text(POLICY.replace("person: id\n", ""))
    refused = shoal("run", "policy.yaml", "-i", "patients.csv", "-o", "other", "--project", "hospital", "--by", "chan")
    assert refused.code == 2
    assert "no column says whose" in refused.stderr
    unknown = shoal("run", "policy.yaml", "-i", "patients.csv", "-o", "other", "--project", "nowhere", "--by", "chan")
    assert (unknown.code, "no project 'nowhere'" in unknown.stderr) == (2, True)


def agreed(do: Do) -> None:
    open_project(do)
    complete_steps(do)
    do("manager", "request.submit", "R-1", project="hospital", **FORM)
    do("chief-investigator", "request.review", "R-1")
    do("co-director", "request.approve", "R-1")
    do("manager", "request.agree", "R-1", **AGREEMENT)


@pytest.mark.requirement("G-03")
def test_whatever_way_it_was_made_nothing_is_delivered_that_may_have_them(
    registry: GovernanceRegistry, do: Do, clock: Clock
) -> None:
    agreed(do)
    withdraw_people(registry, KEY, ["P-1", "P-2"], by="manager")
    before, after = (clock() + datetime.timedelta(hours=one) for one in (-1, 1))
    clock.pass_days(1)

    def told(name: str, **figures: Any) -> str:
        given = {"project": "hospital", "population": name, "k": 5, "data_sha256": "b" * 64, "attacked": True}
        do("data-manager", "release.enter", name, **given, **figures)
        with pytest.raises(InputError) as refused:
            do("data-manager", "request.deliver", "R-1", release=name, channel="sftp")
        return refused.value.message

    assert "nothing shows that they were left out" in told("unknown", created=after.isoformat())
    assert "after that release was made" in told("early", created=before.isoformat(), left_out=2)
    assert "after that release was made" in told("undated", left_out=2)
    assert "more people withdrew" in told("few", created=after.isoformat(), left_out=1)
    withdraw_people(registry, KEY, ["P-3"], by="manager", projects=["hospital"])
    assert "after that release was made" in told("late", created=after.isoformat(), left_out=2)
    people_who_come_back(registry, KEY, ["P-3"], by="manager")
    given = {"project": "hospital", "population": "good", "k": 5, "data_sha256": "b" * 64, "attacked": True}
    do("data-manager", "release.enter", "good", **given, created=after.isoformat(), left_out=2)
    assert do("data-manager", "request.deliver", "R-1", release="good", channel="sftp").status == "delivered"


def test_a_run_outside_of_the_project_can_be_entered_and_not_delivered(
    registry: GovernanceRegistry, do: Do, patients: Path, tmp_path: Path
) -> None:
    agreed(do)
    withdraw_people(registry, KEY, GONE, by="manager")
    policy = Policy.from_text(POLICY.replace("k: 2", "k: 5"))
    for name, gone in (("without", None), ("with", withdrawn_people(registry, "hospital", lambda: KEY))):
        request = RunRequest(policy=policy, data=str(patients), output=tmp_path / name, withdrawn=gone, seed=1)
        Run(request).execute()
        given = {"project": "hospital", "folder": str(tmp_path / name)}
        assert do("data-manager", "release.enter", name, **given).model_dump()["left_out"] == (3 if gone else None)
    with pytest.raises(InputError, match="nothing shows that they were left out"):
        do("data-manager", "request.deliver", "R-1", release="without", channel="sftp")


@pytest.mark.parametrize("words", ["stream policy.yaml --from patients.csv", "copy policy.yaml --from sqlite:///x.db"])
def test_commands_that_know_nobody_who_withdrew_are_refused_for_a_project(
    shoal: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: str
) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY)
    monkeypatch.setenv("SHOAL_PROJECT", "hospital")
    refused = shoal(*words.split())
    assert (refused.code, "leaves out nobody who withdrew" in refused.stderr) == (2, True)
    monkeypatch.delenv("SHOAL_PROJECT")
    assert "leaves out nobody who withdrew" not in shoal(*words.split()).stderr
