"""Models for a reviewer's work on an item: Assignment, SentBack, Scratch, Reveal, Flag and Remark."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from pipeline.models import Draft
from review.models.item import Item


class Assignment(models.Model):
    """The assignment of one Item to one reviewer, with a lease while active."""

    class State(models.TextChoices):
        ACTIVE = "active", _("Active")
        # The reviewer continues with other items while feedback and refinement are created for this item.
        WAITING = "waiting", _("Waiting for feedback")
        SUBMITTED = "submitted", _("Submitted")
        SKIPPED = "skipped", _("Skipped")
        CANNOT_JUDGE = "cannot_judge", _("Cannot judge")
        RELEASED = "released", _("Released")
        EXPIRED = "expired", _("Expired")

    HOLDING = (State.ACTIVE, State.WAITING, State.SUBMITTED)
    # All states that are not in HOLDING.
    LET_GO = (State.SKIPPED, State.CANNOT_JUDGE, State.RELEASED, State.EXPIRED)
    # States that require a reason. Another reviewer then gets the item.
    PASSED_OVER = (State.SKIPPED, State.CANNOT_JUDGE)
    # States that are neither active nor finished. The same reviewer may get the item again.
    LOOSE = (State.WAITING, State.RELEASED, State.EXPIRED)

    class Reason(models.TextChoices):
        QUEUE = "queue", _("From the queue")
        NAMED = "named", _("Assigned by name")
        TIE_BREAK = "tie_break", _("To break a tie")
        TAKE_OVER = "take_over", _("Taken over")
        IMPORTED = "imported", _("Imported")

    # The index on item and reviewer covers this key.
    item = models.ForeignKey(Item, models.CASCADE, related_name="assignments", db_index=False)
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="assignments", db_index=False
    )
    state = models.CharField(max_length=12, choices=State, default=State.ACTIVE)
    reason = models.CharField(max_length=9, choices=Reason, default=Reason.QUEUE)
    position = models.PositiveIntegerField(default=0)
    # After a second tab takes over, requests from the first tab have an old fence and are rejected.
    fence = models.PositiveIntegerField(default=1)
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)
    why = models.TextField(_("reason"), blank=True)
    # Number of inactive periods longer than the idle limit. `active_seconds` excludes these periods.
    pauses = models.PositiveIntegerField(default=0)
    active_seconds = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["item", "reviewer"],
                condition=Q(state__in=["active", "waiting", "submitted"]),
                name="assignment_once_an_item_and_reviewer",
            ),
            models.CheckConstraint(
                condition=Q(
                    state__in=[
                        "active",
                        "waiting",
                        "submitted",
                        "skipped",
                        "cannot_judge",
                        "released",
                        "expired",
                    ]
                ),
                name="assignment_state_legal",
            ),
            models.CheckConstraint(
                condition=Q(reason__in=["queue", "named", "tie_break", "take_over", "imported"]),
                name="assignment_reason_legal",
            ),
            models.CheckConstraint(
                condition=~Q(state="active") | Q(lease_until__isnull=False),
                name="assignment_active_has_lease",
            ),
        ]
        indexes = [
            models.Index(
                fields=["lease_until"], name="assignment_leases", condition=Q(state="active")
            ),
            models.Index(fields=["item", "reviewer"], name="assignment_of_item"),
            models.Index(fields=["reviewer", "state"], name="assignment_of_reviewer"),
            # Finds a reviewer's last position. Imported assignments have no position, so they are not indexed.
            models.Index(
                fields=["reviewer", "id"],
                name="assignment_last_of_reviewer",
                condition=Q(position__gt=0),
            ),
            # Finds a reviewer's recent work without reading years of assignments.
            models.Index(
                fields=["reviewer", "ended_at"],
                name="assignment_done_by_reviewer",
                condition=Q(state="submitted"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer_id} on item {self.item_id}"


class SentBack(models.Model):
    """A manager's request, with a reason, that a reviewer check an item again. Existing scores are preserved."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="sent_back")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    why = models.TextField(_("reason"))
    at = models.DateTimeField(default=timezone.now)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "sent back"
        constraints = [
            models.CheckConstraint(condition=~Q(why=""), name="sent_back_has_reason"),
            models.UniqueConstraint(
                fields=["assignment"], condition=Q(answered_at=None), name="sent_back_one_open"
            ),
        ]

    def __str__(self) -> str:
        return self.why[:60]


class Scratch(models.Model):
    """Autosaved text that a reviewer has not submitted yet. The text survives closed tabs and lost sessions."""

    item = models.ForeignKey(Item, models.CASCADE, related_name="scratches")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="scratches")
    fields = models.JSONField(default=dict)
    revision = models.PositiveIntegerField(default=0)
    saved_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "scratches"
        constraints = [
            models.UniqueConstraint(
                fields=["item", "reviewer"], name="scratch_once_an_item_and_reviewer"
            )
        ]

    def __str__(self) -> str:
        return f"Scratch of {self.reviewer_id} on item {self.item_id}"


class Reveal(models.Model):
    """A reviewer's request to see hidden information before scoring. Append-only."""

    class What(models.TextChoices):
        VERDICT = "verdict", _("Verdict and feedback")
        MODELS = "models", _("Model names")
        REVIEWERS = "reviewers", _("Other reviewers")
        EXECUTION = "execution", _("Execution result")
        REFERENCE = "reference", _("Reference script")

    item = models.ForeignKey(Item, models.CASCADE, related_name="reveals")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    what = models.CharField(max_length=9, choices=What)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "reviewer", "what"], name="reveal_once"),
            models.CheckConstraint(
                condition=Q(what__in=["verdict", "models", "reviewers", "execution", "reference"]),
                name="reveal_what_legal",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer_id} saw {self.what} of item {self.item_id}"


class Flag(models.Model):
    """A reviewer's report of a problem with an item. A manager resolves the report."""

    item = models.ForeignKey(Item, models.CASCADE, related_name="flags")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    reason = models.TextField(_("reason"))
    at = models.DateTimeField(default=timezone.now)
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    resolution = models.TextField(_("resolution"), blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [models.CheckConstraint(condition=~Q(reason=""), name="flag_has_reason")]

    def __str__(self) -> str:
        return self.reason[:60]


class Remark(models.Model):
    """A reviewer's comment on a line of a Draft. Removed comments are marked, not deleted."""

    item = models.ForeignKey(Item, models.CASCADE, related_name="remarks")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    draft = models.ForeignKey(Draft, models.CASCADE, related_name="remarks")
    line = models.PositiveIntegerField(_("line"))
    text = models.TextField(_("comment"))
    at = models.DateTimeField(default=timezone.now)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("comment on a line")
        verbose_name_plural = _("comments on lines")
        ordering = ["line", "pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(text="") & Q(line__gte=1), name="remark_on_a_line")
        ]

    def __str__(self) -> str:
        return f"Line {self.line}: {self.text[:60]}"
