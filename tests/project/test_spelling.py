"""British spelling in everything that people read: pages, docstrings, comments, messages."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROSE = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.yaml")]
CODE = [*(ROOT / "src").rglob("*.py"), *(ROOT / "scripts").glob("*.py")]
TEMPLATES = [*(ROOT / "src").rglob("*.html*")]

STEMS = (
    "aggregat|anatomi|anonymi|authori|capitali|categori|customi|emphasi|finali|generali|initiali|locali|materiali|maximi|"
    "minimi|normali|optimi|organi|prioriti|pseudonymi|randomi|reali|recogni|seriali|speciali|standardi|summari|tokeni|"
    "utili|visuali"
)
AMERICAN = re.compile(
    rf"\b(?:de-?|re-?|un-?)?(?:{STEMS})z(?:e[drs]?|ing|ations?|able)\b"
    r"|\b(?:analyz(?:e[drs]?|ing)|behaviors?|colors?|colored|favorites?|honors?|labeled|labeling|modeling|modeled"
    r"|neighbors?|neighboring|canceled|catalogs?|centers?|centered|defense|fulfill|gray|artifacts?)\b",
    re.IGNORECASE,
)
# Titles and names of others are spelt as they spell them: papers, functions, filters, properties of a style sheet.
NAMES = re.compile(
    r"Big Personal Data Anonymization|Aggregate query answering on anonymized tables"
    r"|ARX[^.\n]{0,40}Discernability|`[^`\n]*`|https?://\S+"
    r"|(?:Health|Labour) Organization|--no-color|no-color\.org|\(\?:proxy-\)\?authorization"
    r"|Authorization: Bearer|Cookie, Authorization|\"authorization\""
    r"|\bspark(?:\.\w+)+|<style.*?</style>|style=\"[^\"]*\"|\b[\w-]*color(?:\s*[:=]|-scheme)|\.\w+\(|\| *\w+",
    re.DOTALL,
)


def american_words(text: str) -> list[str]:
    return [found[0] for found in AMERICAN.finditer(NAMES.sub(" ", text))]


def prose_of(source: str) -> str:
    """What people read in a module: its strings and comments, not the names of others' functions."""
    wanted = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return "\n".join(token.string for token in tokens if token.type in wanted)


@pytest.mark.parametrize("path", [*PROSE, *TEMPLATES], ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_are_british(path: Path) -> None:
    assert american_words(path.read_text(encoding="utf-8")) == []


def test_code_is_british() -> None:
    texts = {path.relative_to(ROOT): prose_of(path.read_text(encoding="utf-8")) for path in CODE}
    found = {str(path): words for path, text in texts.items() if (words := american_words(text))}
    assert found == {}


@pytest.mark.parametrize("word", ["anonymized", "Generalization", "behavior", "color", "neighbor", "de-anonymizing"])
def test_an_american_word_is_seen(word: str) -> None:
    assert american_words(f"The {word} of it") == [word]
    assert american_words(prose_of(f'x = 1  # the {word} of it\ny = "z"')) == [word]


@pytest.mark.parametrize(
    "text", ["size", "prize", "anonymised", "pl.col(x).serialize()", "horizon", "<style>a{color: red}</style>"]
)
def test_what_is_right_is_left_alone(text: str) -> None:
    assert american_words(prose_of(text) if text.startswith("pl.") else text) == []
