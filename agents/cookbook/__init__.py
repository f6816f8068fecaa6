"""Every recipe, asked of the kinds of its stages: what it lacks here, where it differs from its paper, in words.

Those of the literature come from `agents.recipes`, which lies below the stages and knows none; `saved` adds those that
people derived. `checking` finds settings that nothing would read, `learnt_from` those that a training would not read.
May import `encoders`, `llm`, `models`, `prompts`, `recipes`, `stages`, `stages/imagine`, `stages/plan`, `stages/rank`
and all of `annotations`.
"""
