"""The sample's campaigns: one is finished and released twice, one has something to do for everybody."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model

from annotations.campaigns.progress import forecast, progress_of
from annotations.campaigns.quality import CampaignWork
from annotations.campaigns.queue import waiting
from annotations.campaigns.queue.claiming import next_item
from annotations.corpus.importing import import_files
from annotations.models import Assignment, Campaign, Dataset, Project, Proposal, Stage, Verdict
from annotations.releases.diffing import Difference
from annotations.sample.build import SITES
from annotations.sample.campaigns import FINISHED, FIRST, REDACTED, SECOND, UNDER_WAY, make_campaigns
from annotations.sample.errand_script import ERRANDS, marked, read_errands
from annotations.sample.mind2web import SCRIPTS, task
from annotations.sample.project import make_demo_accounts
from annotations.sample.script import ScriptError, read_script
from tests.annotations.intact import is_intact

USED = {
    name for file in ("finished", "half") for errand in read_errands(ERRANDS / f"{file}.txt") for name in errand.tasks
}


@pytest.fixture
def tasks(db: None, tmp_path: Path, settings: Any) -> Dataset:
    """The tasks that the campaigns are made of, imported, with the demo accounts beside them."""
    settings.VAR_DIR = tmp_path
    project = Project.objects.create(slug="sample", name="Sample")
    make_demo_accounts(project)
    dataset = Dataset.objects.create(
        project=project, name="sample-tasks", source_format="mind2web", licence="Apache-2.0"
    )
    scripts = [
        (site, script) for site in SITES for script in read_script(SCRIPTS / f"{site}.txt") if script.name in USED
    ]
    for split in {script.split for _, script in scripts}:
        (tmp_path / "tasks" / split).mkdir(parents=True)
        made = [task(site, script) for site, script in scripts if script.split == split]
        (tmp_path / "tasks" / split / f"{split}_0.json").write_text(json.dumps(made))
    assert import_files("mind2web", tmp_path / "tasks", dataset).error_count == 0
    return dataset


def user(name: str) -> Any:
    return get_user_model().objects.get(username=name)


@pytest.mark.slow
def test_a_campaign_is_finished_and_released_and_another_waits_for_everybody(tasks: Dataset) -> None:
    said: list[str] = []
    make_campaigns(tasks.project, tasks, said.append)
    make_campaigns(tasks.project, tasks, said.append)
    assert [text.partition(":")[0] for text in said] == [FINISHED, UNDER_WAY]  # the second time there is nothing to do
    check_finished(Campaign.objects.get(name=FINISHED))
    check_releases(Campaign.objects.get(name=FINISHED).target)
    check_under_way(Campaign.objects.get(name=UNDER_WAY))


def check_finished(campaign: Campaign) -> None:
    """Everything passed, after some of it had come back, and two people did everything apart from each other."""
    assert not campaign.is_open
    sessions = campaign.sessions.live()
    assert sessions.count() == 8
    assert not sessions.filter(released=None).exists()
    rewrites = Assignment.objects.filter(item__session__campaign=campaign, item__stage=Stage.REWRITE)
    assert set(rewrites.values_list("user__username", "review")) == {(FIRST, "passed"), (SECOND, "passed")}
    returns = Verdict.objects.filter(assignment__in=rewrites, outcome="return")
    assert returns.count() == rewrites.filter(round=2).count() >= 4
    assert {defect.code for verdict in returns for defect in verdict.defects.all()} == {
        "value-lost",
        "unresolvable",
        "unnatural",
    }
    assert campaign.proposals.filter(kind="rewrite", outcome=Proposal.Outcome.UNCHANGED).count() >= 5
    said = [part for rewrite in rewrites.filter(user__username=FIRST) for part in rewrite.ordered_parts()]
    marks = [mention for part in said for mention in part.mentions]
    assert {mention["phenomenon"] for mention in marks} >= {"pronoun", "demonstrative", "definite"}
    assert all(mention["antecedent"] for mention in marks)


def check_releases(target: Dataset | None) -> None:
    """The second release adds two conversations and takes a telephone number out of one."""
    assert target is not None
    newer, older = target.releases.all()
    assert (older.version, newer.version) == ("1.0", "1.1")
    assert is_intact(older)
    assert is_intact(newer)
    assert Difference.between(older, newer).counts() == {"added": 2, "removed": 0, "changed": 1, "same": 5}
    turns = [turn.instruction for record in newer.conversations.records() for turn in record.turns]
    assert not any(REDACTED in text for text in turns)


def check_under_way(campaign: Campaign) -> None:
    """Something has passed; something to correct, to rewrite and to cut is left for the annotator, to verify for the
    reviewer; gold is hidden."""
    progress = progress_of([campaign])[campaign.pk]
    assert (progress.passed_sessions, progress.sessions) == (4, 15)
    assert progress.stages["rewrite"].returned == 1
    annotator, reviewer = user("annotator"), user("reviewer")
    (returned,) = waiting.returned(annotator)
    assert [defect.code for defect in returned.last_returns()[0].defects.all()] == ["value-lost"]
    for_annotator = {one.stage: one.count for one in waiting.waiting(annotator) if one.campaign == campaign}
    assert for_annotator == {"rewrite": 2, "decompose": 4}
    for_reviewer = {one.stage: one.count for one in waiting.waiting(reviewer) if one.campaign == campaign}
    assert for_reviewer == {"verify": 2}
    assert next_item(reviewer, campaign, Stage.VERIFY) is not None
    (gold,) = campaign.sessions.filter(is_gold=True)
    assert len(gold.gold) == 4 == campaign.target_parts(gold.steps().count())
    check_times(campaign)
    assert campaign.proposals.of_sessions().count() >= 3


def check_times(campaign: Campaign) -> None:
    """A forecast for every stage, the annotator's own pace, and that the people are invented stands in the
    guidelines."""
    for stage in Stage:
        assert "the median active time of the last" in forecast(campaign, stage, 3)
    for name in ("annotator", "reviewer"):
        told = [one.says_pace for one in waiting.waiting(user(name)) if one.campaign == campaign]
        assert all(" min " in text and " each, about " in text for text in told), told
    people = {one.name: one for one in CampaignWork(campaign, user("reviewer")).people()}
    assert (people["annotator"].judged, people["annotator"].returned) == (4, 2)
    assert "are invented" in campaign.guidelines.get().text
    finished = Assignment.objects.filter(item__session__campaign__name=FINISHED)
    assert not finished.exclude(active_seconds=0).exists()  # its datasheet tells what heartbeats told


def test_errands_are_cut_as_the_guidelines_say() -> None:
    """Into as many parts as the workbench shows as the target, one more or one less."""
    scripts = {script.name: script for site in SITES for script in read_script(SCRIPTS / f"{site}.txt")}
    for file in ("finished", "half"):
        for errand in read_errands(ERRANDS / f"{file}.txt"):
            steps = sum(len(scripts[name].turns[0].actions) for name in errand.tasks)
            assert not errand.parts or abs(len(errand.parts) - Campaign().target_parts(steps)) <= 1, errand.tasks


def test_errands_cut_tasks_where_they_have_steps() -> None:
    scripts = {script.name: script for site in SITES for script in read_script(SCRIPTS / f"{site}.txt")}
    for file in ("finished", "half"):
        for errand in read_errands(ERRANDS / f"{file}.txt"):
            lengths = [len(scripts[name].turns[0].actions) for name in errand.tasks]
            places = [(part.task, part.step) for part in errand.parts]
            assert places == sorted(set(places)), errand.tasks
            assert all(step <= lengths[task] for task, step in places), errand.tasks
            assert not places or {(task, 1) for task in range(len(lengths))} <= set(places), errand.tasks
            assert len({scripts[name].split for name in errand.tasks}) == 1


def test_marks_of_a_rewrite_become_mentions_with_places() -> None:
    text, mentions = marked(
        "Book {that one->the 10:40} for {him->Sol}.", [(7, "Sol asks."), (9, "Where is the 10:40?")], 12
    )
    assert text == "Book that one for him."
    assert mentions == [
        {
            "id": "s12-1",
            "phenomenon": "demonstrative",
            "start": 5,
            "end": 13,
            "antecedent": {"step": 9, "start": 9, "end": 18},
        },
        {
            "id": "s12-2",
            "phenomenon": "pronoun",
            "start": 18,
            "end": 21,
            "antecedent": {"step": 7, "start": 0, "end": 3},
        },
    ]


def test_an_antecedent_that_nobody_has_said_is_refused() -> None:
    with pytest.raises(ScriptError, match="nobody has said 'the boat' before"):
        marked("Take {it->the boat}.", [(1, "Find a train.")], 4)


def test_a_line_that_says_nothing_of_an_errand_is_named(tmp_path: Path) -> None:
    script = tmp_path / "bad.txt"
    script.write_text("errand\n~ It.\n", "utf-8")
    with pytest.raises(ScriptError, match=r"bad\.txt, line 2"):
        read_errands(script)
