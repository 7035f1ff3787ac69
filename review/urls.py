"""Every address of the reviews, from the rooms' own."""

from __future__ import annotations

from django.urls import include, path, register_converter

from core.web.public_keys import ITEM, PublicKeyConverter


class ItemKey(PublicKeyConverter):
    kind = ITEM


register_converter(ItemKey, "item_key")

urlpatterns = [
    # First, for addresses are tried in turn, and those of the review screen are asked the most.
    path("items/<item_key:pk>/", include("review.desk.urls")),
    path("", include("review.queue.urls")),
    path("campaigns/", include("review.campaigns.urls")),
    path("", include("review.exchange.urls")),
    path("", include("review.report.urls")),
]
