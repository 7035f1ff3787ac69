"""Forms to write an entry or a version, and helpers that the catalogue's other forms share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django import forms
from django.forms import BaseFormSet, formset_factory
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from catalog.models import Version
from catalog.version_details import ParameterType, VersionDetails
from core.errors import BadInput
from core.web.forms import PlainText, split_lines, split_words


class ParameterForm(forms.Form):
    """One parameter. A row without a name is ignored."""

    name = forms.CharField(label=_("Name"), required=False, max_length=200)
    type = forms.ChoiceField(
        label=_("Type"),
        required=False,
        choices=[
            (ParameterType.TEXT, _("text")),
            (ParameterType.NUMBER, _("number")),
            (ParameterType.PATH, _("path")),
            (ParameterType.CHOICE, _("choice")),
        ],
    )
    required = forms.BooleanField(label=_("Required"), required=False)
    default = forms.CharField(label=_("Default"), required=False, max_length=5000, strip=False)
    choices = forms.CharField(label=_("Choices"), required=False, max_length=2000)
    description = forms.CharField(label=_("Description"), required=False, max_length=500)
    alert_label = forms.CharField(label=_("Alert label"), required=False, max_length=200)

    def parameter(self) -> dict[str, object] | None:
        """Return the row in the format of `VersionDetails`."""
        row = self.cleaned_data
        if not row.get("name"):
            return None
        return {
            "name": row["name"],
            "type": row["type"] or ParameterType.TEXT,
            "required": row["required"],
            "default": row["default"] or None,
            "choices": split_words(row["choices"]),
            "description": row["description"],
            "alert_label": row["alert_label"],
        }

    @staticmethod
    def row_of(parameter: Mapping[str, object]) -> dict[str, object]:
        """Return a stored parameter as the row's initial values."""
        choices = parameter.get("choices")
        return {
            **parameter,
            "default": parameter.get("default") or "",
            "choices": ", ".join(map(str, choices)) if isinstance(choices, Sequence) else "",
        }


ParameterFormSet: type[BaseFormSet[ParameterForm]] = formset_factory(
    ParameterForm, extra=2, max_num=40, absolute_max=60
)


class VersionForm(forms.Form):
    """A script and its details. The parameters are in a separate formset."""

    script = PlainText(label=_("Script"), rows=16, code=True)
    risk = forms.ChoiceField(
        label=_("Risk"), required=False, choices=[("", _("auto-detect")), *Version.Risk.choices]
    )
    side_effect = forms.ChoiceField(
        label=_("Side effect"),
        required=False,
        choices=[("", _("auto-detect")), *Version.SideEffect.choices],
    )
    runs_on = forms.ChoiceField(label=_("Runs on"), choices=Version.RunsOn.choices)
    operating_system = forms.CharField(label=_("Operating system"), max_length=60, initial="linux")
    shell = forms.CharField(label=_("Shell"), max_length=30, initial="bash")
    tools = forms.CharField(
        label=_("Tools"),
        required=False,
        help_text=_("Separated by commas. Leave blank to auto-detect."),
    )
    privileges = forms.ChoiceField(label=_("Privileges"), choices=Version.Privileges.choices)
    check_before = PlainText(label=_("Check before"), required=False, max_length=5000)
    check_after = PlainText(label=_("Check after"), required=False, max_length=5000)
    undo = PlainText(label=_("How to undo"), required=False, max_length=5000)
    repeatable = forms.TypedChoiceField(
        label=_("Safe to run twice"),
        required=False,
        choices=[("", _("unknown")), ("yes", _("yes")), ("no", _("no"))],
        coerce=lambda value: value == "yes",
        empty_value=None,
    )
    tags = forms.CharField(
        label=_("Tags"),
        required=False,
        help_text=_("Lowercase letters, digits and hyphens, separated by commas."),
    )
    links = PlainText(
        label=_("Links"),
        required=False,
        help_text=_(
            "One per line: kind | label | URL, for example runbook | Disk full | https://…"
        ),
    )

    def short_fields(self) -> list[forms.BoundField]:
        """Return the fields that are shown side by side."""
        return [self[name] for name in _SHORT]

    def long_fields(self) -> list[forms.BoundField]:
        """Return the fields that need the full width."""
        return [self[name] for name in ("check_before", "check_after", "undo", "links")]

    def details(self, parameters: BaseFormSet[ParameterForm]) -> VersionDetails:
        """Return the submitted details. Raises BadInput."""
        typed = self.cleaned_data
        rows = [form.parameter() for form in parameters.forms]
        return VersionDetails.read(
            {
                "parameters": [row for row in rows if row],
                "tags": split_words(typed["tags"]),
                "risk": typed["risk"] or None,
                "side_effect": typed["side_effect"] or None,
                "tools": split_words(typed["tools"]) or None,
                "links": read_links(typed["links"]),
                **{name: typed[name] for name in _AS_TYPED},
            }
        )


_SHORT = (
    "risk",
    "side_effect",
    "repeatable",
    "runs_on",
    "operating_system",
    "shell",
    "privileges",
    "tools",
    "tags",
)
_AS_TYPED = (
    "runs_on",
    "operating_system",
    "shell",
    "privileges",
    "check_before",
    "check_after",
    "undo",
    "repeatable",
)


class EntryForm(VersionForm):
    """A new entry: its title, phrasings and first version."""

    title = forms.CharField(
        label=_("Title"), max_length=300, help_text=_("The task, worded like a request.")
    )
    phrasings = PlainText(label=_("Other phrasings"), required=False, help_text=_("One per line."))


class EditForm(VersionForm):
    """The next version of an entry."""

    note = forms.CharField(label=_("What changed and why"), required=False, max_length=2000)


def read_links(text: str) -> list[dict[str, str]]:
    """Parse lines in the format `kind | label | URL`, or with only a URL. Raises BadInput."""
    links = []
    for line in split_lines(text):
        parts = [part.strip() for part in line.split("|")]
        if len(parts) == 1:
            parts = ["link", "", parts[0]]
        if len(parts) != 3:
            raise BadInput(gettext("Write kind | label | URL on each line."), field="links")
        links.append(dict(zip(("kind", "label", "url"), parts, strict=True)))
    return links


def write_links(links: Sequence[Mapping[str, str]]) -> str:
    """Return the links in the format that `read_links` parses."""
    return "\n".join(f"{link['kind']} | {link['label']} | {link['url']}" for link in links)


def initial_of(details: VersionDetails) -> dict[str, object]:
    """Return the initial values of a VersionForm. For the rows of its formset, call `row_of`."""
    data = details.model_dump(mode="json")
    repeatable = {True: "yes", False: "no", None: ""}[details.repeatable]
    return {
        **data,
        "tags": ", ".join(data["tags"] or ()),
        "tools": ", ".join(data["tools"] or ()),
        "links": write_links(data["links"] or ()),
        "repeatable": repeatable,
    }
