"""The audit trail: every change with who made it, only for admins, as a page and as files."""

import csv
import io
import json
import re

import pytest
from django.core.serializers.json import DjangoJSONEncoder
from django.urls import reverse
from django.utils import timezone

from annotations.desk.discuss import comments
from annotations.models import Comment, Part
from annotations.tell import audit
from annotations.templatetags.shown import as_stored
from tests import factories
from tests.annotations.work_world import make_rewrite
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def subject():
    return make_rewrite(user=factories.make_user("annotator", username="anna"))


def export(user, project, kind="jsonl", **filters) -> str:
    answer = client_of(user).get(reverse(f"annotate-audit-{kind}", args=[project.slug]), filters)
    assert answer.status_code == 200
    return b"".join(answer.streaming_content).decode()


def test_changes_come_in_order_with_their_rows(subject):
    project = subject.item.session.campaign.project
    part = subject.parts.order_by("id").last()
    part.rewrite = "And sort them."
    part.save()
    part.delete()
    rows = audit.stream(project, models=["Part"])
    mine = [row for row in rows if row["row"]["instruction"] == "Sort them by price."]
    assert [row["change"] for row in mine] == ["insert", "update", "delete"]
    assert [row["row"]["rewrite"] for row in mine] == ["Sort them by price.", "And sort them.", "And sort them."]
    everything = list(audit.stream(project))
    assert [row["at"] for row in everything] == sorted(row["at"] for row in everything)
    assert {"Campaign", "Session", "SessionTask", "Assignment", "Part"} <= {row["model"] for row in everything}


def test_a_change_names_who_made_it_and_on_which_page(subject):
    session = subject.item.session
    url = reverse("annotate-comments", args=[session.pk])
    body = json.dumps({"text": "Look."})
    admin = factories.make_user("admin", session.campaign.project, username="ada")
    client_of(admin).post(url, body, content_type="application/json")
    (row,) = audit.stream(session.campaign.project, models=["Comment"])
    assert (row["who"], row["url"], row["change"]) == ("ada", url, "insert")
    assert list(audit.stream(session.campaign.project, who=subject.user.pk)) == []
    assert len(list(audit.stream(session.campaign.project, who=admin.pk))) == 1


def test_updates_show_what_changed(subject):
    project = subject.item.session.campaign.project
    Part.objects.filter(pk=subject.parts.order_by("id").last().pk).update(rewrite="Now by price.")
    newest = audit.latest(project, 3, models=["Part"], change="update")
    assert newest[0]["changed"] == {"rewrite": ["Sort them by price.", "Now by price."]}


@pytest.mark.slow
def test_the_export_is_json_lines_or_csv(subject):
    campaign = subject.item.session.campaign
    admin = factories.make_user("admin", campaign.project)
    comments.say(subject.item.session, subject.user, "=HYPERLINK(1)")
    lines = [json.loads(line) for line in export(admin, campaign.project).splitlines()]
    assert lines == json.loads(json.dumps(list(audit.stream(campaign.project)), cls=DjangoJSONEncoder))
    only = [json.loads(line) for line in export(admin, campaign.project, model="Comment").splitlines()]
    assert [row["row"]["text"] for row in only] == ["=HYPERLINK(1)"]
    table = list(csv.DictReader(io.StringIO(export(admin, campaign.project, "csv"))))
    assert len(table) == len(lines)
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in table for cell in row.values())
    assert [json.loads(row["row"]) for row in table] == [row["row"] for row in lines]


@pytest.mark.slow
def test_the_page_filters_and_leaves_out_other_projects(subject):
    other = make_rewrite(user=factories.make_user("annotator", username="otto"))
    admin = factories.make_user("admin", subject.item.session.campaign.project)
    Comment.objects.create(session=other.item.session, author=other.user, text="Theirs")
    Comment.objects.create(session=subject.item.session, author=subject.user, text="Ours")
    page = client_of(admin).get(reverse("annotate-audit"), {"model": "Comment"}).content.decode()
    assert "Ours" in page
    assert "Theirs" not in page
    nothing = client_of(admin).get(reverse("annotate-audit"), {"model": "Comment", "change": "delete"})
    assert "No change fits" in nothing.content.decode()
    strange = {"model": "User", "change": "'", "who": "1 OR 1=1", "page": "-1"}
    assert client_of(admin).get(reverse("annotate-audit"), strange).status_code == 200


@pytest.mark.slow
def test_older_changes_are_a_page_away(subject, monkeypatch):
    monkeypatch.setattr("annotations.tell.audit_views.ROWS", 2)
    admin = factories.make_user("admin", subject.item.session.campaign.project)
    pages = [client_of(admin).get(reverse("annotate-audit"), {"page": page}).context["rows"] for page in (1, 2)]
    shown = [(row["model"], row["id"], row["change"]) for rows in pages for row in rows]
    assert len(set(shown)) == 4


@pytest.mark.parametrize(("role", "status"), [("annotator", 403), ("reviewer", 403), ("reader", 403)])
def test_the_trail_is_for_admins(subject, role, status):
    project = subject.item.session.campaign.project
    member = factories.make_user(role, project)
    assert client_of(member).get(reverse("annotate-audit-jsonl", args=[project.slug])).status_code == status
    assert "You administer no project" in client_of(member).get(reverse("annotate-audit")).content.decode()
    stranger = factories.make_user("admin")
    assert client_of(stranger).get(reverse("annotate-audit-csv", args=[project.slug])).status_code == 404
    strange = client_of(stranger).get(reverse("annotate-audit"), {"project": project.slug})
    assert strange.context["project"] != project


def test_leases_are_not_told() -> None:
    assignment = factories.make_assignment(lease_token="0" * 32, lease_until=timezone.now())
    rows = [row for row in audit.stream(assignment.item.session.campaign.project) if row["model"] == "Assignment"]
    assert rows
    assert all(row["row"].keys() & {"lease_token", "lease_until", "heartbeat_at"} == set() for row in rows)


def test_rows_are_shown_as_they_are_stored_and_not_as_python(subject) -> None:
    project = subject.item.session.campaign.project
    text = client_of(factories.make_user("admin", project)).get(reverse("annotate-audit")).content.decode()
    assert "<summary" in text
    assert not re.search(r"\{&#x27;|: None|\bTrue\b|\bFalse\b", text)
    assert [as_stored(value) for value in ("it's", None, True, {"a": [1]})] == [
        "it's",
        "–",
        "true",
        '{\n  "a": [\n    1\n  ]\n}',
    ]
