"""Gates for pipelines: the exit code, annotations where a CI system reads them, a JUnit file."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree  # written here, never read

import typer

from shoal.errors import TargetError
from shoal.io import writing
from shoal.privacy import Finding

NOT_MET = 1


def finish(title: str, findings: Sequence[Finding], junit: Path | None) -> None:
    """End the command: exit 1 if something that was required is not met."""
    if junit is not None:
        write_junit(title, findings, junit)
    missed = [finding for finding in findings if not finding.met]
    if missed and os.environ.get("GITHUB_ACTIONS"):
        for finding in missed:
            typer.echo(f"::error title={_escaped(title)}::{_escaped(in_words(finding))}", err=True)
    if missed:
        raise typer.Exit(NOT_MET)


def in_words(finding: Finding) -> str:
    achieved = f"{finding.achieved:g}" if math.isfinite(finding.achieved) else "nothing"
    return f"{finding.name}: required {finding.required:g}, found {achieved}"


def write_junit(title: str, findings: Sequence[Finding], path: Path) -> None:
    """One case per figure; whole or not at all."""
    suite = ElementTree.Element(
        "testsuite",
        name=title,
        tests=str(len(findings)),
        failures=str(sum(not finding.met for finding in findings)),
    )
    for finding in findings:
        case = ElementTree.SubElement(suite, "testcase", classname="shoal", name=finding.name)
        if not finding.met:
            ElementTree.SubElement(case, "failure", message=in_words(finding))
    hidden = path.with_name(f".{path.name}.partial-{os.getpid()}")
    if not path.parent.is_dir():
        raise TargetError(f"{path}: its folder does not exist")
    with writing(str(path)):
        try:
            ElementTree.ElementTree(suite).write(hidden, encoding="utf-8", xml_declaration=True)
            hidden.replace(path)
        finally:
            hidden.unlink(missing_ok=True)


def _escaped(text: str) -> str:
    """What would end an annotation."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
