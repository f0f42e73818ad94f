"""Pages from templates. Everything that is filled in is escaped; no page has a script or a style of its own inside."""

from __future__ import annotations

import datetime
from functools import cache
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from shoal.server.access.sessions import Principal
from shoal.server.web.permits import parts_of


@cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("shoal.server", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"moment": _moment, "bytes": _bytes, "share": _share}
    return made


def _moment(seconds: float) -> str:
    """
    >>> _moment(0.0)
    '1 Jan 1970, 00:00 UTC'
    """
    at = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f"{at.day} {at:%b %Y, %H:%M} UTC"


def _bytes(size: int) -> str:
    """
    >>> _bytes(812), _bytes(702_113), _bytes(2_400_000_000)
    ('812 bytes', '702 kB', '2.4 GB')
    """
    for unit, one in (("GB", 1e9), ("MB", 1e6)):
        if size >= one:
            return f"{size / one:.1f} {unit}"
    return f"{size / 1e3:.0f} kB" if size >= 1000 else f"{size} bytes"


def _share(part: float) -> str:
    """
    >>> _share(0.2), _share(0.0004), _share(0)
    ('20 %', '0.04 %', '0 %')
    """
    return f"{100 * part:.2g} %" if part < 0.995 else "100 %"


def page(request: Request, template: str, /, *, status: int = 200, **values: Any) -> HTMLResponse:
    who: Principal | None = getattr(request.state, "principal", None)
    common = {"who": who, "csrf": None if who is None else who.csrf, "path": request.url.path}
    return HTMLResponse(_templates().get_template(template).render({**common, **values}), status)


def error_page(request: Request, status: int, detail: str) -> HTMLResponse:
    headings = {
        409: "Not yet",
        403: "You may not do that",
        404: "There is nothing here",
        413: "Too large",
        422: "That can't be used",
    }
    heading = headings.get(status, "Something went wrong")
    return page(request, "error.html", status=status, heading=heading, detail=detail)


def is_secure(request: Request) -> bool:
    return parts_of(request).home.settings.secure
