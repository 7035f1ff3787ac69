"""Delete the text of alerts after the retention period, or when their incident's action is erased."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from core.leased_jobs import UNFINISHED
from scriptsmith_site.integrations.alerts.services.processing import ERASED_RAW, lock_group
from scriptsmith_site.models import Alert, AlertDelivery, Incident, IncidentEvent

ERASED = "(erased)"


def delete_old() -> None:
    """Delete stored requests and the alerts of resolved incidents after SCRIPTSMITH_ALERT_DAYS.

    Incidents keep their title, statement and timeline. Firing incidents keep their alerts.
    """
    before = timezone.now() - timedelta(days=settings.SCRIPTSMITH_ALERT_DAYS)
    AlertDelivery.objects.filter(created_at__lt=before).exclude(state__in=UNFINISHED).delete()
    over = Incident.objects.filter(resolved_at__lt=before)
    Alert.objects.filter(last_at__lt=before, incident__in=over).delete()
    Alert.objects.filter(last_at__lt=before, incident=None).delete()
    over.exclude(labels={}, annotations={}).update(labels={}, annotations={})


@transaction.atomic
def erase_texts_of_action(action_id: int) -> None:
    """Erase the text of the incidents for which the action was requested.

    This resolves the incidents. If a source sends the same alert again, it opens a new incident.
    """
    asked = IncidentEvent.objects.filter(action=action_id).values("incident")
    groups = Incident.objects.filter(pk__in=asked, erased_at=None).values_list("source", "group")
    for source, group in sorted(set(groups)):
        lock_group(source, group)
    for incident in Incident.objects.select_for_update().filter(pk__in=asked, erased_at=None):
        now = timezone.now()
        incident.title = ERASED
        incident.statement = incident.link = incident.runbook = ""
        incident.labels, incident.annotations = {}, {}
        incident.state, incident.firing = Incident.State.RESOLVED, 0
        incident.resolved_at = incident.resolved_at or now
        incident.erased_at = now
        incident.save()
        incident.events.exclude(text="").update(text=ERASED)
        # A request may contain alerts from other groups, so erase it completely.
        # Unfinished requests are erased after processing, which skips this group.
        AlertDelivery.objects.filter(
            source=incident.source_id, created_at__gte=incident.opened_at - timedelta(minutes=5)
        ).exclude(state__in=UNFINISHED).update(raw=ERASED_RAW)
        incident.alerts.all().delete()
