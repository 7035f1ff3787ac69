"""Forms for incidents, sources and rules. The services validate the values."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.contrib.auth.models import User
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from catalog.models import Use
from core.web.forms import PlainText
from pipeline.configurations.services import usable_configurations
from pipeline.models import Configuration
from pipeline.runs.forms import SecretsChoiceForm, offer_configurations
from scriptsmith_site.integrations.alerts.payloads.generic import PARTS, REQUIRED
from scriptsmith_site.integrations.alerts.services.incident_page import people
from scriptsmith_site.integrations.alerts.services.sources import proofs_of
from scriptsmith_site.models import AlertRule, AlertSource, Incident

_SEVERITIES = AlertSource.Severity.choices
_AT = "at_"
_MATCHERS_HELP = _(
    'Enter one per line, such as team="web", severity=~"critical|page" or instance!~"test-.*". All must match.'
)
_PARTS: dict[str, tuple[str | Promise, str | Promise]] = {
    "alerts": (
        _("List of alerts"),
        _(
            "Path to the list, if a request has several alerts. The other paths are relative to each alert."
        ),
    ),
    "title": (_("Title"), ""),
    "key": (_("Key"), _("An ID that stays the same while the alert is active.")),
    "text": (_("Text"), _("The task, or what happened.")),
    "severity": (_("Severity"), _("Values such as critical and warning, P1 to P5 or 1 to 4.")),
    "link": (_("Link"), ""),
    "done": (
        _("Resolved"),
        _("The alert is resolved if the value is true, resolved, closed or ok."),
    ),
    "labels": (_("Labels"), _("A JSON object of names and values.")),
}


def _mono(rows: int) -> forms.Textarea:
    """Return a monospaced text area for text that is neither a script nor prose."""
    return forms.Textarea(attrs={"rows": rows, "class": "mono", "spellcheck": "false"})


class IncidentFilter(forms.Form):
    """Filters for the incident list."""

    q = forms.CharField(
        label=_("Search text"), required=False, max_length=200, widget=forms.SearchInput()
    )
    severity = forms.TypedChoiceField(
        label=_("Severity"),
        required=False,
        coerce=int,
        empty_value=None,
        choices=[
            ("", _("Any")),
            *((value, _("%s or worse") % name) for value, name in _SEVERITIES),
        ],
    )
    sort = forms.ChoiceField(
        label=_("Order"),
        required=False,
        choices=[("", _("Most severe first")), ("newest", _("Newest first"))],
    )
    state = forms.ChoiceField(
        required=False,
        choices=[("", ""), *Incident.State.choices, ("all", "")],
        widget=forms.HiddenInput(),
    )


class StatementForm(forms.Form):
    statement = PlainText(label=_("What do you need done?"), rows=2)


class NoteForm(forms.Form):
    text = PlainText(label=_("Note"), rows=2)


class HandOverForm(forms.Form):
    to = forms.ModelChoiceField(label=_("Reassign to"), queryset=User.objects.none())

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["to"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = people()


class AskForm(SecretsChoiceForm):
    """A form for requesting a script, with the alert as its context."""

    secret_fields: ClassVar = {"incident": "context"}
    is_new = True

    statement = PlainText(
        label=_("What do you need done?"),
        rows=3,
        widget=forms.Textarea(attrs={"rows": 3, "autofocus": True}),
    )
    context = PlainText(
        label=_("Incident"),
        required=False,
        strip=False,
        rows=10,
        help_text=_("From the alert. Passed to the model as data, not as instructions."),
    )
    target = forms.CharField(label=_("Target system"), required=False, max_length=300)
    severity = forms.TypedChoiceField(label=_("Severity"), choices=_SEVERITIES, coerce=int)
    configuration = forms.ChoiceField(label=_("Configuration"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_configurations(self, usable_configurations())


class IncidentOutcomeForm(forms.Form):
    outcome = forms.ChoiceField(
        label=_("Outcome"),
        choices=Use.Outcome.choices,
        error_messages={"required": _("Choose an outcome.")},
    )
    note = forms.CharField(label=_("Note"), required=False, max_length=2_000)

    def __init__(self, data: QueryDict | None = None, *, incident: Incident) -> None:
        super().__init__(data, auto_id="outcome_%s")
        self.incident_pk = incident.pk


class SourceForm(forms.Form):
    """A form for an alert source, with only the fields that its kind needs."""

    name = forms.CharField(label=_("Name"), max_length=80)
    proof = forms.ChoiceField(
        label=_("Authentication"),
        choices=AlertSource.Proof.choices,
        help_text=_("Grafana 12 and later can sign requests. Use a token for earlier versions."),
    )
    signature_header = forms.CharField(
        label=_("Signature header"),
        required=False,
        max_length=80,
        help_text=_("Grafana's default is X-Grafana-Alerting-Signature."),
    )
    timestamp_header = forms.CharField(
        label=_("Timestamp header"),
        required=False,
        max_length=80,
        help_text=_(
            "Use the same header here and in Grafana. Requests are then signed with a timestamp "
            "and rejected after five minutes. Without this header, a recorded request can be sent again at any time."
        ),
    )
    matchers = PlainText(
        label=_("Label matchers"), required=False, widget=_mono(3), help_text=_MATCHERS_HELP
    )
    least_severity = forms.TypedChoiceField(
        label=_("Lowest severity"), choices=_SEVERITIES, coerce=int, initial=4
    )
    requests_per_minute = forms.IntegerField(
        label=_("Maximum requests per minute"), min_value=1, max_value=60_000, initial=1_200
    )
    most_open = forms.IntegerField(
        label=_("Maximum open incidents"), min_value=1, max_value=5_000, initial=200
    )
    sample = PlainText(
        label=_("Sample"),
        required=False,
        widget=_mono(8),
        max_length=100_000,
        help_text=_("Paste a request from the system and choose Preview. The sample is not saved."),
    )
    edition = forms.IntegerField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, kind: str, is_new: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if len(proofs_of(kind)) == 1 or not is_new:
            del self.fields["proof"]
        if kind != AlertSource.Kind.GRAFANA:
            del self.fields["signature_header"], self.fields["timestamp_header"]
        if kind == AlertSource.Kind.GENERIC:
            for part, (label, help_text) in _PARTS.items():
                self.fields[f"{_AT}{part}"] = forms.CharField(
                    label=str(label),
                    help_text=str(help_text),
                    required=False,
                    max_length=200,
                    widget=forms.TextInput(
                        attrs={"class": "mono", "placeholder": f"/{part}", "spellcheck": "false"}
                    ),
                )
            own = [f"{_AT}{part}" for part in (*REQUIRED, *(set(PARTS) - set(REQUIRED)))]
            self.order_fields(["name", *sorted(own, key=list(_own_order()).index)])
        self.fields["sample"] = self.fields.pop("sample")

    def details(self) -> dict[str, object]:
        """Return the submitted values in the form that the service expects."""
        cleaned = dict(self.cleaned_data)
        cleaned.pop("sample", None)
        cleaned.pop("edition", None)
        mapping = {
            part: str(cleaned.pop(f"{_AT}{part}")).strip()
            for part in PARTS
            if f"{_AT}{part}" in cleaned
        }
        if mapping:
            cleaned["mapping"] = {part: at for part, at in mapping.items() if at}
        return cleaned

    @staticmethod
    def initial_of(source: AlertSource) -> dict[str, object]:
        """Return the source's current values."""
        names = (
            *("name", "signature_header", "timestamp_header", "matchers", "least_severity"),
            *("requests_per_minute", "most_open", "edition"),
        )
        mapping = {f"{_AT}{part}": at for part, at in source.mapping.items()}
        return {name: getattr(source, name) for name in names} | mapping


