"""The same table next month: what both releases say together keeps k and l, by definition."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.crypto import Key
from shoal.errors import DataError, InfeasibleError, InputError, SourceError, TargetError
from shoal.io import Source
from shoal.io.frames import source_at
from shoal.policy import Policy
from shoal.pseudonyms.person_marks import PersonMarks
from shoal.release.earlier_classes import earlier_classes
from shoal.release.membership import MembershipList, MembershipTarget
from shoal.release.request import RunRequest
from shoal.release.run import Release, Run

POLICY = """
shoal: 1
name: monthly
person: id
attributes:
  id: {role: direct, technique: suppress}
  age: {role: quasi, hierarchy: {intervals: {widths: [5, 10, 20], origin: %d}}}
  town: {role: quasi}
  ill: {role: sensitive}
  mark: {role: insensitive}
privacy:
  - k_anonymity: {k: 3}
  - l_diversity: {attribute: ill, l: 2, kind: distinct}
solve: {suppression_limit: %s, drop_suppressed: true}
"""
ILLS = ["flu", "gout", "none"]
MARKS, OTHERS = PersonMarks(Key(bytes(32))), PersonMarks(Key(bytes([1] * 32)))


def table(rows: list[tuple[int, int, str, str]]) -> pl.DataFrame:
    """``mark`` follows nobody's choice and tells, in the test only, whose record it is."""
    frame = pl.DataFrame(rows, schema=["id", "age", "town", "ill"], orient="row")
    return frame.with_columns(mark=pl.format("m{}", "id"))


def released(
    folder: Path,
    frame: pl.DataFrame,
    *,
    origin: int = 0,
    limit: float = 0.9,
    after: dict[Path, Path] | None = None,
    members: bool = False,
) -> Release:
    source = folder.with_suffix(".csv")
    frame.write_csv(source)
    policy = Policy.from_text(POLICY % (origin, limit))
    earlier = None
    if after:
        opened = {place: read_back(data) for place, data in after.items()}
        earlier = earlier_classes(policy, opened, marks=MARKS)
    target = MembershipTarget(folder.with_suffix(".members"), MARKS) if members else None
    request = RunRequest(policy=policy, data=str(source), output=folder, seed=1, earlier=earlier, members=target)
    return Run(request).execute()


def read_back(place: Path) -> Source | MembershipList:
    return MembershipList.read(place) if place.suffix == ".members" else source_at(str(place))


def classes(folder: Path) -> dict[str, tuple[str, str]]:
    rows = pl.read_csv(folder / "data.csv", infer_schema=False).to_dicts()
    return {row["mark"]: (row["age"], row["town"]) for row in rows}


def joint_groups(*folders: Path) -> dict[tuple[object, ...], list[str]]:
    """People by their class in each release, or none."""
    told = [classes(folder) for folder in folders]
    groups: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for mark in set().union(*told):
        groups[tuple(one.get(mark) for one in told)].append(mark)
    return groups


