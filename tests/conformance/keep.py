"""Write the cases that may lie in the repository below `data/`: `python -m tests.conformance.keep`.

`data/README.md` says which those are and why; run this again when the folder beside the repository has new cases.
"""

import json
import lzma

from tests.conformance.cases import KEPT, recorded

PLANNERS = (
    "awm_filter_parse",
    "awm_format_examples",
    "awm_webarena_steps",
    "dom_attribute_repr",
    "dom_clean_tree",
    "dom_descendants",
    "dom_prune_repr",
    "flatten_conversations",
    "format_input",
    "history_messages",
    "memory_knn",
    "metric_aggregation",
    "op_f1",
    "planner_eval_generation",
    "planner_eval_multichoice",
    "postprocess_generation",
    "postprocess_multichoice",
    "ranker_eval",
    "ranker_format_candidate",
    "ranker_rank_ties",
    "sequence_assembly_toy_tokenizer",
    "synapse_eval_sample",
    "synapse_extract",
    "synapse_miniwob_prompts",
    "synapse_miniwob_vote",
    "synapse_obs_act",
    "synapse_parse_act",
    "synapse_target_obs",
)
WEBLINX = (
    "dmr_recall",
    "weblinx_action_parse",
    "weblinx_metrics",
    "weblinx_truncation",
    "wma_mind2web",
    "wma_scores",
    "wma_tao",
)
QUOTED = {  # lists of a file that quote a published prompt or task: never kept
    "weblinx_truncation": ("llama_prompt",),
    "wma_scores": ("value_score_labels",),
}


def keep(name: str, group: str) -> None:
    """Copy one file, without what it quotes; the same cases give the same bytes."""
    cases = json.loads(recorded(name, group).read_text(encoding="utf-8"))
    for key in QUOTED.get(name, ()):
        del cases[key]
    path = KEPT / group / f"{name}.json.xz"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(cases, ensure_ascii=False, separators=(",", ":"))
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    for group, names in {"planners": PLANNERS, "weblinx_wma": WEBLINX}.items():
        for name in names:
            keep(name, group)
