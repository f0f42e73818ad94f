"""The page of what each engine does, made from the policies that the tests run on both.

Each policy is run here on one machine. The steps that it was made into say how a cluster does them.
"""

from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path
from types import ModuleType

import yaml

from shoal.engine.polars import PolarsEngine
from shoal.engine.spark.counting import MOST
from shoal.engine.spark.table_steps import TableStepStrategy
from shoal.io.frames import FrameSource, FrameTarget
from shoal.plan import Plan
from shoal.plan.nodes import PlannedStep
from shoal.policy import Policy
from shoal.privacy import privacy_models
from shoal.pseudonyms import Secrets
from shoal.randomness import Randomness
from shoal.release.pipeline import ReleasePipeline
from shoal.schema import Scope, Step
from shoal.schema.parameters import Parameters
from shoal.techniques import table_techniques, techniques
from shoal.vault import Passphrase, Vault

EXAMPLES = Path(__file__).resolve().parent.parent / "tests" / "support" / "examples.py"
HEAD = """# Engines

This page is made by `make generate` from `tests/support/examples.yaml`, the policies that the tests run on both
engines; a test fails when it is out of date, or when a technique or a privacy model is in none of them. With one seed
both engines write the same records, the same further files and the same figures in `release.json`, on every line below
(homomorphic ciphertexts alone differ from run to run, on any engine). How to run Spark is in
[Spark](../how-to/spark.md), why it is built so in [a decision](../decisions/0014-spark.md).

On one machine (Polars) a technique that has to see the whole table holds the columns that it reads in memory, and all
others go by in batches. On Spark it is done in one of these ways:

| On Spark | What has to fit where |
|---|---|
| record by record | nothing: batches of 100,000 records |
| by ranks | nothing: Spark sorts and joins on disk |
| by the first record of each person | these are found by Spark; then as it says |
| in strata | the columns that are read, of the largest stratum, in the memory of one executor's Python |
| on one executor | the columns that are read, of all records, in the memory of one executor's Python |
| partial results | on the driver, a line for each group (and person, where the policy names one) of each partition |
| a sort | nothing: Spark sorts on disk |
"""
TECHNIQUES = """
## Techniques

| Technique | Polars | Spark | How on Spark, in the policies that were run |
|---|---|---|---|"""
MODELS = """
## Privacy models

A model sees counts of distinct combinations and nothing else, whichever engine has counted them.

| Model | Polars | Spark |
|---|---|---|"""
TAIL = f"""
## Counts

Distinct combinations of quasi-identifiers (and of the sensitive attributes that models look at) reach the driver, at
most {MOST:,} of them. With `person` in the policy, people who are in one combination only are counted by Spark; of
those in several, each pair of person and combination reaches the driver as well, at most {MOST:,} again. A combination
of eight short texts takes 220 bytes of the driver's memory (measured with four million), so the limit needs 11 GB. What
reaches the driver is counted first. Beyond the limit the executors roll up the attribute with the most values by one
level of its hierarchy, and count again ([what you get then](../how-to/spark.md#too-many-combinations)). A technique on
such a column (`generalise`, `round`, `code`) is applied by the executors *before* anything is counted, too.

## Sources and positions

- **Parquet**, one file or a folder of parts, is read where it lies. A record's position is its place in the files, in
  the order of their names.
- **Every other source** (CSV, Excel, JSON lines, Arrow, a database) is first copied to Parquet by the driver, in a
  stream, with the types and positions that Polars reads. The copy lies in a hidden folder (mode 0700) beside the output
  and is removed at the end. It is not encrypted: a driver that is killed leaves it there until the next run into the
  same folder.
- **A Spark frame** is copied to Parquet by Spark, sorted by all columns, missing values first. A record's position is
  its rank by content, however the frame is cut. Lists, structures, maps and binary columns are refused by name.

Random numbers hang on the position, so the same file gives the same release on both engines. A Spark frame gives the
same records as the same table, sorted likewise, does on one machine. Text is sorted by its bytes (UTF-8).

## Order

Without `shuffle_rows` or decoys the order of records on Spark is not promised. With them it is the same on both
engines, record for record, as Spark sorts by the same random key before anything is written. In an output of parts the
first part has the smallest keys, so parts say as little as places do.
"""


def page() -> str:
    found = ways()
    named = (*techniques.names(), *table_techniques.names(), "decoys")
    if missing := set(named) - set(found):
        raise SystemExit(f"no policy of {EXAMPLES.with_suffix('.yaml')} uses {', '.join(sorted(missing))}")
    lines = [f"| `{name}` | yes | yes | {_listed(found[name])} |" for name in sorted(named)]
    models = [f"| `{name}` | yes | {'no' if model.one_file_only else 'yes'} |" for name, model in privacy_models]
    return "\n".join([HEAD.rstrip(), TECHNIQUES, *lines, MODELS, *models, TAIL])


def _listed(ways: dict[str, str]) -> str:
    if len(ways) == 1:
        return next(iter(ways))
    return "; ".join(f"{way}: `{written}`" for way, written in ways.items())


def ways() -> dict[str, dict[str, str]]:
    """For each technique, how a cluster does the steps that it was made into, each with parameters that lead to it."""
    examples = _examples()
    found: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        examples.everyone().write_csv(home / "everyone.csv")
        vault = Vault.create(home / "keys.vault", Passphrase("example", "a long enough phrase"), state=home / "state")
        for domain in examples.DOMAINS:
            vault.add_domain(domain)
        for name in examples.NAMES:
            policy: Policy = examples.policy(name, home)
            for planned in _plan(policy, examples, home, vault):
                found.setdefault(planned.technique, {}).setdefault(way(planned.step), _written(policy, planned))
    return found


def _written(policy: Policy, planned: PlannedStep) -> str:
    """The parameters of a technique as the policy has them."""
    on_attribute = policy.attributes[planned.attribute].steps if planned.attribute in policy.attributes else ()
    one: Parameters | None = next((step for step in on_attribute if step.key == planned.technique), None)
    one = one or policy.table_steps.get(planned.technique)
    given = one.model_dump(mode="json", exclude_unset=True, by_alias=True) if one else {}
    return yaml.safe_dump(given, default_flow_style=True, sort_keys=False, width=1000).strip()


def way(step: Step) -> str:
    if step.scope is not Scope.TABLE:
        return {
            Scope.ROW: "record by record",
            Scope.REDUCE: "partial results",
            Scope.ORDER: "a sort",
            Scope.INSERT: "added after the last record, then a sort",
        }[step.scope]
    found = TableStepStrategy.of(step)
    return f"{found}, {way(step.leads.step)}" if found is TableStepStrategy.FIRSTS and step.leads else str(found)


def _plan(policy: Policy, examples: ModuleType, home: Path, vault: Secrets) -> Plan:
    secrets = vault if "identity" in policy.table_steps else None
    pipeline = ReleasePipeline(policy, PolarsEngine(), Randomness(seed=1), secrets=secrets)
    return pipeline.rewrite(FrameSource(examples.table().lazy()), FrameTarget(), aside=home / "aside.arrow").plan


def _examples() -> ModuleType:
    spec = importlib.util.spec_from_file_location("examples", EXAMPLES)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(EXAMPLES)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
