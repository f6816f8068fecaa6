"""Judges of whole trajectories: what they say, what is kept of it, and how far people agree."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from django.core.management import CommandError, call_command

from agents.memory.jobs import endpoint
from agents.models import Connection, PromptPack, Run
from agents.prompts.packs import Pack, webnav
from annotations.models import Role
from evaluation.asking.definition import AskedModel
from evaluation.judges import JUDGES
from evaluation.judges.agreeing import JudgedRun, agreements
from evaluation.judges.definition import Evidence, Opinion, SeenAction
from evaluation.judges.judging import Judging, page_words
from evaluation.judges.rules import ByGold
from evaluation.judges.webjudge import ASKED, EVIDENCE, HISTORY, MOST, WebJudge
from evaluation.metrics.judged import corrected_rate, wilson
from evaluation.models import JudgeVerdict, Review, ScannedRun
from tests import factories
from tests.agents.llm_server import Answer, LlmServer, failure, prompt_text, serve
from tests.signed_in import client_of
from tests.test_imports import ROOT
from tests.web.reading import source

pytestmark = pytest.mark.django_db

SIZE = 12


def make_run_to_judge() -> Run:
    """With twelve trajectories; their tasks say "task 0 please" to "task 11 please"."""
    dataset = factories.make_dataset()
    run = factories.make_run(dataset, state="done")
    for number in range(SIZE):
        conversation = factories.make_conversation(dataset=dataset, turns=1, steps=3)
        conversation.turns.update(instruction=f"task {number} please")
        factories.make_trajectory(run, conversation)
    return run


@pytest.fixture(scope="module")
def stored_run(rows_of_the_file: None) -> int:
    return make_run_to_judge().pk


@pytest.fixture
def run(stored_run: int) -> Run:
    return Run.objects.get(pk=stored_run)


def number_of(body: dict) -> int:
    found = re.search(r"task (\d+) please", prompt_text(body))
    assert found
    return int(found[1])


def stage_of(body: dict) -> str:
    text = prompt_text(body)
    return "points" if "Score: N" not in text and "Verdict:" not in text else "page" if "Score: N" in text else "end"


def honest(body: dict) -> "str | Answer":
    """The judge of these tests: an even task is done. The second page of three is the one that says something."""
    number, stage = number_of(body), stage_of(body)
    if stage == "points":
        return f"- condition of {number}"
    if stage == "page":
        return f"It shows the thing of {number}.\nScore: 4"
    return f"All is met.\nVerdict: {'success' if number % 2 == 0 else 'failure'}"


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with serve(honest) as running:
        Connection.objects.create(
            name="judging",
            base_url=running.url,
            model="m-1",
            private=True,
            attempts=1,
            is_default=True,
            price_prompt=1_000_000,
            price_completion=0,
        )
        yield running


def judge(name: str, *runs: Run, **options: object) -> dict:
    from io import StringIO

    out = StringIO()
    call_command("judge", name, *[run.pk for run in runs], as_json=True, stdout=out, stderr=StringIO(), **options)
    return json.loads(out.getvalue())


def review(run: Run, verdicts: dict[int, str], name: str = "") -> None:
    """A new person's verdicts on whole trajectories, by the number of their task."""
    person = factories.make_user(Role.REVIEWER, run.dataset.project)
    for trajectory in run.trajectories.all():
        turn = trajectory.conversation.turns.get()
        if (verdict := verdicts.get(int(turn.instruction.split()[1]))) is not None:
            Review.objects.give(trajectory, None, person, verdict)


def shown(run: Run) -> JudgedRun:
    return agreements(run)[0].all


@pytest.mark.slow
def test_webjudge_asks_for_conditions_then_for_pages_then_for_a_verdict(run: Run, server: LlmServer) -> None:
    found = judge("webjudge", run)
    of_first = [body for body in server.requests if number_of(body) == 0]
    assert [stage_of(body) for body in of_first] == ["points", *["page"] * 3, "end"]
    assert all("- condition of 0" in prompt_text(body) for body in of_first[1:])
    last = prompt_text(of_first[-1])
    assert last.count("It shows the thing of 0.") == 3
    assert last.count("[button]  Search -> CLICK") == 3
    assert JudgeVerdict.objects.filter(success=True).count() == SIZE / 2
    assert found["rows"][0]["rate"]["value"] == 0.5
    assert (found["model"], found["pack"]) == ("m-1", f"webnav@{webnav().version}")


