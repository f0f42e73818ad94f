"""Ways around a mask on PostgreSQL: all of them tried as the role, none shows a value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.live.conftest import SECRETS, House
from tests.live.ways_around import Ways, dumped, observed

from shoal.vault import Vault

pytestmark = [pytest.mark.requirement("L-03"), pytest.mark.server]

VIEW = "shoal_analyst.patients"
LEAK = """CREATE FUNCTION pg_temp.leak(anyelement) RETURNS boolean COST 0.0000001 LANGUAGE plpgsql AS
    $$ BEGIN RAISE NOTICE 'seen: %', $1; RETURN true; END $$"""
HIDDEN = (*SECRETS, "asthma", "R********")
"""With what is only in the row that the role may not see, masked or not."""

WAYS: Ways = {
    "the table itself": ["SELECT * FROM public.patients", "TABLE patients"],
    "the view": [f"SELECT * FROM {VIEW}", f"SELECT p::text FROM {VIEW} AS p", f"SELECT row_to_json(p) FROM {VIEW} AS p"],
    "system columns": [f"SELECT ctid, xmin, tableoid::regclass FROM {VIEW}"],
    "cursors": ["BEGIN", f"DECLARE c SCROLL CURSOR FOR SELECT * FROM {VIEW}", "FETCH ALL c", "MOVE BACKWARD ALL IN c",
                "FETCH ABSOLUTE 2 c", "UPDATE public.patients SET age = 1 WHERE CURRENT OF c", "ROLLBACK",
                "BEGIN", "DECLARE d CURSOR WITH HOLD FOR SELECT * FROM public.patients", "ROLLBACK"],
    "prepared statements": [f"PREPARE p(text) AS SELECT * FROM {VIEW} WHERE name LIKE $1", "EXECUTE p('%')",
                            "PREPARE q AS SELECT name FROM public.patients", "EXECUTE q",
                            "SELECT statement FROM pg_prepared_statements"],
    "COPY": ["COPY public.patients TO STDOUT", f"COPY (SELECT * FROM {VIEW}) TO STDOUT", f"COPY {VIEW} TO STDOUT",
             "COPY (SELECT name FROM public.patients) TO STDOUT"],
    "COPY to a file or a program": [f"COPY (SELECT * FROM {VIEW}) TO '/tmp/x'", f"COPY (SELECT 1 FROM {VIEW}) TO PROGRAM 'id'"],
    "common table expressions": [f"WITH p AS MATERIALIZED (SELECT * FROM {VIEW}) SELECT * FROM p",
                                 "WITH p AS (SELECT * FROM public.patients) SELECT * FROM p",
                                 f"WITH RECURSIVE p AS (SELECT name FROM {VIEW}) SELECT * FROM p"],
    "subqueries": [f"SELECT (SELECT max(name) FROM {VIEW}), (SELECT string_agg(email, ',') FROM {VIEW})",
                   f"SELECT * FROM {VIEW} AS v, LATERAL (SELECT v.name || v.email) AS x",
                   f"SELECT * FROM {VIEW} AS v WHERE EXISTS (SELECT FROM public.patients p WHERE p.id::text = v.id)"],
    "a function that tells what it is given": [LEAK, f"SELECT * FROM {VIEW} WHERE pg_temp.leak(name)",
                                               f"SELECT * FROM {VIEW} WHERE pg_temp.leak(diagnosis) AND pg_temp.leak(salary)",
                                               f"SELECT count(*) FROM {VIEW} AS v WHERE pg_temp.leak(v.*::text)"],
    "an operator that tells what it is given": [
        LEAK, "CREATE FUNCTION pg_temp.same(text, text) RETURNS boolean COST 0.0000001 LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE NOTICE 'seen: %', $1; RETURN true; END $$",
        "CREATE OPERATOR pg_temp.=== (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.same)",
        f"SELECT * FROM {VIEW} WHERE diagnosis OPERATOR(pg_temp.===) 'x'"],
    "a function that says it tells nothing": [LEAK + " LEAKPROOF", LEAK, "ALTER FUNCTION pg_temp.leak(anyelement) LEAKPROOF",
                                              f"SELECT * FROM {VIEW} WHERE pg_temp.leak(diagnosis)"],
    "an aggregate of one's own": ["CREATE FUNCTION pg_temp.step(text, text) RETURNS text LANGUAGE plpgsql AS "
                                  "$$ BEGIN RAISE NOTICE 'seen: %', $2; RETURN $2; END $$",
                                  "CREATE AGGREGATE pg_temp.tell(text) (SFUNC = pg_temp.step, STYPE = text)",
                                  f"SELECT pg_temp.tell(diagnosis), pg_temp.tell(name) FROM {VIEW}"],
    "EXPLAIN": [f"EXPLAIN (ANALYZE, VERBOSE, BUFFERS) SELECT * FROM {VIEW} WHERE age = '30-39'",
                "EXPLAIN (VERBOSE) SELECT * FROM public.patients", f"EXPLAIN (VERBOSE, FORMAT JSON) SELECT id, name FROM {VIEW}"],
    "errors of casts": [f"SELECT name::int FROM {VIEW}", f"SELECT diagnosis::int FROM {VIEW}", f"SELECT id::uuid FROM {VIEW}",
                        f"SELECT * FROM {VIEW} WHERE diagnosis::int = 1", f"SELECT email::inet FROM {VIEW}"],
    "errors of arithmetic": [f"SELECT 1 / (salary - salary) FROM {VIEW}", f"SELECT * FROM {VIEW} WHERE 1 / (salary - 100000) > 0",
                             f"SELECT chr(salary::int) FROM {VIEW}", f"SELECT exp(salary) FROM {VIEW}"],
    "errors with their context": [f"DO $$ DECLARE t text; BEGIN SELECT diagnosis::int INTO t FROM {VIEW}; EXCEPTION WHEN OTHERS "
                                  "THEN GET STACKED DIAGNOSTICS t = PG_EXCEPTION_DETAIL; RAISE NOTICE '% %', t, SQLERRM; END $$"],
    "dynamic SQL": ["DO $$ DECLARE r record; BEGIN FOR r IN EXECUTE 'SELECT * FROM public.patients' LOOP RAISE NOTICE '%', r; "
                    "END LOOP; END $$"],
    "temporary tables": [f"CREATE TEMP TABLE mine AS SELECT * FROM {VIEW}", "SELECT * FROM mine",
                         "CREATE TEMP TABLE theirs AS SELECT * FROM public.patients", "SELECT * FROM theirs",
                         "CREATE TEMP TABLE patients (name text)", f"SELECT * FROM {VIEW}"],
    "tables like it": ["CREATE TEMP TABLE alike (LIKE public.patients INCLUDING ALL)",
                       "CREATE TEMP TABLE child () INHERITS (public.patients)", "SELECT * FROM alike"],
    "triggers": [LEAK, "CREATE FUNCTION pg_temp.tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', OLD; "
                 "RETURN OLD; END $$", "CREATE TRIGGER t BEFORE UPDATE ON public.patients FOR EACH ROW EXECUTE FUNCTION pg_temp.tell()",
                 f"CREATE TRIGGER t INSTEAD OF UPDATE ON {VIEW} FOR EACH ROW EXECUTE FUNCTION pg_temp.tell()"],
    "rules": [f"CREATE RULE r AS ON SELECT TO {VIEW} DO INSTEAD SELECT * FROM public.patients",
              "CREATE RULE r AS ON UPDATE TO public.patients DO ALSO SELECT OLD.name"],
    "the view made anew": [f"CREATE OR REPLACE VIEW {VIEW} AS SELECT * FROM public.patients",
                           f"ALTER VIEW {VIEW} SET (security_barrier = false)", f"ALTER VIEW {VIEW} SET (security_invoker = true)",
                           f"DROP VIEW {VIEW}", f"ALTER VIEW {VIEW} OWNER TO analyst", f"SELECT * FROM {VIEW}"],
    "views of one's own": ["CREATE TEMP VIEW v AS SELECT * FROM public.patients", "SELECT * FROM v",
                           f"CREATE TEMP VIEW w AS SELECT * FROM {VIEW}", "SELECT * FROM w",
                           "CREATE MATERIALIZED VIEW m AS SELECT * FROM public.patients"],
    "information_schema": ["SELECT * FROM information_schema.columns WHERE table_name = 'patients'",
                           "SELECT * FROM information_schema.views WHERE table_name = 'patients'",
                           "SELECT * FROM information_schema.view_column_usage"],
    "definitions and keys": [f"SELECT pg_get_viewdef('{VIEW}'::regclass)", "SELECT * FROM pg_views", "SELECT * FROM shoal_keys.keys",
                             "SELECT shoal_keys.keys::text FROM shoal_keys.keys"],
    "statistics": ["SELECT * FROM pg_stats WHERE tablename IN ('patients', 'keys')", "SELECT * FROM pg_statistic",
                   "SELECT * FROM pg_stats_ext", "SELECT * FROM pg_stats_ext_exprs", "SELECT * FROM pg_statistic_ext_data",
                   "SELECT histogram_bounds, most_common_vals FROM pg_stats"],
    "statistics of one's own": ["CREATE STATISTICS s ON name, age FROM public.patients", "ANALYZE VERBOSE public.patients",
                                f"ANALYZE {VIEW}", "VACUUM VERBOSE public.patients"],
    "search paths": ["CREATE FUNCTION pg_temp.repeat(text, int) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'seen: %', $1; "
                     "RETURN $1; END $$", 'CREATE FUNCTION pg_temp."left"(text, int) RETURNS text LANGUAGE sql AS $$ SELECT $1 $$',
                     "CREATE FUNCTION pg_temp.mod(bigint, int) RETURNS bigint LANGUAGE sql AS $$ SELECT 0::bigint $$",
                     "SET search_path = pg_temp, public, pg_catalog, shoal_analyst", f"SELECT * FROM {VIEW}"],
    "rights of the definer": ["CREATE FUNCTION pg_temp.peek() RETURNS SETOF text SECURITY DEFINER LANGUAGE sql AS "
                              "$$ SELECT name FROM public.patients $$",
                              "CREATE FUNCTION pg_temp.peek() RETURNS SETOF text SECURITY DEFINER LANGUAGE plpgsql AS "
                              "$$ BEGIN RETURN QUERY SELECT name::text FROM public.patients; END $$", "SELECT pg_temp.peek()"],
    "probing by LIKE": [f"SELECT 'hit', name FROM {VIEW} WHERE name LIKE 'Asha%'", f"SELECT 'hit' FROM {VIEW} WHERE name ~ '^A.*Rao$'",
                        f"SELECT 'hit', name FROM {VIEW} WHERE name SIMILAR TO '%Rao'", f"SELECT 'hit' FROM {VIEW} WHERE email ILIKE 'asha%'"],
    "probing by range": [f"SELECT 'hit' FROM {VIEW} WHERE salary BETWEEN 1234 AND 1235", f"SELECT 'hit' FROM {VIEW} WHERE born > '1990-02-02' "
                         "AND born < '1990-02-04'", f"SELECT 'hit' FROM {VIEW} WHERE postal = '411005'"],
    "joins to own tables": ["CREATE TEMP TABLE guesses AS VALUES ('Asha Ra' || 'o'), ('Mei Ta' || 'n'), ('1'), ('411' || '005')",
                            f"SELECT 'hit', g.column1 FROM guesses AS g JOIN {VIEW} AS v ON g.column1 IN (v.id, v.name, v.postal)",
                            f"SELECT 'hit', g.column1 FROM guesses AS g NATURAL JOIN {VIEW} AS v WHERE v.name = g.column1"],
    "sorting and windows": [f"SELECT name, rank() OVER (ORDER BY salary), lag(email) OVER (ORDER BY id) FROM {VIEW}",
                            f"SELECT min(born), max(born), array_agg(postal ORDER BY postal), mode() WITHIN GROUP (ORDER BY salary) FROM {VIEW}"],
    "samples": [f"SELECT * FROM {VIEW} TABLESAMPLE SYSTEM (100)", "SELECT * FROM public.patients TABLESAMPLE SYSTEM (100)"],
    "writing through the view": [f"UPDATE {VIEW} SET diagnosis = diagnosis RETURNING *", f"DELETE FROM {VIEW} RETURNING *",
                                 f"INSERT INTO {VIEW} (diagnosis) VALUES ('x') RETURNING *",
                                 f"SELECT * FROM {VIEW} FOR UPDATE", "LOCK TABLE public.patients IN ACCESS SHARE MODE"],
    "foreign keys": ["CREATE TEMP TABLE k (id int REFERENCES public.patients)", "INSERT INTO k VALUES (1)"],
    "sequences": ["CREATE TEMP SEQUENCE s", "SELECT * FROM information_schema.sequences", "SELECT * FROM pg_sequences"],
    "notifications": ["LISTEN everything", f"SELECT pg_notify('everything', v::text) FROM {VIEW} AS v", "SELECT 1",
                      "SELECT pg_notify('everything', name) FROM public.patients", "SELECT 1"],
    "large objects": [f"SELECT lo_from_bytea(0, convert_to(v::text, 'UTF8')) FROM {VIEW} AS v", "SELECT lo_import('/etc/passwd')",
                      "SELECT * FROM pg_largeobject"],
    "foreign tables": ["CREATE EXTENSION postgres_fdw", "CREATE EXTENSION dblink", "CREATE EXTENSION file_fdw",
                       "CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw", "SELECT * FROM pg_user_mappings"],
    "files of the server": ["SELECT pg_read_file('PG_VERSION')", "SELECT pg_ls_dir('.')", "SELECT pg_read_binary_file('base')"],
    "other roles": ["SET ROLE shoal", "SET SESSION AUTHORIZATION shoal", "SELECT * FROM public.patients", "RESET ROLE",
                    "GRANT shoal TO analyst", "ALTER ROLE analyst SUPERUSER", "SET ROLE doctor", "SELECT * FROM shoal_doctor.patients"],
    "another role's views": ["SELECT * FROM shoal_doctor.patients"],
    "grants": ["GRANT SELECT ON public.patients TO analyst", "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO analyst",
               "REASSIGN OWNED BY shoal TO analyst", "SELECT * FROM public.patients"],
    "activity of others": ["SELECT query FROM pg_stat_activity", "SELECT * FROM pg_stat_statements", "SELECT * FROM pg_cursors"],
    "XML of tables": ["SELECT query_to_xml('SELECT * FROM public.patients', true, true, '')",
                      "SELECT schema_to_xml('public', true, true, '')", f"SELECT query_to_xml('SELECT * FROM {VIEW}', true, true, '')"],
    "settings of the session": ["SET DateStyle = 'German'", "SET TimeZone = 'Asia/Kolkata'", "SET extra_float_digits = 3",
                                "SET row_security = off", "SET bytea_output = 'escape'", "SET standard_conforming_strings = off",
                                "SET session_replication_role = replica", "SET debug_print_plan = on", "SET client_min_messages = debug5",
                                "SET client_encoding = 'LATIN1'", f"SELECT * FROM {VIEW}"],
    "encodings": ["SET client_encoding = 'SQL_ASCII'", f"SELECT convert_to(name, 'LATIN1') FROM {VIEW}",
                  f"SELECT convert_from(convert_to(diagnosis, 'UTF8'), 'LATIN1') FROM {VIEW}"],
    "replication": ["SELECT pg_create_logical_replication_slot('s', 'test_decoding')", "CREATE PUBLICATION p FOR TABLE public.patients",
                    "SELECT pg_logical_slot_get_changes('s', NULL, NULL)", "SELECT pg_export_snapshot()"],
    "the log": ["SELECT pg_current_logfile()", "SET log_statement = 'all'", "LOAD 'auto_explain'", "SET log_min_messages = debug5"],
}  # fmt: skip


@pytest.fixture(scope="module")
def masked(postgres_url: str, tmp_path_factory: pytest.TempPathFactory, live_vault: Vault) -> Iterator[House]:
    folder: Path = tmp_path_factory.mktemp("bypass")
    with House(postgres_url, folder, live_vault) as house:
        house.own("CREATE INDEX by_name ON patients (name)", "CREATE INDEX by_lower ON patients (lower(email))",
                  "CREATE STATISTICS known ON name, age FROM patients")  # fmt: skip
        house.live(rows={"patients": "region = 'north'"}).apply()
        house.own("ANALYZE patients")
        yield house


def test_there_are_enough_ways() -> None:
    assert len(WAYS) >= 25


def test_the_guard_sees_what_a_role_sees(masked: House) -> None:
    """The owner, asked in the same ways, shows each of the values."""
    seen = observed(masked, None, ["SELECT * FROM public.patients", "SELECT name::int FROM public.patients"])
    assert all(secret in seen for secret in (*SECRETS[:6], "asthma"))
    told = observed(masked, None, [LEAK, "SELECT 1 FROM public.patients WHERE pg_temp.leak(name)"])
    assert "seen: Asha Rao" in told


@pytest.mark.parametrize("way", WAYS)
def test_no_way_leads_around_a_mask(masked: House, way: str) -> None:
    seen = observed(masked, "analyst", WAYS[way])
    assert seen
    assert not [secret for secret in HIDDEN if secret in seen]
    assert "'hit'" not in seen


@pytest.mark.parametrize("options", [[], ["-n", "shoal_analyst"], ["-t", "public.patients"], ["-a"], ["--enable-row-security"]])
def test_a_dump_holds_nothing(masked: House, options: list[str]) -> None:
    seen = dumped(masked, "analyst", *options)
    assert seen
    assert not [secret for secret in HIDDEN if secret in seen]


def test_the_keys_are_in_no_definition(masked: House) -> None:
    seen = observed(masked, "analyst", WAYS["definitions and keys"])
    key = masked.vault.key("patients", "pseudonymise").material.hex()
    assert "inner_pad" in seen
    assert key[:16] not in seen


def test_an_equality_filter_works_on_what_is_seen(masked: House) -> None:
    """Its plan, so its time too, is the same whether the value that is guessed is there or not."""
    plans = {
        observed(masked, "analyst", [f"EXPLAIN (COSTS OFF) SELECT * FROM {VIEW} WHERE name = '{guess}'"]).replace(guess, "")
        for guess in ("Asha Rao", "Nobody At All")
    }
    assert len(plans) == 1
    assert "by_name" not in plans.pop()
