"""The API under /api/v1/: the apps' endpoints, the schema, and a page to try them."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.contrib.auth.decorators import login_required
from django.urls import include, path
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.permissions import IsAuthenticated
from rest_framework.routers import DefaultRouter

import catalog.api
import pipeline.api
import review.api
import scriptsmith_site.integrations.alerts.api


class ApiTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The description of API tokens in the schema. drf-spectacular registers it when the class is defined."""

    target_class = "scriptsmith_site.people.sign_in.authentication.ApiTokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "sst_..."}


@cache
def api_schema() -> dict[str, Any]:
    """Return the OpenAPI schema.

    Each process builds it once, because that takes a second and does not depend on the user.
    """
    found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return found


class OneSchema(SchemaGenerator):
    """A schema generator that returns the cached schema."""

    def get_schema(self, request: object = None, public: bool = False) -> dict[str, Any]:
        return api_schema()


router = DefaultRouter()
# Disable suffixes such as `/runs.json`. They would add an undocumented second URL for each operation.
router.include_format_suffixes = False
for app in (catalog.api, pipeline.api, review.api, scriptsmith_site.integrations.alerts.api):
    router.registry.extend(app.router.registry)

# Return YAML or JSON, depending on the client's preference.
show_schema = SpectacularAPIView.as_view(
    generator_class=OneSchema,
    permission_classes=[IsAuthenticated],
    content_negotiation_class=DefaultContentNegotiation,
)
show_docs = login_required(
    SpectacularSwaggerSplitView.as_view(url_name="api-schema", template_name="site/api_docs.html")
)

urlpatterns = [
    path("schema/", show_schema, name="api-schema"),
    path("docs/", show_docs, name="api-docs"),
    # The namespace allows pages and the API to use the same URL names.
    path("", include((router.urls, "api"))),
]
