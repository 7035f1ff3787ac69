"""Tests that every page shows a script's risk with one label, icon and color, and never below its worst finding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from catalog.analysis import (
    Level,
    Outcome,
    RatedFinding,
    Risk,
    SideEffect,
    analyse,
    finding_risk,
    risk_level,
)
from pipeline.execution.draft_checks import keep_findings
from pipeline.models import Draft
from review import services as review_services
from review.queue import services as queue
from scriptsmith_site.presentation.findings import read_finding
from tests.catalog.shelf import shelve
from tests.first_cases import first_cases
from tests.make import make_run
from tests.site.browsing import ClientFor

LOW = "#!/usr/bin/env bash\nuptime\n"
MEDIUM = "#!/usr/bin/env bash\nmkdir -p /srv/reports\n"
HIGH = "#!/usr/bin/env bash\nfind /srv/reports -mtime +45 -delete\n"

# The icon and label of each risk, as components/_risk_badge.html renders them.
LOOKS = {
    "low": ("circle", "low risk"),
    "medium": ("diamond", "medium risk"),
    "high": ("triangle", "high risk"),
}
PATHS = {
    "circle": '<circle cx="8" cy="8" r="5.75"/>',
    "diamond": '<path d="m8 2 6 6-6 6-6-6z"/>',
    "triangle": '<path class="solid" d="M8 2.25 14 13.25H2z"/>',
}
MARK = re.compile(
    r'<span class="(?P<kind>badge|risk-mark) risk-(?P<risk>low|medium|high)"[^>]*>'
    r"\s*(?P<icon><svg.*?</svg>)\s*(?P<words>[^<]*)<",
    re.DOTALL,
)


def marks(html: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and risk of each mark on a page, and check the mark's icon and label."""
    for found in MARK.finditer(html):
        icon, words = LOOKS[found["risk"]]
        assert PATHS[icon] in found["icon"], "the icon is another level's"
        assert found["words"].strip() == words
        yield found["kind"], found["risk"]


def said(html: str) -> set[str]:
    """Return the risks that a page shows for scripts."""
    found = [risk for kind, risk in marks(html) if kind == "badge"]
    assert found, "no risk is shown"
    return set(found)


@pytest.mark.parametrize(
    ("script", "risk"), first_cases(1, [(HIGH, "high"), (LOW, "low"), (MEDIUM, "medium")])
)
def test_every_page_says_the_same_of_a_script(
    script: str,
    risk: str,
    curator: User,
    second_curator: User,
    reviewer: User,
    stranger: User,
    client_for: ClientFor,
) -> None:
    verified = shelve(
        "Clear the reports", script=script, author=curator, verified_by=second_curator
    )
    shelve("Clear the reports again", script=script, state="in_review", author=second_curator)
    run = make_run(statement="Clear reports", script=script, by=stranger)
    for draft in Draft.objects.filter(run=run):
        keep_findings(draft, analyse(draft.script))
    item = review_services.take_in(run.pk)
    assignment = queue.claim_item(item, by=reviewer)
    pages = {
        "home": (curator, reverse("home")),
        "catalogue": (stranger, reverse("catalog-list")),
        "entry": (stranger, reverse("entry-detail", args=[verified.entry.slug])),
        "run": (stranger, reverse("run-detail", args=[run.pk])),
        "desk": (reviewer, reverse("item-review", args=[assignment.item.pk])),
    }
    shown = {name: said(client_for(who).get(url).text) for name, (who, url) in pages.items()}
    typed = client_for(stranger).post(reverse("script-check"), {"script": script}).text
    assert {**shown, "while it is typed": said(typed)} == dict.fromkeys(
        [*pages, "while it is typed"], {risk}
    )


def test_a_finding_at_its_line_wears_the_same_mark(stranger: User, client_for: ClientFor) -> None:
    run = make_run(script=HIGH, by=stranger)
    for draft in Draft.objects.filter(run=run):
        keep_findings(draft, analyse(draft.script))
    page = client_for(stranger).get(reverse("run-detail", args=[run.pk])).text
    assert ("risk-mark", "high") in set(marks(page))
    assert 'class="finding risk-high"' in page


def test_script_has_at_least_the_risk_of_its_worst_finding() -> None:
    order = list(Risk)
    passed = RatedFinding("risk", Outcome.PASSED, Level.INFO, "x")
    wrong = []
    for check, level, code in product(
        ("risk", "characters", "shellcheck", "bash-syntax"),
        Level,
        ("destructive", "mutating", "SC2086"),
    ):
        found = RatedFinding(check, Outcome.FAILED, level, code)
        worst = finding_risk(found)
        stored = {"check": check, "outcome": "failed", "level": level.value, "code": code}
        mark = read_finding(stored).finding.mark
        risks = [risk_level([found, passed], SideEffect(one)) for one in ("read_only", "mutating")]
        if min(map(order.index, risks)) < order.index(worst) or mark != (
            "note" if worst is Risk.LOW else worst.value
        ):
            wrong.append((check, level, code, risks, mark))
    assert not wrong
    unscored = {"check": "risk", "outcome": "unscored", "level": "error", "code": "destructive"}
    assert read_finding(unscored).finding.mark == "unscored"


def test_how_much_depends_on_an_action_has_no_look_of_a_risk(as_reviewer: Client) -> None:
    review_services.take_in(make_run(script=HIGH).pk)
    page = as_reviewer.get(reverse("queue")).text
    (mark,) = re.findall(r'<span class="severity-mark severity-\d">.*?</span>', page, re.DOTALL)
    assert "risk" not in mark and not any(path in mark for path in PATHS.values())
