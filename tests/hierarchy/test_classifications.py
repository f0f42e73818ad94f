"""Classifications that come with Shoal: facts that hold together, with their source."""

from __future__ import annotations

import itertools
from importlib import resources

import polars as pl
import pytest

from shoal.discover.suggestion.hierarchy_choice import choose_hierarchy
from shoal.errors import DataError
from shoal.hierarchy import parse_hierarchy
from shoal.hierarchy.classifications.classification import classification, classification_names
from shoal.schema import Column, ValueType

pytestmark = pytest.mark.requirement("T-08")
every = pytest.mark.parametrize("name", classification_names())


def codes(name: str) -> list[str]:
    """Every code of a small alphabet that the classification may know."""
    if name == "icd-10":
        return [f"{letter}{number:02}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" for number in range(100)]
    if name == "isced-2011":
        return [str(level) for level in range(10)]
    length = 4 if name == "isco-08" else 6
    return [f"{number:03}".ljust(length, "1") for number in range(1000)]


@every
def test_the_file_names_its_source_in_its_head(name: str) -> None:
    text = resources.files("shoal.hierarchy.classifications").joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    assert text.startswith("# Source: ")
    facts = classification(name).facts
    assert facts.source.partition(",")[0] in text.partition("title:")[0].replace("\n# ", " ")
    assert classification(name).labels(facts.example) is not None


@every
def test_levels_nest_for_every_code(name: str) -> None:
    known = [labels for code in codes(name) if (labels := classification(name).labels(code)) is not None]
    assert len(known) > 8
    for lower, upper in itertools.pairwise(zip(*known, strict=True)):
        parents: dict[str, str] = {}
        for child, parent in zip(lower, upper, strict=True):
            assert parents.setdefault(child, parent) == parent


@every
def test_every_group_has_a_code_and_one_place(name: str) -> None:
    """No group is out of reach because another one takes its codes, and no code is in two groups."""
    one = classification(name)
    known = [labels for code in codes(name) if (labels := one.labels(code)) is not None]
    for place, level in enumerate(one.facts.levels):
        assert {group for _, _, group in level.spans} <= {labels[place] for labels in known}, level.name
        for code in codes(name):
            fitting = [(len(low), group) for low, high, group in level.spans if low <= code[: len(low)] <= high]
            longest = [group for length, group in fitting if length == max(fitting)[0]]
            assert len(longest) <= 1, (code, longest)


def test_known_facts() -> None:
    """A few that anybody can look up."""
    expected = {
        ("icd-10", "A90"): "A90",
        ("isco-08", "2211"): "221",
        ("india-pin", "400001"): "400xxx",
        ("singapore-postal", "819642"): "81xxxx",
    }
    for (name, code), first in expected.items():
        labels = classification(name).labels(code)
        assert labels is not None
        assert labels[0] == first
    assert classification("singapore-postal").labels("819642") == ("81xxxx", "District 17", "East (districts 14-18)")
    assert classification("icd-10").labels("D50") == ("D50", "D50-D53", "III Blood and immunity")
    assert classification("icd-10").labels("D48") == ("D48", "D37-D48", "II Neoplasms")
    assert len(classification("isco-08").facts.levels[1].groups) == 43
    assert len(classification("singapore-postal").facts.levels[1].groups) == 28


def test_numbers_that_lost_their_zeros() -> None:
    stored = pl.DataFrame({"value": [18956, 238859], "records": [1, 1]})
    bound = parse_hierarchy({"classification": "singapore-postal"}).bind(
        Column("postal", ValueType.INTEGER, pl.Int64()), stored
    )
    assert bound.generalise(stored["value"], 2).to_list() == ["District 01", "District 09"]


def test_what_is_not_known_stops_or_is_starred() -> None:
    known = pl.DataFrame({"value": ["E11.9", "Zaphod"], "records": [5, 3]})
    with pytest.raises(DataError) as error:
        parse_hierarchy({"classification": "icd-10"}).bind(Column("ill"), known)
    assert "column 'ill': 1 distinct value(s), 3 record(s)" in str(error.value)
    assert "Zaphod" not in str(error.value)
    starred = parse_hierarchy({"classification": {"name": "icd-10", "unknown": "suppress"}}).bind(Column("ill"), known)
    assert starred.generalise(known["value"], 1).to_list() == ["E11", "*"]


def test_an_unknown_classification_is_named_with_those_that_are_known() -> None:
    with pytest.raises(ValueError, match=r"no classification 'icd10'; did you mean 'icd-10'"):
        parse_hierarchy({"classification": "icd10"})


def test_dates_and_decimals_are_refused() -> None:
    hierarchy = parse_hierarchy({"classification": "isco-08"})
    assert "isco-08" in (hierarchy.refuse(Column("born", ValueType.DATE)) or "")
    assert hierarchy.refuse(Column("weight", ValueType.DECIMAL))
    assert hierarchy.refuse(Column("job", ValueType.INTEGER)) is None


@pytest.mark.parametrize(
    ("name", "values", "level", "expected"),
    [
        ("isco-08", ["Software developer", "NURSES", "Manager", "Homemaker"], 3,
         ["Professionals", "Professionals", "Managers", "Not in employment"]),
        ("isco-08", ["Software developer", "2512"], 2,
         ["Information and communications technology professionals"] * 2),
        ("isced-2011", ["Class 10", "HSC", "B.Tech.", "PhD", "HS-grad"], 1,
         ["Lower secondary", "Upper secondary", "Bachelor or equivalent", "Doctoral or equivalent", "Upper secondary"]),
    ],
)  # fmt: skip
def test_common_names_are_known(name: str, values: list[str], level: int, expected: list[str]) -> None:
    distinct = pl.DataFrame({"value": values, "records": [1] * len(values)})
    bound = parse_hierarchy({"classification": name}).bind(Column("one"), distinct)
    assert bound.generalise(distinct["value"], level).to_list() == expected


def test_codes_with_a_point_are_codes_as_long_as_their_zeros_are_there() -> None:
    codes = ["2512.0100", "7233.0201", "5223.0101"] * 20
    chosen = choose_hierarchy(pl.LazyFrame({"nco": codes}), "nco")
    assert chosen.setting == {"classification": "isco-08"}
    assert chosen.bound.generalise(pl.Series("value", ["7233.0201"]), 1).to_list() == ["723"]
    lost = choose_hierarchy(pl.LazyFrame({"nco": [float(code) for code in codes]}), "nco")
    assert lost.setting != {"classification": "isco-08"}
