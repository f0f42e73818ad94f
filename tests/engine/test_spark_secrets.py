"""What leaves the driver: keys of this job at most. Nothing that executors print or keep on disks shows a secret."""

from __future__ import annotations

import base64
import json
import pickle
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.support.clusters import PATIENCE, Cluster, driver

from shoal.crypto import Key
from shoal.crypto.passphrase import Effort
from shoal.engine.polars import PolarsEngine
from shoal.io.frames import FrameSource, FrameTarget
from shoal.policy import Policy
from shoal.randomness import Randomness
from shoal.release.pipeline import ReleasePipeline
from shoal.release.run import release_folder
from shoal.schema import Step
from shoal.vault import Passphrase, Vault
from shoal.vault.domains import keys, usable

pytestmark = pytest.mark.requirement("L-04", "V-05")

MARK, ROWS = "ZEBRA", 300
PHRASE = "OKAPI 7731 is long enough"
WAY = Passphrase("anita", PHRASE, Effort(iterations=1, lanes=1, memory_kib=8))
DOMAINS = ("name", "card", "phone", "guest", "age")
TABLE = pl.DataFrame(
    {
        "name": [f"{MARK}-NAME-{row}" for row in range(ROWS)],
        "card": [f"{MARK}-CARD-{row % 90}" for row in range(ROWS)],
        "guest": [f"{MARK}-GUEST-{row}" for row in range(ROWS)],
        "phone": [f"{919_773_100_000 + 7_919 * row}" for row in range(ROWS)],
        "mail": [f"{row}@{MARK}.example" for row in range(ROWS)],
        "town": [f"{MARK}TOWN{row % 4}" for row in range(ROWS)],
        "age": [20 + row % 50 for row in range(ROWS)],
        "note": [f"{MARK}-NOTE-{row}" for row in range(ROWS)],
    }
)
POLICY = """
shoal: 1
name: clinic
attributes:
  name: {role: direct, technique: {pseudonymise: {domain: name}}}
  card: {role: direct, technique: {pseudonymise: {domain: card, method: random}}}
  guest: {role: direct, technique: {pseudonymise: {domain: guest, double_coding: true}}}
  phone: {role: direct, technique: {encrypt: {scheme: format_preserving, key: phone}}}
  mail: {role: direct, technique: {encrypt: {scheme: deterministic, key: "file:own.key"}}}
  town: {role: quasi, hierarchy: {redact: {side: right, char: "x"}}}
  age: {role: insensitive, technique: {encrypt: {scheme: order_preserving, key: age}}}
  note: {role: direct}
privacy: [{k_anonymity: {k: 3}}]
solve: {levels: {town: [1, 10]}}
"""
LASTING = ("name", "card", "phone", "mail")


@dataclass(frozen=True)
class Clinic:
    home: Path
    vault: Vault
    policy: Policy

    def secrets(self) -> dict[str, Key]:
        """Every key that there is, by name. Those of a job may travel; none may be seen."""
        with self.vault._reading() as session:
            roots = {name: keys(session, usable(session, name)).root for name in DOMAINS}
            held = {"master": session.held.master, "origin": session.held.origin}
        own = Key((self.home / "own.key").read_bytes())
        return {**held, **{f"root of {name}": key for name, key in roots.items()}, "own": own}

    def keys_of_the_job(self) -> dict[str, Key]:
        names = {name: self.vault.key(name, "pseudonymise") for name in ("name", "card", "guest")}
        encrypted = {name: self.vault.key(name, "encrypt") for name in ("phone", "age")}
        own = Key((self.home / "own.key").read_bytes())
        schemes = {
            "phone, scheme": encrypted["phone"].derive("encrypt", "format_preserving"),
            "mail, scheme": own.derive("encrypt", "deterministic"),
            "age, scheme": encrypted["age"].derive("encrypt", "order_preserving"),
        }
        return {**names, **encrypted, **schemes}


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    home = tmp_path_factory.mktemp("clinic")
    (home / "policy.yaml").write_text(POLICY)
    (home / "own.key").write_bytes(Key.new().material)
    TABLE.write_parquet(home / "clinic.parquet", row_group_size=60)
    TABLE.with_columns(
        pl.when(pl.col("name") == f"{MARK}-NAME-7").then(pl.lit("77")).otherwise("phone").alias("phone")
    ).write_parquet(home / "short.parquet")
    with Vault.create(home / "people.vault", WAY, state=home / "state") as vault:
        for name in DOMAINS:
            vault.add_domain(name)
        yield Clinic(home, vault, Policy.load(home / "policy.yaml"))


