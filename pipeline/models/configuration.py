"""Endpoint, Price, Configuration: the servers and models for each role, and their prices."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from pipeline.types import CasesUse, Mode, Role


class Endpoint(models.Model):
    """A Messages API server. Only the name of its key variable is stored, never the key."""

    MODES: ClassVar = [(mode.value, mode.label) for mode in Mode]

    name = models.SlugField(_("name"), max_length=50, unique=True)
    title = models.CharField(_("title"), max_length=100)
    # Placeholders for the addresses of the running demo model and of the requested local model.
    DEMO: ClassVar = "demo:"
    LOCAL: ClassVar = "local:"
    base_url = models.CharField(_("base URL"), max_length=300)
    key_variable = models.CharField(
        _("environment variable for the key"), max_length=100, blank=True
    )
    mode = models.CharField(_("mode"), max_length=8, choices=MODES, default=Mode.TEXT.value)
    enabled = models.BooleanField(_("turned on"), default=False)
    demo = models.BooleanField(_("demo model"), default=False)
    takes_temperature = models.BooleanField(_("accepts temperature"), default=False)
    has_batches = models.BooleanField(_("supports Message Batches"), default=False)
    # Texts sent to the endpoint leave this machine although its address is local, for example
    # through a tunnel or a proxy.
    treat_as_remote = models.BooleanField(_("treat as remote"), default=False, db_default=False)
    max_in_flight = models.PositiveIntegerField(_("concurrent calls"), default=8)
    timeout_seconds = models.PositiveIntegerField(_("call timeout in seconds"), default=120)
    # A busy server (429, 503, 529) pauses the endpoint, never a worker's thread.
    blocked_until = models.DateTimeField(_("paused until"), null=True, blank=True)
    blocked_why = models.CharField(_("reason for the pause"), max_length=300, blank=True)
    # Users' runs come before campaigns, but a campaign's call never waits longer than its turn.
    campaign_call_at = models.DateTimeField(null=True, blank=True, editable=False)
    probe = models.JSONField(_("result of the last check"), default=dict, blank=True)
    probed_at = models.DateTimeField(_("checked"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(mode__in=["schema", "tool", "text"]), name="endpoint_mode_legal"
            ),
            models.CheckConstraint(
                condition=Q(max_in_flight__gte=1, timeout_seconds__gte=1),
                name="endpoint_limits_positive",
            ),
        ]
        permissions = [("manage_endpoints", _("Can manage endpoints and configurations"))]

    def __str__(self) -> str:
        return self.title or self.name

    @property
    def is_built_in(self) -> bool:
        """Return whether ScriptSmith runs the server. The server's address then changes with each start."""
        return self.base_url in (self.DEMO, self.LOCAL)

    @property
    def is_on(self) -> bool:
        """Return whether the endpoint is turned on, either on its page or by the setting. A key alone is not enough."""
        return self.enabled or self.name in settings.SCRIPTSMITH_ENDPOINTS


class Price(models.Model):
    """The price of a model from a given day, in micro-dollars per million tokens (1 USD = 1,000,000)."""

    endpoint = models.ForeignKey(Endpoint, models.CASCADE, related_name="prices")
    model = models.CharField(_("model"), max_length=100)
    since = models.DateField(_("since"))
    input = models.PositiveBigIntegerField(_("input"), default=0)
    output = models.PositiveBigIntegerField(_("output"), default=0)
    cache_read = models.PositiveBigIntegerField(_("cache read"), default=0)
    cache_write = models.PositiveBigIntegerField(_("cache write"), default=0)
    source = models.CharField(_("source"), max_length=200, blank=True)

    class Meta:
        ordering = ["endpoint", "model", "-since"]
        constraints = [
            models.UniqueConstraint(fields=["endpoint", "model", "since"], name="price_once_a_day")
        ]

    def __str__(self) -> str:
        return f"{self.model} since {self.since}"


