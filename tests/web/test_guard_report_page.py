"""The guard's policy and report over REST and on a page: rights, hidden gold, and what the labels are."""

import csv

import pytest
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.urls import reverse
from django.utils.html import escape

from agents.guard.judging import judge
from agents.models import GuardRule
from agents.types import Action
from annotations.models import Role, Step
from evaluation.guard import measuring, report_rows
from evaluation.guard.labels import HARMLESS, NO_PEOPLE
from evaluation.guard.measuring import GuardMeasurement
from evaluation.guard.report_rows import WIDTH, ShareRow
from tests import factories
from tests.signed_in import client_of

RULES = "/api/guard-rules/"


@pytest.fixture
def dataset(casaverde):
    return casaverde


def add(client, project, **rule):
    return client.post(RULES, {"project": project.slug, **rule}, content_type="application/json")


def test_an_admin_lists_adds_and_removes_rules(db: None) -> None:
    project = factories.make_project()
    admin = client_of(factories.make_user(Role.ADMIN, project, username="ada"))
    made = add(admin, project, website="nordline", of="words", pattern="save  list", kind="")
    assert (made.status_code, made.json()["pattern"], made.json()["created_by"]) == (201, "save list", "ada")
    assert [one["id"] for one in admin.get(RULES).json()["results"]] == [made.json()["id"]]
    assert admin.delete(f"{RULES}{made.json()['id']}/").status_code == 204
    assert not GuardRule.objects.exists()


@pytest.mark.slow
def test_a_rule_of_an_address_is_said_to_hold_in_live_runs_alone(dataset) -> None:
    admin = client_of(factories.make_user(Role.ADMIN, dataset.project))
    page = reverse("guard-report", args=[dataset.project.slug], query={"dataset": dataset.name})
    assert "Recorded steps tell no address" not in admin.get(page).content.decode()
    assert add(admin, dataset.project, of="url", pattern="*/checkout*", kind="pay").status_code == 201
    said = " ".join(admin.get(page).content.decode().split())
    assert "hold in live runs alone: url &#x27;*/checkout*&#x27; on every website" in said
    told = admin.get(f"/api/datasets/{dataset.pk}/guard-report/").json()
    assert told["not_counted"] == ["url '*/checkout*' on every website"]


@pytest.mark.parametrize("ability", ["risks", "embed", "goals", "transition", "evaluate"])
def test_what_a_role_may_not_do_is_said_with_a_verb(db: None, ability: str) -> None:
    project = factories.make_project()
    with pytest.raises(PermissionDenied, match=rf"may {VERBS[ability]} in {project}; ask one of its admins"):
        project.require(factories.make_user(Role.READER, project), ability)


VERBS = {
    "risks": "look for risky steps",
    "embed": "embed memory",
    "goals": "add goals",
    "transition": "keep transitions",
    "evaluate": "evaluate",
}


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.ANNOTATOR, Role.READER])
def test_others_read_rules_and_change_none(db: None, role: str) -> None:
    row = factories.make_guard_rule(factories.make_project())
    client = client_of(factories.make_user(role, row.project))
    assert client.get(f"{RULES}{row.pk}/").json()["pattern"] == "book*"
    assert client.delete(f"{RULES}{row.pk}/").status_code == 403
    assert add(client, row.project, of="words", pattern="x", kind="pay").status_code == 403
    assert client_of(factories.make_user(Role.ADMIN)).delete(f"{RULES}{row.pk}/").status_code == 404
    assert GuardRule.objects.get() == row


@pytest.mark.parametrize(
    "rule",
    [
        {"of": "words", "pattern": "", "kind": "pay"},
        {"of": "smell", "pattern": "x", "kind": "pay"},
        {"of": "words", "pattern": "x", "kind": "eat"},
        {"of": "words", "pattern": "book*", "kind": "pay"},
        {"of": "words", "pattern": "x", "more": 1},
        {"of": "words", "pattern": "x\0", "kind": "pay"},
        {"of": "words", "pattern": "x" * 201},
        {"of": "words", "pattern": "yap\u202e", "kind": "pay"},
        {"of": "words", "pattern": "pay", "kind": "pay", "website": "nord\u200bline"},
        {"of": "words", "pattern": "*"},
        {"of": "operation", "pattern": "Cl*", "website": "nordline"},
    ],
)
def test_what_is_no_rule_is_refused(db: None, rule: dict) -> None:
    row = factories.make_guard_rule(factories.make_project())
    answer = add(client_of(factories.make_user(Role.ADMIN, row.project)), row.project, **rule)
    assert answer.status_code == 400, answer.content
    assert GuardRule.objects.count() == 1


def test_a_rule_without_a_pattern_is_told_what_it_lacks(db: None) -> None:
    project = factories.make_project()
    answer = add(client_of(factories.make_user(Role.ADMIN, project)), project, of="url", pattern="", kind="pay")
    assert answer.json() == {"pattern": ["Say which url it is about: * stands for anything."]}


