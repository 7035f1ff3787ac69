"""The webhook for chat programs, without sessions and CSRF tokens, and the administration pages."""

from __future__ import annotations

from functools import partial

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.errors import BadInput, NotAllowedNow, Refused, Stale
from core.web.forms import add_refusal, retype
from core.web.requests import signed_in
from core.web.site_address import site_url
from scriptsmith_site.integrations.chat_commands import intake, services
from scriptsmith_site.integrations.chat_commands.access import access_command, access_commands
from scriptsmith_site.integrations.chat_commands.forms import CommandForm, TestForm
from scriptsmith_site.models import ChatCommand
from scriptsmith_site.people.sign_in.guess_limits import TooManyAttempts


@csrf_exempt  # The view uses a signature or token and ignores cookies.
@login_not_required
def answer_command(request: HttpRequest, pk: int) -> HttpResponse:
    """Answer a slash command. Only its sender sees the reply."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    link = partial(site_url, request=request)
    try:
        said = intake.receive(intake.Request(pk, lambda: _read(request), request.headers, link))
    except intake.Refused as refusal:
        return _refuse(refusal.status, refusal.reason)
    except TooManyAttempts as refusal:
        answer = _refuse(429, str(refusal))
        answer["Retry-After"] = str(refusal.seconds)
        return answer
    return JsonResponse({"response_type": "ephemeral", "text": said})


def _refuse(status: int, reason: str) -> HttpResponse:
    return JsonResponse({"error": {"code": "refused", "message": reason}}, status=status)


def _read(request: HttpRequest) -> bytes:
    """Return the raw body, because signatures cover every byte."""
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise intake.Refused(415, "compressed bodies are not supported")
    if request.content_type != "application/x-www-form-urlencoded":
        raise intake.Refused(401, intake.UNKNOWN)  # chat programs always send forms
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > intake.MOST_BYTES:
        raise intake.Refused(413, f"the body is too large; the limit is {intake.MOST_BYTES} bytes")
    body = request.body
    if len(body) > intake.MOST_BYTES:
        raise intake.Refused(413, f"the body is too large; the limit is {intake.MOST_BYTES} bytes")
    return body


@require_safe
def command_list(request: HttpRequest) -> HttpResponse:
    """List all commands with their latest results."""
    found = access_commands(signed_in(request))
    context = {"commands": found, "kinds": ChatCommand.Kind.choices, "nav_section": "admin"}
    return render(request, "integrations/chat_commands/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def command_new(request: HttpRequest, kind: str) -> HttpResponse:
    """Create a command."""
    user = signed_in(request)
    access_commands(user)
    if kind not in ChatCommand.Kind.values:
        raise Http404
    form = CommandForm(request.POST or None, kind=kind, is_new=True)
    if form.is_valid():
        try:
            secret = form.cleaned_data["secret"]
            made = services.add_command(kind, by=user, details=form.details(), secret=secret)
        except BadInput as refusal:
            add_refusal(form, refusal)
        else:
            return redirect("chat-command", pk=made.pk)
    return _show_form(request, form, ChatCommand(kind=kind))


@require_http_methods(["GET", "HEAD", "POST"])
def command_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Edit a command."""
    user = signed_in(request)
    command = access_command(user, pk)
    names = ("name", "team", "requests_per_minute", "edition")
    initial = {name: getattr(command, name) for name in names}
    form = CommandForm(request.POST or None, kind=command.kind, is_new=False, initial=initial)
    if form.is_valid():
        try:
            services.change_command(
                command,
                by=user,
                details=form.details(),
                secret=form.cleaned_data["secret"],
                seen=form.cleaned_data["edition"] or 0,
            )
        except BadInput as refusal:
            add_refusal(form, refusal)
        except Stale as stale:
            retype(form, edition=str(stale.newest))
            return _show_form(request, form, command, stale=str(stale))
        else:
            return redirect("chat-command", pk=pk)
    return _show_form(request, form, command)


def _show_form(
    request: HttpRequest, form: CommandForm, command: ChatCommand, *, stale: str = ""
) -> HttpResponse:
    context = {"form": form, "command": command, "stale": stale, "nav_section": "admin"}
    status = 409 if stale else 422 if form.is_bound else 200
    return render(request, "integrations/chat_commands/form.html", context, status=status)


@require_safe
def command_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one command."""
    return _show(request, access_command(signed_in(request), pk), TestForm())


def _show(
    request: HttpRequest, command: ChatCommand, form: TestForm, *, said: str = "", problem: str = ""
) -> HttpResponse:
    command.refresh_from_db()
    context = {
        "command": command,
        "url": site_url(reverse("chat-command-call", args=[command.pk]), request),
        "form": form,
        "said": said,
        "problem": problem,
        "nav_section": "admin",
    }
    status = 422 if form.errors else 409 if problem else 200
    return render(request, "integrations/chat_commands/detail.html", context, status=status)


@require_POST
def command_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Run the command with a test statement and show the reply."""
    user = signed_in(request)
    command = access_command(user, pk)
    form = TestForm(request.POST)
    if not form.is_valid():
        return _show(request, command, form)
    try:
        said = services.test_command(command, by=user, statement=form.cleaned_data["statement"])
    except (NotAllowedNow, Refused) as refusal:
        return _show(request, command, form, problem=str(refusal))
    return _show(request, command, form, said=said)


@require_POST
def command_pause(request: HttpRequest, pk: int) -> HttpResponse:
    """Pause a command. Its reply then says that it is paused."""
    user = signed_in(request)
    services.set_paused(access_command(user, pk), True, by=user)
    return redirect("chat-command", pk=pk)


@require_POST
def command_resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Resume a command."""
    user = signed_in(request)
    services.set_paused(access_command(user, pk), False, by=user)
    return redirect("chat-command", pk=pk)


@require_POST
def command_remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a command and its secret."""
    user = signed_in(request)
    services.remove_command(access_command(user, pk), by=user)
    messages.success(request, _("Slash command removed."))
    return redirect("chat-commands")