def two_months(seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """People stay, leave, come, grow older and move."""
    draw = np.random.default_rng(seed)

    def month(people: range) -> list[tuple[int, int, str, str]]:
        return [
            (person, int(draw.integers(20, 60)), str(draw.choice(["a", "b"])), str(draw.choice(ILLS)))
            for person in people
        ]

    first = month(range(int(draw.integers(60, 100))))
    left = set(draw.integers(0, 100, int(draw.integers(0, 6))).tolist())
    stay = [row for row in first if row[0] not in left]
    changed = [(row[0], row[1] + 1, "a", row[3]) if draw.random() < 0.05 else row for row in stay]
    return table(first), table(changed + month(range(100, 100 + int(draw.integers(0, 12)))))


def small_months(seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Of so few people that often nothing is left of what is told, and one illness is nearly everybody's."""
    draw = np.random.default_rng(seed)

    def person(number: int) -> tuple[int, int, str, str]:
        town, ill = str(draw.choice(["a", "b"])), str(draw.choice(ILLS, p=[0.8, 0.1, 0.1]))
        return number, int(draw.integers(20, 60)), town, ill

    first = [person(number) for number in range(int(draw.integers(3, 40)))]
    stay = [row for row in first if draw.random() > 0.15]
    changed = [person(row[0]) if draw.random() < 0.2 else row for row in stay]
    return table(first), table(changed + [person(100 + one) for one in range(int(draw.integers(0, 12)))])


@pytest.mark.requirement("R-08")
@pytest.mark.parametrize("seed", [*range(20), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(20, 300))])
def test_few_people_stay_among_k_or_are_not_released(tmp_path: Path, seed: int) -> None:
    months = small_months(seed)
    try:
        released(tmp_path / "march", months[0], limit=(0.3, 0.9)[seed % 2])
        after = {tmp_path / "march": tmp_path / "march.csv"}
        released(tmp_path / "april", months[1], origin=3 * (seed % 2), limit=(0.9, 1.0)[seed % 2], after=after)
    except InfeasibleError:
        return
    for marks in joint_groups(tmp_path / "march", tmp_path / "april").values():
        assert len(marks) >= 3, "somebody is among fewer than k"


def random_months(seed: int, number: int) -> list[pl.DataFrame]:
    """Few people, month after month: some leave, some come back, some change, some are new."""
    draw = np.random.default_rng(seed)

    def person(number: int) -> tuple[int, int, str, str]:
        town, ill = str(draw.choice(["a", "b"])), str(draw.choice(ILLS, p=[0.6, 0.2, 0.2]))
        return number, int(draw.integers(20, 60)), town, ill

    everybody = {one: person(one) for one in range(int(draw.integers(12, 60)))}
    months = []
    for _ in range(number):
        months.append(table([row for row in everybody.values() if draw.random() > 0.12]))
        everybody = {one: person(one) if draw.random() < 0.1 else row for one, row in everybody.items()}
        new = range(len(everybody), len(everybody) + int(draw.integers(0, 8)))
        everybody |= {one: person(one) for one in new}
    return months


def month_by_month(folder: Path, seed: int) -> list[Path]:
    """Each month with all earlier ones in view; the first by its table, the others by lists. As far as they go."""
    after: dict[Path, Path] = {}
    for place, frame in enumerate(random_months(seed, 3 + seed % 2)):
        here = folder / f"month-{place}"
        try:
            released(here, frame, origin=3 * (place % 2), limit=(0.3 if place == 0 else 1.0), after=after, members=True)
        except InfeasibleError:
            continue
        after[here] = here.with_suffix(".members" if place or seed % 3 else ".csv")
    return list(after)


@pytest.mark.requirement("R-08")
@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 300))])
def test_month_after_month_everybody_stays_among_k(tmp_path: Path, seed: int) -> None:
    """Whoever holds all releases and knows who is in which is left with k people at least, and of those in the last one
    with l illnesses.
    """
    folders = month_by_month(tmp_path, seed)
    last = random_months(seed, 3 + seed % 2)[int(folders[-1].name.removeprefix("month-")) if folders else 0]
    ills = {row["mark"]: row["ill"] for row in last.to_dicts()}
    for places, marks in joint_groups(*folders).items():
        assert len(marks) >= 3, f"somebody is among {len(marks)} in {len(folders)} releases: {places}"
        if places[-1] is not None:
            assert len({ills[mark] for mark in marks}) >= 2, "somebody's illness is certain"


def test_months_do_follow_each_other(tmp_path: Path) -> None:
    """That so much is refused that nothing can go wrong would be no proof."""
    made = []
    for seed in (1, 3, 5):
        (tmp_path / str(seed)).mkdir()
        made.append(len(month_by_month(tmp_path / str(seed), seed)))
    assert max(made) == 4 and sum(made) >= 9


