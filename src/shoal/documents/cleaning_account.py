"""The account of a cleaned file: how much was done where, by type. It holds no value, neither before nor after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from shoal.documents.text_edits import Scrub, TextEdit, applied, edits_of, spread

MOST_PLACES: Final = 10_000
"""Beyond these, places of a file are counted together."""
ELSEWHERE: Final = "elsewhere"
PERSON: Final = "[PERSON]"
ADDRESS: Final = "[EMAIL]"
"""Stand for what is a name or an address because of where it stands, whether the scrubber knows it or not."""


@dataclass(frozen=True, order=True)
class AccountEntry:
    """So many times something of a kind, in one place of the file."""

    place: str
    what: str
    count: int


@dataclass(frozen=True)
class DocumentAccount:
    cleaned: tuple[AccountEntry, ...]
    """What was replaced, by type."""
    removed: tuple[AccountEntry, ...]
    """What is no longer in the file, because it can't be read or can't be cleaned."""
    kept: tuple[AccountEntry, ...]
    """What was found and left, because taking it out would break the file's structure."""

    def by_type(self) -> dict[str, int]:
        counts: Counter[str] = Counter()
        for entry in self.cleaned:
            counts[entry.what] += entry.count
        return dict(sorted(counts.items()))

    def to_dict(self) -> dict[str, list[dict[str, object]]]:
        return {
            name: [{"place": one.place, "what": one.what, "count": one.count} for one in entries]
            for name, entries in (("cleaned", self.cleaned), ("removed", self.removed), ("kept", self.kept))
        }


IsOwn = Callable[[str], bool]
"""Whether a text, from end to end, is what an earlier scrubbing wrote instead of something."""


def is_written_here(text: str) -> bool:
    """What this room writes by itself. What else a scrubber writes only that knows: ``[ASHA]`` may be a name."""
    return text in (PERSON, ADDRESS)


class EditRecorder:
    """Scrubs texts and counts what was done, while a carrier goes through a file."""

    def __init__(self, scrub: Scrub, within: str = "", *, is_own: IsOwn = is_written_here) -> None:
        self._scrub = scrub
        self.is_own = is_own
        self._within = within
        self._cleaned: Counter[tuple[str, str]] = Counter()
        self._removed: Counter[tuple[str, str]] = Counter()
        self._kept: Counter[tuple[str, str]] = Counter()

    def inside(self, place: str) -> EditRecorder:
        """The same ledger for a file within the file."""
        inner = EditRecorder(self._scrub, self._named(place) + ", ", is_own=self.is_own)
        inner._cleaned, inner._removed, inner._kept = self._cleaned, self._removed, self._kept
        return inner

    def clean(self, place: str, text: str, label: str = "") -> str:
        return applied(text, self.edits(place, text, label))

    def spread(self, place: str, pieces: Sequence[str]) -> list[str]:
        """Pieces of one text, cleaned as one."""
        return spread(pieces, self.edits(place, "".join(pieces)))

    def edits(self, place: str, text: str, label: str = "") -> list[TextEdit]:
        """What is to be done to a text; a label in front of it ("phone") tells the scrubber what it is about."""
        found = self._edits(text, label)
        for edit in found:
            self._count(self._cleaned, place, edit.type)
        return found

    def changes(self, text: str) -> bool:
        """Whether the scrubber would touch this text."""
        return bool(text.strip()) and bool(edits_of(text, self._scrub(text)))

    def without_values(self, place: str) -> str:
        """The name of a place that is made of words of the file, scrubbed like its texts."""
        return applied(place, edits_of(place, self._scrub(place)))

    def replaced(self, place: str, what: str) -> None:
        self._count(self._cleaned, place, what)

    def removed(self, place: str, what: str, count: int = 1) -> None:
        self._count(self._removed, place, what, count)

    def kept(self, place: str, what: str) -> None:
        self._count(self._kept, place, what)

    def account(self) -> DocumentAccount:
        return DocumentAccount(_entries(self._cleaned), _entries(self._removed), _entries(self._kept))

    def _edits(self, text: str, label: str) -> list[TextEdit]:
        if not text.strip():
            return []
        found = edits_of(text, self._scrub(text))
        if found or not label:
            return found
        ahead = f"{label}: "
        begin = len(ahead)
        # A label may be so telling that what follows is recognised with it only; the label itself is not ours to touch.
        told = edits_of(ahead + text, self._scrub(ahead + text))
        return [
            TextEdit(max(one.start, begin) - begin, one.end - begin, one.new, one.type)
            for one in told
            if one.end > begin
        ]

    def _named(self, place: str) -> str:
        return self._within + place

    def _count(self, counter: Counter[tuple[str, str]], place: str, what: str, count: int = 1) -> None:
        key = (self._named(place), what)
        if key not in counter and len(counter) >= MOST_PLACES:
            key = (ELSEWHERE, what)
        counter[key] += count


def _entries(counter: Counter[tuple[str, str]]) -> tuple[AccountEntry, ...]:
    return tuple(AccountEntry(place, what, count) for (place, what), count in counter.items())
