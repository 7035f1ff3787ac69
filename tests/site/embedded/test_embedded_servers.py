from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from scriptsmith_site.embedded.errors import CannotStart
from scriptsmith_site.embedded.folders import make_data_folder, make_private
from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.embedded.servers import binaries
from scriptsmith_site.embedded.servers.cluster import complaints
from scriptsmith_site.embedded.servers.holders import Use, running, servers_of
from scriptsmith_site.embedded.servers.postgres import Postgres
from scriptsmith_site.embedded.servers.redis import Redis
from scriptsmith_site.embedded.supervision import processes


@pytest.fixture
def postgres(used_place) -> Postgres:
    """Return a stopped server whose database already exists."""
    return Postgres(used_place.layout, durable=False)


@pytest.fixture
def new_postgres(place) -> Postgres:
    """Return a server with an empty data folder."""
    make_data_folder(place.layout)
    return Postgres(place.layout, durable=False)


@pytest.fixture
def redis(place) -> Redis:
    make_data_folder(place.layout)
    return Redis(place.layout)


def ask(layout: Layout, question: str) -> object:
    with psycopg.connect(layout.database_url(), autocommit=True) as connection:
        row = connection.execute(question).fetchone()
        return row[0] if row else None


@pytest.mark.slow
def test_the_database_is_ours_has_vectors_and_listens_on_no_port(place, new_postgres) -> None:
    broken_off = place.layout.postgres_home / "postgres.unfinished" / "base"
    broken_off.mkdir(parents=True)
    new_postgres.start()
    assert ask(place.layout, "SELECT current_database() || current_user") == "scriptsmith" * 2
    assert ask(place.layout, "SHOW listen_addresses") == ""
    assert ask(place.layout, "SHOW max_connections") == "200"
    assert ask(place.layout, "SHOW server_version").startswith("18.")
    vector = "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'"
    assert ask(place.layout, vector) == "0.8.5"
    for folder in (place.layout.postgres_data, place.layout.postgres_sockets):
        assert folder.stat().st_mode & 0o777 == 0o700
    new_postgres.stop()
    assert place.alive() == []


def test_real_data_waits_for_the_disk(place) -> None:
    assert "fsync" not in Postgres(place.layout)._settings()


