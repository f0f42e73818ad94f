"""What each kind of job does: one function of its context, which calls use cases and has no judgement of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Insert, insert, select, update

from shoal.errors import InputError
from shoal.policy import Policy
from shoal.randomness import now
from shoal.schema import Role
from shoal.server.home import StudioHome
from shoal.server.jobs.drafting import DraftedPolicy, PolicyChoices, draft_policy, open_upload
from shoal.server.jobs.job_queue import JobClaim, JobKind, JobQueue
from shoal.server.store.stored import stored_bytes
from shoal.server.store.tables import DATASETS, POLICIES, RELEASES, SOURCES, TEXTS

if TYPE_CHECKING:
    from shoal.io import Source
    from shoal.results.evidence_facts import DistributionFacts
    from shoal.schema.progress import Monitor

PREVIEW_ROWS: Final = 20
PREVIEW_COLUMNS: Final = 60
LONGEST_CELL: Final = 80
MOST_DRAWN: Final = 24
MOST_BARS: Final = 16
EXPLORED_KS: Final = (3, 5, 10, 20)
EXPLORED_LIMITS: Final = (0.0, 0.02, 0.1)
"""With the one that was chosen; the recoding is the policy's, so that every try can be chosen."""


@dataclass(frozen=True)
class JobContext:
    home: StudioHome
    queue: JobQueue
    claim: JobClaim
    monitor: Monitor

    @property
    def file(self) -> Path:
        with self.home.database.reading() as connection:
            name = connection.execute(select(SOURCES.c.name).where(SOURCES.c.id == self.claim.source)).scalar()
        if name is None:
            raise InputError("the source was deleted")
        return self.home.upload(self.claim.source) / "data" / str(name)

    @property
    def choices(self) -> PolicyChoices:
        return PolicyChoices.model_validate(self.claim.request["choices"])

    def drafted(self) -> DraftedPolicy:
        return draft_policy(self.file, self.choices, self.monitor)

    def own_policy(self) -> str:
        """The policy that this job makes, by the job's own identifier: a second attempt takes what the first made."""
        text = self.policy_text(self.claim.id)
        if text is not None:
            return text
        text = self.drafted().suggestion.text
        made = {"id": self.claim.id, "owner": self.claim.owner, "source": self.claim.source, "text": text}
        with self.home.database.transaction() as connection:
            if connection.execute(select(POLICIES.c.id).where(POLICIES.c.id == self.claim.id)).first() is None:
                name = Policy.from_text(text).name
                connection.execute(insert(POLICIES).values(**made, name=name, created=now().timestamp()))
        return text

    def named_policy(self) -> str:
        text = self.policy_text(self.claim.request["policy"])
        if text is None:
            raise InputError("there is no such policy")
        return text

    def policy_text(self, identifier: str) -> str | None:
        mine = (POLICIES.c.id == identifier, POLICIES.c.owner == self.claim.owner)
        with self.home.database.reading() as connection:
            return connection.execute(select(POLICIES.c.text).where(*mine)).scalar()


@dataclass(frozen=True)
class JobOutcome:
    result: Mapping[str, Any]
    rows: tuple[Insert, ...] = ()


def inspect(job: JobContext) -> JobOutcome:
    from shoal.io import explained, write_atomic
    from shoal.scan.policy_suggestion import profiled
    from shoal.server.jobs.spread import spread_of

    table = profiled(str(job.file), open_upload(job.file), monitor=job.monitor)
    folder = job.home.upload(job.claim.source)
    write_atomic(folder / "profile.json", json.dumps(table.profile.to_dict()))
    write_atomic(folder / "preview.json", json.dumps(_first_rows(table.source)))
    quasi = [one.name for one in table.profile.columns if one.proposal.role is Role.QUASI]
    with explained(table.source):
        write_atomic(folder / "spread.json", json.dumps(spread_of(table.source.scan(), quasi)), private=True)
    return JobOutcome({"rows": table.profile.rows, "columns": len(table.profile.columns)})


def fetch_table(job: JobContext) -> JobOutcome:
    """A table of a database becomes a file of ours, and is looked at as one that was uploaded."""
    from shoal.server.jobs.table_fetching import fetch

    with job.home.database.reading() as connection:
        left = job.home.settings.stored_bytes - stored_bytes(connection, job.claim.owner)
    with job.monitor.phase("fetch"):
        login = job.queue.secret(job.claim)
        size, sha256 = fetch(job.home.upload(job.claim.source), login, left)
    job.queue.forget_secret(job.claim)
    with job.home.database.transaction() as connection:
        connection.execute(update(SOURCES).where(SOURCES.c.id == job.claim.source).values(size=size, sha256=sha256))
    return inspect(job)


