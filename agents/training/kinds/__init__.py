"""What is fitted, a file a kind: rankers, planners that write their answer, and the planner `grounded`.

May import `encoders`, `learned`, `models`, `training`, `training/fit`, `training/samples`, `words` and all of
`annotations`.
"""
