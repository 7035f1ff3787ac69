"""Tests that API tokens are shown once, limited to their scopes, and invalid after expiry or revocation."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from scriptsmith_site.models import ApiToken
from scriptsmith_site.people.sign_in.tokens import hash_secret, make_token
from tests.web_client import WebClient

pytestmark = pytest.mark.django_db


class Scores(APIView):
    """A view with a scope, like the views of the apps."""

    required_scope = "review"

    def get(self, request: Request) -> Response:
        return Response({"user": request.user.get_username()})

    post = get


class Anything(APIView):
    """A view without a scope."""

    def post(self, request: Request) -> Response:
        return Response({})


def ask(
    secret: str, *, method: str = "get", view: type[APIView] = Scores, keyword: str = "Bearer"
) -> tuple[int, dict[str, object]]:
    request = getattr(APIRequestFactory(), method)(
        "/api/v1/scores/", headers={"Authorization": f"{keyword} {secret}"}
    )
    response = view.as_view()(request)
    return response.status_code, response.data


def secret_with(user: User, *scopes: str, days: int | None = 30) -> str:
    return make_token(user, name="robot", scopes=scopes, days=days, by=user).secret


def test_token_does_what_its_scopes_say(reviewer: User) -> None:
    for scopes, method, view, status in (
        (["read"], "get", Scores, 200),
        (["read"], "post", Scores, 403),
        (["review"], "post", Scores, 200),
        (["review"], "get", Scores, 403),  # reading requires a different scope
        (["ask", "curate", "manage"], "post", Scores, 403),
        (["ask"], "post", Anything, 200),  # a view without a scope requires `ask`
        (["review"], "post", Anything, 403),
    ):
        got, body = ask(secret_with(reviewer, *scopes), method=method, view=view)
        assert got == status, (scopes, method, view)
        if status == 403:
            assert body["error"]["code"] == "permission_denied"


def test_token_acts_for_its_user_and_its_use_is_noted(reviewer: User) -> None:
    secret = secret_with(reviewer, "read", days=None)
    assert ask(secret) == (200, {"user": "rita"})
    token = ApiToken.objects.get()
    assert token.last_used_at is not None
    assert token.sha256 == hash_secret(secret)
    assert secret not in str(ApiToken.objects.values().get())


def test_unknown_expired_revoked_or_deactivated_token_opens_nothing(reviewer: User) -> None:
    secret = secret_with(reviewer, "read")
    assert ask("sst_guessed")[0] == ask("")[0] == ask(secret, keyword="Token")[0] == 401
    User.objects.filter(pk=reviewer.pk).update(is_active=False)
    assert ask(secret)[0] == 401
    User.objects.filter(pk=reviewer.pk).update(is_active=True)
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    status, body = ask(secret)
    assert status == 401
    assert body["error"]["message"] == "This token is unknown, expired or revoked."
    ApiToken.objects.update(expires_at=None, revoked_at=timezone.now())
    assert ask(secret)[0] == 401


def test_a_session_is_not_limited_by_scopes(reviewer: User) -> None:
    request = APIRequestFactory().post("/api/v1/scores/")
    request.user = reviewer
    request._dont_enforce_csrf_checks = True
    assert Scores.as_view()(request).status_code == 200


@pytest.mark.slow
def test_the_schema_takes_a_token(reviewer: User) -> None:
    assert WebClient().get("/api/v1/schema/").status_code == 401
    program = WebClient(headers={"Authorization": f"Bearer {secret_with(reviewer, 'read')}"})
    schema = program.get("/api/v1/schema/")
    assert schema.status_code == 200
    assert b"bearerFormat" in schema.content


def test_a_person_makes_a_token_sees_it_once_and_revokes_it(as_reviewer: Client) -> None:
    made = as_reviewer.post(
        "/settings/tokens/", {"name": "bot", "scopes": ["read", "ask"], "days": "90"}
    )
    secret = re.search(r'value="(sst_[\w-]+)"', made.content.decode())
    assert made.status_code == 200
    assert "no-store" in made["Cache-Control"]
    assert secret
    token = ApiToken.objects.get()
    assert token.scopes == ["read", "ask"]
    assert token.expires_at and timedelta(days=89) < token.expires_at - timezone.now()
    assert ask(secret[1])[0] == 200

    page = as_reviewer.get("/settings/").content.decode()
    assert secret[1] not in page
    assert token.prefix in page

    assert as_reviewer.post(f"/settings/tokens/{token.pk}/revoke/")["Location"] == "/settings/"
    assert ask(secret[1])[0] == 401
    assert as_reviewer.post(f"/settings/tokens/{token.pk}/revoke/").status_code == 409


def test_invalid_token_is_not_created(as_reviewer: Client) -> None:
    for typed, field in (
        ({"name": " ", "scopes": ["read"]}, "name"),
        ({"name": "bot"}, "scopes"),
        ({"name": "bot", "scopes": ["administer"]}, "scopes"),
        ({"name": "bot", "scopes": ["read"], "days": "7000"}, "days"),
    ):
        answer = as_reviewer.post("/settings/tokens/", typed)
        assert answer.status_code == 422, typed
        assert f'id="id_{field}_error"' in answer.content.decode(), typed
    assert not ApiToken.objects.exists()


def test_nobody_revokes_another_s_token(
    client: Client, reviewer: User, stranger: User, administrator: User
) -> None:
    secret_with(reviewer, "read")
    token = ApiToken.objects.get()
    client.force_login(stranger)
    assert client.post(f"/settings/tokens/{token.pk}/revoke/").status_code == 403
    client.force_login(administrator)
    assert client.post(f"/settings/tokens/{token.pk}/revoke/").status_code == 302
