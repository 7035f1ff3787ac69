"""Views to fill in a script, copy it and report the outcome."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from catalog.access import access_use, access_version
from catalog.entries import services
from catalog.entries.use_forms import OutcomeForm, UseForm
from catalog.entries.views.page import show_entry
from catalog.models import Use
from core.errors import BadInput
from core.web.forms import add_refusal
from core.web.requests import wants_fragment


@require_POST
def preview_version(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the script with the values entered so far, without changing anything.

    Uses POST because a value may be a secret and URLs are logged.
    """
    version = access_version(request.user, pk)
    form = UseForm(version, request.POST)
    if not wants_fragment(request):
        return show_entry(request, version.entry, version=version, bound={"use": form})
    filled = services.fill_in(version, form.values())
    context = {"version": version, "filled": filled, "is_begun": True}
    return render(request, "catalog/entries/_filled_script.html", context)


@require_POST
def use_version(request: HttpRequest, pk: int) -> HttpResponse:
    """Record the use and show the exact script, or only a short note if the page has already copied it."""
    version = access_version(request.user, pk)
    assert isinstance(request.user, User)
    form = UseForm(version, request.POST)
    form.is_valid()
    try:
        copied = services.record_use(
            version,
            by=request.user,
            values=form.values(),
            reason=form.cleaned_data.get("reason", ""),
        )
    except BadInput as refusal:
        add_refusal(form, refusal)
        return show_entry(request, version.entry, version=version, bound={"use": form}, status=422)
    if wants_fragment(request):
        return render(request, "catalog/entries/_copied.html", {"use": copied.use})
    response = redirect("use-detail", pk=copied.use.pk)
    response["Location"] += "?copy=1"
    return response


@require_safe
def use_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the script that the user copied, and ask for the outcome."""
    return _show_use(request, access_use(request.user, pk), OutcomeForm())


@require_POST
def rate_use(request: HttpRequest, pk: int) -> HttpResponse:
    """Record the outcome."""
    use = access_use(request.user, pk)
    assert isinstance(request.user, User)
    form = OutcomeForm(request.POST)
    if form.is_valid():
        try:
            rated = services.record_outcome(use, by=request.user, **form.cleaned_data)
        except BadInput as refusal:
            add_refusal(form, refusal)
        else:
            _thank(request, rated)
            return redirect("entry-detail", slug=use.version.entry.slug)
    return _show_use(request, use, form, status=422)


def _show_use(
    request: HttpRequest, use: Use, form: OutcomeForm, *, status: int = 200
) -> HttpResponse:
    context = {
        "nav_section": "catalogue",
        "use": use,
        "version": use.version,
        "entry": use.version.entry,
        "text": services.fill_in(use.version, use.values).text,
        "form": form,
        "copy_now": request.GET.get("copy") == "1",
    }
    return render(request, "catalog/entries/use.html", context, status=status)


def _thank(request: HttpRequest, rated: services.Rated) -> None:
    if rated.use.outcome != Use.Outcome.WORSE:
        messages.success(request, _("Saved. Everyone who opens this script will see it."))
        return
    messages.warning(
        request, _("Entry suspended. It won't be offered until a curator has checked it.")
    )
    if rated.told:
        names = ", ".join(user.get_full_name() or user.username for user in rated.told)
        text = ngettext(
            "%(names)s copied this script in the last seven days and will see a warning.",
            "%(names)s copied this script in the last seven days and will see a warning.",
            len(rated.told),
        )
        messages.warning(request, text % {"names": names})
