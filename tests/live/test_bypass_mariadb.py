"""Ways around a mask on MariaDB: all of them tried as the role, none shows a value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.live.conftest import SECRETS, House
from tests.live.ways_around import Ways, dumped, observed

from shoal.vault import Vault

pytestmark = [pytest.mark.requirement("L-03"), pytest.mark.server]

HIDDEN = (*SECRETS, "asthma", "R********")
"""With what is only in the row that the role may not see, masked or not."""
VIEW = "shoal_analyst.patients"

WAYS: Ways = {
    "the table itself": ["SELECT * FROM shoal.patients", "TABLE shoal.patients", "USE shoal", "SELECT * FROM patients"],
    "the view": [f"SELECT * FROM {VIEW}", f"SELECT JSON_ARRAYAGG(JSON_OBJECT('n', name, 'e', email)) FROM {VIEW}"],
    "definitions": [f"SHOW CREATE VIEW {VIEW}", "SHOW CREATE TABLE shoal.patients", f"SHOW FULL COLUMNS FROM {VIEW}",
                    "DESCRIBE shoal.patients", "SHOW CREATE DATABASE shoal"],
    "information_schema": ["SELECT * FROM information_schema.views", "SELECT * FROM information_schema.statistics",
                           "SELECT * FROM information_schema.columns WHERE table_schema <> 'information_schema' AND table_name = 'patients'",
                           "SELECT * FROM information_schema.tables WHERE table_name IN ('patients', 'keys')",
                           "SELECT * FROM information_schema.key_column_usage"],
    "statistics": ["SELECT * FROM mysql.column_stats", "SELECT * FROM mysql.table_stats", "SELECT * FROM mysql.index_stats",
                   "SELECT * FROM mysql.innodb_index_stats", "ANALYZE TABLE shoal.patients PERSISTENT FOR ALL",
                   "SHOW INDEX FROM shoal.patients", "SHOW TABLE STATUS FROM shoal"],
    "EXPLAIN": [f"EXPLAIN EXTENDED SELECT * FROM {VIEW} WHERE age = '30-39'", f"EXPLAIN FORMAT=JSON SELECT * FROM {VIEW}",
                "EXPLAIN EXTENDED SELECT * FROM shoal.patients WHERE id = 1", f"EXPLAIN EXTENDED SELECT * FROM {VIEW} WHERE region = 'south'"],
    "ANALYZE": [f"ANALYZE FORMAT=JSON SELECT * FROM {VIEW}", f"ANALYZE SELECT * FROM {VIEW} WHERE name > 'A'", "SHOW EXPLAIN FOR 1"],
    "the trace of the optimizer": ["SET optimizer_trace = 'enabled=on'", f"SELECT * FROM {VIEW} WHERE region = 'south' AND name > 'B'",
                                   "SELECT * FROM information_schema.optimizer_trace"],
    "prepared statements": [f"PREPARE p FROM 'SELECT * FROM {VIEW} WHERE name LIKE ?'", "SET @all = '%'", "EXECUTE p USING @all",
                            "PREPARE q FROM 'SELECT name FROM shoal.patients'", "EXECUTE q"],
    "immediate statements": ["EXECUTE IMMEDIATE CONCAT('SELECT * FROM sho', 'al.patients')", f"EXECUTE IMMEDIATE 'SELECT name FROM {VIEW}'"],
    "cursors": [f"BEGIN NOT ATOMIC DECLARE n TEXT; DECLARE c CURSOR FOR SELECT name FROM {VIEW}; OPEN c; FETCH c INTO n; SELECT n; END",
                "BEGIN NOT ATOMIC DECLARE n TEXT; DECLARE c CURSOR FOR SELECT name FROM shoal.patients; OPEN c; FETCH c INTO n; SELECT n; END"],
    "HANDLER": [f"HANDLER {VIEW} OPEN", "HANDLER shoal.patients OPEN", "HANDLER patients READ FIRST"],
    "common table expressions": [f"WITH p AS (SELECT * FROM {VIEW}) SELECT * FROM p", "WITH p AS (SELECT * FROM shoal.patients) SELECT * FROM p"],
    "subqueries": [f"SELECT (SELECT GROUP_CONCAT(name) FROM {VIEW}), (SELECT MAX(email) FROM {VIEW})",
                   f"SELECT * FROM {VIEW} AS v WHERE EXISTS (SELECT 1 FROM shoal.patients AS p WHERE p.name LIKE CONCAT(LEFT(v.name, 1), '%'))"],
    "unions": [f"SELECT name FROM {VIEW} UNION SELECT name FROM shoal.patients", f"SELECT name FROM {VIEW} INTERSECT SELECT 'Asha Ra' 'o'"],
    "temporary tables": [f"CREATE TEMPORARY TABLE t AS SELECT * FROM {VIEW}", "CREATE TEMPORARY TABLE t LIKE shoal.patients", "SELECT * FROM t"],
    "views of one's own": ["CREATE VIEW shoal_analyst.v AS SELECT * FROM shoal.patients", f"ALTER VIEW {VIEW} AS SELECT * FROM shoal.patients",
                           f"CREATE OR REPLACE SQL SECURITY INVOKER VIEW {VIEW} AS SELECT 1", f"DROP VIEW {VIEW}", f"SELECT * FROM {VIEW}"],
    "functions": ["CREATE FUNCTION shoal_analyst.f(x TEXT) RETURNS TEXT RETURN x", "CREATE AGGREGATE FUNCTION shoal_analyst.g(x TEXT) "
                  "RETURNS TEXT RETURN x", f"SELECT shoal_analyst.f(name) FROM {VIEW}"],
    "procedures": ["CREATE PROCEDURE shoal_analyst.p() SQL SECURITY DEFINER SELECT * FROM shoal.patients", "CALL shoal_analyst.p()",
                   f"SELECT * FROM {VIEW} PROCEDURE ANALYSE()", "SELECT * FROM shoal.patients PROCEDURE ANALYSE()"],
    "triggers": ["CREATE TRIGGER shoal_analyst.t BEFORE UPDATE ON shoal.patients FOR EACH ROW SET @seen = OLD.name", "SELECT @seen"],
    "events": ["CREATE EVENT shoal_analyst.e ON SCHEDULE AT CURRENT_TIMESTAMP DO SELECT 1", "SHOW EVENTS"],
    "files": [f"SELECT * FROM {VIEW} INTO OUTFILE '/tmp/shoal-live-out'", "SELECT LOAD_FILE('/etc/passwd')",
              "LOAD DATA INFILE '/etc/passwd' INTO TABLE shoal.patients", f"SELECT name INTO DUMPFILE '/tmp/shoal-live-dump' FROM {VIEW}"],
    "errors of casts": [f"SELECT CAST(name AS SIGNED), CAST(diagnosis AS SIGNED) FROM {VIEW}", f"SELECT * FROM {VIEW} WHERE diagnosis = 0",
                        f"SELECT * FROM {VIEW} WHERE CAST(diagnosis AS DATE) IS NULL", f"SELECT name + 0, email + 0, id + 0 FROM {VIEW}"],
    "errors of functions": [f"SELECT EXTRACTVALUE(1, CONCAT(0x7e, name)) FROM {VIEW}", f"SELECT UPDATEXML(1, CONCAT(0x7e, diagnosis), 1) FROM {VIEW}",
                            f"SELECT * FROM {VIEW} WHERE EXTRACTVALUE(1, CONCAT(0x7e, diagnosis))", f"SELECT EXP(salary * 1000) FROM {VIEW}",
                            f"SELECT * FROM {VIEW} WHERE EXP(salary * 1000) > 0", f"SELECT GEOMFROMTEXT(name) FROM {VIEW}",
                            f"SELECT * FROM {VIEW} WHERE JSON_VALID(diagnosis) OR JSON_EXTRACT(diagnosis, '$.x') = 1"],
    "errors of arithmetic": [f"SELECT 1 / (salary - 1200), salary DIV 0 FROM {VIEW}", f"SELECT * FROM {VIEW} WHERE 1 / (salary - 100000)",
                             f"SELECT CAST(salary * 1e300 AS SIGNED) FROM {VIEW}", f"SELECT * FROM {VIEW} WHERE ~0 + salary > 0"],
    "errors with their context": [f"BEGIN NOT ATOMIC DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN GET DIAGNOSTICS CONDITION 1 @m = MESSAGE_TEXT; "
                                  f"SELECT @m; END; SELECT EXTRACTVALUE(1, CONCAT('~', diagnosis)) FROM {VIEW}; END"],
    "probing by LIKE": [f"SELECT 'hit' FROM {VIEW} WHERE name LIKE 'Asha%'", f"SELECT 'hit' FROM {VIEW} WHERE name REGEXP 'Rao$'",
                        f"SELECT 'hit' FROM {VIEW} WHERE email LIKE 'asha%'", f"SELECT 'hit' FROM {VIEW} WHERE name SOUNDS LIKE 'Asha Rao'"],
    "probing by range": [f"SELECT 'hit' FROM {VIEW} WHERE salary BETWEEN 1234 AND 1235", f"SELECT 'hit' FROM {VIEW} WHERE postal = '411005'",
                         f"SELECT 'hit' FROM {VIEW} WHERE born > '1990-02-02' AND born < '1990-02-04'", f"SELECT 'hit' FROM {VIEW} HAVING id = '1'"],
    "joins to own values": [f"SELECT 'hit' FROM (SELECT 'Asha Ra' 'o' AS g UNION SELECT '1' UNION SELECT '411' '005') AS t "
                            f"JOIN {VIEW} AS v ON t.g IN (v.id, v.name, v.postal)"],
    "sorting and windows": [f"SELECT name, RANK() OVER (ORDER BY salary), LAG(email) OVER (ORDER BY id) FROM {VIEW}",
                            f"SELECT MIN(born), MAX(born), GROUP_CONCAT(postal ORDER BY postal) FROM {VIEW}"],
    "user variables": ["SET @n = ''", f"SELECT @n := CONCAT(@n, name, diagnosis) FROM {VIEW}", f"SELECT 1 FROM {VIEW} WHERE (@n := diagnosis) = 'x'",
                       "SELECT @n"],
    "conditions that take time or note": [f"SELECT * FROM {VIEW} WHERE BENCHMARK(1, diagnosis) = 1", f"SELECT * FROM {VIEW} WHERE SLEEP(0) = 1 OR "
                                          "GET_LOCK(CONCAT('seen ', diagnosis), 0)", "SELECT * FROM information_schema.metadata_lock_info"],
    "writing through the view": [f"UPDATE {VIEW} SET diagnosis = 'x'", f"DELETE FROM {VIEW} RETURNING *", f"INSERT INTO {VIEW} (diagnosis) VALUES ('x')",
                                 f"REPLACE INTO {VIEW} (diagnosis) VALUES ('x')", f"SELECT * FROM {VIEW} FOR UPDATE", "LOCK TABLES shoal.patients READ"],
    "keys": ["SELECT * FROM shoal_keys.keys", "SHOW TABLES FROM shoal_keys", "USE shoal_keys"],
    "other roles": ["SET ROLE doctor", "SELECT * FROM shoal_doctor.patients", "SELECT * FROM mysql.global_priv", "SHOW GRANTS FOR shoal@'127.0.0.1'"],
    "grants": ["GRANT SELECT ON shoal.* TO analyst@'%'", "GRANT doctor TO analyst", "SELECT * FROM shoal.patients", "SET PASSWORD FOR shoal@'127.0.0.1' = ''"],
    "activity of others": ["SHOW FULL PROCESSLIST", "SELECT * FROM performance_schema.events_statements_history", "SHOW ENGINE INNODB STATUS",
                           "SELECT * FROM information_schema.processlist", "SELECT * FROM mysql.general_log", "SHOW BINARY LOGS", "SHOW BINLOG EVENTS"],
    "flags of regular expressions": ["SET default_regex_flags = 'EXTENDED,MULTILINE,UNGREEDY,DOTALL'", f"SELECT * FROM {VIEW}"],
    "modes of the session": ["SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,PAD_CHAR_TO_FULL_LENGTH,NO_UNSIGNED_SUBTRACTION'",
                             f"SELECT * FROM {VIEW}", "SET sql_mode = 'ORACLE'", f"SELECT * FROM {VIEW}", "SET div_precision_increment = 0",
                             "SET group_concat_max_len = 4", "SET time_zone = '+13:00'", "SET lc_time_names = 'de_DE'", f"SELECT * FROM {VIEW}"],
    "letters of the session": ["SET NAMES latin1", f"SELECT * FROM {VIEW}", "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci",
                               "SET collation_connection = utf8mb4_unicode_ci", f"SELECT * FROM {VIEW} WHERE name = 'A*******'",
                               "SET optimizer_switch = 'derived_merge=off,condition_pushdown_for_derived=on'", f"SELECT * FROM {VIEW} WHERE diagnosis + 0"],
}  # fmt: skip


@pytest.fixture(scope="module")
def masked(mariadb_url: str, tmp_path_factory: pytest.TempPathFactory, live_vault: Vault) -> Iterator[House]:
    folder: Path = tmp_path_factory.mktemp("bypass")
    with House(mariadb_url, folder, live_vault) as house:
        house.own("CREATE INDEX by_name ON patients (name)", "CREATE INDEX by_region ON patients (region)")
        house.live(rows={"patients": "region = 'north'"}).apply()
        yield house


def test_there_are_enough_ways() -> None:
    assert len(WAYS) >= 25


def test_the_guard_sees_what_a_role_sees(masked: House) -> None:
    """The owner, asked in the same ways, shows each of the values."""
    asked = ["SELECT * FROM shoal.patients", "SELECT CAST(diagnosis AS SIGNED) FROM shoal.patients"]
    seen = observed(masked, None, asked)
    assert all(secret in seen for secret in (*SECRETS[:6], "asthma"))
    assert "INTEGER value: 'asthma'" in seen


@pytest.mark.parametrize("way", WAYS)
def test_no_way_leads_around_a_mask(masked: House, way: str) -> None:
    seen = observed(masked, "analyst", WAYS[way])
    assert seen
    assert not [secret for secret in HIDDEN if secret in seen]
    assert "'hit'" not in seen


@pytest.mark.parametrize("options", [["shoal_analyst"], ["shoal"], ["--all-databases"], ["--databases", "shoal", "shoal_keys"]])
def test_a_dump_holds_nothing(masked: House, options: list[str]) -> None:
    seen = dumped(masked, "analyst", "--no-tablespaces", *options)
    assert seen
    assert not [secret for secret in HIDDEN if secret in seen]


def test_the_clock_of_a_session_doesnt_give_time_back(masked: House) -> None:
    """The role's time is over; NOW can be set, what the view goes by can't."""
    masked.live(until="2020-01-01").apply()
    tried = ["SET timestamp = 1000000000", f"SELECT * FROM {VIEW}", "SET time_zone = '-12:00'", f"SELECT * FROM {VIEW}"]
    seen = observed(masked, "analyst", tried)
    masked.live(rows={"patients": "region = 'north'"}).apply()
    assert "A*******" not in seen
    assert "A*******" in observed(masked, "analyst", [f"SELECT * FROM {VIEW}"])