@pytest.mark.requirement("R-08")
def test_a_third_month_follows_a_second_that_left_people_out(tmp_path: Path) -> None:
    march, april = two_months(11)
    released(tmp_path / "march", march, limit=0.05, members=True)
    after = {tmp_path / "march": tmp_path / "march.csv"}
    second = released(tmp_path / "april", april, origin=3, after=after, members=True)
    assert second.manifest.data.rows < april.height
    by_table = after | {tmp_path / "april": tmp_path / "april.csv"}
    with pytest.raises(DataError, match="sample"):
        released(tmp_path / "may", april, origin=3, after=by_table)
    by_list = after | {tmp_path / "april": tmp_path / "april.members"}
    third = released(tmp_path / "may", april, origin=3, after=by_list)
    assert third.manifest.data.rows
    assert min(len(marks) for marks in joint_groups(*by_list, tmp_path / "may").values()) >= 3


@pytest.mark.requirement("R-08")
def test_a_list_holds_no_value_and_is_its_owners(tmp_path: Path) -> None:
    frame = table(spread(120)).with_columns(id=pl.format("patient-{}", "id"))
    released(tmp_path / "march", frame, members=True)
    path = tmp_path / "march.members"
    kept = pl.read_parquet(path)
    assert kept.columns == ["person", "class"]
    assert kept["person"].str.contains("^[0-9a-f]{32}$").all() and kept["person"].is_sorted()
    assert not any(text in path.read_bytes() for text in (b"patient", b"gout"))
    assert path.stat().st_mode & 0o777 == 0o600
    assert not any(path.name.encode() in file.read_bytes() for file in (tmp_path / "march").iterdir())
    assert kept["person"].to_list() == sorted(MARKS.of(frame["id"]).to_list())
    assert set(kept["person"]).isdisjoint(OTHERS.of(frame["id"]).to_list())


def test_a_list_of_another_release_or_key_is_refused(tmp_path: Path) -> None:
    released(tmp_path / "march", table(spread(120)), members=True)
    released(tmp_path / "april", table(spread(90)), members=True)
    with pytest.raises(DataError, match="another release"):
        released(tmp_path / "may", table(spread(90)), after={tmp_path / "march": tmp_path / "april.members"})
    policy = Policy.from_text(POLICY % (0, 0.9))
    listed = {tmp_path / "march": MembershipList.read(tmp_path / "march.members")}
    with pytest.raises(InputError, match="another vault"):
        earlier_classes(policy, listed, marks=OTHERS)
    with pytest.raises(InputError, match="key of the vault"):
        earlier_classes(policy, listed)
    (tmp_path / "x.members").write_text("a,b")
    with pytest.raises(SourceError, match="no list"):
        MembershipList.read(tmp_path / "x.members")
    with pytest.raises(SourceError, match="no such"):
        MembershipList.read(tmp_path / "y.members")


@pytest.mark.parametrize(
    ("path", "message"), [("march/a.members", "stays with you"), ("a.csv", "end with"), ("old.members", "already")]
)
def test_where_a_list_can_not_be_kept(tmp_path: Path, path: str, message: str) -> None:
    table(spread(60)).write_csv(tmp_path / "march.csv")
    (tmp_path / "old.members").touch()
    target = MembershipTarget(tmp_path / path, MARKS)
    asked = RunRequest(
        policy=Policy.from_text(POLICY % (0, 0.9)),
        data=str(tmp_path / "march.csv"),
        output=tmp_path / "march",
        members=target,
    )
    with pytest.raises((InputError, TargetError), match=message):
        Run(asked)
    assert not (tmp_path / "march").exists()


@pytest.mark.requirement("R-08")
def test_stars_are_a_class_of_the_earlier_release(tmp_path: Path) -> None:
    """Who was released as stars only can be told from who comes new."""
    march = [(one, 22 + 17 * one, "aba"[one], ILLS[one % 2]) for one in range(3)]
    released(tmp_path / "march", table(march), limit=0.3)
    assert set(classes(tmp_path / "march").values()) == {("*", "*")}
    newcomer = (100, 22, "a", "flu")
    after = {tmp_path / "march": tmp_path / "march.csv"}
    released(tmp_path / "april", table([*march, newcomer]), limit=0.9, after=after)
    assert "m100" not in classes(tmp_path / "april")


