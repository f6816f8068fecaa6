import django.db.models.deletion
import pgvector.django.halfvec
import pgvector.django.vector
from django.db import migrations, models

COPY_SQL = """
INSERT INTO agents_workflowvector (workflow_id, encoder, embedding)
SELECT id, encoder, embedding FROM agents_workflow WHERE embedding IS NOT NULL ORDER BY id;
SET CONSTRAINTS ALL IMMEDIATE;
"""
# Until now all vectors had 384 dimensions; each encoder's index is named and made as `agents.models.searching` does.
INDEX_SQL = """
DO $$
DECLARE statement text;
BEGIN
  FOREACH statement IN ARRAY ARRAY(  -- read to its end first: a table that is being read gets no index
    SELECT format(
      'CREATE INDEX %I ON %I USING hnsw ((embedding::halfvec(384)) %I) WITH (m = %s, ef_construction = %s) '
      'WHERE encoder = %L',
      name || '_' || left(encode(sha256(convert_to(encoder, 'UTF8')), 'hex'), 12), rows, operators, m, ef, encoder
    ) FROM (
      SELECT DISTINCT 'exemplar_hnsw' AS name, 'agents_exemplar' AS rows, 'halfvec_cosine_ops' AS operators,
             24 AS m, 400 AS ef, encoder FROM agents_exemplar
      UNION ALL
      SELECT DISTINCT 'workflow_hnsw', 'agents_workflowvector', 'halfvec_l2_ops', 16, 64, encoder
      FROM agents_workflowvector
    ) known
  ) LOOP
    EXECUTE statement;
  END LOOP;
END $$;
"""
HELP = 'Of as many dimensions as its encoder has.'


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0006_stored_models'),
    ]

    operations = [
        migrations.CreateModel(
            name='WorkflowVector',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('encoder', models.CharField(max_length=200)),
                ('embedding', pgvector.django.halfvec.HalfVectorField(help_text=HELP)),
                ('workflow', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='vectors', to='agents.workflow')),
            ],
        ),
        migrations.RunSQL(COPY_SQL, migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name='workflowvector',
            constraint=models.UniqueConstraint(fields=('workflow', 'encoder'), name='workflow_vector_once'),
        ),
        migrations.RemoveIndex(
            model_name='exemplar',
            name='exemplar_hnsw',
        ),
        migrations.RemoveIndex(
            model_name='workflow',
            name='workflow_hnsw',
        ),
        migrations.RemoveField(
            model_name='workflow',
            name='embedding',
        ),
        migrations.RemoveField(
            model_name='workflow',
            name='encoder',
        ),
        migrations.AlterField(
            model_name='exemplar',
            name='embedding',
            field=pgvector.django.halfvec.HalfVectorField(help_text=HELP),
        ),
        migrations.AlterField(
            model_name='memorysnippet',
            name='embedding',
            field=pgvector.django.vector.VectorField(help_text=HELP),
        ),
        migrations.RunSQL(INDEX_SQL, migrations.RunSQL.noop),
    ]
