"""Two people's versions of one rewrite: what both say stands, a further person decides the rest, and one version
passes; who was right is counted."""

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from annotations.campaigns.queue import waiting
from annotations.desk import moving_on
from annotations.models import Assignment, Campaign, Curation, Dispute, Item, NotReady, Part, Unsure, VerdictRefused
from annotations.models.accounts.projects import Account
from annotations.releases.datasheet import WorkFigures
from annotations.work.verify import verdicts
from annotations.work.verify.agreement_tables import CampaignAgreement
from annotations.work.verify.curating import Curating
from tests import factories
from tests.annotations.work_world import SAID, add_parts, make_edit, make_rewrite, make_verification
from tests.signed_in import client_of
from tests.web.api_schema import api_schema
from tests.web.reading import source
from tests.web.test_schema import _as_json_schema, check_answer

pytestmark = pytest.mark.django_db
OTHERS = ("Find  red shoes. ", "Now by price, please.")  # the first differs by spaces alone
Pair = tuple[Assignment, Assignment]


def make_pair(first: tuple[str, ...] = SAID, second: tuple[str, ...] = OTHERS, every: int = 3, **fields) -> Pair:
    """Two people's versions of a session of six steps; the first has a cut before the fourth, the second one every so
    many steps."""
    one = make_rewrite(factories.make_session(tasks=2, steps=3, **fields), first)
    other = make_rewrite(one.item.session, ())
    add_parts(other, second, every)
    return one, other


@pytest.fixture
def pair() -> Pair:
    return make_pair()


def a_third(pair: Pair, role: str = "reviewer") -> Account:
    return factories.make_user(role, pair[0].item.session.campaign.project)


def begun(pair: Pair, user: Account | None = None) -> Curating:
    user = user or a_third(pair)
    return Curating(Curation.objects.begin(user, *again(pair)), user)


def again(pair: Pair) -> Pair:
    first, second = (Assignment.objects.select_related("item__session", "user").get(pk=one.pk) for one in pair)
    return first, second


def steps_of(pair: Pair) -> list[int]:
    return list(pair[0].item.session.places())


def said(assignment: Assignment) -> list[str]:
    return [part.rewrite for part in assignment.ordered_parts()]


def test_what_both_say_needs_no_decision_and_spaces_are_no_difference(pair: Pair) -> None:
    curation = begun(pair).curation
    assert [one.differs_in for one in curation.stretches] == ["", "words"]
    assert list(curation.differing()) == [steps_of(pair)[3]]


def test_a_decision_replaces_the_one_before_until_it_is_undone(pair: Pair) -> None:
    curating, step = begun(pair), steps_of(pair)[3]
    for take in ("a", "b", "b"):
        curating.decide(step, take)
    assert [one.take for one in curating.curation.choices.all()] == ["a", "b"]
    kept = begun(pair, curating.user).curation  # as somebody finds it who comes back
    assert kept.standing()[step].take == "b"
    assert curating.undo() == step
    assert kept.standing()[step].take == "a"
    assert (curating.undo(), curating.undo()) == (step, None)
    assert kept.standing() == {}


def test_the_version_from_which_more_is_taken_passes_and_the_other_is_closed(pair: Pair) -> None:
    places = [make_verification(one, state="in_progress") for one in pair]
    curating, later = begun(pair), begun(pair)
    with pytest.raises(NotReady, match="1 of 1"):
        curating.finish(sure=True)
    for one in (curating, later):
        one.decide(steps_of(pair)[3], "b")
    curating.finish(sure=True)
    with pytest.raises(VerdictRefused, match="passed already"):
        later.finish(sure=True)
    first, second = again(pair)
    assert (first.review, second.review, first.state) == ("not_taken", "passed", "submitted")
    session = second.item.session
    assert second.item.state == Item.State.DONE
    assert [turn.instruction for turn in session.released.turns.order_by("index")] == list(OTHERS)
    verifications = Assignment.objects.filter(pk__in=[one.pk for one in places])
    assert {(one.state, one.item.state) for one in verifications} == {("released", "done")}
    assert second.edits.count() == 0, "nothing was taken from the other one"
    with pytest.raises(VerdictRefused, match="has made one of both"):
        begun(pair)
    with pytest.raises(VerdictRefused, match="given back"):
        verdicts.give(places[0], "accept", {}, "", [])