def test_a_release_of_some_of_the_people_is_refused(tmp_path: Path) -> None:
    """Who of those that fit a class is in it can't be told by their values."""
    march, _ = two_months(1)
    released(tmp_path / "march", march)
    march.vstack(march.with_columns(id=pl.col("id") + 1000)).write_csv(tmp_path / "more.csv")
    with pytest.raises(DataError, match="sample"):
        released(tmp_path / "april", march, after={tmp_path / "march": tmp_path / "more.csv"})


@pytest.mark.requirement("R-08")
@pytest.mark.parametrize("seed", range(6))
def test_people_who_left_came_or_changed_stay_among_k(tmp_path: Path, seed: int) -> None:
    months, origin = two_months(seed), 3 * (seed % 2)
    released(tmp_path / "march", months[0], limit=0.3)
    after = {tmp_path / "march": tmp_path / "march.csv"}
    second = released(tmp_path / "april", months[1], origin=origin, limit=0.9, after=after)
    ills = {row["mark"]: row["ill"] for row in months[1].to_dicts()}
    for (_, new), marks in joint_groups(tmp_path / "march", tmp_path / "april").items():
        assert len(marks) >= 3, "somebody is among fewer than k"
        if new is not None:
            assert len({ills[mark] for mark in marks}) >= 2, "somebody's illness is certain"
    told = second.manifest.earlier
    assert told is not None
    assert told.names == ("march",)
    assert told.loss >= told.loss_alone - 1e-9
    assert told.left_out == months[1].height - second.manifest.data.rows


def spread(number: int) -> list[tuple[int, int, str, str]]:
    return [(person, 20 + person * 7 % 40, "ab"[person % 2], ILLS[person % 3]) for person in range(number)]


@pytest.mark.requirement("R-08")
def test_alone_the_next_month_gives_people_away_and_in_view_it_does_not(tmp_path: Path) -> None:
    march, april = two_months(11)
    released(tmp_path / "march", march, limit=0.05)
    released(tmp_path / "alone", april, origin=3, limit=0.05)
    alone = Counter(len(marks) for marks in joint_groups(tmp_path / "march", tmp_path / "alone").values())
    assert min(alone) < 3
    after = {tmp_path / "march": tmp_path / "march.csv"}
    made = released(tmp_path / "april", april, origin=3, after=after)
    assert min(len(marks) for marks in joint_groups(tmp_path / "march", tmp_path / "april").values()) >= 3
    assert made.manifest.earlier is not None
    assert made.manifest.earlier.k >= 3
    assert 0 < made.manifest.earlier.left_out < april.height
    assert "__shoal" not in (tmp_path / "april" / "release.json").read_text()


def test_what_can_not_be_kept_is_refused(tmp_path: Path) -> None:
    released(tmp_path / "march", table(spread(120)))
    after = {tmp_path / "march": tmp_path / "march.csv"}
    newcomer = [*spread(120), (200, 33, "a", "gout")]
    with pytest.raises(InfeasibleError):
        released(tmp_path / "april", table(newcomer), limit=0.0, after=after)
    assert not (tmp_path / "april").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("person: id\n", "person"),
        ("recoding: local", "global"),
        ("found: suppress", "apart"),
    ],
)
def test_what_does_not_go_with_it_is_told(tmp_path: Path, change: str, message: str) -> None:
    released(tmp_path / "march", table(spread(120)))
    text = POLICY % (0, 1.0)
    changed = {
        "person: id\n": text.replace("person: id\n", ""),
        "recoding: local": text.replace("solve: {", "solve: {recoding: local, "),
        "found: suppress": text + "read_back: {found: suppress}\n",
    }[change]
    policy = Policy.from_text(changed)
    with pytest.raises(InputError, match=message):
        earlier = earlier_classes(policy, {tmp_path / "march": source_at(str(tmp_path / "march.csv"))})
        Run(
            RunRequest(policy=policy, data=str(tmp_path / "march.csv"), output=tmp_path / "april", earlier=earlier)
        ).execute()
