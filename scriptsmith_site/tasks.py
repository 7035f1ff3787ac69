"""Background work of the site: what is kept for a time is deleted after it."""

from __future__ import annotations

from celery import shared_task

from scriptsmith_site.people import security_log
from scriptsmith_site.people.sign_in import guess_limits, lockouts


@shared_task(name="scriptsmith_site.sweep_security_log")
def sweep_security_log() -> None:
    """Delete old lines of the security log, and counts of guesses that are over."""
    security_log.delete_old()
    guess_limits.delete_old()
    lockouts.delete_old()
