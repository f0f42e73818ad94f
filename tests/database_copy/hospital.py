"""A hospital of twelve tables: circles, a table that refers to itself, keys of several columns, a table without any."""

from __future__ import annotations

import datetime

import sqlalchemy as sa
from sqlalchemy import Column, Engine, ForeignKey, ForeignKeyConstraint, Integer, MetaData, String, Table

METADATA = MetaData()
PATIENTS = 60
VISITS = 150
DAY = datetime.date(2024, 1, 1)

clinics = Table(
    "clinics",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String(40), nullable=False),
    Column("part_of", ForeignKey("clinics.id", name="fk_clinic_part_of")),
)
departments = Table(
    "departments",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String(40), nullable=False),
    Column("clinic", ForeignKey("clinics.id", name="fk_department_clinic"), nullable=False),
    Column("head", ForeignKey("doctors.id", name="fk_department_head", use_alter=True)),
)
doctors = Table(
    "doctors",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String(60), nullable=False),
    Column("email", String(80), unique=True),
    Column("department", ForeignKey("departments.id", name="fk_doctor_department")),
)
patients = Table(
    "patients",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String(60), nullable=False),
    Column("insurance", String(20), nullable=False, unique=True),
    Column("born", sa.Date),
    Column("town", String(40), index=True),
    Column("income", sa.Numeric(10, 2)),
    Column("doctor", ForeignKey("doctors.id", name="fk_patient_doctor")),
)
addresses = Table(
    "addresses",
    METADATA,
    Column("patient", ForeignKey("patients.id", name="fk_address_patient"), nullable=False),
    Column("street", String(80)),
)
visits = Table(
    "visits",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("patient", ForeignKey("patients.id", name="fk_visit_patient"), nullable=False, index=True),
    Column("doctor", ForeignKey("doctors.id", name="fk_visit_doctor")),
    Column("at", sa.DateTime),
    Column("note", sa.Text),
    Column("picture", sa.LargeBinary),
    Column("urgent", sa.Boolean),
)
diagnoses = Table("diagnoses", METADATA, Column("code", String(8), primary_key=True), Column("title", String(60)))
visit_diagnoses = Table(
    "visit_diagnoses",
    METADATA,
    Column("visit", ForeignKey("visits.id", name="fk_vd_visit"), primary_key=True),
    Column("code", ForeignKey("diagnoses.code", name="fk_vd_code"), primary_key=True),
)
prescriptions = Table(
    "prescriptions",
    METADATA,
    Column("visit", ForeignKey("visits.id", name="fk_prescription_visit"), primary_key=True),
    Column("line", Integer, primary_key=True, autoincrement=False),
    Column("drug", String(40)),
    Column("dose", sa.Double),
)
dispensings = Table(
    "dispensings",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("visit", Integer, nullable=False),
    Column("line", Integer, nullable=False),
    Column("on_day", sa.Date),
    ForeignKeyConstraint(["visit", "line"], ["prescriptions.visit", "prescriptions.line"], name="fk_dispensing"),
)
referrals = Table(
    "referrals",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("patient", ForeignKey("patients.id", name="fk_referral_patient"), nullable=False),
    Column("to_doctor", ForeignKey("doctors.id", name="fk_referral_doctor")),
    Column("after", ForeignKey("referrals.id", name="fk_referral_after")),
)
settings = Table("settings", METADATA, Column("key", String(40)), Column("value", String(80)))

