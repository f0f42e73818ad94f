"""Further files of a release: beside the data record by record, listed, told of, whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.support.policies import policy_text

import shoal
from shoal.engine.polars import record_order
from shoal.errors import BugError, InputError, TargetError
from shoal.io import open_source
from shoal.io.options import FileOptions
from shoal.plan import Plan, PlannedStep
from shoal.release.further_files import planned_files
from shoal.release.run import release_folder
from shoal.schema import Column, Step
from shoal.schema.steps import SidecarFile
from shoal.techniques import Context
from shoal.techniques.suppression.mask import Mask

REST = "privacy: [{k_anonymity: {k: 2}}]\nsolve: {suppression_limit: 1, drop_suppressed: true}\n"
POLICY = policy_text("lab.csv", REST, {"code": "technique: mask"}, direct="name", insensitive="code note", quasi="city")
SHUFFLED = POLICY + "sample: {fraction: 0.5}\nshuffle_rows: true\n"


def people(number: int = 60) -> pl.DataFrame:
    rows = range(number)
    return pl.DataFrame(
        {
            "name": [f"Secretname{row}" for row in rows],
            "code": [f"c{row}" for row in rows],
            "city": ["only one"] + [f"city {row % 5}" for row in rows[1:]],
            "note": [f"c{row}" for row in rows],
        }
    )


@dataclass(frozen=True)
class Splits(Step):
    """A column into two hidden halves; the column itself goes."""

    column: str
    files: tuple[SidecarFile, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def sidecar_files(self) -> tuple[SidecarFile, ...]:
        return self.files

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        text = pl.col(self.column)
        halves = text.str.head(1).alias(f"__shoal_{self.column}_1"), text.str.slice(1).alias(f"__shoal_{self.column}_2")
        return frame.with_columns(halves).drop(self.column)


def halves(column: str = "code") -> tuple[SidecarFile, ...]:
    return (
        SidecarFile("shares/party-1", {f"__shoal_{column}_1": column}, about="half of the code, for party 1"),
        SidecarFile("shares/party-2", {f"__shoal_{column}_2": column}, about="half of the code, for party 2"),
    )


Putting = Callable[..., None]


@pytest.fixture
def putting(monkeypatch: pytest.MonkeyPatch) -> Putting:
    """Lets `mask` put these files beside the data."""

    def put(*files: SidecarFile) -> None:
        def bind(_technique: Mask, column: Column, _context: Context) -> Step:
            return Splits(column.name, files or halves(column.name))

        monkeypatch.setattr(Mask, "bind", bind)

    return put


def released(folder: Path, policy: str = POLICY, table: pl.DataFrame | None = None, **how: Any) -> Path:
    source = folder / "in.csv"
    (people() if table is None else table).write_csv(source)
    release_folder(shoal.Policy.from_text(policy), folder / "out", data=str(source), seed=4, **how)
    return folder / "out"


@pytest.mark.requirement("T-23", "V-05")
def test_files_stand_beside_the_data_record_by_record(tmp_path: Path, putting: Putting) -> None:
    putting()
    out = released(tmp_path)
    data = pl.read_csv(out / "data.csv")
    assert data.columns == ["city", "note"]
    assert data.height == 59, "one record is suppressed, in every file"
    first, second = (pl.read_csv(out / f"shares/party-{party}.csv", infer_schema=False) for party in (1, 2))
    assert first.columns == second.columns == ["code"]
    assert (first["code"] + second["code"]).to_list() == data["note"].to_list()
    assert sorted(path.name for path in out.iterdir()) == [
        "data.csv", "recipient.html", "release.json", "report.html", "shares",
    ]  # fmt: skip


@pytest.mark.parametrize("in_memory", [1_000, 10], ids=["sorted at once", "sorted in buckets"])
def test_they_follow_a_sample_and_a_shuffle(
    tmp_path: Path, putting: Putting, in_memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(record_order.reordered.__kwdefaults__, "in_memory", in_memory)  # type: ignore[arg-type]
    putting()
    out = released(tmp_path, SHUFFLED)
    data = pl.read_csv(out / "data.csv")
    codes = [pl.read_csv(out / f"shares/party-{party}.csv", infer_schema=False)["code"] for party in (1, 2)]
    assert (codes[0] + codes[1]).to_list() == data["note"].to_list()
    assert 1 < data.height < 59
    assert data["note"].to_list() != sorted(data["note"].to_list(), key=lambda code: int(code[1:]))


def test_in_memory_they_are_tables_of_the_same_kind(putting: Putting) -> None:
    putting()
    policy = shoal.Policy.from_text(SHUFFLED)
    release = shoal.anonymise(people(), policy, seed=4)
    assert list(release.files) == ["shares/party-1", "shares/party-2"]
    assert isinstance(release.files["shares/party-1"], pl.DataFrame)
    joined = release.files["shares/party-1"]["code"] + release.files["shares/party-2"]["code"]
    assert joined.to_list() == release.data["note"].to_list()
    pandas = shoal.anonymise(people().to_pandas(), policy, seed=4).files["shares/party-1"]
    assert type(pandas).__module__.startswith("pandas")
    assert [file.rows for file in release.manifest.files] == [release.data.height] * 2


def test_the_manifest_lists_them_and_each_report_tells_its_reader(tmp_path: Path, putting: Putting) -> None:
    own, theirs = halves()
    putting(own, replace(theirs, for_recipient=True))
    out = released(tmp_path)
    listed = json.loads((out / "release.json").read_text())["files"]
    assert [file["path"] for file in listed] == ["shares/party-1.csv", "shares/party-2.csv"]
    assert listed[0] == {
        "path": "shares/party-1.csv",
        "rows": 59,
        "sha256": hashlib.sha256((out / "shares/party-1.csv").read_bytes()).hexdigest(),
        "about": "half of the code, for party 1",
    }
    report, recipient = ((out / name).read_text() for name in ("report.html", "recipient.html"))
    for file in listed:
        assert all(str(file[fact]) in report for fact in ("path", "sha256", "about"))
    assert "shares/party-2.csv" in recipient
    assert "for party" not in recipient
    assert "shares/party-1" not in recipient


def test_the_person_tag_is_in_no_file(tmp_path: Path, putting: Putting) -> None:
    """People are recounted from what lies aside too; the further columns must not disturb it, nor it them."""
    putting()
    policy = POLICY.replace("attributes:", "person: name\nattributes:")
    table = people().with_columns(pl.Series("name", [f"p{row // 10}" for row in range(60)]))
    out = released(tmp_path, policy, table)
    assert pl.read_csv(out / "shares/party-1.csv").columns == ["code"]
    assert json.loads((out / "release.json").read_text())["risk"]["k"] == 6


def test_techniques_on_two_columns_share_the_files_of_a_party(tmp_path: Path, putting: Putting) -> None:
    putting()
    policy = POLICY.replace("note: {role: insensitive}", "note: {role: insensitive, technique: mask}")
    out = released(tmp_path, policy)
    second = pl.read_csv(out / "shares/party-2.csv", infer_schema=False)
    assert second.columns == ["code", "note"]
    assert second["code"].to_list() == second["note"].to_list() == [str(row) for row in range(1, 60)]


def test_a_shape_makes_another_table_of_the_columns(tmp_path: Path, putting: Putting) -> None:
    def counted(frame: pl.LazyFrame) -> pl.LazyFrame:
        return frame.group_by("letter").len("records").sort("letter")

    putting(SidecarFile("letters", {"__shoal_code_1": "letter"}, counted))
    assert (released(tmp_path) / "letters.csv").read_text() == "letter,records\nc,59\n"


def test_a_ready_table_needs_no_hidden_column(tmp_path: Path, putting: Putting) -> None:
    table = pl.DataFrame({"key": [b"\x00\xff"], "of": ["code"]})
    putting(SidecarFile("keys", table=table, ending="parquet"))
    assert_frame_equal(pl.read_parquet(released(tmp_path) / "keys.parquet"), table)


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "arrow", "xlsx", "tsv"])
def test_they_have_the_format_of_the_data(tmp_path: Path, putting: Putting, ending: str) -> None:
    putting()
    path = tmp_path / f"in.{ending}"
    writers: dict[str, Callable[[], object]] = {
        "parquet": lambda: people().write_parquet(path),
        "jsonl": lambda: people().write_ndjson(path),
        "arrow": lambda: people().write_ipc(path),
        "xlsx": lambda: people().write_excel(path),
        "tsv": lambda: people().write_csv(path, separator="\t"),
    }
    writers[ending]()
    release_folder(shoal.Policy.from_text(POLICY), tmp_path / "out", data=str(path))
    beside = open_source(FileOptions(path=str(tmp_path / f"out/shares/party-2.{ending}"))).scan().collect()
    assert beside["code"].cast(pl.String).to_list() == [str(row) for row in range(1, 60)]


@pytest.mark.parametrize("name", ["../out", "/out", ".hidden", "a/../../b", "a\\b", "", "data", "Report.html"])
def test_no_file_leaves_the_folder_or_takes_anothers_place(tmp_path: Path, putting: Putting, name: str) -> None:
    putting(SidecarFile(name, {"__shoal_code_1": "x"}))
    with pytest.raises(InputError, match="name"):
        released(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv"]


def test_two_tables_of_one_name_are_refused(tmp_path: Path, putting: Putting) -> None:
    one = SidecarFile("codes", {"__shoal_code_1": "x"})
    for other in (one, replace(one, columns={"__shoal_code_2": "y"}, shape=lambda frame: frame)):
        putting(one, other)
        with pytest.raises(InputError, match="two techniques would write the file 'codes'"):
            released(tmp_path)


def test_a_file_of_nothing_is_our_bug() -> None:
    plan = Plan((PlannedStep(Splits("code", (SidecarFile("codes"),)), "mask", ""),))
    with pytest.raises(BugError):
        planned_files(plan)


def test_an_aggregated_table_has_nothing_beside_it(tmp_path: Path, putting: Putting) -> None:
    putting()
    policy = POLICY.split("privacy:", maxsplit=1)[0] + "aggregate: {by: [city], minimum: 2}\n"
    with pytest.raises(InputError, match="aggregate leaves no records"):
        released(tmp_path, policy)


def test_invented_records_would_have_nothing_beside_them(tmp_path: Path, putting: Putting) -> None:
    putting()
    policy = POLICY.replace("note: {role: insensitive}", "note: {role: direct}").replace(
        "drop_suppressed: true", "decoys: {limit: 1}"
    )
    with pytest.raises(InputError, match="invented records would have nothing"):
        released(tmp_path, policy)


def test_an_error_while_they_are_written_leaves_nothing(tmp_path: Path, putting: Putting) -> None:
    def fails(_frame: pl.LazyFrame) -> pl.LazyFrame:
        raise TargetError("there is no room left on the disk")

    putting(*halves(), SidecarFile("zuletzt", {"__shoal_code_1": "x"}, fails))
    with pytest.raises(TargetError, match="no room"):
        released(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv"]


def test_evidence_and_attacks_go_by_the_data_alone(tmp_path: Path, putting: Putting) -> None:
    from shoal.assess.attack.request import AttackRequest
    from shoal.assess.attack.table_attack import attack_data
    from shoal.results.attack_roles import AttackRoles

    putting()
    out = released(tmp_path, evidence=True)
    roles = AttackRoles.of(str(out), policy=None, qi="city", sensitive=None)
    found = attack_data(str(out), AttackRequest(roles=roles, original=str(tmp_path / "in.csv"), seed=1))
    assert found.rows == 59
