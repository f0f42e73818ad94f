"""Scrubbing a whole folder: a tree in, a tree of the same shape out, whole or not at all.

What can't be read, or is of a kind that nobody here reads, is never copied: it is left out and listed. Links are not
followed, since they may lead out of the tree. The tree that is read is never written to.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from shoal.errors import InputError, SourceError, TargetError
from shoal.io import Staging
from shoal.io.failures import no_panic
from shoal.schema.progress import Progress
from shoal.scrub.files import FileScrubber

FAILURES: Final = (InputError, OSError, ValueError, RecursionError)
"""What a file can do to its reader; each is that file's, and the work goes on."""
_LINK: Final = "is a link, which is not followed"


@dataclass(frozen=True)
class LeftOutFile:
    """What is not in the tree that was written."""

    path: str
    """Below the folder."""
    why: str
    failed: bool = True
    """Whether it should have been read; links are passed by on purpose."""


@dataclass
class FolderScrub:
    scrubber: FileScrubber
    folder: Path
    target: Path
    progress: Progress | None = None
    left_out: list[LeftOutFile] = field(default_factory=list)
    written: int = 0
    telling_names: int = 0
    """Files and folders whose names say something of a person. They keep them."""

    def execute(self) -> None:
        """Raises only where nothing can be done at all; nothing is written then."""
        _refuse_overlap(self.folder, self.target)
        files = list(self._files())
        with Staging(self.target) as staging:
            for number, path in enumerate(files):
                if self.progress is not None:
                    self.progress(number, len(files))
                self._clean(path, staging.path)
            staging.commit()
        names = {part for path in files for part in path.relative_to(self.folder).with_suffix("").parts}
        self.telling_names = sum(bool(self.scrubber.scrubber.scrub(_as_words(name)).actions) for name in names)

    def _clean(self, path: Path, staged: Path) -> None:
        below = path.relative_to(self.folder)
        try:
            (staged / below).parent.mkdir(parents=True, exist_ok=True)
            with no_panic(str(below)):
                self.scrubber.clean(path, staged / below, name=str(below))
        except TargetError:
            raise
        except FAILURES as error:
            self.left_out.append(LeftOutFile(str(below), _why(error, path)))
        else:
            self.written += 1

    def _files(self) -> Iterator[Path]:
        for here, folders, names in os.walk(self.folder, onerror=self._unreadable):
            for name in list(folders):
                if Path(here, name).is_symlink():
                    self._pass_by(Path(here, name))
                    folders.remove(name)
            folders.sort()
            for name in sorted(names):
                path = Path(here, name)
                if path.is_symlink():
                    self._pass_by(path)
                elif path.is_file():
                    yield path
                else:
                    self.left_out.append(LeftOutFile(str(path.relative_to(self.folder)), "is not a regular file"))

    def _pass_by(self, path: Path) -> None:
        self.left_out.append(LeftOutFile(str(path.relative_to(self.folder)), _LINK, failed=False))

    def _unreadable(self, error: OSError) -> None:
        self.left_out.append(LeftOutFile(os.path.relpath(str(error.filename), self.folder), "the folder can't be read"))


def _refuse_overlap(folder: Path, target: Path) -> None:
    """Neither may lie in the other: what is written would be read, or what is read be written to."""
    inside, outside = folder.resolve(), target.resolve()
    if not inside.is_dir():
        raise SourceError(f"{folder}: is not a folder")
    if inside == outside or inside in outside.parents or outside in inside.parents:
        raise TargetError(f"{target}: lies in the folder that is read, or around it", advice="choose another folder")


def _as_words(name: str) -> str:
    return name.replace("_", " ").replace("-", " ").replace(".", " ")


def _why(error: BaseException, path: Path) -> str:
    """In our words where they are ours; what a library says may hold what it read."""
    if isinstance(error, InputError):
        return str(error).removeprefix(f"{path}: ").removeprefix(f"{path.name}: ")
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return "it can't be read as what it seems to be"
