"""Writing without quotes gives the same bytes as writing with them, and gives way where a cell needs them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import pytest

from shoal.engine.polars import PolarsEngine
from shoal.io import FileTarget, file_target, open_source, parse_source
from shoal.schema import Column, Step
from shoal.techniques.generalisation.generalise import LookUpStep

pytestmark = pytest.mark.requirement("D-01")


@dataclass(frozen=True)
class Says(Step):
    """Puts one text in every third cell."""

    text: str

    @property
    def reads(self) -> tuple[str, ...]:
        return ("a",)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        row = pl.int_range(pl.len())
        return frame.with_columns(pl.when(row % 3 == 1).then(pl.lit(self.text)).otherwise("a").alias("a"))


def written(tmp_path: Path, step: Step | None, *, plain: bool, name: str) -> bytes:
    (tmp_path / "in.csv").write_text("a,b\n" + "".join(f"x{row},{row}\n" for row in range(40)))
    source = open_source(parse_source(str(tmp_path / "in.csv")))
    engine = PolarsEngine(batch_rows=7)
    table = engine.map(engine.scan(source), [step] if step else [])
    target = file_target(tmp_path / name, like=source)
    assert target.plain
    assert engine.sink(table, target if plain else replace(target, plain=False)) == 40
    return target.path.read_bytes()


@pytest.mark.parametrize("text", ["plain", "a,b", 'say "x"', "two\nlines", "cr\rcr", "", "é", " "])
def test_same_bytes_with_and_without(tmp_path: Path, text: str) -> None:
    bare = written(tmp_path, Says(text), plain=True, name="bare")
    assert bare == written(tmp_path, Says(text), plain=False, name="quoted")
    assert open_source(parse_source(str(tmp_path / "bare.csv"))).scan().collect()["a"][1] == text


@pytest.mark.parametrize("label", ["20-29", "[20, 30)", ""])
def test_labels_that_are_looked_up(tmp_path: Path, label: str) -> None:
    values = pl.Series([f"x{row}" for row in range(40)])
    step = LookUpStep(Column("a"), values, pl.Series([label] * 40))
    assert (step.adds is None or "," in step.adds) == (label != "20-29")
    bare = written(tmp_path, step, plain=True, name="bare")
    assert bare == written(tmp_path, step, plain=False, name="quoted")


def test_quotes_are_really_left_out_where_they_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ways: list[bool] = []
    write = FileTarget.write_batches

    def watched(self: FileTarget, schema: pl.Schema, batches: Iterator[pl.DataFrame], *, quotes: bool = True) -> None:
        ways.append(quotes)
        write(self, schema, batches, quotes=quotes)

    monkeypatch.setattr(FileTarget, "write_batches", watched)
    written(tmp_path, None, plain=True, name="untouched")
    written(tmp_path, Says("fine"), plain=True, name="fine")
    assert ways == [False, False]
    written(tmp_path, Says("a,b"), plain=True, name="comma")
    assert ways == [False, False, False, True]


def test_a_source_with_quotes_is_written_with_quotes(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text('a,b\n"x, y",1\n')
    source = open_source(parse_source(str(tmp_path / "in.csv")))
    target = file_target(tmp_path / "out", like=source)
    assert target.specials is None
    engine = PolarsEngine()
    engine.sink(engine.scan(source), target)
    assert target.path.read_text() == 'a,b\n"x, y",1\n'
