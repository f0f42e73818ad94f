"""Direct identifiers: what is computed from them is one, and a technique that changes nothing in effect is refused."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from _pytest.mark.structures import ParameterSet

import shoal
from shoal.errors import DataError, PolicyError
from shoal.plan.dry_run import check_against_data
from shoal.policy import warnings_in
from shoal.policy.role_propagation import refuse_weaker_roles
from shoal.privacy.near_identity import nearness

pytestmark = pytest.mark.requirement("T-01", "T-29")

PEOPLE = 300


def table(number: int = PEOPLE) -> pl.DataFrame:
    places = pl.Series(range(number))
    return pl.DataFrame(
        {
            "name": "SECRET" + places.cast(pl.String),
            "account": 401_234_567 + places * 7_919 + places * places * 13 % 5_003,
            "number": (3_000_000_000_17 + places * 7_654_321).cast(pl.String),
            "joined": pl.Series(
                [f"{1 + day % 28:02}/{1 + day % 12:02}/{1950 + day}" for day in range(number)][:number]
            ),
            "age": 20 + places * 7 % 60,
            "zip": 10_001 + places % 9,
            "ill": pl.Series(["flu", "gout", "cold"] * number)[:number],
        }
    )


def policy(attributes: str, more: str = "") -> shoal.Policy:
    return shoal.Policy.from_text(f'shoal: 1\nname: p\nattributes:\n{attributes}  "*": suppress\n{more}')


def release(attributes: str, more: str = "") -> shoal.Release:
    return shoal.anonymise(table(), policy(attributes, more), seed=1)


FROM_NAME = """\
  name: {role: direct, technique: {combine: {into: x, expression: "CONCAT('x', name)"%s}}}
  x: {role: %s}
"""


@pytest.mark.parametrize("role", ["insensitive", "sensitive", "quasi"])
@pytest.mark.parametrize("drop", ["", ", drop: false"])
def test_what_is_made_of_a_direct_identifier_is_one(role: str, drop: str) -> None:
    with pytest.raises(PolicyError, match="computed from 'name', so its role is direct") as caught:
        policy(FROM_NAME % (drop, role))
    assert caught.value.problems[0].line == 5


@pytest.mark.parametrize(
    ("declared", "refused"), [("insensitive", True), ("sensitive", True), ("quasi", False), ("direct", False)]
)
def test_the_strictest_of_the_inputs_counts(declared: str, refused: bool) -> None:
    attributes = f"""\
  age: {{role: quasi, technique: {{combine: {{into: both, expression: "age * 1000 + zip", drop: false}}}}}}
  zip: {{role: insensitive}}
  both: {{role: {declared}}}
"""
    if refused:
        with pytest.raises(PolicyError, match="its role is quasi"):
            policy(attributes)
    else:
        policy(attributes)


def test_through_a_chain_whatever_is_declared_in_between() -> None:
    attributes = """\
  name: {role: direct, technique: {combine: {into: x, expression: "CONCAT('x', name)"}}}
  y: {role: insensitive}
  x: {role: insensitive, technique: {combine: {into: y, expression: "CONCAT(x, 'y')"}}}
"""
    with pytest.raises(PolicyError) as caught:
        policy(attributes)
    assert [problem.path for problem in caught.value.problems] == ["attributes.y.role"], "x itself is not released"


def test_a_chain_is_bound_in_the_order_that_it_needs() -> None:
    attributes = """\
  more: {role: insensitive, technique: {combine: {into: most, expression: "more + 1"}}}
  most: {role: insensitive}
  zip: {role: insensitive, technique: {combine: {into: more, expression: "zip * 2"}}}
"""
    assert release(attributes).data["most"].to_list() == (table()["zip"] * 2 + 1).to_list()


def test_an_unnamed_input_is_as_strict_as_can_be() -> None:
    attributes = """\
  zip: {role: insensitive, technique: {combine: {into: both, expression: "CONCAT(zip, name)"}}}
  both: {role: quasi}
