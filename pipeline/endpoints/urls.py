"""URLs for the endpoint pages."""

from __future__ import annotations

from django.urls import path

from pipeline.endpoints import views as endpoints

urlpatterns = [
    path("endpoints/", endpoints.endpoint_list, name="endpoint-list"),
    path("endpoints/new/", endpoints.endpoint_new, name="endpoint-new"),
    path("endpoints/<slug:name>/", endpoints.endpoint_detail, name="endpoint-detail"),
    path("endpoints/<slug:name>/edit/", endpoints.endpoint_edit, name="endpoint-edit"),
    path("endpoints/<slug:name>/check/", endpoints.endpoint_check, name="endpoint-check"),
    path("endpoints/<slug:name>/switch-on/", endpoints.switch_on, name="endpoint-switch-on"),
    path("endpoints/<slug:name>/switch-off/", endpoints.switch_off, name="endpoint-switch-off"),
    path("endpoints/<slug:name>/wake/", endpoints.wake, name="endpoint-wake"),
    path("endpoints/<slug:name>/use-mode/", endpoints.use_mode, name="endpoint-use-mode"),
    path("endpoints/<slug:name>/delete/", endpoints.delete_endpoint, name="endpoint-delete"),
    path("endpoints/<slug:name>/prices/", endpoints.add_price, name="price-add"),
    path(
        "endpoints/<slug:name>/prices/<int:pk>/remove/",
        endpoints.remove_price,
        name="price-remove",
    ),
]
