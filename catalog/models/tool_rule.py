"""Curators' rules for the effects of their team's own tools. Static analysis applies the rules."""

from __future__ import annotations

from django.conf import settings
from django.core.cache import cache
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from catalog.analysis import ToolEffect, ToolRules

CACHE_KEY = "tool-rules"
_KEPT_SECONDS = 5  # cache time, after which other processes apply a changed rule


class ToolRuleQuerySet(models.QuerySet["ToolRule"]):
    def in_force(self) -> ToolRules:
        """Return all rules in the format of static analysis."""
        rules: ToolRules | None = cache.get(CACHE_KEY)
        if rules is None:
            rows = self.order_by("name").values_list("name", "effect")
            rules = {name: ToolEffect(effect) for name, effect in rows}
            cache.set(CACHE_KEY, rules, _KEPT_SECONDS)
        return rules


class ToolRule(models.Model):
    """The effect of a tool or one of its subcommands, such as "deployctl" or "deployctl rollback"."""

    class Effect(models.TextChoices):
        READS = "reads", _("Reads only")
        CHANGES = "changes", _("Changes something")
        DESTROYS = "destroys", _("Destroys something")
        UNKNOWN = "unknown", _("Unknown")

    name = models.CharField(_("command"), max_length=80, unique=True)
    effect = models.CharField(_("effect"), max_length=8, choices=Effect)
    note = models.CharField(_("note"), max_length=500, blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    objects = ToolRuleQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(effect__in=["reads", "changes", "destroys", "unknown"]),
                name="tool_rule_effect_legal",
            )
        ]

    def __str__(self) -> str:
        return self.name
