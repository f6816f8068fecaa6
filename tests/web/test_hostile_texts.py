"""Every page of the app over rows whose every free text is markup, in a real browser: it stays text.

Texts are written into the tables themselves, past all forms and importers: what no door lets in today may come by one
of tomorrow. A text that became markup shows by an element of a name that nothing else has, a policy that was broken,
or a dialog; that this is seen is tested, too.
"""

from typing import Any

import pytest
from django.apps import apps
from django.db import Error, models, transaction
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page

from agents.models import Connection, SavedRecipe
from annotations.access.trail import events
from annotations.models import AccessAction, Assignment, Worker
from tests import factories
from tests.app_server import AppServer
from tests.web.test_accessibility import addresses, is_a_page
from tests.web.test_page_permissions import make_world_of_pages
from tests.web.world import World

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]

APPS = {"annotations", "agents", "evaluation", "auth"}
MARKED = "xss-mark"
SHORT = f"\"'><{MARKED}>"
LONG = (
    f"</script></title></textarea></style>-->{SHORT}<img src=x onerror=alert(1)><svg onload=alert(2)><a "
    'href=javascript:alert(3)>x</a>{{7*7}}[x](javascript:alert(4)) ![x](x"onerror=alert(5))\n\n# <b>x</b>\n`<i>`'
)
# Words of a table, digests, and what addresses consist of.
NO_TEXTS = frozenset(
    "password codename digest slug split source_format sha256 content_sha256 media_type node_id code field kind place"
    " recipe_sha256 data_sha256 code_revision request_sha256 found_sha256 base_sha256 key fingerprint by metric"
    " grouping scanner scanners version original_operation operation username sealed_key secret rights".split()
)
OF_ADDRESSES = {
    *(("Dataset", "name"), ("TrainedModel", "name"), ("Run", "recipe_name"), ("Job", "file")),
    *(("SavedRecipe", "name"), ("SavedRecipe", "parent"), ("Connection", "name")),
}
WATCH = """() => {
    window.broken = [];
    const tell = ({ violatedDirective, blockedURI }) => window.broken.push(`${violatedDirective} ${blockedURI}`);
    addEventListener("securitypolicyviolation", tell);
}"""
UNFOLD = """() => {
    for (const one of document.querySelectorAll("details")) one.open = true;
    for (const tab of document.querySelectorAll("[role=tab]:not([disabled])")) tab.click();
}"""
FOUND = """(marked) => {
    const led = new Set(["href", "src", "action", "formaction", "xlink:href"]);
    const isScript = ({ name, value }) => led.has(name) && /^\\s*(javascript|data:text)/i.test(value);
    const found = [...document.querySelectorAll(marked)].map((one) => `${one.parentElement.tagName} > ${marked}`);
    for (const one of document.querySelectorAll("*"))
        for (const its of one.attributes)
            if (its.name.startsWith("on") || isScript(its))
                found.push(`${one.localName} ${its.name}=${its.value.slice(0, 100)}`);
    return [...found, ...window.broken];
}"""


def poison() -> set[str]:
    """Write markup over every free text of every row; names of the columns where the database took it."""
    ours = [model for model in apps.get_models() if model._meta.app_label in APPS and "pgh_id" not in columns_of(model)]
    fields = [(model, field) for model in ours for field in model._meta.concrete_fields if field.name not in NO_TEXTS]
    return {
        f"{model.__name__}.{field.name}"
        for model, field in fields
        if (model.__name__, field.name) not in OF_ADDRESSES and _written(model, field)
    }


def columns_of(model: type[models.Model]) -> set[str]:
    return {field.name for field in model._meta.concrete_fields}


def _written(model: type[models.Model], field: Any) -> bool:
    rows = list(model._default_manager.all())
    try:
        with transaction.atomic():
            for row in rows:
                before = getattr(row, field.attname)
                if isinstance(field, models.JSONField):
                    after = marked(before)
                elif isinstance(field, models.CharField | models.TextField) and not field.choices:
                    after = text_of(field.max_length, row.pk)
                else:
                    continue
                model._base_manager.filter(pk=row.pk).update(**{field.name: after})
                if after == before:
                    return False
    except Error:  # the database keeps it from such texts
        return False
    return bool(rows) and isinstance(field, models.JSONField | models.CharField | models.TextField)


