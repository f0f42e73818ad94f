"""Which state of ISO/IEC 20889, table B.2, a release is in, whether it is still personal, what retention destroys."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import PolicyError
from shoal.policy import PRESETS, Policy, UseCase
from shoal.policy.data_state import DataState, state_of
from shoal.results.manifest import StateResult

pytestmark = pytest.mark.requirement("R-11")

NAMED = "{role: direct, technique: %s}"
POLICY = """\
shoal: 1
name: state
{more}
attributes:
  who: {who}
  age: {{role: quasi, hierarchy: {{intervals: {{widths: [10]}}}}}}
  pay: {{role: insensitive{pay}}}
"""
GROUPS = "aggregate: {by: [age], measures: {people: count}, minimum: 3}"
UNTOUCHED = "shoal: 1\nname: state\nattributes: {pay: {role: sensitive}}"


def policy(who: str = "{role: direct}", more: str = "", pay: str = "", k: int | None = 2) -> Policy:
    models = "" if k is None else f"privacy: [{{k_anonymity: {{k: {k}}}}}]\n"
    return Policy.from_text(POLICY.format(who=who, more=more, pay=pay) + models)


@pytest.mark.parametrize(
    ("asked", "lasting", "state", "personal"),
    [
        (policy(), False, DataState.ANONYMISED, False),
        (policy(k=None), False, DataState.UNLINKED, True),
        (policy(k=None, pay=", technique: {round: {base: 100}}"), False, DataState.ANONYMISED, False),
        (policy(NAMED % "{pseudonymise: {domain: d}}"), True, DataState.PSEUDONYMISED, True),
        (policy(NAMED % "{pseudonymise: {domain: d}}"), False, DataState.UNLINKED, False),
        (policy(NAMED % "{pseudonymise: {domain: d}}", k=None), False, DataState.UNLINKED, True),
        (policy(NAMED % "{mask: {keep_last: 4}}"), False, DataState.UNLINKED, False),
        (policy(NAMED % "{encrypt: {scheme: deterministic}}"), True, DataState.PSEUDONYMISED, True),
        (policy(more=GROUPS, k=None), False, DataState.AGGREGATED, False),
        (Policy.from_text(UNTOUCHED), False, DataState.IDENTIFIED, True),
    ],
)
def test_states_of_table_b2(asked: Policy, lasting: bool, state: DataState, personal: bool) -> None:
    found = state_of(asked, lasting=lasting)
    assert (found.state, found.still_personal) == (state, personal)
    assert ("still personal" in found.words) is personal


def test_use_case_1_of_the_pdpc_guide_is_still_personal_whatever_is_met() -> None:
    found = state_of(policy(more="use_case: internal-deidentified"), lasting=False)
    assert found.still_personal
    assert found.steps == (1, 2, 5)
    assert found.controls_needed
    assert not state_of(policy(more="use_case: internal-anonymised", k=3), lasting=False).still_personal


def test_what_speaks_against_a_release_makes_it_personal_again() -> None:
    found = state_of(policy(), lasting=False, against=("attacks succeed",))
    assert (found.state, found.still_personal) == (DataState.UNLINKED, True)
    assert "attacks succeed" in found.because
    assert "anonymised" not in found.words.replace("pseudonymised", "")


def people() -> pl.DataFrame:
    return pl.DataFrame({"who": [f"P{n}" for n in range(40)], "age": [20 + n % 10 for n in range(40)], "pay": [7] * 40})


def test_report_and_manifest_say_it(tmp_path: Path) -> None:
    people().write_csv(tmp_path / "people.csv")
    asked = policy(more="use_case: internal-deidentified")
    release = shoal.anonymise(tmp_path / "people.csv", asked, output=tmp_path / "release")
    told = json.loads((tmp_path / "release" / "release.json").read_text())["state"]
    assert told["qualifier"] == "unlinked_pseudonymised"
    assert told["still_personal"] is True
    assert told["steps"] == [1, 2, 5]
    assert 'class="verdict none"' in release.html
    assert "but the data are still personal" in release.html
    assert "still personal data" in (tmp_path / "release" / "recipient.html").read_text()


@pytest.mark.requirement("G-02")
@pytest.mark.parametrize(
    "leads_back",
    [
        {"who": NAMED % "{pseudonymise: {domain: d, reversible: true}}"},
        {"who": NAMED % "{pseudonymise: {domain: d, double_coding: true}}"},
        {"who": NAMED % "{encrypt: {scheme: deterministic}}"},
        {"more": "use_case: retention\nidentity: {domain: d, keep: [who]}"},
    ],
)
def test_retention_keeps_no_mapping_unless_it_says_until_when(leads_back: dict[str, str]) -> None:
    kept = {"more": "use_case: retention", "k": 3, **leads_back}
    with pytest.raises(PolicyError, match="has identity mappings destroyed"):
        policy(**kept)  # type: ignore[arg-type]
    dated = {**kept, "more": kept["more"] + "\nshred_on: 2999-12-31"}  # type: ignore[operator]
    found = state_of(policy(**dated), lasting=True)  # type: ignore[arg-type]
    assert StateResult.of(found).to_dict()["shred_on"] == "2999-12-31"
    with pytest.raises(PolicyError, match="has passed"):
        policy(**{**dated, "more": kept["more"] + "\nshred_on: 2001-01-01"})  # type: ignore[arg-type, operator]


@pytest.mark.requirement("G-02")
def test_a_public_release_has_a_higher_k_and_no_controls() -> None:
    asked = policy(more="use_case: public", k=None)
    others = [preset.k or 0 for case, preset in PRESETS.items() if case is not UseCase.PUBLIC]
    assert asked.models[0].required > max(others)
    with pytest.raises(PolicyError, match="there are none around public data"):
        policy(more="use_case: public\nassess: {harm: low, controls: high}", k=11)


@pytest.mark.requirement("G-02")
def test_a_public_release_in_memory_is_attacked_too() -> None:
    table = pl.concat([people()] * 5).with_columns(pay=pl.int_range(pl.len()) % 9)
    text = POLICY.format(who="{role: direct}", more="use_case: public", pay="").replace("insensitive", "sensitive")
    manifest = shoal.anonymise(table, Policy.from_text(text), seed=1).manifest
    assert manifest.attacks
    assert manifest.to_dict()["models"][0]["required"] == 11
