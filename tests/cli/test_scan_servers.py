"""Whole databases on real servers: every table is scanned, and a policy for them is suggested."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.cli.conftest import Call
from tests.servers import mariadb, mariadb_url, postgres, postgres_url

from shoal.io import open_target, parse_target

__all__ = ["mariadb", "mariadb_url", "postgres", "postgres_url"]

pytestmark = [pytest.mark.requirement("D-02"), pytest.mark.server]


@pytest.mark.parametrize("server", ["postgres_url", "mariadb_url"])
def test_every_table_of_a_server(call: Call, request: pytest.FixtureRequest, tmp_path: Path, server: str) -> None:
    url = str(request.getfixturevalue(server))
    people = pl.DataFrame({"email": [f"p{n}@example.org" for n in range(30)], "age": [20 + n % 9 for n in range(30)]})
    rooms = pl.DataFrame({"room": [f"R{n}" for n in range(12)], "floor": [n % 3 for n in range(12)]})
    for name, frame in {"scanned_people": people, "scanned_rooms": rooms}.items():
        open_target(parse_target({"url": url, "table": name, "if_exists": "replace"})).write(frame.lazy())
    ended = call("scan", url, "--json")
    assert ended.code == 0
    assert {"scanned_people", "scanned_rooms"} <= {one["source"].partition("#")[2] for one in ended.found["looked"]}
    (found,) = [one for one in ended.found["findings"] if one["type"] == "email"]
    assert (found["source"].partition("#")[2], found["count"]) == ("scanned_people", 30)
    password = url.partition("://")[2].partition("@")[0].partition(":")[2]
    assert not password or password not in ended.stdout
    assert call("suggest", url, "-o", "policy.yaml").code == 0
    policy = (tmp_path / "policy.yaml").read_text()
    assert "scanned_rooms:" in policy
    assert not password or f":{password}@" not in policy
