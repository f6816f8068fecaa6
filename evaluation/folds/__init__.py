"""Cross-validation: a planner is trained without some tasks, and decides the steps of these, until every task was left
out once.

`dividing` says what is left out when, `sources` who showed what is learned, `running` trains and decides, `kept` what
is decided already, `results` how often it was right, `telling` and `plotting` show it. May import `scores`, and all of
`annotations` and `agents`.
"""
