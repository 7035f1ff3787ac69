"""Pages for the rules that request scripts automatically."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.errors import BadInput, Stale
from core.web.forms import add_refusal, retype
from core.web.requests import signed_in
from scriptsmith_site.integrations.alerts.access import access_rule, access_rules
from scriptsmith_site.integrations.alerts.forms import RuleForm
from scriptsmith_site.integrations.alerts.services import rule_runs, sources
from scriptsmith_site.models import AlertRule


@require_safe
def rule_list(request: HttpRequest) -> HttpResponse:
    """List all rules, each with its number of runs today."""
    rules = access_rules(signed_in(request))
    context = {"rules": [(rule, rule_runs.runs_today(rule)) for rule in rules[:100]]}
    return render(request, "site/alerts/rules.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def rule_new(request: HttpRequest) -> HttpResponse:
    """Create a rule. New rules are off."""
    access_rules(signed_in(request))
    return _edit(request, AlertRule(), RuleForm(request.POST or None))


@require_http_methods(["GET", "HEAD", "POST"])
def rule_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Edit a rule."""
    rule = access_rule(signed_in(request), pk)
    return _edit(request, rule, RuleForm(request.POST or None, initial=RuleForm.initial_of(rule)))


@require_POST
def rule_switch(request: HttpRequest, pk: int) -> HttpResponse:
    """Switch a rule on or off."""
    user = signed_in(request)
    sources.switch_rule(access_rule(user, pk), request.POST.get("on") == "yes", by=user)
    return redirect("alert-rules")


@require_POST
def rule_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what the rule would request for the newest incident, without requesting it."""
    user = signed_in(request)
    rule = access_rule(user, pk)
    trial = rule_runs.try_out(rule, by=user)
    about = {"name": rule.name, "incident": trial.incident and trial.incident.pk}
    if trial.incident is None:
        messages.warning(
            request, _("%(name)s was not tested, because there are no incidents.") % about
        )
    elif not trial.fits:
        messages.warning(request, _("%(name)s does not match incident %(incident)s.") % about)
    elif trial.held:
        words = _("%(name)s matches incident %(incident)s but would not request a script: %(why)s.")
        messages.warning(request, words % {**about, "why": trial.held})
    else:
        words = _("%(name)s would request a script for incident %(incident)s: “%(statement)s”")
        messages.success(request, words % {**about, "statement": trial.statement[:300]})
    return redirect("alert-rules")


def _edit(request: HttpRequest, rule: AlertRule, form: RuleForm) -> HttpResponse:
    status, conflict = 422 if form.is_bound else 200, ""
    if form.is_valid():
        details = dict(form.cleaned_data)
        try:
            seen = details.pop("edition") or 0
            sources.save_rule(rule, by=signed_in(request), seen=seen, **details)
        except BadInput as refusal:
            add_refusal(form, refusal)
        except Stale as stale:
            retype(form, edition=str(stale.newest))
            status, conflict = 409, str(stale)
        else:
            return redirect("alert-rules")
    context = {"form": form, "rule": rule, "stale": conflict}
    return render(request, "site/alerts/rule_form.html", context, status=status)
