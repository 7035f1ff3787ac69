"""Forms on the writable admin pages, which convert input to arguments for services."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from catalog.entries.action_forms import LabelsForm
from catalog.entries.forms import write_links
from catalog.entries.services.versions import labels_seen
from catalog.models import Entry, Tag, Version
from core.errors import BadInput, Refused
from core.web.forms import PlainText, split_words


class ServiceForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form that shows a service's error next to the field with the rejected input."""

    refusal: Refused | None = None  # set on the subclass created for each request
    shown_as: dict[str, str] = {}  # from the service's name of a field to the form's name

    def clean(self) -> None:
        super().clean()
        if self.refusal is not None:
            named = self.refusal.field if isinstance(self.refusal, BadInput) else ""
            field = self.shown_as.get(named, named)
            self.add_error(field if field in self.fields else None, str(self.refusal))


class EntryTitleForm(ServiceForm):
    """The title of an existing entry."""

    seen = forms.CharField(widget=forms.HiddenInput, required=False)

    class Meta:
        model = Entry
        fields = ("title",)

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["seen"].initial = self.instance.title


class NewEntryForm(ServiceForm):
    """An entry with its first version. Parameters and requirements are detected from the script."""

    script = PlainText(label=_("Script"), rows=16, code=True)
    wordings = PlainText(label=_("Other phrasings"), required=False, help_text=_("One per line."))
    shown_as = {"phrasings": "wordings"}

    class Meta:
        model = Entry
        fields = ("title",)


class VersionLabelsForm(ServiceForm):
    """The details that can be edited without creating a new version."""

    tag_names = forms.CharField(
        label=_("Tags"), required=False, help_text=_("Separated by commas.")
    )
    owner_name = forms.CharField(label=_("Owner"), required=False, help_text=_("A username."))
    link_lines = PlainText(
        label=_("Links"), required=False, help_text=_("One per line: kind | label | URL")
    )
    seen = forms.CharField(widget=forms.HiddenInput, required=False)
    shown_as = {"tags": "tag_names", "owner": "owner_name", "links": "link_lines"}

    class Meta:
        model = Version
        fields = ()

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        version = self.instance
        tags = sorted(tag.name for tag in version.tags.all())
        self.fields["tag_names"].initial = ", ".join(tags)
        self.fields["owner_name"].initial = version.owner.username if version.owner else ""
        self.fields["link_lines"].initial = write_links(version.links)
        self.fields["seen"].initial = labels_seen(version)

    def clean(self) -> None:
        super().clean()
        typed = self.cleaned_data
        same = LabelsForm(
            {
                "tags": typed.get("tag_names", ""),
                "owner": typed.get("owner_name", ""),
                "links": typed.get("link_lines", ""),
            }
        )
        for name, errors in same.errors.items():
            self.add_error(self.shown_as[name], list(errors))
        self.labels = same.cleaned_data

    def tags(self) -> list[str]:
        """Return the submitted tags."""
        return split_words(self.labels["tags"])


class NewVersionForm(ServiceForm):
    """The next version of an entry. All other fields are copied from the newest version."""

    entry_slug = forms.SlugField(label=_("Entry"), help_text=_("The slug of the entry."))
    script_text = PlainText(label=_("Script"), rows=16, code=True)
    note = forms.CharField(label=_("What changed and why"), required=False, max_length=2000)
    seen = forms.IntegerField(widget=forms.HiddenInput, required=False)
    shown_as = {"script": "script_text"}

    class Meta:
        model = Version
        fields = ()

    def clean_entry_slug(self) -> Entry:
        entry = Entry.objects.filter(slug=self.cleaned_data["entry_slug"]).first()
        if entry is None:
            raise forms.ValidationError(_("No entry has this slug."))
        return entry


class TagForm(ServiceForm):
    """A tag's name."""

    class Meta:
        model = Tag
        fields = ("name",)
