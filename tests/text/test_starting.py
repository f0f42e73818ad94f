"""How soon the first line is scrubbed: what is loaded for it, and that what is kept is what would be worked out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.discover.recognisers.pack_files import recognisers_in
from shoal.discover.recognisers.shipped_recognisers import pack_texts, shipped
from shoal.text.lazy_patterns import lazy_pattern
from shoal.text.lexicon.gazetteers import _read_lists, lexicon
from shoal.text.lexicon.sharded_table import ShardedTable
from shoal.text.matching.pattern_traits import traits_of, worked_out

LINE = "Call Asha Menon on +91 98450 12345\n"
WATCHED = """
import runpy, sys
sys.argv = ["shoal", "scrub"]
try:
    runpy.run_module("shoal.cli", run_name="__main__")
except SystemExit:
    pass
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


def scrubbed(folder: Path, line: str = LINE) -> tuple[str, set[str]]:
    """What a fresh process makes of a line, and which packages it has loaded."""
    done = subprocess.run(
        (sys.executable, "-c", WATCHED),
        input=line,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "SHOAL_CACHE": str(folder)},
    )
    return done.stdout, set(done.stderr.splitlines()[-1].split())


def test_a_second_process_loads_neither_tables_nor_names_nor_cities(tmp_path):
    first, needed = scrubbed(tmp_path / "cache")
    again, loaded = scrubbed(tmp_path / "cache")
    assert first == again == "Call [PERSON] on [PHONE]\n"
    assert {"faker", "yaml"} <= needed, "what is worked out the first time"
    assert loaded.isdisjoint({"polars", "numpy", "faker", "yaml", "pyarrow"})


def test_what_is_kept_holds_nothing_of_the_text(tmp_path):
    line = "Call Qwertzia Xylophonsky on +91 98450 12345\n"
    scrubbed(tmp_path / "cache", line)
    kept = b"".join(file.read_bytes() for file in (tmp_path / "cache").iterdir())
    assert b"asha" in kept
    assert b"qwertzia" not in kept.lower()
    assert b"98450" not in kept


def test_recognisers_that_were_kept_are_those_of_the_files():
    assert shipped() == tuple(one for name, text in pack_texts().items() for one in recognisers_in(text, name))


def test_the_lexicon_that_was_kept_is_that_of_the_lists():
    assert dict(lexicon().entries) == _read_lists()


def test_traits_that_were_kept_are_those_of_the_patterns():
    for one in shipped()[::7]:
        if one.text is not None:
            assert traits_of(one.text.expression) == worked_out(one.text.expression)


@pytest.mark.parametrize("phrase", ["", "a", "as", "Łódź", "北京", "zz", "as if"])
def test_a_table_in_parts_finds_what_a_dictionary_finds(phrase):
    entries = {"a": 1, "as": 2, "asha": 3, "as if": 4, "łódź": 5, "北京": 6, "北": 7}
    table = ShardedTable.of(entries)
    assert table.get(phrase, 0) == entries.get(phrase, 0)
    assert (phrase in table) is (phrase in entries)
    assert dict(table) == entries


def test_a_table_does_not_remember_what_is_not_in_it():
    table = ShardedTable.of({"asha": 1})
    assert table.get("xylophonsky") == 0
    assert "xy" not in repr(vars(table))


def test_a_lazy_pattern_is_compiled_once_when_it_is_used():
    pattern = lazy_pattern("(?P<word>a+)")
    assert "compiled" not in vars(pattern)
    found = pattern.search("baa")
    assert found is not None
    assert found["word"] == "aa"
    assert pattern.groups == 1
    assert vars(pattern)["search"].__self__ is vars(pattern)["compiled"]
