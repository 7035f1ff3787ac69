"""Find passwords, tokens and keys in any text, with their positions and kinds, and mask them.

A secret is recognized by its form (`AKIA...`, forms.txt) or by a name, a command or a sentence near it (contexts.txt).
Contexts are used only for plain text. A script's assignments are read from its syntax tree.
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
