"""A verified script for what runs things: an Ansible role, a Rundeck job, an AWX survey.

Pure: knows no database. The script's bytes stay as they are, so that its hash can be verified; values reach it as
arguments and variables and are never put into its text.
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
