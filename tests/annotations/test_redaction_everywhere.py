"""After a redaction the text stands nowhere in the database: a column that is added later must be named in
`annotations/releases/keeping.py`, or here with the reason why no text of a conversation can stand in it."""

import base64
import gzip
import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Drive
from annotations.corpus.correct.correcting import CorrectionDesk
from annotations.corpus.correct.rewording import WordingDesk
from annotations.datasets.records import CandidateRecord
from annotations.models import Correction, Dataset, Membership, Project, Redaction, SourceFile, Step, TurnCorrection
from annotations.models.corpus.candidates import pack_candidates
from annotations.pages.store import forget_unused_pages
from annotations.releases.redacting import redact
from annotations.releases.scanning import scan_dataset
from annotations.tell import audit
from tests import factories
from tests.annotations.redaction_world import (
    LIVE_PAGE,
    PRIVATE,
    RedactionWorld,
    columns_that_say,
    make_redaction_world,
    say_everywhere,
)
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db
# Models and columns in which no text of a conversation stands.
NO_TEXT = {
    # Of accounts, hosts and projects, whatever their datasets hold.
    **dict.fromkeys(
        ("AccessEvent", "TokenGrant", "TryCount", "Project", "Invite", "SharedSecret", "Worker"), "accounts"
    ),
    **dict.fromkeys(("KeyMap", "Webhook", "SavedRecipe", "Connection", "GuardRule", "ExemplarSet"), "settings"),
    "PromptPack": "settings",
    # What was released is never changed; what differs from a release later hides it (`taken_out.py`).
    **dict.fromkeys(("Release", "ReleasedConversation"), "released for good"),
    "Redaction": "the record of it, without the text",
    # Found by their checksum.
    **dict.fromkeys(("Snapshot", "Screenshot", "PageDictionary", "TextEmbedding"), "bytes"),
    **dict.fromkeys(("WorkflowVector", "TransitionVector", "WorldModelFit", "TrainedModel", "Score"), "numbers"),
    **dict.fromkeys(("ConversationTally", "Target", "StepPicture", "ReviewQueue"), "numbers, and names of elements"),
    **{
        column: "a name that the source, or the code, gives"
        for column in """
        Dataset.name Dataset.source_format Dataset.page_totals Website.name Website.domain Website.subdomain
        Conversation.source_id Conversation.content_sha256 Conversation.split SourceTask.source_id Turn.source_id
        Step.source_id Step.original_operation Step.marks SourceFile.path Job.lease_owner Job.file Job.kind Job.error_id
        Campaign.connection Campaign.proposer Rationale.model_name Defect.code Correction.node_id Comment.node_id
        Edit.field Edit.kind Proposal.model_name Delivery.event IdempotencyKey.key IdempotencyKey.request_sha256
        LogEntry.object_id
        Run.recipe_name Run.recipe Run.recipe_sha256 Run.code_revision Run.data_sha256 Run.split
        HeldStep.node_id MemorySnippet.encoder Exemplar.domain Exemplar.encoder Workflow.model_name Workflow.prompts
        TrajectoryStep.node_id LlmReply.key LlmReply.model Transition.sha256 Transition.website Transition.role
        Transition.model_name Transition.prompts
        Review.region JudgeVerdict.model JudgeVerdict.pack JudgeVerdict.pack_sha256 JudgeVerdict.judge
        ScannerAnswer.model ScannerAnswer.pack ScannerAnswer.pack_sha256 ScannerAnswer.scanner ScannerAnswer.reason
        Shard.lease_owner Shard.conversation_ids Shard.phase Shard.error_id RiskForecast.action_sha256 RiskForecast.role
        ScannedRun.scanners
        """.split()
    },
}