def _first_rows(source: Source) -> dict[str, Any]:
    from shoal.io import beginning

    head = beginning(source, PREVIEW_ROWS).collect()
    names = head.columns[:PREVIEW_COLUMNS]
    rows = [[_short(cell) for cell in row] for row in head.select(names).rows()]
    return {"columns": names, "left_out": len(head.columns) - len(names), "rows": rows}


def _short(cell: object) -> str | None:
    if cell is None:
        return None
    text = str(cell)
    return text if len(text) <= LONGEST_CELL else f"{text[:LONGEST_CELL]}…"


def suggest(job: JobContext) -> JobOutcome:
    job.own_policy()
    return JobOutcome({"policy": job.claim.id})


def check(job: JobContext) -> JobOutcome:
    from shoal.plan.dry_run import check_against_data
    from shoal.policy import warnings_in

    policy = Policy.from_text(job.named_policy())
    check_against_data(policy, open_upload(job.file))
    return JobOutcome({"ok": True, "warnings": list(warnings_in(policy))})


def explore(job: JobContext) -> JobOutcome:
    from shoal.assess.closer_look import lattice_around
    from shoal.assess.exploration import ExploreRequest, PolicyExplorer
    from shoal.results.exploration import Exploration

    drafted = job.drafted()
    policy, solve = drafted.suggestion.policy, drafted.suggestion.policy.solve
    limits = tuple(sorted({*EXPLORED_LIMITS, solve.suppression_limit}))
    request = ExploreRequest(ks=EXPLORED_KS, limits=limits, recodings=(solve.recoding,))
    with job.monitor.phase("try"):
        explorer = PolicyExplorer(policy, drafted.source, monitor=job.monitor)
        tries = tuple(explorer.tries(request.settings(policy)))
        told = Exploration(policy.name, explorer.label, explorer.problem.records, tries, complete=True).to_dict()
        return JobOutcome({**told, "lattice": lattice_around(explorer.problem, solve)})


def run(job: JobContext) -> JobOutcome:
    """The folder appears whole and once. Where it is there already, an attempt before this one has delivered it."""
    from shoal.release.request import RunOptions
    from shoal.release.run import Run

    folder, asked = job.home.release(job.claim.id), job.claim.request
    policy = asked.get("policy") or job.claim.id
    text = job.own_policy() if asked.get("policy") is None else job.named_policy()
    if not folder.exists():
        options = RunOptions(output=folder, seed=asked.get("seed"), evidence=asked.get("evidence", False))
        request = options.for_table(Policy.from_text(text), source=open_upload(job.file))
        with Run(request, job.monitor).staged() as staged:
            examples = {column.name: _example(column.cells) for column in staged.release.examples}
            job.queue.note(job.claim, "examples", {"columns": examples})
            job.queue.note(job.claim, "distributions", {"columns": _distributions(staged.release.distributions)})
            staged.commit()
    job.queue.note(job.claim, "classes", {"bins": _class_bins(folder)})
    made = {"id": job.claim.id, "owner": job.claim.owner, "source": job.claim.source, "policy": policy}
    row = insert(RELEASES).values(**made, created=now().timestamp())
    return JobOutcome({"release": job.claim.id, "policy": policy}, (row,))


def _class_bins(folder: Path) -> list[dict[str, Any]]:
    """How large the released classes are, as the report draws them."""
    from shoal.assess.closer_look import class_sizes
    from shoal.report.plots import class_bins
    from shoal.results.release_folder import ReleaseFolder

    found = ReleaseFolder.at(str(folder))
    if found.manifest is None or found.manifest.records is None:
        return []
    data = open_upload(Path(found.data))
    names = found.manifest.comparable_quasi(data.scan().collect_schema().names())
    return [asdict(one) for one in class_bins(class_sizes(data, names))]


def _distributions(told: tuple[DistributionFacts, ...]) -> list[dict[str, Any]]:
    """Of columns that changed, with as many bars as can be told apart."""
    shown = [one for one in told if one.bars and not one.unchanged][:MOST_DRAWN]
    return [{"name": one.name, "suppressed": one.suppressed, "bars": one.bars[:MOST_BARS]} for one in shown]


def _example(cells: tuple[Any, ...]) -> list[dict[str, Any]]:
    return [{**asdict(cell), "same": cell.same} for cell in cells]


def measure(job: JobContext) -> JobOutcome:
    from shoal.assess.measure.request import MeasureRequest
    from shoal.assess.measure.table_measurement import measure_data
    from shoal.results.release_folder import ReleaseFolder

    folder = ReleaseFolder.at(str(job.home.release(job.claim.request["release"])))
    request = MeasureRequest.parse(release=folder)
    return JobOutcome(measure_data(folder, request, original=open_upload(job.file), monitor=job.monitor).to_dict())


