"""How few nodes are looked at, where a model says what no finer division can keep. Optima are those of all nodes."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.adult import ACCIDENTS, EIGHT, Adult, Fars

from shoal.privacy import Classes
from shoal.privacy.models.delta_presence import DeltaPresence
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.privacy.models.k_map import KMap
from shoal.privacy.models.lkc import Lkc
from shoal.privacy.models.t_closeness import ClosenessDistance, TCloseness
from shoal.solve import rollup, solve_lattice
from shoal.solve.rollup import Rollup

pytestmark = pytest.mark.requirement("S-01", "S-04", "S-07")

SEVEN = tuple(name for name in ACCIDENTS if name != "istatenum")
POPULATION = "everyone.csv"


@pytest.mark.parametrize(
    ("utility", "limit", "optimum", "looks"),
    [
        ("entropy", 0.0, 142414.2491, 60),
        ("loss", 0.0, 0.7775914762, 40),
        ("geometric_loss", 0.0, 0.7289394816, 40),
        ("loss", 0.05, 0.7417795169, 80),
    ],
)
def test_delta_presence_with_both_bounds(fars: Fars, utility: str, limit: float, optimum: float, looks: int) -> None:
    model = DeltaPresence(minimum=0.05, maximum=0.15, population=POPULATION)
    solution = solve_lattice(fars.problem(SEVEN, [model], limit=limit, of_subset=True), utility)
    assert solution.optimal
    assert solution.nodes_total == 5184
    assert solution.objective == pytest.approx(optimum, rel=1e-9)
    assert solution.nodes_checked <= looks


def test_k_map_with_a_population_table(fars: Fars) -> None:
    solution = solve_lattice(fars.problem(SEVEN, [KMap(k=5, population=POPULATION)], limit=0.05, of_subset=True))
    assert solution.objective == pytest.approx(0.1117230665, rel=1e-9)
    assert solution.nodes_checked <= 100


@pytest.mark.parametrize("distance", ClosenessDistance)
def test_t_closeness_needs_no_k_beside_it(adult: Adult, distance: ClosenessDistance) -> None:
    close = TCloseness(attribute="occupation", t=0.2, distance=distance)
    alone = adult.problem(EIGHT, [close], limit=0.05, sensitive=("occupation",))
    beside = adult.problem(EIGHT, [KAnonymity(k=5), close], limit=0.05, sensitive=("occupation",))
    assert alone.minimum_class.records > 1
    looks = solve_lattice(alone).nodes_checked
    assert looks <= 1.1 * solve_lattice(beside).nodes_checked


def test_nobody_is_looked_for_above_where_nothing_can_be_ruled_out(fars: Fars) -> None:
    close = TCloseness(attribute="istatenum", t=0.2, distance=ClosenessDistance.ORDERED)
    problem = fars.problem(SEVEN, [close], limit=1.0, sensitive=("istatenum",))
    solution = solve_lattice(problem, "average_class_size")
    assert solution.objective == pytest.approx(14.136834733893558)
    assert solution.nodes_checked < 800


def test_what_presence_leaves_room_for() -> None:
    sizes, population = np.array([4, 2, 1, 0]), np.array([10, 4, 100, 0])
    classes = Classes(sizes[:3], sizes[:3], population=population[:3])
    upper = DeltaPresence(maximum=0.3, population=POPULATION)
    assert upper.most_kept(classes).tolist() == [3, 1, 1]
    both = DeltaPresence(minimum=0.05, maximum=0.3, population=POPULATION)
    assert both.most_kept(classes).tolist() == [3, 1, 0]
    absent = Classes(sizes, sizes, population=np.array([10, 4, 100, 5]))
    assert both.most_kept(absent).tolist() == [0, 0, 0, 0]
    assert both.model_copy(update={"judge_absent": False}).most_kept(absent).tolist() == [3, 1, 1, 0]


def test_what_models_across_classes_leave_room_for() -> None:
    sizes = np.array([1, 2, 5])
    cells = np.array([[0, 0], [0, 1], [1, 1]])
    classes = Classes(sizes, sizes, attributes=("p", "q"), cells=cells)
    assert KAnonymity(k=4, attributes=("p",)).most_kept(classes).tolist() == [0, 0, 5]
    assert Lkc(l=1, k=3, c=1, attribute="s").most_kept(classes).tolist() == [0, 2, 5]
    assert KMap(k=3, population=POPULATION).most_kept(
        Classes(sizes, sizes, population=np.array([2, 3, 4]))
    ).tolist() == [0, 2, 4]


def test_columns_count_in_what_is_kept(adult: Adult, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollup, "KEPT_ENTRIES", 2_000_000)
    problem = adult.problem(EIGHT, [KAnonymity(k=5)])
    made = Rollup(problem)
    for level in range(4):
        for other in range(3):
            made.at((0, level, 0, 0, other, 0, 0, 0))
    for tables in (made._kept, made._anchors):
        numbers = sum(sum(codes.size for codes in table.codes) for table in tables.by_node.values())
        assert len(tables.by_node) == 1 or numbers <= 1_000_000
