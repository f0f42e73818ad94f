"""The pictures of `docs/tutorial/find-and-clean.md` and of a release's report, made by running the commands:
`scripts/pictures.py [NAME ...]`.

Needs the extra `documents`, Playwright's Python package, Pillow and a Chromium. The picture of Synthea's tables is made
where their folder is found.
"""

from __future__ import annotations

import io
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pypdfium2
from PIL import Image
from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.text import Text

from shoal.examples import documents, hospital

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
COLOURS = 48
PIXELS_A_COLUMN = 7.85
PAGE = """<!doctype html><meta charset=utf-8><style>body{margin:0;background:#0f1720}main{padding:14px 18px}
pre{margin:0;color:#d7dee6;font:13px/1.38 'DejaVu Sans Mono',monospace}</style><main><pre>CODE</pre></main>"""

Keep = Callable[[list[str]], list[str]]


def shot(  # noqa: PLR0913  # one argument per wish
    page: Path, name: str, width: int, height: int | None, *, dark: bool = False, at: str = ""
) -> None:
    """Without a height, as high as its content; ``at`` is the heading to start from."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        scheme: Literal["dark", "light"] = "dark" if dark else "light"
        tab = browser.new_page(
            viewport={"width": width, "height": height or 10}, device_scale_factor=1.5, color_scheme=scheme
        )
        tab.goto(f"{page.as_uri()}#{at}")
        if height is None:
            tab.set_viewport_size(
                {"width": width, "height": tab.evaluate("document.querySelector('main').offsetHeight") + 1}
            )
        tab.screenshot(path=IMAGES / f"{name}.png")
        browser.close()
    kept_small(Image.open(IMAGES / f"{name}.png"), name)


def kept_small(image: Image.Image, name: str, colours: int = COLOURS) -> None:
    image.convert("RGB").quantize(colours, dither=Image.Dither.NONE).save(IMAGES / f"{name}.png", optimize=True)


def terminal(name: str, folder: Path, *commands: str, columns: int = 112, keep: Keep = list) -> None:
    """What the commands print, one below the other."""
    console = Console(record=True, width=columns, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    environment = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": str(columns)}
    for number, command in enumerate(commands):
        done = subprocess.run(  # noqa: S603  # only the commands below
            shlex.split(command), cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        if number:
            console.print(" ")
        console.print(Text.from_markup(f"[bold #7fd0a0]$[/] [bold]{command}[/]"))
        for line in keep([line.rstrip() for line in (done.stdout + done.stderr).rstrip("\n").split("\n")]):
            console.print(Text.from_ansi(line or " "), overflow="fold")
    page = folder / f"{name}.html"
    page.write_text(
        PAGE.replace("CODE", console.export_html(inline_styles=True, code_format="{code}")), encoding="utf-8"
    )
    shot(page, name, int(columns * PIXELS_A_COLUMN) + 40, None)


def first(number: int) -> Keep:
    return lambda lines: [line for line in lines if line.strip()][:number]


def without_reasons(lines: list[str]) -> list[str]:
    """The table of a profile, then what columns tell of each other."""
    table = lines[: next(number for number, line in enumerate(lines) if line.startswith("Why"))]
    others = next(number for number, line in enumerate(lines) if "tell of each other" in line)
    return [*(line for line in table if line.strip()), " ", *lines[others:]]


def side_by_side(name: str, *pages: Path) -> None:
    drawn = []
    for page in pages:
        with pypdfium2.PdfDocument(page) as document:
            drawn.append(document[0].render(scale=1.4).to_pil().convert("RGB"))
    whole = Image.new("RGB", (sum(one.width + 20 for one in drawn) + 20, drawn[0].height + 40), (226, 230, 234))
    for number, one in enumerate(drawn):
        whole.paste(one, (20 + number * (one.width + 20), 20))
    kept_small(whole, name)


def main(wanted: list[str]) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        hospital.write(folder / "hospital.csv")
        documents.write(folder / "papers")
        for name, draw in PICTURES.items():
            if not wanted or name in wanted:
                draw(folder)


def synthea(folder: Path) -> None:
    shared = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared")) / "data" / "synthea"
    if shared.is_dir():
        (folder / "synthea").symlink_to(shared)
        terminal("find-synthea", folder, "shoal scan synthea/", columns=140, keep=first(42))


def report(folder: Path) -> None:
    subprocess.run(["shoal", "scan", "hospital.csv", "papers/", "--html", "findings.html"], cwd=folder, check=False)  # noqa: S607
    shot(folder / "findings.html", "find-report", 900, 760)
    shot(folder / "findings.html", "find-report-dark", 900, 760, dark=True)


def release(folder: Path) -> None:
    demo = ["--input", "demo/hospital.csv", "--control", "demo/control.csv", "--output", "released"]
    for command in (["demo", "--output", "demo"], ["run", "demo/hospital.yaml", *demo]):
        subprocess.run(["shoal", *command], cwd=folder, check=True)  # noqa: S603, S607  # only these two
    owner, recipient = folder / "released" / "report.html", folder / "released" / "recipient.html"
    shot(owner, "report", 1280, 1080)
    shot(owner, "report-dark", 1280, 1080, dark=True)
    shot(owner, "report-attacks", 1280, 1150, at="attacks")
    shot(owner, "report-values", 1280, 1130, at="distributions")
    shot(owner, "report-phone", 390, 1100)
    shot(recipient, "report-recipient-phone-dark", 390, 1100, dark=True)


def mail(folder: Path) -> None:
    scrub = "shoal scrub papers/question.eml papers/discharge.pdf -o clean/"
    terminal("find-mail", folder, scrub, "cat clean/question.eml", "shoal scan clean/ --require none", columns=100)
    side_by_side("find-pdf", folder / "papers" / "discharge.pdf", folder / "clean" / "discharge.pdf")


LOG = "papers/frontdesk.log"
PICTURES: dict[str, Callable[[Path], None]] = {
    "scan": lambda folder: terminal(
        "find-scan", folder, "shoal scan hospital.csv papers/", columns=118, keep=first(48)
    ),
    "report": report,
    "profile": lambda folder: terminal(
        "find-profile", folder, "shoal profile hospital.csv", columns=118, keep=without_reasons
    ),
    "suggest": lambda folder: terminal(
        "find-suggest", folder, "shoal suggest hospital.csv -o policy.yaml", "shoal run policy.yaml --output release"
    ),
    "log": lambda folder: terminal(
        "find-log", folder, f"cat {LOG}", f"shoal scrub {LOG}", f"shoal scrub {LOG} --replace mask"
    ),
    "mail": mail,
    "synthea": synthea,
    "release": release,
}


if __name__ == "__main__":
    main(sys.argv[1:])
