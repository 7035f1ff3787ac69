"""Tests for a mirror over HTTP with Git's own server, and over SSH with a fake SSH program."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from catalog.entries import services as entries
from scriptsmith_site.integrations.mirror import branches, remotes, services
from scriptsmith_site.integrations.mirror.secrets import access_of
from scriptsmith_site.models import Mirror
from tests.catalog.shelf import shelve
from tests.site.loopback import Handler, serving
from tests.site.mirror.conftest import GIT, Repository, work

pytestmark = pytest.mark.django_db
TOKEN = "t0ken"


class GitServer(Handler):
    """A server that runs Git's own CGI program, protected by a password."""

    protocol_version = "HTTP/1.1"
    folder: Path
    moved = False

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self._serve(self.read())
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return self._serve(body)

    def _serve(self, body: bytes) -> None:
        if self.moved:
            return self.answer(302, location="http://169.254.169.254/")
        expected = "Basic " + base64.b64encode(f"git:{TOKEN}".encode()).decode()
        if self.headers.get("Authorization") != expected:
            return self.answer(401, www_authenticate="Basic")
        path, _mark, query = self.path.partition("?")
        done = subprocess.run(
            [GIT, "http-backend"],
            input=body,
            capture_output=True,
            check=True,
            env={
                "GIT_PROJECT_ROOT": str(self.folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "REQUEST_METHOD": self.command,
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "REMOTE_USER": "git",
                "PATH": os.environ["PATH"],
            },
        ).stdout
        head, _empty, text = done.partition(b"\r\n\r\n")
        headers = dict(line.decode().split(": ", 1) for line in head.split(b"\r\n"))
        status = int(headers.pop("Status", "200")[:3])
        return self.answer(status, text, **headers)


@pytest.fixture
def server(repository: Repository, settings: Settings) -> Iterator[str]:
    settings.SCRIPTSMITH_OUT_NETWORKS = ["127.0.0.0/8"]
    repository.git("config", "http.receivepack", "true")
    GitServer.folder, GitServer.moved = repository.path.parent, False
    with serving(GitServer) as url:
        yield url


@pytest.mark.slow
def test_over_http_with_a_token(
    repository: Repository,
    server: str,
    administrator: User,
    curator: User,
    second_curator: User,
    tmp_path: Path,
) -> None:
    version = shelve("Print the uptime", author=curator, verified_by=second_curator)
    address = f"{server}/catalogue.git"
    services.set_up(services.Values(address=address, secret="wrong"), by=administrator)
    work()
    mirror = Mirror.objects.get()
    assert "The server responded with 401" in mirror.last_error
    services.change(
        services.Values(address=address, secret=TOKEN), by=administrator, seen=mirror.edition
    )
    services.ask_for_test(by=administrator)
    assert work() >= 1
    assert Mirror.objects.get().failures == 0
    entries.suspend(version.entry, by=curator, reason="INC-7")
    assert work() == 1
    repository.check()
    clone = repository.clone(tmp_path / "clone")
    files = {"suspended/print-the-uptime/script.sh": "uptime -s\n"}
    repository.commit(clone, files, "Since", push="since")
    job = branches.ask_for_branch("since", by=curator)
    branches.read_branch(job.pk)
    job.refresh_from_db()
    assert [one["script"] for one in job.found] == ["uptime -s\n"], job.problem
    GitServer.moved = True
    services.ask_for_test(by=administrator)
    work()
    assert "responded with a redirect" in Mirror.objects.get().last_error


@pytest.mark.slow
def test_missing_repository_named(repository: Repository, server: str, administrator: User) -> None:
    address = f"{server}/other.git"
    services.set_up(services.Values(address=address, secret=TOKEN), by=administrator)
    work()
    assert "no Git repository" in Mirror.objects.get().last_error


_SSH = """#!/bin/sh
# Notes how it was called, and runs the command here.
printf '%s\\n' "$@" > "$HOME_OF_TEST/called"
while [ "$1" != -- ]; do
  [ "$1" = -i ] && cat "$2" > "$HOME_OF_TEST/key"
  case "$2" in UserKnownHostsFile=*) cat "${2#*=}" > "$HOME_OF_TEST/known";; esac
  shift
done
exec sh -c "$3"
"""


def test_over_ssh_by_the_address_that_was_judged(
    repository: Repository,
    administrator: User,
    curator: User,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    settings.SCRIPTSMITH_OUT_NETWORKS = ["127.0.0.0/8"]
    program = tmp_path / "bin" / "ssh"
    program.parent.mkdir()
    program.write_text(_SSH)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME_OF_TEST", str(tmp_path))
    shelve("Print the uptime", author=curator)
    host_key = "ssh-ed25519 " + "A" * 68
    services.set_up(
        services.Values(
            address=f"ssh://git@localhost:2222{repository.path}",
            secret="-----BEGIN KEY-----\nabc\n-----END KEY-----",
            host_key=host_key,
        ),
        by=administrator,
    )
    services.ask_for_test(by=administrator)
    assert work() >= 1, Mirror.objects.get().last_error
    repository.check()
    words = (tmp_path / "called").read_text().splitlines()
    assert words[-3:-1] == ["--", "127.0.0.1"] or words[-3:-1] == ["--", "::1"]
    for option in ("BatchMode=yes", "StrictHostKeyChecking=yes", "HostKeyAlias=localhost"):
        assert option in words
    assert words[words.index("-p") + 1] == "2222"
    assert (tmp_path / "known").read_text() == f"localhost {host_key}\n"
    assert (tmp_path / "key").read_text().endswith("-----END KEY-----\n")
    assert not Path(words[words.index("-i") + 1]).exists(), "the key is gone again"
    monkeypatch.setattr(remotes, "MOST_BYTES", 20)
    access = access_of(Mirror.objects.get())
    with (
        remotes.open_remote(access) as remote,
        pytest.raises(remotes.RemoteTrouble, match="256 MB"),
    ):
        remote.heads()
