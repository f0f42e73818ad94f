"""One policy, one seed, two engines: the same release. Every technique and every model is in one of the policies.

Executors are processes of their own, so whatever a step needs has to travel with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.support import examples
from tests.support.model_cases import declared_cases

from shoal.policy import Policy
from shoal.privacy import privacy_models
from shoal.release.run import Release, release_folder
from shoal.techniques import table_techniques, techniques
from shoal.vault import Passphrase, Vault

pytestmark = pytest.mark.requirement("L-04", "D-01")

SEED = 5
BY_CHANCE = ("created", "timing", "peak_rss_mb", "engine", "versions")
ONE_FILE = {key for key, model in privacy_models if model.one_file_only}
"""Models that are not for a cluster."""
NAMES = (*examples.NAMES, *(name for name in declared_cases() if name not in ONE_FILE))

Make = Callable[[Policy, str, str], Release]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("releases")
    examples.table().write_parquet(folder / "table.parquet", row_group_size=30)
    examples.table().write_csv(folder / "table.csv")
    examples.everyone().write_csv(folder / "everyone.csv")
    return folder


@pytest.fixture(scope="module")
def make(home: Path) -> Make:
    """A release by a policy and an engine. There is one vault for all, as pseudonyms are given once."""
    vault = Vault.create(home / "keys.vault", Passphrase("anita", "a long enough phrase"), state=home / "state")
    for domain in examples.DOMAINS:
        vault.add_domain(domain)

    def made(policy: Policy, engine: str, data: str) -> Release:
        secrets = vault if "identity" in policy.table_steps else None
        folder = home / f"{policy.name} {engine} {data}"
        return release_folder(policy, folder, data=str(home / data), engine=engine, seed=SEED, secrets=secrets)

    return made


def example(name: str, home: Path) -> Policy:
    """Of the file of examples, or of the test file of a model."""
    case = declared_cases().get(name)
    return examples.policy(name, home, None if case is None else case.policy)


def used(policy: Policy) -> set[str]:
    """The keys of the techniques and models that a policy uses."""
    on_attributes = {step.key for attribute in policy.attributes.values() for step in attribute.steps}
    return on_attributes | set(policy.table_steps) | {model.key for model in policy.models}


def test_every_technique_and_model_is_in_an_example(home: Path) -> None:
    shown = set().union(*(used(example(name, home)) for name in NAMES))
    assert shown == {*techniques.names(), *table_techniques.names(), *privacy_models.names()} - ONE_FILE


def told(release: Release) -> dict[str, Any]:
    """What the manifest says, but for what no two runs have in common. Records may be written in any order."""
    assert release.folder is not None
    facts: dict[str, Any] = json.loads((release.folder / "release.json").read_text(encoding="utf-8"))
    for name in BY_CHANCE:
        del facts[name]
    for written in (facts["data"], *facts.get("files", ())):
        del written["sha256"]
    return facts


def same(first: Path, second: Path, *, ordered: bool) -> None:
    frames = [
        pl.read_csv(path, infer_schema=False) if path.suffix == ".csv" else pl.read_parquet(path)
        for path in (first, second)
    ]
    assert_frame_equal(*frames, check_exact=True, check_row_order=ordered)


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", NAMES)
def test_both_engines_release_the_same(name: str, make: Make, home: Path) -> None:
    policy = example(name, home)
    one, other = (make(policy, engine, "table.parquet") for engine in ("polars", "spark"))
    ordered = "shuffle_rows" in policy.table_steps or policy.solve.decoys is not None
    same(one.data, other.data, ordered=ordered)
    assert set(one.files) == set(other.files)
    for file in one.files:
        same(one.files[file], other.files[file], ordered=False)
    assert told(other) == told(one)
    assert {path.name for path in one.folder.iterdir()} == {path.name for path in other.folder.iterdir()}


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_text_files_are_read_alike(make: Make, home: Path) -> None:
    """They are copied for Spark, and nothing of the copy is left."""
    policy = examples.policy("a sample in strata", home)
    one, other = (make(policy, engine, "table.csv") for engine in ("polars", "spark"))
    assert other.data.read_bytes() == one.data.read_bytes(), "even the order is the same, as the records are shuffled"
    assert told(other) == told(one)
    assert not list(home.rglob(".spark*"))


def test_a_release_that_differs_would_be_noticed(home: Path) -> None:
    """Another seed, as an engine that draws otherwise would have it."""
    policy = examples.policy("a sample in strata", home)
    one, other = (
        release_folder(policy, home / f"seed {seed}", data=str(home / "table.parquet"), seed=seed) for seed in (1, 2)
    )
    with pytest.raises(AssertionError):
        same(one.data, other.data, ordered=False)
