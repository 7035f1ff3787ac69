"""The demo's people: who reviews its scripts has not asked for them, so that its review is a blinded one."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from pipeline.access import visible_parts
from pipeline.models import Run
from scriptsmith_site import demo

pytestmark = pytest.mark.django_db


def test_its_reviewer_is_shown_no_verdict_of_what_it_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catalog.services.load_starter", lambda: None)
    passwords = demo.load()
    # The first of them is who the pages and the documents call the reviewer.
    rita = User.objects.get(username="rita")
    assert "rita" in passwords and rita.has_perm("review.review")
    runs = Run.objects.filter(origin=Run.Origin.DEMO)
    assert runs.exists() and not runs.filter(asked_by=rita).exists()
    assert not visible_parts(rita, runs[0]).verdict
