"""URLs for the agent endpoint, its page and the client script."""

from __future__ import annotations

from django.urls import path, re_path

from scriptsmith_site.integrations.agents import client_script, pages, views

urlpatterns = [
    # Accept both forms because a redirect would lose the body of a POST.
    re_path(r"^mcp/?$", views.serve_agents, name="mcp"),
    path("integrations/agents/", pages.show_agents, name="agents"),
    path("integrations/agents/test/", pages.test_agents, name="agents-test"),
    path("integrations/agents/pause/", pages.pause_agents, name="agents-pause"),
    path("integrations/agents/resume/", pages.resume_agents, name="agents-resume"),
    path("client/scriptsmith", client_script.download, name="client-script"),
]