def _own_order() -> tuple[str, ...]:
    return tuple(f"{_AT}{part}" for part in _PARTS)


class KeyForm(forms.Form):
    """A form for a signing secret that the other system generated."""

    secret = forms.CharField(
        label=_("Signing secret"),
        help_text=_("PagerDuty shows it when you create the webhook."),
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        max_length=500,
    )


class RuleForm(forms.Form):
    """A form for a rule that requests scripts: its conditions, its account and its limits."""

    name = forms.CharField(label=_("Name"), max_length=80)
    source = forms.ModelChoiceField(
        label=_("Source"),
        queryset=AlertSource.objects.all(),
        required=False,
        empty_label=_("All sources"),
    )
    matchers = PlainText(
        label=_("Label matchers"), required=False, widget=_mono(3), help_text=_MATCHERS_HELP
    )
    least_severity = forms.TypedChoiceField(
        label=_("Lowest severity"), choices=_SEVERITIES, coerce=int, initial=2
    )
    configuration = forms.ModelChoiceField(
        label=_("Configuration"),
        queryset=Configuration.objects.none(),
        to_field_name="name",
        help_text=_("The models that write, assess and refine the script."),
    )
    account = forms.ModelChoiceField(
        label=_("Service account"),
        queryset=User.objects.none(),
        help_text=_(
            "The account that requests scripts. Create one under Users, with the Reviewer role."
        ),
    )
    runs_per_day = forms.IntegerField(
        label=_("Maximum runs per day"), min_value=0, max_value=1_000, initial=5
    )
    runs_per_source = forms.IntegerField(
        label=_("Maximum runs per source per day"), min_value=0, max_value=1_000, initial=5
    )
    edition = forms.IntegerField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        usable = [one.pk for one in usable_configurations()]
        for name, rows in (
            ("configuration", Configuration.objects.filter(pk__in=usable)),
            ("account", User.objects.filter(is_active=True, profile__service_account=True)),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ModelChoiceField)
            field.queryset = rows

    @staticmethod
    def initial_of(rule: AlertRule) -> dict[str, object]:
        """Return the rule's current values."""
        names = (
            *("name", "source", "matchers", "least_severity", "account"),
            *("runs_per_day", "runs_per_source", "edition"),
        )
        return {name: getattr(rule, name) for name in names} | {
            "configuration": rule.configuration.name
        }
