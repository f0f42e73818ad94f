"""``shoal measure --records``: which records are at risk, against the reference figures record by record."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.conftest import Call, Ended

from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("R-03")

K7 = "urbrur,roof,walls,water,electcon,relat,sex"
FRANCDAT = ("--qi", "Key1,Key2,Key3,Key4", "--weight", "w")
MARKED = "Zaphod-4711"


def golden(shared: Path, name: str) -> pl.DataFrame:
    return pl.read_csv(shared / "golden" / "sdcmicro" / name, infer_schema_length=None)


def data(shared: Path, name: str) -> str:
    return str(shared / "data" / "sdcmicro" / name)


def lines(call: Call, table: str, *arguments: str, file: str = "lines.csv") -> pl.DataFrame:
    ended = call("measure", table, *arguments, "--records", file)
    assert ended.code == 0, ended.stderr
    assert f"figures of every record: {file}" in ended.stdout
    return pl.read_csv(file) if file.endswith("csv") else pl.read_parquet(file)


def near(expected: pl.Series, within: float) -> object:
    return pytest.approx(expected.to_numpy(), abs=within)


@pytest.mark.parametrize("file", ["lines.csv", "lines.parquet"])
def test_francdat_record_by_record(call: Call, shared: Path, file: str) -> None:
    expected = golden(shared, "francdat_freqCalc_indivRisk.csv")
    found = lines(call, data(shared, "francdat.csv"), *FRANCDAT, file=file)
    names = ["record", "class_size", "class_risk", "class_size_in_population", "individual_risk"]
    assert found.columns == names
    assert found["record"].to_list() == expected["row"].to_list()
    assert found["class_size"].to_list() == expected["fk"].to_list()
    assert found["class_risk"].to_numpy() == near(1 / expected["fk"], 1e-12)
    assert found["class_size_in_population"].to_numpy() == near(expected["Fk"], 1e-9)
    assert found["individual_risk"].to_numpy() == near(expected["rk_approx"], 1e-9)


def test_testdata_with_households(call: Call, shared: Path) -> None:
    expected = golden(shared, "testdata_risk.csv")
    weighted = ("--weight", "sampling_weight", "--household", "ori_hid")
    found = lines(call, data(shared, "testdata.csv"), "--qi", K7, *weighted)
    assert found["class_size"].to_list() == expected["fk"].to_list()
    assert found["class_size_in_population"].to_list() == expected["Fk"].to_list()
    assert found["individual_risk"].to_numpy() == near(expected["rk_approx"], 1e-7)
    assert found["household_risk"].to_numpy() == near(expected["hier_risk_fast"], 1e-7)
    assert found["household_risk"].sum() == pytest.approx(51.8129, abs=5e-5)


@pytest.mark.parametrize(("fraction", "column"), [("0.01", "disScore"), ("0.1", "dis_frac0.1")])
def test_special_uniques_by_the_share_that_was_said(call: Call, shared: Path, fraction: str, column: str) -> None:
    expected = golden(shared, "testdata2_suda2.csv")
    asked = ("--qi", K7, "--suda", "--sampling-fraction", fraction)
    found = lines(call, data(shared, "testdata2.csv"), *asked)
    assert found["suda_score"].to_list() == expected["score"].to_list()
    assert found["dis_suda"].to_numpy() == near(expected[column], 1e-7)


def test_both_readings_of_a_missing_value(call: Call, shared: Path, tmp_path: Path) -> None:
    """By the offices' count a missing value matches any; as a value of its own it matches itself only."""
    expected = golden(shared, "francdat_NA_freqCalc_alpha.csv")
    expected.select("Key1", "Key2", "Key3", "Key4", "w").write_csv(tmp_path / "gaps.csv")
    wild = lines(call, "gaps.csv", *FRANCDAT, "--missing", "wildcard")
    assert wild["class_size"].to_list() == expected["fk_a1"].to_list()
    assert wild["class_size_in_population"].to_numpy() == near(expected["Fk_a1"], 1e-9)
    assert wild["individual_risk"].to_numpy() == near(expected["rk_a1"], 1e-9)
    own = lines(call, "gaps.csv", *FRANCDAT, file="own.csv")
    by_hand = expected.select(pl.len().over("Key1", "Key2", "Key3", "Key4"))["len"]
    assert own["class_size"].to_list() == by_hand.to_list()
    risk = call("measure", "gaps.csv", *FRANCDAT, "--missing", "wildcard", "--json").found["risk"]
    assert (risk["k"], risk["k_by_value"]) == (expected["fk_a1"].min(), by_hand.min())
    assert risk["uniques"] < risk["uniques_by_value"]


