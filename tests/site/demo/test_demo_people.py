"""The demo's people: who reviews its scripts has not asked for them, so that its review is a blinded one."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from pipeline.access import visible_parts
from pipeline.models import Run
from scriptsmith_site import demo
from scriptsmith_site.embedded.layout import Layout

pytestmark = pytest.mark.django_db


@pytest.mark.slow
def test_its_reviewer_is_shown_no_verdict_of_what_it_asks(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LAYOUT = Layout(tmp_path)  # where the passwords are written
    monkeypatch.setattr("catalog.services.load_starter", lambda: None)
    passwords = demo.load()
    # The first of them is who the pages and the documents call the reviewer.
    rita = User.objects.get(username="rita")
    assert "rita" in passwords and rita.has_perm("review.review")
    runs = Run.objects.filter(origin=Run.Origin.DEMO)
    assert runs.exists() and not runs.filter(asked_by=rita).exists()
    assert not visible_parts(rita, runs[0]).verdict
