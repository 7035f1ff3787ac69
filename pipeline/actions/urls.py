"""URLs for the action pages."""

from __future__ import annotations

from django.urls import path

from pipeline.actions import views as actions

urlpatterns = [
    path("actions/", actions.action_list, name="action-list"),
    path("actions/new/", actions.action_new, name="action-new"),
    path("actions/seen/", actions.actions_seen, name="actions-seen"),
    path("actions/<int:pk>/", actions.action_detail, name="action-detail"),
    path("actions/<int:pk>/edit/", actions.action_edit, name="action-edit"),
    path("actions/<int:pk>/erase/", actions.action_erase, name="action-erase"),
    path("actions/<int:pk>/run/", actions.run_start, name="run-start"),
]
