"""A campaign of any size, made in a few inserts: each session decomposed, rewritten and judged once, by six people over
the last weeks; every third rewrite was returned."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from annotations.models import Assignment, Campaign, Defect, Item, Session, Stage, Verdict
from tests import factories

ITEMS_OF_A_SESSION = 3
WEEKS = 10
AT_ONCE = 2_000


def make_large_campaign(items: int) -> Campaign:
    campaign = factories.make_campaign()
    website, first = factories.make_website(campaign.source), factories.make_session(campaign)
    names = [Session(campaign=campaign, website=website, name=f"Large {n}", position=n + 10) for n in range(items // 3)]
    for one in names:
        one.split = first.split
    sessions = Session.objects.bulk_create(names, AT_ONCE)
    people = [factories.make_user(role, campaign.project) for role in ("annotator", "reviewer") for _ in range(3)]
    _done(sessions, people[:3], Stage.DECOMPOSE)
    written = _done(sessions, people[:3], Stage.REWRITE)
    judged = _done(sessions, people[3:], Stage.VERIFY, written)
    verdicts = [
        Verdict(
            assignment=of, verification=by, round=1, version=0, outcome="accept" if n % 3 else "return", reason="No."
        )
        for n, (of, by) in enumerate(zip(written, judged, strict=True))
    ]
    returned = [one for one in Verdict.objects.bulk_create(verdicts, AT_ONCE) if one.outcome == "return"]
    Defect.objects.bulk_create([Defect(verdict=one, code="unnatural") for one in returned], AT_ONCE)
    return campaign


def _done(
    sessions: list[Session], people: list[User], stage: Stage, subjects: list[Assignment] | None = None
) -> list[Assignment]:
    """An item of this stage for each session, done by one of these people after the other."""
    rows = [Item(session=one, stage=stage, state=Item.State.DONE) for one in sessions]
    for row, subject in zip(rows, subjects or (), strict=False):
        row.subject = subject
    made = Item.objects.bulk_create(rows, AT_ONCE)
    now, state = timezone.now(), Assignment.State.SUBMITTED
    done = [
        Assignment(
            item=item,
            slot=0,
            user=people[n % len(people)],
            state=state,
            review="" if subjects else "passed" if n % 3 else "returned",
            active_seconds=60 + n % 50,
            submitted_at=now - timedelta(weeks=n % WEEKS),
        )
        for n, item in enumerate(made)
    ]
    return Assignment.objects.bulk_create(done, AT_ONCE)
