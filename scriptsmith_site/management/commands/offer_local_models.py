"""Create the *local* endpoint and its configurations for the models that `make run` serves."""

from __future__ import annotations

from django.conf import settings
from django.core.management.base import BaseCommand

from pipeline.configurations.local_presets import offer_local_models
from scriptsmith_site.embedded.local_model.weights import served_models


class Command(BaseCommand):
    help = 'Create the endpoint "local" and its configurations. `make run` does this at each start.'

    def handle(self, *args: object, **options: object) -> None:
        models = [path.stem for path in served_models()]
        offer_local_models(models, slots=settings.SCRIPTSMITH_LOCAL_MODEL_SLOTS)
        if models:
            self.stdout.write(
                f"Local models: {', '.join(models)}. Runs wait until the models are loaded.\n\n"
            )
        else:
            self.stdout.write(
                "No local model is installed. Stop ScriptSmith, run `make local-model`, and start "
                "ScriptSmith again.\n\n"
            )
