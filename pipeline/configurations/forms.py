"""Forms of the configuration pages. They convert input to a Plan; the services validate it."""

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

# The id of the shared list of models on the page.
MODELS_LIST = "known-models"

_PRESETS = [
    (
        Configuration.Preset.SELF_REFLECTION.value,
        _("Self-reflection: one model writes, assesses and refines"),
    ),
    (
        Configuration.Preset.PEER_REVIEW.value,
        _("Peer review: another model assesses, which sees what the writer overlooks"),
    ),
    (
        Configuration.Preset.STRONG_REFINER.value,
        _("Strong refiner: a stronger model explains and rewrites what is flagged"),
    ),
    (
        Configuration.Preset.OWN.value,
        _("Own: choose each role yourself, starting with the first model"),
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
    second_endpoint = forms.ChoiceField(label=_("Endpoint of the other"), required=False)
    second_model = forms.CharField(
        label=_("The other model"),
        required=False,
        max_length=100,
        help_text=_("It assesses in peer review, and refines as the strong refiner."),
        widget=_model_input(),
    )

    def __init__(self, data: QueryDict | None = None, *, endpoints: Sequence[Endpoint]) -> None:
        super().__init__(data)
        for name in ("endpoint", "second_endpoint"):
            _offer_endpoints(self, name, endpoints)

    def clean_second_model(self) -> str:
        model: str = self.cleaned_data["second_model"]
        if self.cleaned_data.get("preset") in _NEEDS_SECOND and not model:
            raise forms.ValidationError(_("This preset takes a second model."))
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

    title = forms.CharField(label=_("Title"), help_text=_("The name that people choose it by."))
    note = PlainText(
        label=_("What it is for"), required=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    # The version on which the edit is based, so that it does not overwrite another user's change.
    edition = forms.IntegerField(widget=forms.HiddenInput(), required=False)


class NameForm(forms.Form):
    """The name of a new configuration."""

    name = forms.CharField(
        label=_("Name"),
        help_text=_("For commands, studies and the API; it can't be changed later."),
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
    )


class RoleForm(forms.Form):
    """The model for one role."""

    endpoint = forms.ChoiceField(label=_("Endpoint"))
    model = forms.CharField(label=_("Model"), max_length=100, widget=_model_input())
    max_tokens = forms.IntegerField(
        label=_("Most tokens of a reply"),
        initial=4096,
        help_text=_("Thinking counts too: below 4096 a verdict may come back empty."),
        widget=forms.NumberInput(attrs={"min": LEAST_TOKENS, "max": MOST_TOKENS}),
    )
    effort = forms.ChoiceField(
        label=_("Effort"),
        required=False,
        choices=[("", _("as the model decides")), *((word, word) for word in EFFORTS)],
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
            self, "endpoint", endpoints, none="" if self.is_needed else _("the assessor")
        )
        if not self.is_needed:
            for field in ("endpoint", "model", "max_tokens"):
                self.fields[field].required = False
            self.fields["endpoint"].help_text = _(
                "Writes cases, where these are on. Best not the model that writes the scripts: it makes other mistakes."
            )
        warm = [str(one) for one in endpoints if one.takes_temperature]
        if warm:
            self.fields["temperature"].help_text = _("Taken by: %s.") % ", ".join(warm)
        else:
            del self.fields["temperature"]

    def clean(self) -> dict[str, object]:
        given: dict[str, object] = super().clean() or self.cleaned_data
        if not self.is_needed and bool(given.get("endpoint")) != bool(given.get("model")):
            empty = "model" if given.get("endpoint") else "endpoint"
            self.add_error(empty, _("Name both endpoint and model, or neither."))
        return given

    def player(self) -> Player | None:
        """Return the model for the role from a valid form, or None if the form names none."""
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
    """Rounds of refinement, and how the catalogue is used."""

    rounds = forms.TypedChoiceField(
        label=_("Rounds of refinement"),
        choices=[
            (0, _("0: flagged scripts stay as they are")),
            *((number, str(number)) for number in range(1, Configuration.MAX_ROUNDS + 1)),
        ],
        coerce=int,
        initial=1,
    )
    uses_retrieval = forms.BooleanField(
        label=_("Asks the catalogue first: a certain match is the answer"),
        required=False,
        initial=True,
    )
    uses_examples = forms.BooleanField(
        label=_("Shows the writer the nearest verified scripts as examples"),
        required=False,
        initial=True,
    )
    confirms_matches = forms.BooleanField(
        label=_("Lets the assessor confirm a match that scoring alone is not sure of"),
        required=False,
        help_text=_(
            "Where no rule speaks against the best entry, its script is described from the script alone and compared "
            "with the statement for likeness and for difference: two or three more calls a run. Only if both say so it "
            "answers, marked as confirmed by that model; else a script is written."
        ),
    )
    cases = forms.ChoiceField(
        label=_("Cases"),
        choices=Configuration.Cases.choices,
        initial=Configuration.Cases.OFF,
        required=False,
        help_text=_(
            "A model that never sees the script writes cases from the statement, and the sandbox runs the script in "
            "them: at least one more call a run. What comes of it changes no verdict. With the last choice, checks "
            "that do not hold are told to one more refinement, part of the cases held back; its script is never the "
            "recommended one, but an offer on the page of the run where more checks hold and none is lost."
        ),
    )


class ConfigurationForms:
    """All forms of a configuration's page, validated and saved together."""

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
        """Return the plan of valid forms, or None if the plan is not on the page."""
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
        """Use the newest version as the base. The user was warned, and saving again overwrites the other change."""
        self.about.data = {**self.about.data, "edition": str(newest)}

    def add_refusal(self, refusal: BadInput) -> None:
        """Show a service's error next to its field; `assessor.model` is the field of a role."""
        prefix, _dot, field = refusal.field.rpartition(".")
        for form in self.all:
            if (form.prefix or "") == prefix and field in form.fields:
                form.add_error(field, str(refusal))
                return
        self.about.add_error(None, str(refusal))


def _offer_endpoints(
    form: forms.Form, name: str, endpoints: Sequence[Endpoint], *, none: StrOrPromise = ""
) -> None:
    """Set the endpoint choices; `none` is the first one if the choice is optional."""
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = [("", none)] if none else []
    field.choices += [
        (one.name, str(one) if one.is_on else _("%s (switched off)") % one) for one in endpoints
    ]
