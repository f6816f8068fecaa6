"""The page on which a person chooses keys for commands."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotations.access.json_input import BadJson, read_object
from annotations.access.people import signed_in
from annotations.desk.keys import keymaps
from annotations.desk.write.document_views import for_the_workbench


@never_cache
@require_safe
def keys(request: HttpRequest) -> HttpResponse:
    chosen = keymaps.chosen(signed_in(request))
    keymaps.remember(request, chosen)  # what another browser has changed arrives here at the latest
    return render(request, "annotate/keys.html", {"groups": keymaps.by_page(chosen), "count": len(chosen)})


@for_the_workbench
@require_POST
def choose(request: HttpRequest) -> JsonResponse:
    """Change keys: {"command", "key"} gives a command another key; {"command", "key": null} its own again; {"reset":
    true} gives all commands their own again."""
    body = read_object(request)
    if body.get("reset") is True:
        keymaps.forget(signed_in(request))
        keymaps.remember(request, {})
        return JsonResponse({"keys": {}})
    label, key = body.get("command"), body.get("key")
    if not isinstance(label, str) or not (key is None or isinstance(key, str)):
        raise BadJson("Name a command and a key.")
    try:
        chosen = keymaps.choose(signed_in(request), label, key)
    except keymaps.BadKey as error:
        return JsonResponse({"problems": [str(error)]}, status=422)
    keymaps.remember(request, chosen)
    return JsonResponse({"keys": chosen})
