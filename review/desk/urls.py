"""URLs for an item, under `items/<pk>/`. The URL for scoring is first because it gets the most requests."""

from __future__ import annotations

from django.urls import path

from review.desk.views import autosave, cases, desk, line_comments, shortening

urlpatterns = [
    path("score/", desk.score, name="item-score"),
    path("", desk.review, name="item-review"),
    path("decide/", desk.decide, name="item-decide"),
    path("reveal/", desk.reveal, name="item-reveal"),
    path("ask-feedback/", desk.ask_feedback, name="item-ask-feedback"),
    path("send-feedback/", desk.send_feedback, name="item-send-feedback"),
    path("shorten/", shortening.shorten, name="item-shorten"),
    path("shorten/<int:shortening>/", shortening.shorter, name="item-shorter"),
    path("give-back/", desk.give_back, name="item-give-back"),
    path("flag/", desk.flag, name="item-flag"),
    path("scratch/", autosave.save_scratch, name="item-scratch"),
    path("alive/", autosave.keep_alive, name="item-alive"),
    path("open/", autosave.open_in_tab, name="item-open"),
    path("remark/", line_comments.remark, name="item-remark"),
    path("remark/remove/", line_comments.remove_remark, name="item-remark-remove"),
    path("execution/", cases.execution, name="item-execution"),
    path("execution/label/", cases.label, name="item-execution-label"),
    path("cases/strike/", cases.strike, name="item-case-strike"),
    path("cases/edit/", cases.edit, name="item-case-edit"),
    path("undo/", desk.undo, name="item-undo"),
    path("answer/", desk.answer, name="item-answer"),
    path("earlier/", desk.earlier, name="item-earlier"),
]
