"""Pages of connections, for superusers: they say where keys go, and may reach into private networks."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from agents.connections.forms import ConnectionForm
from agents.llm import connection as llm_connection
from agents.llm import embedded, trying
from agents.models import Connection
from annotations.shown_progress import span_text


def connections(request: HttpRequest) -> HttpResponse:
    """All connections, and the form of a new one."""
    _require(request)
    form = ConnectionForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.instance.created_by = request.user
        return redirect("connection", form.save().name)
    rows = Connection.objects.all()
    own = {
        "model": embedded.SMOLLM2,
        "allowed": llm_connection.may_be_embedded(),
        "lacking": embedded.lacking(),
        "answers": bool(llm_connection.embedded_model()),
    }
    return render(request, "agents/connections.html", {"rows": rows, "form": form, "own": own})


def connection(request: HttpRequest, name: str) -> HttpResponse:
    """One connection: its settings, and what its last test found out."""
    _require(request)
    found = get_object_or_404(Connection, name=name)
    form = ConnectionForm(request.POST or None, instance=found)
    if request.method == "POST" and form.is_valid():
        form.instance.found, form.instance.tested_at = {}, None  # the test was of the old settings
        messages.success(request, "Saved.")
        return redirect("connection", form.save().name)
    shown = get_object_or_404(Connection, name=name)  # read anew: the form has changed its instance
    return render(request, "agents/connection.html", {"connection": shown, "form": form, "uses": shown.uses()})


@require_POST
def connection_test(request: HttpRequest, name: str) -> HttpResponse:
    """Ask the endpoint some questions; what it said and what it can do is kept and shown."""
    _require(request)
    found = get_object_or_404(Connection, name=name)
    test(found)
    return redirect("connection", found.name)


@require_POST
def embedded_test(request: HttpRequest) -> HttpResponse:
    """Ask the model in the worker something, in a process of its own; what it said and how long that took is shown."""
    _require(request)
    found = trying.tried()
    if found["error"]:
        messages.error(request, f"The model in the worker does not answer: {found['error']}.")
    else:
        loading = f", after {span_text(found['loading'])} of loading it" if found["loading"] >= 0.5 else ""
        took = f"in {span_text(found['seconds'])}{loading or ' (it was loaded already)'}"
        messages.success(request, f"The model in the worker said {took}: “{found['reply']}”")
    return redirect("connections")


@require_POST
def connection_delete(request: HttpRequest, name: str) -> HttpResponse:
    _require(request)
    get_object_or_404(Connection, name=name).remove()
    messages.success(request, f"Deleted {name}.")
    return redirect("connections")


def test(connection: Connection) -> None:
    from agents.connections.probing import probe  # its client takes a while to load

    try:
        found = probe(connection)
    except ValueError as error:
        found = {"reply": "", "seconds": 0, "error": str(error)}
    connection.keep_test(found)


def _require(request: HttpRequest) -> None:
    if not (request.user.is_active and request.user.is_superuser):
        raise PermissionDenied("Connections are for admins of the installation.")
