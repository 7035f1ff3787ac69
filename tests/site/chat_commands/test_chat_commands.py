"""Tests for the responses and rejections of slash commands, and that they contain no text from studies or scripts."""

from __future__ import annotations

import gzip
import hashlib
import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.db import transaction
from pytest_django import Settings

from catalog.models import Entry, Use
from pipeline.models import Run
from review.models import Campaign, Item
from scriptsmith_site.integrations.chat_commands import intake, services
from scriptsmith_site.models import ChatCommand, ChatCommandCall
from tests.catalog.shelf import DIRECTORY, SCRIPT, shelve
from tests.first_cases import first_cases
from tests.people import make_person
from tests.review.blinding import rewriting
from tests.review.maker import make_study, publish_of_study
from tests.web_client import WebClient

pytestmark = pytest.mark.django_db

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
TITLE = "Restart nginx"


@dataclass
class Chat:
    """A chat program with the secret of a command."""

    command: ChatCommand
    client: WebClient

    @property
    def url(self) -> str:
        return f"/chat-commands/{self.command.pk}"

    def post(self, body: bytes, headers: dict[str, str], **more: Any) -> Any:
        more.setdefault("content_type", "application/x-www-form-urlencoded")
        return self.client.generic("POST", more.pop("url", self.url), body, headers=headers, **more)

    def sign(self, body: bytes, *, secret: str = SECRET, at: float = 0) -> dict[str, str]:
        """Return signed headers as described in Slack's guide to verifying requests, without using the product's
        code."""
        stamp = str(int(at or time.time()))
        mac = hmac.new(secret.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256)
        return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={mac.hexdigest()}"}

    def ask(self, text: str, **fields: str) -> Any:
        fields = {"command": "/script", "team_id": "T1", "user_name": "mallory", **fields}
        fields["trigger_id"] = f"{time.time_ns()}"
        if self.command.kind == "mattermost":
            fields["token"] = SECRET
        body = urlencode({**fields, "text": text}).encode()
        return self.post(body, self.sign(body) if self.command.kind == "slack" else {})

    def said(self, text: str) -> str:
        """Return the response text, which only the sender sees."""
        answer = self.ask(text)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert set(body) == {"response_type", "text"} and body["response_type"] == "ephemeral"
        return str(body["text"])


@pytest.fixture
def open_chat(administrator: User, settings: Settings) -> Callable[..., Chat]:
    settings.SCRIPTSMITH_URL = "https://scripts.example.org"

    def make(kind: str = "slack", **details: object) -> Chat:
        details = {"name": f"Our {kind}", **details}
        made = services.add_command(kind, by=administrator, details=details, secret=SECRET)
        # A program has no cookies and no CSRF token.
        return Chat(made, WebClient())

    return make


@pytest.fixture
def slack(open_chat: Callable[..., Chat]) -> Chat:
    return open_chat()


@pytest.mark.parametrize("kind", ["slack", "mattermost"])
def test_verified_script_is_only_linked(open_chat: Callable[..., Chat], kind: str) -> None:
    version = shelve(TITLE, script=SCRIPT, parameters=[DIRECTORY])
    chat = open_chat(kind)
    said = chat.said("restart nginx")
    address = f"https://scripts.example.org/catalogue/{version.entry.slug}/"
    link = f"<{address}|{TITLE}>" if kind == "slack" else f"[{TITLE}]({address})"
    assert said.startswith("Verified") and link in said and "needs values" in said
    assert not [line for line in version.script.splitlines() if len(line) > 3 and line in said]
    chat.command.refresh_from_db()
    assert chat.command.last_success_at and not chat.command.last_error
    (line,) = LogEntry.objects.filter(additional_data__event="slash command answered")
    assert line.changes["entries"] == ["", version.entry.slug] and line.actor is None
    assert not Use.objects.exists() and not Run.objects.exists()


