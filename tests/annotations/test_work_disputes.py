"""Verifiers who differ: nothing happens to the work until a further person decides, and who was right is counted."""

import pytest
from django.core.exceptions import PermissionDenied

from annotations.models import Assignment, Campaign, Dispute, Item, Verdict, VerdictRefused, Webhook
from annotations.work.verify import verdicts
from annotations.work.verify.agreement_tables import CampaignAgreement
from tests import factories
from tests.annotations.work_world import make_rewrite, make_verification
from tests.signed_in import client_of
from tests.web.api_schema import api_schema
from tests.web.reading import source
from tests.web.test_schema import _as_json_schema, check_answer

pytestmark = pytest.mark.django_db


@pytest.fixture
def dispute() -> Dispute:
    return make_dispute()


def make_dispute(**fields) -> Dispute:
    subject = make_rewrite(factories.make_session(**fields))
    first, second = make_verification(subject, overlap=2), make_verification(subject)
    verdicts.give(first, "accept", {}, "", [])
    verdicts.give(second, "return", {}, "It does not read well.", [{"code": "unnatural"}])
    return Dispute.objects.get(assignment=subject)


def judges(dispute: Dispute) -> dict:
    return {verdict.outcome: verdict.verification.user for verdict in dispute.verdicts}


def a_third(dispute: Dispute, role: str = "reviewer"):
    return factories.make_user(role, dispute.assignment.item.session.campaign.project)


def subject_of(dispute: Dispute) -> Assignment:
    return Assignment.objects.select_related("item__session").get(pk=dispute.assignment_id)


def test_where_verifiers_differ_the_work_waits(dispute: Dispute) -> None:
    subject = subject_of(dispute)
    assert (subject.state, subject.review, subject.round) == ("submitted", "", 1)
    assert subject.item.session.released is None
    assert subject.verified_as.get().state == Item.State.SUBMITTED


def test_an_acceptance_that_stands_publishes_the_work(dispute: Dispute) -> None:
    verdicts.decide(dispute, a_third(dispute), "accept", "It does.")
    subject = subject_of(dispute)
    assert subject.review == "passed"
    assert subject.item.session.released is not None
    assert subject.verified_as.get().state == Item.State.DONE


def test_a_return_that_stands_goes_to_the_author_with_the_verdict_and_the_decision(dispute: Dispute) -> None:
    judge = a_third(dispute)
    verdicts.decide(dispute, judge, "return", "Nobody says it so.")
    subject = subject_of(dispute)
    assert (subject.review, subject.round, subject.state) == ("returned", 2, "in_progress")
    told = [(one["by"], one["reason"], [defect["code"] for defect in one["defects"]]) for one in subject.returns()]
    assert told == [
        (judges(dispute)["return"], "It does not read well.", ["unnatural"]),
        (judge, "Nobody says it so.", []),
    ]
    page = source(client_of(subject.user).get(f"/annotate/assignments/{subject.pk}/"))
    assert "Nobody says it so." in page


def test_whoever_has_a_part_in_it_does_not_decide_and_it_is_decided_once(dispute: Dispute) -> None:
    for user in judges(dispute).values():
        with pytest.raises(VerdictRefused, match="between you"):
            verdicts.decide(dispute, user, "accept", "")
    with pytest.raises(PermissionDenied):
        verdicts.decide(dispute, dispute.assignment.user, "accept", "")
    author = dispute.assignment.user
    author.memberships.update(role="reviewer")
    with pytest.raises(VerdictRefused, match="your own work"):
        verdicts.decide(dispute, author, "accept", "")
    verdicts.decide(dispute, a_third(dispute), "return", "")
    with pytest.raises(VerdictRefused, match="has decided it"):
        verdicts.decide(dispute, a_third(dispute), "accept", "")
    assert subject_of(dispute).review == "returned"


