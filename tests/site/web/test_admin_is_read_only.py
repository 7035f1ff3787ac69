"""Tests that the admin site is read-only, except for what curators change through services."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client, RequestFactory

from catalog.models import Entry, Tag, Version


def test_everybody_signs_in_at_one_place(client: Client, db: None) -> None:
    answer = client.get("/admin/", follow=True)
    assert answer.redirect_chain[-1] == ("/login/?next=/admin/", 302)


def test_administrator_reads_and_changes_nothing(client: Client, administrator: User) -> None:
    client.force_login(administrator)
    assert client.get("/admin/").status_code == 200
    assert client.get("/admin/auth/user/").status_code == 200
    user = f"/admin/auth/user/{administrator.pk}"
    page = client.get(f"{user}/change/")
    assert page.status_code == 200
    assert b'name="_save"' not in page.content
    assert client.post(f"{user}/change/", {"username": "x"}).status_code == 403
    assert client.post(f"{user}/password/").status_code == 403
    assert client.post(f"{user}/delete/", {"post": "yes"}).status_code == 403
    assert client.get("/admin/auth/user/add/").status_code == 403
    assert client.get("/admin/password_change/")["Location"] == "/settings/"


def test_no_other_model_can_be_changed_even_by_a_superuser(db: None) -> None:
    request = RequestFactory().get("/admin/")
    request.user = User.objects.create_superuser("root")
    for model, model_admin in admin.site._registry.items():
        if model in (Entry, Tag, Version):
            continue  # see tests/catalog/curation/test_admin.py
        assert not model_admin.has_add_permission(request)
        assert not model_admin.has_change_permission(request)
        assert not model_admin.has_delete_permission(request)
        assert model_admin.has_view_permission(request)
