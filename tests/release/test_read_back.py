"""The k that is claimed is the k that is there: releases whose other columns would give back what was generalised.

The recount here is written anew, in plain Python, by the rule as the documentation states it.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import shoal
from shoal.assess.read_back.judgement import both_suppressed
from shoal.cli import main
from shoal.errors import DataError
from shoal.policy import Policy
from shoal.results.number_format import percent
from shoal.techniques.suppression.suppress_cells import SuppressCellsStep

pytestmark = pytest.mark.requirement("D-07", "S-01")

TREE = {"a": ["a1", "a2"], "b": ["b1", "b2"], "c": ["c1", "c2"]}
LEAVES = [leaf for leaves in TREE.values() for leaf in leaves]
PARENT = {leaf: name for name, leaves in TREE.items() for leaf in leaves}
K = 4


def policy(extra: str = "", *, role: str = "insensitive", k: int = K, recoding: str = "local") -> Policy:
    tree = json.dumps({"taxonomy": {"tree": TREE}})
    return Policy.from_text(
        f"""
shoal: 1
name: planted
attributes:
  place: {{role: quasi, hierarchy: {tree}}}
  job: {{role: quasi, hierarchy: {tree}}}
  one: {{role: {role}}}
  two: {{role: {role}}}
privacy: [{{k_anonymity: {{k: {k}}}}}]
solve: {{recoding: {recoding}, suppression_limit: 0.1}}
{extra}
"""
    )


def planted(rows: int = 400, seed: int = 3) -> pl.DataFrame:
    """``one`` says the same as ``place``, in other words."""
    draw = np.random.default_rng(seed)
    place, job = draw.choice(LEAVES, rows), draw.choice(LEAVES, rows, p=[0.5, 0.2, 0.1, 0.1, 0.06, 0.04])
    return pl.DataFrame({"place": place, "job": job, "one": np.char.upper(place), "two": draw.choice(["x", "y"], rows)})


ACCEPT_ALL = "read_back: {accept: [%s]}" % ", ".join(  # noqa: UP031  # braces
    f"{{columns: [one, two], tells: {name}, because: to see the figure}}" for name in ("place", "job")
)


class Recount:
    """By the rule alone: at least 10 records, of which 95 % have one label."""

    def __init__(self, original: pl.DataFrame, released: pl.DataFrame, quasi: Sequence[str], others: Sequence[str]):
        self.was = {name: original[name].to_list() for name in quasi}
        self.now = {name: released[name].to_list() for name in (*quasi, *others)}
        self.quasi, self.others, self.rows = quasi, others, released.height

    def ladder(self, value: str) -> list[str]:
        return [value, PARENT[value]]

    def k(self) -> int:
        restored = {name: self.restored(name) for name in self.quasi}
        seen = Counter(zip(*restored.values(), strict=True))
        sizes = [number for labels, number in seen.items() if set(labels) != {"*"}]
        return min(sizes, default=0)

    def restored(self, name: str) -> list[str]:
        told: list[tuple[int, str] | None] = [None] * self.rows
        for columns in self.sets(name):
            dictionary = self.dictionary(columns, name)
            for row in range(self.rows):
                found = dictionary.get(tuple(self.now[column][row] for column in columns))
                if found and self.is_finer(found, name, row) and (told[row] is None or found[0] < told[row][0]):  # type: ignore[index]
                    told[row] = found
        return [self.now[name][row] if one is None else one[1] for row, one in enumerate(told)]

    def sets(self, name: str) -> list[tuple[str, ...]]:
        """Single columns, then pairs; a quasi-identifier's label may be one of a pair."""
        singles = [(other,) for other in self.others]
        both = [*combinations(self.others, 2), *((a, b) for a in self.others for b in self.quasi if b != name)]
        return [*singles, *both]

    def dictionary(self, columns: tuple[str, ...], name: str) -> dict[tuple[str, ...], tuple[int, str]]:
        groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for row in range(self.rows):
            groups[tuple(self.now[column][row] for column in columns)].append(self.was[name][row])
        found = {}
        for key, values in groups.items():
            for level in (0, 1):
                label, records = Counter(self.ladder(value)[level] for value in values).most_common(1)[0]
                if len(values) >= 10 and records >= 0.95 * len(values):
                    if not self.is_common(name, level, label):
                        found[key] = level, label
                    break
        return found

    def is_common(self, name: str, level: int, label: str) -> bool:
        return sum(self.ladder(value)[level] == label for value in self.was[name]) >= 0.95 * self.rows

    def is_finer(self, told: tuple[int, str], name: str, row: int) -> bool:
        level, label = told
        released = self.now[name][row]
        above = {"*"} if level else {PARENT[label], "*"}
        return released in above


