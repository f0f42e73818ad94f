"""Files of recognisers, as an option of every command that looks for personal data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from shoal.cli.terminal.option_sets import OptionSet
from shoal.cli.terminal.output import say

if TYPE_CHECKING:
    from shoal.discover.recognisers import RecogniserSet
    from shoal.policy import Policy
    from shoal.policy.multi_table import MultiTablePolicy

_SHOWN: Final = 5


@dataclass(frozen=True)
class RecogniserFlags(OptionSet):
    """The project's file is used by itself, and that is said; what is named comes after it."""

    recognisers: Annotated[
        list[Path] | None,
        typer.Option(
            "--recognisers",
            metavar="FILE",
            help="Recognisers of your own, once for each file; shoal-recognisers.yaml here is used in any case.",
        ),
    ] = None

    def chosen(self) -> RecogniserSet | None:
        """The installed ones with those of the files; None where there are no files."""
        from shoal.scrub.own_recognisers import recognisers_with

        return recognisers_with(self.files())

    def files(self, *policy: Path, folder: Path | None = None) -> tuple[Path, ...]:
        """Those of the project, those of the policy in the folder, those that are named: the last ones count most."""
        return _told(self._files(policy, folder))

    def added(self, policy: Policy) -> Policy:
        """The policy with all files that its run is to use."""
        return _with(policy, self.files(*policy.recogniser_files, folder=policy.folder))

    def added_to_any(self, policy: Policy | MultiTablePolicy) -> Policy | MultiTablePolicy:
        """The same for every table of a policy."""
        from shoal.policy.multi_table import MultiTablePolicy

        if not isinstance(policy, MultiTablePolicy):
            return self.added(policy)
        files = {name: self._files(one.recogniser_files, one.folder) for name, one in policy.tables.items()}
        _told(tuple(dict.fromkeys(path for paths in files.values() for path in paths)))
        return replace(policy, tables={name: _with(one, files[name]) for name, one in policy.tables.items()})

    def _files(self, policy: tuple[Path, ...], folder: Path | None) -> tuple[Path, ...]:
        from shoal.discover.recognisers import project_files

        found = project_files(Path(), *(() if folder is None else (folder,)))
        return tuple(dict.fromkeys((*found, *policy, *(self.recognisers or ()))))


def _with(policy: Policy, files: tuple[Path, ...]) -> Policy:
    return policy.model_copy(update={"recognisers": tuple(str(path.resolve()) for path in files)})


def _told(files: tuple[Path, ...]) -> tuple[Path, ...]:
    """The files, each of them whole. The project's are said to be used, others if they take the place of ours."""
    if not files:
        return files
    from shoal.discover.recognisers import PROJECT_FILE
    from shoal.discover.recognisers.own_files import checked_file

    for path in files:
        checked = checked_file(path).required()
        instead = ", ".join(checked.replaced[:_SHOWN]) + (" …" if len(checked.replaced) > _SHOWN else "")
        of_ours = f", {len(checked.replaced)} in the place of ours ({instead})" if checked.replaced else ""
        if path.name == PROJECT_FILE or of_ours:
            say(f"{path}: {len(checked.recognisers)} recogniser(s) of your own are used{of_ours}")
    return files


NO_FILES: Final = RecogniserFlags()