POLICY = """
shoal: 1
name: hospital
use_case: test-data
tables:
  clinics:
    attributes: {id: {role: insensitive}, name: {role: insensitive}, part_of: {role: insensitive}}
  departments:
    attributes:
      id: {role: insensitive}
      name: {role: insensitive}
      clinic: {role: insensitive}
      head: {role: direct, technique: {pseudonymise: {domain: doctors}}}
  doctors:
    attributes:
      id: {role: direct, technique: {pseudonymise: {domain: doctors}}}
      name: {role: direct, technique: {pseudonymise: {domain: names}}}
      email: {role: direct, technique: {pseudonymise: {domain: mails, format: email}}}
      department: {role: insensitive}
  patients:
    person: id
    attributes:
      id: {role: direct, technique: {pseudonymise: {domain: patients}}}
      name: suppress
      insurance: {role: direct, technique: {pseudonymise: {domain: insurance}}}
      born: {role: quasi, technique: {noise: {days: 30}}}
      town: {role: quasi, technique: permute}
      income: {role: sensitive, technique: {round: {base: 100}}}
      doctor: {role: direct, technique: {pseudonymise: {domain: doctors}}}
  addresses:
    attributes:
      patient: {role: direct, technique: {pseudonymise: {domain: patients}}}
      street: {role: direct, technique: {mask: {keep_first: 1, length: 5}}}
  visits:
    attributes:
      id: {role: direct, technique: {pseudonymise: {domain: visits}}}
      patient: {role: direct, technique: {pseudonymise: {domain: patients}}}
      doctor: {role: direct, technique: {pseudonymise: {domain: doctors}}}
      at: {role: insensitive}
      note: {role: direct, technique: scrub}
      picture: {role: insensitive}
      urgent: {role: insensitive}
  diagnoses:
    attributes: {code: {role: insensitive}, title: {role: insensitive}}
  visit_diagnoses:
    attributes:
      visit: {role: direct, technique: {pseudonymise: {domain: visits}}}
      code: {role: insensitive}
  prescriptions:
    attributes:
      visit: {role: direct, technique: {pseudonymise: {domain: visits}}}
      line: {role: insensitive}
      drug: {role: insensitive}
      dose: {role: insensitive}
  dispensings:
    attributes:
      id: {role: insensitive}
      visit: {role: direct, technique: {pseudonymise: {domain: visits}}}
      line: {role: insensitive}
      on_day: {role: quasi}
  referrals:
    attributes:
      id: {role: insensitive}
      patient: {role: direct, technique: {pseudonymise: {domain: patients}}}
      to_doctor: {role: direct, technique: {pseudonymise: {domain: doctors}}}
      after: {role: insensitive}
  settings:
    attributes: {key: {role: insensitive}, value: {role: insensitive}}
"""


def fill(engine: Engine) -> None:
    """Rows by rule, so that every test knows them."""
    with engine.begin() as connection:
        if engine.dialect.name in {"mysql", "mariadb"}:  # the first patient has the number 0
            connection.execute(sa.text("SET SESSION sql_mode = 'TRADITIONAL,NO_AUTO_VALUE_ON_ZERO'"))

        def put(table: Table, rows: list[dict[str, object]]) -> None:
            connection.execute(table.insert(), rows)

        put(clinics, [{"id": n, "name": f"Clinic {n}", "part_of": n // 2 or None} for n in range(1, 5)])
        put(departments, [{"id": n, "name": f"Ward {n}", "clinic": n, "head": None} for n in range(1, 5)])
        mails = [f"dr{n}@hospital.example" for n in range(1, 9)]
        put(
            doctors,
            [
                {"id": n, "name": f"Doctor Number{n}", "email": mails[n - 1], "department": n % 4 + 1}
                for n in range(1, 9)
            ],
        )
        for n in range(1, 5):
            connection.execute(departments.update().where(departments.c.id == n).values(head=n))
        put(patients, [_patient(n) for n in range(PATIENTS)])
        put(addresses, [{"patient": n, "street": f"Street number {n}"} for n in range(0, PATIENTS, 2)])
        put(visits, [_visit(n) for n in range(VISITS)])
        put(diagnoses, [{"code": f"A{n}", "title": f"Illness 'no' {n}\n\ttab \\ end"} for n in range(5)])
        put(visit_diagnoses, [{"visit": n, "code": f"A{m}"} for n in range(VISITS) for m in {n % 5, n % 3}])
        lines = [(n, m) for n in range(VISITS) for m in range(n % 3)]
        put(prescriptions, [{"visit": n, "line": m, "drug": "Dipyrone", "dose": 0.1 * m} for n, m in lines])
        put(
            dispensings,
            [{"id": i, "visit": n, "line": m, "on_day": DAY + datetime.timedelta(i)} for i, (n, m) in enumerate(lines)],
        )
        put(
            referrals,
            [
                {"id": n, "patient": n // 2, "to_doctor": n % 8 + 1, "after": n - 1 if n % 2 else None}
                for n in range(2, 50)
            ],
        )
        put(settings, [{"key": "colour", "value": "blue"}, {"key": "empty", "value": ""}])


def _patient(n: int) -> dict[str, object]:
    return {
        "id": n,
        "name": f"Patient Surname{n}",
        "insurance": f"INS-{n:06}",
        "born": datetime.date(1940 + n, 1 + n % 12, 1 + n % 28),
        "town": f"Town {n % 7}",
        "income": 1000 + n * 37.25,
        "doctor": n % 8 + 1 if n % 9 else None,
    }


def _visit(n: int) -> dict[str, object]:
    return {
        "id": n,
        "patient": n % PATIENTS,
        "doctor": n % 8 + 1 if n % 4 else None,
        "at": datetime.datetime.combine(DAY, datetime.time(8, 30)) + datetime.timedelta(hours=n),
        "note": "" if n % 10 == 0 else f"He called from 98765 4321{n % 10}; \\N is no value",
        "picture": bytes([0, 255, n]) if n % 3 else None,
        "urgent": n % 2 == 0,
    }
