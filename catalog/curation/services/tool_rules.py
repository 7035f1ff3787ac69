"""Services for tool rules, in which curators describe the effects of their team's own tools."""

from __future__ import annotations

import re

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.access import CURATE, require
from catalog.models import ToolRule
from catalog.models.tool_rule import CACHE_KEY
from core.audit import record
from core.database.advisory_lock import lock_name
from core.errors import BadInput
from core.texts import check_text

MOST_RULES = 200
_NAME = re.compile(r"[\w./+@-]+( [\w.:][\w.:-]*){0,3}", re.ASCII)


@transaction.atomic
def save_tool_rule(
    rule: ToolRule | None, *, name: str, effect: str, note: str = "", by: User
) -> ToolRule:
    """Update the rule, or add a rule if `rule` is None. Raises BadInput."""
    require(by, CURATE)
    name = _checked_name(name, rule)
    if effect not in ToolRule.Effect.values:
        raise BadInput(_("Choose an effect."), field="effect")
    note = check_text(note.strip(), field="note", most=500)
    if rule is None:
        if ToolRule.objects.count() >= MOST_RULES:
            raise BadInput(
                _("There are already %(most)d rules. Remove one first.") % {"most": MOST_RULES}
            )
        event, rule = "tool rule added", ToolRule()
    else:
        event = "tool rule changed"
    before = (rule.name, rule.effect, rule.note)
    rule.name, rule.effect, rule.note = name, effect, note
    rule.by, rule.at = by, timezone.now()
    rule.save()
    fields = zip(("name", "effect", "note"), before, (name, effect, note), strict=True)
    record(rule, event, by=by, **{key: (old, new) for key, old, new in fields if old != new})
    _forget()
    return rule


@transaction.atomic
def remove_tool_rule(rule: ToolRule, *, by: User) -> None:
    """Remove the rule. Background tasks then check the scripts again without the rule."""
    require(by, CURATE)
    record(rule, "tool rule removed", by=by, name=(rule.name, ""), effect=(rule.effect, ""))
    rule.delete()
    _forget()


def _checked_name(name: str, rule: ToolRule | None) -> str:
    name = " ".join(check_text(name, field="name", most=80).split())
    if not name:
        raise BadInput(_("Enter a command."), field="name")
    if not _NAME.fullmatch(name) or name.startswith("-"):
        raise BadInput(
            _("Enter a command and up to three subcommands, without options or quotes."),
            field="name",
        )
    lock_name(f"tool rule {name}")
    if name != (rule.name if rule else "") and ToolRule.objects.filter(name=name).exists():
        raise BadInput(_("This command already has a rule. Edit that rule."), field="name")
    return name


def _forget() -> None:
    cache.delete(CACHE_KEY)
    transaction.on_commit(lambda: cache.delete(CACHE_KEY))