def test_words_of_ones_own_that_no_source_says_are_asked_about_once(pair: Pair) -> None:
    """They passed unread, as curating is the last that anybody does with them."""
    curating, step = begun(pair), steps_of(pair)[3]
    curating.decide(
        step, "own", [{"step": step, "instruction": "Sell the whole zoo.", "rewrite": "Sell the whole zoo."}]
    )
    with pytest.raises(Unsure, match="Sell the whole zoo"):
        curating.finish()
    assert "passed" not in [one.review for one in again(pair)], "nothing is changed meanwhile"
    third, url = curating.user, "/annotate/curate/{}/{}/".format(*(one.pk for one in pair))
    asked = client_of(third).post(url, {"do": "finish"}, follow=True)
    assert "Make it one once more" in source(asked)
    assert 'name="sure" value="yes"' in source(asked)
    assert Assignment.objects.get(pk=curating.finish(sure=True).pk).review == "passed"


def test_what_is_taken_from_the_other_version_is_edited_in_by_the_curator() -> None:
    pair = make_pair(("One.", "Two."), ("Uno.", "Dos."))
    curating, (start, *_, cut) = begun(pair), steps_of(pair)[:4]
    curating.decide(start, "b")
    curating.decide(cut, "own", [{"step": cut, "instruction": "Second.", "rewrite": " Second, then. "}])
    taken = curating.finish(sure=True)
    assert taken == pair[1]
    assert said(taken) == ["Uno.", "Second, then."]
    edits = taken.edits.all()
    assert {edit.user for edit in edits} == {curating.user}
    assert all(edit.is_carried for edit in edits), "its author cannot undo them"
    assert taken.contents_at(0) == {start: says("Uno."), cut: says("Dos.")}
    assert (taken.user, taken.version) == (pair[1].user, edits.count())


def says(text: str) -> dict:
    return {"instruction": text, "rewrite": text, "mentions": []}


def test_cuts_that_differ_are_decided_with_all_that_lies_between_cuts_of_both() -> None:
    pair = make_pair(("One.", "Two."), ("Uno.", "Dos.", "Tres."), every=2)
    curating, steps = begun(pair), steps_of(pair)
    (one,) = curating.curation.differing().values()
    assert (one.differs_in, one.steps) == ("cuts", steps)
    with pytest.raises(VerdictRefused, match="begin with the stretch"):
        curating.decide(steps[0], "own", [{"step": steps[1], "instruction": "x", "rewrite": "x"}])
    with pytest.raises(VerdictRefused, match="the instruction and the rewrite"):
        curating.decide(steps[0], "own", [{"step": steps[0], "instruction": "x", "rewrite": " "}])
    with pytest.raises(VerdictRefused, match="say the same"):
        curating.decide(steps[2], "a")
    with pytest.raises(VerdictRefused, match="Take a, b"):
        curating.decide(steps[0], "c")
    curating.decide(steps[0], "b")
    assert said(curating.finish(sure=True)) == ["Uno.", "Dos.", "Tres."]


def test_a_cut_of_ones_own_goes_into_the_first_version() -> None:
    pair = make_pair(("One.", "Two."), ("Uno.", "Dos.", "Tres."), every=2)
    curating, steps = begun(pair), steps_of(pair)
    parts = [{"step": step, "instruction": text, "rewrite": text} for step, text in zip(steps[::5], "AB", strict=True)]
    curating.decide(steps[0], "own", parts)
    taken = curating.finish(sure=True)
    assert taken == pair[0]
    assert [(part.first_step_id, part.rewrite) for part in taken.ordered_parts()] == [(steps[0], "A"), (steps[5], "B")]


