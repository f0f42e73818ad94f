"""Hierarchies in files: levels as ARX numbers them, missing values, separators, files that are no hierarchy."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.errors import DataError, SourceError
from shoal.hierarchy import BoundHierarchy, parse_hierarchy
from shoal.schema import Column, ValueType

pytestmark = pytest.mark.requirement("T-08")
Bind = Callable[..., BoundHierarchy]
Write = Callable[[str], dict[str, object]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file and gives the specification that names it."""

    def written(text: str) -> dict[str, object]:
        (tmp_path / "file.csv").write_text(text)
        return {"csv": str(tmp_path / "file.csv")}

    return written


def labels(bound: BoundHierarchy, values: list[str | None], level: int) -> list[str | None]:
    return bound.generalise(pl.Series(values, dtype=pl.String), level).to_list()


class TestLevels:
    def test_a_last_column_of_one_value_is_the_top(self, bind: Bind, write: Write) -> None:
        bound = bind(write("a;x;*\nb;x;*\nc;y;*\n"), ["a"])
        assert bound.height == 2
        assert labels(bound, ["a", "b", "c", None], 1) == ["x", "x", "y", None]
        assert labels(bound, ["a", None], 2) == ["*", "*"]

    def test_the_top_is_a_star_whatever_the_file_calls_it(self, bind: Bind, write: Write) -> None:
        bound = bind(write("a;x;World\nb;y;World\n"), ["a"])
        assert bound.height == 2
        assert labels(bound, ["a"], 2) == ["*"]

    def test_otherwise_a_top_is_added(self, bind: Bind, write: Write) -> None:
        bound = bind(write("a;x\nb;x\nc;y\n"), ["a"])
        assert bound.height == 2
        assert labels(bound, ["c"], 1) == ["y"]

    def test_values_alone(self, bind: Bind, write: Write) -> None:
        assert bind(write("a\nb\n"), ["a"]).height == 1
        assert bind(write("a\n"), ["a"]).height == 1

    def test_loss_counts_lines_of_the_file(self, bind: Bind, write: Write) -> None:
        bound = bind(write("a;x;*\nb;x;*\nc;y;*\nd;x;*\ne;z;*\n"), ["a", "c"])
        assert bound.loss(pl.Series(["a", "c", None]), 1).tolist() == [2 / 4, 0, 0]

    def test_numbers_are_matched_as_text(self, bind: Bind, write: Write) -> None:
        bound = bind(write("1;low;*\n2;high;*\n"), [1, 2], ValueType.INTEGER, storage=pl.Int64())
        assert bound.generalise(pl.Series([2, 1]), 1).to_list() == ["high", "low"]


class TestMissingValues:
    def test_follow_the_file_where_it_lists_them(self, bind: Bind, write: Write) -> None:
        bound = bind(write(";Unknown;*\na;Known;*\nb;Known;*\n"), ["a", None])
        assert labels(bound, ["a", None, ""], 1) == ["Known", "Unknown", "Unknown"]
        assert bound.loss(pl.Series(["a", None, "b"]), 1).tolist() == [1 / 2, 0, 1 / 2]

    def test_can_share_a_group_and_its_loss(self, bind: Bind, write: Write) -> None:
        bound = bind(write(";Other;*\na;Other;*\nb;Known;*\n"), ["a", None])
        assert labels(bound, ["a", None], 1) == ["Other", "Other"]
        assert bound.loss(pl.Series([None, "a"]), 1).tolist() == [1 / 2, 1 / 2]

    def test_the_empty_text_is_unknown_where_it_is_not_listed(self, bind: Bind, write: Write) -> None:
        with pytest.raises(DataError, match=r"1 distinct value\(s\), 1 record\(s\)"):
            bind(write("a;x;*\nb;y;*\n"), ["a", ""])


