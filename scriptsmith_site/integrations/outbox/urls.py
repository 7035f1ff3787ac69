"""URLs for destinations and deliveries."""

from __future__ import annotations

from django.urls import path

from scriptsmith_site.integrations.outbox import views

urlpatterns = [
    path("", views.destination_list, name="destination-list"),
    path("new/<slug:kind>/", views.destination_new, name="destination-new"),
    path("<int:pk>/", views.destination_detail, name="destination-detail"),
    path("<int:pk>/edit/", views.destination_edit, name="destination-edit"),
    path("<int:pk>/test/", views.destination_test, name="destination-test"),
    path("<int:pk>/secret/", views.destination_rotate, name="destination-rotate"),
    path("<int:pk>/pause/", views.destination_pause, name="destination-pause"),
    path("<int:pk>/resume/", views.destination_resume, name="destination-resume"),
    path("<int:pk>/replay/", views.destination_replay, name="destination-replay"),
    path("<int:pk>/delete/", views.destination_delete, name="destination-delete"),
    path("deliveries/<int:pk>/", views.delivery_detail, name="delivery-detail"),
    path("deliveries/<int:pk>/replay/", views.delivery_replay, name="delivery-replay"),
]
