"""A newcomer's way on every table at hand: what is suggested runs, its k holds for whoever reads back, and it is safe.

The recount is written anew, by the rule as the documentation states it; only the levels of the hierarchies are taken
from the policy. Released records are told apart by a token that a second run carries along.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.cli import main
from shoal.discover.suggestion.policy_draft import suggest
from shoal.discover.table_profile import profile
from shoal.examples import hospital
from shoal.hierarchy.kinds.flat import FlatHierarchy
from shoal.io.frames import source_at
from shoal.policy import Policy, UseCase
from shoal.schema.type_detection import detect

pytestmark = pytest.mark.requirement("D-07", "S-01", "R-04")

QUICK = (
    "adult/adult_subset.csv",
    "presidio_research/nationalities.csv",
    "sdcmicro/CASCrefmicrodata.csv",
    "sdcmicro/EIA.csv",
    "sdcmicro/Tarragona.csv",
    "sdcmicro/casc1.csv",
    "sdcmicro/francdat.csv",
    "sdcmicro/free1.csv",
    "sdcmicro/microData.csv",
    "sdcmicro/testdata.csv",
    "sdcmicro/testdata2.csv",
    "synthea/allergies.csv",
    "synthea/careplans.csv",
    "synthea/conditions.csv",
    "synthea/organizations.csv",
    "synthea/patients.csv",
    "synthea/providers.csv",
)
LONG = (
    "presidio_research/FakeNameGenerator.com_3000.csv",
    "adult/adult.csv",
    "fars/fars.csv",
    "fars/fars_subset.csv",
    "synthea/encounters.csv",
    "synthea/medications.csv",
)
NO_TABLE = "presidio_research/companies_and_organizations.csv"
TOKEN, SEED = "token", 5
BEFORE = " before"
RECORDS, SHARE = 10, 0.95


def test_no_table_is_left_out(shared: Path) -> None:
    """Hierarchies aside; and a file whose rows have more cells than its header is refused."""
    there = {str(path.relative_to(shared / "data")) for path in (shared / "data").rglob("*.csv")}
    assert {name for name in there if "hierarchy" not in name} == {*QUICK, *LONG, NO_TABLE}


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)])
def test_what_is_suggested_holds_and_is_safe(shared: Path, tmp_path: Path, name: str) -> None:
    goes_well(shared / "data" / name, tmp_path)


def test_the_same_of_the_table_that_comes_with_shoal(tmp_path: Path) -> None:
    hospital.write(tmp_path / "hospital.csv")
    goes_well(tmp_path / "hospital.csv", tmp_path)


def test_the_policy_that_comes_with_it_is_as_good(tmp_path: Path) -> None:
    hospital.write(tmp_path / "hospital.csv")
    (tmp_path / "hospital.yaml").write_text(hospital.policy())
    runs_safely(tmp_path / "hospital.csv", tmp_path / "hospital.yaml", tmp_path)


def goes_well(data: Path, folder: Path) -> None:
    policy = folder / "policy.yaml"
    assert run("suggest", data, "-o", policy) == 0
    runs_safely(data, policy, folder)
    recounted(data, folder)


def runs_safely(data: Path, policy: Path, folder: Path) -> None:
    assert run("run", policy, "-o", folder / "release", "--seed", SEED) == 0
    risk = json.loads((folder / "release" / "release.json").read_text())["risk"]
    assert risk["k_effective"] == risk["k"] >= 5
    assert run("attack", folder / "release", "--original", data, "--policy", policy, "--safe", "--seed", SEED) == 0


def run(*arguments: object) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["shoal", *(str(each) for each in arguments)])
        try:
            main()
        except SystemExit as ended:
            return int(ended.code or 0)
    return 0


def recounted(data: Path, folder: Path) -> None:
    """The same policy on the same table with a token for each record, by which the released ones are found again."""
    source = source_at(str(data))
    table = source.scan().collect()
    draw = random.Random(SEED)
    table = table.with_columns(pl.Series(TOKEN, [f"{draw.getrandbits(64):016x}" for _ in range(table.height)]))
    text = suggest(profile(source.scan()), name="recount", use_case=UseCase.EXTERNAL_SHARING).text
    text = text.replace("\nattributes:\n", f"\nattributes:\n  {TOKEN}: {{role: insensitive}}\n", 1)
    policy = Policy.from_text(text)
    released = shoal.anonymise(table, policy, seed=SEED)
    before = table.select(TOKEN, pl.exclude(TOKEN).name.suffix(BEFORE))
    both = released.data.join(before, on=TOKEN, maintain_order="left")
    assert both.height == table.height
    found = Recount.of(both, policy, table)
    assert found.k({name: pl.col(name).cast(pl.String) for name in found.quasi}) == released.manifest.risk.k
    assert found.k_effective() == released.manifest.risk.k_effective


@dataclass
class Recount:
    """``ladders`` has for each generalised attribute the labels of each record's original value, the finest first."""

    table: pl.DataFrame
    quasi: tuple[str, ...]
    tellers: tuple[str, ...]
    ladders: Mapping[str, list[pl.Series]]
    person: pl.Series | None

    @classmethod
    def of(cls, both: pl.DataFrame, policy: Policy, table: pl.DataFrame) -> Recount:
        shown = [name for name in policy.attributes if name in both.columns and name != TOKEN]
        quasi = tuple(name for name in policy.quasi_identifiers if name in shown)
        ladders = {name: list(_ladder(policy, name, both, table)) for name in quasi}
        person = None if policy.person is None else both[policy.person + BEFORE]
        return cls(both, quasi, tuple(name for name in shown if name not in quasi), ladders, person)

    def k(self, labels: Mapping[str, pl.Expr | pl.Series]) -> int:
        frame = self.table.select(**labels) if self.person is None else self.table.select(**labels, __who=self.person)
        told = frame.filter(~pl.all_horizontal(pl.col(name).eq_missing("*") for name in self.quasi))
        size = pl.len() if self.person is None else pl.col("__who").n_unique()
        return int(told.group_by(self.quasi).agg(size.alias("n"))["n"].min() or table_of(frame, self.person))  # type: ignore[arg-type]

    def k_effective(self) -> int:
        return self.k({name: self.restored(name) for name in self.quasi})

    def restored(self, name: str) -> pl.Series:
        ladder = self.ladders[name]
        released = self.table[name].cast(pl.String)
        if all(released.eq_missing(ladder[0])):
            return released
        best, label = pl.Series([len(ladder)] * self.table.height), released
        for columns in self.sets(name):
            for place, said in self.told(columns, name):
                finer = self.finer(name, released, place, said)
                better = finer & (best > place)
                label = said.zip_with(better, label)
                best = pl.Series([place] * len(best)).zip_with(better, best)
        return label

    def sets(self, name: str) -> Iterator[tuple[str, ...]]:
        yield from ((other,) for other in self.tellers)
        yield from combinations(self.tellers, 2)
        yield from ((other, beside) for other in self.tellers for beside in self.quasi if beside != name)

    def told(self, columns: tuple[str, ...], name: str) -> Iterator[tuple[int, pl.Series]]:
        """Per level the label that the columns tell of each record, where they do and tell no finer one."""
        done = pl.Series([False] * self.table.height)
        for place, labels in enumerate(self.ladders[name]):
            frame = self.table.select(pl.col(each).cast(pl.String) for each in columns).with_columns(__label=labels)
            counted = frame.group_by(*columns, "__label").agg(pl.len().alias("n"))
            groups = counted.sort("n", "__label", descending=[True, False]).group_by(columns, maintain_order=True)
            best = groups.agg(pl.col("__label").first(), top=pl.col("n").first(), n=pl.col("n").sum())
            tells = best.filter((pl.col("n") >= RECORDS) & (pl.col("top") >= SHARE * pl.col("n")))
            tells = tells.join(self.of_several(columns), on=columns, how="semi", nulls_equal=True)
            said = frame.join(tells, on=columns, how="left", nulls_equal=True, maintain_order="left")["__label_right"]
            common = labels.value_counts().filter(pl.col("count") >= SHARE * len(labels))[labels.name].to_list()
            yield place, said.set(done | said.is_in(common).fill_null(value=False), None)
            done |= said.is_not_null()

    def of_several(self, columns: tuple[str, ...]) -> pl.DataFrame:
        """What one person alone has identifies them by itself, and tells nothing."""
        frame = self.table.select(pl.col(each).cast(pl.String) for each in columns)
        who = pl.Series(range(frame.height)) if self.person is None else self.person
        people = frame.with_columns(__who=who).group_by(columns).agg(pl.col("__who").n_unique())
        return people.filter(pl.col("__who") > 1)

    def finer(self, name: str, released: pl.Series, place: int, said: pl.Series) -> pl.Series:
        """Whether the released label is one that a wider level gives to what is told."""
        ladder = self.ladders[name]
        above = pl.Series([False] * len(released))
        for wider in ladder[place + 1 :]:
            pairs = pl.DataFrame({"said": ladder[place], "wide": wider}).unique()
            asked = pl.DataFrame({"said": said, "wide": released})
            above |= asked.join(pairs.with_columns(there=True), on=["said", "wide"], how="left", maintain_order="left")[
                "there"
            ].fill_null(value=False)
        return said.is_not_null() & (above | (released == "*"))


def table_of(frame: pl.DataFrame, person: pl.Series | None) -> int:
    """Where nothing is told of anybody, all are alike."""
    return frame.height if person is None else person.n_unique()


def _ladder(policy: Policy, name: str, both: pl.DataFrame, table: pl.DataFrame) -> Iterator[pl.Series]:
    before = both[name + BEFORE]
    counted = table[name].value_counts(name="records").rename({name: "value"})
    column = detect(table.lazy(), [name])[name]
    bound = (policy.attributes[name].hierarchy or FlatHierarchy()).bind(column, counted)
    yield before.cast(pl.String).alias("label")
    for level in range(1, bound.height):
        yield bound.generalise(before, level).cast(pl.String).alias("label")
