"""The page of the registry is as the declarations are."""

from __future__ import annotations

from registry_page import PAGE, page
from shoal.govern.record_kinds import record_kinds


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "make generate"


def test_each_act_says_what_it_does_and_each_field_what_it_is() -> None:
    for name, kind in record_kinds:
        for act in kind.acts.values():
            assert act.about.endswith("."), f"{name}.{act.name}"
            for field, declared in act.given.model_fields.items():
                assert declared.description or not declared.is_required(), f"{name}.{act.name}: {field}"
