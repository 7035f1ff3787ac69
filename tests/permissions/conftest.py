"""Users and objects of every kind. Tests send hundreds of requests to them, and each request is rolled back."""

from __future__ import annotations

import pytest
from pytest_django import DjangoDbBlocker, Settings

from tests.permissions.objects import Everything


@pytest.fixture(scope="module")
def _everything(module_rows: None, django_db_blocker: DjangoDbBlocker) -> Everything:
    with django_db_blocker.unblock():
        return Everything()


@pytest.fixture
def everything(_everything: Everything, db: None, settings: Settings) -> Everything:
    """Return users of every role and objects of every kind. Single sign-on is set up without a provider."""
    settings.SCRIPTSMITH_OIDC_ISSUER = "https://id.example.org"
    return _everything
