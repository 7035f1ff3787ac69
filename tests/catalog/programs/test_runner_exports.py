"""Tests that run exports as Ansible, Rundeck and AWX would, and check exact bytes, values and provenance."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from catalog import services
from catalog.models import Version
from tests import people
from tests.catalog.shelf import ClientFor, shelve

client = people.as_stranger

pytestmark = pytest.mark.django_db

PRINTS = """#!/usr/bin/env bash
# Shows what it is given: {{ braces }}, {% percent %} and @option.NAME@ are text.
set -euo pipefail
: "${NAME:?whom to greet}"
GREETING="${GREETING:-hello}"
printf '<%s>\\n' "$GREETING" "$NAME" "$#"
"""
TAKES = """#!/usr/bin/env bash
set -euo pipefail
lines=5
while getopts n: option; do
  case $option in
    n) lines=$OPTARG ;;
  esac
done
shift $((OPTIND - 1))
first=$1
second=${2:-none}
printf '<%s>' "$lines" "$first" "$second"
"""
HOSTILE = 'it\'s $(reboot) `x` "y" {{ 7 * 7 }} ${option.NAME} \\n é'


def export(client: Client, version: Version, runner: str) -> bytes:
    answer = client.get(reverse("entry-export", args=[version.entry.slug, runner]))
    assert answer.status_code == 200, answer.text
    assert "attachment" in answer["Content-Disposition"]
    return answer.content


def launcher_of(job: bytes) -> tuple[str, dict[str, Any]]:
    ((step,), parsed) = (lambda one: (one["sequence"]["commands"], one))(yaml.safe_load(job)[0])
    return step["script"], parsed


def run(launcher: str, *pairs: str) -> subprocess.CompletedProcess[str]:
    """Run a step's script with its arguments, as Rundeck does on a node."""
    return subprocess.run(
        ["bash", "-c", launcher, "launcher", *pairs],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


def test_a_rundeck_job_runs_the_exact_script_with_values_as_data(client: Client) -> None:
    version = shelve("Greet somebody", script=PRINTS)
    launcher, job = launcher_of(export(client, version, "rundeck"))
    assert (
        job["sequence"]["commands"][0]["args"] == "NAME=${option.NAME} GREETING=${option.GREETING}"
    )
    assert [(one["name"], one["required"]) for one in job["options"]] == [
        ("NAME", True),
        ("GREETING", False),
    ]
    done = run(launcher, f"NAME={HOSTILE}", "GREETING=")
    assert (done.returncode, done.stdout) == (0, f"<hello>\n<{HOSTILE}>\n<0>\n"), done.stderr
    assert run(launcher, "NAME=zoe", "GREETING=hi").stdout == "<hi>\n<zoe>\n<0>\n"
    assert run(launcher, "OTHER=1").returncode == 64


def test_options_and_arguments_reach_it_as_such(client: Client) -> None:
    version = shelve("Take arguments", script=TAKES)
    names = {one["name"] for one in version.parameters}
    launcher, _job = launcher_of(export(client, version, "rundeck"))
    option = next(name for name in names if name in ("lines", "n", "LINES"))
    places = [one["name"] for one in version.parameters if one["name"] != option]
    pairs = [f"{option}=7", f"{places[0]}=-x y", f"{places[1]}="]
    assert run(launcher, *pairs).stdout == "<7><-x y><none>"
    pairs[2] = f"{places[1]}='q'"
    assert run(launcher, f"{option}=", *pairs[1:]).stdout == "<5><-x y><'q'>"


def test_nothing_that_rundeck_would_replace_stands_in_what_it_runs(client: Client) -> None:
    """Rundeck would replace `@option.x@` in a name, and would run a line of a value before the hash is checked."""
    odd = User.objects.create_user("odd", first_name="@option.NAME@")
    version = shelve("Greet @option.NAME@", script=PRINTS, verified_by=odd)
    launcher, job = launcher_of(export(client, version, "rundeck"))
    assert "@option.NAME@" in job["description"], "it is told elsewhere"
    assert not re.search(r"@[A-Za-z]+\.[^@\s]*@", launcher)


def test_a_changed_byte_is_not_run(client: Client) -> None:
    for ending in ("\n", ""):
        version = shelve("Print a word", script=f"#!/usr/bin/env bash\nprintf ran{ending}")
        launcher, _job = launcher_of(export(client, version, "rundeck"))
        assert run(launcher).stdout == "ran"
        if ending:
            changed = run(launcher.replace("printf ran\n", "printf 'ran '\n"))
            assert (changed.returncode, changed.stdout) == (70, "")


def role_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


class _Loader(yaml.SafeLoader):
    """A loader that supports Ansible's `!unsafe` tag."""


_Loader.add_constructor("!unsafe", lambda loader, node: f"unsafe {node.value}")


def test_a_role_has_the_exact_script_and_its_provenance_beside_it(
    client: Client, curator: User, settings: Settings
) -> None:
    # The exported file may be used elsewhere for years, so it must not depend on the request's host name.
    settings.SCRIPTSMITH_URL = "https://scripts.example.org"
    version = shelve("Greet {{ lookup('pipe', 'id') }}", script=PRINTS, verified_by=curator)
    files = role_of(export(client, version, "ansible"))
    assert files["files/script.sh"] == PRINTS.encode()
    about = json.loads(files["PROVENANCE.json"])
    assert about["sha256"] == hashlib.sha256(files["files/script.sh"]).hexdigest()
    assert about["verification"].startswith("verified by Carla on ")
    known = client.get(about["verify"].removeprefix("https://scripts.example.org")).json()
    assert (known["standing"], known["entry"]) == ("verified", version.entry.slug)
    (task,) = yaml.safe_load(files["tasks/main.yml"])
    assert "{" not in task["name"], "a name is read as a template"
    assert task["ansible.builtin.script"]["cmd"] == "script.sh"
    assert "'NAME': (script_NAME | string)" in task["environment"]
    specs = yaml.load(files["meta/argument_specs.yml"], Loader=_Loader)
    options = specs["argument_specs"]["main"]["options"]
    assert options["script_NAME"]["required"] is True
    info = yaml.safe_load(files["meta/main.yml"])["galaxy_info"]
    assert info["description"] == f"{version.entry.slug} version 1"
    survey = json.loads(export(client, version, "awx"))
    assert [one["variable"] for one in survey["spec"]] == ["script_NAME", "script_GREETING"]
    assert json.loads(files["survey.json"]) == survey


@pytest.mark.slow
def test_ansible_runs_exported_role(
    client: Client, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    program = shutil.which("ansible-playbook")
    if program is None:
        pytest.skip("there is no ansible-playbook on the PATH")
    for name, script in {"variables": PRINTS, "words": TAKES, "none": "uptime\n"}.items():
        with subtests.test(name):
            _play_role(client, tmp_path / name, script, program)


def _play_role(client: Client, tmp_path: Path, script: str, program: str) -> None:
    """Export the script as a role, check the role's syntax, and run it with Ansible."""
    version = shelve(f"Do something {{{{ odd }}}} with {tmp_path.name}", script=script)
    with zipfile.ZipFile(io.BytesIO(export(client, version, "ansible"))) as archive:
        archive.extractall(tmp_path / "roles")
        role = archive.namelist()[0].partition("/")[0]
    values = {
        f"script_{one['name']}": HOSTILE.replace("{{ 7 * 7 }}", "") for one in version.parameters
    }
    play = {"hosts": "localhost", "connection": "local", "gather_facts": False}
    play |= {"vars": values, "roles": [role]}
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play], allow_unicode=True))
    environment = {
        "PATH": f"{Path(program).parent}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "LC_ALL": "C.UTF-8",
        "ANSIBLE_LOCALHOST_WARNING": "False",
        "ANSIBLE_ROLES_PATH": str(tmp_path / "roles"),
        "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default",
    }
    command = [program, "--inventory", "localhost,", "play.yml"]
    checked = subprocess.run(
        [*command, "--syntax-check"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    done = subprocess.run(
        [*command, "-v"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    if script == PRINTS:
        shown = json.dumps(f"<{values['script_NAME']}>", ensure_ascii=False).strip('"')
        assert shown in done.stdout, done.stdout


@pytest.mark.slow
def test_what_is_not_verified_is_not_exported(
    client: Client, curator: User, stranger: User, client_for: ClientFor
) -> None:
    draft = shelve("A draft", state="draft")
    address = reverse("entry-export", args=[draft.entry.slug, "ansible"])
    assert client.get(address).status_code == 409
    version = shelve("Print a word", script="printf word\n")
    page = client.get(reverse("entry-detail", args=[version.entry.slug])).text
    assert reverse("entry-export", args=[version.entry.slug, "rundeck"]) in page
    services.suspend(version.entry, by=curator, reason="INC-7")
    for runner in ("ansible", "rundeck", "awx"):
        address = reverse("entry-export", args=[version.entry.slug, runner])
        assert client.get(address).status_code == 409
        api = f"/api/v1/entries/{version.entry.slug}/export/?runner={runner}"
        assert client.get(api).status_code == 409
    assert client.get(address.replace("awx", "cron")).status_code == 404


def test_the_api_gives_the_same_file(client: Client) -> None:
    version = shelve("Greet somebody", script=PRINTS)
    for runner in ("ansible", "rundeck", "awx"):
        api = f"/api/v1/entries/{version.entry.slug}/export/"
        assert client.get(api, {"runner": runner}).content == export(client, version, runner)
        assert client.get(api).status_code == 422