def test_the_run_stops_and_names_what_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, file = tmp_path / "t.csv", tmp_path / "p.yaml"
    planted().write_csv(data)
    file.write_text(policy().text)
    assert run("run", str(file), "--input", str(data), "--output", str(tmp_path / "r")) == 2
    said = capsys.readouterr().err
    assert "'one' tells 'place'" in said
    assert "found: suppress" in said
    assert said.count("\n") == 1
    assert not (tmp_path / "r").exists()


def run(*arguments: str) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["shoal", *arguments])
        try:
            main()
        except SystemExit as ended:
            return int(ended.code or 0)
    return 0


def test_only_the_cells_that_tell_are_suppressed() -> None:
    table = planted()
    release = shoal.anonymise(table, policy("read_back: {found: suppress}"), seed=1)
    manifest = release.manifest
    assert manifest.risk.k_effective == manifest.risk.k >= K
    assert manifest.read_back is not None
    starred = int((release.data["one"] == "*").sum()) + int((release.data["two"] == "*").sum())
    assert manifest.read_back.suppressed_cells == starred > 0
    kept = release.data["one"] != "*"
    assert (release.data.filter(kept)["one"] == table.filter(kept)["one"]).all()
    assert Recount(table, release.data, ("place", "job"), ("one", "two")).k() >= K


def test_the_report_tells_both_readers_which_columns_were_starred(tmp_path: Path) -> None:
    data, file = tmp_path / "t.csv", tmp_path / "p.yaml"
    planted().write_csv(data)
    file.write_text(policy("read_back: {found: suppress}").text)
    assert run("run", str(file), "--input", str(data), "--output", str(tmp_path / "out")) == 0
    written = pl.read_csv(tmp_path / "out" / "data.csv")
    starred = {name: float((written[name] == "*").sum()) / written.height for name in ("one", "two")}
    owner, recipient = ((tmp_path / "out" / name).read_text() for name in ("report.html", "recipient.html"))
    assert max(starred.values()) > 0
    for name, share in starred.items():
        row = rf'<code dir="auto">{name}</code></th><td role="cell" class="role">.*?</tr>'
        told = f"starred where it would tell a quasi-identifying value, {percent(share)} of records"
        of_owner, of_recipient = (re.findall(row, page, re.DOTALL)[0] for page in (owner, recipient))
        assert (told in of_owner, "Suppressed in part" in of_recipient) == (share > 0, share > 0), name
        chart = re.findall(rf'<h3><code dir="auto">{name}</code></h3>.*?</p>', owner, re.DOTALL)[0]
        assert (f"{percent(round(share, 3))} empty or hidden" in chart) == (share > 0), name


def test_where_the_star_itself_tells_it_goes_with_the_column() -> None:
    """Everybody in a1 has a word of their own, which is starred; so whoever has a star is in a1."""
    table = planted(600).with_columns(one=pl.when(pl.col("place") == "a1").then(pl.int_range(pl.len())).otherwise(0))
    table = table.with_columns(pl.format("word {}", "one").alias("one"))
    text = """
shoal: 1
name: stars
attributes:
  place: {role: quasi, hierarchy: %s}
  job: {role: quasi, hierarchy: %s}
  one: {role: sensitive, technique: {suppress_rare: {k: 4}}}
  two: {role: insensitive}
privacy: [{k_anonymity: {k: 14}}]
solve: {recoding: local, suppression_limit: 0.1}
read_back: {found: suppress}
""" % ((json.dumps({"taxonomy": {"tree": TREE}}),) * 2)
    released = shoal.anonymise(table, Policy.from_text(text), seed=1)
    assert released.manifest.risk.k_effective == released.manifest.risk.k >= 14
    assert Recount(table, released.data, ("place", "job"), ("one", "two")).k() >= 14


def test_a_column_that_still_tells_where_it_is_starred_goes_as_a_whole() -> None:
    classes = pl.DataFrame({"age": ["30-39"], "job": [True]})
    once = SuppressCellsStep(("age",), ("job",), classes)
    other = SuppressCellsStep(("age",), ("job",), classes.with_columns(age=pl.lit("40-49")))
    table = pl.DataFrame({"age": ["30-39", "40-49", "50-59"], "job": ["nun", "cook", "smith"]})
    assert both_suppressed(once, other).apply(table)["job"].to_list() == ["*", "*", "smith"]
    assert both_suppressed(once, once).apply(table)["job"].to_list() == ["*", "*", "*"]


