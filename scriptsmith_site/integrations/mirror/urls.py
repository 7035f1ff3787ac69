"""URLs for the mirror."""

from __future__ import annotations

from django.urls import path

from scriptsmith_site.integrations.mirror import views

urlpatterns = [
    path("", views.mirror, name="mirror"),
    path("edit/", views.mirror_edit, name="mirror-edit"),
    path("test/", views.mirror_test, name="mirror-test"),
    path("pause/", views.mirror_pause, name="mirror-pause"),
    path("resume/", views.mirror_resume, name="mirror-resume"),
    path("check/", views.mirror_check, name="mirror-check"),
    path("go-on/", views.mirror_go_on, name="mirror-go-on"),
    path("remove/", views.mirror_remove, name="mirror-remove"),
    path("branches/", views.mirror_branches, name="mirror-branches"),
    path("branches/<int:pk>/", views.mirror_branch, name="mirror-branch"),
    path("branches/<int:pk>/take/", views.mirror_branch_take, name="mirror-branch-take"),
]
