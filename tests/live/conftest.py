"""Real servers, a table of people on them, and roles that log in by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import Engine, create_engine, make_url
from sqlalchemy.pool import NullPool
from tests.servers import mariadb, mariadb_url, postgres, postgres_url

from shoal.live.operations import Live
from shoal.vault import Passphrase, Vault

__all__ = ["mariadb", "mariadb_url", "postgres", "postgres_url"]

SERVERS = ["postgres_url", "mariadb_url"]
LOGIN = "live-login"
PASSPHRASE = "seven grey herons at dawn"  # noqa: S105  # of a vault that lives as long as the tests
DRIVERS = {"postgresql": "postgresql+psycopg", "mariadb": "mysql+pymysql"}
PATIENTS = """CREATE TABLE patients (id int PRIMARY KEY, name varchar(200), email varchar(200), age int,
    born date, postal varchar(10), salary decimal(12, 2), diagnosis varchar(100), region varchar(20))"""
PEOPLE: Sequence[tuple[Any, ...]] = (
    (1, "Asha Rao", "asha@example.org", 34, "1990-02-03", "411005", 1234.50, "flu", "north"),
    (2, "Ravi Iyer", None, 91, "1934-01-01", "403001", 99950.00, "asthma", "south"),
    (3, "Mei Tan", "not an address", 12, None, "460001", None, None, "north"),
    (4, "Ünal Öz", "uenal@example.org", 45, "1980-12-31", "411999", 777.77, "angina", "north"),
)
SECRETS = (
    "Asha Rao",
    "Ravi Iyer",
    "Mei Tan",
    "Ünal Öz",
    "asha@",
    "uenal@",
    "1990-02-03",
    "1934-01-01",
    "411005",
    "1234.5",
    "777.77",
)
"""What the analyst never sees in any form; 99950 is not among them, since it rounds to what others round to."""
ANALYST: dict[str, Any] = {
    "shoal": 1,
    "name": "analyst",
    "attributes": {
        "id": {"role": "direct", "technique": {"pseudonymise": {"domain": "patients", "algorithm": "hmac_sha256"}}},
        "name": {"role": "direct", "technique": {"mask": {"keep_first": 1}}},
        "email": {"role": "direct", "technique": {"mask": {"kind": "email"}}},
        "age": {"role": "quasi", "hierarchy": {"intervals": {"widths": [5, 10], "low": 18, "high": 90}}},
        "born": {"role": "quasi", "hierarchy": "dates"},
        "postal": {"role": "quasi", "hierarchy": "redact"},
        "salary": {"role": "insensitive", "technique": {"round": {"base": 100}}},
        "diagnosis": {"role": "sensitive"},
        "region": {"role": "insensitive"},
    },
}
DOCTOR: dict[str, Any] = {
    "shoal": 1,
    "name": "doctor",
    "attributes": {name: {"role": "insensitive"} for name in ("id", "name", "age", "diagnosis")} | {"*": "suppress"},
}
LEVELS = {"age": 2, "born": 3, "postal": 3}


@dataclass
class House:
    """A server with the table, roles on it, and a live file for them."""

    url: str
    folder: Path
    vault: Vault
    changes: dict[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return self.url.partition(":")[0]

    @property
    def is_postgres(self) -> bool:
        return self.kind == "postgresql"

    def role(self, name: str) -> str:
        return name if self.is_postgres else f"{name}@%"

    def engine(self, user: str | None = None) -> Engine:
        url = make_url(self.url).set(drivername=DRIVERS[self.kind])
        if user is not None:
            database = url.database if self.is_postgres else f"shoal_{user}"
            url = url.set(username=user, password=LOGIN, database=database)
        return create_engine(url, poolclass=NullPool)

    def own(self, *statements: str) -> None:
        """As the owner of the tables."""
        with self.engine().begin() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement.replace("%", "%%"), ())

    def ask(self, statement: str, user: str | None = None) -> list[tuple[Any, ...]]:
        with self.engine(user).connect() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(statement.replace("%", "%%"), ()).fetchall()]

    def write(self, **changes: Any) -> Path:
        """The live file, with other keys for the analyst."""
        (self.folder / "analyst.yaml").write_text(yaml.safe_dump(ANALYST))
        (self.folder / "doctor.yaml").write_text(yaml.safe_dump(DOCTOR))
        analyst = {"policy": "analyst.yaml", "table": "patients", "purpose": "statistics", "levels": LEVELS, **changes}
        doctor = {"policy": "doctor.yaml", "table": "patients", "purpose": "treatment"}
        roles = {self.role("analyst"): analyst, self.role("doctor"): doctor}
        path = self.folder / "live.yaml"
        path.write_text(yaml.safe_dump({"shoal": 1, "name": "hospital", "database": self.url, "roles": roles}))
        return path

    def live(self, **changes: Any) -> Live:
        return Live.of(self.write(**changes), self.vault)

    def __enter__(self) -> House:
        self.__exit__()
        self.own(PATIENTS)
        with self.engine().begin() as connection:
            cells = ", ".join(["%s"] * len(PEOPLE[0]))
            for person in PEOPLE:
                connection.exec_driver_sql(f"INSERT INTO patients VALUES ({cells})", person)
        for role in ("analyst", "doctor"):
            who = f"ROLE {role} LOGIN PASSWORD" if self.is_postgres else f"USER {role}@'%' IDENTIFIED BY"
            self.own(f"CREATE {who} '{LOGIN}'")
        return self

    def __exit__(self, *_: object) -> None:
        Live.of(self.write(), self.vault).remove()
        if self.is_postgres:
            self.own("DROP TABLE IF EXISTS patients CASCADE")
            for (role,) in self.ask("SELECT rolname FROM pg_roles WHERE rolname IN ('analyst', 'doctor')"):
                self.own(f"DROP OWNED BY {role}", f"DROP ROLE {role}")
        else:
            self.own("DROP TABLE IF EXISTS patients")
            self.own(*(f"DROP USER IF EXISTS {role}@'%'" for role in ("analyst", "doctor")))


@pytest.fixture(scope="session")
def vault_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vault") / "live.vault"


@pytest.fixture(scope="session")
def live_vault(vault_file: Path) -> Vault:
    vault = Vault.create(str(vault_file), Passphrase("anita", PASSPHRASE))
    vault.add_domain("patients")
    return vault


@pytest.fixture(params=SERVERS)
def house(request: pytest.FixtureRequest, tmp_path: Path, live_vault: Vault) -> Iterator[House]:
    """On each server in turn."""
    with House(str(request.getfixturevalue(request.param)), tmp_path, live_vault) as made:
        yield made
