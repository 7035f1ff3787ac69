"""Addresses of an item, below `items/<pk>/`; scoring, which is asked by far the most, first."""

from __future__ import annotations

from django.urls import path

from review.views import desk, hands, keeping, queue, remarks, report, shortening

urlpatterns = [
    path("score/", desk.score, name="item-score"),
    path("", desk.review, name="item-review"),
    path("claim/", queue.claim_item, name="item-claim"),
    path("decide/", desk.decide, name="item-decide"),
    path("reveal/", desk.reveal, name="item-reveal"),
    path("ask-feedback/", desk.ask_feedback, name="item-ask-feedback"),
    path("send-feedback/", desk.send_feedback, name="item-send-feedback"),
    path("shorten/", shortening.shorten, name="item-shorten"),
    path("shorten/<int:shortening>/", shortening.shorter, name="item-shorter"),
    path("hands/", hands.item_hands, name="item-hands"),
    path("hands/assign/", hands.item_assign, name="item-assign"),
    path("hands/<int:assignment>/take-over/", hands.item_take_over, name="item-take-over"),
    path("hands/<int:assignment>/send-back/", hands.item_send_back, name="item-send-back"),
    path("give-back/", desk.give_back, name="item-give-back"),
    path("flag/", desk.flag, name="item-flag"),
    path("scratch/", keeping.save_scratch, name="item-scratch"),
    path("alive/", keeping.keep_alive, name="item-alive"),
    path("open/", keeping.open_in_tab, name="item-open"),
    path("check/", keeping.check_edit, name="item-check"),
    path("remark/", remarks.remark, name="item-remark"),
    path("remark/remove/", remarks.remove_remark, name="item-remark-remove"),
    path("undo/", desk.undo, name="item-undo"),
    path("answer/", desk.answer, name="item-answer"),
    path("earlier/", desk.earlier, name="item-earlier"),
    path("execution-reason/", report.item_execution_reason, name="item-execution-reason"),
]
