"""Studies: planned as runs and shards, run by workers under leases and budgets, watched, cancelled, resumed.

May import `comparing`, `judges`, `metrics`, `models`, `reports`, `reviews`, `scanners`, `scores`, `studies/taking_part`
and all of `annotations` and `agents`.
"""
