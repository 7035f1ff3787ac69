"""The prompt pages: versions and their uses, differences, and writing a new version."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from core.errors import BadInput
from core.web.forms import add_refusal
from core.web.requests import signed_in
from pipeline.access import MANAGE_ENDPOINTS, access_prompts
from pipeline.configurations import prompt_versions
from pipeline.configurations.prompt_forms import PromptForm
from pipeline.configurations.prompt_versions import VersionUse, uses_of, versions_by_prompt
from pipeline.display_names import stage_label
from pipeline.flow import prompts
from pipeline.flow.stages import order_of
from pipeline.models import PromptVersion


@dataclass(frozen=True)
class ShownPrompt:
    """A prompt in the list."""

    name: str
    stage: str
    current: PromptVersion
    count: int
    slots: list[str]


@require_safe
def prompt_list(request: HttpRequest) -> HttpResponse:
    """List the prompts for the models in the order of the pipeline."""
    user = signed_in(request)
    access_prompts(user)
    shown = [
        ShownPrompt(name, stage_label(name), rows[0], len(rows), sorted(prompts.load(name).slots))
        for name, rows in versions_by_prompt().items()
    ]
    shown.sort(key=lambda one: order_of(one.name))
    return render(request, "pipeline/configurations/prompts/list.html", {"prompts": shown})


@require_safe
def prompt_detail(request: HttpRequest, name: str) -> HttpResponse:
    """Show one prompt: a full version, its differences from another version, and where each version is used."""
    user = signed_in(request)
    access_prompts(user, name)
    uses = uses_of(name)
    new = _chosen(uses, request.GET.get("version", "")) or uses[0]
    old = _chosen(uses, request.GET.get("from", ""))
    context = {
        "name": name,
        "stage": stage_label(name),
        "uses": uses,
        "new": new,
        "old": old if old and old != new else None,
        "side": request.GET.get("view") == "side",
        "may_write": user.has_perm(MANAGE_ENDPOINTS),
    }
    return render(request, "pipeline/configurations/prompts/detail.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def prompt_new(request: HttpRequest, name: str) -> HttpResponse:
    """Show and save the form for a new version, which starts from an existing version."""
    user = signed_in(request)
    access_prompts(user, name, to_write=True)
    if request.method != "POST":
        uses = uses_of(name)
        start = _chosen(uses, request.GET.get("from", "")) or uses[0]
        return _show_form(request, name, PromptForm(initial={"text": start.version.text}))
    form = PromptForm(request.POST)
    if form.is_valid():
        written = _write(name, form, user)
        if written is not None:
            messages.success(
                request,
                _("Saved as version %s. To use it, select this version in a configuration.")
                % written.version,
            )
            return redirect(f"{reverse('prompt-detail', args=[name])}?version={written.version}")
    return _show_form(request, name, form, status=422)


def _write(name: str, form: PromptForm, user: User) -> PromptVersion | None:
    given = form.cleaned_data
    try:
        return prompt_versions.write_prompt(name, text=given["text"], note=given["note"], by=user)
    except BadInput as refusal:
        add_refusal(form, refusal)
        return None


def _chosen(uses: list[VersionUse], version: str) -> VersionUse | None:
    """Return the version named in the URL, or None if it names no version. Raises Http404 for an unknown version."""
    if not version:
        return None
    for use in uses:
        if use.version.version == version:
            return use
    raise Http404


def _show_form(
    request: HttpRequest, name: str, form: PromptForm, *, status: int = 200
) -> HttpResponse:
    context = {
        "name": name,
        "stage": stage_label(name),
        "form": form,
        "slots": [f"<<{slot}>>" for slot in sorted(prompts.load(name).slots)],
    }
    return render(request, "pipeline/configurations/prompts/new.html", context, status=status)
