"""Measures how well the guard holds risky steps and lets harmless ones pass, by labels of steps.

`sample_labels.csv`: what two language models call each step of the sample, as docs/guard.md says. May import `metrics`,
`models`, `scores` and all of `annotations` and `agents`.
"""
