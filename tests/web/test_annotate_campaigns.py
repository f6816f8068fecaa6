"""Pages of campaigns, my queue, assignment and the bin: what they show and do, and to whom."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from agents.models import Connection
from annotations.desk import moving_on
from annotations.models import DEFAULT_RUBRIC, Assignment, Campaign, Item, Session
from tests import factories
from tests.signed_in import client_of
from tests.web.reading import source

pytestmark = pytest.mark.django_db
RUBRIC = "cut | decompose | Cuts are right.\nodd | rewrite | Reads well."


@pytest.fixture
def campaign() -> Campaign:
    return factories.make_campaign()


@pytest.fixture
def admin(campaign) -> Client:
    return client_of(factories.make_user("admin", campaign.project))


def opened(campaign: Campaign, count: int = 1, **fields) -> list[Item]:
    return [moving_on.open_work(factories.make_session(campaign, tasks=1, steps=2, **fields)) for _ in range(count)]


def test_the_campaign_shows_what_became_of_the_proposals_of_each_model(campaign, admin) -> None:
    page = reverse("annotate-campaign", args=[campaign.pk])
    assert 'id="proposals"' not in source(admin.get(page))
    for outcome, distance, passed in (("unchanged", 0.0, True), ("edited", 0.5, False), ("", None, None)):
        ended = {"outcome": outcome, "distance": distance, "has_passed": passed}
        campaign.proposals.create(kind="cuts", model_name="tiny 1", content={}, **ended)
    shown = source(admin.get(page))
    assert all(said in shown for said in ("tiny 1", "50.0 %", "0.25"))


SEEN_BY_MEMBERS = ("annotate-campaign", "annotate-guidelines")
PAGES_OF_ADMINS = ("annotate-campaign-edit", "annotate-assign", "annotate-organise")
ACTIONS_OF_ADMINS = (
    *("annotate-campaign-close", "annotate-campaign-delete", "annotate-take-back", "annotate-organise-change"),
    *("annotate-organise-propose", "annotate-open-work", "annotate-guidelines", "annotate-assign"),
)


@pytest.mark.slow
@pytest.mark.parametrize("role", ["annotator", "reviewer", "reader"])
def test_members_see_campaigns_and_only_admins_change_them(campaign, role: str) -> None:
    client = client_of(factories.make_user(role, campaign.project))
    for name in SEEN_BY_MEMBERS:
        assert client.get(reverse(name, args=[campaign.pk])).status_code == 200, name
    for name in PAGES_OF_ADMINS:
        assert client.get(reverse(name, args=[campaign.pk])).status_code == 403, name
    for name in ACTIONS_OF_ADMINS:
        assert client.post(reverse(name, args=[campaign.pk])).status_code == 403, name
    for name in ("annotate-campaign-new", "annotate-bin"):
        assert client.get(reverse(name)).status_code == 403, name
    session = factories.make_session(campaign, deleted_at=timezone.now())
    assert client.post(reverse("annotate-session-restore", args=[session.pk])).status_code == 403
    Campaign.objects.update(deleted_at=timezone.now())
    assert client.post(reverse("annotate-campaign-restore", args=[campaign.pk])).status_code == 403


@pytest.mark.slow
@pytest.mark.parametrize("role", ["admin", "annotator"])
def test_campaigns_of_other_projects_do_not_exist(campaign, role: str) -> None:
    client = client_of(factories.make_user(role))
    for name in (*SEEN_BY_MEMBERS, *PAGES_OF_ADMINS):
        assert client.get(reverse(name, args=[campaign.pk])).status_code == 404, name
    for name in ACTIONS_OF_ADMINS:
        assert client.post(reverse(name, args=[campaign.pk])).status_code == 404, name
    assert campaign.name not in source(client.get(reverse("annotate-campaigns")))
    session = factories.make_session(campaign, deleted_at=timezone.now())
    assert client.post(reverse("annotate-session-restore", args=[session.pk])).status_code == 404
    Campaign.objects.update(deleted_at=timezone.now())
    assert client.post(reverse("annotate-campaign-restore", args=[campaign.pk])).status_code == 404


def test_an_item_of_somebody_else_is_not_let_go(campaign) -> None:
    (item,) = opened(campaign)
    assignment = item.hand(factories.make_user("annotator", campaign.project), 0)
    other = client_of(factories.make_user("admin", campaign.project))
    assert other.post(reverse("annotate-queue-give-back", args=[assignment.pk])).status_code == 404


def form_of(campaign: Campaign, **fields) -> dict:
    values = {
        "name": "Pilot",
        "source": campaign.source_id,
        "mode": "open",
        "overlap": 2,
        "verify_overlap": 1,
        "second_look": 10,
    }
    return values | {"cap": 0, "steps_per_part": 4, "blind": "on", "proposer": "", "rubric": RUBRIC} | fields


def test_a_new_campaign_has_its_rules_guidelines_and_project(campaign, admin) -> None:
    assert "cut-misplaced | decompose |" in source(admin.get(reverse("annotate-campaign-new")))
    response = admin.post(reverse("annotate-campaign-new"), form_of(campaign))
    made = Campaign.objects.get(name="Pilot")
    assert response.url == reverse("annotate-organise", args=[made.pk])
    assert (made.project, made.overlap, made.blind) == (campaign.project, 2, True)
    assert made.rubric[1] == {"code": "odd", "stage": "rewrite", "question": "Reads well."}
    assert made.guidelines.get().version == 1


def test_a_campaign_names_one_of_the_connections(campaign, admin) -> None:
    Connection.objects.create(name="mine", base_url="https://models.example/v1", model="m-1")
    Connection.objects.create(name="ada", base_url="https://models.example/v1", model="m-2", kind="embedding")
    url, values = reverse("annotate-campaign-new"), form_of(campaign, proposer="endpoint")
    assert 'value="mine"' in source(admin.get(url))
    for wrong in ("ada", "gone"):
        assert "is not one of the available choices" in source(admin.post(url, values | {"connection": wrong}))
    admin.post(url, values | {"connection": "mine"})
    assert Campaign.objects.get(name="Pilot").connection == "mine"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rubric": "no bars"}, "Line 1: write code | stage | question."),
        ({"rubric": "Bad Code | rewrite | x"}, "Line 1: a code has lower-case letters"),
        ({"rubric": "a | verify | x"}, "the stage is decompose or rewrite, found “verify”"),
        ({"rubric": "a | rewrite | x\na | rewrite | y"}, "Line 2: “a” is there already."),
        ({"overlap": 0}, "greater than or equal to 1"),
    ],
)
def test_mistakes_are_said_at_the_field(campaign, admin, wrong: dict, said: str) -> None:
    assert said in source(admin.post(reverse("annotate-campaign-new"), form_of(campaign, **wrong)))
    assert not Campaign.objects.filter(name="Pilot").exists()


def test_a_name_is_used_once_per_project_and_foreign_datasets_are_no_source(campaign, admin) -> None:
    url = reverse("annotate-campaign-new")
    assert "has a campaign of this name" in source(admin.post(url, form_of(campaign, name=campaign.name)))
    foreign = factories.make_dataset()
    assert "not one of the available choices" in source(admin.post(url, form_of(campaign, source=foreign.pk)))


def test_the_source_is_fixed_once_there_are_sessions(campaign, admin) -> None:
    factories.make_session(campaign)
    other = factories.make_dataset(campaign.project)
    admin.post(reverse("annotate-campaign-edit", args=[campaign.pk]), form_of(campaign, source=other.pk))
    changed = Campaign.objects.get(pk=campaign.pk)
    assert (changed.name, changed.source) == ("Pilot", campaign.source)


def test_the_list_and_the_page_show_how_far_a_campaign_is(campaign, admin) -> None:
    first, second, _ = opened(campaign, 3)
    person = factories.make_user("annotator", campaign.project)
    moving_on.submit(first.hand(person, 0))
    second.hand(person, 0).take(person)
    assert "1 submitted, 0 returned, 1 in progress, 1 todo" in source(admin.get(reverse("annotate-campaigns")))
    page = source(admin.get(reverse("annotate-campaign", args=[campaign.pk])))
    assert "1 left of 2" in " ".join(strip_tags(page).split())
    assert "2 left to decompose; a forecast needs the times of 5 finished ones, 0 are known." in page


def test_a_campaign_by_name_warns_of_items_that_nobody_sees(campaign, admin) -> None:
    opened(campaign, 3)
    url = reverse("annotate-campaign", args=[campaign.pk])
    assert "no annotator sees" not in source(admin.get(url))
    Campaign.objects.update(mode="assigned")
    assert "3 places of open items are nobody" in source(admin.get(url))


@pytest.mark.slow
def test_a_closed_campaign_hands_out_nothing_until_it_is_open_again(campaign, admin) -> None:
    opened(campaign)
    person = factories.make_user("annotator", campaign.project)
    admin.post(reverse("annotate-campaign-close", args=[campaign.pk]))
    response = client_of(person).post(reverse("annotate-next"))
    assert not Assignment.objects.exists()
    assert "no campaign that you can work in" in source(response)
    admin.post(reverse("annotate-campaign-close", args=[campaign.pk]))
    client_of(person).post(reverse("annotate-next"))
    assert Assignment.objects.get().user == person


@pytest.mark.slow
def test_the_bin_keeps_campaigns_and_sessions_for_thirty_days(campaign, admin) -> None:
    session = factories.make_session(campaign, name="kept", deleted_at=timezone.now())
    factories.make_session(campaign, name="gone", deleted_at=timezone.now() - timedelta(days=31))
    page = source(admin.get(reverse("annotate-bin")))
    assert "kept" in page
    assert "gone" not in page
    admin.post(reverse("annotate-session-restore", args=[session.pk]))
    assert Session.objects.live().get() == session
    admin.post(reverse("annotate-campaign-delete", args=[campaign.pk]))
    assert admin.get(reverse("annotate-campaign", args=[campaign.pk])).status_code == 404
    assert campaign.name in source(admin.get(reverse("annotate-bin")))
    admin.post(reverse("annotate-campaign-restore", args=[campaign.pk]))
    assert admin.get(reverse("annotate-campaign", args=[campaign.pk])).status_code == 200


def test_an_edit_of_the_guidelines_is_a_new_version_with_a_diff(campaign, admin) -> None:
    url = reverse("annotate-guidelines", args=[campaign.pk])
    admin.post(url, {"text": "# Guidelines\n\nCut where the page changes.", "version": 1})
    assert list(campaign.guidelines.values_list("version", flat=True)) == [2, 1]
    assert "Cut where the page changes." in source(admin.get(url))
    assert "Cut where the intent changes." in source(admin.get(url, {"version": 1}))
    page = source(admin.get(url, {"diff": 1}))
    assert "− Cut where the intent changes." in page
    assert "+ Cut where the page changes." in page
    assert admin.get(url, {"version": 9}).status_code == 404


def test_markup_in_guidelines_is_shown_as_text(campaign, admin) -> None:
    url = reverse("annotate-guidelines", args=[campaign.pk])
    admin.post(url, {"text": "# <b>Bold</b>\n- <script>x()</script>\n\n[a](javascript:x)", "version": 1})
    page = source(admin.get(url))
    assert "<h1>&lt;b&gt;Bold&lt;/b&gt;</h1>" in page
    assert "<li>&lt;script&gt;x()&lt;/script&gt;</li>" in page
    assert 'href="javascript' not in page


def test_two_people_who_edit_the_guidelines_do_not_overwrite_each_other(campaign, admin) -> None:
    url = reverse("annotate-guidelines", args=[campaign.pk])
    admin.post(url, {"text": "Mine", "version": 1})
    page = source(admin.post(url, {"text": "Yours", "version": 1}))
    assert "made version 2 meanwhile: compare first" in page
    assert "Yours" in page
    assert campaign.guidelines.first().text == "Mine"


def test_next_claims_an_item_and_opens_it(campaign) -> None:
    (item,) = opened(campaign)
    person = factories.make_user("annotator", campaign.project)
    response = client_of(person).post(reverse("annotate-next"))
    assignment = Assignment.objects.get()
    assert (assignment.item, assignment.user) == (item, person)
    assert response.url == f"/annotate/assignments/{assignment.pk}/"


@pytest.mark.slow
def test_next_says_why_there_is_nothing(campaign) -> None:
    client = client_of(factories.make_user("annotator", campaign.project))
    page = source(client.post(reverse("annotate-next")))
    assert "has no sessions yet" in page
    opened(campaign)
    Item.objects.get().hand(factories.make_user("annotator", campaign.project), 0)
    page = source(client.post(reverse("annotate-next"), {"stage": "decompose"}))
    assert "Left to decompose: 1 item, held by 1 person" in page


def test_the_queue_shows_returned_work_first_with_its_round(campaign) -> None:
    todo, begun, back = opened(campaign, 3)
    person = factories.make_user("annotator", campaign.project)
    todo.hand(person, 0)
    begun.hand(person, 0).take(person)
    returned = back.hand(person, 0)
    Assignment.objects.filter(pk=returned.pk).update(state="in_progress", review="returned", round=2)
    response = client_of(person).get(reverse("annotate-queue"))
    assert [one.item for one in response.context["mine"]] == [back, begun, todo]
    assert "returned, round 2" in source(response)
    assert [one.steps for one in response.context["mine"]] == [2, 2, 2]


def test_an_item_is_let_go_on_the_queue(campaign) -> None:
    (item,) = opened(campaign)
    person = factories.make_user("annotator", campaign.project)
    assignment = item.hand(person, 0)
    client_of(person).post(reverse("annotate-queue-give-back", args=[assignment.pk]))
    assert Assignment.objects.get().state == "released"


def order(people: list, weights: list[float], **fields) -> dict:
    shares = {f"weight-{person.pk}": weight for person, weight in zip(people, weights, strict=True)}
    return {"stage": "decompose", "overlap": 1, "cap": 0} | shares | fields


@pytest.mark.slow
def test_the_preview_counts_by_weight_and_changes_nothing_and_assigning_does_it(campaign, admin) -> None:
    opened(campaign, 6)
    people = [factories.make_user("annotator", campaign.project) for _ in range(2)]
    url, wanted = reverse("annotate-assign", args=[campaign.pk]), order(people, [2, 1])
    response = admin.get(url, wanted)
    assert response.context["shares"] == sorted([(people[0].username, 4), (people[1].username, 2)])
    assert not Assignment.objects.exists()
    admin.post(url, wanted)
    assert [Assignment.objects.filter(user=person).count() for person in people] == [4, 2]
    assert Assignment.objects.first().parts.exists()


@pytest.mark.slow
def test_overlap_gives_each_item_to_different_people_and_the_cap_leaves_places_free(campaign, admin) -> None:
    opened(campaign, 3)
    people = [factories.make_user("annotator", campaign.project) for _ in range(3)]
    url, wanted = reverse("annotate-assign", args=[campaign.pk]), order(people, [1, 1, 1], overlap=2, cap=1)
    response = admin.get(url, wanted)
    assert len(response.context["plan"].pairs) == 3
    assert "3 places stay free, because everybody has reached the cap" in source(response)
    admin.post(url, wanted | {"cap": 0})
    for item in Item.objects.all():
        assert item.overlap == 2
        assert item.assignments.values("user").distinct().count() == 2


@pytest.mark.slow
def test_only_the_items_of_the_filter_are_assigned_and_taken_back(campaign, admin) -> None:
    opened(campaign, 2, batch="a")
    opened(campaign, 1, batch="b")
    people = [factories.make_user("annotator", campaign.project)]
    url = reverse("annotate-assign", args=[campaign.pk])
    admin.post(url, order(people, [1], batch="a"))
    assert set(Assignment.objects.values_list("item__session__batch", flat=True)) == {"a"}
    admin.post(url, order(people, [1]))
    Assignment.objects.filter(item__session__batch="a").first().take(people[0])
    admin.post(reverse("annotate-take-back", args=[campaign.pk]), {"stage": "decompose", "batch": "a"})
    states = Assignment.objects.order_by("item__session__batch", "state").values_list("state", flat=True)
    assert list(states) == ["in_progress", "released", "assigned"]


def test_test_splits_are_not_assigned_to_people_who_may_not_see_their_gold(campaign, admin) -> None:
    opened(campaign, 1, split="test_task")
    person = factories.make_user("annotator", campaign.project)
    page = source(admin.get(reverse("annotate-assign", args=[campaign.pk]), order([person], [1])))
    assert "1 place stays free, because nobody chosen may see the gold of test splits" in page


def test_nobody_is_assigned_their_own_rewrite_to_verify(campaign, admin) -> None:
    author = factories.make_user("admin", campaign.project)
    (item,) = opened(campaign)
    moving_on.submit(item.hand(author, 0))
    moving_on.submit(Item.objects.get(stage="rewrite").hand(author, 0))
    url = reverse("annotate-assign", args=[campaign.pk])
    response = admin.get(url, order([author], [1], stage="verify"))
    assert response.context["plan"].pairs == []


def test_the_default_rubric_can_be_saved_as_it_is_shown(campaign, admin) -> None:
    page = admin.get(reverse("annotate-campaign-edit", args=[campaign.pk]))
    shown = page.context["form"]["rubric"].value()
    admin.post(reverse("annotate-campaign-edit", args=[campaign.pk]), form_of(campaign, rubric=shown))
    assert Campaign.objects.get(pk=campaign.pk).rubric == DEFAULT_RUBRIC


def test_a_changed_number_of_people_counts_for_what_nobody_has_begun_and_the_rest_is_told(campaign, admin) -> None:
    free, assigned, begun, done = opened(campaign, 4)
    people = [factories.make_user("annotator", campaign.project) for _ in range(3)]
    assigned.hand(people[0], 0)
    factories.make_assignment(begun, people[1])
    moving_on.submit(done.hand(people[2], 0))
    rewrite = Item.objects.get(session=done.session, stage="rewrite")
    verification = factories.make_item(stage="verify", subject=rewrite.hand(people[2], 0), session=done.session)
    address = reverse("annotate-campaign-edit", args=[campaign.pk])

    def change(**people: int) -> tuple[list[int], str]:
        said = [str(one) for one in admin.post(address, form_of(campaign, **people), follow=True).context["messages"]]
        items = Item.objects.in_bulk()
        return [items[one.pk].overlap for one in (free, assigned, begun, done, rewrite, verification)], " ".join(said)

    assert change(overlap=1, verify_overlap=1) == ([1] * 6, "")
    assert change(overlap=2, verify_overlap=1) == (
        [2, 2, 1, 1, 2, 1],
        "The new number of people counts for 3 items that nobody has begun; that of 2 others stays.",
    )
    assigned.hand(people[1], 1)
    assert change(overlap=1, verify_overlap=3) == (
        [1, 2, 1, 1, 1, 3],
        "The new number of people counts for 3 items that nobody has begun; that of 1 other stays.",
    ), "nobody loses a place"
