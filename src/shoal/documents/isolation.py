"""Documents are taken apart and put together in a child process; what is found in their texts, the parent says.

The child sees the file and asks for each text what is to be replaced in it. So the scrubber, its keys and what it knows
of people stay with the parent, and a document that breaks its reader breaks only that.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from shoal import sandbox
from shoal.documents.cleaning_account import AccountEntry, DocumentAccount, EditRecorder, IsOwn
from shoal.documents.text_edits import Scrub, TextEdit, applied, edits_of
from shoal.sandbox import DOCUMENTS, ReadRequest

if TYPE_CHECKING:
    from shoal.documents.base import DocumentFormat, DocumentText
    from shoal.sandbox.child import Channel

_BATCH: Final = 1 << 18
_BROKEN: Final = "can't be read as what it seems to be"


def texts(carrier: DocumentFormat, source: BinaryIO, label: str) -> Iterator[DocumentText]:
    """The pieces of a document."""
    from shoal.documents.base import DocumentText

    for message in sandbox.read(_request("send_texts", carrier, source, label), files=[source.fileno()]):
        for place, text, heading, unread in message.told["pieces"]:
            yield DocumentText(place, text, heading, unread)


def rewrite(  # noqa: PLR0913, PLR0917  # a file, where it goes, and the two questions that only the parent can answer
    carrier: DocumentFormat, source: BinaryIO, target: BinaryIO, label: str, scrub: Scrub, is_own: IsOwn
) -> DocumentAccount:
    """Write the document anew, with its texts scrubbed."""

    def answer(told: Mapping[str, Any]) -> dict[str, object]:
        if told["ask"] == "is_own":
            return {"is_own": is_own(told["text"])}
        found = edits_of(told["text"], scrub(told["text"]))
        return {"edits": [[one.start, one.end, one.new, one.type] for one in found]}

    request = _request("write_anew", carrier, source, label)
    (done,) = sandbox.read(request, files=[source.fileno(), target.fileno()], answer=answer)
    return DocumentAccount(
        *(tuple(AccountEntry(*one) for one in done.told[kind]) for kind in ("cleaned", "removed", "kept"))
    )


def _request(task: str, carrier: DocumentFormat, source: BinaryIO, label: str) -> ReadRequest:
    arguments = {"key": carrier.key, "options": asdict(carrier.options), "label": label}
    size = os.fstat(source.fileno()).st_size
    return ReadRequest(f"{__name__}:{task}", arguments, label, _BROKEN, size, DOCUMENTS)


def send_texts(channel: Channel, key: str, options: dict[str, Any], label: str) -> None:
    """In the child."""
    batch: list[tuple[str, str, str, bool]] = []
    size = 0
    with os.fdopen(channel.files[0], "rb") as source:
        for piece in _format_by_key(key, options).pieces(source, label):
            batch.append((piece.place, piece.text, piece.label, piece.unread))
            size += len(piece.text) + len(piece.place)
            if size > _BATCH:
                channel.tell({"pieces": batch})
                batch, size = [], 0
    channel.tell({"pieces": batch})


def write_anew(channel: Channel, key: str, options: dict[str, Any], label: str) -> None:
    """In the child."""
    ledger = EditRecorder(
        lambda text: _ScrubReply.of(text, channel.ask({"ask": "scrub", "text": text})["edits"]),
        is_own=lambda text: channel.ask({"ask": "is_own", "text": text})["is_own"] is True,
    )
    with os.fdopen(channel.files[0], "rb") as source, os.fdopen(channel.files[1], "wb") as target:
        _format_by_key(key, options).clean(source, target, ledger, label)
    account = ledger.account()
    entries = {"cleaned": account.cleaned, "removed": account.removed, "kept": account.kept}
    channel.tell({kind: [(one.place, one.what, one.count) for one in found] for kind, found in entries.items()})


def _format_by_key(key: str, options: dict[str, Any]) -> DocumentFormat:
    from shoal.documents.base import DocumentOptions, document_formats

    return next(kind for kind in document_formats() if kind.key == key)(DocumentOptions(**options))


@dataclass(frozen=True)
class _ReplyAction:
    type: str
    start: int
    end: int
    new_start: int
    new_end: int


@dataclass(frozen=True)
class _ScrubReply:
    """What the parent's scrubber did to a text."""

    text: str
    actions: tuple[_ReplyAction, ...]

    @classmethod
    def of(cls, text: str, told: list[tuple[int, int, str, str]]) -> _ScrubReply:
        edits = [TextEdit(*one) for one in told]
        actions, moved = list[_ReplyAction](), 0
        for edit in edits:
            start = edit.start + moved
            actions.append(_ReplyAction(edit.type, edit.start, edit.end, start, start + len(edit.new)))
            moved += len(edit.new) - (edit.end - edit.start)
        return cls(applied(text, edits), tuple(actions))
