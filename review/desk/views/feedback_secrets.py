"""The question about secrets, which is shown in the dialog where a reviewer writes feedback."""

from __future__ import annotations

from django.http import HttpRequest, QueryDict

from core.errors import Refused
from pipeline import services as pipeline
from pipeline.runs.forms import SecretsChoiceForm
from pipeline.types import SecretsChoice
from review.models import Item


def read_choice(request: HttpRequest, item: Item, text: str) -> SecretsChoice | None:
    """Return the reviewer's choice for secrets in the text, or None if the page must ask the reviewer."""
    if item.run is None:
        return None
    return SecretsChoiceForm(request.POST).feedback_choice(item.run, text)


def ask_about_secrets(refused: Refused | None) -> SecretsChoiceForm | None:
    """Return a form with the question if the request was rejected because of secrets, or None."""
    if not isinstance(refused, pipeline.SecretsFound):
        return None
    form = SecretsChoiceForm(QueryDict())
    form.full_clean()
    form.ask_about_secrets(refused)
    return form
