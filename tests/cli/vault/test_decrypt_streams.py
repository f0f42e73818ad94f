"""``shoal vault decrypt`` holds no more of a table than a few batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import polars as pl
import pytest
from polars.io.plugins import register_io_source

from shoal.cli.vault.decrypt import _opened

BATCHES = 400


class Reversing:
    """Stands for a technique: what it undoes is read from the end."""

    def undo(self, _column: str, sealed: pl.Series, _opening: object) -> pl.Series:
        return sealed.str.reverse()


@pytest.mark.requirement("T-19", "T-21")
def test_what_is_decrypted_does_not_wait_for_the_whole_table() -> None:
    read: list[int] = []

    def batches(columns: list[str] | None, *_: object) -> Iterator[pl.DataFrame]:
        read.clear()
        for number in range(BATCHES):
            read.append(number)
            yield pl.DataFrame({"phone": [f"{number:03}"] * 1_000, "kept": [number] * 1_000}).select(
                columns or pl.all()
            )

    frame = register_io_source(batches, schema={"phone": pl.String(), "kept": pl.Int64()})
    opened = _opened(frame, "phone", cast(Any, Reversing()), cast(Any, None))
    written = opened.collect_batches(chunk_size=1_000, maintain_order=True, engine="streaming")
    first = next(written)
    seen = len(read)
    assert first["phone"][0] == "000"
    assert seen < BATCHES / 2, "most of the table was read before anything of it was written"
    last = pl.concat([first, *written])
    assert last.filter(pl.col("phone") != pl.col("kept").cast(pl.String).str.zfill(3).str.reverse()).is_empty()
    assert last.height == BATCHES * 1_000
