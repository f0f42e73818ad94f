"""Singapore: planning areas with their regions (Urban Redevelopment Authority, Master Plan 2019)."""

from __future__ import annotations

import re

_AREAS = {
    "Central Region": """
        Bishan | Bukit Merah | Bukit Timah | Downtown Core | Geylang | Kallang | Marina East | Marina South |
        Marine Parade | Museum | Newton | Novena | Orchard | Outram | Queenstown | River Valley | Rochor |
        Singapore River | Southern Islands | Straits View | Tanglin | Toa Payoh
    """,
    "East Region": "Bedok | Changi | Changi Bay | Pasir Ris | Paya Lebar | Tampines",
    "North Region": """
        Central Water Catchment | Lim Chu Kang | Mandai | Sembawang | Simpang | Sungei Kadut | Woodlands | Yishun
    """,
    "North-East Region": """
        Ang Mo Kio | Hougang | North-Eastern Islands | Punggol | Seletar | Sengkang | Serangoon
    """,
    "West Region": """
        Boon Lay | Bukit Batok | Bukit Panjang | Choa Chu Kang | Clementi | Jurong East | Jurong West | Pioneer |
        Tengah | Tuas | Western Islands | Western Water Catchment
    """,
}
REGION_OF_AREA = {
    area: f"{region}, Singapore"
    for region, areas in _AREAS.items()
    for area in re.findall(r"[^|\s](?:[^|]*[^|\s])?", areas)
}
"""The fifty-five planning areas, each with its region."""
