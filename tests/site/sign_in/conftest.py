"""Configure an identity provider on loopback in the settings."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

import pytest
from django.core.cache import cache
from pytest_django import Settings

if TYPE_CHECKING:
    from tests.site.sign_in.provider import Provider


@pytest.fixture
def provider(settings: Settings) -> Iterator[Provider]:
    pytest.importorskip(
        "oidc_provider_mock", reason="oidc-provider-mock is not installed: nobody to sign in with"
    )
    cache.clear()  # the cache may contain another provider's discovery document
    with import_module("tests.site.sign_in.provider").Provider() as running:
        settings.SCRIPTSMITH_OIDC_ISSUER = running.issuer
        settings.SCRIPTSMITH_OIDC_CLIENT_ID = "scriptsmith"
        settings.SCRIPTSMITH_OIDC_CLIENT_SECRET = "a secret"
        settings.SCRIPTSMITH_OIDC_NAME = "Corporate ID"
        settings.SCRIPTSMITH_OIDC_ENTRY_GROUPS = ["staff"]
        settings.SCRIPTSMITH_OIDC_ROLES = {"reviewer": ["sre"], "curator": ["sre leads", "owners"]}
        running.knows(
            "alice",
            preferred_username="alice",
            name="Alice A.",
            email="alice@example.org",
            email_verified=True,
            groups=["staff", "sre"],
        )
        yield running