def test_a_page_that_says_little_is_no_evidence(run: Run, server: LlmServer) -> None:
    replies = iter(["Nothing of it.\nScore: 2", "Here it stands.\nScore: 3", "No number."])
    server.reply = lambda body: next(replies) if stage_of(body) == "page" else honest(body)
    only = run.trajectories.in_order().first()
    run.trajectories.exclude(pk=only.pk).delete()
    Connection.objects.update(concurrency=1)
    judge("webjudge", run)
    last = prompt_text(server.requests[-1])
    assert "Here it stands." in last
    assert "Nothing of it." not in last
    assert "No number." not in last
    assert [one["score"] for one in JudgeVerdict.objects.get().answers["observations"]] == ["2", "3", None]


@pytest.mark.slow
def test_what_is_asked_of_a_long_trajectory_is_bounded_and_what_is_missing_is_said(server: LlmServer) -> None:
    long = Evidence(("task 2 please",), tuple(SeenAction(f"act {n} " + "x" * 500, "w" * 6_000) for n in range(300)))
    opinion = WebJudge().judge(long, AskedModel(endpoint(""), webnav()))
    assert opinion.success is True
    assert len(server.requests) == 1 + ASKED + 1
    last = prompt_text(server.requests[-1])
    assert len(last) < EVIDENCE + HISTORY + 10_000
    assert "(200 earlier and 50 later pages are left out.)" in last
    assert "(The actions before are left out.)" in last
    assert "act 299 " in last
    assert last.count("It shows the thing of 2.") == MOST
    assert opinion.answers["left_out"]["pages"] == 300 - ASKED


def test_what_a_page_says_to_do_is_shown_as_a_page(run: Run) -> None:
    assert page_words("<html><body><script>bad()</script><p>Buy <b>now</b></p><input value='7'/></body></html>") == (
        "Buy now 7"
    )
    assert page_words("") == ""
    seen = Judging.evidence(run.trajectories.in_order()[0])
    assert (seen.task, len(seen.actions), seen.reward) == ("task 0 please", 3, None)
    assert all(action.page for action in seen.actions)


@pytest.mark.slow
def test_it_goes_on_where_it_stopped_and_pays_for_nothing_twice(run: Run, server: LlmServer) -> None:
    server.reply = lambda body: failure(503) if number_of(body) == 5 else honest(body)
    with pytest.raises(CommandError, match="Run it again"):
        judge("webjudge", run)
    assert JudgeVerdict.objects.filter(error="").count() == 5
    assert "503" in JudgeVerdict.objects.exclude(error="").get().error
    asked = len(server.requests)
    assert asked == 5 * 5 + 1, "who cannot be reached is asked no further"
    server.reply = honest
    judge("webjudge", run)
    assert len(server.requests) == asked + 7 * 5
    assert JudgeVerdict.objects.filter(error="").count() == SIZE
    assert JudgeVerdict.objects.count() == SIZE
    judge("webjudge", run)
    assert len(server.requests) == asked + 7 * 5


@pytest.mark.slow
def test_a_reply_without_a_verdict_is_no_failure_and_is_asked_again_alone(run: Run, server: LlmServer) -> None:
    server.reply = lambda body: "Hm." if stage_of(body) == "end" and number_of(body) == 3 else honest(body)
    with pytest.raises(CommandError, match="names no verdict"):
        judge("webjudge", run)
    assert shown(run).rate == wilson(6, 11)
    assert agreements(run)[0].unsaid == 1


@pytest.mark.slow
def test_what_a_verdict_cost_is_kept(run: Run, server: LlmServer) -> None:
    found = judge("webjudge", run)
    words = sum(len(prompt_text(body).split()) for body in server.requests)
    assert found["cost"] == pytest.approx(words)
    assert found["tokens"] > words


@pytest.mark.slow
def test_a_verdict_on_a_trajectory_that_has_changed_since_counts_no_more(run: Run) -> None:
    judge("gold", run)
    changed = run.trajectories.in_order()[0]
    assert shown(run).rate.n == SIZE
    changed.got_on()
    assert shown(run).rate.n == SIZE - 1
    judge("gold", run)
    assert JudgeVerdict.objects.count() == SIZE
    assert shown(run).rate.n == SIZE


@pytest.mark.slow
def test_who_asks_a_model_is_asked_again_only_of_what_has_changed(run: Run, server: LlmServer) -> None:
    judge("webjudge", run)
    changed = run.trajectories.in_order()[0]
    changed.got_on()
    run.trajectories.filter(pk=changed.pk).update(state="done")
    assert Judging("webjudge", run.dataset.project).waiting(run) == [changed.pk]


