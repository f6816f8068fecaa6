"""The four questions of AgentRewardBench, and the plot of judges beside people."""

import csv
from collections.abc import Iterator

import pytest

from agents.memory.jobs import endpoint
from agents.models import Connection
from agents.prompts.packs import webnav
from annotations.agreement import cohen, estimate
from annotations.models import Role
from evaluation.asking.definition import PAGE_CHARACTERS, AskedModel
from evaluation.judges import JUDGES
from evaluation.judges.agreeing import JudgeAgreement, JudgedRun
from evaluation.judges.definition import HISTORY, Evidence, Opinion, SeenAction
from evaluation.judges.judging import Judging
from evaluation.judges.rewardbench import RewardBenchJudge
from evaluation.metrics.judged import JudgedByPeople, corrected_rate, labels_wanted, wilson
from evaluation.models import JudgeVerdict
from evaluation.reviews.estimating import WIDTH
from tests import factories
from tests.agents.llm_server import LlmServer, prompt_text, serve
from tests.evaluation.test_judges import review
from tests.signed_in import client_of
from tests.web.reading import source

pytestmark = pytest.mark.django_db

REPLY = """Success: yes was my first thought, but the size is wrong.
**Success:** no
Side effects: yes
Directness: 2
Repetition: no"""
SEEN = Evidence(
    ("Buy the blue jacket",),
    (SeenAction("[a] Jackets -> CLICK", "First page"), SeenAction("[b] Next", ""), SeenAction("[c] Buy", "Last page")),
    website="nordline",
)


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with serve(lambda body: REPLY) as running:
        common = {"private": True, "attempts": 1, "is_default": True}
        Connection.objects.create(name="judging", base_url=running.url, model="m-1", **common)
        yield running


def asked(seen: Evidence = SEEN) -> Opinion:
    return RewardBenchJudge().judge(seen, AskedModel(endpoint(""), webnav()))


def test_one_request_asks_four_questions_of_actions_first_and_last_page(server: LlmServer) -> None:
    found = asked()
    assert (found.success, found.error) == (False, ""), "what it says last counts"
    assert found.answers == {"side_effects": True, "directness": 2, "repetition": False}
    (body,) = server.requests
    text = prompt_text(body)
    for words in ("nordline", "Buy the blue jacket", "2. [b] Next", "First page", "Last page"):
        assert words in text
    assert text.index("First page") < text.index("Last page")


@pytest.mark.parametrize(
    ("reply", "success", "answers"),
    [
        ("Success: yes", True, (None, None, None)),
        ("success - No\nDirectness: 14\nrepetition: YES", False, (None, None, True)),
        ("I would call it a success: yes it was done.", None, (None, None, None)),
        ("Directness: 3", None, (None, 3, None)),
    ],
)
def test_what_a_reply_leaves_out_is_not_made_up(server: LlmServer, reply: str, success, answers) -> None:
    server.reply = lambda body: reply
    found = asked()
    assert (found.success, tuple(found.answers.values())) == (success, answers)
    assert bool(found.error) == (success is None)


def test_it_asks_no_more_than_it_says_before(server: LlmServer) -> None:
    long = Evidence(("t",), tuple(SeenAction(f"act {n} " + "x" * 500, "w" * PAGE_CHARACTERS) for n in range(300)))
    asked(long)
    demand = RewardBenchJudge().demand(300)
    assert demand.requests == len(server.requests) == 1
    assert HISTORY < len(prompt_text(server.requests[0])) < demand.characters
    assert "act 299 " in prompt_text(server.requests[0])


def test_its_answers_stand_in_list_and_csv_and_success_alone_is_compared(server: LlmServer) -> None:
    run = factories.make_run(state="done")
    conversation = factories.make_conversation(dataset=run.dataset, turns=1, steps=3)
    conversation.turns.update(instruction="task 0 please")
    factories.make_trajectory(run, conversation)
    study = factories.make_study(run.dataset.project, [run])
    list(Judging("rewardbench", run.dataset.project).go_through(run))
    assert JudgeVerdict.objects.get().remarks == "side effects · directness 2 of 4"
    client = client_of(factories.make_user(Role.READER, study.project))
    assert "side effects · directness 2 of 4" in source(client.get(f"/studies/{study.pk}/judges/"))
    (row,) = csv.DictReader(client.get(f"/studies/{study.pk}/judges.csv").content.decode().splitlines())
    assert (row["says"], row["side_effects"], row["directness"], row["repetition"]) == ("failure", "True", "2", "False")
    assert client.get("/api/judge-verdicts/").json()["results"][0]["answers"]["directness"] == 2


@pytest.fixture
def study():
    run = factories.make_run(state="done")
    for number in range(12):
        conversation = factories.make_conversation(dataset=run.dataset, turns=1, steps=1)
        conversation.turns.update(instruction=f"task {number} please")
        trajectory = factories.make_trajectory(run, conversation)
        factories.make_judge_verdict(trajectory, "gold", success=number % 2 == 0)
        factories.make_judge_verdict(trajectory, "webjudge", model="m-1", success=number % 2 == 1)
    return factories.make_study(run.dataset.project, [run])