def test_what_is_accepted_stays_and_is_told_with_its_reason() -> None:
    release = shoal.anonymise(planted(), policy(ACCEPT_ALL), seed=1)
    manifest = release.manifest
    assert manifest.risk.k_effective < K
    assert "because to see the figure" in manifest.warnings[0]
    left = f"whoever reads back what was accepted is left with k = {manifest.risk.k_effective} of"
    assert any(warning.startswith(left) for warning in manifest.warnings)
    assert "but other released columns" not in release.html
    assert "to see the figure" in release.html
    assert manifest.to_dict()["risk"]["k_effective"] == manifest.risk.k_effective


def test_an_acceptance_of_something_else_does_not_help() -> None:
    other = "read_back: {accept: [{columns: [two], tells: place, because: another column}]}"
    with pytest.raises(DataError, match="'one' tells 'place'"):
        shoal.anonymise(planted(), policy(other), seed=1)


def test_a_sensitive_attribute_that_tells_is_warned_of_and_leads_the_report() -> None:
    release = shoal.anonymise(planted(), policy(role="sensitive"), seed=1)
    assert release.manifest.risk.k_effective < K
    assert "other released columns leave k" in release.manifest.warnings[0]
    assert "but other released columns leave k =" in release.html


def test_a_column_that_tells_nothing_changes_nothing() -> None:
    table = planted().with_columns(one=pl.col("two"))
    release = shoal.anonymise(table, policy(), seed=1)
    assert release.manifest.risk.k_effective == release.manifest.risk.k
    assert "Other released columns split none of these groups" in release.html


def test_sorted_records_are_refused_until_they_are_shuffled() -> None:
    table = planted().with_columns(one=pl.lit("same")).sort("place")
    with pytest.raises(DataError, match="the order of the records tells 'place'") as caught:
        shoal.anonymise(table, policy(), seed=1)
    assert caught.value.advice is not None
    assert "shuffle_rows" in caught.value.advice
    assert shoal.anonymise(table, policy("shuffle_rows: true"), seed=1).manifest.risk.k_effective >= K


def test_with_people_it_is_people_that_are_counted() -> None:
    table = planted(200).with_columns(who=pl.Series([f"p{row}" for row in range(200)]))
    twice = pl.concat([table, table, table])
    text = policy(ACCEPT_ALL).text.replace("attributes:", "person: who\nattributes:\n  who: {role: direct}")
    once = shoal.anonymise(table, Policy.from_text(text), seed=1).manifest
    thrice = shoal.anonymise(twice, Policy.from_text(text), seed=1).manifest
    assert thrice.risk.k_effective == once.risk.k_effective