def written(secret: bytes) -> set[bytes]:
    """A secret in the ways in which it might be written."""
    based = base64.b64encode(secret).rstrip(b"=")
    return {secret, secret.hex().encode(), based, base64.urlsafe_b64encode(secret).rstrip(b"=")}


def found(text: bytes, secrets: dict[str, bytes]) -> set[str]:
    return {name for name, secret in secrets.items() if any(form in text for form in written(secret))}


def steps(clinic: Clinic) -> list[Step]:
    pipeline = ReleasePipeline(clinic.policy, PolarsEngine(), Randomness(), secrets=clinic.vault)
    done = pipeline.rewrite(FrameSource(TABLE.lazy()), FrameTarget(), aside=clinic.home / "aside.arrow")
    (clinic.home / "aside.arrow").unlink(missing_ok=True)
    return [planned.step for planned in done.plan]


class TestWhatIsShipped:
    def test_a_step_holds_no_key_but_its_own(self, clinic: Clinic) -> None:
        from pyspark import cloudpickle

        secret = {name: key.material for name, key in clinic.secrets().items()}
        places = {"phrase": PHRASE.encode(), "vault": b"people.vault", "key file": b"own.key"}
        shipped = steps(clinic)
        assert len(shipped) >= 8
        for step in shipped:
            for dumps in (pickle.dumps, cloudpickle.dumps):
                assert found(dumps(step.apply), secret | places) == set(), type(step).__name__

    def test_the_search_would_find_them(self, clinic: Clinic) -> None:
        secret = {name: key.material for name, key in clinic.secrets().items()}
        assert found(pickle.dumps(list(clinic.secrets().values())), secret) == set(secret)
        of_the_job = {name: key.material for name, key in clinic.keys_of_the_job().items()}
        assert found(b"".join(pickle.dumps(step.apply) for step in steps(clinic)), of_the_job) >= {
            "name",
            "mail, scheme",
        }

    def test_what_is_for_a_third_party_stays_at_home(self, clinic: Clinic) -> None:
        (coded,) = [step for step in steps(clinic) if step.sidecar_files]
        interim = coded.sidecar_files[0].table
        assert interim is not None
        assert not [code for code in interim["interim"] if code.encode() in pickle.dumps(coded.apply)]
        assert pickle.loads(pickle.dumps(coded)).apply(TABLE)["guest"].equals(coded.apply(TABLE)["guest"])  # noqa: S301


DRIVER = """
import contextlib, json, shutil, sys
from pyspark.sql import SparkSession
from shoal.cli import main

commands, disks, kept, plain = json.loads(sys.argv[1])
if plain:
    SparkSession.builder.master("local[1]").config("spark.io.encryption.enabled", "false").getOrCreate()
for arguments in commands:
    sys.argv = ["shoal", *arguments]
    try:
        main()
    except SystemExit as ended:
        print("ended with", ended.code or 0, flush=True)
for number, disk in enumerate(disks):
    with contextlib.suppress(shutil.Error):  # what is gone by the time that it is copied
        shutil.copytree(disk, f"{kept}/{number}")
"""
"""Runs commands in one process and copies what Spark has on its disks while it is there."""

LOGS = """
rootLogger.level = debug
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{1}: %m%n%ex
"""


@dataclass(frozen=True)
class Traces:
    """What a run left: what the driver said, and every file that Spark has made."""

    said: str
    folder: Path

    def read(self) -> dict[str, bytes]:
        files = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in files}


