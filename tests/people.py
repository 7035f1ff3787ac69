"""People with roles: each may do what the role says and no more."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from tests.web_client import WebClient

PASSWORD = "a test's own passphrase"


def make_person(name: str, *roles: str) -> User:
    """A person with these roles; roles are groups."""
    user = User.objects.create_user(name, password=PASSWORD, first_name=name.capitalize())
    user.groups.set(Group.objects.filter(name__in=roles))
    return user


@pytest.fixture
def reviewer(db: None) -> User:
    return make_person("rita", "reviewer")


@pytest.fixture
def second_reviewer(db: None) -> User:
    return make_person("rolf", "reviewer")


@pytest.fixture
def curator(db: None) -> User:
    return make_person("carla", "curator")


@pytest.fixture
def second_curator(db: None) -> User:
    return make_person("curt", "curator")


@pytest.fixture
def manager(db: None) -> User:
    return make_person("mona", "manager")


@pytest.fixture
def administrator(db: None) -> User:
    return make_person("adam", "administrator")


@pytest.fixture
def stranger(db: None) -> User:
    """An account and no rights."""
    return make_person("sam")


@pytest.fixture
def client_for() -> Callable[[User], Client]:
    """A browser session that is signed in as this person."""

    def make(user: User) -> Client:
        client = WebClient()
        client.force_login(user)
        return client

    return make


@pytest.fixture
def client() -> WebClient:
    """A browser session of nobody yet, in place of pytest-django's, which checks no CSRF."""
    return WebClient()
