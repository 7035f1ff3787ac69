"""URLs for all integrations."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from scriptsmith_site.integrations.overview import show_integrations

urlpatterns: list[URLPattern | URLResolver] = [
    path("integrations/", show_integrations, name="integrations"),
    path("integrations/mirror/", include("scriptsmith_site.integrations.mirror.urls")),
    path("integrations/destinations/", include("scriptsmith_site.integrations.outbox.urls")),
    path("", include("scriptsmith_site.integrations.notifications.urls")),
    path("", include("scriptsmith_site.integrations.alerts.urls")),
    path("", include("scriptsmith_site.integrations.agents.urls")),
    path("", include("scriptsmith_site.integrations.chat_commands.urls")),
    path("", include("scriptsmith_site.integrations.single_sign_on.urls")),
]
