"""A machine on which nothing was installed by hand: what the scripts find, take and say there."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NPM_LOCKS = ["benchmarks/peers", "tests/e2e", "tests/lighthouse", "web"]

PYTHON = """#!/bin/sh
# A Python as scripts/setup sees one, {name}: it {kind}.
case "{kind} $*" in
"does not run"*) exit 127 ;;
*--version) echo "{name}" ;;
*"-m venv"*) for last; do mkdir -p "$last/bin" && cp "$0" "$last/bin/python"; done ;;
"has no wheels"*--only-binary*) exit 1 ;;
*"-m pip install"*) echo "{name} $*" >>installed ;;
esac
"""


class Machine:
    """A folder with the scripts, and Pythons that only say who they are and what they should install."""

    def __init__(self, folder: Path, pythons: dict[str, str]) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        for tool in ("bash", "cp", "dirname", "env", "id", "mkdir", "rm", "sh", "touch"):
            (self.bin / tool).symlink_to(shutil.which(tool) or tool)
        for name, kind in pythons.items():
            self.add_python(name, kind)
        (folder / "scripts").mkdir()
        for script in ("setup", "need"):
            shutil.copy(ROOT / "scripts" / script, folder / "scripts")

    def add_python(self, name: str, kind: str) -> None:
        (self.bin / name).write_text(PYTHON.format(name=name, kind=kind))
        (self.bin / name).chmod(0o755)

    def run(self, *command: str, **environment: str) -> tuple[int, str]:
        """The exit code of a script, and what it says."""
        done = subprocess.run(
            command, cwd=self.folder, check=False, env={"PATH": str(self.bin), **environment},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        return done.returncode, done.stdout

    def setup(self, **environment: str) -> str:
        """What it says, and then which Python has got all packages."""
        code, said = self.run("scripts/setup", **environment)
        assert code == 0, said
        assert (self.folder / ".venv" / "ready").exists()
        installed = (self.folder / "installed").read_text().splitlines()
        assert [line.split()[-1] for line in installed[-2:]] == ["requirements.lock", "."]
        return installed[-1].split()[0]


@pytest.mark.parametrize(
    ("pythons", "taken"),
    [
        ({"python3.11": "works", "python3.13": "works", "python3": "works"}, "python3.13"),
        ({"python3.14": "does not run", "python3.12": "works", "python3": "works"}, "python3.12"),
        ({"python3.14": "has no wheels", "python3.13": "does not run", "python3.11": "works"}, "python3.11"),
        ({"python3": "works"}, "python3"),
    ],
)
def test_setup_takes_the_newest_python_that_runs_and_has_wheels_of_all_packages(tmp_path, pythons, taken):
    assert Machine(tmp_path, pythons).setup() == taken


def test_setup_takes_the_python_that_it_is_told(tmp_path):
    machine = Machine(tmp_path, {"python3.13": "works", "mine": "works"})
    assert machine.setup(PYTHON="mine") == "mine"


def test_setup_stays_with_the_environment_that_is_there(tmp_path):
    machine = Machine(tmp_path, {"python3.11": "works"})
    machine.setup()
    machine.add_python("python3.13", "works")
    assert machine.setup() == "python3.11"


def test_setup_makes_an_environment_anew_whose_python_is_gone(tmp_path):
    machine = Machine(tmp_path, {"python3.11": "works"})
    machine.setup()
    (tmp_path / ".venv" / "bin" / "python").unlink()
    machine.add_python("python3.13", "works")
    assert machine.setup() == "python3.13"


@pytest.mark.parametrize(
    ("pythons", "sentence"),
    [
        ({}, "expected Python 3.11 or newer, found none that runs"),
        ({"python3.13": "does not run"}, "expected Python 3.11 or newer, found none that runs"),
        ({"python3": "has no wheels"}, "the packages in requirements.lock could not be installed"),
    ],
)
def test_setup_that_cannot_be_done_says_why_and_leaves_nothing_half_made(tmp_path, pythons, sentence):
    code, said = Machine(tmp_path, pythons).run("scripts/setup")
    assert code == 1
    assert sentence in said
    assert not (tmp_path / ".venv").exists()


def test_what_is_there_already_is_not_installed(tmp_path):
    assert Machine(tmp_path, {}).run("scripts/need", "dash", "command", "-v", "sh") == (0, "")


def test_what_is_missing_and_cannot_be_installed_is_named(tmp_path):
    code, said = Machine(tmp_path, {}).run("scripts/need", "gnubg", "command", "-v", "gnubg")
    assert code == 1
    assert "expected what Debian's package gnubg brings" in said


def packages(folder: str) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads((ROOT / folder / "package-lock.json").read_text())[
        "packages"
    ]
    return found


@pytest.mark.parametrize("folder", NPM_LOCKS)
def test_a_lock_says_what_is_installed_and_not_from_where(folder):
    for name, package in packages(folder).items():
        assert "resolved" not in package, name
        assert name == "" or "integrity" in package, name


@pytest.mark.parametrize("folder", ["benchmarks/peers", "tests/e2e", "tests/lighthouse"])
def test_a_lock_that_npm_ci_installs_has_the_packages_of_every_platform(folder):
    """Or npm refuses it from version 11 on; `web` is installed by `npm install`, which asks for less."""
    locked = packages(folder)
    for name, package in locked.items():
        optional = package.get("optionalDependencies", {})
        assert isinstance(optional, dict)
        for wanted in optional:
            assert f"node_modules/{wanted}" in locked or f"{name}/node_modules/{wanted}" in locked, wanted


def test_every_python_package_is_locked_to_one_version_and_not_to_a_place():
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


def test_every_script_says_what_it_is_for_and_can_be_run():
    for script in (ROOT / "scripts").iterdir():
        first, second, *_ = script.read_text().splitlines()
        assert first.startswith("#!/usr/bin/env "), script
        assert second.startswith(("# ", '"""')), script
        assert os.access(script, os.X_OK), script
