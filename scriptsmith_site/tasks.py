"""Background tasks of the site: events, email, alerts, the mirror and retention."""

from __future__ import annotations

from celery import current_app, shared_task

from pipeline import services as pipeline
from scriptsmith_site.integrations.alerts.services import processing, retention
from scriptsmith_site.integrations.chat_commands import intake
from scriptsmith_site.integrations.mirror.queue import queue_publication
from scriptsmith_site.integrations.notifications import mail, sweeps
from scriptsmith_site.integrations.notifications.telling import tell_people
from scriptsmith_site.integrations.outbox import delivery
from scriptsmith_site.integrations.outbox.events import distribution, expiry
from scriptsmith_site.people import security_log
from scriptsmith_site.people.sign_in import guess_limits, lockouts, sessions


@shared_task(name="scriptsmith_site.sweep_security_log")
def sweep_security_log() -> None:
    """Delete old security events, guess counts, ended sessions, chat commands and keys."""
    security_log.delete_old()
    guess_limits.delete_old()
    lockouts.delete_old()
    sessions.delete_old()
    intake.delete_old()
    pipeline.forget_keys()


@shared_task(name="scriptsmith_site.distribute_events")
def distribute_events() -> None:
    """Number new events, notify users, and send the events to their destinations."""
    try:
        distribution.distribute(tell_people, queue_publication)
    finally:  # earlier events are sent even if distribution fails
        for destination in delivery.destinations_with_work():
            current_app.send_task("scriptsmith_site.deliver", args=(destination,), expires=60)


@shared_task(name="scriptsmith_site.deliver")
def deliver(destination_id: int) -> None:
    """Send all due events to one destination."""
    delivery.deliver(destination_id)


@shared_task(name="scriptsmith_site.send_due_mail")
def send_due_mail() -> None:
    """Send due emails to all users."""
    mail.send_due_mail()


@shared_task(name="scriptsmith_site.confirm_mail_address")
def confirm_mail_address(person_id: int) -> None:
    """Send a user the link that confirms an email address."""
    mail.send_confirmation(person_id)


@shared_task(name="scriptsmith_site.send_test_mail")
def send_test_mail(person_id: int) -> None:
    """Send a test email."""
    mail.send_test(person_id)


@shared_task(name="scriptsmith_site.note_passing_time")
def note_passing_time() -> None:
    """Create events that are caused only by the passage of time."""
    sweeps.note_due_items()
    sweeps.note_reviewed_campaigns()


@shared_task(name="scriptsmith_site.delete_old_events")
def delete_old_events() -> None:
    """Delete events, deliveries and notifications after their retention period."""
    expiry.delete_old_events()
    sweeps.delete_old_notifications()


@shared_task(name="scriptsmith_site.write_mirror")
def write_mirror() -> None:
    """Commit and push publications to the mirror."""
    from scriptsmith_site.integrations.mirror import (
        writing,
    )  # imported here, because it loads dulwich

    writing.write_mirror()


@shared_task(name="scriptsmith_site.read_mirror_branch")
def read_mirror_branch(job_id: int) -> None:
    """Read a branch's changes, unless another worker is reading them."""
    from scriptsmith_site.integrations.mirror import (
        branches,
    )  # imported here, because it loads dulwich

    branches.read_branch(job_id)


@shared_task(name="scriptsmith_site.read_missed_mirror_branches")
def read_missed_mirror_branches() -> None:
    """Enqueue branches that no worker is reading, because the message was lost or the worker died."""
    from scriptsmith_site.integrations.mirror import (
        branches,
    )  # imported here, because it loads dulwich

    branches.read_missed()


@shared_task(name="scriptsmith_site.take_in_alerts")
def take_in_alerts(delivery_id: int) -> None:
    """Create alerts and incidents from a request, unless another worker is processing it."""
    processing.take_in(delivery_id)


@shared_task(name="scriptsmith_site.take_in_missed_alerts")
def take_in_missed_alerts() -> None:
    """Enqueue requests that no worker is processing, because the message was lost or the worker died."""
    processing.take_in_missed()


@shared_task(name="scriptsmith_site.delete_old_alerts")
def delete_old_alerts() -> None:
    """Delete received requests and resolved alerts after their retention period."""
    retention.delete_old()