def test_a_verdict_on_what_grew_while_the_judge_read_counts_nothing(run: Run, monkeypatch) -> None:
    grows = run.trajectories.in_order()[3]

    class Slow(ByGold):
        """The trajectory grows while it judges."""

        def judge(self, seen: Evidence, panel: AskedModel | None) -> Opinion:
            if seen.task == "task 3 please":
                grows.got_on()
            return super().judge(seen, panel)

    monkeypatch.setitem(JUDGES, "slow", Slow())
    assert len(list(Judging("slow", run.dataset.project).go_through(run))) == SIZE
    assert shown(run).rate.n == SIZE - 1
    assert not JudgeVerdict.objects.fresh().filter(trajectory=grows).exists()


@pytest.mark.slow
def test_a_review_of_what_has_grown_since_is_no_measure(run: Run) -> None:
    review(run, dict.fromkeys(range(SIZE), "agent_wrong"))
    run.trajectories.in_order()[0].got_on()
    run.trajectories.update(state="done")
    judge("gold", run)
    assert shown(run).rate.n == SIZE
    assert shown(run).known.wrong == SIZE - 1


@pytest.mark.slow
def test_packs_with_the_same_texts_are_asked_once(run: Run, server: LlmServer) -> None:
    project, texts = run.dataset.project, dict(webnav().texts)
    for end in ("", "\nBe brief.", ""):
        PromptPack.objects.add(project, Pack("mine", 1, texts | {"judge_points": texts["judge_points"] + end}))
    judge("webjudge", run, pack="mine@1")
    asked = len(server.requests)
    changed = run.trajectories.in_order()[0]
    changed.conversation.turns.update(instruction="task 100 please")
    changed.got_on()
    run.trajectories.update(state="done")
    found = judge("webjudge", run, pack="mine@3")
    assert len(server.requests) == asked + 5, "only of what has changed"
    assert (found["rows"][0]["rate"]["n"], JudgeVerdict.objects.count(), len(agreements(run))) == (SIZE, SIZE, 1)
    judge("webjudge", run)
    assert len(server.requests) == asked + 5, "an unedited copy is no other pack"


@pytest.mark.slow
def test_verdicts_of_judges_are_none_of_peoples(run: Run, server: LlmServer) -> None:
    judge("webjudge", run)
    judge("gold", run)
    assert Review.objects.count() == 0
    for found in agreements(run):
        assert found.all.kappa.value is None
        assert found.all.corrected is None
        assert (found.all.known.right, found.all.known.wrong) == (0, 0)


@pytest.mark.slow
def test_rules_say_what_is_stored_and_nothing_where_nothing_is(run: Run) -> None:
    first, second = run.trajectories.in_order()[:2]
    first.steps.update(success=True)
    for name in ("gold", "scanners", "site-state"):
        judge(name, run)
    said = {(one.judge, one.trajectory_id): one.success for one in JudgeVerdict.objects.all()}
    assert (said["gold", first.pk], said["gold", second.pk]) == (True, False)
    assert {said[name, first.pk] for name in ("scanners", "site-state")} == {None}
    found = str(second.steps.first().pk)
    ScannedRun.objects.create(run=run, step_count=1, scanners="loop", findings={"loop": {found: "again"}})
    JudgeVerdict.objects.all().delete()
    judge("scanners", run)
    said = {one.trajectory_id: one.success for one in JudgeVerdict.objects.all()}
    assert (said[first.pk], said[second.pk]) == (True, False)


@pytest.mark.slow
def test_scanners_that_could_not_tell_can_once_the_run_is_scanned(run: Run) -> None:
    judge("scanners", run)
    assert shown(run).rate.n == 0
    found = str(run.trajectories.in_order()[1].steps.first().pk)
    ScannedRun.objects.create(run=run, step_count=1, scanners="loop", findings={"loop": {found: "again"}})
    judge("scanners", run)
    assert (shown(run).rate.value, shown(run).rate.n) == (pytest.approx(1 - 1 / SIZE), SIZE)


@pytest.mark.slow
def test_rules_read_no_page(run: Run, monkeypatch) -> None:
    monkeypatch.setattr("evaluation.judges.judging.page_words", lambda html: pytest.fail("a page was read"))
    for name in ("gold", "scanners", "site-state"):
        judge(name, run)


