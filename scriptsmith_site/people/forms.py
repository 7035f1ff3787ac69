"""Forms for accounts. The services enforce the rules."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, cast
from zoneinfo import available_timezones

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.forms.utils import flatatt
from django.http import QueryDict
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from core.errors import BadInput
from scriptsmith_site.models import ApiToken, Profile
from scriptsmith_site.people.roles import DUTIES, Role
from scriptsmith_site.people.sign_in.tokens import may_read_metrics


class SignInForm(AuthenticationForm):
    error_messages = {
        "invalid_login": _(
            "Wrong name or password. Passwords are case-sensitive. After several wrong attempts, "
            "you have to wait."
        ),
        "inactive": _("This account is deactivated."),
    }


@cache
def time_zones() -> list[tuple[str, str]]:
    """Return every time zone as a choice. The list is cached, because the lookup opens six hundred files."""
    return [("", "UTC"), *((zone, zone) for zone in sorted(available_timezones()))]


class LongSelect(forms.Select):
    """A select widget for hundreds of plain options. Django's widget would render two templates for each option."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        chosen = str(value or "")
        plain: Iterable[tuple[str, str]] = self.choices  # type: ignore[assignment]
        selected = mark_safe(" selected")
        options = format_html_join(
            "\n",
            '<option value="{}"{}>{}</option>',
            ((one, selected if str(one) == chosen else "", label) for one, label in plain),
        )
        attributes = flatatt({"name": name, **self.build_attrs(self.attrs, attrs)})
        return format_html("<select{}>\n{}\n</select>", attributes, options)


class PreferencesForm(forms.Form):
    display_name = forms.CharField(
        label=_("Display name"),
        max_length=150,
        required=False,
        help_text=_("The name that other users see."),
    )
    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        required=False,
        choices=time_zones,
        widget=LongSelect,
    )
    theme = forms.ChoiceField(label=_("Theme"), required=False, choices=Profile.Theme.choices)


class PasswordForm(forms.Form):
    current_password = forms.CharField(
        label=_("Current password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    new_password = forms.CharField(
        label=_("New password"),
        strip=False,
        help_text=_("At least 10 characters. Common passwords are rejected."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )


class SetPasswordForm(forms.Form):
    password = forms.CharField(
        label=_("New password"),
        strip=False,
        help_text=_("At least 10 characters. Common passwords are rejected."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    repeated_password = forms.CharField(
        label=_("Repeat password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean_repeated_password(self) -> str:
        repeated: str = self.cleaned_data["repeated_password"]
        if repeated != self.cleaned_data.get("password", repeated):
            raise forms.ValidationError(_("The passwords don't match."))
        return repeated


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=80,
        help_text=_("The program that will use the token, such as “chat bot”."),
    )
    scopes = forms.MultipleChoiceField(
        label=_("Scopes"),
        choices=ApiToken.Scope.choices,
        initial=[ApiToken.Scope.READ],
        widget=forms.CheckboxSelectMultiple,
    )
    days = forms.TypedChoiceField(
        label=_("Expires after"),
        choices=[
            ("30", _("30 days")),
            ("90", _("90 days")),
            ("365", _("1 year")),
            ("", _("never")),
        ],
        coerce=int,
        empty_value=None,
        initial="90",
        required=False,
    )

    def __init__(self, data: QueryDict | None = None, *, user: User) -> None:
        """Offer the metrics scope only if `user` may read metrics."""
        super().__init__(data)
        if not may_read_metrics(user):
            scopes = cast(forms.MultipleChoiceField, self.fields["scopes"])
            scopes.choices = [
                (scope.value, scope.label) for scope in ApiToken.Scope if scope != "metrics"
            ]


class RolesForm(forms.Form):
    roles = forms.MultipleChoiceField(
        label=_("Roles"),
        choices=DUTIES,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )


class AddressForm(forms.Form):
    address = forms.CharField(
        label=_("Email address"),
        max_length=254,
        required=False,
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
        help_text=_(
            "Single sign-on may link a user with this verified address to this account. ScriptSmith "
            "sends no email to this address. To receive email, users confirm an address under Notifications."
        ),
    )


class AccountForm(RolesForm):
    username = forms.CharField(
        label=_("Username"),
        max_length=150,
        help_text=_("Used to sign in. Use letters, digits and @ . + - _"),
    )
    display_name = forms.CharField(label=_("Display name"), max_length=150, required=False)
    service_account = forms.BooleanField(
        label=_("Service account"),
        required=False,
        help_text=_("For a program that uses an API token. The account has no password."),
    )
    field_order = ["username", "display_name", "service_account", "roles"]


class AccountFilters(forms.Form):
    STATES = [("", _("all")), ("active", _("active")), ("inactive", _("deactivated"))]

    q = forms.CharField(label=_("Name"), required=False, max_length=150)
    role = forms.ChoiceField(
        label=_("Role"), required=False, choices=[("", _("any")), *Role.choices]
    )
    state = forms.ChoiceField(label=_("State"), required=False, choices=STATES)


def show_refusal_in(form: forms.Form, refusal: BadInput) -> None:
    """Add the service's message to the field that it concerns, or to the form."""
    form.add_error(refusal.field if refusal.field in form.fields else None, str(refusal))
