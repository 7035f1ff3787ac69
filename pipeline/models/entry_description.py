"""An assessor's description of a catalogue entry's script: requested once for each model and prompt, and stored."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from catalog.models import Version


class EntryDescription(models.Model):
    """The description of a Version's script, made from the script alone, by one model and one prompt.

    It is what a statement is compared with before the Version may answer it; nobody has checked it.
    """

    version = models.ForeignKey(Version, models.CASCADE, related_name="+", db_index=False)
    # Of the script that was described: another text has another description.
    script_sha256 = models.CharField(max_length=64)
    endpoint = models.SlugField(max_length=50)
    model = models.CharField(max_length=100)
    prompt_version = models.CharField(max_length=12)
    text = models.TextField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["version", "script_sha256", "endpoint", "model", "prompt_version"],
                name="entry_description_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.model} on version {self.version_id}"