@pytest.mark.slow
def test_after_a_kill_the_database_starts_again_with_what_was_written(used_place, postgres) -> None:
    postgres = Postgres(used_place.layout)
    postgres.start()
    with psycopg.connect(used_place.layout.database_url(), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS number")
        postgres._process.kill()
        postgres._process.wait()
        assert not postgres.is_running()
    postgres.start()
    assert ask(used_place.layout, "SELECT number FROM kept") == 1


@pytest.mark.slow
def test_a_pid_file_that_names_somebody_elses_process_is_not_believed(used_place, postgres) -> None:
    postgres.start()
    pid_file = used_place.layout.postgres_data / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    postgres.stop()
    owner = used_place.layout.postgres_data.stat()
    with subprocess.Popen(["sleep", "60"], user=owner.st_uid) as somebody:
        pid_file.write_text("\n".join([str(somebody.pid), *lines[1:]]) + "\n")
        os.chown(pid_file, owner.st_uid, owner.st_gid)
        assert not Postgres(used_place.layout).is_running()
        postgres.start()
        assert ask(used_place.layout, "SELECT 1") == 1
        somebody.kill()


@pytest.mark.slow
def test_server_of_another_supervisor_is_adopted(used_place, postgres) -> None:
    postgres.start()
    started = postgres._postmasters()
    adopted = Postgres(used_place.layout)
    adopted.start()
    assert adopted._postmasters() == started
    adopted.stop()
    assert used_place.alive() == []


@pytest.mark.slow
def test_the_data_of_another_version_is_refused_with_advice(place, new_postgres) -> None:
    place.layout.postgres_data.mkdir(parents=True)
    (place.layout.postgres_data / "PG_VERSION").write_text("16\n")
    with pytest.raises(
        CannotStart, match="created by PostgreSQL 16, .* PostgreSQL 18. Restore a backup"
    ):
        new_postgres.start()


@pytest.mark.slow
def test_a_server_out_of_sight_on_the_same_data_is_never_doubled(used_place, postgres) -> None:
    address = used_place.layout.postgres_sockets / ".s.PGSQL.5432"
    address.unlink(missing_ok=True)  # a server that an earlier test killed may have left it
    with socket.socket(socket.AF_UNIX) as another_container:
        another_container.bind(str(address))
        another_container.listen()
        with pytest.raises(CannotStart, match="outside this container or machine"):
            postgres.start()
    address.unlink()


def test_why_postgresql_did_not_start_is_said_in_one_line(used_place, postgres) -> None:
    settings = used_place.layout.postgres_data / "postgresql.auto.conf"
    settings.write_text("no_such_setting = 1\n")
    with pytest.raises(CannotStart, match=r"did not start: .* errors \(see .*postgres.log\)"):
        postgres.start()
    settings.write_text("")
    assert used_place.alive() == []


def test_a_long_data_path_gets_its_sockets_elsewhere(place) -> None:
    layout = Layout(place.folder / ("long " * 30), outside=place.layout.outside)
    make_data_folder(layout)
    redis = Redis(layout)
    redis.start()
    assert redis.is_running()
    assert layout.sockets.parent == Path("/tmp")
    redis.stop()
    shutil.rmtree(layout.sockets)


def test_redis_is_private_and_starts_again(place, redis) -> None:
    redis.start()
    assert place.layout.redis_socket.stat().st_mode & 0o777 == 0o700
    assert place.layout.sockets.stat().st_mode & 0o777 == 0o700
    redis.stop()
    assert not redis.is_running()
    assert place.alive() == []
    redis.start()
    (pid,) = place.alive("redis")
    os.kill(pid, signal.SIGKILL)
    redis._process.wait()
    assert not redis.is_running()
    redis.start()
    assert redis.is_running()


def test_missing_program_is_named_with_its_remedy(redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(sys, "prefix", "/nowhere")
    with pytest.raises(CannotStart, match="apt install redis-server"):
        redis.start()
    monkeypatch.setattr(binaries, "_PACKAGE", "no_such_package")
    with pytest.raises(CannotStart, match="make setup"):
        binaries.find_postgres()


def test_a_folder_that_others_may_enter_is_refused(tmp_path: Path) -> None:
    make_private(tmp_path / "new")
    (tmp_path / "open").mkdir(mode=0o755)
    (tmp_path / "link").symlink_to(tmp_path / "new")
    for name in ("open", "link"):
        with pytest.raises(CannotStart, match="mode 700"):
            make_private(tmp_path / name)


@pytest.fixture
def use(place) -> Iterator[Use]:
    use = Use(place.layout, [Redis(place.layout)])
    yield use
    use.end()


def test_what_must_be_prepared_is_prepared_by_the_first_user_only(place, use) -> None:
    prepared: list[str] = []
    use.begin(lambda: prepared.append("first"))
    other = Use(place.layout, [Redis(place.layout)])
    other.begin(lambda: prepared.append("second"))
    assert other.end() is False
    assert prepared == ["first"]
    assert use.end() is True


def test_a_failed_preparation_leaves_nothing_running(place, use) -> None:
    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        use.begin(fail)
    assert place.alive() == []


def test_a_dead_server_is_started_for_those_who_still_use_it(place, use) -> None:
    use.begin(None)
    processes.end(place.alive("redis"))
    assert not use.all_run()
    other = Use(place.layout, [Redis(place.layout)])
    other.begin(None)
    assert use.all_run()
    other.end()
    assert use.all_run()


def test_given_addresses_start_no_server(place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://somewhere/x")
    monkeypatch.setenv("REDIS_URL", "redis://somewhere")
    with running(place.layout):
        assert not place.layout.data.exists()
    monkeypatch.setenv("REDIS_URL", " ")
    assert [server.name for server in servers_of(place.layout)] == ["Redis"]


@pytest.mark.skipif(os.geteuid() != 0, reason="is about root")
class TestAsRoot:
    def test_database_runs_as_ordinary_user(self, used_place, postgres) -> None:
        before = used_place.folder.stat().st_mode
        postgres.start()
        assert Path(f"/proc/{postgres._process.pid}").stat().st_uid != 0
        note = used_place.layout.postgres_home / "READ-ME.txt"
        assert str(used_place.layout.data) in note.read_text()
        assert used_place.folder.stat().st_mode == before

    def test_database_of_ordinary_user_is_not_shadowed_by_second(self, place, new_postgres) -> None:
        (place.layout.data / "postgres").mkdir()
        with pytest.raises(CannotStart, match="Run as that user instead of root"):
            new_postgres.start()

    @pytest.mark.parametrize("name", ["root", "no-such-user"])
    def test_a_user_that_postgresql_can_not_run_as_is_refused(
        self, new_postgres, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        monkeypatch.setenv("SCRIPTSMITH_POSTGRES_USER", name)
        with pytest.raises(CannotStart, match="SCRIPTSMITH_POSTGRES_USER"):
            new_postgres.start()


def test_complaints_of_postgresql_are_found_in_its_log() -> None:
    logs = {
        "LOG:  ready\n": [],
        "2026-01-01 UTC [1] FATAL:  lock file exists\n": ["lock file exists"],
        "initdb: error: no space\n": ["no space"],
        "x ERROR:  one\nHINT:  h\ny PANIC:  two\n": ["one", "two"],
    }
    assert {text: complaints(text) for text in logs} == logs
