"""A carrier: a kind of file that text travels in. It gives the texts, each with its place, and writes the file anew
with the texts scrubbed.

What a carrier can't read it doesn't keep: a part that nobody has looked at may hold anything. It goes and the account
names it, or the file is refused.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO, ClassVar, Literal

from shoal.documents.cleaning_account import DocumentAccount, EditRecorder, IsOwn, is_written_here
from shoal.documents.text_edits import Scrub
from shoal.errors import InputError, SourceError, install_advice
from shoal.io import atomic_binary
from shoal.schema.registry import Registry


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A text and where in the file it stands: ``page 3``, ``Sheet1!B7``, ``header Subject``, ``$.a[3].b``."""

    place: str
    text: str
    label: str = ""
    """What the file calls it: the key of a JSON value, the name of a column, of a header."""
    unread: bool = False
    """Something is there that nobody has read: a page that is a picture."""

    @property
    def in_context(self) -> str:
        """The text with its label in front, so that what needs context to be recognised has it."""
        return f"{self.label}: {self.text}" if self.label else self.text


@dataclass(frozen=True)
class DocumentOptions:
    pictures: Literal["remove", "keep"] = "remove"
    """Nothing reads what is written in a picture, so by default none stays."""
    unreadable: Literal["refuse", "cover"] = "refuse"
    """A page without text (a scan): refuse the file, or cover the whole page."""
    cover: Literal["word", "line"] = "word"
    """What is painted over on a page: what was found, or the whole line, whose width then tells nothing."""
    dots: int = 200
    """Dots per inch of a page that becomes a picture."""
    most_bytes: int = 1 << 28
    """The most that a packed file may unpack to."""
    depth: int = 8
    """How deep files may lie within files."""

    def deeper(self) -> DocumentOptions:
        """For a file within the file."""
        return DocumentOptions(self.pictures, "cover", self.cover, self.dots, self.most_bytes, self.depth - 1)


@dataclass(frozen=True)
class DocumentFormat(ABC):
    key: ClassVar[str]
    endings: ClassVar[tuple[str, ...]]
    media: ClassVar[tuple[str, ...]] = ()
    """Media types of attachments that this carrier reads."""
    order: ClassVar[int] = 1000
    """Where two read the same, the lower one does; equal ones by key."""
    is_plain: ClassVar[bool] = False
    """Read block by block with nothing to parse, so that no child process is needed for it."""
    options: DocumentOptions = field(default_factory=DocumentOptions)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "key" in cls.__dict__:
            registered_documents.add(cls.key, cls)

    @classmethod
    def begins(cls, head: bytes) -> bool:  # noqa: ARG003 - for those that know
        """Whether a file that begins so is one of these, for files whose name has no ending."""
        return False

    @abstractmethod
    def pieces(self, source: BinaryIO, label: str) -> Iterator[DocumentText]:
        """Every text in the file, hidden ones too."""

    @abstractmethod
    def clean(self, source: BinaryIO, target: BinaryIO, ledger: EditRecorder, label: str) -> None:
        """Write the file anew, with every text scrubbed."""

    def texts(self, path: Path) -> Iterator[DocumentText]:
        from shoal.documents import isolation

        with reading(path) as source:
            read = self.pieces if self.is_plain else partial(isolation.texts, self)
            yield from read(source, path.name)

    def ending_of(self, name: str) -> str:
        """The ending for a cleaned file of this kind: that of the name it had, where it is one of ours."""
        ending = Path(name).suffix.lower()
        return ending if ending in self.endings else self.endings[0]

    def rewrite(self, path: Path, target: Path, scrub: Scrub, *, is_own: IsOwn = is_written_here) -> DocumentAccount:
        """Write the cleaned file, whole or not at all; the target may be the source.

        In the headers of a mail everything goes but what ``is_own`` knows as written by an earlier scrubbing.
        """
        from shoal.documents import isolation

        with reading(path) as source, atomic_binary(target) as out:
            if not self.is_plain:
                return isolation.rewrite(self, source, out, path.name, scrub, is_own)
            ledger = EditRecorder(scrub, is_own=is_own)
            self.clean(source, out, ledger, path.name)
        return ledger.account()


registered_documents: Registry[type[DocumentFormat]] = Registry("shoal.documents", "document format", "shoal.documents")


def document_formats() -> tuple[type[DocumentFormat], ...]:
    """All that are there, in their order. A file is of one of them: no two may have an ending in common."""
    return registered_documents.in_order(lambda one: one.order, lambda one: one.endings, "an ending")


@contextmanager
def reading(path: Path) -> Iterator[BinaryIO]:
    try:
        source = path.open("rb")
    except OSError as error:
        raise SourceError(f"{path}: can't be read ({os.strerror(error.errno or 0)})") from None
    with source:
        yield source


def missing_extra(what: str) -> InputError:
    return InputError(f"{what} can't be read: a library for it is not installed", advice=install_advice("documents"))


def damaged(label: str, kind: str) -> SourceError:
    return SourceError(f"{label}: is not a whole {kind} file")


def encrypted(label: str) -> SourceError:
    return SourceError(f"{label}: is encrypted", advice="take the password off first")
