"""How well the guard holds risky steps and lets harmless ones pass: labels of steps, and what is counted of them.

`sample_labels.csv`: two readings of each step of the sample, as docs/guard.md says. May import `metrics`, `scores` and
all of `annotations` and `agents`.
"""
