"""What the site keeps about people: their preferences, one-time links and API tokens."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Profile(models.Model):
    """A person's preferences; where there is no row, the defaults hold."""

    class Theme(models.TextChoices):
        SYSTEM = "", _("As the system")
        LIGHT = "light", _("Light")
        DARK = "dark", _("Dark")

    user = models.OneToOneField(User, models.CASCADE, related_name="profile")
    time_zone = models.CharField(_("time zone"), max_length=60, blank=True)
    theme = models.CharField(
        _("theme"), max_length=5, choices=Theme, default=Theme.SYSTEM, blank=True
    )
    # Action to key, where the person changed it; see scriptsmith_site.people.keys.
    keys = models.JSONField(
        _("keys"), default=dict, db_default=models.Value({}, models.JSONField()), blank=True
    )
    service_account = models.BooleanField(_("service account"), default=False)

    class Meta:
        permissions = [("administer", _("Can administer users, settings and the audit log"))]
        constraints = [
            models.CheckConstraint(
                condition=Q(theme__in=["", "light", "dark"]), name="profile_theme_legal"
            ),
        ]

    def __str__(self) -> str:
        return f"Profile of {self.user_id}"


class OneTimeLink(models.Model):
    """A link that lets one person do one thing once; only the hash of its token is kept."""

    class Purpose(models.TextChoices):
        SET_PASSWORD = "set-password", _("Set a password")

    user = models.ForeignKey(User, models.CASCADE, related_name="one_time_links")
    purpose = models.CharField(max_length=20, choices=Purpose, default=Purpose.SET_PASSWORD)
    token_sha256 = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(purpose__in=["set-password"]), name="one_time_link_purpose_legal"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} for {self.user_id}"


class ApiToken(models.Model):
    """A key to the API: acts for its user, within its scopes. Only its hash is kept."""

    class Scope(models.TextChoices):
        READ = "read", _("Read")
        ASK = "ask", _("Ask for scripts")
        REVIEW = "review", _("Review")
        CURATE = "curate", _("Curate")
        MANAGE = "manage", _("Manage campaigns")

    user = models.ForeignKey(User, models.CASCADE, related_name="api_tokens")
    name = models.CharField(_("name"), max_length=80)
    sha256 = models.CharField(max_length=64, unique=True)
    prefix = models.CharField(_("begins with"), max_length=12)
    scopes = ArrayField(models.CharField(max_length=10, choices=Scope), verbose_name=_("scopes"))
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    created_by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(scopes__contained_by=["read", "ask", "review", "curate", "manage"])
                & Q(scopes__len__gte=1),
                name="api_token_scopes_legal",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.prefix}…"

    @property
    def is_live(self) -> bool:
        """Whether it opens anything now."""
        return self.revoked_at is None and (
            self.expires_at is None or self.expires_at > timezone.now()
        )
