"""The administrator of this folder."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client


@pytest.fixture
def client(client_for: Callable[[User], Client], administrator: User) -> Client:
    """Return a browser session of the administrator."""
    return client_for(administrator)
