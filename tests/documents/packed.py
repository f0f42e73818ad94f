"""Office packages written part by part, so that a test can hide something anywhere."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Mapping

RELS = "application/vnd.openxmlformats-package.relationships+xml"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def package(parts: Mapping[str, tuple[str, str | bytes]], links: Mapping[str, list[tuple[str, str, str]]]) -> bytes:
    """Parts by name with content type and content; links by the part they leave from, with id, kind and target."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        types = "".join(f'<Override PartName="/{name}" ContentType="{kind}"/>' for name, (kind, _) in parts.items())
        space = "http://schemas.openxmlformats.org/package/2006/content-types"
        default = f'<Default Extension="rels" ContentType="{RELS}"/>'
        file.writestr("[Content_Types].xml", f'<Types xmlns="{space}">{default}{types}</Types>')
        for name, (_, content) in parts.items():
            file.writestr(name, content)
        for name, found in links.items():
            folder, base = posixpath.split(name)
            lines = "".join(_line(*one) for one in found)
            text = f'<Relationships xmlns="{PACKAGE}">{lines}</Relationships>'
            file.writestr(posixpath.join(folder, "_rels", f"{base}.rels"), text)
    return out.getvalue()


def _line(identifier: str, kind: str, target: str) -> str:
    mode = ' TargetMode="External"' if ":" in target else ""
    full = kind if kind.startswith("http") else f"{OFFICE}/{kind}"
    return f'<Relationship Id="{identifier}" Type="{full}" Target="{target}"{mode}/>'


def parts_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return {name: file.read(name) for name in file.namelist()}
