"""Every privacy model with every utility measure: the optimum against brute force over the whole lattice."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.definitions import by_definition
from tests.support.lattice import MEASURES, SENSITIVE, check, nodes, problems
from tests.support.model_cases import declared_cases

from shoal.policy import Solve
from shoal.privacy import PrivacyModel, privacy_models
from shoal.privacy.models.alpha_k import AlphaK
from shoal.privacy.models.beta_likeness import BetaLikeness
from shoal.privacy.models.delta_disclosure import DeltaDisclosure
from shoal.privacy.models.delta_presence import DeltaPresence
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.privacy.models.k_map import KMap
from shoal.privacy.models.l_diversity import LDiversity
from shoal.privacy.models.lkc import Lkc
from shoal.privacy.models.p_sensitive import PSensitive
from shoal.privacy.models.population_uniqueness import PopulationUniqueness
from shoal.privacy.models.re_identification_risk import AverageRisk, MaximumRisk
from shoal.privacy.models.sample_uniqueness import SampleUniqueness
from shoal.privacy.models.t_closeness import TCloseness
from shoal.schema import Counts
from shoal.solve import Ladder, Problem, solve_lattice
from shoal.solve.global_recoding.lattice_search import LatticeSearch
from shoal.solve.utility import make_utility, utilities
from shoal.solve.utility.base import Bounds

pytestmark = pytest.mark.requirement("S-01", "S-02", "S-03", "S-04", "S-07")

POPULATION = "everyone.csv"
sensitive = st.just(SENSITIVE)
few = st.integers(1, 5)
share = st.sampled_from([0.1, 0.2, 0.25, 0.4, 0.5, 0.75, 1.0])

MODELS: dict[str, st.SearchStrategy[PrivacyModel]] = {
    "alpha_k": st.builds(AlphaK, attribute=sensitive, alpha=share, k=few),
    "average_risk": st.builds(AverageRisk, maximum=share),
    "beta_likeness": st.builds(
        BetaLikeness,
        attribute=sensitive,
        beta=st.sampled_from([0.1, 0.5, 1.0, 3.0]),
        kind=st.sampled_from(["basic", "enhanced"]),
    ),
    "delta_disclosure": st.builds(
        DeltaDisclosure, attribute=sensitive, delta=st.sampled_from([0.2, 0.5, 1.0, 2.0, 4.0])
    ),
    "delta_presence": st.builds(
        DeltaPresence,
        minimum=st.sampled_from([0.0, 0.1, 0.3]),
        maximum=st.sampled_from([0.3, 0.5, 0.8, 1.0]),
        population=st.just(POPULATION),
        judge_absent=st.booleans(),
    ),
    "k_anonymity": st.builds(KAnonymity, k=few, attributes=st.sampled_from([(), ("q0",)])),
    "k_map": st.builds(KMap, k=st.integers(1, 12), population=st.just(POPULATION))
    | st.builds(
        KMap,
        k=st.integers(1, 12),
        population_size=st.integers(40, 200),
        sample_size=st.integers(1, 40),
        significance=st.sampled_from([0.01, 0.1, 0.4]),
    ),
    "l_diversity": st.builds(LDiversity, attribute=sensitive, l=st.integers(1, 3), kind=st.just("distinct"))
    | st.builds(
        LDiversity,
        attribute=sensitive,
        l=st.sampled_from([1.0, 1.5, 1.8, 2.0, 2.5, 3.0]),
        kind=st.just("entropy"),
        estimator=st.sampled_from([None, "shannon", "grassberger"]),
    )
    | st.builds(
        LDiversity,
        attribute=sensitive,
        l=st.integers(1, 3),
        kind=st.just("recursive"),
        c=st.sampled_from([0.5, 1.0, 2.0, 3.5]),
    ),
    "lkc": st.builds(Lkc, attribute=sensitive, l=st.integers(1, 3), k=few, c=share),
    "maximum_risk": st.builds(MaximumRisk, maximum=share),
    "p_sensitive": st.builds(PSensitive, attribute=sensitive, p=st.integers(1, 3), k=few),
    "population_uniqueness": st.builds(
        PopulationUniqueness,
        maximum=st.sampled_from([0.0, 0.01, 0.05, 0.1]),
        population_size=st.sampled_from([20, 60, 1000]),
        model=st.sampled_from(["dankar", "pitman", "zayatz", "snb"]),
    ),
    "sample_uniqueness": st.builds(SampleUniqueness, maximum=st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0])),
    "t_closeness": st.builds(
        TCloseness,
        attribute=sensitive,
        t=st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.4, 0.5, 1.0]),
        distance=st.sampled_from(["equal", "hierarchical", "ordered"]),
    ),
    **{key: case.models for key, case in declared_cases().items()},
}

TAKE_SMALLEST = {"average_risk", "sample_uniqueness", "population_uniqueness"}


@pytest.mark.parametrize("key", MODELS)
@given(data=st.data())
@settings(max_examples=60)
def test_optimum_equals_brute_force(key: str, data: st.DataObject) -> None:
    model = data.draw(MODELS[key])
    rows = 9 if model.takes_smallest else 30
    problem = data.draw(problems([model], population=model.population_table is not None, most_rows=rows))
    check(problem, *MEASURES, judge=by_definition)


@pytest.mark.parametrize("utility", MEASURES)
@given(data=st.data())
@settings(max_examples=40)
def test_what_one_node_tells_of_others_is_never_too_much(utility: str, data: st.DataObject) -> None:
    """Bounds that are too high may hide the optimum, but seldom do on a small lattice: so each is looked at."""
    model = data.draw(st.one_of(strategy for key, strategy in MODELS.items() if key not in TAKE_SMALLEST))  # type: ignore[call-overload]
    problem = data.draw(problems([model], population=model.population_table is not None))
    measure = make_utility(utility, problem)
    costs = np.array([MEASURES[utility](node) if node.feasible else inf for node in nodes(problem)])
    enough = costs.reshape(measure.shape) * (1 + 1e-9) + 1e-9
    tighten = measure.tighten

    def watched(bounds: Bounds, *known: Any) -> None:
        before = bounds.copy()
        tighten(bounds, *known)
        assert (bounds <= enough)[bounds > before].all()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "tighten", watched)
        LatticeSearch(problem, measure).run()


def test_people_who_are_absent_may_break_a_lower_bound_higher_up() -> None:
    """Half of those like q = 1 are in the table; of all together only one in twelve."""
    records = np.array([0, 1])
    codes = np.array([[0], [1]], dtype=np.int32)
    counts = Counts(("q",), (pl.Series("q", [0, 1]),), codes, records, records)
    ladder = Ladder("q", (np.arange(2), np.zeros(2, dtype=np.int64)), (np.zeros(2), np.ones(2)), 0, 1, 2)
    model = DeltaPresence(minimum=0.3, maximum=0.8, population=POPULATION, judge_absent=False)
    beside = Ladder("r", (np.zeros(2, dtype=np.int64),) * 2, (np.zeros(2), np.ones(2)), 0, 1, 2)
    two = replace(counts, attributes=("q", "r"), values=(*counts.values, pl.Series("r", [0])), codes=codes * [1, 0])  # type: ignore[arg-type]
    problem = Problem(two, [ladder, beside], [model], population=np.array([10, 2]))
    assert solve_lattice(problem).levels == {"q": 0, "r": 0}


def test_no_model_is_left_out() -> None:
    assert set(MODELS) == set(privacy_models.names())


def test_no_measure_is_left_out() -> None:
    assert set(MEASURES) == set(utilities.names())


def test_all_that_a_policy_may_ask_for_can_be_minimised() -> None:
    asked = set(get_args(Solve.model_fields["utility"].annotation))
    assert asked == set(utilities.names()) - {"entropy_with_suppressed"}, "that one is for comparison with other tools"
