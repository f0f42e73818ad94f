"""How the tests start copies and look at databases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import text
from tests.database_copy.conftest import engine_of
from tests.database_copy.hospital import POLICY

from shoal.database_copy import CopyRequest, DatabaseCopy
from shoal.database_copy.account import CopyAccount
from shoal.policy.multi_table import MultiTablePolicy, any_from_text


def policy_of(written: str) -> MultiTablePolicy:
    policy = any_from_text(written)
    assert isinstance(policy, MultiTablePolicy)
    return policy


def copied(source: str, target: str, folder: Path, policy: str = POLICY, **options: Any) -> CopyAccount:
    given = {"output": folder / "account.json", "seed": 7, **options}
    return DatabaseCopy(CopyRequest(policy=policy_of(policy), source=source, target=target, **given)).execute()


def rows(url: str, query: str) -> list[tuple[Any, ...]]:
    engine = engine_of(url)
    with engine.connect() as connection:
        found = [tuple(row) for row in connection.execute(text(query))]
    engine.dispose()
    return found


def execute(url: str, *statements: str) -> None:
    engine = engine_of(url)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()