"""
    with pytest.raises(PolicyError, match="its role is direct"):
        policy(attributes)


def test_a_reason_is_accepted_and_shown() -> None:
    attributes = """\
  name: {role: direct, technique: {combine: {into: initial, expression: "LEFT(name, 1)"}}}
  initial: {role: insensitive, because: one letter is shared by thousands}
"""
    done = release(attributes)
    assert set(done.data["initial"]) == {"S"}
    told = "'initial' is insensitive, though it is computed from 'name': one letter is shared by thousands"
    assert told in done.manifest.warnings
    assert "one letter is shared by thousands" in done.html


def test_a_quasi_identifier_that_tells_of_a_modelled_attribute_is_warned_of() -> None:
    chosen = policy(
        """\
  age: {role: quasi}
  ill: {role: sensitive, technique: {combine: {into: group, expression: "LEFT(ill, 1)", drop: false}}}
  group: {role: quasi}
""",
        "privacy: [{l_diversity: {attribute: ill, l: 2, kind: distinct}}]\n",
    )
    assert any("'group' tells of ill" in warning for warning in warnings_in(chosen))


def test_a_policy_made_in_python_is_held_to_it_too() -> None:
    bare = shoal.Policy.model_validate(
        {
            "shoal": 1,
            "name": "p",
            "attributes": {
                "name": {"role": "direct", "technique": {"combine": {"into": "x", "expression": "CONCAT('x', name)"}}},
                "x": {"role": "insensitive"},
                "*": "suppress",
            },
        }
    )
    with pytest.raises(PolicyError, match="its role is direct"):
        refuse_weaker_roles(bare)
    with pytest.raises(PolicyError, match="its role is direct"):
        shoal.anonymise(table(), bare)


def test_a_technique_on_a_column_that_is_gone_by_then_is_refused() -> None:
    attributes = """\
  age: {role: quasi, technique: {combine: {into: both, expression: "age + zip"}}}
  zip: {role: quasi, technique: {round: {base: 10}}}
  both: {role: quasi}
"""
    with pytest.raises(PolicyError, match="combine takes 'zip' out before round could be applied"):
        policy(attributes)


@pytest.mark.parametrize("shown", ["by: [account]", "by: [zip], measures: {least: {min: account}}"])
def test_an_aggregate_publishes_no_direct_identifier(shown: str) -> None:
    attributes = """\
  account: {role: direct, technique: {round: {base: 1000000}}}
  zip: {role: insensitive}
