"""Forms of the campaign pages, which convert input to rules. The services validate the rules."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from django import forms
from django.contrib.auth.models import User
from django.core.validators import ProhibitNullCharactersValidator
from django.utils.translation import gettext_lazy as _

from core.errors import BadInput
from core.web.forms import FoldedForm
from pipeline.models import Configuration
from review.campaigns.services.editing import arms_of, rules_of
from review.models import Campaign
from review.queue.members import people_who_review
from review.study import FIGURES

_MICRO = 1_000_000
_PAIR = ("primary_first", "primary_second")


def _lines(rows: int, **attributes: str) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, **attributes})


class Words(forms.CharField):
    """A multi-line text field that converts CRLF to LF and rejects NUL, which the database can't store."""

    default_validators = [ProhibitNullCharactersValidator()]

    def to_python(self, value: object) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


class CloneForm(forms.Form):
    """A new campaign that is cloned from an existing campaign."""

    name = forms.CharField(
        label=_("Name"), max_length=150, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    takes = forms.ChoiceField(
        label=_("Items to copy"),
        choices=[
            ("cases", _("Statements only, to run again")),
            ("scripts", _("Statements with their scripts, to score the same texts")),
            ("nothing", _("No items")),
        ],
        widget=forms.RadioSelect,
        initial="cases",
    )


class RulesForm(FoldedForm):
    """The base class for setup steps that change rules. The fields have the names of the rules."""

    def __init__(self, data: object = None, *, campaign: Campaign) -> None:
        rules = rules_of(campaign)
        initial = {name: getattr(rules, name) for name in self.base_fields if hasattr(rules, name)}
        super().__init__(data, initial=initial)  # type: ignore[arg-type]

    def changed_rules(self) -> dict[str, object]:
        """Return the rules from a valid form."""
        return dict(self.cleaned_data)

    def add_refusal(self, refusal: BadInput) -> None:
        """Add a service's error to the field that caused it, or to the whole form."""
        self.add_error(refusal.field if refusal.field in self.fields else None, str(refusal))


class AboutForm(RulesForm):
    """The study's description, and the analysis that is planned before any scores are seen."""

    common = (
        *("planned_items", "primary_figure", "primary_criterion"),
        *("primary_first", "primary_second"),
    )

    description = Words(label=_("Description"), required=False, widget=_lines(3))
    planned_items = forms.IntegerField(
        label=_("Planned number of statements"),
        required=False,
        min_value=1,
        help_text=_(
            "Each statement yields one item per configuration. Fixed when the study opens. "
            "The report shows how many were scored."
        ),
    )
    primary_figure = forms.ChoiceField(
        label=_("Primary outcome"),
        required=False,
        help_text=_(
            "The outcome that the study is designed to answer, chosen before any score is "
            "seen. Its p value is not adjusted. All others are adjusted for multiple comparisons."
        ),
    )
    primary_criterion = forms.ChoiceField(
        label=_("Criterion"),
        required=False,
        choices=[
            ("strict", _("Strict: only a score of 2 is correct")),
            ("partial", _("Partial: scores of 1 and 2 are correct")),
        ],
    )
    primary_first = forms.ChoiceField(label=_("Baseline"), required=False)
    primary_second = forms.ChoiceField(label=_("Comparison"), required=False)
    field_order = (
        *("primary_figure", "primary_criterion", "primary_first", "primary_second"),
        *("planned_items", "description"),
    )

    def __init__(self, data: object = None, *, campaign: Campaign) -> None:
        super().__init__(data, campaign=campaign)
        self._choose(
            "primary_figure", [("", _("none")), *((one.name, one.label) for one in FIGURES)]
        )
        self.arms = {one.name: one for one in arms_of(campaign)}
        names = list(self.arms)
        chosen = [campaign.primary_first, campaign.primary_second]
        for place, field in enumerate(_PAIR):
            if len(names) < len(_PAIR):
                # Remove the comparison, because a study with one configuration has none.
                del self.fields[field]
                continue
            self._choose(
                field, [("", _("none")), *((one.name, one.title) for one in self.arms.values())]
            )
            one = chosen[place]
            self.initial[field] = one.name if one else names[place]
        if self.initial["planned_items"] is None and campaign.state == Campaign.State.SETUP:
            self.initial["planned_items"] = campaign.cases.filter(repeats=None).count() or None

    def _choose(self, name: str, choices: Sequence[tuple[str, object]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(value, _(str(label))) for value, label in choices]

    def changed_rules(self) -> dict[str, object]:
        given = dict(self.cleaned_data)
        pair = {name: self.arms.get(given.get(name, "")) for name in _PAIR}
        if not given["primary_figure"] or None in pair.values():
            pair = dict.fromkeys(_PAIR)
        if not given["primary_figure"]:
            given["primary_criterion"] = ""
        return given | pair


class ReviewersForm(RulesForm):
    """The reviewers, and the number of reviewers per item."""

    common = ("people", "overlap")

    people = forms.MultipleChoiceField(
        label=_("Reviewers"), required=False, widget=forms.CheckboxSelectMultiple
    )
    overlap = forms.IntegerField(label=_("Reviewers per item"), min_value=1, max_value=100)
    extra_share = forms.IntegerField(
        label=_("Items with extra reviewers (%)"), min_value=0, max_value=100
    )
    extra_overlap = forms.IntegerField(
        label=_("Reviewers for each of these items"),
        required=False,
        min_value=1,
        max_value=100,
        help_text=_("Measures agreement without scoring every item twice."),
    )
    limit_each = forms.IntegerField(
        label=_("Maximum items per reviewer"), required=False, min_value=1
    )
    open_to_all = forms.BooleanField(
        label=_("Open to every reviewer, not only added reviewers"), required=False
    )

    def __init__(self, data: object = None, *, campaign: Campaign) -> None:
        super().__init__(data, campaign=campaign)
        members = [one.user for one in campaign.members.select_related("user")]
        self.known = {one.username: one for one in [*people_who_review(), *members]}
        self.initial["people"] = [one.username for one in members]
        field = self.fields["people"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = [(name, one.get_full_name() or name) for name, one in self.known.items()]

    def changed_rules(self) -> dict[str, object]:
        return {name: value for name, value in self.cleaned_data.items() if name != "people"}

    def people_chosen(self) -> list[User]:
        """Return the chosen reviewers from a valid form."""
        return [self.known[name] for name in self.cleaned_data["people"]]


class BlindingForm(RulesForm):
    """The data to hide from reviewers, the order of items, and the measures against bias."""

    common = ("hides_verdict", "hides_models", "hides_reviewers", "order")

    hides_verdict = forms.BooleanField(
        label=_("Hide verdict and feedback until the script is scored"), required=False
    )
    hides_models = forms.BooleanField(label=_("Hide model names"), required=False)
    hides_reviewers = forms.BooleanField(label=_("Hide other reviewers"), required=False)
    hides_execution = forms.BooleanField(
        label=_("Hide sandbox results"),
        required=False,
        help_text=_("Sandbox results are shown after the study closes."),
    )
    hides_reference = forms.BooleanField(label=_("Hide the reference script"), required=False)
    order = forms.ChoiceField(label=_("Order"), choices=Campaign.Order.choices)
    prepares_all = forms.BooleanField(
        label=_("Prepare feedback and refinement for every item before review"),
        required=False,
        help_text=_("Otherwise, their presence would reveal the verdict."),
    )
    sham_share = forms.IntegerField(
        label=_("Sham share (%)"),
        min_value=0,
        max_value=100,
        help_text=_(
            "For this share of correct, passed items, the refined script is shown too. "
            "Those scores are excluded from all figures."
        ),
    )
    halo_share = forms.IntegerField(
        label=_("Halo check (%)"),
        min_value=0,
        max_value=100,
        help_text=_(
            "For this share of items with a refined script, another reviewer scores that "
            "script as if it were a first draft. This needs more reviewers than the number "
            "per item."
        ),
    )
    repeat_share = forms.IntegerField(
        label=_("Hidden repeats (%)"),
        min_value=0,
        max_value=100,
        help_text=_(
            "This share of items is shown to one of their reviewers again in a later "
            "session, unannounced."
        ),
    )
    pilot_size = forms.IntegerField(
        label=_("Pilot size"), required=False, min_value=1, help_text=_("Default: 10.")
    )
    pilot_counts = forms.BooleanField(
        label=_("Include pilot scores in the figures"),
        required=False,
        help_text=_(
            "Decide before the main phase. If off, pilot scores are kept but excluded from all figures."
        ),
    )
    edit_minutes = forms.IntegerField(
        label=_("Time allowed for changing a score (minutes)"), min_value=1, max_value=100_000
    )


class RubricForm(RulesForm):
    """The rubric in Markdown."""

    rubric = Words(
        label=_("Rubric"),
        required=False,
        max_length=100_000,
        widget=_lines(16, **{"class": "mono"}),
        help_text=_(
            "Markdown. Describe what makes a script correct, partially correct or incorrect, "
            "with examples."
        ),
    )


class BudgetForm(RulesForm):
    """The budget for model calls, and the choice to use message batches at half the price."""

    budget = forms.DecimalField(
        label=_("Budget in US dollars"),
        required=False,
        min_value=0,
        max_value=1_000_000_000,
        max_digits=16,
        decimal_places=6,
        help_text=_("The study's runs pause when the budget is used up. Leave blank for no limit."),
    )
    uses_message_batches = forms.BooleanField(
        label=_("Use message batches (half the price, up to 24 hours per step)"),
        required=False,
        help_text=_(
            "Endpoints that support message batches receive the requests of all runs together and "
            "return results within 24 hours. Other endpoints are called directly."
        ),
    )

    def __init__(self, data: object = None, *, campaign: Campaign) -> None:
        super().__init__(data, campaign=campaign)
        micro = self.initial["budget"]
        self.initial["budget"] = None if micro is None else (Decimal(micro) / _MICRO).normalize()

    def changed_rules(self) -> dict[str, object]:
        dollars = self.cleaned_data["budget"]
        return {
            "budget": None if dollars is None else int(dollars * _MICRO),
            "uses_message_batches": self.cleaned_data["uses_message_batches"],
        }


class ArmsForm(BudgetForm):
    """The configurations to run on each statement, and the budget."""

    configurations = forms.MultipleChoiceField(
        label=_("Configurations"), required=False, widget=forms.CheckboxSelectMultiple
    )
    uses_examples = forms.BooleanField(
        label=_("Show verified entries to the generator as examples"),
        required=False,
        help_text=_(
            "If off, the study measures the model alone. If on, configurations that use examples show "
            "them, except entries that answer the statement or resemble its reference script. Fixed "
            "when the study opens."
        ),
    )
    field_order = ("configurations", "uses_examples", "uses_message_batches", "budget")

    def __init__(
        self, data: object = None, *, campaign: Campaign, usable: Sequence[Configuration]
    ) -> None:
        super().__init__(data, campaign=campaign)
        chosen = list(campaign.configurations.all())
        self.initial["configurations"] = [one.name for one in chosen]
        self.known = {one.name: one for one in [*usable, *chosen]}
        field = self.fields["configurations"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = [(one.name, one.title) for one in self.known.values()]

    def changed_rules(self) -> dict[str, object]:
        return {**super().changed_rules(), "uses_examples": self.cleaned_data["uses_examples"]}

    def chosen(self) -> list[Configuration]:
        """Return the chosen configurations from a valid form."""
        return [self.known[name] for name in self.cleaned_data["configurations"]]


class MemberForm(forms.Form):
    """A reviewer to add to the campaign."""

    user = forms.ChoiceField(label=_("Reviewer"))
    limit = forms.IntegerField(label=_("Maximum items"), required=False, min_value=1)

    def __init__(self, data: object = None, *, people: Sequence[User]) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        self.people = {one.username: one for one in people}
        field = self.fields["user"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(name, one.get_full_name() or name) for name, one in self.people.items()]
