"""URLs for the configuration and prompt pages."""

from __future__ import annotations

from django.urls import path

from pipeline.configurations import prompt_views
from pipeline.configurations import views as configurations

urlpatterns = [
    path("configurations/", configurations.configuration_list, name="configuration-list"),
    path("configurations/new/", configurations.configuration_new, name="configuration-new"),
    path(
        "configurations/<slug:name>/",
        configurations.configuration_detail,
        name="configuration-detail",
    ),
    path(
        "configurations/<slug:name>/default/",
        configurations.configuration_default,
        name="configuration-default",
    ),
    path(
        "configurations/<slug:name>/archive/",
        configurations.configuration_archive,
        name="configuration-archive",
    ),
    path(
        "configurations/<slug:name>/unarchive/",
        configurations.configuration_unarchive,
        name="configuration-unarchive",
    ),
    path("prompts/", prompt_views.prompt_list, name="prompt-list"),
    path("prompts/<slug:name>/", prompt_views.prompt_detail, name="prompt-detail"),
    path("prompts/<slug:name>/new/", prompt_views.prompt_new, name="prompt-new"),
]
