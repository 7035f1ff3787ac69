"""Tests for the parts of every page: navigation, pending work, content security policy and preferences."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.template import Context, Template
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from review.queue.intake import send_to_queue
from scriptsmith_site.models import Profile
from scriptsmith_site.web.template_context import MOST_COUNTED, count_waiting, nav_section, site
from tests.make import make_run


def test_page_belongs_to_its_part_of_the_navigation() -> None:
    parts = {
        "home": ["home"],
        "new": ["action-new"],
        "actions": ["action-list", "run-detail"],
        "queue": ["queue", "item-review"],
        "catalogue": ["catalog-list", "entry-detail", "version-history"],
        "admin": ["users", "user-detail", "audit", "endpoint-list"],
        "": ["settings", None],
    }
    assert {
        part: [one for one in names if nav_section(one) == part] for part, names in parts.items()
    } == parts


def test_the_count_costs_nothing_where_it_is_not_shown_and_the_same_however_much_waits(
    reviewer: User, stranger: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    request = RequestFactory().get("/")
    request.user = reviewer
    with django_assert_num_queries(0):
        site(request)
    shown = Template("{% if waiting_count %}{{ waiting_count }}{% endif %}")
    counts = []
    for number in range(3):
        send_to_queue(make_run(statement=f"Do {number}", by=stranger))
        request.user = User.objects.get(pk=reviewer.pk)
        with CaptureQueriesContext(connection) as asked:
            assert shown.render(Context(dict(site(request)))) == str(number + 1)
        counts.append(len(asked))
    assert counts[0] == counts[1] == counts[2]


def test_waiting_items_are_counted_up_to_the_limit_for_reviewers_only(
    reviewer: User, stranger: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST_COUNTED == 99
    for number in range(3):
        send_to_queue(make_run(statement=f"Do {number}", by=stranger))
    assert (count_waiting(reviewer), count_waiting(stranger)) == (3, 0)
    monkeypatch.setattr("scriptsmith_site.web.template_context.MOST_COUNTED", 2)
    assert count_waiting(reviewer) == 2


def test_administrators_menu_is_theirs(client: Client, administrator: User, curator: User) -> None:
    client.force_login(administrator)
    assert 'href="/audit/"' in client.get("/settings/").content.decode()
    client.force_login(curator)
    assert 'href="/audit/"' not in client.get("/settings/").content.decode()


def test_times_are_shown_in_the_person_s_time_zone(client: Client, administrator: User) -> None:
    Profile.objects.create(user=administrator, time_zone="Asia/Tokyo")
    moment = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    User.objects.filter(pk=administrator.pk).update(date_joined=moment)
    client.force_login(administrator)
    assert "2026-03-02 08:30" in client.get(f"/users/{administrator.pk}/").content.decode()
    assert timezone.get_current_timezone_name() == "UTC", "and nobody else's"


def test_no_page_weakens_the_policy(as_administrator: Client) -> None:
    for page in ("/settings/", "/api/v1/docs/", "/admin/", "/login/", "/no/such/"):
        policy = as_administrator.get(page, follow=True)["Content-Security-Policy"]
        directives = {directive.strip() for directive in policy.split(";")}
        assert {"script-src 'self'", "style-src 'self'", "default-src 'none'"} <= directives, page
        assert "unsafe" not in policy, page


def test_the_api_s_page_has_nothing_inline(client: Client, administrator: User) -> None:
    assert client.get("/api/v1/docs/").status_code == 302
    client.force_login(administrator)
    text = client.get("/api/v1/docs/").content.decode()
    assert "<style" not in text
    assert "style=" not in text
    assert text.count("<script") == text.count('<script src="')


def test_pages_bring_their_icon_and_other_answers_find_one(client: Client) -> None:
    page = client.get("/login/").content.decode()
    icon = page.partition('<link rel="icon" href="data:image/svg+xml,')[2].partition('"')[0]
    drawn = (Path(settings.BASE_DIR) / "static/img/favicon.svg").read_text(encoding="utf-8")
    assert unquote(icon) == drawn.strip()
    assert client.get("/favicon.ico")["Location"].endswith(".svg")
