"""Accepting several verifications at once: only what is green, never all of it unseen, and what that lets through."""

from math import comb

import pytest
from django.core.exceptions import PermissionDenied

from annotations.models import (
    Assignment,
    BulkAccept,
    Campaign,
    Dispute,
    HeldBack,
    Part,
    StaleWork,
    Verdict,
    VerdictRefused,
)
from annotations.models.work.campaigns import Stage
from annotations.work.verify import bulk, verdicts
from annotations.work.verify.agreement_tables import CampaignAgreement
from annotations.work.verify.let_through import let_through
from tests import factories
from tests.annotations.work_world import make_rewrite, make_verification


def green_rewrite(campaign: Campaign, **fields) -> Assignment:
    """A rewrite of which every check is green: one part says what the one recorded task asked for."""
    session = factories.make_session(campaign, tasks=1, steps=2, **fields)
    ((turn, steps),) = session.turns()
    turn.instruction = "Find red shoes in size nine."
    turn.save()
    for step in steps:
        step.operation, step.value = "CLICK", ""
        step.save()
    rewrite = make_rewrite(session, texts=())
    Part.objects.create(
        assignment=rewrite, first_step=steps[0], instruction=turn.instruction, rewrite="I want red shoes in size nine."
    )
    return rewrite


def opened(rewrite: Assignment, overlap: int = 1) -> int:
    return factories.make_item(rewrite.item.session, stage="verify", subject=rewrite, overlap=overlap).pk


@pytest.fixture
def campaign() -> Campaign:
    return factories.make_campaign()


@pytest.fixture
def verifier(campaign: Campaign):
    return factories.make_user("reviewer", campaign.project)


def concerns(user, campaign: Campaign) -> dict[int, list[str]]:
    return {one.item.pk: one.concerns for one in bulk.checked(user, campaign)}


@pytest.mark.slow
@pytest.mark.django_db
def test_what_is_green_is_accepted_and_at_least_one_is_held_back(campaign: Campaign, verifier) -> None:
    rewrites = [green_rewrite(campaign) for _ in range(5)]
    chosen = {opened(rewrite): rewrite.version for rewrite in rewrites}
    assert concerns(verifier, campaign) == {item: [] for item in chosen}
    made = bulk.accept(verifier, campaign, chosen)
    held = made.held_back.get()
    assert (made.size, made.share, made.accepted.count()) == (5, 10, 4)
    assert {verdict.outcome for verdict in made.accepted.all()} == {"accept"}
    assert {verdict.verification.user for verdict in made.accepted.all()} == {verifier}
    assert Assignment.objects.filter(review="passed").count() == 4
    assert held.item.subject.review == ""
    assert not held.item.assignments.exists(), "anybody who verifies may have it"
    assert concerns(verifier, campaign) == {held.item_id: ["held back for a second look"]}


@pytest.mark.slow
@pytest.mark.django_db
def test_the_share_that_is_held_back_is_the_campaign_s_and_drawn_at_random(campaign: Campaign, verifier) -> None:
    campaign.second_look = 50
    campaign.save()
    drawn = set()
    for _ in range(6):
        rewrites = [green_rewrite(campaign) for _ in range(4)]
        items = [opened(rewrite) for rewrite in rewrites]
        made = bulk.accept(verifier, campaign, dict.fromkeys(items, 0))
        held = [one.item_id for one in made.held_back.all()]
        assert len(held) == 2
        drawn.add(tuple(items.index(item) for item in held))
    assert len(drawn) > 1


@pytest.mark.django_db
def test_a_rewrite_that_says_another_turn_s_clause_again_is_not_green(campaign: Campaign, verifier) -> None:
    rewrite = green_rewrite(campaign)
    item, other = opened(rewrite), rewrite.item.session.steps()[1]
    said = "Go on. I want red shoes in size nine. Find red shoes in size nine."
    Part.objects.create(assignment=rewrite, first_step=other, instruction="Go on.", rewrite=said)
    assert any("asked for here and in turn 1" in one for one in concerns(verifier, campaign)[item])


@pytest.mark.slow
@pytest.mark.django_db
def test_what_is_not_green_is_named_with_its_reasons_and_takes_all_others_with_it(campaign: Campaign, verifier) -> None:
    good, twice, lost, said, returned = (green_rewrite(campaign) for _ in range(5))
    other = twice.item.session.steps()[1]
    whole = "Find red shoes in size nine."
    Part.objects.create(assignment=twice, first_step=other, instruction=whole, rewrite="Those, please.")
    lost.parts.update(instruction="Look around.", rewrite="Look around at it.")
    said.item.session.comments.create(author=said.user, text="Is the size said anywhere?")
    Assignment.objects.filter(pk=returned.pk).update(round=2)
    rewrites = (good, twice, lost, said, returned)
    items = [opened(rewrite) for rewrite in rewrites]
    found = concerns(verifier, campaign)
    assert found[items[0]] == []
    assert f"1 doubled clause: {whole}" in found[items[1]]
    assert f"1 uncovered clause: {whole}" in found[items[2]]
    assert any("warning" in one for one in found[items[2]])
    assert found[items[3]] == ["1 open comment: Is the size said anywhere?"]
    assert found[items[4]] == ["in round 2: look at what was mended"]
    for item in items[1:]:
        with pytest.raises(StaleWork, match="nothing was accepted"):
            bulk.accept(verifier, campaign, {items[0]: 0, item: 0})
    assert not BulkAccept.objects.exists()
    assert not Verdict.objects.exists()
    said.item.session.comments.get().resolve(verifier)
    assert concerns(verifier, campaign)[items[3]] == []


