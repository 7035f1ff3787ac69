"""Models of accounts, operation and integrations with other systems."""

from scriptsmith_site.models.accounts import (
    ApiToken,
    GuessCount,
    OneTimeLink,
    Profile,
    SecurityEvent,
    Session,
    TokenAddress,
)
from scriptsmith_site.models.agents import AgentCallCount, AgentPause
from scriptsmith_site.models.alerts import (
    Alert,
    AlertDelivery,
    AlertKey,
    AlertRule,
    AlertRuleRun,
    AlertSource,
    AlertTally,
    Incident,
    IncidentEvent,
)
from scriptsmith_site.models.chat_commands import ChatCommand, ChatCommandCall
from scriptsmith_site.models.doors import Door
from scriptsmith_site.models.mirror import Mirror, MirrorBranch, MirrorCommit
from scriptsmith_site.models.notifications import Notification, NotificationChoices
from scriptsmith_site.models.operation import BackupEvent, DemoPassword, Installation
from scriptsmith_site.models.outbox import (
    Delivery,
    DeliveryAttempt,
    Destination,
    Event,
    EventSequence,
)

__all__ = [
    "AgentCallCount",
    "AgentPause",
    "Alert",
    "AlertDelivery",
    "AlertKey",
    "AlertRule",
    "AlertRuleRun",
    "AlertSource",
    "AlertTally",
    "ApiToken",
    "BackupEvent",
    "ChatCommand",
    "ChatCommandCall",
    "Delivery",
    "DeliveryAttempt",
    "DemoPassword",
    "Destination",
    "Door",
    "Event",
    "EventSequence",
    "GuessCount",
    "Incident",
    "IncidentEvent",
    "Installation",
    "Mirror",
    "MirrorBranch",
    "MirrorCommit",
    "Notification",
    "NotificationChoices",
    "OneTimeLink",
    "Profile",
    "SecurityEvent",
    "Session",
    "TokenAddress",
]
