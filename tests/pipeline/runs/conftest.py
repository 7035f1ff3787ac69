"""The reviewer of this folder."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client


@pytest.fixture
def client(client_for: Callable[[User], Client], reviewer: User) -> Client:
    """Return a browser session of the reviewer."""
    return client_for(reviewer)
