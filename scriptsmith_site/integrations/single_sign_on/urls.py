"""URLs for single sign-on: start, callback and administration."""

from __future__ import annotations

from django.urls import path

from scriptsmith_site.integrations.single_sign_on import pages, views

urlpatterns = [
    path("login/single-sign-on/", views.start, name="single-sign-on-start"),
    path("login/single-sign-on/callback/", views.come_back, name="single-sign-on-callback"),
    path("integrations/single-sign-on/", pages.show_provider, name="single-sign-on"),
    path("integrations/single-sign-on/test/", pages.test_provider, name="single-sign-on-test"),
    path("integrations/single-sign-on/pause/", pages.pause_provider, name="single-sign-on-pause"),
    path(
        "integrations/single-sign-on/resume/", pages.resume_provider, name="single-sign-on-resume"
    ),
    path("users/<int:pk>/identity/remove/", pages.remove_person, name="user-identity-remove"),
]
