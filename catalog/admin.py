"""Import the admin pages of the subpackages, for Django's autodiscovery."""

from catalog.curation.admin import entries, records, tags

__all__ = ["entries", "records", "tags"]
