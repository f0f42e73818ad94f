"""A made-up hospital: patients, their visits in order, prescriptions of visits, and doctors who are second parents."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl

from shoal.synth.related_tables import RelatedTablesDescription

DESCRIBED = {
    "shoal": 1,
    "name": "hospital",
    "tables": {
        "patients": {"key": "id"},
        "doctors": {"key": "code"},
        "visits": {"key": "number", "order": "start"},
        "prescriptions": {},
    },
    "references": [
        {"from": "visits.patient", "to": "patients.id"},
        {"from": "visits.doctor", "to": "doctors.code"},
        {"from": "prescriptions.visit", "to": "visits.number"},
        {"from": "prescriptions.patient", "to": "patients.id"},
    ],
}


def described() -> RelatedTablesDescription:
    return RelatedTablesDescription.of(DESCRIBED)


def hospital(people: int = 1_500, seed: int = 1) -> dict[str, pl.DataFrame]:
    """Chronic patients come more often, after shorter gaps; children see children's doctors; drugs go by diagnosis."""
    numbers = np.random.default_rng(seed)
    born = numbers.integers(-12_000, 16_000, people)
    chronic = numbers.random(people) < np.where(born < 0, 0.5, 0.1)
    patients = pl.DataFrame(
        {
            "id": np.arange(people) + 5_000,
            "sex": numbers.choice(["f", "m"], people),
            "born": pl.Series(born, dtype=pl.Int32).cast(pl.Date),
            "chronic": np.where(chronic, "yes", "no"),
        }
    )
    doctors = pl.DataFrame(
        {
            "code": [f"D{number:03}" for number in range(60)],
            "field": ["children"] * 20 + ["adults"] * 40,
            "salary": numbers.normal(90_000, 9_000, 60).round(-2),
        }
    )
    popular = numbers.pareto(1.5, 60) + 0.2
    each = numbers.poisson(np.where(chronic, 9, 2))
    who = np.repeat(np.arange(people), each)
    rows = len(who)
    gap = numbers.exponential(np.where(chronic[who], 40, 250)) + 1
    start = np.concatenate([np.cumsum(part) for part in np.split(gap, np.cumsum(each)[:-1])]) if rows else gap
    day = np.maximum(born[who], 14_600) + start.astype(int)
    child = day - born[who] < 16 * 365
    doctor = np.where(
        child,
        numbers.choice(20, rows, p=popular[:20] / popular[:20].sum()),
        20 + numbers.choice(40, rows, p=popular[20:] / popular[20:].sum()),
    )
    sick = np.where(
        chronic[who] & (numbers.random(rows) < 0.8),
        "diabetes",
        np.where(child, "measles", numbers.choice(["flu", "fracture"], rows)),
    )
    visits = pl.DataFrame(
        {
            "number": np.arange(rows) + 100_000,
            "patient": who + 5_000,
            "doctor": pl.Series([f"D{one:03}" for one in doctor]),
            "start": pl.Series(day, dtype=pl.Int32).cast(pl.Date),
            "end": pl.Series(day + numbers.poisson(2, rows), dtype=pl.Int32).cast(pl.Date),
            "diagnosis": sick,
        }
    )
    given = numbers.poisson(np.where(sick == "diabetes", 1.5, 0.5))
    of = np.repeat(np.arange(rows), given)
    drug = np.where(sick[of] == "diabetes", "insulin", np.where(sick[of] == "fracture", "plaster", "rest"))
    prescriptions = pl.DataFrame(
        {
            "visit": of + 100_000,
            "patient": who[of] + 5_000,
            "drug": drug,
            "since": visits["start"].gather(of),
            "dose": numbers.integers(1, 5, len(of)) * 5,
        }
    )
    return {"patients": patients, "doctors": doctors, "visits": visits, "prescriptions": prescriptions}


def one_more(tables: dict[str, pl.DataFrame], visits: int) -> dict[str, pl.DataFrame]:
    """With a patient born long before all others, who has more visits than anybody, of a kind that nobody has."""
    born = datetime.date(1890, 1, 1)
    patient = pl.DataFrame({"id": [4_000], "sex": ["f"], "born": [born], "chronic": ["yes"]})
    days = [datetime.date(2011, 1, 1) + datetime.timedelta(days=one) for one in range(visits)]
    own = pl.DataFrame(
        {
            "number": range(900_000, 900_000 + visits),
            "patient": [4_000] * visits,
            "doctor": ["D030"] * visits,
            "start": days,
            "end": [*days[:-1], datetime.date(2199, 1, 1)],
            "diagnosis": ["plague"] * visits,
        }
    )
    return {
        **tables,
        "patients": pl.concat([tables["patients"], patient.cast(tables["patients"].schema)]),
        "visits": pl.concat([tables["visits"], own.cast(tables["visits"].schema)]),
    }
