"""The configuration pages: the list, creation from a preset or a copy, changes and archiving."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.errors import BadInput, NotAllowedNow, Stale
from core.web.requests import signed_in
from pipeline.access import access_configuration, access_configurations, access_endpoints
from pipeline.configurations import services
from pipeline.configurations.case_gain import case_gain_of
from pipeline.configurations.forms import MODELS_LIST, ConfigurationForms, PresetForm
from pipeline.configurations.plans import Plan, plan_of, players_for
from pipeline.configurations.prompt_versions import versions_by_prompt
from pipeline.configurations.refinement_gain import gain_of
from pipeline.configurations.services import edition_of, is_fixed, is_usable, known_models
from pipeline.models import Configuration, Endpoint


@dataclass(frozen=True)
class ShownConfiguration:
    """A configuration, its number of runs, and whether new runs can use it."""

    configuration: Configuration
    usable: bool
    runs: int


@require_safe
def configuration_list(request: HttpRequest) -> HttpResponse:
    """List the configurations with their models and rounds, active configurations first."""
    found = access_configurations(signed_in(request), to_manage=True)
    found = found.annotate(run_count=Count("runs")).order_by("name")
    shown = [ShownConfiguration(one, is_usable(one), one.run_count) for one in found]
    shown.sort(key=lambda one: one.configuration.archived_at is not None)
    return render(request, "pipeline/configurations/list.html", {"configurations": shown})


@require_http_methods(["GET", "HEAD", "POST"])
def configuration_new(request: HttpRequest) -> HttpResponse:
    """Create a configuration. The user first chooses a preset or a configuration to copy, then edits and saves."""
    user = signed_in(request)
    endpoints = _endpoints(user)
    if request.method == "POST":
        forms = _forms(endpoints, request.POST, is_new=True)
        made = _create(forms, user) if forms.is_valid() else None
        if made is None:
            return _show(request, forms, status=422)
        messages.success(request, _("“%s” saved. You can now start runs with it.") % made)
        return redirect("configuration-detail", name=made.name)
    if "from" in request.GET:
        return _show(request, _forms_like(user, str(request.GET["from"]), endpoints))
    if "preset" not in request.GET:
        return _show_presets(request, PresetForm(endpoints=endpoints))
    form = PresetForm(request.GET, endpoints=endpoints)
    if not form.is_valid():
        return _show_presets(request, form, status=422)
    first, second = form.players()
    plan = Plan(players=players_for(form.cleaned_data["preset"], first=first, second=second))
    return _show(request, _forms(endpoints, plan=plan, is_new=True))


@require_http_methods(["GET", "HEAD", "POST"])
def configuration_detail(request: HttpRequest, name: str) -> HttpResponse:
    """View and change one configuration."""
    user = signed_in(request)
    configuration = access_configuration(user, name)
    endpoints = _endpoints(user)
    if request.method != "POST":
        return _show(request, _forms_of(configuration, endpoints), configuration)
    # A run may have started in the meantime, so the form data shows whether the form contained the plan.
    forms = _forms(endpoints, request.POST, is_fixed="rounds" not in request.POST)
    status = 422
    if forms.is_valid():
        given = forms.about.cleaned_data
        try:
            services.update_configuration(
                configuration,
                title=given["title"],
                note=given["note"],
                plan=forms.plan(),
                by=user,
                seen=given["edition"],
            )
        except BadInput as refusal:
            forms.add_refusal(refusal)
        except NotAllowedNow as refusal:
            if isinstance(refusal, Stale):
                forms.accept_edition(refusal.newest)
            forms.about.add_error(None, str(refusal))
            status = 409
        else:
            messages.success(request, _("Saved."))
            return redirect("configuration-detail", name=name)
    return _show(request, forms, configuration, status=status)


@require_POST
def configuration_default(request: HttpRequest, name: str) -> HttpResponse:
    """Make a configuration the default."""
    return _do(request, name, services.make_default, _("Configuration set as default."))


@require_POST
def configuration_archive(request: HttpRequest, name: str) -> HttpResponse:
    """Archive a configuration."""
    return _do(
        request,
        name,
        services.archive_configuration,
        _("Configuration archived. Its runs are kept."),
    )


@require_POST
def configuration_unarchive(request: HttpRequest, name: str) -> HttpResponse:
    """Restore a configuration, so that new runs can use it."""
    return _do(request, name, services.unarchive_configuration, _("Configuration unarchived."))


def _do(request: HttpRequest, name: str, service: Callable[..., None], done: str) -> HttpResponse:
    user = signed_in(request)
    configuration = access_configuration(user, name)
    try:
        service(configuration, by=user)
    except NotAllowedNow as refusal:
        forms = _forms_of(configuration, _endpoints(user))
        return _show(request, forms, configuration, refusal=str(refusal), status=409)
    messages.success(request, done)
    return redirect("configuration-detail", name=name)


def _create(forms: ConfigurationForms, user: User) -> Configuration | None:
    plan = forms.plan()
    assert forms.name is not None and plan is not None
    given = forms.about.cleaned_data
    try:
        return services.create_configuration(
            forms.name.cleaned_data["name"],
            title=given["title"],
            note=given["note"],
            plan=plan,
            by=user,
        )
    except BadInput as refusal:
        forms.add_refusal(refusal)
        return None


def _endpoints(user: User) -> list[Endpoint]:
    """Return every endpoint, usable endpoints first. Other endpoints are marked as off but can be chosen."""
    return sorted(access_endpoints(user), key=lambda endpoint: not endpoint.is_on)


def _forms(
    endpoints: list[Endpoint],
    data: QueryDict | None = None,
    *,
    about: dict[str, object] | None = None,
    plan: Plan | None = None,
    is_new: bool = False,
    is_fixed: bool = False,
) -> ConfigurationForms:
    return ConfigurationForms(
        data,
        endpoints=endpoints,
        versions={} if is_fixed else versions_by_prompt(),
        about=about,
        plan=plan,
        is_new=is_new,
        is_fixed=is_fixed,
    )


def _forms_of(configuration: Configuration, endpoints: list[Endpoint]) -> ConfigurationForms:
    about: dict[str, object] = {
        "title": configuration.title,
        "note": configuration.note,
        "edition": edition_of(configuration),
    }
    plan, fixed = plan_of(configuration), is_fixed(configuration)
    return _forms(endpoints, about=about, plan=plan, is_fixed=fixed)


def _forms_like(user: User, name: str, endpoints: list[Endpoint]) -> ConfigurationForms:
    """Return the forms for a new configuration with another configuration's plan."""
    model = access_configuration(user, name)
    about: dict[str, object] = {
        "name": f"{model.name[:70]}-copy",
        "title": _("%s, changed") % model.title,
        "note": model.note,
    }
    return _forms(endpoints, about=about, plan=plan_of(model), is_new=True)


def _show_presets(request: HttpRequest, form: PresetForm, *, status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "others": access_configurations(signed_in(request), to_manage=True)
        .filter(archived_at=None)
        .exclude(preset=Configuration.Preset.IMPORTED),
        "models_list": MODELS_LIST,
        "models": known_models(),
    }
    return render(request, "pipeline/configurations/preset.html", context, status=status)


def _show(
    request: HttpRequest,
    forms: ConfigurationForms,
    configuration: Configuration | None = None,
    *,
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    context: dict[str, object] = {
        "forms": forms,
        "configuration": configuration,
        "refusal": refusal,
        "models_list": MODELS_LIST,
        "models": known_models(),
    }
    if configuration is not None:
        context |= {
            "usable": is_usable(configuration),
            "runs": configuration.runs.count(),
            "gain": gain_of(configuration),
            "case_gain": case_gain_of(configuration)
            if configuration.cases == Configuration.Cases.FEEDBACK
            else None,
        }
    return render(request, "pipeline/configurations/detail.html", context, status=status)