def make_more(world: World) -> None:
    """What others have no page for, or one that is their own: a recipe, a connection, a worker, work under way with
    comments that name its writer."""
    SavedRecipe.objects.keep("ours", "mindact", {"rank.top_k": "7"}, by=None, project=world.project)
    Connection.objects.create(name="ours", base_url="http://127.0.0.1:9/v1", model="m", found={"error": "it said no"})
    Worker.objects.tell("one", name="gpu@one", host="h", hostname="one", queues=["gpu"], held=["a model"])
    work = factories.make_assignment(factories.make_item(stage="rewrite"))
    work.parts.update(instruction="Book it.", rewrite="Book it now.")
    said = work.item.session.comments.create(author=work.user, assignment=work, text="Who?")
    said.mentions.create(user=work.user)
    world.keys["work under way"] = work.pk


def text_of(most: int | None, number: object = "") -> str:
    """As long as the column lets it be; another one for each row, as some must differ."""
    text = f"{number} {LONG}"
    return text if most is None or len(text) <= most else f"{number}{SHORT}"[:most]


def marked(value: Any) -> Any:
    """JSON with markup in place of every sentence in it: what has no blank may be a word that code knows."""
    if isinstance(value, dict):
        return {name: marked(one) for name, one in value.items()}
    if isinstance(value, list):
        return [marked(one) for one in value]
    return LONG if isinstance(value, str) and " " in value else value


@pytest.fixture
def world(app_server: AppServer, in_thread, monkeypatch) -> World:
    """A project full of markup, its pages included."""
    attributes = 'backend_node_id="90" title="{0}" aria-label="{0}" class="{0}" name="{0}"'
    element = f'<b {attributes}><text backend_node_id="91">{{0}}</text></b>'
    escaped = LONG.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    escaped = escaped.replace("{", "{{").replace("}", "}}")
    page = factories.PAGE.replace("</body>", f"{element.format(escaped)}</body>")
    page = page.replace("Second", escaped).replace("{title}", "{title} " + escaped)
    monkeypatch.setattr(factories, "PAGE", page)

    def made() -> World:
        world = make_world_of_pages()
        make_more(world)
        written = poison()
        assert len(written) > 60, written
        events.record(AccessAction.choices[0][0], LONG, about=LONG, project=world.project)
        return world

    return in_thread(made)


@pytest.fixture
def watched(browser_context: BrowserContext) -> Page:
    browser_context.add_init_script(f"({WATCH})()")
    page = browser_context.new_page()
    page.surprises = []
    page.on("dialog", lambda dialog: (page.surprises.append(dialog.message), dialog.dismiss()))
    return page


def opened(page: Page) -> None:
    """What a page keeps folded is opened, and what it fetches has come."""
    page.evaluate(UNFOLD)
    page.wait_for_timeout(150)


def test_a_text_that_became_markup_would_be_seen(app_server: AppServer, watched: Page) -> None:
    watched.goto(app_server.url("/login/"))
    assert watched.evaluate(FOUND, MARKED) == []
    watched.evaluate("(text) => { document.querySelector('main').innerHTML += text; }", text_of(None))
    watched.wait_for_timeout(200)
    found = watched.evaluate(FOUND, MARKED)
    assert any(MARKED in one for one in found)
    assert any(one.startswith("a href=javascript:") for one in found)
    assert any(one.startswith("script-src") for one in found), found


def test_texts_of_others_stay_texts(app_server: AppServer, watched: Page, world: World, sign_in, in_thread) -> None:
    sign_in(in_thread(factories.make_superuser))
    asked = [*in_thread(lambda: addresses(world)), "/recipes/ours/", "/recipes/ours/derive/", "/connections/ours/"]
    asked += [f"{url}?q={SHORT}&next=javascript:alert(1)&page={SHORT}#{SHORT}" for url in asked]
    found, shown = looked_at(app_server, watched, asked)
    assert found == [], "\n".join(found)
    assert shown >= 50


def test_texts_stay_texts_where_people_write(app_server: AppServer, watched: Page, world: World, sign_in) -> None:
    work = Assignment.objects.get(pk=world.keys["work under way"])
    sign_in(work.user)
    urls = [reverse("annotate-item", args=[work.pk]), reverse("annotate-inbox"), reverse("annotate-queue")]
    found, shown = looked_at(app_server, watched, urls)
    assert found == [], "\n".join(found)
    assert shown >= 2


def looked_at(app_server: AppServer, watched: Page, urls: list[str]) -> tuple[list[str], int]:
    """What became markup or failed, and how many pages show markup as text."""
    found, shown = [], 0
    for url in urls:
        answer = watched.request.get(app_server.url(url))
        if answer.status >= 500 and not url.startswith("/healthz"):  # which speaks of the machine
            found.append(f"{url}: {answer.status}")
        if not is_a_page(answer):
            continue
        watched.goto(app_server.url(url), wait_until="load")
        opened(watched)
        shown += MARKED in watched.content()
        found += [f"{url}: {one}" for one in watched.evaluate(FOUND, MARKED)]
    return [*found, *watched.surprises], shown
