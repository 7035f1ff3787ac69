"""The form for a user's notification settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from scriptsmith_site.integrations.notifications.kinds import NotificationKind
from scriptsmith_site.integrations.notifications.services import Choices
from scriptsmith_site.models import NotificationChoices

_HOURS = [(hour, f"{hour:02}:00") for hour in range(24)]
_NO_HOUR = ("", _("none"))


class ChoicesForm(forms.Form):
    """A form with a delivery method for each kind, the email address, the frequency and the quiet hours."""

    mail_address = forms.EmailField(
        label=_("Email address"),
        required=False,
        help_text=_("For notifications only. You get an email with a link to confirm the address."),
    )
    digest = forms.ChoiceField(label=_("Emails"), choices=NotificationChoices.Digest)
    daily_hour = forms.TypedChoiceField(
        label=_("Time of the daily email"),
        choices=_HOURS,
        coerce=int,
        help_text=_("In your time zone."),
    )
    quiet_from = forms.TypedChoiceField(
        label=_("No emails from"),
        choices=[_NO_HOUR, *_HOURS],
        coerce=int,
        empty_value=None,
        required=False,
    )
    quiet_until = forms.TypedChoiceField(
        label=_("No emails until"),
        choices=[_NO_HOUR, *_HOURS],
        coerce=int,
        empty_value=None,
        required=False,
    )

    def __init__(self, *args: Any, kinds: Sequence[NotificationKind], **options: Any) -> None:
        super().__init__(*args, **options)
        self._kinds = [one.name for one in kinds]
        for kind in kinds:
            self.fields[kind.name] = forms.ChoiceField(
                label=str(kind.label),
                choices=NotificationChoices.Way,
                required=False,  # Not required, to avoid a marker on every line. The service checks the value.
            )

    @classmethod
    def of(cls, kept: NotificationChoices, kinds: Sequence[NotificationKind]) -> ChoicesForm:
        """Return the form with the current settings."""
        bell = NotificationChoices.Way.BELL.value
        initial: dict[str, object] = {one.name: kept.ways.get(one.name, bell) for one in kinds}
        for name in ("mail_address", "digest", "daily_hour", "quiet_from", "quiet_until"):
            initial[name] = getattr(kept, name)
        return cls(initial=initial, kinds=kinds)

    @property
    def ways(self) -> list[forms.BoundField]:
        """Return the fields for delivery methods."""
        return [self[name] for name in self._kinds]

    @property
    def mails(self) -> list[forms.BoundField]:
        """Return the fields for email settings."""
        return [self[name] for name in self.fields if name not in self._kinds]

    def choices(self) -> Choices:
        """Return the submitted settings."""
        typed = self.cleaned_data
        return Choices(
            ways={name: typed[name] for name in self._kinds},
            mail_address=typed["mail_address"],
            digest=typed["digest"],
            daily_hour=typed["daily_hour"],
            quiet_from=typed["quiet_from"],
            quiet_until=typed["quiet_until"],
        )