@pytest.mark.slow
def test_judges_beside_people_are_a_plot_with_table_csv_and_rest(study) -> None:
    client = client_of(factories.make_user(Role.READER, study.project))
    assert "Judges beside people" not in source(client.get(f"/studies/{study.pk}/plots/")), "nobody was reviewed"
    review(study.runs.get(), {n: "agent_wrong" if n % 2 else "both_acceptable" for n in range(12)})
    page = source(client.get(f"/studies/{study.pk}/plots/"))
    section = page.partition("Judges beside people")[2]
    assert "<svg" in section
    assert "<polyline" not in section, "between two measures there is nothing"
    assert "recorded gold, sensitivity: 100.0, from 61.0 to 100.0" in section
    assert "WebJudge · m-1, kappa: -100.0" in section
    heights = {float(part.partition('"')[0]) for part in section.split('cy="')[1:]}
    assert max(heights) <= 170, "what is below 0 is drawn at the axis"
    rows = list(csv.DictReader(client.get(f"/studies/{study.pk}/plots.csv").content.decode().splitlines()))
    told = {(row["recipe"], row["x"]): float(row["value"]) for row in rows if row["plot"] == "judges"}
    assert told["recorded gold", "specificity"] == 1.0
    assert told["WebJudge · m-1", "kappa"] == -1.0
    rest = {plot["name"]: plot for plot in client.get(f"/api/studies/{study.pk}/plots/").json()}
    assert len(rest["judges"]["points"]) == 6


def test_the_plot_leaves_out_runs_whose_gold_is_hidden(study) -> None:
    run = study.runs.get()
    review(run, {n: "agent_wrong" for n in range(12)})
    run.dataset.conversations.update(split="test_task")
    type(run).objects.filter(pk=run.pk).update(split="test_task")
    reader = client_of(factories.make_user(Role.READER, study.project))
    assert "Judges beside people" not in source(reader.get(f"/studies/{study.pk}/plots/"))
    admin = client_of(factories.make_user(Role.ADMIN, study.project))
    assert "Judges beside people" in source(admin.get(f"/studies/{study.pk}/plots/"))


def test_every_judge_with_texts_says_what_it_demands() -> None:
    assert all(bool(judge.texts) == (judge.demand(3).requests > 0) for judge in JUDGES.values())


def order_of(client, study, **query) -> list[str]:
    address = f"/studies/{study.pk}/judges.csv"
    text = client.get(address, {"order": "drawn", "people": "untold"} | query).content.decode()
    return [row["trajectory"] for row in csv.DictReader(text.splitlines())]


@pytest.mark.slow
def test_what_to_review_next_is_drawn_by_chance_and_what_is_reviewed_leaves_the_list(study) -> None:
    client = client_of(factories.make_user(Role.REVIEWER, study.project))
    assert "?judge=gold&amp;model=&amp;people=untold&amp;order=drawn" in source(client.get(f"/studies/{study.pk}/"))
    drawn = order_of(client, study, judge="gold")
    assert len(drawn) == 12
    assert drawn != sorted(drawn, key=int)
    assert order_of(client, study, judge="webjudge") == drawn, "whatever a judge says"
    JudgeVerdict.objects.update(success=True)
    assert order_of(client, study, judge="gold") == drawn
    first = study.runs.get().trajectories.get(pk=drawn[0])
    number = int(first.conversation.turns.get().instruction.split()[1])
    review(study.runs.get(), {number: "agent_wrong"})
    assert order_of(client, study, judge="gold") == drawn[1:]
    page = source(client.get(f"/studies/{study.pk}/judges/?judge=gold&people=untold&order=drawn"))
    assert "In an order drawn by chance" in page
    assert "Not every action is the recorded one." not in page, "what the judge says would sway who reviews"
    assert "Not every action is the recorded one." in source(client.get(f"/studies/{study.pk}/judges/?judge=gold"))
    assert page.index(f'href="/trajectories/{drawn[1]}/"') < page.index(f'href="/trajectories/{drawn[2]}/"')


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("Not every action is the recorded one.", ("Not every action is the recorded one.", "")),
        ("All is met.\nVerdict: success", ("All is met.", "Verdict: success")),
        (f"{'word ' * 11}longer than its line", (("word " * 11).strip(), "longer than its line")),
        ("x" * 60 + "y" * 10, ("x" * 60, "y" * 10)),
        ("", ("", "")),
    ],
)
def test_what_a_judge_says_stands_once_in_the_list_its_beginning_first(said: str, why: tuple[str, str]) -> None:
    run = factories.make_run(state="done")
    conversation = factories.make_conversation(dataset=run.dataset, turns=1, steps=1)
    verdict = factories.make_judge_verdict(factories.make_trajectory(run, conversation), "webjudge", said=said)
    study = factories.make_study(run.dataset.project, [run])
    assert verdict.why == why
    page = source(client_of(factories.make_user(Role.READER, run.dataset.project)).get(f"/studies/{study.pk}/judges/"))
    for part in filter(None, why):
        assert page.count(part) == 1


def test_how_many_more_hold_enough_of_both_kinds() -> None:
    known = JudgedByPeople(10, 9, 30, 27)
    corrected, wanted = corrected_rate(3_000, 10_000, known), labels_wanted(3_000, 10_000, known, WIDTH)
    assert corrected is not None
    assert wanted is not None
    row = JudgedRun(None, wilson(3_000, 10_000), known, estimate({}, cohen, 0), corrected)
    found = JudgeAgreement("gold", "recorded gold", "", "", "", 0, 0, 0.0, [row], wanted)
    assert found.more is not None
    assert found.more > 0
    assert found.to_review == "judge=gold&model=&people=untold&order=drawn"
    total = found.more + 40
    assert total * corrected.value >= wanted[0]
    assert total * (1 - corrected.value) >= wanted[1]
    assert (total - 1) * corrected.value < wanted[0] or (total - 1) * (1 - corrected.value) < wanted[1], "no more"
    assert JudgeAgreement("gold", "recorded gold", "", "", "", 0, 0, 0.0, [row], (1, 1)).more == 0
    assert JudgeAgreement("gold", "recorded gold", "", "", "", 0, 0, 0.0, [row], None).more is None
