"""Masking in a program: responses, logs, cursors, frames. What nobody can vouch for is withheld."""

from __future__ import annotations

import io
import json
import logging
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import polars as pl
import pytest
from tests.support.event_loops import in_own_loop

from shoal.errors import DataError, InputError, ShoalError
from shoal.live.applications.accessors import register_accessors
from shoal.live.applications.cursors import MaskedCursor
from shoal.live.applications.field_masks import FieldMasks, UnknownFieldError, masked
from shoal.live.applications.log_filter import COVERED, MaskingFilter
from shoal.live.applications.responses import MaskedResponses, MaskedWsgiResponses, ResponseMasks
from shoal.policy import Policy
from shoal.vault import Vault

pytestmark = pytest.mark.requirement("L-02")

POLICY = Policy.of(
    {
        "shoal": 1,
        "name": "staff",
        "attributes": {
            "name": {"role": "direct", "technique": {"mask": {"keep_first": 1}}},
            "phone": "suppress",
            "age": {"role": "quasi", "hierarchy": {"intervals": [10]}},
            "salary": {"role": "insensitive", "technique": {"round": {"base": 100}}},
            "town": {"role": "insensitive"},
        },
    }
)
ASHA = {"name": "Asha Rao", "phone": "6555 0101", "age": 34, "salary": 1234.5, "town": "Pune"}
SEEN = {"name": "A*******", "age": "30-39", "salary": 1200.0, "town": "Pune"}
SECRETS = ("Asha Rao", "6555", "1234", "34,")


@pytest.fixture
def masks() -> FieldMasks:
    return FieldMasks(POLICY, {"age": 1})


def test_a_record_and_a_list_of_records(masks: FieldMasks) -> None:
    assert masks.json([ASHA, {}, {"name": None, "age": None}]) == [SEEN, {}, {"name": None, "age": None}]


def test_a_function_that_returns_records(masks: FieldMasks) -> None:
    @masked(masks)
    def find(count: int) -> list[dict[str, object]]:
        return [dict(ASHA)] * count

    assert find(2) == [SEEN, SEEN]


def test_what_the_policy_does_not_know_is_an_error(masks: FieldMasks) -> None:
    with pytest.raises(UnknownFieldError, match="'nmae'; did you mean 'name'"):
        masks.record({"nmae": "Asha Rao"})


@pytest.mark.parametrize(
    "data", ["Asha Rao", 3, {"name": ["Asha Rao"]}, {"name": {"first": "Asha"}}, {"age": "Asha"}, {"salary": True}]
)
def test_what_is_no_value_of_its_field_is_refused(masks: FieldMasks, data: object) -> None:
    with pytest.raises(ShoalError) as error:
        masks.json(data)
    assert "Asha" not in str(error.value)


def test_what_takes_a_whole_table_is_refused() -> None:
    with pytest.raises(InputError, match="levels"):
        FieldMasks(POLICY)
    noisy = Policy.of(
        {
            "shoal": 1,
            "name": "n",
            "attributes": {"pay": {"role": "insensitive", "technique": {"noise": {"laplace": {"scale": 3}}}}},
        }
    )
    with pytest.raises(DataError, match="averages out"):
        FieldMasks(noisy).record({"pay": 3})


def test_pseudonyms_are_those_of_a_run(live_vault: Vault) -> None:
    policy = Policy.of(
        {
            "shoal": 1,
            "name": "p",
            "attributes": {"id": {"role": "direct", "technique": {"pseudonymise": {"domain": "patients"}}}},
        }
    )
    import shoal

    released = shoal.anonymise(pl.DataFrame({"id": ["a", "b"]}), policy, vault=live_vault).data
    masks = FieldMasks(policy, secrets=live_vault)
    assert [masks.value("id", one) for one in ("a", "b")] == released["id"].to_list()
    assert masks.frame(pl.DataFrame({"id": ["a", "b"]}))["id"].to_list() == released["id"].to_list()


@pytest.mark.requirement("L-04")
def test_frames(masks: FieldMasks) -> None:
    register_accessors()
    frame = pl.DataFrame([ASHA, {**ASHA, "name": None, "age": None}])
    seen = frame.shoal.masked(POLICY, {"age": 1})  # type: ignore[attr-defined]
    assert seen.rows(named=True) == [SEEN, {**SEEN, "name": None, "age": None}]
    told = pd.DataFrame([ASHA], index=["Asha Rao"]).shoal.masked(POLICY, {"age": 1})
    assert told.to_dict("records") == [SEEN]
    assert list(told.index) == [0]
    with pytest.raises(UnknownFieldError):
        frame.with_columns(email=pl.lit("asha@example.org")).shoal.masked(POLICY, {"age": 1})  # type: ignore[attr-defined]


Answer = tuple[int, dict[str, str], bytes]
Reader = Callable[..., Answer]


