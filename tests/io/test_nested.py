"""Nested documents: taken apart by their paths, put together again in the same shape and order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import BugError, DataError, InputError, SourceError
from shoal.io.nested import document_files
from shoal.io.nested.assembly import DocumentAssembly
from shoal.io.nested.document_files import DocumentFile, DocumentShape
from shoal.io.nested.flattening import DocumentPaths
from shoal.io.nested.tables import NestedTables

pytestmark = pytest.mark.requirement("D-11")

SHY = "Zyxwvut"
"""A value that no message may show."""
PATHS = DocumentPaths(
    (
        "_id",
        "name",
        "well",
        "address.city",
        "visits[].at",
        "visits[].doctor.name",
        "visits[].drugs[]",
        "visits[].fee",
        "scores[][]",
        "phones[0].number",
        "phones[1].number",
    )
)


def opened(text: str, tmp_path: Path, paths: DocumentPaths, name: str = "given.json") -> NestedTables:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return NestedTables.open(DocumentFile.at(name, tmp_path), paths)


def again(nested: NestedTables) -> list[dict[str, Any]]:
    return list(DocumentAssembly(nested, {table: one.scan() for table, one in nested.sources.items()}).documents())


def through(documents: list[Any], tmp_path: Path, paths: DocumentPaths = PATHS) -> list[dict[str, Any]]:
    return again(opened(json.dumps(documents), tmp_path, paths))


TEXTS = st.text(st.characters(codec="utf-8"), max_size=5)
WHOLE = st.integers(-(2**63), 2**63 - 1)
ORDER = ("_id", "name", "well", "address", "visits", "scores", "at", "doctor", "drugs", "fee")


def ordered(made: dict[str, Any]) -> dict[str, Any]:
    """As a database writes them: the same keys in the same order in every document."""
    return {key: made[key] for key in ORDER if key in made}


VISITS = st.fixed_dictionaries(
    {
        "at": st.datetimes().map(lambda at: {"$date": f"{at.replace(microsecond=0).isoformat()}.000Z"}),
        "doctor": st.fixed_dictionaries({"name": TEXTS}),
        "drugs": st.lists(TEXTS, max_size=3),
        "fee": WHOLE.map(lambda fee: {"$numberLong": str(fee)}),
    }
).map(ordered)
DOCUMENTS = st.fixed_dictionaries(
    {
        "_id": st.integers(0, 2**96 - 1).map(lambda number: {"$oid": f"{number:024x}"}),
        "name": TEXTS | st.none(),
        "well": st.booleans(),
        "address": st.fixed_dictionaries({"city": TEXTS}),
        "visits": st.lists(VISITS, max_size=3),
        "scores": st.lists(st.lists(WHOLE, max_size=2), max_size=2),
    }
).map(ordered)


@given(st.lists(DOCUMENTS, min_size=1, max_size=5))
def test_what_is_taken_apart_is_put_together_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, documents: list[dict[str, Any]]
) -> None:
    put_together = through(documents, tmp_path_factory.mktemp("nested"))
    assert json.dumps(put_together) == json.dumps(documents)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ('{"a": {"b": 1}}\n{"a": {"b": 2}}\n', DocumentShape.LINES),
        ('\ufeff[{"a": {"b": 1}},\n {"a": {"b": 2}}]', DocumentShape.ARRAY),
        ('{\n "a": {\n "b": 1}\n}', DocumentShape.SINGLE),
    ],
)
@pytest.mark.parametrize("chunk", [3, 1 << 20])
def test_documents_are_found_in_every_shape_and_written_in_it(
    text: str, shape: DocumentShape, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nested = opened(text, tmp_path, DocumentPaths(("a.b",)))
    assert nested.file.shape is shape
    monkeypatch.setattr(document_files, "_CHUNK", chunk)
    expected = [json.loads(line) for line in ('{"a": {"b": 1}}', '{"a": {"b": 2}}')][: 1 + (shape != "single")]
    assert list(nested.file.documents()) == expected
    tables = {table: one.scan() for table, one in nested.sources.items()}
    assert DocumentAssembly(nested, tables).write(tmp_path / "out.json") == len(expected)
    written = DocumentFile.at("out.json", tmp_path)
    assert (written.shape, list(written.documents())) == (shape, expected)


def test_arrays_with_places_are_columns_of_their_row(tmp_path: Path) -> None:
    documents = [{"phones": [{"number": "1"}, {"number": "2"}]}, {"phones": [{"number": "3"}]}]
    nested = opened(json.dumps(documents), tmp_path, PATHS)
    assert list(nested.sources) == [""]
    assert again(nested) == documents
    with pytest.raises(InputError, match=r"phones\[2\]"):
        through([{"phones": [{}, {}, {"number": SHY}]}], tmp_path)


def test_a_key_without_a_value_and_none_are_the_same_unless_all_documents_have_it(tmp_path: Path) -> None:
    documents = [{"name": None, "well": None, "visits": []}, {"name": "A", "visits": [{"fee": 1}]}]
    assert through(documents, tmp_path) == [{"name": None, "visits": []}, {"name": "A", "visits": [{"fee": 1}]}]


def test_values_of_several_kinds_are_text_and_whole_numbers_are_numbers(tmp_path: Path) -> None:
    given = [{"name": 1}, {"name": "A"}, {"name": True}, {"name": 1 << 70}]
    assert through(given, tmp_path) == [{"name": "1"}, {"name": "A"}, {"name": "true"}, {"name": str(1 << 70)}]
    assert through([{"name": 1}, {"name": 2.5}], tmp_path) == [{"name": 1.0}, {"name": 2.5}]


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"nmae": SHY}, "'nmae'"),
        ({"address": {"street": SHY}}, r"'address\.street'"),
        ({"address": SHY}, "'address'"),
        ({"visits": [{"doctor": {"name": {"first": SHY}}}]}, r"'visits\[\]\.doctor\.name'"),
        ({"bills": [{"sum": SHY}]}, r"'bills\[\]'"),
        ({"bills": []}, r"'bills\[\]'"),
        ({"note": None}, "'note'"),
        ({"note": {}}, "'note'"),
    ],
)
def test_a_path_that_nobody_named_stops_or_is_left_out(document: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"doesn't name {told}") as caught:
        through([{"well": True}, document], tmp_path)
    assert SHY not in str(caught.value)
    lenient = DocumentPaths(PATHS.released, others=True)
    assert SHY not in json.dumps(through([{"well": True}, document], tmp_path, lenient))


def test_what_is_left_out_as_a_whole_is_not_read(tmp_path: Path) -> None:
    paths = DocumentPaths(("name",), ("photo", "visits[]", "letters[].text"))
    given = {"name": "A", "photo": {"$binary": SHY}, "visits": [{SHY: 1}], "letters": [{"text": SHY}]}
    nested = opened(json.dumps(given), tmp_path, paths)
    held = [str(one.scan().collect().rows()) for one in nested.sources.values()]
    assert SHY not in "".join(held)
    assert again(nested) == [{"name": "A", "letters": [{}]}]


@pytest.mark.parametrize(
    "document",
    [
        {"name": {"$binary": SHY}},
        {"name": {"$date": SHY}},
        {"name": {"$numberDecimal": "1.2345678901234567890"}},
        {"name": {"$numberLong": SHY}},
        {SHY + ".a": 1},
        {SHY + "[0]": 1},
        {"address": {"": SHY}},
    ],
)
def test_what_cant_be_read_is_told_without_its_value(document: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="document 2") as caught:
        through([{"well": True}, document], tmp_path)
    assert SHY not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f'[{{"name": "{SHY}"}}', "not JSON from document"),
        (f'{{"name": "{SHY}"}}\n{{"name": NaN}}', "not JSON from document 2"),
        (f'[{{"name": "{SHY}"}}]]', "not JSON from document"),
        (f'[{{"name": 1}} {{"name": "{SHY}"}}]', "not JSON from document"),
        (f'[{{"name": 1}}, "{SHY}"]', "document 2 is no object"),
        (f'"{SHY}"', "is not made of JSON documents"),
        ("[]", "there are no documents"),
        ('{"name": ' + "[" * 100_000, "nested too deeply|not JSON"),
        ('{"name": "\\ud800"}', "halves of characters"),
    ],
)
def test_a_broken_file_is_told_without_its_values(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=told) as caught:
        opened(text, tmp_path, PATHS)
    assert SHY not in str(caught.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "given.json").write_bytes(b'{"name": "\xff"}')
    with pytest.raises(SourceError, match="not UTF-8"):
        DocumentFile.at("given.json", tmp_path)


BUNDLE = DocumentPaths(
    ("entry[Patient].id", "entry[Patient].names[]", "entry[Visit].of", "entry[Visit].kind", "entry[Patient].kind"),
    people={"entry[Patient]": "entry[Patient].id", "entry[Patient].names[]": "entry[Patient].id"},
    kinds={"entry": "kind"},
    beginnings={"entry[Visit].of": "Patient/"},
)


def test_elements_of_several_kinds_keep_their_order_and_their_beginnings(tmp_path: Path) -> None:
    entries = [
        {"kind": "Visit", "of": "Patient/1"},
        {"kind": "Patient", "id": "1", "names": ["A", "B"]},
        {"kind": "Visit", "of": "Patient/1"},
        {"kind": "Patient", "id": "2", "names": []},
    ]
    nested = opened(json.dumps({"entry": entries}), tmp_path, BUNDLE)
    assert nested.sources["entry[Visit]"].scan().collect()["entry[Visit].of"].to_list() == ["1", "1"]
    names = nested.sources["entry[Patient].names[]"].scan().collect()
    assert names["entry[Patient].id"].to_list() == ["1", "1"], "whose each row is"
    assert again(nested) == [{"entry": entries}]


@pytest.mark.parametrize(
    ("entry", "error", "told"),
    [
        ({"kind": "Bill", "of": SHY}, InputError, r"entry\[Bill\]"),
        ({"of": SHY}, SourceError, "of which kind"),
        ({"kind": f"{SHY} {SHY}"}, SourceError, "of which kind"),
        ({"kind": "Visit", "of": SHY}, SourceError, "doesn't begin"),
    ],
)
def test_elements_of_no_known_kind_are_refused(
    entry: dict[str, Any], error: type[Exception], told: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=told) as caught:
        opened(json.dumps({"entry": [entry]}), tmp_path, BUNDLE)
    assert SHY not in str(caught.value)


def test_records_that_lost_their_place_are_not_put_together(tmp_path: Path) -> None:
    nested = opened(json.dumps([{"visits": [{"fee": 1}]}, {"visits": [{"fee": 2}]}]), tmp_path, PATHS)
    tables = {table: one.scan() for table, one in nested.sources.items()}
    swapped = tables["visits[]"].reverse()
    with pytest.raises(BugError, match="order"):
        list(DocumentAssembly(nested, {**tables, "visits[]": swapped}).documents())
    with pytest.raises(BugError, match="order"):
        list(DocumentAssembly(nested, {**tables, "": tables[""].reverse()}).documents())
    starred = tables["visits[]"].with_columns(pl.lit("*").alias("#document"))
    with pytest.raises(DataError, match="numbers of their rows"):
        list(DocumentAssembly(nested, {**tables, "visits[]": starred}).documents())


def test_rows_of_a_document_that_was_left_out_are_left_out(tmp_path: Path) -> None:
    nested = opened(json.dumps([{"visits": [{"fee": 1}]}, {"visits": [{"fee": 2}]}]), tmp_path, PATHS)
    tables = {table: one.scan() for table, one in nested.sources.items()}
    kept = DocumentAssembly(nested, {**tables, "": tables[""].filter(pl.col("#document") == 1)})
    assert list(kept.documents()) == [{"visits": [{"fee": 2}]}]