class TestReading:
    @pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
    def test_separator_is_found(self, bind: Bind, write: Write, separator: str) -> None:
        text = "a;x;*\nb;x;*\nc;y;*\n".replace(";", separator)
        assert labels(bind(write(text), ["a"]), ["c"], 1) == ["y"]

    def test_other_separators_may_be_inside_labels(self, bind: Bind, write: Write) -> None:
        assert labels(bind(write("a;[1, 2[;*\nb;[2, 3[;*\n"), ["a"]), ["a"], 1) == ["[1, 2["]

    def test_separator_is_given(self, bind: Bind, write: Write) -> None:
        spec = {"csv": {"path": write("a:x;1:*\nb:y:*\n")["csv"], "separator": ":"}}
        assert labels(bind(spec, ["a"]), ["a"], 1) == ["x;1"]

    def test_quotes_blank_lines_and_windows_line_ends(self, bind: Bind, tmp_path: Path) -> None:
        (tmp_path / "file.csv").write_bytes(b'"a;1";x;*\r\n\r\nb;"y ""z""";*\r\n')
        bound = bind({"csv": str(tmp_path / "file.csv")}, ["b"])
        assert labels(bound, ["a;1", "b"], 1) == ["x", 'y "z"']

    def test_line_ends_inside_quotes_and_other_blanks_are_text(self, bind: Bind, write: Write) -> None:
        bound = bind(write('a\u2028b;"first\nsecond";*\nc;d;*\n'), ["c"])
        assert labels(bound, ["a\u2028b"], 1) == ["first\nsecond"]

    def test_byte_order_mark(self, bind: Bind, tmp_path: Path) -> None:
        (tmp_path / "file.csv").write_text("a;x;*\nb;y;*\n", encoding="utf-8-sig")
        assert labels(bind({"csv": str(tmp_path / "file.csv")}, ["a"]), ["a"], 1) == ["x"]

    def test_encoding(self, bind: Bind, tmp_path: Path) -> None:
        (tmp_path / "file.csv").write_text("Zürich;Süd;*\nBern;Nord;*\n", encoding="latin-1")
        path = str(tmp_path / "file.csv")
        assert labels(bind({"csv": {"path": path, "encoding": "latin-1"}}, ["Zürich"]), ["Zürich"], 1) == ["Süd"]
        with pytest.raises(SourceError, match="is not utf-8"):
            bind({"csv": path}, ["Bern"])

    def test_path_is_relative_to_the_policy(self, tmp_path: Path) -> None:
        (tmp_path / "file.csv").write_text("a;*\nb;*\n")
        resolved = parse_hierarchy({"csv": "file.csv"}).resolve(tmp_path)
        assert resolved.bind(Column("c"), pl.DataFrame({"value": ["a"], "records": [1]})).height == 1
        assert parse_hierarchy({"csv": "/etc/file.csv"}).resolve(tmp_path) == parse_hierarchy({"csv": "/etc/file.csv"})


class TestNoHierarchy:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "has no lines"),
            ("a;x;*\nb;x\nc;x;*\nd;*\n", "lines 2, 4: not 3 column(s) as on line 1"),
            ("a;x;*\n\nb;y;*\nb;y;*\n", "lines 3, 4: the same value"),
            ("a;x;p;*\nb;y;q;*\nc;x;q;*\n", "lines 1, 3: same on level 1, different on level 2"),
            ("a;x;*\nb;;*\n", "line 2: an empty label"),
            ("value;level 1;level 2\na;x;*\nb;y;*\n", "line 1 looks like a header"),
            ("".join(f"{n}{';x' * (n > 0)}\n" for n in range(9)), "lines 2, 3, 4, 5, 6 and 3 more: not 1 column(s)"),
            (f"a;{'y' * 200_000};*\n", "line 1 can't be read as CSV"),
        ],
    )
    def test_says_where(self, bind: Bind, write: Write, text: str, message: str) -> None:
        with pytest.raises(SourceError) as error:
            bind(write(text), ["a"])
        assert message in str(error.value)

    def test_values_of_the_file_are_not_shown(self, bind: Bind, write: Write) -> None:
        with pytest.raises(SourceError) as error:
            bind(write("Zaphod;x;*\nTrillian;y;*\nZaphod;y;*\n"), ["Zaphod"])
        assert "Zaphod" not in str(error.value)

    def test_no_file(self, bind: Bind, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="No such file"):
            bind({"csv": str(tmp_path / "none.csv")}, ["a"])

    def test_folder(self, bind: Bind, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="Is a directory"):
            bind({"csv": str(tmp_path)}, ["a"])

    def test_encoding_nobody_knows(self, bind: Bind, write: Write) -> None:
        with pytest.raises(SourceError, match="unknown encoding 'klingon'"):
            bind({"csv": {"path": write("a;*\n")["csv"], "encoding": "klingon"}}, ["a"])

    def test_unknown_value(self, bind: Bind, write: Write) -> None:
        with pytest.raises(DataError, match=r"column 'column': 1 distinct value\(s\), 7 record\(s\)") as error:
            bind(write("a;*\nb;*\n"), ["a", "Zaphod"], records=[2, 7])
        assert "Zaphod" not in str(error.value)


