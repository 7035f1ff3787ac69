"""Tests for a test suite exported as a folder for CI, where a program and Bats run the tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from catalog.execution.cases import read_case_set
from catalog.execution.cases.folder import folder_of
from catalog.execution.sandbox import Sandbox
from tests.catalog.execution.cases.writing import case_data, make_set

ROOT = Path(__file__).resolve().parents[4]
OLD = {"path": "/srv/old.log", "age": "30d"}
REMOVES = {"check": "removed", "exactly": ["/srv/old.log"]}


def unpack(folder: Path, title: str = "old logs go") -> dict[str, str]:
    files = folder_of(make_set(case_data(REMOVES, world={"files": [OLD]}, title=title)))
    for name, text in files.items():
        path = folder / name
        path.write_text(text)
        path.chmod(0o755)
    return files


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SCRIPTSMITH": str(ROOT), "PYTHON": sys.executable}
    return subprocess.run(
        [str(folder / "run"), *words], capture_output=True, text=True, env=environment, check=False
    )


@pytest.mark.slow
def test_the_folder_runs_its_cases(sandbox: Sandbox, tmp_path: Path) -> None:
    files = unpack(tmp_path)
    assert read_case_set(files["cases.json"]).sha256 in files["README.md"]
    script = tmp_path / "it is.sh"
    script.write_text("rm /srv/old.log\n")
    done = run(tmp_path, str(script), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["cases"][0]["state"] == "passed"
    script.write_text("true\n")
    assert run(tmp_path, str(script)).returncode == 1
    assert "the script" in run(tmp_path).stderr


@pytest.mark.parametrize(
    "title", ["'; touch /tmp/x; '", "$(touch x) `id` \\", "a\nb | <b>\x1b[31m"]
)
def test_a_title_is_text_in_every_file(title: str, tmp_path: Path) -> None:
    files = unpack(tmp_path, title)
    assert "\x1b" not in files["cases.bats"] + files["README.md"]
    (line,) = (one for one in files["cases.bats"].splitlines() if one.startswith("@test"))
    assert line.startswith("@test '") and line.endswith("' {") and line.count("'") == 2
    assert len(files["README.md"].splitlines()) == len(
        folder_of(make_set())["README.md"].splitlines()
    )
    if bats := shutil.which("bats"):
        counted = subprocess.run(
            [bats, "--count", str(tmp_path / "cases.bats")],
            capture_output=True,
            text=True,
            check=True,
        )
        assert counted.stdout.strip() == "1"
