"""The catalogue's records in the admin can be looked at by administrators."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from catalog import services
from tests.catalog.shelf import shelve

pytestmark = pytest.mark.django_db


def test_every_list_and_record_is_shown_and_nothing_can_be_changed(
    administrator: User, client_for: Callable[[User], Client]
) -> None:
    version = shelve(tags=["a"])
    services.record_use(version, by=administrator, values={})
    client = client_for(administrator)

    for model in apps.get_app_config("catalog").get_models():
        if not admin.site.is_registered(model):
            continue
        name = f"admin:catalog_{model._meta.model_name}"
        assert client.get(reverse(f"{name}_changelist"), {"q": "x"}).status_code == 200
        assert client.get(reverse(f"{name}_add")).status_code == 403
        for row in model._default_manager.all()[:1]:
            address = reverse(f"{name}_change", args=[row.pk])
            assert client.get(address).status_code == 200
            assert client.post(address, {}).status_code == 403
