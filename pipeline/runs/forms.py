"""Forms to start a run and to use an unreviewed script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from core.web.forms import PlainText, retype
from pipeline.configurations.services import asks_demo
from pipeline.models import Configuration, Run
from pipeline.runs.expected_time import RecentTimes, players_of
from pipeline.runs.services.secrets import (
    FoundSecret,
    SecretsFound,
    fingerprint,
    say_kinds,
    secrets_in_feedback,
    secrets_in_texts,
)
from pipeline.types import MASK_STORED, SecretsChoice


def text_area(rows: int, **attributes: object) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, **attributes})


_TEXTS = {
    "statement": _("request text"),
    "incident": _("incident"),
    "environment": _("environment notes"),
    "target": _("target"),
    "impact": _("impact if wrong"),
    "reference": _("reference script"),
    "feedback": _("feedback"),
}


_OF_STORED_TEXTS = [(SecretsChoice.MASK.value, _("Mask (models get *** instead)"))]
_OF_NEW_TEXTS = [
    (MASK_STORED, _("Mask in the stored text (*** replaces the secrets everywhere)")),
    (SecretsChoice.MASK.value, _("Store unchanged, but send *** to models outside this machine")),
]


class SecretsChoiceForm(forms.Form):
    """A form that asks the user how to handle secrets in its texts.

    The choice to send applies only to the secrets that were shown. For other secrets, the form asks again.
    """

    # The form's field for a text, if its name differs from the action's field.
    secret_fields: ClassVar[Mapping[str, str]] = {}
    # True if the texts are not stored yet, so that the stored texts can be masked too.
    is_new: ClassVar[bool] = False
    masks_stored: bool = False  # set by `secrets_choice`

    def __init__(self, data: QueryDict | None = None, **options: Any) -> None:
        super().__init__(data, **options)
        if data is not None and "secrets_seen" in data:
            self._add_choice()

    @property
    def asks_about_secrets(self) -> bool:
        """Return whether the form shows the choice."""
        return "secrets" in self.fields

    def secrets_choice(self, texts: Mapping[str, str]) -> SecretsChoice | None:
        """Return the choice for the secrets in these texts, or None. `texts` are the texts of an action by name."""
        chosen = self.cleaned_data.pop("secrets", "")
        seen = self.cleaned_data.pop("secrets_seen", "")
        self.masks_stored = chosen == MASK_STORED
        if self.masks_stored:
            return SecretsChoice.MASK
        if not chosen or (
            chosen == SecretsChoice.SEND and seen != fingerprint(secrets_in_texts(texts))
        ):
            return None
        return SecretsChoice(chosen)

    def feedback_choice(self, run: Run, text: str) -> SecretsChoice | None:
        """Return the choice for secrets in feedback on a script of a run."""
        chosen = self.data.get("secrets", "")
        seen = fingerprint(secrets_in_feedback(run, text))
        if chosen not in list(SecretsChoice) or (
            chosen == SecretsChoice.SEND and self.data.get("secrets_seen") != seen
        ):
            return None
        return SecretsChoice(chosen)

    def ask_about_secrets(self, refusal: SecretsFound) -> None:
        """Add errors to the fields with secrets, list the secrets and show the choice. The user's input is kept."""
        self._add_choice()
        retype(self, secrets="", secrets_seen=fingerprint(refusal.found))
        rows = format_html_join("", "<li>{}</li>", ([self._say(one)] for one in refusal.found))
        readers = [_("every user of this site"), *refusal.to] if self.is_new else refusal.to
        self.fields["secrets"].help_text = format_html(
            '<p>{}</p><ul class="secrets-found">{}</ul>',
            _("Visible to: %s") % ", ".join(map(str, readers)),
            rows,
        )
        self.add_error("secrets", str(refusal))
        for name in dict.fromkeys(one.field for one in refusal.found):
            kinds = say_kinds(one.kind for one in refusal.found if one.field == name)
            field = self.secret_fields.get(name, name)
            if field in self.fields:
                self.add_error(field, _("Possible secret: %s.") % kinds)

    def _add_choice(self) -> None:
        self.fields["secrets"] = forms.ChoiceField(
            label=_("Secrets"),
            required=False,
            choices=[
                *(_OF_NEW_TEXTS if self.is_new else _OF_STORED_TEXTS),
                (
                    SecretsChoice.SEND.value,
                    _("Store and send unchanged (recorded in the audit log)"),
                ),
            ],
            widget=forms.RadioSelect,
        )
        self.fields["secrets_seen"] = forms.CharField(required=False, widget=forms.HiddenInput)

    def _say(self, one: FoundSecret) -> str:
        return _("%(kind)s: %(text)s, line %(line)s, column %(column)s") % {
            "kind": one.kind,
            "text": _TEXTS[one.field],
            "line": one.line,
            "column": one.column,
        }


class RunForm(SecretsChoiceForm):
    """Another run of an Action."""

    configuration = forms.ChoiceField(label=_("Configuration"))
    retrieval = forms.BooleanField(
        label=_("Search the catalogue first"), required=False, initial=True
    )

    def __init__(
        self, data: QueryDict | None = None, *, configurations: Sequence[Configuration]
    ) -> None:
        super().__init__(data)
        offer_configurations(self, configurations)


class UseForm(forms.Form):
    """The reason for using an unreviewed script."""

    reason = PlainText(
        label=_("Reason"), widget=text_area(2), help_text=_("Why can't this wait for a review?")
    )


def offer_configurations(form: forms.Form, configurations: Sequence[Configuration]) -> None:
    """Offer these configurations. The default configuration is preselected."""
    field = form.fields["configuration"]
    assert isinstance(field, forms.ChoiceField)
    recent = RecentTimes()
    field.choices = [(one.name, _label(one, recent)) for one in configurations]
    default = next((one for one in configurations if one.is_default), None)
    field.initial = default.name if default else None
    searches = {one.uses_retrieval for one in configurations}
    form.searches_catalogue = searches == {True}  # type: ignore[attr-defined]
    form.may_search_catalogue = True in searches  # type: ignore[attr-defined]
    # A user who makes no choice would get the demo model although a real model is available.
    form.shows_configurations = (  # type: ignore[attr-defined]
        default is not None
        and asks_demo(default)
        and not all(asks_demo(one) for one in configurations)
    )


def _label(configuration: Configuration, recent: RecentTimes) -> str:
    expected = recent.say_expected(players_of(configuration))
    search = "" if configuration.uses_retrieval else gettext("without the catalogue")
    notes = ", ".join(note for note in (expected, search) if note)
    return f"{configuration.title} ({notes})" if notes else configuration.title