@pytest.mark.parametrize("shuffled", [False, True])
def test_measure_finds_the_same_in_two_files(
    tmp_path: Path, shuffled: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    data, file, folder = tmp_path / "t.csv", tmp_path / "p.yaml", tmp_path / "r"
    planted().write_csv(data)
    file.write_text(policy(ACCEPT_ALL + ("\nshuffle_rows: true" if shuffled else "")).text)
    assert run("run", str(file), "--input", str(data), "--output", str(folder), "--seed", "1") == 0
    told = json.loads((folder / "release.json").read_text())
    capsys.readouterr()
    measured = measure(capsys, str(folder), "--policy", str(file), "--original", str(data))
    assert measured["risk"]["k_effective"] == told["risk"]["k_effective"] < K
    told_again = measure(capsys, str(folder), "--policy", str(file))
    assert told_again["risk"]["k_effective"] == told["risk"]["k_effective"]
    bare = measure(capsys, str(folder / "data.csv"), "--qi", "place")
    assert bare["risk"]["k_effective"] is None


def measure(capsys: pytest.CaptureFixture[str], *arguments: str) -> Mapping[str, Any]:
    assert run("measure", *arguments, "--json") == 0
    found: Mapping[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_it_can_be_required(tmp_path: Path) -> None:
    data, file, folder = tmp_path / "t.csv", tmp_path / "p.yaml", tmp_path / "r"
    planted().write_csv(data)
    file.write_text(policy(role="sensitive").text)
    assert run("run", str(file), "--input", str(data), "--output", str(folder)) == 0
    asked = ("measure", str(folder), "--policy", str(file), "--require")
    assert run(*asked, f"k={K}") == 0
    assert run(*asked, f"k_effective={K}") == 1
    assert run("measure", str(data), "--policy", str(file), "--require", "k_effective=2") == 2


def test_a_sample_of_a_large_table_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learnt from every fourth record, applied to all of them."""
    for module in ("assess.read_back.judgement", "release.pipeline"):
        monkeypatch.setattr(f"shoal.{module}.LOOKED_AT", 1000)
    table = planted(4000)
    release = shoal.anonymise(table, policy(ACCEPT_ALL), seed=1)
    assert release.manifest.read_back is not None
    assert release.manifest.read_back.looked_at == 1000
    assert release.manifest.risk.k_effective == Recount(table, release.data, ("place", "job"), ("one", "two")).k()
    suppressed = shoal.anonymise(table, policy("read_back: {found: suppress}"), seed=1)
    assert Recount(table, suppressed.data, ("place", "job"), ("one", "two")).k() >= K


@pytest.mark.parametrize("told", ["A1", None])
def test_all_records_are_counted_by_the_values_that_tell(monkeypatch: pytest.MonkeyPatch, told: str | None) -> None:
    """Other values of the telling column, and missing ones, are one to the recount, unless they tell."""
    monkeypatch.setattr("shoal.release.pipeline.LOOKED_AT", 1000)
    draw = np.random.default_rng(5)
    table = planted(4000).with_columns(two=pl.lit("same"))
    other = pl.Series(draw.choice([f"w{place}" for place in range(7)], 4000))
    table = table.with_columns(one=pl.when(pl.col("place") == "a1").then(pl.lit(told)).otherwise(other))
    release = shoal.anonymise(table, policy(ACCEPT_ALL, recoding="global", k=900), seed=1)
    assert release.manifest.risk.k_effective == Recount(table, release.data, ("place", "job"), ("one", "two")).k()
    assert release.manifest.risk.k_effective < release.manifest.risk.k


Link = Callable[[np.random.Generator, np.ndarray], np.ndarray]
LINKS: dict[str, Link] = {
    "none": lambda draw, values: draw.choice(["x", "y", "z"], len(values)),
    "same": lambda _, values: np.char.upper(values),
    "near": lambda draw, values: np.where(draw.random(len(values)) < 0.03, "?", np.char.upper(values)),
    "coarse": lambda _, values: np.array([PARENT[value].upper() for value in values]),
    "some": lambda draw, values: np.where(values == "a1", "A1", draw.choice(["x", "y"], len(values))),
}


@settings(max_examples=60)
@example(rows=60, first="coarse", second="coarse", k=4, recoding="global", seed=0)
@given(
    rows=st.integers(60, 400),
    first=st.sampled_from(sorted(LINKS)),
    second=st.sampled_from(sorted(LINKS)),
    k=st.integers(2, 6),
    recoding=st.sampled_from(["local", "global", "cells"]),
    seed=st.integers(0, 10_000),
)
def test_what_can_be_read_back_is_what_is_said(
    rows: int, first: str, second: str, k: int, recoding: str, seed: int
) -> None:
    draw = np.random.default_rng(seed)
    place, job = draw.choice(LEAVES, rows), draw.choice(LEAVES, rows, p=[0.4, 0.2, 0.15, 0.1, 0.1, 0.05])
    table = pl.DataFrame(
        {"place": place, "job": job, "one": LINKS[first](draw, place), "two": LINKS[second](draw, job)}
    )
    figure = shoal.anonymise(table, policy(ACCEPT_ALL, k=k, recoding=recoding), seed=seed)
    assert figure.manifest.risk.k_effective == Recount(table, figure.data, ("place", "job"), ("one", "two")).k()
    safe = shoal.anonymise(table, policy("read_back: {found: suppress}", k=k, recoding=recoding), seed=seed)
    recounted = Recount(table, safe.data, ("place", "job"), ("one", "two")).k()
    # Suppressed as far as the policy's k asks for; what was learnt before a cell was suppressed stays known.
    assert min(k, safe.manifest.risk.k) <= safe.manifest.risk.k_effective <= recounted


ONE = Policy.from_text(
    """
shoal: 1
name: missing
attributes:
  place: {role: quasi, hierarchy: {taxonomy: {tree: {a: [a1, a2], b: [b1, b2]}}}}
  one: {role: insensitive}
privacy: [{k_anonymity: {k: 3}}]
read_back: {found: suppress}
"""
)


def with_missing() -> pl.DataFrame:
    """``one`` tells the place, and three people have none."""
    place = ["a1"] * 40 + ["a2"] * 2 + ["b1"] * 40 + ["b2"] * 2 + [None] * 3
    return pl.DataFrame({"place": place, "one": ["x" if each is None else each.upper() for each in place]}).sample(
        fraction=1, shuffle=True, seed=2
    )


def test_a_class_of_missing_values_is_a_class() -> None:
    """A missing value of the only quasi-identifier is no star."""
    release = shoal.anonymise(with_missing(), ONE, seed=1)
    assert release.risk.k == 3
    assert release.manifest.risk.k_effective == 3
