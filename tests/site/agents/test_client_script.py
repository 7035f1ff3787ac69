"""Tests for the client script as users run it, in its own process and against a running server."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from pytest_django.live_server_helper import LiveServer

from catalog import services
from catalog.models import OutcomeReport, Use
from scriptsmith_site.integrations.agents import pause
from scriptsmith_site.people.sign_in.tokens import make_token
from tests.catalog.shelf import DIRECTORY, SCRIPT, shelve
from tests.people import make_person
from tests.site.loopback import Handler, serving
from tests.web_client import WebClient

CLIENT = settings.BASE_DIR / "static" / "client" / "scriptsmith"
UPTIME = "Show how long the machine has been up"
YES, NO, USAGE, NOT_LET_IN, UNREACHABLE, LATER = range(6)


class Shell:
    """One user's shell, with a folder, and with the server and a token in the environment."""

    def __init__(self, folder: Path, url: str, token: str) -> None:
        self.folder = folder
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "SCRIPTSMITH_URL": url,
            "SCRIPTSMITH_TOKEN": token,
        }

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-I", str(CLIENT), *words],
            env={**self.environment, **environment},
            cwd=self.folder,
            capture_output=True,
            timeout=60,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def code(self, *words: str, **environment: str) -> int:
        return self.run(*words, **environment).returncode


def token_of(user: User, *scopes: str) -> str:
    return make_token(user, name="shell", scopes=scopes, days=1, by=user).secret


@pytest.fixture
def robot(transactional_db: None) -> User:
    return make_person("robot")


@pytest.fixture
def shell(live_server: LiveServer, robot: User, tmp_path: Path) -> Shell:
    return Shell(tmp_path, live_server.url, token_of(robot, "agent_read", "report_outcome"))


@pytest.mark.slow
def test_find_show_verify_and_report(shell: Shell, robot: User) -> None:
    """Only a separate process shows the script's exit codes and its two output streams."""
    carla = make_person("carla", "curator")
    version = shelve(UPTIME, verified_by=carla)
    slug = version.entry.slug
    found = shell.run("find", UPTIME)
    assert found.returncode == YES, found.stderr
    assert f"{slug}  version 1  matches".encode() in found.stdout
    assert b"verified by Carla on " in found.stdout

    shown = shell.run("show", slug)
    assert (shown.returncode, shown.stdout.decode()) == (YES, version.script)
    assert b"verified by Carla" in shown.stderr
    (shell.folder / "up.sh").write_bytes(shown.stdout)
    verified = shell.run("verify", "up.sh")
    assert verified.returncode == YES
    assert verified.stdout.decode().startswith(f"{slug} version 1: verified by Carla on ")
    assert shell.code("verify", "--sha256", hashlib.sha256(shown.stdout).hexdigest()) == YES

    (shell.folder / "up.sh").write_bytes(shown.stdout + b" ")
    changed = shell.run("verify", "up.sh", "--json")
    assert changed.returncode == NO
    assert json.loads(changed.stdout)["standing"] == "unknown"

    assert shell.code("report", slug, "1", "worked") == YES
    assert shell.code("report", slug, "1", "worse") == USAGE
    assert shell.code("report", slug, "1", "worse", "--incident", "INC-7") == YES
    assert list(OutcomeReport.objects.order_by("pk").values_list("outcome", "by__username")) == [
        ("worked", "robot"),
        ("worse", "robot"),
    ]
    assert not Use.objects.exists()
    version.entry.refresh_from_db()
    assert version.entry.suspended_at is None

    services.suspend(version.entry, by=carla, reason="INC-7")
    (shell.folder / "up.sh").write_bytes(shown.stdout)
    suspended = shell.run("verify", "up.sh")
    assert suspended.returncode == NO and b"suspended" in suspended.stderr
    assert shell.code("show", slug) == NO


@pytest.mark.slow
def test_values_are_filled_in_and_recognised(shell: Shell) -> None:
    entry = shelve(script=SCRIPT, parameters=[DIRECTORY]).entry
    assert b"DIRECTORY" in shell.run("show", entry.slug).stderr
    shown = shell.run("show", entry.slug, "-p", "DIRECTORY=/srv/a = 'b'")
    assert shown.returncode == YES, shown.stderr
    (shell.folder / "x.sh").write_bytes(shown.stdout)
    assert shell.code("verify", "x.sh") == NO
    assert shell.code("verify", "x.sh", "--text") == YES
    assert shell.code("show", entry.slug, "-p", "DIRECTORY") == USAGE
    assert shell.code("show", entry.slug, "--version", "2", "-p", "DIRECTORY=/srv") == NO


@pytest.mark.slow
def test_nothing_fits(shell: Shell) -> None:
    nothing = shell.run("find", "Bake a cake with cherries", "--json")
    assert nothing.returncode == NO
    assert json.loads(nothing.stdout)["matches"] == []


