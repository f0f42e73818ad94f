"""Plain text, Markdown and delimited text."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest
from tests.documents.marked import NUMBER, mark, scrub

from shoal import documents
from shoal.documents import plain_text
from shoal.errors import InputError, SourceError


def cleaned(path: Path) -> bytes:
    documents.open(path).rewrite(path, path, scrub)
    return path.read_bytes()


@pytest.mark.requirement("X-05")
@pytest.mark.parametrize(
    ("encoding", "word"), [("utf-8", "naïve 漢"), ("utf-8-sig", "naïve"), ("utf-16", "naïve 漢"), ("cp1252", "naïve €")]
)
def test_text_in_its_own_encoding(tmp_path: Path, encoding: str, word: str) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(f"# {word}\r\n\r\nDear {mark('a')},\nbye".encode(encoding))
    assert cleaned(path).decode(encoding) == f"# {word}\r\n\r\nDear [PERSON],\nbye"


def test_a_name_over_two_lines_is_one(tmp_path: Path) -> None:
    path = tmp_path / "letter.md"
    path.write_text("Dear Asha\nRao\n\nbye\n")
    documents.open(path).rewrite(path, path, lambda text: text.replace("Asha\nRao", "[PERSON]"))
    assert path.read_text() == "Dear [PERSON]\n\nbye\n"


def test_long_texts_go_in_blocks(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text(f"a line with {mark('x')} in it\n" * 10_000)
    sizes: list[int] = []

    def watched(text: str) -> str:
        sizes.append(len(text))
        return scrub(text).text

    account = documents.open(path).rewrite(path, path, watched)
    assert max(sizes) < 2 * plain_text.BLOCK
    assert path.read_text() == "a line with [PERSON] in it\n" * 10_000
    assert account.by_type() == {"text": 10_000}


def test_places_are_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\n\nfour\n")
    assert [(piece.place, piece.text) for piece in documents.open(path).texts(path)] == [
        ("line 1", "one\ntwo\n\n"),
        ("line 4", "four\n"),
    ]


def test_empty_files_stay_empty(tmp_path: Path) -> None:
    for name in ("a.txt", "a.csv", "a.html", "a.jsonl", "a.mbox"):
        path = tmp_path / name
        path.touch()
        assert cleaned(path) == b""


def test_cells_with_their_heading_as_context(tmp_path: Path) -> None:
    path = tmp_path / "remarks.csv"
    path.write_text(f'id;phone;remark\n1;55;"met; {mark("a")}"\n2;55;"two\nlines"\n')

    def phones(text: str) -> str:
        return scrub(text.replace("phone: 55", "phone: [PHONE]")).text

    account = documents.open(path).rewrite(path, path, phones)
    assert path.read_text() == 'id;phone;remark\n1;[PHONE];"met; [PERSON]"\n2;[PHONE];"two\nlines"\n'
    assert {entry.place for entry in account.cleaned} == {"column 2", "column 3"}


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc\0def")
    with pytest.raises(SourceError, match="not a text file"):
        cleaned(path)
    assert path.read_bytes() == b"abc\0def"
    cut = tmp_path / "cut.txt"
    cut.write_bytes(codecs.BOM_UTF16_LE + b"a")
    with pytest.raises(SourceError, match="no utf-16 text"):
        cleaned(cut)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.txt", "cut.txt"]


def test_nobody_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "a.xyz"
    path.touch()
    with pytest.raises(InputError, match="nothing here reads this kind of file"):
        documents.open(path)
    with pytest.raises(SourceError, match="can't be read"):
        documents.open(tmp_path / "none.txt").rewrite(tmp_path / "none.txt", tmp_path / "b.txt", scrub)


@pytest.mark.parametrize(
    ("head", "key"), [(b"%PDF-1.7", "pdf"), (b"From a Mon", "mbox"), (b"<!DOCTYPE HTML>", "html"), (b"Hello", "text")]
)
def test_without_an_ending_the_content_tells(tmp_path: Path, head: bytes, key: str) -> None:
    path = tmp_path / "noending"
    path.write_bytes(head)
    assert documents.open(path).key == key


def test_a_failure_leaves_the_target_as_it_was(tmp_path: Path) -> None:
    path, target = tmp_path / "a.txt", tmp_path / "b.txt"
    path.write_text(f"{NUMBER}\n")
    target.write_text("before")

    def failing(text: str) -> str:
        raise InputError("no")

    with pytest.raises(InputError):
        documents.open(path).rewrite(path, target, failing)
    assert target.read_text() == "before"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.txt", "b.txt"]
