"""The tables of the admin lie with the rooms that work with their rows; here Django finds them."""

import evaluation.explaining.admin
import evaluation.guard.admin
import evaluation.judges.admin
import evaluation.reviews.admin
import evaluation.scores.admin
import evaluation.studies.admin  # noqa: F401
