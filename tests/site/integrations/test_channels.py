"""Tests that messages to a chat server on loopback use only supported kinds and configured hosts, without mentions and
markup.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from core.audit import emit
from core.errors import BadInput
from core.network.addresses import ForbiddenAddress
from scriptsmith_site.integrations.outbox import services
from scriptsmith_site.integrations.outbox.transport import channel_kinds
from scriptsmith_site.integrations.outbox.transport.addresses import choose_addresses
from scriptsmith_site.integrations.outbox.transport.channels import neutralise
from scriptsmith_site.integrations.outbox.transport.signing_secrets import secret_of
from scriptsmith_site.models import DeliveryAttempt, Destination
from tests.make import make_run
from tests.site.integrations.conftest import ALL_TYPES, work
from tests.site.integrations.receiver import Receiver

pytestmark = pytest.mark.django_db

KEY = "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture
def chat(receiver: Receiver, settings: Settings) -> Iterator[Receiver]:
    settings.SCRIPTSMITH_CHAT_HOSTS = [f"127.0.0.1:{receiver.port}"]
    receiver.answer = lambda _document: 200
    yield receiver


def add(kind: str, by: User, *, secret: str = KEY, **values: object) -> Destination:
    given = {"name": kind, "address": "", "types": ALL_TYPES, **values}
    return services.create_destination(
        kind, values=services.Values(**given), secret=secret, by=by
    ).destination


def test_a_channel_is_told_with_a_link_and_no_mention(
    chat: Receiver, administrator: User, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    host = f"127.0.0.1:{chat.port}"
    channel = add("mattermost", administrator, address=host, includes_texts=True)
    run = make_run(
        statement="@channel *see* [this](https://evil.example) <!here>", by=administrator
    )
    emit(run, "finished")
    work()
    [said] = chat.received
    assert said.document["text"] == (
        "A run finished: ＠channel ∗see∗ (this)(https: //evil.example) ‹ǃhere›\n"
        f"https://scripts.example.org/runs/{run.pk}/"
    )
    chat.answer, chat.location = (lambda _document: 302), chat.url
    chat.says = f"Moved from /hooks/{KEY}".encode()
    emit(run, "finished")
    work()
    assert len(chat.received) == 2, "a redirect is not followed"
    failed = DeliveryAttempt.objects.latest("pk")
    assert "redirect" in failed.error and KEY not in failed.answer
    channel.refresh_from_db()
    assert KEY.encode() not in bytes(channel.secret) and channel.failing_since


def test_what_channel_must_not_be(chat: Receiver, administrator: User, settings: Settings) -> None:
    slack = "T0AAAAAA/B0BBBBBB/cccccccccccccccc"
    for kind, given, field in (
        ("slack", {"secret": slack, "address": "evil.example"}, "address"),
        ("slack", {"secret": "json://127.0.0.1/"}, "secret"),
        ("mattermost", {"address": "chat.example.org"}, "address"),
        ("mattermost", {"address": "chat.example.org/?x=1#"}, "address"),
        ("teams", {"address": "logic.azure.com.evil.example", "secret": "a" * 12 + "/" + "b" * 12}, "address"),
        ("mattermost", {"address": f"127.0.0.1:{chat.port}", "secret": "x/../y?z"}, "secret"),
        ("mattermost", {"address": f"127.0.0.1:{chat.port}", "secret_variable": "DATABASE_URL"}, "secret_variable"),
        ("mattermost", {"address": f"127.0.0.1:{chat.port}", "types": ["item.assigned"]}, "types"),
        ("dbus", {}, "kind"),
    ):  # fmt: skip
        with pytest.raises(BadInput) as refused:
            add(kind, administrator, **given)
        assert refused.value.field == field
    assert not Destination.objects.exists()
    channel = add("mattermost", administrator, address=f"127.0.0.1:{chat.port}")
    settings.SCRIPTSMITH_CHAT_HOSTS = []
    services.send_test(channel, by=administrator)
    work()
    assert not chat.received, "a host that is named no more is not asked"
    assert "not listed" in DeliveryAttempt.objects.get().error


def test_a_secret_may_stand_in_a_variable(
    chat: Receiver, administrator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = f"127.0.0.1:{chat.port}"
    channel = add(
        "mattermost", administrator, address=host, secret="", secret_variable="SCRIPTSMITH_OUT_CHAT"
    )
    services.send_test(channel, by=administrator)
    work()
    assert "SCRIPTSMITH_OUT_CHAT" in DeliveryAttempt.objects.get().error
    monkeypatch.setenv("SCRIPTSMITH_OUT_CHAT", KEY)
    services.send_test(channel, by=administrator)
    work()
    assert len(chat.received) == 1 and not bytes(channel.secret)


def test_moved_channel_loses_its_secret(administrator: User, settings: Settings) -> None:
    settings.SCRIPTSMITH_CHAT_HOSTS = ["chat.example.org", "other.example.org"]
    channel = add("mattermost", administrator, address="chat.example.org")
    seen = channel.edition
    moved = services.Values(name="mattermost", address="other.example.org", types=ALL_TYPES)
    with pytest.raises(BadInput) as refused:
        services.change_destination(channel, values=moved, by=administrator, seen=seen)
    assert refused.value.field == "secret"
    channel.refresh_from_db()
    assert channel.address == "chat.example.org" and channel.secret
    fresh = KEY[::-1]
    services.change_destination(channel, values=moved, by=administrator, secret=fresh, seen=seen)
    channel.refresh_from_db()
    assert secret_of(channel) == fresh


def test_chat_host_keeps_its_port_and_network() -> None:
    for host in ("x.logic.azure.com:25", "x.logic.azure.com:0"):
        with pytest.raises(BadInput, match="port"):
            channel_kinds.check_host("teams", host)
    assert channel_kinds.check_host("teams", "x.logic.azure.com:443")
    assert choose_addresses("chat", ["10.1.2.3"], is_encrypted=True, is_named=True) == ["10.1.2.3"]
    for found, is_named in (("10.1.2.3", False), ("169.254.169.254", True)):
        with pytest.raises(ForbiddenAddress):
            choose_addresses("chat", [found], is_encrypted=True, is_named=is_named)
    with pytest.raises(ForbiddenAddress):
        choose_addresses("chat", ["203.0.114.9"], is_encrypted=False, is_named=True)


def test_each_kind_is_told_at_its_own_address_in_its_own_form() -> None:
    slack = channel_kinds.CHANNELS[Destination.Kind.SLACK]
    assert slack.url("", "T0/B0/x") == "https://hooks.slack.com/services/T0/B0/x"
    assert slack.document("Verified", "https://a.example/1") == {
        "text": "Verified\nhttps://a.example/1"
    }
    teams = channel_kinds.CHANNELS[Destination.Kind.TEAMS]
    assert teams.url("a.logic.azure.com:443", "work/sig-_") == (
        "https://a.logic.azure.com:443/workflows/work/triggers/manual/paths/invoke"
        "?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=sig-_"
    )
    [attached] = teams.document("Verified", "https://a.example/1")["attachments"]
    assert attached["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert attached["content"]["body"][0]["text"] == "Verified"
    assert attached["content"]["actions"][0]["url"] == "https://a.example/1"


def test_marks_that_chat_programs_act_on_are_made_plain() -> None:
    made = neutralise("@all #general <@U1> <!channel> `code` ~x~ _y_ **z** |spoiler| http://a.b")
    assert not set("@#<>`~_*|[]!") & set(made) and "://" not in made
