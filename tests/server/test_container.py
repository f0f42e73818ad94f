"""The Dockerfile and the compose file, read as an administrator who checks them would. They are not run here."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from shoal.cli.app import app

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PINNED = re.compile(r"[\w./-]+:\d+(\.\d+)+[\w.-]*")


def instructions(text: str) -> list[tuple[str, str]]:
    joined = re.sub(r"\\\n", " ", re.sub(r"(?m)^\s*#.*\n", "", text))
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in joined.splitlines() if line.strip()]


def problems_of_image(text: str) -> list[str]:
    found = instructions(text)
    names = [name for name, _ in found]
    stages = [told.split(" AS ")[0] for name, told in found if name == "FROM"]
    problems = [f"{one} is not pinned" for one in stages if not PINNED.fullmatch(one)]
    problems += [f"{name} takes what it is given" for name, told in found if name == "ADD"]
    problems += ["a secret stands in it" for _, told in found if re.search(r"(?i)(password|secret|token)=", told)]
    last = names[len(names) - names[::-1].index("FROM") :]
    users = [told for name, told in found if name == "USER"]
    if "USER" not in last or users[-1] in ("root", "0"):
        problems.append("it runs as root")
    problems += [f"no {name}" for name in ("HEALTHCHECK", "ENTRYPOINT", "STOPSIGNAL") if name not in last]
    return problems


def problems_of_services(told: dict[str, Any]) -> list[str]:
    problems = []
    for name, one in told["services"].items():
        if "image" in one and not PINNED.fullmatch(one["image"]):
            problems.append(f"{name}: the image is not pinned")
        if one.get("privileged") or one.get("network_mode") == "host" or "docker.sock" in str(one):
            problems.append(f"{name}: has the machine in its hands")
        if "no-new-privileges:true" not in one.get("security_opt", ()):
            problems.append(f"{name}: may gain privileges")
        if re.search(
            r"(?i)password['\"]?: (?!/)[^$]",
            str({k: v for k, v in one.get("environment", {}).items() if not k.endswith("_FILE")}),
        ):
            problems.append(f"{name}: a password stands in it")
        if "ports" in one and name != "proxy":
            problems.append(f"{name}: is reached without TLS")
    return problems


def test_image_is_pinned_runs_as_nobody_special_and_says_how_it_is():
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert problems_of_image(text) == []
    for name, wrong in (
        ("pinned", text.replace("3.11.13-slim-bookworm", "latest")),
        ("root", text.replace("USER 10001", "USER root")),
        ("HEALTHCHECK", text.replace("HEALTHCHECK", "LABEL")),
        ("secret", text.replace("PYTHONUNBUFFERED=1", "PASSWORD=x")),
    ):
        assert any(name in one for one in problems_of_image(wrong)), name


def test_image_is_as_hadolint_wants_it(tmp_path: Path):
    """A linter of Dockerfiles, and of the shell in them; whatever it remarks on is mended."""
    found = shutil.which("hadolint") or str(Path(sys.executable).with_name("hadolint"))
    if not Path(found).exists():
        pytest.skip("hadolint comes as a wheel for x86-64 alone")

    def remarks(path: Path) -> list[str]:
        told = subprocess.run([found, "--no-color", "--format", "json", path], capture_output=True, check=False)
        return [f"{one['line']}: {one['code']} {one['message']}" for one in json.loads(told.stdout)]

    assert remarks(DEPLOY / "Dockerfile") == []
    wrong = tmp_path / "Dockerfile"
    wrong.write_text("FROM debian\nRUN cd /tmp && sudo apt-get install curl\nUSER root\n", encoding="utf-8")
    assert {"DL3002", "DL3004", "DL3006"} <= {one.split()[1] for one in remarks(wrong)}


def test_image_copies_what_is_there_and_starts_the_command_as_it_is():
    found = instructions((DEPLOY / "Dockerfile").read_text(encoding="utf-8"))
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8")
    for name, told in found:
        if name == "COPY" and "--from" not in told:
            for path in told.split()[:-1]:
                assert (ROOT / path).exists(), path
                assert f"!{path}" in ignored, path
    extras = re.search(r"\.\[([\w,]+)\]", str(found))
    assert extras is not None
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert all(f"\n{one} = [" in declared for one in extras.group(1).split(","))
    options = {name for one in get_command(app).commands["serve"].params for name in one.opts}  # type: ignore[attr-defined]
    compose = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    used = set(re.findall(r'"(--[\w-]+)"', str(found).replace("'", '"') + compose)) - {"--config", "--username"}
    assert used <= options | {"--home"}


def test_services_reach_each_other_and_nobody_else():
    told = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    assert problems_of_services(told) == []
    for name, one in told["services"].items():
        assert set(one["networks"]) <= set(told["networks"]), name
        assert set(one.get("depends_on", ())) <= set(told["services"]), name
    assert told["networks"]["database"]["internal"]
    assert "outside" not in told["services"]["studio"]["networks"]
    known_bad = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    known_bad["services"]["studio"] |= {"ports": ["8080:8080"], "privileged": True, "security_opt": []}
    known_bad["services"]["database"]["image"] = "postgres"
    known_bad["services"]["database"]["environment"] |= {"POSTGRES_PASSWORD": "x"}
    assert len(problems_of_services(known_bad)) == 5


@pytest.mark.parametrize("name", ["certificate.pem", "key.pem", "database_password", "pgpass"])
def test_every_secret_is_named_in_the_guide(name: str):
    assert name in (ROOT / "docs" / "how-to" / "operate-the-studio.md").read_text(encoding="utf-8")
