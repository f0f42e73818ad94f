"""Tables that nobody uploads: of a folder on the server, of a database that the operator named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, make_url, text
from tests.server.conftest import SETTINGS, Visitor, account
from tests.servers import postgres, postgres_url

from shoal.errors import InputError
from shoal.server import create_app
from shoal.server.jobs.table_fetching import checked_server

pytestmark = pytest.mark.requirement("G-08")
__all__ = ["postgres", "postgres_url"]
SECRET = "pa/ss@word:1"  # noqa: S105  # of the server that lives as long as the tests


def studio(home: Path, **settings: Any) -> Visitor:
    return account(create_app(home, SETTINGS.model_copy(update=settings)), "meera", "data-manager")


def test_table_of_the_servers_folder_is_copied(home: Path, tmp_path: Path, small: bytes):
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "people.csv").write_bytes(small)
    (folder / "notes.txt").write_text("no table", encoding="utf-8")
    (folder / "elsewhere.csv").symlink_to("/etc/passwd")
    visitor = studio(home, tables_folder=folder)
    page = visitor.client.get("/").text
    assert "people.csv (" in page
    assert "notes.txt" not in page
    assert "elsewhere.csv" not in page
    made = visitor.post("/sources/from-folder", {"file": "people.csv"})
    assert made.status_code == 303
    visitor.work()
    assert "60 records" in visitor.client.get(made.headers["location"]).text
    for name in ("notes.txt", "elsewhere.csv", "../people.csv", "/etc/passwd", "", "tables/people.csv"):
        assert visitor.post("/sources/from-folder", {"file": name}).status_code in {404, 422}, name


def test_no_folder_and_no_server_are_offered_where_none_was_named(manager: Visitor):
    page = manager.client.get("/").text
    assert "server’s folder" not in page
    assert "A table of a database" not in page
    assert manager.post("/sources/from-folder", {"file": "people.csv"}).status_code == 404
    asked = {"server": "postgresql://127.0.0.1:5432", "database": "d", "user": "u", "password": "p", "table": "t"}
    assert manager.post("/sources/from-database", asked).status_code == 422


@pytest.mark.server
def test_table_of_a_database_is_fetched_and_the_login_forgotten(home: Path, postgres_url: str):
    address = make_url(postgres_url)
    engine = create_engine(address.set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE IF EXISTS studio_people"))
        connection.execute(text("CREATE TABLE studio_people (age int, ward text)"))
        connection.execute(text("INSERT INTO studio_people SELECT 20 + n % 9, 'w' FROM generate_series(1, 90) n"))
    engine.dispose()
    server = f"postgresql://{address.host}:{address.port}"
    visitor = studio(home, table_servers=(server,))
    asked = {"server": server, "database": str(address.database), "user": str(address.username), "password": SECRET}
    made = visitor.post("/sources/from-database", {**asked, "table": "studio_people"})
    assert made.status_code == 303, made.text
    visitor.work()
    page = visitor.client.get(made.headers["location"]).text
    assert "90 records" in page
    assert not any(SECRET.encode() in path.read_bytes() for path in home.rglob("*") if path.is_file())
    wrong = visitor.post("/sources/from-database", {**asked, "password": "secret of mine", "table": "studio_people"})
    visitor.work()
    page = visitor.client.get(wrong.headers["location"]).text
    assert "can’t be read" in page or "can't be read" in page
    assert "secret of mine" not in page


@pytest.mark.parametrize(
    "changed",
    [
        {"server": "postgresql://169.254.169.254:80"},
        {"server": "postgresql://127.0.0.1:5432/x?host=169.254.169.254"},
        {"server": "sqlite:///etc/passwd"},
        {"database": "d?host=169.254.169.254"},
        {"database": "d/../x"},
    ],
)
def test_no_form_leads_to_another_server(home: Path, changed: dict[str, str]):
    visitor = studio(home, table_servers=("postgresql://127.0.0.1:5432",))
    asked = {"server": "postgresql://127.0.0.1:5432", "database": "d", "user": "u", "password": "p", "table": "t"}
    assert visitor.post("/sources/from-database", {**asked, **changed}).status_code == 422
    assert not list(home.glob("uploads/*"))


@pytest.mark.parametrize(
    "address", ["sqlite:///x", "postgresql://u:p@h", "postgresql://h/x", "http://h", "postgresql://"]
)
def test_operator_names_hosts_and_no_more(address: str):
    with pytest.raises(InputError, match="host:port"):
        checked_server(address)
