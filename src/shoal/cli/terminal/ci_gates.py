"""Gates for pipelines: the exit code, annotations where a CI system reads them, a JUnit file."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path

import typer

from shoal.cli.terminal.flags import flag
from shoal.errors import TargetError, styled
from shoal.io import atomic_path
from shoal.privacy import ModelFinding

NOT_MET = 1


def finish(title: str, findings: Sequence[ModelFinding], junit: Path | None) -> None:
    """End the command: exit 1 if something that was required is not met."""
    if junit is not None:
        write_junit(title, findings, junit)
    missed = [finding for finding in findings if not finding.met]
    noted = bool(os.environ.get("GITHUB_ACTIONS"))
    for finding in missed:
        said = in_words(finding)
        typer.echo(f"::error title={_property(title)}::{_escaped(said)}" if noted else f"not met: {said}", err=True)
    if missed:
        raise typer.Exit(NOT_MET)


def refuse_junit(path: Path | None) -> None:
    """Before the work, so that it is not in vain."""
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise TargetError(f"{path}: {'is a folder' if path.is_dir() else 'its folder does not exist'}")


def in_words(finding: ModelFinding) -> str:
    achieved = f"found {finding.achieved:g}" if math.isfinite(finding.achieved) else "no figure could be found"
    return f"{styled(finding.name, flag)}: required {finding.required:g}, {achieved}"


def write_junit(title: str, findings: Sequence[ModelFinding], path: Path) -> None:
    """One case per figure; whole or not at all."""
    from xml.etree import ElementTree  # written here, never read

    suite = ElementTree.Element(
        "testsuite",
        name=_printable(title),
        tests=str(len(findings)),
        failures=str(sum(not finding.met for finding in findings)),
    )
    for finding in findings:
        case = ElementTree.SubElement(suite, "testcase", classname="shoal", name=_printable(styled(finding.name, flag)))
        if not finding.met:
            ElementTree.SubElement(case, "failure", message=_printable(in_words(finding)))
    with atomic_path(path) as hidden:
        ElementTree.ElementTree(suite).write(hidden, encoding="utf-8", xml_declaration=True)


def _escaped(text: str) -> str:
    """What would end an annotation."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """What would end one of its properties too."""
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _printable(text: str) -> str:
    """XML has no way to write control characters, which a name may hold."""
    return "".join(each if each.isprintable() else "\ufffd" for each in text)
