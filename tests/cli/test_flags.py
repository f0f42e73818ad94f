"""One error, two doors: a Python user reads a keyword, whoever types a command its flag."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import polars as pl
import pytest
from tests.cli.conftest import Call

from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.table_measurement import measure_data
from shoal.cli.terminal.ci_gates import finish, write_junit
from shoal.cli.terminal.flags import flag
from shoal.cli.terminal.output import print_json
from shoal.errors import DataError, FieldName, FieldText, InputError, ShoalError, styled
from shoal.privacy import ModelFinding

UNREAD = FieldText("labels that can't be read without ", FieldName("policy"))


@pytest.fixture
def people(tmp_path: Path) -> Path:
    pl.DataFrame({"who": [1, 2, 3, 4], "age": [31, 31, 40, 40]}).write_csv(tmp_path / "people.csv")
    return tmp_path / "people.csv"


@pytest.mark.parametrize(
    ("options", "asked", "keyword"),
    [
        (
            ["--by-records", "--person", "who"],
            {"by_records": True, "person": "who"},
            "by_records: counts records, person counts people: give one of them",
        ),
        (
            ["--require", "k_map=3"],
            {"require": ["k_map=3"]},
            "require: k_map needs a table of the population, as population=register.csv",
        ),
        (
            ["--rule", "threshold=3"],
            {"rules": ["threshold=3"]},
            "rules: which numbers? (give sensitive=income)",
        ),
        (["--rule", "p=-1"], {"rules": ["p=-1"]}, "rules=p=-1: "),
    ],
)
def test_both_doors(call: Call, people: Path, options: list[str], asked: dict[str, object], keyword: str) -> None:
    with pytest.raises(InputError) as raised:
        measure_data(str(people), MeasureRequest.parse(quasi="age", **asked))  # type: ignore[arg-type]
    assert str(raised.value).startswith(keyword)
    assert "--" not in str(raised.value)
    assert raised.value.field is not None
    ended = call("measure", str(people), "--qi", "age", *options, "--json")
    assert ended.stderr == f"error [{raised.value.code}]: {raised.value.styled(flag)}\n"
    assert ended.found["error"]["message"] == raised.value.styled(flag)
    assert f"--{OPTION[raised.value.field.name]}" in ended.stderr


OPTION = {"by_records": "by-records", "require": "require", "rules": "rule"}


def test_text_of_several_parts() -> None:
    inner = FieldText("give ", FieldName("harm", "high"))
    whole = FieldText("first, ", inner, "; or ", FieldName("evidence", of="run"))
    assert whole == "first, give harm=high; or `run` with `evidence`"
    assert whole.styled(flag) == "first, give --harm high; or `shoal run --evidence`"
    assert styled("plain --text", flag) == "plain --text"
    assert pickle.loads(pickle.dumps(whole)).parts == whole.parts  # noqa: S301  # made here


def test_an_error_crosses_processes() -> None:
    error = DataError(UNREAD, field=FieldName("rules", "p=1"), advice=FieldText("give ", FieldName("quasi")))
    there: ShoalError = pickle.loads(pickle.dumps(error))  # noqa: S301  # made here
    assert there.styled(flag) == "--rule p=1: labels that can't be read without --policy (give --qi)"


def test_what_would_end_a_line_does_not() -> None:
    error = InputError(FieldText("column 'a\r\nb' and ", FieldName("person")), field="quasi")
    assert error.styled(flag) == "--qi: column 'a\\r\\nb' and --person"
    assert error.text == "quasi: column 'a\\r\\nb' and person"


def test_results_name_flags(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    print_json({"skipped": {"linking": UNREAD}, "list": [UNREAD], "other": 1})
    told = json.loads(capsys.readouterr().out)
    assert told == {"skipped": {"linking": UNREAD.styled(flag)}, "list": [UNREAD.styled(flag)], "other": 1}
    missed = [ModelFinding(UNREAD, 0, 3, met=False)]
    with pytest.raises(BaseException, match="1"):
        finish("shoal attack x", missed, None)
    assert "not met: labels that can't be read without --policy: required 0" in capsys.readouterr().err
    write_junit("x", missed, tmp_path / "junit.xml")
    assert "without --policy" in (tmp_path / "junit.xml").read_text(encoding="utf-8")
