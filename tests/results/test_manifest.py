"""The manifest as one object: old ones are read, new keys passed over, damaged ones refused in one line."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.cli import main
from shoal.errors import FieldName, FieldText, SourceError
from shoal.io.json_files import read_json
from shoal.policy.release_kind import ReleaseKind
from shoal.policy.treatment import Treatment
from shoal.results.history import load_history
from shoal.results.manifest import Manifest
from shoal.results.multi_table_manifest import MultiTableManifest
from shoal.results.release_folder import ReleaseFolder
from shoal.schema import Role

OLD = Path(__file__).parent.parent / "compatibility" / "version_0_1"
ONE_TABLE = ("records", "aggregate", "anatomised", "local", "parts", "joined/people", "joined/stays")
LATER = {"kind", "created", "source"}


def written(folder: str | Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((OLD / folder / "release.json").read_text())
    return told


@pytest.mark.parametrize("folder", ONE_TABLE)
def test_what_the_version_before_wrote_is_read_whole(folder: str) -> None:
    manifest, told = Manifest.load(OLD / folder), written(folder)
    assert manifest.shoal == "0.1.0"
    assert (manifest.created, manifest.source) == (None, None)
    again = manifest.to_dict()
    assert {key: value for key, value in again.items() if key not in LATER} == told


@pytest.mark.parametrize("folder", ONE_TABLE)
def test_what_is_written_is_what_is_read(folder: str, tmp_path: Path) -> None:
    manifest = Manifest.load(OLD / folder)
    (tmp_path / "release.json").write_text(manifest.to_json())
    assert Manifest.load(tmp_path) == Manifest.load(tmp_path / "release.json") == manifest


def test_the_kind_of_an_old_release_is_told_by_its_records() -> None:
    assert Manifest.load(OLD / "records").kind is ReleaseKind.RECORDS
    assert Manifest.load(OLD / "aggregate").kind is ReleaseKind.AGGREGATE


def test_attributes_have_types() -> None:
    manifest = Manifest.load(OLD / "records")
    assert manifest.with_role(Role.QUASI) == ("age", "sex")
    assert manifest.treatment["age"] is Treatment.GENERALISED
    assert manifest.risk is not None and manifest.risk.k == 114
    assert manifest.person is not None and manifest.person.most_records == 1
    assert manifest.read_back is not None and manifest.read_back.read_back().tellings[0].attribute == "age"


def test_a_manifest_with_the_least_that_one_can_say() -> None:
    manifest = Manifest.model_validate({"data": {"path": "data.csv"}})
    assert (manifest.roles, manifest.risk, manifest.solution, manifest.warnings) == ({}, None, None, ())
    assert not manifest.says_who
    assert Manifest.model_validate({"data": {"path": "data.csv"}, "person": None}).says_who


def test_keys_of_later_versions_are_passed_over(tmp_path: Path) -> None:
    told = written("records")
    told |= {"budget": {"epsilon": 1}, "risk": told["risk"] | {"later": [1]}}
    (tmp_path / "release.json").write_text(json.dumps(told))
    assert Manifest.load(tmp_path) == Manifest.load(OLD / "records")


@pytest.mark.parametrize(
    "damage",
    [
        {"data": None},
        {"data": {"path": 5}},
        {"data": {"rows": 5}},
        {"roles": {"age": "king"}},
        {"roles": []},
        {"treatment": {"age": "eaten"}},
        {"risk": {"k": "many"}},
        {"risk": {"k": 2.5}},
        {"person": {"attribute": "who"}},
        {"kind": "novel"},
        {"read_back": {"k_effective": 3}},
        {"warnings": "all of it"},
        {"records": {"kept": 10**400}},
    ],
)
def test_damaged_manifests_are_refused_in_one_line(tmp_path: Path, damage: dict[str, Any]) -> None:
    (tmp_path / "release.json").write_text(json.dumps(written("records") | damage))
    for opened in (lambda: Manifest.load(tmp_path), lambda: ReleaseFolder.at(str(tmp_path)).data):
        with pytest.raises(SourceError) as refused:
            opened()
        assert str(refused.value) == f"{tmp_path / 'release.json'}: is not the manifest of a release"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"data": {"path": NaN}}']
)
def test_what_is_no_manifest_at_all(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "release.json").write_bytes(content)
    with pytest.raises(SourceError, match="is not the manifest of a release"):
        Manifest.load(tmp_path)
    with pytest.raises(SourceError, match="is not the manifest of a release"):
        Manifest.load(tmp_path / "nowhere")


def test_several_tables() -> None:
    folder = ReleaseFolder.at(str(OLD / "joined"))
    assert folder.tables is not None
    assert folder.tables.kind is ReleaseKind.TABLES
    again = folder.tables.to_dict()
    later = {*LATER, "files", "models"}
    assert {key: value for key, value in again.items() if key not in later} == written("joined")
    assert again["files"] == again["models"] == [], "several synthetic tables have these"
    assert MultiTableManifest.model_validate(again) == folder.tables
    with pytest.raises(SourceError, match="is a release of several tables"):
        _ = folder.manifest
    with pytest.raises(SourceError, match="is a release of several tables"):
        Manifest.load(OLD / "joined")


def test_a_folder_knows_whether_its_data_is_what_was_released(tmp_path: Path) -> None:
    for name in ("records", "parts"):
        at = shutil.copytree(OLD / name, tmp_path / name)
        before = ReleaseFolder.at(str(at))
        before.require_untouched()
        assert (before.proven, before.changed) == (True, False)
        data = next(path for path in (at / "data.csv", *(at / "data.csv").glob("part*")) if path.is_file())
        data.write_bytes(data.read_bytes() + b"\n")
        after = ReleaseFolder.at(str(at))
        assert (after.proven, after.changed, after.records) == (False, True, None)
        with pytest.raises(SourceError, match="is not the file that was released"):
            after.require_untouched()


def test_a_data_file_has_its_manifest_beside_it() -> None:
    named = f"{OLD}/./records/data.csv"
    around, folder = ReleaseFolder.around(named), ReleaseFolder.at(str(OLD / "records"))
    assert (around.manifest, around.data) == (folder.manifest, named)
    assert around.proven
    assert ReleaseFolder.around(str(OLD / "hospital.csv")).manifest is None
    assert ReleaseFolder.around("postgresql://somewhere/else").data == "postgresql://somewhere/else"


def test_the_history_of_an_old_release_is_kept_as_it_was(tmp_path: Path) -> None:
    (entry,) = load_history(OLD / "local")
    told = json.loads((OLD / "local" / "history.json").read_text())
    assert [entry.to_dict()] == told
    (tmp_path / "history.json").write_text(json.dumps([told[0] | {"later": 5}]))
    (newer,) = load_history(tmp_path)
    assert newer.to_dict()["later"] == 5


def test_a_run_says_what_it_made_from_what(tmp_path: Path) -> None:
    data = shutil.copy(OLD / "hospital.csv", tmp_path / "people.csv")
    policy = shoal.Policy.from_text(
        'shoal: 1\nname: x\nattributes:\n  "*": suppress\n  sex: {role: quasi}\nprivacy: [{k_anonymity: {k: 2}}]\n'
    )
    release = shoal.anonymise(data, policy, output=tmp_path / "out", seed=1)
    manifest = Manifest.load(tmp_path / "out")
    assert manifest == release.manifest
    assert manifest.kind is ReleaseKind.RECORDS
    assert manifest.created is not None and manifest.created.tzinfo is not None
    assert manifest.source is not None
    assert (manifest.source.name, len(manifest.source.sha256)) == ("people.csv", 64)
    table = shoal.anonymise(pl.read_csv(data), policy, seed=1)
    assert table.manifest.source is None


def test_sentences_keep_the_inputs_that_they_name() -> None:
    """So that the command line writes them as flags, also in JSON, and a file as Python does."""
    told = FieldText("needs ", FieldName("control"))
    manifest = Manifest.load(OLD / "records").model_copy(update={"attacks_skipped": {}})
    kept = Manifest.model_validate({**dict(manifest), "attacks_skipped": {"membership": told}})
    assert isinstance(kept.to_dict()["attacks_skipped"]["membership"], FieldText)
    assert json.loads(kept.to_json())["attacks_skipped"] == {"membership": "needs control"}


@pytest.mark.parametrize("place", ["records", "records/data.csv"])
@pytest.mark.parametrize(
    "command", [("measure", "--qi", "age,sex"), ("attack", "--original", str(OLD / "hospital.csv"))]
)
def test_a_command_reads_the_manifest_once(
    place: str, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    read: list[Path] = []

    def counted(path: Path) -> Any:
        read.append(path)
        return read_json(path)

    monkeypatch.setattr("shoal.results.manifest.read_json", counted)
    monkeypatch.setattr(sys, "argv", ["shoal", command[0], str(OLD / place), *command[1:], "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    capfd.readouterr()
    assert (ended.value.code or 0, len(read)) == (0, 1)
