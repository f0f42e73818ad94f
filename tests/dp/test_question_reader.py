# ruff: noqa: E501, S608 - each question stands in one line, and none is run by a database
"""SQL to questions: what is understood, what is refused and with which advice, and that nothing else ever comes out."""

from __future__ import annotations

import datetime

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dp.datasets import described, plan_of, table, two_tables

from shoal.dp.noisy_answer import with_noise, worked_out
from shoal.dp.question import AggregateFunction, Question
from shoal.dp.scalars import ScalarCall, ScalarColumn, ScalarConstant
from shoal.dp.sql.question_reader import read_questions
from shoal.dp.tabulation import checked_frames, tabulated
from shoal.errors import InputError, RefusedQuestion

pytestmark = pytest.mark.requirement("C-01")


def read(sql: str) -> Question:
    (question,) = read_questions(sql, described())
    return question


UNDERSTOOD = [
    "SELECT COUNT(*) FROM t",
    "select count(1) from people",
    "SELECT COUNT('x'), COUNT(TRUE), SUM(1), AVG(2.5), SUM(2 * 3) FROM t",
    "SELECT COUNT(age), COUNT(region), COUNT(DISTINCT who) FROM t",
    "SELECT SUM(age), AVG(income), VARIANCE(age), VAR_POP(age), STDDEV(age), STDDEV_POP(age), STDDEV_SAMP(age) FROM t",
    "SELECT MEDIAN(age), QUANTILE(age, 0.9), APPROX_QUANTILE(income, 0.25) FROM t",
    "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age), PERCENTILE_DISC(0.1) WITHIN GROUP (ORDER BY age) FROM t",
    "SELECT COUNT_IF(age > 30), SUM(CASE WHEN member THEN 1 ELSE 0 END) FROM t",
    "SELECT region, COUNT(*) FROM t GROUP BY region",
    "SELECT region, member, COUNT(*) FROM t GROUP BY 1, 2",
    "SELECT age - age % 10 AS decade, COUNT(*) AS n FROM t GROUP BY decade HAVING n > 5 ORDER BY n DESC, 1 LIMIT 3",
    "SELECT YEAR(seen) AS y, QUARTER(seen), COUNT(*) FROM t GROUP BY YEAR(seen), QUARTER(seen)",
    "SELECT EXTRACT(MONTH FROM seen) AS m, COUNT(*) FROM t GROUP BY m",
    "SELECT EXTRACT(ISODOW FROM seen) AS d, COUNT(*) FROM t GROUP BY d",
    "SELECT DATE_TRUNC('month', seen) AS m, COUNT(*) FROM t GROUP BY m",
    "SELECT DATE_TRUNC('month', seen) AS m, DAY(seen) AS d, COUNT(*) FROM t GROUP BY m, d",
    "SELECT COUNT(*) FROM t WHERE age BETWEEN 30 AND 40 AND NOT region IN ('north', 'south') OR town LIKE 'E%_'",
    "SELECT COUNT(*) FROM t WHERE town NOT LIKE 'E%' AND NOT town NOT LIKE '_y%'",
    "SELECT COUNT(*) FROM t WHERE seen >= '2026-01-01' AND seen < DATE '2026-02-01' AND seen BETWEEN '2026-01-01' AND seen",
    "SELECT COUNT(*) FROM t WHERE age IS NULL OR income IS NOT NULL OR member IS TRUE OR member IS NOT FALSE",
    "SELECT COUNT(*) FROM t WHERE CASE region WHEN 'north' THEN age > 3 ELSE member END",
    "SELECT COUNT(*) FROM t WHERE IF(member, age, income) / 0 > 1 AND LN(free) > SQRT(free) AND LOWER(town) = UPPER(town)",
    "SELECT COUNT(*) FROM t WHERE LENGTH(town) > 3 AND ABS(-age) + FLOOR(income) > CEIL(free) - ROUND(free)",
    "SELECT SUM(LEAST(GREATEST(free, 0), 100)), AVG(COALESCE(income, age, 0)) FROM t",
    "SELECT SUM(CAST(member AS INT)), SUM(CAST(income AS INT)), SUM(CAST(age AS DOUBLE)) FROM t",
    "SELECT COUNT(*) FROM t WHERE NULL OR NOT NULL OR age = NULL OR LOWER(NULL) LIKE 'a' OR YEAR(NULL) > NULL + 1",
    "SELECT SUM(age) / COUNT(*) AS mean, COUNT(*) > 3 AS many, CASE WHEN COUNT(*) > 3 THEN 'a' ELSE 'b' END AS word FROM t",
    "SELECT 1 AS one, 'x' AS word, region, COUNT(*) FROM t GROUP BY region",
    "SELECT MEDIAN(age) - AVG(age) AS skew, region FROM t GROUP BY region",
    "WITH adults AS (SELECT age, region, who FROM t WHERE age > 17) SELECT region, COUNT(*) FROM adults GROUP BY region",
    "WITH a AS (SELECT * FROM t WHERE age > 3), b AS (SELECT age + 1 AS older FROM a) SELECT SUM(older) FROM b",
    "SELECT region, member, COUNT(*), AVG(age), SUM(age) / COUNT(*) FROM t GROUP BY ROLLUP (region, member) ORDER BY 3",
    "SELECT region, member, COUNT(*) AS n FROM t GROUP BY GROUPING SETS ((region, member), (member), ()) HAVING n > 3",
    "SELECT region, member, SUM(age) FROM t GROUP BY 1, CUBE (member)",
    "SELECT region, SUM(age) FROM t GROUP BY region WITH TOTALS",
    "SELECT region, SUM(age) FROM t GROUP BY region WITH ROLLUP",
    "SELECT AVG(x) FROM (SELECT age * 2 AS x FROM t WHERE member) AS s WHERE x > 10",
    "SELECT COUNT(*) AS n, SUM(age) AS n_low, AVG(age) AS n FROM t",
    "SELECT age AS region, region AS r, COUNT(*) FROM t GROUP BY age, region",
    "SELECT COUNT(*) FROM t WHERE " + " OR ".join(f"age = {age}" for age in range(60)),
    "SELECT COUNT(*) FROM t WHERE age IN (" + ", ".join(map(str, range(500))) + ")",
]


