"""Model instances from raw SQL that has read only some of their columns."""

from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model

M = TypeVar("M", bound=Model)


def partly(model: type[M], **values: Any) -> M:
    """An instance of which only these columns have been read; another one is read from the database when it is asked
    for."""
    names = [field.attname for field in model._meta.concrete_fields if field.attname in values]
    return model.from_db(connection.alias, names, [values[name] for name in names])
