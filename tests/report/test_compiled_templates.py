"""Templates are compiled once, and never used when they have changed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from shoal.report.compiled_templates import CompiledTemplates


@pytest.fixture(autouse=True)
def _kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)


def rendered(folder: Path, text: str, settings: str = "") -> str:
    page = Environment(loader=DictLoader({"page": text}), bytecode_cache=CompiledTemplates(folder, settings))  # noqa: S701
    return page.get_template("page").render(name="Asha")


def kept(folder: Path) -> list[Path]:
    return sorted((folder / "__pycache__").glob("*"))


def test_a_template_is_compiled_once(tmp_path: Path) -> None:
    assert rendered(tmp_path, "for {{ name }}") == "for Asha"
    (file,) = kept(tmp_path)
    written = file.stat().st_mtime_ns
    assert rendered(tmp_path, "for {{ name }}") == "for Asha"
    assert [(one, one.stat().st_mtime_ns) for one in kept(tmp_path)] == [(file, written)]


def test_what_is_kept_is_what_is_used(tmp_path: Path) -> None:
    """Under the head of one template the code of another: if it comes out, it was not compiled anew."""
    rendered(tmp_path / "other", "by {{ name }}")
    rendered(tmp_path, "for {{ name }}")
    (file,), (other,) = kept(tmp_path), kept(tmp_path / "other")
    head = len(CompiledTemplates(tmp_path, "").get_source_checksum("")) + 4
    file.write_bytes(file.read_bytes()[:head] + other.read_bytes()[head:])
    assert rendered(tmp_path, "for {{ name }}") == "by Asha"


@pytest.mark.parametrize("settings", ["", "trimmed"])
def test_another_text_or_other_settings_are_compiled_anew(tmp_path: Path, settings: str) -> None:
    rendered(tmp_path, "for {{ name }}")
    before = kept(tmp_path)[0].read_bytes()
    text = "for {{ name }}" if settings else "of {{ name }}"
    assert rendered(tmp_path, text, settings) == text.replace("{{ name }}", "Asha")
    assert kept(tmp_path)[0].read_bytes() != before


@pytest.mark.parametrize("cut", [0, 3, 30, 60])
def test_a_damaged_file_is_compiled_anew(tmp_path: Path, cut: int) -> None:
    rendered(tmp_path, "for {{ name }}")
    (file,) = kept(tmp_path)
    file.write_bytes(file.read_bytes()[:cut])
    assert rendered(tmp_path, "for {{ name }}") == "for Asha"


def test_nothing_is_written_where_python_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert rendered(tmp_path, "for {{ name }}") == "for Asha"
    assert not (tmp_path / "__pycache__").exists()


def test_a_folder_that_is_none_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert rendered(tmp_path / "file", "for {{ name }}") == "for Asha"
