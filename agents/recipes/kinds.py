"""The kinds of the stages by name: the setting that chooses one, its value, and where the class stands. Core.

Data only, so that settings, which are read before any stage, take the kinds that there are.
"""

from annotations.extensions import added_kinds

KINDS: dict[str, dict[str, str]] = {
    "observe.observation": {
        "text": "agents.stages.observe.seen:SeenText",
        "image": "agents.stages.observe.seen:SeenImage",
        "text+image": "agents.stages.observe.seen:SeenBoth",
    },
    "rank.kind": {
        "dual_encoder": "agents.stages.rank.similar:SimilarElements",
        "cross_encoder": "agents.stages.rank.kinds:CrossEncoded",
        "dmr": "agents.stages.rank.kinds:DenseMarkup",
        "score_file": "agents.stages.rank.kinds:ScoredBefore",
    },
    "recall.rewrite_instruction": {"True": "agents.stages.recall.asked:RewrittenInstruction"},
    "recall.memory": {
        "none": "agents.stages.recall.earlier:NoMemory",
        "multifaceted": "agents.stages.recall.earlier:Multifaceted",
        "chronological": "agents.stages.recall.earlier:Chronological",
        "fixed": "agents.stages.recall.earlier:FirstTurns",
        "task_knn": "agents.stages.recall.earlier:SimilarTurns",
    },
    "recall.exemplars": {
        "semantic": "agents.stages.recall.train_split:NearestExemplars",
        "environment": "agents.stages.recall.train_split:DrawnExemplars",
        "fixed": "agents.stages.recall.train_split:FixedExemplars",
        "voted": "agents.stages.recall.voted:VotedSet",
        "own": "agents.stages.recall.voted:OwnSet",
    },
    "recall.workflows": {
        "environment": "agents.stages.recall.train_split:SiteWorkflows",
        "semantic": "agents.stages.recall.train_split:NearestWorkflows",
    },
    "simplify.kind": {},
    "compose.kind": {},
    "plan.kind": {
        "first": "agents.stages.plan.first:FirstElement",
        "grounded": "agents.stages.plan.following:FollowingElement",
        "multichoice": "agents.stages.plan.choice:MultipleChoice",
        "generation": "agents.stages.plan.choice:Generation",
        "trajectory": "agents.stages.plan.trajectory:NextAction",
        "action_string": "agents.stages.plan.action_strings:ActionString",
        "program": "agents.stages.plan.program:WrittenProgram",
    },
    "imagine.kind": {
        "world_model": "agents.stages.imagine.worlds:WorldModel",
        "trained": "agents.stages.imagine.worlds:TrainedWorldModel",
        "retrieval": "agents.stages.imagine.retrieved:RetrievedWorldModel",
        "value_only": "agents.stages.imagine.worlds:ValueOnly",
        "majority": "agents.stages.imagine.choosing:MostFrequent",
    },
    "imagine.value": {
        "likert": "agents.stages.imagine.values:AskedValue",
        "progress": "agents.stages.imagine.values:ProgressValue",
        "embedded": "agents.stages.imagine.values:TransitionValue",
    },
    "act.ask": {"close": "agents.stages.act.user_questions:AskedWhereClose"},
    "act.guard": {
        "policy": "agents.stages.act.guarded:Guarded",
        "policy+prediction": "agents.stages.act.guarded:GuardedAndForeseen",
    },
}
"""Setting -> its value -> the kind, in the order in which those of one stage run. Ours of simplify and compose go with
the planner that they serve, which names them itself."""
PLANNERS_OWN = "planner"  # the value of the settings that leave them to it


def named(setting: str) -> tuple[str, ...]:
    """The values by which a setting chooses a kind: ours, and those that other packages add."""
    return (*KINDS[setting], *added_kinds(setting))