def test_where_nothing_is_verified_it_says_so_and_where_to_ask(slack: Chat) -> None:
    shelve(TITLE, state="draft")
    suspended = shelve("Rotate the logs of nginx")
    Entry.objects.filter(pk=suspended.entry_id).update(
        suspended_at="2026-11-01T00:00Z", suspended_why="It hangs."
    )
    said = slack.said("restart nginx & 'x' <!channel>")
    assert "No verified script does this." in said and "catalogue/" not in said
    asked = quote("restart nginx & 'x' <!channel>", safe="").replace("%20", "+")
    assert f"<https://scripts.example.org/actions/new/?statement={asked}|Request script>" in said
    assert "<!channel>" not in said


def test_empty_command_explains_how_to_ask(slack: Chat) -> None:
    for text in ("", "  help ", "?"):
        assert slack.said(text).startswith("Describe the task"), text


@pytest.mark.parametrize("kind", ["slack", "mattermost"])
def test_titles_mention_nobody_and_make_no_links(open_chat: Callable[..., Chat], kind: str) -> None:
    title = "Restart nginx <!channel> @here *b* [x](https://evil.example) | `c` \u202e"
    shelve(title, phrasings=["Restart nginx"])
    said = open_chat(kind).said("restart nginx")
    (line,) = (one for one in said.splitlines() if one.startswith("•"))
    assert "<!" not in line and "@here" not in line and "evil" in line
    assert line.count("://") == 1 and line.count("](") <= 1 and "\u202e" not in line


def test_forged_old_replayed_and_re_encoded_requests_are_refused(slack: Chat) -> None:
    shelve(TITLE)
    body = urlencode({"text": "restart nginx", "team_id": "T1"}).encode()
    good = slack.sign(body)
    now = time.time()
    wrong = [
        (body, {}),
        (body, slack.sign(body, secret="another one, that is long")),
        (body, slack.sign(body, at=now - 301)),
        (body, slack.sign(body, at=now + 330)),
        (body, {**good, "X-Slack-Request-Timestamp": str(int(now) - 60)}),
        (body, {**good, "X-Slack-Request-Timestamp": "x"}),
        (body, {**good, "X-Slack-Signature": good["X-Slack-Signature"].upper()}),
        (body, {**good, "X-Slack-Signature": "v0="}),
        (body.replace(b"+", b"%20"), good),
        (b"team_id=T1&text=restart+nginx", good),
        (body + b"&x=1", good),
    ]
    for sent, headers in wrong:
        answer = slack.post(sent, headers)
        assert answer.status_code == 401, headers
        assert TITLE not in answer.text
    assert slack.post(body, good).status_code == 200
    assert slack.post(body, good).status_code == 409, "the same signature once more"
    slack.command.refresh_from_db()
    assert slack.command.refusals == len(wrong) + 1 and not slack.command.last_error
    unknown = slack.post(body, good, url="/chat-commands/99999")
    assert (unknown.status_code, unknown.json()) == (401, answer.json())


def test_mattermost_request_is_accepted_once(open_chat: Callable[..., Chat]) -> None:
    chat = open_chat("mattermost")
    fields = {"text": "help", "token": SECRET, "trigger_id": "abc"}
    for wrong in ({"token": "x" * 32}, {"token": ""}, {"token": SECRET[:-1]}, {"trigger_id": ""}):
        assert chat.post(urlencode(fields | wrong).encode(), {}).status_code == 401
    twice = urlencode(fields).encode() + f"&token={SECRET}".encode()
    assert chat.post(twice, {}).status_code == 400
    assert chat.post(urlencode(fields).encode(), {}).status_code == 200
    assert chat.post(urlencode(fields).encode(), {}).status_code == 409
    by_header = urlencode({"text": "help", "trigger_id": "abd"}).encode()
    assert chat.post(by_header, {"Authorization": f"Token {SECRET}"}).status_code == 200


