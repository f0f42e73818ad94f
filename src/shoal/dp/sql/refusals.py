"""What can't be asked, why, and what can be asked instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from shoal.errors import RefusedQuestion

ADVICE: Final[Mapping[str, tuple[str, str]]] = {
    "Min": ("MIN is one person's value", "ask for a low quantile: QUANTILE(x, 0.05)"),
    "Max": ("MAX is one person's value", "ask for a high quantile: QUANTILE(x, 0.95)"),
    "Star": ("SELECT * shows rows", "ask for figures: COUNT(*), SUM(x), AVG(x), MEDIAN(x)"),
    "ArrayAgg": ("lists show rows", "ask for figures: COUNT(*), SUM(x), AVG(x)"),
    "GroupConcat": ("lists show rows", "ask for figures: COUNT(*), SUM(x), AVG(x)"),
    "Filter": ("FILTER is not understood", "use COUNT_IF(age > 30), or SUM(CASE WHEN age > 30 THEN x END)"),
    "Pow": ("powers are not understood", "multiply: x * x"),
    "Window": ("windows look at single rows", "group instead: SELECT key, COUNT(*) … GROUP BY key"),
    "Subquery": ("a subquery stands in FROM only, and chooses rows", "write it as WITH name AS (SELECT … FROM t)"),
    "Exists": ("EXISTS asks about single rows", "use WHERE on columns of the row, or JOIN on the person"),
    "Rand": ("chance comes from the curator alone", "leave it out"),
    "CurrentDate": ("what a question means must not change with the day", "write the date: DATE '2026-01-31'"),
    "CurrentTimestamp": ("what a question means must not change with the day", "write the date: DATE '2026-01-31'"),
    "RegexpLike": ("regular expressions are not understood", "use LIKE with % and _"),
    "ILike": ("ILIKE is not understood", "use LOWER(x) LIKE 'a%'"),
    "Anonymous": ("a function that is not known here", "use arithmetic, CASE, LIKE, IN, BETWEEN, LEAST, GREATEST"),
    "Insert": ("the data are only read", "begin with SELECT"),
    "Update": ("the data are only read", "begin with SELECT"),
    "Delete": ("the data are only read", "begin with SELECT"),
    "Drop": ("the data are only read", "begin with SELECT"),
    "Create": ("the data are only read", "begin with SELECT"),
    "Pivot": ("PIVOT is not understood", "group by the column instead"),
    "Intersect": ("INTERSECT compares rows", "use AND in WHERE"),
    "Except": ("EXCEPT compares rows", "use AND NOT in WHERE"),
}
"""By the name of what sqlglot read."""


def refusal(kind: str, shown: str) -> RefusedQuestion:
    """For a part of SQL, named and shown as it was asked: it holds nothing but the asker's own words."""
    why, instead = ADVICE.get(kind, ("it is not understood", "see the page on questions for all that is"))
    return RefusedQuestion(f"{shown[:60]}: {why}", advice=instead)
