"""Finds passwords, tokens and keys in any text: their positions and kinds, and the text without them.

A secret is known by its form (`AKIA...`, forms.txt), or by what stands before or near it: a name, a command or a
sentence (contexts.txt). All but the forms are used for texts only: what a script assigns is read from its syntax tree.
"""

from catalog.analysis.secrets.masking import (
    IN_WORDS,
    MASK,
    Masked,
    Secret,
    find_secret_forms,
    find_secrets,
    mask_secrets,
    secret_values,
)
from catalog.analysis.secrets.value_tests import is_placeholder

__all__ = [
    "IN_WORDS",
    "MASK",
    "Masked",
    "Secret",
    "find_secret_forms",
    "find_secrets",
    "is_placeholder",
    "mask_secrets",
    "secret_values",
]