@pytest.fixture(scope="module")
def adult(shared: Path) -> pl.DataFrame:
    return pl.read_csv(shared / "data/adult/adult.csv", separator=";", infer_schema=False)


@pytest.fixture(scope="module")
def bound(shared: Path, adult: pl.DataFrame) -> dict[str, BoundHierarchy]:
    found = {}
    for name in adult.columns:
        hierarchy = parse_hierarchy({"csv": str(shared / f"data/adult/adult_hierarchy_{name}.csv")})
        found[name] = hierarchy.bind(Column(name), adult[name].alias("value").value_counts(name="records"))
    return found


class TestKnownResults:
    """What ARX 3.9.2 computes on the Adult data with the same files."""

    def test_heights(self, bound: dict[str, BoundHierarchy]) -> None:
        expected = {"sex": 1, "age": 4, "race": 1, "marital-status": 2, "education": 3}
        assert {name: bound[name].height for name in expected} == expected

    def test_loss(self, shared: Path, adult: pl.DataFrame, bound: dict[str, BoundHierarchy]) -> None:
        """ARX counts leaves ÷ all leaves and takes a shifted geometric mean over the attributes."""
        cases = [case for case in _known(shared, "Loss") if case["suppressed_records"] == 0]
        assert cases
        for known in cases:
            product = 1.0
            for name, level in zip(known["qis"], known["expected_transformation"], strict=True):
                leaves = len(bound[name].rungs[0])  # type: ignore[attr-defined]
                shares = (bound[name].loss(adult[name], level) * (leaves - 1) + 1) / leaves
                least = adult.height / leaves
                product *= (shares.sum() - least) / (adult.height - least) + 1
            assert product ** (1 / len(known["qis"])) - 1 == pytest.approx(known["expected_loss"], abs=1e-9)

    def test_entropy(self, shared: Path, adult: pl.DataFrame, bound: dict[str, BoundHierarchy]) -> None:
        """Σ −log₂(records with the value ÷ records with its label): one wrong label on one line changes it."""
        cases = [case for case in _known(shared, "PrecomputedEntropy") if case["metric"]["args"] == [0.1, True]]
        found: dict[tuple[str, int], float] = {}
        for known in cases:
            for name, level in zip(known["qis"], known["expected_transformation"], strict=True):
                if (name, level) not in found:
                    found[name, level] = _entropy(adult[name], bound[name].generalise(adult[name], level))
            total = math.fsum(found[key] for key in zip(known["qis"], known["expected_transformation"], strict=True))
            assert total == pytest.approx(known["expected_loss"], rel=1e-12), known["id"]
        assert len(cases) > 15


def _known(shared: Path, metric: str) -> list[dict]:  # type: ignore[type-arg]
    """Optima by one metric, on all of the rows (two models of ARX measure a subset)."""
    cases = json.loads((shared / "golden/arx-adult.json").read_text())
    subset = {"DPresence", "KMap"}
    return [
        case
        for case in cases
        if case["metric"]["name"] == metric and not subset & {criterion["model"] for criterion in case["criteria"]}
    ]


def _entropy(before: pl.Series, after: pl.Series) -> float:
    counts = pl.DataFrame({"before": before, "after": after}).select(
        pl.len().over("before").alias("before"), pl.len().over("after").alias("after")
    )
    return float(-np.log2(counts["before"].to_numpy() / counts["after"].to_numpy()).sum())
