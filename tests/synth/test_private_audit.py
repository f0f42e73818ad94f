"""The stochastic tester on private methods, with a nasty neighbour; faults that are planted are found.

Models are fitted anew hundreds of times (thousands in the slow tests) with and without one person, and what they tell
is audited at the δ that they state. δ is large here, so that few fits show much.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.synth.private_tables import DRAWN, PRIVATE, categories, drawn_by, many

from shoal.dp.auditing import AuditFinding, audited
from shoal.dp.opendp_measurements import ConcentratedKeyRelease, GaussianNoise
from shoal.randomness import Randomness
from shoal.synth import domain_discovery
from shoal.synth.method import Arrays, FitOptions, SynthesisModel, synthesis_method, synthesis_methods

pytestmark = pytest.mark.requirement("T-25")

EPSILON, DELTA = 1.0, 0.05
OTHERS = pl.DataFrame({"town": ["a", "b"] * 40, "job": ["x", "x", "x", "y"] * 20})
NASTY = pl.DataFrame({"town": ["z"], "job": ["w"]})
PUBLIC = {"description": categories(town="abz", job="xyw")}
FEW, MANY = 20, 1_000
TABLES = 150


def found_in(method: str, times: int, *, public: bool, epsilon: float = EPSILON) -> AuditFinding:
    options: dict[str, Any] = {"epsilon": epsilon, "delta": DELTA, **(PUBLIC if public else {})}
    names = {"town": "abz", "job": "xyw"}
    sides = [many(frame, times, names, method, **options) for frame in (OTHERS, pl.concat([OTHERS, NASTY]))]
    return audited(*sides, delta=DELTA)


@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("method", PRIVATE)
def test_no_nasty_neighbour_refutes_a_method(method: str, public: bool) -> None:
    found = found_in(method, FEW, public=public)
    assert not found.refutes(EPSILON), found


@pytest.mark.slow
@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("method", PRIVATE)
def test_thousands_of_fits(method: str, public: bool) -> None:
    found = found_in(method, MANY, public=public)
    assert not found.refutes(EPSILON), found


def with_part_of_the_noise(part: float) -> type[GaussianNoise]:
    class LittleNoise(GaussianNoise):
        def add(self, values: Any) -> list[int]:
            return GaussianNoise(self.sensitivity * part, self.rho).add(values)

    return LittleNoise


def found_in_one_column(times: int) -> AuditFinding:
    """Whose counts are all that is told, so they get the whole budget."""
    frames = [OTHERS.select("town"), pl.concat([OTHERS, NASTY]).select("town")]
    options: dict[str, Any] = {"epsilon": EPSILON, "delta": DELTA, "description": categories(town="abz")}
    return audited(*(many(one, times, {"town": "abz"}, "network", **options) for one in frames), delta=DELTA)


def test_too_little_noise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domain_discovery, "GaussianNoise", with_part_of_the_noise(1 / 8))
    assert found_in_one_column(200).refutes(EPSILON)


@pytest.mark.slow
def test_half_the_noise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not found_in_one_column(3_000).refutes(EPSILON)
    monkeypatch.setattr(domain_discovery, "GaussianNoise", with_part_of_the_noise(1 / 2))
    assert found_in_one_column(3_000).refutes(EPSILON)


class _NoThreshold(ConcentratedKeyRelease):
    def released(self, counts: Any) -> dict[str, int]:
        return dict(counts)


@pytest.mark.parametrize("method", ["network", pytest.param("marginals", marks=pytest.mark.slow)])
def test_an_exact_domain_is_found(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domain_discovery, "ConcentratedKeyRelease", _NoThreshold)
    assert found_in(method, 150, public=False).refutes(EPSILON)


@dataclass(frozen=True)
class CopyingModel:
    """Draws as another model does, but one record in a hundred is a copy."""

    inner: SynthesisModel
    originals: pl.DataFrame
    method: str = "copying"

    def sample(self, rows: int, randomness: Randomness, first: int = 0) -> pl.DataFrame:
        drawn = self.inner.sample(rows, randomness, first)
        chance = randomness.stream("copies").uniform(np.arange(rows // 100, dtype=np.uint64))
        return pl.concat([self.originals[(chance * self.originals.height).astype(np.int64)], drawn[rows // 100 :]])

    def inspect(self) -> dict[str, Any]:
        return self.inner.inspect()

    def saved(self) -> tuple[dict[str, Any], Arrays]:
        return self.inner.saved()


@pytest.fixture
def copying(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method like any other, asked for by its name, of which nothing says that it copies."""
    honest = synthesis_method("network")

    def fit_and_keep(frame: pl.DataFrame, options: FitOptions) -> SynthesisModel:
        return CopyingModel(honest.fit(frame, options), frame)

    known = {**dict(synthesis_methods), "copying": replace(honest, fit=fit_and_keep)}
    monkeypatch.setattr(synthesis_methods, "get", known.get)


def found_in_tables(method: str, times: int, epsilon: float = EPSILON) -> AuditFinding:
    """By what a recipient gets: tables that were drawn, each from a model of its own."""
    sides = [
        drawn_by(method, frame.select("town"), times, {"town": "z"}, epsilon=epsilon, delta=1e-9)
        for frame in (OTHERS, pl.concat([OTHERS, NASTY]))
    ]
    return audited(*sides, delta=1e-9)


@pytest.mark.usefixtures("copying")
def test_a_generator_that_copies_one_record_in_a_hundred_is_found() -> None:
    """One of 81 people is among 160 copies in seven of eight tables; the same check lets the original pass."""
    assert found_in_tables("copying", TABLES).refutes(EPSILON)
    assert not found_in_tables("network", TABLES).refutes(EPSILON)


@pytest.mark.parametrize("method", ["marginals", pytest.param("deep", marks=pytest.mark.slow)])
def test_tables_of_no_method_are_refuted(method: str) -> None:
    if method == "deep":
        pytest.importorskip("torch")
    assert not found_in_tables(method, TABLES // 5).refutes(EPSILON)


@pytest.mark.parametrize("method", PRIVATE)
def test_a_column_of_which_nothing_is_told_is_empty(method: str) -> None:
    """Nobody's town stands out of the noise of so small a budget, and there is no other column."""
    model = synthesis_method(method).fit(OTHERS.select("town"), FitOptions(epsilon=0.01, delta=1e-9))
    drawn = model.sample(5, Randomness(1))
    assert drawn.columns == ["town"]
    assert not set(drawn["town"]) & {"a", "b"}


def membership(method: str, epsilon: float, times: int) -> float:
    """How often somebody who knows all others tells by a table whether one person is among them; a coin has 0.5."""
    sides = [
        drawn_by(method, frame, times, {"town": "z", "job": "w"}, epsilon=epsilon, delta=1e-9, **PUBLIC)[:, :2].sum(1)
        for frame in (OTHERS, pl.concat([OTHERS, NASTY]))
    ]
    cut = DRAWN / len(OTHERS)
    return float(((sides[0] < cut).mean() + (sides[1] >= cut).mean()) / 2)


@pytest.mark.parametrize(
    "method", ["network", *(pytest.param(one, marks=pytest.mark.slow) for one in ("marginals", "deep"))]
)
def test_membership_is_told_at_a_hundred_and_not_at_one(method: str) -> None:
    if method == "deep":
        pytest.importorskip("torch")
    assert membership(method, 100.0, 60) > 0.85
    assert 0.3 < membership(method, 1.0, 60) < 0.7
