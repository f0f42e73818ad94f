"""In which language a page is written: the one that was chosen, else the first that the browser asks for."""

from __future__ import annotations

import gettext
from functools import cache
from importlib.resources import files
from typing import Final

from fastapi import Request

SOURCE: Final = "en-GB"
LANGUAGES: Final = {SOURCE: "English", "hi": "हिन्दी"}
COOKIE: Final = "shoal-language"


def said(text: str) -> str:
    """The text itself, marked as one that a template translates.

    >>> said("Count who looks alike")
    'Count who looks alike'
    """
    return text


@cache
def translations(language: str) -> gettext.NullTranslations:
    """What a catalogue lacks is said in English."""
    folder = str(files("shoal.server") / "locale")
    return gettext.translation("studio", folder, [language], fallback=True)


def language_of(request: Request) -> str:
    chosen = request.cookies.get(COOKIE, "")
    return chosen if chosen in LANGUAGES else asked_for(request.headers.get("accept-language", ""))


def asked_for(header: str) -> str:
    """The known language that a browser likes best.

    >>> asked_for("hi-IN,hi;q=0.9,en;q=0.8"), asked_for("fr, en;q=0.5, hi;q=0.3"), asked_for("hi;q=x"), asked_for("")
    ('hi', 'en-GB', 'en-GB', 'en-GB')
    """
    wanted = []
    for place, one in enumerate(header[:500].split(",")):
        name, _, quality = one.strip().partition(";q=")
        try:
            wanted.append((-float(quality or 1), place, name.partition("-")[0].lower()))
        except ValueError:
            continue
    known = {language.partition("-")[0]: language for language in LANGUAGES}
    return next((known[name] for _, _, name in sorted(wanted) if name in known), SOURCE)
