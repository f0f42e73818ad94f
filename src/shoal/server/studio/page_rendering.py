"""Pages from templates. Everything that is filled in is escaped; no page has a script or a style of its own inside."""

from __future__ import annotations

import datetime
import re
from functools import cache
from typing import Any, Final

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from shoal.server.access.sessions import Principal
from shoal.server.web.languages import LANGUAGES, language_of, said, translations
from shoal.server.web.permits import parts_of

_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?")


@cache
def _templates(language: str) -> Environment:
    made = Environment(
        extensions=["jinja2.ext.i18n"],
        loader=PackageLoader("shoal.server", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.install_gettext_translations(translations(language), newstyle=True)  # type: ignore[attr-defined]
    made.filters |= {"moment": _moment, "instant": _instant, "bytes": _bytes, "share": _share}
    return made


def _moment(seconds: float) -> Markup:
    """In UTC; a script writes it again as the clock on the reader's wall shows it.

    >>> _moment(0.0)
    Markup('<time datetime="1970-01-01T00:00:00Z">1 Jan 1970, 00:00 UTC</time>')
    """
    at = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return Markup('<time datetime="{}">{} {} UTC</time>').format(
        f"{at:%Y-%m-%dT%H:%M:%SZ}", at.day, f"{at:%b %Y, %H:%M}"
    )


def _instant(text: Any) -> Any:
    """A moment as a record keeps it, so that a script can show it by the reader's clock; anything else as it is.

    >>> _instant("2026-11-19T04:22:09.704716Z"), _instant("2026-11-19"), _instant(5)
    (Markup('<time datetime="2026-11-19T04:22:09Z">19 Nov 2026, 04:22 UTC</time>'), '2026-11-19', 5)
    """
    if not isinstance(text, str) or not _MOMENT.fullmatch(text):
        return text
    at = datetime.datetime.fromisoformat(text)
    return _moment((at if at.tzinfo else at.replace(tzinfo=datetime.UTC)).timestamp())


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
    language = language_of(request)
    common = {"who": who, "csrf": None if who is None else who.csrf, "path": request.url.path}
    back = request.url.path if request.method == "GET" else "/"
    told = {"language": language, "languages": LANGUAGES, "back": back, **common, **values}
    return HTMLResponse(_templates(language).get_template(template).render(told), status)


def error_page(request: Request, status: int, detail: str) -> HTMLResponse:
    headings = {
        409: said("Not yet"),
        403: said("You may not do that"),
        404: said("There is nothing here"),
        413: said("Too large"),
        422: said("That can't be used"),
    }
    heading = headings.get(status, said("Something went wrong"))
    return page(request, "error.html", status=status, heading=heading, detail=detail, status_code=status)


def is_secure(request: Request) -> bool:
    return parts_of(request).home.settings.secure
