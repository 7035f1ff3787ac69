"""The links of the navigation bar and the permissions that they require. A test compares them with the views.

A link is shown to users with one of its permissions. A hidden link has no keyboard shortcut.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from catalog.services import CURATE
from pipeline.access import ASK, MANAGE, MANAGE_ENDPOINTS
from review.services import REVIEW
from scriptsmith_site.people.roles import ADMINISTER, READ_AUDIT_LOG


class Bar(StrEnum):
    """The part of the bar that contains a link."""

    MAIN = "main"
    MENU = "menu"


@dataclass(frozen=True)
class Link:
    """A link: its URL name, its label and its permissions."""

    address: str
    label: str | Promise
    section: str
    needs: tuple[str, ...] = ()  # any of these permissions; if empty, all signed-in users
    bar: Bar = Bar.MAIN
    part: str = ""  # ID of a part of the page

    def is_for(self, user: User) -> bool:
        """Return whether the user may open the link."""
        return not self.needs or any(user.has_perm(one) for one in self.needs)

    @cached_property
    def url(self) -> str:
        return reverse(self.address) + (f"#{self.part}" if self.part else "")


LINKS = (
    Link("home", _("Home"), "home"),
    Link("action-new", _("Request script"), "new", (ASK,)),
    Link("queue", _("Queue"), "queue", (REVIEW,)),
    Link("incident-list", _("Incidents"), "incidents", (ASK, REVIEW)),
    Link("action-list", _("Requests"), "actions"),
    Link("catalog-list", _("Catalogue"), "catalogue"),
    Link("study-list", _("My studies"), "studies", (REVIEW,)),
    Link("campaign-list", _("Studies"), "campaigns", (MANAGE,)),
    Link("cost", _("Cost"), "cost", (MANAGE, MANAGE_ENDPOINTS)),
    Link("users", _("Users"), "admin", (ADMINISTER,), Bar.MENU),
    Link("endpoint-list", _("Endpoints"), "admin", (MANAGE_ENDPOINTS,), Bar.MENU),
    Link("configuration-list", _("Configurations"), "admin", (MANAGE_ENDPOINTS,), Bar.MENU),
    Link("prompt-list", _("Prompts"), "admin", (ASK, MANAGE, MANAGE_ENDPOINTS), Bar.MENU),
    Link("integrations", _("Integrations"), "admin", (ADMINISTER,), Bar.MENU),
    Link("operation", _("Operation"), "admin", (ADMINISTER,), Bar.MENU),
    Link("audit", _("Audit log"), "admin", (READ_AUDIT_LOG,), Bar.MENU),
    Link("admin:index", _("Records"), "admin", (ADMINISTER, CURATE), Bar.MENU),
)

# Pages and commands that the search offers in addition to the navigation bar.
COMMANDS = (
    Link("entry-new", _("New entry"), "catalogue", (CURATE,)),
    Link("catalog-import", _("Import entries"), "catalogue", (CURATE,)),
    Link("catalog-export", _("Export entries"), "catalogue"),
    Link("calibration", _("Calibration"), "catalogue", (CURATE, MANAGE)),
    Link("wording-list", _("Phrasings to confirm"), "catalogue", (CURATE,)),
    Link("duplicate-list", _("Near-duplicates"), "catalogue", (CURATE,)),
    Link("finding-list", _("Changed findings"), "catalogue", (CURATE,)),
    Link("tool-list", _("Team tools"), "catalogue", (CURATE,)),
    Link("evidence-list", _("Changed test results"), "catalogue", (CURATE,)),
    Link("outcome-report-list", _("Automated reports"), "catalogue", (CURATE,)),
    Link("mirror-branches", _("Mirror branches"), "catalogue", (CURATE,)),
    Link("campaign-new", _("New study"), "campaigns", (MANAGE,)),
    Link("flag-list", _("Flags"), "campaigns", (MANAGE,)),
    Link("queue-execution", _("Sandbox results in the review queue"), "campaigns", (MANAGE,)),
    Link("user-new", _("New account"), "admin", (ADMINISTER,)),
    Link("endpoint-new", _("New endpoint"), "admin", (MANAGE_ENDPOINTS,)),
    Link("configuration-new", _("New configuration"), "admin", (MANAGE_ENDPOINTS,)),
    Link("operation", _("Workers"), "admin", (ADMINISTER,), part="workers"),
    Link("operation", _("Backlog"), "admin", (ADMINISTER,), part="backlog"),
    Link("operation", _("Backup and disk"), "admin", (ADMINISTER,), part="storage"),
    Link("operation", _("Semantic search"), "admin", (ADMINISTER,), part="vectors"),
    Link("operation", _("Offline copy"), "admin", (ADMINISTER,), part="copies"),
    Link("audit-security", _("Security log"), "admin", (ADMINISTER,)),
    Link("alert-sources", _("Alert sources"), "admin", (ADMINISTER,)),
    Link("alert-rules", _("Alert rules"), "admin", (ADMINISTER,)),
    Link("agents", _("Agents"), "admin", (ADMINISTER,)),
    Link("chat-commands", _("Slash commands"), "admin", (ADMINISTER,)),
    Link("destination-list", _("Webhooks and channels"), "admin", (ADMINISTER,)),
    Link("single-sign-on", _("Single sign-on"), "admin", (ADMINISTER,)),
    Link("mirror", _("Git mirror"), "admin", (ADMINISTER,)),
    Link("mail-door", _("Email"), "admin", (ADMINISTER,)),
    Link("settings", _("Settings"), ""),
    Link("sessions", _("Sessions"), ""),
    Link("second-factor", _("Second factor"), ""),
    Link("settings-keys", _("Keyboard shortcuts"), ""),
    Link("notification-list", _("Notifications"), ""),
    Link("help", _("Help"), ""),
    Link("api-docs", _("API"), ""),
)


def links_for(user: User, bar: Bar) -> Iterator[Link]:
    """Return the links of one part of the bar that the user may open, in order."""
    return (link for link in LINKS if link.bar is bar and link.is_for(user))
