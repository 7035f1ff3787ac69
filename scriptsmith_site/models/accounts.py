"""Models of accounts: preferences, sessions, one-time links, API tokens and the security log."""

from __future__ import annotations

from importlib import import_module

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Profile(models.Model):
    """A user's preferences. Without a row, the defaults apply."""

    class Theme(models.TextChoices):
        SYSTEM = "", _("Same as the system")
        LIGHT = "light", _("Light")
        DARK = "dark", _("Dark")

    user = models.OneToOneField(User, models.CASCADE, related_name="profile")
    time_zone = models.CharField(_("time zone"), max_length=60, blank=True)
    theme = models.CharField(
        _("theme"), max_length=5, choices=Theme, default=Theme.SYSTEM, blank=True
    )
    # Keyboard shortcuts that the user changed, by action. See scriptsmith_site.people.preferences.keys.
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


class Session(AbstractBaseSession):
    """A browser session with its user. It replaces Django's session table."""

    user = models.ForeignKey(User, models.CASCADE, null=True, blank=True, related_name="sessions")
    started_at = models.DateTimeField(null=True, blank=True)
    last_seen_at = models.DateTimeField(default=timezone.now)
    address = models.GenericIPAddressField(null=True, blank=True)
    agent = models.CharField(max_length=120, blank=True)
    # The authentication methods that the user passed, such as "password, authenticator app".
    proofs = models.CharField(max_length=200, blank=True)

    def __str__(self) -> str:
        return f"session of {self.user_id}"

    @classmethod
    def get_session_store_class(cls) -> type[SessionBase]:
        """Return the session store for these rows. Django calls this method."""
        store: type[SessionBase] = import_module(settings.SESSION_ENGINE).SessionStore
        return store


class OneTimeLink(models.Model):
    """A link for one user and one purpose that can be used once. Only the hash of its token is stored."""

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
    """An API token that acts for its user within its scopes. Only its hash is stored."""

    class Scope(models.TextChoices):
        READ = "read", _("Read")
        ASK = "ask", _("Request scripts")
        REVIEW = "review", _("Review")
        CURATE = "curate", _("Curate")
        MANAGE = "manage", _("Manage studies")
        METRICS = "metrics", _("Read /metrics only")
        AGENT_READ = "agent_read", _("Agents: find, copy and check verified scripts")
        REPORT_OUTCOME = "report_outcome", _("Agents: report outcomes")
        REQUEST_SCRIPT = "request_script", _("Agents: request scripts")

    user = models.ForeignKey(User, models.CASCADE, related_name="api_tokens")
    name = models.CharField(_("name"), max_length=80)
    sha256 = models.CharField(max_length=64, unique=True)
    prefix = models.CharField(_("starts with"), max_length=12)
    scopes = ArrayField(models.CharField(max_length=20, choices=Scope), verbose_name=_("scopes"))
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    created_by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    scopes__contained_by=[
                        "read",
                        "ask",
                        "review",
                        "curate",
                        "manage",
                        "metrics",
                        "agent_read",
                        "report_outcome",
                        "request_script",
                    ]
                )
                & Q(scopes__len__gte=1),
                name="api_token_scopes_legal",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.prefix}…"

    @property
    def is_live(self) -> bool:
        """Return whether the token is neither revoked nor expired."""
        return self.revoked_at is None and (
            self.expires_at is None or self.expires_at > timezone.now()
        )


class TokenAddress(models.Model):
    """An address from which a token was used. A new address is recorded in the security log."""

    token = models.ForeignKey(ApiToken, models.CASCADE, related_name="addresses")
    address = models.GenericIPAddressField()
    first_used_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["token", "address"], name="token_address_once"),
        ]

    def __str__(self) -> str:
        return f"{self.token_id} from {self.address}"