def test_mentions_are_a_difference_and_stay_with_words_that_are_kept() -> None:
    pair = make_pair(("Find shoes.", "Sort them."), ("Find shoes.", "Sort them."))
    step = steps_of(pair)[3]
    to = {"step": steps_of(pair)[0], "start": 5, "end": 10, "text": "shoes"}
    mention = {"id": "m", "phenomenon": "pronoun", "start": 5, "end": 9, "text": "them", "antecedent": to}
    Part.objects.filter(assignment=pair[1], first_step=step).update(mentions=[mention])
    curating = begun(pair)
    assert [one.differs_in for one in curating.curation.differing().values()] == ["mentions"]
    curating.decide(step, "own", [{"step": step, "instruction": "Sort shoes.", "rewrite": "Please sort them."}])
    taken = curating.finish(sure=True)
    assert taken == pair[0]
    assert [(one["start"], one["text"]) for part in taken.parts.all() for one in part.mentions] == [(12, "them")]


def test_mentions_of_the_version_that_is_taken_go_over() -> None:
    pair = make_pair((), ("Find shoes.", "Sort them.", "Pay now."), every=2)
    add_parts(pair[0], ("Find shoes.", "Sort them.", "Pay."), every=2)
    steps = steps_of(pair)
    mention = {"id": "m", "phenomenon": "pronoun", "start": 5, "end": 9, "text": "them", "antecedent": None}
    Part.objects.filter(assignment=pair[1], first_step=steps[2]).update(mentions=[mention])
    curating = begun(pair)
    curating.decide(steps[2], "b")
    curating.decide(steps[4], "a")
    taken = curating.finish(sure=True)
    assert taken == pair[0], "the first of equals"
    assert [part.mentions for part in taken.ordered_parts()] == [[], [mention], []]


def test_who_has_a_version_of_it_does_not_curate_and_neither_does_who_may_not_verify(pair: Pair) -> None:
    author = pair[0].user
    author.memberships.update(role="admin")
    with pytest.raises(VerdictRefused, match="have written in a version"):
        begun(pair, author)
    before, step = a_third(pair), steps_of(pair)[0]
    make_edit(pair[0], "text", step, "", SAID[0], "rewrite")
    pair[0].edits.update(user=before)  # who had it before somebody took it over
    with pytest.raises(VerdictRefused, match="have written in a version"):
        begun(pair, before)
    curating = begun(pair)
    curating.user.memberships.update(role="annotator")
    with pytest.raises(PermissionDenied):
        curating.decide(steps_of(pair)[3], "a")
    with pytest.raises(VerdictRefused, match="begin with your own"):
        Curating(curating.curation, a_third(pair)).undo()


def test_versions_that_are_not_handed_in_or_hidden_gold_are_not_curated(pair: Pair) -> None:
    Assignment.objects.filter(pk=pair[1].pk).update(state="in_progress")
    with pytest.raises(VerdictRefused, match="is not handed in"):
        begun(pair)
    gold = make_pair(is_gold=True)
    with pytest.raises(VerdictRefused, match="nothing is merged"):
        begun(gold)
    passed = make_pair()
    verdicts.give(make_verification(passed[0]), "accept", {}, "", [])
    with pytest.raises(VerdictRefused, match="passed already"):
        begun(passed)


def test_a_version_that_was_returned_and_mended_is_compared_anew(pair: Pair) -> None:
    curating = begun(pair)
    curating.decide(steps_of(pair)[3], "b")
    Assignment.objects.filter(pk=pair[1].pk).update(version=1)
    with pytest.raises(VerdictRefused, match="has changed"):
        curating.finish(sure=True)
    assert begun(pair, curating.user).curation.standing() == {}


def test_a_dispute_about_one_of_them_is_left_and_its_verifiers_do_not_curate(pair: Pair) -> None:
    first, second = make_verification(pair[0], overlap=2), make_verification(pair[0])
    verdicts.give(first, "accept", {}, "", [])
    verdicts.give(second, "return", {}, "No.", [])
    with pytest.raises(VerdictRefused, match="between you"):
        begun(pair, first.user)
    curating = begun(pair)
    curating.decide(steps_of(pair)[3], "a")
    curating.finish(sure=True)
    dispute = Dispute.objects.get()
    assert (dispute.curation, dispute.decided_at) == (curating.curation, None)
    assert not Dispute.objects.open().exists()
    with pytest.raises(VerdictRefused, match="made one of this version"):
        verdicts.decide(dispute, a_third(pair), "accept", "")


