"""Each use case is asked with a typed request, which refuses what can't be and says which field it was."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from pydantic import ValidationError

import shoal
from shoal.assess.attack.request import AttackRequest
from shoal.assess.exploration import KS, ExploreRequest
from shoal.assess.measure.options import AssessmentOptions
from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.table_measurement import measure_data
from shoal.assess.measure.thresholds import FigureThreshold
from shoal.assess.reassess.request import ReassessRequest
from shoal.errors import InputError
from shoal.measurement.risk.linear_sensitivity import DominanceRule
from shoal.results.attack_roles import AttackRoles
from shoal.schema.requests import UseCaseRequest

ROLES = AttackRoles(("age",))
BAD: dict[str, tuple[type[UseCaseRequest], dict[str, object], str]] = {
    "text that is not parsed": (MeasureRequest, {"quasi": "age,sex"}, "quasi"),
    "a threshold as text": (MeasureRequest, {"quasi": ("age",), "require": ("k=5",)}, "require"),
    "something missing": (MeasureRequest, {}, "quasi"),
    "an option that there is not": (MeasureRequest, {"quasi": ("age",), "qi": "age"}, "qi"),
    "a reading that there is not": (AssessmentOptions, {"missing": "nothing"}, "missing"),
    "households without weights": (AssessmentOptions, {"household": "house"}, "household"),
    "nobody to try": (AttackRequest, {"original": "a.csv", "roles": ROLES, "trials": 0}, "trials"),
    "no original": (AttackRequest, {"roles": ROLES}, "original"),
    "a k that is no number": (ExploreRequest, {"ks": ("five",)}, "ks"),
    "a bound that is no number": (ReassessRequest, {"auxiliary": "a.csv", "require": {"k": "many"}}, "require"),
}


@pytest.mark.parametrize(("kind", "given", "field"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused_with_its_field(
    kind: type[UseCaseRequest], given: dict[str, object], field: str
) -> None:
    with pytest.raises(InputError) as raised:
        kind(**given)
    assert raised.value.field is not None
    assert raised.value.field.name == field
    assert str(raised.value).startswith(f"{field}: ")


def test_a_request_does_not_change() -> None:
    request = MeasureRequest(quasi=("age",))
    with pytest.raises(ValidationError, match="frozen"):
        request.person = "who"  # type: ignore[misc]  # that is the point
    assert request.model_copy(update={"person": "who"}).person == "who"


def test_text_is_parsed_into_values() -> None:
    request = MeasureRequest.parse(quasi="age, sex", require=["k=5"], rules=["dominance=1,0.8", "dominance=1,0.8"])
    assert request.quasi == ("age", "sex")
    assert request.require == (FigureThreshold("k", 5.0),)
    assert request.rules == (DominanceRule(1, 0.8),)
    assert ReassessRequest.parse("a.csv", require=["uniques=0"]).require == {"uniques": 0.0}
    assert ExploreRequest().ks == KS


def test_a_typed_request_measures_as_the_text_does(tmp_path: Path) -> None:
    table = pl.DataFrame({"age": [31, 31, 40, 40, 40], "pay": [1, 2, 3, 4, 90]})
    table.write_csv(tmp_path / "people.csv")
    typed = MeasureRequest(
        quasi=("age",), sensitive=("pay",), require=(FigureThreshold("k", 2),), rules=(DominanceRule(1, 0.8),)
    )
    text = MeasureRequest.parse(quasi="age", sensitive="pay", require=["k=2"], rules=["dominance=1,0.8"])
    found = measure_data(str(tmp_path / "people.csv"), typed)
    assert found.to_dict() == measure_data(str(tmp_path / "people.csv"), text).to_dict()
    assert found.met
    assert found.sensitivity["pay"].sensitive == 1
    assert shoal.measure(table, quasi=["age"]).k == found.k == 2
