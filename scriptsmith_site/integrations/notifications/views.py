"""Pages for notifications, notification settings and the email integration."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.errors import BadInput
from core.web.forms import add_refusal
from core.web.requests import page_of, read_key, signed_in
from scriptsmith_site.integrations.notifications import mail_door, services
from scriptsmith_site.integrations.notifications.access import access_notification
from scriptsmith_site.integrations.notifications.forms import ChoicesForm
from scriptsmith_site.integrations.notifications.kinds import kinds_for
from scriptsmith_site.integrations.notifications.mail_settings import (
    can_mail,
    is_mail_configured,
    is_mail_open,
)
from scriptsmith_site.integrations.notifications.telling import choices_of
from scriptsmith_site.integrations.notifications.titles import show
from scriptsmith_site.people.services import require_administrator


@require_safe
def notification_list(request: HttpRequest) -> HttpResponse:
    """List the user's notifications, newest first. `?unread=1` shows only unread notifications."""
    user = signed_in(request)
    is_unread = request.GET.get("unread") == "1"
    found = services.bell_of(user)
    if is_unread:
        found = found.filter(read_at=None)
    page = page_of(found, request)
    context = {
        "page": page,
        "shown": show(page.rows),
        "is_unread": is_unread,
        "newest": page.rows[0].pk if page.rows else 0,
    }
    return render(request, "integrations/notifications/list.html", context)


@require_safe
def notification_bell(request: HttpRequest) -> HttpResponse:
    """Render the notification icon with the number of unread notifications, which is loaded with the user."""
    return render(request, "integrations/notifications/_bell.html")


@require_POST
def notification_open(request: HttpRequest, pk: int) -> HttpResponse:
    """Mark a notification as read and redirect to its object."""
    found = access_notification(signed_in(request), pk)
    services.mark_read(found)
    shown = show([found])
    return redirect(shown[0].path if shown else "notification-list")


@require_POST
def notification_read(request: HttpRequest, pk: int) -> HttpResponse:
    services.mark_read(access_notification(signed_in(request), pk))
    return redirect("notification-list")


@require_POST
def notification_read_all(request: HttpRequest) -> HttpResponse:
    """Mark all notifications up to the newest on the page as read. Later notifications stay unread."""
    newest = read_key(request.POST.get("newest", ""))
    services.mark_all_read(signed_in(request), up_to=newest)
    messages.success(request, _("All marked as read."))
    return redirect("notification-list")


@require_http_methods(["GET", "HEAD", "POST"])
def notification_choices(request: HttpRequest) -> HttpResponse:
    """Show and save the user's notification settings."""
    user = signed_in(request)
    if request.method != "POST":
        form = ChoicesForm.of(choices_of(user), kinds_for(user))
        return _show_choices(request, form)
    form = ChoicesForm(request.POST, kinds=kinds_for(user))
    if form.is_valid():
        try:
            services.choose(user, form.choices())
        except BadInput as refusal:
            add_refusal(form, refusal)
        else:
            messages.success(request, _("Notification settings saved."))
            return redirect("notification-choices")
    return _show_choices(request, form, status=422)


@require_POST
def notification_test_mail(request: HttpRequest) -> HttpResponse:
    """Send a test email to the user."""
    services.ask_test(signed_in(request))
    messages.success(
        request,
        _("Test email requested. Administrators can see under Integrations whether it was sent."),
    )
    return redirect("notification-choices")


@require_http_methods(["GET", "HEAD", "POST"])
def notification_confirm(request: HttpRequest, secret: str) -> HttpResponse:
    """Show the confirmation page on GET, and confirm the address on POST."""
    if request.method != "POST":
        services.find_confirmed(signed_in(request), secret)
        return render(request, "integrations/notifications/confirm.html")
    services.confirm_address(signed_in(request), secret)
    messages.success(request, _("Email address confirmed."))
    return redirect("notification-choices")


@require_safe
def mail_door_page(request: HttpRequest) -> HttpResponse:
    """Show administrators the state of the email integration, with a test and a pause switch."""
    user = signed_in(request)
    require_administrator(user)
    door = mail_door.the_door()
    context = {
        "nav_section": "admin",
        "door": door,
        "state": mail_door.state_of(door),
        "server": settings.EMAIL_HOST,
        "sender": settings.DEFAULT_FROM_EMAIL,
        "can_test": can_mail(choices_of(user)),
    }
    return render(request, "integrations/notifications/mail_door.html", context)


@require_POST
def mail_pause(request: HttpRequest) -> HttpResponse:
    mail_door.pause(by=signed_in(request))
    messages.success(
        request, _("Emails paused. Notifications are only shown in the app until you resume.")
    )
    return redirect("mail-door")


@require_POST
def mail_resume(request: HttpRequest) -> HttpResponse:
    mail_door.resume(by=signed_in(request))
    messages.success(request, _("Emails resumed."))
    return redirect("mail-door")


def _show_choices(request: HttpRequest, form: ChoicesForm, *, status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "kept": choices_of(signed_in(request)),
        "has_mail": is_mail_configured(),
        "is_paused": is_mail_configured() and not is_mail_open(),
    }
    return render(request, "integrations/notifications/choices.html", context, status=status)
