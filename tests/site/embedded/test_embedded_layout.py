from __future__ import annotations

import os
from pathlib import Path

import pytest

from scriptsmith_site.embedded.layout import Layout, redis_client_url

LONG = Path("/data") / ("x" * 100)


@pytest.fixture
def as_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)


@pytest.fixture
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)


def test_data_folder_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/u")
    monkeypatch.delenv("SCRIPTSMITH_DATA", raising=False)
    assert Layout.from_environment(Path("/base")).data == Path("/base/.data")
    for named, expected in (
        ("", "/base/.data"),
        ("other", "/base/other"),  # relative to the program, not to the shell
        ("/srv/./data", "/srv/data"),
        ("~/data", "/home/u/data"),
    ):
        monkeypatch.setenv("SCRIPTSMITH_DATA", named)
        assert Layout.from_environment(Path("/base")).data == Path(expected)


@pytest.mark.usefixtures("as_user")
def test_sockets_are_short_and_never_shared() -> None:
    # These paths are too long for a socket or contain characters that URLs must escape.
    elsewhere = [LONG, Path("/srv/my data"), Path("/srv/100%"), Path("/srv/données")]
    for data in (Path("/srv/data"), *elsewhere):
        layout = Layout(data)
        assert layout.sockets.is_relative_to(data) is (data not in elsewhere), data
        assert len(os.fsencode(layout.postgres_sockets / ".s.PGSQL.5432.lock")) <= 107
    assert Layout(LONG / "a").sockets != Layout(LONG / "b").sockets
    assert Layout(Path("/srv/data")).postgres_data == Path("/srv/data/postgres")


@pytest.mark.usefixtures("as_root")
def test_root_keeps_the_database_in_a_folder_of_its_own() -> None:
    layout = Layout(Path("/srv/data"))
    assert layout.postgres_data == Path("/var/lib/scriptsmith") / layout.key / "postgres"
    assert layout.postgres_sockets.parent == layout.postgres_data.parent
    assert layout.redis_socket.is_relative_to(layout.data)


@pytest.mark.usefixtures("as_user")
def test_addresses_are_in_the_forms_that_django_celery_and_redis_read() -> None:
    layout = Layout(Path("/srv/data"))
    assert layout.database_settings()["HOST"] == "/srv/data/sockets"
    assert layout.database_url() == "postgresql://scriptsmith@/scriptsmith?host=/srv/data/sockets"
    assert layout.redis_url() == "redis+socket:///srv/data/sockets/redis.sock"
    assert redis_client_url(layout.redis_url()) == "unix:///srv/data/sockets/redis.sock"
    assert (
        redis_client_url("redis+socket:///srv/r.sock?virtual_host=2") == "unix:///srv/r.sock?db=2"
    )
    assert redis_client_url("redis://host:6379/1") == "redis://host:6379/1"
