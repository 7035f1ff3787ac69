"""The tables of accounts and of operation."""

from scriptsmith_site.models.accounts import (
    ApiToken,
    GuessCount,
    OneTimeLink,
    Profile,
    SecurityEvent,
    TokenAddress,
)
from scriptsmith_site.models.operation import BackupEvent

__all__ = [
    "ApiToken",
    "BackupEvent",
    "GuessCount",
    "OneTimeLink",
    "Profile",
    "SecurityEvent",
    "TokenAddress",
]
