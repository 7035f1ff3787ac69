from __future__ import annotations

import signal

import pytest

from scriptsmith_site.embedded.commands import needs_servers
from scriptsmith_site.embedded.servers.postgres import Postgres
from scriptsmith_site.embedded.servers.redis import Redis


def test_command_gets_servers_if_it_asks_the_database() -> None:
    without = ["", "help", "--version", "migrate --help", "check", "check --deploy"]
    without += ["collectstatic --noinput", "settings_table"]
    having = ["check --database default", "check --database=default", "migrate"]
    having += ["import_items help x.csv"]
    assert [line for line in without + having if needs_servers(line.split())] == having


@pytest.mark.slow
def test_a_command_on_a_fresh_data_folder_just_works_and_leaves_nothing_running(place) -> None:
    command = place.start("manage.py", "wait")
    printed, complaint = command.communicate(timeout=180)
    assert (command.returncode, printed, complaint) == (0, "reading\nread again\n", "")
    assert place.alive() == []


@pytest.mark.slow
def test_of_two_commands_at_once_the_last_one_stops_the_servers(used_place) -> None:
    first, second = used_place.start("manage.py", "wait"), used_place.start("manage.py", "wait")
    assert first.stdout.readline() == second.stdout.readline() == "reading\n"
    assert first.communicate()[0] == "read again\n"
    assert Postgres(used_place.layout).is_running()
    assert second.communicate()[0] == "read again\n"
    assert used_place.alive() == []


@pytest.mark.slow
def test_what_a_killed_command_leaves_is_used_and_stopped_by_the_next(used_place) -> None:
    killed = used_place.start("manage.py", "wait")
    assert killed.stdout.readline() == "reading\n"
    before = Postgres(used_place.layout)._postmasters()
    killed.kill()
    killed.wait()
    assert Redis(used_place.layout).is_running()
    command = used_place.start("manage.py", "wait")
    assert command.stdout.readline() == "reading\n"
    assert Postgres(used_place.layout)._postmasters() == before
    assert command.communicate()[0] == "read again\n"
    assert used_place.alive() == []


@pytest.mark.slow
def test_a_command_that_is_told_to_end_stops_its_servers(used_place) -> None:
    command = used_place.start("manage.py", "wait")
    assert command.stdout.readline() == "reading\n"
    command.send_signal(signal.SIGTERM)
    assert command.wait(timeout=90) == 128 + signal.SIGTERM
    assert used_place.alive() == []


@pytest.mark.slow
def test_a_set_address_is_used_and_nothing_is_started_for_it(place) -> None:
    nowhere = "postgresql://nobody@/none?host=/nowhere"
    command = place.start("manage.py", "wait", DATABASE_URL=nowhere, REDIS_URL="redis://nowhere")
    _, complaint = command.communicate(timeout=90)
    assert "/nowhere" in complaint
    assert not place.layout.postgres_home.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "advice"),
    [
        pytest.param({"SCRIPTSMITH_DATA": "/dev/null/x"}, "set SCRIPTSMITH_DATA", id="data"),
        pytest.param({"SCRIPTSMITH_DEMO": "perhaps"}, "Use True or False", id="setting"),
    ],
)
def test_what_is_in_the_way_is_said_in_one_line(
    place, variables: dict[str, str], advice: str
) -> None:
    command = place.start("manage.py", "wait", **variables)
    printed, complaint = command.communicate(timeout=90)
    assert (command.returncode, printed, complaint.count("\n")) == (1, "", 1)
    assert advice in complaint
