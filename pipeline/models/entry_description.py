"""EntryDescription: an assessor's description of an entry's script, stored once per model and prompt."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from catalog.models import Version


class EntryDescription(models.Model):
    """The description of a Version's script by one model and prompt, based only on the script.

    Before the Version may answer a statement, the statement is compared with this description. No reviewer checks it.
    """

    version = models.ForeignKey(Version, models.CASCADE, related_name="+", db_index=False)
    # The hash of the described script. A changed script needs a new description.
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
