"""The Git mirror of the catalogue, with one commit per publication. Branches can be imported as versions for review."""
