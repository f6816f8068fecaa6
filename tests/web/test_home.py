"""The first page: what waits for each role, what runs, what the last study found, and no link that is refused."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.models import Run
from annotations.models import Assignment, Campaign, Conversation
from evaluation.models import ReviewQueue
from evaluation.studies.home import plot, to_judge
from evaluation.studies.taking_part.talking import talk
from evaluation.studies.watching import NAME as WATCHED
from tests import factories
from tests.quick import first_is_quick
from tests.web.reading import source
from tests.web.test_page_permissions import make_world_of_pages
from tests.web.test_pages_studies import add_scores, make_study
from tests.web.test_permissions import client_of
from tests.web.world import World, make_world
from webnav_site.frame.tours import TOURS

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    return factories.make_campaign(mode=Campaign.Mode.OPEN)


@pytest.fixture(scope="module")
def world(rows_of_the_file: None) -> World:
    return make_world()


def home(client: Client) -> str:
    return source(client.get("/"))


def card(page: str, heading: str) -> str:
    return page.partition(f"<h2>{heading}</h2>")[2].partition("</section>")[0]


@pytest.mark.slow
def test_an_annotator_sees_what_an_open_campaign_has_for_them_and_starts_it_with_one_key(campaign: Campaign) -> None:
    for _ in range(3):
        factories.make_item(factories.make_session(campaign))
    annotator = factories.make_user("annotator", campaign.project)
    client = client_of(annotator)
    shown = card(home(client), "To decompose")
    assert '<span class="big">3</span>' in shown
    assert campaign.name in shown
    assert 'data-key="1"' in shown
    started = client.post("/annotate/next/", {"campaign": campaign.pk, "stage": "decompose"})
    (own,) = Assignment.objects.filter(user=annotator)
    assert started.url == reverse("annotate-item", args=[own.pk])
    assert "1 of them yours already" in card(home(client), "To decompose")


@pytest.mark.slow
def test_returned_work_comes_first_with_what_is_wrong_and_is_not_counted_twice(campaign: Campaign) -> None:
    annotator = factories.make_user("annotator", campaign.project)
    mine = factories.make_assignment(
        factories.make_item(factories.make_session(campaign)), annotator, review=Assignment.Reviewed.RETURNED
    )
    reviewer = factories.make_user("reviewer", campaign.project)
    given = factories.make_assignment(factories.make_item(mine.item.session, stage="verify", subject=mine), reviewer)
    verdict = mine.verdicts.create(verification=given, outcome="return", reason="see the cuts", round=1, version=0)
    verdict.defects.create(code="cut-misplaced")
    verdict.defects.create(code="value-lost", note="The date is gone.")
    verdict.defects.create(code="of an older rubric")
    page = home(client_of(annotator))
    shown = card(page, "Returned to you")
    assert "Not so: Every cut lies where the user&#x27;s intent changes." in shown
    assert "The date is gone." in shown
    assert "Not so: of an older rubric" in shown
    assert "cut-misplaced" not in shown
    assert "value-lost" not in shown
    assert f'href="{reverse("annotate-item", args=[mine.pk])}"' in shown
    assert "To decompose" not in page
    assert "1 item waits for you" in page


def test_a_stage_whose_returned_work_comes_first_has_no_second_button_for_it(campaign: Campaign) -> None:
    annotator = factories.make_user("annotator", campaign.project)
    factories.make_item(factories.make_session(campaign))
    back = factories.make_assignment(factories.make_item(factories.make_session(campaign)), annotator)
    client, wanted = client_of(annotator), {"campaign": campaign.pk, "stage": "decompose"}
    said = "Comes after what was returned to you"
    before = card(home(client), "To decompose")
    assert said not in before
    assert "Start <kbd>1</kbd>" in before
    assert "This was returned to you" not in source(client.post("/annotate/next/", wanted, follow=True))
    Assignment.objects.filter(pk=back.pk).update(review=Assignment.Reviewed.RETURNED)
    after = card(home(client), "To decompose")
    assert said in after
    assert "<button" not in after
    assert "Start opens what was returned to you first" in card(source(client.get("/annotate/")), "To decompose")
    opened = client.post("/annotate/next/", wanted, follow=True)
    assert opened.context["assignment"] == back
    assert "This was returned to you: it comes before anything new." in source(opened)


@pytest.mark.slow
def test_who_has_handed_in_a_few_sees_their_own_pace(campaign: Campaign) -> None:
    annotator = factories.make_user("annotator", campaign.project)
    for _ in range(2):
        factories.make_item(factories.make_session(campaign))
    client = client_of(annotator)
    for seconds in (60, 120, 600):
        for page in ("/", "/annotate/"):
            before = card(source(client.get(page)), "To decompose")
            assert "your pace: known once you have handed in 3" in before
        item = factories.make_item(factories.make_session(campaign))
        factories.make_assignment(item, annotator, state="submitted", active_seconds=seconds)
    for page in ("/", "/annotate/"):
        assert "your pace: 2 min each, about 4 min in all" in card(source(client.get(page)), "To decompose")


@pytest.mark.slow
def test_nothing_waits_where_the_role_may_not_or_others_have_it(campaign: Campaign) -> None:
    item = factories.make_item(factories.make_session(campaign))
    assert "Nothing waits for you" in home(client_of(factories.make_user("reader", campaign.project)))
    factories.make_assignment(item)
    page = home(client_of(factories.make_user("annotator", campaign.project)))
    assert "Nothing waits for you" in page
    assert "Nothing to do right now" in page


@pytest.mark.slow
def test_a_manager_sees_what_holds_a_campaign_up(campaign: Campaign) -> None:
    admin = client_of(factories.make_user("admin", campaign.project))
    assert "no sessions yet: organise some" in home(admin)
    for _ in range(2):
        factories.make_item(factories.make_session(campaign))
    factories.make_assignment(
        factories.make_item(factories.make_session(campaign), stage="rewrite"), review="returned", round=2
    )
    reasons = ["1 item returned, and not taken up since", "2 items to decompose, and nobody is at it"]
    assert [said for said in reasons if said in home(admin)] == reasons
    assert not any(said in home(client_of(factories.make_user("reader", campaign.project))) for said in reasons)
    page = admin.get(f"/annotate/campaigns/{campaign.pk}/").content.decode()
    assert page.index("What holds it up") < page.index(reasons[0]) < page.index(reasons[1])
    for address in re.findall(r'<li><a class="link" href="([^"]+)">', page):
        rows = admin.get(address.replace("&amp;", "&")).content.decode()
        assert 'id="items"' in rows


@pytest.mark.slow
def test_what_holds_a_campaign_up_is_told_to_those_who_may_see_its_rows(campaign: Campaign) -> None:
    address = f"/annotate/campaigns/{campaign.pk}/"
    factories.make_session(campaign)
    reviewer = client_of(factories.make_user("reviewer", campaign.project)).get(address).content.decode()
    assert "1 session not open for work" in reviewer
    assert "/organise/" not in reviewer
    annotator = client_of(factories.make_user("annotator", campaign.project)).get(address).content.decode()
    assert "What holds it up" not in annotator


@pytest.mark.slow
def test_what_runs_is_counted_apart_from_what_waits_and_stands_first() -> None:
    study, run = make_study()
    Run.objects.filter(pk=run.pk).update(state="queued", step_count=12)
    project = study.project
    first = factories.make_job(project, kind="sample", params={"name": "data"}, state="running")
    for number in range(7):
        factories.make_job(project, params={"name": f"waits-{number}"}, state="queued")
    page = home(client_of(factories.make_user("admin", project)))
    assert "for you; 1 is running, 8 wait for their turn." in page
    under_way = page.partition("<h2>Under way</h2>")[2].partition("</section>")[0]
    listed = re.findall(r'href="(/(?:jobs|studies)/\d+/)"', under_way)
    assert (listed[0], len(listed)) == (f"/jobs/{first.pk}/", 8), "older than the latest, and runs"
    assert listed[1] == f"/studies/{study.pk}/"
    assert "1 more waits" in under_way


@pytest.mark.slow
def test_when_a_study_ended_is_said_of_it_and_not_when_it_began() -> None:
    study, run = make_study()
    now = timezone.now()
    type(study).objects.filter(pk=study.pk).update(created_at=now - timedelta(minutes=50))
    Run.objects.filter(pk=run.pk).update(finished_at=now - timedelta(minutes=5, seconds=5))
    page = home(client_of(factories.make_user("admin", study.project)))
    assert "finished 5 min ago" in page.partition("<h2>Latest studies</h2>")[2]
    assert "50 min" not in page


@pytest.mark.slow
def test_the_last_study_with_scores_is_drawn_and_one_without_is_not() -> None:
    study, run = make_study()
    client = client_of(factories.make_user("admin", study.project))
    assert "Find out which agent works" in home(client)
    add_scores(run, turn_success=0.4, step_success=0.6)
    factories.make_study(study.project, [factories.make_run(run.dataset)])
    page = home(client)
    assert f"Which agent works on {run.dataset}" in page
    assert 'aria-label="40.0, from 30.0 to 50.0"' in page
    assert f'href="/studies/{study.pk}/failures/"' in page
    assert "Find out which agent works" not in page
    watched = factories.make_run(run.dataset, state="done", recipe_name="watched")
    factories.make_study(study.project, [watched], name=WATCHED)
    add_scores(watched, turn_success=1.0)
    assert 'aria-label="100.0' not in home(client), "one conversation that somebody watched says nothing of agents"
    other = client_of(factories.make_user("admin"))
    assert "Which agent works" not in home(other)


@pytest.mark.slow
def test_a_reviewer_sees_the_runs_to_look_at_those_first_that_most_can_be_learnt_of(campaign: Campaign) -> None:
    study, run = make_study()
    better, useless, nothing = (
        factories.make_run(run.dataset, state="done", recipe_name=name) for name in ("better", "useless", "nothing")
    )
    for one, value in ((run, 0.4), (better, 0.9), (useless, 0.02), (nothing, 0.0)):
        add_scores(one, element_accuracy=value)
    page = home(client_of(factories.make_user("reviewer", study.project)))
    first, second, third = (page.index(f'href="/runs/{one.pk}/?order=worst"') for one in (run, better, useless))
    assert first < second < third
    assert f'href="/runs/{nothing.pk}/?order=worst"' not in page
    for other in (factories.make_user("annotator", study.project), factories.make_user("reviewer", campaign.project)):
        assert "Runs to look at" not in home(client_of(other))


@pytest.mark.slow
def test_a_researcher_sees_the_next_sensible_thing() -> None:
    study, run = make_study()
    admin, reader = (client_of(factories.make_user(role, study.project)) for role in ("admin", "reader"))
    said = re.search(r'id="next-thing">(.*?)</p>', home(admin), re.DOTALL)
    assert said is not None
    assert "ready and ha" in said[1]
    name = re.search(r'href="/studies/new/\?recipe=([\w-]+)"', said[1])
    assert name is not None
    assert name[1] != run.recipe_name
    Run.objects.filter(pk=run.pk).update(state="failed")
    assert f"{run.recipe_name} failed in {study.name}." in home(admin)
    assert "next-thing" not in home(reader)


def test_the_first_superuser_is_led_to_the_first_project(django_user_model) -> None:
    """Who administers the site makes it; everybody else asks."""
    add = reverse("admin:annotations_project_add")
    root, nobody = Client(), Client()
    root.force_login(django_user_model.objects.create_superuser("root"))
    nobody.force_login(django_user_model.objects.create_user("nobody"))
    assert add in source(root.get("/"))
    assert add in source(root.get("/people/"))
    assert root.get(add).status_code == 200
    assert add not in source(nobody.get("/"))
    assert "Ask an admin of your project" in source(nobody.get("/"))


@pytest.mark.slow
@pytest.mark.parametrize("role", ["admin", "annotator", "reviewer", "reader"])
def test_no_link_of_the_first_page_is_refused(role: str, world: World) -> None:
    client = client_of(factories.make_user(role, world.project))
    page = client.get("/").content.decode()
    links = set(re.findall(r'href="(/[^"#]*)"', page))
    assert len(links) > 10
    refused = {link: code for link in links if (code := client.get(link).status_code) >= 400}
    assert not {link for link in refused if not link.startswith("/static/")}


@pytest.mark.slow
@pytest.mark.parametrize("role", ["admin", "annotator", "reviewer", "reader"])
def test_no_link_of_any_page_is_refused(role: str) -> None:
    """From the first page on, one address of each kind."""
    project = make_world_of_pages().project
    client = client_of(factories.make_user(role, project, sees_test_gold=True))
    seen, refused, waiting = set(), {}, ["/"]
    while waiting:
        link = waiting.pop(0)
        kind = re.sub(r"/\d+/", "/N/", link.partition("?")[0])
        if kind in seen or link.startswith(("/static/", "/media/")):
            continue
        seen.add(kind)
        answer = client.get(link)
        if answer.status_code == 403:
            refused[link] = answer.status_code
        elif answer.status_code == 200 and "text/html" in answer.headers["Content-Type"] and not answer.streaming:
            waiting += re.findall(r'<a[^>]*href="(/[^"#]*)', source(answer))
    assert len(seen) > 30
    assert refused == {}


@pytest.mark.slow
@pytest.mark.parametrize("role", ["admin", "annotator", "reviewer", "reader"])
@first_is_quick("name", TOURS)
@first_is_quick("is_empty", [True, False])
def test_every_stop_of_every_tour_opens_for_every_role(role: str, name: str, is_empty: bool, world: World) -> None:
    """From the link of the first page to the last stop, with data and without."""
    project = factories.make_project() if is_empty else world.project
    client = client_of(factories.make_user(role, project))
    address, seen = f"/?tour={name}-1", []
    assert f'href="{address}"' in home(client)
    while address:
        page = client.get(address, follow=True)
        assert page.status_code == 200, address
        seen.append(page.context["tour"]["text"])
        address = page.context["tour"]["after"]
    assert seen == [stop.text for stop in TOURS[name]]


def test_a_tour_leads_to_what_has_something_to_see() -> None:
    study, run = make_study(split="train")
    add_scores(run, turn_success=0.3)
    empty = factories.make_run(run.dataset, split="train", state="queued")
    factories.make_trajectory(empty, factories.make_conversation(dataset=run.dataset, split="test_task"), stored=0)
    factories.make_study(study.project, [empty])
    reviewer = factories.make_user("reviewer", study.project)
    stops = {(name, place): stop.url(reviewer) for name, stops in TOURS.items() for place, stop in enumerate(stops, 1)}
    assert stops["researcher", 4] == f"/runs/{run.pk}/"
    assert stops["reviewer", 5] == f"/studies/{study.pk}/failures/"
    assert stops["reviewer", 4] == f"/trajectories/{run.trajectories.order_by('-pk').first().pk}/"
    ranks_only = factories.make_trajectory(run, factories.make_conversation(dataset=run.dataset, split="train"))
    ranks_only.steps.update(operation="")
    assert TOURS["reviewer"][3].url(reviewer) == stops["reviewer", 4], "an agent that does nothing shows nothing"
    shown = Conversation.objects.get(pk=stops["annotator", 4].strip("/").split("/")[-1])
    assert shown.split == "train", "the gold of the other is hidden"
    hidden = factories.make_run(run.dataset, split="test_task", state="done")
    add_scores(hidden, turn_success=0.5)
    reader, admin = (factories.make_user(role, study.project) for role in ("reader", "admin"))
    assert TOURS["researcher"][3].url(reader) == f"/runs/{run.pk}/", "scores of the other are hidden"
    assert TOURS["researcher"][3].url(admin) == f"/runs/{hidden.pk}/"
    run.steps.update(success=True)
    assert TOURS["reviewer"][4].url(reviewer) == "/studies/"


def test_a_researcher_is_led_to_the_dataset_on_which_most_runs_were_made_and_to_one_of_them() -> None:
    study, run = make_study(split="train")
    add_scores(run, turn_success=0.3)
    second = factories.make_run(run.dataset, split="train", state="done")
    add_scores(second, turn_success=0.4)
    newer = factories.make_dataset(project=study.project)
    factories.make_conversation(dataset=newer, split="train")
    later = factories.make_run(newer, split="train", state="done")
    add_scores(later, turn_success=0.5)
    admin = factories.make_user("admin", study.project)
    of_dataset, of_run = (TOURS["researcher"][place].url(admin) for place in (1, 3))
    assert of_dataset == reverse("dataset", args=[run.dataset.name])
    assert of_run == f"/runs/{second.pk}/"
    third = factories.make_run(newer, split="train", state="done")
    fourth = factories.make_run(newer, split="train", state="done")
    for one in (third, fourth):
        add_scores(one, turn_success=0.5)
    of_dataset, of_run = (TOURS["researcher"][place].url(admin) for place in (1, 3))
    assert of_dataset == reverse("dataset", args=[newer.name])
    assert of_run == f"/runs/{fourth.pk}/"


def test_the_tour_of_an_annotator_shows_the_workbench_and_takes_nothing(campaign: Campaign) -> None:
    annotator, other = (factories.make_user("annotator", campaign.project) for _ in range(2))
    stop = TOURS["annotator"][2]
    free = factories.make_item(factories.make_session(campaign))
    theirs = factories.make_assignment(factories.make_item(factories.make_session(campaign)), other, state="submitted")
    factories.make_assignment(factories.make_item(factories.make_session(campaign)), annotator)  # still at work on it
    assert stop.url(annotator) == "/annotate/campaigns/", "in a blind campaign nobody reads others' work"
    assert stop.url(factories.make_user("reviewer", campaign.project)) == f"/annotate/assignments/{theirs.pk}/"
    done = factories.make_item(factories.make_session(campaign))
    own = factories.make_assignment(done, annotator, state="submitted")
    page = client_of(annotator).get(f"{stop.url(annotator)}?tour=annotator-3")
    assert page.context["assignment"] == own
    assert not free.assignments.exists()
    assert stop.text in source(page)


def test_the_tour_of_a_manager_has_no_empty_page(campaign: Campaign) -> None:
    admin = factories.make_user("admin", campaign.project)
    stop = TOURS["manager"][3]
    assert stop.url(admin) == "/annotate/campaigns/"
    factories.make_item(factories.make_session(campaign))
    factories.make_campaign(campaign.project)  # newer, and empty
    page = client_of(admin).get(f"{stop.url(admin)}?tour=manager-4")
    assert 'id="items"' in source(page)
    assert "What holds it up" in source(client_of(admin).get(TOURS["manager"][2].url(admin)))
    assert stop.url(factories.make_user("reader", campaign.project)) == "/annotate/campaigns/"


@pytest.mark.parametrize(
    "tour", ["annotator-0", "annotator-6", "nobody-1", "annotator-x", "annotator", "", "-", "annotator-\u00b2"]
)
def test_a_tour_that_is_not_there_shows_nothing(tour: str) -> None:
    page = client_of(factories.make_user("reader")).get("/", {"tour": tour})
    assert page.status_code == 200
    assert page.context["tour"] is None


@pytest.mark.slow
def test_the_steps_worth_a_look_are_of_the_best_run_one_for_each_reason_with_their_pages() -> None:
    study, run = make_study()
    add_scores(run, element_accuracy=0.3, turn_success=0.3)
    steps = list(run.steps.order_by("seq"))
    for step in steps[:3]:
        step.trace = {"act": {"representation": "[link]  Rooms -> CLICK"}}
        step.node_id, step.error, step.gold_rank, step.element_correct, step.success = "7", "", 2, False, False
        step.save()
    page = home(client_of(factories.make_user("reviewer", study.project)))
    shown = page.partition('id="worth-a-look"')[2].partition("</section>")[0]
    assert f'href="/trajectories/{steps[0].trajectory_id}/steps/{steps[0].seq}/"' in shown
    assert "CLICK Rooms" in shown
    others = run.steps.failed().count() - 1
    assert f"wrong element, gold in the top 5, {others} like it" in " ".join(shown.split())
    assert "/snapshots/" in shown
    assert 'sandbox loading="lazy"' in shown


@pytest.mark.slow
def test_who_may_not_see_gold_is_told_of_no_wrong_step() -> None:
    study, run = make_study(split="test_task")
    add_scores(run, element_accuracy=0.3, turn_success=0.3)
    assert 'id="worth-a-look"' in home(client_of(factories.make_user("reviewer", study.project, sees_test_gold=True)))
    assert 'id="worth-a-look"' not in home(client_of(factories.make_user("annotator", study.project)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("split", "sees", "asked"), [("train", False, True), ("test_task", True, True), ("test_task", False, False)]
)
def test_a_reviewer_is_asked_for_the_steps_of_a_queue_by_a_key(split: str, sees: bool, asked: bool) -> None:
    study, run = make_study(split=split)
    queue = ReviewQueue.objects.create(project=study.project, study=study, choice="random", population=6, said_right=2)
    queue.ask(list(run.steps.values_list("pk", flat=True)))
    reviewer = client_of(factories.make_user("reviewer", study.project, sees_test_gold=sees))
    shown = card(home(reviewer), "Steps to judge")
    assert bool(shown) == asked == (reviewer.get(f"/reviews/queues/{queue.pk}/next/").status_code == 302)
    if not asked:
        return
    assert f'<span class="big">{run.steps.count()}</span>' in shown
    assert f'href="/reviews/queues/{queue.pk}/next/"' in shown
    assert 'data-key="1"' in shown
    assert card(home(client_of(factories.make_user("annotator", study.project))), "Steps to judge") == ""


def test_queues_that_are_done_take_no_place_of_those_that_still_ask() -> None:
    study, run = make_study(split="train")
    steps = list(run.steps.values_list("pk", flat=True))
    fields = {"project": study.project, "study": study, "choice": "random", "population": 6, "said_right": 2}
    waiting = [ReviewQueue.objects.create(**fields) for _ in range(2)]
    for queue in waiting:
        queue.ask(steps)
    for _ in range(2):  # newer, and nothing in them is left
        ReviewQueue.objects.create(**fields)
    reviewer = factories.make_user("reviewer", study.project)
    assert [queue for queue, _ in to_judge(reviewer)] == waiting[::-1]
    assert f"{2 * len(steps)} items wait for you" in home(client_of(reviewer))


def test_the_plot_is_of_the_last_study_that_compares_recipes() -> None:
    first, one = make_study(recipe_name="grounded")
    studies = [first, *(factories.make_study(first.project) for _ in range(2))]
    for study in studies[1:]:
        study.runs.clear()
    for study, recipes in zip(studies, (["grounded-encoder"], ["mindact", "deberta"], ["self-map"]), strict=True):
        for name in recipes:
            fields = {"recipe_name": name, "recipe_sha256": name, "split": "train", "state": "done"}
            study.runs.add(run := factories.make_run(one.dataset, **fields))
            add_scores(run, turn_success=0.4, element_accuracy=0.5)
    admin = factories.make_user("admin", first.project)
    shown = plot(admin)
    assert shown is not None
    assert shown["study"] == studies[1]
    assert {row[0].label for row in shown["rows"]} == {"mindact", "deberta"}
    begun = factories.make_study(first.project)
    begun.runs.clear()
    for name, state in (("awm", "done"), ("synapse", "running")):
        begun.runs.add(run := factories.make_run(one.dataset, recipe_name=name, recipe_sha256=name, state=state))
    add_scores(begun.runs.get(recipe_name="awm"), turn_success=0.7)
    shown = plot(admin)
    assert shown is not None
    assert shown["study"] == studies[1], "the one just begun has nothing to compare yet"
    add_scores(run, turn_success=0.6)
    shown = plot(admin)
    assert shown is not None
    assert shown["study"] == begun


def test_many_agents_with_the_same_numbers_share_a_row() -> None:
    study, run = make_study(recipe_name="grounded")
    add_scores(run, turn_success=0.4)
    zeros = ["awm", "mindact", "self-map"]
    for name in zeros:
        fields = {"recipe_name": name, "recipe_sha256": name, "split": run.split, "state": "done"}
        study.runs.add(other := factories.make_run(run.dataset, **fields))
        add_scores(other, turn_success=0.0)
    admin = factories.make_user("admin", study.project)
    shown = plot(admin)
    assert shown is not None
    assert [len(row[3]) for row in shown["rows"]] == [0, 0, 0, 0], "few lie one below the other"
    study.runs.add(other := factories.make_run(run.dataset, **fields | {"recipe_name": "wma", "recipe_sha256": "wma"}))
    add_scores(other, turn_success=0.0)
    shown = plot(admin)
    assert shown is not None
    (first, *_), (second, *_, alike) = shown["rows"]
    assert (first.label, {second.label, *alike}, shown["more"]) == ("grounded", {*zeros, "wma"}, 0)
    page = home(client_of(admin))
    assert f"as are {', '.join(alike)}" in page


def test_what_one_person_watches_or_says_is_on_nobody_elses_first_page() -> None:
    study, run = make_study()
    ada, ben = (factories.make_user("admin", study.project, username=name) for name in ("ada", "ben"))
    begun = talk(ada, study.project, "grounded", "nordline", "Wave.")
    mine, others = home(client_of(ada)), home(client_of(ben))
    assert "Talk of ada" in mine.partition("<h2>Under way</h2>")[2].partition("</section>")[0]
    assert "Talk of ada" not in others
    assert begun.trajectory.run.dataset.name not in others
    assert run.dataset.name in others
    Run.objects.filter(pk=begun.trajectory.run_id).update(state="done")
    assert "Talk of ada" not in home(client_of(ada)), "the latest studies are those that compare agents"
    assert study.name in home(client_of(ada))
