"""The plots of a study: what they draw, their tables and their CSV, and what test gold keeps hidden."""

import csv
import io

import pytest

from agents.models import Run
from evaluation.models import Study
from evaluation.scores.breakdowns import RunBreakdown
from evaluation.scores.of_recipes import of_recipe
from evaluation.scores.plots import COLUMNS, PlotData, PlotPoint, drawn_together
from evaluation.scores.scoring import RunScores
from evaluation.scores.taken import TakenSteps
from tests import factories
from tests.web.reading import source
from tests.web.test_pages_studies import add_scores, make_study, study_client

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return scored(*make_study())


def scored(study: Study, run: Run) -> Study:
    """With recall at three places, a turn success, and where it fails."""
    add_scores(run, **{"recall@1": 0.2, "recall@5": 0.5, "recall@50": 0.9, "turn_success": 0.25})
    RunBreakdown(run, "corrected").store(RunScores(run).outcomes("corrected"))
    return study


def csv_rows(study: Study, role: str = "reader") -> list[dict[str, str]]:
    answer = study_client(study, role).get(f"/studies/{study.pk}/plots.csv")
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def test_every_plot_is_drawn_with_its_table(study: Study) -> None:
    page = source(study_client(study).get(f"/studies/{study.pk}/plots/"))
    for title in ("Recall of the gold element at k", "Success by turn", "Websites by recipe", "against time"):
        assert title in page
    assert "against money" not in page  # no call had a price
    assert page.count("<summary>Table</summary>") == 3
    assert f'href="/studies/{study.pk}/plots/"' in source(study_client(study).get(f"/studies/{study.pk}/"))


def test_the_points_can_be_had_as_csv(study: Study) -> None:
    rows = csv_rows(study)
    assert tuple(rows[0]) == COLUMNS
    recall = [(row["x"], float(row["value"])) for row in rows if row["plot"] == "recall"]
    assert recall == [("1", 0.2), ("5", 0.5), ("50", 0.9)]
    assert {row["plot"] for row in rows} == {"recall", "by_turn", "by_website", "seconds"}


@pytest.mark.slow
def test_every_plot_has_its_own_csv(study: Study) -> None:
    reader = study_client(study)
    page = source(reader.get(f"/studies/{study.pk}/plots/"))
    rows = csv_rows(study)
    for name in ("recall", "by_turn", "by_website", "seconds"):
        address = f"/studies/{study.pk}/plots.csv?preset=corrected&plot={name}"
        assert address.replace("&", "&amp;") in page
        answer = reader.get(address)
        assert f"study-{study.pk}-{name}.csv" in answer["Content-Disposition"]
        own = list(csv.DictReader(io.StringIO(answer.content.decode())))
        assert own == [row for row in rows if row["plot"] == name]
    assert reader.get(f"/studies/{study.pk}/plots.csv?plot=none").status_code == 404


def test_slices_of_a_test_split_are_for_those_who_may_see_its_gold() -> None:
    study = scored(*make_study(split="test_task"))
    assert {row["plot"] for row in csv_rows(study)} == {"recall", "seconds"}
    assert "Slices of test splits are left out" in source(study_client(study).get(f"/studies/{study.pk}/plots/"))
    seeing = study_client(study, sees_test_gold=True)
    assert "Websites by recipe" in source(seeing.get(f"/studies/{study.pk}/plots/"))


def test_a_study_without_scores_says_that_there_is_nothing_to_plot() -> None:
    study, _ = make_study()
    assert "No run of this study has scores" in source(study_client(study).get(f"/studies/{study.pk}/plots/"))


def test_no_agent_looks_quick_because_another_had_ranked_its_pages_before(study: Study) -> None:
    (first,), times = study.runs.all(), {}

    def ranked(run: Run, rank: float, plan: float) -> None:
        """Let the steps of a run have taken that long, and its scores be computed."""
        run.steps.update(milliseconds=1000 * (rank + plan), trace={"seconds": {"rank": rank, "plan": plan}})
        RunBreakdown(run, "corrected").store(RunScores(run).outcomes("corrected"))
        times[run.recipe_name] = rank + plan

    ranked(first, 2.0, 0.1)
    for name, kind, rank in (("after", first.recipe["rank"]["kind"], 0.01), ("other", "dense", 0.5)):
        recipe = first.recipe | {"rank": first.recipe["rank"] | {"kind": kind}}
        run = factories.make_run(first.dataset, recipe_name=name, recipe=recipe, split=first.split, state="done")
        factories.make_trajectory(run, first.trajectories.get().conversation)
        add_scores(run, turn_success=0.5)
        study.runs.add(run)
        ranked(run, rank, 0.3)
    drawn_at = {row["recipe"]: float(row["x"]) for row in csv_rows(study) if row["plot"] == "seconds"}
    assert times["after"] == pytest.approx(0.31)
    assert drawn_at == pytest.approx({first.recipe_name: 2.1, "after": 2.3, "other": 0.8})
    assert "ranking as where pages were new" in source(study_client(study).get(f"/studies/{study.pk}/plots/"))
    elsewhere = factories.make_run(first.dataset, recipe_name="again", recipe=first.recipe, split="test_website")
    factories.make_trajectory(elsewhere, factories.make_conversation(1, 1, dataset=first.dataset, split="test_website"))
    ranked(elsewhere, 0.01, 0.1)
    again = TakenSteps([elsewhere]).seconds()[elsewhere.pk]
    assert again == pytest.approx(2.1), "its split shares texts with the one before"
    relatives = of_recipe(factories.make_user("admin", study.project), "after", [first.recipe_name])
    assert relatives is not None
    assert {row.run.recipe_name: row.seconds for row in relatives.variants} == pytest.approx(
        {first.recipe_name: 2.1, "after": 2.3}
    )


