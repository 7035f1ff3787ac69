"""The page of an incident does not depend on the verdict of a run that belongs to an open study."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client

from review.models import Item
from scriptsmith_site.models import AlertSource, Incident, IncidentEvent
from tests.review.blinding import rewriting
from tests.review.maker import make_study

pytestmark = pytest.mark.django_db
_CHANGES = re.compile(r'csrfmiddlewaretoken" value="\w+"|X-CSRFToken": "\w+"|[0-9.]+ (?:ms|s)\b')


@pytest.mark.slow
def test_incident_hides_the_verdict(manager: User, reviewer: User, as_reviewer: Client) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=2, overlap=1)
    item = campaign.items.order_by("pk")[0]
    assert item.run is not None
    rewriting.add_work(item.run)
    source = AlertSource.objects.create(kind="alertmanager", name="Ours")
    incident = Incident.objects.create(source=source, group="g", title="T", statement="Free it")
    IncidentEvent.objects.create(incident=incident, kind="asked", action=item.run.action)
    addresses = (f"/incidents/{incident.pk}/", f"/api/v1/incidents/{incident.pk}/", "/incidents/")

    def seen() -> list[str]:
        with transaction.atomic():
            pages = [_CHANGES.sub("", as_reviewer.get(one).text) for one in addresses]
            transaction.set_rollback(True)
        return pages

    flagged = seen()
    assert item.run.action.statement[:30] in flagged[0]
    rewriting.pass_it(Item.objects.get(pk=item.pk))
    assert seen() == flagged
