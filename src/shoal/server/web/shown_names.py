"""Names that other rooms keep in English and pages show: marked here, so that catalogues have them."""

from __future__ import annotations

from typing import Final

from shoal.server.web.languages import said

USE_CASES: Final = (
    said("Internal sharing of de-identified data"),
    said("Internal sharing of anonymised data"),
    said("Sharing with an outside party"),
    said("Keeping data for long-term analysis"),
    said("Release to the public"),
    said("Data for development and testing"),
)
ROLES: Final = (
    said("Administrator"),
    said("Chief investigator"),
    said("Co-director"),
    said("Data manager"),
    said("Statistician"),
    said("Manager"),
    said("Answers callers"),
    said("Tester"),
    said("Validator"),
    said("Auditor"),
    said("Who answers for privacy"),
)
