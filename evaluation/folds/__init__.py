"""Cross-validation: a planner is trained without some tasks, and decides the steps of these, until every task was left
out once.

`dividing` says what is left out when, `running` trains and decides, `results` tells how often it was right. May import
`scores`, and all of `annotations` and `agents`.
"""
