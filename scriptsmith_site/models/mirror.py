"""Models of the catalogue's Git mirror: its address, the commit of each publication and imported branches."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from core.leased_jobs import LeasedJob


class Mirror(models.Model):
    """The branch to which the catalogue is written. Without a row, nothing is written."""

    address = models.CharField(_("address"), max_length=500)
    branch = models.CharField(_("branch"), max_length=100, default="main")
    user_name = models.CharField(_("username"), max_length=100, blank=True)
    # The name of an environment variable or an encrypted secret. A local folder needs neither.
    secret_variable = models.CharField(_("secret variable"), max_length=100, blank=True)
    secret = models.TextField(default="", blank=True)
    # The public key of an SSH server, in the format of known_hosts.
    host_key = models.TextField(_("host key"), blank=True)
    owner = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    edition = models.PositiveIntegerField(default=1)
    paused_at = models.DateTimeField(_("paused"), null=True, blank=True)
    paused_why = models.CharField(max_length=300, blank=True)
    # The last pushed commit, which should be the head of the branch. Empty if no commit was pushed.
    head = models.CharField(max_length=40, blank=True)
    # If the branch has a different head, writing stops until an administrator has checked it.
    diverged_at = models.DateTimeField(null=True, blank=True)
    found_head = models.CharField(max_length=40, blank=True)
    # The commit that an administrator accepted as the new head of the branch.
    accepted_head = models.CharField(max_length=40, null=True, blank=True)
    has_snapshot = models.BooleanField(default=False)
    test_asked_at = models.DateTimeField(null=True, blank=True)
    failures = models.PositiveSmallIntegerField(default=0)
    retry_at = models.DateTimeField(null=True, blank=True)
    last_success_at = models.DateTimeField(null=True, blank=True)
    last_error_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True)
    # Limit the table to one row.
    only = models.BooleanField(default=True, unique=True, editable=False)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(only=True), name="mirror_only")]

    def __str__(self) -> str:
        return f"{self.address} {self.branch}"


class MirrorCommit(models.Model):
    """A publication and its commit. The rows are in the order of the publications."""

    class Kind(models.TextChoices):
        SNAPSHOT = "snapshot", _("Initial catalogue")
        VERIFIED = "verified", _("Verified")
        DEPRECATED = "deprecated", _("Deprecated")
        SUSPENDED = "suspended", _("Suspended")
        REINSTATED = "reinstated", _("Suspension lifted")
        RENAMED = "renamed", _("Renamed")
        MERGED = "merged", _("Merged")
        UNMERGED = "unmerged", _("Merge undone")
        ACCEPTED = "accepted", _("Files restored")

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        MADE = "made", _("In progress")
        PUSHED = "pushed", _("Pushed")
        WITHHELD = "withheld", _("Withheld")
        UNCHANGED = "unchanged", _("No changes")

    kind = models.CharField(max_length=10, choices=Kind)
    state = models.CharField(_("state"), max_length=9, choices=State, default=State.WAITING)
    # The event's ID. Rows of the first snapshot have no ID.
    uid = models.UUIDField(null=True, blank=True, unique=True)
    entry_id = models.BigIntegerField(null=True, blank=True)
    version_id = models.BigIntegerField(null=True, blank=True)
    by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    # The commit, and the folder and version of the entry in this commit.
    commit = models.CharField(max_length=40, blank=True)
    # The position among the mirror's commits.
    position = models.PositiveBigIntegerField(null=True, blank=True)
    area = models.CharField(max_length=10, blank=True)
    folder = models.CharField(max_length=100, blank=True)
    shown_id = models.BigIntegerField(null=True, blank=True)
    pushed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(
                fields=["id"],
                name="mirror_commit_unfinished",
                condition=Q(state__in=["waiting", "made", "withheld"]),
            ),
            models.Index(fields=["entry_id", "-position"], name="mirror_commit_entry"),
            models.Index(fields=["-position"], name="mirror_commit_position"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.entry_id or ''}"


class MirrorBranch(LeasedJob):
    """A branch to import. A worker reads it, a user checks it, and its changes become versions in review."""

    TASK = "scriptsmith_site.read_mirror_branch"

    branch = models.CharField(_("branch"), max_length=100)
    commit = models.CharField(max_length=40, blank=True)
    # The changes, each with path, entry, title, script, author and problems.
    found = models.JSONField(default=list, blank=True)
    problem = models.CharField(max_length=300, blank=True)
    taken_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"branch {self.branch}"
