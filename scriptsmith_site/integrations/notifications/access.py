"""Access to a user's own notifications. Views must use this module, which raises Http404 for other users'
notifications.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404

from scriptsmith_site.models import Notification


def access_notification(person: User, pk: int) -> Notification:
    """Return one of the user's notifications."""
    return get_object_or_404(Notification, pk=pk, person=person, in_bell=True)
