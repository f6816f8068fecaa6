"""Episodes: agents act where no path was recorded, and what happens decides.

`goals` makes datasets of goals, each a task of an environment with a seed; `running` lets a run act in them. May import
`encoders`, `environments`, `environments/harnesses`, `environments/open_web`, `environments/oracles`, `guard`, `llm`,
`models`, `prompts`, `recipes`, `runs`, `stages` and all of `annotations`.
"""
