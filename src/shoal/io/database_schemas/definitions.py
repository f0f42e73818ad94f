"""Views, checks, defaults and comments: text in a schema that somebody wrote, and that may hold a value.

Only what is seen to hold none is copied. What is left out is listed, so that its owner can add it by hand.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

_TEXT: Final = re.compile(r"'[^']*[^'\s][^']*'|\$\w*\$|\"\"")
_WORD: Final = re.compile(r"\w+")
_LONG_NUMBER: Final = re.compile(r"\d{5,}")
_COMMENT: Final = re.compile(r"[@\"'«»“”]|\d{3,}")


def holds_text(definition: str) -> bool:
    """Whether a text or a long number stands in it; a check of a status lists words, a default is a word.

    >>> holds_text("status IN ('open', 'closed')"), holds_text("age >= 0"), holds_text("now()")
    (True, False, False)
    """
    return bool(_TEXT.search(definition) or _LONG_NUMBER.search(definition))


def names_any(definition: str, columns: Collection[str]) -> bool:
    """Whether it may be about one of the columns."""
    words = {word.lower() for word in _WORD.findall(definition)}
    return any({part.lower() for part in _WORD.findall(name)} <= words for name in columns)


def may_name_somebody(comment: str) -> bool:
    """A comment describes a column; one with quoted words, addresses or long numbers may give an example.

    >>> may_name_somebody("Date of admission"), may_name_somebody("e.g. 'Smith'")
    (False, True)
    """
    return bool(_COMMENT.search(comment))


def view_for(definition: str, source: str, target: str, known: Collection[str], db_schema: str | None) -> str:
    """The query of a view for the copy; a ValueError says why it is not copied.

    It may read what is copied and nothing else: a view that reads the originals would show them.
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        tree = sqlglot.parse_one(definition.strip().rstrip(";"), read=_SQLGLOT[source])
    except SqlglotError:
        raise ValueError("its definition can't be read") from None
    if isinstance(tree, exp.Create):
        tree = tree.expression
    if not isinstance(tree, exp.Query):
        raise ValueError("its definition can't be read")  # noqa: TRY004  # of what was given, not of a programmer's type
    if any(isinstance(node, exp.Literal) and node.is_string for node in tree.walk()):
        raise ValueError("its definition holds a text")
    if any(_LONG_NUMBER.search(str(node.this)) for node in tree.find_all(exp.Literal)):
        raise ValueError("its definition holds a number that may be a value")
    own = {cte.alias for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        away = table.catalog or (table.db and table.db != db_schema)
        if not isinstance(table.this, exp.Identifier) or away or (table.name not in known and table.name not in own):
            raise ValueError("it reads what is not copied")
        table.set("db", None)
    for column in tree.find_all(exp.Column):
        column.set("db", None)
    return tree.sql(dialect=_SQLGLOT[target], identify=True)


_SQLGLOT: Final = {
    "postgresql": "postgres",
    "mysql": "mysql",
    "sqlite": "sqlite",
    "oracle": "oracle",
    "mssql": "tsql",
}
