"""The URLs of the review app, collected from its packages."""

from __future__ import annotations

from django.urls import include, path, register_converter

from core.web.public_keys import ITEM, PublicKeyConverter


class ItemKey(PublicKeyConverter):
    kind = ITEM


register_converter(ItemKey, "item_key")

urlpatterns = [
    # Django tries patterns in order. The review page is first because it gets the most requests.
    path("items/<item_key:pk>/", include("review.desk.urls")),
    path("", include("review.queue.urls")),
    path("campaigns/", include("review.campaigns.urls")),
    path("", include("review.exchange.urls")),
    path("", include("review.report.urls")),
]