@pytest.mark.parametrize("sql", UNDERSTOOD)
def test_understood_and_answered(sql: str) -> None:
    """On rows that hold nothing sensible too: a question that was read never fails later."""
    plan = plan_of(sql)
    rows = [{"who": f"p{place}", "region": "north", "age": place, "seen": "2026-01-31"} for place in range(30)]
    odd = [{"who": "x", "age": "NaN", "free": "1e308", "income": "-1e400", "town": "\x00", "seen": "soon"}]
    for given_rows in (rows + odd, odd, []):
        exact = tabulated(plan, checked_frames(plan, [table(given_rows)]))
        answer = worked_out(plan, with_noise(plan, exact))
        assert answer.frame.height <= (plan.groups or 1) * max(1, len(plan.question.levels))
        assert set(answer.estimates) <= set(answer.frame.columns)


REFUSED = [
    ("SELECT * FROM t", "shows rows"),
    ("SELECT age FROM t", "neither grouped by nor within"),
    ("SELECT who, COUNT(*) FROM t GROUP BY who", "names the person"),
    ("SELECT MIN(age) FROM t", "one person's value"),
    ("SELECT MAX(age) FROM t", "one person's value"),
    ("SELECT SUM(free) FROM t", "no public bounds"),
    ("SELECT MEDIAN(free) FROM t", "no public bounds"),
    ("SELECT SUM(region) FROM t", "is no number"),
    ("SELECT SUM(age / (age - 50)) FROM t", "no public bounds"),
    ("SELECT COUNT(DISTINCT region) FROM t", "only people are counted once"),
    ("SELECT SUM(DISTINCT age) FROM t", "DISTINCT"),
    ("SELECT COUNT(age, region) FROM t", "more than is understood"),
    ("SELECT COUNT(*) OVER () FROM t", "windows"),
    ("SELECT DISTINCT region FROM t", "not understood"),
    ("SELECT COUNT(*)", "FROM is missing"),
    ("SELECT COUNT(*) FROM tt", "no table 'tt'"),
    ("SELECT COUNT(*) FROM x.t", "more than is understood"),
    ("SELECT COUNT(*) FROM t TABLESAMPLE (10 PERCENT)", "more than is understood"),
    ("SELECT COUNT(*) FROM t AS x(a, b)", "more than is understood"),
    ("SELECT COUNT(*) FROM t, t AS u", "joined with itself"),
    ("SELECT COUNT(*) FROM t OFFSET 3", "not understood"),
    ("SELECT COUNT(*) FROM t FETCH FIRST 3 ROWS ONLY", "LIMIT takes"),
    ("SELECT COUNT(*) FROM t LIMIT 1 + 1", "LIMIT takes"),
    ("SELECT COUNT(*) FROM t WHERE age", "is no condition"),
    ("SELECT COUNT(*) FROM t WHERE agee > 3", "did you mean"),
    ("SELECT COUNT(*) FROM t WHERE region > 3", "several kinds"),
    ("SELECT COUNT(*) FROM t WHERE region BETWEEN 1 AND 2", "several kinds"),
    ("SELECT COUNT(*) FROM t WHERE region IN ('north', 3)", "several kinds"),
    ("SELECT COUNT(*) FROM t WHERE CASE region WHEN 3 THEN TRUE END", "several kinds"),
    ("SELECT COUNT(*) FROM t WHERE LEAST(age, income, region) > 2", "needs a number"),
    ("SELECT COUNT(*) FROM t WHERE seen > 'soon'", "a date is written"),
    ("SELECT COUNT(*) FROM t WHERE town LIKE region", "LIKE takes a text"),
    ("SELECT COUNT(*) FROM t WHERE town LIKE 'a!%' ESCAPE '!'", "not understood"),
    (f"SELECT COUNT(*) FROM t WHERE town LIKE '{'_' * 501}'", "at most 500"),
    ("EXPLAIN SELECT COUNT(*) FROM t", "not understood"),
    ("SELECT COUNT(*) FROM t WHERE town ILIKE 'a'", "LOWER"),
    ("SELECT COUNT(*) FILTER (WHERE age > 3) FROM t", "COUNT_IF"),
    ("SELECT SUM(POWER(age, 2)) FROM t", "x \\* x"),
    ("SELECT COUNT(*) FROM t WHERE age IN (SELECT age FROM t)", "list of values"),
    ("SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM t)", "single rows"),
    ("SELECT COUNT(*) FROM t WHERE RAND() > 0.5", "chance"),
    ("SELECT COUNT(*) FROM t WHERE CURRENT_DATE > seen", "change with the day"),
    ("SELECT COUNT(*) FROM t WHERE CAST(town AS INT) > 3", "not converted"),
    ("SELECT COUNT(*) FROM t WHERE CAST(income AS DECIMAL(10, 2)) > 3", "not converted"),
    ("SELECT COUNT(*) FROM t WHERE ROUND(income, 2) > 3", "more than is understood"),
    ("SELECT COUNT(*) FROM t WHERE EXTRACT(DOW FROM seen) = 0", "ISODOW"),
    ("SELECT SUM(1e300 * age) FROM t", "too wide"),
    ("SELECT SUM(1e999) FROM t", "too large"),
    ("SELECT QUANTILE(age, 1.5) FROM t", "between 0 and 1"),
    ("SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age DESC) FROM t", "rising order"),
    ("SELECT COUNT(*) FROM t GROUP BY ALL", "takes columns"),
    ("SELECT town, COUNT(*) FROM t GROUP BY ROLLUP (town)", "not told"),
    ("SELECT region, MEDIAN(age) FROM t GROUP BY ROLLUP (region)", "do not add up"),
    ("SELECT region, COUNT(DISTINCT who) FROM t GROUP BY ROLLUP (region)", "do not add up"),
    (
        "SELECT COUNT(*) FROM t GROUP BY CUBE (age, region, town, member, seen, income, free, YEAR(seen))",
        "too many totals",
    ),
    (
        "SELECT COUNT(*) FROM t GROUP BY CUBE (region, age), CUBE (member, seen), CUBE (age, seen), ROLLUP (age)",
        "levels of totals",
    ),
    ("SELECT COUNT(*) FROM t GROUP BY ROLLUP (region), member WITH TOTALS", "totals of totals"),
    ("SELECT COUNT(*) FROM t WHERE region = 'a\x00'", "NUL"),
    ("SELECT COUNT(*) FROM t GROUP BY 7", "no such column"),
    ("SELECT COUNT(*) FROM t ORDER BY 7", "no such column"),
    ("SELECT town, MEDIAN(age) FROM t GROUP BY town", "quantiles by groups"),
    ("SELECT COUNT(*) FROM t UNION SELECT COUNT(*) FROM t", "UNION ALL"),
    ("SELECT COUNT(*) FROM t INTERSECT SELECT COUNT(*) FROM t", "AND in WHERE"),
    ("(SELECT COUNT(*) FROM t) LIMIT 3", "more than is understood"),
    ("SELECT COUNT(*) FROM t; SELECT COUNT(*) FROM t", "one SELECT at a time"),
    ("DELETE FROM t", "only read"),
    ("DROP TABLE t", "only read"),
    ("WITH a AS (SELECT region, COUNT(*) AS n FROM t GROUP BY region) SELECT SUM(n) FROM a", "groups rows"),
    ("WITH a(x) AS (SELECT age FROM t) SELECT SUM(x) FROM a", "more than is understood"),
    ("WITH a AS (SELECT * EXCEPT (age) FROM t) SELECT SUM(age) FROM a", "more than is understood"),
    ("WITH RECURSIVE a AS (SELECT age FROM t) SELECT SUM(age) FROM a", "RECURSIVE"),
    ("SELECT region, region FROM t GROUP BY region", "asks for no figure"),
    ("SELECT GROUP_CONCAT(town) FROM t", "lists show rows"),
    ("nonsense", "can't be read|not understood"),
    ("", "one SELECT"),
    ("SELECT " + "(" * 5000, "can't be read|nested"),
    ("SELECT COUNT(*) FROM t WHERE age > " + "1 + " * 3000 + "1", "nested|can't be read"),
    ("SELECT COUNT(*) FROM t -- " + "x" * 20_001, "letters"),
    (
        "SELECT COUNT(*) AS a, " + ", ".join(f"x{n} + x{n} AS x{n + 1}" for n in range(40)) + ", a AS x0 FROM t",
        "nested",
    ),
    (" UNION ALL ".join(["SELECT COUNT(*) FROM t"] * 101), "at most 100"),
]