@pytest.mark.slow
@pytest.mark.django_db
def test_nobody_accepts_their_own_work_what_has_changed_or_one_alone(campaign: Campaign, verifier) -> None:
    mine, first, second = (green_rewrite(campaign) for _ in range(3))
    items = [opened(rewrite) for rewrite in (mine, first, second)]
    Assignment.objects.filter(pk=mine.pk).update(user=verifier)
    assert set(concerns(verifier, campaign)) == set(items[1:])
    for chosen in ({items[0]: 0, items[1]: 0}, {items[1]: 0, items[2]: 3}, {items[1]: 0, 10**6: 0}):
        with pytest.raises(StaleWork):
            bulk.accept(verifier, campaign, chosen)
    with pytest.raises(VerdictRefused, match="two items at least"):
        bulk.accept(verifier, campaign, {items[1]: 0})
    with pytest.raises(PermissionDenied):
        bulk.accept(factories.make_user("annotator", campaign.project), campaign, dict.fromkeys(items, 0))
    campaign.close()
    with pytest.raises(StaleWork):
        bulk.accept(verifier, campaign, dict.fromkeys(items[1:], 0))
    assert not Verdict.objects.exists()


@pytest.mark.slow
@pytest.mark.django_db
def test_caps_names_and_hidden_gold_count_as_in_the_queue(campaign: Campaign, verifier) -> None:
    items = [opened(green_rewrite(campaign)) for _ in range(3)]
    opened(green_rewrite(campaign, split="test_task"))
    assert list(concerns(verifier, campaign)) == items
    campaign.cap = 2
    campaign.save()
    assert len(concerns(verifier, campaign)) == 2
    campaign.cap, campaign.mode = 0, "assigned"
    campaign.save()
    assert concerns(verifier, campaign) == {}
    own = green_rewrite(campaign)
    given = make_verification(own, user=verifier)
    assert concerns(verifier, campaign) == {given.item_id: []}


@pytest.mark.slow
@pytest.mark.django_db
def test_what_verifiers_find_in_the_sample_says_what_the_rest_lets_through(campaign: Campaign, verifier) -> None:
    campaign.second_look = 40
    campaign.save()
    chosen = {opened(green_rewrite(campaign)): 0 for _ in range(5)}
    made = bulk.accept(verifier, campaign, chosen)
    first, second = (one.item for one in made.held_back.all())
    assert bulk.tally([made]).through == (None, 0, 3)
    other = factories.make_user("reviewer", campaign.project)
    verdicts.give(first.hand(other, 0), "return", {}, "The size is wrong.", [])
    assert (bulk.tally([made]).looked_at, bulk.tally([made]).returned) == (1, 1)
    verdicts.give(second.hand(other, 0), "accept", {}, "", [])
    found = bulk.tally([made])
    assert (found.accepted, found.held_back, found.looked_at, found.returned) == (3, 2, 2, 1)
    assert found.through == let_through(5, 2, 1)
    assert [one.outcome for one in HeldBack.objects.with_outcome()] == ["return", "accept"]


@pytest.mark.slow
@pytest.mark.django_db
def test_an_outcome_is_told_once_the_round_is_over(campaign: Campaign, verifier) -> None:
    rewrites = [green_rewrite(campaign) for _ in range(2)]
    chosen = {opened(rewrite, overlap=2): 0 for rewrite in rewrites}
    made = bulk.accept(verifier, campaign, chosen)
    held = made.held_back.get().item
    verdicts.give(held.hand(verifier, 0), "return", {}, "No.", [])
    assert bulk.tally([made]).looked_at == 0, "the second verifier has yet to judge it"
    verdicts.give(held.hand(factories.make_user("reviewer", campaign.project), 1), "accept", {}, "", [])
    assert bulk.tally([made]).looked_at == 0, "they differ: somebody decides"
    verdicts.decide(Dispute.objects.get(), factories.make_user("admin", campaign.project), "return", "")
    assert bulk.tally([made]).returned == 1


@pytest.mark.slow
@pytest.mark.django_db
def test_what_nobody_looked_at_says_nothing_of_agreement(campaign: Campaign, verifier) -> None:
    rewrites = [green_rewrite(campaign) for _ in range(3)]
    bulk.accept(verifier, campaign, {opened(rewrite, overlap=2): 0 for rewrite in rewrites})
    accepted = Verdict.objects.exclude(bulk=None).first().verification.item
    other = factories.make_user("reviewer", campaign.project)
    verdicts.give(accepted.hand(other, 1), "return", {}, "", [{"code": "extra"}])
    assert CampaignAgreement(campaign).report().kappa.n == 0
    assert accepted.stage == Stage.VERIFY


@pytest.mark.parametrize(("size", "drawn"), [(2, 1), (10, 1), (50, 5), (60, 60), (200, 20)])
def test_the_interval_holds_the_truth_in_95_of_100_draws_however_many_are_faulty(size: int, drawn: int) -> None:
    """Exactly: over all draws that there are."""
    for faulty in range(size + 1):
        held = 0.0
        for found in range(max(0, drawn - (size - faulty)), min(drawn, faulty) + 1):
            through = let_through(size, drawn, found)
            if through.low <= faulty - found <= through.high:
                held += comb(faulty, found) * comb(size - faulty, drawn - found) / comb(size, drawn)
        assert held >= 0.95, (faulty, held)


def test_the_interval_is_no_wider_than_it_must_be() -> None:
    assert let_through(100, 10, 0) == (0.0, 0, 29)
    assert let_through(100, 100, 3) == (0.0, 0, 0)
    assert let_through(5, 0, 0) == (None, 0, 5)
