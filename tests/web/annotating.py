"""What browser tests of the item page share: a session to work on, somebody's item opened, what the page says."""

import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from annotations.corpus.importing import import_files
from annotations.desk import moving_on
from annotations.models import Assignment, Conversation, Session, SessionTask
from annotations.sample.build import build_website
from tests import factories
from tests.app_server import AppServer

QUIET = "origin-keyed agent cluster"  # what Chromium says of test servers that change their port


def sample_session(website: str = "brightrail") -> Session:
    """A session of a recorded task of the sample: pages as people see them."""
    campaign = factories.make_campaign(name="Sample pilot")
    with tempfile.TemporaryDirectory() as folder:
        build_website(website, Path(folder))
        import_files("mt-mind2web", Path(folder), campaign.source)
    task = Conversation.objects.filter(dataset=campaign.source).order_by("position").first()
    session = Session.objects.create(
        campaign=campaign,
        name=f"{website}-001",
        position=1,
        website=task.website,
        split=task.split,
        why="Same site and traveller: both book a train.",
    )
    SessionTask.objects.create(campaign=campaign, session=session, conversation=task, position=0)
    return session


def begun(stage: str = "decompose", user=None, tasks: int = 2, steps: int = 3, **fields) -> Assignment:
    """An item of a fresh session in somebody's hands: a decomposition, or the rewrite of a finished one."""
    session = factories.make_session(factories.make_campaign(**fields), tasks=tasks, steps=steps)
    user = user or factories.make_user("annotator", session.campaign.project)
    made = moving_on.open_work(session).hand(user, 0)
    if stage == "decompose":
        return made
    made.take(user)
    moving_on.submit(made)
    return session.items.get(stage="rewrite").hand(user, 0)


def open_item(app_server: AppServer, page: Page, assignment: Assignment) -> None:
    page.goto(app_server.url(f"/annotate/assignments/{assignment.pk}/"))
    expect(page.locator("#saved")).to_contain_text("Saved")


def press(page: Page, keys: str) -> None:
    """Keys one after the other, by their names."""
    for key in keys.split():
        page.keyboard.press(key)


def pasted(page: Page, characters: int) -> bool:
    """Whether the field that has the focus leaves it to the browser to paste a text as long as this."""
    done: bool = page.evaluate(
        """characters => {
          const pasted = new DataTransfer();
          pasted.setData("text/plain", "x".repeat(characters));
          const options = { clipboardData: pasted, bubbles: true, cancelable: true };
          return document.activeElement.dispatchEvent(new ClipboardEvent("paste", options));
        }""",
        characters,
    )
    return done


def expect_saved(page: Page) -> None:
    expect(page.locator("#saved")).to_have_text(re.compile(r"^Saved \d\d:\d\d:\d\d · v\d+$"))


def texts(assignment: Assignment, field: str = "instruction") -> list[str]:
    """What the parts say, in the order of their steps."""
    order = {step: place for place, step in enumerate(assignment.item.session.steps().values_list("pk", flat=True))}
    parts = sorted(assignment.parts.all(), key=lambda part: order[part.first_step_id])
    return [getattr(part, field) for part in parts]


def expect_texts(page: Page, assignment: Assignment, wanted: list[str]) -> None:
    """What the parts say, as soon as the page has sent all that it holds: while a place is to be decided, nothing on
    the page tells that the other edits have arrived."""
    expect_stored(page, lambda: texts(assignment), wanted)


def expect_stored(page: Page, stored: Callable[[], object], wanted: object) -> None:
    """What is stored, as soon as the page has sent it."""
    deadline = time.monotonic() + 15
    while stored() != wanted and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert stored() == wanted
