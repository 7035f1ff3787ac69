"""Two administrators at one source or rule: the second one is told, and loses nothing that they typed."""

from __future__ import annotations

import re
from collections.abc import Callable

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


@pytest.mark.parametrize("what", ["source", "rule"])
def test_the_second_of_two_is_told_and_may_save_again(
    door: Door, administrator: User, client_for: Callable[[User], Client], what: str
) -> None:
    robot = make_person("robot", "reviewer")
    Profile.objects.update_or_create(user=robot, defaults={"service_account": True})
    rule = sources.save_rule(
        AlertRule(),
        by=administrator,
        name="Ours",
        account=robot,
        configuration=Configuration.objects.get(name="demo"),
    )
    typed = {"name": "Ours", "least_severity": "2"} | (
        {"requests_per_minute": "60", "most_open": "10"}
        if what == "source"
        else {
            "configuration": "demo",
            "account": str(robot.pk),
            "runs_per_day": "3",
            "runs_per_source": "3",
        }
    )
    row = door.source if what == "source" else rule
    url = f"/alert-sources/{row.pk}/edit/" if what == "source" else f"/alert-rules/{row.pk}/"
    client = client_for(administrator)
    (seen,) = EDITION.findall(client.get(url).text)
    first = typed | {"matchers": 'team="a"', "edition": seen}
    assert client.post(url, first).status_code == 302
    refused = client.post(url, typed | {"matchers": 'team="b"', "edition": seen})
    assert refused.status_code == 409 and "Somebody else" in refused.text
    assert "team=&quot;b&quot;" in refused.text
    row.refresh_from_db()
    assert row.matchers == 'team="a"'
    (newest,) = EDITION.findall(refused.text)
    assert client.post(url, typed | {"matchers": 'team="b"', "edition": newest}).status_code == 302
    row.refresh_from_db()
    assert row.matchers == 'team="b"' and row.edition == 3
