"""The only way for a view to obtain a notification: one's own, else 404."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404

from scriptsmith_site.models import Notification


def access_notification(person: User, pk: int) -> Notification:
    """One of the person's own."""
    return get_object_or_404(Notification, pk=pk, person=person, in_bell=True)
