"""URLs for the calibration pages."""

from __future__ import annotations

from django.urls import path

from catalog.calibration import views

urlpatterns = [
    path("catalogue/calibration/", views.calibration, name="calibration"),
    path("catalogue/calibration/threshold/", views.threshold_set, name="threshold-set"),
    path("catalogue/calibration/fit/", views.scoring_fit, name="scoring-fit"),
    path("catalogue/calibration/scoring/", views.scoring_choose, name="scoring-choose"),
    path("catalogue/calibration/label/", views.case_label, name="case-label"),
    path("catalogue/calibration/labels/<int:pk>/undo/", views.label_undo, name="label-undo"),
]
