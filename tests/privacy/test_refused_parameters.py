"""Parameters that make no sense are refused, and it is said why."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from shoal.privacy import privacy_models

pytestmark = pytest.mark.requirement("S-02", "S-03", "S-04")

REFUSED: list[tuple[str, dict[str, object], str]] = [
    ("alpha_k", {"alpha": 0, "k": 2}, "greater than 0"),
    ("alpha_k", {"alpha": 1.1, "k": 2}, "less than or equal to 1"),
    ("alpha_k", {"alpha": 0.5, "k": 0}, "greater than or equal to 1"),
    ("alpha_k", {"alpha": 0.5}, "Field required"),
    ("beta_likeness", {"beta": 0, "kind": "basic"}, "greater than 0"),
    ("beta_likeness", {"beta": float("inf"), "kind": "basic"}, "finite"),
    ("beta_likeness", {"beta": 1, "kind": "other"}, "'basic' or 'enhanced'"),
    ("beta_likeness", {"beta": 1}, "Field required"),
    ("l_diversity", {"l": 0.5, "kind": "entropy"}, "greater than or equal to 1"),
    ("l_diversity", {"l": 2.5, "kind": "distinct"}, "l has to be a whole number"),
    ("l_diversity", {"l": 2.5, "kind": "recursive", "c": 1}, "l has to be a whole number"),
    ("l_diversity", {"l": 2, "kind": "recursive"}, "kind recursive needs c"),
    ("l_diversity", {"l": 2, "kind": "recursive", "c": 0}, "greater than 0"),
    ("l_diversity", {"l": 2, "kind": "entropy", "c": 2}, "kind entropy doesn't take c"),
    ("l_diversity", {"l": 2, "kind": "distinct", "estimator": "shannon"}, "kind distinct doesn't take an estimator"),
    ("l_diversity", {"l": 2, "kind": "recursive", "c": 1, "estimator": "shannon"}, "doesn't take an estimator"),
    ("l_diversity", {"l": 2, "kind": "other"}, "'distinct', 'entropy' or 'recursive'"),
    ("l_diversity", {"l": 2}, "Field required"),
    ("t_closeness", {"t": -0.1, "distance": "equal"}, "greater than or equal to 0"),
    ("t_closeness", {"t": 1.1, "distance": "equal"}, "less than or equal to 1"),
    ("t_closeness", {"t": 0.1, "distance": "other"}, "'equal', 'hierarchical' or 'ordered'"),
    ("t_closeness", {"t": 0.1, "distance": "equal", "l": 2}, "Extra inputs"),
]
"""Of models on a sensitive attribute: the model, its parameters, what is said."""


@pytest.mark.parametrize(("key", "parameters", "message"), REFUSED)
def test_it_is_said_why(key: str, parameters: dict[str, object], message: str) -> None:
    model = privacy_models.get(key)
    assert model is not None
    with pytest.raises(ValidationError, match=message):
        model.model_validate({"attribute": "ill", **parameters})
