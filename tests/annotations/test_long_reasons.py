"""Reasons that are too long: refused on pages and over REST in the same words, with what was written still there."""

import re

import pytest
from django.urls import reverse

from annotations.corpus.correct.correcting import CorrectionDesk
from annotations.models import Correction, CorrectionRefused, Role, Step, TurnCorrection
from annotations.models.choices import MAX_REASON
from tests import factories
from tests.annotations.test_corrections import other_node
from tests.annotations.test_release_making import small_dataset
from tests.signed_in import client_of
from tests.test_imports import ROOT

LONG = "a" * 4_999 + " b c"
WHY = "A reason has at most 5,000 characters, this one has 5,003."


@pytest.fixture
def step() -> Step:
    steps = Step.objects.filter(turn__conversation__dataset=small_dataset()).select_related("turn")
    return steps.order_by("turn__conversation__position", "turn__index", "index").first()


@pytest.fixture
def people(step: Step):
    project = step.turn.conversation.dataset.project
    return [factories.make_user(role, project, username=role) for role in (Role.ANNOTATOR, Role.REVIEWER)]


@pytest.fixture
def proposed(step: Step, people) -> Correction:
    found = Correction.objects.ask(step, people[0], "Wrong.")
    CorrectionDesk(found).propose(people[0], "CLICK", "", other_node(step))
    return found


@pytest.mark.django_db
@pytest.mark.parametrize("route", ["correction-ask", "turn-correction-ask"])
def test_a_reason_that_is_too_long_is_there_to_be_said_again(route: str, step: Step, people) -> None:
    answer = client_of(people[0]).post(reverse(route, args=[step.pk]), {"reason": LONG})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert WHY in page
    assert f">{LONG}</textarea>" in page
    assert f'action="{reverse(route, args=[step.pk])}"' in page
    assert not Correction.objects.exists()
    assert not TurnCorrection.objects.exists()


@pytest.mark.django_db
def test_a_flag_of_a_conversation_is_refused_likewise(step: Step, people) -> None:
    inside = step.turn.conversation
    sent = {"turn": step.turn.index + 1, "reason": LONG}
    answer = client_of(people[0]).post(reverse("conversation-flag", args=[inside.pk]), sent)
    assert (answer.status_code, WHY in answer.content.decode()) == (422, True)
    assert not TurnCorrection.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("what", ["refuse", "dismiss", "accept"])
def test_a_note_that_is_too_long_decides_nothing_and_stays_in_the_form(what: str, proposed, people) -> None:
    page = reverse("correction", args=[proposed.pk])
    answer = client_of(people[1]).post(page, {"do": what, "note": LONG})
    assert WHY in answer.content.decode()
    assert f'value="{LONG}"' in answer.content.decode()
    proposed.refresh_from_db()
    assert (proposed.state, proposed.note, proposed.decided_by) == ("proposed", "", None)


@pytest.mark.django_db
def test_a_proposal_that_is_refused_stays_in_the_form(step: Step, people) -> None:
    found = TurnCorrection.objects.ask(step.turn, people[0], "Wrong.")
    sent = {"do": "propose", "instruction": "b" * 20_000, "first_step": step.pk}
    answer = client_of(people[0]).post(reverse("turn-correction", args=[found.pk]), sent)
    assert f">{'b' * 20_000}</textarea>" in answer.content.decode()
    found.refresh_from_db()
    assert (found.state, found.instruction) == ("open", "")


@pytest.mark.django_db
def test_programs_are_told_the_same(step: Step, proposed, people) -> None:
    annotator, reviewer = map(client_of, people)
    sent = {"step": step.pk, "reason": LONG}
    asked = annotator.post("/api/turn-corrections/", sent, content_type="application/json")
    assert (asked.status_code, asked.json()) == (400, {"reason": [WHY]})
    for what in ("refuse", "dismiss", "accept"):
        told = reviewer.post(f"/api/corrections/{proposed.pk}/{what}/", {"note": LONG}, "application/json")
        assert (told.status_code, told.json()) == (400, {"note": [WHY]})


@pytest.mark.django_db
def test_what_several_people_say_is_kept_whole(step: Step, people) -> None:
    first, other = "a" * MAX_REASON, "b" * MAX_REASON
    for user, reason in zip(people, (first, other), strict=True):
        Correction.objects.ask(step, user, reason)
    assert Correction.objects.get().reason == f"{first}\n{other}"
    with pytest.raises(CorrectionRefused, match="at most 5,000"):
        Correction.objects.ask(step, people[0], first + "a")


TYPED = re.compile(rf"""maxlength\W{{1,3}}{MAX_REASON}\b""", re.IGNORECASE)


def test_no_page_types_how_long_a_reason_may_be() -> None:
    files = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "static" / "js").rglob("*.js")]
    assert [path.name for path in files if TYPED.search(path.read_text("utf-8"))] == []
    assert TYPED.search('<input maxlength="5000">')
    assert TYPED.search('make("input", { maxLength: 5000 })')
    modules = [path for app in ("annotations", "evaluation") for path in (ROOT / app).rglob("*.py")]
    named = {path.name for path in modules if re.search(r"^MAX_\w+ = 5_?000\b", path.read_text("utf-8"), re.M)}
    assert named == {"choices.py"}


FIELD = re.compile(r"<(?:textarea|input)\b[^>]*>")
REASON = re.compile(r"""\b(?:name|id)="(?:reason|note)\"""")


def test_every_field_for_a_reason_says_how_long_it_may_be() -> None:
    files = [path for path in (ROOT / "templates").rglob("*.html") if path.name != "ask_again.html"]  # there it is cut
    pages = {path.name: re.sub(r"\{[{%].*?[%}]\}", "", path.read_text("utf-8")) for path in files}
    found = [(name, field) for name, text in pages.items() for field in FIELD.findall(text) if REASON.search(field)]
    seen = [(name, field) for name, field in found if 'type="hidden"' not in field]
    assert {name for name, _ in seen} >= {"_flag.html", "_step_details.html", "correction_base.html", "verify.html"}
    assert [name for name, field in seen if "maxlength=" not in field] == []
