"""One thing of each kind that another distribution can add to Shoal."""

from pathlib import Path

LOCKERS = Path(__file__).with_name("lockers.yaml")
TIDE = Path(__file__).with_name("tide.html.j2")
