"""An administrator erases the texts of an action on a page of its own, and types its number to confirm it."""

from __future__ import annotations

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User

from pipeline.models import Action, Run
from tests.make import make_run
from tests.web_client import WebClient

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(reviewer: User) -> Run:
    return make_run(by=reviewer, statement="Rotate the password of zebra-7781")


@pytest.fixture
def client(administrator: User) -> WebClient:
    client = WebClient()
    client.force_login(administrator)
    return client


@pytest.mark.slow
def test_the_texts_are_erased_once_it_is_confirmed(
    client: WebClient, run: Run, administrator: User
) -> None:
    address = f"/actions/{run.action_id}/erase/"
    assert address in client.get(f"/actions/{run.action_id}/").text
    page = client.get(address).text
    assert "zebra-7781" in page and "one run" in page
    answer = client.post(address, {"confirmed": f"erase {run.action_id}"}, follow=True)
    assert answer.redirect_chain == [(f"/actions/{run.action_id}/", 302)]
    assert "The texts are erased." in answer.text and "zebra-7781" not in answer.text
    assert address not in answer.text, "there is nothing left to erase"
    action = Action.objects.get(pk=run.action_id)
    assert (action.statement, action.erased_by) == ("", administrator)
    assert action.erased_at is not None
    (line,) = LogEntry.objects.get_for_object(action)
    assert (line.actor, line.additional_data) == (administrator, {"event": "texts erased"})


@pytest.mark.parametrize("typed", ["", "erase", "erase 1234567", "1"])
def test_without_the_number_nothing_is_erased(client: WebClient, run: Run, typed: str) -> None:
    address = f"/actions/{run.action_id}/erase/"
    client.get(address)
    answer = client.post(address, {"confirmed": typed})
    assert answer.status_code == 422
    assert "zebra-7781" in answer.text
    assert Action.objects.get().statement and not LogEntry.objects.get_for_object(run.action)


def test_what_is_erased_is_not_erased_again(client: WebClient, run: Run) -> None:
    address = f"/actions/{run.action_id}/erase/"
    client.get(address)
    client.post(address, {"confirmed": f"erase {run.action_id}"})
    assert client.get(address)["Location"] == f"/actions/{run.action_id}/"
    assert client.post(address, {"confirmed": f"erase {run.action_id}"}).status_code == 409


def test_a_run_under_way_comes_first(client: WebClient, run: Run) -> None:
    """It would write new texts after the old ones are erased."""
    Run.objects.create(action=run.action, configuration=run.configuration)
    address = f"/actions/{run.action_id}/erase/"
    client.get(address)
    answer = client.post(address, {"confirmed": f"erase {run.action_id}"})
    assert answer.status_code == 409 and "under way" in answer.text
    assert Action.objects.get().statement


@pytest.mark.slow
def test_only_administrators_are_shown_the_way_to_it(reviewer: User, run: Run) -> None:
    client = WebClient()
    client.force_login(reviewer)
    assert "/erase/" not in client.get(f"/actions/{run.action_id}/").text
    assert client.get(f"/actions/{run.action_id}/erase/").status_code == 403
