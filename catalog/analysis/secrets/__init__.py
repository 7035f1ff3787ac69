"""Finds passwords, tokens and keys in any text: their positions and kinds, and the text without them.

What tells a secret is its form (`AKIA...`, `forms`), or what stands before or near it: a name (`password=`,
`assignments`), a command (`command_lines`), a sentence (`sentences`), or nothing at all (`unnamed`). All but the forms
are used for texts only: what a script assigns is read from its syntax tree.
"""

from catalog.analysis.secrets.masking import (
    MASK,
    Masked,
    Secret,
    find_secret_forms,
    find_secrets,
    mask_secrets,
    secret_values,
)
from catalog.analysis.secrets.sentences import SPOKEN
from catalog.analysis.secrets.value_tests import is_placeholder

__all__ = [
    "MASK",
    "SPOKEN",
    "Masked",
    "Secret",
    "find_secret_forms",
    "find_secrets",
    "is_placeholder",
    "mask_secrets",
    "secret_values",
]
