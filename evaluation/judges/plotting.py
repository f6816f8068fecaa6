"""Draws how far judges agree with people."""

from collections.abc import Sequence

from evaluation.judges.agreeing import JudgeAgreement
from evaluation.scores.plots import PlotData, PlotPoint

METRIC = "percent, kappa times 100, "


def agreement_plot(found: Sequence[JudgeAgreement]) -> PlotData:
    """A line for each judge that people can be compared with: sensitivity, specificity and kappa in all of its runs."""
    points: list[PlotPoint] = []
    for one in found:
        known, kappa = one.all.known, one.all.kappa
        for name, rate in (("sensitivity", known.sensitivity), ("specificity", known.specificity)):
            if rate.n:
                points.append(PlotPoint("all runs", one.name, name, rate.value, rate.low, rate.high, rate.n))
        if kappa.value is not None:
            points.append(PlotPoint("all runs", one.name, "kappa", kappa.value, kappa.low, kappa.high, kappa.n))
    title = "Judges beside people"
    return PlotData("judges", title, "measure", points, metric=METRIC, is_joined=False, line="Judge")