def test_a_star_is_missing_too_and_a_blank_record_hides_nobody(call: Call, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,w\nx,1,2\nx,*,2\nx,,2\ny,2,2\n,,2\n*,*,2\n")
    asked = ("--qi", "a,b", "--missing", "wildcard")
    assert lines(call, "t.csv", *asked)["class_size"].to_list() == [3, 3, 3, 1, 5, None]
    weighted = lines(call, "t.csv", *asked, "--weight", "w", file="w.csv")
    assert weighted["class_size_in_population"].to_list()[3] == 6


def test_people_are_counted_where_they_are_named(call: Call, tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("age,who\n30,a\n30,a\n30,b\n40,c\n")
    found = lines(call, "visits.csv", "--qi", "age", "--person", "who")
    assert found["class_size"].to_list() == [2, 2, 2, 1]
    assert found["class_risk"].to_list() == [0.5, 0.5, 0.5, 1]


@pytest.mark.parametrize("asked", [("--suda",), ("--weight", "w"), ("--unsafe", "3"), ("--log-linear",)])
def test_several_records_of_a_person_do_not_hide_each_other(call: Call, tmp_path: Path, asked: tuple[str, ...]) -> None:
    """Counted by records, nobody here would be alone."""
    (tmp_path / "visits.csv").write_text("age,who,w\n30,a,2\n30,a,2\n40,b,2\n40,b,2\n")
    ended = call("measure", "visits.csv", "--qi", "age", "--person", "who", *asked)
    assert ended.code == 2
    assert f"{asked[0]}: counts records, so each person may have one record only" in ended.stderr


def written(call: Call, *arguments: str, file: str = "out.csv") -> Ended:
    return call("measure", "t.csv", "--qi", "a", "--records", file, *arguments)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(f"a,home,w\n{MARKED},{MARKED},31337\n{MARKED},h,31337\nb,h,2\n")
    return path


@pytest.mark.usefixtures("table")
def test_no_value_of_the_data_is_in_the_file(call: Call, tmp_path: Path) -> None:
    ended = written(call, "--weight", "w", "--household", "home", "--suda", "--log-linear", "--unsafe", "1")
    told = (tmp_path / "out.csv").read_text() + ended.stdout
    assert ended.code == 0
    assert "62674" in told, "the sum of weights is a figure"
    assert MARKED not in told
    assert "31337" not in told


@pytest.mark.usefixtures("table")
def test_a_file_that_is_there_stays_unless_forced(call: Call, tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("mine")
    refused = written(call)
    assert (refused.code, refused.stdout) == (2, "")
    assert "out.csv: exists already (--force replaces it)" in refused.stderr
    assert (tmp_path / "out.csv").read_text() == "mine"
    assert written(call, "--force").code == 0
    assert (tmp_path / "out.csv").read_text().startswith("record,class_size,class_risk\n1,2,0.5\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "t.csv"]


def test_what_was_measured_is_never_replaced(call: Call, table: Path) -> None:
    before = table.read_text()
    ended = written(call, "--force", file="./t.csv")
    assert ended.code == 2
    assert "is the table that is measured" in ended.stderr
    assert table.read_text() == before


@pytest.mark.usefixtures("table")
def test_lines_are_written_where_a_threshold_is_not_met(call: Call, tmp_path: Path) -> None:
    assert written(call, "--require", "k=5", "--json").code == 1
    assert (tmp_path / "out.csv").exists()


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--records", "out.txt"), "has to end in .csv or .parquet"),
        (("--records", "no/out.csv"), "its folder does not exist"),
        (("--force",), "without --records"),
        (("--missing", "anything"), "'value' or a 'wildcard'"),
        (("--unsafe", "0"), "--unsafe: '0'"),
        (("--unsafe", "10,2,1"), "as in --unsafe 10"),
        (("--log-linear",), "--log-linear: nothing is known of the population"),
        (("--sampling-fraction", "1.5"), "--sampling-fraction: "),
        (("--sampling-fraction", "0.1", "--population-size", "9"), "either the size of the population or the share"),
    ],
)
def test_wrong_use_is_one_clear_line(call: Call, tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    ended = call("measure", "t.csv", "--qi", "a", *arguments)
    assert (ended.code, ended.stdout) == (2, "")
    assert len(ended.stderr.splitlines()) == 1
    assert says in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("asked", [("--records", "out.csv"), ("--log-linear",), ("--missing", "value")])
def test_reassessing_has_no_figures_of_single_records(call: Call, asked: tuple[str, ...]) -> None:
    ended = call("measure", "t.csv", "--auxiliary", "t.csv", *asked)
    assert ended.code == 2
    assert f"{asked[0]}: can't go with --auxiliary" in ended.stderr


def test_unsafe_combinations(call: Call, shared: Path) -> None:
    expected = golden(shared, "testdata2_riskyCells_th10_dim3.csv")
    asked = ("--qi", "urbrur,roof,walls,water,electcon", "--unsafe", "10")
    found = call("measure", data(shared, "testdata2.csv"), *asked, "--json").found["unsafe"]
    assert {tuple(one["keys"]): one["unsafe_cells"] for one in found} == {
        tuple(filter(None, row[:3])): row[4] for row in expected.iter_rows()
    }
    shown = call("measure", data(shared, "testdata2.csv"), *asked).stdout
    total = {size: sum(one["unsafe_cells"] for one in found if len(one["keys"]) == size) for size in (1, 2, 3)}
    rows = [line.split() for line in shown[shown.index("Unsafe combinations") :].splitlines()]
    assert {int(row[0]): int(row[3].replace(",", "")) for row in rows if row and row[0].isdigit()} == total


def test_unsafe_combinations_of_four_attributes(call: Call, shared: Path) -> None:
    expected = golden(shared, "testdata2_riskyCells_idlevel_th20.csv")
    asked = ("--qi", "urbrur,roof,walls,water,electcon,relat", "--unsafe", "20,4")
    found = call("measure", data(shared, "testdata2.csv"), *asked, "--json").found["unsafe"]
    assert [one["unsafe_cells"] for one in found] == expected["unsafe_cells"].to_list()


def test_log_linear_models_of_attributes_that_go_together(call: Call, tmp_path: Path) -> None:
    """A tenth of the people is in the sample. Pairs find the truth; independent attributes are no safe side."""
    rows, stream = np.arange(20_000, dtype=np.uint64), Randomness(7).stream("people")
    first, other, third = ((stream.uniform(rows, lane) ** 2 * 10).astype(np.int64) for lane in range(3))
    second = np.where(stream.uniform(rows, 3) < 0.5, first, other)
    people = pl.DataFrame({"p": first, "q": second, "r": third}).with_columns(
        pl.len().over("p", "q", "r").alias("there"), pl.lit(10).alias("w")
    )
    sample = people.filter(pl.Series(stream.uniform(rows, 4) < 0.1))
    sample.write_csv(tmp_path / "sample.csv")
    alone = sample.filter(pl.len().over("p", "q", "r") == 1)
    asked = ("measure", "sample.csv", "--qi", "p,q,r", "--log-linear")
    found = call(*asked, "--weight", "w", "--json").found["log_linear"]
    assert found["independent"]["uniques"] == found["pairs"]["uniques"] == alone.height
    truth = (1 / alone["there"]).sum()
    assert found["pairs"]["expected_matches"] == pytest.approx(truth, rel=0.1)
    assert found["independent"]["expected_matches"] < 0.8 * truth
    by_share = call(*asked, "--sampling-fraction", "0.1", "--json").found["log_linear"]
    assert by_share == found


def test_where_pairs_are_too_many_the_simpler_model_stands(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.measurement.risk.global_risk.MOST_FIGURES", 50)
    (tmp_path / "t.csv").write_text("a,b,c,w\nx,1,m,5\nx,2,n,5\ny,1,n,5\ny,2,m,5\n")
    found = call("measure", "t.csv", "--qi", "a,b,c", "--weight", "w", "--log-linear", "--json").found["log_linear"]
    assert found["independent"] is not None
    assert found["pairs"] is None
    assert "too many effects" in found["left_out"]
