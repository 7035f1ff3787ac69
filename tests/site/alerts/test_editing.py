"""Two administrators edit one source or rule: the second gets a conflict and keeps the typed text."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from pipeline.models import Configuration
from scriptsmith_site.integrations.alerts.services import sources
from scriptsmith_site.models import AlertRule, Profile
from tests.people import make_person
from tests.site.alerts.conftest import Door

pytestmark = pytest.mark.django_db
EDITION = re.compile(r'name="edition" value="(\d+)"')


def test_second_editor_is_told(door: Door, administrator: User, as_administrator: Client) -> None:
    robot = make_person("robot", "reviewer")
    Profile.objects.update_or_create(user=robot, defaults={"service_account": True})
    demo = Configuration.objects.get(name="demo")
    given = {"name": "Ours", "account": robot, "configuration": demo}
    rule = sources.save_rule(AlertRule(), by=administrator, **given)
    common = {"name": "Ours", "least_severity": "2"}
    of_source = {"requests_per_minute": "60", "most_open": "10"}
    of_rule = {"configuration": "demo", "account": str(robot.pk)}
    of_rule |= {"runs_per_day": "3", "runs_per_source": "3"}
    for row, url, own in (
        (door.source, f"/alert-sources/{door.source.pk}/edit/", of_source),
        (rule, f"/alert-rules/{rule.pk}/", of_rule),
    ):
        typed = common | own
        (seen,) = EDITION.findall(as_administrator.get(url).text)
        first = typed | {"matchers": 'team="a"', "edition": seen}
        assert as_administrator.post(url, first).status_code == 302
        second = typed | {"matchers": 'team="b"'}
        refused = as_administrator.post(url, second | {"edition": seen})
        assert refused.status_code == 409 and "Somebody else" in refused.text
        assert "team=&quot;b&quot;" in refused.text
        row.refresh_from_db()
        assert row.matchers == 'team="a"'
        (newest,) = EDITION.findall(refused.text)
        assert as_administrator.post(url, second | {"edition": newest}).status_code == 302
        row.refresh_from_db()
        assert row.matchers == 'team="b"' and row.edition == 3
