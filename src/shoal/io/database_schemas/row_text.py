"""Rows as text that a database reads: for PostgreSQL's COPY, and as the values of INSERT statements."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Final

import polars as pl

from shoal.errors import TargetError

NULL: Final = r"\N"
_ESCAPES: Final = (("\\", "\\\\"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t"))
_ROWS: Final = {"oracle": 1, "mssql": 500}
"""How many rows an INSERT may have, where that is few."""
_MOST: Final = 1_000


def copy_text(batch: pl.DataFrame, label: str) -> bytes:
    r"""The rows in the text format of COPY: a tab between values, ``\N`` for none.

    >>> copy_text(pl.DataFrame({"a": ["x\ty", None], "b": [1, 2]}), "")
    b'x\\ty\t1\n\\N\t2\n'
    """
    texts = [name for name, dtype in batch.schema.items() if isinstance(dtype, pl.String)]
    _refuse_zeros(batch, texts, label)
    written = io.BytesIO()
    escaped = batch.with_columns(_escaped(pl.col(name)) for name in texts if _needs_escapes(batch[name]))
    escaped = escaped.with_columns(
        pl.format("\\\\x{}", pl.col(name).bin.encode("hex")).alias(name)
        for name, dtype in batch.schema.items()
        if isinstance(dtype, pl.Binary)
    )
    escaped.write_csv(written, separator="\t", quote_style="never", null_value=NULL, include_header=False)
    return written.getvalue()


def _needs_escapes(values: pl.Series) -> bool:
    return bool(values.str.contains(r"[\\\n\r\t]").any())


def _escaped(values: pl.Expr) -> pl.Expr:
    for sign, written in _ESCAPES:
        values = values.str.replace_all(sign, written, literal=True)
    return values


def _refuse_zeros(batch: pl.DataFrame, texts: list[str], label: str) -> None:
    """Other databases have texts with a zero byte in them; PostgreSQL has none."""
    for name in texts:
        found = int(batch[name].str.contains("\0", literal=True).sum() or 0)
        if found:
            raise TargetError(f"{label}: column '{name}': {found} text(s) hold a zero byte, which can't be stored")


def inserts(batch: pl.DataFrame, table: str, columns: str, kind: str) -> Iterator[str]:
    """Whole statements; names are quoted already.

    >>> list(inserts(pl.DataFrame({"a": ["it's", None]}), "t", "a", "sqlite"))
    ["INSERT INTO t (a) VALUES\\n('it''s'),\\n(NULL);\\n"]
    """
    literals = batch.select(literal_of(pl.col(name), dtype, kind).alias(name) for name, dtype in batch.schema.items())
    rows = literals.select(pl.format("({})", pl.concat_str(pl.all(), separator=", "))).to_series()
    most = _ROWS.get(kind, _MOST)
    for start in range(0, len(rows), most):
        values = ",\n".join(rows.slice(start, most).to_list())
        yield f"INSERT INTO {table} ({columns}) VALUES\n{values};\n"


def literal_of(values: pl.Expr, dtype: pl.DataType, kind: str) -> pl.Expr:
    if isinstance(dtype, pl.Boolean):
        words = ("TRUE", "FALSE") if kind in {"postgresql", "mysql"} else ("1", "0")
        written = pl.when(values).then(pl.lit(words[0])).otherwise(pl.lit(words[1]))
    elif dtype.is_float():
        finite = values.cast(pl.Float64)
        written = pl.when(finite.is_finite()).then(finite.cast(pl.String)).otherwise(pl.lit("NULL"))
    elif dtype.is_numeric():
        written = values.cast(pl.String)
    elif isinstance(dtype, pl.Binary):
        digits = values.bin.encode("hex")
        written = pl.format("0x{}" if kind == "mssql" else "HEXTORAW('{}')" if kind == "oracle" else "X'{}'", digits)
    elif isinstance(dtype, pl.Date):
        written = pl.format("DATE '{}'" if kind == "oracle" else "'{}'", values.dt.to_string("%Y-%m-%d"))
    elif isinstance(dtype, pl.Datetime):
        shown = values.dt.to_string("%Y-%m-%d %H:%M:%S%.6f")
        written = pl.format("TIMESTAMP '{}'" if kind == "oracle" else "'{}'", shown)
    else:
        written = _text_literal(values, kind)
    return pl.when(values.is_null()).then(pl.lit("NULL")).otherwise(written)


def _text_literal(values: pl.Expr, kind: str) -> pl.Expr:
    if kind == "mysql":
        values = values.str.replace_all("\\", "\\\\", literal=True)
    quoted = values.str.replace_all("'", "''", literal=True)
    return pl.format("N'{}'" if kind == "mssql" else "'{}'", quoted)
