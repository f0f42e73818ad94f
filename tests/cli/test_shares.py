"""``shoal shares`` and ``shoal homomorphic`` as their users call them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest
import typer
from tests.support.policies import policy_text

import shoal
from shoal.cli.commands.homomorphic import homomorphic, open_and_print
from shoal.cli.commands.shares import shares
from shoal.crypto import Key
from shoal.errors import InputError, IntegrityError, ShoalError, SourceError
from shoal.pseudonyms import PseudonymFormat
from shoal.secure_aggregation.homomorphic import encrypted_sum

pytestmark = pytest.mark.requirement("T-23")

APART = {
    "pay": "technique: {share: {parties: 3, threshold: 2}}",
    "stay": 'technique: {encrypt: {scheme: homomorphic, key: "file:key"}}',
}
POLICY = policy_text("in.csv", "", APART, insensitive="ward pay stay")
PEOPLE = pl.DataFrame(
    {"ward": ["north", "south", "north", None], "pay": [10.5, 20.25, None, -1.0], "stay": [3, 4, 5, None]}
)
Call = Callable[..., str]


@dataclass(frozen=True)
class Made:
    folder: Path

    def party(self, number: int) -> str:
        return str(self.folder / "out" / "shares" / f"party-{number}" / "pay.parquet")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    pytest.importorskip("tenseal", reason="homomorphic encryption needs the extra `crypto`")
    folder = tmp_path_factory.mktemp("apart")
    (folder / "key").write_bytes(bytes(range(32)))
    (folder / "key").chmod(0o600)
    (folder / "policy.yaml").write_text(POLICY)
    PEOPLE.write_csv(folder / "in.csv")
    shoal.anonymise(folder / "in.csv", shoal.Policy.load(folder / "policy.yaml"), output=folder / "out")
    return Made(folder)


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    """The command without the way it ends, which is that of all commands."""
    monkeypatch.chdir(tmp_path)
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    app.add_typer(shares)
    app.add_typer(homomorphic)

    def run(*arguments: str) -> str:
        app(arguments, standalone_mode=False)
        return capfd.readouterr().out

    return run


def found(text: str) -> Any:
    return json.loads(text)


def test_parties_add_up_apart_and_put_sums_together(made: Made, call: Call) -> None:
    for party in (1, 3):
        said = call("shares", "sum", made.party(party), "-o", f"sum-{party}.json")
        assert f"party {party}'s share of the sum of 4 records" in said
    total = found(call("shares", "sum", "sum-1.json", "sum-3.json", "--json"))
    assert total == {"column": "pay", "mean": 29.75 / 3, "present": 3, "records": 4, "sum": "29.75"}
    assert "29.75" in call("shares", "sum", made.party(2), "sum-1.json")
    for text in (Path("sum-1.json").read_text(), Path("sum-3.json").read_text()):
        assert "29.75" not in text
        assert "2975" not in text


def test_a_sum_by_itself_is_printed_for_machines(made: Made, call: Call) -> None:
    one = found(call("shares", "sum", made.party(1), "--json"))
    assert one["about"]["party"] == 1
    assert one["records"] == 4
    assert isinstance(one["sum"], int)


@pytest.mark.parametrize("name", ["pay.csv", "pay.parquet"])
def test_enough_parties_rebuild_the_column(made: Made, call: Call, name: str) -> None:
    told = found(call("shares", "rebuild", made.party(2), made.party(3), "-o", name, "--json"))
    assert told == {"columns": ["pay"], "path": name, "records": 4}
    table = pl.read_csv(name) if name.endswith("csv") else pl.read_parquet(name)
    assert table["pay"].cast(pl.Float64).to_list() == PEOPLE["pay"].to_list()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("shares", "rebuild", "{1}", "-o", "x.csv"), InputError, "2 of 3 parties"),
        (("shares", "rebuild", "{1}", "{1}", "-o", "x.csv"), IntegrityError, "twice"),
        (("shares", "rebuild", "{1}", "{2}", "-o", "x.txt"), InputError, "ends in"),
        (("shares", "rebuild", "{1}", "{2}", "-o", "there.csv"), InputError, "there already"),
        (("shares", "rebuild", "there.csv", "{2}", "-o", "x.csv"), SourceError, "not a file of shares"),
        (("shares", "sum", "absent.parquet"), SourceError, "can't be read"),
        (("shares", "sum", "absent.json"), SourceError, "can't be read"),
        (("shares", "sum", "bad.json"), SourceError, "not a sum of shares"),
        (("shares", "sum", "{1}", "{2}", "-o", "x.json"), InputError, "one party"),
        (("shares", "sum", "{1}", "-o", "no/folder.json"), InputError, "can't be written"),
    ],
)
def test_wrong_input_is_told_in_a_line(
    made: Made, call: Call, arguments: tuple[str, ...], error: type[ShoalError], message: str
) -> None:
    Path("there.csv").write_text("a\n1\n")
    Path("bad.json").write_text('{"sum": 5}')
    files = {"{1}": made.party(1), "{2}": made.party(2)}
    with pytest.raises(error, match=message) as raised:
        call(*(files.get(each, each) for each in arguments))
    assert raised.value.exit_code == 2
    assert "\n" not in str(raised.value)
    assert not Path("x.csv").exists()


@pytest.mark.requirement("T-22")
def test_an_encrypted_column_is_added_up_and_opened(made: Made, call: Call) -> None:
    release, key = str(made.folder / "out"), f"file:{made.folder / 'key'}"
    said = call("homomorphic", "sum", release, "--column", "stay", "-o", "total.json")
    assert "1 encrypted total(s) of stay, over 4 records" in said
    opened = found(call("homomorphic", "open", "total.json", "--key", key, "--json"))
    assert opened == {"column": "stay", "totals": {"": {"mean": 4.0, "present": 3, "records": 4, "sum": "12"}}}
    assert "all records" in call("homomorphic", "open", "total.json", "--key", key)


@pytest.mark.requirement("T-22")
def test_an_encrypted_column_is_added_up_by_another_one(made: Made, call: Call) -> None:
    release, key = str(made.folder / "out"), f"file:{made.folder / 'key'}"
    told = found(call("homomorphic", "sum", release, "--column", "stay", "--by", "ward", "-o", "t.json", "--json"))
    assert told["records"] == {"ward=": 1, "ward=north": 2, "ward=south": 1}
    totals = found(call("homomorphic", "open", "t.json", "--key", key, "--json"))["totals"]
    assert {name: total["sum"] for name, total in totals.items()} == {
        "ward=": "0",
        "ward=north": "8",
        "ward=south": "4",
    }
    assert totals["ward="]["mean"] is None
    call("homomorphic", "sum", release, "--column", "stay", "--where", "ward=south", "-o", "t.json")
    assert found(call("homomorphic", "open", "t.json", "--key", key, "--json"))["totals"]["ward=south"]["sum"] == "4"


@pytest.mark.requirement("T-22")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--column", "pay"), "no homomorphically encrypted column"),
        (("--column", "stay", "--where", "ward"), "COLUMN=VALUE"),
        (("--column", "stay", "--by", "wart"), "did you mean 'ward'"),
        (("--column", "stay", "--by", "ward", "--where", "ward=x"), "not both"),
        (("--column", "stay", "--where", "ward=west"), "no record"),
    ],
)
def test_sums_that_cant_be_made(made: Made, call: Call, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call("homomorphic", "sum", str(made.folder / "out"), *arguments, "-o", "t.json")
    assert not Path("t.json").exists()


@pytest.mark.requirement("T-22")
def test_totals_that_cant_be_opened(made: Made, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    call("homomorphic", "sum", str(made.folder / "out"), "--column", "stay", "-o", "total.json")
    Path("other").write_bytes(os.urandom(32))
    Path("other").chmod(0o600)
    with pytest.raises(IntegrityError, match="another key"):
        call("homomorphic", "open", "total.json", "--key", "file:other")
    with pytest.raises(InputError, match="--key"):
        call("homomorphic", "open", "total.json", "--key", "00" * 32)
    monkeypatch.delenv("SHOAL_VAULT", raising=False)
    with pytest.raises(SourceError, match="no such vault"):
        call("homomorphic", "open", "total.json", "--vault", "absent.vault")


class Kept:
    """Keys that last, as a vault keeps them."""

    lasting: ClassVar[bool] = True

    def key(self, domain: str, purpose: str) -> Key:
        return Key(bytes(32)).derive(domain, purpose)

    def issue(self, domain: str, values: pl.Series, form: PseudonymFormat) -> pl.Series:
        raise AssertionError("sharing issues no pseudonyms")

    def remember(self, domain: str, pseudonyms: pl.Series, values: pl.Series, also: object = None) -> None:
        raise AssertionError("sharing issues no pseudonyms")


@pytest.mark.requirement("T-22")
def test_totals_are_opened_with_the_domain_that_the_policy_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    policy = shoal.Policy.from_text(POLICY.replace(', key: "file:key"', ""))
    release = shoal.anonymise(PEOPLE, policy, vault=Kept())
    encrypted_sum(release.files["homomorphic/stay"]).write(tmp_path / "total.json")
    open_and_print(tmp_path / "total.json", None, lambda: nullcontext(Kept()), as_json=True)
    assert found(capfd.readouterr().out)["totals"][""]["sum"] == "12"
    with pytest.raises(IntegrityError):
        open_and_print(tmp_path / "total.json", "others", lambda: nullcontext(Kept()), as_json=True)


@pytest.mark.parametrize(
    "words", [["shares"], ["shares", "sum"], ["shares", "rebuild"], ["homomorphic", "sum"], ["homomorphic", "open"]]
)
def test_help_has_an_example(call: Call, words: list[str]) -> None:
    assert "Example: shoal" in call(*words, "--help")
