"""``shoal serve``: the studio and its API, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from shoal.cli.commands.studio.studio import Database
from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import RELEASE
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json
from shoal.errors import InputError, install_advice

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
SHUTDOWN: Final = 5
"""Seconds that requests have to end once the server was asked to."""
PATIENCE: Final = 60
"""Seconds that one of several processes may be silent: on a machine that is busy it is slow, and not dead."""


def serve(
    host: Annotated[
        str, typer.Option(help="The address to listen at; others than this machine's need TLS.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="The port to listen at.")] = 8080,
    home: Annotated[Path, typer.Option(metavar="DIR", help="Folder for accounts, uploads and releases.")] = Path(
        "shoal-home"
    ),
    workers: Annotated[int, typer.Option(metavar="N", min=1, max=64, help="Processes that work on jobs.")] = 2,
    processes: Annotated[int, typer.Option(metavar="N", min=1, max=64, help="Processes that answer requests.")] = 1,
    database: Database = None,
    certificate: Annotated[Path | None, typer.Option(help="For TLS: the certificate chain (PEM).")] = None,
    key: Annotated[Path | None, typer.Option(help="For TLS: its private key (PEM).")] = None,
    behind_tls: Annotated[  # noqa: FBT002
        bool, typer.Option("--behind-tls", help="A proxy on this machine speaks TLS with browsers.")
    ] = False,
    name: Annotated[
        list[str] | None, typer.Option(help="A name that browsers call the server by, beside localhost; repeatable.")
    ] = None,
    oidc_issuer: Annotated[
        str | None, typer.Option(metavar="URL", help="OpenID Connect: the provider by which your people sign in.")
    ] = None,
    oidc_client: Annotated[str, typer.Option(help="What the provider calls the studio.")] = "shoal",
    oidc_secret: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Holds the studio's secret with the provider.")
    ] = None,
    vault: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The vault whose requests to reveal are worked on here."),
    ] = None,
    tables: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A folder whose tables may be taken in without an upload.")
    ] = None,
    table_server: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL", help="A database whose tables may be taken in: postgresql://host:port; repeatable."
        ),
    ] = None,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Start the studio: upload, know, choose, run and see the result in a browser; the API is below /api/v1.

    Example: shoal serve --home studio/
    """
    try:
        from shoal.server.application import create_app
        from shoal.server.jobs.table_fetching import checked_server
        from shoal.server.settings import ServerSettings
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("shoal"):
            raise
        raise InputError("the studio needs parts that are not installed", advice=install_advice("server")) from None
    from shoal.cli.terminal.studio_server import StudioServer
    from shoal.server.web.logs import log_to_stderr

    if (certificate is None) != (key is None):
        raise InputError("--certificate and --key go together")
    secure = behind_tls or certificate is not None
    if host not in LOOPBACK and not secure:
        raise InputError(
            f"--host {host}: passwords and data would cross the network in the clear",
            advice="give --certificate and --key, or listen at 127.0.0.1 behind a proxy and give --behind-tls",
        )
    settings = ServerSettings(
        secure=secure,
        host_names=(*ServerSettings().host_names, host, *(one.lower() for one in name or ())),
        workers=workers,
        database=database,
        oidc_issuer=oidc_issuer,
        oidc_client=oidc_client,
        vault=vault,
        tables_folder=None if tables is None else tables.absolute(),
        table_servers=tuple(checked_server(one) for one in table_server or ()),
        oidc_secret_file=None if oidc_secret is None else oidc_secret.absolute(),
    )
    app = create_app(home, settings)
    log_to_stderr()
    address = f"{'https' if certificate else 'http'}://{host}:{port}/"
    _greet(app.state.parts.accounts.make_setup_token(), address, as_json=json)
    StudioServer(
        {
            "host": host,
            "port": port,
            "access_log": False,
            "log_config": None,
            "server_header": False,
            "proxy_headers": behind_tls,
            "timeout_graceful_shutdown": SHUTDOWN,
            "timeout_worker_healthcheck": PATIENCE,
            "ssl_certfile": certificate,
            "ssl_keyfile": key,
        }
    ).run(app, processes)


def _greet(token: str | None, address: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"address": address, "setup_token": token})
        return
    typer.echo(f"studio: {address}")
    if token is not None:
        typer.echo(f"first visit: {address}setup asks for this token, which is good for one account: {token}")


COMMAND = CommandEntry(serve, place=15, task=RELEASE)