class GuessCount(models.Model):
    """The number of wrong secrets of one kind from an address or for an account since `since`."""

    class Kind(models.TextChoices):
        SIGN_IN_ADDRESS = "sign-in-address", _("Wrong passwords from one address")
        SIGN_IN_ACCOUNT = "sign-in-account", _("Wrong passwords for one account")
        PRESENT_PASSWORD = "present-password", _("Wrong current passwords in Settings")
        LINK = "link", _("Unknown set-password links")
        TOKEN = "token", _("Unknown API tokens")
        ALERT_SECRET = "alert-secret", _("Wrong alert source secrets")
        SECOND_FACTOR = "second-factor", _("Wrong second-factor codes")
        COMMAND_SECRET = "command-secret", _("Wrong slash command secrets")
        PROVIDER = "provider", _("Unfinished single sign-ons from one address")

    kind = models.CharField(max_length=20, choices=Kind)
    # An address, the ID of an account or the keyed hash of the entered name.
    key = models.CharField(max_length=64)
    user = models.ForeignKey(User, models.CASCADE, null=True, blank=True, related_name="+")
    count = models.PositiveIntegerField(default=0)
    since = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["kind", "key"], name="guess_count_once"),
            models.CheckConstraint(
                condition=Q(
                    kind__in=[
                        "sign-in-address",
                        "sign-in-account",
                        "present-password",
                        "link",
                        "token",
                        "alert-secret",
                        "second-factor",
                        "provider",
                        "command-secret",
                    ]
                ),
                name="guess_count_kind_legal",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}: {self.count}"


class SecurityEvent(models.Model):
    """An entry of the security log. The database prevents changes and early deletion."""

    class Kind(models.TextChoices):
        SIGNED_IN = "signed-in", _("signed in")
        SIGNED_OUT = "signed-out", _("signed out")
        SIGN_IN_FAILED = "sign-in-failed", _("sign-in failed")
        PRESENT_PASSWORD_WRONG = "present-password-wrong", _("wrong current password")
        LOCKED_OUT = "locked-out", _("locked out")
        LOCKOUT_LIFTED = "lockout-lifted", _("lockout lifted")
        PASSWORD_CHANGED = "password-changed", _("password changed")
        PASSWORD_RESET = "password-reset", _("password reset")
        LINK_MADE = "link-made", _("password link created")
        LINK_USED = "link-used", _("password set by link")
        TOKEN_MADE = "token-made", _("token created")
        TOKEN_REVOKED = "token-revoked", _("token revoked")
        TOKEN_NEW_ADDRESS = "token-new-address", _("token used from a new address")
        ROLE_GIVEN = "role-given", _("role assigned")
        ROLE_TAKEN = "role-taken", _("role removed")
        ACCOUNT_MADE = "account-made", _("account created")
        DEACTIVATED = "deactivated", _("account deactivated")
        REACTIVATED = "reactivated", _("account reactivated")
        ANONYMISED = "anonymised", _("account anonymized")
        ADDRESS_SET = "address-set", _("email address changed")
        SESSION_ENDED = "session-ended", _("session ended")
        FACTOR_ADDED = "second-factor-added", _("second factor added")
        FACTOR_REMOVED = "second-factor-removed", _("second factor removed")
        FACTOR_WRONG = "second-factor-wrong", _("wrong second factor")
        CODES_MADE = "recovery-codes-made", _("recovery codes created")
        CODE_USED = "recovery-code-used", _("recovery code used")
        IDENTITY_LINKED = "identity-linked", _("identity linked")
        IDENTITY_REMOVED = "identity-removed", _("identity removed")
        ENTRY_REFUSED = "entry-refused", _("single sign-on refused")

    at = models.DateTimeField(_("when"), default=timezone.now, editable=False)
    kind = models.CharField(_("kind"), max_length=24, choices=Kind)
    # The account concerned, and the account that acted: the same user, an administrator or None if unknown.
    user = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    # For unknown names, four digits of a keyed hash, because users sometimes enter a password as the name.
    unknown_name = models.CharField(_("unknown name"), max_length=8, blank=True)
    detail = models.CharField(_("detail"), max_length=200, blank=True)
    address = models.GenericIPAddressField(_("address"), null=True, blank=True)
    agent = models.CharField(_("user agent"), max_length=120, blank=True)
    request_id = models.CharField(_("request"), max_length=64, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["user", "-id"], name="security_event_user"),
            models.Index(fields=["kind", "-id"], name="security_event_kind"),
            models.Index(fields=["address", "-id"], name="security_event_address"),
            models.Index(fields=["at"], name="security_event_at"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} at {self.at:%Y-%m-%d %H:%M}"
