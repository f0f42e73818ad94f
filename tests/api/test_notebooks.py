"""What a notebook shows of a result: the figures, escaped, and no value of the original."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.text import Annotator

NAME = "Zaphod Beeblebrox"
TABLE = pl.DataFrame(
    {"who<b>": [NAME, "Tricia McMillan", "Arthur Dent", "Ford Prefect"], "age": [81_001, 81_002, 81_003, 81_004]}
)
POLICY = {
    "shoal": 1,
    "name": "hitchhikers",
    "attributes": {
        "who<b>": {"role": "direct"},
        "age": {"role": "quasi", "hierarchy": {"intervals": {"widths": [100_000]}}},
    },
    "privacy": [{"k_anonymity": {"k": 2}}],
    "assess": {"harm": "high", "motive": "high", "controls": "low"},
}


@pytest.fixture(scope="module")
def results() -> dict[str, object]:
    released = shoal.anonymise(TABLE, POLICY, seed=1)
    profile = shoal.profile(TABLE)
    return {
        "release": released,
        "measured": shoal.measure(TABLE, quasi=["who<b>", "age"], require="k=2"),
        "attacked": shoal.attack(released, TABLE, seed=1),
        "explored": shoal.explore(POLICY, TABLE, ks=[2], limits=[0], recodings=["global"]),
        "profile": profile,
        "suggestion": shoal.suggest(profile, use_case="internal-deidentified"),
        "scan": shoal.scan(TABLE),
        "check": shoal.check(POLICY, TABLE),
        "plan": shoal.plan(POLICY, TABLE),
        "scrubbed": shoal.scrub("Mail arthur@dent.org & ask.", annotator=Annotator()),
    }


RESULTS = (
    "release", "measured", "attacked", "explored", "profile", "suggestion", "scan", "check", "plan", "scrubbed",
)  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_no_value_of_the_original_and_nothing_unescaped(name: str, results: dict[str, object]) -> None:
    html = results[name]._repr_html_()  # type: ignore[attr-defined]
    for shown in (repr(results[name]), str(results[name]), html):
        assert not any(value in shown for value in ("Zaphod", "Dent", "Tricia", "81001", "81_001", "81004"))
    assert "<b>who" not in html
    assert "who<b>" not in html
    assert html.startswith("<div")
    assert "<script" not in html
    assert html.count("<table") == html.count("</table>")


@pytest.mark.parametrize("name", set(RESULTS) - {"scrubbed"})
def test_a_result_fits_on_a_line(name: str, results: dict[str, object]) -> None:
    assert "\n" not in repr(results[name])
    assert len(repr(results[name])) < 160
    assert repr(results[name]).startswith(f"<{type(results[name]).__name__}")


def test_a_release_shows_its_figures_and_its_verdicts(results: dict[str, object]) -> None:
    html = results["release"]._repr_html_()  # type: ignore[attr-defined]
    for part in ("hitchhikers", "k: <b>4</b>", "loss: <b>", "suppressed: <b>0</b>", "✓ met", "0-99999"):
        assert part in html
    assert "✗ not met" in html, "the threshold of the declared harm fails, and that is said beside the models"


def test_of_a_long_table_the_first_records_are_shown() -> None:
    policy = POLICY | {"solve": {"levels": {"age": 1}}}
    released = shoal.anonymise(pl.concat([TABLE] * 500), policy, seed=1)
    assert released._repr_html_().count("0-99999") == 5
