"""The golden case as rows of a study."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoDbBlocker

from review.campaigns.services import rules
from review.models import Campaign
from tests.people import make_person
from tests.review.report.rows import fill, golden_labels


@pytest.fixture
def campaign(manager: User) -> Campaign:
    return rules.create_campaign("Golden", by=manager)


@pytest.fixture
def golden(campaign: Campaign, reviewer: User) -> Campaign:
    fill(campaign, golden_labels(), [reviewer])
    return campaign


@pytest.fixture(scope="module")
def golden_key(module_rows: None, django_db_blocker: DjangoDbBlocker) -> int:
    """Create the golden case once per module, with the manager mona and the reviewer rita."""
    with django_db_blocker.unblock():
        manager, reviewer = make_person("mona", "manager"), make_person("rita", "reviewer")
        campaign = rules.create_campaign("Golden", by=manager)
        fill(campaign, golden_labels(), [reviewer])
        return campaign.pk
