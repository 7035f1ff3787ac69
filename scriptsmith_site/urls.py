"""Every address of the product, composed from the apps' own."""

from __future__ import annotations

from importlib import import_module

from django.conf import settings
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView

from scriptsmith_site.home import home
from scriptsmith_site.presentation.gallery import gallery

handler400 = "scriptsmith_site.errors.bad_request"
handler403 = "scriptsmith_site.errors.permission_denied"
handler404 = "scriptsmith_site.errors.page_not_found"
handler500 = "scriptsmith_site.errors.server_error"


def present(name: str) -> bool:
    return (settings.BASE_DIR / (name.replace(".", "/") + ".py")).exists()


urlpatterns: list[URLPattern | URLResolver] = [
    path("", home, name="home"),
    path("_gallery/", gallery, name="gallery"),
    path(
        "",
        include(
            [
                path("", include(f"{app}.urls"))
                for app in ("catalog", "pipeline", "review")
                if present(f"{app}.urls")
            ]
        ),
    ),
    *[
        path("", include(name))
        for name in (
            "scriptsmith_site.presentation.urls",
            "scriptsmith_site.people.urls",
            "scriptsmith_site.operation.urls",
        )
        if present(name)
    ],
    *[
        path("api/v1/", include(import_module(f"{app}.api").router.urls))
        for app in ("catalog", "pipeline", "review")
        if present(f"{app}.api")
    ],
    path("api/v1/schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("admin/", admin.site.urls),
]