@pytest.mark.parametrize(("sql", "why"), REFUSED)
def test_refused_with_a_reason(sql: str, why: str) -> None:
    with pytest.raises(RefusedQuestion, match=f"(?s).*({why})") as caught:
        plan_of(sql)
    assert caught.value.exit_code == 2


def test_views_that_double_do_not_grow_without_end() -> None:
    views = ", ".join(f"v{n + 1} AS (SELECT x + x AS x FROM v{n})" for n in range(60))
    with pytest.raises(RefusedQuestion, match="nested"):
        read(f"WITH v0 AS (SELECT age AS x FROM t), {views} SELECT SUM(x) FROM v60")


def test_the_algebra_of_a_question() -> None:
    question = read("SELECT region AS r, AVG(age) FROM people p WHERE p.seen > '2026-01-31' GROUP BY region LIMIT 2")
    assert question.tables == ("people",)
    assert question.where == ScalarCall(">", (ScalarColumn("seen"), ScalarConstant(datetime.date(2026, 1, 31))))
    assert [key.scalar for key in question.keys] == [ScalarColumn("region")]
    assert [one.function for one in question.aggregates] == [AggregateFunction.MEAN]
    assert [one.name for one in question.outputs] == ["r", "avg_age"]
    assert question.limit == 2


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("SELECT COUNT(*) FROM t", "select  count( * )\nfrom T -- so", True),
        ("SELECT SUM(age) FROM t WHERE age > 3", "SELECT SUM(p.age) FROM people AS p WHERE (p.AGE) > 3.0", True),
        ("SELECT SUM(age) FROM t WHERE age > 3", "SELECT SUM(age) FROM t WHERE age >= 3", False),
        ("SELECT COUNT(*) FROM t WHERE town = '1'", "SELECT COUNT(*) FROM t WHERE town = 'a'", False),
        ("SELECT COUNT(*) FROM t WHERE member", "SELECT COUNT(*) FROM t WHERE NOT member", False),
        ("SELECT QUANTILE(age, 0.5) FROM t", "SELECT QUANTILE(age, 0.51) FROM t", False),
    ],
)
def test_questions_that_are_the_same(one: str, other: str, same: bool) -> None:
    assert (read(one).fingerprint() == read(other).fingerprint()) is same


