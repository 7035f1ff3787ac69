"""Tests that the tables of events and notifications are complete, and that the preferences and the guide list every
kind."""

from __future__ import annotations

from django.apps import apps
from django.conf import settings

from scriptsmith_site.integrations.notifications.kinds import KINDS
from scriptsmith_site.integrations.notifications.titles import _READERS as TITLES
from scriptsmith_site.integrations.outbox.events.event_types import BY_NAME, EVENT_TYPES, PUBLIC
from scriptsmith_site.integrations.outbox.events.subjects import _READERS as SUBJECTS


def test_event_types_and_kinds_are_complete() -> None:
    assert len({one.name for one in EVENT_TYPES}) == len(EVENT_TYPES)
    for one in EVENT_TYPES:
        apps.get_model(one.model)
        assert one.model in SUBJECTS and len(one.name) <= 60
    assert len({one.name for one in KINDS}) == len(KINDS)
    for one in KINDS:
        assert len(one.name) <= 20
        for event in one.events:
            assert BY_NAME[event].model in TITLES
    events = [event for one in KINDS for event in one.events]
    assert len(set(events)) == len(events), "an event makes one kind"
    guide = (settings.BASE_DIR / "docs" / "integrations.md").read_text()
    missing = [one.name for one in PUBLIC if f"`{one.name}`" not in guide]
    assert not missing, f"add them to the table of docs/integrations.md: {missing}"
