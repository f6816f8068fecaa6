"""Stopping the agent of a live episode, acting in its place, and handing back: by whoever may review."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET, require_POST

from agents.models import AskedAction, CannotDrive, Drive, Trajectory
from agents.models.talking import ENDED, MOST_SAID
from agents.runs import events
from annotations.access import rules
from annotations.access.json_input import BadJson, parse_json
from annotations.access.people import signed_in
from annotations.models.accounts.projects import Account

TOLD = frozenset({"do", "token", "seen", "action", "said"})
ASKED = frozenset({"operation", "node_id", "value", "point"})
TAKING = {"pause": Drive.State.PAUSED.value, "take": Drive.State.DRIVEN.value}
ENDING = {"content": True, "not content": False}  # a conversation that somebody types
DOINGS = (*TAKING, "beat", "act", "back", "say", *ENDING)


@require_POST
def drive(request: HttpRequest, pk: int) -> JsonResponse:
    """A reviewer stops the agent, acts in its place or hands back. Taken: {do: pause, take, beat, act or back; token:
    of the lease; to act also seen: the number of the window, and action: {operation, node_id, value, point}}. Whoever
    began a conversation that is typed, and nobody else, says what is next (do: say; said), or ends it (content, not
    content). Answered:
    {drive, token}; errors as {error}, with 409 where somebody else is driving or the episode is over."""
    found = _visible(request, pk)
    rules.require(request.user, "review", found.run.dataset.project)
    try:
        said = _read_wish(parse_json(request.body))
    except (BadJson, CannotDrive) as error:
        return JsonResponse({"error": str(error)}, status=400)
    try:
        row = _done(said, found, signed_in(request))
    except CannotDrive as error:
        return JsonResponse({"error": str(error)}, status=409)
    if said["do"] != "beat":
        events.publish(events.trajectory_group(found.pk), found.step_count, found.state)
    is_open = row.state in Drive.OPEN
    return JsonResponse({"drive": row.shown if is_open else None, "token": str(row.lease_token) if is_open else None})


def _done(said: dict[str, Any], found: Trajectory, user: Account) -> Drive:
    if (state := TAKING.get(said["do"])) is not None:
        return Drive.objects.take(found, user, state)
    row = found.drives.open().select_related("person", "trajectory__run__created_by").defer("picture").first()
    if row is None or found.run.is_over:
        over = found.last_words()
        raise CannotDrive(ENDED.format(over) if over else "The agent drives: nobody has stopped it.")
    if said["do"] == "beat":
        row.beat(said["token"])
    elif said["do"] == "back":
        row.hand_back(said["token"])
    elif said["do"] in ENDING or said["do"] == "say":
        _talk(row, said, found, user)
    elif said["action"]["operation"] == "STOP" and found.conversation.extra.get("typed"):
        raise CannotDrive("The user says what is next, or whether all was done: STOP ends no conversation.")
    else:
        row.ask(said["token"], said["seen"], said["action"])
    return row


def _talk(row: Drive, said: dict[str, Any], found: Trajectory, user: Account) -> None:
    if not found.conversation.extra.get("typed"):
        raise CannotDrive("What the user says here was written before: there is nothing to type.")
    row.check_speaker(user)
    if said["do"] != "say":
        row.end_talk(said["token"], ENDING[said["do"]])
    elif said["said"].strip():
        row.say(said["token"], said["said"])
    else:
        raise CannotDrive("Say something, or end the conversation.")


@require_GET
def drive_window(request: HttpRequest, pk: int) -> HttpResponse:
    """The window that a person drives in, as it looks now."""
    found = _visible(request, pk)
    row = found.drives.open().exclude(picture=None).first()
    if row is None or row.picture is None:
        raise Http404
    answer = HttpResponse(bytes(row.picture), content_type="image/jpeg")
    answer["Cache-Control"] = "private, no-store"
    answer["Content-Disposition"] = "attachment; filename=window.jpg"
    return answer


def _visible(request: HttpRequest, pk: int) -> Trajectory:
    """An episode whose pages this user may see."""
    rows = Trajectory.objects.select_related("run__dataset__project", "conversation")
    found = get_object_or_404(rules.visible(request.user, rows), pk=pk)
    rules.require_gold(request.user, found.run.dataset.project, found.conversation.split)
    return found


def _read_wish(said: Any) -> dict[str, Any]:
    if not isinstance(said, dict) or said.keys() - TOLD or said.get("do") not in DOINGS:
        raise CannotDrive(f"Say what to do: an object with do, one of {', '.join(DOINGS)}.")
    token, seen = said.get("token", ""), said.get("seen", 0)
    if not isinstance(token, str) or not isinstance(seen, int) or not 0 <= seen < 2**31:
        raise CannotDrive("The token is a text, and seen the number of a window.")
    words = said.get("said", "")
    if not isinstance(words, str) or len(words) > MOST_SAID or "\0" in words:
        raise CannotDrive(f"What is said is a text of at most {MOST_SAID:,} characters, none of them NUL.")
    told = {"do": said["do"], "token": token, "seen": seen, "said": words}
    return told | ({"action": _action(said.get("action"))} if said["do"] == "act" else {})


def _action(said: Any) -> AskedAction:
    if not isinstance(said, dict) or said.keys() - ASKED or not isinstance(said.get("operation"), str):
        raise CannotDrive(f"An action is an object of {', '.join(sorted(ASKED))}.")
    node, value, point = said.get("node_id") or None, said.get("value") or "", said.get("point")
    if not isinstance(node, str | None) or not isinstance(value, str):
        raise CannotDrive("Element and value of an action are texts.")
    is_point = isinstance(point, list) and all(isinstance(one, int | float) for one in point)
    if point is not None and not is_point:
        raise CannotDrive("A point of the window is two numbers, right and down.")
    return {"operation": said["operation"], "node_id": node, "value": value, "point": point}
