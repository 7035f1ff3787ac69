"""A page fragment next to the editor with the findings in a script while the user types."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from catalog.analysis import Finding, RatedFinding, Risk, finding_risk
from catalog.entries.services.script_check import CheckerBusy, check_script
from core.errors import BadInput
from core.web.requests import signed_in

_TEMPLATE = "catalog/entries/_script_check.html"
_MOST_SHOWN = 100


@require_POST
def check(request: HttpRequest) -> HttpResponse:
    """Return the findings in the submitted script without storing it. Return status 429 if the checker is busy."""
    person = signed_in(request)
    try:
        done = check_script(request.POST.get("script", "").replace("\r\n", "\n"), by=person)
    except BadInput as refused:
        return render(request, _TEMPLATE, {"problem": str(refused)}, status=422)
    except CheckerBusy as busy:
        return render(request, _TEMPLATE, {"problem": str(busy)}, status=429)
    problems = sorted(done.report.problems, key=_place)
    context = {
        "findings": problems[:_MOST_SHOWN],
        "count": len(problems),
        "more": max(0, len(problems) - _MOST_SHOWN),
        "unjudged": done.report.unscored,
        "risk": done.report.risk.value,
        "coverage": done.report.coverage,
        "rules_only": done.is_by_rules_only,
    }
    return render(request, _TEMPLATE, context)


def _place(found: Finding) -> tuple[int, int]:
    """Return a sort key that orders findings by line, then by severity from high to low."""
    seen = RatedFinding(found.check, found.outcome, found.level, found.code)
    return found.line or 0, -list(Risk).index(finding_risk(seen))
