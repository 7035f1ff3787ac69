"""All URLs of the product, composed from the URLs of the apps."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from scriptsmith_site.presentation.gallery import gallery
from scriptsmith_site.web.home import home
from scriptsmith_site.web.search import show_search

handler400 = "scriptsmith_site.web.errors.bad_request"
handler403 = "scriptsmith_site.web.errors.permission_denied"
handler404 = "scriptsmith_site.web.errors.page_not_found"
handler500 = "scriptsmith_site.web.errors.server_error"

# Load the admin here and not at startup, because workers do not need it.
admin.autodiscover()

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home, name="home"),
    path("search/", show_search, name="search"),
    path("_gallery/", gallery, name="gallery"),
    # The review URLs come first, because URLs are tried in order and these are requested most.
    path("", include("review.urls")),
    path("", include("catalog.urls")),
    path("", include("pipeline.urls")),
    path("", include("scriptsmith_site.people.urls")),
    path("", include("scriptsmith_site.operation.urls")),
    path("", include("scriptsmith_site.integrations.urls")),
    path("api/v1/", include("scriptsmith_site.api")),
    path("admin/", admin.site.urls),
]
