"""JSON schemas of recipes, made of the declarations of their settings. Core: data only."""

from typing import Any

from agents.recipes import declaring
from agents.recipes.declaring import settings_of
from agents.recipes.literature import Recipe


def recipe_schema() -> dict[str, Any]:
    """The JSON schema of `to_dict`: every setting with its meaning, choices and bounds."""
    found = declaring.schema(Recipe)
    text, data = {"type": "string"}, {"type": "string", "enum": ["any", "weblinx"]}
    own = {"name": text, "description": text, "paper": text, "parent": text, "data": data}
    needs = {"type": "array", "items": text, "description": "what is not built yet and without which it cannot run"}
    origin = {"origin": text | {"description": "the packaged recipe from which its parents were derived"}}
    properties = own | {"needs": needs} | found["properties"]
    properties["prompts"]["properties"]["sha256"] = text | {"description": "of the texts that it was planned with"}
    return found | {"properties": properties | origin, "required": list(properties)}


def overrides_schema() -> dict[str, Any]:
    """The JSON schema of what `override` takes."""
    return {"type": "object", "properties": {name: one.text_schema() for name, one in settings_of(Recipe).items()}}
