"""URLs for the review queue, studies, and the assignments of an item."""

from __future__ import annotations

from django.urls import path

from review.queue.views import queue, reassignment, studies

urlpatterns = [
    path("items/<item_key:pk>/claim/", queue.claim_item, name="item-claim"),
    path("items/<item_key:pk>/hands/", reassignment.item_hands, name="item-hands"),
    path("items/<item_key:pk>/hands/assign/", reassignment.item_assign, name="item-assign"),
    path(
        "items/<item_key:pk>/hands/<int:assignment>/take-over/",
        reassignment.item_take_over,
        name="item-take-over",
    ),
    path(
        "items/<item_key:pk>/hands/<int:assignment>/send-back/",
        reassignment.item_send_back,
        name="item-send-back",
    ),
    path("queue/", queue.queue, name="queue"),
    path("queue/next/", queue.claim_next, name="queue-next"),
    path("runs/<int:pk>/review/", queue.review_run, name="run-review"),
    path("studies/", studies.study_list, name="study-list"),
    path("studies/<int:pk>/", studies.study_queue, name="study-queue"),
    path("studies/<int:pk>/next/", studies.study_next, name="study-next"),
]
