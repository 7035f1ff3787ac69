"""The Git mirror of the catalogue: one commit per publication, and import of branches as versions for review."""
