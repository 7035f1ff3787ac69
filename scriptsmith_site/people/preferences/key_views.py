"""The page on which users change keyboard shortcuts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from core.errors import BadInput
from core.web.requests import signed_in
from scriptsmith_site.people.preferences import keys
from scriptsmith_site.people.preferences.session import profile_of, remember_preferences


@dataclass(frozen=True)
class KeyField:
    """An action with its current or submitted key."""

    name: str
    label: str | Promise
    original: str
    value: str
    numbered: bool
    error: str


@require_safe
def show_keys(request: HttpRequest) -> HttpResponse:
    """Show every action with its key."""
    return _show(request, keys.keys_of(profile_of(signed_in(request)).keys), {})


@require_POST
def save_keys(request: HttpRequest) -> HttpResponse:
    """Save the submitted keys, or reset all of them. Invalid keys are shown with their errors."""
    user = signed_in(request)
    wanted = {} if "reset" in request.POST else {name: request.POST[name] for name in request.POST}
    try:
        changed = keys.save_keys(user, wanted)
    except BadInput:
        typed = keys.read_keys(wanted)
        return _show(request, typed, keys.find_faults(typed), status=422)
    remember_preferences(request, user)
    messages.success(request, _("Shortcuts saved.") if changed else _("All shortcuts reset."))
    return redirect("settings-keys")


def _show(
    request: HttpRequest,
    values: Mapping[str, str],
    faults: Mapping[str, str],
    *,
    status: int = 200,
) -> HttpResponse:
    groups = [
        (
            group.label,
            [
                KeyField(
                    name=action.name,
                    label=action.label,
                    original=action.key,
                    value=values[action.name],
                    numbered=action.numbered,
                    error=faults.get(action.name, ""),
                )
                for action in group.actions
            ],
        )
        for group in keys.GROUPS
    ]
    context = {
        "groups": groups,
        "faults": len(faults),
        "is_changed": any(values[name] != key for name, key in keys.ORIGINAL.items()),
    }
    return render(request, "people/keys.html", context, status=status)