@pytest.fixture(autouse=True)
def _nothing_remembered(settings, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path / "var"


def test_no_column_of_any_table_holds_a_redacted_text() -> None:
    world = make_redaction_world()
    assert say_everywhere(NO_TEXT) == [], "models without a row in the world"
    marked = pack_candidates([CandidateRecord("5", "input", json.dumps({"value": PRIVATE}))], [])
    Step.objects.update(candidates=marked, candidate_count=1)
    said = columns_that_say(PRIVATE)
    assert {"pages", "candidates", "files", "annotations_correctionevent.before"} < said
    assert len(said) > 100
    (found,) = scan_dataset(world.dataset).texts
    redact(world.dataset, found, factories.make_user())
    forget_unused_pages(timedelta(0))
    assert columns_that_say(PRIVATE) == set()
    assert Redaction.objects.get(place="kept").count > 100
    assert scan_dataset(world.dataset).texts == []
    trail = json.dumps(list(audit.stream(world.dataset.project)), default=str)
    assert PRIVATE not in trail
    assert '"model": "Redaction"' in trail, "that something was taken out is told"


def packed_in(file: str) -> str:
    """A replay as a file with its pages, which are packed."""
    pages = re.findall(r'class="packed"[^>]*>([A-Za-z0-9+/=\s]+)<', file)
    assert pages, "there are pages in it"
    return file + "".join(gzip.decompress(base64.b64decode(one)).decode() for one in pages)


def live_world() -> RedactionWorld:
    """The text stands on pages and in words of a live episode alone."""
    world = make_redaction_world()
    SourceFile.objects.all().delete()
    Drive.objects.update(said=f"I am {PRIVATE}.")
    return world


def test_the_search_before_a_release_reads_what_live_episodes_show_and_hear() -> None:
    world = live_world()
    report = scan_dataset(world.dataset)
    (found,) = report.texts
    assert found.places == {"page": 1, "kept": 1}
    assert (found.conversations, report.scanned) == ({world.conversation.pk}, report.large)


def test_a_replay_given_to_others_shows_the_pages_of_a_live_episode_without_the_text(settings) -> None:
    settings.APP_ORIGIN = "http://testserver"
    world = live_world()
    client = client_of(factories.make_user("admin", world.dataset.project))
    file, share = (reverse(f"trajectory-{what}", args=[world.trajectory.pk]) for what in ("file", "share"))
    assert PRIVATE in packed_in(client.get(file).content.decode())
    link = client.post(share, {"days": "7"}).context["link"].removeprefix("http://testserver")
    (found,) = scan_dataset(world.dataset).texts
    redact(world.dataset, found, None)
    for shown in (client.get(file), Client().get(link)):
        assert PRIVATE not in packed_in(shown.content.decode())
        assert "Signed in as [email]" in packed_in(shown.content.decode())


def test_a_correction_that_was_proposed_before_a_redaction_does_not_bring_the_text_back() -> None:
    world = make_redaction_world()
    dataset = world.dataset
    gold, wording = Correction.objects.get(), TurnCorrection.objects.get()
    gold.propose(gold.corrected_by, "TYPE", PRIVATE, "5")
    wording.propose(wording.corrected_by, f"Log in as {PRIVATE}.", None)
    (found,) = scan_dataset(dataset).texts
    redact(dataset, found, None)
    judge = factories.make_user("reviewer", dataset.project)
    CorrectionDesk(Correction.objects.get()).accept(judge)
    WordingDesk(TurnCorrection.objects.get()).accept(judge, sure=True)
    step = Step.objects.get(pk=gold.step_id)
    assert (step.value, step.action_repr[-7:], step.turn.instruction) == ("[email]", "[email]", "Log in as [email].")
    assert scan_dataset(dataset).texts == []


def copy_of(world: RedactionWorld, project: Project) -> Dataset:
    """Another dataset that shows the page of the world's episode, and quotes the text twice."""
    turn = factories.make_turn(factories.make_conversation(turns=0, dataset=factories.make_dataset(project)), steps=0)
    turn.conversation.turns.update(instruction=f"{PRIVATE}: log in as {PRIVATE}, not as x{PRIVATE}.")
    factories.make_step(turn, html=LIVE_PAGE)
    return turn.conversation.dataset


def test_who_redacts_is_told_in_which_other_datasets_of_theirs_the_text_stands() -> None:
    world = live_world()
    own, foreign = factories.make_project(), factories.make_project()
    sibling, read_alone, hidden = (copy_of(world, one) for one in (world.dataset.project, own, foreign))
    user = factories.make_user("admin", world.dataset.project)
    Membership.objects.create(project=own, user=user, role="reader")
    (found,) = scan_dataset(world.dataset).texts
    redact = reverse("release-redact", args=[world.dataset.name])
    page = client_of(user).post(redact, {"fingerprint": found.fingerprint}, follow=True).content.decode()
    there = reverse("release-new", args=[sibling.name])
    assert f'<a class="link" href="{there}#privacy">{sibling.name}</a> (3 places)' in page
    assert f"{read_alone.name} (3 places)" in page
    assert reverse("release-new", args=[read_alone.name]) not in page
    assert hidden.name not in page


@pytest.mark.parametrize(("state", "playing"), [("running", 1), ("done", 0)])
def test_who_redacts_what_is_being_played_is_told_to_search_again(state: str, playing: int) -> None:
    """A page that the agent comes to later is stored as it is."""
    world = live_world()
    type(world.trajectory).objects.update(state=state)
    (found,) = scan_dataset(world.dataset).texts
    client = client_of(factories.make_user("admin", world.dataset.project))
    asked = {"fingerprint": found.fingerprint}
    page = client.post(reverse("release-redact", args=[world.dataset.name]), asked, follow=True).content.decode()
    assert ("An agent plays 1 conversation of these now" in page) == bool(playing)


def test_programs_redact_over_rest_and_are_told_the_same() -> None:
    world = live_world()
    sibling = copy_of(world, world.dataset.project)
    client = client_of(factories.make_user("admin", world.dataset.project))
    asked = {"dataset": world.dataset.name, "text": PRIVATE}
    answer = client.post("/api/redactions/", asked, content_type="application/json")
    there = {"dataset": sibling.name, "places": 3, "url": reverse("release-new", args=[sibling.name])}
    assert (answer.status_code, answer.json()["elsewhere"]) == (201, [there])
    assert answer.json()["count"] == Redaction.objects.get().count
    assert answer.json()["under_way"] == int(world.trajectory.state == "running")
    again = client.post("/api/redactions/", asked, content_type="application/json")
    assert (again.status_code, list(again.json())) == (400, ["text"])
    reader = client_of(factories.make_user("reviewer", world.dataset.project))
    assert reader.post("/api/redactions/", asked, content_type="application/json").status_code == 403