def test_who_was_right_is_counted_and_agreement_is_of_what_was_handed_in() -> None:
    pair = make_pair(("One.", "Two."), ("Uno.", "Two, now."))
    campaign = pair[0].item.session.campaign
    before = CampaignAgreement(campaign).report().words
    curating, steps = begun(pair), steps_of(pair)
    curating.decide(steps[0], "a")
    curating.decide(steps[3], "own", [{"step": steps[3], "instruction": "Three.", "rewrite": "Three."}])
    curating.finish(sure=True)
    report = CampaignAgreement(campaign).report()
    found = {row.user: (row.differences, row.differences_n) for row in report.right}
    assert found == {pair[0].user: (1, 2), pair[1].user: (0, 2)}
    assert report.words == before
    page = source(client_of(a_third(pair)).get(f"/annotate/campaigns/{campaign.pk}/agreement/"))
    assert "Own version taken" in page
    campaign.refresh_from_db()
    Assignment.objects.update(submitted_at=timezone.now())
    assert "two people’s versions" in WorkFigures.of(campaign).merged()


def test_a_curators_time_is_measured_and_told(pair: Pair) -> None:
    """By the page, decision by decision; no more than half an hour of one is believed, and no time at all of none."""
    third, url = a_third(pair), "/annotate/curate/{}/{}/".format(*(one.pk for one in pair))
    client, step = client_of(third), steps_of(pair)[3]
    for act, seconds in (
        ({"do": "take", "step": step, "take": "a"}, "90"),
        ({"do": "undo"}, "-5"),
        ({"do": "undo"}, "x"),
    ):
        client.post(url, act | {"seconds": seconds})
    client.post(url, {"do": "take", "step": step, "take": "b", "seconds": "99999"})
    assert Curation.objects.get().active_seconds == 90 + 1_800
    campaign = pair[0].item.session.campaign
    assert WorkFigures.of(campaign).effort().get("curate") is None, "nothing is made one yet"
    client.post(url, {"do": "finish", "seconds": "30", "sure": "yes"})
    assert Curation.objects.get().active_seconds == 1_920
    (row,) = CampaignAgreement(campaign).report().curators
    assert row == (third.get_username(), 1, 1_920)
    assert "32 min" in source(client.get(f"/annotate/campaigns/{campaign.pk}/agreement/")).partition('id="curators"')[2]
    Assignment.objects.update(submitted_at=timezone.now())
    campaign.refresh_from_db()
    assert WorkFigures.of(campaign).effort()["curate"] == 1_920
    assert client.get("/api/curations/").json()["results"][0]["active_seconds"] == 1_920


