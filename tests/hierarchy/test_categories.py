"""Categories: orders, taxonomies, rare values."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest
from pydantic import ValidationError

from shoal.hierarchy import BoundHierarchy, parse_hierarchy

pytestmark = pytest.mark.requirement("T-08")
Bind = Callable[..., BoundHierarchy]
SCHOOLING = ["none", "primary", "secondary", "bachelor", "master"]


def ladder(bound: BoundHierarchy, value: object) -> list[str | None]:
    return [bound.generalise(pl.Series([value], dtype=pl.String), level).item() for level in range(1, bound.height + 1)]


class TestOrder:
    def test_neighbours(self, bind: Bind) -> None:
        bound = bind({"order": {"order": SCHOOLING, "sizes": [2, 4]}}, SCHOOLING)
        assert ladder(bound, "primary") == ["none–primary", "none–bachelor", "*"]
        assert ladder(bound, "master") == ["master", "master", "*"]
        assert ladder(bound, None) == [None, None, "*"]

    def test_loss_counts_listed_values(self, bind: Bind) -> None:
        bound = bind({"order": {"order": SCHOOLING, "sizes": [2, 4]}}, ["none"])
        assert bound.loss(pl.Series(["none", "master"]), 1).tolist() == [1 / 4, 0]
        assert bound.loss(pl.Series(["none", "master"]), 2).tolist() == [3 / 4, 0]

    def test_groups_without_names(self, bind: Bind) -> None:
        levels = [
            [["none", "primary"], ["secondary"], ["bachelor", "master"]],
            [["none", "primary", "secondary"], ["bachelor–master"]],
        ]
        bound = bind({"order": {"levels": levels}}, SCHOOLING)
        assert ladder(bound, "secondary") == ["secondary", "none–secondary", "*"]
        assert ladder(bound, "master") == ["bachelor–master", "bachelor–master", "*"]

    def test_groups_with_names_build_on_each_other(self, bind: Bind) -> None:
        levels = [
            {"low": ["none", "primary"], "school": ["secondary"], "degree": ["bachelor", "master"]},
            {"no degree": ["low", "school"], "any": ["degree"]},
        ]
        bound = bind({"order": {"order": SCHOOLING, "levels": levels}}, SCHOOLING)
        assert ladder(bound, "primary") == ["low", "no degree", "*"]
        assert ladder(bound, "master") == ["degree", "any", "*"]

    def test_whole_numbers_are_words(self, bind: Bind) -> None:
        assert ladder(bind({"order": {"order": [1, 2, 3], "sizes": [2]}}, [1, 2]), "1") == ["1–2", "*"]

    @pytest.mark.parametrize(
        ("spec", "message"),
        [
            ({"order": ["a", "b"]}, "either sizes or levels"),
            ({"order": ["a", "b"], "sizes": [2], "levels": [[["a"], ["b"]]]}, "either sizes or levels"),
            ({"sizes": [2]}, "sizes need the order"),
            ({"order": ["a", "b"], "sizes": [2, 3]}, "3 is not a multiple of 2"),
            ({"order": ["a", "b"], "sizes": [1]}, "greater than or equal to 2"),
            ({"order": ["a", "a"], "sizes": [2]}, "listed more than once"),
            ({"levels": [[["a", "b"], ["a"]]]}, "listed more than once"),
            ({"order": ["a", "b", "c"], "levels": [[["a", "b"], ["b", "c"]]]}, "a value is in two groups"),
            ({"order": ["a", "b", "c"], "levels": [[["a", "c"], ["b"]]]}, "neighbours"),
            ({"order": ["a", "b", "c"], "levels": [[["a", "b"]]]}, "level 1 leaves out 1 of the values"),
            ({"order": ["a", "b"], "levels": [[["a", "b", "z"]]]}, "'z' is neither a value nor a group"),
            ({"order": ["a", "b"], "levels": [[["a", "b"], []]]}, "neighbours"),
            (
                {"order": ["a", "b", "c"], "levels": [[["a", "b"], ["c"]], [["a"], ["b", "c"]]]},
                "level 2 takes apart a group of the level below",
            ),
            ({"order": [True, "b"], "sizes": [2]}, "write the value in quotes: YAML reads it as bool"),
            ({"levels": [["a", "b"]]}, "group 1: has to be a list of values"),
            ({"levels": [{"x": ["a", None]}]}, "'x', value 2: write the value in quotes: YAML reads it as NoneType"),
            ({"levels": ["a"]}, "a level is a list of groups, or names with groups"),
            ({"order": [1.5, "b"], "sizes": [2]}, "write the value in quotes: YAML reads it as float"),
        ],
    )
    def test_refused_with_a_reason(self, spec: dict[str, object], message: str) -> None:
        with pytest.raises(ValidationError) as error:
            parse_hierarchy({"order": spec})
        assert message in str(error.value)


TREE = {"Asia": {"South": ["India", "Nepal"], "East": ["Japan"]}, "Europe": ["France", "Spain"], "Antarctica": None}


class TestTaxonomy:
    def test_uneven_branches_meet_below_the_top(self, bind: Bind) -> None:
        bound = bind({"taxonomy": {"tree": TREE}}, ["India", "France", "Antarctica", None])
        assert ladder(bound, "India") == ["South", "Asia", "*"]
        assert ladder(bound, "France") == ["France", "Europe", "*"]
        assert ladder(bound, "Antarctica") == ["Antarctica", "Antarctica", "*"]
        assert ladder(bound, None) == [None, None, "*"]

    def test_loss_counts_leaves_of_the_tree(self, bind: Bind) -> None:
        bound = bind({"taxonomy": {"tree": TREE}}, ["India", "France", "Antarctica"])
        values = pl.Series(["India", "France", "Antarctica"])
        assert bound.loss(values, 1).tolist() == [1 / 5, 0, 0]
        assert bound.loss(values, 2).tolist() == [2 / 5, 1 / 5, 0]

    def test_value_named_like_its_group(self, bind: Bind) -> None:
        bound = bind(
            {"taxonomy": {"tree": {"Singapore": {"Singapore": ["Singapore", "Jurong"]}, "Other": ["Other"]}}}, []
        )
        assert ladder(bound, "Singapore") == ["Singapore", "Singapore", "*"]
        assert ladder(bound, "Jurong") == ["Singapore", "Singapore", "*"]
        assert ladder(bound, "Other") == ["Other", "Other", "*"]

    def test_a_list_is_a_tree_of_one_level(self, bind: Bind) -> None:
        assert ladder(bind({"taxonomy": {"tree": ["M", "F"]}}, ["M"]), "M") == ["*"]

    @pytest.mark.parametrize(
        ("tree", "message"),
        [
            ({"A": ["x"], "B": ["y", "x"]}, "listed more than once: x"),
            (
                {"A": {"South": ["x"]}, "B": {"South": ["y"]}},
                "'South' on level 1 is under both 'A' and 'B': give the groups different names",
            ),
            ({}, "the tree has no values"),
            ({"A": ["x", False]}, "under 'A', value 2: write the value in quotes: YAML reads it as bool"),
            ({"A": {True: ["x"]}}, "under 'A', value 1: write the value in quotes"),
            ({"A": "x"}, "under 'A': has to be a list of values"),
        ],
    )
    def test_refused_with_a_reason(self, tree: object, message: str) -> None:
        with pytest.raises(ValidationError) as error:
            parse_hierarchy({"taxonomy": {"tree": tree}})
        assert message in str(error.value)

    def test_meity_figure_2b_and_pdpc_occupations(self, bind: Bind) -> None:
        """PDPC annex C: occupations to what they have in common."""
        tree = {
            "Data Protection Officer": [
                "Assistant Data Protection Officer",
                "Chief Privacy Officer",
                "Manager, DPO Office",
            ],
            "IT": ["Lead IT Consultant", "Database Administrator", "Programmer", "IT Analyst", "UX Designer"],
            "Banker": None,
        }
        bound = bind({"taxonomy": {"tree": tree}}, ["Programmer", "Banker"])
        assert [ladder(bound, job)[0] for job in ("Programmer", "Banker", "Chief Privacy Officer")] == [
            "IT",
            "Banker",
            "Data Protection Officer",
        ]


class TestRare:
    def test_pdpc_annex_b(self, bind: Bind) -> None:
        races, records = ["Indian", "Chinese", "Malay", "Eurasian"], [1, 2, 1, 1]
        bound = bind({"rare": 2}, races, records=records)
        assert bound.generalise(pl.Series(races), 1).to_list() == ["Others", "Chinese", "Others", "Others"]
        assert bound.generalise(pl.Series(races), 2).to_list() == ["*"] * 4
        assert bound.loss(pl.Series(races), 1).tolist() == [2 / 3, 0, 2 / 3, 2 / 3]

    @pytest.mark.parametrize(
        ("records", "others", "starred"),
        [
            ({"a": 50, "b": 40, "c": 12, "d": 3}, set(), {"d"}),
            ({"a": 50, "b": 40, "c": 10, "d": 10}, set(), set()),
            ({"a": 50, "b": 40, "c": 6, "d": 4}, {"c", "d"}, set()),
            ({"a": 50, "b": 11, "c": 11, "d": 9}, set(), {"d"}),
            ({"a": 3, "b": 2, "c": 1}, set(), {"a", "b", "c"}),
            ({"a": 50, "b": 1, "Others": 20}, {"b", "Others"}, set()),
            ({"a": 50, "b": 1, "c": 12, "Others": 60}, {"b", "Others"}, set()),
            ({"a": 50, "b": 30, "Others": 2}, set(), {"Others"}),
            ({"a": 50, "b": 1, "Others": 8}, set(), {"b", "Others"}),
            ({"a": 9}, set(), {"a"}),
        ],
    )
    def test_a_group_that_is_rare_itself_is_starred_and_no_common_value_joins_it(
        self, bind: Bind, records: dict[str, int], others: set[str], starred: set[str]
    ) -> None:
        bound = bind({"rare": {"minimum": 10}}, list(records), records=list(records.values()))
        labels = dict(zip(records, bound.generalise(pl.Series(list(records)), 1), strict=True))
        assert {value for value, label in labels.items() if label == "Others"} == others
        assert {value for value, label in labels.items() if label == "*"} == starred
        assert all(labels[value] == value for value in set(records) - others - starred)
        assert all(bound.loss(pl.Series([value]), 1).item() == 1 for value in starred)

    def test_missing_values_stay_apart(self, bind: Bind) -> None:
        bound = bind({"rare": 10}, ["a", None, "b"], records=[50, 2, 3])
        assert bound.generalise(pl.Series(["a", None, "b"]), 1).to_list() == ["a", None, "*"]

    @pytest.mark.parametrize("spec", [{"minimum": 1}, {"label": ""}])
    def test_wrong_parameters(self, spec: dict[str, object]) -> None:
        with pytest.raises(ValidationError):
            parse_hierarchy({"rare": spec})
