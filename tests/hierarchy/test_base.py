"""How a policy names a hierarchy, and what the absence of one means."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from pydantic import ValidationError

from shoal.hierarchy import FlatHierarchy, hierarchies, parse_hierarchy
from shoal.schema import Column
from shoal.schema.field_docs import field_docs

pytestmark = pytest.mark.requirement("T-08")


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ({"csv": "a.csv"}, {"csv": {"path": "a.csv"}}),
        ({"intervals": [5, 10]}, {"intervals": {"widths": [5, 10]}}),
        ({"dates": ["year"]}, {"dates": {"levels": ["year"]}}),
        ({"grid": [2, 1]}, {"grid": {"decimals": [2, 1]}}),
        ({"rare": 5}, {"rare": {"minimum": 5}}),
        ("redact", {"redact": {"side": "right", "char": "x"}}),
        ({"redact": None}, {"redact": {}}),
    ],
)
def test_short_forms(short: object, long: object) -> None:
    assert parse_hierarchy(short) == parse_hierarchy(long)


def test_a_hierarchy_stays_as_it_is() -> None:
    hierarchy = parse_hierarchy("redact")
    assert parse_hierarchy(hierarchy) is hierarchy
    assert type(hierarchy).model_validate(hierarchy) is hierarchy


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"interval": [5]}, "unknown hierarchy 'interval'; did you mean 'intervals'?"),
        ("taxonmy", "did you mean 'taxonomy'?"),
        ({5: {}}, "unknown hierarchy '5'"),
        ({"csv": "a", "rare": 5}, "a hierarchy is one kind"),
        ({}, "a hierarchy is one kind"),
        (["redact"], "a hierarchy is one kind"),
        (None, "a hierarchy is one kind"),
    ],
)
def test_what_is_no_hierarchy(value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("?", r"\?")) as error:
        parse_hierarchy(value)
    assert not isinstance(error.value, ValidationError)


def test_a_kind_without_short_form_needs_names() -> None:
    with pytest.raises(ValidationError):
        parse_hierarchy({"taxonomy": "Asia"})


def test_editors_know_the_short_forms() -> None:
    for _, kind in hierarchies:
        forms = kind.model_json_schema().get("anyOf")
        assert (forms is not None) == (kind.shorthand is not None)
    csv = hierarchies.get("csv")
    assert csv is not None
    assert {form["type"] for form in csv.model_json_schema()["anyOf"]} == {"string", "object"}


WRITTEN = {
    "csv": "a.csv",
    "cuts": {"at": [0.5, 2, 10, 50], "join": [2]},
    "dates": ["week"],
    "grid": [1],
    "intervals": {"widths": [0.1, 5], "low": 2},
    "order": {"levels": [{"low": ["a", "b"], "high": ["c"]}, [["low", "high"]]]},
    "classification": {"name": "icd-10", "also": {"Dengue": "A90"}, "unknown": "suppress"},
    "places": {"levels": ["state", "zone"], "country": "IN", "also": {"Bombay Fort": "Mumbai"}},
    "rare": 7,
    "redact": {"steps": [2, 4]},
    "taxonomy": {"tree": {"A": {"B": ["x", "y"]}, "C": None}},
}


def test_every_kind_is_written_out() -> None:
    assert set(WRITTEN) == set(hierarchies.names())


@pytest.mark.parametrize("key", WRITTEN)
def test_what_is_written_out_can_be_read_again(key: str) -> None:
    hierarchy = parse_hierarchy({key: WRITTEN[key]})
    assert parse_hierarchy({key: hierarchy.model_dump(mode="json", exclude_defaults=True)}) == hierarchy
    assert parse_hierarchy({key: json.loads(hierarchy.model_dump_json())}) == hierarchy


@pytest.mark.parametrize("key", WRITTEN)
def test_editors_can_explain_every_parameter(key: str) -> None:
    kind = hierarchies.get(key)
    assert kind is not None
    assert kind.__doc__
    assert field_docs(kind).keys() == kind.model_fields.keys()


def test_only_files_have_paths_to_resolve(tmp_path: Path) -> None:
    hierarchy = parse_hierarchy("redact")
    assert hierarchy.resolve(tmp_path) is hierarchy


def test_no_hierarchy_is_as_it_is_or_nothing() -> None:
    sexes = pl.Series("sex", ["F", None, "M"])
    bound = FlatHierarchy().bind(Column("sex"), pl.DataFrame({"value": ["F"], "records": [1]}))
    assert FlatHierarchy().refuse(Column("sex")) is None
    assert bound.height == 1
    assert bound.generalise(sexes, 0).equals(sexes)
    assert bound.generalise(sexes, 1).to_list() == ["*", "*", "*"]
    assert bound.loss(sexes, 0).tolist() == [0, 0, 0]
    assert bound.loss(sexes, 1).tolist() == [1, 1, 1]
    assert "flat" not in hierarchies.names()
