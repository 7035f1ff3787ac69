"""manage.py create_account: the first administrator, and accounts for people who script."""

from __future__ import annotations

import io

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from scriptsmith_site.people.services import roles_of


def create(*arguments: str) -> str:
    out = io.StringIO()
    call_command("create_account", *arguments, stdout=out)
    return out.getvalue().strip()


def test_it_prints_a_link_that_works(client: Client, db: None) -> None:
    link = create(
        "ada", "--role", "administrator", "--role", "reviewer", "--display-name", "Ada L."
    )
    ada = User.objects.get(username="ada")
    assert {role.value for role in roles_of(ada)} == {"administrator", "reviewer"}
    assert ada.get_full_name() == "Ada L."
    assert client.get(link).status_code == 200


def test_a_service_account_gets_no_link(db: None) -> None:
    assert create("bot", "--service", "--role", "reviewer") == ""


def test_invalid_account_is_refused(db: None) -> None:
    for arguments in (
        ["a b"],
        ["ada", "--role", "king"],
        ["bot", "--service", "--role", "administrator"],
    ):
        with pytest.raises(CommandError):
            create(*arguments)
    assert not User.objects.exists()