def make_decompositions() -> Pair:
    """Two people's decompositions of a session of six steps, handed in, with the rewrite open that follows."""
    session = factories.make_session(factories.make_campaign(overlap=2), tasks=2, steps=3)
    item = moving_on.open_work(session)
    made = []
    for slot, every in enumerate((3, 2)):
        one = item.hand(factories.make_user("annotator", session.campaign.project), slot)
        one.parts.all().delete()
        add_parts(one, ("One.", "Two.", "Three.")[: 6 // every], every)
        one.parts.update(rewrite="")
        moving_on.submit(one.take(one.user))
        made.append(one)
    return again((made[0], made[1]))


def test_of_two_decompositions_one_is_made_whose_cuts_are_rewritten() -> None:
    pair = make_decompositions()
    session, steps = pair[0].item.session, steps_of(pair)
    assert list(waiting.with_versions(a_third(pair))) == [pair[0].item]
    curating = begun(pair)
    curating.decide(steps[0], "own", [{"step": step, "instruction": f"From {step}."} for step in steps[::5]])
    taken = curating.finish(sure=True)
    first, second = again(pair)
    assert (taken, first.review, second.review) == (first, "passed", "not_taken")
    assert Assignment.objects.chosen_decomposition(session) == first
    assert session.released is None
    assert not waiting.with_versions(a_third(pair)).exists()
    rewrite = session.items.get(stage="rewrite").hand(factories.make_user(), 0)
    assert [part.instruction for part in rewrite.ordered_parts()] == [f"From {step}." for step in steps[::5]]


def test_the_second_decomposition_is_chosen_where_its_cuts_were_taken() -> None:
    pair = make_decompositions()
    curating = begun(pair)
    curating.decide(steps_of(pair)[0], "b")
    assert curating.finish(sure=True) == pair[1] == Assignment.objects.chosen_decomposition(pair[0].item.session)


def test_once_somebody_rewrites_cuts_are_decided_with_the_rewrites() -> None:
    pair = make_decompositions()
    begun(pair)
    pair[0].item.session.items.get(stage="rewrite").hand(factories.make_user(), 0)
    with pytest.raises(VerdictRefused, match="decided with the rewrites"):
        begun(pair)
    assert not waiting.with_versions(a_third(pair)).exists()


@pytest.mark.slow
def test_the_page_of_two_decompositions_asks_for_no_rewrites() -> None:
    pair = make_decompositions()
    client, url = client_of(a_third(pair)), "/annotate/curate/{}/{}/".format(*(one.pk for one in pair))
    assert url in source(client.get("/annotate/disputes/"))
    page = source(client.get(url))
    assert "cuts differ" in page
    assert ('name="instruction"' in page, 'name="rewrite"' in page, "no rewrite" in page) == (True, False, False)
    step = steps_of(pair)[0]
    client.post(url, {"step": step, "take": "own", "part": step, "instruction": "All of it."})
    assert client.post(url, {"do": "finish", "sure": "yes"})["Location"] == "/annotate/disputes/"
    assert [part.instruction for part in pair[0].parts.all()] == ["All of it."]


@pytest.mark.slow
def test_the_page_shows_what_differs_and_keeps_what_is_decided(pair: Pair) -> None:
    third, (first, second), step = a_third(pair), pair, steps_of(pair)[3]
    client, url = client_of(third), f"/annotate/curate/{second.pk}/{first.pk}/"
    page = source(client.get(url))
    assert '<span class="del">Sort' in page
    assert "1 of 1" in page
    assert page.count('class="agreed"') == page.count("data-difference") == 1
    assert "Not decided yet" in client.post(url, {"do": "finish"}, follow=True).content.decode()
    answer = client.post(url, {"step": step, "take": "b"})
    assert answer["Location"] == f"/annotate/curate/{first.pk}/{second.pk}/#at-{step}"
    assert 'data-decided="b"' in source(client.get(url))
    assert 'data-decided="b"' not in source(client_of(a_third(pair)).get(url)), "each has their own decisions"
    client.post(url, {"do": "undo"})
    assert 'data-decided="b"' not in source(client.get(url))
    own = {"step": step, "take": "own", "part": step, "instruction": "Sort.", "rewrite": "Sort\r\nthem."}
    client.post(url, own)
    assert "Sort\nthem." in client.get(url).content.decode()
    assert client.post(url, {"do": "finish", "sure": "yes"})["Location"] == "/annotate/disputes/"
    assert said(again(pair)[0]) == [SAID[0], "Sort\nthem."]
    assert "has made one of both" in source(client_of(a_third(pair)).get(url))


@pytest.mark.slow
def test_the_page_is_for_those_who_may_decide_and_see_the_gold(pair: Pair) -> None:
    url = "/annotate/curate/{}/{}/".format(*(one.pk for one in pair))
    assert client_of(factories.make_user("reviewer")).get(url).status_code == 404
    assert client_of(a_third(pair, "annotator")).get(url).status_code == 403
    author = pair[1].user
    author.memberships.update(role="reviewer")
    page = source(client_of(author).get(url))
    assert "somebody else decides" in page
    assert 'value="finish"' not in page
    assert client_of(a_third(pair)).get(f"/annotate/curate/{pair[0].pk}/{pair[0].pk}/").status_code == 404
    assert client_of(a_third(pair)).get(f"/annotate/curate/{pair[0].pk}/{make_rewrite().pk}/").status_code == 404
    hidden = make_pair(split="test_task")
    url = "/annotate/curate/{}/{}/".format(*(one.pk for one in hidden))
    assert client_of(a_third(hidden)).get(url).status_code == 403
    assert url not in source(client_of(a_third(hidden)).get("/annotate/disputes/"))


@pytest.mark.slow
def test_it_is_reached_from_the_list_a_verification_and_a_dispute(pair: Pair) -> None:
    url = "/annotate/curate/{}/{}/".format(*(one.pk for one in pair))
    assert url in source(client_of(a_third(pair)).get("/annotate/disputes/"))
    assert "1 item</a> has two versions" in source(client_of(a_third(pair)).get("/annotate/"))
    assert "two versions" not in source(client_of(pair[1].user).get("/annotate/"))
    pair[0].user.memberships.update(role="reviewer")
    assert url not in source(client_of(pair[0].user).get("/annotate/disputes/"))
    first, second = make_verification(pair[0], overlap=2), make_verification(pair[0])
    assert url in source(client_of(first.user).get(f"/annotate/verify/{first.pk}/"))
    verdicts.give(first, "accept", {}, "", [])
    verdicts.give(second, "return", {}, "No.", [])
    page = f"/annotate/disputes/{Dispute.objects.get().pk}/"
    assert url in source(client_of(a_third(pair)).get(page))
    assert url not in source(client_of(first.user).get(page))
    curating = begun(pair)
    curating.decide(steps_of(pair)[3], "a")
    curating.finish(sure=True)
    listed = source(client_of(a_third(pair)).get("/annotate/disputes/"))
    assert "made one with another version" in listed
    assert url not in listed
    assert "has made one of this version" in source(client_of(a_third(pair)).get(page))


@pytest.mark.slow
def test_it_is_done_over_rest_by_the_same_rules(pair: Pair) -> None:
    schema, client, step = _as_json_schema(api_schema()), client_of(a_third(pair)), steps_of(pair)[3]
    Campaign.objects.update(blind=False)  # so that it exists for annotators
    keys = {"first": pair[1].pk, "second": pair[0].pk}

    def post(route: str, body: dict | None = None, by=client, **headers):
        return by.post(f"/api/{route}", body or {}, content_type="application/json", **headers)

    assert post("curations/", keys, client_of(a_third(pair, "annotator"))).status_code == 403
    assert post("curations/", keys | {"second": make_rewrite().pk}).status_code == 400
    made = post("curations/", keys)
    check_answer(schema, "curations/", made, 201, "post")
    assert post("curations/", keys).json() == made.json(), "it is begun once"
    own = f"curations/{made.json()['id']}"
    check_answer(schema, "curations/{}/finish/", post(f"{own}/finish/"), 422, "post")
    others = client_of(a_third(pair))
    assert post(f"{own}/decide/", {"step": step, "take": "a"}, others).status_code == 422
    assert post(f"{own}/decide/", {"step": step, "take": "z"}).status_code == 400
    for take in ("a", "b"):
        done = post(f"{own}/decide/", {"step": step, "take": take})
        check_answer(schema, "curations/{}/decide/", done, 200, "post")
    first, again_ = (post(f"{own}/undo/", HTTP_IDEMPOTENCY_KEY="once") for _ in range(2))
    assert first.json() == again_.json()
    (told,) = others.get(f"/api/{own}/differences/").json()
    assert (told["step"], told["differs_in"], told["take"]) == (step, "words", "a")
    assert [part["rewrite"] for part in told["b"]] == [OTHERS[1]]
    unsure = post(f"{own}/finish/")
    check_answer(schema, "curations/{}/finish/", unsure, 422, "post")
    assert "`sure`" in unsure.json()["detail"]
    done = post(f"{own}/finish/", {"sure": True})
    check_answer(schema, "curations/{}/finish/", done, 200, "post")
    assert done.json()["taken"] == pair[0].pk
    assert post(f"{own}/finish/").status_code == 422
    (listed,) = client.get(f"/api/curations/?assignment={pair[1].pk}&is_open=false").json()["results"]
    assert listed == done.json()
