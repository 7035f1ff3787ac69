from __future__ import annotations

from django.urls import path

from review.views import desk, queue

urlpatterns = [
    path("queue/", queue.queue, name="queue"),
    path("queue/next/", queue.claim_next, name="queue-next"),
    path("runs/<int:pk>/review/", queue.review_run, name="run-review"),
    path("items/<int:pk>/", desk.review, name="item-review"),
    path("items/<int:pk>/claim/", queue.claim_item, name="item-claim"),
    path("items/<int:pk>/score/", desk.score, name="item-score"),
    path("items/<int:pk>/decide/", desk.decide, name="item-decide"),
    path("items/<int:pk>/reveal/", desk.reveal, name="item-reveal"),
    path("items/<int:pk>/ask-feedback/", desk.ask_feedback, name="item-ask-feedback"),
    path("items/<int:pk>/send-feedback/", desk.send_feedback, name="item-send-feedback"),
    path("items/<int:pk>/give-back/", desk.give_back, name="item-give-back"),
    path("items/<int:pk>/flag/", desk.flag, name="item-flag"),
    path("items/<int:pk>/scratch/", desk.save_scratch, name="item-scratch"),
    path("items/<int:pk>/alive/", desk.keep_alive, name="item-alive"),
]