def test_union_all_is_several_questions() -> None:
    questions = read_questions(
        "SELECT 'a' AS g, COUNT(*) FROM t WHERE age < 9 UNION ALL SELECT 'b', COUNT(*) FROM t UNION ALL SELECT 'c', SUM(age) FROM t",
        described(),
    )
    assert [len(one.aggregates) for one in questions] == [1, 1, 1]
    assert questions[0].where is not None
    assert questions[1].where is None


JOIN = "SELECT region, SUM(cost) FROM people p JOIN visits v ON p.who = v.who GROUP BY region"


def test_a_join_on_the_person() -> None:
    (question,) = read_questions(JOIN, two_tables())
    assert question.tables == ("people", "visits")
    (using,) = read_questions(JOIN.replace("ON p.who = v.who", "USING (who)"), two_tables())
    assert using == question


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("JOIN", "LEFT JOIN"), "inner JOIN"),
        (("p.who = v.who", "p.region = v.cost"), "person alone"),
        (("p.who = v.who", "p.who > v.who"), "person alone"),
        (("ON p.who = v.who", ""), "person alone"),
        (("visits v", "people v"), "with itself"),
        (("p.who = v.who", "p.who = v.who AND cost > 3"), "person alone"),
    ],
)
def test_other_joins_are_refused(change: tuple[str, str], why: str) -> None:
    with pytest.raises(RefusedQuestion, match=why):
        read_questions(JOIN.replace(*change), two_tables())


