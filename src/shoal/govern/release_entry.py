"""From a release folder to its entry in the registry: checksums and figures, no value."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from shoal.errors import InputError, IntegrityError, SourceError
from shoal.results.composition_result import CompositionResult

if TYPE_CHECKING:
    from shoal.results.manifest import Manifest
    from shoal.results.release_folder import ReleaseFolder


def _opened(folder: str) -> ReleaseFolder:
    from shoal.results.release_folder import ReleaseFolder  # most acts of a registry look at no folder

    try:
        return ReleaseFolder.at(folder)
    except OSError as error:
        raise SourceError(f"the folder can't be read ({error.strerror})", field="folder") from None


def release_figures(folder: str | Path) -> dict[str, Any]:
    """What ``release.json`` says that a registry keeps. The data file has to be the one that it speaks of."""
    found = _opened(str(folder))
    manifest = found.manifest
    if manifest is None:
        raise SourceError(f"{folder}: is no release folder", field="folder")
    if not manifest.data.sha256:
        raise InputError(f"{folder}: its manifest has no checksum of the data", field="folder")
    if not found.proven:
        raise IntegrityError(f"{folder}: the data is not what was released")
    return figures_of(manifest) | {"place": str(Path(folder).resolve())}


def figures_of(manifest: Manifest) -> dict[str, Any]:
    """What a manifest says that a registry keeps."""
    attacks = manifest.attacks or ()
    guarantee = manifest.differential_privacy
    return {
        "kind": manifest.kind.value,
        "created": "" if manifest.created is None else manifest.created.isoformat(timespec="seconds"),
        "source_sha256": "" if manifest.source is None else manifest.source.sha256,
        "policy_sha256": manifest.policy_sha256,
        "data_sha256": manifest.data.sha256 or "",
        "rows": manifest.data.rows,
        "k": _k(manifest),
        "epsilon": None if guarantee is None else float(guarantee.epsilon),
        "attacked": bool(attacks),
        "attacks_found": sum(1 for attack in attacks if attack.found),
        "models_met": manifest.met,
        "left_out": manifest.withdrawn,
    }


def _k(manifest: Manifest) -> int | None:
    """The smaller of k and what other columns leave of it."""
    if manifest.risk is None or not manifest.kind.has_classes:
        return None
    known = [manifest.risk.k, manifest.risk.k_effective]
    return min((int(k) for k in known if k is not None), default=None)


def is_there(folder: str, sha256: str) -> bool:
    """Whether a release folder with this data is there."""
    if not folder:
        return False
    found = _opened(folder)
    return found.manifest is not None and found.proven and found.manifest.data.sha256 == sha256


def composition_figures(result: CompositionResult) -> dict[str, Any]:
    """What a registry keeps of a composition check."""
    told = {name: getattr(result, name) for name in ("outcome", "basis", "exact", "effective_k", "below", "epsilon")}
    earlier = tuple(one.name for one in result.earlier)
    return {**told, "earlier": earlier, "release_sha256": result.release.sha256}


def composition_in(path: str) -> dict[str, Any]:
    try:
        return composition_figures(CompositionResult.model_validate_json(Path(path).read_text(encoding="utf-8")))
    except (OSError, ValidationError, ValueError):
        raise SourceError(f"{path}: is no result of a composition check", field="result") from None
