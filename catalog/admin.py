"""Where Django's admin looks for what an app registers."""

from catalog.curation.admin import entries, records, tags

__all__ = ["entries", "records", "tags"]
