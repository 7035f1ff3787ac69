"""Fixtures for users with each role."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from tests.web_client import WebClient

PASSWORD = "a test's own passphrase"
ClientFor = Callable[[User], Client]


def make_person(name: str, *roles: str) -> User:
    """Create a user with these roles. Roles are groups."""
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
    """Create a user without permissions."""
    return make_person("sam")


@pytest.fixture
def client_for() -> ClientFor:
    """Return a function that signs a user in and returns the browser session."""

    def make(user: User) -> Client:
        client = WebClient()
        client.force_login(user)
        return client

    return make


@pytest.fixture
def client() -> WebClient:
    """Return a signed-out browser session that checks CSRF, unlike pytest-django's client."""
    return WebClient()


@pytest.fixture
def as_reviewer(reviewer: User, client_for: ClientFor) -> Client:
    return client_for(reviewer)


@pytest.fixture
def as_second_reviewer(second_reviewer: User, client_for: ClientFor) -> Client:
    return client_for(second_reviewer)


@pytest.fixture
def as_curator(curator: User, client_for: ClientFor) -> Client:
    return client_for(curator)


@pytest.fixture
def as_second_curator(second_curator: User, client_for: ClientFor) -> Client:
    return client_for(second_curator)


@pytest.fixture
def as_manager(manager: User, client_for: ClientFor) -> Client:
    return client_for(manager)


@pytest.fixture
def as_administrator(administrator: User, client_for: ClientFor) -> Client:
    return client_for(administrator)


@pytest.fixture
def as_stranger(stranger: User, client_for: ClientFor) -> Client:
    return client_for(stranger)