WORDS = st.sampled_from(
    ["SELECT", "FROM", "t", "WHERE", "GROUP", "BY", "HAVING", "ORDER", "LIMIT", "COUNT", "(", ")", "*", ",", "age", "income", "region", "town", "member", "seen", "who", "=", "<", ">", "<=", "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "CASE", "WHEN", "THEN", "ELSE", "END", "IS", "NULL", "TRUE", "1", "0.5", "-3", "'a'", "'2026-01-01'", "SUM", "AVG", "MEDIAN", "+", "-", "/", "%", "AS", "x", "DATE", "CAST", "INT", "UNION", "ALL", "WITH", "JOIN", "ON", "USING", "YEAR", "EXTRACT", "MONTH", "QUANTILE", "DISTINCT", "OVER", "1e400", ";", "--", "INTERVAL", "DAY", "ARRAY", "[", "]", "{", "}", "@x", "?", ":p", "$1", "COALESCE", "LEAST", "::", ".", "t.age", "OFFSET", "TOP", "QUALIFY", "LATERAL", "UNNEST", "VALUES"]
)  # fmt: skip


@given(st.lists(WORDS, max_size=25).map(" ".join) | st.lists(WORDS, max_size=8).map(" ".join).map("SELECT COUNT(*), {} FROM t".format)
    | st.lists(WORDS, min_size=1, max_size=10).map(" ".join).map("SELECT COUNT(*) FROM t WHERE {}".format) | st.text(max_size=40))  # fmt: skip
@settings(max_examples=300)
def test_whatever_is_asked_is_understood_or_refused(sql: str) -> None:
    """And what is understood is answered."""
    try:
        plan = plan_of(sql)
    except InputError:
        return
    exact = tabulated(plan, checked_frames(plan, [table([{"who": "a", "age": "x", "town": "y", "seen": "z"}])]))
    assert isinstance(worked_out(plan, with_noise(plan, exact)).frame, pl.DataFrame)
