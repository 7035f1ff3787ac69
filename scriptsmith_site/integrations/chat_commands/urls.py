"""URLs for slash commands: the webhook and the administration pages."""

from __future__ import annotations

from django.urls import path

from scriptsmith_site.integrations.chat_commands import views

urlpatterns = [
    path("chat-commands/<int:pk>", views.answer_command, name="chat-command-call"),
    path("integrations/commands/", views.command_list, name="chat-commands"),
    path("integrations/commands/new/<slug:kind>/", views.command_new, name="chat-command-new"),
    path("integrations/commands/<int:pk>/", views.command_detail, name="chat-command"),
    path("integrations/commands/<int:pk>/edit/", views.command_edit, name="chat-command-edit"),
    path("integrations/commands/<int:pk>/test/", views.command_test, name="chat-command-test"),
    path("integrations/commands/<int:pk>/pause/", views.command_pause, name="chat-command-pause"),
    path(
        "integrations/commands/<int:pk>/resume/", views.command_resume, name="chat-command-resume"
    ),
    path(
        "integrations/commands/<int:pk>/remove/", views.command_remove, name="chat-command-remove"
    ),
]