@pytest.mark.slow
def test_the_reward_of_an_episode_is_the_state_of_its_site(run: Run) -> None:
    for trajectory, reward in zip(run.trajectories.in_order()[:3], (1.0, 0.5, None), strict=True):
        turn = trajectory.conversation.turns.get()
        trajectory.steps.update(step=None, turn=turn, reward=None)
        trajectory.steps.filter(seq=2).update(reward=reward)
    judge("site-state", run)
    said = JudgeVerdict.objects.order_by("trajectory__conversation__position", "trajectory")
    assert list(said.values_list("success", flat=True))[:4] == [True, False, None, None]


@pytest.mark.slow
def test_agreement_is_that_of_the_judge_with_most_people(run: Run, server: LlmServer) -> None:
    judge("webjudge", run)
    truth = {number: "both_acceptable" if number % 2 == 0 else "agent_wrong" for number in range(SIZE)}
    review(run, truth)
    row = shown(run)
    assert (row.kappa.value, row.known.sensitivity.value, row.known.specificity.value) == (1.0, 1.0, 1.0)
    review(run, {0: "agent_wrong", 1: "both_acceptable", 2: "page_broken"})
    row = shown(run)
    assert row.known.right + row.known.wrong == SIZE - 2, "of 0 and 1 as many say one thing as the other"
    review(run, {0: "agent_wrong", 1: "both_acceptable"})
    row = shown(run)
    assert (row.known.right, row.known.said_right, row.known.wrong, row.known.said_wrong) == (6, 5, 6, 5)
    assert row.kappa.value == pytest.approx(row.known.kappa)
    assert row.kappa.low is not None
    assert row.kappa.low < row.kappa.value < row.kappa.high
    assert row.corrected == corrected_rate(6, SIZE, row.known)
    assert row.corrected is not None
    assert row.corrected.high - row.corrected.low > row.rate.high - row.rate.low, "the judge's own doubt is in it"


@pytest.mark.slow
def test_few_conversations_give_no_interval(run: Run) -> None:
    judge("gold", run)
    review(run, {number: "agent_wrong" if number else "both_acceptable" for number in range(5)})
    assert shown(run).kappa.low is None
    assert shown(run).too_few.startswith("5 conversations are too few")


@pytest.mark.slow
def test_the_page_of_a_study_shows_kappa_only_where_gold_may_be_seen(run: Run, server: LlmServer) -> None:
    Run.objects.filter(pk=run.pk).update(split="test_task")
    run.dataset.conversations.update(split="test_task")
    study = factories.make_study(run.dataset.project, [run])
    judge("webjudge", run)
    review(run, {number: "agent_wrong" if number % 3 else "both_acceptable" for number in range(SIZE)})
    factories.make_score(run)
    row, address = shown(run), f"/studies/{study.pk}/"
    page = " ".join(source(client_of(factories.make_user(Role.ADMIN, study.project)).get(address)).split())
    assert "Judges beside people" in page
    assert f'{row.kappa.value:.2f} <small class="muted">{row.kappa.low:.2f} to {row.kappa.high:.2f}' in page
    hidden = source(client_of(factories.make_user(Role.READER, study.project)).get(address))
    assert "Judges beside people" not in hidden
    seeing = factories.make_user(Role.READER, study.project, sees_test_gold=True)
    assert "Judges beside people" in source(client_of(seeing).get(address))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"connection": "none"}, "no connection 'none'"),
        ({"pack": "nobody"}, "no prompt pack nobody"),
    ],
)
def test_what_is_lacking_is_said_before_anything_is_asked(run: Run, server: LlmServer, options, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        judge("webjudge", run, **options)
    assert server.requests == []


def test_runs_of_two_projects_and_unknown_ones_are_refused(run: Run) -> None:
    other = factories.make_run()
    with pytest.raises(CommandError, match="several projects"):
        judge("gold", run, other)
    with pytest.raises(CommandError, match="no run 999999"):
        call_command("judge", "gold", 999999)


ADDING = """
import importlib.metadata as metadata
what = "evaluation.judges.rules:ByGold", "webnav.judges"
points = [metadata.EntryPoint(name, *what) for name in ("mine", "webjudge")]
metadata.entry_points = lambda group: points if group == "webnav.judges" else []
import django
django.setup()
from evaluation.judges import ADDED, JUDGES
print(*ADDED, JUDGES["mine"].label, JUDGES["webjudge"].label)
"""


@pytest.mark.slow
def test_judges_of_other_packages_stand_beside_ours_and_replace_none() -> None:
    settings = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"}
    done = subprocess.run(
        [sys.executable, "-c", ADDING], cwd=ROOT, env=settings, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "mine recorded gold WebJudge"
