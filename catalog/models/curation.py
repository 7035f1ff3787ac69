"""Curators' work and decisions: rechecks, near-duplicates, merges and rollbacks."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from catalog.models.entry import Entry, Version


class RecheckQuerySet(models.QuerySet["Recheck"]):
    def to_look_at(self) -> RecheckQuerySet:
        """Return the rechecks with different findings that no curator has viewed yet, newest first."""
        return (
            self.filter(has_changed=True, seen_at=None)
            .exclude(version__state=Version.State.DEPRECATED)
            .select_related("version__entry")
            .order_by("-pk")
        )

    def with_raised_risk(self) -> RecheckQuerySet:
        """Return the unviewed rechecks that raised the risk of a live version, highest risk first."""
        return (
            self.to_look_at()
            .exclude(risk_before="")
            .filter(version__state=Version.State.VERIFIED, version__entry__suspended_at=None)
        )


class NearDuplicateQuerySet(models.QuerySet["NearDuplicate"]):
    def to_look_at(self) -> NearDuplicateQuerySet:
        """Return the undecided pairs, most similar first."""
        return (
            self.filter(state=NearDuplicate.State.OPEN)
            .select_related("first", "second")
            .defer("first__document", "second__document")
            .order_by("-likeness", "pk")
        )

    def about(self, entry: Entry) -> NearDuplicateQuerySet:
        """Return the pairs that contain this entry."""
        return self.filter(Q(first=entry) | Q(second=entry))


class Recheck(models.Model):
    """A newer checker's findings for a Version. The version keeps the findings with which it was verified."""

    version = models.OneToOneField(Version, models.CASCADE, related_name="recheck")
    checked_with = models.CharField(_("checked with"), max_length=80)
    at = models.DateTimeField(default=timezone.now)
    findings = models.JSONField(_("findings"), default=list)
    risk = models.CharField(_("risk"), max_length=8, choices=Version.Risk)
    # The version's risk before this check raised it, or empty.
    risk_before = models.CharField(
        _("risk before"), max_length=8, choices=Version.Risk, blank=True, default="", db_default=""
    )
    side_effect = models.CharField(_("side effect"), max_length=10, choices=Version.SideEffect)
    has_changed = models.BooleanField(_("findings changed"), default=False)
    # Cleared when a newer checker reports different findings.
    seen_at = models.DateTimeField(null=True, blank=True)
    seen_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    objects = RecheckQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["id"],
                condition=Q(has_changed=True, seen_at=None),
                name="recheck_to_look_at",
            )
        ]

    def __str__(self) -> str:
        return f"{self.version_id} with {self.checked_with}"


class NearDuplicate(models.Model):
    """Two entries that may do the same thing. Background tasks find pairs, and curators merge or dismiss them."""

    class State(models.TextChoices):
        OPEN = "open", _("To check")
        DISMISSED = "dismissed", _("Different")
        MERGED = "merged", _("Merged")

    first = models.ForeignKey(Entry, models.CASCADE, related_name="+")
    second = models.ForeignKey(Entry, models.CASCADE, related_name="+")
    likeness = models.FloatField(_("similarity"))
    same_script = models.BooleanField(_("same script"), default=False)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.OPEN)
    found_at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)

    objects = NearDuplicateQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["first", "second"], name="near_duplicate_once_a_pair"),
            models.CheckConstraint(
                condition=Q(first__lt=F("second")), name="near_duplicate_in_order"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["open", "dismissed", "merged"]),
                name="near_duplicate_state_legal",
            ),
        ]
        indexes = [
            models.Index(
                fields=["-likeness", "id"], condition=Q(state="open"), name="near_duplicate_open"
            )
        ]

    def __str__(self) -> str:
        return f"{self.first_id} and {self.second_id}"


class Merge(models.Model):
    """A merge of one entry into another. The moved objects are recorded, so that the merge can be undone."""

    source = models.ForeignKey(Entry, models.PROTECT, related_name="merges_away")
    target = models.ForeignKey(Entry, models.PROTECT, related_name="merges_in")
    # Keys of the moved phrasings and of the events that deprecated the source's versions.
    phrasings = models.JSONField(default=list)
    events = models.JSONField(default=list)
    # The former confirmation of each moved phrasing, by the phrasing's key.
    confirmations = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    note = models.TextField(_("note"), blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["source"], condition=Q(undone_at=None), name="merge_one_an_entry"
            ),
            models.CheckConstraint(condition=~Q(source=F("target")), name="merge_of_two"),
        ]

    def __str__(self) -> str:
        return f"{self.source_id} into {self.target_id}"


class RollbackQuerySet(models.QuerySet["Rollback"]):
    def to_confirm(self) -> RollbackQuerySet:
        """Return the unconfirmed emergency rollbacks to live versions, oldest first."""
        return (
            self.filter(is_emergency=True, confirmed_at=None, version__state=Version.State.VERIFIED)
            .select_related("version__entry", "by")
            .defer("version__entry__document")
            .order_by("pk")
        )


class Rollback(models.Model):
    """A rollback that made a former version live again.

    In an emergency, the version's author may roll back alone. Another user confirms the rollback later.
    """

    version = models.ForeignKey(Version, models.CASCADE, related_name="rollbacks")
    # The version that was live before, or null.
    replaced = models.ForeignKey(
        Version, models.CASCADE, null=True, blank=True, related_name="rollbacks_away"
    )
    reason = models.TextField(_("reason"))
    is_emergency = models.BooleanField(_("emergency"), default=False)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    confirmed_at = models.DateTimeField(null=True, blank=True)

    objects = RollbackQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="rollback_says_why"),
            models.CheckConstraint(
                condition=Q(confirmed_by=None) | ~Q(confirmed_by=F("by")),
                name="rollback_confirmed_by_another",
            ),
        ]
        indexes = [
            models.Index(
                fields=["id"],
                condition=Q(is_emergency=True, confirmed_at=None),
                name="rollback_to_confirm",
            )
        ]

    def __str__(self) -> str:
        return f"{self.version_id} in place of {self.replaced_id}"
