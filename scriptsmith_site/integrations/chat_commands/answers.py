"""Replies to slash commands: links to verified scripts, or a link to request a script. They never contain a script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from catalog.models import Version
from catalog.programs import services as programs
from catalog.types import Answer, Match
from core.errors import BadInput
from pipeline.services import MAX_STATEMENT
from scriptsmith_site.integrations.outbox.transport.channels import neutralise
from scriptsmith_site.integrations.outbox.transport.payloads import shorten
from scriptsmith_site.models import ChatCommand

MOST_MATCHES = 3
# The statement is URL-encoded in the link, and chat programs truncate longer URLs.
_LONGEST_PREFILLED = 300
_EMPTY = frozenset({"", "help", "?"})


@dataclass(frozen=True)
class Said:
    """A reply and its note for the audit log. The note names entries and counts, but quotes no text."""

    text: str
    note: str
    entries: tuple[str, ...] = ()


def answer_to(statement: str, *, kind: str, link: Callable[[str], str]) -> Said:
    """Return the reply for a statement, with links to verified scripts. It never repeats the statement."""
    statement = " ".join(statement.split())
    if statement.lower() in _EMPTY:
        return Said(_("Describe the task, for example: restart nginx"), "help")
    if len(statement) > MAX_STATEMENT:
        return Said(_("That's too long. The limit is %d characters.") % MAX_STATEMENT, "too long")
    try:
        # Chat is outside the product, so hide a study's results until the study is closed.
        found = programs.find_outside(statement, limit=MOST_MATCHES)
    except BadInput as refusal:
        return Said(neutralise(str(refusal)), "refused")
    verified = {
        one.pk: one
        for one in Version.objects.filter(
            pk__in=[match.version_id for match in found.matches], state=Version.State.VERIFIED
        )
    }
    shown = [match for match in found.matches if match.version_id in verified]
    fits = [match for match in shown if match.answer is Answer.MATCH]
    near = [match for match in shown if match.answer is not Answer.MATCH]
    lines = []
    if fits:
        lines.append(_("Verified. Open the link to read and copy the script:"))
        lines += [_line(one, verified[one.version_id], kind, link) for one in fits]
    else:
        lines.append(_("No verified script does this."))
        ask = link(f"{reverse('action-new')}?{_prefilled(statement)}")
        lines.append(_link(_("Request script"), ask, kind))
        if near:
            lines.append(_("Closest entries (verified for a different request):"))
            lines += [_line(one, verified[one.version_id], kind, link) for one in near]
    listed = tuple(match.entry for match in (fits or near))
    return Said("\n".join(lines), f"{'match' if fits else 'no match'}, {len(listed)}", listed)


def _line(match: Match, version: Version, kind: str, link: Callable[[str], str]) -> str:
    title = shorten(match.title)
    where = link(reverse("entry-detail", args=[match.entry]))
    words = [_("risk: %s") % version.get_risk_display()]
    if version.parameters:
        words.append(_("needs values"))
    return f"• {_link(neutralise(title), where, kind)} ({', '.join(words)})"


def _link(words: str, address: str, kind: str) -> str:
    """Return a link in the chat program's markup. `words` are escaped, and the address is a URL of this site."""
    if kind == ChatCommand.Kind.SLACK:
        return f"<{address.replace('&', '&amp;')}|{words}>"
    return f"[{words}]({address})"


def _prefilled(statement: str) -> str:
    return urlencode({"statement": statement[:_LONGEST_PREFILLED]})
