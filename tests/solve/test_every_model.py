"""Every privacy model with every utility measure: the optimum against brute force over the whole lattice."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.privacy import PrivacyModel, privacy_models
from shoal.privacy.alpha_k import AlphaK
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.delta_presence import DeltaPresence
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.k_map import KMap
from shoal.privacy.l_diversity import LDiversity
from shoal.privacy.lkc import Lkc
from shoal.privacy.p_sensitive import PSensitive
from shoal.privacy.population_uniqueness import PopulationUniqueness
from shoal.privacy.risk import AverageRisk, MaximumRisk
from shoal.privacy.sample_uniqueness import SampleUniqueness
from shoal.privacy.t_closeness import TCloseness
from shoal.solve.utility import Utility
from tests.support.definitions import by_definition
from tests.support.lattice import MEASURES, SENSITIVE, check, problems

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
}


@pytest.mark.parametrize("key", MODELS)
@given(data=st.data())
@settings(max_examples=50)
def test_optimum_equals_brute_force(key: str, data: st.DataObject) -> None:
    model = data.draw(MODELS[key])
    rows = 9 if model.takes_smallest else 30
    problem = data.draw(problems([model], population=model.population_table is not None, most_rows=rows))
    check(problem, MEASURES, by_definition)


def test_no_model_is_left_out() -> None:
    assert set(MODELS) == set(privacy_models.names())


def test_no_measure_is_left_out() -> None:
    assert set(MEASURES) == set(Utility.known)
