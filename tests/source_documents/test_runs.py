"""Worked tables through a whole run: what comes out is what the document prints, or it is said why not."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.source_documents.tables import TABLES

from shoal.policy import Policy
from shoal.release import anonymise
from shoal.release.run import Release

BY_TENS = '{intervals: {widths: [10], label: "[{low}-{next}]"}}'
TENS_FROM_1 = '{intervals: {widths: [10], origin: 1, low: 21, low_label: "≤ 20", high: 61, high_label: "> 60"}}'
OFFICER = "Data Protection Officer"
OFFICERS = (
    f"Assistant {OFFICER}", "Chief Privacy Officer", f"Regional {OFFICER}", f"Deputy {OFFICER}", "Manager, DPO Office"
)  # fmt: skip
IN_IT = ("Lead IT Consultant", "Database Administrator", "Programmer", "IT Analyst", "UX Designer")


def run(table: str, attributes: str, rest: str = "") -> tuple[Release, pl.DataFrame]:
    return carry_out(TABLES[table].frame(), f"attributes:\n{attributes}\n{rest}\n")


def carry_out(table: pl.DataFrame, text: str) -> tuple[Release, pl.DataFrame]:
    release = anonymise(table, Policy.from_text(f"shoal: 1\nname: worked\n{text}"), seed=1)
    assert isinstance(release.data, pl.DataFrame)
    return release, release.data


def tree(**groups: list[str] | tuple[str, ...]) -> str:
    told = ", ".join(f'"{name}": {list(members)}' for name, members in groups.items())
    return f"{{taxonomy: {{tree: {{{told}}}}}}}"


@pytest.mark.requirement("T-01")
def test_sales_without_customers() -> None:
    """MeitY 2.a to 2.b, but for the new name of the last column, of which the text says nothing."""
    direct = '  "Customer Name": {role: direct}\n  "Customer mobile no": {role: direct}\n'
    kept = '  "Sales Manager": {role: insensitive}\n  "Amount (in Rs)": {role: sensitive}'
    _, released = run("meity 2.a", direct + kept)
    assert released.equals(TABLES["meity 2.a"].frame().select("Sales Manager", "Amount (in Rs)"))


@pytest.mark.requirement("T-08", "S-07")
def test_ages_by_tens_and_cities() -> None:
    """MeitY 2.l to 2.m: one level for all, and three from each city."""
    addresses = TABLES["meity 2.l"].data["Address"]
    cities = {city: [one for one in addresses if one.endswith(city)] for city in ("Pune", "Hyderabad")}
    attributes = f"  Name: {{role: direct}}\n  Age: {{role: quasi, hierarchy: {BY_TENS}}}\n"
    attributes += f'  Address: {{role: quasi, hierarchy: {tree(**cities)}}}\n  "Medical Report": {{role: sensitive}}'
    release, released = run("meity 2.l", attributes, "privacy: [{k_anonymity: {k: 3}}]")
    assert release.manifest.solution is not None
    assert release.manifest.solution.optimal
    assert released.drop("Medical Report").rows() == [
        ("[20-30]", "Pune"), ("[30-40]", "Hyderabad"), ("[30-40]", "Hyderabad"),
        ("[20-30]", "Pune"), ("[20-30]", "Pune"), ("[30-40]", "Hyderabad"),
    ]  # fmt: skip


@pytest.mark.requirement("S-01", "S-07")
def test_the_3_anonymous_table_can_keep_a_digit_more() -> None:
    """MeitY 2.u to 2.v: the least loss hides two digits of the PIN code; the table prints three for most of them.

    With three hidden, ages, genders and PIN codes come out as printed, but for two records written 4110**.
    """
    attributes = f"  Name: {{role: direct}}\n  Age: {{role: quasi, hierarchy: {BY_TENS}}}\n  Gender: {{role: quasi}}\n"
    attributes += '  Pincode: {role: quasi, hierarchy: {redact: {char: "*"}}}\n  "Medical Report": {role: sensitive}'
    least, finer = run("meity 2.u", attributes, "privacy: [{k_anonymity: {k: 3}}]")
    assert least.risk.k == 3
    assert finer["Pincode"].to_list() == ["4110**", "5000**", "5000**", "4110**", "4110**", "5000**"]
    levels = "solve: {levels: {Pincode: [3, 3]}}"
    as_printed, printed = run("meity 2.u", attributes, f"privacy: [{{k_anonymity: {{k: 3}}}}]\n{levels}")
    assert as_printed.risk.k == 3
    assert printed["Pincode"].to_list() == ["411***", "500***", "500***", "411***", "411***", "500***"]
    assert set(printed["Gender"]) == {"*"}
    assert printed["Age"].to_list() == ["[20-30]", "[30-40]", "[30-40]", "[20-30]", "[20-30]", "[30-40]"]


@pytest.mark.requirement("S-01", "T-02")
def test_five_taxi_passengers_each() -> None:
    """PDPC annex C: five officers, five in IT; the banker goes, as the text says (the table still shows her)."""
    jobs = tree(**{OFFICER: OFFICERS, "IT": IN_IT, "Finance": ("Banker",)})
    attributes = '  Age: {role: quasi, hierarchy: {intervals: {widths: [10], origin: 1, label: "{low} to {high}"}}}\n'
    attributes += f"  Gender: {{role: quasi}}\n  Occupation: {{role: quasi, hierarchy: {jobs}}}\n"
    attributes += '  "Average number of trips per week": {role: sensitive}'
    solve = "solve: {suppression_limit: 0.1, drop_suppressed: true}"
    release, released = run("pdpc taxis", attributes, f"privacy: [{{k_anonymity: {{k: 5}}}}]\n{solve}")
    assert release.risk.k == 5
    counted = released.group_by("Age", "Gender", "Occupation").len().rows()
    assert sorted(counted) == [("21 to 30", "Female", OFFICER, 5), ("31 to 40", "Male", "IT", 5)]


@pytest.mark.requirement("T-02", "T-08")
def test_the_only_house_of_a_road_is_left_out() -> None:
    """PDPC annex A, generalisation: ages in tens, roads without numbers, and record 6 suppressed."""
    addresses = TABLES["pdpc addresses"].data["Address"]
    roads: dict[str, list[str]] = {}
    for one in addresses:
        roads.setdefault(one.partition(" ")[2], []).append(one)
    attributes = '  "Serial number": {role: insensitive}\n  Person: {role: direct}\n'
    attributes += f"  Age: {{role: quasi, hierarchy: {TENS_FROM_1}}}\n"
    attributes += f"  Address: {{role: quasi, hierarchy: {tree(**roads)}}}"
    solve = "solve: {suppression_limit: 0.1, drop_suppressed: true, levels: {Age: [1, 1], Address: [1, 1]}}"
    _, released = run("pdpc addresses", attributes, f"privacy: [{{k_anonymity: {{k: 2}}}}]\n{solve}")
    numbers = released["Serial number"].cast(pl.Int64).to_list()
    assert numbers == [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13]
    assert released["Address"].to_list() == [addresses[n - 1].partition(" ")[2] for n in numbers]
    twenties, thirties, forties = "21-30", "31-40", "41-50"
    assert released["Age"].to_list() == [
        twenties, thirties, forties, twenties, twenties, twenties, forties, twenties, thirties, twenties, twenties,
        thirties,
    ]  # fmt: skip


@pytest.mark.requirement("T-21")
def test_nine_digits_stay_nine_digits(tmp_path: Path) -> None:
    """ISO/IEC 20889, 9.2.4: a number of nine digits, encrypted in its format, is one of nine digits."""
    numbers = pl.DataFrame({"number": [f"{n * 7919 % 10**9:09}" for n in range(1, 41)]})
    (tmp_path / "key").write_text("ab" * 32)
    how = f"{{encrypt: {{scheme: format_preserving, key: 'file:{tmp_path / 'key'}'}}}}"
    _, released = carry_out(numbers, f"attributes: {{number: {{role: direct, technique: {how}}}}}")
    found = released["number"]
    assert found.str.contains(r"^\d{9}$").all()
    assert found.n_unique() == 40
    assert not set(found) & set(numbers["number"])
