"""A text of the studio: what is found in it, what a person decides about that, and the text without it.

The decisions are lists of phrases that `shoal scrub --allow FILE --deny FILE` takes, so they can be used elsewhere.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field, field_validator

from shoal.io import write_atomic
from shoal.scrub.choices import Replace
from shoal.scrub.outcome import ScrubOutcome

if TYPE_CHECKING:
    from shoal.scrub.scrubber import Scrubber

TEXT: Final = "text.txt"
SCRUBBED: Final = "scrubbed.txt"
DOCUMENT: Final = "document"
FOUND: Final = "found.json"
LONGEST_PHRASE: Final = 300
_WINDOW: Final = 200_000
"""Characters of a text that are shown; all of it is scrubbed."""


class TextChoices(BaseModel):
    """What a person has decided about a text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    replace: Replace = "label"
    allow: tuple[str, ...] = Field((), max_length=5000)
    """Phrases that stay, whatever they are taken for."""
    deny: tuple[str, ...] = Field((), max_length=5000)
    """Phrases that always go."""

    @field_validator("allow", "deny")
    @classmethod
    def _phrases(cls, phrases: tuple[str, ...]) -> tuple[str, ...]:
        plain = tuple(dict.fromkeys(" ".join(phrase.split()) for phrase in phrases))
        if any(phrase.startswith("#") or len(phrase) > LONGEST_PHRASE for phrase in plain):
            raise ValueError(f"a phrase has {LONGEST_PHRASE} characters at most, and no # before it")
        return tuple(phrase for phrase in plain if phrase)


def document_in(folder: Path) -> Path | None:
    """The document that was given, where it was one and no text."""
    return next(folder.glob(f"{DOCUMENT}.*"), None)


def read_document(path: Path) -> str:
    """What a document says, piece by piece. A child process with limits opens it."""
    from shoal.documents.registry import format_for

    pieces = list(format_for(path).texts(path))
    told = [f"[{piece.place}: nobody can read this part]" if piece.unread else piece.in_context for piece in pieces]
    return "\n\n".join(told)


def scrub_text(folder: Path, choices: TextChoices) -> dict[str, int]:
    """Looked through twice: with what is to stay, for the outcome; without, so that it can be shown and taken back."""
    from shoal.scrub.phrase_list import PhraseLists
    from shoal.scrub.scrubber import Scrubber, standard_annotator

    document = document_in(folder)
    if document is not None and not (folder / TEXT).exists():
        write_atomic(folder / TEXT, read_document(document), private=True)
    text = (folder / TEXT).read_text(encoding="utf-8")
    lists = PhraseLists.of(choices.allow, choices.deny)
    annotator = standard_annotator(deny=lists.deny)
    outcome = Scrubber(annotator, choices.replace, allow=lists.allow).scrub(text)
    all_found = outcome if lists.allow is None else Scrubber(annotator, choices.replace).scrub(text)
    found = {"pieces": _pieces(text, all_found, outcome), "scrubbed": _replaced(outcome), "length": len(text)}
    if document is not None:
        _rewrite(document, folder, Scrubber(annotator, choices.replace, allow=lists.allow))
    write_atomic(folder / SCRUBBED, outcome.text, private=True)
    write_atomic(folder / FOUND, json.dumps(found), private=True)
    return dict(outcome.counts)


def _rewrite(document: Path, folder: Path, scrubber: Scrubber) -> None:
    from shoal.documents.registry import format_for
    from shoal.scrub.files import rewrite_document

    rewrite_document(format_for(document), document, folder / f"scrubbed{document.suffix}", scrubber)


def _pieces(text: str, found: ScrubOutcome, outcome: ScrubOutcome) -> list[dict[str, Any]]:
    """The text in pieces: what was found, with its kind and whether it goes, and what stands between."""
    gone = [(action.start, action.end) for action in outcome.actions]
    pieces: list[dict[str, Any]] = []
    place = 0
    for action in found.actions:
        if action.end > _WINDOW:
            break
        pieces.append({"text": text[place : action.start]})
        goes = any(start < action.end and action.start < end for start, end in gone)
        pieces.append({"text": text[action.start : action.end], "kind": action.type, "goes": goes})
        place = action.end
    pieces.append({"text": text[place:_WINDOW]})
    return [piece for piece in pieces if piece["text"]]


def _replaced(outcome: ScrubOutcome) -> list[dict[str, Any]]:
    pieces: list[dict[str, Any]] = []
    place = 0
    for action in outcome.actions:
        if action.new_end > _WINDOW:
            break
        pieces.append({"text": outcome.text[place : action.new_start]})
        pieces.append({"text": outcome.text[action.new_start : action.new_end], "kind": action.type})
        place = action.new_end
    pieces.append({"text": outcome.text[place:_WINDOW]})
    return [piece for piece in pieces if piece["text"]]


def phrase_file(phrases: tuple[str, ...], about: str) -> str:
    """One on each line, as `shoal scrub` reads it."""
    return "".join(f"{line}\n" for line in (f"# {about}", *phrases))


def recogniser_file(choices: TextChoices) -> str:
    """What always goes, as a recogniser that `--recognisers FILE` and policies take."""
    entry = {
        "title": "a phrase that was marked in a text",
        "role": "direct",
        "because": "somebody who read a text decided that it goes",
        "text": {"words": list(choices.deny), "score": 0.9},
    }
    return yaml.safe_dump({"marked": entry} if choices.deny else {}, allow_unicode=True, sort_keys=False)