def test_body_that_is_not_a_small_form_is_refused(slack: Chat) -> None:
    many = urlencode({str(n): "" for n in range(60)}).encode()
    for body, more, status in (
        (b"x" * (intake.MOST_BYTES + 1), {}, 413),
        (b"{}", {"content_type": "application/json"}, 401),
        (b"\xff\xfe", {}, 400),
        (many, {}, 400),
    ):
        assert slack.post(body, slack.sign(body), **more).status_code == status, body[:20]


def test_compressed_bodies_and_other_methods_are_refused(slack: Chat) -> None:
    body = b"text=help"
    headers = {**slack.sign(body), "Content-Encoding": "gzip"}
    assert slack.post(body, headers).status_code == 415
    packed = gzip.compress(body)
    assert slack.post(packed, slack.sign(packed)).status_code in (400, 422)
    assert slack.client.get(slack.url).status_code == 405


def test_too_many_a_minute_are_told_to_wait(open_chat: Callable[..., Chat]) -> None:
    chat = open_chat(requests_per_minute=2)
    assert [chat.said(text).split()[0] for text in ("help", "?", "", "help")] == [
        "Describe", "Describe", "Too", "Too",
    ]  # fmt: skip
    ChatCommandCall.objects.update(at="2026-01-01T00:00Z")
    assert chat.said("help").startswith("Describe")
    intake.delete_old()
    assert ChatCommandCall.objects.count() == 1


def test_other_workspaces_are_refused(open_chat: Callable[..., Chat], settings: Settings) -> None:
    settings.SCRIPTSMITH_SECRET_TRIES = 2
    chat = open_chat(team="T2")
    assert {chat.ask("help").status_code for _again in range(4)} == {401}
    assert chat.post(b"text=x", {}).status_code == 401
    assert chat.ask("help", team_id="T2").status_code == 200


def test_wrong_secrets_delay_only_their_sender(slack: Chat, settings: Settings) -> None:
    settings.SCRIPTSMITH_SECRET_TRIES = 5
    for _again in range(6):
        answer = slack.post(b"text=x", {})
        assert answer.status_code in (401, 429)
    assert answer.status_code == 429 and int(answer["Retry-After"]) > 0
    assert slack.ask("help").status_code == 200


def test_paused_it_says_so_and_looks_for_nothing(slack: Chat, administrator: User) -> None:
    shelve(TITLE)
    services.set_paused(slack.command, True, by=administrator)
    assert slack.said("restart nginx") == "An administrator has paused this command."
    assert slack.post(b"text=x", {}).status_code == 401, "only who proves it is told so"


@pytest.mark.slow
@pytest.mark.parametrize("kind", first_cases(1, ["slack", "mattermost"]))
def test_worlds_that_differ_in_what_a_study_hides_are_answered_the_same(
    open_chat: Callable[..., Chat], manager: User, reviewer: User, kind: str
) -> None:
    """The four databases differ in the verdict and in whether the study's script is in the catalogue."""
    chat = open_chat(kind)
    study = make_study(by=manager, reviewers=[reviewer], items=1)
    item = Item.objects.get(campaign=study)
    rewriting.add_work(item.run)
    shelve("List files older than 30 days")
    statement = item.run.action.statement
    curator = make_person("cora", "curator", "reviewer")

    def ask(differs: bool, is_published: bool, closed: bool = False) -> list[str]:
        with transaction.atomic():
            if is_published:
                publish_of_study(item, "echo 'of a study'\n", by=curator)
            if differs:
                rewriting.pass_it(item)
            if closed:
                Campaign.objects.filter(pk=study.pk).update(state=Campaign.State.CLOSED)
            said = [chat.said(statement), chat.said("list files older than 30 days")]
            transaction.set_rollback(True)
        return said

    worlds = [ask(differs, made) for made in (False, True) for differs in (False, True)]
    assert worlds == [worlds[0]] * 4
    assert "•" in "".join(worlds[0]), "the test sees something"
    assert ask(False, True, closed=True) != worlds[0], "and the script, once the study is closed"
