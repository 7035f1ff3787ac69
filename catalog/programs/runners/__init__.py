"""Export a verified script as an Ansible role, a Rundeck job or an AWX survey.

This package does not access the database. Exports contain the script's exact bytes, so that its hash can be verified.
Values are passed as arguments and environment variables and never inserted into the script.
"""

from __future__ import annotations

from catalog.programs.runners.ansible import ansible_role
from catalog.programs.runners.awx import awx_survey
from catalog.programs.runners.rundeck import rundeck_job
from catalog.programs.runners.script_data import Provenance, RunnableScript, Value, values_of

__all__ = [
    "Provenance",
    "RunnableScript",
    "Value",
    "ansible_role",
    "awx_survey",
    "rundeck_job",
    "values_of",
]
