from __future__ import annotations

import pytest
from pydantic import ValidationError

from shoal.io import (
    DatabaseOptions,
    DatabaseTargetOptions,
    FileOptions,
    FileTargetOptions,
    parse_source,
    parse_target,
)

pytestmark = pytest.mark.requirement("D-01")

SECRET = "hunter2"  # noqa: S105 - made up


def test_a_string_is_a_path_or_an_address() -> None:
    assert parse_source("data/patients.csv") == FileOptions(path="data/patients.csv")
    assert parse_source("file:///srv/patients.csv") == FileOptions(path="/srv/patients.csv")
    database = parse_source("sqlite:///clinic.db#patients")
    assert isinstance(database, DatabaseOptions)
    assert database.table == "patients"
    assert database.kind == "sqlite"
    assert database.label == "sqlite:///clinic.db#patients"


def test_options_are_kept_as_they_are() -> None:
    options = parse_source({"path": "a.csv", "separator": "tab", "null_values": [-99, "NA"], "quote": ""})
    assert isinstance(options, FileOptions)
    assert (options.separator, options.null_values, options.quote) == ("\t", ("-99", "NA"), "")
    assert parse_source(options) is options


def test_one_null_value_needs_no_list() -> None:
    options = parse_source({"path": "a.csv", "null_values": "NA"})
    assert isinstance(options, FileOptions)
    assert options.null_values == ("NA",)


@pytest.mark.parametrize(("spelt", "name"), [("latin1", "iso8859-1"), ("UTF8", "utf-8"), ("windows-1252", "cp1252")])
def test_encodings_have_one_name(spelt: str, name: str) -> None:
    options = parse_source({"path": "a.csv", "encoding": spelt})
    assert isinstance(options, FileOptions)
    assert options.encoding == name


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"path": "a.csv", "seperator": ","}, "unknown key 'seperator'; did you mean 'separator'?"),
        ({"path": "a.csv", "separator": ";;"}, "separator: must be one ASCII character"),
        ({"path": "a.csv", "separator": ""}, "separator: must be one ASCII character"),
        ({"path": "a.csv", "separator": "|", "quote": "|"}, "separator and quote must differ"),
        ({"path": "a.csv", "encoding": "utf9"}, "unknown encoding 'utf9'; did you mean 'utf-8'?"),
        ({"path": "a.csv", "encoding": "rot13"}, "unknown encoding 'rot13'"),
        ({"path": "a.csv", "format": "html"}, "format: has to be 'csv'"),
        ({"path": ""}, "path: "),
        ({}, "path is missing"),
        (7, "a source is a path"),
        ({"url": "sqlite:///a.db"}, "either a table or a query"),
        ({"url": "sqlite:///a.db", "table": "t", "query": "SELECT 1"}, "either a table or a query"),
        ({"url": "sqlite:///a.db", "query": "SELECT 1", "schema": "s"}, "schema goes with a table"),
        ({"url": "oracle://h/d", "table": "t"}, "unknown kind of database 'oracle'"),
        ("postgresql://h/d", "either a table or a query"),
    ],
)
def test_what_is_wrong_is_said(value: object, said: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_source(value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://user:{SECRET}@host:5432/records?sslmode=require",
        f"mariadb://user:{SECRET}@host/records",
    ],
)
def test_a_password_is_never_shown(url: str) -> None:
    options = parse_source({"url": url, "table": "patients"})
    assert SECRET not in f"{options!r} {options} {options.label} {options.model_dump_json()}"
    assert "user@host" in options.label


@pytest.mark.parametrize(
    "value",
    [
        {"url": f"postgresql://u:{SECRET}/x@h/d", "table": "t"},
        {"url": f"postgresql://u:x@{SECRET}@h/d", "table": "t"},
        {"url": f"oracle://u:{SECRET}@h/d", "table": "t"},
        {"url": f"postgresql://u:{SECRET}@h/d"},
        {"url": f"postgresql://u:{SECRET}@h/d", "table": ["t"]},
        f"postgresql://u:x#{SECRET}@h/d",
        f"postgresql://u:x?{SECRET}@h/d#t",
    ],
)
def test_nor_in_an_error(value: object) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_source(value)
    assert SECRET not in str(caught.value)
    if isinstance(value, dict):
        with pytest.raises(ValidationError) as refused:
            DatabaseOptions.model_validate(value)
        assert SECRET not in str(refused.value)


def test_variables_are_filled_in_late(monkeypatch: pytest.MonkeyPatch) -> None:
    options = parse_source({"url": "postgresql://u:${CLINIC_PASSWORD}@h/d", "table": "t"})
    assert isinstance(options, DatabaseOptions)
    with pytest.raises(KeyError, match="CLINIC_PASSWORD"):
        options.resolved()
    monkeypatch.setenv("CLINIC_PASSWORD", "a/b@c")
    assert options.resolved() == "postgresql://u:a%2Fb%40c@h/d"


def test_targets() -> None:
    assert parse_target("out.parquet") == FileTargetOptions(path="out.parquet")
    target = parse_target({"url": "sqlite:///a.db", "table": "safe", "if_exists": "replace"})
    assert isinstance(target, DatabaseTargetOptions)
    assert (target.table, target.if_exists) == ("safe", "replace")
    assert parse_target(target) is target
    with pytest.raises(ValueError, match="table is missing"):
        parse_target("sqlite:///a.db")
    with pytest.raises(ValueError, match="if_exists"):
        parse_target({"url": "sqlite:///a.db", "table": "t", "if_exists": "merge"})