class Configuration(models.Model):
    """The models that generate, assess and refine, and the number of rounds. A Run stores a snapshot of its
    Configuration.
    """

    class Preset(models.TextChoices):
        SELF_REFLECTION = "self_reflection", _("Self-reflection")
        PEER_REVIEW = "peer_review", _("Peer review")
        STRONG_REFINER = "strong_refiner", _("Strong refiner")
        OWN = "own", _("Custom")
        IMPORTED = "imported", _("Imported")

    class Cases(models.TextChoices):
        OFF = CasesUse.OFF.value, _("Off: write no tests")
        RUN = CasesUse.RUN.value, _("Run: write tests from the request and run them")
        FEEDBACK = (
            CasesUse.FEEDBACK.value,
            _("Run and refine: also use failed checks for one refinement"),
        )

    MAX_ROUNDS = 4

    name = models.SlugField(_("name"), max_length=80, unique=True)
    title = models.CharField(_("title"), max_length=150)
    preset = models.CharField(_("preset"), max_length=16, choices=Preset, default=Preset.OWN)
    rounds = models.PositiveSmallIntegerField(_("refinement rounds"), default=1)
    uses_retrieval = models.BooleanField(_("searches the catalogue first"), default=True)
    uses_examples = models.BooleanField(_("shows the closest entries as examples"), default=True)
    cases = models.CharField(
        _("sandbox tests"),
        max_length=8,
        choices=Cases,
        default=Cases.OFF,
        db_default=CasesUse.OFF.value,
    )
    # If an entry's only problem is an uncertain score, the assessor may confirm the match.
    confirms_matches = models.BooleanField(
        _("lets the assessor confirm a match"), default=False, db_default=False
    )
    # Maps the names of pinned prompts to their versions. Other prompts use the built-in version.
    prompts = models.JSONField(_("pinned prompt versions"), default=dict, blank=True)
    note = models.TextField(_("description"), blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    # True for the configuration that is used if a caller names no configuration.
    is_default = models.BooleanField(_("default"), default=False)
    archived_at = models.DateTimeField(_("archived"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(rounds__gte=0, rounds__lte=4), name="configuration_rounds_bounded"
            ),
            models.UniqueConstraint(
                fields=["is_default"],
                condition=Q(is_default=True),
                name="configuration_one_default",
            ),
            models.CheckConstraint(
                condition=Q(
                    preset__in=[
                        "self_reflection",
                        "peer_review",
                        "strong_refiner",
                        "own",
                        "imported",
                    ]
                ),
                name="configuration_preset_legal",
            ),
            models.CheckConstraint(
                condition=Q(cases__in=["off", "run", "feedback"]), name="configuration_cases_legal"
            ),
        ]

    def __str__(self) -> str:
        return self.title


class RoleSetting(models.Model):
    """The endpoint and model for one role of a Configuration."""

    ROLES: ClassVar = [(role.value, role.label) for role in Role]

    configuration = models.ForeignKey(Configuration, models.CASCADE, related_name="roles")
    role = models.CharField(_("role"), max_length=12, choices=ROLES)
    endpoint = models.ForeignKey(Endpoint, models.PROTECT, related_name="+")
    model = models.CharField(_("model"), max_length=100)
    max_tokens = models.PositiveIntegerField(_("maximum output tokens"), default=4096)
    effort = models.CharField(_("effort"), max_length=10, blank=True)
    temperature = models.FloatField(_("temperature"), null=True, blank=True)

    class Meta:
        ordering = ["pk"]  # in the order in which a run uses the roles
        constraints = [
            models.UniqueConstraint(
                fields=["configuration", "role"], name="role_once_a_configuration"
            ),
            models.CheckConstraint(
                condition=Q(role__in=["generator", "assessor", "refiner", "case_author"]),
                name="role_legal",
            ),
            models.CheckConstraint(condition=Q(max_tokens__gte=1), name="role_max_tokens_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.role}: {self.model}"


class PromptVersion(models.Model):
    """A version of a prompt, stored so that it can be read and used later.

    `version` is the first 12 hex digits of the text's SHA-256, as for built-in versions.
    """

    class Source(models.TextChoices):
        FILE = "file", _("Built-in")
        WRITTEN = "written", _("Written here")

    name = models.CharField(_("prompt"), max_length=40)
    version = models.CharField(_("version"), max_length=12)
    text = models.TextField(_("text"))
    source = models.CharField(_("source"), max_length=7, choices=Source, default=Source.FILE)
    note = models.CharField(_("change"), max_length=300, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        ordering = ["name", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["name", "version"], name="prompt_version_once"),
            models.CheckConstraint(
                condition=Q(source__in=["file", "written"]), name="prompt_version_source_legal"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"
