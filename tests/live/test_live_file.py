"""Live files: every problem with its line, and what can't be compiled with its reason."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from shoal.errors import InputError, PolicyError, SourceError
from shoal.live.live_file import LiveFile, live_schema
from shoal.live.operations import Live
from shoal.live.served_tables import ServedColumn, ServedTable, decimal_column, text_column, whole_column
from shoal.live.sql.mariadb import MariaDBWords
from shoal.live.sql.postgresql import PostgreSQLWords
from shoal.live.sql.words import SqlWords
from shoal.live.view_compiler import ViewCompiler
from shoal.policy import Policy

pytestmark = pytest.mark.requirement("L-04")

FILE: dict[str, Any] = {
    "shoal": 1,
    "name": "clinic",
    "database": "postgresql://owner:${CLINIC_PASSWORD}@127.0.0.1/clinic",
    "roles": {"analyst": {"policy": "analyst.yaml", "purpose": "statistics"}},
}
TABLE = ServedTable(
    "people",
    {
        "name": ServedColumn(text_column("name"), "text"),
        "age": ServedColumn(whole_column("age"), "integer"),
        "pay": ServedColumn(decimal_column("pay", 2), "numeric(12,2)"),
        "data": ServedColumn(text_column("data"), "jsonb", computable=False),
    },
)
REST = {"name": "suppress", "age": "suppress", "pay": "suppress", "data": "suppress"}


def test_a_file_and_its_schema() -> None:
    file = LiveFile.of(FILE)
    assert file.roles["analyst"].purpose == "statistics"
    assert "owner:" not in repr(file)
    schema = live_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(FILE, schema)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rolls": {}}, "unknown key 'rolls'; did you mean 'roles'"),
        ({"roles": {"analyst": {"policy": "a.yaml", "purpse": "x"}}}, "did you mean 'purpose'"),
        ({"roles": {"analyst": {"policy": "a.yaml"}}}, "is missing"),
        ({"roles": {"an'alyst": {"policy": "a.yaml", "purpose": "xyz"}}}, "roles"),
        ({"database": "sqlite:///clinic.db"}, "has no roles"),
        ({"database": "nowhere"}, "not a database's address"),
        (
            {"roles": {"a": {"policy": "a.yaml", "purpose": "xyz", "since": "2030-01-02", "until": "2030-01-01"}}},
            "until is before",
        ),
        ({"roles": {}}, "at least 1"),
    ],
)
def test_what_is_wrong_is_said(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError) as error:
        LiveFile.of({**FILE, **changes})
    assert said in str(error.value)


def test_a_password_is_in_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLINIC_PASSWORD", raising=False)
    live = Live(LiveFile.of(FILE), {"analyst": Policy.of({"shoal": 1, "name": "p", "attributes": REST})})
    with pytest.raises(SourceError, match="CLINIC_PASSWORD is not set"):
        live.plan()
    monkeypatch.setenv("CLINIC_PASSWORD", "hush-hush")
    closed = LiveFile.of({**FILE, "database": "postgresql://owner:${CLINIC_PASSWORD}@127.0.0.1:1/clinic"})
    with pytest.raises(SourceError) as error:
        Live(closed, live.policies).plan()
    assert "hush" not in str(error.value)


@pytest.mark.parametrize("words", [PostgreSQLWords(), MariaDBWords()], ids=["postgresql", "mariadb"])
@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({"pay": {"role": "insensitive", "technique": {"noise": {"laplace": {"scale": 3}}}}}, "averages out"),
        ({"pay": {"role": "insensitive", "technique": {"round": {"base": 10, "method": "random"}}}}, "averages out"),
        ({"age": {"role": "insensitive", "technique": {"code": {"top_quantile": 0.9}}}}, "depends on the values"),
        ({"age": {"role": "insensitive", "technique": {"microaggregate": {"k": 3}}}}, "microaggregate: "),
        ({"age": {"role": "insensitive", "technique": {"permute": {}}}}, "permute: "),
        ({"name": {"role": "direct", "technique": {"scrub": {}}}}, "more than SQL"),
        ({"name": {"role": "direct", "technique": {"mask": {"kind": "plate"}}}}, "what a letter is"),
        ({"name": {"role": "direct", "technique": {"mask": {"kind": "ipv6"}}}}, "IPv6"),
        ({"name": {"role": "direct", "technique": {"pseudonymise": {}}}}, "need a vault"),
        ({"pay": {"role": "direct", "technique": {"mask": {}}}}, "ways of its own"),
        ({"name": {"role": "insensitive", "technique": {"round": {"base": 10}}}}, "round works on"),
        ({"data": {"role": "direct", "technique": {"mask": {}}}}, "no technique is compiled for the type jsonb"),
        ({"age": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}}}, "state it with `levels`"),
        ({"age": {"role": "quasi", "hierarchy": "rare"}}, "levels"),
        (
            {
                "name": {
                    "role": "quasi",
                    "hierarchy": {"redact": {"align": True}},
                }
            },
            "longest value",
        ),
        ({"nmae": {"role": "insensitive"}}, "there is no column 'nmae'; did you mean 'name'"),
        ({"name": {"role": "insensitive", "type": "date"}}, "another type"),
        ({}, "nothing of the table would be seen"),
    ],
)
def test_what_cant_be_said_in_sql_is_refused(words: SqlWords, attributes: dict[str, Any], said: str) -> None:
    policy = Policy.of({"shoal": 1, "name": "p", "attributes": {**REST, **attributes}})
    levels = {"name": 1} if "longest" in said else {}
    with pytest.raises(InputError) as error:
        ViewCompiler(words).compile("analyst", policy, TABLE, levels)
    assert said in str(error.value)


def test_every_problem_at_once() -> None:
    policy = Policy.of(
        {
            "shoal": 1,
            "name": "p",
            "attributes": {
                "age": {"role": "quasi"},
                "pay": {"role": "direct", "technique": {"mask": {}}},
                "phone": "suppress",
            },
        }
    )
    with pytest.raises(InputError) as error:
        ViewCompiler(PostgreSQLWords()).compile("analyst", policy, TABLE, {"aeg": 1})
    told = str(error.value)
    assert all(one in told for one in ("'name'", "'data'", "'phone'", "'age'", "'pay'", "did you mean 'age'"))


@pytest.mark.parametrize(
    "rule",
    [
        "1 = 1",
        "pg_sleep(1) IS NULL",
        "name = (SELECT 1)",
        "name = age",
        "name IN (SELECT name FROM people)",
        "age = 'x'",
        "name = 3",
        "name LIKE 'A%'",
        "nmae = 'x'",
        "name = 'x'; DROP TABLE people",
        "t.name = 'x'",
        "name = 'x' GROUP BY name",
        "name = 'x' UNION SELECT 1",
        "",
        "name =",
        "data = 'x'",
    ],
)
def test_a_rule_on_rows_is_only_a_condition(rule: str) -> None:
    policy = Policy.of({"shoal": 1, "name": "p", "attributes": {**REST, "name": {"role": "insensitive"}}})
    with pytest.raises(InputError, match="a condition on rows can't be used"):
        ViewCompiler(PostgreSQLWords()).compile("analyst", policy, TABLE, {}, rows=rule)


def test_text_of_a_policy_stays_text() -> None:
    policy = Policy.of({"shoal": 1, "name": "p", "attributes": {**REST, "name": {"role": "insensitive"}}})
    rule = "name = 'x'' OR ''1'' = ''1'"
    for words, text in ((PostgreSQLWords(), "'x'' OR ''1'' = ''1'"), (MariaDBWords(), f"X'{b'x'.hex()}")):
        view = ViewCompiler(words).compile("analyst", policy, TABLE, {}, rows=rule)
        assert text in view.conditions[0]


def test_names_are_quoted() -> None:
    assert PostgreSQLWords().name('a"b', "c") == '"a""b"."c"'
    assert MariaDBWords().name("a`b") == "`a``b`"