"""
    with pytest.raises(PolicyError, match="would publish 'account', a direct identifier"):
        policy(attributes, f"aggregate: {{{shown}}}\n")
    accepted = policy(attributes.replace("}}}", "}}, because: rounded to millions}"), f"aggregate: {{{shown}}}\n")
    assert any("rounded to millions" in warning for warning in warnings_in(accepted))


def cases(techniques: dict[str, dict[str, str]]) -> list[ParameterSet]:
    """Each column with each of its techniques, which has a name."""
    return [
        pytest.param(column, technique, id=name)
        for column, named in techniques.items()
        for name, technique in named.items()
    ]


UNALTERED = {
    "account": {
        "round to one": "{round: {base: 1}}",
        "code far above": "{code: {top: 99999999999}}",
        "tiny noise": "{noise: {laplace: {scale: 1.0e-9}}}",
        "noise below the gaps": "{noise: {gaussian: {sd: 300}}}",
        "narrow midpoints": "{generalise: {hierarchy: {intervals: {widths: [10]}}, level: 1, output: midpoint}}",
        "two that do nothing": "[{round: {base: 1}}, {code: {top: 99999999999}}]",
    },
    "joined": {
        "days": "{noise: {days: 1}}",
    },
    "name": {
        "mask of one": "{mask: {keep_first: 8}}",
        "kept nearly all": "{pram: {keep: 0.999}}",
        "kept mostly": "{pram: {keep: 0.6}}",
        "within itself": "{permute: {within: [account]}}",
        "among others": "{permute: {derange: true}}",
        "only read": '{combine: {into: x, expression: "CONCAT(name, name)", drop: false}}',
    },
    "number": {
        "mask of one digit": "{mask: {keep_last: 11}}",
    },
}


@pytest.mark.parametrize(("name", "technique"), cases(UNALTERED))
def test_what_changes_nothing_in_effect_is_refused(name: str, technique: str) -> None:
    more = "  x: {role: direct}\n" if "combine" in technique else ""
    attributes = f"  {name}: {{role: direct, technique: {technique}}}\n  zip: {{role: insensitive}}\n{more}"
    chosen = policy(attributes)
    with pytest.raises(DataError, match=f"attributes.{name}: is a direct identifier") as caught:
        shoal.anonymise(table(), chosen, seed=1)
    assert "SECRET" not in str(caught.value)


ALTERED = {
    "number": {
        "four of twelve digits": "{mask: {keep_last: 4, char: x}}",
    },
    "name": {
        "first letter": "{mask: {keep_first: 1}}",
        "pseudonym": "{pseudonymise: {domain: people}}",
        "pseudonym as number": "{pseudonymise: {domain: people, format: integer}}",
    },
    "account": {
        "rounded": "{round: {base: 1000000}}",
        "noise": "{noise: {laplace: {scale: 5000000}}}",
        "wide midpoints": "{generalise: {hierarchy: {intervals: {widths: [500000]}}, level: 1, output: midpoint}}",
        "groups": "{microaggregate: {k: 5}}",
    },
}


@pytest.mark.parametrize(("name", "technique"), cases(ALTERED))
def test_what_does_something_passes(name: str, technique: str) -> None:
    done = release(f"  {name}: {{role: direct, technique: {technique}}}\n  zip: {{role: insensitive}}\n")
    assert done.data[name].len() == PEOPLE
    written = set(done.data[name].cast(pl.String))
    assert sum(str(value) in written for value in table()[name]) == 0, "counted by other means"


def test_check_refuses_it_as_a_run_does(tmp_path: Path) -> None:
    data = tmp_path / "table.csv"
    table().write_csv(data)
    with pytest.raises(DataError, match="account: is a direct identifier, and round leaves too much of it"):
        check_against_data(policy("  account: {role: direct, technique: {round: {base: 1}}}\n"), str(data))


def test_nearness_of_numbers_goes_by_the_gaps_of_the_whole_table() -> None:
    was, now = pl.Series([1000.0, 2000.0, 3000.0]), pl.Series([1010.0, 2010.0, 3010.0])
    texts = was.cast(pl.String), now.cast(pl.String)
    assert nearness(*texts, numbers=(was, now), records=3).told == 1
    assert nearness(*texts, numbers=(was, now), records=3_000).told == 0, "the next one is 1 away, not 1000"


def test_dense_values_that_meet_by_chance_are_no_identity() -> None:
    """A permutation of all numbers of four digits, as a cipher of that width gives."""
    before = pl.Series([f"{number:04}" for number in range(10_000)])
    after = pl.Series([f"{(number * 7919 + 13) % 10_000:04}" for number in range(10_000)])
    assert not nearness(before, after, records=10_000).changes_nothing


def test_values_that_all_look_alike_are_told_only_beyond_what_others_are() -> None:
    before = pl.Series([f"CUSTOMER-ACCOUNT-{number:04}" for number in range(0, 3_000, 3)])
    after = pl.Series([f"CUSTOMER-ACCOUNT-{(number * 7919 + 13) % 10_000:04}" for number in range(0, 3_000, 3)])
    assert nearness(before, after, records=1_000).told < 0.05
    assert nearness(before, before.str.to_lowercase(), records=1_000).told == 1


def test_a_technique_that_counts_people_is_tried_too() -> None:
    """What is tried has to have the column that tells people apart, as the run has."""
    done = release("  name: {role: direct, technique: {itemset: {k: 4, m: 3}}}\n", "person: name\n")
    assert not set(done.data["name"]) & set(table()["name"])
