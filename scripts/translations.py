"""The catalogues of the studio: texts are taken from templates and code, what was translated stays, and is compiled.

    python scripts/translations.py

A translator fills in `src/shoal/server/locale/LANGUAGE/LC_MESSAGES/studio.po` and runs this again.
"""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

SERVER = Path(__file__).resolve().parent.parent / "src" / "shoal" / "server"
LOCALE = SERVER / "locale"
METHODS = [("templates/**.html", "jinja2"), ("**.py", "python")]
OPTIONS = {"templates/**.html": {"encoding": "utf-8", "extensions": "jinja2.ext.i18n", "trimmed": "true"}}
DATE = datetime(2026, 1, 1, tzinfo=UTC)
"""The same always: what changed, and when, is in the history."""
KEYWORDS = {"_": None, "gettext": None, "ngettext": (1, 2), "said": None}


def texts() -> Catalog:
    """All that is to be translated, by where it stands; numbers of lines would change with every edit."""
    catalogue = Catalog(project="Shoal", charset="utf-8", fuzzy=False)
    for name, _, message, comments, context in extract_from_dir(
        SERVER, METHODS, OPTIONS, keywords=KEYWORDS, comment_tags=("Translators:",)
    ):
        catalogue.add(message, locations=[(str(name), 0)], auto_comments=comments, context=context)
    return catalogue


def updated(path: Path) -> Catalog:
    with path.open("rb") as file:
        known = read_po(file, locale=path.parent.parent.name)
    known.update(texts(), no_fuzzy_matching=True)
    known.obsolete.clear()
    known.header_comment = "# Translations for Shoal, under its licence."
    known.project, known.version, known.msgid_bugs_address = "Shoal", "", ""
    known.last_translator, known.language_team = "", ""
    known.creation_date = known.revision_date = DATE
    return known


def written(catalogue: Catalog) -> tuple[bytes, bytes]:
    """As `.po` and as `.mo`."""
    text, compiled = io.BytesIO(), io.BytesIO()
    write_po(text, catalogue, width=120, sort_output=True, include_lineno=False, omit_header=False)
    write_mo(compiled, catalogue)
    return text.getvalue(), compiled.getvalue()


def main() -> None:
    for path in sorted(LOCALE.glob("*/LC_MESSAGES/studio.po")):
        text, compiled = written(updated(path))
        path.write_bytes(text)
        path.with_suffix(".mo").write_bytes(compiled)


if __name__ == "__main__":
    main()
