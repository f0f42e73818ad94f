"""Files of one's own: found, read and checked as a whole before any of them is used (D-10).

A file with a problem is never used in part: all its problems are said, with their lines. What its entries replace
is known, because a file that lies in a folder may weaken what is recognised as well as add to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from shoal.discover.recognisers.base import Recogniser
from shoal.discover.recognisers.pack_files import LISTS, RecogniserEntry, filled, text_of, word_lists
from shoal.discover.recognisers.recogniser_set import RecogniserSet, default_recognisers
from shoal.errors import PolicyError, PolicyProblem
from shoal.policy.yaml_tree import TreePath, YamlTree, dotted, read_tree
from shoal.schema.registry import did_you_mean
from shoal.schema.validation_messages import validation_message


@dataclass(frozen=True)
class CheckedFile:
    """A file of recognisers, and everything that is wrong with it."""

    path: Path
    recognisers: tuple[Recogniser, ...] = ()
    problems: tuple[PolicyProblem, ...] = ()

    @cached_property
    def replaced(self) -> tuple[str, ...]:
        """Entries that take the place of installed ones."""
        installed = {one.key for one in default_recognisers()}
        return tuple(one.key for one in self.recognisers if one.key in installed)

    def required(self) -> CheckedFile:
        if self.problems:
            raise PolicyError(list(self.problems), source=str(self.path))
        return self


def checked_file(path: Path) -> CheckedFile:
    """Everything that is wrong with it at once; SourceError if it can't be read at all."""
    try:
        tree = read_tree(text_of(path), source=str(path))
    except PolicyError as error:
        return CheckedFile(path, problems=error.problems)
    if not isinstance(tree.data, dict):
        message = "a file of recognisers is a mapping, one key for each kind of value"
        return CheckedFile(path, problems=(*tree.problems, PolicyProblem(1, 1, "", message)))
    return _Reading(path, tree).checked(tree.data)


def recognisers_with(files: Iterable[Path]) -> RecogniserSet | None:
    """The installed ones with those of the files; None where there are no files."""
    checked = [checked_file(path).required() for path in files]
    if not checked:
        return None
    chosen = {one.key: one for one in default_recognisers()}
    for one in checked:
        chosen |= {entry.key: entry for entry in one.recognisers}
    return RecogniserSet.of(chosen.values())


@dataclass(frozen=True)
class _Reading:
    path: Path
    tree: YamlTree

    def checked(self, entries: Mapping[str, object]) -> CheckedFile:
        problems, found = list(self.tree.problems), list[Recogniser]()
        try:
            lists = word_lists(entries.get(LISTS, {}))
        except ValueError as error:
            lists = {}
            problems.append(self._problem((LISTS,), str(error)))
        for key, value in entries.items():
            if key == LISTS:
                continue
            try:
                found.append(RecogniserEntry.model_validate(filled(value, lists)).recogniser(key).in_cells())
            except ValidationError as error:
                problems += self._problems(key, error)
            except ValueError as error:
                problems.append(self._problem((key, "text"), str(error)))
        return CheckedFile(self.path, tuple(found), tuple(sorted(set(problems))))

    def _problems(self, key: str, error: ValidationError) -> Iterator[PolicyProblem]:
        for details in error.errors(include_url=False, include_input=False):
            message, last = validation_message(details), str(details["loc"][-1]) if details["loc"] else ""
            if details["type"] == "extra_forbidden":
                known = tuple(RecogniserEntry.model_fields)
                message = f"unknown key{did_you_mean(last, known) if len(details['loc']) == 1 else ''}"
            yield self._problem((key, *details["loc"]), message)

    def _problem(self, path: TreePath, message: str) -> PolicyProblem:
        return PolicyProblem(*self.tree.where(path), dotted(path), message)
