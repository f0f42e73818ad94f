"""What a person decided goes before what would be chosen."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.discover.suggestion.policy_draft import PolicyWishes, suggest
from shoal.discover.table_profile import profile
from shoal.errors import DataError, InputError
from shoal.policy import UseCase
from shoal.schema import Role

TABLE = profile(pl.LazyFrame({"age": [30 + n % 20 for n in range(60)], "ward": ["a", "b", "c"] * 20}))


def drafted(**wishes: object) -> str:
    wanted = PolicyWishes(**wishes)  # type: ignore[arg-type]
    return suggest(TABLE, name="x", use_case=UseCase.EXTERNAL_SHARING, wishes=wanted).text


@pytest.mark.requirement("G-02")
def test_k_limit_and_roles_are_taken_over():
    text = drafted(k=7, suppression_limit=0.2, roles={"age": Role.SENSITIVE, "ward": Role.QUASI})
    assert "k_anonymity: {k: 7}" in text
    assert "everybody looks like at least 6 others in ward" in text
    assert "suppression_limit: 0.2 " in text
    assert "a person decided that it is sensitive; quasi was proposed" in text
    assert "age: {role: sensitive" in text


def test_no_wishes_change_nothing():
    assert drafted() == suggest(TABLE, name="x", use_case=UseCase.EXTERNAL_SHARING).text
    assert "k_anonymity: {k: 5}" in drafted(roles={"age": Role.QUASI})


def test_use_case_without_k_has_none():
    wanted = PolicyWishes(k=7)
    assert "k_anonymity" not in suggest(TABLE, name="x", use_case=UseCase.TEST_DATA, wishes=wanted).text


def test_wishes_that_make_no_sense():
    with pytest.raises(InputError, match="k"):
        PolicyWishes(k=1)
    with pytest.raises(InputError, match="a share between 0 and 1"):
        PolicyWishes(suppression_limit=1.5)
    with pytest.raises(DataError, match="no column 'aged'"):
        drafted(roles={"aged": Role.QUASI})
    with pytest.raises(DataError, match="k = 100"):
        drafted(k=100)
