"""A mail, a log and a discharge letter of the made-up hospital: the same people as in its table, nobody real.

Addresses of mail are at ``example.org`` and machines at 192.0.2.x and 198.51.100.x, all kept for examples (RFC 2606,
RFC 5737). The card number is one that card companies publish for tests.

>>> sorted(papers())
['discharge.pdf', 'frontdesk.log', 'question.eml']
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.examples import hospital
from shoal.io import atomic_binary

CARD = "4111 1111 1111 1111"
PAGE = (420, 330)
"""Points: wide and high."""
ROOT = "/Cat#61log"
"""What the format calls the root of a file, one letter by its number: its spelling is not ours."""


def write(folder: str | Path) -> None:
    """The three files, into a folder that is there or is made."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, content in papers().items():
        with atomic_binary(Path(folder, name)) as file:
            file.write(content)


def papers() -> dict[str, bytes]:
    """The files by name."""
    first, second, third = hospital.table(people=3).iter_rows(named=True)
    return {
        "question.eml": _mail(second).encode(),
        "frontdesk.log": _log((first, second, third)).encode(),
        "discharge.pdf": _pdf(_letter(first), f"Discharge letter {first['name']}"),
    }


def _address(person: dict[str, Any]) -> str:
    return f"{person['name'].lower().replace(' ', '.')}@example.org"


def _mail(person: dict[str, Any]) -> str:
    name = person["name"]
    return f"""\
From: {name} <{_address(person)}>
To: Front desk <frontdesk@hospital.example.org>
Date: Mon, 22 Dec 2025 09:41:07 +0530
Subject: Bill of {name}, {person["patient_id"]}
Message-ID: <20251222094107.4711@mail.example.org>
Received: from [198.51.100.23] by mail.example.org
Content-Type: text/plain; charset=utf-8

Dear Ms. Kulkarni,

I was operated on {person["admitted"]:%d %B %Y} by Dr. Akula. The bill was sent
to my old address, 12 Prabhat Road, Pune {person["pin"]}. Please charge
my card {CARD} and call me on {person["phone"]}
if anything is missing. My Aadhaar number is {person["aadhaar"]}.

Thank you,
{name}
"""


def _log(people: Sequence[dict[str, Any]]) -> str:
    first, second, third = people
    return "".join(
        f"2025-12-22T{line}\n"
        for line in (
            "09:41:52Z INFO  frontdesk login user=skulkarni from 192.0.2.17",
            f'09:42:10Z INFO  record {second["patient_id"]} opened, name="{second["name"]}"',
            f"09:42:31Z WARN  card {CARD} declined for {_address(second)}",
            f"09:43:05Z INFO  sms to {third['phone']}: appointment moved",
            f"09:44:48Z ERROR no insurance for {first['name']}, aadhaar={first['aadhaar']}",
            "09:45:00Z INFO  queue empty, 0 jobs waiting",
        )
    )


def _letter(person: dict[str, Any]) -> list[str]:
    return [
        "City Hospital, Pune",
        "",
        f"Patient: {person['name']}, {person['age']} years old",
        f"Aadhaar: {person['aadhaar']}",
        f"Phone: {person['phone']}",
        "",
        f"Admitted on {person['admitted']:%d %B %Y} with {person['diagnosis'].lower()}.",
        f"Seen by Dr. Rizvi. Mr. {person['name'].split()[-1]} was well when he left.",
        "Two puffs of salbutamol when needed, not more than four",
        "times a day. A follow-up is due in six weeks.",
        "",
        f"Questions: {_address(person)}",
    ]


def _pdf(lines: Sequence[str], title: str) -> bytes:
    """One page of text in the smallest PDF that readers take: no fonts inside, nothing packed."""
    shown = "".join(f"({_escaped(line)}) Tj T*\n" for line in lines)
    content = f"BT /F1 12 Tf 18 TL 1 0 0 1 40 {PAGE[1] - 50} Tm\n{shown}ET"
    objects = (
        f"<< /Type {ROOT} /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {PAGE[0]} {PAGE[1]}] /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< /Title ({_escaped(title)}) /Author (S. Kulkarni) >>",
    )
    out, places = b"%PDF-1.4\n", []
    for number, written in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{written}\nendobj\n".encode("cp1252")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R /Info {size - 1} 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode()


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