def explain(job: JobContext) -> JobOutcome:
    """Why a record is starred out. It has values of a person: kept with the source, and gone with it."""
    from shoal.assess.closer_look import explain_record
    from shoal.io import write_atomic
    from shoal.plan.dry_run import rehearse
    from shoal.results.manifest import Manifest

    asked, source = job.claim.request, open_upload(job.file)
    manifest = Manifest.load(job.home.release(asked["release"]))
    with job.monitor.phase("count"):
        policy = Policy.from_text(job.named_policy())
        told = explain_record(rehearse(policy, source), policy.solve, source, manifest, asked["row"])
    path = job.home.explanation(job.claim.source, asked["release"], asked["row"])
    write_atomic(path, json.dumps(told), private=True)
    return JobOutcome({"row": asked["row"]})


def synth(job: JobContext) -> JobOutcome:
    """As a run: the folder appears whole and once."""
    from shoal.server.jobs.synthesis_choices import SynthesisChoices, synthesise

    folder, asked = job.home.release(job.claim.id), job.claim.request
    if not folder.exists():
        choices = SynthesisChoices.model_validate(asked["synthesis"])
        synthesise(open_upload(job.file), choices, folder, asked.get("seed"), job.monitor)
    made = {"id": job.claim.id, "owner": job.claim.owner, "source": job.claim.source, "policy": ""}
    return JobOutcome({"release": job.claim.id}, (insert(RELEASES).values(**made, created=now().timestamp()),))


def compose(job: JobContext) -> JobOutcome:
    """Look at a registered release together with all others of the same people, and put down what was found."""
    from shoal.assess.composition.request import ComposeRequest, HeldRelease
    from shoal.govern.composition_check import check_composition, record_composition
    from shoal.govern.registry import GovernanceRegistry

    entry, by = job.claim.request["entry"], job.claim.request["by"]
    with GovernanceRegistry.open(job.home.registry) as registry:
        registry.require("release", "compose", entry, by=by)
        with job.monitor.phase("compose"):
            result = check_composition(registry, entry, ComposeRequest(release=HeldRelease(name=entry)))
        record_composition(registry, entry, result, by=by)
    return JobOutcome({"entry": entry, **result.to_dict()})


def query(job: JobContext) -> JobOutcome:
    """An answer with noise. What it costs is on the ledger of the dataset before anything is read."""
    from shoal.server.datasets.dataset_desk import curator_of

    asked = job.claim.request
    with job.home.database.reading() as connection:
        row = connection.execute(select(DATASETS).where(DATASETS.c.id == asked["dataset"])).mappings().first()
    if row is None or not job.file.exists():
        raise InputError("the dataset is no more")
    with job.monitor.phase("answer"):
        answer = curator_of(job.home, dict(row)).query(asked["sql"], asked["epsilon"], analyst=asked["analyst"])
    return JobOutcome(answer.to_dict())


def check_levels(job: JobContext) -> JobOutcome:
    """Levels that a person chose, against every value of the column."""
    from shoal.io import explained
    from shoal.server.jobs.level_choices import coverage

    asked, source = job.claim.request, open_upload(job.file)
    with job.monitor.phase("read"), explained(source):
        return JobOutcome(coverage(asked["setting"], source, asked["column"]))


def open_desk(job: JobContext) -> JobOutcome:
    """What callers may be asked about, as keyed digests."""
    from shoal.server.callers.claim_index import ClaimIndex

    asked = job.claim.request
    index = ClaimIndex(job.home.desk(asked["desk"]))
    if not index.folder.exists():
        raise InputError("the desk was closed")
    with job.monitor.phase("read"):
        claims = index.build(open_upload(job.file), asked["person"], asked["columns"], job.monitor)
    return JobOutcome({"desk": asked["desk"], "claims": claims})


def scrub(job: JobContext) -> JobOutcome:
    from shoal.server.jobs.text_scrubbing import TextChoices, scrub_text

    with job.home.database.reading() as connection:
        kept = connection.execute(select(TEXTS.c.choices).where(TEXTS.c.id == job.claim.source)).scalar()
    if kept is None:
        raise InputError("the text was deleted")
    choices = TextChoices.model_validate(kept)
    with job.monitor.phase("scrub"):
        counts = scrub_text(job.home.text(job.claim.source), choices)
    return JobOutcome({"counts": counts})


WORK: Final[Mapping[JobKind, Callable[[JobContext], JobOutcome]]] = {
    JobKind.INSPECT: inspect,
    JobKind.SUGGEST: suggest,
    JobKind.CHECK: check,
    JobKind.EXPLORE: explore,
    JobKind.RUN: run,
    JobKind.MEASURE: measure,
    JobKind.COMPOSE: compose,
    JobKind.SCRUB: scrub,
    JobKind.SYNTH: synth,
    JobKind.DESK: open_desk,
    JobKind.QUERY: query,
    JobKind.LEVELS: check_levels,
    JobKind.EXPLAIN: explain,
    JobKind.FETCH: fetch_table,
}