def test_a_rule_for_a_website_that_nothing_is_called_is_kept_and_says_so(db: None) -> None:
    website = factories.make_conversation(turns=1, steps=0).website
    project = website.dataset.project
    client = client_of(factories.make_user(Role.ADMIN, project))
    told = f"no website is called miniwob yet; names there are: {website.name}"
    answer = add(client, project, of="words", pattern="pay", kind="pay", website="miniwob")
    assert (answer.status_code, answer.json()["warning"]) == (201, told)
    known = add(client, project, of="words", pattern="pay", kind="pay", website=website.name.upper())
    anywhere = add(client, project, of="words", pattern="pay", kind="pay", website="")
    assert known.json()["warning"] == anywhere.json()["warning"] == ""
    page = client.get(reverse("guard-rules", args=[project.slug])).content.decode()
    assert page.count("no website is called") == 1
    assert told in page


def test_a_rule_that_lets_every_click_pass_is_kept_only_where_that_is_meant(db: None) -> None:
    project = factories.make_project()
    admin, page = client_of(factories.make_user(Role.ADMIN, project)), reverse("guard-rules", args=[project.slug])
    told = {"website": "", "of": "words", "pattern": "*", "kind": ""}
    said = admin.post(page, told).content.decode()
    assert "words * says harmless: with this rule the guard holds hardly any click on any website." in said
    assert "Add it all the same" in said
    assert not GuardRule.objects.exists()
    assert admin.post(page, told | {"sure": ""}).status_code == 302
    assert add(admin, project, of="role", pattern="**", sure=True).status_code == 201
    assert add(admin, project, of="words", pattern="**", kind="pay").status_code == 201, "which holds every click"
    assert GuardRule.objects.count() == 3


@pytest.mark.slow
def test_the_report_is_the_commands_by_the_rules_of_the_project(dataset) -> None:
    client = client_of(factories.make_user(Role.ADMIN, dataset.project))
    address = f"/api/datasets/{dataset.pk}/guard-report/"
    assert client.get(address).json() == report_rows.report_of(GuardMeasurement(dataset))
    factories.make_guard_rule(dataset.project, pattern="*", kind="")
    report = client.get(address).json()
    assert report["splits"]["test"]["agreed"]["recall"]["hits"] == 0
    page = client.get(reverse("guard-report", args=[dataset.project.slug])).content.decode()
    assert len(report["missed"]) == 4
    for one in report["missed"]:
        assert f'href="{reverse("step", args=[one["step"]])}"' in page
    said = " ".join(page.split())
    assert f"<strong>{escape(NO_PEOPLE)}</strong>" in said
    assert "by authors who had read the test steps" in said
    assert "before there were these labels" not in said, "nothing shows the order"


@pytest.mark.slow
def test_a_report_that_is_opened_again_parses_no_page_until_a_rule_changes(dataset, monkeypatch) -> None:
    judged: list[Action] = []

    def judging(root, action, **told):
        judged.append(action)
        return judge(root, action, **told)

    monkeypatch.setattr(measuring, "judge", judging)
    client = client_of(factories.make_user(Role.ADMIN, dataset.project))
    address = f"/api/datasets/{dataset.pk}/guard-report/"
    cache.clear()
    first = client.get(address).json()
    assert len(judged) == first["steps"] == 42
    assert client.get(address).json() == first
    assert client.get(reverse("guard-report", args=[dataset.project.slug])).status_code == 200
    assert len(judged) == 42
    factories.make_guard_rule(dataset.project, pattern="*", kind="")
    assert client.get(address).json() != first
    assert len(judged) == 84


@pytest.mark.slow
def test_the_labels_are_listed_in_order(dataset) -> None:
    labels = client_of(factories.make_user(Role.ADMIN, dataset.project)).get(
        f"/api/datasets/{dataset.pk}/guard-labels/"
    )
    found = labels.json()
    assert len(found) == 42 == Step.objects.filter(pk__in=[one["step"] for one in found]).count()
    assert sum(one["first"] != HARMLESS for one in found) == 4


@pytest.mark.slow
def test_test_labels_are_hidden_with_their_gold(dataset) -> None:
    client = client_of(factories.make_user(Role.READER, dataset.project))
    assert client.get(f"/api/datasets/{dataset.pk}/guard-labels/").json() == []
    report = client.get(f"/api/datasets/{dataset.pk}/guard-report/").json()
    assert (report["steps"], report["test_hidden"], report["missed"]) == (0, True, [])
    page = client.get(reverse("guard-report", args=[dataset.project.slug])).content.decode()
    assert "No labelled steps that you may see" in " ".join(page.split())


@pytest.mark.slow
def test_the_csv_has_a_row_for_each_split_measure_and_way_to_count(dataset) -> None:
    client = client_of(factories.make_user(Role.ADMIN, dataset.project))
    text = client.get(reverse("guard-report-csv", args=[dataset.project.slug])).content.decode()
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == 2 * 2 * 3, "of one guard: nobody has asked past transitions yet"
    of_test = next(one for one in rows if (one["split"], one["measure"]) == ("test", "recall"))
    assert (of_test["risky_where"], of_test["hits"], of_test["n"], of_test["value"]) == ("agreed", "4", "4", "1.0")


def test_an_interval_lies_on_the_axis() -> None:
    plot = ShareRow("test", "agreed", "", "", {"value": 1.0, "low": 0.5, "high": 1.0}, (0, 0)).plot
    assert plot == {"value": WIDTH - 12, "low": WIDTH / 2, "high": WIDTH - 12}
    assert ShareRow("test", "agreed", "", "", {"value": None, "low": None, "high": None}, (0, 0)).plot is None
