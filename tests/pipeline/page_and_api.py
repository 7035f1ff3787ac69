"""Run the same tests through the pages and through the API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from pipeline.models import Action, Draft, Run
from tests.keys import shown
from tests.web_client import WebClient

DONE = 200


@dataclass(frozen=True)
class Answered:
    """The status, or DONE on success, and the text of the response."""

    status: int
    text: str


class Way(Protocol):
    """An interface for actions that a user can take on a page or through the API."""

    name: ClassVar[str]

    def ask(self, user: User, statement: str, **details: object) -> Answered: ...

    def start(self, user: User, action: Action, **details: object) -> Answered: ...

    def do(self, user: User, run: Run, what: str) -> Answered:
        """Run one of the actions "cancel", "retry", "confirm-match" and "reject-match"."""

    def use(self, user: User, draft: Draft, reason: str) -> Answered: ...


class ByPage:
    name = "page"

    def ask(self, user: User, statement: str, **details: object) -> Answered:
        form = {"statement": statement, "severity": "3", "configuration": "demo", **details}
        return self._post(user, reverse("action-new"), form)

    def start(self, user: User, action: Action, **details: object) -> Answered:
        form = {"configuration": "demo", "retrieval": "on", **details}
        return self._post(user, reverse("run-start", args=[action.pk]), form)

    def do(self, user: User, run: Run, what: str) -> Answered:
        return self._post(user, reverse(f"run-{what}", args=[run.pk]), {})

    def use(self, user: User, draft: Draft, reason: str) -> Answered:
        return self._post(user, reverse("run-use-draft", args=[draft.pk]), {"reason": reason})

    def _post(self, user: User, address: str, form: dict[str, object]) -> Answered:
        return _read(_signed_in(user).post(address, form), done=302)


class ByApi:
    name = "api"

    def ask(self, user: User, statement: str, **details: object) -> Answered:
        return self._post(user, "/api/v1/actions/", {"statement": statement, **details})

    def start(self, user: User, action: Action, **details: object) -> Answered:
        return self._post(user, "/api/v1/runs/", {"action": action.pk, **details})

    def do(self, user: User, run: Run, what: str) -> Answered:
        return self._post(user, f"/api/v1/runs/{run.pk}/{what}/", {})

    def use(self, user: User, draft: Draft, reason: str) -> Answered:
        address = f"/api/v1/drafts/{shown(draft)}/use-unreviewed/"
        return self._post(user, address, {"reason": reason})

    def _post(self, user: User, address: str, body: dict[str, object]) -> Answered:
        response = _signed_in(user).post(address, body, content_type="application/json")
        return _read(response, done=201 if response.status_code == 201 else 200)


both_ways = pytest.mark.parametrize(
    "way", [pytest.param(way, id=way.name) for way in (ByPage(), ByApi())]
)


def _signed_in(user: User) -> Client:
    client = WebClient()
    client.force_login(user)
    return client


def _read(response: HttpResponse, *, done: int) -> Answered:
    status = DONE if response.status_code == done else response.status_code
    return Answered(status, response.content.decode())
