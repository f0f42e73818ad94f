"""The reference page is right: every kind, every parameter, and each example gives the levels that stand below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
import yaml

from shoal.hierarchy import hierarchies, parse_hierarchy
from shoal.schema import Column, ValueType

pytestmark = pytest.mark.requirement("T-08")
PAGE = (Path(__file__).parents[2] / "docs/reference/hierarchies.md").read_text()
COLUMNS = {
    "intervals": Column("column", ValueType.INTEGER),
    "cuts": Column("column", ValueType.INTEGER),
    "grid": Column("column", ValueType.DECIMAL),
    "dates": Column("column", ValueType.DATE, date_format="%Y-%m-%d"),
}


def sections() -> dict[str, str]:
    parts = re.split(r"^## (\w+)$", PAGE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def examples() -> Iterator[tuple[str, str, list[dict[str, str]]]]:
    """Kind, YAML, and the rows of the first table after it."""
    for kind, text in sections().items():
        for code, table in re.findall(r"```yaml\n(.*?)```\n\n(\| value .*?)\n\n", text + "\n\n", flags=re.DOTALL):
            lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
            yield kind, code, [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]


def test_every_kind_has_a_section_with_an_example() -> None:
    assert set(sections()) == set(hierarchies.names())
    assert {kind for kind, _, _ in examples()} == set(hierarchies.names())


@pytest.mark.parametrize("kind", hierarchies.names())
def test_every_parameter_is_explained(kind: str) -> None:
    explained = set(re.findall(r"^\| `(\w+)` \|", sections()[kind], flags=re.MULTILINE))
    model = hierarchies.get(kind)
    assert model is not None
    assert explained == set(model.model_fields)


@pytest.mark.parametrize(("kind", "code", "rows"), list(examples()))
def test_examples_give_these_levels(kind: str, code: str, rows: list[dict[str, str]], tmp_path: Path) -> None:
    (tmp_path / "hierarchies").mkdir()
    file = re.search(r"```text\n(.*?)```", sections()[kind], flags=re.DOTALL)
    (tmp_path / "hierarchies/education.csv").write_text(file[1] if file else "")
    column = COLUMNS.get(kind, Column("column"))
    hierarchy = parse_hierarchy(yaml.safe_load(code)["hierarchy"]).resolve(tmp_path)
    assert hierarchy.refuse(column) is None
    values = pl.Series("value", [row["value"] for row in rows])
    bound = hierarchy.bind(
        column, pl.DataFrame({"value": values, "records": [int(row.get("records", 1)) for row in rows]})
    )
    shown = [name for name in rows[0] if name.startswith("level")]
    assert len(shown) == bound.height
    for level, name in enumerate(shown, start=1):
        assert bound.generalise(values, level).to_list() == [row[name] for row in rows]
