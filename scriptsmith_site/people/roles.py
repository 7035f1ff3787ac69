"""Roles as groups of permissions. A user may have multiple roles, and their permissions add up."""

from __future__ import annotations

from django.contrib.auth.models import Group, Permission
from django.db import models
from django.utils.translation import gettext_lazy as _

ADMINISTER = "scriptsmith_site.administer"
# Permission to read the audit log. Only administrators may export it or see erasures and account events.
READ_AUDIT_LOG = "auditlog.view_logentry"


class Role(models.TextChoices):
    REVIEWER = "reviewer", _("Reviewer")
    CURATOR = "curator", _("Curator")
    MANAGER = "manager", _("Manager")
    ADMINISTRATOR = "administrator", _("Administrator")


DUTIES = [
    (Role.REVIEWER.value, _("Reviewer: requests scripts, scores and decides")),
    (Role.CURATOR.value, _("Curator: verifies, edits, merges and deprecates entries")),
    (
        Role.MANAGER.value,
        _(
            "Manager: manages studies, reports, flags and calibration labels, and reads the "
            "audit log"
        ),
    ),
    (
        Role.ADMINISTRATOR.value,
        _("Administrator: manages users, endpoints and settings, and reads the audit log"),
    ),
]

PERMISSIONS: dict[Role, frozenset[str]] = {
    Role.REVIEWER: frozenset({"pipeline.ask", "review.review", "catalog.use_unreviewed"}),
    Role.CURATOR: frozenset({"catalog.curate", "catalog.set_threshold"}),
    Role.MANAGER: frozenset({"review.manage_campaigns", "catalog.label_matches", READ_AUDIT_LOG}),
    Role.ADMINISTRATOR: frozenset(
        {
            ADMINISTER,
            READ_AUDIT_LOG,
            "auth.view_user",
            "auth.add_user",
            "auth.change_user",
            "auth.view_group",
            "pipeline.manage_endpoints",
            "pipeline.erase_texts",
        }
    ),
}


def make_roles(using: str = "default", **_signal: object) -> None:
    """Create the four groups with exactly the permissions in PERMISSIONS. This is called after each `migrate`."""
    existing = {
        f"{permission.content_type.app_label}.{permission.codename}": permission
        for permission in Permission.objects.using(using).select_related("content_type")
    }
    for role, names in PERMISSIONS.items():
        group, _created = Group.objects.using(using).get_or_create(name=role.value)
        # After a migration to an earlier state, some permissions do not exist. A later migration adds them.
        group.permissions.set(existing[name] for name in sorted(names & existing.keys()))