def test_who_was_right_is_counted_for_each_person(dispute: Dispute) -> None:
    campaign = dispute.assignment.item.session.campaign
    assert CampaignAgreement(campaign).report().right == []
    verdicts.decide(dispute, a_third(dispute), "return", "")
    people = judges(dispute)
    found = {row.user: (row.verdicts, row.verdicts_n) for row in CampaignAgreement(campaign).report().right}
    assert found == {people["accept"]: (0, 1), people["return"]: (1, 1)}
    assert 'id="right"' in source(client_of(a_third(dispute)).get(f"/annotate/campaigns/{campaign.pk}/agreement/"))


@pytest.mark.slow
def test_it_has_an_entry_in_the_queue_of_those_who_may_decide(dispute: Dispute) -> None:
    third = a_third(dispute)
    waits = "1 dispute between verifiers</a> waits for you"
    assert waits in source(client_of(third).get("/annotate/"))
    assert waits not in source(client_of(judges(dispute)["accept"]).get("/annotate/"))
    assert waits not in source(client_of(a_third(dispute, "annotator")).get("/annotate/"))
    hidden = make_dispute(split="test_task")
    assert f"/annotate/disputes/{hidden.pk}/" not in source(client_of(a_third(hidden)).get("/annotate/disputes/"))
    page = source(client_of(third).get("/annotate/disputes/"))
    assert f"/annotate/disputes/{dispute.pk}/" in page
    verdicts.decide(dispute, third, "accept", "")
    assert waits not in source(client_of(third).get("/annotate/"))


@pytest.mark.slow
def test_the_page_shows_both_verdicts_and_decides(dispute: Dispute) -> None:
    third = a_third(dispute)
    client, url = client_of(third), f"/annotate/disputes/{dispute.pk}/"
    page = source(client.get(url))
    assert "It does not read well." in page
    assert 'value="accept"' in page
    assert "Say which verdict stands" in client.post(url, {"outcome": "perhaps"}, follow=True).content.decode()
    judge = judges(dispute)["accept"]
    assert 'value="accept"' not in source(client_of(judge).get(url))
    assert "between you" in client_of(judge).post(url, {"outcome": "accept"}, follow=True).content.decode()
    assert client_of(a_third(dispute, "annotator")).post(url, {"outcome": "accept"}).status_code == 403
    assert client.post(url, {"outcome": "accept", "reason": "Fine."}).status_code == 302
    dispute.refresh_from_db()
    assert (dispute.outcome, dispute.reason, dispute.decided_by) == ("accept", "Fine.", third)
    assert "“Fine.”" in source(client.get(url))


@pytest.mark.slow
def test_it_is_decided_over_rest_by_the_same_rules(dispute: Dispute) -> None:
    schema = _as_json_schema(api_schema())
    url = f"/api/disputes/{dispute.pk}/decide/"
    body = {"outcome": "accept", "reason": "Fine."}
    refused = client_of(judges(dispute)["return"]).post(url, body, content_type="application/json")
    check_answer(schema, "disputes/{}/decide/", refused, 422, "post")
    Campaign.objects.update(blind=False)  # so that it exists for annotators
    assert client_of(a_third(dispute, "annotator")).post(url, body, content_type="application/json").status_code == 403
    client = client_of(a_third(dispute))
    (listed,) = client.get("/api/disputes/?is_open=true").json()["results"]
    assert listed["verdicts"] == list(Verdict.objects.values_list("pk", flat=True))
    done = client.post(url, body, content_type="application/json")
    check_answer(schema, "disputes/{}/decide/", done, 200, "post")
    assert done.json()["outcome"] == "accept"
    assert client.get("/api/disputes/?is_open=true").json()["results"] == []
    again = client.post(url, body, content_type="application/json")
    assert (again.status_code, Dispute.objects.get().decided_by_id) == (422, done.json()["decided_by"])


def test_addresses_outside_are_told() -> None:
    subject = make_rewrite()
    hook = Webhook.objects.create(project=subject.item.session.campaign.project, url="https://example.org/", secret="s")
    first, second = make_verification(subject, overlap=2), make_verification(subject)
    verdicts.give(first, "accept", {}, "", [])
    verdicts.give(second, "return", {}, "No.", [])
    assert list(hook.deliveries.values_list("event", flat=True)) == ["item.disputed"]