def run(cluster: Cluster, clinic: Clinic, folder: Path, commands: list[list[str]], *, plain: bool = False) -> Traces:
    for name in ("events", "disk", "kept"):
        (folder / name).mkdir()
    (folder / "debug.properties").write_text(LOGS)
    settings = {
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": f"-Dlog4j2.configurationFile=file://{folder}/debug.properties",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{folder}/events",
        # What can be read easily would be found easily.
        "spark.shuffle.compress": "false",
        "spark.shuffle.spill.compress": "false",
        "spark.broadcast.compress": "false",
        "spark.broadcast.UDFCompressionThreshold": "1",
        "spark.cleaner.referenceTracking": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    of_others = [path.name for path in cluster.work.iterdir()]
    disks = [str(folder / "disk"), str(cluster.folder / "local")]
    told = json.dumps([commands, disks, str(folder / "kept"), plain])
    variables = {"SHOAL_VAULT_PASSPHRASE": PHRASE, "SHOAL_STATE": str(clinic.home / "state")}
    process = driver(
        cluster, ["-c", DRIVER, told], folder, settings, SPARK_LOCAL_DIRS=str(folder / "disk"), **variables
    )
    try:
        said, _ = process.communicate(timeout=2 * PATIENCE)
    finally:
        process.kill()
    shutil.copytree(cluster.work, folder / "kept" / "work", ignore=shutil.ignore_patterns(*of_others))
    shutil.copytree(folder / "events", folder / "kept" / "events")
    shutil.copytree(cluster.folder / "logs", folder / "kept" / "logs")
    return Traces(said, folder / "kept")


def command(clinic: Clinic, source: str, output: str, *more: str) -> list[str]:
    home = clinic.home
    given = ["run", str(home / "policy.yaml"), "--input", str(home / source), "--output", str(home / output)]
    return [*given, "--engine", "spark", "--vault", str(home / "people.vault"), "--person", "anita", *more]


@pytest.fixture(scope="module")
def traces(cluster: Cluster, clinic: Clinic, tmp_path_factory: pytest.TempPathFactory) -> Traces:
    """Two runs that succeed and one whose executors fail."""
    master = ("--master", cluster.master)
    commands = [
        command(clinic, "clinic.parquet", "one", *master),
        command(clinic, "clinic.parquet", "parts", *master, "--parts"),
        command(clinic, "short.parquet", "fails", *master),
    ]
    return run(cluster, clinic, tmp_path_factory.mktemp("traces"), commands)


@pytest.mark.spark
class TestExecutors:
    def test_the_runs_ended_as_they_should(self, traces: Traces) -> None:
        ends = [line for line in traces.said.splitlines() if line.startswith("ended with")]
        assert ends == ["ended with 0", "ended with 0", "ended with 2"], traces.said
        assert "error [SHOAL" in traces.said
        assert "too few for format-preserving encryption" in traces.said

    def test_the_same_pseudonyms_on_both_engines_and_in_every_run(self, traces: Traces, clinic: Clinic) -> None:
        here = release_folder(
            clinic.policy, clinic.home / "here", data=str(clinic.home / "clinic.parquet"), secrets=clinic.vault
        )
        expected = pl.read_parquet(here.data).select(LASTING)
        one = pl.read_parquet(clinic.home / "one" / "data.parquet").select(LASTING)
        parts = pl.read_parquet(clinic.home / "parts" / "data.parquet" / "part-*.parquet").select(LASTING)
        assert expected["name"].n_unique() == ROWS
        for other in (one, parts):
            assert_frame_equal(other, expected, check_row_order=False)
        assert traces.said

    def test_nothing_that_is_printed_or_kept_shows_a_value_or_a_key(self, traces: Traces, clinic: Clinic) -> None:
        released = pl.read_parquet(clinic.home / "one" / "data.parquet")
        secrets = {name: key.material for name, key in (clinic.secrets() | clinic.keys_of_the_job()).items()}
        texts = {"value": MARK, "phone": TABLE["phone"][11], "phrase": PHRASE, "pseudonym": released["name"][11]}
        texts |= {"issued": released["card"][11], "encrypted": released["mail"][11], "vault": "people.vault"}
        secrets |= {name: text.encode() for name, text in texts.items()}
        seen = {"what the driver said": traces.said.encode(), **traces.read()}
        assert {name: hits for name, text in seen.items() if (hits := found(text, secrets))} == {}

    def test_there_was_something_to_search(self, traces: Traces) -> None:
        read = traces.read()
        logs = [text for name, text in read.items() if name.startswith("work/") and name.endswith("stderr")]
        assert len(logs) >= 2
        assert all(b"DEBUG" in text for text in logs)
        assert any(b"TransportedError" in text for text in logs)
        assert any(b"SparkListenerTaskEnd" in text for name, text in read.items() if name.startswith("events/"))
        kept = [name for name in read if name.startswith(("0/", "1/"))]
        assert [name for name in kept if "shuffle_" in name], kept
        assert [name for name in kept if name.startswith("1/")], kept

    def test_without_encryption_of_disks_values_would_be_found_there(
        self, cluster: Cluster, clinic: Clinic, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        """A Spark that others have started, with nothing encrypted: the same search finds them."""
        commands = [command(clinic, "clinic.parquet", "plain")]
        traces = run(cluster, clinic, tmp_path_factory.mktemp("plain"), commands, plain=True)
        assert "ended with 0" in traces.said
        disk = [text for name, text in traces.read().items() if name.startswith("0/")]
        assert any(MARK.encode() in text for text in disk)
