"""Forms for the configuration pages. They convert input to a Plan, which the services validate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from core.errors import BadInput
from core.web.forms import PlainText
from pipeline.configurations.plans import (
    EFFORTS,
    LEAST_TOKENS,
    MOST_TEMPERATURE,
    MOST_TOKENS,
    Plan,
    Player,
)
from pipeline.configurations.prompt_forms import PinsForm
from pipeline.models import Configuration, Endpoint, PromptVersion
from pipeline.types import NEEDED_ROLES, Role

# The HTML id of the page's shared list of models.
MODELS_LIST = "known-models"

_PRESETS = [
    (
        Configuration.Preset.SELF_REFLECTION.value,
        _("Self-reflection: one model writes, assesses and refines"),
    ),
    (
        Configuration.Preset.PEER_REVIEW.value,
        _("Peer review: a second model assesses and finds errors that the first one overlooks"),
    ),
    (
        Configuration.Preset.STRONG_REFINER.value,
        _("Strong refiner: a stronger model explains and rewrites flagged scripts"),
    ),
    (
        Configuration.Preset.OWN.value,
        _("Custom: choose a model for each role (initially the first model)"),
    ),
]
_NEEDS_SECOND = {Configuration.Preset.PEER_REVIEW, Configuration.Preset.STRONG_REFINER}


def _model_input() -> forms.TextInput:
    return forms.TextInput(
        attrs={"list": MODELS_LIST, "spellcheck": "false", "autocomplete": "off"}
    )


class PresetForm(forms.Form):
    """The first step of a new configuration: a preset and its one or two models."""

    preset = forms.ChoiceField(
        label=_("Preset"), choices=_PRESETS, widget=forms.RadioSelect, initial=_PRESETS[0][0]
    )
    endpoint = forms.ChoiceField(label=_("Endpoint"))
    model = forms.CharField(label=_("Model"), max_length=100, widget=_model_input())
    second_endpoint = forms.ChoiceField(label=_("Endpoint for the second model"), required=False)
    second_model = forms.CharField(
        label=_("Second model"),
        required=False,
        max_length=100,
        help_text=_("The assessor in peer review, or the strong refiner."),
        widget=_model_input(),
    )

    def __init__(self, data: QueryDict | None = None, *, endpoints: Sequence[Endpoint]) -> None:
        super().__init__(data)
        for name in ("endpoint", "second_endpoint"):
            _offer_endpoints(self, name, endpoints)

    def clean_second_model(self) -> str:
        model: str = self.cleaned_data["second_model"]
        if self.cleaned_data.get("preset") in _NEEDS_SECOND and not model:
            raise forms.ValidationError(_("This preset needs a second model."))
        return model

    def players(self) -> tuple[Player, Player]:
        """Return the first and the second model of a valid form."""
        given = self.cleaned_data
        first = Player(endpoint=given["endpoint"], model=given["model"])
        second = Player(
            endpoint=given["second_endpoint"] or given["endpoint"],
            model=given["second_model"] or given["model"],
        )
        return first, second


class AboutForm(forms.Form):
    """The name and purpose of a configuration, which can always be changed."""

    title = forms.CharField(
        label=_("Title"), help_text=_("Shown where users choose a configuration.")
    )
    note = PlainText(
        label=_("Description"), required=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    # The version on which the edit is based, so that saving does not overwrite another user's change.
    edition = forms.IntegerField(widget=forms.HiddenInput(), required=False)


class NameForm(forms.Form):
    """The name of a new configuration."""

    name = forms.CharField(
        label=_("Name"),
        help_text=_("Commands, studies and the API use this name, so it can't be changed later."),
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
    )


class RoleForm(forms.Form):
    """The model for one role."""

    endpoint = forms.ChoiceField(label=_("Endpoint"))
    model = forms.CharField(label=_("Model"), max_length=100, widget=_model_input())
    max_tokens = forms.IntegerField(
        label=_("Maximum output tokens"),
        initial=4096,
        help_text=_("Includes thinking tokens. Below 4096, verdicts may be empty."),
        widget=forms.NumberInput(attrs={"min": LEAST_TOKENS, "max": MOST_TOKENS}),
    )
    effort = forms.ChoiceField(
        label=_("Effort"),
        required=False,
        choices=[("", _("model's default")), *((word, word) for word in EFFORTS)],
    )
    temperature = forms.FloatField(
        label=_("Temperature"),
        required=False,
        widget=forms.NumberInput(attrs={"min": 0, "max": MOST_TEMPERATURE, "step": "any"}),
    )

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        role: Role,
        endpoints: Sequence[Endpoint],
        player: Player | None = None,
    ) -> None:
        initial = vars(player) if player else {}
        self.is_needed = role in NEEDED_ROLES
        super().__init__(data, prefix=role.value, initial=initial)
        self.role = role
        _offer_endpoints(
            self, "endpoint", endpoints, none="" if self.is_needed else _("same as assessor")
        )
        if not self.is_needed:
            for field in ("endpoint", "model", "max_tokens"):
                self.fields[field].required = False
            self.fields["endpoint"].help_text = _(
                "Writes sandbox tests if they are turned on. Choose a model other than the generator's, so that the "
                "two make different mistakes."
            )
        warm = [str(one) for one in endpoints if one.takes_temperature]
        if warm:
            self.fields["temperature"].help_text = _("Accepted by: %s.") % ", ".join(warm)
        else:
            del self.fields["temperature"]

    def clean(self) -> dict[str, object]:
        given: dict[str, object] = super().clean() or self.cleaned_data
        if not self.is_needed and bool(given.get("endpoint")) != bool(given.get("model")):
            empty = "model" if given.get("endpoint") else "endpoint"
            self.add_error(empty, _("Enter both an endpoint and a model, or neither."))
        return given

    def player(self) -> Player | None:
        """Return the model for the role from a valid form, or None if the form has no model."""
        given = self.cleaned_data
        if not given["endpoint"]:
            return None
        return Player(
            endpoint=given["endpoint"],
            model=given["model"],
            max_tokens=given["max_tokens"] or Player.max_tokens,
            effort=given["effort"],
            temperature=given.get("temperature"),
        )


class HowForm(forms.Form):
    """The refinement rounds, and the use of the catalogue."""

    rounds = forms.TypedChoiceField(
        label=_("Refinement rounds"),
        choices=[
            (0, _("0 (flagged scripts are not rewritten)")),
            *((number, str(number)) for number in range(1, Configuration.MAX_ROUNDS + 1)),
        ],
        coerce=int,
        initial=1,
    )
    uses_retrieval = forms.BooleanField(
        label=_("Search the catalogue first and use a confident match"),
        required=False,
        initial=True,
    )
    uses_examples = forms.BooleanField(
        label=_("Show the generator the closest verified scripts as examples"),
        required=False,
        initial=True,
    )
    confirms_matches = forms.BooleanField(
        label=_("Let the assessor confirm matches whose score alone is too low"),
        required=False,
        help_text=_(
            "If no rule excludes the best entry, the assessor describes its script and compares the description with "
            "the request twice (two or three more calls per run). If both comparisons agree, the entry is used "
            "and marked as confirmed by a model. Otherwise, a model writes a script."
        ),
    )
    cases = forms.ChoiceField(
        label=_("Sandbox tests"),
        choices=Configuration.Cases.choices,
        initial=Configuration.Cases.OFF,
        required=False,
        help_text=_(
            "A model that never sees the script writes tests from the request, and the sandbox runs them. This adds "
            "at least one call per run and changes no verdict. With the last option, failed checks also lead to one "
            "more refinement, with some tests held out. The resulting script is never recommended, only offered if it "
            "passes more checks and no check newly fails."
        ),
    )


class ConfigurationForms:
    """All forms on a configuration's page, validated and saved together."""

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        endpoints: Sequence[Endpoint],
        versions: Mapping[str, Sequence[PromptVersion]],
        about: Mapping[str, object] | None = None,
        plan: Plan | None = None,
        is_new: bool = False,
        is_fixed: bool = False,
    ) -> None:
        self.name = NameForm(data, initial=dict(about or {})) if is_new else None
        self.about = AboutForm(data, initial=dict(about or {}))
        self.roles: list[RoleForm] = []
        self.case_author: RoleForm | None = None
        self.how: HowForm | None = None
        self.pins: PinsForm | None = None
        if not is_fixed:
            players = plan.players if plan else {}
            forms = {
                role: RoleForm(data, role=role, endpoints=endpoints, player=players.get(role))
                for role in Role
            }
            self.case_author = forms.pop(Role.CASE_AUTHOR)
            self.roles = list(forms.values())
            self.how = HowForm(data, initial=vars(plan) if plan else None)
            self.pins = PinsForm(data, versions=versions, pinned=plan.prompts if plan else None)

    @property
    def all(self) -> list[forms.Form]:
        """Return the forms on the page."""
        found = [self.name, self.about, *self.roles, self.how, self.case_author, self.pins]
        return [form for form in found if form is not None]

    @property
    def errors(self) -> bool:
        """Return whether any form has an error."""
        return any(form.errors for form in self.all)

    @property
    def refusals(self) -> list[str]:
        """Return the errors that belong to no field."""
        return [str(error) for form in self.all for error in form.non_field_errors()]

    def is_valid(self) -> bool:
        """Return whether all forms are valid."""
        return not self.errors

    def plan(self) -> Plan | None:
        """Return the plan from valid forms, or None if the page does not contain the plan."""
        if self.how is None or self.pins is None or self.case_author is None:
            return None
        played = [*self.roles, self.case_author]
        return Plan(
            players={form.role: player for form in played if (player := form.player())},
            rounds=self.how.cleaned_data["rounds"],
            uses_retrieval=self.how.cleaned_data["uses_retrieval"],
            uses_examples=self.how.cleaned_data["uses_examples"],
            confirms_matches=self.how.cleaned_data["confirms_matches"],
            cases=self.how.cleaned_data["cases"] or Configuration.Cases.OFF.value,
            prompts=self.pins.pins(),
        )

    def accept_edition(self, newest: int) -> None:
        """Base the edit on the newest version. The user was warned, so saving again overwrites the other change."""
        self.about.data = {**self.about.data, "edition": str(newest)}

    def add_refusal(self, refusal: BadInput) -> None:
        """Show a service's error next to its field. A role's field has a name such as `assessor.model`."""
        prefix, _dot, field = refusal.field.rpartition(".")
        for form in self.all:
            if (form.prefix or "") == prefix and field in form.fields:
                form.add_error(field, str(refusal))
                return
        self.about.add_error(None, str(refusal))


def _offer_endpoints(
    form: forms.Form, name: str, endpoints: Sequence[Endpoint], *, none: StrOrPromise = ""
) -> None:
    """Set the endpoint choices. `none` is the label of the first choice if the field is optional."""
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = [("", none)] if none else []
    field.choices += [
        (one.name, str(one) if one.is_on else _("%s (off)") % one) for one in endpoints
    ]
