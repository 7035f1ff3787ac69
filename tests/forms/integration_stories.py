"""Form stories for integrations with other systems."""

from __future__ import annotations

from auditlog.models import LogEntry
from django.utils import timezone

from catalog.models import OutcomeReport
from scriptsmith_site.models import AgentPause, Door
from tests.catalog.shelf import shelve
from tests.forms.story import Story, World, now

AGENTS = "integrations/agents.html"


def the_page(world: World) -> str:
    shelve("Show how long the machine has been up")
    return "/integrations/agents/"


def paused(world: World) -> str:
    AgentPause.objects.create(by=world.me)
    return "/integrations/agents/"


def paused_mail(world: World) -> str:
    Door.objects.create(name="mail", paused_at=timezone.now())
    return "/integrations/mail/"


def a_report_of_a_program(world: World) -> str:
    world.report = OutcomeReport.objects.create(
        version=shelve(),
        by=world.person("stranger"),
        token="pipeline",
        outcome="worse",
        incident="INC-7",
        note="<b>everything</b> went down",
    )
    return "/catalogue/outcome-reports/"


INTEGRATIONS = {
    (AGENTS, "administrator"): [
        Story(
            the_page,
            "agents-test",
            "Test now",
            {"statement": "show how long the machine has been up"},
        ).then(
            lambda w: (
                "show-how-long-the-machine-has-been-up" in w.text
                and LogEntry.objects.filter(
                    additional_data__event="agent called find_script", actor=w.me
                ).count()
                == 1
            )
        ),
        Story(the_page, "agents-pause", "Pause").then(
            lambda w: AgentPause.objects.get().by == w.me and "receive no results" in w.text
        ),
        Story(paused, "agents-resume", "Resume").then(lambda w: not AgentPause.objects.exists()),
    ],
    ("integrations/notifications/mail_door.html", "administrator"): [
        Story(paused_mail, "mail-resume", "Resume").then(
            lambda w: Door.objects.get().paused_at is None
        )
    ],
    ("catalog/programs/outcome_reports.html", "curator"): [
        Story(a_report_of_a_program, "outcome-report-seen", "Seen").then(
            lambda w: (
                now(w.report).seen_by == w.me
                and now(w.report.version.entry).suspended_at is None
                and "No automated reports" in w.text
            )
        )
    ],
}
