"""Tokens from before tokens had scopes may do what they could, until they expire or are revoked."""

from django.db import migrations

ALL = ["read", "annotate", "export", "manage"]


def give_all(apps, schema_editor) -> None:
    tokens, grants = apps.get_model("knox", "AuthToken"), apps.get_model("annotations", "TokenGrant")
    bare = tokens.objects.filter(grant=None)
    grants.objects.bulk_create([grants(token=token, name="from before scopes", scopes=ALL) for token in bare])


class Migration(migrations.Migration):
    dependencies = [("annotations", "0009_access"), ("knox", "0009_extend_authtoken_field")]

    operations = [migrations.RunPython(give_all, migrations.RunPython.noop)]