def test_money_is_drawn_where_calls_had_a_price(study: Study) -> None:
    study.runs.get().steps.update(cost=0.002)
    money = [row for row in csv_rows(study) if row["plot"] == "money"]
    assert [(float(row["x"]), float(row["value"])) for row in money] == [(0.002, 0.25)]


def test_the_panels_of_a_plot_have_the_same_axes_and_a_recipe_the_same_line() -> None:
    points = [
        PlotPoint("train", "one", "1", 0.1),
        PlotPoint("train", "two", "50", 0.8),
        PlotPoint("test_task", "two", "5", 0.4),
    ]
    first, second = drawn_together([PlotData("recall", "Recall", "k", points)])[0].panels
    assert (first.x_ticks, first.y_ticks) == (second.x_ticks, second.y_ticks)
    assert [word for _, word in first.x_ticks] == ["1", "5", "50"]
    assert [line.style for line in first.lines] == [0, 1]
    assert [(line.recipe, line.style) for line in second.lines] == [("two", 1)]
    lower, higher = first.lines[0].marks[0].y, first.lines[1].marks[0].y
    assert lower > higher, "more success stands higher"


def test_an_axis_of_numbers_begins_at_nothing_and_holds_the_largest() -> None:
    points = [PlotPoint("", "one", 0.7, 0.5), PlotPoint("", "two", 3.2, 0.6)]
    (panel,) = drawn_together([PlotData("seconds", "Time", "seconds a step", points, is_numeric=True)])[0].panels
    assert [word for _, word in panel.x_ticks] == ["0", "1", "2", "3", "4"]
    assert panel.x_ticks[0][0] < panel.lines[0].marks[0].x < panel.lines[1].marks[0].x < panel.x_ticks[-1][0]


def test_marks_have_their_interval_and_none_lies_under_another(study: Study) -> None:
    points = [PlotPoint("train", name, "1", 0.5, 0.25, 0.75, 9) for name in ("one", "two")]
    (panel,) = drawn_together([PlotData("recall", "Recall", "k", points)])[0].panels
    one, two = (line.marks[0] for line in panel.lines)
    assert one.x < two.x
    assert one.low > one.y > one.high, "as it is drawn, from the top"
    assert one.said == "one, 1: 50.0, from 25.0 to 75.0"
    page = source(study_client(study).get(f"/studies/{study.pk}/plots/"))
    assert page.count('class="whisker"') >= 4
    assert "turn success rate, by turn of the conversation" in page


def test_a_recipe_has_the_same_line_in_every_plot_of_a_page() -> None:
    """Also where a plot shows fewer recipes: those that only rank have no success by turn."""
    ranked = [PlotPoint("train", recipe, "1", 0.5) for recipe in ("deberta", "grounded", "mindact")]
    plots = drawn_together(
        [PlotData("recall", "Recall", "k", ranked), PlotData("by_turn", "Turns", "turn", ranked[1:])]
    )
    first, second = ({recipe: style for style, recipe in plot.recipes} for plot in plots)
    assert second == {recipe: first[recipe] for recipe in ("grounded", "mindact")}


MANY = [f"recipe-{number:02}" for number in range(19)]


def test_of_many_recipes_the_best_have_lines_of_their_own_and_all_marks_lie_within_their_panel() -> None:
    """Those that share a ranker keep the same elements: one line for them, not a fan."""
    shares = [0.9 - 0.04 * (number if number < 12 else 12) for number in range(19)]
    points = [
        PlotPoint("train", name, k, share + place / 100)
        for name, share in zip(MANY, shares, strict=True)
        for place, k in enumerate(["1", "5", "10", "20", "50", "100"])
    ]
    (plot,) = drawn_together([PlotData("recall", "Recall", "k", points)])
    (panel,) = plot.panels
    assert [style for style, _ in plot.recipes] == [*range(8), "-rest"]
    assert plot.recipes[-1][1].startswith("11 others, lower")
    assert len(panel.lines) == 13, "seven of them are alike"
    assert panel.lines[0].style == "-rest", "what is pale lies below"
    step = panel.x_ticks[1][0] - panel.x_ticks[0][0]
    for line in panel.lines:
        for mark, (x, _) in zip(line.marks, panel.x_ticks, strict=True):
            assert abs(mark.x - x) < step / 2
            assert 34 < mark.x < plot.right
    seven = next(mark.said for line in panel.lines for mark in line.marks if MANY[15] in mark.said)
    assert all(name in seven for name in MANY[12:])
    few = [point for point in points if point.recipe in MANY[12:14]]
    (plot,) = drawn_together([PlotData("recall", "Recall", "k", few)])
    assert [line.style for line in plot.panels[0].lines] == [0, 1], "few lie side by side, also where they are alike"


def test_a_heat_map_is_as_narrow_as_it_can_be() -> None:
    points = [PlotPoint("train", name, site, 0.5, n=3) for name in MANY for site in ("shop", "trains")]
    for points_of, corner, columns, rows in (
        (points, "Recipe", [("shop", "train"), ("trains", "train")], 19),
        ([point for point in points if point.recipe == MANY[0]], "Website", [(MANY[0], "")], 2),
    ):
        heat = drawn_together([PlotData("by_website", "Sites", "website", points_of, is_heat=True)])[0].heat
        assert heat is not None
        assert (heat.corner[0], heat.columns, len(heat.rows)) == (corner, columns, rows)
        assert all(cell is not None for _, cells in heat.rows for cell in cells)
