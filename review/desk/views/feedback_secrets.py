"""The question what is done with secrets in feedback, in the dialog where it is written."""

from __future__ import annotations

from django.http import HttpRequest, QueryDict

from core.errors import Refused
from pipeline import services as pipeline
from pipeline.runs.forms import SecretsChoiceForm
from pipeline.types import SecretsChoice
from review.models import Item


def read_choice(request: HttpRequest, item: Item, text: str) -> SecretsChoice | None:
    """What the reviewer chose for the secrets that they were shown; None where they are to be asked."""
    if item.run is None:
        return None
    return SecretsChoiceForm(request.POST).feedback_choice(item.run, text)


def ask_about_secrets(refused: Refused | None) -> SecretsChoiceForm | None:
    """The question, where a refusal says that there are any."""
    if not isinstance(refused, pipeline.SecretsFound):
        return None
    form = SecretsChoiceForm(QueryDict())
    form.full_clean()
    form.ask_about_secrets(refused)
    return form
