"""URLs for notifications, notification settings and the email integration."""

from __future__ import annotations

from django.urls import path

from scriptsmith_site.integrations.notifications import views

urlpatterns = [
    path("integrations/mail/", views.mail_door_page, name="mail-door"),
    path("integrations/mail/pause/", views.mail_pause, name="mail-pause"),
    path("integrations/mail/resume/", views.mail_resume, name="mail-resume"),
    path("notifications/", views.notification_list, name="notification-list"),
    path("notifications/bell/", views.notification_bell, name="notification-bell"),
    path("notifications/read/", views.notification_read_all, name="notification-read-all"),
    path("notifications/<int:pk>/open/", views.notification_open, name="notification-open"),
    path("notifications/<int:pk>/read/", views.notification_read, name="notification-read"),
    path("settings/notifications/", views.notification_choices, name="notification-choices"),
    path(
        "settings/notifications/test/", views.notification_test_mail, name="notification-test-mail"
    ),
    path(
        "settings/notifications/confirm/<str:secret>/",
        views.notification_confirm,
        name="notification-confirm",
    ),
]
