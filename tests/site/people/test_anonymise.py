"""Tests that a user is anonymized while the user's actions stay in the records."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client

from catalog.models import SavedView
from scriptsmith_site.models import ApiToken, Profile
from scriptsmith_site.people import services
from scriptsmith_site.people.sign_in.tokens import make_token


@pytest.fixture
def gone(client: Client, administrator: User, reviewer: User) -> User:
    services.change_preferences(reviewer, display_name="Rita R.", time_zone="", theme="dark")
    make_token(reviewer, name="Rita's phone", scopes=["read"], days=None, by=reviewer)
    for listing in SavedView.Listing:
        SavedView.objects.create(
            user=reviewer, listing=listing, name="Rita's own", query="risk=high"
        )
    Authenticator.objects.create(user=reviewer, type="webauthn", data={"name": "Rita's ring"})
    SocialAccount.objects.create(user=reviewer, provider="https://id.example.org", uid="rita")
    services.deactivate(reviewer, by=administrator)
    client.force_login(administrator)
    return reviewer


def test_names_go_and_records_stay(client: Client, gone: User) -> None:
    records = LogEntry.objects.count()
    answer = client.post(f"/users/{gone.pk}/anonymise/", {"confirmed_name": "rita"})
    assert answer["Location"] == f"/users/{gone.pk}/"
    gone.refresh_from_db()
    assert (gone.username, gone.get_full_name(), gone.email) == (f"person-{gone.pk}", "", "")
    assert not gone.has_usable_password()
    assert not SavedView.objects.exists()
    assert not gone.groups.exists()
    assert not Profile.objects.filter(user=gone).exists()
    assert not ApiToken.objects.exists()
    assert not Authenticator.objects.exists() and not SocialAccount.objects.exists()
    assert LogEntry.objects.count() == records + 1
    assert LogEntry.objects.filter(actor=gone).count() == 2, "who acted stays a number"
    log = str(list(LogEntry.objects.values()))
    assert "rita" not in log.lower()
    with pytest.raises(Exception, match="append-only"):
        LogEntry.objects.update(object_repr="x")


def test_active_account_is_not_anonymised(client: Client, gone: User, curator: User) -> None:
    answer = client.post(f"/users/{gone.pk}/anonymise/", {"confirmed_name": "Rita"})
    assert answer.status_code == 422
    assert 'id="confirmed_name_error"' in answer.content.decode()
    answer = client.post(f"/users/{curator.pk}/anonymise/", {"confirmed_name": "carla"})
    assert answer.status_code == 409
    for user, name in ((gone, "rita"), (curator, "carla")):
        user.refresh_from_db()
        assert user.username == name