@pytest.mark.slow
def test_a_token_is_read_from_a_file_of_its_owner_alone(shell: Shell, robot: User) -> None:
    file = shell.folder / "token"
    file.write_text(shell.environment["SCRIPTSMITH_TOKEN"] + "\n")
    named = {"SCRIPTSMITH_TOKEN": "", "SCRIPTSMITH_TOKEN_FILE": str(file)}
    file.chmod(0o640)
    refused = shell.run("verify", "--sha256", "0" * 64, **named)
    assert refused.returncode == NOT_LET_IN and b"chmod 600" in refused.stderr
    file.chmod(0o600)
    assert shell.code("verify", "--sha256", "0" * 64, **named) == NO
    assert shell.code("verify", "--sha256", "0" * 64, SCRIPTSMITH_TOKEN="") == NOT_LET_IN
    assert shell.code("verify", "--sha256", "0" * 64, SCRIPTSMITH_TOKEN="sst_x") == NOT_LET_IN
    reader = token_of(robot, "agent_read")
    entry = shelve().entry
    lacks = shell.run("report", entry.slug, "1", "worked", SCRIPTSMITH_TOKEN=reader)
    assert lacks.returncode == NOT_LET_IN and b"report_outcome" in lacks.stderr
    options = shell.run("find", "--help").stdout + shell.run("--help").stdout
    assert b"--token" not in options


@pytest.mark.slow
def test_what_keeps_it_from_asking(shell: Shell, administrator: User) -> None:
    ask = ("verify", "--sha256", "0" * 64)
    assert shell.code(*ask, SCRIPTSMITH_URL="http://127.0.0.1:9") == UNREACHABLE
    assert shell.code(*ask, SCRIPTSMITH_URL="http://scripts.example.org") == USAGE
    assert shell.code(*ask, SCRIPTSMITH_URL="") == USAGE
    assert shell.code("verify") == USAGE
    assert shell.code("verify", "none.sh") == USAGE
    pause.pause(by=administrator)
    assert shell.code("find", UPTIME) == LATER


class Elsewhere(Handler):
    """A handler that redirects every request and records the tokens."""

    seen: list[str] = []

    def do_GET(self) -> None:
        self.seen.append(self.headers.get("Authorization", ""))
        self.answer(302, location="/somewhere/else/")


@pytest.mark.slow
def test_redirect_is_not_followed(tmp_path: Path) -> None:
    with serving(Elsewhere) as url:
        done = Shell(tmp_path, url, "sst_x").run("verify", "--sha256", "0" * 64)
    assert done.returncode == UNREACHABLE and b"elsewhere" in done.stderr
    assert Elsewhere.seen == ["Bearer sst_x"], "asked once, and nowhere else"


@pytest.mark.slow
def test_what_a_terminal_would_act_on_is_shown_as_an_escape(shell: Shell) -> None:
    script = "#!/usr/bin/env bash\n# \x1b]0;owned\x07 \u202e reversed \x9b31m\nuptime\n"
    version = shelve("Show \u200bhow long it is up", script=script)
    controller, terminal = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-I", str(CLIENT), "show", version.entry.slug],
        env={**shell.environment, "PYTHONIOENCODING": "utf-8"},
        stdout=terminal,
        stderr=terminal,
        stdin=subprocess.DEVNULL,
    )
    os.close(terminal)
    seen = b""
    while True:
        try:
            part = os.read(controller, 65536)
        except OSError:  # the terminal is closed
            break
        if not part:
            break
        seen += part
    assert child.wait(timeout=30) == YES
    os.close(controller)
    text = seen.decode()
    assert "\x1b" not in text and "\u202e" not in text and "\x9b" not in text
    assert "\\x1b]0;owned\\x07 \\u202e reversed \\x9b31m" in text
    piped = shell.run("show", version.entry.slug)
    assert piped.stdout.decode() == script
    assert b"\xe2\x80\x8b" not in shell.run("find", "Show how long it is up").stdout


@pytest.mark.django_db
def test_the_product_hands_out_the_file_of_the_tree(stranger: User) -> None:
    client = WebClient()
    assert client.get("/client/scriptsmith").status_code == 302
    client.force_login(stranger)
    answer = client.get("/client/scriptsmith")
    assert b"".join(answer) == CLIENT.read_bytes()
    assert 'attachment; filename="scriptsmith"' in answer["Content-Disposition"]


def test_it_needs_the_standard_library_of_python_3_9_alone() -> None:
    """Parse with the grammar of Python 3.9, and check that every import is from the standard library."""
    tree = ast.parse(CLIENT.read_text(), feature_version=(3, 9))
    named = {
        alias.name.split(".")[0]
        for node in ast.walk(tree)
        for alias in getattr(node, "names", [])
        if isinstance(node, ast.Import)
    }
    assert named <= sys.stdlib_module_names
    words = CLIENT.read_text()
    assert "subprocess" not in named and "os.system" not in words and "exec(" not in words
