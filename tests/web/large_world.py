"""Datasets, runs and studies of any size, made by the database from series of numbers."""

from dataclasses import dataclass

from django.db import connection

from agents.models import Run
from agents.recipes import literature
from annotations.models import Dataset
from evaluation.models import Study
from tests import factories

TURNS, STEPS = 2, 5  # per conversation, per turn
SPLITS = "(ARRAY['train','train','train','dev','test_task'])[1 + n % 5]"
CONVERSATIONS_SQL = f"""
INSERT INTO annotations_conversation
    (dataset_id, website_id, source_id, split, position, content_sha256, extra, turn_count, step_count, created_at)
SELECT %(dataset)s, (%(websites)s::bigint[])[1 + n %% array_length(%(websites)s::bigint[], 1)], 'conversation-' || n,
    {SPLITS.replace("%", "%%")}, n, '', '{{}}', 0, 0, now() FROM generate_series(1, %(count)s) AS n
"""
TURNS_SQL = f"""
INSERT INTO annotations_turn (conversation_id, index, source_id, instruction, extra)
SELECT id, turn, 'turn-' || turn, 'Find something to wear, part ' || turn, '{{}}'
FROM annotations_conversation, generate_series(0, {TURNS - 1}) AS turn WHERE dataset_id = %(dataset)s
"""
STEPS_SQL = f"""
INSERT INTO annotations_step (turn_id, index, source_id, operation, original_operation, value, action_repr,
    snapshot_id, keeps_page_after, candidates, candidate_count, extra)
SELECT turn.id, step, 'step-' || step, 'CLICK', '', '', '[button] Search -> CLICK', %(snapshot)s, false, '', 0, '{{}}'
FROM annotations_turn turn JOIN annotations_conversation conversation ON conversation.id = turn.conversation_id,
    generate_series(0, {STEPS - 1}) AS step WHERE conversation.dataset_id = %(dataset)s
"""
TRAJECTORIES_SQL = """
INSERT INTO agents_trajectory (run_id, conversation_id, state, step_count, updated_at)
SELECT %(run)s, id, 'done', step_count, now() FROM annotations_conversation
WHERE dataset_id = %(dataset)s AND split = %(split)s ORDER BY position LIMIT %(count)s
"""
RESULTS_SQL = f"""
INSERT INTO agents_trajectorystep (run_id, trajectory_id, step_id, seq, operation, node_id, value, call_index,
    candidate_ids, candidate_scores, gold_rank, element_correct, operation_f1, success, error, calls, prompt_tokens,
    completion_tokens, cost, exemplar_ids, workflow_ids, milliseconds, trace, created_at, url, outcome, branches)
SELECT trajectory.run_id, trajectory.id, step.id, turn.index * {STEPS} + step.index, 'CLICK', '9', '', 0,
    '{{9,5}}', '{{0.9,0.1}}', 0, step.id %% 3 > 0, 1.0, step.id %% 3 > 0, '', 0, 0, 0, 0, '{{}}', '{{}}', 1.0, '{{}}',
    now() - interval '1 day', '', '', '[]'
FROM agents_trajectory trajectory JOIN annotations_turn turn ON turn.conversation_id = trajectory.conversation_id
JOIN annotations_step step ON step.turn_id = turn.id WHERE trajectory.run_id = %(run)s
"""


@dataclass(frozen=True)
class Large:
    dataset: Dataset
    study: Study


def make_large(project, conversations: int, runs: int, conversations_per_run: int) -> Large:
    """A dataset with ten steps per conversation, and a study of runs over its train split."""
    dataset = factories.make_dataset(project)
    websites = [factories.make_website(dataset).pk for _ in range(100)]
    values = {"dataset": dataset.pk, "count": conversations, "websites": websites}
    values["snapshot"] = factories.make_snapshot().pk
    with connection.cursor() as cursor:
        for sql in (CONVERSATIONS_SQL, TURNS_SQL, STEPS_SQL):
            cursor.execute(sql, values)
    made = [_make_run(dataset, seed, conversations_per_run) for seed in range(runs)]
    return Large(dataset, factories.make_study(project, made))


def _make_run(dataset: Dataset, seed: int, conversations: int) -> Run:
    recipe = literature.to_dict(literature.get("grounded"))
    fields = {"split": "train", "seed": seed, "state": "done", "recipe": recipe}
    run = factories.make_run(dataset, **fields, step_count=conversations * TURNS * STEPS)
    values = {"run": run.pk, "dataset": dataset.pk, "split": "train", "count": conversations}
    with connection.cursor() as cursor:
        for sql in (TRAJECTORIES_SQL, RESULTS_SQL):
            cursor.execute(sql, values)
    return run


def refresh_statistics() -> None:
    """What autovacuum does for a real database: the planner must not take large tables for empty ones. Not inside of
    a transaction."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
