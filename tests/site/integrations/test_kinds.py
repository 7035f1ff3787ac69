"""The tables of events and notifications: whole, and known to people's choices and the guide."""

from __future__ import annotations

from django.apps import apps
from django.conf import settings

from scriptsmith_site.integrations.notifications.kinds import KINDS
from scriptsmith_site.integrations.notifications.titles import _READERS as TITLES
from scriptsmith_site.integrations.outbox.events.event_types import BY_NAME, EVENT_TYPES, PUBLIC
from scriptsmith_site.integrations.outbox.events.subjects import _READERS as SUBJECTS


def test_every_type_is_of_a_model_whose_subject_is_known() -> None:
    assert len({one.name for one in EVENT_TYPES}) == len(EVENT_TYPES)
    for one in EVENT_TYPES:
        apps.get_model(one.model)
        assert one.model in SUBJECTS and len(one.name) <= 60


def test_every_kind_is_made_by_events_that_are_told_further() -> None:
    assert len({one.name for one in KINDS}) == len(KINDS)
    for one in KINDS:
        assert len(one.name) <= 20
        for event in one.events:
            assert BY_NAME[event].model in TITLES
    events = [event for one in KINDS for event in one.events]
    assert len(set(events)) == len(events), "an event makes one kind"


def test_the_guide_names_every_public_type() -> None:
    guide = (settings.BASE_DIR / "docs" / "integrations.md").read_text()
    missing = [one.name for one in PUBLIC if f"`{one.name}`" not in guide]
    assert not missing, f"add them to the table of docs/integrations.md: {missing}"
