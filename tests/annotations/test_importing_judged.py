"""A changed conversation is imported again: what people said of it goes over, or the import says what would be lost."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotations.corpus.correct.correcting import CorrectionDesk
from annotations.corpus.correct.rewording import WordingDesk
from annotations.corpus.importing import ImportReport, import_files
from annotations.jobs import running
from annotations.models import Correction, Dataset, Job, Rationale, Redaction, Step, TurnCorrection
from annotations.releases.checking import check_dataset
from annotations.releases.releasing import make_release
from evaluation.models import RiskLabel
from tests import factories
from tests.annotations.small_files import contents, conversation, write

pytestmark = pytest.mark.django_db
Changed = dict[str, Any]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "x.json", [conversation("one")])


@pytest.fixture
def dataset(path: Path) -> Dataset:
    found = factories.make_dataset()
    run(found, path)
    return found


def run(dataset: Dataset, path: Path, **options: Any) -> ImportReport:
    return import_files("mt-mind2web", path, dataset, **options)


def again(dataset: Dataset, path: Path, changed: Changed, **options: Any) -> ImportReport:
    return run(dataset, write(path, [changed]), **options)


def step_of(dataset: Dataset, name: str = "one_0_0") -> Step:
    return Step.objects.of_dataset(dataset).get(source_id=name)


def correct(dataset: Dataset, name: str = "one_0_0") -> Correction:
    """The gold of a step is the link instead of the button, as two people say."""
    ann, bea = factories.make_user(), factories.make_user()
    found = Correction.objects.ask(step_of(dataset, name), ann, "It is the link.")
    CorrectionDesk(found).propose(ann, "CLICK", "", "5")
    CorrectionDesk(found).accept(bea)
    return found


def label(dataset: Dataset, name: str = "one_0_0") -> RiskLabel:
    return RiskLabel.objects.give(step_of(dataset, name), factories.make_user(), "pay")


def with_other_page(changed: Changed) -> Changed:
    action = changed["turns"][0]["actions"][0]
    action["cleaned_html"] = action["cleaned_html"].replace("Help", "Support")
    return changed


def without_a_step(changed: Changed) -> Changed:
    turn = changed["turns"][0]
    return changed | {"turns": [turn | {"actions": turn["actions"][1:], "action_reprs": turn["action_reprs"][1:]}]}


def test_a_changed_text_keeps_what_was_said_of_steps(dataset: Dataset, path: Path) -> None:
    correct(dataset), label(dataset)
    factories.make_rationale(step_of(dataset))
    old = step_of(dataset).pk
    report = again(dataset, path, conversation("one", say="Seek it"))
    step = step_of(dataset)
    assert (report.errors, report.conversations, step.pk != old) == ([], 1, True)
    assert step.turn.instruction == "Seek it, part 1"
    assert step.gold_ids() == ["5"]  # as corrected, not as the source says
    assert [one.node_id for one in step.candidate_records()[0]] == ["5"]
    assert (step.corrections.count(), step.risk_labels.count(), step.rationales.count()) == (1, 1, 1)
    assert report.kept_work == {"corrections": 1, "risk labels": 1, "rationales": 1}
    assert report.warnings[-1] == "kept on conversations that changed: 1 correction, 1 rationale, 1 risk label"
    assert again(dataset, path, conversation("one", say="Seek it")).unchanged == 1


@pytest.mark.parametrize("change", [with_other_page, without_a_step])
def test_what_fits_no_more_keeps_the_stored_conversation(dataset: Dataset, path: Path, change) -> None:
    correct(dataset), label(dataset)
    before = contents(dataset)
    report = again(dataset, path, change(conversation("one")))
    (error,) = report.errors
    assert "would lose 1 correction, 1 risk label" in error["message"]
    assert "--replace-judged" in error["message"]
    assert (contents(dataset), report.nothing_landed) == (before, True)
    assert (Correction.objects.count(), RiskLabel.objects.count()) == (1, 1)
    assert report.kept_work == report.lost_work == {}


@pytest.mark.parametrize("change", [with_other_page, without_a_step])
def test_whoever_chooses_to_replaces_it_and_is_told(dataset: Dataset, path: Path, change) -> None:
    correct(dataset), label(dataset)
    kept = label(dataset, "one_0_1")
    report = again(dataset, path, change(conversation("one")), replace_judged=True)
    assert report.errors == []
    assert (Correction.objects.count(), list(RiskLabel.objects.all())) == (0, [kept])
    assert report.lost_work == {"corrections": 1, "risk labels": 1}
    assert report.warnings[-1] == "replaced with conversations that changed: 1 correction, 1 risk label"
    assert ImportReport.from_dict(report.to_dict()) == report


def test_a_step_of_which_nobody_said_anything_may_change(dataset: Dataset, path: Path) -> None:
    kept = label(dataset, "one_0_1")
    report = again(dataset, path, with_other_page(conversation("one")))
    kept.refresh_from_db()
    assert (report.errors, kept.step) == ([], step_of(dataset, "one_0_1"))


def test_a_corrected_gold_that_the_source_changed_otherwise_is_not_carried(dataset: Dataset, path: Path) -> None:
    correct(dataset)
    changed = conversation("one")
    changed["turns"][0]["actions"][0]["operation"] = {"original_op": "TYPE", "op": "TYPE", "value": "x"}
    assert "would lose 1 correction:" in again(dataset, path, changed).errors[0]["message"]


def test_a_source_that_was_mended_likewise_keeps_the_correction(dataset: Dataset, path: Path) -> None:
    found = correct(dataset)
    changed = conversation("one")
    action = changed["turns"][0]["actions"][0]
    link, button = action["neg_candidates"][0], action["pos_candidates"][0]
    action["pos_candidates"], action["neg_candidates"] = [button | link], [{**link, "tag": "button"}]
    action["neg_candidates"][0]["backend_node_id"] = "4"
    report = again(dataset, path, changed)
    found.refresh_from_db()
    assert (report.errors, found.step, step_of(dataset).gold_ids()) == ([], step_of(dataset), ["5"])


def reword(dataset: Dataset) -> TurnCorrection:
    ann, bea = factories.make_user(), factories.make_user()
    found = TurnCorrection.objects.ask(step_of(dataset).turn, ann, "Nobody says that.")
    WordingDesk(found).propose(ann, "Please find it", "")
    WordingDesk(found).accept(bea)
    return found


def test_a_corrected_wording_stays_where_another_turn_changed(dataset: Dataset, path: Path) -> None:
    found = reword(dataset)
    changed = conversation("one")
    changed["turns"][1]["confirmed_task"] = "Something else"
    report = again(dataset, path, changed)
    found.refresh_from_db()
    assert (report.errors, found.turn) == ([], step_of(dataset).turn)
    assert found.turn.instruction == "Please find it"
    assert report.kept_work == {"turn corrections": 1}


def test_a_corrected_wording_that_the_source_changed_is_not_replaced(dataset: Dataset, path: Path) -> None:
    reword(dataset)
    report = again(dataset, path, conversation("one", say="Seek it"))
    assert "would lose 1 turn correction:" in report.errors[0]["message"]
    assert step_of(dataset).turn.instruction == "Please find it"


def test_a_text_that_was_taken_out_does_not_come_back(dataset: Dataset, path: Path) -> None:
    kept = step_of(dataset).turn.conversation
    told = {"kind": "email", "place": "instruction", "found_sha256": "0" * 64, "replacement": "[email]"}
    Redaction.objects.create(dataset=dataset, conversation=kept, **told)
    report = again(dataset, path, conversation("one", say="Seek it"))
    assert "would lose 1 redaction:" in report.errors[0]["message"]
    assert Redaction.objects.count() == 1


def test_rationales_of_models_go_without_a_word_where_they_fit_no_more(dataset: Dataset, path: Path) -> None:
    factories.make_rationale(step_of(dataset), source="model", model_name="m")
    assert again(dataset, path, with_other_page(conversation("one"))).errors == []
    assert Rationale.objects.count() == 0


def test_a_published_conversation_is_not_replaced(dataset: Dataset, path: Path) -> None:
    session = factories.make_session(factories.make_campaign(source=factories.make_dataset()), tasks=0)
    session.keep_released(step_of(dataset).turn.conversation)
    report = again(dataset, path, conversation("one", say="Seek it"))
    assert "which a campaign has published" in report.errors[0]["message"]


@pytest.mark.slow
def test_a_release_of_corrected_data_leaves_the_corrections(dataset: Dataset, path: Path) -> None:
    correct(dataset), label(dataset)
    before = contents(dataset)
    admin = factories.make_user("admin", dataset.project)
    for version in ("1.0", "1.1"):
        keys = [concern.key for concern in check_dataset(dataset).concerns()]
        make_release(dataset, version, admin, "CC0-1.0", "Consent was given.", accepted_findings=keys)
    assert contents(dataset) == before
    assert (Correction.objects.count(), RiskLabel.objects.count()) == (1, 1)


@pytest.mark.slow
def test_the_command_takes_the_choice(dataset: Dataset, path: Path) -> None:
    correct(dataset)
    write(path, [with_other_page(conversation("one"))])
    with pytest.raises(SystemExit):
        call_command("import_dataset", "mt-mind2web", path, name=dataset.name)
    assert Correction.objects.count() == 1
    call_command("import_dataset", "mt-mind2web", path, "--replace-judged", name=dataset.name)
    assert Correction.objects.count() == 0


@pytest.mark.slow
def test_programs_and_the_form_take_the_choice(client, dataset: Dataset, path: Path, settings) -> None:
    settings.IMPORT_ROOT = path.parent
    correct(dataset)
    write(path, [with_other_page(conversation("one"))])
    told = {"format": "mt-mind2web", "name": dataset.name, "path": path.name}
    client.force_login(factories.make_user("admin", dataset.project))
    answers = [
        client.post(reverse("api:import-list"), told | {"project": dataset.project.slug, "replace_judged": choice})
        for choice in ("false", "true")
    ]
    assert [answer.status_code for answer in answers] == [202, 202]
    client.post(reverse("import"), told | {"project": dataset.project.pk})
    client.post(reverse("import"), told | {"project": dataset.project.pk, "replace_judged": "on"})
    jobs = list(Job.objects.order_by("pk"))
    assert [job.params["replace_judged"] for job in jobs] == [False, True] * 2
    for job, left in zip(jobs[:2], (1, 0), strict=True):
        while (claimed := Job.objects.claim(job.pk)) is not None and running.run(claimed):
            pass
        assert Correction.objects.count() == left
    jobs[0].refresh_from_db()
    assert "would lose 1 correction" in jobs[0].report["errors"][0]["message"]
