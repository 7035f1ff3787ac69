"""The golden case as rows of a study."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from review.campaigns.services import rules
from review.models import Campaign
from tests.review.report.rows import fill, golden_labels


@pytest.fixture
def campaign(manager: User) -> Campaign:
    return rules.create_campaign("Golden", by=manager)


@pytest.fixture
def golden(campaign: Campaign, reviewer: User) -> Campaign:
    fill(campaign, golden_labels(), [reviewer])
    return campaign
