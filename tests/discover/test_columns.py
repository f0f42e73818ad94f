"""Every recogniser of columns is shown by values, by failed checks, by look-alikes, and by what a name adds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from shoal.discover.column_roles import BELIEVED, RecognisedType, recognise
from shoal.discover.recognisers import Recogniser, default_recognisers
from shoal.schema import Column
from shoal.schema.type_detection import detect

pytestmark = pytest.mark.requirement("D-03", "D-04")

TABLE: dict[str, dict[str, Any]] = yaml.safe_load(
    (Path(__file__).resolve().parent / "cases" / "columns.yaml").read_text(encoding="utf-8")
)
IN_COLUMNS = {each.key: each for each in default_recognisers() if each.names or each.called or each.strength}
ANYTHING = ".+"


def wanted(recogniser: Recogniser) -> set[str]:
    """The kinds of cases that a recogniser of columns has to be shown by."""
    kinds = {"valid"}
    kinds |= {"invalid"} if recogniser.check else set()
    kinds |= {"name"} if recogniser.names else set()
    return kinds | ({"called"} if recogniser.pattern == ANYTHING else {"lookalike"})


def lacking(recognisers: dict[str, Recogniser], table: dict[str, dict[str, Any]]) -> list[str]:
    return [
        f"{key}: {kind}"
        for key, each in recognisers.items()
        for kind in sorted(wanted(each))
        if not table.get(key, {}).get(kind)
    ]


def test_every_recogniser_has_every_kind_of_case() -> None:
    assert lacking(IN_COLUMNS, TABLE) == []
    assert TABLE.keys() <= IN_COLUMNS.keys()


def test_every_entry_of_the_files_is_looked_for_somewhere() -> None:
    """So none goes without cases: what no column is known by is found in text, and has its cases there."""
    assert [each.key for each in default_recognisers() if each.key not in IN_COLUMNS and each.text is None] == []


def test_a_case_that_lacks_is_noticed() -> None:
    assert lacking({"card": IN_COLUMNS["card"]}, {"card": {"valid": ["x"], "lookalike": []}}) == [
        "card: invalid",
        "card: lookalike",
        "card: name",
    ]


def found(values: list[str], name: str) -> RecognisedType | None:
    return recognise(replace(column(tuple(values)), name=name), pl.Series(values, dtype=pl.String))


@cache
def column(values: tuple[str, ...]) -> Column:
    series = pl.Series(values, dtype=pl.String)
    return detect(pl.LazyFrame({"x": series}), ["x"])["x"]


def called(key: str) -> str:
    return str(TABLE[key].get("name", "x"))


@pytest.mark.parametrize("key", TABLE)
def test_values_of_the_kind_are_recognised(key: str) -> None:
    recognised = found(TABLE[key]["valid"], called(key))
    assert recognised
    assert recognised.recogniser.type == IN_COLUMNS[key].type
    assert recognised.share == 1


@pytest.mark.parametrize("key", [key for key, cases in TABLE.items() if "invalid" in cases])
def test_a_failed_check_rules_out_though_the_form_is_right(key: str) -> None:
    each, values = IN_COLUMNS[key], pl.Series(TABLE[key]["invalid"])
    assert each.count(values) == 0
    assert values.str.to_uppercase().str.contains(f"^(?:{each.pattern})$").any()


@pytest.mark.parametrize("key", [key for key, cases in TABLE.items() if "lookalike" in cases])
def test_look_alikes_are_not_taken_for_it(key: str) -> None:
    values = TABLE[key]["lookalike"]
    if IN_COLUMNS[key].pattern != ANYTHING:
        assert IN_COLUMNS[key].count(pl.Series(values)) == 0
    recognised = found(values, called(key))
    assert recognised is None or recognised.recogniser.key != key


@pytest.mark.parametrize("key", [key for key, cases in TABLE.items() if "called" in cases])
def test_a_name_that_only_sounds_like_it_says_nothing(key: str) -> None:
    assert not IN_COLUMNS[key].hinted(TABLE[key]["called"])
    assert found(TABLE[key]["valid"], TABLE[key]["called"]) is None


@pytest.mark.parametrize("key", [key for key, each in IN_COLUMNS.items() if each.names])
def test_the_name_of_a_column_makes_surer(key: str) -> None:
    each, cases = IN_COLUMNS[key], TABLE[key]
    assert each.hinted(cases["name"])
    assert each.confidence(1, hinted=True) > max(BELIEVED, each.confidence(1, hinted=False))
    if not each.strength:
        alone = found(cases["valid"], "x")
        assert alone is None or alone.recogniser.key != key


@pytest.mark.parametrize("key", [key for key, each in IN_COLUMNS.items() if each.names])
def test_every_name_in_the_file_leads_to_it(key: str) -> None:
    each = IN_COLUMNS[key]
    names = [*each.names, each.names[0].replace(" ", "_"), each.names[-1].upper()]
    types = {name: found(TABLE[key]["valid"], name) for name in names}
    assert {name: one and one.recogniser.type for name, one in types.items()} == dict.fromkeys(names, each.type)