def through_asgi(masks: ResponseMasks, role: str | None, kind: str, body: bytes, **headers: str) -> Answer:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        told = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
        told += [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": 200, "headers": told})
        half = len(body) // 2
        await send({"type": "http.response.body", "body": body[:half], "more_body": True})
        await send({"type": "http.response.body", "body": body[half:]})

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    scope = {"type": "http", "user": role}
    in_own_loop(MaskedResponses(app, masks, lambda given: given["user"])(scope, receive, send))
    start, end = sent
    return start["status"], {name.decode(): value.decode() for name, value in start["headers"]}, end["body"]


def through_wsgi(masks: ResponseMasks, role: str | None, kind: str, body: bytes, **headers: str) -> Answer:
    def app(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Type", kind), ("Content-Length", str(len(body))), *headers.items()])
        return [body[:3], body[3:]]

    told: list[Any] = []
    parts = MaskedWsgiResponses(app, masks, lambda environ: environ["user"])(
        {"user": role}, lambda *given: told.extend(given)
    )
    status, sent = told
    return int(status.split()[0]), {name.lower(): value for name, value in sent}, b"".join(parts)


@pytest.fixture(params=[through_asgi, through_wsgi])
def answered(request: pytest.FixtureRequest, masks: FieldMasks) -> Reader:
    chosen = ResponseMasks({"analyst": masks}, let_through=frozenset({"text/css"}))
    return lambda role, kind, body, **headers: request.param(chosen, role, kind, body, **headers)


def test_a_response_is_what_the_role_sees(answered: Reader) -> None:
    status, headers, body = answered("analyst", "application/json; charset=utf-8", json.dumps([ASHA]).encode())
    assert (status, json.loads(body)) == (200, [SEEN])
    assert headers["content-length"] == str(len(body))


@pytest.mark.parametrize(
    ("role", "kind", "body", "headers", "status"),
    [
        (None, "application/json", json.dumps(ASHA), {}, 403),
        ("doctor", "application/json", json.dumps(ASHA), {}, 403),
        ("analyst", "application/json", json.dumps({**ASHA, "email": "asha@example.org"}), {}, 500),
        ("analyst", "application/json", json.dumps({"data": [ASHA]}), {}, 500),
        ("analyst", "application/json", "Asha Rao {", {}, 500),
        ("analyst", "application/json", "[" * 100_000, {}, 500),
        ("analyst", "text/html", "<p>Asha Rao, 34, 6555</p>", {}, 500),
        ("analyst", "application/json", json.dumps(ASHA), {"content-encoding": "gzip"}, 500),
    ],
)
def test_what_cant_be_masked_is_withheld(
    answered: Reader, role: str | None, kind: str, body: str, headers: dict[str, str], status: int
) -> None:
    found, _, seen = answered(role, kind, body.encode(), **headers)
    assert found == status
    assert not [secret for secret in SECRETS if secret.encode() in seen]


def test_what_holds_no_data_goes_through(answered: Reader) -> None:
    assert answered(None, "text/css", b"p { margin: 0 }")[2] == b"p { margin: 0 }"


def test_a_response_that_is_too_large_is_withheld(masks: FieldMasks) -> None:
    chosen = ResponseMasks({"analyst": masks}, most_bytes=10)
    assert through_asgi(chosen, "analyst", "application/json", json.dumps(ASHA).encode())[0] == 500


@pytest.fixture
def log(masks: FieldMasks) -> Iterator[tuple[logging.Logger, io.StringIO]]:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter("%(message)s %(town)s", defaults={"town": ""}))
    handler.addFilter(MaskingFilter(masks))
    logger = logging.getLogger("tests.live.masked")
    logger.addHandler(handler)
    logger.propagate = False
    yield logger, written
    logger.removeHandler(handler)


def test_a_log_holds_what_may_be_seen(log: tuple[logging.Logger, io.StringIO]) -> None:
    logger, written = log
    logger.warning("%(name)s earns %(salary)s, email %(email)s", {**ASHA, "email": "asha@example.org"})
    logger.warning("paid %s on %d", "Asha Rao", 1234, extra={"town": "Pune", "phone": "6555 0101"})
    logger.warning({"name": "Asha Rao"})
    try:
        raise ValueError("Asha Rao")  # noqa: TRY301  # whose traceback would tell
    except ValueError:
        logger.exception("failed for %(name)s", {"name": "Asha Rao"})
    told = written.getvalue()
    assert f"A******* earns 1200.0, email {COVERED}" in told
    assert f"paid {COVERED} on 0 Pune" in told
    assert "failed for A*******" in told
    assert "ValueError" in told
    assert not [secret for secret in SECRETS if secret in told]


@pytest.fixture
def cursor(masks: FieldMasks) -> Iterator[MaskedCursor]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE staff (name, phone, age, salary, town)")
    connection.execute("CREATE TABLE other (name, email)")
    connection.execute("INSERT INTO other VALUES ('Asha Rao', 'asha@example.org')")
    connection.execute("INSERT INTO staff VALUES (:name, :phone, :age, :salary, :town)", ASHA)
    yield MaskedCursor(connection.cursor(), masks)
    connection.close()


def test_rows_of_a_cursor(cursor: MaskedCursor) -> None:
    row = ("A*******", None, "30-39", 1200.0, "Pune")
    assert cursor.execute("SELECT * FROM staff").fetchall() == [row]
    assert list(cursor.execute("SELECT s.town, s.name FROM staff AS s WHERE age > ?", (3,))) == [("Pune", "A*******")]
    assert cursor.execute("SELECT name FROM staff").fetchone() == ("A*******",)
    assert cursor.execute("SELECT name FROM staff").fetchmany(5) == [("A*******",)]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT name AS town FROM staff",
        "SELECT upper(name) FROM staff",
        "SELECT town FROM (SELECT name AS town FROM staff)",
        "WITH s(town) AS (SELECT name FROM staff) SELECT town FROM s",
        "SELECT town FROM staff UNION SELECT name FROM staff",
        "SELECT * FROM staff UNION SELECT * FROM staff",
        "SELECT (SELECT name FROM staff) FROM staff",
        "SELECT name || '' FROM staff",
        "SELECT * REPLACE (name AS town) FROM staff",
        "UPDATE staff SET town = name RETURNING town",
        "SELECT s.town FROM staff AS s(town)",
        "PRAGMA table_info(staff)",
        "SELECT email FROM other",
        "this is no SQL (",
    ],
)
def test_a_renamed_or_unknown_column_is_refused(cursor: MaskedCursor, statement: str) -> None:
    with pytest.raises(ShoalError) as error:
        cursor.execute(statement)
    assert "Asha" not in str(error.value)
